//! Updates the scores of the training data by a tree: leaf by leaf for the rows that the tree was
//! grown from, and for the other rows by routing each through the tree by its bins.
//!
//! Each row gets exactly one addition, whichever task does it, so the number of threads cannot
//! change a bit. Cost: O(rows), and two look-ups for each split on the path of a row that the tree
//! was not grown from.

use std::ops::Range;

use rankwright_data::Dataset;
use rayon::prelude::*;

use crate::tree::{Grown, GrownRows};

/// Adds a tree with these leaf values to the scores of all rows: `sampled` is the multiplicity of
/// each query, and the tree was grown from the queries with a multiplicity above 0.
pub(crate) fn add_tree(
    (grown, rows): (&Grown, &dyn GrownRows),
    values: &[f64],
    data: &Dataset,
    sampled: Option<&[f32]>,
    to: &mut [f64],
) {
    add_leaves(grown, rows, values, to);
    let Some(sampled) = sampled else { return };
    let routes = rows.routes(grown);
    split_by_query(data, to).into_par_iter().zip(sampled).for_each(|((rows, to), multiplicity)| {
        if *multiplicity == 0.0 {
            for (row, to) in rows.zip(to) {
                *to += values[routes.leaf(row)];
            }
        }
    });
}

/// The row range of each query with its scores.
fn split_by_query<'a>(
    data: &Dataset,
    mut scores: &'a mut [f64],
) -> Vec<(Range<usize>, &'a mut [f64])> {
    let mut ranges = Vec::with_capacity(data.queries());
    for query in 0..data.queries() {
        let rows = data.query_rows(query);
        let (mine, others) = scores.split_at_mut(rows.len());
        scores = others;
        ranges.push((rows, mine));
    }
    ranges
}

/// Adds each leaf's value to the scores of its rows. Each task owns a range of rows, and finds the
/// rows in that range in each leaf's ascending list.
pub(crate) fn add_leaves(grown: &Grown, rows: &dyn GrownRows, values: &[f64], to: &mut [f64]) {
    let chunk = to.len().div_ceil(4 * rayon::current_num_threads()).max(1);
    to.par_chunks_mut(chunk).enumerate().for_each(|(number, to)| {
        let first = (number * chunk) as u32;
        let end = first + to.len() as u32;
        for (leaf, value) in grown.leaves.iter().zip(values) {
            let rows = rows.rows_of(leaf);
            let mine = rows.partition_point(|r| *r < first)..rows.partition_point(|r| *r < end);
            for row in &rows[mine] {
                to[(row - first) as usize] += value;
            }
        }
    });
}
