//! The best set of categories of one feature in one leaf.
//!
//! G and H are the sums of gradients and hessians of a category or of a side of the split. With the
//! structure score `G^2 / (H + l2)` of a side, the best partition of the categories into two sets
//! is a prefix of their order by `G / H` (Fisher 1958; Breiman et al. 1984 for trees), so that a
//! sort and a scan replace 2^n subsets. In that order, categories with few rows would lie at the
//! ends by chance; therefore all are ordered by `G / (H + cat_smooth)`, and sets are valued with
//! `l2` raised by `cat_l2`, as LightGBM does. The set that goes left is taken from the low end or
//! from the high end of this order and has at most `max_categories` categories. All other
//! categories go right, together with missing values, categories too rare for a bin, and categories
//! that the leaf does not have. If the feature has at most [`MAX_ONE_VS_REST`] categories, only
//! sets of one category are tried, with `l2` alone.
//!
//! Categories with equal keys are ordered by number; of sets with equal scores, one from the low
//! end wins, then the one with fewer categories. Cost O(n log n) for n categories. A
//! [`FoundSplit`] holds the size of the set and the end; [`set_of`] computes the set from the same
//! cells again when the split is applied. With no category, or with one category and nothing
//! missing, there is no split.

use rankwright_model::Side;

use super::quantise::unpack;
use super::split::{FoundSplit, HistogramSearch, SplitConstraints, SplitCriteria};
use crate::bins::CELLS;

/// Features with at most this many categories are split into one category against all others
/// (LightGBM's `max_cat_to_onehot`).
const MAX_ONE_VS_REST: usize = 4;

/// A set of bins: for each bin, 1 if it is in the set, which goes left, else 0.
pub(crate) type BinSet = [u8; CELLS];

/// The bins with a sum other than 0, ordered by `G / (H + smooth)`.
fn order(cells: &[u64], smooth: f64) -> Vec<u8> {
    let key = |cell: u64| {
        let (g, h) = unpack(cell);
        f64::from(g) / (f64::from(h) + smooth)
    };
    let used = cells.iter().enumerate().filter(|(_, cell)| **cell != 0);
    let mut keyed: Vec<(f64, u8)> = used.map(|(bin, cell)| (key(*cell), bin as u8)).collect();
    keyed.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    keyed.into_iter().map(|(_, bin)| bin).collect()
}

/// The best set for a leaf. In the result, `bin` is the number of categories in the set minus one
/// (or the bin of its only category, if the feature has at most [`MAX_ONE_VS_REST`] categories),
/// and `missing` is the end of the order from which the set is taken: left is the low end.
pub(crate) fn best_set(
    search: &HistogramSearch<'_>,
    criteria: &SplitCriteria,
    constraints: &SplitConstraints<'_>,
) -> Option<FoundSplit> {
    let mut best: Option<FoundSplit> = None;
    let mut consider = |bin: u8, end: Side, left: u64, rows: u64, criteria: &SplitCriteria| {
        if let Some(split_score) = search.score_of_split(left, rows, criteria, constraints)
            && best.is_none_or(|best| split_score > best.split_score)
        {
            best = Some(FoundSplit { split_score, bin, missing: end, left });
        }
    };
    let rows_of = |bin: u8| constraints.counts.map_or(0, |counts| counts.values[usize::from(bin)]);
    if search.values.len() <= MAX_ONE_VS_REST {
        for (bin, cell) in search.values.iter().enumerate().filter(|(_, cell)| **cell != 0) {
            consider(bin as u8, Side::Left, *cell, rows_of(bin as u8), criteria);
        }
        return best;
    }
    let with_cat_l2 = SplitCriteria { l2: criteria.l2 + criteria.cat_l2, ..*criteria };
    let mut order = order(search.values, criteria.cat_smooth);
    for end in [Side::Left, Side::Right] {
        let (mut left, mut rows) = (0_u64, 0);
        for (size_minus_one, bin) in order.iter().take(criteria.max_categories).enumerate() {
            left = left.wrapping_add(search.values[usize::from(*bin)]);
            rows += rows_of(*bin);
            consider(size_minus_one as u8, end, left, rows, &with_cat_l2);
        }
        order.reverse();
    }
    best
}

