//! A ranking data set: rows of features with labels, grouped by query.
//!
//! The query is the unit: rows of one query are always adjacent, in the order of the file; queries
//! are in the order of their first row. If the rows were scattered in the file, the original row
//! order is kept and can be restored (`to_source_order`).

mod append;
mod builder;
mod columns;
mod label_columns;
mod select;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt::Display;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use rankwright_spec::choices;

use crate::bytes::Input;
use crate::error::DataError;
use crate::format::{self, Format, ReadOptions};
use crate::matrix::Matrix;
use crate::names::FeatureNames;
use crate::pairs::Pair;
use crate::strings::Strings;
use crate::table_columns::TableColumns;
use crate::warnings::Warnings;

pub use builder::{DatasetBuilder, Label};
#[cfg(feature = "text")]
pub(crate) use columns::{QueryIndex, RowColumns, check_positions};
pub use label_columns::MAIN_LABEL;
pub(crate) use label_columns::{LABEL_PREFIX, LabelColumn, check_label_columns, is_label_column};

choices! {
    /// The value of features that a sparse row does not mention.
    pub enum Absent {
        /// The value 0, as in LETOR.
        Zero = "zero",
        /// A missing value (NaN).
        Missing = "missing",
    }
}

impl Absent {
    /// The value of an absent feature.
    pub fn value(self) -> f32 {
        match self {
            Absent::Zero => 0.0,
            Absent::Missing => f32::NAN,
        }
    }
}

