//! ListMLE (Xia et al. 2008): a net trained on the likelihood of the best order.

use rankwright_spec::{SpecError, param_groups};

use super::super::loss::NetLoss;
use super::super::params::NET_SPACE;
use super::super::train::NetTrainer;
use super::super::{NetOptions, NetParams};
use super::{NET_INPUTS, NET_TRANSFORM};
use crate::bias::{BiasCorrectionOptions, BiasParams};
use crate::learner::{DeclaredLearner, LearnerDef, TargetOptions, TargetParams, Tuning};
use crate::objective::{ListMleOptions, ListMleParams};
use crate::session::{LabelOptions, LabelParams};
use crate::trainer::Trainer;
use crate::transform::{TransformOptions, TransformParams};

param_groups! {
    /// ListMLE: a net trained on the likelihood of the best order.
    pub struct ListMleNet {
        net: NetParams, NetOptions::net_params;
        features: TransformParams = TransformParams::default().transform(NET_TRANSFORM),
            TransformOptions::transform_params;
        // The metric of reports, early stopping and model selection.
        target: TargetParams, TargetOptions::target_params;
        loss: ListMleParams, ListMleOptions::list_mle_params;
        bias: BiasParams, BiasCorrectionOptions::bias_params;
        several: LabelParams, LabelOptions::label_params;
    }
}

impl DeclaredLearner for ListMleNet {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "listmle",
        help: "A net trained on the likelihood of the best order (Xia 2008).",
        example: "listmle(layers=32, top=10, epochs=30)",
        accepts: NET_INPUTS,
        tuning: Tuning::of_nets(&[NET_SPACE, "top=choice(none,5,10,20)"]),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let trainer = NetTrainer::new(&self.net, &self.features, self.loss()?);
        let trainer = trainer.bias(&self.bias, Self::DEF.name)?;
        Ok(Box::new(trainer.labels(&self.several, Self::DEF.name)?))
    }
}

impl ListMleNet {
    /// The loss, and the form in which queries are passed to it.
    pub(in crate::net) fn loss(&self) -> Result<NetLoss, SpecError> {
        NetLoss::listwise(&self.loss)
    }
}
