//! Errors of reports.

use rankwright_data::DataError;
use rankwright_eval::EvalError;
use rankwright_eval::compare::CompareError;
#[cfg(feature = "training")]
use rankwright_learn::LearnError;
use rankwright_model::{ExplainError, ModelError};
use rankwright_spec::SpecError;
use rankwright_spec::visible::one_line;
use rankwright_spec::words::counted;

use crate::known::KnownNames;

/// The reason why a report could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A file could not be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A metric or a comparison is not possible.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// A spec cannot be read.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// Systems cannot be compared.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// A model does not fit the data.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A training failed.
    #[cfg(feature = "training")]
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// A model cannot be explained.
    #[error(transparent)]
    Explain(ExplainError),
    /// There is no metric to measure a model by.
    #[error("there is no metric")]
    NoMetric,
    /// A report on shrinkage has no validation data.
    #[error("there is no validation data")]
    NoValidation,
    /// A report on shrinkage or on two goals has no training.
    #[error("there is no training to show")]
    NoTraining,
    /// The data has no query with this id.
    #[error("the {data} has no query '{query}'", query = one_line(.query))]
    UnknownQuery {
        /// The role of the data, such as `training data`.
        data: &'static str,
        /// The id of the query.
        query: String,
        /// The queries of the data.
        known: KnownNames,
    },
    /// The query is not one of those compared.
    #[error(
        "query '{query}' is not one of the {} compared",
        counted(known.count, "query"), query = one_line(.query)
    )]
    NotCompared {
        /// The id of the query.
        query: String,
        /// The compared queries.
        known: KnownNames,
    },
    /// The metric is not one of those compared.
    #[error("{metric} is not one of the compared metrics: {}", known.join(", "))]
    MetricNotCompared {
        /// The metric.
        metric: String,
        /// The compared metrics.
        known: Vec<String>,
    },
    /// The query has no such document.
    #[error(
        "query '{query}' has no document '{document}'",
        query = one_line(.query), document = one_line(.document)
    )]
    UnknownDocument {
        /// The id of the query.
        query: String,
        /// The id of the document, or its row.
        document: String,
        /// The documents of the query.
        known: KnownNames,
    },
    /// The model has no such feature.
    #[error("the model has no feature '{feature}'", feature = one_line(.feature))]
    UnknownFeature {
        /// The feature.
        feature: String,
        /// The features of the model.
        known: KnownNames,
    },
    /// Documents were named without a query.
    #[error("documents are named without the query that they belong to")]
    DocumentsWithoutQuery,
    /// The number of sources (the ranked queries of each system) differs from the number of
    /// systems.
    #[error(
        "found {} for {}; expected one source for each system",
        counted(*found, "source"),
        counted(*expected, "system")
    )]
    SourceCount {
        /// The number of sources.
        found: usize,
        /// The number of systems.
        expected: usize,
    },
    /// The source of a system does not have the queries of its evaluation.
    #[error(
        "the source of {system} does not have the queries of the evaluation of {first} in the same \
         order"
    )]
    OtherQueries {
        /// The system.
        system: String,
        /// The first system; all systems are evaluated on its queries.
        first: String,
    },
    /// The comparison is of other systems or by other metrics than the evaluations.
    #[error("the comparison has other systems or another number of metrics than the evaluations")]
    OtherComparison,
    /// The data has more features than a report can show.
    #[error("the data has {found} features; a report has at most {most}")]
    Features {
        /// Number of features of the data.
        found: usize,
        /// Largest number of features that a report can show.
        most: usize,
    },
    /// A bug in this program: a condition that it ensures does not hold.
    #[error("internal error: this should always hold: {invariant}")]
    Internal {
        /// The condition that should have held.
        invariant: &'static str,
    },
    /// A chart could not be drawn.
    #[error("cannot draw the chart {chart}: {why}")]
    Draw {
        /// The id of the chart.
        chart: String,
        /// The message of the plotting library.
        why: String,
    },
}

impl ReportError {
    /// The remedy, if there is one that holds for every caller.
    pub fn help(&self) -> Option<String> {
        self.wrapped_help().unwrap_or_else(|| self.own_help())
    }

    /// The remedy for the errors of reports themselves.
    fn own_help(&self) -> Option<String> {
        match self {
            ReportError::UnknownQuery { data, known, .. } => {
                Some(known.listed(&format!("the {data} has"), "query"))
            }
            ReportError::NotCompared { known, .. } => {
                Some(format!("ids are written as in the data; {}", known.examples()))
            }
            ReportError::UnknownDocument { known, .. } => {
                Some(known.listed("the query has", "document"))
            }
            ReportError::UnknownFeature { known, .. } => Some(known.listed("it has", "feature")),
            ReportError::DocumentsWithoutQuery => Some("name the query as well".into()),
            _ => None,
        }
    }
}

impl From<ExplainError> for ReportError {
    fn from(error: ExplainError) -> Self {
        match error {
            ExplainError::Model(error) => ReportError::Model(error),
            other => ReportError::Explain(other),
        }
    }
}
