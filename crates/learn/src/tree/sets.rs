//! The best set of categories of one feature in one leaf.
//!
//! With the structure score `G^2 / (H + l2)` the best partition of the categories into two sets is
//! a prefix of their order by `G / H` (Fisher 1958; Breiman et al. 1984 for trees), so that a sort
//! and a scan replace 2^n subsets (G and H are a category's sums of gradients and hessians). In
//! that order, categories with few rows would lie at the ends by chance; therefore all are ordered
//! by `G / (H + cat_smooth)`, and sets are valued with `l2` raised by `cat_l2`, as LightGBM does.
//! Prefixes are taken from both ends, of at most `max_categories` categories, and go left. The rest
//! goes right, together with missing values, categories too rare for a bin, and categories that the
//! leaf does not have. Up to [`ONE_VS_REST`] categories are tried one by one, with `l2` alone.
//!
//! Equal keys are ordered by category number; equal scores go to the low end and to the shorter
//! prefix. Cost O(n log n) for n categories. A [`FoundSplit`] holds the length and the end;
//! [`set_of`] computes the set from the same cells again when the split is applied. With no
//! category, or one and nothing missing, there is no split.

use rankwright_model::Side;

use super::quantise::unpack;
use super::split::{FoundSplit, HistogramSearch, SplitConstraints, SplitCriteria};
use crate::bins::CELLS;

/// Up to this many categories, each is tried against all others.
const ONE_VS_REST: usize = 4;

/// A set of bins: 1 if the bin goes left.
pub(crate) type BinSet = [u8; CELLS];

/// The non-empty bins, ordered by `G / (H + smooth)`.
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
/// (or the bin of its only category, if the feature has at most [`ONE_VS_REST`] categories), and
/// `missing` is the end of the order that the set is taken from: left is the low end.
pub(crate) fn best_set(
    search: &HistogramSearch<'_>,
    criteria: &SplitCriteria,
    constraints: &SplitConstraints<'_>,
) -> Option<FoundSplit> {
    let mut best: Option<FoundSplit> = None;
    let mut consider = |bin: u8, end: Side, left: u64, rows: u64, criteria: &SplitCriteria| {
        if let Some(structure_score) = search.score_of_split(left, rows, criteria, constraints)
            && best.is_none_or(|best| structure_score > best.structure_score)
        {
            best = Some(FoundSplit { structure_score, bin, missing: end, left });
        }
    };
    let rows_of = |bin: u8| {
        constraints.counts.map_or(0, |c| c.values.get(usize::from(bin)).copied().unwrap_or(0))
    };
    if search.values.len() <= ONE_VS_REST {
        for (bin, cell) in search.values.iter().enumerate().filter(|(_, cell)| **cell != 0) {
            consider(bin as u8, Side::Left, *cell, rows_of(bin as u8), criteria);
        }
        return best;
    }
    let with_cat_l2 = SplitCriteria { l2: criteria.l2 + criteria.cat_l2, ..*criteria };
    let mut order = order(search.values, criteria.cat_smooth);
    for end in [Side::Left, Side::Right] {
        let (mut left, mut rows) = (0_u64, 0);
        for (at, bin) in order.iter().take(criteria.max_categories).enumerate() {
            left = left.wrapping_add(search.values[usize::from(*bin)]);
            rows += rows_of(*bin);
            consider(at as u8, end, left, rows, &with_cat_l2);
        }
        order.reverse();
    }
    best
}

