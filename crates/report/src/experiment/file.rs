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
use rankwright_eval::{Measure, SourceKind, expand, nearest};
use rankwright_learn::LearnerSpec;

use super::fields::{Document, Fields};
use super::paths::{FilePath, Places};
use super::sha256;
use crate::ReportError;

mod source;

pub use source::{DataSet, Division, FoldFiles, Origin, Source};

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
];
const LEARNER: &[&str] = &["name", "spec", "model", "feature"];

/// A whole comparison: learners on data sets, over folds and seeds.
///
/// ```
/// use rankwright_report::experiment::Experiment;
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
/// # Ok::<(), rankwright_report::ReportError>(())
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
    /// What is compared.
    pub learners: Vec<Member>,
    /// SHA-256 of the file's text.
    pub sha256: String,
}

/// One of those compared.
#[derive(Debug, Clone)]
pub struct Member {
    /// What it is called.
    pub name: String,
    /// What it does.
    pub what: What,
}

/// What a member does.
#[derive(Debug, Clone)]
pub enum What {
    /// Learns, for each fold and seed.
    Learner(Box<LearnerSpec>),
    /// Scores with a model that is there already.
    Model(FilePath),
}

impl What {
    /// As the report shows it.
    pub fn text(&self) -> String {
        match self {
            What::Learner(spec) => spec.to_string(),
            What::Model(file) => format!("the model {}", file.written),
        }
    }

    /// Whether the seed can change anything.
    pub fn is_seeded(&self) -> bool {
        matches!(self, What::Learner(spec) if spec.learns())
    }
}

impl Experiment {
    /// Reads a file; paths in it are relative to its folder, and `${NAME}` is taken from the
    /// environment.
    pub fn read(path: &Path) -> Result<Self, ReportError> {
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
    ) -> Result<Self, ReportError> {
        let document = Document { name: file, text };
        let table = document.parse()?;
        let top = Fields::new(document, table.get_ref(), 0, "the experiment", TOP)?;
        let places = Places { folder, variable };
        let learners = learners(&top, &places)?;
        let experiment = Self {
            name: top.needed("name", "\"boosted trees\"")?,
            description: top.text("description")?.unwrap_or_default(),
            metrics: metrics(&top)?,
            seeds: seeds(&top)?,
            compare: compare(&top, &learners)?,
            data: source::data_sets(&top, &places)?,
            learners,
            sha256: sha256(text.as_bytes()),
        };
        Ok(experiment)
    }

    /// The seeds of a member: one where no seed can change anything.
    pub fn seeds_of(&self, member: &Member) -> &[u64] {
        let count = if member.what.is_seeded() { self.seeds.len() } else { 1 };
        self.seeds.get(..count).unwrap_or(&self.seeds)
    }
}

