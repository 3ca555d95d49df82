//! An experiment's file: the learners and data to compare, read and checked completely before
//! anything runs.
//!
//! The format is described in `docs/experiments.md`. Everything that can be checked without opening
//! data is checked here: keys, metrics, specs of learners, the baseline's name, variables in paths.
//! Whether files can be read and whether a learner fits the data is found during the run, and
//! affects only the cells concerned.

use std::path::{Path, PathBuf};

use rankwright_data::DEFAULT_SEED;
use rankwright_data::bytes::read_text_file;
use rankwright_eval::compare::CompareOptions;
use rankwright_eval::{Measure, SourceKind, parse_metrics};
use rankwright_spec::nearest;
use toml::Spanned;

use super::paths::PathResolver;
use super::sha256;
use crate::ExperimentError;

mod document;
mod grid;
mod layout;
mod learner;
mod raw;
mod source;
mod text;

use document::{TomlDocument, TomlTable};
use raw::{RawExperiment, Texts, WholeNumber};

pub use layout::{FactorLayout, FactorPlot, FactorTable};
pub use learner::{ExperimentLearner, LearnerEntry, LearnerKind};
pub use source::{DataOrigin, DataSet, DataSource, FoldFiles, QueryDivision};
pub(crate) use text::TEXT_PREFIX;
pub use text::{TextFeature, TextOrigin, TextSource};

/// A complete comparison: learners on data sets, over folds and seeds.
///
/// ```
/// use rankwright_experiment::Experiment;
///
/// let text = r#"
/// name = "trees"
/// metrics = ["ndcg@10"]
///
/// [[data]]
/// name = "made"
/// generate = "letor(queries=50, documents=20)"
///
/// [[learner]]
/// name = "mart"
/// spec = "mart(trees=10)"
/// "#;
/// let experiment = Experiment::parse(text, "trees.toml", ".".as_ref(), &|_| None)?;
/// assert_eq!(experiment.learners[0].name, "mart");
///
/// let wrong = text.replace("[[learner]]", "[[lerner]]");
/// let error = Experiment::parse(&wrong, "trees.toml", ".".as_ref(), &|_| None).unwrap_err();
/// assert!(error.to_string().contains("line 9") && error.to_string().contains("`learner`?"));
/// # Ok::<(), rankwright_experiment::ExperimentError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Experiment {
    /// Name of the experiment.
    pub name: String,
    /// Description; may be empty.
    pub description: String,
    /// The metrics; the first one is used for early stopping, for choosing settings and for
    /// sorting.
    pub metrics: Vec<Measure>,
    /// Seeds of the trainings; values are means over them.
    pub seeds: Vec<u64>,
    /// Options of the comparison, including the baseline.
    pub compare: CompareOptions,
    /// Feature data to compute from text, which data sets name as `text:NAME`.
    pub texts: Vec<TextSource>,
    /// Number of the largest and of the smallest weights of linear models to show; 0 for none.
    pub weights: usize,
    /// Data sets; each has a separate comparison.
    pub data: Vec<DataSet>,
    /// The learners: one for each `[[learner]]` entry or, if it has a grid, for each combination.
    pub learners: Vec<ExperimentLearner>,
    /// The `[[learner]]` entries of the file.
    pub entries: Vec<LearnerEntry>,
    /// Tables by factors, which are settings in which learners differ.
    pub tables: Vec<FactorTable>,
    /// Learning curves by factors.
    pub plots: Vec<FactorPlot>,
    /// SHA-256 of the file's text.
    pub sha256: String,
}

