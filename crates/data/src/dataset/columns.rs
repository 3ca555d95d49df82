//! Columns of a data set in the row order of the input; they are checked and grouped by query.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Absent, Dataset, LabelColumn, check_label_columns};
use crate::error::{DataError, SourceLocation};
use crate::matrix::Matrix;
use crate::names::FeatureNames;
use crate::strings::Strings;
use crate::warnings::{WarningKind, Warnings};

/// Query ids of the input, numbered by first appearance.
#[derive(Debug, Default)]
pub(crate) struct QueryIndex {
    ids: Strings,
    numbers: HashMap<String, u32, foldhash::fast::RandomState>,
}

impl QueryIndex {
    /// The number of this query id; a new id gets the next number.
    pub(crate) fn number(&mut self, id: &str) -> u32 {
        if let Some(&number) = self.numbers.get(id) {
            return number;
        }
        let number = self.ids.len() as u32;
        self.ids.push(id);
        self.numbers.insert(id.to_owned(), number);
        number
    }

    /// Whether there is a query with this id.
    #[cfg(any(feature = "text", feature = "columnar"))]
    pub(crate) fn contains(&self, id: &str) -> bool {
        self.numbers.contains_key(id)
    }

    /// The ids by their numbers.
    #[cfg(any(feature = "text", feature = "columnar"))]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.ids.iter()
    }
}

/// The columns of a data set in file order, before grouping by query.
#[derive(Debug)]
pub(crate) struct RowColumns {
    /// Feature values.
    pub(crate) matrix: Matrix,
    /// Feature names, as many as the matrix has columns.
    pub(crate) features: FeatureNames,
    /// Graded labels, one per row.
    pub(crate) labels: Vec<f64>,
    /// Whether the labels were given; otherwise all are 0.
    pub(crate) is_labelled: bool,
    /// Further columns of labels.
    pub(crate) label_columns: Vec<LabelColumn>,
    /// The queries.
    pub(crate) queries: QueryIndex,
    /// The query number of each row.
    pub(crate) query_of_row: Vec<u32>,
    /// Document ids.
    pub(crate) doc_ids: Option<Strings>,
    /// Row weights.
    pub(crate) row_weights: Option<Vec<f32>>,
    /// Query weights, given row by row; all rows of a query must agree.
    pub(crate) query_weights: Option<Vec<f32>>,
    /// Positions at which a row was shown to a user, from 1.
    pub(crate) positions: Option<Vec<u32>>,
    /// The value that absent features of sparse rows were given.
    pub(crate) absent: Absent,
    /// The feature set that the features were computed with.
    pub(crate) feature_set: Option<Arc<str>>,
}

impl RowColumns {
    /// Columns with nothing but features, labels and queries.
    pub(crate) fn new(
        matrix: Matrix,
        features: FeatureNames,
        labels: Vec<f64>,
        queries: QueryIndex,
        query_of_row: Vec<u32>,
    ) -> Self {
        RowColumns {
            matrix,
            features,
            labels,
            is_labelled: true,
            label_columns: Vec::new(),
            queries,
            query_of_row,
            doc_ids: None,
            row_weights: None,
            query_weights: None,
            positions: None,
            absent: Absent::Zero,
            feature_set: None,
        }
    }
}

impl Dataset {
    /// Groups columns by query and checks them.
    pub(crate) fn new(columns: RowColumns) -> Result<Dataset, DataError> {
        let mut warnings = Warnings::default();
        Dataset::grouped(columns, |_| SourceLocation::file("data"), &mut warnings)
    }

    /// Like `new`, for a reader: adds a warning if the rows of a query are not adjacent, with the
    /// location of a row (from 0) in the inputs.
    pub(crate) fn grouped(
        columns: RowColumns,
        location_of_row: impl FnOnce(u64) -> SourceLocation,
        warnings: &mut Warnings,
    ) -> Result<Dataset, DataError> {
        check_lengths(&columns)?;
        if let Some(name) = columns.features.duplicate() {
            return Err(DataError::DuplicateFeature { name: name.to_owned() });
        }
        check_values(&columns)?;
        let (query_starts, regrouping) = group(&columns.query_of_row, columns.queries.ids.len());
        let query_weights = match &columns.query_weights {
            Some(weights) => Some(weights_by_query(weights, &columns)?),
            None => None,
        };
        let mut data = Dataset {
            matrix: columns.matrix,
            features: columns.features,
            labels: columns.labels,
            is_labelled: columns.is_labelled,
            label_columns: columns.label_columns,
            query_ids: columns.queries.ids,
            query_starts,
            doc_ids: columns.doc_ids,
            row_weights: columns.row_weights,
            query_weights,
            positions: columns.positions,
            pairs: None,
            source_rows: None,
            absent: columns.absent,
            feature_set: columns.feature_set,
            table_columns: None,
        };
        if let Some(Regrouping { order, scattered_queries, first_row }) = regrouping {
            warnings.add(WarningKind::ScatteredQueries, scattered_queries, || {
                location_of_row(first_row)
            });
            data.reorder(order);
        }
        Ok(data)
    }

