//! One training session for all learners: request and result, progress, validation metrics,
//! early stopping, the history and checkpoints.
//!
//! A learner that works in rounds (trees, epochs, passes) opens a [`Session`], reports the end of
//! each round to it, and gets back whether to continue. Boosted trees keep the scores of their
//! validation data up to date themselves and pass the values ([`Session::end_round`]); every other
//! learner passes its current model, which the session evaluates
//! ([`Session::end_round_with_model`]). A learner that trains other learners, such as a blend,
//! opens a [`NestedTraining`], in whose history each of these trainings is a round.

pub(crate) mod checkpoint;
mod history;
mod labels;
mod nested;
mod progress;
mod request;
mod rounds;
mod stop;
mod teacher;
#[cfg(test)]
pub(crate) mod test_support;
pub(crate) mod validation;
mod warning;

pub use checkpoint::Checkpoints;
pub use history::{
    Iteration, KeptReason, KeptRounds, PhaseSeconds, TrainingHistory, validation_set_names,
};
pub(crate) use labels::MetricLabels;
pub use labels::{LabelOptions, LabelParams, LabelWeights, LabelsText};
pub(crate) use nested::NestedTraining;
pub use progress::{MemberStart, NoProgress, Progress};
pub use request::{TrainRequest, TrainResult, ValidationSet};
pub(crate) use rounds::{
    RoundPlan, RoundStatus, Session, Snapshot, TEACHER_NOTE, header, result_without_rounds,
};
pub use stop::Stop;
pub(crate) use teacher::{SoftTargets, appended};
pub use teacher::{Teacher, TeacherOptions, TeacherParams, TeacherScores};
pub use warning::{ConstantReason, TrainWarning};
