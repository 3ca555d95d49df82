//! Boosting: trees added one by one, each a step that decreases the loss.
//!
//! [`train`] is the loop, [`learners`] has the learners of boosted trees, and [`trainer`] runs the
//! loop for them. [`params`] has the parameters, [`start`] the state that a training starts from.
//! [`queries`] passes the data to the objective, [`sample`] draws queries and features, [`goss`]
//! samples queries by their gradients, [`values`] computes leaf values, [`line_search`] the step
//! length along a tree, [`scores`] adds trees to the scores of the training data, [`dropout`]
//! chooses the trees that DART drops and [`dart`] keeps the scores without them,
//! [`validation_scores`] updates the scores of validation data, [`targets`] recomputes what a tree
//! was fitted to.

mod dart;
mod dropout;
mod goss;
pub(crate) mod learners;
mod line_search;
mod params;
pub(crate) mod queries;
pub(crate) mod relevance;
mod sample;
mod scores;
mod start;
mod targets;
#[cfg(test)]
pub(crate) mod tests;
mod train;
pub(crate) mod trainer;
mod validation_scores;
mod values;

pub use dropout::DropScale;
pub(crate) use params::{BoostConfig, check_joint_newton_leaves};
pub use params::{BoostOptions, BoostParams, Newton, NewtonOptions, NewtonParams};
pub use targets::split_impurities;
pub(crate) use train::BoostEngine;
#[cfg(test)]
pub(crate) use train::objective_seed;
pub use trainer::Booster;
