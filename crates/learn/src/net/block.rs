//! The forward and backward pass of a block of rows.
//!
//! ```text
//! forward   z = X W' + b,   x^ = norm(z),   y = dropout(activation(scale x^ + shift))
//! backward  d = (gradient by y) * derivative,  then through the norm
//!           gradient by W = d' X,   by b = sums of d over the rows,   by X = d W
//! ```
//!
//! X are the inputs of a layer, a row for each document, W its weights, b its biases, ' is the
//! transpose; "gradient by y" is the gradient of the loss with respect to y, and the derivative is
//! that of activation and dropout. A mini-batch is cut into blocks, each with its buffers and a
//! gradient of its own. A block's results depend only on its rows, except for batch norm, whose
//! sums the caller adds up over all blocks between the two halves of a layer. Cost: three matrix
//! products for each layer (two for the first, whose inputs need no gradient).

use super::activation::activate;
use super::draws::RandomLanes;
use super::matrix::{NetMatrix, multiply};
use super::norm::{self, BatchStats};
use super::shape::{HiddenNorm, LayerShape, NetShape};

/// Values that a layer keeps for the backward pass.
#[derive(Debug, Default)]
struct LayerCache {
    /// Values after the norm, before scale and shift; empty without a norm.
    normalised: Vec<f32>,
    /// 1 / standard deviation of each row, for layer norm.
    inverses: Vec<f32>,
    /// Derivative of the output by the input of the activation.
    derivatives: Vec<f32>,
}

/// Buffers of a block of rows.
#[derive(Debug)]
pub(super) struct NetBlock {
    rows: usize,
    /// The inputs of the net, then the outputs of each layer.
    values: Vec<Vec<f32>>,
    caches: Vec<LayerCache>,
    /// The gradient by the outputs of the current layer.
    delta: Vec<f32>,
    /// A buffer for the gradient by the inputs of the current layer.
    next_delta: Vec<f32>,
    /// The gradient of this block's rows by all parameters of the net.
    pub(super) gradient: Vec<f32>,
    /// Sums over the rows of this block, two for each output of the current layer: for batch norm,
    /// and for the gradient of scales and shifts.
    pub(super) sums: Vec<f64>,
    /// The random numbers of this block.
    draws: RandomLanes,
}

/// The strength of noise and dropout in a pass; 0 turns either off.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct NoiseLevels {
    /// Standard deviation of the noise on inputs.
    pub(super) noise: f32,
    /// Fraction of the hidden outputs that is dropped.
    pub(super) dropout: f32,
}

/// The sums and statistics of the whole mini-batch that the backward pass of batch norm needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchTotals<'a> {
    /// The `sums` of all blocks added up.
    pub(super) sums: &'a [f64],
    /// Statistics of the layer in the forward pass.
    pub(super) stats: &'a BatchStats,
    /// Number of rows of the mini-batch.
    pub(super) rows: usize,
}

impl NetBlock {
    /// Empty buffers for a net of this shape.
    pub(super) fn new(shape: &NetShape) -> Self {
        let layers = shape.layers.len();
        Self {
            rows: 0,
            values: vec![Vec::new(); layers + 1],
            caches: (0..layers).map(|_| LayerCache::default()).collect(),
            delta: Vec::new(),
            next_delta: Vec::new(),
            gradient: vec![0.0; shape.parameter_count],
            sums: Vec::new(),
            draws: RandomLanes::new(0, 0),
        }
    }

    /// Loads rows of `data` and adds noise of this standard deviation.
    pub(super) fn load(
        &mut self,
        data: NetMatrix<'_>,
        rows: &[u32],
        draws: RandomLanes,
        noise: f32,
    ) {
        self.rows = rows.len();
        self.draws = draws;
        let inputs = &mut self.values[0];
        inputs.clear();
        rows.iter().for_each(|row| inputs.extend_from_slice(data.row(*row as usize)));
        if noise > 0.0 {
            self.draws.add_noise(inputs, noise);
        }
    }

    /// The score of each row, after all layers.
    pub(super) fn scores(&self) -> &[f32] {
        self.values.last().map_or(&[], |scores| scores)
    }

    /// The first half of a layer, numbered from 0: the product and the bias. For batch norm, sums
    /// of the results and of their squares are left in `sums`.
    pub(super) fn forward_product(&mut self, shape: &NetShape, number: usize, parameters: &[f32]) {
        let layer = &shape.layers[number];
        let (before, after) = self.values.split_at_mut(number + 1);
        let cache = &mut self.caches[number];
        let product =
            if layer.norm == HiddenNorm::None { &mut after[0] } else { &mut cache.normalised };
        product.resize(self.rows * layer.outputs, 0.0);
        let weights = NetMatrix::by_rows(&parameters[layer.weights.clone()], layer.inputs);
        multiply(NetMatrix::by_rows(&before[number], layer.inputs), weights.transposed(), product);
        let biases = &parameters[layer.biases.clone()];
        if !biases.is_empty() {
            for row in product.chunks_exact_mut(layer.outputs) {
                row.iter_mut().zip(biases).for_each(|(z, bias)| *z += bias);
            }
        }
        if layer.norm == HiddenNorm::Batch {
            norm::column_sums(product, product, layer.outputs, &mut self.sums);
        }
    }

