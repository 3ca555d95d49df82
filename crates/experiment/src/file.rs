//! An experiment's file: what is compared on which data, read and checked whole before anything runs.
//!
//! The format is told in `docs/experiments.md`. Whatever can be known without opening data is known
//! here: keys, metrics, specs of learners, the baseline's name, variables in paths. Whether files can
//! be read and whether a learner fits the data is found when it comes to that, and costs only the
//! cells concerned.

use std::path::Path;
use std::str::FromStr;

use rankwright_data::generate::LetorOptions;
use rankwright_data::split::Parts;
use rankwright_eval::compare::{CompareOptions, Test};
use rankwright_eval::stats::Correction;
use rankwright_eval::{Measure, SourceKind, expand};
use rankwright_spec::nearest;

use super::fields::{Document, Fields};
use super::paths::PathResolver;
use super::sha256;
use crate::ExperimentError;

mod grid;
mod learner;
mod source;
mod view;

pub use learner::{LearnerEntry, Member, MemberKind};
pub use source::{DataSet, Division, FoldFiles, Origin, Source};
pub use view::{FactorPlot, FactorTable, FactorView};

const TOP: &[&str] = &[
    "name",
    "description",
    "metrics",
    "seeds",
    "baseline",
    "test",
    "correction",
    "alpha",
    "samples",
    "data",
    "learner",
    "table",
    "plot",
];

/// A whole comparison: learners on data sets, over folds and seeds.
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
    /// What it is called.
    pub name: String,
    /// What it is about; may be empty.
    pub description: String,
    /// What is measured; the first decides on stopping and on the order of things.
    pub metrics: Vec<Measure>,
    /// Seeds of the trainings; values are means over them.
    pub seeds: Vec<u64>,
    /// How learners are compared, the baseline among it.
    pub compare: CompareOptions,
    /// Data sets, each compared on its own.
    pub data: Vec<DataSet>,
    /// What is compared, one for each combination of a grid.
    pub learners: Vec<Member>,
    /// What they were written as.
    pub entries: Vec<LearnerEntry>,
    /// Tables by factors.
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
        let text = std::fs::read_to_string(path)
            .map_err(|e| rankwright_data::DataError::io("read", name.as_str(), e))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::parse(&text, &name, folder, &|name| std::env::var(name).ok())
    }

    /// Reads a text; `file` is its name in messages.
    pub fn parse(
        text: &str,
        file: &str,
        folder: &Path,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ExperimentError> {
        let document = Document { name: file, text };
        let table = document.parse()?;
        let top = Fields::new(document, table.get_ref(), 0, "the experiment", TOP)?;
        let places = PathResolver { folder, variable };
        let (entries, learners) = learner::read(&top, &places)?;
        let mut experiment = Self {
            name: top.needed("name", "\"boosted trees\"")?,
            description: top.text("description")?.unwrap_or_default(),
            metrics: metrics(&top)?,
            seeds: seeds(&top)?,
            compare: compare(&top, &learners)?,
            data: source::data_sets(&top, &places)?,
            learners,
            entries,
            tables: Vec::new(),
            plots: Vec::new(),
            sha256: sha256(text.as_bytes()),
        };
        experiment.tables = view::tables(&top, &experiment)?;
        experiment.plots = view::plots(&top, &experiment)?;
        Ok(experiment)
    }

    /// What the entry is called that a member was written as.
    pub fn entry_of(&self, member: &Member) -> &str {
        self.entries.get(member.entry).map_or("", |entry| entry.name.as_str())
    }

    /// The seeds of a member: one where no seed can change anything.
    pub fn seeds_of(&self, member: &Member) -> &[u64] {
        let count = if member.what.is_seeded() { self.seeds.len() } else { 1 };
        self.seeds.get(..count).unwrap_or(&self.seeds)
    }
}

fn metrics(top: &Fields<'_>) -> Result<Vec<Measure>, ExperimentError> {
    let mut measures: Vec<Measure> = Vec::new();
    for text in top.texts("metrics")? {
        for spec in expand(&text).map_err(|e| top.wrong("metrics", e))? {
            let measure = spec.resolve(SourceKind::Features);
            let measure = measure.map_err(|e| top.wrong("metrics", e))?;
            if measures.iter().any(|other| other.to_string() == measure.to_string()) {
                return Err(top.wrong("metrics", format!("{measure} is given twice")));
            }
            measures.push(measure);
        }
    }
    match measures.is_empty() {
        true => Err(top.wrong(
            "metrics",
            "the experiment needs `metrics`, such as metrics = [\"ndcg@10\", \"ap\"]; the first \
             decides on stopping",
        )),
        false => Ok(measures),
    }
}

