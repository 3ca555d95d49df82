//! The content of a click log.

use std::path::{Path, PathBuf};

use rankwright_clicks::{LogSummary, LogSummaryBuilder};
use serde::{Deserialize, Serialize};

use super::LogSource;
use crate::tasks::context::RunningTask;
use crate::tasks::{Context, TaskError, TaskInputs, Warning};

/// A click log to inspect.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct InspectClicksRequest {
    /// The log.
    pub log: LogSource,
}

impl TaskInputs for InspectClicksRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        self.log.paths().map(Path::to_owned).collect()
    }
}

impl InspectClicksRequest {
    /// Inspects this log.
    pub fn new(log: impl Into<LogSource>) -> Self {
        Self { log: log.into() }
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
    let (counts, seconds) = request.log.read(&task, |impression| builder.add(impression))?;
    let warnings = task.into_warnings();
    Ok(InspectClicksResult { summary: builder.finish(counts), seconds, warnings })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use rankwright_clicks::log::LogProgress;

    use super::*;
    use crate::tasks::ClickFiles;

    #[test]
    fn the_progress_of_reading_is_reported_up_to_the_last_byte() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log.jsonl");
        let query = r#"{"query_id": "ID", "query_response_hit_ids": ["a", "b"]}"#;
        let lines = (0..150_000).map(|id| query.replace("ID", &id.to_string()) + "\n");
        let text: String = lines.collect();
        std::fs::write(&log, &text).unwrap();
        let seen = Mutex::new(Vec::new());
        let watch = |progress: &LogProgress| seen.lock().unwrap().push(*progress);
        let context = Context::default().on_log(&watch);
        let request = InspectClicksRequest::new(ClickFiles::new([log]));
        let found = inspect_clicks(&request, &context).unwrap();
        assert_eq!(found.summary.counts.impressions, 150_000);
        let seen = seen.into_inner().unwrap();
        let bytes = |progress: &LogProgress| match progress {
            LogProgress::Reading { bytes, total } => {
                assert_eq!(*total, Some(text.len() as u64));
                Some(*bytes)
            }
            _ => None,
        };
        let bytes: Vec<u64> = seen.iter().filter_map(bytes).collect();
        assert!(bytes.len() > 1 && bytes.is_sorted(), "{bytes:?}");
        assert_eq!(bytes.last(), Some(&(text.len() as u64)));
        assert!(seen.contains(&LogProgress::Joining { impressions: 131_072 }));
        assert_eq!(seen.last(), Some(&LogProgress::Finished));
    }

    #[test]
    fn a_cancelled_reading_ends() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log.jsonl");
        let page = r#"{"query": "q", "docs": ["a"], "clicks": [1]}"#;
        std::fs::write(&log, format!("{page}\n{page}\n")).unwrap();
        let flag = std::sync::atomic::AtomicBool::new(false);
        let stop = |_: &LogProgress| flag.store(true, std::sync::atomic::Ordering::Relaxed);
        let context = Context::default().cancel(&flag).on_log(&stop);
        let request = InspectClicksRequest::new(ClickFiles::new([log]));
        assert!(matches!(inspect_clicks(&request, &context), Err(TaskError::Cancelled)));
    }
}
