//! The engine of a net: four rows at a time through panels of sixteen outputs.
//!
//! The weights of a layer are stored in panels of sixteen outputs, input after input, so that one
//! input of a row is multiplied by sixteen adjacent weights. Each output has one running sum, which
//! starts at the bias and adds the inputs in their order, as in the reference implementation, so
//! that scores have the same bits for any width of register. The outputs beyond a layer's last one
//! are padding of the last panel: their weights are 0, and they are never read.
//!
//! Rows go through the layers in blocks, so that the values between two layers stay in the cache.
//! Only the transforms of a net that scales features within the query need all rows of a query at
//! once.

use super::{Engine, ScoreBuffers};
use crate::matching::Matching;
use crate::net::{Activation, Layer, LayerNorm, Net, normalise_and_activate};
#[cfg(target_arch = "x86_64")]
use crate::simd::Avx2;
use crate::simd::Simd;
use crate::transform::Transforms;

/// Number of outputs of a panel.
const PANEL_OUTPUTS: usize = 16;
/// Number of rows that go through a panel together.
const TILE_ROWS: usize = 4;
/// Number of rows that go through all layers together.
const BLOCK_ROWS: usize = 64;

/// A net prepared for the columns of a data set.
#[derive(Debug)]
pub(super) struct NetEngine {
    transforms: Transforms,
    /// The column of each feature; `None` if the data lacks it.
    columns: Vec<Option<usize>>,
    /// The value of a feature without a column.
    absent: f32,
    layers: Vec<PanelLayer>,
    simd: Simd,
}

/// A layer with its weights in panels.
#[derive(Debug)]
struct PanelLayer {
    inputs: usize,
    outputs: usize,
    /// The weights of one input for the outputs of a panel: panel after panel, in it input after
    /// input.
    weights: Vec<[f32; PANEL_OUTPUTS]>,
    /// The biases of each panel's outputs.
    biases: Vec<[f32; PANEL_OUTPUTS]>,
    norm: Option<LayerNorm>,
    activation: Activation,
}

/// Buffers of a net: its inputs, and the values between two layers.
#[derive(Debug, Default)]
pub(super) struct LayerBuffers {
    inputs: Vec<f32>,
    outputs: [Vec<f32>; 2],
}

impl NetEngine {
    pub(super) fn new(net: &Net, matching: &Matching, simd: Simd) -> NetEngine {
        let transforms = net.transforms().clone();
        NetEngine {
            columns: (0..transforms.columns()).map(|feature| matching.column(feature)).collect(),
            absent: matching.absent(),
            layers: net.layers().iter().map(PanelLayer::new).collect(),
            transforms,
            simd,
        }
    }

    /// Writes the transformed features of rows of `columns` values to `inputs`.
    fn gather(&self, values: &[f32], columns: usize, rows: usize, inputs: &mut Vec<f32>) {
        inputs.clear();
        for row in 0..rows {
            let row = &values[row * columns..(row + 1) * columns];
            let value = |column: &Option<usize>| column.map_or(self.absent, |column| row[column]);
            inputs.extend(self.columns.iter().map(value));
        }
        self.transforms.apply(inputs);
    }

    /// Computes all layers for a block of rows; `outputs` are two buffers.
    fn forward(&self, inputs: &[f32], scores: &mut [f64], outputs: &mut [Vec<f32>; 2]) {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = self.simd.avx2() {
            // SAFETY: `avx2` proves that the processor has AVX2 and POPCNT.
            unsafe { forward_avx2(avx2, &self.layers, inputs, scores, outputs) };
            return;
        }
        forward(&self.layers, inputs, scores, outputs);
    }
}

impl Engine for NetEngine {
    fn score(
        &self,
        values: &[f32],
        columns: usize,
        scores: &mut [f64],
        buffers: &mut ScoreBuffers,
    ) {
        let features = self.columns.len();
        let LayerBuffers { inputs, outputs } = &mut buffers.layers;
        let rows_together = match self.transforms.min_max_in_query() {
            true => scores.len().max(1),
            false => BLOCK_ROWS,
        };
        let mut values = values;
        for scores in scores.chunks_mut(rows_together) {
            let (rows, rest) = values.split_at(scores.len() * columns);
            values = rest;
            self.gather(rows, columns, scores.len(), inputs);
            for (block, scores) in scores.chunks_mut(BLOCK_ROWS).enumerate() {
                let start = block * BLOCK_ROWS * features;
                self.forward(&inputs[start..start + scores.len() * features], scores, outputs);
            }
        }
    }

