//! Reports: a page of HTML, and its charts as SVG with their numbers. Generated data.

use std::sync::Arc;

use pyo3::prelude::*;
use rankwright::data::generate::LetorOptions;
use rankwright::report::comparison::ComparisonReport;
use rankwright::report::data::{DataOptions, DataReport};
use rankwright::report::training::{NamedData, TrainingOptions, TrainingReport, TrainingRequest};
use rankwright::report::{Page, PageBlock, ReportError};

use crate::dataset::PyDataset;
use crate::errors::OrRaise;
use crate::evaluation::PyEvaluation;
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
