//! Whole jobs: a request in, a serialisable result out.
//!
//! A task is a job that a user requests from a command, a server or a notebook: score a file,
//! evaluate a model, compare systems. It reads files, checks that they fit each other, computes,
//! and returns a result that implements `Serialize`, with [`Warning`]s about everything that the
//! user should know. A task prints nothing and never ends the process. Progress is reported to a
//! callback, and a flag cancels the task ([`Context`]).
//!
//! ```
//! use rankwright::data::format::{Format, write};
//! use rankwright::data::generate::LetorOptions;
//! use rankwright::tasks::{Context, DataFiles, InspectRequest, inspect_data};
//!
//! # let folder = tempfile::tempdir()?;
//! let path = folder.path().join("train.rwd");
//! write(&LetorOptions { queries: 20, documents: 10, seed: 1 }.generate()?, &path, Format::Cache)?;
//! let request = InspectRequest::new(DataFiles::new([path]));
//! let result = inspect_data(&request, &Context::default())?;
//! assert_eq!(result.queries, 20);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "search")]
mod build_index;
#[cfg(feature = "search")]
mod candidates;
#[cfg(feature = "search")]
mod classify_documents;
#[cfg(feature = "clicks")]
mod clicks;
#[cfg(feature = "search")]
mod collection_source;
mod compare;
mod context;
mod convert_data;
mod convert_model;
#[cfg(feature = "train")]
mod cross_validate;
mod data_files;
#[cfg(feature = "search")]
mod delete_documents;
#[cfg(all(feature = "search", feature = "experiment"))]
mod demo;
#[cfg(feature = "search")]
mod documents_source;
mod error;
mod error_kind;
mod error_report;
mod eval;
#[cfg(all(feature = "search", feature = "experiment"))]
mod experiment_text;
#[cfg(feature = "explain")]
mod explain;
#[cfg(feature = "search")]
mod extract_features;
mod generate_data;
mod input_files;
mod inspect_data;
mod inspect_model;
#[cfg(feature = "train")]
mod inspect_with_data;
#[cfg(feature = "clicks")]
mod judging;
#[cfg(all(feature = "search", feature = "experiment"))]
mod lecture;
mod list;
mod matching;
mod metrics;
mod output_files;
mod paths;
#[cfg(feature = "report")]
mod report_comparison;
#[cfg(feature = "report")]
mod report_data;
#[cfg(feature = "experiment")]
mod report_shrinkage;
#[cfg(feature = "experiment")]
mod report_trade_off;
#[cfg(all(feature = "train", feature = "report"))]
mod report_training;
mod request_json;
#[cfg(feature = "experiment")]
mod run_experiment;
#[cfg(feature = "search")]
mod run_queries;
mod score;
#[cfg(feature = "search")]
mod search_index;
mod sources;
mod split_data;
#[cfg(feature = "train")]
mod train;
#[cfg(feature = "train")]
mod tune;
mod warning;

