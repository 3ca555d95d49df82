//! A ranking data set: rows of features with labels, grouped by query.
//!
//! The query is the unit: rows of one query always stand together, in the order of the file;
//! queries stand in the order of their first row. Where the file had them scattered, the original
//! row order is kept and can be restored (`to_source_order`).

use std::collections::HashMap;
use std::ops::Range;

use crate::error::{DataError, Place};
use crate::matrix::Matrix;
use crate::names::FeatureNames;
use crate::notes::{Notes, Oddity};
use crate::pairs::Pair;
use crate::strings::Strings;

/// What an absent feature of a sparse row means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Absent {
    /// The value 0 (LETOR's rule).
    #[default]
    Zero,
    /// Missing (NaN).
    Missing,
}

impl Absent {
    /// The value an absent feature gets.
    pub fn value(self) -> f32 {
        match self {
            Absent::Zero => 0.0,
            Absent::Missing => f32::NAN,
        }
    }

    /// The name used in options and messages.
    pub fn name(self) -> &'static str {
        match self {
            Absent::Zero => "zero",
            Absent::Missing => "missing",
        }
    }
}

/// Query ids met while reading, numbered by first appearance.
#[derive(Debug, Default)]
pub struct QueryIndex {
    ids: Strings,
    numbers: HashMap<String, u32, foldhash::fast::RandomState>,
}

impl QueryIndex {
    /// The number of this query id, new or known.
    pub fn number(&mut self, id: &str) -> u32 {
        if let Some(&number) = self.numbers.get(id) {
            return number;
        }
        let number = self.ids.len() as u32;
        self.ids.push(id);
        self.numbers.insert(id.to_owned(), number);
        number
    }
}

/// The columns of a data set in file order, before grouping by query.
#[derive(Debug)]
pub struct Columns {
    /// Feature values.
    pub matrix: Matrix,
    /// Feature names, as many as the matrix has columns.
    pub features: FeatureNames,
    /// Graded labels, one a row.
    pub labels: Vec<f64>,
    /// The queries.
    pub queries: QueryIndex,
    /// The query number of each row.
    pub query_of_row: Vec<u32>,
    /// Document ids.
    pub docids: Option<Strings>,
    /// Row weights.
    pub row_weights: Option<Vec<f32>>,
    /// Query weights, given row by row; all rows of a query must agree.
    pub query_weights: Option<Vec<f32>>,
    /// Positions at which a result was shown, from 1.
    pub positions: Option<Vec<u32>>,
    /// What absent features of sparse rows were taken for.
    pub absent: Absent,
}

impl Columns {
    /// Columns with nothing but features, labels and queries.
    pub fn new(
        matrix: Matrix,
        features: FeatureNames,
        labels: Vec<f64>,
        queries: QueryIndex,
        query_of_row: Vec<u32>,
    ) -> Self {
        Columns {
            matrix,
            features,
            labels,
            queries,
            query_of_row,
            docids: None,
            row_weights: None,
            query_weights: None,
            positions: None,
            absent: Absent::Zero,
        }
    }
}

/// A data set, grouped by query and checked.
///
/// ```
/// use rankwright_data::{Columns, Dataset, FeatureNames, Matrix, QueryIndex};
/// let mut queries = QueryIndex::default();
/// let query_of_row = ["a", "b", "a"].map(|id| queries.number(id)).to_vec();
/// let matrix = Matrix::from_rows(3, 1, vec![0.5, 0.1, 0.9])?;
/// let features = FeatureNames::Ids { first: 1, count: 1 };
/// let data = Dataset::new(Columns::new(matrix, features, vec![0., 1., 2.], queries, query_of_row))?;
/// assert_eq!(data.query(0).labels, [0.0, 2.0]);
/// assert_eq!(data.to_source_order(&[10.0, 30.0, 20.0]), [10.0, 20.0, 30.0]);
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    pub(crate) matrix: Matrix,
    pub(crate) features: FeatureNames,
    pub(crate) labels: Vec<f64>,
    pub(crate) query_ids: Strings,
    pub(crate) query_starts: Vec<u32>,
    pub(crate) docids: Option<Strings>,
    pub(crate) row_weights: Option<Vec<f32>>,
    pub(crate) query_weights: Option<Vec<f32>>,
    pub(crate) positions: Option<Vec<u32>>,
    pub(crate) pairs: Option<Vec<Pair>>,
    pub(crate) source_rows: Option<Vec<u32>>,
    pub(crate) absent: Absent,
}

/// One query of a data set.
#[derive(Debug, Clone)]
pub struct Query<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its rows in the data set.
    pub rows: Range<usize>,
    /// The labels of its rows.
    pub labels: &'a [f64],
}

