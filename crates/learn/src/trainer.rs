//! The trait of learners whose parameters are checked and ready to train.

use std::fmt::Debug;

use rankwright_data::Dataset;
use rankwright_model::Model;

use crate::boost::BoostParams;
use crate::error::LearnError;
use crate::session::{TrainRequest, TrainResult};

/// A learner with checked parameters, ready to train once.
pub trait Trainer: Debug + Send + Sync {
    /// Trains. The caller has seen to it that the request has rows, a start model and preference
    /// pairs only where the trainer takes them, and validation data where it needs some.
    fn train(&mut self, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError>;

    /// The objective as a spec, for the model's header.
    fn objective(&self) -> String;

    /// Whether it learns from preference pairs.
    fn takes_pairs(&self) -> bool {
        false
    }

    /// Whether it can start from a model.
    fn takes_start(&self) -> bool {
        false
    }

    /// The most rounds and the name of a round ("epoch", "tree"), for progress bars and
    /// checkpoints; `None`: it has no rounds.
    fn rounds(&self) -> Option<(usize, &'static str)> {
        None
    }

    /// The use of validation data besides being evaluated on it.
    fn validation(&self) -> Validation {
        Validation::Ignored
    }

    /// The number of queries that have so many documents that their pairs are sampled.
    fn sampled_queries(&self, _data: &Dataset) -> usize {
        0
    }

    /// The parameters of boosting, of learners that boost trees by gradients.
    fn boosting(&self) -> Option<&BoostParams> {
        None
    }

    /// The model that needs no data: a linear model of given weights.
    fn without_data(&self) -> Option<Result<Model, LearnError>> {
        None
    }
}

/// The use of validation data by a learner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Validation {
    /// It changes nothing in the model.
    Ignored,
    /// The model is chosen by it where it is given.
    Optional,
    /// Training is refused without it.
    Required,
}
