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
#[cfg(test)]
mod memory_tests;
mod pairs;
pub(super) mod query_grades;
pub(super) mod ranked_run;
#[cfg(feature = "report")]
mod report;
mod score_interleaving;
mod simulate;
mod simulate_run;
mod sources;

pub use bias::{BiasGroup, EstimateBiasRequest, EstimateBiasResult, estimate_bias};
pub use convert::{ConvertClicksRequest, ConvertClicksResult, convert_clicks};
pub use counts::{
    CountClicksRequest, CountClicksResult, CountedRows, CountsContent, RunRow, count_clicks,
};
pub use evaluate::{EvaluateClicksRequest, EvaluateClicksResult, ModelValue, evaluate_clicks};
pub use examination::ExaminationSource;
pub use fit::{FitClickModelRequest, FitClickModelResult, ShownDocument, fit_click_model};
pub use inspect::{InspectClicksRequest, InspectClicksResult, inspect_clicks};
pub use interleave_runs::{
    InterleaveRunsRequest, InterleaveRunsResult, InterleavedFormat, interleave_runs,
};
pub use labels::{LabelClicksRequest, LabelClicksResult, label_clicks};
pub use pairs::{ClickPairsRequest, ClickPairsResult, click_pairs};
pub use rankwright_clicks::interleave::{InterleaveOptions, InterleavingCluster, RankerComparison};
pub use rankwright_clicks::labels::UnshownRows;
pub use rankwright_clicks::simulate::SimulateOptions;
pub use rankwright_clicks::simulate::SimulateRunOptions;
#[cfg(feature = "report")]
pub use report::{ReportClicksRequest, ReportClicksResult, report_clicks};
pub use score_interleaving::{
    ScoreInterleavingRequest, ScoreInterleavingResult, score_interleaving,
};
pub use simulate::{LoggingScores, SimulateClicksRequest, SimulateClicksResult, simulate_clicks};
pub use simulate_run::{ShownLists, SimulateRunRequest, SimulateRunResult, simulate_run};
pub use sources::{
    AnswersSource, ClickFiles, JudgementsSource, ListRequests, ListsSource, LogSource,
    QuestionsSource,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::{Context, DataFiles};
    use rankwright_clicks::bias::BiasOptions;
    use rankwright_clicks::labels::LabelSource;

    /// The second reader of standard input would find it empty.
    #[test]
    fn standard_input_is_read_by_one_part_of_a_request() {
        rankwright_data::allow_standard_streams();
        let (log, context) = (|| ClickFiles::new(["-"]), Context::default());
        let features = || DataFiles::new(["-"]);
        let fit = FitClickModelRequest::new(log()).test(log());
        let bias = EstimateBiasRequest::new(log()).features(features());
        let labels = LabelClicksRequest::new(log(), features()).out("out.csv");
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
        let labels = || {
            LabelClicksRequest::new(ClickFiles::new(["log"]), DataFiles::new(["d"])).out("o.csv")
        };
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
