//! Inspection of data: what is in it, and what to know before training on it.

use rankwright_data::{FeatureSummary, DatasetSummary};
use serde::Serialize;

use super::context::Running;
use super::{Context, DataFiles, TaskError};

/// The data to look into.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InspectRequest {
    /// The data.
    pub data: DataFiles,
}

impl InspectRequest {
    /// Looks into this data.
    pub fn new(data: DataFiles) -> Self {
        InspectRequest { data }
    }
}

/// Counts, distributions and warnings of a data set.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct InspectResult {
    /// Rows (documents).
    pub rows: usize,
    /// Queries.
    pub queries: usize,
    /// Number of features.
    pub features: usize,
    /// Labels and their rows, ascending.
    pub labels: Vec<LabelCount>,
    /// Rows a query.
    pub query_sizes: QuerySizes,
    /// Queries without a label of at least 1.
    pub blank_queries: usize,
    /// Queries whose labels are all equal.
    pub level_queries: usize,
    /// Queries of a single row.
    pub single_queries: usize,
    /// Rows whose document id stands in the same query before.
    pub repeated_documents: usize,
    /// Whether the rows of every query stand best label first.
    pub sorted_by_label: bool,
    /// The meaning of absent features: `zero` or `missing`.
    pub absent: &'static str,
    /// Number of preference pairs, where there are any.
    pub pairs: Option<usize>,
    /// What to know before training, one sentence each.
    pub warnings: Vec<String>,
    /// A summary of each feature, in column order.
    pub feature_summaries: Vec<FeatureCounts>,
    /// Name of the format.
    pub format: &'static str,
    /// Recoverable problems that the reader met, one sentence each.
    pub notes: Vec<String>,
    /// Seconds of the steps.
    pub seconds: InspectSeconds,
}

/// A label and its rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LabelCount {
    /// The label.
    pub label: f64,
    /// Rows with it.
    pub rows: usize,
}

/// Rows a query.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QuerySizes {
    /// Fewest.
    pub min: usize,
    /// Half of the queries have no more.
    pub median: usize,
    /// On average.
    pub mean: f64,
    /// At the 95th percentile.
    pub p95: usize,
    /// Most.
    pub max: usize,
}

/// One feature.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FeatureCounts {
    /// Its name.
    pub name: String,
    /// Rows where it is missing.
    pub missing: usize,
    /// Rows where it is 0.
    pub zeros: usize,
    /// Rows where it is infinite.
    pub infinite: usize,
    /// Least value; NaN (`null` in JSON) if always missing.
    pub min: f64,
    /// Greatest value; NaN if always missing.
    pub max: f64,
    /// Mean of the finite values; NaN if there is none.
    pub mean: f64,
    /// Whether it has one value only, or is always missing.
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
    /// Looking through it.
    pub inspect: f64,
}

/// Counts and describes a data set.
pub fn inspect_data(
    request: &InspectRequest,
    context: &Context<'_>,
) -> Result<InspectResult, TaskError> {
    let mut task = Running::new(context);
    let loaded = request.data.load(None, &mut task)?;
    let data = &loaded.data;
    let (s, seconds) = task.step("looking", || Ok::<_, TaskError>(DatasetSummary::of(data)))?;
    Ok(InspectResult {
        rows: s.rows,
        queries: s.queries,
        features: s.features.len(),
        labels: s.labels.iter().map(|&(label, rows)| LabelCount { label, rows }).collect(),
        query_sizes: QuerySizes {
            min: s.sizes.min,
            median: s.sizes.median,
            mean: s.sizes.mean,
            p95: s.sizes.p95,
            max: s.sizes.max,
        },
        blank_queries: s.blank_queries,
        level_queries: s.level_queries,
        single_queries: s.single_queries,
        repeated_documents: s.repeated_documents,
        sorted_by_label: s.sorted_by_label,
        absent: data.absent().name(),
        pairs: data.pairs().map(<[_]>::len),
        warnings: s.warnings(),
        feature_summaries: s.features.iter().map(|one| counts(one, s.rows)).collect(),
        format: loaded.format.info().name,
        seconds: InspectSeconds { load: loaded.seconds, inspect: seconds },
        notes: loaded.warnings.iter().map(ToString::to_string).collect(),
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
