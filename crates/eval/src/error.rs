//! Errors of evaluations.

use rankwright_spec::visible::one_line;
use std::fmt;

use rankwright_spec::SpecError;
use rankwright_spec::words::counted;

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
        "the score of row {row} (from 0, within the query) is NaN; \
         expected a number for every document"
    )]
    NanScore {
        /// Row within the query, from 0.
        row: usize,
    },
    /// A label that is not a finite number.
    #[error(
        "the label of {} is {found}; expected a finite number", labelled_document(*row)
    )]
    BadLabel {
        /// Row within the query, from 0; `None` for a judged document that was not retrieved.
        row: Option<usize>,
        /// The label.
        found: f64,
    },
    /// A label that is larger than the metric or the gain allows.
    #[error("{metric}: found label {found}, but the scale ends at {max}")]
    LabelTooLarge {
        /// The metric or gain.
        metric: &'static str,
        /// The label.
        found: f64,
        /// The largest label allowed.
        max: f64,
        /// The reason for this limit.
        limit: LabelLimit,
    },
    /// A label for which a gain table has no entry.
    #[error(
        "the gain table has entries for the labels 0 to {max}, and a document has label {found}"
    )]
    NoGain {
        /// The label.
        found: f64,
        /// Last label of the table.
        max: usize,
    },
    /// A sum of gains that overflows.
    #[error("{metric}: the sum of gains is not a finite number")]
    Overflow {
        /// The metric.
        metric: &'static str,
    },
    /// An array of the wrong length.
    #[error("{what}: found {}, expected {expected}", counted(*.found, "entry"))]
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
    /// Data without labels, and a metric that needs them.
    #[error("{metric} needs labels, and the data has none")]
    NoLabels {
        /// The metric.
        metric: String,
    },
    /// Ties by document id, but no document ids.
    #[error("ties=docid needs document ids, and the data has none")]
    NoDocids,
    /// A run or a judgement file that lists a document twice for one query.
    #[error(
        "query {query}: {list} names document '{document}' twice ({location})",
        query = one_line(.query), document = one_line(.document)
    )]
    DuplicateDocument {
        /// The query's id.
        query: String,
        /// The id of the document.
        document: String,
        /// The list with the document.
        list: DocumentList,
        /// The file and line of the second mention.
        location: String,
    },
    /// A number of a query that the source does not have.
    #[error("there is no query number {query}; the source has {}", counted(*.queries, "query"))]
    NoSuchQuery {
        /// The given number, from 0.
        query: usize,
        /// Number of queries of the source.
        queries: usize,
    },
    /// An error inside one query.
    #[error("query {query}: {source}", query = one_line(.query))]
    Query {
        /// The query's id.
        query: String,
        /// The error in this query.
        source: Box<EvalError>,
    },
}

impl EvalError {
    /// Adds the query to an error, unless it already names one or is not about a query.
    #[must_use]
    pub fn in_query(self, query: &str) -> Self {
        match self {
            Self::Query { .. }
            | Self::DuplicateDocument { .. }
            | Self::NoSuchQuery { .. }
            | Self::NoLabels { .. }
            | Self::Spec(_) => self,
            other => Self::Query { query: query.to_owned(), source: Box::new(other) },
        }
    }

    /// A remedy, if there is one.
    ///
    /// ```
    /// use rankwright_eval::EvalError;
    ///
    /// let error = EvalError::Overflow { metric: "dcg" };
    /// assert_eq!(error.help().unwrap(), "use smaller labels, or gain=linear");
    /// ```
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Self::Spec(error) => return error.help(),
            Self::Query { source, .. } => return source.help(),
            Self::LabelTooLarge { limit: LabelLimit::ExpGain, .. } => {
                "use gain=linear for labels of that size"
            }
            Self::LabelTooLarge { limit: LabelLimit::MaxParameter, .. } => {
                "set the parameter max to the highest label of the data"
            }
            Self::NoGain { .. } => "extend the table, or use gain=exp or gain=linear",
            Self::Overflow { .. } => "use smaller labels, or gain=linear",
            Self::NoLabels { .. } => {
                "give data with labels; for data with preference pairs there is preference-accuracy"
            }
            Self::NoDocids => "use ties=worst or ties=stable, which need no document ids",
            Self::DuplicateDocument { .. } => "keep one of the lines",
            Self::NanScore { .. }
            | Self::BadLabel { .. }
            | Self::Shape { .. }
            | Self::SharedRow { .. }
            | Self::NoSuchQuery { .. } => return None,
        };
        Some(help.to_owned())
    }
}

/// The document of a label, in words.
fn labelled_document(row: Option<usize>) -> String {
    match row {
        Some(row) => format!("row {row} (from 0, within the query)"),
        None => "a document that was not retrieved".to_owned(),
    }
}

/// The reason for a limit on labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LabelLimit {
    /// The gain 2^label - 1 of a larger label is not a finite number.
    ExpGain,
    /// The metric's parameter `max`.
    MaxParameter,
}

/// A list of documents that an evaluation reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DocumentList {
    /// The run.
    Run,
    /// The judgements (qrels).
    Judgements,
}

impl fmt::Display for DocumentList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Run => "the run",
            Self::Judgements => "the qrels file",
        })
    }
}
