//! Tasks of the library by name: the fields of a request in, JSON of the result out.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankwright::search::Analysis;
use rankwright::search::classify::{ClassDecision, Classifier, ClassifierOptions};
use rankwright::spec::SpecError;
use rankwright::tasks::{
    ClassifyDocumentsRequest, ClassifyDocumentsResult, CollectionSource, Context,
    GenerateHomepagesRequest, GenerateStoreRequest, InspectModelRequest, InspectRequest,
    LabelledFiles, PermutationRequest, TaskError, ValidateClassifierRequest, classify_documents,
    generate_homepages, generate_store, inspect_data, inspect_model, validate_classifier,
};
use serde::Serialize;

use crate::clicks;
use crate::errors::{OrRaise, json};
use crate::fields::Fields;
use crate::run::interruptible;

/// A task: it makes its request of the fields.
type Task = fn(&Fields<'_>) -> PyResult<String>;

/// All tasks by the names of the command.
const TASKS: [(&str, Task); 20] = [
    ("classify", classify),
    ("clicks bias", clicks::bias),
    ("clicks convert", clicks::convert),
    ("clicks counts", clicks::counts),
    ("clicks evaluate", clicks::evaluate),
    ("clicks fit", clicks::fit),
    ("clicks inspect", clicks::inspect),
    ("clicks pairs", clicks::pairs),
    ("clicks simulate", clicks::simulate),
    ("data inspect", inspect),
    ("data generate homepages", homepages),
    ("data generate store", store),
    ("interleave runs", clicks::interleaved_runs),
    ("interleave score", clicks::interleaved_score),
    ("interleave simulate", clicks::interleaved_simulation),
    ("judge aggregate", clicks::judge_aggregated),
    ("judge check", clicks::judge_checked),
    ("judge prompts", clicks::judge_questions),
    ("judge read", clicks::judge_answers),
    ("model inspect", inspect_the_model),
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

/// The classes of documents, with the decision on each.
#[derive(Serialize)]
struct Classified {
    #[serde(flatten)]
    result: ClassifyDocumentsResult,
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
    fn new(result: ClassifyDocumentsResult) -> Self {
        let names = &result.result.class_names;
        let decided = |decision: &ClassDecision| DecidedDocument {
            id: decision.id.clone(),
            class: decision.class.clone(),
            value: decision.value,
            values: names.iter().cloned().zip(decision.values.iter().copied()).collect(),
        };
        let decisions = result.result.decisions.iter().map(decided).collect();
        Classified { result, decisions }
    }
}

/// Classifies documents by labelled ones, or cross-validates the classifier on these.
fn classify(fields: &Fields<'_>) -> PyResult<String> {
    let labelled = fields.document_source("labelled")?;
    let labelled = labelled.unwrap_or_else(|| CollectionSource::in_memory(Vec::new()));
    let classifier = fields.parsed("classifier", Classifier::parse)?.unwrap_or_default();
    let mut options =
        ClassifierOptions::new(classifier).fields(fields.or("fields", Vec::<String>::new())?);
    options.analysis = fields.parsed("analysis", Analysis::parse)?.unwrap_or_default();
    options.weights = fields.choice("weights")?;
    let labelled =
        LabelledFiles::of(labelled, fields.required::<String>("label")?).options(options);
    if let Some(documents) = fields.document_source("documents")? {
        let request = ClassifyDocumentsRequest::of(labelled, documents);
        return run(fields.py(), |context| {
            Ok(Classified::new(classify_documents(&request, context)?))
        });
    }
    let mut request = ValidateClassifierRequest::new(labelled);
    request.folds = fields.or("folds", request.folds)?;
    request.seed = fields.or("seed", request.seed)?;
    run(fields.py(), |context| validate_classifier(&request, context))
}

/// Counts, distributions and warnings of feature data.
fn inspect(fields: &Fields<'_>) -> PyResult<String> {
    let request = InspectRequest::new(fields.required_data_source("data")?);
    run(fields.py(), |context| inspect_data(&request, context))
}

/// The training, the parts and the importance of the features of a model.
fn inspect_the_model(fields: &Fields<'_>) -> PyResult<String> {
    let mut request = InspectModelRequest::new(fields.required_model("model")?);
    request.tree = fields.optional("tree")?;
    if let Some(data) = fields.data_source("data")? {
        let mut permutation = PermutationRequest::new(data);
        permutation.metric = fields.metrics("metric")?.pop();
        permutation.repeats = fields.or("repeats", permutation.repeats)?;
        permutation.seed = fields.or("seed", permutation.seed)?;
        request.permutation = Some(permutation);
    }
    run(fields.py(), |context| inspect_model(&request, context))
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
