//! Conversion of tree parameters to the packed units of one tree, and back: those of gradients and
//! hessians that [`quantise`](super::quantise) scales to integers.

use super::evaluate::SearchedLeaf;
use super::params::{Direction, TreeConfig};
use super::quantise::{Scales, unpack};
use super::split::{FoundSplit, Limits, SplitCriteria};

/// Parameters in the packed units of one tree.
#[derive(Debug)]
pub(super) struct Units {
    pub(super) criteria: SplitCriteria,
    /// The factor by which gradients were multiplied.
    pub(super) gradient: f64,
    /// The factor by which hessians were multiplied.
    hessian: f64,
    /// The largest packed hessian of a row, at least 1.
    largest_hessian: u64,
}

impl Units {
    pub(super) fn new(params: &TreeConfig, scales: &Scales) -> Self {
        let criteria = SplitCriteria {
            l1: params.l1 * scales.gradient,
            l2: params.l2 * scales.hessian,
            min_hessian: (params.min_hessian * scales.hessian).max(1.0),
            min_rows: params.min_rows,
            cat_smooth: params.cat_smooth * scales.hessian,
            cat_l2: params.cat_l2 * scales.hessian,
            max_categories: params.max_categories,
        };
        let largest_hessian = u64::from(scales.largest_hessian).max(1);
        Self { criteria, gradient: scales.gradient, hessian: scales.hessian, largest_hessian }
    }

    /// The decrease of the loss for an increase of the structure score.
    pub(super) fn gain(&self, structure_score: f64) -> f64 {
        0.5 * structure_score * (self.hessian / self.gradient) / self.gradient
    }

    /// The increase of the structure score for a gain: the inverse of [`Units::gain`].
    pub(super) fn structure_score(&self, gain: f64) -> f64 {
        gain / self.gain(1.0)
    }

    /// Limits converted from packed units.
    pub(super) fn limits(&self, limits: Limits) -> Limits {
        let unit = self.hessian / self.gradient;
        Limits { low: limits.low * unit, high: limits.high * unit }
    }

    /// Whether both sides are certain to have enough rows, given the largest hessian of a row.
    pub(super) fn has_rows(&self, total: u64, left: u64) -> bool {
        let at_least = |packed: u64| (unpack(packed).1 as u64).div_ceil(self.largest_hessian);
        at_least(left) >= self.criteria.min_rows
            && at_least(total.wrapping_sub(left)) >= self.criteria.min_rows
    }

    /// The limits of the left and the right child of a leaf: if the split is on a feature with a
    /// monotone constraint, the middle of the two children's values separates them.
    pub(super) fn child_limits(
        &self,
        leaf: SearchedLeaf,
        found: &FoundSplit,
        direction: Option<Direction>,
    ) -> [Limits; 2] {
        let value = |packed: u64| {
            let (g, h) = unpack(packed);
            self.criteria.value(f64::from(g), f64::from(h), leaf.limits)
        };
        let middle = (value(found.left) + value(leaf.total.wrapping_sub(found.left))) / 2.0;
        let Limits { low, high } = leaf.limits;
        match direction {
            None => [leaf.limits; 2],
            Some(Direction::Rising) => [Limits { low, high: middle }, Limits { low: middle, high }],
            Some(Direction::Falling) => {
                [Limits { low: middle, high }, Limits { low, high: middle }]
            }
        }
    }
}