/// A data set, grouped by query and checked.
///
/// ```
/// use rankwright_data::Dataset;
/// let data = Dataset::from_dense(&[0.5, 0.1, 0.9], 1, [0, 1, 2], ["a", "b", "a"])?;
/// assert_eq!(data.query(0).labels, [0.0, 2.0]);
/// assert_eq!(data.to_source_order(&[10.0, 30.0, 20.0])?, [10.0, 20.0, 30.0]);
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    pub(crate) matrix: Matrix,
    pub(crate) features: FeatureNames,
    /// One per row, as are document ids, row weights and positions.
    pub(crate) labels: Vec<f64>,
    /// Whether the labels were given; otherwise all are 0.
    pub(crate) is_labelled: bool,
    /// Further columns of labels, each with a name.
    pub(crate) label_columns: Vec<LabelColumn>,
    /// One per query, as are query weights.
    pub(crate) query_ids: Strings,
    /// The first row of each query, ascending.
    pub(crate) query_starts: Vec<u32>,
    pub(crate) doc_ids: Option<Strings>,
    pub(crate) row_weights: Option<Vec<f32>>,
    pub(crate) query_weights: Option<Vec<f32>>,
    /// Positions at which the rows were shown to a user, from 1.
    pub(crate) positions: Option<Vec<u32>>,
    pub(crate) pairs: Option<Vec<Pair>>,
    /// The input row of each row; `None` if the rows are in the order of the input.
    pub(crate) source_rows: Option<Vec<u32>>,
    pub(crate) absent: Absent,
    pub(crate) feature_set: Option<Arc<str>>,
    /// The columns of the table that the data set was read from.
    pub(crate) table_columns: Option<Arc<TableColumns>>,
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
    /// Starts a data set from parts in memory, see [`DatasetBuilder`].
    pub fn builder() -> DatasetBuilder {
        DatasetBuilder::default()
    }

    /// Starts a data set with rows of features and the features' names.
    ///
    /// ```
    /// use rankwright_data::Dataset;
    /// let rows = [[0.5, 1.0], [0.1, 0.0], [0.9, 3.0]];
    /// let data = Dataset::from_rows(rows, ["bm25", "clicks"])
    ///     .labels([0, 1, 2])
    ///     .query_ids(["shoe", "hat", "shoe"])
    ///     .build()?;
    /// assert_eq!(data.query(0).labels, [0.0, 2.0]);
    /// # Ok::<(), rankwright_data::DataError>(())
    /// ```
    pub fn from_rows<R: AsRef<[f32]>, N: Into<String>>(
        rows: impl IntoIterator<Item = R>,
        names: impl IntoIterator<Item = N>,
    ) -> DatasetBuilder {
        Dataset::builder().rows(rows).feature_names(names)
    }

    /// A data set from a matrix of `columns` features, row after row, with a label and a query id
    /// for each row. Features are called 1, 2, 3, ...; rows of a query need not be adjacent.
    pub fn from_dense<'a, L: Label, Q: Display>(
        values: impl Into<Cow<'a, [f32]>>,
        columns: usize,
        labels: impl IntoIterator<Item = L>,
        query_ids: impl IntoIterator<Item = Q>,
    ) -> Result<Dataset, DataError> {
        Dataset::builder().dense(values, columns).labels(labels).query_ids(query_ids).build()
    }

    /// Reads a data set from a file of any format, detected by content; see
    /// [`read`](crate::format::read) for options, several files and warnings.
    pub fn read(path: impl AsRef<Path>) -> Result<Dataset, DataError> {
        Ok(format::read(&[path], &ReadOptions::default())?.data)
    }

    /// Reads a data set of any format, detected by content, from the bytes of a file.
    ///
    /// ```
    /// let data = rankwright_data::Dataset::read_bytes(b"2 qid:7 1:0.5\n0 qid:7 1:0.1\n")?;
    /// assert_eq!(data.query(0).labels, [2.0, 0.0]);
    /// # Ok::<(), rankwright_data::DataError>(())
    /// ```
    pub fn read_bytes(bytes: impl Into<Vec<u8>>) -> Result<Dataset, DataError> {
        let input = Input::from_bytes("the data", bytes.into())?;
        Ok(format::read_inputs(vec![input], &ReadOptions::default())?.data)
    }

    /// Writes the data set to a file, atomically, in the format of the extension; returns a warning
    /// for each part that the format cannot hold. See [`write`](crate::format::write) for any name
    /// and [`write_to`](crate::format::write_to) for any writer.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<Warnings, DataError> {
        let path = path.as_ref();
        match Format::from_path(path) {
            Some(format) => format::write(self, path, format),
            None => Err(DataError::UnknownExtension { path: path.display().to_string() }),
        }
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

    /// All labels in row order; zeros if the data has none ([`is_labelled`](Self::is_labelled)).
    pub fn labels(&self) -> &[f64] {
        &self.labels
    }

    /// Whether the data has labels. Data without them can be scored, and learners of preference
    /// pairs can be trained on it; its labels are all 0.
    pub fn is_labelled(&self) -> bool {
        self.is_labelled
    }

    /// All query ids in order.
    pub fn query_ids(&self) -> &Strings {
        &self.query_ids
    }

    /// The rows of a query.
    ///
    /// # Panics
    ///
    /// If there is no such query.
    pub fn query_rows(&self, query: usize) -> Range<usize> {
        assert!(query < self.queries(), "query {query} of {}", self.queries());
        let start = |i: usize| self.query_starts.get(i).map_or(self.rows(), |&row| row as usize);
        start(query)..start(query + 1)
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
    ///
    /// # Panics
    ///
    /// If there is no such query.
    pub fn query(&self, query: usize) -> Query<'_> {
        let rows = self.query_rows(query);
        let labels = &self.labels[rows.clone()];
        Query { id: self.query_ids.get(query), rows, labels }
    }

    /// All queries in order.
    pub fn iter_queries(&self) -> impl ExactSizeIterator<Item = Query<'_>> {
        (0..self.queries()).map(|query| self.query(query))
    }

    /// Document ids, if the input had any.
    pub fn doc_ids(&self) -> Option<&Strings> {
        self.doc_ids.as_ref()
    }

    /// Row weights, if given.
    pub fn row_weights(&self) -> Option<&[f32]> {
        self.row_weights.as_deref()
    }

    /// Query weights, if given.
    pub fn query_weights(&self) -> Option<&[f32]> {
        self.query_weights.as_deref()
    }

    /// Positions, from 1, at which the rows were shown to a user, if given.
    pub fn positions(&self) -> Option<&[u32]> {
        self.positions.as_deref()
    }

    /// Preference pairs, if given.
    pub fn pairs(&self) -> Option<&[Pair]> {
        self.pairs.as_deref()
    }

    /// The value of features that sparse rows did not mention.
    pub fn absent(&self) -> Absent {
        self.absent
    }

    /// The feature set that the features were computed with, as canonical TOML text: text analysis,
    /// first stage, number of candidates. `None` for features of unknown origin.
    pub fn feature_set(&self) -> Option<&str> {
        self.feature_set.as_deref()
    }

    /// The same data set with another feature set, or none.
    #[must_use]
    pub fn with_feature_set(mut self, text: Option<&str>) -> Dataset {
        self.feature_set = text.map(Arc::from);
        self
    }

    /// The same data set with other names of its features, one for each.
    pub fn with_feature_names(mut self, names: Vec<String>) -> Result<Dataset, DataError> {
        let (found, expected) = (names.len(), self.columns());
        if found != expected {
            let (what, per) = ("name", "feature");
            return Err(DataError::LengthMismatch { what, found, per, expected });
        }
        self.features = FeatureNames::from_names(names);
        Ok(self)
    }

    /// The same data set with other labels, a finite one for each row.
    pub fn with_labels(mut self, labels: Vec<f64>) -> Result<Dataset, DataError> {
        self.check_one_per_row(labels.len())?;
        if let Some((row, value)) = (0..).zip(&labels).find(|(_, value)| !value.is_finite()) {
            return Err(DataError::NotFinite { what: "label", row, value: *value });
        }
        (self.labels, self.is_labelled) = (labels, true);
        Ok(self)
    }

    /// The same data set with other row weights, finite and not negative, one for each row.
    pub fn with_row_weights(mut self, weights: Vec<f32>) -> Result<Dataset, DataError> {
        self.check_one_per_row(weights.len())?;
        let is_wrong = |weight: &f32| !(*weight >= 0.0 && weight.is_finite());
        if let Some((row, value)) = (0..).zip(&weights).find(|(_, weight)| is_wrong(weight)) {
            return Err(DataError::InvalidWeight { what: "weight", row, value: *value });
        }
        self.row_weights = Some(weights);
        Ok(self)
    }

    /// The same data set with other positions, from 1, one for each row.
    pub fn with_positions(mut self, positions: Vec<u32>) -> Result<Dataset, DataError> {
        self.check_one_per_row(positions.len())?;
        check_positions(&positions)?;
        self.positions = Some(positions);
        Ok(self)
    }

    /// The number of this row in the input.
    pub fn source_row(&self, row: usize) -> usize {
        match &self.source_rows {
            Some(order) => order[row] as usize,
            None => row,
        }
    }

    /// The row of each input row: the inverse of `source_row`.
    pub fn rows_by_source(&self) -> Vec<u32> {
        let mut rows = vec![0; self.rows()];
        for row in 0..self.rows() {
            rows[self.source_row(row)] = row as u32;
        }
        rows
    }

    /// Reorders values from row order to the order of the input.
    pub fn to_source_order<T: Copy>(&self, values: &[T]) -> Result<Vec<T>, DataError> {
        self.check_one_per_row(values.len())?;
        Ok(self.rows_by_source().iter().map(|&row| values[row as usize]).collect())
    }

    /// Reorders values from the order of the input to row order.
    pub fn from_source_order<T: Copy>(&self, values: &[T]) -> Result<Vec<T>, DataError> {
        self.check_one_per_row(values.len())?;
        Ok((0..self.rows()).map(|row| values[self.source_row(row)]).collect())
    }

    fn check_one_per_row(&self, found: usize) -> Result<(), DataError> {
        match self.rows() {
            rows if rows == found => Ok(()),
            expected => {
                Err(DataError::LengthMismatch { what: "value", found, per: "row", expected })
            }
        }
    }
}
