//! Requests of the tasks on click logs, interleaved lists and judgements of pairs.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankwright::clicks::bias::BiasEstimator;
use rankwright::clicks::log::write::LogTarget;
use rankwright::clicks::model::ClickModel;
use rankwright::clicks::simulate::{LoggingRanker, SimulatedUser};
use rankwright::clicks::{CountedUnit, CountedValue, CountsFormat, PreferenceRule};
use rankwright::data::format::Format;
use rankwright::eval::MetricSpec;
use rankwright::eval::stats::Correction;
use rankwright::spec::{ParamValue, RangeDef};
use rankwright::tasks::{
    ClickPairsRequest, Context, ConvertClicksRequest, CountClicksRequest, CountsContent,
    EstimateBiasRequest, EvaluateClicksRequest, ExaminationSource, FitClickModelRequest,
    InspectClicksRequest, InterleaveRunsRequest, InterleavedFormat, JudgeAggregateRequest,
    JudgeCheckRequest, JudgePromptsRequest, JudgeReadRequest, LabelClicksRequest, ListRequests,
    LoggingScores, PromptSource, ScoreInterleavingRequest, SimulateClicksRequest,
    SimulateRunRequest, click_pairs, convert_clicks, count_clicks, estimate_bias, evaluate_clicks,
    fit_click_model, inspect_clicks, interleave_runs, judge_aggregate, judge_check, judge_prompts,
    judge_read, score_interleaving, simulate_clicks, simulate_run,
};

use crate::dataset::PyDataset;
use crate::errors::json;
use crate::fields::Fields;
use crate::run::interruptible;
use crate::sources::{
    FileOrText, GivenDocuments, GivenLists, GivenModel, GivenQueries, GivenShown,
};
use crate::tasks::run;

pub(crate) fn inspect(fields: &Fields<'_>) -> PyResult<String> {
    let request = InspectClicksRequest::new(fields.log("log")?);
    run(fields.py(), |context| inspect_clicks(&request, context))
}

pub(crate) fn convert(fields: &Fields<'_>) -> PyResult<String> {
    let mut request = ConvertClicksRequest::new(fields.log("log")?);
    request.to = fields.choice::<LogTarget>("to")?.unwrap_or(request.to);
    request.out = fields.optional("out")?;
    run(fields.py(), |context| convert_clicks(&request, context))
}

/// With the name of a value, a run; otherwise a table of all numbers.
pub(crate) fn counts(fields: &Fields<'_>) -> PyResult<String> {
    let mut request = CountClicksRequest::new(fields.log("log")?);
    if let Some(unit) = fields.choice::<CountedUnit>("unit")? {
        request.content = CountsContent::Table(unit);
    }
    if let Some(value) = fields.choice::<CountedValue>("run")? {
        request.content = CountsContent::Run(value);
    }
    request.options = fields.options("options")?;
    request.out = fields.optional("out")?;
    request.format = fields.choice::<CountsFormat>("format")?;
    run(fields.py(), |context| count_clicks(&request, context))
}

pub(crate) fn pairs(fields: &Fields<'_>) -> PyResult<String> {
    let mut request = ClickPairsRequest::new(fields.log("log")?);
    let rules: Vec<PreferenceRule> = fields.choices("rules")?;
    if !rules.is_empty() {
        request = request.rules(rules);
    }
    request.options = fields.options("options")?;
    request.out = fields.optional("out")?;
    run(fields.py(), |context| click_pairs(&request, context))
}

pub(crate) fn fit(fields: &Fields<'_>) -> PyResult<String> {
    let mut request = FitClickModelRequest::new(fields.log("log")?);
    request.model = fields.parsed("model", ClickModel::parse)?.unwrap_or(request.model);
    request.test = fields.optional_log("test")?;
    run(fields.py(), |context| fit_click_model(&request, context))
}

