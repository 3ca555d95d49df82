//! The list of learners: one line each.

use rankwright_spec::SpecError;

use super::{DeclaredLearner, FixedWeights, LearnerDef};
use crate::blend::Blend;
use crate::boost::{LambdaMart, Mart, RankMart, RegressionTree, XeNdcgMart, YetiRank};
use crate::ensemble::{AdaRank, Bagging, CoordinateAscent, RandomForest, RankBoost, SvmMap};
use crate::linear::{
    LinearRegression, LinearSvm, LogisticRegression, OrdinalRegression, PairwiseLogistic, RankSvm,
};
use crate::net::{ApproxNdcgNet, LambdaRank, ListMleNet, ListNet, RankNet, SoftmaxNet};

/// Lists learners, and gives each its constructor.
macro_rules! learners {
    ($($learner:ident),* $(,)?) => {
        /// Every learner.
        pub static LEARNERS: &[&LearnerDef] = &[$( $learner::DEF ),*];

        $( impl $learner {
            /// The learner with its default parameters.
            pub fn new() -> Self {
                Self::default()
            }
        } )*
    };
}

learners![
    LambdaMart,
    RankMart,
    XeNdcgMart,
    YetiRank,
    Mart,
    RegressionTree,
    RankSvm,
    PairwiseLogistic,
    LinearRegression,
    LogisticRegression,
    LinearSvm,
    OrdinalRegression,
    LambdaRank,
    RankNet,
    ListNet,
    ListMleNet,
    SoftmaxNet,
    ApproxNdcgNet,
    RankBoost,
    AdaRank,
    SvmMap,
    CoordinateAscent,
    RandomForest,
    Bagging,
    Blend,
    FixedWeights,
];

/// The declaration of a name; the error lists the known ones.
pub fn find_learner(name: &str) -> Result<&'static LearnerDef, SpecError> {
    LEARNERS.iter().copied().find(|def| def.name == name).ok_or_else(|| {
        let known: Vec<&str> = LEARNERS.iter().map(|def| def.name).collect();
        SpecError::unknown("learner", name, &known)
    })
}