impl Experiment {
    /// Reads a file; paths in it are relative to its folder, and `${NAME}` is taken from the
    /// environment.
    pub fn read(path: &Path) -> Result<Self, ExperimentError> {
        let name = path.display().to_string();
        let text = read_text_file(path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::parse(&text, &name, folder, &|name| std::env::var(name).ok())
    }

    /// Reads a text; error messages name it `file`. Paths are relative to `folder`, and `variable`
    /// gives the values of environment variables.
    pub fn parse(
        text: &str,
        file: &str,
        folder: &Path,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ExperimentError> {
        let document = TomlDocument { name: file, text };
        let raw: RawExperiment = document.read()?;
        // The keys before the first table of the file.
        let top = document.table(0, "the experiment");
        let paths = PathResolver { folder, variable };
        let (entries, learners) = learner::read(document, &raw.learner, &paths)?;
        let texts = text::read(document, &raw.text, &paths)?;
        let mut experiment = Self {
            name: top.required_text("name", &raw.name, "\"boosted trees\"")?.to_owned(),
            description: raw.description.clone(),
            metrics: metrics(&top, &raw.metrics)?,
            seeds: seeds(&top, &raw.seeds)?,
            compare: compare(&top, &raw, &learners)?,
            data: source::data_sets(document, &raw.data, &texts, &paths)?,
            texts,
            weights: raw.weights.map_or(0, |number| number.0 as usize),
            learners,
            entries,
            tables: Vec::new(),
            plots: Vec::new(),
            sha256: sha256(text.as_bytes()),
        };
        experiment.tables = layout::tables(document, &raw.table, &experiment)?;
        experiment.plots = layout::plots(document, &raw.plot, &experiment)?;
        Ok(experiment)
    }

    /// The same experiment, whose data from text is in the files that `file` gives by name.
    #[must_use]
    pub(crate) fn with_text_files(mut self, file: impl Fn(&str) -> PathBuf) -> Self {
        for data in self.data.iter_mut().flat_map(DataSet::files_mut) {
            if let Some(name) = data.written.strip_prefix(TEXT_PREFIX) {
                data.path = file(name);
            }
        }
        self
    }

    /// The name of the entry that a learner comes from.
    pub fn entry_of(&self, learner: &ExperimentLearner) -> &str {
        &self.entries[learner.entry].name
    }

    /// The seeds of a learner: only the first if the seed has no effect.
    pub fn seeds_of(&self, learner: &ExperimentLearner) -> &[u64] {
        let count = if learner.kind.is_seeded() { self.seeds.len() } else { 1 };
        &self.seeds[..count]
    }

    /// The first metric, which is used for early stopping, for choosing settings and for sorting.
    pub(super) fn main_metric(&self) -> &Measure {
        &self.metrics[0]
    }

    /// The name of the data set with this index.
    pub(super) fn data_name(&self, data: usize) -> &str {
        &self.data[data].name
    }

    /// The name of the learner with this index.
    pub(super) fn learner_name(&self, learner: usize) -> &str {
        &self.learners[learner].name
    }

    /// Rejects an experiment without a metric or a seed; a file always has both, but a program may
    /// have removed them.
    pub(super) fn check(&self) -> Result<(), ExperimentError> {
        for (is_empty, invariant) in [
            (self.metrics.is_empty(), "an experiment has a metric"),
            (self.seeds.is_empty(), "an experiment has a seed"),
        ] {
            if is_empty {
                return Err(ExperimentError::Internal { invariant });
            }
        }
        Ok(())
    }
}

/// Reads `metrics`, each of which may be a list of several.
fn metrics(
    top: &TomlTable<'_>,
    value: &Option<Spanned<Texts>>,
) -> Result<Vec<Measure>, ExperimentError> {
    let mut measures: Vec<Measure> = Vec::new();
    for text in texts(value) {
        for spec in parse_metrics(text).map_err(|e| top.error_at(value, e))? {
            let measure = spec.resolve(SourceKind::Features).map_err(|e| top.error_at(value, e))?;
            if measures.iter().any(|other| other.to_string() == measure.to_string()) {
                return Err(top.error_at(value, format!("{measure} is given twice")));
            }
            measures.push(measure);
        }
    }
    match measures.is_empty() {
        true => Err(top.error_at(
            value,
            "the experiment needs `metrics`, such as metrics = [\"ndcg@10\", \"ap\"]; the first \
             one is used for early stopping",
        )),
        false => Ok(measures),
    }
}

/// The texts of a key; empty if the key is absent.
fn texts(value: &Option<Spanned<Texts>>) -> &[String] {
    value.as_ref().map_or(&[], |texts| &texts.get_ref().0)
}

/// Reads `seeds`; the default seed if the key is absent.
fn seeds(
    top: &TomlTable<'_>,
    value: &Option<Spanned<Vec<WholeNumber>>>,
) -> Result<Vec<u64>, ExperimentError> {
    let Some(listed) = value else { return Ok(vec![DEFAULT_SEED]) };
    let seeds: Vec<u64> = listed.get_ref().iter().map(|seed| seed.0).collect();
    if seeds.is_empty() {
        return Err(top.error_at(value, "`seeds` is empty; give one at least, such as seeds = [1]"));
    }
    match (1..seeds.len()).find(|i| seeds[..*i].contains(&seeds[*i])) {
        Some(second) => Err(top.error_at(value, format!("seed {} is given twice", seeds[second]))),
        None => Ok(seeds),
    }
}

/// Reads the options of the comparison; the first learner is the baseline if none is named.
fn compare(
    top: &TomlTable<'_>,
    raw: &RawExperiment,
    learners: &[ExperimentLearner],
) -> Result<CompareOptions, ExperimentError> {
    let defaults = CompareOptions::default();
    let baseline = raw.baseline.as_ref().map(|name| name.get_ref().clone());
    let names: Vec<&str> = learners.iter().map(|learner| learner.name.as_str()).collect();
    if let Some(name) = baseline.as_deref().filter(|name| !names.contains(name)) {
        let suggestion = nearest(name, &names).map(|near| format!(" (did you mean `{near}`?)"));
        let suggestion = suggestion.unwrap_or_default();
        let known = some_of(&names);
        let message =
            format!("no learner is called `{name}`{suggestion}; the learners are {known}");
        return Err(top.error_at(&raw.baseline, message));
    }
    let options = defaults
        .clone()
        .baseline(baseline.or_else(|| names.first().map(|name| (*name).to_owned())))
        .test(raw.test.0)
        .correction(raw.correction.0)
        .alpha(raw.alpha.as_ref().map_or(defaults.alpha, |alpha| *alpha.get_ref()))
        .samples(raw.samples.map_or(defaults.samples, |samples| samples.0 as usize));
    options.clone().check().map_err(|e| top.error_at(&raw.alpha, e))?;
    Ok(options)
}

/// A list of names for a message, shortened if it is long.
pub(crate) fn some_of(names: &[&str]) -> String {
    const SHOWN: usize = 20;
    match names.get(..SHOWN) {
        Some(first) if names.len() > SHOWN => {
            format!("{} and {} more", first.join(", "), names.len() - SHOWN)
        }
        _ => names.join(", "),
    }
}
