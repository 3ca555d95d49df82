//! Bins: features as small whole numbers, the form in which trees are grown.
//!
//! [`bounds`] finds where the bins of a feature end, [`categories`] which categories have a bin of
//! their own, [`columns`] which features share a byte,
//! [`assign`] turns values into bins, and [`Binned`] holds the result twice: in lines, for
//! histograms, and by column, for partitions.

mod assign;
mod bounds;
mod categories;
mod columns;
mod matrix;
mod sample;

pub(crate) use bounds::FeatureBins;
pub(crate) use columns::{CELLS, PackedFeature};
pub(crate) use matrix::{Binned, BinLines, NARROW, TILE};
