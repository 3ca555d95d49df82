//! Report on a click log: click rates, position bias and click models on one page.

use std::path::{Path, PathBuf};

use rankwright_clicks::LogFeatureRows;
use rankwright_clicks::bias::{BiasEstimator, BiasOptions};
use rankwright_clicks::{ClickModel, LogSummaryBuilder};
use rankwright_report::clicks::{ClickModelFit, ClickReport};
use rankwright_spec::check_params;
use serde::{Deserialize, Serialize};

use super::examination::LogCollector;
use super::{EstimateBiasRequest, LogSource, bias};
use crate::tasks::context::RunningTask;
use crate::tasks::paths::short_name;
use crate::tasks::{Context, DataSource, ReadRules, TaskError, TaskInputs, Warning};

/// A click log, and the parts of its report.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ReportClicksRequest {
    /// The log.
    pub log: LogSource,
    /// Another log to measure click models on.
    pub test: Option<LogSource>,
    /// The estimators of position bias; if empty, all that the log and the features allow.
    #[serde(default)]
    pub estimators: Vec<BiasEstimator>,
    /// Their options.
    #[serde(default)]
    pub options: BiasOptions,
    /// Feature data of the documents, for `regression-em`.
    pub features: Option<DataSource>,
    /// The click models; if empty, all of them.
    #[serde(default)]
    pub models: Vec<ClickModel>,
}

/// The click models of a report.
fn requested_models(request: &ReportClicksRequest) -> Result<Vec<ClickModel>, TaskError> {
    let all = rankwright_clicks::model::CLICK_MODELS.iter();
    match request.models.as_slice() {
        [] => Ok(all.map(|def| ClickModel::parse(def.name)).collect::<Result<_, _>>()?),
        given => Ok(given.to_vec()),
    }
}

impl TaskInputs for ReportClicksRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        let logs = self.log.paths().chain(self.test.iter().flat_map(LogSource::paths));
        let features = self.features.iter().flat_map(DataSource::paths);
        logs.chain(features).map(Path::to_owned).collect()
    }
}

impl ReportClicksRequest {
    /// A report with all estimators and click models that the log allows.
    pub fn new(log: impl Into<LogSource>) -> Self {
        Self {
            log: log.into(),
            test: None,
            estimators: Vec::new(),
            options: BiasOptions::default(),
            features: None,
            models: Vec::new(),
        }
    }

    /// Measures click models on another log.
    pub fn test(mut self, log: impl Into<LogSource>) -> Self {
        self.test = Some(log.into());
        self
    }

    /// Sets the estimators of position bias.
    pub fn estimators(mut self, estimators: impl IntoIterator<Item = BiasEstimator>) -> Self {
        self.estimators = estimators.into_iter().collect();
        self
    }

    /// Sets the options of the estimators.
    pub fn options(mut self, options: BiasOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets feature data of the documents.
    pub fn features(mut self, features: Option<DataSource>) -> Self {
        self.features = features;
        self
    }

    /// Sets the click models.
    pub fn models(mut self, models: Vec<ClickModel>) -> Self {
        self.models = models;
        self
    }
}

/// A report on a click log.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ReportClicksResult {
    /// The report.
    #[serde(flatten)]
    pub report: ClickReport,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
}

/// Reports on a click log.
pub fn report_clicks(
    request: &ReportClicksRequest,
    context: &Context<'_>,
) -> Result<ReportClicksResult, TaskError> {
    check_params(&request.options, "bias")?;
    request.check_files([])?;
    let mut task = RunningTask::new(context);
    let (mut summary, mut collector) = (LogSummaryBuilder::default(), LogCollector::default());
    let (counts, _) = request.log.read(&task, |impression| {
        summary.add(impression);
        collector.add(impression, &request.options.random_ranker);
    })?;
    let log = collector.finish();
    let rules = ReadRules::default().labels_are_optional();
    let loaded = request.features.as_ref().map(|source| source.load(Some(rules), &mut task));
    let loaded = loaded.transpose()?;
    let rows = loaded.as_ref().map(|loaded| LogFeatureRows::new(&loaded.data));
    let estimates = EstimateBiasRequest::new(request.log.clone())
        .estimators(request.estimators.iter().copied())
        .options(request.options.clone());
    let estimates = bias::estimates(&estimates, &log, rows.as_ref(), &task, &mut 0.0)?;
    let test = request.test.as_ref().map(|test| test.pages(&task)).transpose()?;
    let mut fits = Vec::new();
    for model in &requested_models(request)? {
        let step = format!("fitting {}", model.spec());
        let (fitted, _) = task.step(&step, || Ok::<_, TaskError>(model.fit(&log.pages)))?;
        fits.push(ClickModelFit {
            model: model.spec().to_owned(),
            fitted: fitted.evaluate(&log.pages, &log.pages),
            test: test.as_ref().map(|(test, _)| fitted.evaluate(test, &log.pages)),
        });
    }
    let label = request.log.label();
    let title = format!("Click log {}", short_name(&label));
    let mut facts = vec![("Log".to_owned(), label)];
    if let Some(test) = &request.test {
        facts.push(("Click models are measured on".to_owned(), test.label()));
    }
    let report = ClickReport::new(title, summary.finish(counts))
        .with_facts(facts)
        .with_bias(estimates)
        .with_click_models(fits);
    Ok(ReportClicksResult { report, warnings: task.into_warnings() })
}
