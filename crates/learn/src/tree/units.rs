//! Conversion of tree parameters to packed units, and of results back. Packed units are those of
//! the gradients and hessians that [`quantise`](super::quantise) scales to integers, by factors
//! that are chosen for each tree.

use super::evaluate::SearchedLeaf;
use super::params::{Direction, TreeConfig};
use super::quantise::{Scales, unpack};
use super::split::{FoundSplit, SplitCriteria, ValueLimits};

/// Parameters in the packed units of one tree.
#[derive(Debug)]
pub(super) struct PackedUnits {
    pub(super) criteria: SplitCriteria,
    /// The factor by which gradients were multiplied.
    pub(super) gradient_scale: f64,
    /// The factor by which hessians were multiplied.
    hessian_scale: f64,
    /// The largest packed hessian of a row, at least 1.
    largest_hessian: u64,
}

impl PackedUnits {
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
        Self {
            criteria,
            gradient_scale: scales.gradient,
            hessian_scale: scales.hessian,
            largest_hessian,
        }
    }

    /// The gain (the decrease of the loss) for an increase of the structure score, the sum of G^2 /
    /// (H + l2) over the leaves, in packed units.
    pub(super) fn gain(&self, increase: f64) -> f64 {
        0.5 * increase * (self.hessian_scale / self.gradient_scale) / self.gradient_scale
    }

    /// The increase of the structure score for a gain: the inverse of [`PackedUnits::gain`].
    pub(super) fn structure_score(&self, gain: f64) -> f64 {
        gain / self.gain(1.0)
    }

    /// Limits on a leaf's value, converted from packed units to the units of scores.
    pub(super) fn limits(&self, limits: ValueLimits) -> ValueLimits {
        let unit = self.hessian_scale / self.gradient_scale;
        ValueLimits { low: limits.low * unit, high: limits.high * unit }
    }

    /// Whether both sides of a split are certain to have `min_rows` rows: a side with hessian sum H
    /// has at least H / (largest hessian of a row) rows. `total` and `left` are the packed sums of
    /// the leaf and of its left side.
    pub(super) fn surely_has_min_rows(&self, total: u64, left: u64) -> bool {
        let least_rows = |packed: u64| (unpack(packed).1 as u64).div_ceil(self.largest_hessian);
        least_rows(left) >= self.criteria.min_rows
            && least_rows(total.wrapping_sub(left)) >= self.criteria.min_rows
    }

    /// The limits on the values of the left and the right child of a leaf. If the split is on a
    /// feature with a monotone constraint, the mean of the two children's values is the limit
    /// between them.
    pub(super) fn child_limits(
        &self,
        leaf: SearchedLeaf,
        found: &FoundSplit,
        direction: Option<Direction>,
    ) -> [ValueLimits; 2] {
        let value = |packed: u64| {
            let (g, h) = unpack(packed);
            self.criteria.value(f64::from(g), f64::from(h), leaf.limits)
        };
        let middle = (value(found.left) + value(leaf.total.wrapping_sub(found.left))) / 2.0;
        let ValueLimits { low, high } = leaf.limits;
        match direction {
            None => [leaf.limits; 2],
            Some(Direction::Rising) => {
                [ValueLimits { low, high: middle }, ValueLimits { low: middle, high }]
            }
            Some(Direction::Falling) => {
                [ValueLimits { low: middle, high }, ValueLimits { low, high: middle }]
            }
        }
    }
}
