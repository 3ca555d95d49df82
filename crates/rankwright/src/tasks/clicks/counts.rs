//! Statistics of clicks (impressions, clicks, rate, dwell) for each document, query, or document of a
//! query, as features.

use std::path::{Path, PathBuf};

use rankwright_clicks::log::LogCounts;
use rankwright_clicks::{
    ClickCountsBuilder, CountOptions, CountTable, CountedUnit, CountedValue, CountsFormat,
};
use rankwright_data::store::write_atomic;
use rankwright_data::{DataError, ListFormat, QueryLists, Run};
use rankwright_spec::check_params;
use serde::{Deserialize, Serialize};

use super::LogSource;
use crate::tasks::context::RunningTask;
use crate::tasks::paths::check_used;
use crate::tasks::{Context, TaskError, TaskInputs, Warning};

/// The numbers of a count of clicks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum CountsContent {
    /// A table with all numbers of each of these things.
    Table(CountedUnit),
    /// A run: one number of each document of each query as its score. Documents without the number
    /// are not in it.
    Run(CountedValue),
}

/// A table of each document of each query.
impl Default for CountsContent {
    fn default() -> Self {
        Self::Table(CountedUnit::default())
    }
}

impl CountsContent {
    /// The things that are counted.
    fn unit(self) -> CountedUnit {
        match self {
            CountsContent::Table(unit) => unit,
            CountsContent::Run(_) => CountedUnit::QueryDocument,
        }
    }
}

/// A click log, and the numbers to count.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CountClicksRequest {
    /// The log.
    pub log: LogSource,
    /// The numbers to count; a table of each document of each query if not given.
    #[serde(default)]
    pub content: CountsContent,
    /// The number of impressions that a thing must have.
    #[serde(default)]
    pub options: CountOptions,
    /// The file to write; without one, the result has the numbers.
    pub out: Option<PathBuf>,
    /// The format of a table; if not given, that of the name of the file.
    pub format: Option<CountsFormat>,
}

impl TaskInputs for CountClicksRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        self.log.paths().map(Path::to_owned).collect()
    }
}

impl CountClicksRequest {
    /// Counts the clicks on each document of each query of a log.
    pub fn new(log: impl Into<LogSource>) -> Self {
        Self {
            log: log.into(),
            content: CountsContent::default(),
            options: CountOptions::default(),
            out: None,
            format: None,
        }
    }

    /// Sets the numbers to count.
    pub fn content(mut self, content: CountsContent) -> Self {
        self.content = content;
        self
    }

    /// Sets the smallest number of impressions.
    pub fn min_count(mut self, impressions: u64) -> Self {
        self.options.min_count = impressions;
        self
    }

    /// Sets the file to write.
    pub fn out(mut self, file: impl Into<PathBuf>) -> Self {
        self.out = Some(file.into());
        self
    }

    /// Sets the format of a table.
    pub fn format(mut self, format: CountsFormat) -> Self {
        self.format = Some(format);
        self
    }
}

/// Counts of clicks, in a file or in memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CountClicksResult {
    /// The file that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<PathBuf>,
    /// The numbers, if no file was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<CountedRows>,
    /// Name of the things that are counted: `query-document`, `document` or `query`.
    pub unit: &'static str,
    /// Number of rows; things without the number of a run have none.
    pub written: usize,
    /// Number of things with fewer impressions than requested, which were left out.
    pub too_rare: usize,
    /// Number of things that have enough impressions, but no click with a time until the next one.
    pub without_dwell: usize,
    /// Counts of the log.
    pub counts: LogCounts,
    /// Warnings to the caller.
    pub warnings: Vec<Warning>,
}

/// The rows of counts in memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum CountedRows {
    /// All numbers of each thing.
    Table(CountTable),
    /// One number of each document of each query, the largest first.
    Run(Vec<RunRow>),
}

/// A document of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RunRow {
    /// The query.
    pub query_id: String,
    /// The document.
    pub doc_id: String,
    /// Its score.
    pub score: f64,
}

/// Writes statistics of the clicks of a log (impressions, clicks, rate, dwell) for each document,
/// query, or document of a query.
///
/// ```
/// use rankwright::clicks::CountedUnit;
/// use rankwright::tasks::{
///     ClickFiles, Context, CountClicksRequest, CountsContent, count_clicks,
/// };
///
/// # let folder = tempfile::tempdir()?;
/// let log = folder.path().join("log.jsonl");
/// std::fs::write(&log, r#"{"query": "cat", "docs": ["a", "b"], "clicks": [0, 1]}"#)?;
/// let content = CountsContent::Table(CountedUnit::Document);
/// let out = folder.path().join("counts.csv");
/// let request = CountClicksRequest::new(ClickFiles::new([log])).content(content).out(&out);
/// assert_eq!(count_clicks(&request, &Context::default())?.written, 2);
/// assert!(std::fs::read_to_string(out)?.ends_with("b,1,1,1,\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn count_clicks(
    request: &CountClicksRequest,
    context: &Context<'_>,
) -> Result<CountClicksResult, TaskError> {
    check_params(&request.options, "counts")?;
    let is_table = matches!(request.content, CountsContent::Table(_));
    let has_unused_format = request.format.is_some() && !(is_table && request.out.is_some());
    check_used(has_unused_format, "format", "only the file of a table has a format")?;
    request.check_files(request.out.as_deref())?;
    let task = RunningTask::new(context);
    let unit = request.content.unit();
    let mut builder = ClickCountsBuilder::new(unit);
    let (counts, _) = request.log.read(&task, |impression| builder.add(impression))?;
    let mut table = CountTable::new(unit, builder.finish());
    let all = table.counts.len();
    table.counts.retain(|row| row.impressions >= request.options.min_count);
    let too_rare = all - table.counts.len();
    let without_dwell = table.counts.iter().filter(|row| row.dwell.is_none()).count();
    let written = match request.content {
        CountsContent::Table(_) => table.counts.len(),
        CountsContent::Run(value) => table.values(value).len(),
    };
    let rows = match &request.out {
        Some(out) => {
            let step = format!("writing {}", out.display());
            task.step(&step, || write(&table, out, request))?;
            None
        }
        None => Some(rows(table, request.content)),
    };
    Ok(CountClicksResult {
        out: request.out.clone(),
        rows,
        unit: unit.name(),
        written,
        too_rare,
        without_dwell,
        counts,
        warnings: task.into_warnings(),
    })
}

fn write(table: &CountTable, out: &Path, request: &CountClicksRequest) -> Result<(), DataError> {
    match request.content {
        CountsContent::Table(_) => {
            let format = request.format.unwrap_or_else(|| CountsFormat::from_path(out));
            write_atomic(out, |file| table.write(format, file))
        }
        CountsContent::Run(value) => {
            let name = out.display().to_string();
            let lists = QueryLists::from_rows(name, table.values(value))?;
            Run::from_lists(lists).save(out, ListFormat::Trec, value.name())
        }
    }
}

fn rows(table: CountTable, content: CountsContent) -> CountedRows {
    let row = |(query, document, score): (&str, &str, f64)| RunRow {
        query_id: query.to_owned(),
        doc_id: document.to_owned(),
        score,
    };
    match content {
        CountsContent::Table(_) => CountedRows::Table(table),
        CountsContent::Run(value) => {
            CountedRows::Run(table.values(value).into_iter().map(row).collect())
        }
    }
}
