//! Progress of the trainings within a task, and their cancellation.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rankwright_learn::{LearnError, LearnerSpec, MemberStart, Progress, TrainingHistory};

use crate::tasks::Context;

/// Receives progress events of the trainings of a task.
pub trait TrainingProgress: Progress {
    /// Called before a training of a learner on this many rows; `checkpoint` is the file it would
    /// save to.
    fn begin(&self, _learner: &LearnerSpec, _rows: usize, _checkpoint: Option<&Path>) {}

    /// Called after a training, successful or not.
    fn end(&self) {}
}

/// A training in progress, until this is dropped: forwards events to the caller, and checks the
/// caller's flag.
pub(in crate::tasks) struct ForwardedProgress<'a> {
    context: &'a Context<'a>,
    /// The reason of the last failure to write a checkpoint; a later success does not remove it.
    failed: Mutex<Option<String>>,
}

impl<'a> ForwardedProgress<'a> {
    /// Begins a training of a learner on this many rows; `checkpoint` is the file it would save to.
    pub(in crate::tasks) fn begin(
        context: &'a Context<'a>,
        learner: &LearnerSpec,
        rows: usize,
        checkpoint: Option<&Path>,
    ) -> Self {
        if let Some(inner) = context.training {
            inner.begin(learner, rows, checkpoint);
        }
        ForwardedProgress { context, failed: Mutex::default() }
    }

    /// The reason of the last failure to write a checkpoint; none if all could be written.
    pub(in crate::tasks) fn take_failed_checkpoint(&self) -> Option<String> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for ForwardedProgress<'_> {
    fn drop(&mut self) {
        if let Some(inner) = self.context.training {
            inner.end();
        }
    }
}

impl Progress for ForwardedProgress<'_> {
    fn started(&self, history: &TrainingHistory, done: usize) {
        if let Some(inner) = self.context.training {
            inner.started(history, done);
        }
    }

    fn member_started(&self, member: &MemberStart<'_>) {
        if let Some(inner) = self.context.training {
            inner.member_started(member);
        }
    }

    fn round_finished(&self, history: &TrainingHistory) {
        if let Some(inner) = self.context.training {
            inner.round_finished(history);
        }
    }

    fn checkpoint_failed(&self, error: &LearnError) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        *failed = Some(error.to_string());
        if let Some(inner) = self.context.training {
            inner.checkpoint_failed(error);
        }
    }

    fn should_stop(&self) -> bool {
        let inner = self.context.training.is_some_and(|inner| inner.should_stop());
        inner || self.context.is_cancelled()
    }
}
