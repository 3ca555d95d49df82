//! Comparison of systems: models and score files on one data set, or runs, with significance.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rankwright_data::{Dataset, Qrels, Run};
use rankwright_eval::compare::{CompareOptions, Comparison, compare_evaluations};
use rankwright_eval::{
    EvalOptions, Evaluation, JudgedRun, Measure, MetricSpec, QuerySource, ScoredDataset,
    SourceKind, evaluate,
};
use rankwright_model::MatchOptions;
use serde::{Deserialize, Serialize};

use super::context::RunningTask;
use super::eval::{scores_for, warn_about_queries};
use super::input_files::common_rules;
use super::matching::score_data;
use super::metrics::{measures_per_system, warn_of_no_boundary};
use super::paths::{SourceName, check_used, distinct_names};
use super::sources::source_names;
use super::{
    Context, DataSource, ModelSource, QrelsSource, RunSource, ScoreSource, TaskError, TaskInputs,
    Warning, check_standard_input, file_label, resolve_data_metrics, resolve_metrics,
};

/// The systems to compare.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum CompareInput {
    /// Models and score files on one data set with labels.
    Data {
        /// The data; models among its files are recognised by content.
        data: DataSource,
        /// Models besides those among the files of the data.
        #[serde(default)]
        models: Vec<ModelSource>,
        /// Scores for the data.
        #[serde(default)]
        scores: Vec<ScoreSource>,
        /// The rule that matches the features of the data with those of a model.
        #[serde(default)]
        matching: MatchOptions,
    },
    /// Runs and judgements.
    Runs {
        /// The runs.
        runs: Vec<RunSource>,
        /// The judgements.
        qrels: QrelsSource,
    },
    /// Evaluations in memory, with the names of their systems.
    #[serde(skip)]
    Evaluations {
        /// The evaluations.
        systems: Vec<(String, Evaluation)>,
    },
}

impl CompareInput {
    /// Models and scores on one data set with labels; features match by name.
    pub fn data(
        data: impl Into<DataSource>,
        models: impl IntoIterator<Item = impl Into<ModelSource>>,
        scores: impl IntoIterator<Item = impl Into<ScoreSource>>,
    ) -> Self {
        CompareInput::Data {
            data: data.into(),
            models: models.into_iter().map(Into::into).collect(),
            scores: scores.into_iter().map(Into::into).collect(),
            matching: MatchOptions::default(),
        }
    }

    /// Runs and judgements.
    pub fn runs(
        runs: impl IntoIterator<Item = impl Into<RunSource>>,
        qrels: impl Into<QrelsSource>,
    ) -> Self {
        let runs = runs.into_iter().map(Into::into).collect();
        CompareInput::Runs { runs, qrels: qrels.into() }
    }

    /// Evaluations in memory, with the names of their systems.
    pub fn evaluations(systems: impl Into<Vec<(String, Evaluation)>>) -> Self {
        CompareInput::Evaluations { systems: systems.into() }
    }

    /// All input files.
    pub fn paths(&self) -> Vec<&Path> {
        match self {
            CompareInput::Evaluations { .. } => Vec::new(),
            CompareInput::Data { data, models, scores, .. } => {
                let models = models.iter().filter_map(ModelSource::path);
                let scores = scores.iter().filter_map(ScoreSource::path);
                data.paths().chain(models).chain(scores).collect()
            }
            CompareInput::Runs { runs, qrels } => {
                runs.iter().filter_map(RunSource::path).chain(qrels.path()).collect()
            }
        }
    }
}

impl TaskInputs for CompareRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        self.input.paths().into_iter().map(Path::to_owned).collect()
    }
}

/// Systems to compare, metrics and options.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CompareRequest {
    /// The systems.
    pub input: CompareInput,
    /// The metrics; the default ones if empty.
    #[serde(default)]
    pub metrics: Vec<MetricSpec>,
    /// Count only this many best documents of each query.
    pub depth: Option<usize>,
    /// Baseline, test, correction and samples.
    #[serde(default)]
    pub options: CompareOptions,
}

impl CompareRequest {
    /// Compares by the default metrics, test and correction.
    pub fn new(input: CompareInput) -> Self {
        let options = CompareOptions::default();
        CompareRequest { input, metrics: Vec::new(), depth: None, options }
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

    /// Sets the options of the comparison.
    pub fn options(mut self, options: CompareOptions) -> Self {
        self.options = options;
        self
    }
}

/// Systems compared with the baseline, and their evaluations.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct CompareResult {
    /// Values, differences and tests for each metric and system.
    #[serde(flatten)]
    pub comparison: Comparison,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
    /// The evaluation of each system.
    #[serde(skip)]
    pub systems: Vec<(String, Evaluation)>,
    /// Name of the data or the judgements.
    #[serde(skip)]
    pub data_name: String,
    /// The documents behind the evaluations.
    #[serde(skip)]
    pub sources: CompareSources,
}

/// The documents that the systems were evaluated on, to inspect single documents.
#[derive(Debug)]
#[non_exhaustive]
pub enum CompareSources {
    /// Judgements and the runs.
    Runs {
        /// The judgements.
        qrels: Arc<Qrels>,
        /// The runs, in the order of the systems.
        runs: Vec<Arc<Run>>,
    },
    /// Evaluations alone: their documents are not known.
    Unknown,
    /// Feature data and the scores.
    Data {
        /// The data.
        data: Arc<Dataset>,
        /// Scores of each system, in the row order of the data.
        scores: Vec<Vec<f64>>,
    },
}

