//! Training: trains any learner on feature data and writes a model file.
//!
//! The model's bytes depend on the request and its files alone, not on times or threads; times,
//! threads and memory are written to the side file `MODEL.log.json` and to the result. A cancelled
//! training saves its state ([`SavedTraining`]), and the same request resumes it; `output_paths.rs`
//! describes the files.

mod bias;
mod checks;
mod features;
mod output_paths;
mod progress;
mod result;
mod side_file;
mod weights;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rankwright_data::store::write_atomic;
use rankwright_data::{DEFAULT_SEED, Dataset};
use rankwright_eval::{EvalOptions, Evaluation, Measure, MetricSpec, ScoredDataset, SourceKind};
use rankwright_learn::{
    AutoReport, LearnerSpec, Teacher, TeacherParams, TrainRequest, TrainResult, TrainWarning,
    TrainingHistory, ValidationSet, validation_set_names,
};
use rankwright_model::{MatchOptions, Model, ScoreOptions};

use serde::{Deserialize, Serialize};

use super::context::RunningTask;
use super::metrics::warn_of_no_boundary;
use super::paths::data_names;
use super::{
    Context, DataSource, ModelSource, ReadRules, TaskError, TaskInputs, Warning,
    check_standard_input, measures_for,
};

pub use bias::learners_with_examination;
pub use checks::TrainOption;
pub(super) use features::{check_feature_set, check_validation};
pub use output_paths::SavedTraining;
pub(super) use output_paths::{check_file, save_or_rescue, with_suffix};
pub(super) use progress::ForwardedProgress;
pub use progress::TrainingProgress;
pub use result::{TrainModelResult, TrainSeconds};
pub(super) use side_file::{digest, remove_old_log};
pub use weights::FeatureWeight;

/// A learner, its data, and the file for the model.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TrainModelRequest {
    /// The learner.
    pub learner: LearnerSpec,
    /// Training data. A learner of given weights needs none.
    pub data: DataSource,
    /// Sets of validation data; options of reading that they do not give are those of the training
    /// data. The first decides on early stopping.
    #[serde(default)]
    pub valid: Vec<DataSource>,
    /// Metrics to compute; the first decides on early stopping. If empty: the learner's own metric,
    /// or preference accuracy if the data that it would be computed on has no labels.
    #[serde(default)]
    pub metrics: Vec<MetricSpec>,
    /// Seed of all random choices; the default seed if not given.
    pub seed: Option<u64>,
    /// The file to write; if not given, the result alone has the model.
    pub out: Option<PathBuf>,
    /// A model to start from.
    pub start: Option<ModelSource>,
    /// The rule that matches features of validation data and of a start model with those of the
    /// training data. Features of validation data that the training data does not know, and
    /// features that only one of start model and training data knows, are an error unless extra
    /// features are ignored.
    #[serde(default)]
    pub matching: MatchOptions,
    /// Folder and times of checkpoints. Without it only a cancelled training saves, to
    /// `MODEL.checkpoint` if the model has a file, and a finished one leaves nothing there.
    pub checkpoint: Option<CheckpointOptions>,
    /// Whether to compute the metrics on the training data too.
    #[serde(default)]
    pub eval_train: bool,
    /// A file with the examination of positions, for a learner that corrects clicks by it; see
    /// `BiasFile` of `rankwright::learn` for its forms.
    pub bias: Option<PathBuf>,
    /// A model to learn from besides the labels.
    pub teacher: Option<TeacherSource>,
    /// Whether a training that its progress stops gives the model so far; otherwise it is an error
    /// with the saved state, as a cancelled task always is.
    #[serde(default)]
    pub keep_stopped: bool,
}

/// A teacher model, its weight, and data without labels.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TeacherSource {
    /// The model.
    pub model: ModelSource,
    /// The weight of the teacher's scores in the loss.
    #[serde(default)]
    pub params: TeacherParams,
    /// Further queries that are learned from the teacher alone; options of reading that they do
    /// not give are those of the training data. Labels that they have are ignored.
    pub unlabelled: Option<DataSource>,
}

