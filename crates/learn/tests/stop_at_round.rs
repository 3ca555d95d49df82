//! Interruption of a training, for tests that resume it.

use std::sync::atomic::{AtomicUsize, Ordering};

use rankwright_learn::{Progress, TrainingHistory};

/// Cancels a training when its history has a number of rounds, those before a resumption included.
pub(crate) struct StopAtRound {
    rounds: usize,
    rounds_done: AtomicUsize,
}

impl StopAtRound {
    pub(crate) fn new(rounds: usize) -> Self {
        Self { rounds, rounds_done: AtomicUsize::new(0) }
    }

    /// The number of rounds in the history.
    pub(crate) fn rounds_done(&self) -> usize {
        self.rounds_done.load(Ordering::Relaxed)
    }
}

impl Progress for StopAtRound {
    fn round_finished(&self, history: &TrainingHistory) {
        self.rounds_done.store(history.iterations.len(), Ordering::Relaxed);
    }

    fn should_stop(&self) -> bool {
        self.rounds_done() >= self.rounds
    }
}
