//! Columns of numbers, stored one after the other, for learners that read one column of all rows at
//! a time.
//!
//! A column has a place for each row: query by query, and within a query in the order that the rows
//! have if their scores are equal ([`RowLayout`]), so that a stable sort of places by score gives
//! the ranking. The places of a query are padded to a multiple of [`LANES`] with zeros, so that
//! loops over groups of [`LANES`] places have no remainder.

use std::ops::Range;
use std::sync::Arc;

use rankwright_data::Dataset;
use rayon::prelude::*;

/// The number of places of a query is a multiple of this: a cache line holds this many f32.
pub(crate) const LANES: usize = 16;

/// A number in a column.
pub(crate) trait ColumnValue: Copy + Default + Into<f64> + Send + Sync {
    /// The nearest f32.
    fn to_f32(self) -> f32;
}

impl ColumnValue for f32 {
    #[inline]
    fn to_f32(self) -> f32 {
        self
    }
}

impl ColumnValue for f64 {
    #[inline]
    fn to_f32(self) -> f32 {
        self as f32
    }
}

/// The places of the rows of a data set.
#[derive(Debug)]
pub(crate) struct RowLayout {
    /// The rows of all queries, in the order of their places, without padding.
    rows: Vec<u32>,
    /// The rows of each query, as a range of `rows`.
    queries: Vec<Range<usize>>,
    /// The first place of each query.
    starts: Vec<usize>,
    /// Number of places.
    len: usize,
}

impl RowLayout {
    /// The layout of the rows of each query in this order; `rows` has those of the first query,
    /// then of the second, and so on.
    pub(crate) fn new(data: &Dataset, rows: Vec<u32>) -> Self {
        let queries: Vec<Range<usize>> = (0..data.queries()).map(|q| data.query_rows(q)).collect();
        let mut len = 0;
        let mut start = |query: &Range<usize>| {
            let start = len;
            len += query.len().next_multiple_of(LANES);
            start
        };
        let starts = queries.iter().map(&mut start).collect();
        Self { rows, queries, starts, len }
    }

    /// Number of queries.
    pub(crate) fn queries(&self) -> usize {
        self.queries.len()
    }

    /// Number of places, with padding.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The rows of a query, in the order of their places.
    pub(crate) fn rows(&self, query: usize) -> &[u32] {
        &self.rows[self.queries[query].clone()]
    }

    /// The places of the rows of a query.
    pub(crate) fn places(&self, query: usize) -> Range<usize> {
        let start = self.starts[query];
        start..start + self.queries[query].len()
    }

    /// The places of a query with padding.
    pub(crate) fn padded_places(&self, query: usize) -> Range<usize> {
        let start = self.starts[query];
        start..start + self.queries[query].len().next_multiple_of(LANES)
    }

    /// Cuts one number for each place into those of each query, with padding.
    pub(crate) fn split<'a, T>(&self, values: &'a mut [T]) -> Vec<&'a mut [T]> {
        let mut remaining = values;
        let mut parts = Vec::with_capacity(self.queries.len());
        for query in &self.queries {
            let (first, later) = remaining.split_at_mut(query.len().next_multiple_of(LANES));
            parts.push(first);
            remaining = later;
        }
        parts
    }
}

/// Numbers by row and column, for the rows of a data set.
#[derive(Debug)]
pub(crate) struct QueryColumns<T> {
    layout: Arc<RowLayout>,
    columns: usize,
    /// All places of the first column, then of the second, and so on.
    values: Vec<T>,
    /// The range of each query in the first column, then in the second, and so on.
    ranges: Vec<ValueRange>,
}

/// The range of some values.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ValueRange {
    /// The largest absolute value; NaN if a value is.
    pub(crate) max_abs: f64,
    /// The largest value less the smallest; NaN if a value is.
    pub(crate) spread: f64,
}

impl ValueRange {
    /// The range of these values.
    pub(crate) fn new(values: impl Iterator<Item = f64>) -> Self {
        let (low, high, any_nan) = values.fold(
            (f64::INFINITY, f64::NEG_INFINITY, false),
            |(low, high, any_nan), value| {
                (low.min(value), high.max(value), any_nan | value.is_nan())
            },
        );
        match any_nan {
            true => Self { max_abs: f64::NAN, spread: f64::NAN },
            false if low > high => Self::default(),
            false => Self { max_abs: high.max(-low), spread: high - low },
        }
    }
}

