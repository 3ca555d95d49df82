//! Evaluation: a model or a file of scores against labels, or a run against judgements.

use std::path::{Path, PathBuf};

use rankwright_data::bytes::Input;
use rankwright_data::{Dataset, Qrels, Run, read_scores, read_scores_with_ids};
use rankwright_eval::{
    EvalOptions, Evaluation, JudgedRun, Measure, MetricSpec, QuerySource, ScoredDataset,
    SourceKind, evaluate,
};
use rankwright_model::{MatchOptions, ModelFormat};
use serde::{Deserialize, Serialize};

use super::context::RunningTask;
use super::matching::score_data;
use super::metrics::warn_of_no_boundary;
use super::{
    Context, DataSource, ModelSource, QrelsSource, ReadRules, RunSource, ScoreSource, TaskError,
    TaskInputs, Warning, check_standard_input, measures_for, resolve_data_metrics, resolve_metrics,
};

/// The input of an evaluation.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum EvalInput {
    /// A model on feature data with labels.
    Model {
        /// The model; if not given, it is one of the files of the data, recognised by content.
        model: Option<ModelSource>,
        /// The data.
        data: DataSource,
        /// The rule that matches the features of the data with those of the model.
        #[serde(default)]
        matching: MatchOptions,
    },
    /// Scores for feature data with labels.
    Scores {
        /// The scores.
        scores: ScoreSource,
        /// The data.
        data: DataSource,
    },
    /// A run and judgements.
    Run {
        /// The run.
        run: RunSource,
        /// The judgements.
        qrels: QrelsSource,
    },
}

impl EvalInput {
    /// A model on feature data with labels; features match by name.
    pub fn model(model: impl Into<ModelSource>, data: impl Into<DataSource>) -> Self {
        let matching = MatchOptions::default();
        EvalInput::Model { model: Some(model.into()), data: data.into(), matching }
    }

    /// Scores for feature data with labels.
    pub fn scores(scores: impl Into<ScoreSource>, data: impl Into<DataSource>) -> Self {
        EvalInput::Scores { scores: scores.into(), data: data.into() }
    }

    /// A run and judgements.
    pub fn run(run: impl Into<RunSource>, qrels: impl Into<QrelsSource>) -> Self {
        EvalInput::Run { run: run.into(), qrels: qrels.into() }
    }

    /// All input files.
    pub fn paths(&self) -> Vec<&Path> {
        match self {
            EvalInput::Model { model, data, .. } => {
                data.paths().chain(model.as_ref().and_then(ModelSource::path)).collect()
            }
            EvalInput::Scores { scores, data } => data.paths().chain(scores.path()).collect(),
            EvalInput::Run { run, qrels } => run.path().into_iter().chain(qrels.path()).collect(),
        }
    }
}

impl TaskInputs for EvalRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        self.input.paths().into_iter().map(Path::to_owned).collect()
    }
}

/// An input to evaluate, and the metrics.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct EvalRequest {
    /// The input.
    pub input: EvalInput,
    /// The metrics; the default ones if empty.
    #[serde(default)]
    pub metrics: Vec<MetricSpec>,
    /// Count only this many best documents of each query.
    pub depth: Option<usize>,
}

impl EvalRequest {
    /// Evaluates by the default metrics.
    pub fn new(input: EvalInput) -> Self {
        EvalRequest { input, metrics: Vec::new(), depth: None }
    }

    /// Sets the metrics.
    pub fn metrics(mut self, metrics: Vec<MetricSpec>) -> Self {
        self.metrics = metrics;
        self
    }

    /// Counts only this many best documents of each query.
    pub fn depth(mut self, depth: Option<usize>) -> Self {
        self.depth = depth;
        self
    }
}

/// Metrics with their conventions (how ties, unjudged documents and so on are treated), and the
/// values of each query.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct EvalResult {
    /// The metrics in the requested order, and the value of each query.
    #[serde(flatten)]
    pub evaluation: Evaluation,
    /// Number of rows of the data; none for a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<usize>,
    /// Numbers of queries.
    pub queries: QueryCounts,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
}

/// Numbers of queries in an evaluation.
#[derive(Debug, Clone, Copy, Serialize)]
#[non_exhaustive]
pub struct QueryCounts {
    /// Number of queries with judgements or labels.
    pub judged: usize,
    /// Number of judged queries that the run lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<usize>,
    /// Number of queries of the run without judgements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unjudged: Option<usize>,
}

/// Evaluates a model, scores or a run.
pub fn eval(request: &EvalRequest, context: &Context<'_>) -> Result<EvalResult, TaskError> {
    let task = RunningTask::new(context);
    match &request.input {
        EvalInput::Run { run, qrels } => evaluate_run(request, run, qrels, task),
        EvalInput::Scores { scores, data } => evaluate_scores(request, scores, data, task),
        EvalInput::Model { model, data, matching } => {
            evaluate_model(request, model.as_ref(), data, *matching, task)
        }
    }
}

/// Evaluates a run against judgements.
fn evaluate_run(
    request: &EvalRequest,
    run: &RunSource,
    qrels: &QrelsSource,
    mut task: RunningTask<'_>,
) -> Result<EvalResult, TaskError> {
    check_standard_input(request.input.paths())?;
    let measures = resolve_metrics(&request.metrics, SourceKind::Run)?;
    let name = run.name();
    let (qrels, run) = (qrels.load(&mut task)?, run.load(&mut task)?);
    let joined = JudgedRun::new(&run, &qrels);
    warn_about_queries(&joined, &name, &mut task);
    let queries = QueryCounts {
        judged: joined.len(),
        missing: Some(joined.missing()),
        unjudged: Some(joined.unjudged()),
    };
    finish(request, &joined, &measures, None, queries, task)
}

