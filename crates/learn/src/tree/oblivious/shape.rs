//! The full shape of an oblivious tree: all splits of all levels, and the rows of every leaf.

use rankwright_model::{Child, Side, Split, SplitCondition};

use super::EvaluatedLevel;
use crate::error::LearnError;
use crate::tree::expand::{Arena, Expander, GrowingLeaf};
use crate::tree::partition::left_bytes;

/// Number of rows that reach each position of the last level. Rows of a leaf with several positions
/// are routed by the split tests.
pub(super) fn rows_of_positions(
    expander: &Expander<'_>,
    nodes: &[GrowingLeaf],
    positions: &[usize],
    levels: &[EvaluatedLevel],
    arena: &Arena<'_>,
) -> Result<Vec<u64>, LearnError> {
    let mut times = vec![0_usize; nodes.len()];
    positions.iter().for_each(|at| times[*at] += 1);
    let binned = expander.binned;
    let level_test = |level: &EvaluatedLevel| {
        let EvaluatedLevel { feature, test, .. } = level;
        let bins = binned.feature(feature.member.feature)?;
        let left = left_bytes(feature.member, bins, test.bin.into(), test.missing);
        Some((binned.column(feature.column as usize), left))
    };
    let level_tests: Vec<_> = levels.iter().filter_map(level_test).collect();
    let mut rows = vec![0_u64; positions.len()];
    for (node, _) in nodes.iter().zip(&times).filter(|(_, times)| **times > 1) {
        for row in arena.rows(node) {
            let position = level_tests.iter().fold(0, |position, (column, left)| {
                2 * position + usize::from(1 - left[usize::from(column[*row as usize])])
            });
            rows[position] += 1;
        }
    }
    expander.collective.sum(&mut rows)?;
    for (rows, at) in rows.iter_mut().zip(positions) {
        if times[*at] == 1 {
            *rows = nodes[*at].rows;
        }
    }
    Ok(rows)
}

/// All splits, level by level; `rows` are the row counts of the leaves.
pub(super) fn splits(
    expander: &Expander<'_>,
    levels: &[EvaluatedLevel],
    rows: &[u64],
) -> Vec<Split> {
    let mut splits = Vec::with_capacity(rows.len());
    for (depth, level) in levels.iter().enumerate() {
        let EvaluatedLevel { feature, test, gains } = level;
        let below = rows.len() >> (depth + 1);
        let halves: Vec<u64> = rows.chunks(below.max(1)).map(|rows| rows.iter().sum()).collect();
        let side = |first: usize| halves.iter().skip(first).step_by(2).sum::<u64>();
        let missing = match feature.missing {
            true => test.missing,
            // No value was missing in training: missing values go with the majority.
            false if side(0) >= side(1) => Side::Left,
            false => Side::Right,
        };
        let bins = expander.binned.feature(feature.member.feature);
        let bound = bins.and_then(|bins| bins.bounds.get(usize::from(test.bin))).copied();
        let last = below == 1;
        for (position, gain) in gains.iter().enumerate() {
            let rows_here = halves[2 * position] + halves[2 * position + 1];
            let share = |(gain, all): (f64, u64)| gain * (rows_here as f64 / all.max(1) as f64);
            let child = |side: usize| match last {
                true => Child::Leaf((2 * position + side) as u32),
                false => Child::Split(((2 << depth) - 1 + 2 * position + side) as u32),
            };
            splits.push(Split {
                feature: feature.member.feature,
                rule: SplitCondition::AtMost(bound.unwrap_or(f32::INFINITY)),
                missing,
                left: child(0),
                right: child(1),
                gain: gain.map_or(0.0, share),
                rows: rows_here,
            });
        }
    }
    splits
}