/// The set of bins of the split that [`best_set`] found in these cells.
pub(crate) fn set_of(cells: &[u64], criteria: &SplitCriteria, found: &FoundSplit) -> BinSet {
    let mut set = [0; CELLS];
    if cells.len() <= MAX_ONE_VS_REST {
        set[usize::from(found.bin)] = 1;
        return set;
    }
    let mut order = order(cells, criteria.cat_smooth);
    if found.missing == Side::Right {
        order.reverse();
    }
    for bin in order.iter().take(usize::from(found.bin) + 1) {
        set[usize::from(*bin)] = 1;
    }
    set
}

#[cfg(test)]
mod tests {
    use super::super::split::{RowCounts, ValueLimits};
    use super::*;
    use proptest::prelude::*;

    fn pack(g: i32, h: u32) -> u64 {
        (u64::from(g as u32) << 32).wrapping_add(u64::from(h))
    }

    fn criteria(cat_smooth: f64, cat_l2: f64, max_categories: usize) -> SplitCriteria {
        SplitCriteria {
            l1: 0.0,
            l2: 0.5,
            min_hessian: 1.0,
            min_rows: 3,
            cat_smooth,
            cat_l2,
            max_categories,
        }
    }

    /// A category: gradient, hessian, rows.
    type Cell = (i32, u32, u64);

    /// Any category; one of seven is empty.
    fn cell() -> impl Strategy<Value = Cell> {
        prop_oneof![1 => Just((0, 0, 0)), 6 => (-40_i32..40, 1_u32..30, 1_u64..9)]
    }

    /// The structure score of the categories in `left` plus that of all others, by direct sums;
    /// `None` if a side is too small. `other` are the rows without a category of their own, which
    /// go right.
    fn split_score(
        all: &[Cell],
        other: Cell,
        left: &[usize],
        l2: f64,
        criteria: &SplitCriteria,
    ) -> Option<f64> {
        let mut sides = [(0.0, 0.0, 0); 2];
        let cells =
            all.iter().enumerate().map(|(bin, cell)| (usize::from(!left.contains(&bin)), cell));
        for (side, (g, h, rows)) in cells.chain([(1, &other)]) {
            let sums = &mut sides[side];
            *sums = (sums.0 + f64::from(*g), sums.1 + f64::from(*h), sums.2 + rows);
        }
        let is_large_enough = |(_, h, rows): &(f64, f64, u64)| {
            *h >= criteria.min_hessian && *rows >= criteria.min_rows
        };
        let scores = sides.iter().map(|(g, h, _)| g * g / (h + l2));
        sides.iter().all(is_large_enough).then(|| scores.sum())
    }

    /// Tries every prefix from both ends, by direct computation: the best structure score and its
    /// set.
    fn reference(all: &[Cell], other: Cell, criteria: &SplitCriteria) -> Option<(f64, Vec<usize>)> {
        let mut used: Vec<usize> = (0..all.len()).filter(|bin| all[*bin].1 > 0).collect();
        let mut sets: Vec<Vec<usize>> = used.iter().map(|bin| vec![*bin]).collect();
        let mut l2 = criteria.l2;
        if all.len() > MAX_ONE_VS_REST {
            let key = |bin: &usize| {
                let (g, h, _) = all[*bin];
                f64::from(g) / (f64::from(h) + criteria.cat_smooth)
            };
            used.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
            let max_size = criteria.max_categories.min(used.len());
            let low = (1..=max_size).map(|n| used[..n].to_vec());
            let high = (1..=max_size).map(|n| used[used.len() - n..].to_vec());
            sets = low.chain(high).collect();
            l2 += criteria.cat_l2;
        }
        let mut best: Option<(f64, Vec<usize>)> = None;
        for mut set in sets {
            set.sort_unstable();
            if let Some(split_score) = split_score(all, other, &set, l2, criteria)
                && best.as_ref().is_none_or(|(best_score, _)| split_score > *best_score)
            {
                best = Some((split_score, set));
            }
        }
        best
    }

