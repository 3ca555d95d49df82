//! Why a task gave no result.

use std::path::PathBuf;

use rankwright_data::{Absent, DataError};
use rankwright_eval::EvalError;
use rankwright_eval::compare::CompareError;
#[cfg(feature = "train")]
use rankwright_learn::LearnError;
use rankwright_model::ModelError;
#[cfg(feature = "report")]
use rankwright_report::ReportError;
use rankwright_spec::SpecError;

/// Everything that ends a task without a result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// Data could not be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// An evaluation is not possible.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// A spec cannot be read.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// Systems cannot be compared.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// A model could not be read, written or matched with data.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A training failed.
    #[cfg(feature = "train")]
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// An explanation or a report cannot be made.
    #[cfg(feature = "report")]
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The caller's flag was raised.
    #[error("cancelled")]
    Cancelled,
    /// Standard input is named more than once.
    #[error("standard input (-) can be read only once")]
    StandardInputTwice,
    /// A result would be written over one of its inputs.
    #[error("{} would be written over {}, which is read here", out.display(), input.display())]
    OutputIsInput {
        /// The file to write.
        out: PathBuf,
        /// The input that it is.
        input: PathBuf,
    },
    /// A model stands where feature data belongs.
    #[error("{file} is a model; feature data is expected here")]
    ModelInsteadOfData {
        /// The file.
        file: String,
    },
    /// A model stands where a run belongs.
    #[error("{file} is a model; a run is expected here, since models rank feature data")]
    ModelInsteadOfRun {
        /// The file.
        file: String,
    },
    /// No model is among the files.
    #[error("{file} is no model")]
    NoModel {
        /// The first of the files.
        file: String,
    },
    /// Several models are given where one is expected.
    #[error("{count} models are given; one is expected here")]
    SeveralModels {
        /// How many.
        count: usize,
    },
    /// All files are models.
    #[error("there is no feature data for the model to score")]
    NoData,
    /// Neither a model nor scores are among the files to compare.
    #[error("none of the files is a model, and there are no scores to compare")]
    NoSystems,
    /// Extra features are to be ignored, but nothing could have any.
    #[error("extra features cannot be ignored, since no model is among the files")]
    NoModelToIgnoreExtra,
    /// The caller's rule for absent features is not the model's.
    #[error(
        "absent features were said to be {}, but the model was made with {}",
        said.name(), model.name()
    )]
    AbsentContradictsModel {
        /// The caller's rule.
        said: Absent,
        /// The model's rule.
        model: Absent,
    },
    /// The caller's rule for absent features comes too late: the file has another one in it.
    #[error(
        "absent features were said to be {}, but {file} is {format}, with absent features taken \
         as {} already",
        said.name(), recorded.name()
    )]
    AbsentRecorded {
        /// The file.
        file: String,
        /// Name of its format.
        format: &'static str,
        /// The caller's rule.
        said: Absent,
        /// The file's rule.
        recorded: Absent,
    },
    /// Models that are to score the same data take absent features differently.
    #[error(
        "{first} takes absent features as {}, {second} as {}, so one data set cannot serve both",
        first_rule.name(), second_rule.name()
    )]
    AbsentRulesDiffer {
        /// A model.
        first: String,
        /// Its rule.
        first_rule: Absent,
        /// Another model.
        second: String,
        /// Its rule.
        second_rule: Absent,
    },
    /// The extension of a file to write means no format.
    #[error(
        "the name {} does not tell a format; known endings are .{}", path.display(), known.join(", .")
    )]
    UnknownExtension {
        /// The file.
        path: PathBuf,
        /// An extension of each format.
        known: Vec<&'static str>,
    },
    /// Features with names cannot be numbered anew.
    #[error("the features of the model have names, so they have no numbers to change")]
    FeaturesHaveNames,
    /// A part of a division has no query.
    #[error("the part '{name}' would be empty: there are only {queries} queries")]
    EmptyPart {
        /// Name of the part.
        name: String,
        /// Queries of the data.
        queries: usize,
    },
    /// A score file has another number of lines than the data has rows.
    #[error(
        "{file} has {found} scores, but {data} has {expected} rows; a score file has one line for \
         each row"
    )]
    ScoreCount {
        /// The score file.
        file: String,
        /// Its lines.
        found: usize,
        /// Name of the data.
        data: String,
        /// Its rows.
        expected: usize,
    },
}

impl TaskError {
    /// What the caller can do, where the error knows.
    pub fn help(&self) -> Option<String> {
        match self {
            TaskError::Data(error) => error.help(),
            TaskError::Model(error) => error.help(),
            #[cfg(feature = "report")]
            TaskError::Report(error) => error.help(),
            TaskError::StandardInputTwice => Some("give a file instead".into()),
            TaskError::OutputIsInput { .. } => Some("name another file".into()),
            TaskError::AbsentRulesDiffer { .. } => {
                Some("score the data with each model by itself and compare the scores".into())
            }
            _ => None,
        }
    }
}
