//! The axis of a metric: its limits are the lowest and the highest possible value of the metric.

use rankwright_eval::{MetricSpec, SourceKind};

use crate::chart::Axis;

/// The lowest and the highest possible value of a metric, found by its name; none for a name that
/// is not a known metric.
pub(crate) fn metric_limits(metric: &str) -> Option<(f64, f64)> {
    // The range of a metric does not depend on the kind of source.
    let measure = MetricSpec::parse(metric).and_then(|spec| spec.resolve(SourceKind::Features));
    Some(measure.ok()?.metric().range())
}

/// An axis of values of a metric.
pub(crate) fn metric_axis(metric: &str) -> Axis {
    Axis { label: metric.to_owned(), limits: metric_limits(metric), ..Axis::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_of_a_metric_has_its_limits() {
        assert_eq!(metric_axis("ndcg@10").limits, Some((0.0, 1.0)));
        assert_eq!(metric_limits("kendall"), Some((-1.0, 1.0)));
        assert_eq!(metric_limits("rmse"), Some((0.0, f64::INFINITY)));
        assert_eq!(metric_limits("loss"), None);
    }
}
