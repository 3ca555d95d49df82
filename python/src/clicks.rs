//! Requests of the tasks on click logs, interleaved lists and judgements of pairs.

use std::path::PathBuf;

use pyo3::prelude::*;
use rankwright::clicks::bias::BiasEstimator;
use rankwright::clicks::log::write::LogTarget;
use rankwright::clicks::model::ClickModel;
use rankwright::clicks::simulate::{LoggingRanker, SimulatedUser};
use rankwright::clicks::{CountedUnit, CountedValue, CountsFormat, PreferenceRule};
use rankwright::eval::MetricSpec;
use rankwright::eval::stats::Correction;
use rankwright::spec::{ParamValue, RangeDef};
use rankwright::tasks::{
    ClickPairsRequest, ConvertClicksRequest, CountClicksRequest, CountsContent, DataFiles,
    EstimateBiasRequest, EvaluateClicksRequest, ExaminationSource, FitClickModelRequest,
    InspectClicksRequest, InterleaveRunsRequest, JudgeAggregateRequest, JudgeCheckRequest,
    JudgePromptsRequest, JudgeReadRequest, LabelClicksRequest, ListRequests, LoggingScores,
    PromptDocuments, PromptSource, QueryFile, ScoreInterleavingRequest, SimulateClicksRequest,
    SimulateRunRequest, click_pairs, convert_clicks, count_clicks, estimate_bias, evaluate_clicks,
    fit_click_model, inspect_clicks, interleave_runs, judge_aggregate, judge_check, judge_prompts,
    judge_read, label_clicks, score_interleaving, simulate_clicks, simulate_run,
};

use crate::errors::OrRaise;
use crate::fields::Fields;
use crate::tasks::run;

pub(crate) fn inspect(fields: &Fields<'_>) -> PyResult<String> {
    let request = InspectClicksRequest::new(fields.log("log")?);
    run(fields.py(), |context| inspect_clicks(&request, context))
}

pub(crate) fn convert(fields: &Fields<'_>) -> PyResult<String> {
    let to: LogTarget = fields.choice("to")?.unwrap_or_default();
    let out: PathBuf = fields.required("out")?;
    let request = ConvertClicksRequest::new(fields.log("log")?, to, out);
    run(fields.py(), |context| convert_clicks(&request, context))
}

/// Without the name of a value, a table of all numbers as JSON lines; with one, a run.
pub(crate) fn counts(fields: &Fields<'_>) -> PyResult<String> {
    let unit: CountedUnit = fields.choice("unit")?.unwrap_or_default();
    let value: Option<CountedValue> = fields.choice("value")?;
    let content = match value {
        Some(value) => CountsContent::Run(value),
        None => CountsContent::Table(unit, CountsFormat::JsonLines),
    };
    let out: PathBuf = fields.required("out")?;
    let mut request = CountClicksRequest::new(fields.log("log")?, content, out);
    if let Some(count) = fields.optional("min_count")? {
        request = request.min_count(count);
    }
    run(fields.py(), |context| count_clicks(&request, context))
}

pub(crate) fn pairs(fields: &Fields<'_>) -> PyResult<String> {
    let out: PathBuf = fields.required("out")?;
    let mut request = ClickPairsRequest::new(fields.log("log")?, out);
    let rules: Vec<PreferenceRule> = fields.choices("rules")?;
    if !rules.is_empty() {
        request = request.rules(rules);
    }
    if let Some(count) = fields.optional("min_count")? {
        request = request.min_count(count);
    }
    run(fields.py(), |context| click_pairs(&request, context))
}

pub(crate) fn fit(fields: &Fields<'_>) -> PyResult<String> {
    let model = ClickModel::parse(&fields.required::<String>("model")?).or_raise(fields.py())?;
    let mut request = FitClickModelRequest::new(fields.log("log")?, model);
    request.test = fields.optional_log("test")?;
    run(fields.py(), |context| fit_click_model(&request, context))
}

