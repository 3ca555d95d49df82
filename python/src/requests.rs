//! Requests as JSON, whose inputs are files: every task of the library by its name. Lists of what the
//! library has.

use pyo3::prelude::*;
use rankwright::spec::SpecError;
use rankwright::tasks::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::errors::{OrRaise, json, of_kind};
use crate::tasks::run;

/// Reads a request and runs its task.
fn run_json<Q: DeserializeOwned + Sync, R: Serialize + Send>(
    py: Python<'_>,
    text: &str,
    task: fn(&Q, &Context<'_>) -> Result<R, TaskError>,
) -> PyResult<String> {
    let request: Q = serde_json::from_str(text).map_err(|error| {
        let help = "docs/reference/requests.md has the fields of each request";
        of_kind(py, "request-form", &format!("the request cannot be read: {error}"), Some(help))
    })?;
    run(py, |context| task(&request, context))
}

/// All tasks by name: a function that reads the JSON of a request and returns that of the result.
macro_rules! tasks {
    ($($task:ident),* $(,)?) => {
        const REQUESTS: &[(&str, fn(Python<'_>, &str) -> PyResult<String>)] =
            &[$((stringify!($task), |py, text| run_json(py, text, $task))),*];
    };
}

tasks![
    train_model,
    score,
    eval,
    compare_systems,
    cross_validate_learners,
    explain_ranking,
    inspect_data,
    convert_data,
    split_data,
    generate_letor,
    generate_store,
    generate_homepages,
    inspect_model,
    convert_model,
    build_index,
    delete_documents,
    search_index,
    run_queries,
    extract_features,
    validate_classifier,
    classify_documents,
    run_experiment,
    plan_experiment,
];

/// Runs the task of this name on files; request and result are JSON.
#[pyfunction]
pub(crate) fn run_request(py: Python<'_>, name: &str, request: &str) -> PyResult<String> {
    let task = REQUESTS.iter().find(|(known, _)| *known == name).map(|(_, task)| task);
    let names: Vec<&str> = REQUESTS.iter().map(|(name, _)| *name).collect();
    task.ok_or_else(|| SpecError::unknown("task", name, &names)).or_raise(py)?(py, request)
}

/// What the library has of a kind, with parameters and help, as JSON.
#[pyfunction]
pub(crate) fn list(py: Python<'_>, kind: &str) -> PyResult<String> {
    match kind {
        "learners" => json(py, &list_learners()),
        "objectives" => json(py, &list_objectives()),
        "metrics" => json(py, &list_metrics()),
        "features" => json(py, &list_features()),
        "first-stages" => json(py, &list_first_stages()),
        "classifiers" => json(py, &list_classifiers()),
        "click-models" => json(py, &list_click_models()),
        "formats" => json(py, &list_formats()),
        "lectures" => json(py, &list_lectures()),
        _ => {
            let kinds = [
                "learners",
                "objectives",
                "metrics",
                "features",
                "first-stages",
                "classifiers",
                "click-models",
                "formats",
                "lectures",
            ];
            Err(SpecError::unknown("list", kind, &kinds)).or_raise(py)
        }
    }
}
