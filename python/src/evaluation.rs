//! Evaluation, comparison, cross validation and tuning on data in memory.

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict};
use rankwright::eval::compare::CompareOptions;
use rankwright::eval::{DEFAULT_METRIC, Evaluation, MetricSpec, SourceKind};
use rankwright::learn::tune::{Space, TuneData, TunePlan, TuneProgress, TuneSettings};
use rankwright::learn::{FoldParams, Progress};
use rankwright::tasks::{
    CompareInput, CompareRequest, Context, CrossValidateRequest, EvalInput, EvalRequest,
    TuneRequest, compare_systems, cross_validate_learners, eval, tune_learner,
};

use crate::arrays::score_bytes;
use crate::errors::{OrRaise, json};
use crate::fields::Fields;
use crate::run::interruptible;

/// The values of metrics, for totals and for each query.
#[pyclass(name = "Evaluation", module = "rankwright._native", frozen)]
pub(crate) struct PyEvaluation {
    pub(crate) evaluation: Evaluation,
    /// The result of the task, or the totals, as JSON.
    totals: String,
    /// The name of the main metric.
    main: String,
}

impl PyEvaluation {
    /// An evaluation by the requested metrics. The main metric is the first of them, or the default
    /// one if none was requested.
    fn new(evaluation: Evaluation, totals: String, requested: &[MetricSpec]) -> Self {
        let default = evaluation.result(DEFAULT_METRIC).filter(|_| requested.is_empty());
        let main = default.or(evaluation.results.first()).map(|result| result.measure.to_string());
        PyEvaluation { evaluation, totals, main: main.unwrap_or_default() }
    }
}

#[pymethods]
impl PyEvaluation {
    /// The totals, as JSON.
    fn totals(&self) -> &str {
        &self.totals
    }

    /// The name of the main metric.
    #[getter]
    fn main(&self) -> &str {
        &self.main
    }

    /// The ids of the queries.
    fn queries(&self) -> Vec<String> {
        self.evaluation.queries.clone()
    }

    /// The value of a metric for each query; `None` for a metric that was not measured.
    fn values(&self, metric: &str) -> Option<Vec<Option<f64>>> {
        self.evaluation.result(metric).map(|result| result.values.clone())
    }
}

/// What is evaluated: a run with judgements, scores, or a model.
fn eval_input(fields: &Fields<'_>) -> PyResult<EvalInput> {
    if let (Some(run), Some(qrels)) =
        (fields.run_sources("runs")?.pop(), fields.qrels_source("qrels")?)
    {
        return Ok(EvalInput::run(run, qrels));
    }
    let data = fields.required_data_source("data")?;
    if let Some(scores) = fields.score_sources("scores")?.pop() {
        return Ok(EvalInput::scores(scores, data));
    }
    let model = fields.model_source("model")?;
    Ok(EvalInput::Model { model, data, matching: fields.matching()? })
}

/// Evaluates a model or scores on data, or a run against judgements.
#[pyfunction]
pub(crate) fn evaluate(
    py: Python<'_>,
    fields: Bound<'_, PyDict>,
    threads: usize,
) -> PyResult<PyEvaluation> {
    let fields = Fields::new(fields);
    let request = EvalRequest::new(eval_input(&fields)?)
        .metrics(fields.metrics("metrics")?)
        .depth(fields.optional("depth")?);
    let result =
        interruptible(py, threads, |cancel| eval(&request, &Context::default().cancel(cancel)))?;
    let totals = json(py, &result)?;
    Ok(PyEvaluation::new(result.evaluation, totals, &request.metrics))
}

