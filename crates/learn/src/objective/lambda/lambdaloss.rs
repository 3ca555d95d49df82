//! NDCG-Loss2 and NDCG-Loss2++: pair weights with which the pair loss bounds a metric (Wang et al.,
//! "The LambdaLoss framework for ranking metric optimization", CIKM 2018).
//!
//! With G the gains, divided by the ideal DCG, and d(r) the discount of rank r (1 / log2(1 + r)), a
//! pair of documents at the ranks i and j has the weight
//!
//! ```text
//! rho_ij   = |d(i) - d(j)|                          LambdaRank's part
//! delta_ij = d(|i - j|) - d(|i - j| + 1)            (equation 16)
//! loss2:     delta_ij * |G_i - G_j|
//! loss2++:   (rho_ij + mu * delta_ij) * |G_i - G_j|   (equation 17; mu = 10 in the paper)
//! ```
//!
//! delta depends on the distance of two ranks, not on the ranks themselves: a pair at ranks 50 and
//! 51 has the same weight as one at 1 and 2, which makes the sum a bound of 1 - NDCG for any
//! scores. Only for metrics that are sums of gain times discount. Cost O(1) per pair. Pairs of
//! equal gains have weight 0. The entries have the sign of G_i - G_j; callers use their absolute
//! values.

use rankwright_eval::{EvalError, SwapDelta};

/// LambdaLoss weights, computed from the gains and discounts of a metric.
#[derive(Debug)]
pub(super) struct LambdaLoss {
    pub(super) metric: Box<dyn SwapDelta>,
    /// The factor of rho: 0 or 1.
    pub(super) rho_factor: f64,
    /// The factor of delta: 1 or mu.
    pub(super) delta_factor: f64,
}

/// The weights in place of the changes of the metric.
impl SwapDelta for LambdaLoss {
    fn prepare(&mut self, labels: &[f64], ideal: &[f64]) -> Result<(), EvalError> {
        self.metric.prepare(labels, ideal)
    }

    fn swap_deltas_from(&self, i: usize, from: usize, out: &mut [f64]) {
        let Some(factors) = self.metric.factors() else { return out.fill(0.0) };
        let (gains, discounts) = (factors.gains, factors.discounts);
        let (Some(&gain), Some(&discount)) = (gains.get(i), discounts.get(i)) else { return };
        for (j, weight) in out.iter_mut().enumerate().skip(from) {
            let apart = i.abs_diff(j);
            if apart == 0 {
                *weight = 0.0;
                continue;
            }
            let (Some(g), Some(d)) = (gains.get(j), discounts.get(j)) else { return };
            // d(|i - j|) and d(|i - j| + 1): ranks are counted from 1 there, from 0 here.
            let (Some(near), Some(far)) = (discounts.get(apart - 1), discounts.get(apart)) else {
                return;
            };
            let size = self.rho_factor * (discount - d).abs() + self.delta_factor * (near - far);
            *weight = (gain - g) * size;
        }
    }
}

#[cfg(test)]
mod tests {
    use rankwright_eval::{MetricSpec, SourceKind};

    use super::*;

    /// The weights of rank i, from 0, with every rank of an example query.
    fn weights(rho_factor: f64, delta_factor: f64, i: usize) -> Vec<f64> {
        let ndcg = MetricSpec::parse("ndcg").unwrap().resolve(SourceKind::Features).unwrap();
        let mut loss = LambdaLoss { metric: ndcg.swap().unwrap(), rho_factor, delta_factor };
        loss.prepare(&[0.0, 2.0, 1.0, 0.0], &[2.0, 1.0, 0.0, 0.0]).unwrap();
        let mut row = vec![f64::NAN; 4];
        loss.swap_deltas(i, &mut row);
        row
    }

    /// Ranks 2 and 4, counted from 1 (labels 2 and 0): gains 3 and 0, two ranks apart.
    #[test]
    fn weights_are_those_of_the_equations() {
        let ideal_dcg = 3.0 + 1.0 / 3.0_f64.log2();
        let d = |rank: f64| 1.0 / (1.0 + rank).log2();
        let gain = 3.0 / ideal_dcg;
        let delta = d(2.0) - d(3.0);
        assert!((weights(0.0, 1.0, 1)[3] - gain * delta).abs() < 1e-12);
        let both = gain * ((d(2.0) - d(4.0)) + 10.0 * delta);
        assert!((weights(1.0, 10.0, 1)[3] - both).abs() < 1e-12);
        assert_eq!(weights(0.0, 1.0, 0)[3], 0.0);
        assert_eq!(weights(1.0, 1.0, 2)[2], 0.0);
    }

    /// Weights depend on the distance of two ranks and on their gains. (The deltas of a document
    /// with all ranks above it sum to 1 - d(rank), the discount that it lacks at its rank.)
    #[test]
    fn pairs_at_equal_distance_have_equal_weights_at_all_ranks() {
        let ndcg = MetricSpec::parse("ndcg").unwrap().resolve(SourceKind::Features).unwrap();
        let metric = ndcg.swap().unwrap();
        let mut loss = LambdaLoss { metric, rho_factor: 0.0, delta_factor: 1.0 };
        loss.prepare(&[1.0, 0.0, 0.0, 1.0, 0.0, 0.0], &[1.0, 1.0, 0.0, 0.0, 0.0, 0.0]).unwrap();
        let (mut top, mut low) = (vec![0.0; 6], vec![0.0; 6]);
        loss.swap_deltas(0, &mut top);
        loss.swap_deltas(3, &mut low);
        assert_eq!(top[1..3], low[4..6]);
    }
}
