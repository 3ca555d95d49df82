//! Leaf values: one Newton step for each leaf, or one for all leaves together. The parameter
//! `newton` chooses one of three kinds:
//!
//! `per-document`: `-G / (H + l2)`, where G and H are the sums of gradients and hessians of the
//! leaf's documents (Burges 2010). `cross-leaf`: H is the sum of h, the hessian of a pair, over
//! those pairs only that have one document in the leaf and one in another leaf, because the leaf's
//! value does not change the score difference of a pair inside it; a leaf without such pairs gets
//! 0. `joint`: the pairs between leaves form a Laplacian matrix A (A_ll = sum of h over pairs with
//! one document in leaf l, A_lm = - sum of h over pairs between l and m), and the values v solve
//! `(A + (ridge * mean of A's diagonal + l2) I) v = -G`; the ridge removes the null space (raising
//! all leaves together changes no score difference).
//!
//! All sums are fixed-point integers of 64 bits (the wide sums of
//! [`Scales::wide`](crate::tree::Scales::wide)), so neither threads nor order matter; the joint
//! system is solved by Cholesky's method in a fixed order. Cost: O(rows), plus O(pairs) for
//! `cross-leaf` and `joint`, and O(leaves^3) for `joint`.

use rayon::prelude::*;

use super::params::{BoostConfig, Newton};
use super::queries::{AllDerivatives, QueryPass, TrainingQueries};
use crate::cholesky::solve;
use crate::collective::Collective;
use crate::error::LearnError;
use crate::tree::{GrownRows, GrownTree, Scales, ValueLimits};

/// Number of rows summed by one parallel task.
const CHUNK_ROWS: usize = 1 << 14;

/// Input from which leaf values are computed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ValueInput<'a> {
    pub(crate) params: &'a BoostConfig,
    pub(crate) derivatives: &'a AllDerivatives,
    pub(crate) scales: &'a Scales,
    pub(crate) collective: &'a dyn Collective,
}

/// The value of each leaf, before shrinkage.
pub(crate) fn leaf_values(
    grown: &GrownTree,
    rows: &dyn GrownRows,
    input: ValueInput<'_>,
    queries: &mut TrainingQueries<'_>,
    pass: QueryPass<'_>,
) -> Result<Vec<f64>, LearnError> {
    let sums = leaf_sums(grown, rows, input)?;
    let tree = &input.params.tree;
    let limits = |leaf: usize| grown.leaves.get(leaf).map_or(ValueLimits::NONE, |l| l.limits);
    let step = |leaf: usize, g: f64, h: f64| newton_step(g, h, tree.l1, tree.l2, limits(leaf));
    let sums: Vec<(f64, f64)> =
        sums.into_iter().map(|sums| input.scales.wide_to_floats(sums)).collect();
    // The index, the gradient sum and the hessian sum of each leaf.
    let by_leaf = || sums.iter().copied().enumerate();
    if input.params.newton == Newton::PerDocument {
        return Ok(by_leaf().map(|(leaf, (g, h))| step(leaf, g, h)).collect());
    }
    let leaves = grown.leaves.len();
    let leaf_of = leaf_of_rows(grown, rows, pass.scores.len());
    let joint = input.params.newton == Newton::Joint;
    let hessian_sums = pair_hessian_sums(&leaf_of, leaves, joint, input, queries, pass)?;
    let denominator = |leaf: usize| hessian_sums[if joint { leaf * leaves + leaf } else { leaf }];
    if !joint {
        return Ok(by_leaf().map(|(leaf, (g, _))| step(leaf, g, denominator(leaf))).collect());
    }
    let mean_diagonal = (0..leaves).map(denominator).sum::<f64>() / leaves as f64;
    let minus_gradient: Vec<f64> = sums.iter().map(|(g, _)| -shrunk(*g, tree.l1)).collect();
    let ridge = input.params.ridge * mean_diagonal + tree.l2;
    let values = solve(hessian_sums, minus_gradient, ridge).into_iter().enumerate();
    Ok(values.map(|(leaf, v)| v.clamp(limits(leaf).low, limits(leaf).high)).collect())
}

