//! ApproxNDCG (Qin, Liu and Li 2010): a net trained on NDCG with smoothed ranks.

use rankwright_spec::{SpecError, param_groups};

use super::super::loss::NetLoss;
use super::super::params::NET_SPACE;
use super::super::train::NetTrainer;
use super::super::{NetOptions, NetParams};
use super::{NET_INPUTS, NET_TRANSFORM};
use crate::bias::{BiasCorrectionOptions, BiasParams};
use crate::learner::{DeclaredLearner, LearnerDef, TargetOptions, TargetParams, Tuning};
use crate::objective::{ApproxNdcgOptions, ApproxNdcgParams};
use crate::session::{LabelOptions, LabelParams};
use crate::trainer::Trainer;
use crate::transform::{TransformOptions, TransformParams};

param_groups! {
    /// ApproxNDCG: a net trained on NDCG with smoothed ranks.
    pub struct ApproxNdcgNet {
        net: NetParams, NetOptions::net_params;
        features: TransformParams = TransformParams::default().transform(NET_TRANSFORM),
            TransformOptions::transform_params;
        // The metric of reports, early stopping and model selection.
        target: TargetParams, TargetOptions::target_params;
        loss: ApproxNdcgParams, ApproxNdcgOptions::approx_ndcg_params;
        bias: BiasParams, BiasCorrectionOptions::bias_params;
        several: LabelParams, LabelOptions::label_params;
    }
}

impl DeclaredLearner for ApproxNdcgNet {
    const DEF: &'static LearnerDef = &LearnerDef {
        name: "approxndcg",
        help: "A net trained on NDCG with smooth ranks (Qin 2010).",
        example: "approxndcg(temperature=0.1, layers=64/32, epochs=30)",
        accepts: NET_INPUTS,
        tuning: Tuning::of_nets(&[NET_SPACE, "temperature=log(0.03,1)"]),
        ..LearnerDef::of::<Self>()
    };

    fn prepare(&self) -> Result<Box<dyn Trainer>, SpecError> {
        let trainer = NetTrainer::new(&self.net, &self.features, self.loss()?);
        let trainer = trainer.bias(&self.bias, Self::DEF.name)?;
        Ok(Box::new(trainer.labels(&self.several, Self::DEF.name)?))
    }
}

impl ApproxNdcgNet {
    /// The loss, and the form in which queries are passed to it.
    pub(in crate::net) fn loss(&self) -> Result<NetLoss, SpecError> {
        NetLoss::listwise(&self.loss)
    }
}
