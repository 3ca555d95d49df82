//! Click logs: preferences between documents, click models and position bias; interleaved
//! comparisons of rankers; and pairwise judgements.
//!
//! - [`Impression`] is a result page that was shown, with the clicks on it.
//! - [`PreferenceRule`] turns the clicks on a page into preferences between its documents.
//! - [`Pages`] counts equal pages of a log once; [`ClickModel`] describes how users click, and is
//!   fitted to them.

pub mod bias;
mod impression;
mod inspect;
pub mod interleave;
pub mod judge;
pub mod labels;
pub mod log;
pub mod model;
mod pages;
mod preferences;
pub mod simulate;

pub use impression::{Click, Impression};
pub use inspect::{LogSummary, LogSummaryBuilder, QueryImpressions, RankClicks};
pub use model::{ClickModel, FittedClickModel};
pub use pages::{Pages, PagesBuilder};
pub use preferences::PreferenceRule;
