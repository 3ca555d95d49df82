//! The linear support vector machine on binary relevance (Nallapati 2004).

use rankwright_spec::{Conflict, Slashed, SpecError, above, param_groups, params};

use super::super::params::{check_ascending, trainer};
use super::super::trainer::LinearLoss;
use super::super::{SolverOptions, SolverParams};
use super::Hinge;
use crate::learner::{
    AcceptedInputs, DeclaredLearner, LearnerDef, TargetOptions, TargetParams, Tuning,
};
use crate::trainer::Trainer;
use crate::transform::{TRANSFORM_SPACE, TransformOptions, TransformParams};

params! {
    /// Parameters of the linear support vector machine.
    pub struct LinearSvmParams, check = check {
        loss: Hinge = Hinge::Squared, .., "Loss of a document.";
        rel: f64 = 1.0, .., "Lowest label that counts as relevant.";
        c: Slashed<f64> = Slashed(vec![10.0]), above(0.0),
            "Weight of the mean loss relative to half the squared norm of the weights; of several \
             values (c=1/10/100) validation data selects one.";
    }
    /// Builder methods for the parameters of the linear support vector machine.
    pub trait LinearSvmOptions: linear_svm_params;
}

fn check(params: &LinearSvmParams) -> Result<(), Conflict> {
    check_ascending(&params.c)
}

param_groups! {
    /// Linear support vector machine on binary relevance (Nallapati 2004).
    pub struct LinearSvm {
        loss: LinearSvmParams, LinearSvmOptions::linear_svm_params;
        solver: SolverParams, SolverOptions::solver_params;
        features: TransformParams, TransformOptions::transform_params;
        // The metric of reports, and by which validation data selects c.
        target: TargetParams, TargetOptions::target_params;
    }
}

impl DeclaredLearner for LinearSvm {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "linear-svm",
        help: "Linear support vector machine on binary relevance (Nallapati 2004).",
        example: "linear-svm(loss=hinge, c=3)",
        accepts: AcceptedInputs {
            pairs: false,
            pairs_alone: false,
            start: false,
            validation: true,
            missing: false,
            positions: false,
        },
        tuning: Tuning::without_rounds(&[
            "c=log(0.1,1000), loss=choice(squared-hinge,hinge)",
            TRANSFORM_SPACE,
        ]),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let loss = LinearLoss::BinaryMargin {
            margin_loss: self.loss.loss.margin_loss(),
            rel: self.loss.rel,
        };
        Ok(Box::new(trainer(loss, self.loss.c.0.clone(), &self.solver, &self.features)))
    }
}
