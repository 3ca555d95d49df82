//! Parameters of every net, and how a spec writes them.
//!
//! What has no effect beside another parameter is refused, not passed over.
//!
//! Where no `transform=` is written, the data decides: features that all lie between -1 and 1, as
//! those of LETOR 4.0 do (brought to 0..1 within each query), are left as they are, since a feature
//! that hardly differs should not be blown up; others are made `log-standard`, as heavy tails such
//! as those of MSLR-WEB need it.

use rankwright_data::Dataset;
use rankwright_eval::{ParamInfo, Params};
use rankwright_model::Activation;
use rankwright_spec::SpecError;
use rayon::prelude::*;

use super::block::Chance;
use super::optimiser::Method;
use super::schedule::{Course, Schedule};
use super::shape::Norm;
use crate::transform::TransformPlan;

const fn info(name: &'static str, doc: &'static str, default: &'static str) -> ParamInfo {
    ParamInfo { name, doc, default }
}

/// Parameters of every net.
pub(crate) const NET: &[ParamInfo] = &[
    info("layers", "outputs of each hidden layer, such as 128/64/32; 0: a linear scorer", "64/32"),
    info("activation", "of the hidden layers: relu | gelu | tanh", "relu"),
    info("dropout", "part of the hidden outputs that is dropped in training, 0 to 0.9", "0"),
    info("norm", "of the hidden layers: none | layer | batch", "none"),
    info("noise", "standard deviation of noise on the transformed features in training", "0.1"),
    info("optimiser", "adam | adamw (weight decay apart from the gradient) | sgd", "adamw"),
    info("rate", "rate of learning", "0.001; 0.01 for sgd"),
    info("momentum", "of optimiser=sgd: part of the last step that is taken again", "0.9"),
    info("decay", "weight decay", "0.01; 0.0001 but for adamw"),
    info("schedule", "course of the rate: constant | cosine (to 0) | step", "cosine"),
    info("warmup", "epochs over which the rate rises from 0", "0"),
    info("drop", "of schedule=step: factor of the rate at each step", "0.1"),
    info("drop_every", "of schedule=step: epochs between steps", "20"),
    info("batch", "queries in a mini-batch", "16"),
    info("epochs", "times that the data is gone through", "30"),
    info(
        "stop",
        "stop when validation has not improved for so many epochs; 0: never",
        "15 where there is validation data",
    ),
];

/// Epochs without improvement after which training stops where nothing else is said.
const STOP: u32 = 15;
/// The widest layer.
const WIDEST: usize = 16_384;
/// The most hidden layers.
const DEEPEST: usize = 32;

/// Parameters that were read and make sense.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NetParams {
    pub(super) hidden: Vec<usize>,
    pub(super) activation: Activation,
    pub(super) norm: Norm,
    pub(super) chance: Chance,
    pub(super) method: Method,
    pub(super) momentum: f32,
    pub(super) decay: f32,
    pub(super) schedule: Schedule,
    pub(super) batch: usize,
    pub(super) epochs: usize,
    /// `None`: as fits the data. `Some(0)`: never.
    pub(super) stop: Option<usize>,
    /// For features between -1 and 1, and for others.
    pub(super) transforms: [TransformPlan; 2],
}

impl NetParams {
    pub(super) fn read(params: &Params<'_>) -> Result<Self, SpecError> {
        let hidden = layers(params)?;
        check_use(params, &["activation", "dropout", "norm"], !hidden.is_empty(), "hidden layers")?;
        let activations =
            [("relu", Activation::Relu), ("gelu", Activation::Gelu), ("tanh", Activation::Tanh)];
        let norms = [("none", Norm::None), ("layer", Norm::Layer), ("batch", Norm::Batch)];
        let methods = [("adam", Method::Adam), ("adamw", Method::AdamW), ("sgd", Method::Sgd)];
        let method = params.choice("optimiser", &methods, Method::AdamW)?;
        check_use(params, &["momentum"], method == Method::Sgd, "optimiser=sgd")?;
        let part = |key, default, most: f64| {
            let expected = format!("a number from 0 to {most}");
            params.f64_in(key, default, |x| (0.0..=most).contains(&x), &expected)
        };
        let noise = params.f64_in("noise", 0.1, |x| (0.0..=1e6).contains(&x), FROM_ZERO)?;
        let decay = if method == Method::AdamW { 0.01 } else { 0.0001 };
        let epochs = from_one(params, "epochs", 30)?;
        Ok(Self {
            hidden,
            activation: params.choice("activation", &activations, Activation::Relu)?,
            norm: params.choice("norm", &norms, Norm::None)?,
            chance: Chance { noise: noise as f32, dropout: part("dropout", 0.0, 0.9)? as f32 },
            method,
            momentum: part("momentum", 0.9, 0.999)? as f32,
            decay: part("decay", decay, 1000.0)? as f32,
            schedule: schedule(params, method, epochs)?,
            batch: from_one(params, "batch", 16)?,
            epochs,
            stop: match params.is_written("stop") {
                true => Some(params.u32("stop", 0)? as usize),
                false => None,
            },
            transforms: [
                TransformPlan::read(params, "none")?,
                TransformPlan::read(params, "log-standard")?,
            ],
        })
    }

