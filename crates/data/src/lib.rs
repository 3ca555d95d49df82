//! Data in and out: ranking data sets, judgements and runs, in all common formats.
//!
//! A [`Dataset`] always knows its queries. [`format::read`] makes one from files, whose format it
//! detects by content; [`format::write`] writes one, atomically. [`Qrels`] and [`Run`] hold
//! judgements and rankings. Every input gives a result or a [`DataError`] that names the location
//! and a remedy.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)
)]
// Some code, such as grouping and roles, is unused without the readers of text.
#![cfg_attr(not(feature = "text"), allow(dead_code))]

#[cfg(feature = "columnar")]
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
pub mod arrow_values;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
pub mod bytes;
#[cfg(feature = "text")]
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod chunks;
#[cfg(feature = "compressed")]
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
pub mod content_stream;
mod dataset;
mod error;
mod error_kind;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod examination_file;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
pub mod format;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod formatted_number;
#[cfg(feature = "generate")]
pub mod generate;
mod inspect;
#[cfg(feature = "text")]
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod lists;
mod matrix;
mod memory;
mod names;
#[cfg(feature = "text")]
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod number;
#[cfg(feature = "text")]
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod open_quote;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod pairs;
mod panics;
#[cfg(feature = "columnar")]
pub mod parquet_limits;
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod point_in_time;
mod random;
mod score_order;
#[cfg(feature = "text")]
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod score_table;
#[cfg(feature = "text")]
mod scored_rows;
#[cfg(feature = "text")]
#[cfg_attr(not(test), deny(clippy::indexing_slicing))]
mod scores;
pub mod split;
mod standard_streams;
pub mod store;
mod strings;
mod table_columns;
mod warnings;

pub use dataset::{Absent, Dataset, DatasetBuilder, Label, MAIN_LABEL, Query};
pub use error::{
    ColumnProblem, DataError, FileDamage, FormatProblem, PairProblem, Remedy, SectionProblem,
    SourceLocation, UnfinishedWrite, UnsupportedFormat, quote,
};
pub use examination_file::{BiasFileProblem, ExaminationFile};
pub use format::is_split_by_semicolons;
#[cfg(feature = "text")]
pub use format::{RowCell, RowEncoder};
pub use formatted_number::{is_decimal_comma, is_formatted_number};
pub use inspect::{DatasetSummary, FeatureSummary, QuerySizeSummary, SummaryWarning};
#[cfg(feature = "text")]
pub use lists::{ListFormat, ListedDocument, Qrels, QueryLists, Run};
pub use matrix::Matrix;
pub use memory::{available_memory, memory_limit, set_memory_limit};
pub use names::FeatureNames;
#[cfg(feature = "text")]
pub use open_quote::open_quote;
pub use pairs::{Pair, PairColumn, PairsByQuery, Preference};
pub use panics::{catch_panic, panics_are_caught};
pub use point_in_time::{DateOrder, PointInTime};
pub use random::{DEFAULT_SEED, Random};
pub use score_order::descending_key;
#[cfg(feature = "text")]
pub use score_table::{is_score_table, read_score_table, read_scores_with_ids};
#[cfg(feature = "text")]
pub use scored_rows::{ScoreFormat, ScoredRows};
#[cfg(feature = "text")]
pub use scores::{read_scores, write_scores};
pub use standard_streams::{allow_standard_streams, is_standard_stream};
pub use strings::Strings;
pub use table_columns::{
    Encoding, MAX_CATEGORIES, TableColumn, TableColumns, TimePart, UnseenCategories,
};
pub use warnings::{DataPart, DataWarning, WarningKind, Warnings};
