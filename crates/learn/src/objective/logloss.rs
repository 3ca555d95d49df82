//! Binary log-loss: documents are relevant or not (Friedman 2001, section 4.4).
//!
//! ```text
//! y = +1 if label >= rel, else -1
//! L = log(1 + exp(-2 y F))     gradient g = -2y / (1 + exp(2 y F))     hessian |g| (2 - |g|)
//! ```
//!
//! F is the score, `rel` the lowest relevant label. Both derivatives are exact; each is multiplied
//! by the document's weight. The initial score, the constant that minimises the loss, is 1/2
//! log((1 + ybar) / (1 - ybar)), where ybar is the weighted mean of y; if all labels agree, ybar is
//! taken as +-0.999999, which bounds the initial score by 7.3. Cost O(n).

use rankwright_spec::{SpecError, params};

use super::def::{ObjectiveDef, ObjectiveParams};
use super::{
    Derivatives, Objective, ObjectiveBuffers, QueryView, TrainingDocuments, check_shape, pointwise,
};
use crate::error::LearnError;
use crate::exp::{one_minus_sigmoid, softplus};

/// Largest mean of y in the formula of the initial score.
const MAX_MEAN: f64 = 0.999_999;

/// The binary logistic loss.
///
/// ```
/// use rankwright_learn::objective::{TrainingDocuments, LogLoss, Objective};
///
/// let all = TrainingDocuments { labels: &[2.0, 0.0, 1.0, 1.0], weights: &[], scores: &[] };
/// let base = LogLoss::default().prepare(&all)?;
/// assert!((base - 0.5 * 3.0_f64.ln()).abs() < 1e-12);
/// # Ok::<(), rankwright_learn::LearnError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct LogLoss {
    /// Lowest label that counts as relevant.
    pub rel: f64,
}

impl Default for LogLoss {
    fn default() -> Self {
        Self { rel: LogLossParams::default().rel }
    }
}

params! {
    /// Parameters of the binary log-loss.
    pub struct LogLossParams {
        rel: f64 = 1.0, .., "Lowest label that counts as relevant.";
    }
    /// Builder methods for the parameters of the binary log-loss.
    pub trait LogLossOptions: log_loss_params;
}

impl ObjectiveParams for LogLossParams {
    const DEF: &'static ObjectiveDef = &ObjectiveDef {
        name: "logloss",
        help: "Log-loss of binary relevance.",
        example: "logloss(rel=1)",
        ..ObjectiveDef::of::<Self>()
    };

    fn build(&self) -> Result<Box<dyn Objective>, SpecError> {
        Ok(Box::new(LogLoss { rel: self.rel }))
    }
}

impl LogLoss {
    /// y: 1 for a relevant document, -1 for one that is not relevant.
    fn sign(&self, label: f64) -> f64 {
        if label >= self.rel { 1.0 } else { -1.0 }
    }
}

impl Objective for LogLoss {
    fn derivatives(
        &self,
        query: &QueryView<'_>,
        _buffers: &mut ObjectiveBuffers,
        out: &mut Derivatives<'_>,
    ) -> Result<(), LearnError> {
        check_shape(query, out)?;
        pointwise::fill_derivatives(query, out, |label, score| {
            let y = self.sign(label);
            // 1 / (1 + exp(2 y F)): the probability of the wrong class.
            let error_probability = one_minus_sigmoid(2.0 * y * score);
            let gradient = -2.0 * y * error_probability;
            (gradient, 4.0 * error_probability * one_minus_sigmoid(-2.0 * y * score))
        })
    }

    fn loss(
        &self,
        query: &QueryView<'_>,
        _buffers: &mut ObjectiveBuffers,
    ) -> Result<Option<f64>, LearnError> {
        let loss = |label, score: f64| softplus(-2.0 * self.sign(label) * score);
        Ok(Some(pointwise::weighted_sum(query, loss)))
    }

    fn prepare(&mut self, all: &TrainingDocuments<'_>) -> Result<f64, LearnError> {
        pointwise::check_labels(all)?;
        let mean =
            pointwise::weighted_mean(all, |label| self.sign(label)).clamp(-MAX_MEAN, MAX_MEAN);
        Ok(0.5 * ((1.0 + mean) / (1.0 - mean)).ln())
    }
}
