//! Errors of experiments.

use std::path::PathBuf;

use rankwright_data::DataError;
use rankwright_eval::EvalError;
use rankwright_eval::compare::CompareError;
use rankwright_learn::LearnError;
use rankwright_model::ModelError;
use rankwright_report::ReportError;
use rankwright_spec::SpecError;

/// The reason why an experiment could not be read, run or reported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// A file could not be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A metric cannot be computed.
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
    /// A page could not be drawn.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// Another process runs an experiment in the same folder.
    #[error("another experiment is running in {}", folder.display())]
    FolderInUse {
        /// The folder of the results.
        folder: PathBuf,
    },
    /// A learner has no parameter `rate`, so there is no shrinkage to vary.
    #[error("{learner} has no shrinkage: learners with `rate` do, such as lambdamart and mart")]
    NoRate {
        /// Name of the learner.
        learner: String,
    },
    /// A rate of learning that is not a number above 0.
    #[error("the rate {rate} is not a number above 0")]
    BadRate {
        /// The rate.
        rate: f64,
    },
    /// A rate of learning that is given twice.
    #[error("the rate {rate} is given twice")]
    RateTwice {
        /// The rate.
        rate: f64,
    },
    /// A bug in this program.
    #[error("internal error: {invariant} does not hold")]
    Internal {
        /// The condition that should have held.
        invariant: &'static str,
    },
    /// A learner does not learn in rounds, so there is no learning curve.
    #[error("{learner} is not trained in rounds, so there is no learning curve")]
    NoRounds {
        /// The learner's spec.
        learner: String,
    },
    /// Something is wrong in an experiment's file.
    #[error("{file}, line {line}, column {column}: {what}")]
    File {
        /// Name of the file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The problem, and what was expected.
        what: String,
    },
    /// A request that cannot be met.
    #[error("{message}")]
    Request {
        /// What was found and what was expected.
        message: String,
        /// What to do.
        help: Option<String>,
    },
}

impl ExperimentError {
    /// A request that cannot be met.
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self::Request { message: message.into(), help: None }
    }

    /// A request that cannot be met, with what to do instead.
    pub(crate) fn with_help(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Request { message: message.into(), help: Some(help.into()) }
    }

    /// What to do, where the error knows.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Data(error) => error.help(),
            Self::Model(error) => error.help(),
            Self::Report(error) => error.help(),
            Self::Learn(LearnError::Data(error)) => error.help(),
            Self::Learn(LearnError::Model(error)) => error.help(),
            Self::Request { help, .. } => help.clone(),
            _ => None,
        }
    }
}