fn seeds(top: &Fields<'_>) -> Result<Vec<u64>, ExperimentError> {
    let seeds = match top.has("seeds") {
        true => top.wholes("seeds")?,
        false => vec![1],
    };
    if seeds.is_empty() {
        return Err(top.wrong("seeds", "`seeds` is empty; give one at least, such as seeds = [1]"));
    }
    match (1..seeds.len()).find(|n| seeds[..*n].contains(&seeds[*n])) {
        Some(twice) => Err(top.wrong("seeds", format!("seed {} is given twice", seeds[twice]))),
        None => Ok(seeds),
    }
}

fn compare(top: &Fields<'_>, learners: &[Member]) -> Result<CompareOptions, ExperimentError> {
    fn named<T: FromStr<Err: std::fmt::Display> + Default>(
        top: &Fields<'_>,
        key: &str,
    ) -> Result<T, ExperimentError> {
        let Some(text) = top.text(key)? else { return Ok(T::default()) };
        text.parse().map_err(|e| top.wrong(key, e))
    }
    let usual = CompareOptions::default();
    let baseline = top.text("baseline")?;
    let names: Vec<&str> = learners.iter().map(|member| member.name.as_str()).collect();
    if let Some(name) = baseline.as_deref().filter(|name| !names.contains(name)) {
        let slip = nearest(name, &names).map(|near| format!(" (did you mean `{near}`?)"));
        let slip = slip.unwrap_or_default();
        let known = some_of(&names);
        let message = format!("no learner is called `{name}`{slip}; the learners are {known}");
        return Err(top.wrong("baseline", message));
    }
    let samples = top.whole("samples")?.map_or(usual.samples, |n| n as usize);
    let options = usual
        .baseline(baseline.or_else(|| names.first().map(|name| (*name).to_owned())))
        .test(named::<Test>(top, "test")?)
        .correction(named::<Correction>(top, "correction")?)
        .samples(samples);
    let options = match top.number("alpha")? {
        Some(alpha) => options.alpha(alpha),
        None => options,
    };
    options.clone().check().map_err(|e| top.wrong("alpha", e))?;
    Ok(options)
}

/// A list of names for a message, cut where it is long.
pub(crate) fn some_of(names: &[&str]) -> String {
    const SHOWN: usize = 20;
    match names.get(..SHOWN) {
        Some(first) if names.len() > SHOWN => {
            format!("{} and {} more", first.join(", "), names.len() - SHOWN)
        }
        _ => names.join(", "),
    }
}

/// Names go into tables and tab-separated files.
fn one_line(fields: &Fields<'_>, name: String) -> Result<String, ExperimentError> {
    match name.chars().any(char::is_control) {
        true => Err(fields.wrong("name", "a name is one line without tabs")),
        false => Ok(name),
    }
}

/// Reads `letor(queries=500, documents=60)`.
fn generator(text: &str, seed: u64) -> Result<LetorOptions, String> {
    use rankwright_spec::{Spec, SpecError, read_into};
    let read = || {
        let spec = Spec::parse(text)?;
        if spec.name != "letor" || spec.cutoff.is_some() {
            return Err(SpecError::unknown("generator", &spec.name, &["letor"]));
        }
        let mut options = LetorOptions::default().seed(seed);
        read_into(&mut options, &spec)?;
        Ok(options)
    };
    read().map_err(|error: SpecError| error.to_string())
}

/// Reads the parts of a split: `train` and `test`, and `valid` if wanted.
fn split_parts(text: &str) -> Result<Parts, String> {
    let parts = Parts::parse(text).map_err(|e| e.to_string())?;
    let names: Vec<String> = parts.split(0, 0).into_iter().map(|(name, _)| name).collect();
    let known = ["train", "valid", "test"];
    if let Some(other) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(format!("the parts are called train, valid and test, not {other}"));
    }
    match ["train", "test"].iter().find(|name| !names.iter().any(|n| n == *name)) {
        Some(name) => Err(format!("there is no part `{name}`")),
        None => Ok(parts),
    }
}
