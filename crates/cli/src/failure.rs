//! Why a command ended without its result.

use rankwright::data::DataError;
use rankwright::eval::compare::CompareError;
use rankwright::eval::{EvalError, SpecError};

/// Every way to end with exit code 1.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Eval(#[from] EvalError),
    #[error(transparent)]
    Spec(#[from] SpecError),
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// A request that cannot be met, with what to do instead.
    #[error("{0}")]
    Request(String),
    /// Standard output is gone (a closed pipe); nothing is wrong with the work.
    #[error("cannot write to standard output: {0}")]
    Output(std::io::Error),
}

impl Failure {
    pub(crate) fn request(message: impl Into<String>) -> Failure {
        Failure::Request(message.into())
    }

    /// What to do, where the error knows.
    pub(crate) fn help(&self) -> Option<String> {
        match self {
            Failure::Data(error) => error.help(),
            _ => None,
        }
    }
}
