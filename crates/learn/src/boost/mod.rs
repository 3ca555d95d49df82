//! Boosting: trees added one by one, each a step down the objective's slope.
//!
//! [`Booster::train`](train::Booster::train) is the loop. [`queries`] shows the data to the
//! objective, [`sample`] draws queries and features, [`one_side`] chooses queries by their gradients,
//! [`values`] gives leaves their values, [`scores`] moves the scores by them, [`dropout`] and
//! [`dart`] drop trees on the way, [`watch`] follows the metrics and knows when to stop,
//! [`checkpoint`] saves, [`record`] keeps what happened.

pub(crate) mod checkpoint;
mod dart;
mod dropout;
mod line;
mod one_side;
mod params;
pub(crate) mod queries;
mod record;
mod sample;
mod scores;
mod start;
#[cfg(test)]
pub(crate) mod tests;
mod train;
mod values;
pub(crate) mod watch;

pub use checkpoint::Checkpoints;
pub use dropout::{DropScale, Dropout};
pub use one_side::OneSide;
pub use params::{BoostParams, Newton};
pub use record::{Iteration, Phases, Record};
pub use train::{Booster, Job, Observer, Outcome, Silent, WatchedSet};
