//! The best split of one feature in one leaf.
//!
//! With G and H the sums of gradients and hessians of a side, its structure score (Chen and
//! Guestrin, *XGBoost*, 2016) is `G^2 / (H + l2)`. The scores of both sides, minus that of the
//! undivided leaf, are twice the decrease of the loss to second order. Sums come from a histogram;
//! every bin is tried as the last one on the left, with missing values on the right and, if there
//! are any, on the left. Everything is in the packed units of [`quantise`](super::quantise): G and
//! H are each multiplied by a constant, which multiplies all scores by the same factor. A packed
//! sum has the sum of gradients in its upper and the sum of hessians in its lower 32 bits.
//!
//! [`HistogramSearch::search_fast`] is for the common case, several bins at a time;
//! [`HistogramSearch::search_each_bin`] also handles l1, row counts and monotone constraints, and
//! is the reference implementation of the fast one. A side needs a positive hessian sum, otherwise
//! it would have no value. Of equal gains, the split with missing values on the right wins, then
//! the one with the lowest bin.

use rankwright_model::Side;

use super::params::Direction;
use super::quantise::unpack;
use crate::bins::CELLS;

/// Penalties and limits by which splits are valued; sums of gradients and hessians are in packed
/// units. The names are those of the parameters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SplitCriteria {
    pub(crate) l1: f64,
    pub(crate) l2: f64,
    /// Least hessian sum of a side, at least 1.
    pub(crate) min_hessian: f64,
    /// Least number of rows of a side.
    pub(crate) min_rows: u64,
    /// Added to a category's hessian sum when categories are sorted.
    pub(crate) cat_smooth: f64,
    /// Added to l2 when sets of categories are compared.
    pub(crate) cat_l2: f64,
    /// Largest number of categories in the set of a split.
    pub(crate) max_categories: usize,
}

/// Limits that monotone constraints put on a leaf's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ValueLimits {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl ValueLimits {
    /// No limits.
    pub(crate) const NONE: ValueLimits =
        ValueLimits { low: f64::NEG_INFINITY, high: f64::INFINITY };
}

/// The best split of a feature. For a categorical feature, `bin` and `missing` encode a set of
/// categories instead, as described at [`best_set`](super::sets::best_set).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FoundSplit {
    /// Sum of the structure scores of both sides, in packed units.
    pub(crate) split_score: f64,
    /// Last bin on the left.
    pub(crate) bin: u8,
    /// The side of missing values.
    pub(crate) missing: Side,
    /// Packed sum of the left side's gradients and hessians.
    pub(crate) left: u64,
}

impl SplitCriteria {
    /// The gradient sum after the l1 penalty (soft thresholding).
    fn shrunk(&self, g: f64) -> f64 {
        if self.l1 == 0.0 { g } else { g.signum() * (g.abs() - self.l1).max(0.0) }
    }

    /// The leaf value of a side with these sums of gradients and hessians.
    pub(crate) fn value(&self, g: f64, h: f64, limits: ValueLimits) -> f64 {
        let denominator = h + self.l2;
        if denominator <= 0.0 {
            return 0.0_f64.clamp(limits.low, limits.high);
        }
        (-self.shrunk(g) / denominator).clamp(limits.low, limits.high)
    }

    /// The structure score of a side with these sums: twice the decrease of the loss, to second
    /// order, by the best leaf value within the limits.
    pub(crate) fn structure_score(&self, g: f64, h: f64, limits: ValueLimits) -> f64 {
        let denominator = h + self.l2;
        if denominator <= 0.0 {
            return 0.0;
        }
        if limits == ValueLimits::NONE {
            let shrunk = self.shrunk(g);
            return shrunk * shrunk / denominator;
        }
        let value = self.value(g, h, limits);
        -(2.0 * g * value + denominator * value * value + 2.0 * self.l1 * value.abs())
    }
}

