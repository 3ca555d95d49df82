//! The reasons why a command ends without a result. The documentation of the command's own
//! variants is in docs/reference/errors.md.

use std::path::PathBuf;

use rankwright::data::DataError;
use rankwright::eval::EvalError;
use rankwright::eval::compare::CompareError;
use rankwright::experiment::ExperimentError;
use rankwright::learn::LearnError;
use rankwright::model::ModelError;
use rankwright::report::ReportError;
use rankwright::search::SearchError;
use rankwright::spec::SpecError;
use rankwright::tasks::{SavedTraining, TaskError};

use crate::interrupt;

/// Everything that ends a command with an exit code other than 0.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Task(#[from] TaskError),
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
    #[error(transparent)]
    Search(#[from] SearchError),
    #[error(transparent)]
    Report(#[from] ReportError),
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// The command was interrupted and had nothing to save.
    #[error("interrupted")]
    Stopped,
    /// A request that cannot be met.
    #[error("{0}")]
    Request(String),
    /// The command line is wrong.
    #[error("{0}")]
    Usage(String),
    /// The file for log lines has other content.
    #[error("{} is not a log file: its first line is not a line of a log", path.display())]
    NotALog { path: PathBuf },
    /// Standard output cannot be written, such as to a full disk. A closed pipe is no error.
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
            Failure::Usage(_)
            | Failure::Task(
                TaskError::Experiment(
                    ExperimentError::BadRate { .. }
                    | ExperimentError::RateTwice { .. }
                    | ExperimentError::Goals { .. }
                    | ExperimentError::BadGoalWeight { .. }
                    | ExperimentError::NoWeights
                    | ExperimentError::KeptLabels { .. },
                )
                | TaskError::NoModel { .. }
                | TaskError::SeveralModels { .. }
                | TaskError::NoData
                | TaskError::NoSystems
                | TaskError::NoModelToMatch
                | TaskError::NoTrainingData { .. }
                | TaskError::NothingToMatch
                | TaskError::NothingTrained { .. }
                | TaskError::OptionNeedsData { .. }
                | TaskError::NoCheckpoints { .. }
                | TaskError::Learn(
                    LearnError::StartModelUnsupported { .. }
                    | LearnError::TeacherUnsupported { .. },
                )
                | TaskError::NoLearner
                | TaskError::LearnerTwice { .. }
                | TaskError::OptionUnused { .. }
                | TaskError::ValidPartUnused
                | TaskError::NoValidationForBest
                | TaskError::RunOfPredictions { .. }
                | TaskError::TagNotOneWord { .. }
                | TaskError::SameFile { .. },
            ) => 2,
            // Neither a checkpoint nor a model was saved: a failure, even after Ctrl-C.
            Failure::Task(TaskError::TrainingStopped {
                saved: SavedTraining::Lost { .. }, ..
            }) => 1,
            Failure::Task(TaskError::TrainingStopped { .. } | TaskError::SearchStopped { .. })
            | Failure::Stopped => interrupt::CODE,
            _ => 1,
        }
    }
}
