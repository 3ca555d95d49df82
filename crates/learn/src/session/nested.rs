//! Trainings within a training: the members of a blend, the bags of bagging, or the candidates of
//! an automatic choice, which are all called members here.
//!
//! In progress events and the history, a member is a round: after it is trained, the history has
//! its metrics on the validation data. Checkpoints of each member go to a folder below that of the
//! outer training, `member-1` and so on, and the finished model of a member goes to the folder
//! `done` below that, with a fingerprint of its data and its request. A resumed training reads
//! finished members from there and resumes the member that was interrupted. If regular checkpoints
//! were not requested, finished models are written only when training is cancelled.

use std::time::{Duration, Instant};

use rankwright_data::Dataset;
use rankwright_data::store::FolderLock;
use rankwright_model::{Model, ModelBody};

use super::checkpoint::{
    CheckpointSaver, CheckpointState, Checkpoints, NOTE_KEY, fingerprint, load,
};
use super::history::{Iteration, PhaseSeconds, TrainingHistory};
use super::progress::{MemberStart, Progress};
use super::request::{TrainRequest, TrainResult};
use super::rounds::{empty_history, evaluation_text, header, metric_values, result_of};
use crate::error::LearnError;
use crate::learner::LearnerSpec;

/// The outer training and its history.
pub(crate) struct NestedTraining<'a> {
    request: &'a TrainRequest<'a>,
    history: TrainingHistory,
    started: Instant,
    /// Seconds that members took before this training was resumed.
    earlier_seconds: f64,
    /// Finished models that are not written yet.
    pending: Vec<PendingModel>,
    /// Number of trainings that are planned in all, for progress events.
    pub(crate) planned: Option<usize>,
    /// The candidates of an automatic choice so far, each with its metric on the first fold, the
    /// best one first, for progress events.
    pub(crate) leaders: Vec<(String, f64)>,
    /// Keeps other trainings out of the checkpoint folder.
    _lock: Option<FolderLock>,
}

/// A finished model that is not written yet.
struct PendingModel {
    checkpoints: Checkpoints,
    fingerprint: u64,
    model: Model,
    /// Seconds of its training.
    seconds: f64,
}

/// Forwards a member's checkpoint errors and stop requests to the outer training's progress.
struct MemberProgress<'a>(&'a dyn Progress);

impl Progress for MemberProgress<'_> {
    fn checkpoint_failed(&self, error: &LearnError) {
        self.0.checkpoint_failed(error);
    }

    fn should_stop(&self) -> bool {
        self.0.should_stop()
    }
}

impl<'a> NestedTraining<'a> {
    /// Starts the outer training; `unit` is the word for one member in the history.
    pub(crate) fn begin(request: &'a TrainRequest<'a>, unit: &str) -> Result<Self, LearnError> {
        let lock = match &request.checkpoints {
            Some(checkpoints) => checkpoints.lock_at_start()?,
            None => None,
        };
        let history = TrainingHistory { unit: unit.to_owned(), ..empty_history(request) };
        let is_finished = |number: &usize| {
            request
                .checkpoints
                .as_ref()
                .is_some_and(|c| c.member(*number).finished_member().file().exists())
        };
        request.progress.started(&history, (0..).take_while(is_finished).count());
        Ok(Self {
            request,
            history,
            started: Instant::now(),
            earlier_seconds: 0.0,
            pending: Vec::new(),
            planned: None,
            leaders: Vec::new(),
            _lock: lock,
        })
    }

