//! What can go wrong in training.

use rankwright_data::DataError;
use rankwright_eval::EvalError;
use rankwright_model::ModelError;
use rankwright_spec::SpecError;

/// Why training was refused or stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// A learner, objective or metric was asked for wrongly.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A metric could not be computed.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// A file could not be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A model could not be used or written.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// No query of the data has a value of a metric.
    #[error("{metric} has no value: no query of the data counts under {convention}")]
    MetricUndefined {
        /// The metric.
        metric: String,
        /// Its conventions, in words.
        convention: String,
    },
    /// The data does not fit what was asked for.
    #[error("{what}; {help}")]
    Unfit {
        /// What was found.
        what: String,
        /// What to do about it.
        help: String,
    },
}

impl LearnError {
    /// Data that does not fit, and the way out.
    pub fn unfit(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Unfit { what: what.into(), help: help.into() }
    }
}
