//! Simulation of click logs: users that click on rankings with known grades (`user.rs`), and
//! rankers that log what they show, with the probability of it (`ranker.rs`); `counted.rs` counts equal
//! pages of many sessions.

mod counted;
mod ranker;
mod user;

pub use counted::{CountedRanking, counted_sessions};
pub use ranker::{LoggedRanking, LoggingRanker, PlackettLuceParams, RankerKind};
pub use user::{ExaminationCurve, Examine, SimulatedUser, UserParams};
