//! Simulation of click logs: users that click on rankings with known grades (`user.rs`), and
//! rankers that log what they show, with the probability of it (`ranker.rs`).

mod ranker;
mod user;

pub use ranker::{LoggedRanking, LoggingRanker, PlackettLuceParams, RankerKind};
pub use user::{ExaminationCurve, Examine, SimulatedUser, UserParams};
