//! Logistic regression on binary relevance: maximum entropy (Nallapati 2004).

use rankwright_spec::{Conflict, Slashed, SpecError, above, param_groups, params};

use super::super::loss::MarginLoss;
use super::super::params::{check_ascending, trainer};
use super::super::trainer::LinearLoss;
use super::super::{SolverOptions, SolverParams};
use crate::learner::{
    AcceptedInputs, DeclaredLearner, LearnerDef, TargetOptions, TargetParams, Tuning,
};
use crate::trainer::Trainer;
use crate::transform::{TRANSFORM_SPACE, TransformOptions, TransformParams};

params! {
    /// Parameters of logistic regression.
    pub struct LogisticRegressionParams, check = check {
        rel: f64 = 1.0, .., "Lowest label that counts as relevant.";
        c: Slashed<f64> = Slashed(vec![100.0]), above(0.0),
            "Weight of the mean loss relative to half the squared norm of the weights; of several \
             values (c=1/10/100) validation data selects one.";
    }
    /// Builder methods for the parameters of logistic regression.
    pub trait LogisticRegressionOptions: logistic_regression_params;
}

fn check(params: &LogisticRegressionParams) -> Result<(), Conflict> {
    check_ascending(&params.c)
}

param_groups! {
    /// Logistic regression on binary relevance: maximum entropy (Nallapati 2004).
    pub struct LogisticRegression {
        loss: LogisticRegressionParams, LogisticRegressionOptions::logistic_regression_params;
        solver: SolverParams, SolverOptions::solver_params;
        features: TransformParams, TransformOptions::transform_params;
        // The metric of reports, and by which validation data selects c.
        target: TargetParams, TargetOptions::target_params;
    }
}

impl DeclaredLearner for LogisticRegression {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "logistic",
        help: "Logistic regression on binary relevance: maximum entropy (Nallapati 2004).",
        example: "logistic(rel=2, c=100)",
        accepts: AcceptedInputs {
            pairs: false,
            pairs_alone: false,
            start: false,
            validation: true,
            missing: false,
            positions: false,
        },
        tuning: Tuning::without_rounds(&["c=log(1,10000)", TRANSFORM_SPACE]),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let loss =
            LinearLoss::BinaryMargin { margin_loss: MarginLoss::Logistic, rel: self.loss.rel };
        Ok(Box::new(trainer(loss, self.loss.c.0.clone(), &self.solver, &self.features)))
    }
}
