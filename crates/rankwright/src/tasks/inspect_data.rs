//! Inspection of data: its content, and warnings before training on it.

use std::path::{Path, PathBuf};

use rankwright_data::format::Role;
use rankwright_data::{DatasetSummary, Encoding, FeatureSummary, TableColumn};
use serde::{Deserialize, Serialize};

use super::context::RunningTask;
use super::{Context, DataSource, TaskError, TaskInputs, Warning};

/// The data to inspect.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct InspectRequest {
    /// The data.
    pub data: DataSource,
}

impl TaskInputs for InspectRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        self.data.paths().map(Path::to_owned).collect()
    }
}

impl InspectRequest {
    /// Inspects this data.
    pub fn new(data: impl Into<DataSource>) -> Self {
        InspectRequest { data: data.into() }
    }
}

/// Counts, distributions and warnings of a data set.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct InspectResult {
    /// Number of rows (documents).
    pub rows: usize,
    /// Number of queries.
    pub queries: usize,
    /// Number of features.
    pub features: usize,
    /// Labels with their numbers of rows, ascending.
    pub labels: Vec<LabelCount>,
    /// Numbers of rows per query.
    pub query_sizes: QuerySizes,
    /// Number of queries without a label of at least 1.
    pub blank_queries: usize,
    /// Number of queries whose labels are all equal.
    pub equal_label_queries: usize,
    /// Number of queries of a single row.
    pub single_queries: usize,
    /// Number of rows whose document id occurs earlier in the same query.
    pub repeated_documents: usize,
    /// Whether the rows of every query are sorted by label, best first.
    pub sorted_by_label: bool,
    /// The meaning of absent features: `zero` or `missing`.
    pub absent: &'static str,
    /// Number of preference pairs, where there are any.
    pub pairs: Option<usize>,
    /// The columns of a table, each with its role; empty for other formats.
    pub columns: Vec<ColumnRole>,
    /// A summary of each feature, in column order.
    pub feature_summaries: Vec<FeatureCounts>,
    /// Name of the format.
    pub format: &'static str,
    /// Seconds of the steps.
    pub seconds: InspectSeconds,
    /// Recoverable problems while reading, then warnings about the content of the data.
    pub warnings: Vec<Warning>,
}

/// A column of a table and its use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ColumnRole {
    /// Its name.
    pub name: String,
    /// Its role: `qid`, `label`, `docid`, `weight`, `query_weight`, `position`, `feature` or
    /// `ignore`.
    pub role: &'static str,
    /// The values of a feature: `number`, `category` or `time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<&'static str>,
    /// Number of categories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub categories: Option<usize>,
    /// The parts of a point in time that are features.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<&'static str>,
}

impl ColumnRole {
    fn of(column: &TableColumn) -> Self {
        let mut found = ColumnRole {
            name: column.name.clone(),
            role: column.role.name(),
            values: (column.role == Role::Feature).then(|| column.encoding.name()),
            categories: None,
            parts: Vec::new(),
        };
        match &column.encoding {
            Encoding::Category(values) => found.categories = Some(values.len()),
            Encoding::Time(parts) => found.parts = parts.iter().map(|part| part.name()).collect(),
            _ => {}
        }
        found
    }
}

/// A label and its number of rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LabelCount {
    /// The label.
    pub label: f64,
    /// Number of rows with it.
    pub rows: usize,
}

/// Distribution of the number of rows per query.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QuerySizes {
    /// Minimum.
    pub min: usize,
    /// Median.
    pub median: usize,
    /// Mean.
    pub mean: f64,
    /// 95th percentile.
    pub p95: usize,
    /// Maximum.
    pub max: usize,
}

/// Statistics of one feature.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FeatureCounts {
    /// Its name.
    pub name: String,
    /// Number of rows where it is missing.
    pub missing: usize,
    /// Number of rows where it is 0.
    pub zeros: usize,
    /// Number of rows where it is infinite.
    pub infinite: usize,
    /// Least value; NaN (`null` in JSON) if always missing.
    pub min: f64,
    /// Greatest value; NaN if always missing.
    pub max: f64,
    /// Mean of the finite values; NaN if there is none.
    pub mean: f64,
    /// Whether it has only one value, or is always missing.
    pub constant: bool,
    /// The first earlier feature with the same value in every row.
    pub same_as: Option<String>,
}

/// Seconds of the steps of an inspection.
#[derive(Debug, Clone, Copy, Serialize)]
#[non_exhaustive]
pub struct InspectSeconds {
    /// Reading the data.
    pub load: f64,
    /// Computing the statistics.
    pub inspect: f64,
}

/// Counts and describes a data set.
pub fn inspect_data(
    request: &InspectRequest,
    context: &Context<'_>,
) -> Result<InspectResult, TaskError> {
    request.check_files([])?;
    let mut task = RunningTask::new(context);
    let loaded = request.data.load(None, &mut task)?;
    let data = &loaded.data;
    let (summary, seconds) =
        task.step("computing statistics", || Ok::<_, TaskError>(DatasetSummary::of(data)))?;
    // These warnings are a part of the requested result, so the callback is not called.
    summary
        .warnings()
        .into_iter()
        .for_each(|warning| task.keep_silently(Warning::Content(warning)));
    Ok(InspectResult {
        rows: summary.rows,
        queries: summary.queries,
        features: summary.features.len(),
        labels: summary.labels.iter().map(|&(label, rows)| LabelCount { label, rows }).collect(),
        query_sizes: QuerySizes {
            min: summary.sizes.min,
            median: summary.sizes.median,
            mean: summary.sizes.mean,
            p95: summary.sizes.p95,
            max: summary.sizes.max,
        },
        blank_queries: summary.blank_queries,
        equal_label_queries: summary.equal_label_queries,
        single_queries: summary.single_queries,
        repeated_documents: summary.repeated_documents,
        sorted_by_label: summary.sorted_by_label,
        absent: data.absent().name(),
        pairs: data.pairs().map(<[_]>::len),
        columns: loaded
            .columns
            .iter()
            .flat_map(|columns| columns.iter().map(ColumnRole::of))
            .collect(),
        feature_summaries: summary.features.iter().map(|f| counts(f, summary.rows)).collect(),
        format: loaded.format_name(),
        seconds: InspectSeconds { load: loaded.seconds, inspect: seconds },
        warnings: task.into_warnings(),
    })
}

fn counts(feature: &FeatureSummary, rows: usize) -> FeatureCounts {
    FeatureCounts {
        name: feature.name.clone(),
        missing: feature.missing,
        zeros: feature.zeros,
        infinite: feature.infinite,
        min: feature.min.into(),
        max: feature.max.into(),
        mean: feature.mean,
        constant: feature.is_constant(rows),
        same_as: feature.same_as.clone(),
    }
}
