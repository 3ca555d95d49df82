//! Boosting: trees added one by one, each a step down the objective's slope.
//!
//! [`Booster::train`](train::Booster::train) is the loop. [`queries`] shows the data to the
//! objective, [`sample`] draws queries and features, [`values`] gives leaves their values,
//! [`watch`] follows the metrics and knows when to stop, [`checkpoint`] saves, [`record`] keeps
//! what happened.

pub(crate) mod checkpoint;
mod line;
mod params;
pub(crate) mod queries;
mod record;
mod sample;
mod start;
mod train;
mod values;
pub(crate) mod watch;

pub use checkpoint::Checkpoints;
pub use params::{BoostParams, Newton};
pub use record::{Iteration, Phases, Record};
pub use train::{Booster, Job, Observer, Outcome, Silent, WatchedSet};
