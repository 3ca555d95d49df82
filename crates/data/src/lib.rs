//! Data in and out: ranking data sets, judgements and runs, in every format that is about.
//!
//! A [`Dataset`] always knows its queries. [`format::read`] makes one from files, told by content;
//! [`format::write`] writes one, atomically. [`Qrels`] and [`Run`] hold judgements and rankings.
//! Whatever comes in gives a result or a [`DataError`] that names the place and the way out.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)
)]

#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
pub mod bytes;
mod dataset;
mod error;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
pub mod format;
pub mod generate;
mod guard;
mod inspect;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod lists;
mod matrix;
mod names;
mod notes;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod number;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod pairs;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod pieces;
mod random;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod scores;
pub mod split;
pub mod store;
mod strings;

pub use dataset::{Absent, Columns, Dataset, DatasetBuilder, Label, Query, QueryIndex};
pub use error::{DataError, PairProblem, Place, quote};
pub use guard::{guarded, panics_are_caught};
pub use inspect::{FeatureSummary, Sizes, Summary};
pub use lists::{Document, ListFormat, Lists, Qrels, Run};
pub use matrix::Matrix;
pub use names::FeatureNames;
pub use notes::{DataPart, Note, Notes, Oddity};
pub use pairs::{Pair, Preference};
pub use random::Random;
pub use scores::{read_scores, write_scores};
pub use strings::Strings;
