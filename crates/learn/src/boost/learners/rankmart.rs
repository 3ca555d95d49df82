//! RankMART: boosted trees on the pair logistic loss of RankNet, every pair with the same weight.

use rankwright_spec::{Conflict, SpecError, param_groups};

use super::{TREE_INPUTS, TREE_SEARCH_SPACE};
use crate::bias::{BiasCorrectionOptions, BiasParams};
use crate::boost::trainer::BoostTrainer;
use crate::boost::{
    BoostOptions, BoostParams, NewtonOptions, NewtonParams, check_joint_newton_leaves,
};
use crate::learner::{
    AcceptedInputs, DeclaredLearner, LearnerDef, TargetOptions, TargetParams, Tuning,
};
use crate::objective::{PairOptions, PairParams};
use crate::session::{LabelOptions, LabelParams};
use crate::trainer::Trainer;
use crate::tree::{TreeOptions, TreeParams};

param_groups! {
    /// RankMART: boosted trees on the pair logistic loss.
    pub struct RankMart, check = check {
        boost: BoostParams, BoostOptions::boost_params;
        tree: TreeParams, TreeOptions::tree_params;
        // The metric of reports, early stopping and model selection.
        target: TargetParams, TargetOptions::target_params;
        pair: PairParams, PairOptions::pair_params;
        newton: NewtonParams, NewtonOptions::newton_params;
        bias: BiasParams, BiasCorrectionOptions::bias_params;
        several: LabelParams, LabelOptions::label_params;
    }
}

fn check(params: &RankMart) -> Result<(), Conflict> {
    check_joint_newton_leaves(&params.newton, &params.tree)
}

impl DeclaredLearner for RankMart {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "rankmart",
        help: "Boosted trees on the pair logistic loss of RankNet, every pair with the same weight.",
        example: "rankmart(trees=200, leaves=15, sigma=1)",
        accepts: AcceptedInputs { pairs: true, pairs_alone: true, ..TREE_INPUTS },
        tuning: Tuning::of_trees(&[TREE_SEARCH_SPACE, "norm_query=choice(true,false)"]),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let trainer = BoostTrainer::new(Self::DEF, &self.boost, &self.tree, &self.pair)?;
        Ok(Box::new(trainer.newton(&self.newton).bias(&self.bias)?.labels(&self.several)?))
    }
}
