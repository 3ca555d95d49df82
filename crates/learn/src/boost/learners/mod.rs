//! Learners of boosted trees, one file each.

mod booster;
mod boosting;
mod lambdamart;
mod mart;
mod rankmart;
mod tree;
mod xendcg;
mod yetirank;

pub(crate) use booster::BOOSTER;
pub use booster::ObjectiveBooster;
pub use boosting::{Boosting, BoostingOptions, BoostingParams};
pub use lambdamart::LambdaMart;
pub use mart::{Mart, MartLoss, MartOptions, MartParams};
pub use rankmart::RankMart;
pub use tree::RegressionTree;
pub use xendcg::XeNdcgMart;
pub use yetirank::YetiRank;

crate::learner::learners![
    LambdaMart,
    RankMart,
    XeNdcgMart,
    YetiRank,
    Mart,
    Boosting,
    RegressionTree
];

/// The default search space for tuning boosted trees.
pub(super) const TREE_SEARCH_SPACE: &str = "rate=log(0.02,0.3), leaves=choice(7,15,31,63), min_rows=logint(1,100), l2=log(0.01,100), \
     sample_queries=uniform(0.5,1), sample_features=uniform(0.3,1)";

/// Input that every learner of boosted trees accepts; the fields are explained at
/// [`AcceptedInputs`](crate::learner::AcceptedInputs).
pub(super) const TREE_INPUTS: crate::learner::AcceptedInputs = crate::learner::AcceptedInputs {
    pairs: false,
    pairs_alone: false,
    start: true,
    validation: true,
    missing: true,
    positions: false,
};
