//! Boosting: trees added one by one, each a step down the objective's slope.
//!
//! [`train`] is the loop, [`learners`] the learners made of it, [`trainer`] joins the two. [`queries`] shows the data to the
//! objective, [`sample`] draws queries and features, [`one_side`] chooses queries by their gradients,
//! [`values`] gives leaves their values, [`scores`] moves the scores by them, [`dropout`] and
//! [`dart`] drop trees on the way, [`watch`] moves the scores of validation data.

mod dart;
mod dropout;
mod learners;
mod line;
mod goss;
mod params;
pub(crate) mod queries;
mod sample;
mod scores;
mod start;
#[cfg(test)]
pub(crate) mod tests;
mod train;
pub(crate) mod trainer;
mod values;
mod watch;

pub use dropout::DropScale;
pub use learners::{
    LambdaMart, Mart, MartLoss, MartOptions, MartParams, RankMart, RegressionTree, XeNdcgMart,
    YetiRank,
};
pub(crate) use params::{BoostConfig, check_joint};
pub use params::{BoostOptions, BoostParams, Newton, NewtonOptions, NewtonParams};
pub(crate) use train::BoostEngine;
pub use trainer::Booster;
