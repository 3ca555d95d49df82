//! Bins: features as small integers, the form in which trees are grown.
//!
//! [`bounds`] finds the upper bounds of a feature's bins, [`categories`] the categories with a bin
//! of their own, [`columns`] packs features into bytes, [`assign`] maps values to bins, and
//! [`Binned`] holds the result in two layouts: in lines, for histograms, and by column, for
//! partitions.

mod assign;
mod bounds;
mod categories;
mod columns;
mod matrix;
mod sample;

pub(crate) use bounds::FeatureBins;
pub(crate) use columns::{CELLS, PackedFeature};
pub(crate) use matrix::{BinLines, Binned, MIN_LINE_BYTES, TILE};
