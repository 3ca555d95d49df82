//! Preferences of a click log as pairs to train on.

use std::path::{Path, PathBuf};

use rankwright_clicks::log::LogCounts;
use rankwright_clicks::{PairOptions, PreferencePair, PreferencePairsBuilder, PreferenceRule};
use rankwright_data::store::write_atomic;
use rankwright_spec::check_params;
use serde::{Deserialize, Serialize};

use super::LogSource;
use crate::tasks::context::RunningTask;
use crate::tasks::{Context, TaskError, TaskInputs, Warning};

/// A click log, and the rules that make preferences of its clicks.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ClickPairsRequest {
    /// The log.
    pub log: LogSource,
    /// The rules; a preference of several rules on one page counts once.
    #[serde(default = "default_rules")]
    pub rules: Vec<PreferenceRule>,
    /// The number of impressions in which a preference must occur.
    #[serde(default)]
    pub options: PairOptions,
    /// File of pairs: query, better document, worse document and weight, separated by tabs. The
    /// weight is the number of impressions. Without a file, the result has the pairs.
    pub out: Option<PathBuf>,
}

impl TaskInputs for ClickPairsRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        self.log.paths().map(Path::to_owned).collect()
    }
}

/// The rules of a request that gives none.
fn default_rules() -> Vec<PreferenceRule> {
    vec![PreferenceRule::default()]
}

impl ClickPairsRequest {
    /// Preferences by `skip-above` that occur at least once.
    pub fn new(log: impl Into<LogSource>) -> Self {
        let options = PairOptions::default();
        Self { log: log.into(), rules: default_rules(), options, out: None }
    }

    /// Sets the rules.
    pub fn rules(mut self, rules: impl IntoIterator<Item = PreferenceRule>) -> Self {
        self.rules = rules.into_iter().collect();
        self
    }

    /// Sets the smallest number of impressions.
    pub fn min_count(mut self, impressions: u64) -> Self {
        self.options.min_count = impressions;
        self
    }

    /// Sets the file of pairs.
    pub fn out(mut self, file: impl Into<PathBuf>) -> Self {
        self.out = Some(file.into());
        self
    }
}

/// The preferences of a log, in a file or in memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClickPairsResult {
    /// The file that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<PathBuf>,
    /// The pairs, if no file was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<Vec<PreferencePair>>,
    /// Names of the rules.
    pub rules: Vec<&'static str>,
    /// Number of pairs.
    pub pairs: usize,
    /// Number of pairs that occur in fewer impressions than requested, which were left out.
    pub too_rare: usize,
    /// Number of preferences between two places of one document on a page, which were left out.
    pub same_document: u64,
    /// Number of pairs of which the opposite is a pair, too.
    pub contradicted: usize,
    /// Number of queries with a pair.
    pub queries: usize,
    /// Counts of the log.
    pub counts: LogCounts,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
}

/// Finds the preferences that the clicks of a log mean, as pairs that a training reads.
///
/// ```
/// use rankwright::clicks::Impression;
/// use rankwright::tasks::{ClickPairsRequest, Context, click_pairs};
///
/// let log = vec![Impression::new("cat", ["a", "b"]).clicked([2])];
/// let result = click_pairs(&ClickPairsRequest::new(log), &Context::default())?;
/// assert_eq!(result.rows.unwrap()[0].better, "b");
/// # Ok::<(), rankwright::tasks::TaskError>(())
/// ```
pub fn click_pairs(
    request: &ClickPairsRequest,
    context: &Context<'_>,
) -> Result<ClickPairsResult, TaskError> {
    check_params(&request.options, "pairs")?;
    request.check_files(request.out.as_deref())?;
    let task = RunningTask::new(context);
    let mut builder = PreferencePairsBuilder::new(request.rules.iter().copied());
    let (counts, _) = request.log.read(&task, |impression| builder.add(impression))?;
    let found = builder.finish(&request.options);
    if let Some(out) = &request.out {
        let step = format!("writing {}", out.display());
        task.step(&step, || write_atomic(out, |file| found.write(file)))?;
    }
    Ok(ClickPairsResult {
        out: request.out.clone(),
        rules: request.rules.iter().map(|rule| rule.name()).collect(),
        pairs: found.pairs.len(),
        too_rare: found.too_rare,
        same_document: found.same_document,
        contradicted: found.contradicted(),
        queries: found.queries(),
        rows: request.out.is_none().then_some(found.pairs),
        counts,
        warnings: task.into_warnings(),
    })
}
