//! LambdaMART (Burges, MSR-TR-2010-82): boosted trees on pairs weighted by the change of a metric.
//!
//! The gradient of a document is the sum of its lambdas ([`lambda`](crate::objective)); leaves take
//! a Newton step. Any metric that defines its change when two documents swap can be optimised.

use rankwright_spec::{Conflict, SpecError, param_groups};

use super::{TREE_INPUTS, TREE_SEARCH_SPACE};
use crate::bias::{BiasCorrectionOptions, BiasParams};
use crate::boost::trainer::BoostTrainer;
use crate::boost::{
    BoostOptions, BoostParams, NewtonOptions, NewtonParams, check_joint_newton_leaves,
};
use crate::learner::{AcceptedInputs, DeclaredLearner, LearnerDef, Tuning};
use crate::objective::{LambdaOptions, LambdaParams};
use crate::session::{LabelOptions, LabelParams};
use crate::trainer::Trainer;
use crate::tree::{TreeOptions, TreeParams};

param_groups! {
    /// LambdaMART: boosted trees on pairs weighted by the change of a metric.
    ///
    /// ```
    /// use rankwright_data::generate::LetorOptions;
    /// use rankwright_learn::prelude::*;
    ///
    /// let data = LetorOptions { queries: 20, documents: 20, seed: 1 }.generate()?;
    /// let learner = LambdaMart::new().trees(10).leaves(7).metric("err@10");
    /// let result = learner.fit(&data)?;
    /// assert_eq!(result.model.header().learner, "lambdamart(trees=10, leaves=7, metric=err@10)");
    /// # Ok::<(), rankwright_learn::LearnError>(())
    /// ```
    pub struct LambdaMart, check = check {
        boost: BoostParams, BoostOptions::boost_params;
        tree: TreeParams, TreeOptions::tree_params;
        lambda: LambdaParams, LambdaOptions::lambda_params;
        newton: NewtonParams, NewtonOptions::newton_params;
        bias: BiasParams, BiasCorrectionOptions::bias_params;
        several: LabelParams, LabelOptions::label_params;
    }
}

fn check(params: &LambdaMart) -> Result<(), Conflict> {
    check_joint_newton_leaves(&params.newton, &params.tree)
}

impl DeclaredLearner for LambdaMart {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "lambdamart",
        help: "Boosted trees on pairs weighted by the change of a metric (Burges 2010).",
        example: "lambdamart(trees=500, leaves=31, rate=0.05, metric=ndcg@10)",
        accepts: AcceptedInputs { pairs: true, ..TREE_INPUTS },
        tuning: Tuning::of_trees(&[
            TREE_SEARCH_SPACE,
            "truncation=choice(auto,20,none), norm_query=choice(true,false)",
            "newton=choice(per-document,cross-leaf)",
        ]),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let trainer = BoostTrainer::new(Self::DEF, &self.boost, &self.tree, &self.lambda)?;
        Ok(Box::new(trainer.newton(&self.newton).bias(&self.bias)?.labels(&self.several)?))
    }
}