#[cfg(feature = "search")]
pub use build_index::{BuildIndexRequest, BuildIndexResult, IndexProgress, build_index};
#[cfg(feature = "search")]
pub use candidates::{CandidateOptions, QueriesSource, QueryFile};
#[cfg(feature = "search")]
pub use classify_documents::{
    ClassifyDocumentsRequest, ClassifyDocumentsResult, LabelledFiles, ValidateClassifierRequest,
    ValidateClassifierResult, classify_documents, validate_classifier,
};
#[cfg(feature = "clicks")]
pub use clicks::{
    AnswersSource, BiasGroup, ClickFiles, ClickPairsRequest, ClickPairsResult,
    ConvertClicksRequest, ConvertClicksResult, CountClicksRequest, CountClicksResult, CountedRows,
    CountsContent, EstimateBiasRequest, EstimateBiasResult, EvaluateClicksRequest,
    EvaluateClicksResult, ExaminationSource, FitClickModelRequest, FitClickModelResult,
    InspectClicksRequest, InspectClicksResult, JudgementsSource, LabelClicksRequest,
    LabelClicksResult, ListsSource, LogSource, LoggingScores, ModelValue, QuestionsSource, RunRow,
    ShownDocument, ShownLists, SimulateClicksRequest, SimulateClicksResult, SimulateOptions,
    UnshownRows, click_pairs, convert_clicks, count_clicks, estimate_bias, evaluate_clicks,
    fit_click_model, inspect_clicks, label_clicks, simulate_clicks,
};
#[cfg(feature = "clicks")]
pub use clicks::{
    InterleaveOptions, InterleaveRunsRequest, InterleaveRunsResult, InterleavedFormat,
    InterleavingCluster, ListRequests, RankerComparison, ScoreInterleavingRequest,
    ScoreInterleavingResult, SimulateRunOptions, SimulateRunRequest, SimulateRunResult,
    interleave_runs, score_interleaving, simulate_run,
};
#[cfg(all(feature = "clicks", feature = "report"))]
pub use clicks::{ReportClicksRequest, ReportClicksResult, report_clicks};
#[cfg(feature = "search")]
pub use collection_source::CollectionSource;
pub use compare::{CompareInput, CompareRequest, CompareResult, CompareSources, compare_systems};
pub use context::Context;
pub use convert_data::{
    ConvertRequest, ConvertResult, ConvertSeconds, convert_data, output_format,
};
pub use convert_model::{ConvertModelRequest, ConvertModelResult, convert_model};
#[cfg(feature = "train")]
pub use cross_validate::{
    CrossValidateRequest, CrossValidateResult, CrossValidated, FoldValues, cross_validate_learners,
};
pub use data_files::{DataFiles, LoadedData, ReadRules, read_data};
#[cfg(feature = "search")]
pub use delete_documents::{
    DeleteDocumentsRequest, DeleteDocumentsResult, delete_documents, delete_from_index,
};
#[cfg(all(feature = "search", feature = "experiment"))]
pub use demo::{
    DemoParams, DemoQueries, DemoRequest, DemoResult, DemoRows, DemoSeconds, DemoStore, DemoSystem,
    demo,
};
#[cfg(feature = "search")]
pub use documents_source::DocumentsSource;
pub use error::TaskError;
pub use error_report::ErrorReport;
pub use eval::{
    EvalInput, EvalRequest, EvalResult, QueryCounts, align_scores, eval, read_qrels, read_run,
};
#[cfg(feature = "explain")]
pub use explain::{ExplainRequest, ExplainResult, explain_ranking};
#[cfg(feature = "search")]
pub use extract_features::{
    ExtractFeaturesRequest, ExtractFeaturesResult, FeatureSource, extract_features,
};
pub use generate_data::{
    GenerateHomepagesRequest, GenerateHomepagesResult, GenerateLetorRequest, GenerateLetorResult,
    GenerateSeconds, GenerateStoreRequest, GenerateStoreResult, generate_homepages, generate_letor,
    generate_store,
};
pub use input_files::load_model;
pub use inspect_data::{
    ColumnRole, FeatureCounts, InspectRequest, InspectResult, InspectSeconds, LabelCount,
    QuerySizes, inspect_data,
};
pub use inspect_model::{
    InspectModelRequest, InspectModelResult, PermutationSummary, TreeText, inspect_model,
};
#[cfg(feature = "train")]
pub use inspect_with_data::{ImpurityRequest, PermutationRequest};
#[cfg(feature = "clicks")]
pub use judging::{
    AggregateFormat, DocumentStrength, JudgeAggregateRequest, JudgeAggregateResult,
    JudgeCheckRequest, JudgeCheckResult, JudgeReadRequest, JudgeReadResult, QueryStrengths,
    UnreadAnswer, judge_aggregate, judge_check, judge_read,
};
#[cfg(all(feature = "clicks", feature = "search"))]
pub use judging::{JudgePromptsRequest, JudgePromptsResult, PromptSource, judge_prompts};
#[cfg(all(feature = "search", feature = "experiment"))]
pub use lecture::{
    LectureExample, LectureList, LectureRequest, LectureResult, LectureSource, LectureStep,
    LectureSummary, StepValue, lecture, list_lectures,
};
#[cfg(any(feature = "search", feature = "clicks"))]
pub use list::ComponentEntry;
#[cfg(feature = "search")]
pub use list::{
    ClassifierList, FeatureList, FirstStageList, describe_classifier, describe_feature,
    describe_first_stage, list_classifiers, list_features, list_first_stages,
};
#[cfg(feature = "clicks")]
pub use list::{ClickModelList, describe_click_model, list_click_models};
pub use list::{
    FileFormat, FormatList, MetricList, PairFormat, describe_metric, list_formats, list_metrics,
};
#[cfg(feature = "train")]
pub use list::{
    LearnerList, ObjectiveList, describe_learner, describe_objective, list_learners,
    list_objectives,
};
pub use matching::match_features;
pub use metrics::{measures_for, resolve_data_metrics, resolve_metrics};
#[cfg(feature = "report")]
pub use output_files::{PageFiles, WithPage, WrittenPage};
pub use output_files::{TaskInputs, write_drawing, write_per_query};
pub use paths::{check_outputs, check_standard_input, file_label, system_names};
#[cfg(feature = "report")]
pub use report_comparison::{ReportComparisonRequest, ReportComparisonResult, report_comparison};
#[cfg(feature = "report")]
pub use report_data::{ReportDataRequest, ReportDataResult, report_data};
#[cfg(feature = "experiment")]
pub use report_shrinkage::{ReportShrinkageRequest, ReportShrinkageResult, report_shrinkage};
#[cfg(feature = "experiment")]
pub use report_trade_off::{ReportTradeOffRequest, ReportTradeOffResult, report_trade_off};
#[cfg(all(feature = "train", feature = "report"))]
pub use report_training::{ReportTrainingRequest, ReportTrainingResult, report_training};
#[cfg(feature = "experiment")]
pub use run_experiment::{
    PlanExperimentResult, RunExperimentResult, plan_experiment, run_experiment,
};
#[cfg(feature = "search")]
pub use run_queries::{RunQueriesRequest, RunQueriesResult, run_queries};
pub use score::{RowIds, ScoreRequest, ScoreResult, ScoreSeconds, score};
#[cfg(feature = "search")]
pub use search_index::{SearchIndexRequest, SearchIndexResult, search_index};
#[cfg(feature = "search")]
pub use sources::IndexSource;
pub use sources::{DataSource, InMemory, ModelSource, QrelsSource, RunSource, ScoreSource, Source};
pub use split_data::{SplitRequest, SplitResult, WrittenPart, split_data};
#[cfg(feature = "train")]
pub use train::{
    CheckpointOptions, FeatureWeight, SavedTraining, TeacherSource, TrainModelRequest,
    TrainModelResult, TrainOption, TrainSeconds, TrainingProgress, learners_with_examination,
    train_model,
};
#[cfg(feature = "train")]
pub use tune::{SearchSpace, TuneLearnerResult, TuneRequest, WrittenModel, tune_learner};
pub use warning::Warning;
