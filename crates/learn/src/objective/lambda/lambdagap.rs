//! LambdaGap: lambdas for P@k (Adalia et al., "The LambdaGap framework for precision-oriented
//! ranking", 2025). The gap is a number of ranks, not a difference of scores.
//!
//! The change of P@k under a swap is 0 unless one rank is within k and the other is not, so that a
//! relevant document far below has pairs with k documents only, and with none once relevant ones
//! fill the first k ranks. LambdaGap weights a pair by the difference of gains G alone and leaves
//! out the pairs that are fewer than k ranks apart:
//!
//! ```text
//! weight_ij = |G_i - G_j|  where |i - j| >= k,  else 0
//! ```
//!
//! A relevant document has a worse one k or more ranks above it only if it is itself ranked below
//! k: documents within the first k have nothing to gain. Cost O(1) per pair; pairs of equal gains
//! have weight 0. The entries have the sign of G_i - G_j; callers use their absolute values.

use rankwright_eval::{EvalError, SwapDelta};

/// LambdaGap weights, computed from the gains of P@k.
#[derive(Debug)]
pub(super) struct LambdaGap {
    pub(super) metric: Box<dyn SwapDelta>,
    /// The smallest distance of two ranks that are paired: k.
    pub(super) min_distance: usize,
}

/// The weights in place of the changes of the metric.
impl SwapDelta for LambdaGap {
    fn prepare(&mut self, labels: &[f64], ideal: &[f64]) -> Result<(), EvalError> {
        self.metric.prepare(labels, ideal)
    }

    fn swap_deltas_from(&self, i: usize, from: usize, out: &mut [f64]) {
        let Some(factors) = self.metric.factors() else { return out.fill(0.0) };
        let Some(&gain) = factors.gains.get(i) else { return };
        for ((j, weight), g) in out.iter_mut().enumerate().zip(factors.gains).skip(from) {
            *weight = if i.abs_diff(j) >= self.min_distance { gain - g } else { 0.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use rankwright_eval::{MetricSpec, SourceKind};

    use super::*;

    #[test]
    fn pairs_closer_than_k_are_left_out_and_the_others_have_equal_weights() {
        let p = MetricSpec::parse("p@2").unwrap().resolve(SourceKind::Features).unwrap();
        let mut gap = LambdaGap { metric: p.swap().unwrap(), min_distance: 2 };
        let labels = [0.0, 0.0, 1.0, 0.0, 2.0];
        gap.prepare(&labels, &[2.0, 1.0, 0.0, 0.0, 0.0]).unwrap();
        let mut row = vec![f64::NAN; 5];
        gap.swap_deltas(4, &mut row);
        // Counted from 1: rank 3 is relevant like rank 5, and rank 4 is closer than 2 ranks.
        assert_eq!(row, [0.5, 0.5, 0.0, 0.0, 0.0]);
        gap.swap_deltas(2, &mut row);
        assert_eq!(row, [0.5, 0.0, 0.0, 0.0, 0.0]);
    }

    /// A relevant document within the first k ranks has no pair with a document above it (here rank
    /// 3 of 5 with k = 3, which has none with one below it either).
    #[test]
    fn a_relevant_document_within_k_has_no_weights() {
        let p = MetricSpec::parse("p@3").unwrap().resolve(SourceKind::Features).unwrap();
        let mut gap = LambdaGap { metric: p.swap().unwrap(), min_distance: 3 };
        gap.prepare(&[0.0, 0.0, 1.0, 0.0, 0.0], &[1.0, 0.0, 0.0, 0.0, 0.0]).unwrap();
        let mut row = vec![0.0; 5];
        gap.swap_deltas(2, &mut row);
        assert!(row.iter().all(|weight| *weight == 0.0));
    }
}