/// One feature's histogram in one leaf, to be searched for the best split.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HistogramSearch<'a> {
    /// The packed sums of all bins but that of missing values.
    pub(crate) values: &'a [u64],
    /// The packed sum of the rows with a missing value; `None` if the feature has no such rows.
    pub(crate) missing: Option<u64>,
    /// The packed sum of all rows of the leaf.
    pub(crate) total: u64,
}

/// Number of a leaf's rows by bin, for the exact check of `min_rows`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowCounts<'a> {
    /// Number of rows of all bins but that of missing values.
    pub(crate) values: &'a [u64],
    /// Number of rows with a missing value.
    pub(crate) missing: u64,
    /// Number of all rows.
    pub(crate) total: u64,
}

impl<'a> RowCounts<'a> {
    /// The counts of all bins but that of missing values, and the number of missing values.
    pub(crate) fn new(values: &'a [u64], missing: u64) -> Self {
        Self { values, missing, total: values.iter().sum::<u64>() + missing }
    }
}

/// Conditions that only [`HistogramSearch::search_each_bin`] checks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SplitConstraints<'a> {
    /// The rows by bin; `None` if `min_rows` is not to be checked.
    pub(crate) counts: Option<RowCounts<'a>>,
    /// The limits on the leaf's value.
    pub(crate) limits: ValueLimits,
    /// The monotone constraint of the feature; `None` if it has none.
    pub(crate) direction: Option<Direction>,
}

impl HistogramSearch<'_> {
    /// Number of bins that may be the last on the left, with missing values on the right. The last
    /// value bin is one of them if missing values then remain alone on the right.
    fn candidate_bins(&self) -> usize {
        self.values.len() - usize::from(self.missing.is_none())
    }

    /// The best split, found by trying every split, one after the other.
    pub(crate) fn search_each_bin(
        &self,
        criteria: &SplitCriteria,
        constraints: &SplitConstraints<'_>,
    ) -> Option<FoundSplit> {
        let mut best: Option<FoundSplit> = None;
        for missing in [Side::Right, Side::Left] {
            let Some((mut left, candidate_bins)) = self.scan_start(missing) else { continue };
            let mut rows = match (missing, constraints.counts) {
                (Side::Left, Some(counts)) => counts.missing,
                _ => 0,
            };
            for (bin, cell) in self.values.iter().enumerate().take(candidate_bins) {
                left = left.wrapping_add(*cell);
                rows += constraints.counts.map_or(0, |counts| counts.values[bin]);
                if let Some(split_score) = self.score_of_split(left, rows, criteria, constraints)
                    && best.is_none_or(|best| split_score > best.split_score)
                {
                    best = Some(FoundSplit { split_score, bin: bin as u8, missing, left });
                }
            }
        }
        best
    }

    /// The start of a scan over the bins, with missing values on this side: the packed sum of the
    /// left side before its first bin, and the number of bins to try as its last. `None` if there
    /// are no missing values to send left.
    pub(crate) fn scan_start(&self, missing: Side) -> Option<(u64, usize)> {
        match missing {
            Side::Right => Some((0, self.candidate_bins())),
            Side::Left => self.missing.map(|cell| (cell, self.values.len() - 1)),
        }
    }

    /// The sum of both sides' structure scores; `None` if the split is not allowed. `left` is the
    /// packed sum of the left side, and `rows` its number of rows.
    pub(crate) fn score_of_split(
        &self,
        left: u64,
        rows: u64,
        criteria: &SplitCriteria,
        constraints: &SplitConstraints<'_>,
    ) -> Option<f64> {
        let (gl, hl) = unpack_floats(left);
        let (gr, hr) = unpack_floats(self.total.wrapping_sub(left));
        if hl < criteria.min_hessian || hr < criteria.min_hessian {
            return None;
        }
        if let Some(counts) = constraints.counts
            && (rows < criteria.min_rows || counts.total - rows < criteria.min_rows)
        {
            return None;
        }
        if let Some(direction) = constraints.direction {
            let l = criteria.value(gl, hl, constraints.limits);
            let r = criteria.value(gr, hr, constraints.limits);
            let violates = match direction {
                Direction::Rising => l > r,
                Direction::Falling => l < r,
            };
            if violates {
                return None;
            }
        }
        Some(
            criteria.structure_score(gl, hl, constraints.limits)
                + criteria.structure_score(gr, hr, constraints.limits),
        )
    }

    /// Like [`HistogramSearch::search_each_bin`] without l1, row counts and monotone constraints,
    /// several bins at a time.
    #[inline(always)]
    pub(crate) fn search_fast(
        &self,
        criteria: &SplitCriteria,
        buffers: &mut ScanBuffers,
    ) -> Option<FoundSplit> {
        let mut best: Option<FoundSplit> = None;
        for missing in [Side::Right, Side::Left] {
            let Some((start, candidate_bins)) = self.scan_start(missing) else { continue };
            if let Some((bin, split_score)) =
                buffers.scan(self.values, candidate_bins, start, self.total, criteria)
                && best.is_none_or(|best| split_score > best.split_score)
            {
                best = Some(FoundSplit {
                    split_score,
                    bin: bin as u8,
                    missing,
                    left: buffers.sums[bin],
                });
            }
        }
        best
    }
}

