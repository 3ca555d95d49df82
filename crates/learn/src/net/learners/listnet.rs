//! ListNet (Cao et al. 2007): a net trained on the cross entropy between labels and scores as
//! distributions.

use rankwright_spec::{SpecError, param_groups};

use super::super::loss::NetLoss;
use super::super::params::NET_SPACE;
use super::super::train::NetTrainer;
use super::super::{NetOptions, NetParams};
use super::{NET_INPUTS, NET_TRANSFORM};
use crate::bias::{BiasCorrectionOptions, BiasParams};
use crate::learner::{DeclaredLearner, LearnerDef, TargetOptions, TargetParams, Tuning};
use crate::objective::SoftmaxParams;
use crate::session::{LabelOptions, LabelParams};
use crate::trainer::Trainer;
use crate::transform::{TransformOptions, TransformParams};

param_groups! {
    /// ListNet: a net trained on the cross entropy between labels and scores as distributions.
    pub struct ListNet {
        net: NetParams, NetOptions::net_params;
        features: TransformParams = TransformParams::default().transform(NET_TRANSFORM),
            TransformOptions::transform_params;
        // The metric of reports, early stopping and model selection; not the target distribution.
        target: TargetParams, TargetOptions::target_params;
        bias: BiasParams, BiasCorrectionOptions::bias_params;
        several: LabelParams, LabelOptions::label_params;
    }
}

impl DeclaredLearner for ListNet {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "listnet",
        help: "A net trained on the cross entropy between labels and scores as distributions (Cao 2007).",
        example: "listnet(layers=0, epochs=30)",
        accepts: NET_INPUTS,
        tuning: Tuning::of_nets(&[NET_SPACE]),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let trainer = NetTrainer::new(&self.net, &self.features, self.loss()?);
        let trainer = trainer.bias(&self.bias, Self::DEF.name)?;
        Ok(Box::new(trainer.labels(&self.several, Self::DEF.name)?))
    }
}

impl ListNet {
    /// The loss, and the form in which queries are passed to it.
    pub(in crate::net) fn loss(&self) -> Result<NetLoss, SpecError> {
        NetLoss::listwise(&SoftmaxParams::default())
    }
}
