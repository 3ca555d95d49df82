//! Metrics of a request.

use rankwright_eval::{DefaultMetrics, Measure, MetricSpec, SourceKind, metrics_or_default};

use super::TaskError;

/// Metrics for feature data or a run: the given ones, or the default ones.
pub fn resolve_metrics(
    metrics: &[MetricSpec],
    kind: SourceKind,
) -> Result<Vec<Measure>, TaskError> {
    Ok(metrics_or_default(metrics, kind, DefaultMetrics::Usual)?)
}
