//! Evaluation, comparison, cross validation and tuning on data in memory.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use rankwright::data::{Qrels, QueryLists, Run};
use rankwright::eval::compare::{CompareOptions, compare_evaluations};
use rankwright::eval::{
    EvalOptions, Evaluation, JudgedRun, Measure, MetricSpec, ScoredDataset, SourceKind,
};
use rankwright::learn::tune::{
    Space, TuneData, TuneJob, TuneMethod, TunePlan, TuneProgress, TuneSettings,
};
use rankwright::learn::{CvOptions, LearnerSpec, Progress, ValidationSet, cross_validate};
use rankwright::model::{MatchBy, MatchOptions, ScoreOptions};
use rankwright::spec::{Spec, SpecError, read_spec};
use rankwright::tasks::{
    Context, TaskError, measures_for, read_qrels, read_run, resolve_data_metrics, resolve_metrics,
};

use crate::arrays::{score_bytes, vector};
use crate::dataset::PyDataset;
use crate::errors::{OrRaise, json};
use crate::model::PyModel;
use crate::run::{in_pool, interruptible};

/// The values of metrics, for totals and for each query.
#[pyclass(name = "Evaluation", module = "rankwright._native", frozen)]
pub(crate) struct PyEvaluation {
    pub(crate) evaluation: Evaluation,
}

#[pymethods]
impl PyEvaluation {
    /// The totals, as JSON.
    fn totals(&self, py: Python<'_>) -> PyResult<String> {
        json(py, &self.evaluation)
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

/// Metrics from their specs.
fn specs(metrics: &[String]) -> Result<Vec<MetricSpec>, TaskError> {
    Ok(metrics.iter().map(|metric| MetricSpec::parse(metric)).collect::<Result<_, _>>()?)
}

/// Options of every evaluation: with the effect of ties.
fn options() -> EvalOptions {
    EvalOptions::default().tie_effect(true)
}

/// Evaluates a model on a data set.
#[pyfunction]
pub(crate) fn evaluate_model(
    py: Python<'_>,
    model: &PyModel,
    data: &PyDataset,
    metrics: Vec<String>,
    by_position: bool,
    threads: usize,
) -> PyResult<PyEvaluation> {
    let by = if by_position { MatchBy::Position } else { MatchBy::Name };
    let matching = ScoreOptions::from(MatchOptions::default().by(by));
    let (model, data) = (&model.model, &data.data);
    let evaluation = in_pool(py, threads, || {
        let measures = measures_for(model, &resolve_data_metrics(&specs(&metrics)?, data)?)?;
        let scores = model.score(data, matching)?;
        let source = ScoredDataset::new(data, &scores)?;
        Ok::<_, TaskError>(rankwright::eval::evaluate(&source, &measures, options())?)
    })?;
    Ok(PyEvaluation { evaluation })
}

/// Evaluates scores, one for each row in the order of the input.
#[pyfunction]
pub(crate) fn evaluate_scores(
    py: Python<'_>,
    data: &PyDataset,
    scores: &Bound<'_, PyAny>,
    metrics: Vec<String>,
    threads: usize,
) -> PyResult<PyEvaluation> {
    let scores: Vec<f64> = vector(scores)?;
    let data = &data.data;
    let evaluation = in_pool(py, threads, || {
        let measures = resolve_data_metrics(&specs(&metrics)?, data)?;
        let scores = data.from_source_order(&scores)?;
        let source = ScoredDataset::new(data, &scores)?;
        Ok::<_, TaskError>(rankwright::eval::evaluate(&source, &measures, options())?)
    })?;
    Ok(PyEvaluation { evaluation })
}

/// A run or judgements: a file, or rows of query, document and number.
#[derive(FromPyObject)]
pub(crate) enum Lists {
    File(PathBuf),
    Rows(Vec<(String, String, f64)>),
}

impl Lists {
    fn in_memory(rows: &[(String, String, f64)]) -> Result<QueryLists, TaskError> {
        let rows = rows.iter().map(|(query, document, number)| (&**query, &**document, *number));
        Ok(QueryLists::from_rows("the lists", rows)?)
    }

    fn run(&self) -> Result<Run, TaskError> {
        match self {
            Lists::File(path) => read_run(path, &Context::default()),
            Lists::Rows(rows) => Ok(Run::from_lists(Lists::in_memory(rows)?)),
        }
    }

    fn qrels(&self) -> Result<Qrels, TaskError> {
        match self {
            Lists::File(path) => read_qrels(path, &Context::default()),
            Lists::Rows(rows) => Ok(Qrels::from_lists(Lists::in_memory(rows)?)),
        }
    }
}

/// Evaluates a run against judgements.
#[pyfunction]
pub(crate) fn evaluate_run(
    py: Python<'_>,
    run: Lists,
    qrels: Lists,
    metrics: Vec<String>,
    threads: usize,
) -> PyResult<PyEvaluation> {
    let evaluation = in_pool(py, threads, || {
        let measures = resolve_metrics(&specs(&metrics)?, SourceKind::Run)?;
        let (run, qrels) = (run.run()?, qrels.qrels()?);
        let source = JudgedRun::new(&run, &qrels);
        Ok::<_, TaskError>(rankwright::eval::evaluate(&source, &measures, options())?)
    })?;
    Ok(PyEvaluation { evaluation })
}

/// The options of a comparison, from a spec.
pub(crate) fn compare_options(text: &str) -> Result<CompareOptions, SpecError> {
    Spec::parse(text).and_then(|spec| read_spec(&spec))
}

/// Compares systems that were evaluated on the same queries; `options` is a spec. Returns JSON and
/// the table as text.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    systems: Vec<(String, PyRef<'_, PyEvaluation>)>,
    options: &str,
) -> PyResult<(String, String)> {
    let options = compare_options(options).or_raise(py)?;
    let systems: Vec<(String, Evaluation)> =
        systems.iter().map(|(name, system)| (name.clone(), system.evaluation.clone())).collect();
    let found = interruptible(py, 0, |_| compare_evaluations(&systems, &options))?;
    let table = rankwright::eval::table::comparison_table(&found).to_text();
    Ok((json(py, &found)?, table))
}

/// Cancels trainings when a flag is set.
pub(crate) struct CancelFlag<'a>(pub(crate) &'a AtomicBool);

