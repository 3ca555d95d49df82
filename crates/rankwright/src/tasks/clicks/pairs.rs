//! Preference pairs from a click log: training data for pairwise learners.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rankwright_clicks::PreferenceRule;
use rankwright_clicks::log::LogCounts;
use rankwright_data::store::write_atomic;
use rankwright_spec::visible::one_line;
use serde::{Deserialize, Serialize};

use super::ClickFiles;
use crate::tasks::context::RunningTask;
use crate::tasks::{Context, TaskError, TaskInputs, Warning};

/// A click log, the rules that make preferences of its clicks, and the file of pairs.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ClickPairsRequest {
    /// The log.
    pub log: ClickFiles,
    /// The rules; a preference of several rules on one page counts once.
    #[serde(default = "default_rules")]
    pub rules: Vec<PreferenceRule>,
    /// Number of impressions in which a preference must occur to be written.
    #[serde(default = "default_min_count")]
    pub min_count: u64,
    /// File of pairs: query, better document, worse document and weight, separated by tabs. The
    /// weight is the number of impressions.
    pub out: PathBuf,
}

impl TaskInputs for ClickPairsRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        self.log.files.clone()
    }
}

/// The rules of a request that gives none.
fn default_rules() -> Vec<PreferenceRule> {
    vec![PreferenceRule::SkipAbove]
}

/// Least number of impressions of a request that gives none.
fn default_min_count() -> u64 {
    1
}

impl ClickPairsRequest {
    /// Preferences by `skip-above` that occur at least once.
    pub fn new(log: ClickFiles, out: impl Into<PathBuf>) -> Self {
        Self { log, rules: default_rules(), min_count: default_min_count(), out: out.into() }
    }

    /// Sets the rules.
    pub fn rules(mut self, rules: impl IntoIterator<Item = PreferenceRule>) -> Self {
        self.rules = rules.into_iter().collect();
        self
    }

    /// Sets the smallest number of impressions.
    pub fn min_count(mut self, impressions: u64) -> Self {
        self.min_count = impressions;
        self
    }
}

/// The pairs that were written.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClickPairsResult {
    /// The file.
    pub out: PathBuf,
    /// Names of the rules.
    pub rules: Vec<&'static str>,
    /// Number of pairs that were written.
    pub pairs: usize,
    /// Number of pairs that occur in fewer impressions than requested, which were left out.
    pub too_rare: usize,
    /// Number of preferences between two places of one document on a page, which were left out.
    pub same_document: u64,
    /// Number of written pairs of which the opposite was written, too.
    pub contradicted: usize,
    /// Number of queries with a written pair.
    pub queries: usize,
    /// Counts of the log.
    pub counts: LogCounts,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
}

/// Writes the preferences of a click log as pairs that `train` reads.
pub fn click_pairs(
    request: &ClickPairsRequest,
    context: &Context<'_>,
) -> Result<ClickPairsResult, TaskError> {
    request.check_files([request.out.as_path()])?;
    let task = RunningTask::new(context);
    let mut found: BTreeMap<(String, String, String), u64> = BTreeMap::new();
    let mut same_document = 0;
    let (counts, _) = request.log.read(&task, |impression| {
        let mut preferences: Vec<(usize, usize)> =
            request.rules.iter().flat_map(|rule| rule.preferences(impression)).collect();
        preferences.sort_unstable();
        preferences.dedup();
        for (better, worse) in preferences {
            let id = |index: usize| impression.documents[index].clone();
            // A page may show a document twice.
            if impression.documents[better] == impression.documents[worse] {
                same_document += impression.count;
                continue;
            }
            let pair = (impression.query.clone(), id(better), id(worse));
            *found.entry(pair).or_default() += impression.count;
        }
    })?;
    let all = found.len();
    found.retain(|_, count| *count >= request.min_count);
    let opposite = |(query, better, worse): &(String, String, String)| {
        found.contains_key(&(query.clone(), worse.clone(), better.clone()))
    };
    let contradicted = found.keys().filter(|pair| opposite(pair)).count();
    let mut queries: Vec<&str> = found.keys().map(|(query, ..)| query.as_str()).collect();
    queries.dedup();
    let queries = queries.len();
    let step = format!("writing {}", request.out.display());
    task.step(&step, || {
        write_atomic(&request.out, |out| {
            writeln!(out, "qid\tbetter\tworse\tweight")?;
            for ((query, better, worse), count) in &found {
                let [query, better, worse] = [query, better, worse].map(|id| one_line(id));
                writeln!(out, "{query}\t{better}\t{worse}\t{count}")?;
            }
            Ok(())
        })
    })?;
    Ok(ClickPairsResult {
        out: request.out.clone(),
        rules: request.rules.iter().map(|rule| rule.name()).collect(),
        pairs: found.len(),
        too_rare: all - found.len(),
        same_document,
        contradicted,
        queries,
        counts,
        warnings: task.into_warnings(),
    })
}
