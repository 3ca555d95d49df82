//! The rounds of a training: metrics, stopping, the history and checkpoints, for every learner.
//!
//! The first metric on the first validation set decides: the model with its best value is kept (the
//! earliest among equals), and with [`Stop::After`] training ends after that many rounds without a
//! better value. Without validation data, or with [`Stop::None`], the last model is the result.
//!
//! A checkpoint is an ordinary model file: the model so far, and as a note in its header the
//! history and the learner's state, from which training resumes with the same result.

use std::time::Instant;

use rankwright_data::Dataset;
use rankwright_data::store::FolderLock;
use rankwright_eval::Measure;
use rankwright_model::{BiasFactors, Header, Model, ModelBody, ScoreOptions};

use super::checkpoint::{CheckpointSaver, CheckpointState, fingerprint, load};
use super::history::{
    Iteration, KeptReason, KeptRounds, PhaseSeconds, TRAINING_SET, TrainingHistory,
    validation_set_names,
};
use super::request::{TrainRequest, TrainResult};
use super::stop::Stop;
use super::validation::{EarlyStopping, check_sets};
use crate::error::LearnError;

/// Whether to continue training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum RoundStatus {
    /// There is another round.
    Continue,
    /// All rounds are done, or early stopping ends the training.
    Over,
    /// The training was cancelled; a checkpoint was saved if the request has a folder for it.
    Cancelled,
}

/// The plan of a training's rounds, made before the first one.
#[derive(Debug, Clone)]
pub(crate) struct RoundPlan {
    /// The word for one round: "tree", "epoch".
    pub(crate) unit: &'static str,
    /// Maximum number of rounds.
    pub(crate) max_rounds: usize,
    /// When training ends, and which rounds are kept.
    pub(crate) stop: Stop,
    /// Number of rounds without improvement on the first validation set after which training ends
    /// with [`Stop::Auto`]; with `None` all rounds are trained.
    pub(crate) auto_patience: Option<usize>,
    /// Seconds spent on binning the features.
    pub(crate) bin_seconds: f64,
    /// The learner's parameters as text: a checkpoint made with other parameters is rejected.
    /// Parameters that may change when a training is resumed, such as the number of trees, are left
    /// out.
    pub(crate) parameters: String,
}

impl RoundPlan {
    /// A plan for a learner whose checkpoints can be resumed only with exactly the same spec.
    pub(crate) fn new(unit: &'static str, max_rounds: usize, request: &TrainRequest<'_>) -> Self {
        let parameters = format!("rounds {ALGORITHM_VERSION} {}", request.learner);
        let (stop, auto_patience) = (Stop::Auto, None);
        Self { unit, max_rounds, stop, auto_patience, bin_seconds: 0.0, parameters }
    }

    /// Sets when training ends.
    pub(crate) fn stop(self, stop: Stop) -> Self {
        Self { stop, ..self }
    }

    /// Sets the rounds without improvement after which training ends with [`Stop::Auto`].
    pub(crate) fn auto_patience(self, rounds: usize) -> Self {
        Self { auto_patience: Some(rounds), ..self }
    }
}

/// Version of the training algorithms; raised whenever the same data, parameters and seed give
/// other models than before.
const ALGORITHM_VERSION: u32 = 1;

/// The part of a checkpoint that the learner writes, and gets back.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// The model so far: for boosted trees all trees; for learners that pass whole models
    /// ([`Session::end_round_with_model`]) the one that would be returned now.
    pub(crate) model: ModelBody,
    /// Number of trees in the model that came from the start model.
    pub(crate) start_trees: usize,
    /// The learner's state as bytes; `None` if the model is the whole state.
    pub(crate) learner_state: Option<Vec<u8>>,
}

