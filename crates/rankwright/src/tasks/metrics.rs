//! Metrics of a request, and their values as a result.

use rankwright_eval::{Evaluation, Measure, MeasureResult, MetricSpec, SourceKind, expand};
use serde::Serialize;

use super::TaskError;

/// One metric of an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MetricValue {
    /// The metric, such as `ndcg@10`.
    pub metric: String,
    /// Every convention of the number.
    pub convention: String,
    /// The value; NaN (`null` in JSON) where no query counts.
    pub value: f64,
    /// Queries that count.
    pub queries: usize,
    /// 95 % interval of the mean over queries, where there is one.
    pub ci95: Option<(f64, f64)>,
}

impl From<&MeasureResult> for MetricValue {
    fn from(result: &MeasureResult) -> Self {
        MetricValue {
            metric: result.measure.to_string(),
            convention: result.convention.clone(),
            value: result.value,
            queries: result.queries,
            ci95: result.ci95,
        }
    }
}

/// The metrics of an evaluation.
pub fn metric_values(evaluation: &Evaluation) -> Vec<MetricValue> {
    evaluation.results.iter().map(MetricValue::from).collect()
}

/// Metrics for feature data or a run: those given, or the usual ones.
pub fn resolve_metrics(
    metrics: &[MetricSpec],
    kind: SourceKind,
) -> Result<Vec<Measure>, TaskError> {
    let usual = match kind {
        SourceKind::Features => "ndcg@1, ndcg@5, ndcg@10, ap, rr, p@10",
        SourceKind::Run => "ndcg@10, ap, rr, p@10, recall@100, judged@10",
    };
    let specs = match metrics {
        [] => expand(usual)?,
        given => given.to_vec(),
    };
    Ok(specs.iter().map(|spec| spec.resolve(kind)).collect::<Result<_, _>>()?)
}