impl TeacherSource {
    /// A teacher model with the default weight.
    pub fn new(model: impl Into<ModelSource>) -> Self {
        TeacherSource { model: model.into(), params: TeacherParams::default(), unlabelled: None }
    }

    /// Sets the weight of the teacher's scores in the loss, from 0 to 1.
    pub fn weight(mut self, weight: f64) -> Self {
        self.params.teacher_weight = weight;
        self
    }

    /// Sets queries that are learned from the teacher alone.
    pub fn unlabelled(mut self, data: impl Into<DataSource>) -> Self {
        self.unlabelled = Some(data.into());
        self
    }

    /// All files.
    fn paths(&self) -> impl Iterator<Item = &Path> {
        self.model.path().into_iter().chain(self.unlabelled.iter().flat_map(DataSource::paths))
    }
}

/// Folder and times of the checkpoints of a training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CheckpointOptions {
    /// The folder; created if needed, and kept.
    pub folder: PathBuf,
    /// Save after this many trees or other rounds; 0 means never.
    #[serde(default)]
    pub every_rounds: usize,
    /// Save after this much time; a number of seconds in JSON.
    #[serde(with = "rankwright_spec::seconds", default = "default_interval")]
    pub every: Duration,
}

/// Time between two checkpoints of a request that gives none.
fn default_interval() -> Duration {
    rankwright_learn::Checkpoints::DEFAULT_INTERVAL
}

impl CheckpointOptions {
    /// Saves to a folder once a minute.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        CheckpointOptions { folder: folder.into(), every_rounds: 0, every: default_interval() }
    }
}

impl TaskInputs for TrainModelRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        TrainModelRequest::inputs(self).map(Path::to_owned).collect()
    }
}

impl TrainModelRequest {
    /// Trains a learner on data; [`out`](Self::out) is the file to write.
    pub fn new(learner: LearnerSpec, data: impl Into<DataSource>) -> Self {
        TrainModelRequest {
            learner,
            data: data.into(),
            valid: Vec::new(),
            metrics: Vec::new(),
            seed: None,
            out: None,
            start: None,
            matching: MatchOptions::default(),
            checkpoint: None,
            eval_train: false,
            bias: None,
            teacher: None,
            keep_stopped: false,
        }
    }

    /// Sets the file to write, with a side file `MODEL.log.json` beside it.
    pub fn out(mut self, file: impl Into<PathBuf>) -> Self {
        self.out = Some(file.into());
        self
    }

    /// Adds a set of validation data.
    pub fn validation(mut self, data: impl Into<DataSource>) -> Self {
        self.valid.push(data.into());
        self
    }

    /// Continues a model.
    pub fn start(mut self, model: impl Into<ModelSource>) -> Self {
        self.start = Some(model.into());
        self
    }

    /// Sets the rule that matches features of validation data and of a start model with those of
    /// the training data.
    pub fn matching(mut self, matching: MatchOptions) -> Self {
        self.matching = matching;
        self
    }

    /// Saves checkpoints.
    pub fn checkpoint(mut self, options: CheckpointOptions) -> Self {
        self.checkpoint = Some(options);
        self
    }

    /// Sets whether to compute the metrics on the training data too.
    pub fn eval_train(mut self, eval_train: bool) -> Self {
        self.eval_train = eval_train;
        self
    }

    /// Sets the metrics.
    pub fn metrics(mut self, metrics: Vec<MetricSpec>) -> Self {
        self.metrics = metrics;
        self
    }

    /// Sets the file with the examination of positions.
    pub fn bias(mut self, file: impl Into<PathBuf>) -> Self {
        self.bias = Some(file.into());
        self
    }

    /// Sets a model to learn from besides the labels.
    pub fn teacher(mut self, teacher: TeacherSource) -> Self {
        self.teacher = Some(teacher);
        self
    }

    /// Sets whether a training that its progress stops gives the model so far.
    pub fn keep_stopped(mut self, keep: bool) -> Self {
        self.keep_stopped = keep;
        self
    }

