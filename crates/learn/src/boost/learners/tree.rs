//! A single regression tree (CART) on the labels: each leaf is the mean of its documents.

use rankwright_spec::{Auto, SpecError, param_groups};

use super::TREE_INPUTS;
use crate::boost::BoostParams;
use crate::boost::trainer::BoostTrainer;
use crate::learner::{
    AcceptedInputs, DeclaredLearner, LearnerDef, TargetOptions, TargetParams, Tuning,
};
use crate::objective::SquaredParams;
use crate::trainer::Trainer;
use crate::tree::{SizeDefaults, TreeOptions, TreeParams};

param_groups! {
    /// A single regression tree on the labels.
    pub struct RegressionTree {
        tree: TreeParams, TreeOptions::tree_params;
        // The metric of reports, early stopping and model selection.
        target: TargetParams, TargetOptions::target_params;
    }
}

impl DeclaredLearner for RegressionTree {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "tree",
        help: "One regression tree on the labels, each leaf the mean of its documents.",
        example: "tree(leaves=8, min_rows=5)",
        accepts: AcceptedInputs { positions: false, ..TREE_INPUTS },
        tuning: Tuning::without_rounds(&[
            "leaves=logint(4,200), min_rows=logint(1,200), l2=log(0.01,100)",
        ]),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        // The values of a single tree are not shrunk: rate 1.
        let boost = BoostParams { trees: 1, rate: Auto::Given(1.0), ..BoostParams::default() };
        // The defaults for small data are meant for ensembles of many trees; a single tree always
        // uses those for large data.
        let tree = self.tree.with_defaults(&SizeDefaults::LARGE);
        Ok(Box::new(BoostTrainer::new(Self::DEF, &boost, &tree, &SquaredParams::default())?))
    }
}