pub(crate) fn bias(fields: &Fields<'_>) -> PyResult<String> {
    let mut request = EstimateBiasRequest::new(fields.log("log")?);
    request.estimators = fields.choices("estimators")?;
    request.features = fields.data("features")?.map(Into::into);
    request.by = fields.optional("by")?;
    request.options = fields.options("options")?;
    run(fields.py(), |context| estimate_bias(&request, context))
}

/// The source of the examination of ranks: a file, or an estimator.
fn examination(fields: &Fields<'_>) -> PyResult<ExaminationSource> {
    let file: Option<PathBuf> = fields.optional("examination_file")?;
    let estimator: Option<BiasEstimator> = fields.choice("examination")?;
    Ok(match (file, estimator) {
        (Some(file), _) => ExaminationSource::File(file),
        (None, Some(estimator)) => ExaminationSource::Estimator(estimator),
        (None, None) => ExaminationSource::default(),
    })
}

pub(crate) fn labels(fields: &Fields<'_>) -> PyResult<String> {
    let features = DataFiles::new(fields.required::<Vec<PathBuf>>("features")?);
    let out: PathBuf = fields.required("out")?;
    let mut request = LabelClicksRequest::new(fields.log("log")?, features, out)
        .examination(examination(fields)?)
        .bias(fields.options("bias")?);
    request.options = fields.options("options")?;
    request.source = fields.choice("source")?.unwrap_or(request.source);
    request.unshown = fields.choice("unshown")?.unwrap_or(request.unshown);
    run(fields.py(), |context| label_clicks(&request, context))
}

pub(crate) fn simulate(fields: &Fields<'_>) -> PyResult<String> {
    let data = DataFiles::new(fields.required::<Vec<PathBuf>>("data")?);
    let scores = match fields.optional::<PathBuf>("model")? {
        Some(model) => LoggingScores::Model(model.into()),
        None => LoggingScores::Feature(fields.required("feature")?),
    };
    let user = SimulatedUser::parse(&fields.required::<String>("user")?).or_raise(fields.py())?;
    let out: PathBuf = fields.required("out")?;
    let mut request = SimulateClicksRequest::new(data, scores, user, out)
        .reverse(fields.optional("reverse")?.unwrap_or(false))
        .count_pages(fields.optional("count_pages")?.unwrap_or(false));
    request.options = fields.options("options")?;
    if let Some(ranker) = fields.parsed("ranker", LoggingRanker::parse)? {
        request = request.ranker(ranker);
    }
    run(fields.py(), |context| simulate_clicks(&request, context))
}

pub(crate) fn evaluate(fields: &Fields<'_>) -> PyResult<String> {
    let models: Vec<PathBuf> = fields.required("models")?;
    let features = DataFiles::new(fields.required::<Vec<PathBuf>>("features")?);
    let metric: String = fields.required("metric")?;
    let metric = MetricSpec::parse(&metric).or_raise(fields.py())?;
    let request = EvaluateClicksRequest::new(fields.log("log")?, models, features, metric)
        .examination(examination(fields)?)
        .bias(fields.options("bias")?)
        .options(fields.options("options")?);
    run(fields.py(), |context| evaluate_clicks(&request, context))
}

pub(crate) fn interleaved_runs(fields: &Fields<'_>) -> PyResult<String> {
    let runs: Vec<PathBuf> = fields.required("runs")?;
    let out: PathBuf = fields.required("out")?;
    let mut request = InterleaveRunsRequest::new(runs, out);
    request.method = fields.choice("method")?;
    request.length = fields.optional("length")?.unwrap_or(request.length);
    request.seed = fields.optional("seed")?.unwrap_or(request.seed);
    if let Some(count) = fields.optional("requests")? {
        request = request.requests(ListRequests::PerQuery(count));
    }
    if let Some(file) = fields.optional("request_file")? {
        request = request.requests(ListRequests::File(file));
    }
    run(fields.py(), |context| interleave_runs(&request, context))
}