    /// Sets the seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    fn seed_or_default(&self) -> u64 {
        self.seed.unwrap_or(DEFAULT_SEED)
    }

    /// All input files.
    fn inputs(&self) -> impl Iterator<Item = &Path> {
        let data = self.data.paths().chain(self.valid.iter().flat_map(DataSource::paths));
        let start = self.start.as_ref().and_then(ModelSource::path);
        let others = start.into_iter().chain(self.bias.as_deref());
        data.chain(others).chain(self.teacher.iter().flat_map(TeacherSource::paths))
    }
}

/// A trained model, before anything is written.
struct Trained {
    model: Model,
    history: TrainingHistory,
    /// Whether the training was stopped before its end.
    is_stopped: bool,
    /// The candidates of an automatic choice.
    choice: Option<AutoReport>,
    load_seconds: f64,
    /// Largest memory of the process up to the end of the training, before scoring, in bytes.
    peak: Option<u64>,
    /// Number of trees of the start model; `None` without one.
    start_trees: Option<usize>,
    /// The final model's values on each data set.
    evaluations: Vec<(String, Evaluation)>,
}

/// Trains a learner, and writes the model if the request names a file, with a side file
/// `MODEL.log.json` beside it.
pub fn train_model(
    request: &TrainModelRequest,
    context: &Context<'_>,
) -> Result<TrainModelResult, TaskError> {
    let mut task = RunningTask::new(context);
    let with_bias = bias::with_examination(request)?;
    let (request, estimator) = match &with_bias {
        Some((request, estimator)) => (request, estimator.clone()),
        None => (request, None),
    };
    let measures = learner_metrics(&request.metrics, &request.learner)?;
    checks::check(request)?;
    output_paths::check(request)?;
    let trained = match (request.data.is_empty(), request.learner.model_without_data()) {
        (true, Some(model)) => without_data(model?, &mut task),
        (true, None) => {
            return Err(TaskError::NoTrainingData { learner: request.learner.def().name });
        }
        (false, _) => with_data(request, &measures, &mut task)?,
    };
    let checkpoints = request.checkpoint.as_ref().map(|options| options.folder.as_path());
    let sha256 = match &request.out {
        Some(out) => save_or_rescue(&trained.model, out, checkpoints)?,
        None => digest(&trained.model.to_bytes()),
    };
    output_paths::remove_default_checkpoint(request, &mut task);
    let mut result = result::new(request, trained, sha256, task.warnings().to_vec());
    result.bias_estimator = estimator;
    if let Some(out) = &request.out
        && let Err(error) = side_file::write(request, out, &result)
    {
        // The model is there: a missing log is no reason to fail.
        remove_old_log(out);
        task.warn(Warning::TrainingLogNotWritten { message: error.to_string() });
        result.warnings = task.into_warnings();
    }
    Ok(result)
}

/// Metrics of a training: the given ones, or the learner's own metric.
pub(super) fn learner_metrics(
    metrics: &[MetricSpec],
    learner: &LearnerSpec,
) -> Result<Vec<Measure>, TaskError> {
    match metrics {
        [] => Ok(learner.measures()?),
        given => {
            let resolve = |spec: &MetricSpec| spec.resolve(SourceKind::Features);
            Ok(given.iter().map(resolve).collect::<Result<_, _>>()?)
        }
    }
}

/// A linear model of given weights, made without data.
fn without_data(model: Model, task: &mut RunningTask<'_>) -> Trained {
    task.warn(Warning::FeaturesOfWeights);
    let history = TrainingHistory::default();
    Trained {
        model,
        history,
        is_stopped: false,
        choice: None,
        load_seconds: 0.0,
        peak: None,
        start_trees: None,
        evaluations: Vec::new(),
    }
}