/// Evaluates a file of scores against the labels of data.
fn evaluate_scores(
    request: &EvalRequest,
    scores: &ScoreSource,
    data: &DataSource,
    mut task: RunningTask<'_>,
) -> Result<EvalResult, TaskError> {
    check_standard_input(request.input.paths())?;
    let loaded = data.load(None, &mut task)?;
    let scores = scores_for(&loaded.data, scores, &data.label())?;
    let measures = resolve_data_metrics(&request.metrics, &loaded.data)?;
    evaluate_data(request, &loaded.data, &scores, &measures, task)
}

/// Scores data with a model, and evaluates the scores against its labels.
fn evaluate_model(
    request: &EvalRequest,
    model: Option<&ModelSource>,
    data: &DataSource,
    matching: MatchOptions,
    mut task: RunningTask<'_>,
) -> Result<EvalResult, TaskError> {
    check_standard_input(request.input.paths())?;
    let given = model.map(ModelSource::load).transpose()?;
    let (model, data) = data.divided(&task)?.with_one_model(given)?;
    let loaded = data.load(Some(ReadRules::of_model(&model).matched(matching)), &mut task)?;
    let (scores, ..) = score_data(&model, &loaded.data, matching, &mut task)?;
    let measures = resolve_data_metrics(&request.metrics, &loaded.data)?;
    warn_of_no_boundary(None, &model, &measures, &mut task);
    let measures = measures_for(&model, &measures)?;
    evaluate_data(request, &loaded.data, &scores, &measures, task)
}

fn evaluate_data(
    request: &EvalRequest,
    data: &Dataset,
    scores: &[f64],
    measures: &[Measure],
    task: RunningTask<'_>,
) -> Result<EvalResult, TaskError> {
    let source = ScoredDataset::new(data, scores)?;
    let queries = QueryCounts { judged: data.queries(), missing: None, unjudged: None };
    finish(request, &source, measures, Some(data.rows()), queries, task)
}

/// Evaluates the queries of a source and makes the result.
fn finish(
    request: &EvalRequest,
    source: &dyn QuerySource,
    measures: &[Measure],
    rows: Option<usize>,
    queries: QueryCounts,
    task: RunningTask<'_>,
) -> Result<EvalResult, TaskError> {
    let options = EvalOptions::default().depth(request.depth).tie_effect(true);
    let (evaluation, _) = task.step("evaluating", || evaluate(source, measures, options))?;
    Ok(EvalResult { evaluation, rows, queries, warnings: task.into_warnings() })
}

/// Reads judgements.
pub fn read_qrels(path: &Path, context: &Context<'_>) -> Result<Qrels, TaskError> {
    read_qrels_file(path, &mut RunningTask::new(context))
}

/// Reads a run; a model in its place is an error.
pub fn read_run(path: &Path, context: &Context<'_>) -> Result<Run, TaskError> {
    read_run_file(path, &mut RunningTask::new(context))
}

pub(super) fn read_qrels_file(path: &Path, task: &mut RunningTask<'_>) -> Result<Qrels, TaskError> {
    let name = format!("reading {}", path.display());
    let ((qrels, warnings), _) = task.step(&name, || Qrels::read(Input::open(path)?))?;
    task.warn_of(&warnings);
    Ok(qrels)
}

pub(super) fn read_run_file(path: &Path, task: &mut RunningTask<'_>) -> Result<Run, TaskError> {
    let input = Input::open(path)?;
    if ModelFormat::detect(&input.bytes).is_some() {
        return Err(TaskError::ModelInsteadOfRun { file: path.display().to_string() });
    }
    let name = format!("reading {}", path.display());
    let ((run, warnings), _) = task.step(&name, || Run::read(input))?;
    task.warn_of(&warnings);
    Ok(run)
}

/// Warns if the queries of a run differ from those of the judgements.
pub(super) fn warn_about_queries(joined: &JudgedRun<'_>, run: &str, task: &mut RunningTask<'_>) {
    let run = run.to_owned();
    if !joined.has_judged_document() {
        task.warn(Warning::NothingJudged { run: run.clone() });
    }
    if joined.missing() > 0 {
        let (missing, judged) = (joined.missing(), joined.len());
        task.warn(Warning::MissingQueries { run: run.clone(), missing, judged });
    }
    if joined.unjudged() > 0 {
        task.warn(Warning::UnjudgedQueries { run, queries: joined.unjudged() });
    }
}

/// Scores in the row order of the data, from a score file or from memory.
pub(super) fn scores_for(
    data: &Dataset,
    scores: &ScoreSource,
    label: &str,
) -> Result<Vec<f64>, TaskError> {
    let path = match scores {
        ScoreSource::File(path) => path,
        ScoreSource::Memory { name, value } => return align_scores(data, value, name, label),
    };
    let input = Input::open(path)?;
    if let Some(scores) = read_scores_with_ids(&input, data, label)? {
        return Ok(scores);
    }
    let scores = read_scores(&input)?;
    align_scores(data, &scores, &path.display().to_string(), label)
}

/// Puts scores from the order of the source files into the row order of the data. The two names are
/// for the error if there is another number of scores than of rows.
pub fn align_scores(
    data: &Dataset,
    scores: &[f64],
    scores_name: &str,
    data_name: &str,
) -> Result<Vec<f64>, TaskError> {
    match scores.len() == data.rows() {
        true => Ok(data.from_source_order(scores)?),
        false => Err(TaskError::ScoreCount {
            file: scores_name.to_owned(),
            found: scores.len(),
            data: data_name.to_owned(),
            expected: data.rows(),
        }),
    }
}
