//! Ordinal regression by the cumulative logit (McCullagh 1980).

use rankwright_spec::{Conflict, Slashed, SpecError, above, param_groups, params};

use super::super::params::{check_ascending, trainer};
use super::super::trainer::LinearLoss;
use super::super::{SolverOptions, SolverParams};
use crate::learner::{
    AcceptedInputs, DeclaredLearner, LearnerDef, TargetOptions, TargetParams, Tuning,
};
use crate::trainer::Trainer;
use crate::transform::{TRANSFORM_SPACE, TransformOptions, TransformParams};

params! {
    /// Parameters of ordinal regression.
    pub struct OrdinalRegressionParams, check = check {
        c: Slashed<f64> = Slashed(vec![30.0]), above(0.0),
            "Weight of the mean loss relative to half the squared norm of the weights; of several \
             values (c=1/10/100) validation data selects one.";
    }
    /// Builder methods for the parameters of ordinal regression.
    pub trait OrdinalRegressionOptions: ordinal_regression_params;
}

fn check(params: &OrdinalRegressionParams) -> Result<(), Conflict> {
    check_ascending(&params.c)
}

param_groups! {
    /// Ordinal regression on the grades: a linear model and a threshold between neighbouring grades
    /// (McCullagh 1980).
    pub struct OrdinalRegression {
        loss: OrdinalRegressionParams, OrdinalRegressionOptions::ordinal_regression_params;
        solver: SolverParams, SolverOptions::solver_params;
        features: TransformParams, TransformOptions::transform_params;
        // The metric of reports, and by which validation data selects c.
        target: TargetParams, TargetOptions::target_params;
    }
}

impl DeclaredLearner for OrdinalRegression {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "ordinal",
        help: "Ordinal regression: a linear model and thresholds between neighbouring grades (McCullagh 1980).",
        example: "ordinal(c=100)",
        accepts: AcceptedInputs {
            pairs: false,
            pairs_alone: false,
            start: false,
            validation: true,
            missing: false,
            positions: false,
        },
        tuning: Tuning::without_rounds(&["c=log(0.3,3000)", TRANSFORM_SPACE]),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let loss = LinearLoss::Ordinal;
        Ok(Box::new(trainer(loss, self.loss.c.0.clone(), &self.solver, &self.features)))
    }
}
