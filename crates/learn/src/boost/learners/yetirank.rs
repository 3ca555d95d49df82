//! YetiRank (Gulin, Kuralenok and Pavlov 2011; Lyzhin, Ustimenko, Gulin and Prokhorenkova 2023):
//! boosted trees that optimise the expected value of a metric when random noise is added to the
//! scores.

use rankwright_spec::{Conflict, SpecError, param_groups};

use super::{TREE_INPUTS, TREE_SEARCH_SPACE};
use crate::bias::{BiasCorrectionOptions, BiasParams};
use crate::boost::trainer::BoostTrainer;
use crate::boost::{
    BoostOptions, BoostParams, NewtonOptions, NewtonParams, check_joint_newton_leaves,
};
use crate::learner::{DeclaredLearner, LearnerDef, Tuning};
use crate::objective::{YetiOptions, YetiParams};
use crate::session::{LabelOptions, LabelParams};
use crate::trainer::Trainer;
use crate::tree::{TreeOptions, TreeParams};

param_groups! {
    /// YetiRank: boosted trees that optimise the expected value of a metric when random noise is
    /// added to the scores.
    pub struct YetiRank, check = check {
        boost: BoostParams, BoostOptions::boost_params;
        tree: TreeParams, TreeOptions::tree_params;
        loss: YetiParams, YetiOptions::yeti_params;
        newton: NewtonParams, NewtonOptions::newton_params;
        bias: BiasParams, BiasCorrectionOptions::bias_params;
        several: LabelParams, LabelOptions::label_params;
    }
}

fn check(params: &YetiRank) -> Result<(), Conflict> {
    check_joint_newton_leaves(&params.newton, &params.tree)
}

impl DeclaredLearner for YetiRank {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "yetirank",
        help: "Boosted trees for the expected value of a metric under random noise on the scores (Gulin 2011, Lyzhin 2023).",
        example: "yetirank(trees=200, leaves=31, metric=ap)",
        accepts: TREE_INPUTS,
        tuning: Tuning::of_trees(&[TREE_SEARCH_SPACE, "samples=choice(5,10,30), noise=log(0.3,3)"]),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let trainer = BoostTrainer::new(Self::DEF, &self.boost, &self.tree, &self.loss)?;
        Ok(Box::new(trainer.newton(&self.newton).bias(&self.bias)?.labels(&self.several)?))
    }
}
