//! Tasks on click logs.

mod bias;
mod convert;
mod counts;
mod evaluate;
mod examination;
mod feature_rows;
mod fit;
mod inspect;
mod interleave_runs;
mod labels;
mod pairs;
pub(super) mod query_grades;
pub(super) mod ranked_run;
#[cfg(feature = "report")]
mod report;
mod score_interleaving;
mod simulate;
mod simulate_run;

use std::path::PathBuf;

use rankwright_clicks::log::{LogCounts, LogFormat, LogInput, LogOptions, read_watched};
use rankwright_clicks::{Impression, Pages, PagesBuilder};

use super::context::RunningTask;
use super::{Context, TaskError, check_standard_input, file_label};

pub use bias::{BiasGroup, EstimateBiasRequest, EstimateBiasResult, estimate_bias};
pub use convert::{ConvertClicksRequest, ConvertClicksResult, convert_clicks};
pub use counts::{CountClicksRequest, CountClicksResult, CountsContent, count_clicks};
pub use evaluate::{EvaluateClicksRequest, EvaluateClicksResult, ModelValue, evaluate_clicks};
pub use examination::ExaminationSource;
pub use fit::{FitClickModelRequest, FitClickModelResult, ShownDocument, fit_click_model};
pub use inspect::{InspectClicksRequest, InspectClicksResult, inspect_clicks};
pub use interleave_runs::{
    InterleaveRunsRequest, InterleaveRunsResult, InterleavedFormat, ListRequests, interleave_runs,
};
pub use labels::{LabelClicksRequest, LabelClicksResult, UnshownRows, label_clicks};
pub use pairs::{ClickPairsRequest, ClickPairsResult, click_pairs};
#[cfg(feature = "report")]
pub use report::{ReportClicksRequest, ReportClicksResult, report_clicks};
pub use score_interleaving::{
    InterleavingCluster, RankerComparison, ScoreInterleavingRequest, ScoreInterleavingResult,
    score_interleaving,
};
pub use simulate::{LoggingScores, SimulateClicksRequest, SimulateClicksResult, simulate_clicks};
pub use simulate_run::{SimulateRunRequest, SimulateRunResult, simulate_run};

/// The files of a click log; several are one log.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClickFiles {
    /// The files.
    pub files: Vec<PathBuf>,
    /// Their format; `None`: told by the content of each.
    pub format: Option<LogFormat>,
    /// Columns, events, sessions, and the clicks and impressions to leave out.
    pub options: LogOptions,
}

impl ClickFiles {
    /// A log of these files.
    pub fn new(files: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        let files = files.into_iter().map(Into::into).collect();
        Self { files, format: None, options: LogOptions::default() }
    }

    /// Sets the format.
    pub fn format(mut self, format: Option<LogFormat>) -> Self {
        self.format = format;
        self
    }

    /// Sets the options of reading.
    pub fn options(mut self, options: LogOptions) -> Self {
        self.options = options;
        self
    }

    /// Passes each impression to `visit`; a log without impressions is an error.
    fn read(
        &self,
        task: &RunningTask<'_>,
        mut visit: impl FnMut(&Impression),
    ) -> Result<(LogCounts, f64), TaskError> {
        let step = format!("reading {}", file_label(&self.files));
        task.step(&step, || {
            self.try_read(task.context(), |impression| {
                if task.context().is_cancelled() {
                    return Err(TaskError::Cancelled);
                }
                visit(impression);
                Ok(())
            })
        })
    }

    /// Passes each impression to `visit` until that fails; a log without impressions is an error.
    fn try_read(
        &self,
        context: &Context<'_>,
        visit: impl FnMut(&Impression) -> Result<(), TaskError>,
    ) -> Result<LogCounts, TaskError> {
        check_standard_input(self.files.iter().map(PathBuf::as_path))?;
        let inputs: Vec<LogInput> =
            self.files.iter().map(LogInput::open).collect::<Result<_, _>>()?;
        let format = self.format.or(self.options.format);
        let options = self.options.clone().format(format);
        let counts =
            read_watched(inputs, &options, |progress| context.report_log(&progress), visit)?;
        match counts.impressions {
            0 => Err(TaskError::EmptyLog { log: file_label(&self.files) }),
            _ => Ok(counts),
        }
    }

    /// The distinct pages of the log, each with its number of impressions.
    fn pages(&self, task: &RunningTask<'_>) -> Result<(Pages, LogCounts), TaskError> {
        let mut builder = PagesBuilder::default();
        let (counts, _) = self.read(task, |impression| builder.add(impression))?;
        Ok((builder.finish(), counts))
    }
}
