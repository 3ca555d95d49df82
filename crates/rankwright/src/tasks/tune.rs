//! Search over a learner's parameters, on validation data or folds by query.
//!
//! The same request resumes an interrupted search: finished trials are in the log, the current
//! training is in a folder beside it (`LOG.trials`), which a finished search removes.

use std::path::{Path, PathBuf};

use rankwright_data::{DataError, Dataset};
use rankwright_learn::tune::{
    Space, Trial, TrialComparison, TrialValues, TuneData, TuneJob, TuneMethod, TunePlan,
    TuneProgress, TuneResult,
};
use rankwright_learn::{
    LearnError, LearnerSpec, MemberStart, Progress, TrainRequest, TrainingHistory, ValidationSet,
};
use rankwright_model::{MatchOptions, ScoreOptions};
use serde::{Deserialize, Serialize};

use super::context::RunningTask;
use super::train::{
    ForwardedProgress, ValidationData, check_feature_set, check_file, learners_with_examination,
    remove_old_log, save_or_rescue, warn_about, warn_of_model, with_suffix,
};
use super::{
    Context, DataSource, TaskError, TaskInputs, Warning, check_outputs, check_standard_input,
};

/// A parameter search, its data, and the files for its results.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TuneRequest {
    /// The learner, the space and the trials.
    pub plan: TunePlan,
    /// Training data.
    pub data: DataSource,
    /// Validation data, for a plan that evaluates trials on it; options of reading that it does
    /// not give are those of the training data.
    pub valid: Option<DataSource>,
    /// The rule that matches the features of the validation data with those of the training data.
    #[serde(default)]
    pub matching: MatchOptions,
    /// File for the model of the best learner, trained on all of the data.
    pub out: Option<PathBuf>,
    /// File that keeps finished trials; the same request then resumes.
    pub log: Option<PathBuf>,
    /// A file with the examination of positions, for a learner that corrects clicks by it; see
    /// `BiasFile` of `rankwright::learn` for its forms.
    pub bias: Option<PathBuf>,
}

impl TaskInputs for TuneRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        let data = self.data.paths().chain(self.valid.iter().flat_map(DataSource::paths));
        data.map(Path::to_owned).chain(self.bias.clone()).collect()
    }
}

impl TuneRequest {
    /// A search that writes no files.
    pub fn new(plan: TunePlan, data: impl Into<DataSource>) -> Self {
        TuneRequest {
            plan,
            data: data.into(),
            valid: None,
            matching: MatchOptions::default(),
            out: None,
            log: None,
            bias: None,
        }
    }

    /// Sets the validation data.
    pub fn validation(mut self, data: impl Into<DataSource>) -> Self {
        self.valid = Some(data.into());
        self
    }

    /// Sets the rule that matches the features of the validation data with those of the training
    /// data.
    pub fn matching(mut self, matching: MatchOptions) -> Self {
        self.matching = matching;
        self
    }

    /// Sets a file with the examination of positions.
    pub fn bias(mut self, file: impl Into<PathBuf>) -> Self {
        self.bias = Some(file.into());
        self
    }

    /// Sets the file for the model of the best learner.
    pub fn out(mut self, file: impl Into<PathBuf>) -> Self {
        self.out = Some(file.into());
        self
    }

    /// Sets the file that keeps finished trials.
    pub fn log(mut self, file: impl Into<PathBuf>) -> Self {
        self.log = Some(file.into());
        self
    }
}

/// The trials of a search, the best first.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct TuneLearnerResult {
    /// The learner of trial 0: the learner as given, with early stopping if the search adds it.
    pub learner: Option<String>,
    /// The value of `stop` that the search adds to the learner; none if it adds none.
    pub added_stop: Option<String>,
    /// The space that was searched.
    pub space: String,
    /// The method: `random` or `halving`.
    pub method: &'static str,
    /// The deciding metric.
    pub metric: String,
    /// All conventions of its values: how ties, unjudged documents and so on are treated.
    pub convention: Option<String>,
    /// Seed of the draws, the folds and the trainings.
    pub seed: u64,
    /// Number of folds, where trials are evaluated on folds.
    pub folds: Option<usize>,
    /// All trials, the best first.
    pub trials: Vec<TrialValues>,
    /// The best of the completely trained trials.
    pub best: Option<TrialValues>,
    /// The best trial compared with trial 0.
    pub versus_trial_0: Option<TrialComparison>,
    /// A note on the interpretation of the values.
    pub note: &'static str,
    /// File of the finished trials.
    pub log: Option<PathBuf>,
    /// The model that was written.
    pub model: Option<WrittenModel>,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
    /// The result in the form of the learn crate.
    #[serde(skip)]
    pub result: TuneResult,
}

