//! Linear learners, a file each.

mod linear_svm;
mod logistic;
mod ordinal;
mod pairwise_logistic;
mod ranksvm;
mod regression;

use rankwright_spec::choices;

use super::loss::MarginLoss;

pub use linear_svm::{LinearSvm, LinearSvmOptions, LinearSvmParams};
pub use logistic::{LogisticRegression, LogisticRegressionOptions, LogisticRegressionParams};
pub use ordinal::{OrdinalRegression, OrdinalRegressionOptions, OrdinalRegressionParams};
pub use pairwise_logistic::{PairwiseLogistic, PairwiseLogisticOptions, PairwiseLogisticParams};
pub use ranksvm::{RankSvm, RankSvmOptions, RankSvmParams};
pub use regression::{LinearRegression, LinearRegressionOptions, LinearRegressionParams};

crate::learner::learners![
    RankSvm,
    PairwiseLogistic,
    LinearRegression,
    LogisticRegression,
    LinearSvm,
    OrdinalRegression
];

choices! {
    /// A loss of margins: the hinge, or its square.
    pub enum Hinge {
        /// The squared hinge.
        Squared = "squared-hinge",
        /// The hinge, smoothed over a width of 0.04 where it has no derivative.
        Hinge = "hinge",
    }
}

impl Hinge {
    /// The margin loss; the hinge starts with a smoothing width of 1, which becomes smaller during
    /// training.
    fn margin_loss(self) -> MarginLoss {
        match self {
            Self::Squared => MarginLoss::Squared,
            Self::Hinge => MarginLoss::Hinge(1.0),
        }
    }
}
