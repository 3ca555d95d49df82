//! The first training of `bias=dr`: boosted trees that estimate the relevance of each document from
//! its features, by squared error on corrected clicks.

use rankwright_model::ScoreOptions;

use super::params::BoostConfig;
use super::train::BoostEngine;
use super::{BoostParams, NewtonParams};
use crate::bias::{ClickCorrection, CorrectedClicks};
use crate::error::LearnError;
use crate::objective::Squared;
use crate::session::{Progress, Stop, TrainRequest};
use crate::tree::TreeParams;

/// The largest number of trees of the regression.
const MAX_TREES: usize = 100;

/// Scores of all rows by a regression on corrected labels: trees like those of the learner, at most
/// [`MAX_TREES`] of them. A learner without trees passes the default parameters of trees.
pub(crate) fn relevance_scores(
    request: &TrainRequest<'_>,
    learner: &str,
    boost: &BoostParams,
    tree: &TreeParams,
    clicks: CorrectedClicks,
) -> Result<Vec<f64>, LearnError> {
    let boost = BoostParams {
        trees: boost.trees.min(MAX_TREES),
        rate: boost.rate,
        stop: Stop::None,
        ..BoostParams::default()
    };
    let config =
        BoostConfig::for_request(request, learner, &boost, tree, &NewtonParams::default())?;
    let progress = StopRequests(request.progress);
    let mut regression =
        TrainRequest::new(request.train).seed(request.seed).simd(request.simd).progress(&progress);
    regression.fill_metric(None)?;
    let correction = ClickCorrection { clicks, ..ClickCorrection::default() };
    let engine = BoostEngine::new(config).corrected(correction);
    let result = engine.train(&mut Squared, &regression)?;
    Ok(result.model.score(request.train, ScoreOptions::default())?)
}

/// Forwards requests to stop; the events of this training are not reported.
struct StopRequests<'a>(&'a dyn Progress);

impl Progress for StopRequests<'_> {
    fn should_stop(&self) -> bool {
        self.0.should_stop()
    }
}