/// The sum of gradients and the sum of hessians of a packed sum.
#[inline(always)]
pub(crate) fn unpack_floats(packed: u64) -> (f64, f64) {
    let (g, h) = unpack(packed);
    (f64::from(g), f64::from(h))
}

/// Buffers of a scan.
#[derive(Debug)]
pub(crate) struct ScanBuffers {
    /// For each bin, the packed sum of the left side that ends with this bin.
    sums: [u64; CELLS],
    /// For each bin, the sum of both sides' structure scores if the left side ends with this bin.
    split_scores: [f64; CELLS],
}

impl Default for ScanBuffers {
    fn default() -> Self {
        Self { sums: [0; CELLS], split_scores: [0.0; CELLS] }
    }
}

/// Number of bins valued together, so that the loop is vectorised.
const LANES: usize = 4;

impl ScanBuffers {
    /// The best last bin of the left side, among the first `candidate_bins` bins, and the sum of
    /// both sides' structure scores. `start` is the packed sum of the left side before its first
    /// bin, `total` that of the leaf.
    #[inline(always)]
    fn scan(
        &mut self,
        cells: &[u64],
        candidate_bins: usize,
        start: u64,
        total: u64,
        criteria: &SplitCriteria,
    ) -> Option<(usize, f64)> {
        let mut sum = start;
        for (to, cell) in self.sums.iter_mut().zip(&cells[..candidate_bins]) {
            sum = sum.wrapping_add(*cell);
            *to = sum;
        }
        let padded = candidate_bins.next_multiple_of(LANES).min(CELLS);
        // Padding after the last bin must not win: it is filled as if everything were on the left.
        self.sums[candidate_bins..padded].fill(total);
        let mut highest = [f64::NEG_INFINITY; LANES];
        let sums = self.sums[..padded].as_chunks::<LANES>().0;
        let split_scores = self.split_scores[..padded].as_chunks_mut::<LANES>().0;
        for (sums, split_scores) in sums.iter().zip(split_scores) {
            for lane in 0..LANES {
                let (gl, hl) = unpack_floats(sums[lane]);
                let (gr, hr) = unpack_floats(total.wrapping_sub(sums[lane]));
                let split_score = gl * gl / (hl + criteria.l2) + gr * gr / (hr + criteria.l2);
                let is_allowed = (hl >= criteria.min_hessian) & (hr >= criteria.min_hessian);
                let split_score = if is_allowed { split_score } else { f64::NEG_INFINITY };
                split_scores[lane] = split_score;
                highest[lane] =
                    if split_score > highest[lane] { split_score } else { highest[lane] };
            }
        }
        let best = highest.into_iter().fold(f64::NEG_INFINITY, |a, b| if b > a { b } else { a });
        if best == f64::NEG_INFINITY {
            return None;
        }
        let bin = self.split_scores[..candidate_bins]
            .iter()
            .position(|split_score| *split_score == best)?;
        Some((bin, best))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UNCONSTRAINED: SplitConstraints<'static> =
        SplitConstraints { counts: None, limits: ValueLimits::NONE, direction: None };

    fn pack(g: i32, h: u32) -> u64 {
        ((g as u32 as u64) << 32).wrapping_add(u64::from(h))
    }

    fn criteria(l2: f64, min_hessian: f64) -> SplitCriteria {
        let (cat_smooth, cat_l2, max_categories) = (0.0, 0.0, 255);
        SplitCriteria { l1: 0.0, l2, min_hessian, min_rows: 1, cat_smooth, cat_l2, max_categories }
    }

    proptest! {
        #[test]
        fn the_fast_search_equals_its_reference_implementation(
            cells in proptest::collection::vec((-1000_i32..1000, 0_u32..300), 1..255),
            missing in proptest::option::of((-1000_i32..1000, 0_u32..300)),
            l2 in 0_u32..50,
            min_hessian in 1_u32..500,
        ) {
            let values: Vec<u64> = cells.iter().map(|(g, h)| pack(*g, *h)).collect();
            let missing = missing.map(|(g, h)| pack(g, h));
            let total = values.iter().chain(&missing).fold(0_u64, |a, b| a.wrapping_add(*b));
            let search = HistogramSearch { values: &values, missing, total };
            let criteria = criteria(f64::from(l2), f64::from(min_hessian));
            let fast = search.search_fast(&criteria, &mut ScanBuffers::default());
            prop_assert_eq!(fast, search.search_each_bin(&criteria, &UNCONSTRAINED));
        }
    }

    #[test]
    fn a_split_between_values_and_missing_is_possible() {
        let search = HistogramSearch {
            values: &[pack(-5, 2)],
            missing: Some(pack(5, 2)),
            total: pack(0, 4),
        };
        let found = search.search_fast(&criteria(0.0, 1.0), &mut ScanBuffers::default()).unwrap();
        // Both sides have G^2 / H = 5^2 / 2.
        assert_eq!((found.bin, found.missing, found.split_score), (0, Side::Right, 25.0));
    }

    #[test]
    fn constraints_and_row_counts_exclude_splits() {
        let values = [pack(-9, 3), pack(9, 3), pack(-1, 3)];
        let search = HistogramSearch { values: &values, missing: None, total: pack(-1, 9) };
        let criteria = criteria(0.0, 1.0);
        let unconstrained = search.search_each_bin(&criteria, &UNCONSTRAINED).unwrap();
        // The left side should have the higher value, which a rising feature forbids.
        assert_eq!(unconstrained.bin, 0);
        let rising = SplitConstraints { direction: Some(Direction::Rising), ..UNCONSTRAINED };
        assert_eq!(search.search_each_bin(&criteria, &rising).unwrap().bin, 1);
        let counts = Some(RowCounts::new(&[1, 1, 5], 0));
        let counted = SplitConstraints { counts, ..UNCONSTRAINED };
        let two_rows = SplitCriteria { min_rows: 2, ..criteria };
        assert_eq!(search.search_each_bin(&two_rows, &counted).unwrap().bin, 1);
        assert_eq!(
            search.search_each_bin(&SplitCriteria { min_rows: 4, ..criteria }, &counted),
            None
        );
        let narrow =
            SplitConstraints { limits: ValueLimits { low: 0.0, high: 1.0 }, ..UNCONSTRAINED };
        let value = criteria.value(-9.0, 3.0, narrow.limits);
        assert_eq!(value, 1.0);
        let limited = search.search_each_bin(&criteria, &narrow).unwrap();
        assert!(limited.split_score < unconstrained.split_score);
    }
}