/// The rounds of one training, with metrics, stopping, history and checkpoints.
pub(crate) struct Session<'a> {
    request: &'a TrainRequest<'a>,
    header: Header,
    history: TrainingHistory,
    max_rounds: usize,
    /// `None` without validation data.
    early_stopping: Option<EarlyStopping>,
    /// The reason why the last model is returned even if there is validation data; `None` if
    /// validation data chooses the best model.
    keeps_last: Option<KeptReason>,
    /// The model to return, the best or the last so far, for learners that pass whole models.
    kept_model: Option<ModelBody>,
    saver: Option<CheckpointSaver<'a>>,
    /// Keeps other trainings out of the checkpoint folder.
    lock: Option<FolderLock>,
    fingerprint: u64,
    started: Instant,
    /// Seconds of training before this process resumed from a checkpoint.
    earlier_seconds: f64,
    /// The end of the last measured phase.
    lap: Instant,
}

impl<'a> Session<'a> {
    /// Starts a training, or resumes it from a checkpoint, whose snapshot is then returned too.
    pub(crate) fn begin(
        request: &'a TrainRequest<'a>,
        plan: RoundPlan,
    ) -> Result<(Self, Option<Snapshot>), LearnError> {
        let deciding = request.metrics.first().filter(|_| !request.valid.is_empty());
        let early_stopping = deciding.map(|measure| EarlyStopping {
            set: usize::from(request.evaluate_training),
            better: measure.metric().better(),
            tolerance: request.tolerance,
            patience: match plan.stop {
                Stop::Auto => plan.auto_patience,
                other => other.patience(),
            },
        });
        if plan.stop.patience().is_some() && early_stopping.is_none() {
            let learner = match request.learner.as_str() {
                "" => "early stopping".to_owned(),
                learner => learner.to_owned(),
            };
            return Err(LearnError::MissingValidation { learner });
        }
        check_sets(&request.valid, &request.metrics, &request.metric_labels)?;
        let mut history = TrainingHistory {
            unit: plan.unit.to_owned(),
            bin_seconds: plan.bin_seconds,
            ..empty_history(request)
        };
        let (mut own_fingerprint, mut saved, mut lock) = (0, None, None);
        if let Some(options) = &request.checkpoints {
            lock = options.lock_at_start()?;
            own_fingerprint = fingerprint(request.train, &request_text(request, &plan.parameters));
            saved = load(&options.file(), own_fingerprint)?;
        }
        let mut snapshot = None;
        if let Some((model, mut state)) = saved {
            let learner_state = state.take_learner_state()?;
            let (model, start_trees) = (model.into_parts().1, state.start_trees);
            snapshot = Some(Snapshot { model, start_trees, learner_state });
            state.restore(&mut history);
            // The request may have fewer rounds than were saved.
            history.iterations.truncate(plan.max_rounds);
        }
        history.best = early_stopping.and_then(|early_stopping| early_stopping.best(&history));
        let done = history.iterations.len();
        request.progress.started(&history, done);
        let session = Self {
            request,
            header: header(request),
            earlier_seconds: history.train_seconds,
            history,
            max_rounds: plan.max_rounds,
            early_stopping,
            keeps_last: (plan.stop == Stop::None).then_some(KeptReason::AllRequested),
            kept_model: snapshot.as_ref().map(|snapshot| snapshot.model.clone()),
            saver: request.checkpoints.as_ref().map(|options| CheckpointSaver::new(options, done)),
            lock,
            fingerprint: own_fingerprint,
            started: Instant::now(),
            lap: Instant::now(),
        };
        Ok((session, snapshot))
    }

    /// Returns the last model at the end even if there is validation data: for learners whose
    /// rounds lead to one minimum.
    pub(crate) fn keeping_last(mut self) -> Self {
        self.keeps_last = Some(KeptReason::LastIsResult);
        self
    }

    /// Number of rounds done so far.
    pub(crate) fn done(&self) -> usize {
        self.history.iterations.len()
    }

    /// Adds a note to the header of the model.
    pub(crate) fn add_note(&mut self, key: &str, text: &str) {
        self.header.notes.insert(key.to_owned(), text.to_owned());
    }

    /// Records the position bias that the clicks of the training data were corrected for.
    pub(crate) fn set_position_bias(&mut self, bias: Option<BiasFactors>) {
        self.header.position_bias = bias;
    }

