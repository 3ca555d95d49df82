//! Learning to rank: trains a ranking model on a [`Dataset`](rankwright_data::Dataset).
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)
)]

mod auto;
mod bias;
mod bins;
mod blend;
mod boost;
mod cholesky;
pub mod collective;
mod ensemble;
mod error;
mod error_kind;
mod exp;
mod learner;
mod linear;
mod net;
pub mod objective;
pub mod permutation;
mod preferences;
mod session;
mod trainer;
mod training_log;
mod transform;
pub mod tree;
pub mod tune;

pub use auto::{
    Auto, AutoCandidate, AutoEffort, AutoOptions, AutoParams, AutoReport, AutoServe, AutoServed,
};
pub use bias::{BiasCorrection, BiasCorrectionOptions, BiasFile, BiasFileProblem, BiasParams};
pub use blend::{
    Blend, BlendNormalise, BlendOptions, BlendParams, BlendPreset, BlendWeights, MembersText,
};
pub use boost::learners::*;
pub use boost::{
    BoostOptions, BoostParams, Booster, DropScale, Newton, NewtonOptions, NewtonParams,
    split_impurities,
};
pub use ensemble::*;
pub use error::{CheckpointProblem, LearnError, NotFiniteValue, StateProblem};
pub use learner::{
    AcceptedInputs, CvOptions, CvResult, DEFAULT_LEARNER, DeclaredLearner, Fit, FixedWeights,
    FixedWeightsOptions, FixedWeightsParams, FoldParams, FoldResult, LEARNERS, Learner, LearnerDef,
    LearnerSpec, LearnerText, TargetOptions, TargetParams, Tuning, WeightsText, cross_validate,
    find_learner,
};
pub use linear::learners::*;
pub use linear::{SolverOptions, SolverParams};
pub use net::learners::*;
pub use net::{HiddenNorm, NetActivation, NetOptimiser, NetOptions, NetParams, NetSchedule};
pub use preferences::Preferences;
pub use rankwright_model::simd;
pub use session::{
    Checkpoints, ConstantReason, Iteration, KeptReason, KeptRounds, LabelOptions, LabelParams,
    LabelWeights, LabelsText, MemberStart, NoProgress, PhaseSeconds, Progress, Stop, Teacher,
    TeacherOptions, TeacherParams, TeacherScores, TrainRequest, TrainResult, TrainWarning,
    TrainingHistory, ValidationSet, validation_set_names,
};
pub use trainer::{Trainer, ValidationUse};
pub use training_log::TrainingLog;
pub use transform::{Transform, TransformOptions, TransformParams};

/// Learners, their builder methods and the types of training requests, for a glob import.
pub mod prelude {
    pub use crate::boost::learners::*;
    pub use crate::ensemble::*;
    pub use crate::linear::learners::*;
    pub use crate::net::learners::*;
    pub use crate::objective::options::*;
    pub use crate::tree::TreeOptions as _;
    pub use crate::tune::{Space, TuneData, TuneJob, TunePlan, TuneResult, TuneSettings};
    pub use crate::{
        Auto, AutoOptions as _, BiasCorrection, BiasCorrectionOptions as _, Blend,
        BlendOptions as _, BoostOptions as _, Booster, CvOptions, Fit as _, FixedWeights,
        FixedWeightsOptions as _, LabelOptions as _, Learner, LearnerSpec, NetOptions as _,
        NewtonOptions as _, Progress, SolverOptions as _, Stop, TargetOptions as _, TrainRequest,
        TrainResult, TransformOptions as _, cross_validate,
    };
}
