//! Updates the scores of the training data by a tree: leaf by leaf for the rows that the tree was
//! grown from, and for the other rows by routing each through the tree by its bins.
//!
//! Each row gets exactly one addition, whichever task does it, so the number of threads cannot
//! change a bit. Cost: O(rows), and two look-ups for each split on the path of a row that the tree
//! was not grown from.

use std::ops::Range;

use rankwright_data::Dataset;
use rayon::prelude::*;

use crate::tree::{GrownRows, GrownTree};

/// Adds a tree with these leaf values to the scores of all rows. `multiplicities` are those of the
/// queries in the sample: the tree was grown from the queries with a multiplicity above 0, or from
/// all queries if it is `None`.
pub(crate) fn add_tree(
    (grown, rows): (&GrownTree, &dyn GrownRows),
    values: &[f64],
    data: &Dataset,
    multiplicities: Option<&[f32]>,
    scores: &mut [f64],
) {
    add_leaves(grown, rows, values, scores);
    let Some(multiplicities) = multiplicities else { return };
    let routes = rows.routes(grown);
    let queries = split_by_query(data, scores).into_par_iter().zip(multiplicities);
    queries.for_each(|((rows, scores), multiplicity)| {
        if *multiplicity == 0.0 {
            for (row, score) in rows.zip(scores) {
                *score += values[routes.leaf(row)];
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
        let (query_scores, after) = scores.split_at_mut(rows.len());
        scores = after;
        ranges.push((rows, query_scores));
    }
    ranges
}

/// Adds each leaf's value to the scores of its rows, for rows that the tree was grown from. Each
/// task owns a range of rows, and finds the rows in that range in each leaf's ascending list.
pub(crate) fn add_leaves(
    grown: &GrownTree,
    rows: &dyn GrownRows,
    values: &[f64],
    scores: &mut [f64],
) {
    let task_rows = scores.len().div_ceil(4 * rayon::current_num_threads()).max(1);
    scores.par_chunks_mut(task_rows).enumerate().for_each(|(task, scores)| {
        let first = (task * task_rows) as u32;
        let end = first + scores.len() as u32;
        for (leaf, value) in grown.leaves.iter().zip(values) {
            let rows = rows.rows_of(leaf);
            let in_range = rows.partition_point(|r| *r < first)..rows.partition_point(|r| *r < end);
            for row in &rows[in_range] {
                scores[(row - first) as usize] += value;
            }
        }
    });
}