/// `-G / (H + l2)` with G shrunk by l1, within the limits; 0 if the denominator is 0.
fn newton_step(g: f64, h: f64, l1: f64, l2: f64, limits: ValueLimits) -> f64 {
    let denominator = h + l2;
    let value = if denominator > 0.0 { -shrunk(g, l1) / denominator } else { 0.0 };
    value.clamp(limits.low, limits.high)
}

/// The gradient sum after the l1 penalty (soft thresholding).
fn shrunk(g: f64, l1: f64) -> f64 {
    if l1 == 0.0 { g } else { g.signum() * (g.abs() - l1).max(0.0) }
}

/// The wide sums of gradients and hessians of each leaf, over all processes.
fn leaf_sums(
    grown: &GrownTree,
    rows: &dyn GrownRows,
    input: ValueInput<'_>,
) -> Result<Vec<[i64; 2]>, LearnError> {
    let AllDerivatives { gradient, hessian } = input.derivatives;
    let add = |a: [i64; 2], b: [i64; 2]| [a[0].wrapping_add(b[0]), a[1].wrapping_add(b[1])];
    let of_rows = |rows: &[u32]| {
        rows.iter().fold([0; 2], |sum, row| {
            let row = *row as usize;
            add(sum, input.scales.wide(gradient[row], hessian[row]))
        })
    };
    let of_leaf =
        |leaf| rows.rows_of(leaf).par_chunks(CHUNK_ROWS).map(of_rows).reduce(|| [0; 2], add);
    let sums: Vec<[i64; 2]> = grown.leaves.par_iter().map(of_leaf).collect();
    let mut cells: Vec<u64> = sums.iter().flatten().map(|sum| *sum as u64).collect();
    input.collective.sum(&mut cells)?;
    Ok(cells.as_chunks().0.iter().map(|[g, h]| [*g as i64, *h as i64]).collect())
}

/// The index of each row's leaf; `u32::MAX` for rows outside the sample, which are in no leaf.
pub(crate) fn leaf_of_rows(grown: &GrownTree, rows: &dyn GrownRows, count: usize) -> Vec<u32> {
    let mut leaf_of = vec![u32::MAX; count];
    for (number, leaf) in grown.leaves.iter().enumerate() {
        for row in rows.rows_of(leaf) {
            leaf_of[*row as usize] = number as u32;
        }
    }
    leaf_of
}

/// Sums of the hessians of pairs between two leaves, over all processes: for each leaf, or if
/// `joint` the Laplacian matrix of all leaves, row by row. `leaf_of` is the leaf of each row.
fn pair_hessian_sums(
    leaf_of: &[u32],
    leaves: usize,
    joint: bool,
    input: ValueInput<'_>,
    queries: &mut TrainingQueries<'_>,
    pass: QueryPass<'_>,
) -> Result<Vec<f64>, LearnError> {
    let cells = if joint { leaves * leaves } else { leaves };
    let scale = input.scales.wide_hessian_scale();
    let mut sums = queries.sum_by_pairs(pass, cells, |row, other_row, h, sums| {
        // Only pairs of sampled queries are visited, so both rows are in a leaf.
        let (l, m) = (leaf_of[row] as usize, leaf_of[other_row] as usize);
        if l == m {
            return;
        }
        let h = (h * scale) as i64 as u64;
        let mut add = |cell: usize, h: u64| sums[cell] = sums[cell].wrapping_add(h);
        if joint {
            add(l * leaves + l, h);
            add(m * leaves + m, h);
            add(l * leaves + m, h.wrapping_neg());
            add(m * leaves + l, h.wrapping_neg());
        } else {
            add(l, h);
            add(m, h);
        }
    })?;
    input.collective.sum(&mut sums)?;
    Ok(sums.into_iter().map(|sum| sum as i64 as f64 / scale).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leaf_without_pairs_gets_the_value_0() {
        // Joint: the second leaf has no pairs.
        assert_eq!(solve(vec![1.0, 0.0, 0.0, 0.0], vec![2.0, 3.0], 0.0), [2.0, 0.0]);
        assert_eq!(newton_step(3.0, 0.0, 0.0, 0.0, ValueLimits::NONE), 0.0);
        // -(3 - l1) / (1 + l2) with both penalties 1.
        assert_eq!(newton_step(3.0, 1.0, 1.0, 1.0, ValueLimits::NONE), -1.0);
    }
}
