//! Squared error after centring each query ("QueryRMSE"): only differences within a query count.
//!
//! ```text
//! r_i = s_i - y_i,  m = weighted mean of r over the query      (s score, y label, w weight)
//! L = 1/2 sum of w_i (r_i - m)^2      gradient w_i (r_i - m)      hessian w_i
//! ```
//!
//! The gradient is exact. The second derivative is w_i (1 - w_i / sum of w); w_i is used as the
//! hessian, which is slightly larger, so that steps are slightly shorter. The loss does not depend
//! on the initial score; the weighted mean of the labels is used, so that scores are on the scale
//! of the labels. Cost O(n). A query of one document has gradient 0.

use rankwright_spec::{SpecError, params};

use super::def::{HessianKind, ObjectiveDef, ObjectiveParams};
use super::{
    Derivatives, Objective, ObjectiveBuffers, QueryView, RelevanceScale, TeacherTerm,
    TrainingDocuments, check_shape, pointwise,
};
use crate::bias::BiasCorrection;
use crate::error::LearnError;

params! {
    /// Parameters of `query-rmse`: none.
    pub struct QueryRmseParams {
    }
}

impl ObjectiveParams for QueryRmseParams {
    const DEF: &'static ObjectiveDef = &ObjectiveDef {
        name: "query-rmse",
        help: "Squared error on the labels, up to a constant for each query.",
        example: "query-rmse",
        hessian: HessianKind::Approximate,
        ..ObjectiveDef::of::<Self>()
    };

    fn build(&self) -> Result<Box<dyn Objective>, SpecError> {
        Ok(Box::new(QueryRmse))
    }
}

/// Half the squared difference between score and label, after subtracting the query's mean
/// difference.
#[derive(Debug, Clone, Copy, Default)]
pub struct QueryRmse;

/// Weighted mean of score - label; 0 if all weights are 0.
fn mean_residual(query: &QueryView<'_>) -> f64 {
    let total = pointwise::weighted_sum(query, |_, _| 1.0);
    if total > 0.0 {
        pointwise::weighted_sum(query, |label, score| score - label) / total
    } else {
        0.0
    }
}

impl Objective for QueryRmse {
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
        let mean = mean_residual(query);
        pointwise::fill_derivatives(query, out, |label, score| (score - label - mean, 1.0))
    }

    fn loss(
        &self,
        query: &QueryView<'_>,
        _buffers: &mut ObjectiveBuffers,
    ) -> Result<Option<f64>, LearnError> {
        let mean = mean_residual(query);
        let half_square = |r: f64| 0.5 * r * r;
        Ok(Some(pointwise::weighted_sum(query, |label, score| half_square(score - label - mean))))
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
