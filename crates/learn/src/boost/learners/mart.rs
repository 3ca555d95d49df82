//! MART (Friedman, "Greedy Function Approximation: A Gradient Boosting Machine", 2001): boosted
//! trees on a loss of each document's label, or of a whole list.

use rankwright_spec::{SpecError, choices, param_groups, params};

use super::{TREE_INPUTS, TREE_SEARCH_SPACE};
use crate::bias::{BiasCorrectionOptions, BiasParams};
use crate::boost::trainer::BoostTrainer;
use crate::boost::{BoostOptions, BoostParams};
use crate::learner::{DeclaredLearner, LearnerDef, TargetOptions, TargetParams, Tuning};
use crate::objective::{
    ApproxNdcgOptions, ApproxNdcgParams, HuberOptions, HuberParams, ListMleOptions, ListMleParams,
    LogLossOptions, LogLossParams, ObjectiveParams, OrdinalParams, QueryRmseParams, SoftmaxOptions,
    SoftmaxParams, SquaredParams,
};
use crate::session::{LabelOptions, LabelParams};
use crate::trainer::Trainer;
use crate::tree::{TreeOptions, TreeParams};

choices! {
    /// The losses that MART can minimise: objectives that are not sums over pairs of documents.
    pub enum MartLoss {
        /// Squared error.
        Squared = "squared",
        /// Squared error after subtracting each query's mean error.
        QueryRmse = "query-rmse",
        /// Binary log-loss.
        LogLoss = "logloss",
        /// Huber loss.
        Huber = "huber",
        /// Ordinal regression.
        Ordinal = "ordinal",
        /// Softmax cross entropy.
        Softmax = "softmax",
        /// ListMLE.
        ListMle = "listmle",
        /// ApproxNDCG.
        ApproxNdcg = "approxndcg",
    }
}

params! {
    /// The choice of MART's loss.
    pub struct MartParams {
        loss: MartLoss = MartLoss::Squared, .., "Loss that is minimised.";
    }
    /// Builder method for the choice of MART's loss.
    pub trait MartOptions: mart_params;
}

param_groups! {
    /// MART: boosted trees on a loss of each document's label, or of a list.
    pub struct Mart {
        mart: MartParams, MartOptions::mart_params;
        logloss: LogLossParams, LogLossOptions::log_loss_params, requires "loss=logloss";
        huber: HuberParams, HuberOptions::huber_params, requires "loss=huber";
        softmax: SoftmaxParams, SoftmaxOptions::softmax_params, requires "loss=softmax";
        listmle: ListMleParams, ListMleOptions::list_mle_params, requires "loss=listmle";
        approxndcg: ApproxNdcgParams, ApproxNdcgOptions::approx_ndcg_params,
            requires "loss=approxndcg";
        boost: BoostParams, BoostOptions::boost_params;
        tree: TreeParams, TreeOptions::tree_params;
        // The metric of reports, early stopping and model selection.
        target: TargetParams, TargetOptions::target_params;
        bias: BiasParams, BiasCorrectionOptions::bias_params;
        several: LabelParams, LabelOptions::label_params;
    }
}

impl DeclaredLearner for Mart {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "mart",
        help: "Boosted trees on a loss of each document's label (Friedman 2001), or of a list.",
        example: "mart(loss=query-rmse, trees=200, leaves=31)",
        accepts: TREE_INPUTS,
        tuning: Tuning::of_trees(&[
            "loss=choice(squared,query-rmse,ordinal,softmax)",
            TREE_SEARCH_SPACE,
        ]),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        match self.mart.loss {
            MartLoss::Squared => self.trainer(&SquaredParams::default()),
            MartLoss::QueryRmse => self.trainer(&QueryRmseParams::default()),
            MartLoss::LogLoss => self.trainer(&self.logloss),
            MartLoss::Huber => self.trainer(&self.huber),
            MartLoss::Ordinal => self.trainer(&OrdinalParams::default()),
            MartLoss::Softmax => self.trainer(&self.softmax),
            MartLoss::ListMle => self.trainer(&self.listmle),
            MartLoss::ApproxNdcg => self.trainer(&self.approxndcg),
        }
    }
}

impl Mart {
    /// The trainer that minimises this loss.
    fn trainer(&self, loss: &impl ObjectiveParams) -> Result<Box<dyn Trainer>, SpecError> {
        let trainer = BoostTrainer::new(Self::DEF, &self.boost, &self.tree, loss)?;
        Ok(Box::new(trainer.bias(&self.bias)?.labels(&self.several)?))
    }
}