impl CompareSources {
    /// The queries of each system, in the order of the systems.
    pub fn queries(&self) -> Result<Vec<Box<dyn QuerySource + '_>>, TaskError> {
        let mut sources: Vec<Box<dyn QuerySource + '_>> = Vec::new();
        match self {
            CompareSources::Unknown => {}
            CompareSources::Runs { qrels, runs } => {
                for run in runs {
                    sources.push(Box::new(JudgedRun::new(run, qrels)));
                }
            }
            CompareSources::Data { data, scores } => {
                for column in scores {
                    sources.push(Box::new(ScoredDataset::new(data, column)?));
                }
            }
        }
        Ok(sources)
    }
}

/// Compares systems.
pub fn compare_systems(
    request: &CompareRequest,
    context: &Context<'_>,
) -> Result<CompareResult, TaskError> {
    let mut task = RunningTask::new(context);
    check_standard_input(request.input.paths())?;
    let loaded = match &request.input {
        CompareInput::Runs { runs, qrels } => load_runs(request, runs, qrels, &mut task)?,
        CompareInput::Data { data, models, scores, matching } => {
            load_data(request, data, models, scores, *matching, &mut task)?
        }
        CompareInput::Evaluations { systems } => {
            let reason = "the evaluations have theirs";
            check_used(!request.metrics.is_empty(), "metrics", reason)?;
            check_used(request.depth.is_some(), "depth", reason)?;
            let (systems, sources) = (systems.clone(), CompareSources::Unknown);
            LoadedSystems { systems, data_name: "the evaluations".to_owned(), sources }
        }
    };
    let (comparison, _) = task
        .step("testing differences", || compare_evaluations(&loaded.systems, &request.options))?;
    Ok(CompareResult {
        comparison,
        warnings: task.into_warnings(),
        systems: loaded.systems,
        data_name: loaded.data_name,
        sources: loaded.sources,
    })
}

/// Systems with their evaluations; the fields are those of [`CompareResult`].
struct LoadedSystems {
    systems: Vec<(String, Evaluation)>,
    data_name: String,
    sources: CompareSources,
}

/// Loads runs and judgements, and evaluates the runs.
fn load_runs(
    request: &CompareRequest,
    sources: &[RunSource],
    qrels: &QrelsSource,
    task: &mut RunningTask<'_>,
) -> Result<LoadedSystems, TaskError> {
    let measures = resolve_metrics(&request.metrics, SourceKind::Run)?;
    let data_name = qrels.name();
    let qrels = qrels.load(task)?;
    let (mut runs, mut systems) = (Vec::new(), Vec::new());
    for (source, name) in sources.iter().zip(source_names(sources)) {
        let run = source.load(task)?;
        let joined = JudgedRun::new(&run, &qrels);
        warn_about_queries(&joined, &name, task);
        systems.push((name, evaluate_system(request, &joined, &measures)?));
        runs.push(run);
    }
    Ok(LoadedSystems { systems, data_name, sources: CompareSources::Runs { qrels, runs } })
}

/// Loads data, models and scores, and evaluates the models in their order, then the scores.
fn load_data(
    request: &CompareRequest,
    data: &DataSource,
    given_models: &[ModelSource],
    given_scores: &[ScoreSource],
    matching: MatchOptions,
    task: &mut RunningTask<'_>,
) -> Result<LoadedSystems, TaskError> {
    let mut data = data.divided(task)?;
    let mut models = std::mem::take(&mut data.models);
    let mut names: Vec<SourceName> =
        models.iter().map(|(name, _)| SourceName::file(name.as_ref())).collect();
    for source in given_models {
        names.push(source.source_name());
        models.push((source.name(), source.load()?));
    }
    if models.is_empty() && given_scores.is_empty() {
        return Err(TaskError::NoSystems);
    }
    if data.has_no_data() {
        return Err(TaskError::NoData);
    }
    if models.is_empty() && matching != MatchOptions::default() {
        return Err(TaskError::NoModelToMatch);
    }
    let loaded = data.load(common_rules(&models)?.map(|rules| rules.matched(matching)), task)?;
    let label = file_label(&loaded.files);
    names.extend(given_scores.iter().map(ScoreSource::source_name));
    let names = distinct_names(names);
    let mut scores = Vec::new();
    for (_, model) in &models {
        scores.push(score_data(model, &loaded.data, matching, task)?.0);
    }
    for given in given_scores {
        scores.push(scores_for(&loaded.data, given, &label)?);
    }
    let measures = resolve_data_metrics(&request.metrics, &loaded.data)?;
    for ((_, model), name) in models.iter().zip(&names) {
        warn_of_no_boundary(Some(name), model, &measures, task);
    }
    let models = models.iter().map(|(_, model)| Some(&**model));
    let models: Vec<_> = models.chain(given_scores.iter().map(|_| None)).collect();
    let measures = measures_per_system(&models, &measures)?;
    let mut systems = Vec::new();
    for ((name, column), measures) in names.into_iter().zip(&scores).zip(&measures) {
        let source = ScoredDataset::new(&loaded.data, column)?;
        systems.push((name, evaluate_system(request, &source, measures)?));
    }
    let sources = CompareSources::Data { data: loaded.data, scores };
    Ok(LoadedSystems { systems, data_name: label, sources })
}

fn evaluate_system(
    request: &CompareRequest,
    source: &dyn QuerySource,
    measures: &[Measure],
) -> Result<Evaluation, TaskError> {
    let options = EvalOptions::default().depth(request.depth).tie_effect(true);
    Ok(evaluate(source, measures, options)?)
}
