//! Boosted trees on any objective of [`OBJECTIVES`](crate::objective::OBJECTIVES), which is the
//! value of a parameter: `boosting(objective=huber(alpha=0.8))`.
//!
//! `boosting(objective=X)` grows the same trees as the learner that is named after X or has it as
//! its loss. The cost and the corner cases are those of the objective. The parameter `metric` is
//! for reports and early stopping; a metric to optimise is a parameter of the objective:
//! `boosting(objective=lambda(metric=ap), metric=ap)`.

use rankwright_spec::{Conflict, SpecError, param_groups, params};

use super::{TREE_INPUTS, TREE_SEARCH_SPACE};
use crate::bias::{BiasCorrectionOptions, BiasParams};
use crate::boost::trainer::BoostTrainer;
use crate::boost::{
    BoostOptions, BoostParams, NewtonOptions, NewtonParams, check_joint_newton_leaves,
};
use crate::learner::{
    AcceptedInputs, DeclaredLearner, LearnerDef, TargetOptions, TargetParams, Tuning,
};
use crate::objective::ObjectiveText;
use crate::session::{LabelOptions, LabelParams};
use crate::trainer::Trainer;
use crate::tree::{TreeOptions, TreeParams};

params! {
    /// The choice of the objective.
    pub struct BoostingParams {
        objective: ObjectiveText = ObjectiveText::new("lambda(metric=ndcg@10)"), ..,
            "Objective that is minimised, with its parameters.";
    }
    /// Builder method for the objective.
    pub trait BoostingOptions: boosting_params;
}

param_groups! {
    /// Boosted trees on any objective, by its spec.
    ///
    /// ```
    /// use rankwright_data::generate::LetorOptions;
    /// use rankwright_learn::prelude::*;
    ///
    /// let data = LetorOptions { queries: 20, documents: 20, seed: 1 }.generate()?;
    /// let result = Boosting::new().objective("huber(alpha=0.8)").trees(5).leaves(7).fit(&data)?;
    /// assert_eq!(result.model.header().objective, "huber(alpha=0.8)");
    /// # Ok::<(), rankwright_learn::LearnError>(())
    /// ```
    pub struct Boosting, check = check {
        boosting: BoostingParams, BoostingOptions::boosting_params;
        boost: BoostParams, BoostOptions::boost_params;
        tree: TreeParams, TreeOptions::tree_params;
        // The metric of reports, early stopping and model selection.
        target: TargetParams, TargetOptions::target_params;
        newton: NewtonParams, NewtonOptions::newton_params;
        bias: BiasParams, BiasCorrectionOptions::bias_params;
        several: LabelParams, LabelOptions::label_params;
    }
}

fn check(params: &Boosting) -> Result<(), Conflict> {
    check_joint_newton_leaves(&params.newton, &params.tree)
}

impl DeclaredLearner for Boosting {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "boosting",
        help: "Boosted trees on any objective, given with its parameters.",
        example: "boosting(objective=huber(alpha=0.8), trees=200, leaves=31)",
        // Pairs only with an objective that learns from them.
        accepts: AcceptedInputs { pairs: true, ..TREE_INPUTS },
        tuning: Tuning::of_trees(&[TREE_SEARCH_SPACE]),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let objective = self.boosting.objective.parsed()?;
        let trainer = BoostTrainer::of_parsed(Self::DEF, &self.boost, &self.tree, objective);
        Ok(Box::new(trainer.newton(&self.newton).bias(&self.bias)?.labels(&self.several)?))
    }
}