    /// The header of the model.
    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// The rounds that the model is to be made of.
    pub(crate) fn kept_rounds(&self) -> KeptRounds {
        let trained = self.done();
        let all = |reason| KeptRounds { rounds: trained, of: trained, reason };
        if let Some(reason) = &self.keeps_last {
            return all(reason.clone());
        }
        let best = self.early_stopping.zip(self.history.best).and_then(|(stopping, rounds)| {
            Some((stopping.set, rounds, stopping.value(&self.history, rounds)?))
        });
        let Some((set, rounds, value)) = best else { return all(KeptReason::NoValidation) };
        // Early stopping is by the first metric, on one of the sets; with a kept metric by the second.
        let second = self.history.iterations[rounds - 1].values[set].get(1).copied();
        let named = |number: usize| {
            let (metric, note) = (
                &self.history.metrics[number],
                self.request.metric_labels.convention_suffix(number),
            );
            match note.trim() {
                "" => metric.clone(),
                labels => format!("{metric} ({labels})"),
            }
        };
        let (metric, value) = match (self.request.tolerance, second) {
            (Some(tolerance), Some(second)) => {
                (format!("{} with {} kept within {tolerance}", named(1), named(0)), second)
            }
            _ => (named(0), value),
        };
        let set = self.history.sets[set].clone();
        let reason = KeptReason::BestOnValidation { metric, set, value };
        KeptRounds { rounds, of: trained, reason }
    }

    /// Whether training ends here: all rounds are done, or early stopping ends it.
    pub(crate) fn is_over(&self) -> bool {
        self.done() >= self.max_rounds
            || self
                .early_stopping
                .is_some_and(|early_stopping| early_stopping.is_over(&self.history))
    }

    /// Ends a round with the current model: evaluates the model, keeps it if it is the one to
    /// return so far, and continues like [`end_round`](Self::end_round); `loss` is the training
    /// loss, and `state` returns the learner's state as bytes for a checkpoint.
    pub(crate) fn end_round_with_model(
        &mut self,
        loss: Option<f64>,
        model: impl FnOnce() -> Result<ModelBody, LearnError>,
        state: &dyn Fn() -> Vec<u8>,
    ) -> Result<RoundStatus, LearnError> {
        let mut seconds = PhaseSeconds { learn: lap(&mut self.lap), ..PhaseSeconds::default() };
        let model = Model::new(self.header.clone(), model()?)?;
        let values = metric_values(self.request, &model)?;
        seconds.evaluate = lap(&mut self.lap);
        let number = self.done() + 1;
        let loss = loss.filter(|loss| loss.is_finite());
        self.push(Iteration { number, leaves: None, loss, step: None, values, seconds });
        if self.keeps_last.is_some() || self.history.best.is_none_or(|best| best == number) {
            self.kept_model = Some(model.into_parts().1);
        }
        self.finish_round(&|session| session.kept_snapshot(state))
    }

    /// Ends a round whose metrics the learner has computed: records it, reports progress, decides
    /// whether to continue, and saves a checkpoint when one is due.
    pub(crate) fn end_round(
        &mut self,
        iteration: Iteration,
        snapshot: &dyn Fn() -> Result<Snapshot, LearnError>,
    ) -> Result<RoundStatus, LearnError> {
        self.push(iteration);
        self.finish_round(&|_| snapshot())
    }

    /// Adds a round to the history.
    fn push(&mut self, iteration: Iteration) {
        self.history.iterations.push(iteration);
        self.history.best =
            self.early_stopping.and_then(|early_stopping| early_stopping.best(&self.history));
        self.history.train_seconds = self.earlier_seconds + self.started.elapsed().as_secs_f64();
    }

