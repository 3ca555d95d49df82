//! Comparison of systems: models and score files on one data set, or runs, with significance.

use std::path::{Path, PathBuf};

use rankwright_data::{Dataset, Qrels, Run};
use rankwright_eval::compare::{CompareOptions, Comparison, compare_evaluations};
use rankwright_eval::{
    EvalOptions, Evaluation, JudgedRun, Measure, MetricSpec, QuerySource, ScoredDataset,
    SourceKind, evaluate,
};
use rankwright_model::MatchOptions;
use serde::Serialize;

use super::context::RunningTask;
use super::eval::{load_qrels, load_run, read_scores_for, warn_about_queries};
use super::matching::score_data;
use super::metrics::{measures_per_system, warn_of_no_boundary};
use super::{
    Context, DataFiles, InputFiles, TaskError, TaskInputs, Warning, check_standard_input,
    file_label, resolve_data_metrics, resolve_metrics, system_names,
};

/// The systems to compare.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum CompareInput {
    /// Models and score files on one data set with labels.
    Data {
        /// The data files and the models, which are recognised by content.
        files: DataFiles,
        /// Score files for the data: one number per line, or tables with ids.
        scores: Vec<PathBuf>,
        /// The rule that matches the features of the data with those of a model.
        matching: MatchOptions,
    },
    /// Runs and judgements.
    Runs {
        /// The runs.
        runs: Vec<PathBuf>,
        /// The judgements.
        qrels: PathBuf,
    },
}

impl CompareInput {
    /// All input files.
    pub fn paths(&self) -> Vec<&Path> {
        match self {
            CompareInput::Data { files, scores, .. } => {
                files.paths().chain(scores.iter().map(PathBuf::as_path)).collect()
            }
            CompareInput::Runs { runs, qrels } => {
                runs.iter().chain([qrels]).map(PathBuf::as_path).collect()
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
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CompareRequest {
    /// The systems.
    pub input: CompareInput,
    /// The metrics; the default ones if empty.
    pub metrics: Vec<MetricSpec>,
    /// Count only this many best documents of each query.
    pub depth: Option<usize>,
    /// Baseline, test, correction and samples.
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
        qrels: Qrels,
        /// The runs, in the order of the systems.
        runs: Vec<Run>,
    },
    /// Feature data and the scores.
    Data {
        /// The data.
        data: Box<Dataset>,
        /// Scores of each system, in the row order of the data.
        scores: Vec<Vec<f64>>,
    },
}

impl CompareSources {
    /// The queries of each system, in the order of the systems.
    pub fn queries(&self) -> Result<Vec<Box<dyn QuerySource + '_>>, TaskError> {
        let mut sources: Vec<Box<dyn QuerySource + '_>> = Vec::new();
        match self {
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
        CompareInput::Data { files, scores, matching } => {
            load_data(request, files, scores, *matching, &mut task)?
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
    paths: &[PathBuf],
    qrels: &Path,
    task: &mut RunningTask<'_>,
) -> Result<LoadedSystems, TaskError> {
    let measures = resolve_metrics(&request.metrics, SourceKind::Run)?;
    let data_name = qrels.display().to_string();
    let qrels = load_qrels(qrels, task)?;
    let (mut runs, mut systems) = (Vec::new(), Vec::new());
    for (path, name) in paths.iter().zip(system_names(paths)) {
        let run = load_run(path, task)?;
        let joined = JudgedRun::new(&run, &qrels);
        warn_about_queries(&joined, &name, task);
        systems.push((name, evaluate_system(request, &joined, &measures)?));
        runs.push(run);
    }
    Ok(LoadedSystems { systems, data_name, sources: CompareSources::Runs { qrels, runs } })
}

/// Loads data, models and score files, and evaluates the models in their order, then the scores.
fn load_data(
    request: &CompareRequest,
    files: &DataFiles,
    score_files: &[PathBuf],
    matching: MatchOptions,
    task: &mut RunningTask<'_>,
) -> Result<LoadedSystems, TaskError> {
    let inputs = InputFiles::new(files.open(task)?.0)?;
    if inputs.models.is_empty() && score_files.is_empty() {
        return Err(TaskError::NoSystems);
    }
    if inputs.data.is_empty() {
        return Err(TaskError::NoData);
    }
    if inputs.models.is_empty() && matching != MatchOptions::default() {
        return Err(TaskError::NoModelToMatch);
    }
    let rules = inputs.rules()?;
    let InputFiles { models, data } = inputs;
    let loaded = files.load_opened(data, rules, task)?;
    let label = file_label(&loaded.files);
    let paths = models.iter().map(|(name, _)| PathBuf::from(name));
    let names = system_names(&paths.chain(score_files.iter().cloned()).collect::<Vec<_>>());
    let mut scores = Vec::new();
    for (_, model) in &models {
        scores.push(score_data(model, &loaded.data, matching, task)?.0);
    }
    for path in score_files {
        scores.push(read_scores_for(&loaded.data, path, &label)?);
    }
    let measures = resolve_data_metrics(&request.metrics, &loaded.data)?;
    for ((_, model), name) in models.iter().zip(&names) {
        warn_of_no_boundary(Some(name), model, &measures, task);
    }
    let models = models.iter().map(|(_, model)| Some(model));
    let models: Vec<_> = models.chain(score_files.iter().map(|_| None)).collect();
    let measures = measures_per_system(&models, &measures)?;
    let mut systems = Vec::new();
    for ((name, column), measures) in names.into_iter().zip(&scores).zip(&measures) {
        let source = ScoredDataset::new(&loaded.data, column)?;
        systems.push((name, evaluate_system(request, &source, measures)?));
    }
    let sources = CompareSources::Data { data: Box::new(loaded.data), scores };
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
