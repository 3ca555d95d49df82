//! The trait of learners with checked parameters.

use std::fmt::Debug;
use std::path::PathBuf;

use rankwright_data::Dataset;
use rankwright_model::Model;

use crate::boost::BoostParams;
use crate::error::LearnError;
use crate::session::{Stop, TrainRequest, TrainResult};

/// A learner with checked parameters, ready to train once.
pub trait Trainer: Debug + Send + Sync {
    /// Trains a model. The caller has checked that the request has rows, that it has a start model
    /// and preference pairs only if the trainer supports them, and that it has validation data if
    /// the trainer needs some.
    fn train(&mut self, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError>;

    /// The objective as a spec, for the model's header.
    fn objective(&self) -> String;

    /// Whether it learns from preference pairs.
    fn accepts_pairs(&self) -> bool {
        false
    }

    /// Files that it reads besides its data.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Whether it can start from a model.
    fn accepts_start(&self) -> bool {
        false
    }

    /// The largest number of rounds and the name of a round ("epoch", "tree"), for progress bars
    /// and checkpoints; `None` if it has no rounds.
    fn rounds(&self) -> Option<(usize, &'static str)> {
        None
    }

    /// The use of validation data in training, besides evaluation.
    fn validation(&self) -> Validation {
        Validation::Ignored
    }

    /// The number of queries whose pairs are sampled because they have many documents.
    fn sampled_queries(&self, _data: &Dataset) -> usize {
        0
    }

    /// The parameters of boosting; `None` for learners that do not boost trees by gradients.
    fn boosting(&self) -> Option<&BoostParams> {
        None
    }

    /// The model of a learner that needs no data: a linear model of given weights.
    fn without_data(&self) -> Option<Result<Model, LearnError>> {
        None
    }
}

/// The use of validation data by a learner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Validation {
    /// It does not change the model.
    Ignored,
    /// The best round is kept if it is given; training on all queries without it is as good a
    /// choice, so that a blend of equal weights does not hold queries out for it.
    IfGiven,
    /// The model is selected by it if it is given; a blend holds queries out for it.
    Optional,
    /// Training without it is an error.
    Required,
}

impl Validation {
    /// The use of validation data by learners of this many small rounds, such as boosted trees.
    pub(crate) fn of_rounds(stop: Stop, rounds: usize) -> Self {
        match stop {
            Stop::Auto if rounds > 1 => Validation::IfGiven,
            Stop::Auto | Stop::None => Validation::Ignored,
            Stop::After(_) => Validation::Required,
        }
    }

    /// The use of validation data by learners that choose among whole models, such as nets.
    pub(crate) fn of_choice(stop: Stop) -> Self {
        match stop {
            Stop::Auto => Validation::Optional,
            Stop::None => Validation::Ignored,
            Stop::After(_) => Validation::Required,
        }
    }
}