/// The set of the split that [`best_set`] found in these cells.
pub(crate) fn set_of(cells: &[u64], criteria: &SplitCriteria, found: &FoundSplit) -> BinSet {
    let mut set = [0; CELLS];
    if cells.len() <= ONE_VS_REST {
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
    use super::super::split::{Limits, RowCounts};
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

    fn cell() -> impl Strategy<Value = Cell> {
        prop_oneof![1 => Just((0, 0, 0)), 6 => (-40_i32..40, 1_u32..30, 1_u64..9)]
    }

    /// The structure score of the set `left` plus that of the rest, by sums over rows; `None` if a
    /// side is too small. `other` are the rows without a category of their own.
    fn structure_score(
        all: &[Cell],
        other: Cell,
        left: &[usize],
        l2: f64,
        criteria: &SplitCriteria,
    ) -> Option<f64> {
        let mut sides = [(0.0, 0.0, 0); 2];
        let cells =
            all.iter().enumerate().map(|(at, cell)| (usize::from(!left.contains(&at)), cell));
        for (side, (g, h, rows)) in cells.chain([(1, &other)]) {
            let to = &mut sides[side];
            *to = (to.0 + f64::from(*g), to.1 + f64::from(*h), to.2 + rows);
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
        let mut used: Vec<usize> = (0..all.len()).filter(|at| all[*at].1 > 0).collect();
        let mut sets: Vec<Vec<usize>> = used.iter().map(|at| vec![*at]).collect();
        let mut l2 = criteria.l2;
        if all.len() > ONE_VS_REST {
            let key =
                |at: &usize| f64::from(all[*at].0) / (f64::from(all[*at].1) + criteria.cat_smooth);
            used.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
            let most = criteria.max_categories.min(used.len());
            let low = (1..=most).map(|n| used[..n].to_vec());
            let high = (1..=most).map(|n| used[used.len() - n..].to_vec());
            sets = low.chain(high).collect();
            l2 += criteria.cat_l2;
        }
        let mut best: Option<(f64, Vec<usize>)> = None;
        for mut set in sets {
            set.sort_unstable();
            if let Some(structure_score) = structure_score(all, other, &set, l2, criteria)
                && best.as_ref().is_none_or(|(most, _)| structure_score > *most)
            {
                best = Some((structure_score, set));
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
            other in cell(), smooth in 0_u8..3, most in 1_usize..30,
        ) {
            let criteria = criteria(f64::from(smooth) * 5.0, f64::from(smooth), most);
            let values: Vec<u64> = all.iter().map(|(g, h, _)| pack(*g, *h)).collect();
            let rows: Vec<u64> = all.iter().map(|(.., rows)| *rows).collect();
            let search = HistogramSearch { values: &values, missing: None, total: total(&all, other) };
            let counts = Some(RowCounts { values: &rows, missing: other.2 });
            let constraints = SplitConstraints { counts, limits: Limits::NONE, direction: None };
            let found = best_set(&search, &criteria, &constraints);
            let expected = reference(&all, other, &criteria);
            prop_assert_eq!(found.is_some(), expected.is_some());
            if let (Some(found), Some((structure_score, set))) = (found, expected) {
                prop_assert_eq!(found.structure_score, structure_score);
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
            let search = HistogramSearch { values: &values, missing: None, total: total(&all, (0, 0, 0)) };
            let constraints = SplitConstraints { counts: None, limits: Limits::NONE, direction: None };
            let found = best_set(&search, &unlimited, &constraints).unwrap();
            let subsets = (1..(1_usize << all.len()) - 1).map(|bits| {
                let set: Vec<usize> = (0..all.len()).filter(|at| bits >> at & 1 == 1).collect();
                structure_score(&all, (0, 0, 0), &set, 0.0, &unlimited).unwrap()
            });
            let best = subsets.fold(f64::NEG_INFINITY, f64::max);
            prop_assert!((found.structure_score - best).abs() <= 1e-9 * best.abs().max(1.0), "{best}");
        }
    }

    #[test]
    fn categories_with_equal_sums_are_ordered_by_number() {
        let values = [pack(-9, 4), pack(3, 4), pack(-9, 4), pack(3, 4), pack(3, 4), pack(9, 4)];
        let sum = values.iter().fold(0_u64, |sum, cell| sum.wrapping_add(*cell));
        let search = HistogramSearch { values: &values, missing: None, total: sum };
        let constraints = SplitConstraints { counts: None, limits: Limits::NONE, direction: None };
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
