//! Problems of checkpoints.

use rankwright_model::ModelError;

/// The reason why a checkpoint file cannot be resumed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointProblem {
    /// The file is damaged, or cannot be read.
    #[error("is damaged ({0})")]
    Damaged(ModelError),
    /// The file is a model without the state of a training.
    #[error("is a model, not a checkpoint")]
    NotACheckpoint,
    /// The state in the file's header does not follow the format.
    #[error("is a checkpoint whose state cannot be read")]
    Unreadable,
    /// The file was written by a training with other data, validation data, metrics, learner, start
    /// model or seed.
    #[error("belongs to a training with other data, another learner spec, start model or seed")]
    OtherTraining,
}

/// The reason why the learner's state in a checkpoint cannot be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateProblem {
    /// The state is not written in hexadecimal digits.
    #[error("a learner state that is not in hexadecimal digits")]
    NotHexadecimal,
    /// The checkpoint holds fewer trees than its history has rounds, or none.
    #[error("fewer trees than rounds")]
    MissingTrees,
    /// The leaf values before dropout do not fit the trees.
    #[error("leaf values that do not fit its trees")]
    LeavesDoNotFit,
    /// The state has the shape of another learner or of another net.
    #[error("the state of another learner")]
    OtherLearner,
}
