//! Shared code of the tests of trainings that are interrupted.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Progress, TrainingHistory};

/// Cancels a training when it has finished a number of rounds since it was started or resumed.
pub(crate) struct StopAfterRounds {
    rounds: usize,
    finished: AtomicUsize,
}

impl StopAfterRounds {
    pub(crate) fn new(rounds: usize) -> Self {
        Self { rounds, finished: AtomicUsize::new(0) }
    }
}

impl Progress for StopAfterRounds {
    fn round_finished(&self, _history: &TrainingHistory) {
        self.finished.fetch_add(1, Ordering::Relaxed);
    }

    fn should_stop(&self) -> bool {
        self.finished.load(Ordering::Relaxed) >= self.rounds
    }
}
