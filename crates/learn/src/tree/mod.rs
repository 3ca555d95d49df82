//! Trees, grown from integer histograms.
//!
//! `quantise` turns derivatives into whole numbers, `histogram` sums them by column and bin, `split`
//! finds the best split of a feature, `partition` moves the rows of a split leaf. `evaluate` sums and
//! searches for two fresh leaves at once, `expand` does all that one leaf needs, `grow` puts the tree
//! together, and `routes` leads rows through it that it was not grown from. `sets` finds the best
//! set of categories, `interact` knows which features may meet on a path, and `oblivious` grows
//! trees with one question a level. [`TreeParams`] are its parameters.

mod evaluate;
mod expand;
mod grow;
mod grown;
mod histogram;
mod interact;
mod oblivious;
mod params;
mod partition;
mod quantise;
mod routes;
mod rules;
mod sets;
mod split;
#[cfg(test)]
mod reference;
mod units;

pub(crate) use grow::{Grow, GrowTimes, Grower, GrownRows, GrowInput};
pub(crate) use grown::{Grown, GrownLeaf};
pub(crate) use params::TreeConfig;
pub use params::{Direction, Growth, TreeOptions, TreeParams};
pub(crate) use partition::left_bytes;
pub(crate) use quantise::Scales;
pub(crate) use routes::Routes;
pub(crate) use rules::trimmed;
pub use rules::{CategoricalText, FeatureCostText, InteractionText, MonotoneText};
pub(crate) use split::Limits;
