//! Click logs: preferences between documents, click models and position bias; interleaved
//! comparisons of rankers; and pairwise judgements.
//!
//! - [`Impression`] is a result page that was shown, with the clicks on it.
//! - [`log`] reads and writes logs of impressions.
//! - [`PreferenceRule`] turns the clicks on a page into preferences between its documents.
//! - [`Pages`] counts equal pages of a log once; [`ClickModel`] describes how users click, and is
//!   fitted to them.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)
)]

pub mod bias;
mod click_counts;
mod error;
mod error_kind;
mod feature_rows;
mod impression;
mod inspect;
pub mod interleave;
pub mod judge;
mod labelled_rows;
pub mod labels;
pub mod log;
pub mod model;
pub mod off_policy;
mod pages;
mod preference_pairs;
mod preferences;
mod rank_groups;
mod rank_table;
pub mod regression;
pub mod simulate;

pub use click_counts::{
    ClickCount, ClickCountsBuilder, CountOptions, CountTable, CountedUnit, CountedValue,
    CountsFormat, write_counts,
};
pub use error::ClicksError;
pub use feature_rows::{LogFeatureRows, document_id};
pub use impression::{Click, Impression};
pub use inspect::{
    DwellTimes, LogSummary, LogSummaryBuilder, QueryImpressions, QuerySkew, RankClicks, RankLinks,
};
pub use model::{ClickModel, FittedClickModel};
pub use pages::{Pages, PagesBuilder};
pub use preference_pairs::{PairOptions, PreferencePair, PreferencePairs, PreferencePairsBuilder};
pub use preferences::PreferenceRule;
