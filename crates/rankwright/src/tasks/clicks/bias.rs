//! The position bias of a click log, by several estimators.

use rankwright_clicks::bias::{BiasEstimator, BiasOptions, PositionBias, position_bias};
use rankwright_clicks::log::LogCounts;
use serde::Serialize;

use super::ClickFiles;
use crate::tasks::context::RunningTask;
use crate::tasks::{Context, TaskError};

/// A click log, and the estimators of its position bias.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EstimateBiasRequest {
    /// The log.
    pub log: ClickFiles,
    /// The estimators.
    pub estimators: Vec<BiasEstimator>,
    /// Their options.
    pub options: BiasOptions,
}

impl EstimateBiasRequest {
    /// All estimators with their default options.
    pub fn new(log: ClickFiles) -> Self {
        let estimators = BiasEstimator::ALL.iter().map(|(_, estimator)| *estimator).collect();
        Self { log, estimators, options: BiasOptions::default() }
    }

    /// Sets the estimators.
    pub fn estimators(mut self, estimators: impl IntoIterator<Item = BiasEstimator>) -> Self {
        self.estimators = estimators.into_iter().collect();
        self
    }

    /// Sets the options.
    pub fn options(mut self, options: BiasOptions) -> Self {
        self.options = options;
        self
    }
}

/// The position bias of a click log.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EstimateBiasResult {
    /// The bias by each estimator.
    pub estimates: Vec<PositionBias>,
    /// Largest difference at a rank between estimators that correct for relevance; `None` if fewer
    /// than two have an estimate.
    pub disagreement: Option<f64>,
    /// Counts of the log.
    pub counts: LogCounts,
    /// Seconds of estimating.
    pub seconds: f64,
}

/// Estimates the position bias of a click log.
pub fn estimate_bias(
    request: &EstimateBiasRequest,
    context: &Context<'_>,
) -> Result<EstimateBiasResult, TaskError> {
    let task = RunningTask::new(context);
    let (pages, counts) = request.log.pages(&task)?;
    let (mut estimates, mut seconds) = (Vec::new(), 0.0);
    for estimator in &request.estimators {
        let step = format!("estimating bias by {}", estimator.name());
        let bias = || Ok::<_, TaskError>(position_bias(&pages, *estimator, &request.options));
        let (bias, taken) = task.step(&step, bias)?;
        estimates.push(bias);
        seconds += taken;
    }
    let disagreement = disagreement(&estimates);
    Ok(EstimateBiasResult { estimates, disagreement, counts, seconds })
}

fn disagreement(estimates: &[PositionBias]) -> Option<f64> {
    let corrected: Vec<&PositionBias> =
        estimates.iter().filter(|bias| bias.estimator != BiasEstimator::ClickRate.name()).collect();
    let ranks = corrected.iter().map(|bias| bias.examination.len()).max()?;
    let spread = |rank: usize| {
        let values: Vec<f64> =
            corrected.iter().filter_map(|bias| bias.examination.get(rank).copied()?).collect();
        let (low, high) = values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
        (values.len() > 1).then_some(high - low)
    };
    (0..ranks).filter_map(spread).max_by(f64::total_cmp)
}