pub(crate) fn bias(fields: &Fields<'_>) -> PyResult<String> {
    let mut request = EstimateBiasRequest::new(fields.log("log")?);
    request.estimators = fields.choices("estimators")?;
    request.features = fields.data("features")?;
    request.by = fields.optional("by")?;
    request.options = fields.options("options")?;
    run(fields.py(), |context| estimate_bias(&request, context))
}

/// The source of the examination of ranks: values, a file, or an estimator.
fn examination(fields: &Fields<'_>) -> PyResult<ExaminationSource> {
    if let Some(values) = fields.optional("examination_values")? {
        return Ok(ExaminationSource::Values(values));
    }
    if let Some(file) = fields.optional("examination_file")? {
        return Ok(ExaminationSource::File(file));
    }
    let estimator: Option<BiasEstimator> = fields.choice("examination")?;
    Ok(estimator.map(ExaminationSource::Estimator).unwrap_or_default())
}

/// Makes feature data with labels from clicks. Returns the result as JSON and, if no file was
/// written, the data.
#[pyfunction]
pub(crate) fn label_clicks(
    py: Python<'_>,
    fields: Bound<'_, PyDict>,
) -> PyResult<(String, Option<PyDataset>)> {
    let fields = Fields::new(fields);
    let mut request =
        LabelClicksRequest::new(fields.log("log")?, fields.required_data("features")?)
            .examination(examination(&fields)?)
            .bias(fields.options("bias")?)
            .format(fields.parsed("format", Format::from_name)?);
    request.options = fields.options("options")?;
    request.source = fields.choice("source")?.unwrap_or(request.source);
    request.unshown = fields.choice("unshown")?.unwrap_or(request.unshown);
    request.out = fields.optional("out")?;
    let result = interruptible(py, 0, |cancel| {
        rankwright::tasks::label_clicks(&request, &Context::default().cancel(cancel))
    })?;
    let data = result.data.as_ref().map(|data| PyDataset { data: Arc::clone(data) });
    Ok((json(py, &result)?, data))
}

/// The users that a field names; those of the library if it is not given.
fn user(fields: &Fields<'_>) -> PyResult<SimulatedUser> {
    Ok(fields.parsed("user", SimulatedUser::parse)?.unwrap_or_default())
}

pub(crate) fn simulate(fields: &Fields<'_>) -> PyResult<String> {
    let scores = match fields.optional::<GivenModel<'_>>("model")? {
        Some(model) => LoggingScores::Model(model.source(fields.py(), None)?),
        None => LoggingScores::Feature(fields.required("feature")?),
    };
    let mut request = SimulateClicksRequest::new(fields.required_data("data")?, scores)
        .user(user(fields)?)
        .reverse(fields.optional("reverse")?.unwrap_or(false))
        .count_pages(fields.optional("count_pages")?.unwrap_or(false));
    request.options = fields.options("options")?;
    request.ranker = fields.parsed("ranker", LoggingRanker::parse)?.unwrap_or_default();
    request.out = fields.optional("out")?;
    run(fields.py(), |context| simulate_clicks(&request, context))
}

