//! Reports: a page of HTML, and its charts as SVG with their numbers. Generated data.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankwright::data::generate::LetorOptions;
use rankwright::eval::MetricSpec;
use rankwright::experiment::TradeOffGoal;
use rankwright::report::{Page, PageBlock, ReportError};
use rankwright::spec::IntoParam;
use rankwright::tasks::{
    Context, LectureRequest, ReportClicksRequest, ReportComparisonRequest, ReportDataRequest,
    ReportShrinkageRequest, ReportTradeOffRequest, ReportTrainingRequest, TaskError,
};

use crate::dataset::PyDataset;
use crate::errors::{OrRaise, json};
use crate::evaluation::compare_request;
use crate::fields::Fields;
use crate::inputs::data_set;
use crate::run::{in_pool, interruptible};

/// The HTML of a page, and its charts: id, title, SVG and numbers as JSON.
type DrawnPage = (String, Vec<(String, String, String, String)>);

fn drawn(page: &Page) -> Result<DrawnPage, ReportError> {
    fn collect(
        block: &PageBlock,
        out: &mut Vec<(String, String, String, String)>,
    ) -> Result<(), ReportError> {
        match block {
            PageBlock::Chart(chart) => out.push((
                chart.id.clone(),
                chart.title.clone(),
                chart.to_svg()?,
                chart.to_json().to_string(),
            )),
            PageBlock::Drawing { id, title, svg } => {
                out.push((id.clone(), title.clone(), svg.clone(), "null".to_owned()));
            }
            PageBlock::Choice { groups, .. } => {
                let mut blocks = groups.iter().flat_map(|(_, blocks)| blocks);
                blocks.try_for_each(|block| collect(block, out))?;
            }
            PageBlock::Text(_) | PageBlock::Table { .. } => {}
        }
        Ok(())
    }
    let mut charts = Vec::new();
    let blocks = page.sections.iter().flat_map(|section| &section.blocks);
    blocks.into_iter().try_for_each(|block| collect(block, &mut charts))?;
    Ok((page.to_html()?, charts))
}

/// The numbers of a report as JSON, and its page.
type DrawnReport = (String, DrawnPage);

/// The report of a data set.
#[pyfunction]
pub(crate) fn report_data(py: Python<'_>, fields: Bound<'_, PyDict>) -> PyResult<DrawnReport> {
    let fields = Fields::new(fields);
    let mut request = ReportDataRequest::new(fields.required_data_source("data")?);
    let options = &mut request.options;
    if let Some(metric) = fields.parsed("metric", MetricSpec::parse)? {
        options.metric = metric.into_param();
    }
    options.top = fields.or("top", options.top)?;
    options.sample = fields.or("sample", options.sample)?;
    options.seed = fields.or("seed", options.seed)?;
    let (result, page) = interruptible(py, 0, |cancel| {
        let context = Context::default().cancel(cancel);
        let result = rankwright::tasks::report_data(&request, &context)?;
        let page = drawn(&result.report.page())?;
        Ok::<_, TaskError>((result, page))
    })?;
    Ok((json(py, &result)?, page))
}

/// The report of a training: the model, the data that it was trained on, and validation data.
#[pyfunction]
pub(crate) fn report_training(py: Python<'_>, fields: Bound<'_, PyDict>) -> PyResult<DrawnReport> {
    let fields = Fields::new(fields);
    let (model, data) = (fields.required_model("model")?, fields.required_data_source("data")?);
    let mut request = ReportTrainingRequest::new(model, data);
    request.valid = fields.data_sources("valid")?;
    request.metrics = fields.metrics("metrics")?;
    request.query = fields.optional("query")?;
    request.points = fields.or("points", request.points)?;
    request.trees = fields.or("trees", request.trees)?;
    request.seed = fields.or("seed", request.seed)?;
    request.matching = fields.matching()?;
    let (result, page) = interruptible(py, 0, |cancel| {
        let context = Context::default().cancel(cancel);
        let result = rankwright::tasks::report_training(&request, &context)?;
        let page = drawn(&result.report.page())?;
        Ok::<_, TaskError>((result, page))
    })?;
    Ok((json(py, &result)?, page))
}

/// The report of a comparison.
#[pyfunction]
pub(crate) fn report_comparison(
    py: Python<'_>,
    fields: Bound<'_, PyDict>,
) -> PyResult<DrawnReport> {
    let fields = Fields::new(fields);
    let request = ReportComparisonRequest::new(compare_request(&fields)?)
        .queries(fields.or("queries", Vec::new())?);
    let (result, page) = interruptible(py, 0, |cancel| {
        let context = Context::default().cancel(cancel);
        let result = rankwright::tasks::report_comparison(&request, &context)?;
        let page = drawn(&result.report.page())?;
        Ok::<_, TaskError>((result, page))
    })?;
    Ok((json(py, &result)?, page))
}

