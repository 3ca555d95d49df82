//! Shared code of the tests of trainings that are interrupted.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::Progress;

/// Cancels a training after a number of rounds; `should_stop` is called once a round.
pub(crate) struct StopAtCall {
    rounds: usize,
    calls: AtomicUsize,
}

impl StopAtCall {
    pub(crate) fn after(rounds: usize) -> Self {
        Self { rounds, calls: AtomicUsize::new(0) }
    }
}

impl Progress for StopAtCall {
    fn should_stop(&self) -> bool {
        self.calls.fetch_add(1, Ordering::Relaxed) + 1 >= self.rounds
    }
}