    /// Reports progress, decides whether to continue, and saves a checkpoint when one is due.
    fn finish_round(
        &mut self,
        snapshot: &dyn Fn(&Self) -> Result<Snapshot, LearnError>,
    ) -> Result<RoundStatus, LearnError> {
        self.request.progress.round_finished(&self.history);
        let over = self.is_over();
        let cancelled = !over && self.should_stop();
        // Also after the last round: a finished training can be continued with more rounds.
        if cancelled || self.saver.as_ref().is_some_and(|saver| saver.is_due(self.done())) {
            self.save_or_report(snapshot);
        }
        Ok(match (over, cancelled) {
            (true, _) => RoundStatus::Over,
            (_, true) => RoundStatus::Cancelled,
            _ => RoundStatus::Continue,
        })
    }

    /// Whether the training was cancelled, for learners with long rounds. A learner that stops
    /// within a round calls [`save_before_cancelling`](Self::save_before_cancelling) before it
    /// finishes.
    pub(crate) fn should_stop(&self) -> bool {
        self.request.progress.should_stop()
    }

    /// Saves a checkpoint after the last whole round even if it is not due.
    pub(crate) fn save_before_cancelling(&mut self, state: &dyn Fn() -> Vec<u8>) {
        self.save_or_report(&|session| session.kept_snapshot(state));
    }

    /// Returns the best (with validation data) or the last of the models passed; `finished` is
    /// false if the training was cancelled.
    pub(crate) fn finish(mut self, finished: bool) -> Result<TrainResult, LearnError> {
        let kept = self.kept_model.take();
        let model =
            kept.ok_or_else(|| LearnError::Cancelled { unit: self.history.unit.clone() })?;
        self.finish_with(model, finished)
    }

    /// The result of a training with this model; `finished` is false if the training was cancelled.
    pub(crate) fn finish_with(
        mut self,
        model: ModelBody,
        finished: bool,
    ) -> Result<TrainResult, LearnError> {
        self.history.train_seconds = self.earlier_seconds + self.started.elapsed().as_secs_f64();
        self.history.kept = (self.done() > 0).then(|| self.kept_rounds());
        result_of(self.header, model, self.history, finished)
    }

    /// The snapshot of a learner that passes whole models: the kept model, and the learner's state.
    fn kept_snapshot(&self, state: &dyn Fn() -> Vec<u8>) -> Result<Snapshot, LearnError> {
        let kept = self.kept_model.clone();
        let model = kept.ok_or(LearnError::Internal { invariant: "a round gives a model" })?;
        Ok(Snapshot { model, start_trees: 0, learner_state: Some(state()) })
    }

    /// Saves a checkpoint, and reports a failure: the model is still in memory, and the next save
    /// may succeed.
    fn save_or_report(&mut self, snapshot: &dyn Fn(&Self) -> Result<Snapshot, LearnError>) {
        if self.saver.is_none() || self.done() == 0 {
            return;
        }
        if let Err(error) = snapshot(self).and_then(|snapshot| self.save(snapshot)) {
            self.request.progress.checkpoint_failed(&error);
        }
    }

    /// Saves a checkpoint; locks the folder first if it is not locked yet.
    fn save(&mut self, snapshot: Snapshot) -> Result<(), LearnError> {
        let Some(saver) = &mut self.saver else { return Ok(()) };
        if let (None, Some(options)) = (&self.lock, &self.request.checkpoints) {
            self.lock = Some(options.lock()?);
        }
        let state = CheckpointState::new(self.fingerprint, &self.history, &snapshot);
        let model = Model::new(self.header.clone(), snapshot.model)?;
        saver.save(model, &state, self.history.iterations.len())
    }
}

/// Seconds since the end of the last phase; the next phase begins now.
fn lap(last: &mut Instant) -> f64 {
    let now = Instant::now();
    let seconds = (now - *last).as_secs_f64();
    *last = now;
    seconds
}

/// The value of each metric on each evaluated set of a request.
pub(super) fn metric_values(
    request: &TrainRequest<'_>,
    model: &Model,
) -> Result<Vec<Vec<f64>>, LearnError> {
    let training = request.evaluate_training.then_some((request.train, ScoreOptions::default()));
    let valid = request.valid.iter().map(|set| (set.data, request.features));
    let values_on = |(data, options): (&Dataset, ScoreOptions)| {
        let scores = model.score(data, options)?;
        request.metric_labels.values(data, &scores, &request.metrics)
    };
    training.into_iter().chain(valid).map(values_on).collect()
}

