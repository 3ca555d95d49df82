//! RankBoost (Freund, Iyer, Schapire and Singer, *An Efficient Boosting Algorithm for Combining
//! Preferences*, JMLR 2003): stumps added one by one, each weighted by how well it orders the pairs
//! that the ensemble so far orders wrongly.
//!
//! A stump is a tree of two leaves: one feature and one threshold. A distribution over the
//! preferences is kept, and every round gives more of it to preferences that are still in the wrong
//! order. [`loss`] computes the distribution in O(n) memory for each query, [`stump`] finds the
//! weak ranker, a stump, and its weight alpha; the loop is that of boosting, with its sampling,
//! validation, early stopping and checkpoints. The model is an ensemble of stumps: 0 up to the
//! threshold, alpha above it, times the rate.
//!
//! Cost of a round: one pass over the bins, rows x features bytes. Data without any preference is
//! an error; if every feature is constant the model is 0 everywhere.

mod loss;
mod stump;
#[cfg(test)]
mod tests;

use std::time::Instant;

use rankwright_spec::{Auto, SpecError, above, param_groups, params};

pub(crate) use self::loss::PAIR_EXPONENTIAL;
use self::loss::PairExponential;
use self::stump::Stumps;
use crate::bins::Binned;
use crate::boost::{BoostConfig, BoostEngine, BoostParams, NewtonParams};
use crate::error::LearnError;
use crate::learner::{
    AcceptedInputs, DeclaredLearner, LearnerDef, TargetOptions, TargetParams, Tuning,
};
use crate::preferences::Preferences;
use crate::session::{Stop, TrainRequest, TrainResult};
use crate::trainer::{Trainer, ValidationUse};
use crate::tree::TreeParams;

params! {
    /// Parameters of RankBoost.
    pub struct RankBoostParams {
        trees: usize = 300, 1.., "Number of weak rankers, each a threshold on a feature.";
        rate: f64 = 1.0, above(0.0),
            "Learning rate (shrinkage): the factor of each ranker's weight.";
        stop: Stop = Stop::Auto, ..,
            "Number of trees without improvement on validation data after which training stops; \
             auto: all trees are trained. With validation data, the best number of trees is kept; \
             none: all are kept.";
        norm_query: bool = true, ..,
            "Whether all queries have the same total weight, regardless of their number of pairs.";
        sample_queries: f64 = 1.0, above(0.0).up_to(1.0),
            "Fraction of the queries from which each ranker is chosen, drawn for each ranker.";
        sample_features: f64 = 1.0, above(0.0).up_to(1.0),
            "Fraction of the features that each ranker may use, drawn for each ranker.";
        bins: usize = 255, 2..=255, "Maximum number of thresholds of a feature, plus one.";
    }
    /// Builder methods for the parameters of RankBoost.
    pub trait RankBoostOptions: rank_boost_params;
}

param_groups! {
    /// RankBoost: thresholds on features, boosted on the pairs that are still in the wrong order.
    pub struct RankBoost {
        boost: RankBoostParams, RankBoostOptions::rank_boost_params;
        // The metric of reports, early stopping and model selection.
        target: TargetParams, TargetOptions::target_params;
    }
}

impl DeclaredLearner for RankBoost {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "rankboost",
        help: "Thresholds on features, boosted on the pairs that are still in the wrong order (Freund 2003).",
        example: "rankboost(trees=200, norm_query=true)",
        accepts: AcceptedInputs {
            pairs: true,
            pairs_alone: true,
            start: false,
            validation: true,
            missing: true,
            positions: false,
        },
        tuning: Some(Tuning {
            space: &["rate=log(0.1,1), norm_query=choice(true,false), \
                      sample_queries=uniform(0.5,1), sample_features=uniform(0.3,1), \
                      bins=choice(15,63,255)"],
            rounds_parameter: Some("trees"),
            rounds_range: Some("logint(30,1000)"),
            stop: Some("100"),
        }),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let params = &self.boost;
        let boost = BoostParams {
            trees: params.trees,
            rate: Auto::Given(params.rate),
            stop: params.stop,
            sample_queries: params.sample_queries,
            sample_features: params.sample_features,
            ..BoostParams::default()
        };
        let tree = TreeParams { bins: params.bins, ..TreeParams::default() };
        let config = BoostConfig::new(&boost, &tree, &NewtonParams::default());
        Ok(Box::new(RankBoostTrainer { config, norm_query: params.norm_query }))
    }
}

/// Trains RankBoost.
#[derive(Debug)]
struct RankBoostTrainer {
    config: BoostConfig,
    norm_query: bool,
}

impl Trainer for RankBoostTrainer {
    fn train(&mut self, request: &TrainRequest<'_>) -> Result<TrainResult, LearnError> {
        Preferences::new(request.train).check()?;
        let started = Instant::now();
        let binned = Binned::new(request.train, self.config.bins, request.collective)?;
        let binning_seconds = started.elapsed().as_secs_f64();
        let mut stumps = Stumps::new(&binned, request.collective);
        let mut loss = PairExponential { norm_query: self.norm_query };
        let engine = BoostEngine::new(self.config.clone());
        engine.train_with(&mut loss, request, &mut stumps, binning_seconds)
    }

    fn objective(&self) -> String {
        format!("{}(norm_query={})", PAIR_EXPONENTIAL.name, self.norm_query)
    }

    fn accepts_pairs(&self) -> bool {
        true
    }

    fn supports_distributed(&self) -> bool {
        true
    }

    fn rounds(&self) -> Option<(usize, &'static str)> {
        Some((self.config.trees, "tree"))
    }

    fn validation_use(&self) -> ValidationUse {
        ValidationUse::of_rounds(self.config.stop, self.config.trees)
    }

    fn max_leaves(&self) -> u64 {
        // A threshold on a feature has two sides.
        (self.config.trees as u64).saturating_mul(2)
    }
}
