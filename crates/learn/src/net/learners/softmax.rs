//! Softmax cross entropy with gains as the target (Bruch et al. 2019).

use rankwright_spec::{SpecError, choices, param_groups, params};

use super::super::loss::NetLoss;
use super::super::params::NET_SPACE;
use super::super::train::NetTrainer;
use super::super::{NetOptions, NetParams};
use super::{NET_INPUTS, NET_TRANSFORM};
use crate::bias::{BiasCorrectionOptions, BiasParams};
use crate::learner::{DeclaredLearner, LearnerDef, TargetOptions, TargetParams, Tuning};
use crate::objective::{SoftmaxOptions, SoftmaxParams, SoftmaxTarget, XeNdcgOptions, XeNdcgParams};
use crate::session::{LabelOptions, LabelParams};
use crate::trainer::Trainer;
use crate::transform::{TransformOptions, TransformParams};

choices! {
    /// The values that are divided by their sum to give the target distribution of the scores.
    pub enum SoftmaxNetTarget {
        /// 2^label - 1.
        Gain = "gain",
        /// The label.
        Label = "label",
        /// 2^label minus a random number below 1, drawn for each document and epoch (Bruch 2021).
        NoisyGain = "noisy-gain",
    }
}

params! {
    /// The target of the softmax cross entropy.
    pub struct SoftmaxNetParams {
        target: SoftmaxNetTarget = SoftmaxNetTarget::Gain, ..,
            "Target distribution of the scores: 2^label - 1 (gain), the label (label), or 2^label \
             minus a random number below 1 (noisy-gain).";
    }
    /// Builder methods for the target of the softmax cross entropy.
    pub trait SoftmaxNetOptions: softmax_net_params;
}

param_groups! {
    /// A net trained on the softmax cross entropy with gains as the target.
    pub struct SoftmaxNet {
        net: NetParams, NetOptions::net_params;
        features: TransformParams = TransformParams::default().transform(NET_TRANSFORM),
            TransformOptions::transform_params;
        // The metric of reports, early stopping and model selection; not the target distribution.
        target: TargetParams, TargetOptions::target_params;
        loss: SoftmaxNetParams, SoftmaxNetOptions::softmax_net_params;
        bias: BiasParams, BiasCorrectionOptions::bias_params;
        several: LabelParams, LabelOptions::label_params;
    }
}

impl DeclaredLearner for SoftmaxNet {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "softmax",
        help: "A net trained on the softmax cross entropy with gains as the target (Bruch 2019).",
        example: "softmax(target=gain, layers=64/32, norm=layer, epochs=30)",
        accepts: NET_INPUTS,
        tuning: Tuning::of_nets(&[NET_SPACE, "target=choice(gain,label,noisy-gain)"]),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let trainer = NetTrainer::new(&self.net, &self.features, self.loss()?);
        let trainer = trainer.bias(&self.bias, Self::DEF.name)?;
        Ok(Box::new(trainer.labels(&self.several, Self::DEF.name)?))
    }
}

impl SoftmaxNet {
    /// The loss, and the form in which queries are passed to it.
    pub(in crate::net) fn loss(&self) -> Result<NetLoss, SpecError> {
        let softmax = SoftmaxParams::default();
        match self.loss.target {
            SoftmaxNetTarget::Gain => NetLoss::listwise(&softmax.target(SoftmaxTarget::Gain)),
            SoftmaxNetTarget::Label => NetLoss::listwise(&softmax.target(SoftmaxTarget::Label)),
            SoftmaxNetTarget::NoisyGain => NetLoss::listwise(&XeNdcgParams::default().terms(1)),
        }
    }
}
