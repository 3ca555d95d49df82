//! The parameter `metric` of learners whose objective has no such parameter.

use rankwright_eval::MetricText;
use rankwright_spec::params;

use crate::objective::DEFAULT_METRIC;

params! {
    /// The metric that is reported, and used for early stopping and for choosing the model. Some
    /// learners, such as coordinate ascent, optimise it too.
    pub struct TargetParams {
        metric: MetricText = MetricText::new(DEFAULT_METRIC), ..,
            "Metric for reports, early stopping and model selection.";
    }
    /// Builder method for the metric.
    pub trait TargetOptions: target_params;
}