/// A model that was written.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WrittenModel {
    /// The file.
    pub path: PathBuf,
    /// SHA-256 of the file.
    pub sha256: String,
}

/// The default search space of a learner.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SearchSpace {
    /// The learner.
    pub learner: String,
    /// Its space, as a spec.
    pub space: String,
}

impl SearchSpace {
    /// A learner and its space.
    pub fn new(learner: &LearnerSpec, space: &Space) -> Self {
        SearchSpace { learner: learner.to_string(), space: space.to_string() }
    }
}

/// The note of every result.
const CHOSEN_ON_SAME_QUERIES: &str = "the best trial was chosen on the same queries as its value, so value and p \
                          are optimistic; evaluate the model on queries that the search did not \
                          use";

/// Runs a search, or resumes it; trains the best learner on all of the data and writes its model if
/// a file is given for it.
pub fn tune_learner(
    request: &TuneRequest,
    progress: &dyn TuneProgress,
    context: &Context<'_>,
) -> Result<TuneLearnerResult, TaskError> {
    let mut task = RunningTask::new(context);
    let with_bias = with_examination(request)?;
    let request = with_bias.as_ref().unwrap_or(request);
    check(request)?;
    check_standard_input(request.inputs().iter().map(PathBuf::as_path))?;
    let train = request.data.load(None, &mut task)?.data;
    if request.out.is_some() {
        check_feature_set(&train, &mut task);
    }
    let valid = ValidationData { sets: request.valid.as_slice(), matching: request.matching };
    let valid = valid.load(&request.data, &train, &mut task)?.0.pop().map(|(_, data)| data);
    let plan = request.plan.clone().for_data(valid.as_deref().unwrap_or(&train))?;
    warn_about(plan.trial_0(), &train, std::slice::from_ref(plan.measure()), &mut task)?;
    let request = &TuneRequest { plan, ..request.clone() };
    let result = search(request, &train, valid.as_deref(), progress, &task)?;
    if let Some(log) = request.log.clone().filter(|_| result.found_in_log > 0) {
        task.warn(Warning::TrialsFound { trainings: result.found_in_log, log });
    }
    let stopped =
        || TaskError::SearchStopped { done: result.trainings_done, log: request.log.clone() };
    let best = result.best().filter(|_| result.finished).ok_or_else(stopped)?;
    let model = match &request.out {
        Some(path) => {
            let written = train_best(request, path, best, &train, valid.as_deref(), &mut task)?;
            Some(written.ok_or_else(stopped)?)
        }
        None => None,
    };
    Ok(result_of(request, result, model, task.into_warnings()))
}

/// The request with the examination of its file as parameters of its learner; `None` if the request
/// has no such file.
fn with_examination(request: &TuneRequest) -> Result<Option<TuneRequest>, TaskError> {
    let Some(file) = &request.bias else { return Ok(None) };
    let given = std::slice::from_ref(request.plan.given_learner());
    let Some(learner) = learners_with_examination(given, file)?.pop() else { return Ok(None) };
    let plan = TunePlan::new(&learner, request.plan.settings().clone())?;
    Ok(Some(TuneRequest { plan, ..request.clone() }))
}

/// Rejects files that could not be written, and options without an effect, before anything is
/// trained.
fn check(request: &TuneRequest) -> Result<(), TaskError> {
    let plan = &request.plan;
    if request.out.is_some() && request.valid.is_none() && plan.needs_validation() {
        return Err(TaskError::NoValidationForBest);
    }
    let is_used = plan.specs().iter().any(LearnerSpec::uses_validation);
    let evaluated_on = &plan.settings().evaluated_on;
    if matches!(evaluated_on, TuneData::Folds { valid_part: Some(_), .. }) && !is_used {
        return Err(TaskError::ValidPartUnused);
    }
    for path in request.out.iter().chain(&request.log) {
        check_file(path)?;
    }
    let members: Vec<PathBuf> = plan.specs().iter().flat_map(LearnerSpec::files).collect();
    let inputs = request.inputs();
    let inputs = inputs.iter().chain(&members).map(PathBuf::as_path);
    check_outputs(request.out.iter().chain(&request.log).map(PathBuf::as_path), inputs)
}

