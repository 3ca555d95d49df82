//! Learning to rank: trains a ranking model on a [`Dataset`](rankwright_data::Dataset).
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
mod training_log;
mod transform;
pub mod tree;
pub mod tune;

pub use blend::{
    Blend, BlendNormalise, BlendOptions, BlendParams, BlendPreset, BlendWeights, MembersText,
};
pub use boost::{
    BoostOptions, BoostParams, Booster, DropScale, LambdaMart, Mart, MartLoss, MartOptions,
    MartParams, Newton, NewtonOptions, NewtonParams, RankMart, RegressionTree, XeNdcgMart,
    YetiRank,
};
pub use ensemble::{
    AdaRank, AdaRankOptions, AdaRankParams, Bagging, BaggingOptions, BaggingParams,
    CoordinateAscent, CoordinateAscentOptions, CoordinateAscentParams, Directions, ForestOptions,
    ForestParams, RandomForest, RankBoost, RankBoostOptions, RankBoostParams, SvmMap,
    SvmMapOptions, SvmMapParams,
};
pub use error::LearnError;
pub use learner::{
    CvOptions, CvResult, DeclaredLearner, Fit, FixedWeights, FixedWeightsOptions,
    FixedWeightsParams, FoldResult, LEARNERS, Learner, LearnerDef, LearnerSpec, LearnerText, Takes,
    TargetOptions, TargetParams, Tuning, WeightsText, cross_validate, find_learner,
};
pub use linear::{
    Hinge, LinearRegression, LinearRegressionOptions, LinearRegressionParams, LinearSvm,
    LinearSvmOptions, LinearSvmParams, LogisticRegression, LogisticRegressionOptions,
    LogisticRegressionParams, OrdinalRegression, OrdinalRegressionOptions, OrdinalRegressionParams,
    PairwiseLogistic, PairwiseLogisticOptions, PairwiseLogisticParams, RankSvm, RankSvmOptions,
    RankSvmParams, SolverOptions, SolverParams,
};
pub use net::{
    ApproxNdcgNet, HiddenNorm, LambdaRank, ListMleNet, ListNet, NetActivation, NetOptimiser,
    NetOptions, NetParams, NetSchedule, RankNet, RankNetOptions, RankNetParams, SoftmaxNet,
    SoftmaxNetOptions, SoftmaxNetParams, SoftmaxNetTarget,
};
pub use preferences::Preferences;
pub use rankwright_model::simd;
pub use session::{
    Checkpoints, Iteration, NoProgress, Phases, Progress, TrainRequest, TrainResult,
    TrainingHistory, ValidationSet,
};
pub use trainer::{Trainer, Validation};
pub use training_log::TrainingLog;
pub use transform::{Transform, TransformOptions, TransformParams};

/// Learners, their builder methods and the types of training requests, for a glob import.
pub mod prelude {
    pub use crate::objective::{
        ApproxNdcgOptions as _, HuberOptions as _, LambdaOptions as _, ListMleOptions as _,
        LogLossOptions as _, PairOptions as _, SoftmaxOptions as _, XeNdcgOptions as _,
        YetiOptions as _,
    };
    pub use crate::tree::TreeOptions as _;
    pub use crate::{
        AdaRank, AdaRankOptions as _, ApproxNdcgNet, Bagging, BaggingOptions as _, Blend,
        BlendOptions as _, BoostOptions as _, Booster, CoordinateAscent,
        CoordinateAscentOptions as _, Fit as _, FixedWeights, FixedWeightsOptions as _,
        ForestOptions as _, LambdaMart, LambdaRank, Learner, LearnerSpec, LinearRegression,
        LinearRegressionOptions as _, LinearSvm, LinearSvmOptions as _, ListMleNet, ListNet,
        LogisticRegression, LogisticRegressionOptions as _, Mart, MartOptions as _,
        NetOptions as _, NewtonOptions as _, OrdinalRegression, OrdinalRegressionOptions as _,
        PairwiseLogistic, PairwiseLogisticOptions as _, Progress, RandomForest, RankBoost,
        RankBoostOptions as _, RankMart, RankNet, RankNetOptions as _, RankSvm,
        RankSvmOptions as _, RegressionTree, SoftmaxNet, SoftmaxNetOptions as _,
        SolverOptions as _, SvmMap, SvmMapOptions as _, TargetOptions as _, TrainRequest,
        TrainResult, TransformOptions as _, XeNdcgMart, YetiRank, cross_validate,
    };
}
