//! Errors of reports.

use rankwright_data::DataError;
use rankwright_eval::EvalError;
use rankwright_eval::compare::CompareError;
use rankwright_learn::LearnError;
use rankwright_model::{ExplainError, ModelError};
use rankwright_spec::SpecError;

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
    /// A report on shrinkage has no training.
    #[error("there is no training to show")]
    NoTraining,
    /// A query that the data does not have.
    #[error("the {data} has no query '{query}'")]
    UnknownQuery {
        /// The data: data, training data.
        data: &'static str,
        /// The id of the query.
        query: String,
        /// The queries there are.
        known: KnownNames,
    },
    /// A query that was not among those compared.
    #[error("there is no query {query} among the {} that were compared", known.count)]
    NotCompared {
        /// The id of the query.
        query: String,
        /// The queries there are.
        known: KnownNames,
    },
    /// A metric that was not among those compared.
    #[error("{metric} is none of the metrics that were compared: {}", known.join(", "))]
    MetricNotCompared {
        /// The metric.
        metric: String,
        /// The metrics there are.
        known: Vec<String>,
    },
    /// A document that a query does not have.
    #[error("query '{query}' has no document '{document}'")]
    UnknownDocument {
        /// The id of the query.
        query: String,
        /// The id of the document, or its row.
        document: String,
        /// The documents there are.
        known: KnownNames,
    },
    /// A feature that the model does not have.
    #[error("the model has no feature '{feature}'")]
    UnknownFeature {
        /// The feature.
        feature: String,
        /// The features there are.
        known: KnownNames,
    },
    /// Documents were named without a query.
    #[error("documents were named, but no query whose documents they are")]
    DocumentsWithoutQuery,
    /// The number of sources differs from the number of systems.
    #[error("found {found} sources of queries for {expected} systems; expected one for each")]
    SourceCount {
        /// The number of sources.
        found: usize,
        /// The number of systems.
        expected: usize,
    },
    /// The source of a system does not have the queries of its evaluation.
    #[error(
        "the source of {system} has other queries than the evaluation of {first}, or another order"
    )]
    OtherQueries {
        /// The system.
        system: String,
        /// The first system.
        first: String,
    },
    /// A number of features to show that is too small or too large.
    #[error("the number of features shown is {found}; expected 1 to {most}")]
    ShownFeatures {
        /// The number.
        found: usize,
        /// The largest number.
        most: usize,
    },
    /// A sample of rows that is too small.
    #[error("the sample of rows is {found}; expected at least 2")]
    SampleSize {
        /// Its size.
        found: usize,
    },
    /// A bound for near-duplicates that is not a correlation.
    #[error("the correlation of near-duplicates is {found}; expected above 0, up to 1")]
    NearDuplicates {
        /// The correlation.
        found: f64,
    },
    /// A bug in this program.
    #[error("internal error: {invariant} does not hold")]
    Internal {
        /// The condition that should have held.
        invariant: &'static str,
    },
    /// A plot could not be drawn.
    #[error("cannot draw the plot {chart}: {why}")]
    Draw {
        /// Its id.
        chart: String,
        /// The message of the plotting library.
        why: String,
    },
}

impl ReportError {
    /// The remedy, where there is one that holds for every caller.
    pub fn help(&self) -> Option<String> {
        match self {
            ReportError::Data(error) => error.help(),
            ReportError::Model(error) => error.help(),
            ReportError::Spec(error) => error.help(),
            ReportError::Eval(error) => error.help(),
            ReportError::Learn(error) => error.help(),
            ReportError::Explain(error) => error.help(),
            ReportError::UnknownQuery { data, known, .. } => {
                Some(known.among(&format!("in the {data}")))
            }
            ReportError::NotCompared { known, .. } => {
                Some(format!("ids are written as in the data, {}", known.examples()))
            }
            ReportError::UnknownDocument { known, .. } => Some(known.among("in the query")),
            ReportError::UnknownFeature { known, .. } => Some(known.among("its features")),
            ReportError::DocumentsWithoutQuery => Some("name the query too".into()),
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
