//! Click logs and interleaving: the tasks of the library on files, with results as JSON.

use std::path::PathBuf;

use pyo3::prelude::*;
use rankwright::clicks::bias::BiasEstimator;
use rankwright::clicks::interleave::InterleavingMethod;
use rankwright::clicks::labels::LabelSource;
use rankwright::clicks::log::LogFormat;
use rankwright::clicks::model::ClickModel;
use rankwright::clicks::simulate::{LoggingRanker, SimulatedUser};
use rankwright::eval::MetricSpec;
use rankwright::spec::SpecError;
use rankwright::tasks::{
    ClickFiles, ClickPairsRequest, Context, DataFiles, EstimateBiasRequest, EvaluateClicksRequest,
    FitClickModelRequest, InspectClicksRequest, InterleaveRunsRequest, LabelClicksRequest,
    LoggingScores, ScoreInterleavingRequest, SimulateClicksRequest, TaskError, click_pairs,
    estimate_bias, evaluate_clicks, fit_click_model, inspect_clicks, interleave_runs, label_clicks,
    score_interleaving, simulate_clicks,
};
use serde::Serialize;

use crate::errors::{OrRaise, json};
use crate::run::interruptible;

/// A value of a closed list by its name.
fn named<T: Copy>(
    what: &'static str,
    all: &[(&'static str, T)],
    name: &str,
) -> Result<T, SpecError> {
    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    let found = all.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value).ok_or_else(|| SpecError::unknown(what, name, &names))
}

/// The files of a log.
fn log_files(files: Vec<PathBuf>, format: Option<&str>) -> Result<ClickFiles, SpecError> {
    let format = format.map(|name| named("log format", LogFormat::ALL, name)).transpose()?;
    Ok(ClickFiles::new(files).format(format))
}

/// Runs a task; its result is JSON.
fn run<T: Serialize + Send>(
    py: Python<'_>,
    task: impl FnOnce(&Context<'_>) -> Result<T, TaskError> + Send,
) -> PyResult<String> {
    let result = interruptible(py, 0, |cancel| task(&Context::default().cancel(cancel)))?;
    json(py, &result)
}

/// Summarises a log.
#[pyfunction]
#[pyo3(signature = (log, format))]
pub(crate) fn clicks_inspect(
    py: Python<'_>,
    log: Vec<PathBuf>,
    format: Option<&str>,
) -> PyResult<String> {
    let request = InspectClicksRequest::new(log_files(log, format).or_raise(py)?);
    run(py, |context| inspect_clicks(&request, context))
}

/// Fits a click model.
#[pyfunction]
#[pyo3(signature = (log, format, model, test))]
pub(crate) fn clicks_fit(
    py: Python<'_>,
    log: Vec<PathBuf>,
    format: Option<&str>,
    model: &str,
    test: Option<Vec<PathBuf>>,
) -> PyResult<String> {
    let model = ClickModel::parse(model).or_raise(py)?;
    let mut request = FitClickModelRequest::new(log_files(log, format).or_raise(py)?, model);
    if let Some(test) = test {
        request = request.test(log_files(test, format).or_raise(py)?);
    }
    run(py, |context| fit_click_model(&request, context))
}

/// Estimates the position bias of a log.
#[pyfunction]
#[pyo3(signature = (log, format, estimators, features))]
pub(crate) fn clicks_bias(
    py: Python<'_>,
    log: Vec<PathBuf>,
    format: Option<&str>,
    estimators: Vec<String>,
    features: Option<Vec<PathBuf>>,
) -> PyResult<String> {
    let estimator = |name: &String| named("estimator", BiasEstimator::ALL, name);
    let estimators: Vec<BiasEstimator> =
        estimators.iter().map(estimator).collect::<Result<_, _>>().or_raise(py)?;
    let mut request = EstimateBiasRequest::new(log_files(log, format).or_raise(py)?);
    if !estimators.is_empty() {
        request = request.estimators(estimators);
    }
    if let Some(features) = features {
        request = request.features(DataFiles::new(features));
    }
    run(py, |context| estimate_bias(&request, context))
}

/// Writes feature data whose labels are made of clicks.
#[pyfunction]
#[pyo3(signature = (log, format, features, out, source, grades))]
pub(crate) fn clicks_labels(
    py: Python<'_>,
    log: Vec<PathBuf>,
    format: Option<&str>,
    features: Vec<PathBuf>,
    out: PathBuf,
    source: Option<&str>,
    grades: Option<u32>,
) -> PyResult<String> {
    let log = log_files(log, format).or_raise(py)?;
    let mut request = LabelClicksRequest::new(log, DataFiles::new(features), out).grades(grades);
    if let Some(source) = source {
        request = request.source(named("source", LabelSource::ALL, source).or_raise(py)?);
    }
    run(py, |context| label_clicks(&request, context))
}

/// Writes the preferences that the clicks of a log mean.
#[pyfunction]
#[pyo3(signature = (log, format, out, min_count))]
pub(crate) fn clicks_pairs(
    py: Python<'_>,
    log: Vec<PathBuf>,
    format: Option<&str>,
    out: PathBuf,
    min_count: Option<u64>,
) -> PyResult<String> {
    let mut request = ClickPairsRequest::new(log_files(log, format).or_raise(py)?, out);
    if let Some(count) = min_count {
        request = request.min_count(count);
    }
    run(py, |context| click_pairs(&request, context))
}

/// Simulates users who click on the pages of a ranker, and writes the log.
#[pyfunction]
#[pyo3(signature = (data, out, *, model, feature, ranker, user, sessions, top, seed))]
#[allow(clippy::too_many_arguments, reason = "called by the Python package only")]
pub(crate) fn clicks_simulate(
    py: Python<'_>,
    data: Vec<PathBuf>,
    out: PathBuf,
    model: Option<PathBuf>,
    feature: Option<String>,
    ranker: Option<&str>,
    user: &str,
    sessions: Option<u64>,
    top: Option<usize>,
    seed: Option<u64>,
) -> PyResult<String> {
    let scores = match (model, feature) {
        (Some(model), _) => LoggingScores::Model(model.into()),
        (None, feature) => LoggingScores::Feature(feature.unwrap_or_else(|| "1".to_owned())),
    };
    let user = SimulatedUser::parse(user).or_raise(py)?;
    let mut request = SimulateClicksRequest::new(DataFiles::new(data), scores, user, out).top(top);
    if let Some(ranker) = ranker {
        request = request.ranker(LoggingRanker::parse(ranker).or_raise(py)?);
    }
    if let Some(sessions) = sessions {
        request = request.sessions(sessions);
    }
    if let Some(seed) = seed {
        request = request.seed(seed);
    }
    run(py, |context| simulate_clicks(&request, context))
}

/// Estimates the value of models from the log of another ranking.
#[pyfunction]
#[pyo3(signature = (log, format, models, features, metric))]
pub(crate) fn clicks_evaluate(
    py: Python<'_>,
    log: Vec<PathBuf>,
    format: Option<&str>,
    models: Vec<PathBuf>,
    features: Vec<PathBuf>,
    metric: &str,
) -> PyResult<String> {
    let metric = MetricSpec::parse(metric).or_raise(py)?;
    let log = log_files(log, format).or_raise(py)?;
    let request = EvaluateClicksRequest::new(log, models, DataFiles::new(features), metric);
    run(py, |context| evaluate_clicks(&request, context))
}

/// Interleaves runs for a comparison by clicks, and writes the lists.
#[pyfunction]
#[pyo3(signature = (runs, out, method, length, seed))]
pub(crate) fn interleave(
    py: Python<'_>,
    runs: Vec<PathBuf>,
    out: PathBuf,
    method: Option<&str>,
    length: Option<usize>,
    seed: Option<u64>,
) -> PyResult<String> {
    let mut request = InterleaveRunsRequest::new(runs, out);
    if let Some(name) = method {
        request = request.method(named("method", InterleavingMethod::ALL, name).or_raise(py)?);
    }
    if let Some(length) = length {
        request = request.length(length);
    }
    if let Some(seed) = seed {
        request = request.seed(seed);
    }
    run(py, |context| interleave_runs(&request, context))
}

/// Compares the rankers of interleaved lists by the clicks of a log.
#[pyfunction]
#[pyo3(signature = (log, format, lists))]
pub(crate) fn interleave_score(
    py: Python<'_>,
    log: Vec<PathBuf>,
    format: Option<&str>,
    lists: PathBuf,
) -> PyResult<String> {
    let request = ScoreInterleavingRequest::new(log_files(log, format).or_raise(py)?, lists);
    run(py, |context| score_interleaving(&request, context))
}
