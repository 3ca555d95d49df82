//! Builds a data set from values in memory: parts are given one by one and checked together.

use std::borrow::{Borrow, Cow};
use std::fmt::{Display, Write};
use std::sync::Arc;

use super::columns::{QueryIndex, RowColumns};
use super::{Absent, Dataset, LabelColumn};
use crate::error::DataError;
use crate::matrix::Matrix;
use crate::names::FeatureNames;
use crate::pairs::Preference;
use crate::strings::Strings;
use crate::table_columns::TableColumns;

/// A number that can be a label: any float or integer, or a reference to one.
pub trait Label {
    /// The label as a number.
    fn value(self) -> f64;
}

macro_rules! labels {
    ($($number:ty)*) => { $(
        impl Label for $number {
            fn value(self) -> f64 {
                self as f64
            }
        }
        impl Label for &$number {
            fn value(self) -> f64 {
                *self as f64
            }
        }
    )* };
}

labels!(f32 f64 u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

/// Builds a data set from values in memory; [`build`](Self::build) checks it.
///
/// Every part is given in one order, that of the rows; rows of a query need not be adjacent.
/// Features and query ids are needed. Without labels all labels are 0, which is enough to score.
///
/// ```
/// use rankwright_data::Dataset;
/// let data = Dataset::builder()
///     .rows([[0.5, 1.0], [0.1, 0.0], [0.9, 3.0]])
///     .feature_names(["bm25", "clicks"])
///     .labels([0, 1, 2])
///     .query_ids([17, 4, 17])
///     .doc_ids(["a", "b", "c"])
///     .weights([1.0, 1.0, 0.5])
///     .pairs([(2, 0)])
///     .build()?;
/// assert_eq!((data.queries(), data.rows()), (2, 3));
/// assert_eq!(data.query(0).id, "17");
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
#[derive(Debug, Default)]
#[must_use = "`build` makes the data set"]
pub struct DatasetBuilder {
    matrix: Option<Result<Matrix, DataError>>,
    features: Option<FeatureNames>,
    labels: Option<Vec<f64>>,
    label_columns: Vec<LabelColumn>,
    /// The queries, and the query number of each row.
    queries: Option<(QueryIndex, Vec<u32>)>,
    doc_ids: Option<Strings>,
    weights: Option<Vec<f32>>,
    query_weights: Option<Vec<f32>>,
    positions: Option<Vec<u32>>,
    pairs: Option<Vec<Preference>>,
    absent: Absent,
    feature_set: Option<Arc<str>>,
    table_columns: Option<TableColumns>,
}

impl DatasetBuilder {
    /// Features as rows of equal length; NaN is a missing value.
    pub fn rows<R: AsRef<[f32]>>(mut self, rows: impl IntoIterator<Item = R>) -> Self {
        self.matrix = Some(matrix_of(rows));
        self
    }

    /// Features row after row, `columns` values each; NaN is a missing value.
    pub fn dense<'a>(mut self, values: impl Into<Cow<'a, [f32]>>, columns: usize) -> Self {
        let values = values.into().into_owned();
        self.matrix = Some(match values.len().checked_rem(columns) {
            Some(0) => Matrix::from_rows(values.len() / columns, columns, values),
            _ => Err(DataError::NotRectangular { values: values.len(), columns }),
        });
        self
    }

    /// Features as a matrix.
    pub fn matrix(mut self, matrix: Matrix) -> Self {
        self.matrix = Some(Ok(matrix));
        self
    }

    /// A name for each feature, all different; 1, 2, 3, ... if not given.
    pub fn feature_names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.features = Some(FeatureNames::from_names(names.into_iter().map(Into::into).collect()));
        self
    }

    /// The feature names, as another data set or a model has them.
    pub fn features(mut self, names: FeatureNames) -> Self {
        self.features = Some(names);
        self
    }

    /// A graded label for each row; higher is better.
    pub fn labels<L: Label>(mut self, labels: impl IntoIterator<Item = L>) -> Self {
        self.labels = Some(labels.into_iter().map(Label::value).collect());
        self
    }

    /// A further column of labels, one for each row, with a name other than `label`; see
    /// [`Dataset::label_column`].
    pub fn label_column<L: Label>(
        mut self,
        name: impl Into<String>,
        labels: impl IntoIterator<Item = L>,
    ) -> Self {
        let labels = labels.into_iter().map(Label::value).collect();
        self.label_columns.push(LabelColumn { name: name.into(), labels });
        self
    }

    /// The query id of each row: numbers, texts, anything that can be displayed.
    pub fn query_ids<Q: Display>(mut self, ids: impl IntoIterator<Item = Q>) -> Self {
        let mut index = QueryIndex::default();
        let mut text = String::new();
        let mut number = |id: Q| {
            text.clear();
            // Writing into a string fails only if the id's own `Display` does.
            let _ = write!(text, "{id}");
            index.number(&text)
        };
        let query_of_row = ids.into_iter().map(&mut number).collect();
        self.queries = Some((index, query_of_row));
        self
    }

    /// A document id for each row; an empty text means none.
    pub fn doc_ids<D: Display>(mut self, ids: impl IntoIterator<Item = D>) -> Self {
        let mut strings = Strings::default();
        ids.into_iter().for_each(|id| strings.push(&id.to_string()));
        self.doc_ids = Some(strings);
        self
    }

    /// A weight for each row, finite and not negative.
    pub fn weights<W: Borrow<f32>>(mut self, weights: impl IntoIterator<Item = W>) -> Self {
        self.weights = Some(weights.into_iter().map(|weight| *weight.borrow()).collect());
        self
    }

    /// The weight of each row's query; all rows of a query must agree.
    pub fn query_weights<W: Borrow<f32>>(mut self, weights: impl IntoIterator<Item = W>) -> Self {
        self.query_weights = Some(weights.into_iter().map(|weight| *weight.borrow()).collect());
        self
    }

    /// The position, from 1, at which each row was shown to a user.
    pub fn positions<P: Borrow<u32>>(mut self, positions: impl IntoIterator<Item = P>) -> Self {
        self.positions = Some(positions.into_iter().map(|position| *position.borrow()).collect());
        self
    }

    /// Preferences between rows of one query, each `(better, worse)`, `(better, worse, weight)` or
    /// a [`Preference`]; rows are numbered from 0 in the order given.
    pub fn pairs<P: Into<Preference>>(mut self, pairs: impl IntoIterator<Item = P>) -> Self {
        self.pairs = Some(pairs.into_iter().map(Into::into).collect());
        self
    }

    /// The value of features that sparse rows do not mention.
    pub fn absent(mut self, absent: Absent) -> Self {
        self.absent = absent;
        self
    }

    /// The feature set that the features were computed with, see [`Dataset::feature_set`].
    pub fn feature_set(mut self, text: impl Into<Arc<str>>) -> Self {
        self.feature_set = Some(text.into());
        self
    }

    /// The columns of the table that the features were made from, with the texts of categories: the
    /// value of a category is the index of its text in the list ([`Encoding::Category`]).
    ///
    /// [`Encoding::Category`]: crate::Encoding::Category
    pub fn table_columns(mut self, columns: TableColumns) -> Self {
        self.table_columns = Some(columns);
        self
    }

    /// Checks all parts and groups the rows by query.
    pub fn build(self) -> Result<Dataset, DataError> {
        let matrix = self.matrix.ok_or(DataError::MissingPart { what: "features" })??;
        let (queries, query_of_row) =
            self.queries.ok_or(DataError::MissingPart { what: "query ids" })?;
        let count = matrix.columns();
        let features = self.features.unwrap_or(FeatureNames::Ids { first: 1, count });
        let is_labelled = self.labels.is_some();
        let labels = self.labels.unwrap_or_else(|| vec![0.0; matrix.rows()]);
        let columns = RowColumns {
            doc_ids: self.doc_ids,
            row_weights: self.weights,
            query_weights: self.query_weights,
            positions: self.positions,
            absent: self.absent,
            feature_set: self.feature_set,
            is_labelled,
            label_columns: self.label_columns,
            ..RowColumns::new(matrix, features, labels, queries, query_of_row)
        };
        let mut data = Dataset::new(columns)?;
        if let Some(columns) = self.table_columns {
            data.table_columns = Some(Arc::new(columns));
            if let Some(column) = data.category_without_text() {
                return Err(DataError::TableColumn { column: column.to_owned() });
            }
        }
        match self.pairs {
            Some(pairs) => data.with_preferences(pairs),
            None => Ok(data),
        }
    }
}

/// A matrix of these rows; an error if they differ in length.
fn matrix_of<R: AsRef<[f32]>>(rows: impl IntoIterator<Item = R>) -> Result<Matrix, DataError> {
    let mut values = Vec::new();
    let (mut count, mut width) = (0, None);
    for row in rows {
        let row = row.as_ref();
        let expected = *width.get_or_insert(row.len());
        if row.len() != expected {
            return Err(DataError::RowLength { row: count, found: row.len(), expected });
        }
        values.extend_from_slice(row);
        count += 1;
    }
    Matrix::from_rows(count, width.unwrap_or(0), values)
}
