//! Rejects options without an effect on a training; the error names the option.

use std::fmt;

use rankwright_learn::LearnError;
use rankwright_model::MatchOptions;

use super::TrainModelRequest;
use crate::tasks::TaskError;

/// An option of a training, for error messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrainOption {
    /// A start model.
    Start,
    /// A teacher.
    Teacher,
    /// The seed.
    Seed,
    /// A folder for checkpoints.
    Checkpoint,
    /// Validation data.
    Validation,
    /// Metrics.
    Metrics,
    /// Metrics on the training data.
    EvalTrain,
    /// The format of the data.
    Format,
    /// The meaning of absent features.
    Absent,
    /// Roles of columns.
    Roles,
    /// Preference pairs.
    Pairs,
}

impl TrainOption {
    /// All options.
    pub const ALL: [TrainOption; 11] = [
        TrainOption::Start,
        TrainOption::Teacher,
        TrainOption::Seed,
        TrainOption::Checkpoint,
        TrainOption::Validation,
        TrainOption::Metrics,
        TrainOption::EvalTrain,
        TrainOption::Format,
        TrainOption::Absent,
        TrainOption::Roles,
        TrainOption::Pairs,
    ];
}

impl fmt::Display for TrainOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrainOption::Start => "a start model",
            TrainOption::Teacher => "a teacher",
            TrainOption::Seed => "a seed",
            TrainOption::Checkpoint => "a checkpoint folder",
            TrainOption::Validation => "validation data",
            TrainOption::Metrics => "a metric",
            TrainOption::EvalTrain => "evaluation on the training data",
            TrainOption::Format => "a data format",
            TrainOption::Absent => "a rule for absent features",
            TrainOption::Roles => "roles of columns",
            TrainOption::Pairs => "preference pairs",
        })
    }
}

/// Rejects options without an effect on this training.
pub(super) fn check(request: &TrainModelRequest) -> Result<(), TaskError> {
    let learner = &request.learner;
    let name = learner.def().name;
    // The models of a blend may be files.
    let nothing_to_match = request.valid.is_empty()
        && request.start.is_none()
        && request.teacher.is_none()
        && learner.files().is_empty();
    if request.matching != MatchOptions::default() && nothing_to_match {
        return Err(TaskError::NothingToMatch);
    }
    if !learner.learns() {
        return check_given(request, name);
    }
    if request.start.is_some() && !learner.accepts_start_model() {
        return Err(LearnError::StartModelUnsupported { learner: name.to_owned() }.into());
    }
    if request.teacher.is_some() && !learner.accepts_teacher() {
        return Err(LearnError::TeacherUnsupported { learner: name.to_owned() }.into());
    }
    match request.checkpoint.is_some() && learner.rounds().is_none() {
        true => Err(TaskError::NoCheckpoints { learner: name }),
        false => Ok(()),
    }
}

/// Checks a learner of given weights, which is not trained and may have no data.
fn check_given(request: &TrainModelRequest, learner: &'static str) -> Result<(), TaskError> {
    let of_training = [
        (TrainOption::Start, request.start.is_some()),
        (TrainOption::Teacher, request.teacher.is_some()),
        (TrainOption::Seed, request.seed.is_some()),
        (TrainOption::Checkpoint, request.checkpoint.is_some()),
    ];
    if let Some(option) = given(&of_training) {
        return Err(TaskError::NothingTrained { learner, option });
    }
    let data = request.data.files();
    let of_data = [
        (TrainOption::Validation, !request.valid.is_empty()),
        (TrainOption::Metrics, !request.metrics.is_empty()),
        (TrainOption::EvalTrain, request.eval_train),
        (TrainOption::Format, data.is_some_and(|data| data.format.is_some())),
        (TrainOption::Absent, data.is_some_and(|data| data.absent.is_some())),
        (TrainOption::Roles, data.is_some_and(|data| data.roles.is_some())),
        (TrainOption::Pairs, data.is_some_and(|data| data.pairs.is_some())),
    ];
    match given(&of_data) {
        Some(option) if request.data.is_empty() => Err(TaskError::OptionNeedsData { option }),
        _ => Ok(()),
    }
}

/// The first of the options that is given.
fn given(options: &[(TrainOption, bool)]) -> Option<TrainOption> {
    options.iter().find(|(_, given)| *given).map(|(option, _)| *option)
}
