//! Smooth convex losses of the scores of linear models, computed one query at a time.
//!
//! A loss gives its value and gradient, and then, any number of times, the product of its hessian
//! with a direction: all that Newton's method with conjugate gradients needs. Feature values,
//! threads and the penalty are handled once, in `problem.rs`.

use crate::exp::{one_minus_sigmoid, sigmoid, softplus};

/// A point at which a loss is evaluated, or a direction in which it changes: the scores of a
/// query's documents, and the parameters other than the weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct LossPoint<'a> {
    pub(super) scores: &'a [f64],
    /// The parameters other than the weights: an intercept, thresholds.
    pub(super) extra_parameters: &'a [f64],
}

/// Buffers of a gradient, or of a product with the hessian: by each score (to be set), and by the
/// extra parameters (to be added to).
#[derive(Debug)]
pub(super) struct Gradient<'a> {
    pub(super) scores: &'a mut [f64],
    pub(super) extra_parameters: &'a mut [f64],
}

/// A smooth, convex loss that is a sum over queries.
pub(super) trait ConvexLoss: Sync {
    /// Values that a query keeps from `value` for `hessian_product`.
    type Cache: Default + Send;

    /// Start values of the parameters other than the weights (an intercept, thresholds).
    fn extra_parameters(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Returns the loss of a query and sets its gradient. The loss is infinite outside its domain.
    fn value(
        &self,
        query: usize,
        point: LossPoint<'_>,
        cache: &mut Self::Cache,
        gradient: Gradient<'_>,
    ) -> f64;

    /// Sets `product` to the product of the hessian at the point of the last call of `value` and a
    /// direction.
    fn hessian_product(
        &self,
        query: usize,
        direction: LossPoint<'_>,
        cache: &mut Self::Cache,
        product: Gradient<'_>,
    );

    /// Widths over which a loss that is not differentiable everywhere is smoothed (see
    /// [`MarginLoss`]). They are used one after the other, each search starting from the result of
    /// the one before. A loss that needs no smoothing has the single width 0.
    fn smoothing_widths(&self) -> &'static [f64] {
        &[0.0]
    }

    /// Sets the width of the smoothing.
    fn set_smoothing_width(&mut self, _smoothing_width: f64) {}
}

/// Widths of a smoothed hinge, each a fifth of the one before; in the end the smoothed loss differs
/// from the hinge by up to half of the last width.
pub(super) const HINGE_WIDTHS: &[f64] = &[1.0, 0.2, 0.04];

/// A loss of one margin that should be large: a document's signed score, or the score difference of
/// a preference pair.
///
/// | variant | loss of m |
/// |---|---|
/// | `Squared` | max(0, 1 - m)^2 |
/// | `Hinge(w)` | 0 if m >= 1; (1 - m)^2 / 2w if 1 - w < m < 1; 1 - m - w/2 if m <= 1 - w |
/// | `Logistic` | ln(1 + exp(-m)) |
///
/// The smoothed hinge is Huber's: it differs from the hinge max(0, 1 - m) by at most w/2, so it
/// approaches the hinge as w goes to 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum MarginLoss {
    /// The squared hinge.
    Squared,
    /// The hinge, smoothed to this width.
    Hinge(f64),
    /// The logistic loss.
    Logistic,
}

impl MarginLoss {
    /// The loss of the margin m, its first and its second derivative.
    #[inline]
    pub(super) fn value_and_derivatives(self, m: f64) -> (f64, f64, f64) {
        let hinge = (1.0 - m).max(0.0);
        match self {
            MarginLoss::Squared => {
                (hinge * hinge, -2.0 * hinge, if hinge > 0.0 { 2.0 } else { 0.0 })
            }
            MarginLoss::Hinge(_) if hinge == 0.0 => (0.0, 0.0, 0.0),
            MarginLoss::Hinge(w) if hinge < w => (hinge * hinge / (2.0 * w), -hinge / w, 1.0 / w),
            MarginLoss::Hinge(w) => (hinge - 0.5 * w, -1.0, 0.0),
            MarginLoss::Logistic => {
                let (sigma, one_minus_sigma) = (sigmoid(m), one_minus_sigmoid(m));
                (softplus(-m), -one_minus_sigma, one_minus_sigma * sigma)
            }
        }
    }

    /// Widths of the smoothing, used one after the other.
    pub(super) fn smoothing_widths(self) -> &'static [f64] {
        match self {
            MarginLoss::Hinge(_) => HINGE_WIDTHS,
            _ => &[0.0],
        }
    }

    /// Sets the width of a smoothed hinge.
    pub(super) fn set_smoothing_width(&mut self, smoothing_width: f64) {
        if let MarginLoss::Hinge(w) = self {
            *w = smoothing_width;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_agree_with_finite_differences() {
        let step = 1e-6;
        for margin_loss in [
            MarginLoss::Squared,
            MarginLoss::Hinge(0.2),
            MarginLoss::Hinge(1.0),
            MarginLoss::Logistic,
        ] {
            for m in [-3.0, -0.31, 0.07, 0.55, 0.83, 0.97, 1.3, 4.0] {
                let (loss, first, second) = margin_loss.value_and_derivatives(m);
                let (up, down) = (
                    margin_loss.value_and_derivatives(m + step),
                    margin_loss.value_and_derivatives(m - step),
                );
                assert!(
                    ((up.0 - down.0) / (2.0 * step) - first).abs() < 1e-6,
                    "{margin_loss:?} {m}"
                );
                assert!(
                    ((up.1 - down.1) / (2.0 * step) - second).abs() < 1e-6,
                    "{margin_loss:?} {m}"
                );
                assert!(loss >= 0.0);
            }
        }
    }

    #[test]
    fn a_smoothed_hinge_is_never_further_from_the_hinge_than_half_its_width() {
        for w in HINGE_WIDTHS {
            for m in (-300..300).map(|m| f64::from(m) * 0.01) {
                let difference =
                    (1.0 - m).max(0.0) - MarginLoss::Hinge(*w).value_and_derivatives(m).0;
                assert!((-1e-12..=0.5 * w + 1e-12).contains(&difference), "{w} {m}: {difference}");
            }
        }
    }
}
