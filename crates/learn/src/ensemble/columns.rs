//! Columns of numbers, stored query by query: all values of a query's first column, then of its
//! second, and so on, so that one column of a query is read without the others.

use std::ops::Range;

use rankwright_data::Dataset;
use rayon::prelude::*;

/// Numbers by row and column, for the rows of a data set.
#[derive(Debug, Clone)]
pub(crate) struct QueryColumns<T> {
    values: Vec<T>,
    columns: usize,
    /// The rows of each query.
    queries: Vec<Range<usize>>,
}

impl<T: Copy + Into<f64> + Send + Sync> QueryColumns<T> {
    /// Stores values that are given row by row, each row with this number of columns.
    pub(crate) fn new(data: &Dataset, rows: &[T], columns: usize) -> Self {
        let queries: Vec<Range<usize>> = (0..data.queries()).map(|q| data.query_rows(q)).collect();
        let transposed = |query: &Range<usize>| {
            let query_values = &rows[query.start * columns..query.end * columns];
            let column = |column: usize| query_values.iter().skip(column).step_by(columns).copied();
            (0..columns).flat_map(column).collect::<Vec<T>>()
        };
        let values = queries.par_iter().flat_map_iter(transposed).collect();
        Self { values, columns, queries }
    }

    /// Number of columns.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// One column of a query, by row.
    pub(crate) fn column(&self, query: usize, column: usize) -> &[T] {
        let rows = &self.queries[query];
        let start = rows.start * self.columns + column * rows.len();
        &self.values[start..start + rows.len()]
    }

    /// The weighted sum of each row, in the order of the columns.
    pub(crate) fn scores(&self, weights: &[f64]) -> Vec<f64> {
        let mut scores = vec![0.0; self.queries.last().map_or(0, |rows| rows.end)];
        self.for_each_query(&mut scores, |query, scores| {
            let used = weights.iter().enumerate().filter(|(_, weight)| **weight != 0.0);
            for (column, weight) in used {
                add_multiple(scores, *weight, self.column(query, column));
            }
        });
        scores
    }

    /// Adds a multiple of one column to scores.
    pub(crate) fn add_column(&self, scores: &mut [f64], factor: f64, column: usize) {
        self.for_each_query(scores, |query, scores| {
            add_multiple(scores, factor, self.column(query, column))
        });
    }

    /// Calls `change` for each query with the scores of its rows.
    fn for_each_query(&self, scores: &mut [f64], change: impl Fn(usize, &mut [f64]) + Sync) {
        let mut remaining = scores;
        let mut query_scores = Vec::with_capacity(self.queries.len());
        for rows in &self.queries {
            let (first, later) = remaining.split_at_mut(rows.len());
            query_scores.push(first);
            remaining = later;
        }
        // At least 8 queries for a task: a single small query is less work than starting a task.
        let tasks = query_scores.into_par_iter().enumerate().with_min_len(8);
        tasks.for_each(|(query, scores)| change(query, scores));
    }
}

/// Adds a multiple of values to scores.
fn add_multiple<T: Copy + Into<f64>>(scores: &mut [f64], factor: f64, values: &[T]) {
    for (score, value) in scores.iter_mut().zip(values) {
        *score += factor * (*value).into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::test_support::rows;

    #[test]
    fn columns_and_sums_are_those_of_the_rows() {
        let data = rows(&[
            ("a", 0.0, &[1.0, 2.0, 3.0]),
            ("a", 0.0, &[4.0, 5.0, 6.0]),
            ("b", 0.0, &[7.0, 8.0, 9.0]),
        ]);
        let columns = QueryColumns::new(&data, data.matrix().values(), 3);
        assert_eq!(columns.columns(), 3);
        assert_eq!(columns.column(0, 1), [2.0, 5.0]);
        assert_eq!(columns.column(1, 2), [9.0]);
        let mut scores = columns.scores(&[1.0, 0.0, -2.0]);
        assert_eq!(scores, [-5.0, -8.0, -11.0]);
        columns.add_column(&mut scores, 10.0, 1);
        assert_eq!(scores, [15.0, 42.0, 69.0]);
    }
}
