//! Simulation of click logs: users that click on rankings with known grades (`user.rs`), and
//! rankers that log what they show, with the probability of it (`ranker.rs`); `counted.rs` counts equal
//! pages of many sessions; `pages.rs` simulates the log of a data set,
//! `shown_page.rs` the clicks on a run or on interleaved lists.

mod counted;
mod pages;
mod ranker;
mod shown_page;
mod user;

pub use counted::{CountedRanking, counted_sessions};
pub use pages::{SimulateOptions, SimulatedLines, SimulatedLog, fill_missing_scores};
pub use ranker::{LoggedRanking, LoggingRanker, PlackettLuceParams, RankerKind};
pub use shown_page::{SimulateRunOptions, SimulatedPage, shown_pages};
pub use user::{ExaminationCurve, Examine, SimulatedUser, UserParams};