/// Reads the data, trains, and evaluates the final model on each data set.
fn with_data(
    request: &TrainModelRequest,
    measures: &[Measure],
    task: &mut RunningTask<'_>,
) -> Result<Trained, TaskError> {
    check_standard_input(request.inputs())?;
    let start = request.start.as_ref().map(ModelSource::load).transpose()?;
    let teacher = request.teacher.as_ref().map(|teacher| teacher.model.load()).transpose()?;
    // The new model has the features of the training data, and no others of the start model.
    let of_start = |start| ReadRules { features: None, ..ReadRules::of_model(start) };
    let mut rules = start.as_deref().map(of_start);
    if teacher.is_some() {
        // The teacher's scores take the place of labels.
        rules = Some(rules.unwrap_or_default().labels_are_optional());
    }
    let loaded = request.data.load(rules, task)?;
    let train = &*loaded.data;
    check_feature_set(train, task);
    if let (Some(source), Some(start)) = (&request.start, &start) {
        features::check_start(train, &source.name(), start, request.matching)?;
    }
    let valid = ValidationData { sets: &request.valid, matching: request.matching };
    let (valid, seconds) = valid.load(&request.data, train, task)?;
    let unlabelled = unlabelled_queries(request, train, task)?;
    let evaluated = valid.first().map_or(train, |(_, data)| &**data);
    let own = match request.metrics.is_empty() {
        true => Some(request.learner.measures_on(evaluated)?),
        false => None,
    };
    let measures = own.as_deref().unwrap_or(measures);
    let teacher = teacher.as_ref().zip(request.teacher.as_ref()).map(|(model, files)| {
        let teacher = Teacher::of_model(model).weight(files.params.teacher_weight);
        teacher.unlabelled(unlabelled.as_deref())
    });
    let models = GivenModels { start: start.as_deref(), teacher };
    let result = train_on(request, measures, train, &valid, models, task)?;
    warn_of_model(&result.warnings, task);
    let peak = side_file::peak_memory();
    let training = request.eval_train.then(|| ("training".to_owned(), train));
    let valid = valid.iter().map(|(name, data)| (name.clone(), &**data));
    let mut evaluations = Vec::new();
    let options =
        ScoreOptions::new().matching(request.matching.ignore_extra(true)).simd(task.simd());
    // If the first set of validation data was training data, a value on it would flatter.
    let held_out = valid.skip(usize::from(result.trained_on_validation()));
    for (name, data) in training.into_iter().chain(held_out) {
        evaluations.push((name, evaluate(&result.model, data, measures, options)?));
    }
    if !evaluations.is_empty() {
        warn_of_no_boundary(None, &result.model, measures, task);
    }
    Ok(Trained {
        model: result.model,
        history: result.history,
        is_stopped: !result.finished,
        choice: result.choice,
        load_seconds: loaded.seconds + seconds,
        peak,
        start_trees: start.as_deref().map(result::own_trees),
        evaluations,
    })
}

/// Models that a training begins with.
struct GivenModels<'a> {
    start: Option<&'a Model>,
    teacher: Option<Teacher<'a>>,
}

/// The queries that are learned from the teacher alone; `None` if there are none.
fn unlabelled_queries(
    request: &TrainModelRequest,
    train: &Dataset,
    task: &mut RunningTask<'_>,
) -> Result<Option<Arc<Dataset>>, TaskError> {
    let Some(source) = request.teacher.as_ref().and_then(|teacher| teacher.unlabelled.as_ref())
    else {
        return Ok(None);
    };
    let rules = ReadRules::of_data(train).matched(request.matching).labels_are_optional();
    let data = source.with_options_of(&request.data).load(Some(rules), task)?.data;
    check_validation(train, &source.label(), &data, request.matching)?;
    Ok(Some(data))
}

/// Sets of validation data.
pub(super) struct ValidationData<'a> {
    pub(super) sets: &'a [DataSource],
    pub(super) matching: MatchOptions,
}

/// Data sets with their names.
type NamedDatasets = Vec<(String, Arc<Dataset>)>;

