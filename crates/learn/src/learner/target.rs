//! The metric of learners whose objective does not name one.

use rankwright_eval::MetricText;
use rankwright_spec::params;

use crate::objective::DEFAULT_METRIC;

params! {
    /// The metric that the learner optimises: it is reported, and used for early stopping and for
    /// choosing the model.
    pub struct TargetParams {
        metric: MetricText = MetricText::new(DEFAULT_METRIC), ..,
            "Metric for reports, early stopping and model selection.";
    }
    /// Builder method for the metric.
    pub trait TargetOptions: target_params;
}
