//! ListNet's top-one cross entropy (Cao et al., ICML 2007), also called softmax loss.
//!
//! ```text
//! p = softmax of the scores     t = the target distribution     L = -sum of t_i log p_i
//! gradient p_i - t_i            hessian p_i (1 - p_i)
//! ```
//!
//! `target=softmax`, the default, as in the ListNet paper: t is the softmax of the labels.
//! `target=gain`: t is the gains 2^label - 1 divided by their sum; `target=label`: the labels
//! themselves divided by their sum. With the last two, a query whose sum is 0 gives zeros, and a
//! label below 0 counts as 0. The gradient is exact, the hessian is the exact diagonal of the
//! matrix of second derivatives. A document of weight w counts like w copies of it. Queries of 0 or
//! 1 documents give zeros; equal labels pull scores together. Weights of clicks multiply gains;
//! with `target=softmax` the gain is exp(label) - exp(0). The target is then divided by the sum
//! that it has without these weights, so that its own sum T need not be 1; the gradient is
//! T p_i - t_i. Cost O(n).

use rankwright_eval::Gain;

use rankwright_spec::{SpecError, choices, params};

use super::def::{ObjectiveDef, ObjectiveParams};
use super::{
    Derivatives, Objective, ObjectiveBuffers, QueryView, RelevanceScale, TeacherTerm,
    TrainingDocuments,
};
use super::{check_shape, listwise, pointwise};
use crate::bias::BiasCorrection;
use crate::error::LearnError;
use crate::exp::exp;

choices! {
    /// The source of the target distribution.
    pub enum SoftmaxTarget {
        /// Softmax of the labels.
        Softmax = "softmax",
        /// Gains 2^label - 1, divided by their sum.
        Gain = "gain",
        /// Labels, divided by their sum.
        Label = "label",
    }
}

/// Cross entropy between labels and scores, both as distributions over a query's documents.
#[derive(Debug, Clone, Copy, Default)]
pub struct Softmax {
    /// The target distribution.
    pub target: SoftmaxTarget,
}

/// The target and model distributions of a query.
struct Distributions<'w> {
    /// The softmax of the scores.
    model: &'w [f64],
    target: &'w [f64],
    /// The sum of the target: 1 unless there are weights of clicks.
    target_sum: f64,
    /// The denominator of the model's softmax.
    denominator: listwise::LogDenominator,
}

params! {
    /// Parameters of the softmax cross entropy.
    pub struct SoftmaxParams {
        target: SoftmaxTarget = SoftmaxTarget::Softmax, ..,
            "Target distribution of the scores: the softmax of the labels (softmax), their gains \
             2^label - 1 (gain), or the labels (label).";
    }
    /// Builder methods for the parameters of the softmax cross entropy.
    pub trait SoftmaxOptions: softmax_params;
}

impl ObjectiveParams for SoftmaxParams {
    const DEF: &'static ObjectiveDef = &ObjectiveDef {
        name: "softmax",
        help: "Cross entropy between labels and scores as distributions (ListNet).",
        example: "softmax(target=gain)",
        ..ObjectiveDef::of::<Self>()
    };

    fn build(&self) -> Result<Box<dyn Objective>, SpecError> {
        Ok(Box::new(Softmax { target: self.target }))
    }
}

impl Softmax {
    /// Computes the target distribution; returns its sum, which is 1 unless there are weights of
    /// clicks.
    fn target(&self, query: &QueryView<'_>, into: &mut Vec<f64>) -> Result<f64, LearnError> {
        pointwise::require_labels(query)?;
        let gain = match self.target {
            SoftmaxTarget::Softmax => {
                listwise::softmax(query.labels, query.weights, into);
                return Ok(weight_excess(query, into));
            }
            SoftmaxTarget::Gain => Gain::Exp,
            SoftmaxTarget::Label => Gain::Linear,
        };
        into.clear();
        let mut unweighted = 0.0;
        for (row, &label) in query.labels.iter().enumerate() {
            let weight = query.weights.get(row).map_or(1.0, |w| f64::from(*w));
            let gain = weight * gain.of(label)?;
            unweighted += gain;
            into.push(query.gain_weight(row) * gain);
        }
        if query.click_weights.is_some() {
            return Ok(listwise::divide_by_unweighted(into, unweighted));
        }
        listwise::normalise(into);
        Ok(1.0)
    }

    /// Both distributions; `None` if loss and derivatives are 0.
    fn distributions<'w>(
        &self,
        query: &QueryView<'_>,
        buffers: &'w mut ObjectiveBuffers,
    ) -> Result<Option<Distributions<'w>>, LearnError> {
        let [model, target, _] = &mut buffers.numbers;
        let target_sum = self.target(query, target)?;
        let denominator = listwise::softmax(query.scores, query.weights, model);
        let has_loss = query.scores.len() > 1 && target.iter().any(|t| *t > 0.0);
        Ok(has_loss.then_some(Distributions { model, target, target_sum, denominator }))
    }
}

/// Multiplies the part of a softmax of labels that exceeds that of the label 0 by the weights of
/// clicks: w exp(label) becomes w (1 + c (exp(label) - 1)), with c the weight of the click. Returns
/// the sum of the target.
fn weight_excess(query: &QueryView<'_>, target: &mut [f64]) -> f64 {
    if query.click_weights.is_none() {
        return 1.0;
    }
    for (row, (t, label)) in target.iter_mut().zip(query.labels).enumerate() {
        // exp(0) / exp(label)
        let base = exp(-label);
        *t *= base + query.gain_weight(row) * (1.0 - base);
    }
    target.iter().sum()
}

impl Objective for Softmax {
    fn teacher_term(&self) -> TeacherTerm {
        TeacherTerm::SoftList
    }

    fn derivatives(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
        out: &mut Derivatives<'_>,
    ) -> Result<(), LearnError> {
        check_shape(query, out)?;
        match self.distributions(query, buffers)? {
            None => listwise::write_derivatives(query, out, |_| (0.0, 0.0)),
            Some(Distributions { model: p, target: t, target_sum: sum, .. }) => {
                listwise::write_derivatives(query, out, |i| {
                    (sum * p[i] - t[i], sum * p[i] * (1.0 - p[i]))
                })
            }
        }
    }

    fn loss(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
    ) -> Result<Option<f64>, LearnError> {
        let found = self.distributions(query, buffers)?;
        Ok(Some(found.map_or(0.0, |d| listwise::cross_entropy(query, d.target, d.denominator))))
    }

    fn supports_bias(&self, bias: BiasCorrection) -> bool {
        bias != BiasCorrection::Pairwise
    }

    fn relevance_scale(&self) -> Option<RelevanceScale> {
        Some(match self.target {
            SoftmaxTarget::Softmax => RelevanceScale::Natural,
            SoftmaxTarget::Gain => RelevanceScale::Exponential,
            SoftmaxTarget::Label => RelevanceScale::Linear,
        })
    }

    fn prepare(&mut self, all: &TrainingDocuments<'_>) -> Result<f64, LearnError> {
        pointwise::check_labels(all)?;
        // Only the largest label can be too large for a gain.
        if self.target == SoftmaxTarget::Gain {
            Gain::Exp.of(all.labels.iter().copied().fold(0.0, f64::max))?;
        }
        Ok(0.0)
    }
}
