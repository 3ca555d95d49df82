//! Trees, grown from integer histograms.
//!
//! `quantise` turns derivatives into integers, `histogram` sums them by column and bin, `split`
//! finds the best split of a feature, `partition` moves the rows of a split leaf. `evaluate` builds
//! and searches the histograms of two new leaves at once, `expand` splits one leaf, `grow` builds
//! the tree, `grown` is the result, and `routes` assigns rows outside the sample to leaves. `sets`
//! finds the best set of categories, `interactions` enforces interaction constraints, and
//! `oblivious` grows trees with one split test for each level. [`TreeParams`] are the parameters of
//! a tree, `size_defaults` has their defaults, `rules` parses those that name features, and `units`
//! converts numbers between the units of parameters and those of the integers of `quantise`.
//! `reference` grows the same trees by slow code.

mod evaluate;
mod expand;
mod grow;
mod grown;
mod histogram;
mod interactions;
mod oblivious;
mod params;
mod partition;
mod quantise;
#[cfg(test)]
mod reference;
mod routes;
mod rules;
mod sets;
mod size_defaults;
mod split;
mod units;

pub(crate) use grow::{Grow, GrowInput, GrowTimes, Grower, GrownRows};
pub(crate) use grown::{GrownLeaf, GrownTree};
pub(crate) use params::TreeConfig;
pub use params::{Direction, Growth, TreeOptions, TreeParams};
pub(crate) use partition::left_bytes;
pub(crate) use quantise::Scales;
pub(crate) use routes::Routes;
pub(crate) use rules::trim_around;
pub use rules::{CategoricalText, FeatureCostText, InteractionText, MonotoneText};
pub(crate) use size_defaults::SizeDefaults;
pub(crate) use split::ValueLimits;