/// Runs the trials.
fn search(
    request: &TuneRequest,
    train: &Dataset,
    valid: Option<&Dataset>,
    progress: &dyn TuneProgress,
    task: &RunningTask<'_>,
) -> Result<TuneResult, TaskError> {
    // Each rung of halving continues boosted trees from the checkpoints of the previous rung, which
    // need a folder even without a log.
    let is_halving = request.plan.settings().method == TuneMethod::Halving;
    let temporary = match request.log.is_none() && is_halving {
        true => Some(
            tempfile::tempdir().map_err(|e| DataError::io("create", "a temporary folder", e))?,
        ),
        false => None,
    };
    let temporary_trials = temporary.as_ref().map(|folder| folder.path().join("trials"));
    let folder = request.log.as_deref().map(|log| with_suffix(log, ".trials"));
    let folder = folder.or(temporary_trials);
    let forwarded = ForwardedTuneProgress { inner: progress, context: task.context() };
    let job = TuneJob::new(train)
        .validation(valid.map(validation_set))
        .features(ScoreOptions::new().matching(request.matching).simd(task.simd()))
        .log(request.log.clone())
        .folder(folder)
        .progress(&forwarded);
    Ok(request.plan.run(&job)?)
}

fn validation_set(data: &Dataset) -> ValidationSet<'_> {
    ValidationSet::new("validation data", data)
}

/// Trains the best learner again, on all of the data, and writes the model; none if the caller
/// cancelled.
fn train_best(
    request: &TuneRequest,
    path: &Path,
    best: &Trial,
    train: &Dataset,
    valid: Option<&Dataset>,
    task: &mut RunningTask<'_>,
) -> Result<Option<WrittenModel>, TaskError> {
    let learner = request.plan.learner(best)?;
    let forwarded = ForwardedProgress::begin(task.context(), learner, train.rows(), None);
    let training = TrainRequest::new(train)
        .validation_sets(valid.map(validation_set))
        .metrics([request.plan.measure().clone()])
        .seed(request.plan.settings().seed)
        .features(ScoreOptions::new().matching(request.matching).simd(task.simd()))
        .progress(&forwarded)
        .simd(task.simd());
    let result = learner.train(training);
    drop(forwarded);
    let result = result?;
    if !result.finished {
        return Ok(None);
    }
    warn_of_model(&result.warnings, task);
    let sha256 = save_or_rescue(&result.model, path, None)?;
    // A search writes no log of this training.
    remove_old_log(path);
    Ok(Some(WrittenModel { path: path.to_owned(), sha256 }))
}

fn result_of(
    request: &TuneRequest,
    result: TuneResult,
    model: Option<WrittenModel>,
    warnings: Vec<Warning>,
) -> TuneLearnerResult {
    let plan = &request.plan;
    let settings = plan.settings();
    TuneLearnerResult {
        learner: plan.specs().first().map(ToString::to_string),
        added_stop: plan.added_stop().map(str::to_owned),
        space: plan.space().to_string(),
        method: settings.method.name(),
        metric: plan.measure().to_string(),
        convention: result.best().map(|best| best.convention.clone()),
        seed: settings.seed,
        folds: match settings.evaluated_on {
            TuneData::Folds { count, .. } => Some(count),
            TuneData::Valid => None,
        },
        trials: result.trials.iter().map(|trial| trial.result.clone()).collect(),
        best: result.best().map(|trial| trial.result.clone()),
        versus_trial_0: result.vs_trial_0.clone(),
        note: CHOSEN_ON_SAME_QUERIES,
        log: request.log.clone(),
        model,
        warnings,
        result,
    }
}

/// Forwards events to the caller, and checks the caller's flag.
struct ForwardedTuneProgress<'a> {
    inner: &'a dyn TuneProgress,
    context: &'a Context<'a>,
}

impl Progress for ForwardedTuneProgress<'_> {
    fn started(&self, history: &TrainingHistory, done: usize) {
        self.inner.started(history, done);
    }

    fn member_started(&self, member: &MemberStart<'_>) {
        self.inner.member_started(member);
    }

    fn round_finished(&self, history: &TrainingHistory) {
        self.inner.round_finished(history);
    }

    fn checkpoint_failed(&self, error: &LearnError) {
        self.inner.checkpoint_failed(error);
    }

    fn should_stop(&self) -> bool {
        self.inner.should_stop() || self.context.is_cancelled()
    }
}

impl TuneProgress for ForwardedTuneProgress<'_> {
    fn trial_started(&self, trial: usize, limit: Option<usize>) {
        self.inner.trial_started(trial, limit);
    }

    fn trial_finished(&self, trial: &Trial, from_log: bool) {
        self.inner.trial_finished(trial, from_log);
    }
}