impl<T: ColumnValue> QueryColumns<T> {
    /// Stores values that are given row by row, each row with this number of columns.
    pub(crate) fn new(layout: &Arc<RowLayout>, rows: &[T], columns: usize) -> Self {
        Self::transformed(layout, rows, columns, |_, _| {})
    }

    /// Stores values that are given row by row; `transform` changes the values of one column in the
    /// rows of one query.
    pub(crate) fn transformed(
        layout: &Arc<RowLayout>,
        rows: &[T],
        columns: usize,
        transform: impl Fn(usize, &mut [T]) + Sync,
    ) -> Self {
        let (len, queries) = (layout.len(), layout.queries());
        let mut values = vec![T::default(); len * columns];
        let mut ranges = vec![ValueRange::default(); queries * columns];
        // One task stores LANES columns: their values in one row fill a cache line of `rows`, which
        // is then read by no other task.
        let value_parts = values.par_chunks_mut((len * LANES).max(1));
        let range_parts = ranges.par_chunks_mut((queries * LANES).max(1));
        value_parts.zip(range_parts).enumerate().for_each(|(part, (values, ranges))| {
            let part_columns = part * LANES..columns.min((part + 1) * LANES);
            for query in 0..queries {
                for (number, column) in part_columns.clone().enumerate() {
                    let values = &mut values[number * len..][layout.places(query)];
                    for (value, row) in values.iter_mut().zip(layout.rows(query)) {
                        *value = rows[*row as usize * columns + column];
                    }
                    transform(column, values);
                    let range = ValueRange::new(values.iter().map(|value| (*value).into()));
                    ranges[number * queries + query] = range;
                }
            }
        });
        Self { layout: Arc::clone(layout), columns, values, ranges }
    }

    /// Number of columns.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// One column of a query, by place, with padding.
    #[inline]
    pub(crate) fn column(&self, query: usize, column: usize) -> &[T] {
        &self.values[column * self.layout.len()..][self.layout.padded_places(query)]
    }

    /// The range of a query in a column.
    #[inline]
    pub(crate) fn range(&self, query: usize, column: usize) -> ValueRange {
        self.ranges[column * self.layout.queries() + query]
    }

    /// The weighted sum of each place, in the order of the columns.
    pub(crate) fn scores(&self, weights: &[f64]) -> Vec<f64> {
        let mut scores = vec![0.0; self.layout.len()];
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

    /// Calls `change` for each query with the scores of its places.
    fn for_each_query(&self, scores: &mut [f64], change: impl Fn(usize, &mut [f64]) + Sync) {
        // At least 8 queries for a task: a single small query is less work than starting a task.
        let tasks = self.layout.split(scores).into_par_iter().enumerate().with_min_len(8);
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
    fn columns_and_sums_are_those_of_the_rows_in_their_places() {
        let data = rows(&[
            ("a", 0.0, &[1.0, 2.0, 3.0]),
            ("a", 0.0, &[4.0, -5.0, 6.0]),
            ("b", 0.0, &[7.0, 8.0, f32::NAN]),
        ]);
        let layout = Arc::new(RowLayout::new(&data, vec![1, 0, 2]));
        assert_eq!((layout.places(0), layout.places(1), layout.len()), (0..2, 16..17, 32));
        let columns = QueryColumns::new(&layout, data.matrix().values(), 3);
        assert_eq!(columns.columns(), 3);
        assert_eq!(columns.column(0, 1)[..3], [-5.0, 2.0, 0.0]);
        assert_eq!(columns.column(1, 0)[..2], [7.0, 0.0]);
        let (first, second) = (columns.range(0, 1), columns.range(1, 1));
        assert_eq!((first.max_abs, first.spread), (5.0, 7.0));
        assert_eq!((second.max_abs, second.spread), (8.0, 0.0));
        assert!(columns.range(1, 2).max_abs.is_nan() && columns.range(1, 2).spread.is_nan());
        let mut scores = columns.scores(&[1.0, -2.0, 0.0]);
        assert_eq!((&scores[..3], &scores[16..18]), (&[14.0, -3.0, 0.0][..], &[-9.0, 0.0][..]));
        columns.add_column(&mut scores, 10.0, 0);
        assert_eq!((&scores[..2], scores[16]), (&[54.0, 7.0][..], 61.0));
    }
}
