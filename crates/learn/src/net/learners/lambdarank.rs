//! LambdaRank (Burges, Ragno and Le 2006): a net trained on pairs weighted by the change of a
//! metric.

use rankwright_spec::{SpecError, param_groups};

use super::super::loss::NetLoss;
use super::super::params::NET_SPACE;
use super::super::train::NetTrainer;
use super::super::{NetOptions, NetParams};
use super::{NET_INPUTS, NET_TRANSFORM};
use crate::bias::{BiasCorrectionOptions, BiasParams};
use crate::learner::{AcceptedInputs, DeclaredLearner, LearnerDef, Tuning};
use crate::objective::{LambdaOptions, LambdaParams};
use crate::session::{LabelOptions, LabelParams};
use crate::trainer::Trainer;
use crate::transform::{TransformOptions, TransformParams};

param_groups! {
    /// LambdaRank: a net trained on pairs weighted by the change of a metric.
    pub struct LambdaRank {
        net: NetParams, NetOptions::net_params;
        features: TransformParams = TransformParams::default().transform(NET_TRANSFORM),
            TransformOptions::transform_params;
        lambda: LambdaParams, LambdaOptions::lambda_params;
        bias: BiasParams, BiasCorrectionOptions::bias_params;
        several: LabelParams, LabelOptions::label_params;
    }
}

impl DeclaredLearner for LambdaRank {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "lambdarank",
        help: "A net trained on pairs weighted by the change of a metric (Burges 2006).",
        example: "lambdarank(layers=64/32, epochs=30, metric=ndcg@10)",
        accepts: AcceptedInputs { pairs: true, ..NET_INPUTS },
        tuning: Tuning::of_nets(&[NET_SPACE]),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let trainer = NetTrainer::new(&self.net, &self.features, self.loss()?);
        let trainer = trainer.bias(&self.bias, Self::DEF.name)?;
        Ok(Box::new(trainer.labels(&self.several, Self::DEF.name)?))
    }
}

impl LambdaRank {
    /// The loss, and the form in which queries are passed to it.
    pub(in crate::net) fn loss(&self) -> Result<NetLoss, SpecError> {
        NetLoss::pairwise(&self.lambda)
    }
}
