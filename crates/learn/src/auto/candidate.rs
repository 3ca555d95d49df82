//! A candidate of an automatic training, and its family.

use rankwright_model::Model;

use crate::error::LearnError;
use crate::learner::{LearnerDef, LearnerSpec};

/// A candidate during the choice.
pub(super) struct CandidateLearner {
    /// The spec, as the plan has it.
    pub(super) text: String,
    pub(super) learner: LearnerSpec,
    /// The models of the folds so far.
    pub(super) models: Vec<Model>,
    /// Scores of the rows of tested queries, standardised within each query; 0 elsewhere.
    pub(super) scores: Vec<f64>,
    /// Whether it is dropped: after the first fold, or for lack of time.
    pub(super) is_dropped: bool,
    pub(super) failure: Option<LearnError>,
    /// Seconds of its trainings.
    pub(super) seconds: f64,
}

impl CandidateLearner {
    pub(super) fn new(text: &str, learner: LearnerSpec) -> Self {
        Self {
            text: text.to_owned(),
            learner,
            models: Vec::new(),
            scores: Vec::new(),
            is_dropped: false,
            failure: None,
            seconds: 0.0,
        }
    }

    pub(super) fn is_running(&self) -> bool {
        !self.is_dropped && self.failure.is_none()
    }
}

/// The family of a learner. Members of different families make different errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LearnerFamily {
    Linear,
    BoostedTrees,
    Net,
    Other,
}

impl LearnerFamily {
    pub(super) fn of(learner: &LearnerSpec) -> Self {
        let is_in = |list: &[&LearnerDef]| list.iter().any(|def| def.name == learner.def().name);
        if learner.boosting().is_some() {
            Self::BoostedTrees
        } else if is_in(crate::linear::learners::LEARNERS) {
            Self::Linear
        } else if is_in(crate::net::learners::LEARNERS) {
            Self::Net
        } else {
            Self::Other
        }
    }
}