pub(crate) fn interleaved_score(fields: &Fields<'_>) -> PyResult<String> {
    let lists: PathBuf = fields.required("lists")?;
    let mut request = ScoreInterleavingRequest::new(fields.log("log")?, lists)
        .cluster(fields.choice("by")?.unwrap_or_default())
        .options(fields.options("options")?);
    let correction = fields.parsed("correction", |text| {
        let read = Correction::read(text, &RangeDef::default());
        read.map_err(|error| error.at("score", "correction", text))
    })?;
    request.correction = correction.unwrap_or_default();
    run(fields.py(), |context| score_interleaving(&request, context))
}

pub(crate) fn interleaved_simulation(fields: &Fields<'_>) -> PyResult<String> {
    let (lists, qrels): (PathBuf, PathBuf) = (fields.required("lists")?, fields.required("qrels")?);
    let user = SimulatedUser::parse(&fields.required::<String>("user")?).or_raise(fields.py())?;
    let out: PathBuf = fields.required("out")?;
    let mut request = SimulateRunRequest::new(lists, qrels, user, out);
    request.options = fields.options("options")?;
    run(fields.py(), |context| simulate_run(&request, context))
}

pub(crate) fn judge_questions(fields: &Fields<'_>) -> PyResult<String> {
    let runs: Vec<PathBuf> = fields.required("runs")?;
    let queries = QueryFile::new(fields.required::<PathBuf>("queries")?);
    let documents = match fields.optional::<PathBuf>("index")? {
        Some(index) => PromptDocuments::Index(index.into()),
        None => PromptDocuments::Files(fields.required("documents")?),
    };
    let out: PathBuf = fields.required("out")?;
    let mut request = JudgePromptsRequest::new(runs, queries, documents, out);
    if let Some(name) = fields.optional("template")? {
        request = request.template(PromptSource::Named(name));
    }
    if let Some(file) = fields.optional("template_file")? {
        request = request.template(PromptSource::File(file));
    }
    request.fields = fields.optional("fields")?.unwrap_or_default();
    request.max_words = fields.optional("max_words")?.unwrap_or(request.max_words);
    request.depth = fields.optional("depth")?.unwrap_or(request.depth);
    request.max_pairs = fields.optional("max_pairs")?.unwrap_or(request.max_pairs);
    request.both_orders = fields.optional("both_orders")?.unwrap_or(request.both_orders);
    request.seed = fields.optional("seed")?.unwrap_or(request.seed);
    run(fields.py(), |context| judge_prompts(&request, context))
}

pub(crate) fn judge_answers(fields: &Fields<'_>) -> PyResult<String> {
    let answers: Vec<PathBuf> = fields.required("answers")?;
    let out: PathBuf = fields.required("out")?;
    let mut request = JudgeReadRequest::new(answers, out);
    request.questions = fields.optional("questions")?;
    request.judge = fields.optional("judge")?;
    run(fields.py(), |context| judge_read(&request, context))
}

pub(crate) fn judge_checked(fields: &Fields<'_>) -> PyResult<String> {
    let mut request = JudgeCheckRequest::new(fields.required::<Vec<PathBuf>>("judgements")?);
    request.qrels = fields.optional::<PathBuf>("qrels")?.map(Into::into);
    run(fields.py(), |context| judge_check(&request, context))
}

pub(crate) fn judge_aggregated(fields: &Fields<'_>) -> PyResult<String> {
    let judgements: Vec<PathBuf> = fields.required("judgements")?;
    let out: PathBuf = fields.required("out")?;
    let mut request = JudgeAggregateRequest::new(judgements, out);
    request.format = fields.choice("format")?.unwrap_or_default();
    request.options = fields.options("options")?;
    run(fields.py(), |context| judge_aggregate(&request, context))
}
