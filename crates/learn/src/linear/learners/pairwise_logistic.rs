//! Logistic regression on preferences: linear RankNet.

use rankwright_spec::{Conflict, Slashed, SpecError, above, param_groups, params};

use super::super::params::{check_ascending, trainer};
use super::super::trainer::LinearLoss;
use super::super::{SolverOptions, SolverParams};
use crate::bias::{BiasCorrectionOptions, BiasParams};
use crate::learner::{
    AcceptedInputs, DeclaredLearner, LearnerDef, TargetOptions, TargetParams, Tuning,
};
use crate::trainer::Trainer;
use crate::transform::{TRANSFORM_SPACE, TransformOptions, TransformParams};

params! {
    /// Parameters of logistic regression on preferences.
    pub struct PairwiseLogisticParams, check = check {
        c: Slashed<f64> = Slashed(vec![30.0]), above(0.0),
            "Weight of the mean loss relative to half the squared norm of the weights; of several \
             values (c=1/10/100) validation data selects one.";
        norm_query: bool = false, ..,
            "Whether all queries have the same total weight, regardless of their number of pairs.";
    }
    /// Builder methods for the parameters of logistic regression on preferences.
    pub trait PairwiseLogisticOptions: pairwise_logistic_params;
}

fn check(params: &PairwiseLogisticParams) -> Result<(), Conflict> {
    check_ascending(&params.c)
}

param_groups! {
    /// A linear model trained on the logistic loss of preferences: linear RankNet.
    pub struct PairwiseLogistic {
        loss: PairwiseLogisticParams, PairwiseLogisticOptions::pairwise_logistic_params;
        solver: SolverParams, SolverOptions::solver_params;
        features: TransformParams, TransformOptions::transform_params;
        // The metric of reports, and by which validation data selects c.
        target: TargetParams, TargetOptions::target_params;
        bias: BiasParams, BiasCorrectionOptions::bias_params;
    }
}

impl DeclaredLearner for PairwiseLogistic {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "pairwise-logistic",
        help: "A linear model trained on the logistic loss of preferences: linear RankNet.",
        example: "pairwise-logistic(c=20)",
        accepts: AcceptedInputs {
            pairs: true,
            pairs_alone: true,
            start: false,
            validation: true,
            missing: false,
            positions: true,
        },
        tuning: Tuning::without_rounds(&[
            "c=log(0.3,3000), norm_query=choice(true,false)",
            TRANSFORM_SPACE,
        ]),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let loss = LinearLoss::LogisticPairs { norm_query: self.loss.norm_query };
        let trainer = trainer(loss, self.loss.c.0.clone(), &self.solver, &self.features);
        Ok(Box::new(trainer.bias(&self.bias, Self::DEF.name)?))
    }
}
