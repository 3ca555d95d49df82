//! Tasks on click logs.

mod bias;
mod fit;
mod inspect;
mod interleave_runs;
mod pairs;
pub(super) mod query_grades;
pub(super) mod ranked_run;
mod score_interleaving;
mod simulate_run;

use std::path::PathBuf;

use rankwright_clicks::log::{LogCounts, LogFormat, read_log};
use rankwright_clicks::{Impression, Pages, PagesBuilder};
use rankwright_data::bytes::Input;

use super::context::RunningTask;
use super::{TaskError, file_label};

pub use bias::{EstimateBiasRequest, EstimateBiasResult, estimate_bias};
pub use fit::{FitClickModelRequest, FitClickModelResult, ShownDocument, fit_click_model};
pub use inspect::{InspectClicksRequest, InspectClicksResult, inspect_clicks};
pub use interleave_runs::{
    InterleaveRunsRequest, InterleaveRunsResult, InterleavedFormat, ListRequests, interleave_runs,
};
pub use pairs::{ClickPairsRequest, ClickPairsResult, click_pairs};
pub use score_interleaving::{
    InterleavingCluster, RankerComparison, ScoreInterleavingRequest, ScoreInterleavingResult,
    score_interleaving,
};
pub use simulate_run::{SimulateRunRequest, SimulateRunResult, simulate_run};

/// The files of a click log; several are one log.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClickFiles {
    /// The files.
    pub files: Vec<PathBuf>,
    /// Their format; `None`: told by the content of each.
    pub format: Option<LogFormat>,
}

impl ClickFiles {
    /// A log of these files.
    pub fn new(files: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self { files: files.into_iter().map(Into::into).collect(), format: None }
    }

    /// Sets the format.
    pub fn format(mut self, format: Option<LogFormat>) -> Self {
        self.format = format;
        self
    }

    /// Passes each impression to `visit`; a log without impressions is an error.
    fn read(
        &self,
        task: &RunningTask<'_>,
        visit: impl FnMut(Impression),
    ) -> Result<(LogCounts, f64), TaskError> {
        let step = format!("reading {}", file_label(&self.files));
        let (counts, seconds) = task.step(&step, || {
            let inputs: Vec<Input> =
                self.files.iter().map(Input::open).collect::<Result<_, _>>()?;
            Ok::<_, TaskError>(read_log(&inputs, self.format, visit)?)
        })?;
        match counts.impressions {
            0 => Err(TaskError::EmptyLog { log: file_label(&self.files) }),
            _ => Ok((counts, seconds)),
        }
    }

    /// The pages of the log, equal ones counted once.
    fn pages(&self, task: &RunningTask<'_>) -> Result<(Pages, LogCounts), TaskError> {
        let mut builder = PagesBuilder::default();
        let (counts, _) = self.read(task, |impression| builder.add(&impression))?;
        Ok((builder.finish(), counts))
    }
}
