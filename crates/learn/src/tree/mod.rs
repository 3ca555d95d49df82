//! Trees, grown from integer histograms.
//!
//! `quantise` turns derivatives into whole numbers, `histogram` sums them by column and bin, `split`
//! finds the best split of a feature, `partition` moves the rows of a split leaf. `evaluate` sums and
//! searches for two fresh leaves at once, `expand` does all that one leaf needs, `grow` puts the tree together, and `routes` leads rows
//! through it that it was not grown from. [`TreeParams`] says
//! what a tree may look like.

mod evaluate;
mod expand;
mod grow;
mod histogram;
mod params;
mod partition;
mod quantise;
mod routes;
mod split;
#[cfg(test)]
mod twin;
mod units;

pub(crate) use grow::{Grow, GrowTimes, Grower, Grown, GrownLeaf, GrownRows, Input};
pub use params::{Direction, Growth, TreeParams};
pub(crate) use partition::left_bytes;
pub(crate) use quantise::Scales;
pub(crate) use routes::Routes;
pub(crate) use split::Limits;
