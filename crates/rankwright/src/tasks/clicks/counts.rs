//! Statistics of clicks (impressions, clicks, rate, dwell) for each document, query, or document of a
//! query, as features.

use std::path::PathBuf;

use rankwright_clicks::log::LogCounts;
use rankwright_clicks::{
    ClickCountsBuilder, CountedUnit, CountedValue, CountsFormat, write_counts,
};
use rankwright_data::store::write_atomic;
use rankwright_data::{ListFormat, QueryLists, Run};
use serde::{Deserialize, Serialize};

use super::ClickFiles;
use crate::tasks::context::RunningTask;
use crate::tasks::{Context, TaskError, check_outputs};

/// The content of a file of counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum CountsContent {
    /// A table with all numbers of each of these things.
    Table(CountedUnit, CountsFormat),
    /// A run: one number of each document of each query as its score. Documents without the number
    /// are not in it.
    Run(CountedValue),
}

/// A click log, and the file of its counts.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CountClicksRequest {
    /// The log.
    pub log: ClickFiles,
    /// The content of the file.
    pub content: CountsContent,
    /// Number of impressions that a thing must have to be written.
    #[serde(default = "default_min_count")]
    pub min_count: u64,
    /// The file.
    pub out: PathBuf,
}

/// Least number of impressions of a request that gives none.
fn default_min_count() -> u64 {
    1
}

impl CountClicksRequest {
    /// Counts the clicks of a log.
    pub fn new(log: ClickFiles, content: CountsContent, out: impl Into<PathBuf>) -> Self {
        Self { log, content, min_count: default_min_count(), out: out.into() }
    }

    /// Sets the smallest number of impressions.
    pub fn min_count(mut self, impressions: u64) -> Self {
        self.min_count = impressions;
        self
    }
}

/// The counts that were written.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CountClicksResult {
    /// The file.
    pub out: PathBuf,
    /// Name of the things that are counted: `query-document`, `document` or `query`.
    pub unit: &'static str,
    /// Number of things that were written; those without the number of a run are not.
    pub written: usize,
    /// Number of things with fewer impressions than requested, which were left out.
    pub too_rare: usize,
    /// Number of things that have enough impressions, but no click with a time until the next one.
    pub without_dwell: usize,
    /// Counts of the log.
    pub counts: LogCounts,
}

/// Writes statistics of the clicks of a log (impressions, clicks, rate, dwell) for each document,
/// query, or document of a query.
///
/// ```
/// use rankwright::clicks::{CountedUnit, CountsFormat};
/// use rankwright::tasks::{
///     ClickFiles, Context, CountClicksRequest, CountsContent, count_clicks,
/// };
///
/// # let folder = tempfile::tempdir()?;
/// let log = folder.path().join("log.jsonl");
/// std::fs::write(&log, r#"{"query": "cat", "docs": ["a", "b"], "clicks": [0, 1]}"#)?;
/// let content = CountsContent::Table(CountedUnit::Document, CountsFormat::Csv);
/// let out = folder.path().join("counts.csv");
/// let request = CountClicksRequest::new(ClickFiles::new([log]), content, &out);
/// assert_eq!(count_clicks(&request, &Context::default())?.written, 2);
/// assert!(std::fs::read_to_string(out)?.ends_with("b,1,1,1,\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn count_clicks(
    request: &CountClicksRequest,
    context: &Context<'_>,
) -> Result<CountClicksResult, TaskError> {
    let inputs = request.log.files.iter().map(PathBuf::as_path);
    check_outputs([request.out.as_path()], inputs)?;
    let task = RunningTask::new(context);
    let unit = match request.content {
        CountsContent::Table(unit, _) => unit,
        CountsContent::Run(_) => CountedUnit::QueryDocument,
    };
    let mut builder = ClickCountsBuilder::new(unit);
    let (counts, _) = request.log.read(&task, |impression| builder.add(impression))?;
    let mut rows = builder.finish();
    let all = rows.len();
    rows.retain(|row| row.impressions >= request.min_count);
    let step = format!("writing {}", request.out.display());
    let (written, _) = task.step(&step, || match request.content {
        CountsContent::Table(unit, format) => {
            write_atomic(&request.out, |out| write_counts(&rows, unit, format, out))?;
            Ok::<_, TaskError>(rows.len())
        }
        CountsContent::Run(value) => {
            let numbers = rows.iter().filter_map(|row| {
                Some((row.query.as_str(), row.document.as_str(), row.value(value)?))
            });
            let mut numbers: Vec<(&str, &str, f64)> = numbers.collect();
            // Lines of a run go by descending scores; equal ones keep the order of the log.
            numbers.sort_by(|one, other| other.2.total_cmp(&one.2));
            let written = numbers.len();
            let lists = QueryLists::from_rows(request.out.display().to_string(), numbers)?;
            Run::from_lists(lists).save(&request.out, ListFormat::Trec, value.name())?;
            Ok(written)
        }
    })?;
    Ok(CountClicksResult {
        out: request.out.clone(),
        unit: unit.name(),
        written,
        too_rare: all - rows.len(),
        without_dwell: rows.iter().filter(|row| row.dwell.is_none()).count(),
        counts,
    })
}
