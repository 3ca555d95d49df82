//! Progress events of a training, and its cancellation.

use std::sync::atomic::{AtomicBool, Ordering};

use super::history::TrainingHistory;
use crate::error::LearnError;

/// Receives progress events of a training, and may cancel it.
///
/// An [`AtomicBool`] is the simplest implementation: set it from another thread, and the training
/// stops after the current round.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use rankwright_data::generate::LetorOptions;
/// use rankwright_learn::{LearnerSpec, TrainRequest};
///
/// let data = LetorOptions { queries: 10, documents: 20, seed: 1 }.generate()?;
/// let cancelled = AtomicBool::new(true);
/// let request = TrainRequest::new(&data).progress(&cancelled);
/// let result = LearnerSpec::parse("mart(trees=50)")?.train(request)?;
/// assert!(!result.finished);
/// assert_eq!(result.history.iterations.len(), 1);
/// # Ok::<(), rankwright_learn::LearnError>(())
/// ```
pub trait Progress: Sync {
    /// Called before the first round; `done` rounds were restored from a checkpoint.
    fn started(&self, _history: &TrainingHistory, _done: usize) {}

    /// Called before each training within a training, such as a member of a blend or a candidate of
    /// an automatic choice.
    fn member_started(&self, _member: &MemberStart<'_>) {}

    /// Called after every round.
    fn round_finished(&self, _history: &TrainingHistory) {}

    /// Called when a checkpoint could not be written. Training continues, unless it was being
    /// cancelled: then the model is only in the returned result, not in a file.
    fn checkpoint_failed(&self, _error: &LearnError) {}

    /// Whether to stop now; called after every round, and within long rounds.
    fn should_stop(&self) -> bool {
        false
    }
}

/// The beginning of a training within a training.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct MemberStart<'a> {
    /// The learner as a spec.
    pub learner: &'a str,
    /// Number of trainings that are planned in all, this one and those before it included; `None`
    /// if it is not known.
    pub planned: Option<usize>,
    /// The candidates of an automatic choice so far with their values, the best one first.
    pub leaders: &'a [(String, f64)],
}

/// Ignores progress events and never cancels.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {}

impl Progress for AtomicBool {
    fn should_stop(&self) -> bool {
        self.load(Ordering::Relaxed)
    }
}
