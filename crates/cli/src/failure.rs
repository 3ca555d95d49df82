//! Why a command ended without its result.

use std::path::PathBuf;

use rankwright::data::DataError;
use rankwright::eval::compare::CompareError;
use rankwright::eval::{EvalError, SpecError};
use rankwright::learn::LearnError;
use rankwright::model::ModelError;

use crate::interrupt;

/// Every way to end with an exit code other than 0.
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
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// Ctrl-C in a training; what was done is saved.
    #[error("interrupted after tree {trees}; saved in {}", folder.display())]
    Interrupted { trees: usize, folder: PathBuf },
    /// Ctrl-C where nothing is saved.
    #[error("interrupted")]
    Stopped,
    /// A request that cannot be met, with what to do instead.
    #[error("{0}")]
    Request(String),
    /// Arguments that do not go together, where only the content of files shows it.
    #[error("{0}")]
    Usage(String),
    /// Standard output is gone (a closed pipe); nothing is wrong with the work.
    #[error("cannot write to standard output: {0}")]
    Output(std::io::Error),
}

impl Failure {
    pub(crate) fn request(message: impl Into<String>) -> Failure {
        Failure::Request(message.into())
    }

    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure::Usage(message.into())
    }

    /// The exit code: 1 bad input or request, 2 wrong usage, 130 interrupted.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Interrupted { .. } | Failure::Stopped => interrupt::CODE,
            _ => 1,
        }
    }

    /// What to do, where the error knows.
    pub(crate) fn help(&self) -> Option<String> {
        match self {
            Failure::Data(error) => error.help(),
            Failure::Model(error) => error.help(),
            Failure::Learn(LearnError::Data(error)) => error.help(),
            Failure::Learn(LearnError::Model(error)) => error.help(),
            Failure::Interrupted { folder, .. } => Some(format!(
                "the same command with --checkpoint {} goes on from there",
                folder.display()
            )),
            _ => None,
        }
    }
}
