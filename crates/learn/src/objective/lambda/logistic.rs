//! The pair logistic loss (RankNet, Burges et al., ICML 2005), one pair at a time in 64 bits.
//!
//! ```text
//! i better than j:  L = w * log(1 + exp(-sigma (s_i - s_j)))
//! judged equal:     L = w/2 * (log(1 + exp(-sigma (s_i - s_j))) + log(1 + exp(sigma (s_i - s_j))))
//! ```
//!
//! With rho = 1 / (1 + exp(sigma (s_i - s_j))), the derivative by s_i is -sigma w rho for a
//! preference and sigma w (1/2 - rho) for an equal pair; by s_j it is the opposite. The second
//! derivative is sigma^2 w rho (1 - rho) for both documents and both kinds.
//!
//! The metric weight of a pair is computed in `weight.rs` and is a constant here. Scores may be
//! infinite: the difference of two equal infinities is taken as 0.

use super::kernel::MIN_GAP;
use crate::exp::{exp, softplus};

/// The loss of a pair as a function of its score difference.
#[derive(Debug, Clone, Copy)]
pub(super) struct Logistic {
    /// Steepness of the logistic function.
    pub(super) sigma: f64,
    /// Whether a pair's weight is divided by 0.01 + |s_i - s_j|.
    pub(super) divide_by_gap: bool,
}

/// One pair of ranks with its weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct RankPair {
    /// Rank of one document, from 0.
    pub(super) i: usize,
    /// Rank of the other document.
    pub(super) j: usize,
    /// Weight as a preference: above 0 if i is better, below 0 if j is, 0 if they are equal.
    pub(super) weight: f64,
    /// Weight as an equal pair, never below 0; 0 for a preference.
    pub(super) tie_weight: f64,
    /// The number of pairs that this one represents, for document j; 1 unless pairs are sampled.
    pub(super) copies: f64,
    /// Whether the pair is added to document i too (false if pairs are sampled).
    pub(super) adds_to_i: bool,
}

/// Derivatives of one pair's loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PairDerivatives {
    /// Derivative by the score of i; by that of j it has the opposite sign.
    pub(super) gradient: f64,
    /// Second derivative by either score.
    pub(super) hessian: f64,
}

impl Logistic {
    /// The derivatives of a pair whose documents have these scores.
    pub(super) fn derivatives(&self, pair: &RankPair, s_i: f64, s_j: f64) -> PairDerivatives {
        let score_difference = difference(s_i, s_j);
        let gap = if self.divide_by_gap { MIN_GAP + score_difference.abs() } else { 1.0 };
        let sign = if pair.weight < 0.0 { -1.0 } else { 1.0 };
        let x = self.sigma * (sign * score_difference);
        // exp(-|x|) never overflows, and rho (1 - rho) = small * large^2 needs no subtraction.
        let small = exp(-x.abs());
        let large = 1.0 / (1.0 + small);
        let rho = if x < 0.0 { large } else { small * large };
        let gradient = (pair.tie_weight * (0.5 - rho) - pair.weight * rho) / gap;
        let hessian = (pair.weight.abs() + pair.tie_weight) * (small * large * large) / gap;
        PairDerivatives {
            gradient: self.sigma * gradient,
            hessian: self.sigma * self.sigma * hessian,
        }
    }

    /// The loss of a pair whose documents have these scores; the division by the gap is not
    /// included.
    pub(super) fn loss(&self, pair: &RankPair, s_i: f64, s_j: f64) -> f64 {
        let x = self.sigma * difference(s_i, s_j);
        let preference = if pair.weight < 0.0 { softplus(x) } else { softplus(-x) };
        let mut loss = 0.0;
        // A weight of 0 times an infinite loss would be NaN.
        if pair.weight != 0.0 {
            loss += pair.weight.abs() * preference;
        }
        if pair.tie_weight != 0.0 {
            loss += 0.5 * pair.tie_weight * (softplus(x) + softplus(-x));
        }
        loss
    }
}

/// a - b, or 0 for two equal infinities.
fn difference(a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { a - b }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGMA_ONE: Logistic = Logistic { sigma: 1.0, divide_by_gap: false };

    fn pair(weight: f64, tie_weight: f64) -> RankPair {
        RankPair { i: 0, j: 1, weight, tie_weight, copies: 1.0, adds_to_i: true }
    }

    /// Worked out by hand for probabilities 0.99, 0.5 and 0.01 of the correct order: -ln p.
    #[test]
    fn cross_entropy_and_lambda_are_those_worked_out_by_hand() {
        for (p, loss) in [(0.99_f64, 0.01), (0.5, 0.69), (0.01, 4.61)] {
            let score = (p / (1.0 - p)).ln();
            assert!((SIGMA_ONE.loss(&pair(1.0, 0.0), score, 0.0) - loss).abs() < 0.005);
        }
        // Probability 0.2 of the correct order: the gradient is -(1 - 0.2).
        let score = (0.2_f64 / 0.8).ln();
        let derivatives = SIGMA_ONE.derivatives(&pair(1.0, 0.0), score, 0.0);
        assert!((derivatives.gradient + 0.8).abs() < 1e-12);
    }

    #[test]
    fn derivatives_are_those_of_the_loss() {
        let steep = Logistic { sigma: 1.7, divide_by_gap: false };
        for pair in [pair(0.3, 0.0), pair(-2.0, 0.0), pair(0.0, 1.5)] {
            for (a, b) in [(0.3, -0.4), (-2.0, 1.0), (0.0, 0.0)] {
                let (step, derivatives) = (1e-5, steep.derivatives(&pair, a, b));
                let (up, down) = (steep.loss(&pair, a + step, b), steep.loss(&pair, a - step, b));
                assert!((derivatives.gradient - (up - down) / (2.0 * step)).abs() < 1e-8);
                let above = steep.derivatives(&pair, a + step, b).gradient;
                let below = steep.derivatives(&pair, a - step, b).gradient;
                assert!((derivatives.hessian - (above - below) / (2.0 * step)).abs() < 1e-8);
            }
        }
    }

    #[test]
    fn infinite_scores_give_finite_derivatives() {
        let inf = f64::INFINITY;
        for divide_by_gap in [false, true] {
            let logistic = Logistic { sigma: 2.0, divide_by_gap };
            for (a, b) in [(inf, -inf), (-inf, inf), (inf, inf), (-inf, 0.0), (1e308, -1e308)] {
                for pair in [pair(1.0, 0.0), pair(-1.0, 0.0), pair(0.0, 1.0)] {
                    let derivatives = logistic.derivatives(&pair, a, b);
                    assert!(derivatives.gradient.is_finite() && derivatives.hessian.is_finite());
                }
            }
        }
    }
}
