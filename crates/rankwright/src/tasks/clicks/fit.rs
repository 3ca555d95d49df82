//! A click model, fitted to a log and measured on another one.

use std::path::{Path, PathBuf};

use rankwright_clicks::ClickModel;
use rankwright_clicks::model::{ClickModelEvaluation, NamedParameter};
use serde::{Deserialize, Serialize};

use super::LogSource;
use crate::tasks::context::RunningTask;
use crate::tasks::{Context, TaskError, TaskInputs, Warning};

/// A click model, and the logs to fit it to and to measure it on.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FitClickModelRequest {
    /// The log to fit the model to.
    pub log: LogSource,
    /// Another log to measure the fitted model on.
    pub test: Option<LogSource>,
    /// The click model; `ubm` if not given.
    #[serde(default)]
    pub model: ClickModel,
}

impl TaskInputs for FitClickModelRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        let test = self.test.iter().flat_map(LogSource::paths);
        self.log.paths().chain(test).map(Path::to_owned).collect()
    }
}

impl FitClickModelRequest {
    /// Fits the user browsing model, `ubm`, to a log.
    pub fn new(log: impl Into<LogSource>) -> Self {
        Self { log: log.into(), test: None, model: ClickModel::default() }
    }

    /// Sets the click model.
    pub fn model(mut self, model: ClickModel) -> Self {
        self.model = model;
        self
    }

    /// Measures the fitted model on another log, too.
    pub fn test(mut self, log: impl Into<LogSource>) -> Self {
        self.test = Some(log.into());
        self
    }
}

/// A fitted click model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FitClickModelResult {
    /// The spec of the model.
    pub model: String,
    /// The fit to the log that the model was fitted to.
    pub fitted: ClickModelEvaluation,
    /// The fit to the other log.
    pub test: Option<ClickModelEvaluation>,
    /// The parameters.
    pub parameters: Vec<NamedParameter>,
    /// The pairs of query and document that parameters by pair are for, in their order.
    pub pairs: Vec<ShownDocument>,
    /// Seconds of fitting.
    pub seconds: f64,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
}

/// A document that was shown for a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownDocument {
    /// The query.
    pub query: String,
    /// The document.
    pub document: String,
}

/// Fits a click model to a log.
///
/// ```
/// use rankwright::clicks::ClickModel;
/// use rankwright::tasks::{ClickFiles, Context, FitClickModelRequest, fit_click_model};
///
/// # let folder = tempfile::tempdir()?;
/// let log = folder.path().join("log.jsonl");
/// std::fs::write(&log, r#"{"query": "cat", "docs": ["a", "b"], "clicks": [0, 1]}"#)?;
/// let request = FitClickModelRequest::new(ClickFiles::new([log])).model(ClickModel::parse("pbm")?);
/// let result = fit_click_model(&request, &Context::default())?;
/// assert_eq!(result.parameters[0].name, "examination");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fit_click_model(
    request: &FitClickModelRequest,
    context: &Context<'_>,
) -> Result<FitClickModelResult, TaskError> {
    request.check_files([])?;
    let task = RunningTask::new(context);
    let (pages, _) = request.log.pages(&task)?;
    let test = request.test.as_ref().map(|log| log.pages(&task)).transpose()?;
    let step = format!("fitting {}", request.model.spec());
    let (model, seconds) = task.step(&step, || Ok::<_, TaskError>(request.model.fit(&pages)))?;
    let shown = |(query, document): (&str, &str)| ShownDocument {
        query: query.to_owned(),
        document: document.to_owned(),
    };
    Ok(FitClickModelResult {
        model: request.model.spec().to_owned(),
        fitted: model.evaluate(&pages, &pages),
        test: test.map(|(test, _)| model.evaluate(&test, &pages)),
        parameters: model.parameters(),
        pairs: pages.named_pairs().map(shown).collect(),
        seconds,
        warnings: task.into_warnings(),
    })
}
