//! RankNet (Burges et al. 2005): a net trained on the logistic loss of pairs, factored by query
//! (Burges 2010): the lambdas of each document are added up before the backward pass, and each
//! mini-batch of queries makes one step.
//!
//! With `update=pair` it is the RankNet of 2005: stochastic gradient descent with a step after each
//! single pair, the pairs of all queries in random order. One step costs the forward and backward
//! pass of two documents, so the cost of an epoch grows with the number of pairs, which is
//! quadratic in the length of a list.

use rankwright_spec::{Conflict, SpecError, choices, param_groups, params};

use super::super::loss::NetLoss;
use super::super::params::NET_SPACE;
use super::super::train::NetTrainer;
use super::super::{HiddenNorm, NetOptions, NetParams};
use super::{NET_INPUTS, NET_TRANSFORM};
use crate::bias::{BiasCorrection, BiasCorrectionOptions, BiasParams};
use crate::learner::{
    AcceptedInputs, DeclaredLearner, LearnerDef, TargetOptions, TargetParams, Tuning,
};
use crate::objective::{PairOptions, PairParams, TiedLabels};
use crate::session::{LabelOptions, LabelParams};
use crate::trainer::Trainer;
use crate::transform::{TransformOptions, TransformParams};

choices! {
    /// The part of the data after which RankNet changes its parameters.
    pub enum RankNetUpdate {
        /// After each mini-batch of queries.
        Query = "query",
        /// After each pair; pairs are visited in random order.
        Pair = "pair",
    }
}

params! {
    /// The form of RankNet's gradient.
    pub struct RankNetParams {
        update: RankNetUpdate = RankNetUpdate::Query, ..,
            "When parameters are changed: after each mini-batch of queries, or after each pair, in \
             random order (Burges 2005).";
        factored: bool = true, ..,
            "Whether lambdas are added up by document first (Burges 2010); false: the net is \
             evaluated for each pair.", requires "update=query";
    }
    /// Builder methods for the form of RankNet's gradient.
    pub trait RankNetOptions: rank_net_params;
}

param_groups! {
    /// RankNet: a net trained on the logistic loss of pairs.
    pub struct RankNet, check = check {
        net: NetParams, NetOptions::net_params;
        features: TransformParams = TransformParams::default().transform(NET_TRANSFORM),
            TransformOptions::transform_params;
        // The metric of reports, early stopping and model selection.
        target: TargetParams, TargetOptions::target_params;
        pair: PairParams, PairOptions::pair_params;
        form: RankNetParams, RankNetOptions::rank_net_params;
        bias: BiasParams, BiasCorrectionOptions::bias_params;
        several: LabelParams, LabelOptions::label_params;
    }
}

/// Fails on parameters that need whole queries or mini-batches if pairs are passed one by one.
fn check(params: &RankNet) -> Result<(), Conflict> {
    let pair_by_pair = match (params.form.update, params.form.factored) {
        (RankNetUpdate::Pair, _) => "update=pair",
        (RankNetUpdate::Query, false) => "factored=false",
        (RankNetUpdate::Query, true) => return Ok(()),
    };
    if params.bias.bias != BiasCorrection::None {
        return Err(Conflict::Incompatible {
            setting: "bias".to_owned(),
            other: pair_by_pair.to_owned(),
            reason: "clicks are corrected in whole queries",
        });
    }
    let allowed =
        PairParams { sigma: params.pair.sigma, ties: params.pair.ties, ..PairParams::default() };
    if params.pair != allowed {
        return Err(Conflict::Incompatible {
            setting: "truncation, norm_gap or norm_query".to_owned(),
            other: pair_by_pair.to_owned(),
            reason: "they are for whole queries",
        });
    }
    let is_step_of_a_pair = params.form.update == RankNetUpdate::Pair;
    if is_step_of_a_pair && params.net.batch != NetParams::default().batch {
        return Err(Conflict::Incompatible {
            setting: format!("batch={}", params.net.batch),
            other: pair_by_pair.to_owned(),
            reason: "every step is that of one pair",
        });
    }
    if params.net.norm == HiddenNorm::Batch {
        return Err(Conflict::Incompatible {
            setting: "norm=batch".to_owned(),
            other: pair_by_pair.to_owned(),
            reason: "it needs whole mini-batches; norm=layer does not",
        });
    }
    Ok(())
}

impl DeclaredLearner for RankNet {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "ranknet",
        help: "A net trained on the logistic loss of pairs (Burges 2005), factored by query (Burges 2010).",
        example: "ranknet(layers=32, sigma=1, epochs=20)",
        accepts: AcceptedInputs { pairs: true, pairs_alone: true, ..NET_INPUTS },
        tuning: Tuning::of_nets(&[NET_SPACE]),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let trainer = NetTrainer::new(&self.net, &self.features, self.loss()?);
        let trainer = trainer.bias(&self.bias, Self::DEF.name)?;
        Ok(Box::new(trainer.labels(&self.several, Self::DEF.name)?))
    }
}

impl RankNet {
    /// The loss, and the form in which queries are passed to it.
    pub(in crate::net) fn loss(&self) -> Result<NetLoss, SpecError> {
        let loss = NetLoss::pairwise(&self.pair)?;
        let ties = self.pair.ties == TiedLabels::Half;
        let pair_updates = self.form.update == RankNetUpdate::Pair;
        let factored = self.form.factored && !pair_updates;
        Ok(NetLoss { factored, pair_updates, ties, ..loss })
    }
}