    /// The second half of a layer: norm, activation and dropout. `stats` are the statistics of
    /// batch norm over the mini-batch; `None` without batch norm.
    pub(super) fn forward_activation(
        &mut self,
        shape: &NetShape,
        number: usize,
        parameters: &[f32],
        stats: Option<&BatchStats>,
        dropout: f32,
    ) {
        let layer = &shape.layers[number];
        let (cache, output) = (&mut self.caches[number], &mut self.values[number + 1]);
        match (layer.norm, stats) {
            (HiddenNorm::Layer, _) => {
                cache.inverses.resize(self.rows, 0.0);
                norm::layer_forward(&mut cache.normalised, layer.outputs, &mut cache.inverses);
            }
            (HiddenNorm::Batch, Some(stats)) => norm::batch_forward(&mut cache.normalised, stats),
            _ => {}
        }
        if layer.norm != HiddenNorm::None {
            let (scales, shifts) =
                (&parameters[layer.scales.clone()], &parameters[layer.shifts.clone()]);
            output.resize(cache.normalised.len(), 0.0);
            let rows = output.chunks_exact_mut(layer.outputs);
            for (row, normalised) in rows.zip(cache.normalised.chunks_exact(layer.outputs)) {
                let scales_and_shifts = scales.iter().zip(shifts);
                for ((y, x), (scale, shift)) in
                    row.iter_mut().zip(normalised).zip(scales_and_shifts)
                {
                    *y = scale * x + shift;
                }
            }
        }
        if number + 1 < shape.layers.len() {
            cache.derivatives.resize(output.len(), 0.0);
            activate(layer.activation, output, &mut cache.derivatives);
            if dropout > 0.0 {
                self.draws.apply_dropout(dropout, output, &mut cache.derivatives);
            }
        }
    }

    /// Starts the backward pass with the gradient by the scores.
    pub(super) fn start_backward(&mut self, gradient: &[f32]) {
        self.delta.clear();
        self.delta.extend_from_slice(gradient);
    }

    /// The first half of the backward pass through a layer: activation and dropout, and the
    /// gradients by the norm's shifts and scales, which are sums over the rows. These are left in
    /// `sums`, since batch norm needs them over the whole mini-batch.
    pub(super) fn backward_activation(&mut self, shape: &NetShape, number: usize) {
        let (layer, cache) = (&shape.layers[number], &self.caches[number]);
        if number + 1 < shape.layers.len() {
            self.delta
                .iter_mut()
                .zip(&cache.derivatives)
                .for_each(|(d, derivative)| *d *= derivative);
        }
        if layer.norm != HiddenNorm::None {
            norm::column_sums(&self.delta, &cache.normalised, layer.outputs, &mut self.sums);
            let (shifts, scales) = self.sums.split_at(layer.outputs);
            for (range, sums) in [(&layer.shifts, shifts), (&layer.scales, scales)] {
                let gradient = &mut self.gradient[range.clone()];
                gradient.iter_mut().zip(sums).for_each(|(g, sum)| *g = *sum as f32);
            }
        }
    }

    /// The second half of the backward pass through a layer: the norm, and the gradients by
    /// weights, biases and inputs. `batch` is `None` without batch norm.
    pub(super) fn backward_product(
        &mut self,
        shape: &NetShape,
        number: usize,
        parameters: &[f32],
        batch: Option<BatchTotals<'_>>,
    ) {
        let layer = &shape.layers[number];
        self.backward_norm(layer, number, parameters, batch);
        column_totals(&self.delta, layer.outputs, &mut self.gradient[layer.biases.clone()]);
        let delta = NetMatrix::by_rows(&self.delta, layer.outputs);
        let inputs = NetMatrix::by_rows(&self.values[number], layer.inputs);
        multiply(delta.transposed(), inputs, &mut self.gradient[layer.weights.clone()]);
        if number > 0 {
            let weights = NetMatrix::by_rows(&parameters[layer.weights.clone()], layer.inputs);
            self.next_delta.resize(self.rows * layer.inputs, 0.0);
            multiply(delta, weights, &mut self.next_delta);
            std::mem::swap(&mut self.delta, &mut self.next_delta);
        }
    }

    /// Turns `delta`, the gradient by the results of a layer's norm, into the gradient by the
    /// norm's inputs.
    fn backward_norm(
        &mut self,
        layer: &LayerShape,
        number: usize,
        parameters: &[f32],
        batch: Option<BatchTotals<'_>>,
    ) {
        let (cache, scales) = (&self.caches[number], &parameters[layer.scales.clone()]);
        match (layer.norm, batch) {
            (HiddenNorm::Layer, _) => {
                for row in self.delta.chunks_exact_mut(layer.outputs) {
                    row.iter_mut().zip(scales).for_each(|(d, scale)| *d *= scale);
                }
                norm::layer_backward(
                    &mut self.delta,
                    &cache.normalised,
                    layer.outputs,
                    &cache.inverses,
                );
            }
            (HiddenNorm::Batch, Some(BatchTotals { sums, stats, rows })) => {
                norm::batch_backward(&mut self.delta, &cache.normalised, scales, stats, sums, rows);
            }
            _ => {}
        }
    }
}

/// Sets `into` to the sums over rows of each column; does nothing if `into` is empty (no biases).
fn column_totals(rows: &[f32], width: usize, into: &mut [f32]) {
    if into.is_empty() {
        return;
    }
    into.fill(0.0);
    for row in rows.chunks_exact(width) {
        into.iter_mut().zip(row).for_each(|(total, value)| *total += value);
    }
}
