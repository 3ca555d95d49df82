//! The ranking SVM (Herbrich, Graepel and Obermayer 1999; Joachims 2002).

use rankwright_spec::{Auto, Conflict, Slashed, SpecError, above, param_groups, params};

use super::super::loss::MarginLoss;
use super::super::params::{check_ascending, trainer};
use super::super::trainer::LinearLoss;
use super::super::{SolverOptions, SolverParams};
use super::Hinge;
use crate::bias::{BiasCorrectionOptions, BiasParams};
use crate::learner::{
    AcceptedInputs, DeclaredLearner, LearnerDef, TargetOptions, TargetParams, Tuning,
};
use crate::trainer::Trainer;
use crate::transform::{TRANSFORM_SPACE, TransformOptions, TransformParams};

params! {
    /// Parameters of the ranking SVM.
    pub struct RankSvmParams, check = check {
        loss: Hinge = Hinge::Squared, .., "Loss of a preference.";
        c: Auto<Slashed<f64>> = Auto::Auto, above(0.0),
            "Weight of the mean loss relative to half the squared norm of the weights; of several \
             values (c=1/10/100) validation data selects one; auto: 5, or 20 with \
             loss=hinge.";
        norm_query: bool = false, ..,
            "Whether all queries have the same total weight, regardless of their number of pairs.";
    }
    /// Builder methods for the parameters of the ranking SVM.
    pub trait RankSvmOptions: rank_svm_params;
}

fn check(params: &RankSvmParams) -> Result<(), Conflict> {
    params.c.clone().given().map_or(Ok(()), |c| check_ascending(&c))
}

param_groups! {
    /// The ranking SVM: a linear model that scores preferred documents higher by a margin.
    pub struct RankSvm {
        svm: RankSvmParams, RankSvmOptions::rank_svm_params;
        solver: SolverParams, SolverOptions::solver_params;
        features: TransformParams, TransformOptions::transform_params;
        // The metric of reports, and by which validation data selects c.
        target: TargetParams, TargetOptions::target_params;
        bias: BiasParams, BiasCorrectionOptions::bias_params;
    }
}

impl DeclaredLearner for RankSvm {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "ranksvm",
        help: "A linear model that scores preferred documents higher by a margin (Herbrich 1999, Joachims 2002).",
        example: "ranksvm(c=2, norm_query=true)",
        accepts: AcceptedInputs {
            pairs: true,
            pairs_alone: true,
            start: false,
            validation: true,
            missing: false,
            positions: true,
        },
        tuning: Tuning::without_rounds(&[
            "c=log(0.05,500), norm_query=choice(true,false), loss=choice(squared-hinge,hinge)",
            TRANSFORM_SPACE,
        ]),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let margin_loss = self.svm.loss.margin_loss();
        let default_c = if margin_loss == MarginLoss::Squared { 5.0 } else { 20.0 };
        let c = self.svm.c.clone().or(Slashed(vec![default_c])).0;
        let loss = LinearLoss::RankSvm { margin_loss, norm_query: self.svm.norm_query };
        let trainer = trainer(loss, c, &self.solver, &self.features);
        Ok(Box::new(trainer.bias(&self.bias, Self::DEF.name)?))
    }
}
