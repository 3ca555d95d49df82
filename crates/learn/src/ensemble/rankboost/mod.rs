//! RankBoost (Freund, Iyer, Schapire and Singer, *An Efficient Boosting Algorithm for Combining
//! Preferences*, JMLR 2003): stumps added one by one, each weighted by how well it orders the pairs
//! that the sum so far gets wrong.
//!
//! A distribution over the preferences is kept, and every round shifts it to those that are still
//! in the wrong order. [`loss`] holds it in O(n) for each query, [`stump`] finds the weak ranker
//! and its weight alpha; the loop around them is that of boosting, with its sampling, watching,
//! stopping and checkpoints. The model is an ensemble of stumps: 0 below the threshold, alpha
//! above, times the rate.
//!
//! Cost of a round: one pass over the bins, rows x features bytes. Data without any preference is
//! refused; where every feature is constant the model is 0 everywhere.

mod loss;
mod stump;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Instant;

use rankwright_eval::{MetricSpec, ParamInfo, Params};
use rankwright_spec::SpecError;

use self::loss::PairExponential;
use self::stump::Stumps;
use super::info;
use crate::bins::Binned;
use crate::boost::{BoostParams, Booster};
use crate::error::LearnError;
use crate::learner::boosting;
use crate::preferences::Preferences;
use crate::session::{TrainRequest, TrainResult};
use crate::trainer::{Trainer, Validation};

/// Parameters of `rankboost`.
pub(crate) const RANKBOOST_PARAMS: &[ParamInfo] = &[
    info("trees", "number of weak rankers, each a threshold on a feature", "300"),
    info("rate", "shrinkage: what part of each ranker's weight is taken", "1"),
    info("stop", "stop when validation has not improved for so many trees; 0: never", "0"),
    info("norm_query", "whether every query counts alike, however many pairs it has", "true"),
    info("sample_queries", "part of the queries that each ranker sees, drawn anew", "1"),
    info("sample_features", "part of the features that each ranker may use, drawn anew", "1"),
    info("bins", "most thresholds of a feature and one more, 2 to 255", "255"),
];

/// Defaults that differ from those of boosted trees.
const DEFAULTS: &[(&str, &str)] = &[("rate", "1")];

/// Reads `rankboost`.
pub(crate) fn read_rankboost(
    params: &Params<'_>,
    _target: &MetricSpec,
) -> Result<Arc<dyn Trainer>, SpecError> {
    Ok(Arc::new(RankBoost {
        norm_query: params.bool("norm_query", true)?,
        params: boosting(&params.with_defaults(DEFAULTS))?,
    }))
}

#[derive(Debug)]
struct RankBoost {
    params: BoostParams,
    norm_query: bool,
}

impl Trainer for RankBoost {
    fn train(&self, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError> {
        Preferences::new(request.train).check()?;
        let started = Instant::now();
        let binned = Binned::new(request.train, self.params.bins, request.collective)?;
        let seconds = started.elapsed().as_secs_f64();
        let mut stumps = Stumps::new(&binned, request.collective);
        let mut loss = PairExponential { norm_query: self.norm_query };
        Booster::new(self.params.clone())?.train_with(&mut loss, request, &mut stumps, seconds)
    }

    fn objective(&self) -> String {
        format!("pair-exponential(norm_query={})", self.norm_query)
    }

    fn takes_pairs(&self) -> bool {
        true
    }

    fn rounds(&self) -> Option<(usize, &'static str)> {
        Some((self.params.trees, "tree"))
    }

    fn validation(&self) -> Validation {
        super::stopping(&self.params)
    }
}
