//! Squared error on the labels: MART (Friedman 2001), regression on grades.
//!
//! ```text
//! L = 1/2 sum of w (s - y)^2      gradient w (s - y)      hessian w
//! ```
//!
//! The sum is over documents; s is the score, y the label, w the weight of a document. Both
//! derivatives are exact. The initial score, the constant that minimises the loss, is the weighted
//! mean of the labels, 0 if there are no rows or all weights are 0. Cost O(n). The division of
//! documents into queries has no effect.

use rankwright_spec::{SpecError, params};

use super::def::{ObjectiveDef, ObjectiveParams};
use super::{
    Derivatives, Objective, ObjectiveBuffers, QueryView, RelevanceScale, TeacherTerm,
    TrainingDocuments, check_shape, pointwise,
};
use crate::bias::BiasCorrection;
use crate::error::LearnError;

params! {
    /// Parameters of `squared`: none.
    pub struct SquaredParams {
    }
}

impl ObjectiveParams for SquaredParams {
    const DEF: &'static ObjectiveDef = &ObjectiveDef {
        name: "squared",
        help: "Squared error on the labels.",
        example: "squared",
        ..ObjectiveDef::of::<Self>()
    };

    fn build(&self) -> Result<Box<dyn Objective>, SpecError> {
        Ok(Box::new(Squared))
    }
}

/// Half the squared difference between score and label.
///
/// ```
/// use rankwright_learn::objective::{TrainingDocuments, Objective, Squared};
///
/// let all = TrainingDocuments { labels: &[1.0, 2.0, 6.0], weights: &[], scores: &[] };
/// assert_eq!(Squared.prepare(&all)?, 3.0);
/// # Ok::<(), rankwright_learn::LearnError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Squared;

impl Objective for Squared {
    fn teacher_term(&self) -> TeacherTerm {
        TeacherTerm::SoftLabels
    }

    fn derivatives(
        &self,
        query: &QueryView<'_>,
        _buffers: &mut ObjectiveBuffers,
        out: &mut Derivatives<'_>,
    ) -> Result<(), LearnError> {
        check_shape(query, out)?;
        pointwise::fill_derivatives(query, out, |label, score| (score - label, 1.0))
    }

    fn loss(
        &self,
        query: &QueryView<'_>,
        _buffers: &mut ObjectiveBuffers,
    ) -> Result<Option<f64>, LearnError> {
        Ok(Some(pointwise::weighted_sum(query, |label, score| {
            0.5 * (score - label) * (score - label)
        })))
    }

    fn supports_bias(&self, bias: BiasCorrection) -> bool {
        bias != BiasCorrection::Pairwise
    }

    fn relevance_scale(&self) -> Option<RelevanceScale> {
        Some(RelevanceScale::Signed)
    }

    fn prepare(&mut self, all: &TrainingDocuments<'_>) -> Result<f64, LearnError> {
        pointwise::check_labels(all)?;
        Ok(pointwise::weighted_mean(all, |label| label))
    }
}