impl Dataset {
    /// Groups columns by query and checks them.
    pub fn new(columns: Columns) -> Result<Dataset, DataError> {
        let mut notes = Notes::default();
        Dataset::grouped(columns, "data", &mut notes)
    }

    /// As `new`, for a reader: notes scattered queries of the named input.
    pub(crate) fn grouped(
        columns: Columns,
        name: &str,
        notes: &mut Notes,
    ) -> Result<Dataset, DataError> {
        check_lengths(&columns)?;
        check_values(&columns)?;
        let (query_starts, order) = group(&columns.query_of_row, columns.queries.ids.len());
        let query_weights = match &columns.query_weights {
            Some(weights) => Some(weights_by_query(weights, &columns)?),
            None => None,
        };
        let mut data = Dataset {
            matrix: columns.matrix,
            features: columns.features,
            labels: columns.labels,
            query_ids: columns.queries.ids,
            query_starts,
            docids: columns.docids,
            row_weights: columns.row_weights,
            query_weights,
            positions: columns.positions,
            pairs: None,
            source_rows: None,
            absent: columns.absent,
        };
        if let Some((order, scattered, first_row)) = order {
            notes.add(Oddity::ScatteredQueries, scattered, || Place::line(name, first_row + 1));
            data.reorder(order);
        }
        Ok(data)
    }

    fn reorder(&mut self, order: Vec<u32>) {
        self.matrix.reorder(&order);
        pick(&mut self.labels, &order);
        self.docids = self.docids.take().map(|d| d.reordered(&order));
        if let Some(weights) = &mut self.row_weights {
            pick(weights, &order);
        }
        if let Some(positions) = &mut self.positions {
            pick(positions, &order);
        }
        self.source_rows = Some(order);
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// Number of features.
    pub fn columns(&self) -> usize {
        self.features.len()
    }

    /// Number of queries.
    pub fn queries(&self) -> usize {
        self.query_ids.len()
    }

    /// The feature values.
    pub fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// The feature names.
    pub fn features(&self) -> &FeatureNames {
        &self.features
    }

    /// All labels in row order.
    pub fn labels(&self) -> &[f64] {
        &self.labels
    }

    /// All query ids in order.
    pub fn query_ids(&self) -> &Strings {
        &self.query_ids
    }

    /// The rows of a query.
    pub fn query_rows(&self, query: usize) -> Range<usize> {
        let at = |i: usize| self.query_starts.get(i).map_or(self.rows(), |&row| row as usize);
        at(query)..at(query + 1)
    }

    /// The number of the query of each row.
    pub fn query_of_rows(&self) -> Vec<u32> {
        let mut numbers = vec![0; self.rows()];
        for query in 0..self.queries() {
            numbers[self.query_rows(query)].fill(query as u32);
        }
        numbers
    }

    /// One query.
    pub fn query(&self, query: usize) -> Query<'_> {
        let rows = self.query_rows(query);
        let labels = self.labels.get(rows.clone()).unwrap_or(&[]);
        Query { id: self.query_ids.get(query), rows, labels }
    }