fn metrics(top: &Fields<'_>) -> Result<Vec<Measure>, ReportError> {
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

fn seeds(top: &Fields<'_>) -> Result<Vec<u64>, ReportError> {
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

fn compare(top: &Fields<'_>, learners: &[Member]) -> Result<CompareOptions, ReportError> {
    fn named<T: FromStr<Err: std::fmt::Display> + Default>(
        top: &Fields<'_>,
        key: &str,
    ) -> Result<T, ReportError> {
        let Some(text) = top.text(key)? else { return Ok(T::default()) };
        text.parse().map_err(|e| top.wrong(key, e))
    }
    let usual = CompareOptions::default();
    let baseline = top.text("baseline")?;
    let names: Vec<&str> = learners.iter().map(|member| member.name.as_str()).collect();
    if let Some(name) = baseline.as_deref().filter(|name| !names.contains(name)) {
        let slip = nearest(name, &names).map(|near| format!(" (did you mean `{near}`?)"));
        let slip = slip.unwrap_or_default();
        let message =
            format!("no learner is called `{name}`{slip}; the learners are {}", names.join(", "));
        return Err(top.wrong("baseline", message));
    }
    let samples = top.whole("samples")?.map_or(usual.samples, |n| n as usize);
    let options = CompareOptions {
        baseline: baseline.or_else(|| names.first().map(|name| (*name).to_owned())),
        test: named::<Test>(top, "test")?,
        correction: named::<Correction>(top, "correction")?,
        alpha: top.number("alpha")?.unwrap_or(usual.alpha),
        samples,
        ..usual
    };
    options.clone().check().map_err(|e| top.wrong("alpha", e))?;
    Ok(options)
}

fn learners(top: &Fields<'_>, places: &Places<'_>) -> Result<Vec<Member>, ReportError> {
    let mut members: Vec<Member> = Vec::new();
    for fields in top.tables("learner", "[[learner]]", LEARNER)? {
        let what = what(&fields, places)?;
        let name = match fields.has("name") {
            true => fields.needed("name", "\"lambdamart\"")?,
            false => what.text(),
        };
        let name = one_line(&fields, name)?;
        if members.iter().any(|member| member.name == name) {
            return Err(fields.wrong("name", format!("two learners are called `{name}`")));
        }
        let same = members.iter().find(|member| member.what.text() == what.text());
        if let Some(Member { name: other, .. }) = same {
            let message = format!("`{name}` is the same as `{other}`: {}", what.text());
            return Err(fields.wrong("spec", message));
        }
        members.push(Member { name, what });
    }
    match members.is_empty() {
        true => Err(top.wrong(
            "learner",
            "there is no learner; write [[learner]] with a name and a spec, such as spec = \
             \"lambdamart(trees=100)\"",
        )),
        false => Ok(members),
    }
}

fn what(fields: &Fields<'_>, places: &Places<'_>) -> Result<What, ReportError> {
    let ways = fields.present(&["spec", "model", "feature"]);
    let [way] = ways.as_slice() else {
        let message = "[[learner]] has one of `spec` (to learn), `model` (a file) and `feature` (to \
                       rank by)";
        return Err(fields.wrong(ways.last().unwrap_or(&"spec"), message));
    };
    let text = fields.word(way)?.unwrap_or_default();
    let spec = match *way {
        "model" => {
            let file = places.file(&text).map_err(|e| fields.wrong("model", e))?;
            return Ok(What::Model(file));
        }
        // A line with one weight ranks by one feature.
        "feature" => format!("linear(weights={text}:1)"),
        _ => text,
    };
    let spec = LearnerSpec::parse(&spec).map_err(|e| fields.wrong(way, e))?;
    if spec.to_string().contains("file:") {
        let message = "a member that is read from a file (file:...) is not recorded in a cell, so \
                       that a change of it would go unnoticed; write its spec instead";
        return Err(fields.wrong(way, message));
    }
    Ok(What::Learner(Box::new(spec)))
}

/// Names go into tables and tab-separated files.
fn one_line(fields: &Fields<'_>, name: String) -> Result<String, ReportError> {
    match name.chars().any(char::is_control) {
        true => Err(fields.wrong("name", "a name is one line without tabs")),
        false => Ok(name),
    }
}

/// Reads `letor(queries=500, documents=60)`.
fn generator(text: &str, seed: u64) -> Result<LetorOptions, String> {
    use rankwright_eval::{ParamInfo, Params, Spec, SpecError};
    const KNOWN: &[ParamInfo] = &[
        ParamInfo { name: "queries", doc: "number of queries", default: "1000" },
        ParamInfo { name: "documents", doc: "mean number of documents a query", default: "120" },
    ];
    let read = || {
        let spec = Spec::parse(text)?;
        if spec.name != "letor" || spec.cutoff.is_some() {
            return Err(SpecError::unknown("generator", &spec.name, &["letor"]));
        }
        let params = Params::new(&spec, KNOWN, &[])?;
        let number = |key, default| params.u32(key, default).map(|n| n as usize);
        Ok(LetorOptions {
            queries: number("queries", 1000)?,
            documents: number("documents", 120)?,
            seed,
        })
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
