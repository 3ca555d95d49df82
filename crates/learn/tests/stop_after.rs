//! Interruption of a training, for tests that resume it.

use std::sync::atomic::{AtomicUsize, Ordering};

use rankwright_learn::{Progress, TrainingHistory};

/// Stops a training when it has a number of trees, those of the checkpoint it resumed included.
pub(crate) struct StopAfter {
    trees: usize,
    trees_done: AtomicUsize,
}

impl StopAfter {
    pub(crate) fn new(trees: usize) -> Self {
        Self { trees, trees_done: AtomicUsize::new(0) }
    }

    /// The number of trees when the last round ended.
    pub(crate) fn trees_done(&self) -> usize {
        self.trees_done.load(Ordering::Relaxed)
    }
}

impl Progress for StopAfter {
    fn round_finished(&self, history: &TrainingHistory) {
        self.trees_done.store(history.iterations.len(), Ordering::Relaxed);
    }

    fn should_stop(&self) -> bool {
        self.trees_done() >= self.trees
    }
}
