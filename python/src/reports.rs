//! Reports: a page of HTML, and its charts as SVG with their numbers. Generated data.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankwright::data::generate::LetorOptions;
use rankwright::eval::{MetricSpec, SourceKind};
use rankwright::experiment::ShrinkageRequest;
use rankwright::learn::LearnerSpec;
use rankwright::report::comparison::ComparisonReport;
use rankwright::report::data::{DataOptions, DataReport};
use rankwright::report::training::{NamedData, TrainingOptions, TrainingReport, TrainingRequest};
use rankwright::report::{Page, PageBlock, ReportError};
use rankwright::tasks::{Context, LectureRequest, ReportClicksRequest, TaskError, Warning};

use crate::dataset::PyDataset;
use crate::errors::{OrRaise, json};
use crate::evaluation::{CancelFlag, PyEvaluation};
use crate::fields::Fields;
use crate::model::PyModel;
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

/// The report of a data set.
#[pyfunction]
pub(crate) fn report_data(py: Python<'_>, data: &PyDataset, title: &str) -> PyResult<DrawnPage> {
    let data = &data.data;
    interruptible(py, 0, |_| drawn(&DataReport::new(title, data, &DataOptions::default())?.page()))
}

/// The report of a training: the model, the data that it was trained on, and validation data.
#[pyfunction]
#[pyo3(signature = (model, data, valid, query))]
pub(crate) fn report_training(
    py: Python<'_>,
    model: &PyModel,
    data: &PyDataset,
    valid: Vec<(String, PyRef<'_, PyDataset>)>,
    query: Option<String>,
) -> PyResult<DrawnPage> {
    let (model, data) = (&model.model, &data.data);
    let valid: Vec<_> = valid.iter().map(|(name, set)| (name.clone(), set.data.clone())).collect();
    interruptible(py, 0, |_| {
        let sets = valid.iter().map(|(name, data)| NamedData { name, data }).collect();
        let train = NamedData { name: "training", data };
        let request = TrainingRequest::new(("the model", model), train).valid(sets);
        let options = TrainingOptions::default().query(query);
        drawn(&TrainingReport::new(&request, &options)?.page())
    })
}

/// The report of a comparison.
#[pyfunction]
pub(crate) fn report_comparison(
    py: Python<'_>,
    systems: Vec<(String, PyRef<'_, PyEvaluation>)>,
    options: &str,
    title: &str,
) -> PyResult<DrawnPage> {
    let options = crate::evaluation::compare_options(options).or_raise(py)?;
    let systems: Vec<_> =
        systems.iter().map(|(name, system)| (name.clone(), system.evaluation.clone())).collect();
    interruptible(py, 0, |_| drawn(&ComparisonReport::new(title, systems, &options)?.page()))
}

/// The report of one learner trained with several rates; a fifth of the queries is held out where
/// there is no validation data. Returns the numbers as JSON, and the page.
#[pyfunction]
#[pyo3(signature = (spec, rates, data, valid, metric, seed))]
pub(crate) fn report_shrinkage(
    py: Python<'_>,
    spec: &str,
    rates: Option<Vec<f64>>,
    data: &PyDataset,
    valid: Vec<(String, PyRef<'_, PyDataset>)>,
    metric: Option<&str>,
    seed: Option<u64>,
) -> PyResult<(String, DrawnPage)> {
    let learner = LearnerSpec::parse(spec).or_raise(py)?;
    let measure = |text: &str| MetricSpec::parse(text)?.resolve(SourceKind::Features);
    let measure = metric.map(measure).transpose().or_raise(py)?;
    let data = &data.data;
    let valid: Vec<_> = valid.iter().map(|(name, set)| (name.clone(), set.data.clone())).collect();
    let (report, page) = interruptible(py, 0, |cancel| {
        let sets = valid.iter().map(|(name, data)| NamedData { name, data }).collect();
        let train = NamedData { name: "training", data };
        let mut request = ShrinkageRequest::new(learner, train).valid(sets).measure(measure);
        if let Some(rates) = rates {
            request = request.rates(rates);
        }
        if let Some(seed) = seed {
            request = request.seed(seed);
        }
        let report = request.run(|_| CancelFlag(cancel))?.ok_or(TaskError::Cancelled)?;
        let page = drawn(&report.page())?;
        Ok::<_, TaskError>((report, page))
    })?;
    let warnings: Vec<Warning> = report.warnings.iter().cloned().map(Warning::Report).collect();
    Ok((json(py, &report.result_with(&warnings))?, page))
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
    Ok(PyDataset { data: Arc::new(data) })
}
