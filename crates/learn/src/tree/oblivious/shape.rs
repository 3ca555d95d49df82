//! The full shape of an oblivious tree: all splits of all levels, and the rows of every leaf.
//!
//! A position of a level is one of the 2^d nodes below d tests. A grown leaf, whose rows share one
//! value, may stand at several positions, because tests that do not split it copy it to both sides.

use rankwright_model::{Child, Side, Split, SplitCondition};

use super::EvaluatedLevel;
use crate::error::LearnError;
use crate::tree::expand::{Arena, Expander, GrowingLeaf};
use crate::tree::partition::left_bytes;

/// Number of rows that reach each position of the last level; `positions` holds the index of the
/// grown leaf at each. Rows of a leaf with several positions are routed by the split tests.
pub(super) fn rows_of_positions(
    expander: &Expander<'_>,
    nodes: &[GrowingLeaf],
    positions: &[usize],
    levels: &[EvaluatedLevel],
    arena: &Arena<'_>,
) -> Result<Vec<u64>, LearnError> {
    let mut position_counts = vec![0_usize; nodes.len()];
    positions.iter().for_each(|at| position_counts[*at] += 1);
    let binned = expander.binned;
    let level_test = |level: &EvaluatedLevel| {
        let EvaluatedLevel { feature, test, .. } = level;
        let bins = binned.feature(feature.packing.feature)?;
        let left = left_bytes(feature.packing, bins, test.bin.into(), test.missing);
        Some((binned.column(feature.column as usize), left))
    };
    let level_tests: Vec<_> = levels.iter().filter_map(level_test).collect();
    let mut rows = vec![0_u64; positions.len()];
    for (node, _) in nodes.iter().zip(&position_counts).filter(|(_, count)| **count > 1) {
        for row in arena.rows(node) {
            let position = level_tests.iter().fold(0, |position, (column, left)| {
                2 * position + usize::from(1 - left[usize::from(column[*row as usize])])
            });
            rows[position] += 1;
        }
    }
    expander.collective.sum(&mut rows)?;
    for (rows, at) in rows.iter_mut().zip(positions) {
        if position_counts[*at] == 1 {
            *rows = nodes[*at].rows;
        }
    }
    Ok(rows)
}

/// All splits, level by level; `rows` are the row counts of the leaves of the tree.
pub(super) fn splits(
    expander: &Expander<'_>,
    levels: &[EvaluatedLevel],
    rows: &[u64],
) -> Vec<Split> {
    let mut splits = Vec::with_capacity(rows.len());
    for (depth, level) in levels.iter().enumerate() {
        let EvaluatedLevel { feature, test, gains } = level;
        // The children of this level's splits: leaves below each, and the rows that reach each.
        let leaves_below = rows.len() >> (depth + 1);
        let child_rows: Vec<u64> =
            rows.chunks(leaves_below.max(1)).map(|rows| rows.iter().sum()).collect();
        let rows_of_side = |side: usize| child_rows.iter().skip(side).step_by(2).sum::<u64>();
        let missing = match feature.missing {
            true => test.missing,
            // No value was missing in training: missing values go with the majority.
            false if rows_of_side(0) >= rows_of_side(1) => Side::Left,
            false => Side::Right,
        };
        let bins = expander.binned.feature(feature.packing.feature);
        let bound = bins.and_then(|bins| bins.bounds.get(usize::from(test.bin))).copied();
        let is_last_level = leaves_below == 1;
        for (position, gain) in gains.iter().enumerate() {
            let rows_here = child_rows[2 * position] + child_rows[2 * position + 1];
            let gain_here =
                |(gain, leaf_rows): (f64, u64)| gain * (rows_here as f64 / leaf_rows.max(1) as f64);
            let child = |side: usize| match is_last_level {
                true => Child::Leaf((2 * position + side) as u32),
                false => Child::Split(((2 << depth) - 1 + 2 * position + side) as u32),
            };
            splits.push(Split {
                feature: feature.packing.feature,
                rule: SplitCondition::AtMost(bound.unwrap_or(f32::INFINITY)),
                missing,
                left: child(0),
                right: child(1),
                gain: gain.map_or(0.0, gain_here),
                rows: rows_here,
            });
        }
    }
    splits
}