    /// Puts the rows into this order: row `i` becomes the old row `order[i]`.
    fn reorder(&mut self, order: Vec<u32>) {
        self.matrix.reorder(&order);
        reorder_values(&mut self.labels, &order);
        for column in &mut self.label_columns {
            reorder_values(&mut column.labels, &order);
        }
        self.doc_ids = self.doc_ids.take().map(|d| d.reordered(&order));
        if let Some(weights) = &mut self.row_weights {
            reorder_values(weights, &order);
        }
        if let Some(positions) = &mut self.positions {
            reorder_values(positions, &order);
        }
        self.source_rows = Some(order);
    }
}

fn reorder_values<T: Copy>(values: &mut Vec<T>, order: &[u32]) {
    *values = order.iter().map(|&row| values[row as usize]).collect();
}

/// The order that makes the rows of each query adjacent, if they are not.
struct Regrouping {
    /// The old row of each new row.
    order: Vec<u32>,
    /// The number of queries whose rows are not adjacent.
    scattered_queries: u64,
    /// The first row that does not follow another row of its query, although its query has earlier
    /// rows; from 0.
    first_row: u64,
}

/// The first row of each query after grouping, and the new order if rows have to move.
fn group(query_of_row: &[u32], queries: usize) -> (Vec<u32>, Option<Regrouping>) {
    let mut sizes = vec![0u32; queries];
    let mut scattered = vec![false; queries];
    let mut first_row = None;
    let mut previous = None;
    for (row, &query) in query_of_row.iter().enumerate() {
        if previous != Some(query) && sizes[query as usize] > 0 {
            scattered[query as usize] = true;
            first_row = first_row.or(Some(row as u64));
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
    let Some(first_row) = first_row else { return (starts, None) };
    let mut next = starts.clone();
    let mut order = vec![0; query_of_row.len()];
    for (row, &query) in query_of_row.iter().enumerate() {
        order[next[query as usize] as usize] = row as u32;
        next[query as usize] += 1;
    }
    let scattered_queries = scattered.iter().filter(|&&scattered| scattered).count() as u64;
    (starts, Some(Regrouping { order, scattered_queries, first_row }))
}

/// Checks that every column has a value for each row, and that there are at most 2^32 - 1 rows.
fn check_lengths(columns: &RowColumns) -> Result<(), DataError> {
    let rows = columns.matrix.rows();
    let lengths = [
        ("label", Some(columns.labels.len())),
        ("query id", Some(columns.query_of_row.len())),
        ("document id", columns.doc_ids.as_ref().map(Strings::len)),
        ("row weight", columns.row_weights.as_ref().map(Vec::len)),
        ("query weight", columns.query_weights.as_ref().map(Vec::len)),
        ("position", columns.positions.as_ref().map(Vec::len)),
    ];
    for (what, length) in lengths {
        if let Some(found) = length.filter(|length| *length != rows) {
            let per = "row";
            return Err(DataError::LengthMismatch { what, found, per, expected: rows });
        }
    }
    if columns.features.len() != columns.matrix.columns() {
        return Err(DataError::LengthMismatch {
            what: "feature name",
            found: columns.features.len(),
            per: "column",
            expected: columns.matrix.columns(),
        });
    }
    match u32::try_from(rows) {
        Ok(_) => Ok(()),
        Err(_) => Err(DataError::TooManyRows { rows }),
    }
}

/// Checks that labels are finite, weights finite and not negative, positions at least 1, and query
/// numbers in range.
fn check_values(columns: &RowColumns) -> Result<(), DataError> {
    for (row, &value) in columns.labels.iter().enumerate() {
        if !value.is_finite() {
            return Err(DataError::NotFinite { what: "label", row, value });
        }
    }
    check_label_columns(&columns.label_columns, columns.labels.len())?;
    let weights = [("weight", &columns.row_weights), ("query weight", &columns.query_weights)];
    for (what, weights) in weights {
        for (row, &value) in weights.iter().flatten().enumerate() {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(DataError::InvalidWeight { what, row, value });
            }
        }
    }
    check_positions(columns.positions.as_deref().unwrap_or_default())?;
    let queries = columns.queries.ids.len() as u32;
    match columns.query_of_row.iter().find(|&&query| query >= queries) {
        Some(_) => Err(DataError::Internal { invariant: "the query of each row is numbered" }),
        None => Ok(()),
    }
}

/// Checks that positions are ranks, from 1.
pub(crate) fn check_positions(positions: &[u32]) -> Result<(), DataError> {
    match positions.iter().position(|position| *position == 0) {
        Some(row) => Err(DataError::PositionZero { row }),
        None => Ok(()),
    }
}

/// Query weights by query instead of by row; an error if rows of one query disagree.
fn weights_by_query(weights: &[f32], columns: &RowColumns) -> Result<Vec<f32>, DataError> {
    let mut by_query: Vec<Option<f32>> = vec![None; columns.queries.ids.len()];
    for (row, (&weight, &query)) in weights.iter().zip(&columns.query_of_row).enumerate() {
        match by_query[query as usize].replace(weight) {
            Some(first) if first != weight => {
                let query = columns.queries.ids.get(query as usize).to_owned();
                return Err(DataError::QueryWeights { query, first, row, found: weight });
            }
            _ => {}
        }
    }
    // A query without rows gets the weight 1.
    Ok(by_query.into_iter().map(|w| w.unwrap_or(1.0)).collect())
}
