//! A click log, written in another format.

use std::path::{Path, PathBuf};
use std::time::Instant;

use rankwright_clicks::Impression;
use rankwright_clicks::log::LogCounts;
use rankwright_clicks::log::write::{LogTarget, LogWriter, WrittenLog};
use rankwright_data::store::write_atomic_with;
use serde::{Deserialize, Serialize};

use super::LogSource;
use crate::tasks::context::RunningTask;
use crate::tasks::paths::check_used;
use crate::tasks::{Context, TaskError, TaskInputs, Warning};

/// A click log, and the file and format to write it in.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ConvertClicksRequest {
    /// The log.
    pub log: LogSource,
    /// The format to write; UBI if not given.
    #[serde(default)]
    pub to: LogTarget,
    /// The file to write; without one, the result has the impressions.
    pub out: Option<PathBuf>,
}

impl TaskInputs for ConvertClicksRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        self.log.paths().map(Path::to_owned).collect()
    }
}

impl ConvertClicksRequest {
    /// Reads a log into impressions in memory.
    pub fn new(log: impl Into<LogSource>) -> Self {
        Self { log: log.into(), to: LogTarget::default(), out: None }
    }

    /// Sets the format to write.
    pub fn to(mut self, format: LogTarget) -> Self {
        self.to = format;
        self
    }

    /// Sets the file to write.
    pub fn out(mut self, file: impl Into<PathBuf>) -> Self {
        self.out = Some(file.into());
        self
    }
}

/// The log that was written, or its impressions.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ConvertClicksResult {
    /// The file that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<PathBuf>,
    /// Name of its format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<&'static str>,
    /// The impressions, if no file was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<Vec<Impression>>,
    /// Counts of the log that was read.
    pub counts: LogCounts,
    /// Seconds of reading and writing.
    pub seconds: f64,
    /// Parts of the log that the format cannot hold, events that are no clicks, and ids that were
    /// made.
    pub warnings: Vec<Warning>,
}

/// Writes a click log in another format: its impressions and clicks, not its other events. The
/// impressions are read and written one after another; the file is complete or not there at all.
/// Without a file, the result has all impressions.
///
/// ```
/// use rankwright::clicks::log::write::LogTarget;
/// use rankwright::tasks::{ClickFiles, Context, ConvertClicksRequest, convert_clicks};
///
/// # let folder = tempfile::tempdir()?;
/// let log = folder.path().join("log.jsonl");
/// std::fs::write(&log, r#"{"query": "cat", "docs": ["a", "b"], "clicks": [0, 1]}"#)?;
/// let out = folder.path().join("log.csv");
/// let request = ConvertClicksRequest::new(ClickFiles::new([log])).to(LogTarget::Csv).out(&out);
/// let result = convert_clicks(&request, &Context::default())?;
/// assert_eq!(result.counts.shown, 2);
/// assert!(std::fs::read_to_string(out)?.contains("1,,,cat,b,2,1,"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn convert_clicks(
    request: &ConvertClicksRequest,
    context: &Context<'_>,
) -> Result<ConvertClicksResult, TaskError> {
    request.check_files(request.out.as_deref())?;
    let mut task = RunningTask::new(context);
    let start = Instant::now();
    let Some(out) = &request.out else {
        let is_unused = request.to != LogTarget::default();
        check_used(is_unused, "to", "no file is written")?;
        let mut pages = Vec::new();
        let (counts, seconds) = request.log.read(&task, |page| pages.push(page.clone()))?;
        let (pages, warnings) = (Some(pages), task.into_warnings());
        return Ok(ConvertClicksResult {
            out: None,
            format: None,
            pages,
            counts,
            seconds,
            warnings,
        });
    };
    let step = format!("converting {} to {}", request.log.label(), out.display());
    let ((counts, written), _) = task.step(&step, || convert(request, out, context))?;
    let format = request.to.name();
    for lost in &written.lost {
        let (part, impressions) = (lost.part.name(), lost.impressions);
        task.warn(Warning::LogPartLost { part, format, impressions });
    }
    if counts.other_events > 0 {
        task.warn(Warning::LogEventsLost { format, events: counts.other_events });
    }
    if written.made_ids > 0 {
        task.warn(Warning::ImpressionIdsMade { format, impressions: written.made_ids });
    }
    Ok(ConvertClicksResult {
        out: Some(out.clone()),
        format: Some(format),
        pages: None,
        counts,
        seconds: start.elapsed().as_secs_f64(),
        warnings: task.into_warnings(),
    })
}

/// Reads and writes at the same time, so that the log is never in memory as a whole.
fn convert(
    request: &ConvertClicksRequest,
    out: &Path,
    context: &Context<'_>,
) -> Result<(LogCounts, WrittenLog), TaskError> {
    write_atomic_with(out, |out| {
        let mut writer = LogWriter::new(request.to, out)?;
        let counts = request.log.try_read(context, |impression| match context.is_cancelled() {
            true => Err(TaskError::Cancelled),
            false => Ok(writer.write(impression)?),
        })?;
        Ok((counts, writer.finish()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::ClickFiles;
    use rankwright_clicks::log::LogOptions;
    use std::fs;

    #[test]
    fn events_that_are_no_clicks_are_left_out_with_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let event = |name: &str| {
            format!(
                "{{\"event\": \"interaction\", \"type\": \"{name}\", \"ranking\": \"r\", \"item\": \"a\"}}\n"
            )
        };
        let page = "{\"event\": \"ranking\", \"id\": \"r\", \"items\": [{\"id\": \"a\"}]}\n";
        fs::write(path("log"), page.to_owned() + &event("click") + &event("purchase")).unwrap();
        fs::write(path("clicks"), page.to_owned() + &event("click")).unwrap();
        let convert = |log: &str, options: LogOptions| {
            let log = ClickFiles::new([path(log)]).options(options);
            let request = ConvertClicksRequest::new(log).to(LogTarget::Metarank).out(path("out"));
            let result = convert_clicks(&request, &Context::default()).unwrap();
            (result.warnings, fs::read_to_string(path("out")).unwrap())
        };
        let lost = [Warning::LogEventsLost { format: "metarank", events: 1 }];
        let (warnings, text) = convert("log", LogOptions::default());
        assert_eq!(warnings, lost);
        assert!(text.contains("click") && !text.contains("purchase"), "{text}");
        assert_eq!(warnings[0].kind(), "log-part-lost");
        let expected =
            "1 other event left out: only impressions and clicks are written as metarank";
        assert_eq!(warnings[0].to_string(), expected);
        // Purchases in place of clicks are written as clicks, and the clicks are left out.
        let (warnings, text) = convert("log", LogOptions::default().events(["purchase"]));
        assert_eq!(warnings, lost);
        assert_eq!(text.matches("interaction").count(), 1, "{text}");
        assert!(!text.contains("purchase"), "{text}");
        assert!(convert("clicks", LogOptions::default()).0.is_empty());
    }
}
