//! The content of a click log.

use std::path::PathBuf;

use rankwright_clicks::{LogSummary, LogSummaryBuilder};
use serde::Serialize;

use super::ClickFiles;
use crate::tasks::context::RunningTask;
use crate::tasks::{Context, TaskError, TaskInputs, Warning};

/// A click log to inspect.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InspectClicksRequest {
    /// The log.
    pub log: ClickFiles,
}

impl TaskInputs for InspectClicksRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        self.log.files.clone()
    }
}

impl InspectClicksRequest {
    /// Inspects this log.
    pub fn new(log: ClickFiles) -> Self {
        Self { log }
    }
}

/// The content of a click log.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InspectClicksResult {
    /// Counts, click rates by rank, queries, and ranks that documents link.
    #[serde(flatten)]
    pub summary: LogSummary,
    /// Seconds of reading.
    pub seconds: f64,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
}

/// Summarises a click log.
///
/// ```
/// use rankwright::tasks::{ClickFiles, Context, InspectClicksRequest, inspect_clicks};
///
/// # let folder = tempfile::tempdir()?;
/// let log = folder.path().join("log.jsonl");
/// std::fs::write(&log, r#"{"query": "cat", "docs": ["a", "b"], "clicks": [0, 1]}"#)?;
/// let request = InspectClicksRequest::new(ClickFiles::new([log]));
/// let result = inspect_clicks(&request, &Context::default())?;
/// assert_eq!(result.summary.ranks[1].clicked, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn inspect_clicks(
    request: &InspectClicksRequest,
    context: &Context<'_>,
) -> Result<InspectClicksResult, TaskError> {
    request.check_files([])?;
    let task = RunningTask::new(context);
    let mut builder = LogSummaryBuilder::default();
    let (counts, seconds) = request.log.read(&task, |impression| builder.add(&impression))?;
    let warnings = task.into_warnings();
    Ok(InspectClicksResult { summary: builder.finish(counts), seconds, warnings })
}