/// The report of one learner trained with several rates.
#[pyfunction]
pub(crate) fn report_shrinkage(py: Python<'_>, fields: Bound<'_, PyDict>) -> PyResult<DrawnReport> {
    let fields = Fields::new(fields);
    let rates: Option<Vec<f64>> = fields.optional("rates")?;
    let rates = rates.unwrap_or_else(|| ReportShrinkageRequest::DEFAULT_RATES.to_vec());
    let data = fields.required_data_source("data")?;
    let mut request = ReportShrinkageRequest::new(fields.learner("learner")?, rates, data);
    request.valid = fields.data_sources("valid")?;
    request.metric = fields.metrics("metric")?.pop();
    request.trees = fields.optional("trees")?;
    request.seed = fields.or("seed", request.seed)?;
    let (result, page) = interruptible(py, 0, |cancel| {
        let context = Context::default().cancel(cancel);
        let result = rankwright::tasks::report_shrinkage(&request, &context)?;
        let page = drawn(&result.report.page())?;
        Ok::<_, TaskError>((result, page))
    })?;
    Ok((json(py, &result)?, page))
}

/// The report of one learner trained with several weights of two goals.
#[pyfunction]
pub(crate) fn report_trade_off(py: Python<'_>, fields: Bound<'_, PyDict>) -> PyResult<DrawnReport> {
    let fields = Fields::new(fields);
    let goals: [String; 2] = fields.required("goals")?;
    let [first, second] = goals.map(|goal| TradeOffGoal::parse(&goal));
    let goals = [first.or_raise(py)?, second.or_raise(py)?];
    let data = fields.required_data_source("data")?;
    let mut request = ReportTradeOffRequest::new(fields.learner("learner")?, goals, data);
    request.weights = fields.or("weights", request.weights.clone())?;
    request.tolerances = fields.or("tolerances", Vec::new())?;
    request.valid = fields.data_source("valid")?;
    request.seed = fields.or("seed", request.seed)?;
    let (result, page) = interruptible(py, 0, |cancel| {
        let context = Context::default().cancel(cancel);
        let result = rankwright::tasks::report_trade_off(&request, &context)?;
        let page = drawn(&result.report.page())?;
        Ok::<_, TaskError>((result, page))
    })?;
    Ok((json(py, &result)?, page))
}

/// The report of a click log. Returns the numbers as JSON, and the page.
#[pyfunction]
pub(crate) fn report_clicks(
    py: Python<'_>,
    fields: Bound<'_, PyDict>,
) -> PyResult<(String, DrawnPage)> {
    let fields = Fields::new(fields);
    let mut request = ReportClicksRequest::new(fields.log("log")?);
    request.test = fields.optional_log("test")?;
    request.features = fields.data("features")?;
    request.estimators = fields.choices("estimators")?;
    request.options = fields.options("options")?;
    let (result, page) = interruptible(py, 0, |cancel| {
        let result =
            rankwright::tasks::report_clicks(&request, &Context::default().cancel(cancel))?;
        let page = drawn(&result.report.page())?;
        Ok::<_, TaskError>((result, page))
    })?;
    Ok((json(py, &result)?, page))
}

/// Worked examples of lectures; all of them if no names are given. Returns the steps as JSON, and
/// the page.
#[pyfunction]
pub(crate) fn lecture(py: Python<'_>, names: Vec<String>) -> PyResult<(String, DrawnPage)> {
    let request = LectureRequest::new().names(names);
    let (result, page) = interruptible(py, 0, |cancel| {
        let result = rankwright::tasks::lecture(&request, &Context::default().cancel(cancel))?;
        let page = drawn(&result.page())?;
        Ok::<_, TaskError>((result, page))
    })?;
    Ok((json(py, &result)?, page))
}

/// Generates feature data with 136 features; they have names if `named`.
#[pyfunction]
pub(crate) fn generate_letor(
    py: Python<'_>,
    queries: usize,
    documents: usize,
    seed: u64,
    named: bool,
) -> PyResult<PyDataset> {
    let options = LetorOptions { queries, documents, seed };
    let data = in_pool(py, 0, || match named {
        true => options.generate_named(),
        false => options.generate(),
    })?;
    Ok(data_set(data))
}
