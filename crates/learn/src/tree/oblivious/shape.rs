//! The full shape of an oblivious tree: all splits of all levels, and the rows of every leaf.
//!
//! A position of a level is one of the 2^d nodes below d tests. A grown leaf, whose rows share one
//! value, may stand at several positions, because tests that do not split it copy it to both sides.

use rankwright_model::{Child, Side, Split, SplitCondition};

use super::EvaluatedLevel;
use crate::error::LearnError;
use crate::tree::expand::{Expander, GrowingLeaf, RowBuffers};
use crate::tree::partition::left_bytes;

/// Number of rows that reach each position of the last level; `positions` holds the index of the
/// grown leaf at each. Rows of a leaf with several positions are routed by the split tests.
pub(super) fn rows_of_positions(
    expander: &Expander<'_>,
    nodes: &[GrowingLeaf],
    positions: &[usize],
    levels: &[EvaluatedLevel],
    row_buffers: &RowBuffers<'_>,
) -> Result<Vec<u64>, LearnError> {
    // The number of positions of each grown leaf.
    let mut position_counts = vec![0_usize; nodes.len()];
    positions.iter().for_each(|leaf| position_counts[*leaf] += 1);
    let binned = expander.binned;
    let level_test = |level: &EvaluatedLevel| {
        let EvaluatedLevel { feature, test, .. } = level;
        let bins = binned.feature(feature.packing.feature);
        let goes_left = left_bytes(feature.packing, bins, test.bin.into(), test.missing);
        (binned.column(feature.column as usize), goes_left)
    };
    let level_tests: Vec<_> = levels.iter().map(level_test).collect();
    let mut rows = vec![0_u64; positions.len()];
    for (node, _) in nodes.iter().zip(&position_counts).filter(|(_, count)| **count > 1) {
        for row in row_buffers.rows(node) {
            let position = level_tests.iter().fold(0, |position, (column, goes_left)| {
                2 * position + usize::from(1 - goes_left[usize::from(column[*row as usize])])
            });
            rows[position] += 1;
        }
    }
    expander.collective.sum(&mut rows)?;
    for (rows, leaf) in rows.iter_mut().zip(positions) {
        if position_counts[*leaf] == 1 {
            *rows = nodes[*leaf].rows;
        }
    }
    Ok(rows)
}

/// All splits, level by level, and from left to right within a level; `rows` are the numbers of
/// rows of the leaves of the tree.
pub(super) fn splits(
    expander: &Expander<'_>,
    levels: &[EvaluatedLevel],
    rows: &[u64],
) -> Vec<Split> {
    let mut splits = Vec::with_capacity(rows.len());
    for (depth, level) in levels.iter().enumerate() {
        let EvaluatedLevel { feature, test, gains } = level;
        // For the children of this level's splits: the number of leaves below each child, and the
        // number of rows that reach each child.
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
        // Without a bound after it, the last bin on the left is the last bin of values.
        let bound = bins.bounds.get(usize::from(test.bin)).copied();
        let is_last_level = leaves_below == 1;
        for (position, gain) in gains.iter().enumerate() {
            let rows_here = child_rows[2 * position] + child_rows[2 * position + 1];
            // The gain of the grown leaf's split, divided among its positions by their rows.
            let gain_here =
                |(gain, leaf_rows): (f64, u64)| gain * (rows_here as f64 / leaf_rows.max(1) as f64);
            let child = |side: usize| match is_last_level {
                true => Child::Leaf((2 * position + side) as u32),
                // There are 2^(depth + 1) - 1 splits up to this level.
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
