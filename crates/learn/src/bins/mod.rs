//! Bins: features as small integers, the form in which trees are grown.
//!
//! [`bounds`] finds the upper bounds of a feature's bins, [`categories`] the categories with a bin
//! of their own, both from the rows that [`sample`] chooses; [`columns`] packs features into bytes,
//! [`assign`] maps values to bins, and [`Binned`] (in [`matrix`]) holds the result in two layouts:
//! in lines of 64 bytes per row, for histograms, and by column, for partitions of a leaf's rows.

mod assign;
mod bounds;
mod categories;
mod columns;
mod matrix;
mod sample;

pub(crate) use bounds::FeatureBins;
pub(crate) use columns::{CELLS, PackedFeature};
pub(crate) use matrix::{Binned, LineGroup, MIN_LINE_BYTES, TILE_COLUMNS};