impl Progress for CancelFlag<'_> {
    fn should_stop(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl TuneProgress for CancelFlag<'_> {}

/// Cross-validates a learner by query. Returns the folds and totals as JSON, the evaluation of all
/// queries, and the score of each row, in the order of the input, as bytes of 64-bit floats.
#[pyfunction]
#[pyo3(signature = (spec, data, metrics, folds, seed, valid_part, threads))]
#[allow(clippy::too_many_arguments, reason = "called by the Python package only")]
pub(crate) fn cv<'py>(
    py: Python<'py>,
    spec: &str,
    data: &PyDataset,
    metrics: Vec<String>,
    folds: usize,
    seed: Option<u64>,
    valid_part: Option<f64>,
    threads: usize,
) -> PyResult<(String, PyEvaluation, Bound<'py, pyo3::types::PyByteArray>)> {
    let learner = LearnerSpec::parse(spec).or_raise(py)?;
    let data = &data.data;
    let result = interruptible(py, threads, |cancel| {
        let measures = match metrics.is_empty() {
            true => Vec::new(),
            false => resolve_data_metrics(&specs(&metrics)?, data)?,
        };
        let progress = CancelFlag(cancel);
        let mut options =
            CvOptions::new(measures).folds(folds).valid_part(valid_part).progress(&progress);
        if let Some(seed) = seed {
            options = options.seed(seed);
        }
        let result = cross_validate(&learner, data, &options)?;
        match result.finished {
            true => Ok::<_, TaskError>(result),
            false => Err(TaskError::Cancelled),
        }
    })?;
    let scores = score_bytes(py, &data.to_source_order(&result.scores).or_raise(py)?)?;
    let text = json(py, &result)?;
    Ok((text, PyEvaluation { evaluation: result.pooled }, scores))
}

/// Searches over the parameters of a learner. Returns the trials as JSON, and the spec of the best.
#[pyfunction]
#[pyo3(signature = (spec, data, *, valid, space, trials, halving, metric, folds, seed, log, threads))]
#[allow(clippy::too_many_arguments, reason = "called by the Python package only")]
pub(crate) fn tune(
    py: Python<'_>,
    spec: &str,
    data: &PyDataset,
    valid: Option<&PyDataset>,
    space: Option<&str>,
    trials: Option<usize>,
    halving: bool,
    metric: Option<&str>,
    folds: usize,
    seed: Option<u64>,
    log: Option<PathBuf>,
    threads: usize,
) -> PyResult<(String, Option<String>)> {
    let learner = LearnerSpec::parse(spec).or_raise(py)?;
    let space = space.map(Space::parse).transpose().or_raise(py)?;
    let measure = |text: &str| -> Result<Measure, TaskError> {
        Ok(MetricSpec::parse(text)?.resolve(SourceKind::Features)?)
    };
    let metric = metric.map(measure).transpose().or_raise(py)?;
    let (data, valid) = (&data.data, valid.map(|valid| valid.data.clone()));
    let result = interruptible(py, threads, |cancel| {
        let evaluated_on = match &valid {
            Some(_) => TuneData::Valid,
            None => TuneData::Folds { count: folds, valid_part: None },
        };
        let mut settings = TuneSettings::new(evaluated_on).metric(metric);
        if let Some(space) = space {
            settings = settings.space(space);
        }
        if let Some(trials) = trials {
            settings = settings.trials(trials);
        }
        if halving {
            settings = settings.method(TuneMethod::Halving);
        }
        if let Some(seed) = seed {
            settings = settings.seed(seed);
        }
        let plan = TunePlan::new(&learner, settings)?;
        let plan = plan.for_data(valid.as_deref().unwrap_or(data))?;
        let set = valid.as_deref().map(|valid| ValidationSet::new("valid", valid));
        let progress = CancelFlag(cancel);
        let job = TuneJob::new(data).validation(set).log(log).progress(&progress);
        Ok::<_, TaskError>(plan.run(&job)?)
    })?;
    let best = result.best().map(|trial| trial.spec.to_string());
    Ok((json(py, &result)?, best))
}