    fn name(&self) -> String {
        match self.layers.len() {
            1 => "net of 1 layer".to_owned(),
            layers => format!("net of {layers} layers"),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn forward_avx2(
    _proof: Avx2,
    layers: &[PanelLayer],
    inputs: &[f32],
    scores: &mut [f64],
    outputs: &mut [Vec<f32>; 2],
) {
    forward(layers, inputs, scores, outputs);
}

/// Computes all layers for a block of rows; the outputs of the last layer are the scores.
#[inline(always)]
fn forward(layers: &[PanelLayer], inputs: &[f32], scores: &mut [f64], outputs: &mut [Vec<f32>; 2]) {
    // The outputs of the layer before, and those of the layer that is computed.
    let [before, computed] = outputs;
    let mut layers = layers.iter();
    if let Some(first) = layers.next() {
        first.forward(inputs, scores.len(), before);
    }
    for layer in layers {
        layer.forward(before, scores.len(), computed);
        std::mem::swap(before, computed);
    }
    // The last layer has one output.
    scores.iter_mut().zip(&*before).for_each(|(score, output)| *score = f64::from(*output));
}

impl PanelLayer {
    fn new(layer: &Layer) -> PanelLayer {
        let (inputs, outputs) = (layer.inputs(), layer.outputs());
        let panels = outputs.div_ceil(PANEL_OUTPUTS);
        let mut weights = vec![[0.0; PANEL_OUTPUTS]; panels * inputs];
        let mut biases = vec![[0.0; PANEL_OUTPUTS]; panels];
        for (output, bias) in layer.biases().iter().enumerate() {
            let (panel, lane) = (output / PANEL_OUTPUTS, output % PANEL_OUTPUTS);
            biases[panel][lane] = *bias;
            let of_output = &layer.weights()[output * inputs..(output + 1) * inputs];
            for (of_input, weight) in weights[panel * inputs..].iter_mut().zip(of_output) {
                of_input[lane] = *weight;
            }
        }
        let (norm, activation) = (layer.norm().cloned(), layer.activation());
        PanelLayer { inputs, outputs, weights, biases, norm, activation }
    }

    /// Computes the outputs of some rows, row after row. All rows go through a panel before any
    /// goes through the next one, so that the weights of a panel are loaded once.
    #[inline(always)]
    fn forward(&self, inputs: &[f32], rows: usize, outputs: &mut Vec<f32>) {
        outputs.clear();
        outputs.resize(rows * self.outputs, 0.0);
        let row = |row: usize| &inputs[row * self.inputs..(row + 1) * self.inputs];
        for (panel, biases) in self.biases.iter().enumerate() {
            let weights = &self.weights[panel * self.inputs..(panel + 1) * self.inputs];
            let mut done = 0;
            while done + TILE_ROWS <= rows {
                let tile_rows = std::array::from_fn(|number| row(done + number));
                let sums = tile_sums(weights, biases, tile_rows);
                for (number, sums) in sums.into_iter().enumerate() {
                    self.put(sums, panel, done + number, outputs);
                }
                done += TILE_ROWS;
            }
            for last in done..rows {
                let mut sums = *biases;
                weights.iter().zip(row(last)).for_each(|(weights, x)| add(&mut sums, weights, *x));
                self.put(sums, panel, last, outputs);
            }
        }
        for outputs in outputs.chunks_mut(self.outputs) {
            normalise_and_activate(self.norm.as_ref(), self.activation, outputs);
        }
    }

    /// Writes a row's sums of a panel to the outputs, without the padding.
    #[inline(always)]
    fn put(&self, sums: [f32; PANEL_OUTPUTS], panel: usize, row: usize, outputs: &mut [f32]) {
        let row_outputs = &mut outputs[row * self.outputs..(row + 1) * self.outputs];
        // Moved, not borrowed: borrowed sums would be in memory instead of registers.
        row_outputs[panel * PANEL_OUTPUTS..].iter_mut().zip(sums).for_each(|(to, sum)| *to = sum);
    }
}

/// The sums of four rows for the outputs of a panel.
#[inline(always)]
fn tile_sums(
    weights: &[[f32; PANEL_OUTPUTS]],
    biases: &[f32; PANEL_OUTPUTS],
    rows: [&[f32]; TILE_ROWS],
) -> [[f32; PANEL_OUTPUTS]; TILE_ROWS] {
    let [a, b, c, d] = rows;
    let mut sums = [*biases; TILE_ROWS];
    for ((((weights, a), b), c), d) in weights.iter().zip(a).zip(b).zip(c).zip(d) {
        add(&mut sums[0], weights, *a);
        add(&mut sums[1], weights, *b);
        add(&mut sums[2], weights, *c);
        add(&mut sums[3], weights, *d);
    }
    sums
}

/// Adds the term of one input to the sums of a panel's outputs.
#[inline(always)]
fn add(sums: &mut [f32; PANEL_OUTPUTS], weights: &[f32; PANEL_OUTPUTS], input: f32) {
    for (sum, weight) in sums.iter_mut().zip(weights) {
        *sum += weight * input;
    }
}