    /// How the features of this data are prepared.
    pub(super) fn transform(&self, data: &Dataset) -> TransformPlan {
        let within = |x: &f32| x.is_nan() || (-1.0..=1.0).contains(x);
        let [near, far] = self.transforms;
        if data.matrix().values().par_iter().all(within) { near } else { far }
    }

    /// Epochs without improvement after which training stops.
    pub(super) fn patience(&self, validated: bool) -> Option<usize> {
        match self.stop {
            Some(stop) => Some(stop).filter(|stop| *stop > 0),
            None => validated.then_some(STOP as usize),
        }
    }
}

const FROM_ZERO: &str = "a number from 0 to 1000000";

/// Refuses parameters that are written although they have no effect.
pub(super) fn check_use(
    params: &Params<'_>,
    keys: &[&str],
    used: bool,
    what: &str,
) -> Result<(), SpecError> {
    match keys.iter().find(|key| !used && params.is_written(key)) {
        None => Ok(()),
        Some(key) => {
            Err(params.conflict(format!("{key} is for {what}; leave it out, or ask for those")))
        }
    }
}

fn layers(params: &Params<'_>) -> Result<Vec<usize>, SpecError> {
    let text = params.text("layers").unwrap_or("64/32");
    if text.trim() == "0" {
        return Ok(Vec::new());
    }
    let width = |part: &str| part.trim().parse().ok().filter(|w| (1..=WIDEST).contains(w));
    let widths: Option<Vec<usize>> = text.split('/').map(width).collect();
    widths.filter(|widths| widths.len() <= DEEPEST).ok_or_else(|| {
        let expected = format!(
            "0, or outputs of up to {DEEPEST} layers from 1 to {WIDEST}, parted by slashes: 64/32"
        );
        params.bad("layers", text, &expected)
    })
}

fn schedule(params: &Params<'_>, method: Method, epochs: usize) -> Result<Schedule, SpecError> {
    let above = |x: f64| x > 0.0 && x <= 1e6;
    let part = |x: f64| x > 0.0 && x <= 1.0;
    let default = if method == Method::Sgd { 0.01 } else { 0.001 };
    let step = Course::Step {
        drop: params.f64_in("drop", 0.1, part, "a number above 0, up to 1")?,
        every: params.f64_in("drop_every", 20.0, above, "a number of epochs above 0")?,
    };
    let courses = [("constant", Course::Constant), ("cosine", Course::Cosine), ("step", step)];
    let course = params.choice("schedule", &courses, Course::Cosine)?;
    check_use(params, &["drop", "drop_every"], course == step, "schedule=step")?;
    let rate = params.f64_in("rate", default, above, "a number above 0")?;
    let within = |x: f64| (0.0..=epochs as f64).contains(&x);
    let warmup = params.f64_in("warmup", 0.0, within, "a number of epochs, at most all")?;
    Ok(Schedule { rate, course, warmup, epochs: epochs as f64 })
}

fn from_one(params: &Params<'_>, key: &str, default: u32) -> Result<usize, SpecError> {
    match params.u32(key, default) {
        Ok(count) if count > 0 => Ok(count as usize),
        _ => Err(params.bad(key, params.text(key).unwrap_or("0"), "a whole number from 1 on")),
    }
}
