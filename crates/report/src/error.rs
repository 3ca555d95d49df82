//! What can go wrong in making a report.

use rankwright_data::DataError;
use rankwright_eval::EvalError;
use rankwright_eval::compare::CompareError;
use rankwright_learn::LearnError;
use rankwright_model::ModelError;
use rankwright_spec::SpecError;

/// Why there is no report.
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
    /// What was asked for cannot be shown.
    #[error("{message}")]
    Request {
        /// What was found and what was expected.
        message: String,
        /// What to do.
        help: Option<String>,
    },
    /// A plot could not be drawn.
    #[error("cannot draw the plot {chart}: {why}")]
    Draw {
        /// Its id.
        chart: String,
        /// What the plotting library says.
        why: String,
    },
}

impl ReportError {
    /// A request that cannot be met.
    pub fn request(message: impl Into<String>) -> ReportError {
        ReportError::Request { message: message.into(), help: None }
    }

    /// The same with what to do instead.
    pub fn with_help(message: impl Into<String>, help: impl Into<String>) -> ReportError {
        ReportError::Request { message: message.into(), help: Some(help.into()) }
    }

    /// What to do, where the error knows.
    pub fn help(&self) -> Option<String> {
        match self {
            ReportError::Data(error) => error.help(),
            ReportError::Model(error) => error.help(),
            ReportError::Learn(LearnError::Data(error)) => error.help(),
            ReportError::Learn(LearnError::Model(error)) => error.help(),
            ReportError::Request { help, .. } => help.clone(),
            _ => None,
        }
    }
}
