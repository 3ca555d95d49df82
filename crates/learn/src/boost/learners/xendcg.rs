//! XE-NDCG-MART (Bruch, "An Alternative Cross Entropy Loss for Learning-to-Rank", WWW 2021):
//! boosted trees on a listwise cross entropy that bounds NDCG.

use rankwright_spec::{SpecError, param_groups};

use super::{TREE_INPUTS, TREE_SEARCH_SPACE};
use crate::bias::{BiasCorrectionOptions, BiasParams};
use crate::boost::trainer::BoostTrainer;
use crate::boost::{BoostOptions, BoostParams};
use crate::learner::{DeclaredLearner, LearnerDef, TargetOptions, TargetParams, Tuning};
use crate::objective::{XeNdcgOptions, XeNdcgParams};
use crate::session::{LabelOptions, LabelParams};
use crate::trainer::Trainer;
use crate::tree::{TreeOptions, TreeParams};

param_groups! {
    /// XE-NDCG-MART: boosted trees on a listwise cross entropy that bounds NDCG.
    pub struct XeNdcgMart {
        boost: BoostParams, BoostOptions::boost_params;
        tree: TreeParams, TreeOptions::tree_params;
        // The metric of reports, early stopping and model selection.
        target: TargetParams, TargetOptions::target_params;
        loss: XeNdcgParams, XeNdcgOptions::xe_ndcg_params;
        bias: BiasParams, BiasCorrectionOptions::bias_params;
        several: LabelParams, LabelOptions::label_params;
    }
}

impl DeclaredLearner for XeNdcgMart {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "xendcg",
        help: "Boosted trees on a listwise cross entropy that bounds NDCG (Bruch 2021).",
        example: "xendcg(trees=200, leaves=31)",
        accepts: TREE_INPUTS,
        tuning: Tuning::of_trees(&[TREE_SEARCH_SPACE]),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let trainer = BoostTrainer::new(Self::DEF, &self.boost, &self.tree, &self.loss)?;
        Ok(Box::new(trainer.bias(&self.bias)?.labels(&self.several)?))
    }
}
