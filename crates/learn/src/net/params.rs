//! Parameters of every net.
//!
//! The default transform depends on the data (`transform=adapt`): if all features lie between -1
//! and 1, as those of LETOR 4.0 do (scaled to 0..1 within each query), they are not changed, since
//! a feature with little variation should not be scaled up. Otherwise it is `log-standard`, which
//! features with heavy tails such as those of MSLR-WEB need.

use rankwright_model::Activation;
use rankwright_spec::{Auto, Conflict, Slashed, above, choices, params};

use super::block::NoiseLevels;
use super::optimiser::OptimiserKind;
use super::schedule::{RateDecay, Schedule};
use super::shape::HiddenNorm;
use crate::session::Stop;
use crate::transform::TransformParams;

choices! {
    /// The activation of hidden layers.
    pub enum NetActivation {
        /// max(0, x).
        Relu = "relu",
        /// x times the normal distribution function of x, approximated by tanh.
        Gelu = "gelu",
        /// Hyperbolic tangent.
        Tanh = "tanh",
    }
}

choices! {
    /// The method of gradient descent.
    pub enum NetOptimiser {
        /// Adam, weight decay separate from the gradient.
        AdamW = "adamw",
        /// Adam, weight decay within the gradient.
        Adam = "adam",
        /// Stochastic gradient descent with momentum.
        Sgd = "sgd",
    }
}

choices! {
    /// The change of the learning rate during training.
    pub enum NetSchedule {
        /// Falls to 0 along a cosine.
        Cosine = "cosine",
        /// Does not change.
        Constant = "constant",
        /// Multiplied by `drop` every `drop_every` epochs.
        Step = "step",
    }
}

params! {
    /// Parameters of a net.
    pub struct NetParams, check = check {
        layers: Slashed<usize> = Slashed(vec![64, 32]), 0..=16384,
            "Number of outputs of each hidden layer, such as 128/64/32; 0: a linear scorer.";
        activation: NetActivation = NetActivation::Relu, .., "Activation of the hidden layers.",
            requires "layers!=0";
        dropout: f64 = 0.0, 0.0..=0.9,
            "Fraction of the hidden outputs that is dropped in training.", requires "layers!=0";
        norm: HiddenNorm = HiddenNorm::None, .., "Normalisation of the hidden layers.",
            requires "layers!=0";
        noise: f64 = 0.1, 0.0..=1000000.0,
            "Standard deviation of noise on the transformed features in training.";
        optimiser: NetOptimiser = NetOptimiser::AdamW, .., "Method of gradient descent.";
        rate: Auto<f64> = Auto::Auto, above(0.0).up_to(1000000.0),
            "Learning rate; auto: 0.001, with optimiser=sgd 0.01.";
        momentum: f64 = 0.9, 0.0..=0.999,
            "Momentum: fraction of the last step that is added to the next.",
            requires "optimiser=sgd";
        decay: Auto<f64> = Auto::Auto, 0.0..=1000.0,
            "Weight decay; auto: 0.01 with optimiser=adamw, else 0.0001.";
        schedule: NetSchedule = NetSchedule::Cosine, .., "Schedule of the learning rate.";
        warmup: f64 = 0.0, 0.0.., "Number of epochs over which the learning rate rises from 0.";
        drop: f64 = 0.1, above(0.0).up_to(1.0),
            "Factor of the learning rate at each step of the schedule.",
            requires "schedule=step";
        drop_every: f64 = 20.0, above(0.0).up_to(1000000.0),
            "Number of epochs between two steps of the schedule.",
            requires "schedule=step";
        batch: usize = 16, 1.., "Number of queries in a mini-batch.";
        epochs: usize = 30, 1.., "Number of passes over the data.";
        stop: Stop = Stop::Auto, ..,
            "Number of epochs without improvement on validation data after which training stops; \
             auto: 15. With validation data, the best epoch is kept; none: all epochs are \
             trained, and the last is kept.";
    }
    /// Builder methods for the parameters of a net.
    pub trait NetOptions: net_params;
}

/// The default search space for tuning nets.
pub(super) const NET_SPACE: &str = "rate=log(0.0003,0.01), layers=choice(32,64/32,128/64/32), dropout=uniform(0,0.4), \
     noise=uniform(0,0.3), decay=log(0.0001,0.3), batch=choice(4,8,16,32), norm=choice(none,layer)";

/// Number of epochs without improvement after which training stops with `stop=auto`.
pub(super) const AUTO_PATIENCE: usize = 15;
/// Maximum number of hidden layers.
const MAX_LAYERS: usize = 32;

/// Rejects wrong sizes of layers, and a warm-up longer than the training.
fn check(params: &NetParams) -> Result<(), Conflict> {
    let layers = &params.layers.0;
    if layers.len() > MAX_LAYERS || (layers.len() > 1 && layers.contains(&0)) {
        return Err(Conflict::BadValue {
            key: "layers",
            value: params.layers.to_string(),
            expected: format!(
                "0, or the numbers of outputs of up to {MAX_LAYERS} layers, from 1 on, such as \
                 64/32"
            ),
        });
    }
    if params.warmup > params.epochs as f64 {
        let (keys, limit) = (&["warmup"], params.epochs);
        return Err(Conflict::AboveLimit { keys, limit, reason: "there are no more epochs" });
    }
    Ok(())
}

/// The configuration of a net: checked parameters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NetConfig {
    /// Number of outputs of each hidden layer; empty for a linear scorer.
    pub(super) hidden: Vec<usize>,
    pub(super) activation: Activation,
    pub(super) norm: HiddenNorm,
    pub(super) noise_levels: NoiseLevels,
    pub(super) method: OptimiserKind,
    pub(super) momentum: f32,
    /// Weight decay.
    pub(super) decay: f32,
    pub(super) schedule: Schedule,
    /// Number of queries in a mini-batch.
    pub(super) batch: usize,
    pub(super) epochs: usize,
    pub(super) stop: Stop,
    pub(super) transform: TransformParams,
}

impl NetConfig {
    /// The configuration of checked parameters.
    pub(super) fn new(params: &NetParams, transform: &TransformParams) -> Self {
        let method = match params.optimiser {
            NetOptimiser::Adam => OptimiserKind::Adam,
            NetOptimiser::AdamW => OptimiserKind::AdamW,
            NetOptimiser::Sgd => OptimiserKind::Sgd,
        };
        let decay_rule = match params.schedule {
            NetSchedule::Constant => RateDecay::Constant,
            NetSchedule::Cosine => RateDecay::Cosine,
            NetSchedule::Step => RateDecay::Step { drop: params.drop, every: params.drop_every },
        };
        let default_decay = if method == OptimiserKind::AdamW { 0.01 } else { 0.0001 };
        let default_rate = if method == OptimiserKind::Sgd { 0.01 } else { 0.001 };
        let schedule = Schedule {
            rate: params.rate.or(default_rate),
            decay_rule,
            warmup: params.warmup,
            epochs: params.epochs as f64,
        };
        Self {
            hidden: params.layers.0.iter().copied().filter(|width| *width > 0).collect(),
            activation: match params.activation {
                NetActivation::Relu => Activation::Relu,
                NetActivation::Gelu => Activation::Gelu,
                NetActivation::Tanh => Activation::Tanh,
            },
            norm: params.norm,
            noise_levels: NoiseLevels {
                noise: params.noise as f32,
                dropout: params.dropout as f32,
            },
            method,
            momentum: params.momentum as f32,
            decay: params.decay.or(default_decay) as f32,
            schedule,
            batch: params.batch,
            epochs: params.epochs,
            stop: params.stop,
            transform: transform.clone(),
        }
    }
}
