//! Learning from clicks: corrections for the position at which a document was shown.
//!
//! Documents on top of a page are clicked more often because they are seen more often. Each
//! correction is a value of the parameter `bias`, and needs the position of every document of the
//! training data:
//!
//! | value | correction | needs | file |
//! |---|---|---|---|
//! | `gam` | a term for each position is added to the score during training | nothing | `terms.rs` |
//! | `pairwise` | factors of both positions divide the loss | a loss of pairs | `pair_factors.rs` |
//! | `ips` | clicks are divided by the examination of their position | examination | `weights.rs` |
//! | `dr` | labels become estimates of relevance, doubly robust | examination | `doubly_robust.rs` |
//!
//! The examination of a position is the probability, relative to the first position, that a user
//! looks at the document there. `positions.rs` numbers the positions of the data, `examination.rs`
//! holds the examination of positions, `file.rs` reads it from a file, `clicks.rs` holds corrected
//! labels and weights, and `rounds.rs` keeps the factors of learners that train in rounds.
//!
//! Only training knows positions. Scores never depend on them, and neither do metrics on
//! validation data, whose labels count as they are. The factors are in the header of the model.

mod clicks;
mod doubly_robust;
mod examination;
mod file;
mod pair_factors;
mod positions;
mod rounds;
mod terms;
#[cfg(test)]
pub(crate) mod test_support;
#[cfg(test)]
mod tests;
mod weights;

use rankwright_spec::{Conflict, Slashed, SpecError, above, choices, params};

use crate::objective::Objective;

pub(crate) use clicks::{CorrectedClicks, RowClickWeights};
pub use file::BiasFile;
pub use rankwright_data::BiasFileProblem;
pub(crate) use rounds::{ClickCorrection, RoundBias};
pub(crate) use terms::PositionTerms;
pub(crate) use weights::{are_rates, click_factors, corrected_rates, given_factors};

choices! {
    /// The correction of clicks for the position at which a document was shown.
    pub enum BiasCorrection {
        /// None: labels are taken as they are.
        None = "none",
        /// A generalised additive model: the loss is that of the score plus a term for each
        /// position, which is learned together with the score.
        Gam = "gam",
        /// Unbiased LambdaMART (Hu et al. 2019): a factor for each position of the clicked document
        /// of a pair, and one for each position of the other document, both learned.
        Pairwise = "pairwise",
        /// Inverse propensity scores (Joachims, Swaminathan and Schnabel 2017): a click counts by
        /// the inverse of the examination of its position, which is given.
        Ips = "ips",
        /// Doubly robust estimates (Oosterhuis 2023) under the affine model of trust bias
        /// (Vardasbi, Oosterhuis and de Rijke 2020).
        Dr = "dr",
    }
}

params! {
    /// Parameters of the correction of clicks for position bias.
    pub struct BiasParams {
        bias: BiasCorrection = BiasCorrection::None, ..,
            "Correction of clicks for the position at which a document was shown: a term for each \
             position (gam), factors of pairs (pairwise), inverse examination (ips), or doubly \
             robust labels (dr).";
        bias_l2: f64 = 0.0, 0.0..,
            "L2 penalty on the term of a position, for each document shown there.",
            requires "bias=gam";
        bias_norm: f64 = 0.0, 0.0..,
            "Regularisation p of the factors, which are raised to the power 1 / (1 + p).",
            requires "bias=pairwise";
        examination: Option<Slashed<f64>> = None, 0.0..,
            "Examination of the positions from 1 on, such as 1/0.6/0.4; 0: not known.",
            requires "bias=ips|dr";
        click_noise: Option<Slashed<f64>> = None, 0.0..=1.0,
            "Probability of a click on a document that is not relevant, by position from 1 on; \
             none: 0.", requires "bias=dr";
        bias_clip: Option<f64> = None, above(0.0),
            "Smallest examination that is used: smaller ones are raised to it; none: all are used \
             as they are.", requires "bias=ips|dr";
    }
    /// Builder methods for the correction of clicks for position bias.
    pub trait BiasCorrectionOptions: bias_params;
}

/// The conflict of a correction of clicks with several columns of labels.
pub(crate) fn labels_with_bias() -> Conflict {
    Conflict::Incompatible {
        setting: "labels".to_owned(),
        other: "bias".to_owned(),
        reason: "a correction is for one column of labels, the clicks",
    }
}

impl BiasParams {
    /// Rejects a correction that the objective of a learner does not support.
    pub(crate) fn check_objective(
        &self,
        objective: &dyn Objective,
        learner: &str,
    ) -> Result<(), SpecError> {
        match objective.supports_bias(self.bias) {
            true => Ok(()),
            false => Err(self.not_supported(learner)),
        }
    }

    /// Rejects corrections other than these.
    pub(crate) fn check_one_of(
        &self,
        allowed: &[BiasCorrection],
        learner: &str,
    ) -> Result<(), SpecError> {
        match self.bias == BiasCorrection::None || allowed.contains(&self.bias) {
            true => Ok(()),
            false => Err(self.not_supported(learner)),
        }
    }

    fn not_supported(&self, learner: &str) -> SpecError {
        let reason = match self.bias {
            BiasCorrection::None | BiasCorrection::Gam => {
                "its model has no place for a term of each position, as boosted trees and nets have"
            }
            BiasCorrection::Pairwise => {
                "its loss has no pairs of documents, as those of lambdamart, rankmart, ranknet and \
                 lambdarank have, and some of boosting"
            }
            BiasCorrection::Ips => {
                "its loss has no weights of clicks, as those of lambdamart, rankmart, xendcg, mart, \
                 ranksvm, pairwise-logistic, ranknet, lambdarank, listnet and softmax have, and \
                 some of boosting"
            }
            BiasCorrection::Dr => {
                "its loss cannot take estimates of relevance as gains or values of its labels; the \
                 losses of lambdamart and lambdarank (dcg, ndcg), xendcg, mart (squared, \
                 query-rmse, softmax), listnet and softmax can, and some of boosting"
            }
        };
        let setting = format!("bias={}", self.bias.name());
        SpecError::conflict(learner, Conflict::NotSupported { setting, reason })
    }
}
