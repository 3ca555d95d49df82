//! Experiments as data: learners, data, seeds and folds in a file, run, resumed and reported.
//!
//! Data flows down this list:
//!
//! - `file` reads an [`Experiment`] from a TOML file and checks it completely, with the position of
//!   every error; `paths` resolves files, `factor` finds the settings in which learners differ;
//! - `plan` divides the experiment into cells (a cell is one training run: data set x fold x
//!   learner x seed), each named by a digest of everything that determines its result (`key`), and
//!   finds those that are already stored (`cell`);
//! - `run` trains and scores the other cells, several at a time (`memory` limits the number), each
//!   stored whole or not at all; `parts` holds the data while it is needed;
//! - `pool` combines folds and seeds to one evaluation per learner, `study` makes tables and curves
//!   by factors, `weights` the tables of the weights of linear models, `tables` the other tables of
//!   the page, `results` and `lock` are the serialised files, and `report` writes them beside the
//!   page;
//! - `request` does all of these steps in one call ([`ExperimentRequest`]).
//!
//! `shrinkage` trains one learner with several learning rates ([`ShrinkageRequest`]), `trade_off`
//! with several weights of two goals ([`TradeOffRequest`]); `held_out` sets queries aside for these
//! two if there is no validation data; `error` has the errors.
//!
//! Results never depend on the number of jobs, on threads or on interruptions: the report is
//! computed from the stored cells in the order of the file. Times are written to separate files,
//! `times.json` and `times.md`.

#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unreachable)
)]

mod cell;
mod error;
mod error_kind;
mod factor;
mod file;
mod held_out;
mod key;
mod lock;
mod memory;
mod parts;
mod paths;
mod plan;
mod pool;
mod report;
mod request;
mod results;
mod run;
mod shrinkage;
mod study;
mod tables;
#[cfg(test)]
mod tests;
mod trade_off;
mod weights;

pub use cell::{CellSeconds, CellState, CellWarning, ExperimentCell, StoredCell};
pub use error::ExperimentError;
pub use file::{
    DataOrigin, DataSet, DataSource, Experiment, ExperimentLearner, FactorLayout, FactorPlot,
    FactorTable, FoldFiles, LearnerEntry, LearnerKind, QueryDivision, TextFeature, TextOrigin,
    TextSource,
};
pub use lock::{
    ExperimentLock, FileChecksum, LockedComparison, LockedData, LockedDefinition, LockedDivision,
    LockedGenerator, LockedLearner, LockedMetric, LockedSource, Machine,
};
pub use memory::JobLimit;
pub use paths::FilePath;
pub use plan::{FailedCells, Plan, PlanOptions, PlanSummary, PlannedCell};
pub use report::ExperimentReport;
pub use request::{ExperimentRequest, RunSummary};
pub use results::{
    CellResult, CellTimes, DataSetResult, ExperimentResults, ExperimentTimes, ExperimentWarning,
    LearnerResult, SeedResult,
};
pub use run::{ExperimentProgress, PlanRun};
pub use shrinkage::ShrinkageRequest;
pub use study::{
    FactorCell, FactorLine, FactorPlotResult, FactorPosition, FactorSeconds, FactorTableResult,
    FactorTableTimes, FactorValues, FoldChoice,
};
pub use trade_off::{TradeOffGoal, TradeOffRequest};
pub use weights::{LearnerWeights, MeanWeight};

/// The version of this program, part of the key of a cell.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A result as JSON with the keys of objects in alphabetical order: the form of written files and
/// of the keys that name cells.
pub(crate) fn to_json(
    result: &impl serde::Serialize,
) -> Result<serde_json::Value, ExperimentError> {
    serde_json::to_value(result)
        .map_err(|_| ExperimentError::Internal { invariant: "a result can be written as JSON" })
}

/// SHA-256 of bytes, in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    hexadecimal(&Sha256::digest(bytes))
}

/// Bytes as hexadecimal digits.
fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