    /// All queries in order.
    pub fn iter_queries(&self) -> impl ExactSizeIterator<Item = Query<'_>> {
        (0..self.queries()).map(|query| self.query(query))
    }

    /// Document ids, where the input had any.
    pub fn docids(&self) -> Option<&Strings> {
        self.docids.as_ref()
    }

    /// Row weights, where given.
    pub fn row_weights(&self) -> Option<&[f32]> {
        self.row_weights.as_deref()
    }

    /// Query weights, where given.
    pub fn query_weights(&self) -> Option<&[f32]> {
        self.query_weights.as_deref()
    }

    /// Positions at which results were shown, where given.
    pub fn positions(&self) -> Option<&[u32]> {
        self.positions.as_deref()
    }

    /// Preference pairs, where given.
    pub fn pairs(&self) -> Option<&[Pair]> {
        self.pairs.as_deref()
    }

    /// What absent features of sparse rows were taken for when this was read.
    pub fn absent(&self) -> Absent {
        self.absent
    }

    /// The row of the input that became this row.
    pub fn source_row(&self, row: usize) -> usize {
        match &self.source_rows {
            Some(order) => order.get(row).map_or(row, |&r| r as usize),
            None => row,
        }
    }

    /// The row that an input row became: the inverse of `source_row`.
    pub fn rows_by_source(&self) -> Vec<u32> {
        let mut rows = vec![0; self.rows()];
        for row in 0..self.rows() {
            rows[self.source_row(row)] = row as u32;
        }
        rows
    }

    /// Puts values that stand in row order back into the order of the input.
    pub fn to_source_order<T: Copy>(&self, values: &[T]) -> Vec<T> {
        self.rows_by_source().iter().filter_map(|&row| values.get(row as usize).copied()).collect()
    }

    /// Puts values that stand in the order of the input into row order.
    pub fn from_source_order<T: Copy>(&self, values: &[T]) -> Vec<T> {
        (0..self.rows()).filter_map(|row| values.get(self.source_row(row)).copied()).collect()
    }

    /// The data set of some of the queries, in the given order.
    pub fn select_queries(&self, queries: &[usize]) -> Dataset {
        let mut order = Vec::new();
        let mut starts = Vec::with_capacity(queries.len());
        let mut new_query = HashMap::new();
        for (number, &query) in queries.iter().enumerate() {
            starts.push(order.len() as u32);
            new_query.insert(query as u32, number as u32);
            order.extend(self.query_rows(query).map(|row| row as u32));
        }
        let picked = |values: &Option<Vec<f32>>| {
            values.as_ref().map(|v| order.iter().map(|&r| v[r as usize]).collect())
        };
        Dataset {
            matrix: self.matrix.select(&order),
            features: self.features.clone(),
            labels: order.iter().map(|&r| self.labels[r as usize]).collect(),
            query_ids: queries.iter().map(|&q| self.query_ids.get(q)).collect(),
            query_starts: starts,
            docids: self.docids.as_ref().map(|d| d.reordered(&order)),
            row_weights: picked(&self.row_weights),
            query_weights: self
                .query_weights
                .as_ref()
                .map(|w| queries.iter().map(|&q| w[q]).collect()),
            positions: self
                .positions
                .as_ref()
                .map(|p| order.iter().map(|&r| p[r as usize]).collect()),
            pairs: self.pairs.as_ref().map(|pairs| {
                let new_row: HashMap<u32, u32> =
                    order.iter().enumerate().map(|(new, &old)| (old, new as u32)).collect();
                pairs.iter().filter_map(|p| p.renumbered(&new_query, &new_row)).collect()
            }),
            source_rows: None,
            absent: self.absent,
        }
    }
}

fn pick<T: Copy>(values: &mut Vec<T>, order: &[u32]) {
    *values = order.iter().map(|&row| values[row as usize]).collect();
}

/// Row starts of each query and, where rows are scattered, the grouped order, how many queries
/// were scattered, and the first row that is out of place.
#[allow(clippy::type_complexity)]
fn group(query_of_row: &[u32], queries: usize) -> (Vec<u32>, Option<(Vec<u32>, u64, u64)>) {
    let mut sizes = vec![0u32; queries];
    let mut scattered = vec![false; queries];
    let mut first = None;
    let mut previous = None;
    for (row, &query) in query_of_row.iter().enumerate() {
        if previous != Some(query) && sizes[query as usize] > 0 {
            scattered[query as usize] = true;
            first = first.or(Some(row as u64));
        }
        sizes[query as usize] += 1;
        previous = Some(query);
    }
    let mut starts = Vec::with_capacity(queries);
    let mut sum = 0;
    for size in sizes {
        starts.push(sum);
        sum += size;
    }
    let Some(first) = first else { return (starts, None) };
    let mut next = starts.clone();
    let mut order = vec![0; query_of_row.len()];
    for (row, &query) in query_of_row.iter().enumerate() {
        order[next[query as usize] as usize] = row as u32;
        next[query as usize] += 1;
    }
    let count = scattered.iter().filter(|&&s| s).count() as u64;
    (starts, Some((order, count, first)))
}

fn check_lengths(columns: &Columns) -> Result<(), DataError> {
    let rows = columns.labels.len();
    let lengths = [
        ("matrix rows", Some(columns.matrix.rows())),
        ("query numbers", Some(columns.query_of_row.len())),
        ("document ids", columns.docids.as_ref().map(Strings::len)),
        ("row weights", columns.row_weights.as_ref().map(Vec::len)),
        ("query weights", columns.query_weights.as_ref().map(Vec::len)),
        ("positions", columns.positions.as_ref().map(Vec::len)),
    ];
    for (what, length) in lengths {
        if length.is_some_and(|length| length != rows) {
            let length = length.unwrap_or(0);
            return Err(DataError::Invalid(format!("{rows} labels but {length} {what}")));
        }
    }
    if columns.features.len() != columns.matrix.columns() {
        return Err(DataError::Invalid(format!(
            "{} feature names for {} columns",
            columns.features.len(),
            columns.matrix.columns()
        )));
    }
    if u32::try_from(rows).is_err() {
        return Err(DataError::Invalid(format!("{rows} rows; at most {} are taken", u32::MAX)));
    }
    Ok(())
}