/// The request of the fields of a comparison: models, scores, runs or evaluations by name.
pub(crate) fn compare_request(fields: &Fields<'_>) -> PyResult<CompareRequest> {
    let evaluations: Option<Vec<(String, PyRef<'_, PyEvaluation>)>> =
        fields.optional("evaluations")?;
    let input = match (evaluations, fields.qrels_source("qrels")?) {
        (Some(systems), _) => {
            let system =
                |(name, found): (String, PyRef<'_, PyEvaluation>)| (name, found.evaluation.clone());
            CompareInput::evaluations(systems.into_iter().map(system).collect::<Vec<_>>())
        }
        (None, Some(qrels)) => CompareInput::runs(fields.run_sources("runs")?, qrels),
        (None, None) => CompareInput::data(
            fields.required_data_source("data")?,
            fields.model_sources("models")?,
            fields.score_sources("scores")?,
        ),
    };
    let mut options: CompareOptions = fields.options("options")?;
    if let Some(baseline) = fields.optional("baseline")? {
        options.baseline = Some(baseline);
    }
    Ok(CompareRequest::new(input)
        .metrics(fields.metrics("metrics")?)
        .depth(fields.optional("depth")?)
        .options(options))
}

/// Compares systems on the same queries. Returns JSON and the table as text.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    fields: Bound<'_, PyDict>,
    threads: usize,
) -> PyResult<(String, String)> {
    let request = compare_request(&Fields::new(fields))?;
    let found = interruptible(py, threads, |cancel| {
        compare_systems(&request, &Context::default().cancel(cancel))
    })?;
    let table = rankwright::eval::table::comparison_table(&found.comparison).to_text();
    Ok((json(py, &found)?, table))
}

/// A cross-validated learner: the evaluation of all queries, and the score of each row, in the order
/// of the input, as bytes of 64-bit floats.
type Validated<'py> = (PyEvaluation, Bound<'py, PyByteArray>);

/// Cross-validates learners by query. Returns the result as JSON, and the values of each learner.
#[pyfunction]
pub(crate) fn cv<'py>(
    py: Python<'py>,
    fields: Bound<'py, PyDict>,
    threads: usize,
) -> PyResult<(String, Vec<Validated<'py>>)> {
    let fields = Fields::new(fields);
    let division: FoldParams = fields.options("division")?;
    let data = fields.required_data_source("data")?;
    let mut request = CrossValidateRequest::new(fields.learners("learners")?, data)
        .metrics(fields.metrics("metrics")?)
        .division(division);
    request.bias = fields.optional("bias")?;
    let result = interruptible(py, threads, |cancel| {
        cross_validate_learners(&request, &Context::default().cancel(cancel))
    })?;
    let text = json(py, &result)?;
    let mut learners = Vec::new();
    for learner in result.learners {
        let totals = json(py, &learner.pooled)?;
        let scores = score_bytes(py, &learner.scores)?;
        // The first metric is that of the learner, if none was requested.
        let first = learner.pooled.results.first().map(|result| result.measure.to_string());
        let requested = first.map(|metric| MetricSpec::parse(&metric)).transpose().or_raise(py)?;
        learners.push((PyEvaluation::new(learner.pooled, totals, requested.as_slice()), scores));
    }
    Ok((text, learners))
}

/// Shows nothing.
struct NoProgress;

impl Progress for NoProgress {}

impl TuneProgress for NoProgress {}

/// Searches over the parameters of a learner. Returns the result as JSON.
#[pyfunction]
pub(crate) fn tune(py: Python<'_>, fields: Bound<'_, PyDict>, threads: usize) -> PyResult<String> {
    let fields = Fields::new(fields);
    let learner = fields.learner("learner")?;
    let valid = fields.data_source("valid")?;
    let evaluated_on = match &valid {
        Some(_) => TuneData::Valid,
        None => TuneData::Folds {
            count: fields.or("folds", FoldParams::default().folds)?,
            valid_part: fields.optional("valid_part")?,
        },
    };
    let metric = fields.metrics("metric")?.pop();
    let metric = metric.map(|metric| metric.resolve(SourceKind::Features)).transpose();
    let mut settings = TuneSettings::new(evaluated_on)
        .space(fields.parsed("space", Space::parse)?)
        .metric(metric.or_raise(py)?);
    if let Some(trials) = fields.optional("trials")? {
        settings = settings.trials(trials);
    }
    if let Some(method) = fields.choice("method")? {
        settings = settings.method(method);
    }
    if let Some(seed) = fields.optional("seed")? {
        settings = settings.seed(seed);
    }
    let plan = TunePlan::new(&learner, settings).or_raise(py)?;
    let mut request = TuneRequest::new(plan, fields.required_data_source("data")?);
    request.valid = valid;
    request.log = fields.optional("log")?;
    request.out = fields.optional("out")?;
    request.bias = fields.optional("bias")?;
    let result = interruptible(py, threads, |cancel| {
        tune_learner(&request, &NoProgress, &Context::default().cancel(cancel))
    })?;
    json(py, &result)
}
