//! Inversions: the number of pairs of documents with different labels that are in the wrong order;
//! and pair accuracy, the fraction of pairs with different labels that are in the right order.
//!
//! ```text
//! inversions    = number of (i above j) with label_i < label_j
//! pair accuracy = 1 - inversions / (number of pairs with different labels)
//! ```
//!
//! Counted while merging, O(n log n). Equal scores are ordered by the tie policy: `worst` counts
//! every tied pair as wrong, `best` as right, `mean` as half, which is the exact expectation.
//! Unjudged documents count as label 0 unless dropped. A query without pairs of different labels
//! has 0 inversions, and no pair accuracy: there it is skipped. A query that the run lacks is
//! skipped for inversions, and counts 0 for pair accuracy under `missing=zero`.
//!
//! ```
//! use rankwright_eval::of_ranking;
//! assert_eq!(of_ranking("inversions", &[0.0, 2.0, 1.0])?, Some(2.0));
//! assert_eq!(of_ranking("pair-accuracy", &[0.0, 2.0, 1.0])?, Some(1.0 / 3.0));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use rankwright_spec::param_groups;

use super::{
    Metric, MetricDef, MetricParams, MissingOptions, MissingParams, OrderOptions, OrderParams,
    UnjudgedOptions, UnjudgedParams, ZERO_TO_ONE,
};
use crate::compare::Better;
use crate::error::EvalError;
use crate::list::RankedList;

param_groups! {
    /// Parameters of pair accuracy.
    pub struct PairAccuracyParams {
        missing: MissingParams, MissingOptions::missing_params;
        unjudged: UnjudgedParams, UnjudgedOptions::unjudged_params;
        order: OrderParams, OrderOptions::order_params;
    }
}

param_groups! {
    /// Parameters of the number of inversions.
    pub struct InversionsParams {
        unjudged: UnjudgedParams, UnjudgedOptions::unjudged_params;
        order: OrderParams, OrderOptions::order_params;
    }
}

/// Pair accuracy.
pub(super) static PAIR_ACCURACY: MetricDef = MetricDef {
    name: "pair-accuracy",
    aliases: &["pair_accuracy"],
    help: "Share of pairs with different labels that stand in the right order.",
    example: "pair-accuracy(ties=mean)",
    cutoff: false,
    mean_ties: true,
    ..MetricDef::of::<PairAccuracyParams>()
};

/// Inversions.
pub(super) static INVERSIONS: MetricDef = MetricDef {
    name: "inversions",
    aliases: &["pairwise-errors"],
    help: "Number of pairs with different labels that stand in the wrong order.",
    example: "inversions(ties=mean)",
    cutoff: false,
    mean_ties: true,
    ..MetricDef::of::<InversionsParams>()
};

impl MetricParams for PairAccuracyParams {
    fn def(&self) -> &'static MetricDef {
        &PAIR_ACCURACY
    }

    fn build(&self, _cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(Inversions { as_accuracy: true })
    }
}

impl MetricParams for InversionsParams {
    fn def(&self) -> &'static MetricDef {
        &INVERSIONS
    }

    fn build(&self, _cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(Inversions { as_accuracy: false })
    }
}

#[derive(Debug)]
struct Inversions {
    /// Whether the value is the pair accuracy, not the number of inversions.
    as_accuracy: bool,
}

impl Metric for Inversions {
    fn range(&self) -> (f64, f64) {
        if self.as_accuracy { ZERO_TO_ONE } else { (0.0, f64::INFINITY) }
    }

    fn better(&self) -> Better {
        match self.as_accuracy {
            true => Better::Higher,
            false => Better::Lower,
        }
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        let mut labels = list.labels().to_vec();
        // Under `ties=mean`, pairs within a tied group are counted separately: the group is sorted,
        // so that it has no inversion, and every pair of different labels in it counts one half.
        let mut tied_pairs = 0_u64;
        for group in list.tie_groups().into_iter().flatten() {
            let group = &mut labels[group];
            group.sort_unstable_by(|a, b| b.total_cmp(a));
            tied_pairs += different_pairs(group);
        }
        let mut scratch = Vec::with_capacity(labels.len());
        let wrong = count_inversions(&mut labels, &mut scratch) as f64 + tied_pairs as f64 / 2.0;
        if !self.as_accuracy {
            return Ok(Some(wrong));
        }
        // `count_inversions` has sorted `labels`.
        let pairs = different_pairs(&labels) as f64;
        Ok((pairs > 0.0).then(|| (pairs - wrong) / pairs))
    }

    fn when_missing(&self, list: &RankedList<'_>) -> Option<f64> {
        (self.as_accuracy && list.labels_differ()).then_some(0.0)
    }
}

/// The number of pairs (i before j) with a[i] < a[j]; leaves `a` sorted, highest first. `scratch`
/// is a buffer.
pub(crate) fn count_inversions(a: &mut [f64], scratch: &mut Vec<f64>) -> u64 {
    if a.len() < 2 {
        return 0;
    }
    let (left, right) = a.split_at_mut(a.len() / 2);
    let mut count = count_inversions(left, scratch) + count_inversions(right, scratch);
    scratch.clear();
    let (mut l, mut r) = (&*left, &*right);
    while let (Some((&x, l_rest)), Some((&y, r_rest))) = (l.split_first(), r.split_first()) {
        if x >= y {
            scratch.push(x);
            l = l_rest;
        } else {
            count += l.len() as u64;
            scratch.push(y);
            r = r_rest;
        }
    }
    scratch.extend_from_slice(l);
    scratch.extend_from_slice(r);
    a.copy_from_slice(scratch);
    count
}

/// Number of pairs of different values in a sorted slice.
pub(crate) fn different_pairs(sorted: &[f64]) -> u64 {
    let pairs = |n: usize| n as u64 * (n as u64).saturating_sub(1) / 2;
    let equal: u64 = sorted.chunk_by(|a, b| a == b).map(|equal| pairs(equal.len())).sum();
    pairs(sorted.len()) - equal
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counting_by_merging_equals_counting_by_two_loops(
            labels in prop::collection::vec((0_i32..5).prop_map(f64::from), 0..40)) {
            let mut slow = 0;
            let mut pairs = 0;
            for (i, a) in labels.iter().enumerate() {
                slow += labels[i + 1..].iter().filter(|b| a < *b).count() as u64;
                pairs += labels[i + 1..].iter().filter(|b| a != *b).count() as u64;
            }
            let mut fast = labels;
            prop_assert_eq!(count_inversions(&mut fast, &mut Vec::new()), slow);
            prop_assert_eq!(different_pairs(&fast), pairs);
        }
    }
}