impl ValidationData<'_> {
    /// Loads each set, with the options of reading of `data`, the training data, and matches its
    /// features; returns the sets with their names, and the seconds of reading.
    pub(super) fn load(
        &self,
        data: &DataSource,
        train: &Dataset,
        task: &mut RunningTask<'_>,
    ) -> Result<(NamedDatasets, f64), TaskError> {
        let (mut sets, mut seconds) = (Vec::new(), 0.0);
        let names = data_names(self.sets);
        let names = validation_set_names(names.iter().map(String::as_str));
        for (source, name) in self.sets.iter().zip(names) {
            let rules = Some(ReadRules::of_data(train).matched(self.matching));
            let loaded = source.with_options_of(data).load(rules, task)?;
            check_validation(train, &source.label(), &loaded.data, self.matching)?;
            seconds += loaded.seconds;
            sets.push((name, loaded.data));
        }
        Ok((sets, seconds))
    }
}

/// Trains to the end; a training that was stopped is an error with the saved state, unless the
/// request keeps its model.
fn train_on(
    request: &TrainModelRequest,
    measures: &[Measure],
    data: &Dataset,
    valid: &[(String, Arc<Dataset>)],
    models: GivenModels<'_>,
    task: &mut RunningTask<'_>,
) -> Result<TrainResult, TaskError> {
    let learner = &request.learner;
    warn_about(learner, data, measures, task)?;
    let checkpoints = output_paths::checkpoints(request);
    let file = checkpoints.as_ref().map(rankwright_learn::Checkpoints::file);
    let forwarded = ForwardedProgress::begin(task.context(), learner, data.rows(), file.as_deref());
    let valid = valid.iter().map(|(name, data)| ValidationSet::new(name, data));
    let training = TrainRequest::new(data)
        .validation_sets(valid)
        .metrics(measures.iter().cloned())
        .evaluate_training(request.eval_train)
        .seed(request.seed_or_default())
        .start(models.start)
        .teacher(models.teacher)
        .features(ScoreOptions::new().matching(request.matching).simd(task.simd()))
        .checkpoints(checkpoints)
        .progress(&forwarded)
        .simd(task.simd());
    let result = learner.train(training);
    let checkpoint_error = forwarded.take_failed_checkpoint();
    drop(forwarded);
    let keeps_stopped = request.keep_stopped && !task.context().is_cancelled();
    match result? {
        result if result.finished || keeps_stopped => {
            if let Some(message) = checkpoint_error {
                // The caller has already received this warning.
                task.keep_silently(Warning::CheckpointFailed { message });
            }
            Ok(result)
        }
        result => Err(output_paths::stopped_error(request, &result, checkpoint_error)),
    }
}

/// Warns of facts about a learner and its data that are known before the training.
pub(super) fn warn_about(
    learner: &LearnerSpec,
    data: &Dataset,
    measures: &[Measure],
    task: &mut RunningTask<'_>,
) -> Result<(), TaskError> {
    let request = TrainRequest::new(data).metrics(measures.iter().cloned());
    let known = learner.warnings_about(&request)?;
    known.into_iter().for_each(|warning| task.warn(Warning::Training(warning)));
    Ok(())
}

/// Warns of facts about a trained model; [`warn_about`] has told of the others.
pub(super) fn warn_of_model(warnings: &[TrainWarning], task: &mut RunningTask<'_>) {
    let of_model = warnings.iter().filter(|warning| !warning.is_about_data());
    of_model.cloned().for_each(|warning| task.warn(Warning::Training(warning)));
}

fn evaluate(
    model: &Model,
    data: &Dataset,
    measures: &[Measure],
    options: ScoreOptions,
) -> Result<Evaluation, TaskError> {
    let scores = model.score(data, options)?;
    let measures = measures_for(model, measures)?;
    let source = ScoredDataset::new(data, &scores)?;
    Ok(rankwright_eval::evaluate(&source, &measures, EvalOptions::default().tie_effect(true))?)
}

/// Writes a model, and returns the SHA-256 of its bytes.
pub(super) fn save_model(model: &Model, path: &Path) -> Result<String, TaskError> {
    let bytes = model.to_bytes();
    write_atomic(path, |out| out.write_all(&bytes))?;
    Ok(digest(&bytes))
}