    fn total(all: &[Cell], other: Cell) -> u64 {
        let add = |sum: u64, (g, h, _): &Cell| sum.wrapping_add(pack(*g, *h));
        all.iter().chain([&other]).fold(0, add)
    }

    fn members(set: &BinSet) -> Vec<usize> {
        (0..CELLS).filter(|bin| set[*bin] == 1).collect()
    }

    proptest! {
        #[test]
        fn the_best_set_is_that_of_the_reference_implementation(
            all in proptest::collection::vec(cell(), 0..20),
            other in cell(), smooth in 0_u8..3, max_categories in 1_usize..30,
        ) {
            let criteria = criteria(f64::from(smooth) * 5.0, f64::from(smooth), max_categories);
            let values: Vec<u64> = all.iter().map(|(g, h, _)| pack(*g, *h)).collect();
            let rows: Vec<u64> = all.iter().map(|(.., rows)| *rows).collect();
            let total = total(&all, other);
            let search = HistogramSearch { values: &values, missing: None, total };
            let counts = Some(RowCounts::new(&rows, other.2));
            let constraints =
                SplitConstraints { counts, limits: ValueLimits::NONE, direction: None };
            let found = best_set(&search, &criteria, &constraints);
            let expected = reference(&all, other, &criteria);
            prop_assert_eq!(found.is_some(), expected.is_some());
            if let (Some(found), Some((split_score, set))) = (found, expected) {
                prop_assert_eq!(found.split_score, split_score);
                prop_assert_eq!(members(&set_of(&values, &criteria, &found)), set.clone());
                let left = set.iter().fold(0_u64, |sum, bin| sum.wrapping_add(values[*bin]));
                prop_assert_eq!(found.left, left);
            }
        }

        #[test]
        fn without_smoothing_the_best_prefix_is_the_best_subset(
            sums in proptest::collection::vec((-40_i32..40, 1_u32..9), 5..=8),
        ) {
            // Squared loss: the hessian sum is the number of rows.
            let all: Vec<Cell> = sums.iter().map(|(g, n)| (*g, *n, u64::from(*n))).collect();
            let values: Vec<u64> = all.iter().map(|(g, h, _)| pack(*g, *h)).collect();
            let unlimited = SplitCriteria { l2: 0.0, min_rows: 1, ..criteria(0.0, 0.0, 255) };
            let total = total(&all, (0, 0, 0));
            let search = HistogramSearch { values: &values, missing: None, total };
            let constraints =
                SplitConstraints { counts: None, limits: ValueLimits::NONE, direction: None };
            let found = best_set(&search, &unlimited, &constraints).unwrap();
            let subsets = (1..(1_usize << all.len()) - 1).map(|bits| {
                let set: Vec<usize> = (0..all.len()).filter(|bin| bits >> bin & 1 == 1).collect();
                split_score(&all, (0, 0, 0), &set, 0.0, &unlimited).unwrap()
            });
            let best = subsets.fold(f64::NEG_INFINITY, f64::max);
            let difference = (found.split_score - best).abs();
            prop_assert!(difference <= 1e-9 * best.abs().max(1.0), "{best}");
        }
    }

    #[test]
    fn categories_with_equal_sums_are_ordered_by_number() {
        let values = [pack(-9, 4), pack(3, 4), pack(-9, 4), pack(3, 4), pack(3, 4), pack(9, 4)];
        let sum = values.iter().fold(0_u64, |sum, cell| sum.wrapping_add(*cell));
        let search = HistogramSearch { values: &values, missing: None, total: sum };
        let constraints =
            SplitConstraints { counts: None, limits: ValueLimits::NONE, direction: None };
        let one_category = criteria(0.0, 0.0, 1);
        let found = best_set(&search, &one_category, &constraints).unwrap();
        // The three categories with gradient 3 are not separated: a set of one category is category
        // 0 from the low end, or category 5 from the high end.
        let set = members(&set_of(&values, &one_category, &found));
        assert!(set == [0] || set == [5], "{set:?}");
        let two_categories = criteria(0.0, 0.0, 2);
        let found = best_set(&search, &two_categories, &constraints).unwrap();
        assert_eq!(members(&set_of(&values, &two_categories, &found)), [0, 2]);
    }
}
