//! Makes a model from trained parameters: layers with batch norm folded into their weights.
//!
//! When a model scores, batch norm uses the moving means of its statistics instead of those of a
//! mini-batch, so it is linear and is folded into the layer: with f = scale / sqrt(variance +
//! epsilon), W becomes f W, and the bias becomes shift - f mean.

use rankwright_model::{Layer, LayerNorm, ModelBody, Net, Transforms};

use super::norm::BatchStats;
use super::shape::{HiddenNorm, LayerShape, NetShape};
use crate::error::LearnError;

/// Moving means of the statistics of batch norm, layer by layer; empty without batch norm.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct MovingStats(pub(super) Vec<BatchStats>);

/// The weight of a new mini-batch in the moving means.
const MOVING_RATE: f32 = 0.1;

impl MovingStats {
    /// Moves the means towards the statistics of a mini-batch; the first mini-batch sets them.
    pub(super) fn add(&mut self, batch: &[BatchStats]) {
        if self.0.len() != batch.len() {
            self.0 = batch.to_vec();
            return;
        }
        let move_towards = |old: &mut [f32], new: &[f32]| {
            old.iter_mut().zip(new).for_each(|(old, new)| *old += MOVING_RATE * (new - *old));
        };
        for (old, new) in self.0.iter_mut().zip(batch) {
            move_towards(&mut old.means, &new.means);
            move_towards(&mut old.variances, &new.variances);
        }
    }
}

/// The net as a model.
pub(super) fn model_body(
    shape: &NetShape,
    parameters: &[f32],
    moving_stats: &MovingStats,
    transforms: &Transforms,
) -> Result<ModelBody, LearnError> {
    let layer = |(number, layer): (usize, &LayerShape)| {
        let mut weights = parameters[layer.weights.clone()].to_vec();
        let mut biases = parameters[layer.biases.clone()].to_vec();
        biases.resize(layer.outputs, 0.0);
        let norm = (layer.norm == HiddenNorm::Layer).then(|| LayerNorm {
            scale: parameters[layer.scales.clone()].to_vec(),
            shift: parameters[layer.shifts.clone()].to_vec(),
        });
        let is_batch_norm = layer.norm == HiddenNorm::Batch;
        if let Some(stats) = moving_stats.0.get(number).filter(|_| is_batch_norm) {
            fold_batch_norm(layer, parameters, stats, &mut weights, &mut biases);
        }
        Layer::new(layer.inputs, weights, biases, norm, layer.activation)
    };
    let layers: Result<Vec<Layer>, _> = shape.layers.iter().enumerate().map(layer).collect();
    Ok(ModelBody::Net(Net::new(transforms.clone(), layers?)?))
}

/// Changes the weights and biases of a layer so that they include its batch norm.
fn fold_batch_norm(
    layer: &LayerShape,
    parameters: &[f32],
    stats: &BatchStats,
    weights: &mut [f32],
    biases: &mut [f32],
) {
    let (scales, shifts) = (&parameters[layer.scales.clone()], &parameters[layer.shifts.clone()]);
    let rows = weights.chunks_exact_mut(layer.inputs).zip(biases);
    for (output, (row, bias)) in rows.enumerate() {
        let deviation = (f64::from(stats.variances[output]) + LayerNorm::EPSILON).sqrt();
        let factor = (f64::from(scales[output]) / deviation) as f32;
        row.iter_mut().for_each(|weight| *weight *= factor);
        *bias = shifts[output] - factor * stats.means[output];
    }
}