/// The result of a training with this model, without warnings.
pub(super) fn result_of(
    header: Header,
    body: ModelBody,
    history: TrainingHistory,
    finished: bool,
) -> Result<TrainResult, LearnError> {
    let model = Model::new(header, body)?;
    Ok(TrainResult { model, history, finished, warnings: Vec::new(), choice: None })
}

/// The key of the note on a teacher in the header of a model.
pub(crate) const TEACHER_NOTE: &str = "teacher";

/// The header of a model trained by this request.
pub(crate) fn header(request: &TrainRequest<'_>) -> Header {
    let mut header = Header::new(request.train.features().clone(), request.train.absent());
    header.learner.clone_from(&request.learner);
    header.objective.clone_from(&request.objective);
    if let Some(measure) = request.metrics.first() {
        header.metric = measure.to_string();
        header.conventions =
            measure.convention().to_owned() + &request.metric_labels.convention_suffix(0);
    }
    header.seed = request.seed;
    header.queries = request.train.queries() as u64;
    header.rows = request.train.rows() as u64;
    if let (Some(teacher), Some(_)) = (&request.teacher, &request.soft_targets) {
        header.notes.insert(TEACHER_NOTE.to_owned(), teacher.note());
    }
    header.feature_set = request.train.feature_set().map(str::to_owned);
    header.table_columns = request.train.table_columns().cloned();
    header
}

/// The result of a learner without rounds.
pub(crate) fn result_without_rounds(
    request: &TrainRequest<'_>,
    model: ModelBody,
) -> Result<TrainResult, LearnError> {
    let finished = true;
    result_of(header(request), model, empty_history(request), finished)
}

/// A history without rounds: the sets and metrics of a request.
pub(super) fn empty_history(request: &TrainRequest<'_>) -> TrainingHistory {
    let training = request.evaluate_training.then(|| TRAINING_SET.to_owned());
    let valid = validation_set_names(request.valid.iter().map(|set| set.name.as_str()));
    TrainingHistory {
        sets: training.into_iter().chain(valid).collect(),
        metrics: request.metrics.iter().map(Measure::to_string).collect(),
        conventions: (0..)
            .zip(&request.metrics)
            .map(|(number, m)| {
                m.convention().to_owned() + &request.metric_labels.convention_suffix(number)
            })
            .collect(),
        ..TrainingHistory::default()
    }
}

/// The request as text: a checkpoint of any other request is rejected.
fn request_text(request: &TrainRequest<'_>, parameters: &str) -> String {
    let start = request.start.map(|model| xxhash_rust::xxh3::xxh3_64(&model.to_bytes()));
    let evaluation = evaluation_text(request);
    format!("{parameters} {evaluation} {} {start:?}", request.evaluate_training)
}

