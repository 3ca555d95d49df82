//! Ridge regression: a linear model fitted to the labels by least squares.

use rankwright_spec::{SpecError, param_groups, params};

use super::super::SolverParams;
use super::super::params::trainer;
use super::super::trainer::LinearLoss;
use crate::learner::{DeclaredLearner, LearnerDef, TargetOptions, TargetParams, Tuning};
use crate::trainer::Trainer;
use crate::transform::{TRANSFORM_SPACE, TransformOptions, TransformParams};

params! {
    /// Parameters of ridge regression.
    pub struct LinearRegressionParams {
        l2: f64 = 0.1, 0.0..,
            "Penalty on the squared norm of the weights, relative to the mean squared error.";
    }
    /// Builder methods for the parameters of ridge regression.
    pub trait LinearRegressionOptions: linear_regression_params;
}

param_groups! {
    /// Ridge regression: a linear model fitted to the labels by least squares.
    pub struct LinearRegression {
        loss: LinearRegressionParams, LinearRegressionOptions::linear_regression_params;
        features: TransformParams, TransformOptions::transform_params;
        // The metric of reports.
        target: TargetParams, TargetOptions::target_params;
    }
}

impl DeclaredLearner for LinearRegression {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "linear-regression",
        help: "Ridge regression: a linear model fitted to the labels by least squares.",
        example: "linear-regression(l2=0.5)",
        tuning: Tuning::without_rounds(&["l2=log(0.0001,100)", TRANSFORM_SPACE]),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let loss = LinearLoss::Regression { l2: self.loss.l2 };
        // The penalty is l2; there is no choice of c.
        let c = vec![1.0];
        Ok(Box::new(trainer(loss, c, &SolverParams::default(), &self.features)))
    }
}