pub(crate) fn evaluate(fields: &Fields<'_>) -> PyResult<String> {
    let models: Vec<(Option<String>, GivenModel<'_>)> = fields.required("models")?;
    let py = fields.py();
    let models = models.iter().map(|(name, model)| model.source(py, name.as_deref()));
    let models = models.collect::<PyResult<Vec<_>>>()?;
    let mut request =
        EvaluateClicksRequest::new(fields.log("log")?, models, fields.required_data("features")?)
            .examination(examination(fields)?)
            .bias(fields.options("bias")?)
            .options(fields.options("options")?);
    request.metric = fields.parsed("metric", MetricSpec::parse)?;
    run(py, |context| evaluate_clicks(&request, context))
}

pub(crate) fn interleaved_runs(fields: &Fields<'_>) -> PyResult<String> {
    let mut request = InterleaveRunsRequest::new(fields.runs("runs")?);
    request.method = fields.choice("method")?;
    request.options = fields.options("options")?;
    request.format = fields.choice::<InterleavedFormat>("format")?.unwrap_or_default();
    request.out = fields.optional("out")?;
    if let Some(count) = fields.optional("requests")? {
        request = request.requests(ListRequests::PerQuery(count));
    }
    if let Some(file) = fields.optional("request_file")? {
        request = request.requests(ListRequests::File(file));
    }
    if let Some(values) = fields.optional("request_values")? {
        request = request.requests(ListRequests::Values(values));
    }
    run(fields.py(), |context| interleave_runs(&request, context))
}

pub(crate) fn interleaved_score(fields: &Fields<'_>) -> PyResult<String> {
    let lists: FileOrText = fields.required("lists")?;
    let mut request = ScoreInterleavingRequest::new(fields.log("log")?, lists.lists(fields.py())?)
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
    let (lists, qrels): (GivenShown, GivenLists) =
        (fields.required("lists")?, fields.required("qrels")?);
    let py = fields.py();
    let mut request =
        SimulateRunRequest::new(lists.source(py)?, qrels.qrels(py)?).user(user(fields)?);
    request.options = fields.options("options")?;
    request.out = fields.optional("out")?;
    run(py, |context| simulate_run(&request, context))
}

pub(crate) fn judge_questions(fields: &Fields<'_>) -> PyResult<String> {
    let py = fields.py();
    let documents = fields.required::<GivenDocuments<'_>>("documents")?.source(py)?;
    let queries = fields.required::<GivenQueries>("queries")?.source();
    let mut request = JudgePromptsRequest::new(fields.runs("runs")?, queries, documents);
    if let Some(template) = fields.optional::<String>("template")? {
        request = request.template(PromptSource::parse(&template));
    }
    if let Some(file) = fields.optional("template_file")? {
        request = request.template(PromptSource::File(file));
    }
    request.fields = fields.optional("fields")?.unwrap_or_default();
    request.options = fields.options("options")?;
    request.out = fields.optional("out")?;
    run(py, |context| judge_prompts(&request, context))
}

pub(crate) fn judge_answers(fields: &Fields<'_>) -> PyResult<String> {
    let py = fields.py();
    let answers: Vec<FileOrText> = fields.required("answers")?;
    let answers: Vec<_> = answers.iter().map(|given| given.answers(py)).collect::<PyResult<_>>()?;
    let questions: Option<FileOrText> = fields.optional("questions")?;
    let mut request = JudgeReadRequest::new(answers);
    request.questions = questions.map(|given| given.questions(py)).transpose()?;
    request.judge = fields.optional("judge")?;
    request.out = fields.optional::<PathBuf>("out")?;
    run(py, |context| judge_read(&request, context))
}

/// The judgements of a request.
fn judgements(fields: &Fields<'_>) -> PyResult<Vec<rankwright::tasks::JudgementsSource>> {
    let given: Vec<FileOrText> = fields.required("judgements")?;
    given.iter().map(|given| given.judgements(fields.py())).collect()
}

pub(crate) fn judge_checked(fields: &Fields<'_>) -> PyResult<String> {
    let py = fields.py();
    let mut request = JudgeCheckRequest::new(judgements(fields)?);
    let qrels: Option<GivenLists> = fields.optional("qrels")?;
    request.qrels = qrels.map(|given| given.qrels(py)).transpose()?;
    run(py, |context| judge_check(&request, context))
}

pub(crate) fn judge_aggregated(fields: &Fields<'_>) -> PyResult<String> {
    let mut request = JudgeAggregateRequest::new(judgements(fields)?);
    request.format = fields.choice("format")?.unwrap_or(request.format);
    request.options = fields.options("options")?;
    request.out = fields.optional("out")?;
    run(fields.py(), |context| judge_aggregate(&request, context))
}
