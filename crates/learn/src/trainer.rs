//! What every learner but boosted trees is: parameters that were read, and a way to train.

use std::fmt::Debug;

use rankwright_data::Dataset;
use rankwright_eval::{MetricSpec, Params};
use rankwright_spec::SpecError;

use crate::error::LearnError;
use crate::session::{TrainRequest, TrainResult};

/// A learner that is not boosted trees, with its parameters read.
pub(crate) trait Trainer: Debug + Send + Sync {
    /// Trains. The request has rows, no start model, and preference pairs only where
    /// [`takes_pairs`](Self::takes_pairs) says so; that is seen to by the caller.
    fn train(&self, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError>;

    /// What is made small, as a spec, for the model's header.
    fn objective(&self) -> String;

    /// Whether it learns from preference pairs.
    fn takes_pairs(&self) -> bool {
        false
    }

    /// Session at most, and what they are called ("epoch", "round", "tree"), for progress bars and
    /// checkpoints; `None`: no rounds worth a bar.
    fn rounds(&self) -> Option<(usize, &'static str)> {
        None
    }

    /// What it does with validation data besides being measured on it.
    fn validation(&self) -> Validation {
        Validation::Ignored
    }

    /// How many queries have so many documents that their pairs are sampled.
    fn sampled_queries(&self, _data: &Dataset) -> usize {
        0
    }
}

/// What validation data is to a learner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Validation {
    /// It changes nothing in the model.
    Ignored,
    /// The model is chosen by it where it is given.
    Welcome,
    /// Training is refused without it.
    Needed,
}

/// Reads the parameters of a learner; the metric is what it aims at.
pub(crate) type ReadTrainer =
    fn(&Params<'_>, &MetricSpec) -> Result<std::sync::Arc<dyn Trainer>, SpecError>;