/// Seed, metrics, columns of labels and validation sets of a request as text, for fingerprints.
pub(super) fn evaluation_text(request: &TrainRequest<'_>) -> String {
    let metrics: Vec<String> = request.metrics.iter().map(Measure::to_string).collect();
    let valid: Vec<(&str, u64)> =
        request.valid.iter().map(|set| (set.name.as_str(), fingerprint(set.data, ""))).collect();
    let teacher = request.teacher.as_ref().map(|teacher| format!(" {}", teacher.text()));
    let labels = &request.metric_labels;
    let columns = labels.weights.as_ref();
    let columns = columns.map(|columns| format!(" labels {columns} {}", labels.keeps_first));
    let optional = teacher.unwrap_or_default() + &columns.unwrap_or_default();
    format!("{} {metrics:?} {valid:?}{optional}", request.seed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::test_support::StopAfterRounds;
    use crate::session::{Checkpoints, ValidationSet};
    use rankwright_data::generate::LetorOptions;
    use rankwright_eval::{MetricSpec, SourceKind};
    use rankwright_model::Linear;

    fn data(seed: u64) -> Dataset {
        LetorOptions { queries: 8, documents: 15, seed }.generate().unwrap()
    }

    fn measure() -> Measure {
        MetricSpec::parse("ndcg@5").unwrap().resolve(SourceKind::Features).unwrap()
    }

    /// A linear model whose score is one feature.
    fn score_by_feature(columns: usize, feature: usize) -> Result<ModelBody, LearnError> {
        let mut weights = vec![0.0; columns];
        weights[feature] = 1.0;
        Ok(ModelBody::Linear(Linear::new(0.0, weights)?))
    }

    /// Runs a training whose learner state is one byte, the number of finished rounds. The model of
    /// round k, from 0, scores by feature k. `prepare` may change the session before its first
    /// round.
    fn run_session<'a>(
        request: &'a TrainRequest<'a>,
        rounds: usize,
        stop: Stop,
        prepare: impl FnOnce(Session<'a>) -> Session<'a>,
    ) -> TrainResult {
        let (session, snapshot) =
            Session::begin(request, RoundPlan::new("round", rounds, request).stop(stop)).unwrap();
        let mut session = prepare(session);
        let state = snapshot.and_then(|snapshot| snapshot.learner_state);
        let first = state.map_or(0, |bytes| usize::from(bytes[0]));
        assert_eq!(first, session.done());
        for round in first..rounds {
            let model = || score_by_feature(request.train.columns(), round);
            let loss = Some(round as f64);
            match session.end_round_with_model(loss, model, &|| vec![round as u8 + 1]).unwrap() {
                RoundStatus::Continue => {}
                RoundStatus::Over => break,
                RoundStatus::Cancelled => return session.finish(false).unwrap(),
            }
        }
        session.finish(true).unwrap()
    }

    fn run(request: &TrainRequest<'_>, rounds: usize, stop: Stop) -> TrainResult {
        run_session(request, rounds, stop, |session| session)
    }

    #[test]
    fn the_best_model_is_kept_if_there_is_validation_data() {
        let (train, valid) = (data(1), data(2));
        let request = || TrainRequest::new(&train).metrics([measure()]);
        let without_validation = run(&request(), 6, Stop::Auto);
        assert_eq!(without_validation.history.best, None);
        assert_eq!(*without_validation.model.body(), score_by_feature(train.columns(), 5).unwrap());
        let valid_set = ValidationSet::new("valid", &valid);
        let request = request().validation_sets([valid_set]);
        let result = run(&request, 20, Stop::Auto);
        let values: Vec<f64> = result.history.iterations.iter().map(|i| i.values[0][0]).collect();
        let highest = values.iter().copied().fold(0.0, f64::max);
        let best = result.history.best.unwrap();
        assert_eq!(values.iter().position(|v| *v == highest), Some(best - 1));
        assert_eq!(*result.model.body(), score_by_feature(train.columns(), best - 1).unwrap());
        let stopped = run(&request, 20, Stop::After(2)).history.iterations.len();
        assert!(stopped < 20);
        let kept = result.history.kept.as_ref().unwrap();
        assert_eq!((kept.rounds, kept.of), (best, 20));
        let reason = KeptReason::BestOnValidation {
            metric: "ndcg@5".to_owned(),
            set: "valid".to_owned(),
            value: highest,
        };
        assert_eq!(kept.reason, reason);
        let reason = |result: &TrainResult| result.history.kept.clone().unwrap().reason;
        assert_eq!(reason(&without_validation), KeptReason::NoValidation);
        let all = run(&request, 20, Stop::None);
        assert_eq!(*all.model.body(), score_by_feature(train.columns(), 19).unwrap());
        assert_eq!((reason(&all), all.history.best), (KeptReason::AllRequested, Some(best)));
        let last = run_session(&request, 20, Stop::Auto, Session::keeping_last);
        assert_eq!(reason(&last), KeptReason::LastIsResult);
        assert_eq!(*last.model.body(), score_by_feature(train.columns(), 19).unwrap());
        assert_eq!((result.history.unit.as_str(), last.history.best), ("round", Some(best)));
    }

    #[test]
    fn a_resumed_training_gives_the_same_model() {
        let (train, valid) = (data(1), data(2));
        let folder = tempfile::tempdir().unwrap();
        let request = || {
            let valid_set = ValidationSet::new("valid", &valid);
            TrainRequest::new(&train).metrics([measure()]).validation_sets([valid_set])
        };
        let uninterrupted = run(&request(), 12, Stop::Auto);
        let checkpoints = Checkpoints::new(folder.path());
        let progress = StopAfterRounds::new(5);
        let checkpoints = || Some(checkpoints.clone());
        let first = request().progress(&progress).checkpoints(checkpoints());
        let part = run(&first, 12, Stop::Auto);
        assert!(!part.finished);
        assert_eq!(part.history.iterations.len(), 5);
        let second = run(&request().checkpoints(checkpoints()), 12, Stop::Auto);
        assert_eq!(second.model.to_bytes(), uninterrupted.model.to_bytes());
        assert_eq!(second.history.best, uninterrupted.history.best);
        let other = request().checkpoints(checkpoints()).seed(9);
        let error =
            Session::begin(&other, RoundPlan::new("round", 12, &other)).err().unwrap().to_string();
        assert!(error.contains("belongs to a training with other data"), "{error}");
    }

    #[test]
    fn a_folder_belongs_to_one_training_at_a_time() {
        let train = data(1);
        let folder = tempfile::tempdir().unwrap();
        let request = |folder: &std::path::Path| {
            TrainRequest::new(&train).metrics([measure()]).checkpoints(Checkpoints::new(folder))
        };
        let begin =
            |request| Session::begin(request, RoundPlan::new("round", 9, request)).map(drop);
        let (first, second) = (request(folder.path()), request(folder.path()));
        let (session, _) = Session::begin(&first, RoundPlan::new("round", 9, &first)).ok().unwrap();
        let error = begin(&second).unwrap_err();
        assert!(matches!(error, LearnError::CheckpointInUse { .. }), "{error}");
        assert!(error.to_string().contains("another training"), "{error}");
        let checkpoints = Checkpoints::new(folder.path());
        assert!(checkpoints.check_unused().is_err() && checkpoints.remove().is_err());
        drop(session);
        begin(&second).unwrap();
        checkpoints.check_unused().unwrap();
        // A training that saves only when it is cancelled creates no folder at its start.
        let not_created = folder.path().join("not-created");
        let only_cancelled = Checkpoints::new(&not_created).every(std::time::Duration::MAX);
        let request = TrainRequest::new(&train).metrics([measure()]).checkpoints(only_cancelled);
        begin(&request).unwrap();
        assert!(!not_created.exists());
    }

    #[test]
    fn early_stopping_needs_validation_data_and_a_model_needs_a_round() {
        let train = data(1);
        let request = TrainRequest::new(&train).metrics([measure()]);
        let plan = || RoundPlan::new("epoch", 9, &request);
        let error = Session::begin(&request, plan().stop(Stop::After(3))).err().unwrap();
        assert!(matches!(error, LearnError::MissingValidation { .. }), "{error}");
        let (session, _) = Session::begin(&request, plan()).unwrap();
        let error = session.finish(true).unwrap_err().to_string();
        assert!(error.contains("before its first epoch"), "{error}");
    }

    /// A validation set with the name of the training data is not taken for the training data.
    #[test]
    fn a_validation_set_named_training_decides() {
        let (train, valid) = (data(1), data(2));
        let sets = || ["training", "other", "other"].map(|name| ValidationSet::new(name, &valid));
        for evaluates in [false, true] {
            let request = TrainRequest::new(&train)
                .validation_sets(sets())
                .metrics([measure()])
                .evaluate_training(evaluates);
            let history = run_session(&request, 3, Stop::None, |session| session).history;
            assert_eq!(history.deciding_set(), Some(usize::from(evaluates)), "{:?}", history.sets);
            let mut names = history.sets.clone();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), history.sets.len(), "{:?}", history.sets);
        }
    }
}
