//! The trait of learners with checked parameters.

use std::fmt::Debug;
use std::path::PathBuf;

use rankwright_data::Dataset;
use rankwright_model::Model;

use crate::boost::BoostParams;
use crate::error::LearnError;
use crate::session::{Stop, TrainRequest, TrainResult};

/// A learner with checked parameters, ready to train. [`train`](Self::train) is called at most once
/// on a trainer; it may use up its state.
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

    /// Whether the learner can learn from the scores of a teacher ([`TrainRequest::teacher`]).
    fn accepts_teacher(&self) -> bool {
        false
    }

    /// Whether several processes that each hold some of the queries can train one model together,
    /// by exchanging sums through [`TrainRequest::collective`].
    fn supports_distributed(&self) -> bool {
        false
    }

    /// The largest number of rounds and the word for one round ("epoch", "tree"), for progress bars
    /// and checkpoints; `None` if the learner has no rounds.
    fn rounds(&self) -> Option<(usize, &'static str)> {
        None
    }

    /// The use of validation data in training, besides evaluation.
    fn validation_use(&self) -> ValidationUse {
        ValidationUse::Ignored
    }

    /// The number of queries whose pairs are sampled because they have many documents.
    fn queries_with_sampled_pairs(&self, _data: &Dataset) -> usize {
        0
    }

    /// The largest number of leaves that all trees of the model together can have; 0 for learners
    /// without trees.
    fn max_leaves(&self) -> u64 {
        0
    }

    /// The minimum number of rows in a leaf, for training data of this many rows; `None` for
    /// learners without such a limit.
    fn min_rows(&self, _rows: u64) -> Option<u64> {
        None
    }

    /// The parameters of boosting, if the learner boosts trees by gradients: rounds of such a
    /// learner only add to the model, so that tuning can continue a training. `None` for other
    /// learners.
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
    /// If validation data is given, the round that is best on it is kept. It is optional: training
    /// all rounds on all queries gives about as good a model as choosing the round on held-out
    /// queries. A blend with `weights=equal` therefore holds out no queries for such a learner.
    BestRound,
    /// If validation data is given, the model of the round that is best on it is chosen, and this
    /// matters: the last round may be much worse. A blend therefore holds out queries for such a
    /// learner.
    ModelChoice,
    /// Training without validation data is an error.
    Required,
}

impl ValidationUse {
    /// The use of validation data by learners that add up many small rounds, such as boosted trees;
    /// `rounds` is the largest number of rounds. With one round there is nothing to choose.
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