    /// A request for a member on this training data, with the validation sets, the metrics, the
    /// seed and other options of the outer request, but without its checkpoints and start model.
    pub(crate) fn request<'b>(&self, train: &'b Dataset) -> TrainRequest<'b>
    where
        'a: 'b,
    {
        TrainRequest::new(train)
            .validation_sets(self.request.valid.clone())
            .metrics(self.request.metrics.clone())
            .seed(self.request.seed)
            .features(self.request.features)
            .progress(self.request.progress)
            .simd(self.request.simd)
            .collective(self.request.collective)
    }

    /// Trains the next member, or reads it from its checkpoint. The returned bool is false if
    /// training was cancelled.
    pub(crate) fn train(
        &mut self,
        learner: &LearnerSpec,
        request: TrainRequest<'_>,
    ) -> Result<(Model, bool), LearnError> {
        let text = learner.to_string();
        let member = MemberStart { learner: &text, planned: self.planned, leaders: &self.leaders };
        self.request.progress.member_started(&member);
        let member_progress = MemberProgress(self.request.progress);
        let request = request.progress(&member_progress);
        let started = Instant::now();
        let (model, finished, seconds) = self.train_or_load(learner, request)?;
        self.earlier_seconds += (seconds - started.elapsed().as_secs_f64()).max(0.0);
        if finished {
            self.add_to_history(&model, seconds)?;
        }
        // A finished member has no checkpoint of its own to resume from, so if training is cancelled,
        // finished members are written now.
        if !finished || self.request.progress.should_stop() {
            self.write_pending();
        }
        Ok((model, finished))
    }

    /// Number of trainings so far.
    pub(crate) fn done(&self) -> usize {
        self.history.iterations.len()
    }

    /// Seconds of all trainings so far; a training that was read from its checkpoint counts those
    /// that it took then.
    pub(crate) fn seconds(&self) -> f64 {
        self.history.iterations.iter().map(|member| member.seconds.learn).sum()
    }

    /// Like [`train`](Self::train), without the history; also returns the seconds of the training.
    fn train_or_load(
        &mut self,
        learner: &LearnerSpec,
        mut request: TrainRequest<'_>,
    ) -> Result<(Model, bool, f64), LearnError> {
        let started = Instant::now();
        let Some(outer) = &self.request.checkpoints else {
            let result = learner.train(request)?;
            return Ok((result.model, result.finished, started.elapsed().as_secs_f64()));
        };
        let member = outer.member(self.history.iterations.len());
        let finished_checkpoints = member.finished_member();
        let request_text = format!("member {learner} {}", evaluation_text(&request));
        let own_fingerprint = fingerprint(request.train, &request_text);
        if let Some((model, state)) = load(&finished_checkpoints.file(), own_fingerprint)? {
            return Ok((without_note(model)?, true, state.train_seconds));
        }
        request.checkpoints = learner.rounds().map(|_| member);
        let result = learner.train(request)?;
        // A member that was resumed counts what it took before, too.
        let seconds = started.elapsed().as_secs_f64().max(result.history.train_seconds);
        if result.finished {
            self.pending.push(PendingModel {
                checkpoints: finished_checkpoints,
                fingerprint: own_fingerprint,
                model: result.model.clone(),
                seconds,
            });
            if outer.every_rounds > 0 || outer.every < Duration::MAX {
                self.write_pending();
            }
        }
        Ok((result.model, result.finished, seconds))
    }

    /// Evaluates a trained or read member and adds it to the history; `seconds` is the time that it
    /// took.
    pub(crate) fn add_to_history(&mut self, model: &Model, seconds: f64) -> Result<(), LearnError> {
        self.history.iterations.push(Iteration {
            number: self.history.iterations.len() + 1,
            leaves: None,
            loss: None,
            step: None,
            values: metric_values(self.request, model)?,
            seconds: PhaseSeconds { learn: seconds, ..PhaseSeconds::default() },
        });
        self.history.train_seconds = self.elapsed_seconds();
        self.request.progress.round_finished(&self.history);
        Ok(())
    }

    /// Writes the finished models that are not written yet.
    fn write_pending(&mut self) {
        for pending in self.pending.drain(..) {
            let PendingModel { checkpoints, fingerprint, model, seconds } = pending;
            let state = CheckpointState::finished(fingerprint, seconds);
            if let Err(error) = CheckpointSaver::new(&checkpoints, 0).save(model, &state, 0) {
                // Training goes on: the model is still in memory.
                self.request.progress.checkpoint_failed(&error);
            }
        }
    }

    /// Seconds of the outer training, with what members took before it was resumed.
    fn elapsed_seconds(&self) -> f64 {
        self.earlier_seconds + self.started.elapsed().as_secs_f64()
    }

    /// The result of the outer training.
    pub(crate) fn finish(self, body: ModelBody, finished: bool) -> Result<TrainResult, LearnError> {
        let seconds = self.elapsed_seconds();
        let mut history = self.history;
        history.train_seconds = seconds;
        result_of(header(self.request), body, history, finished)
    }
}

/// The model without the checkpoint's note in its header.
fn without_note(model: Model) -> Result<Model, LearnError> {
    let (mut header, body) = model.into_parts();
    header.notes.remove(NOTE_KEY);
    Ok(Model::new(header, body)?)
}