fn check_values(columns: &Columns) -> Result<(), DataError> {
    let bad = |what: &str, row: usize, value: f64, rule: &str| {
        DataError::Invalid(format!("{what} of row {} is {value}; {rule}", row + 1))
    };
    if let Some(row) = columns.labels.iter().position(|label| !label.is_finite()) {
        return Err(bad("label", row, columns.labels[row], "labels must be finite"));
    }
    let weights = [("weight", &columns.row_weights), ("query weight", &columns.query_weights)];
    for (what, weights) in weights {
        for (row, &weight) in weights.iter().flatten().enumerate() {
            if !(weight >= 0.0 && weight.is_finite()) {
                let rule = "weights must be finite and not negative";
                return Err(bad(what, row, f64::from(weight), rule));
            }
        }
    }
    let queries = columns.queries.ids.len() as u32;
    if columns.query_of_row.iter().any(|&q| q >= queries) {
        return Err(DataError::Invalid("a row names a query number that does not exist".into()));
    }
    Ok(())
}

fn weights_by_query(weights: &[f32], columns: &Columns) -> Result<Vec<f32>, DataError> {
    let mut by_query: Vec<Option<f32>> = vec![None; columns.queries.ids.len()];
    for (row, (&weight, &query)) in weights.iter().zip(&columns.query_of_row).enumerate() {
        match by_query[query as usize].replace(weight) {
            Some(other) if other != weight => {
                return Err(DataError::Invalid(format!(
                    "query '{}' has query weight {other} and, in row {}, {weight}; all rows of a query must agree",
                    columns.queries.ids.get(query as usize),
                    row + 1
                )));
            }
            _ => {}
        }
    }
    Ok(by_query.into_iter().map(|w| w.unwrap_or(1.0)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn sample(ids: &[&str]) -> Columns {
        let mut queries = QueryIndex::default();
        let of_row = ids.iter().map(|id| queries.number(id)).collect();
        let values = (0..ids.len()).map(|v| v as f32).collect();
        let matrix = Matrix::from_rows(ids.len(), 1, values).unwrap();
        let labels = (0..ids.len()).map(|v| v as f64).collect();
        Columns::new(matrix, FeatureNames::Ids { first: 1, count: 1 }, labels, queries, of_row)
    }

    #[test]
    fn scattered_rows_are_grouped_and_can_be_put_back() {
        let mut notes = Notes::default();
        let data = Dataset::grouped(sample(&["a", "b", "a", "c", "b"]), "f", &mut notes).unwrap();
        assert_eq!(data.labels(), [0.0, 2.0, 1.0, 4.0, 3.0]);
        assert_eq!(data.matrix().row(1), [2.0]);
        assert_eq!(data.query(1).rows, 2..4);
        assert_eq!(notes.count(Oddity::ScatteredQueries), 2);
        assert_eq!(data.to_source_order(data.labels()), [0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!(data.from_source_order(&[0.0, 1.0, 2.0, 3.0, 4.0]), data.labels());
    }

    #[test]
    fn adjacent_rows_stay_as_they_are() {
        let data = Dataset::new(sample(&["a", "a", "b"])).unwrap();
        assert!(data.source_rows.is_none());
        assert_eq!(data.query_rows(1), 2..3);
        assert_eq!(data.query_rows(2), 3..3);
    }

    #[test]
    fn columns_that_do_not_fit_together_are_refused() {
        let mut columns = sample(&["a", "b"]);
        columns.positions = Some(vec![1]);
        let error = Dataset::new(columns).unwrap_err().to_string();
        assert_eq!(error, "2 labels but 1 positions");
        let mut columns = sample(&["a", "a"]);
        columns.labels[1] = f64::NAN;
        assert!(Dataset::new(columns).unwrap_err().to_string().contains("row 2"));
        let mut columns = sample(&["a", "a"]);
        columns.query_weights = Some(vec![1.0, 2.0]);
        assert!(Dataset::new(columns).unwrap_err().to_string().contains("must agree"));
    }

    #[test]
    fn selecting_queries_keeps_their_rows() {
        let data = Dataset::new(sample(&["a", "b", "b", "c"])).unwrap();
        let part = data.select_queries(&[2, 1]);
        assert_eq!(part.query_ids().iter().collect::<Vec<_>>(), ["c", "b"]);
        assert_eq!(part.labels(), [3.0, 1.0, 2.0]);
        assert_eq!(part.query(1).rows, 1..3);
    }
}
