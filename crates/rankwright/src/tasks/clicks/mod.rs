//! Tasks on click logs.

mod bias;
mod convert;
mod counts;
mod evaluate;
mod examination;
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

use serde::{Deserialize, Deserializer, Serialize};

use super::context::RunningTask;
use super::sources::short_or_object;
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
pub use labels::{LabelClicksRequest, LabelClicksResult, label_clicks};
pub use pairs::{ClickPairsRequest, ClickPairsResult, click_pairs};
pub use rankwright_clicks::interleave::InterleavingCluster;
pub use rankwright_clicks::labels::UnshownRows;
pub use rankwright_clicks::simulate::SimulateOptions;
pub use rankwright_clicks::simulate::SimulateRunOptions;
#[cfg(feature = "report")]
pub use report::{ReportClicksRequest, ReportClicksResult, report_clicks};
pub use score_interleaving::{
    RankerComparison, ScoreInterleavingRequest, ScoreInterleavingResult, score_interleaving,
};
pub use simulate::{LoggingScores, SimulateClicksRequest, SimulateClicksResult, simulate_clicks};
pub use simulate_run::{SimulateRunRequest, SimulateRunResult, simulate_run};

/// The files of a click log; several are one log. In JSON it is a path, a list of paths, or an
/// object with these fields.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ClickFiles {
    /// The files.
    pub files: Vec<PathBuf>,
    /// Their format; `None`: told by the content of each.
    pub format: Option<LogFormat>,
    /// Columns, events, sessions, and the clicks and impressions to leave out.
    pub options: LogOptions,
}

/// The object form of [`ClickFiles`] in JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClickFilesObject {
    files: Vec<PathBuf>,
    format: Option<LogFormat>,
    #[serde(default)]
    options: LogOptions,
}

impl From<ClickFilesObject> for ClickFiles {
    fn from(ClickFilesObject { files, format, options }: ClickFilesObject) -> Self {
        ClickFiles { files, format, options }
    }
}

impl<'de> Deserialize<'de> for ClickFiles {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "a path, a list of paths, or an object with `files`";
        short_or_object::<_, ClickFilesObject, _>(deserializer, expected, ClickFiles::new)
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::{Context, DataFiles};
    use rankwright_clicks::ClickModel;
    use rankwright_clicks::bias::BiasOptions;
    use rankwright_clicks::labels::LabelSource;

    /// The second reader of standard input would find it empty.
    #[test]
    fn standard_input_is_read_by_one_part_of_a_request() {
        rankwright_data::allow_standard_streams();
        let (log, context) = (|| ClickFiles::new(["-"]), Context::default());
        let features = || DataFiles::new(["-"]);
        let fit = FitClickModelRequest::new(log(), ClickModel::parse("pbm").unwrap()).test(log());
        let bias = EstimateBiasRequest::new(log()).features(features());
        let labels = LabelClicksRequest::new(log(), features(), "out.csv");
        for error in [
            fit_click_model(&fit, &context).unwrap_err(),
            estimate_bias(&bias, &context).unwrap_err(),
            label_clicks(&labels, &context).unwrap_err(),
        ] {
            assert_eq!(error.kind(), "standard-input-twice", "{error}");
        }
    }

    #[test]
    fn options_without_an_effect_are_refused() {
        let context = Context::default();
        let labels =
            || LabelClicksRequest::new(ClickFiles::new(["log"]), DataFiles::new(["d"]), "out.csv");
        let file = || ExaminationSource::File("bias.json".into());
        for (request, option) in [
            (labels().examination(file()), "examination"),
            (labels().clip(Some(2.0)), "clip"),
            (labels().bias(BiasOptions::default().min_shown(3_u64)), "bias"),
        ] {
            let error = label_clicks(&request, &context).unwrap_err();
            assert_eq!(error.kind(), "option-unused");
            assert!(error.to_string().contains(option), "{error}");
        }
        let ips = labels().source(LabelSource::Ips).clip(Some(2.0)).examination(file());
        assert_ne!(label_clicks(&ips, &context).unwrap_err().kind(), "option-unused");
    }
}
