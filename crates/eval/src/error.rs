//! Errors of evaluations.

use rankwright_spec::SpecError;

/// The reason why an evaluation was refused. Errors inside a query are wrapped in
/// [`EvalError::Query`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// A metric or an option was refused.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A score that cannot be ordered: NaN.
    #[error(
        "score of row {row} (from 0, within the query) is NaN; \
         a ranking needs a number for every document"
    )]
    NanScore {
        /// Row within the query, from 0.
        row: usize,
    },
    /// A label that is not a finite number.
    #[error(
        "label of row {row} (from 0, within the query) is {found}; labels must be finite numbers"
    )]
    BadLabel {
        /// Row within the query, from 0.
        row: usize,
        /// The label.
        found: f64,
    },
    /// A label that is too large for the metric's scale.
    #[error("{metric}: found label {found}, but the scale ends at {max}; {hint}")]
    LabelTooLarge {
        /// The metric.
        metric: &'static str,
        /// The label.
        found: f64,
        /// The largest label allowed.
        max: f64,
        /// A spec that allows it.
        hint: &'static str,
    },
    /// A label for which a gain table has no entry.
    #[error(
        "gain table has entries for the labels 0 to {max}, found label {found}; \
         extend the table or use gain=exp or gain=linear"
    )]
    NoGain {
        /// The label.
        found: f64,
        /// Last label of the table.
        max: usize,
    },
    /// Sums of gains that overflow.
    #[error("{metric}: the sum of gains is not a finite number; use smaller labels or gain=linear")]
    Overflow {
        /// The metric.
        metric: &'static str,
    },
    /// Arrays of one query that disagree in length.
    #[error("{what}: found {found} entries, expected {expected}, one for each document")]
    Shape {
        /// Name of the array.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The expected length.
        expected: usize,
    },
    /// A row in the ranges of two queries.
    #[error("row {row} (from 0) belongs to query {first} and to query {second}")]
    SharedRow {
        /// The row, from 0.
        row: usize,
        /// The query that begins first.
        first: String,
        /// The other query.
        second: String,
    },
    /// Ties by document id, but no document ids.
    #[error(
        "ties=docid needs document ids, and the data has none; \
         ties=worst and ties=stable do not"
    )]
    NoDocids,
    /// A query that could not be loaded.
    #[error("query {query}: {message}")]
    Load {
        /// The query's id.
        query: String,
        /// The reason.
        message: String,
    },
    /// An error inside one query.
    #[error("query {query}: {source}")]
    Query {
        /// The query's id.
        query: String,
        /// The error in this query.
        source: Box<EvalError>,
    },
}

impl EvalError {
    /// The same error with the query it happened in (unchanged if it already names one).
    #[must_use]
    pub fn in_query(self, query: &str) -> Self {
        match self {
            Self::Query { .. } | Self::Load { .. } | Self::Spec(_) => self,
            other => Self::Query { query: query.to_owned(), source: Box::new(other) },
        }
    }
}
