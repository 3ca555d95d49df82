//! Tasks of the library by name: the fields of a request in, JSON of the result out.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankwright::data::DEFAULT_SEED;
use rankwright::search::classify::{
    ClassDecision, Classification, Classifier, ClassifierOptions, TextClassifier,
};
use rankwright::search::{Analysis, Document, Documents};
use rankwright::spec::SpecError;
use rankwright::tasks::{
    Context, GenerateHomepagesRequest, GenerateStoreRequest, TaskError, ValidateClassifierRequest,
    generate_homepages, generate_store,
};
use serde::Serialize;

use crate::clicks;
use crate::errors::{OrRaise, json};
use crate::fields::Fields;
use crate::run::interruptible;
use crate::search::{GivenDocument, documents};

/// A task: it makes its request of the fields.
type Task = fn(&Fields<'_>) -> PyResult<String>;

/// All tasks by the names of the command.
const TASKS: [(&str, Task); 18] = [
    ("classify", classify),
    ("clicks bias", clicks::bias),
    ("clicks convert", clicks::convert),
    ("clicks counts", clicks::counts),
    ("clicks evaluate", clicks::evaluate),
    ("clicks fit", clicks::fit),
    ("clicks inspect", clicks::inspect),
    ("clicks pairs", clicks::pairs),
    ("clicks simulate", clicks::simulate),
    ("data generate homepages", homepages),
    ("data generate store", store),
    ("interleave runs", clicks::interleaved_runs),
    ("interleave score", clicks::interleaved_score),
    ("interleave simulate", clicks::interleaved_simulation),
    ("judge aggregate", clicks::judge_aggregated),
    ("judge check", clicks::judge_checked),
    ("judge prompts", clicks::judge_questions),
    ("judge read", clicks::judge_answers),
];

/// Runs the task of this name; the result is JSON.
#[pyfunction]
pub(crate) fn run_task(py: Python<'_>, name: &str, fields: Bound<'_, PyDict>) -> PyResult<String> {
    let task = TASKS.iter().find(|(known, _)| *known == name).map(|(_, task)| task);
    let names = || TASKS.map(|(name, _)| name);
    let task = task.ok_or_else(|| SpecError::unknown("task", name, &names())).or_raise(py)?;
    task(&Fields::new(fields))
}

/// Runs a task outside of the interpreter lock; its result is JSON.
pub(crate) fn run<T: Serialize + Send>(
    py: Python<'_>,
    task: impl FnOnce(&Context<'_>) -> Result<T, TaskError> + Send,
) -> PyResult<String> {
    let result = interruptible(py, 0, |cancel| task(&Context::default().cancel(cancel)))?;
    json(py, &result)
}

/// Documents in memory, or the files that have them.
#[derive(FromPyObject)]
enum DocumentSource {
    Files(Vec<PathBuf>),
    InMemory(Vec<GivenDocument>),
}

impl DocumentSource {
    fn read(self) -> Result<Vec<Document>, TaskError> {
        match self {
            DocumentSource::Files(files) => {
                Ok(Documents::open_all(&files, None)?.collect::<Result<_, _>>()?)
            }
            DocumentSource::InMemory(given) => Ok(documents(given)),
        }
    }
}

/// The classes of documents, with the decision on each.
#[derive(Serialize)]
struct Classified {
    #[serde(flatten)]
    classification: Classification,
    decisions: Vec<DecidedDocument>,
}

/// The class of one document, with the value of each class.
#[derive(Serialize)]
struct DecidedDocument {
    id: String,
    class: String,
    value: f64,
    values: BTreeMap<String, f64>,
}

impl Classified {
    fn new(classification: Classification) -> Self {
        let names = &classification.class_names;
        let decided = |decision: &ClassDecision| DecidedDocument {
            id: decision.id.clone(),
            class: decision.class.clone(),
            value: decision.value,
            values: names.iter().cloned().zip(decision.values.iter().copied()).collect(),
        };
        let decisions = classification.decisions.iter().map(decided).collect();
        Classified { classification, decisions }
    }
}

/// Classifies documents by labelled ones, or cross-validates the classifier on these.
fn classify(fields: &Fields<'_>) -> PyResult<String> {
    let labelled: DocumentSource = fields.required("labelled")?;
    let unlabelled: Option<DocumentSource> = fields.optional("documents")?;
    let label: String = fields.required("label")?;
    let classifier = fields.parsed("classifier", Classifier::parse)?.unwrap_or_default();
    let names: Vec<String> = fields.optional("fields")?.unwrap_or_default();
    let mut options = ClassifierOptions::new(classifier).fields(names);
    options.analysis = fields.parsed("analysis", Analysis::parse)?.unwrap_or_default();
    options.weights = fields.choice("weights")?;
    let folds = fields.optional("folds")?.unwrap_or(ValidateClassifierRequest::DEFAULT_FOLDS);
    let seed = fields.optional("seed")?.unwrap_or(DEFAULT_SEED);
    let py = fields.py();
    let classifier = interruptible(py, 0, |_| -> Result<TextClassifier, TaskError> {
        Ok(TextClassifier::with_options(labelled.read()?, label, options)?)
    })?;
    match unlabelled {
        Some(unlabelled) => {
            let classify = |_: &_| {
                Ok::<_, TaskError>(Classified::new(classifier.classify(unlabelled.read()?)?))
            };
            json(py, &interruptible(py, 0, classify)?)
        }
        None => json(py, &interruptible(py, 0, |_| classifier.cross_validate(folds, seed))?),
    }
}

fn store(fields: &Fields<'_>) -> PyResult<String> {
    let request =
        GenerateStoreRequest::new(fields.options("options")?, fields.required::<PathBuf>("out")?);
    run(fields.py(), |context| generate_store(&request, context))
}

fn homepages(fields: &Fields<'_>) -> PyResult<String> {
    let request = GenerateHomepagesRequest::new(
        fields.options("options")?,
        fields.required::<PathBuf>("out")?,
    );
    run(fields.py(), |context| generate_homepages(&request, context))
}
