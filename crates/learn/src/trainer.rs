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

    /// Whether the learner can train on preference pairs.
    fn accepts_pairs(&self) -> bool {
        false
    }

    /// Files that the learner reads besides its data, such as the member models of a blend.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Whether the learner can add to a start model.
    fn accepts_start_model(&self) -> bool {
        false
    }

    /// Whether several processes that each hold some of the queries can train one model together,
    /// by exchanging sums through [`TrainRequest::collective`].
    fn is_distributed(&self) -> bool {
        false
    }

    /// The largest number of rounds and the word for one round ("epoch", "tree"), for progress bars
    /// and checkpoints; `None` if the learner has no rounds.
    fn rounds(&self) -> Option<(usize, &'static str)> {
        None
    }

    /// The use of validation data in training, besides evaluation.
    fn validation(&self) -> ValidationUse {
        ValidationUse::Ignored
    }

    /// The number of queries whose pairs are sampled because they have many documents.
    fn queries_with_sampled_pairs(&self, _data: &Dataset) -> usize {
        0
    }

    /// The parameters of boosting; `None` for learners that do not boost trees by gradients.
    fn boosting(&self) -> Option<&BoostParams> {
        None
    }

    /// The model of a learner that needs no training data (a linear model of given weights); `None`
    /// if the learner needs data.
    fn model_without_data(&self) -> Option<Result<Model, LearnError>> {
        None
    }
}

/// The use of validation data by a learner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValidationUse {
    /// Validation data does not change the model.
    Ignored,
    /// If validation data is given, the round that is best on it is kept. Without validation data,
    /// all rounds on all queries give about as good a model, so a blend of equal weights holds no
    /// queries out for such a learner.
    BestRound,
    /// If validation data is given, it selects the model; a blend holds queries out for such a
    /// learner.
    ModelChoice,
    /// Training without validation data is an error.
    Required,
}

impl ValidationUse {
    /// The use of validation data by learners that add up many small rounds, such as boosted trees;
    /// `rounds` is their largest number of rounds.
    pub(crate) fn of_rounds(stop: Stop, rounds: usize) -> Self {
        match stop {
            Stop::Auto if rounds > 1 => ValidationUse::BestRound,
            Stop::Auto | Stop::None => ValidationUse::Ignored,
            Stop::After(_) => ValidationUse::Required,
        }
    }

    /// The use of validation data by learners that choose among whole models, such as nets.
    pub(crate) fn of_model_choice(stop: Stop) -> Self {
        match stop {
            Stop::Auto => ValidationUse::ModelChoice,
            Stop::None => ValidationUse::Ignored,
            Stop::After(_) => ValidationUse::Required,
        }
    }
}
