//! Learning: from a [`Dataset`](rankwright_data::Dataset) to a model that ranks.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)
)]

mod bins;
mod blend;
mod boost;
mod cholesky;
pub mod collective;
mod ensemble;
mod error;
mod exp;
mod learner;
mod linear;
mod net;
pub mod objective;
pub mod permutation;
mod preferences;
mod session;
mod trainer;
mod transform;
pub mod tree;
pub mod tune;

pub use boost::{BoostParams, Booster, DropScale, Dropout, Newton, OneSide};
pub use error::LearnError;
pub use learner::{
    CvOptions, CvResult, FoldResult, LEARNERS, LearnerInfo, LearnerSpec, cross_validate,
};
pub use preferences::Preferences;
pub use rankwright_model::simd;
pub use session::{
    Checkpoints, Iteration, NoProgress, Phases, Progress, TrainRequest, TrainResult,
    TrainingHistory, ValidationSet,
};
