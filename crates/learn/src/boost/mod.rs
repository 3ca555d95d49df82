//! Boosting: trees added one by one, each a step down the objective's slope.
//!
//! [`Booster::train`](train::Booster::train) is the loop. [`queries`] shows the data to the
//! objective, [`sample`] draws queries and features, [`one_side`] chooses queries by their gradients,
//! [`values`] gives leaves their values, [`scores`] moves the scores by them, [`dropout`] and
//! [`dart`] drop trees on the way, [`watch`] moves the scores of validation data.

mod dart;
mod dropout;
mod line;
mod one_side;
mod params;
pub(crate) mod queries;
mod sample;
mod scores;
mod start;
#[cfg(test)]
pub(crate) mod tests;
mod train;
mod values;
mod watch;

pub use dropout::{DropScale, Dropout};
pub use one_side::OneSide;
pub use params::{BoostParams, Newton};
pub use train::Booster;
