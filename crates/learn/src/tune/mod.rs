//! Search over a learner's parameters: random search and successive halving.
//!
//! A [`Space`] has the values that each parameter may take. Trial 0 is the learner as it was given;
//! each other trial depends only on the seed and its number, so that a search with more trials
//! contains one with fewer. Every trial is evaluated on the same queries: those of a validation
//! set, or all of the training data by cross validation on the same folds.
//!
//! - **Random search** (Bergstra and Bengio, "Random search for hyper-parameter optimization", JMLR
//!   2012) trains every trial completely.
//! - **Successive halving** (Jamieson and Talwalkar, "Non-stochastic best arm identification and
//!   hyperparameter optimization", AISTATS 2016) trains all for a few rounds, keeps the best third,
//!   trains these for three times as many rounds, and so on; see `rungs`.
//!
//! The best of many trials on the same queries looks better than it is; measure its quality on
//! other queries.
//!
//! `plan` draws and checks every trial before anything runs, `search` runs them, `evaluate` trains
//! and measures one, `log` keeps finished trials, `trial_comparison` compares the best with trial
//! 0. Trials run one after the other, each on all threads; results depend on neither threads nor
//! interruptions.

mod error;
mod evaluate;
mod log;
mod plan;
mod presets;
mod rungs;
mod search;
mod space;
#[cfg(test)]
mod tests;
mod trial;
mod trial_comparison;

pub use error::{SettingDifference, TuneError, TuneLogProblem};
pub use plan::{TuneData, TuneMethod, TuneParams, TunePlan, TuneSettings};
pub use presets::default_space;
pub use rungs::Rung;
pub use search::{TuneJob, TuneProgress, TuneResult};
pub use space::{Range, Space};
pub use trial::{Trial, TrialValues};
pub use trial_comparison::TrialComparison;
