//! Shapley values of a net, by sampling. The inputs of a background document are exchanged for
//! those of the explained document one after another; the contribution of a feature is the change
//! of the score at its exchange, averaged over random orders of exchange and over background
//! documents (Strumbelj and Kononenko, *Explaining prediction models and individual predictions
//! with feature contributions*, 2014).
//!
//! A net of one layer without an activation is linear in its inputs: it is explained exactly,
//! feature i by `w_i` times the difference between its input and the background's mean (without
//! background: between its input and 0, which for standardised inputs is the mean of the training
//! data).
//!
//! Each order is also used backwards (antithetic sampling: Mitchell et al., *Sampling permutations
//! for Shapley value estimation*, 2022), which is already exact for models without
//! interactions of more than two features. The changes in one order sum to the difference between
//! the score of the document and that of the background document, so the sums are exact for any
//! number of orders. The same orders and background documents are used for all documents.
//!
//! If features are scaled to 0..1 within the query, inputs of background documents are scaled with
//! the smallest and largest values of the explained list, and a background value beyond them counts
//! as 0 or 1. Cost for a document: 2 x orders x features, times the net without its first layer,
//! since an exchange changes one term of each sum of that layer. Nets compute in f32: the rounding
//! error of a sum goes to its largest term.

use rankwright_data::{Absent, FeatureNames, Random};
use rayon::prelude::*;

use super::error::ExplainError;
use super::table::{Contributions, UsedFeatureRows, absorb_rounding};
use crate::engine::{ScoreBuffers, Scorer};
use crate::error::ModelError;
use crate::header::Header;
use crate::model::{Model, ModelBody};
use crate::net::{Activation, Layer, Net, normalise_and_activate};
use crate::transform::Transforms;

/// A net prepared for explanations.
#[derive(Debug)]
pub(super) struct NetShap {
    /// The transforms of the used features from values to inputs.
    transforms: Transforms,
    /// The same transforms without scaling within the query.
    unscaled_transforms: Transforms,
    /// The net as a scorer of inputs.
    input_scorer: Scorer,
    /// The first layer, with the used features as inputs.
    first_layer: Layer,
    later_layers: Vec<Layer>,
    /// For each used feature its weights in the first layer, one for each output.
    feature_weights: Vec<Vec<f64>>,
    background: UsedFeatureRows,
    /// Orders of exchange: permutations of the used features; empty if the net is linear.
    orders: Vec<Vec<u32>>,
}

/// The random orders use the streams of random numbers from this one on, any number far from 0:
/// stream 0 chooses the background documents.
const PERMUTATION_STREAM: u64 = 1 << 40;

impl NetShap {
    /// Prepares a net that uses these features. If there are more background rows than orders, only
    /// the first rows are used, as many as there are orders. Only a linear net needs no background.
    pub(super) fn new(
        net: &Net,
        features: &[usize],
        background: Option<&UsedFeatureRows>,
        orders: usize,
        seed: u64,
    ) -> Result<NetShap, ExplainError> {
        let is_linear = is_linear(net);
        let background = match background {
            Some(table) if is_linear => table.clone(),
            Some(table) => table.first(orders),
            None if is_linear => {
                UsedFeatureRows { width: features.len(), rows: 0, values: Vec::new() }
            }
            None => return Err(ExplainError::NoBackground),
        };
        let all_features = net.transforms();
        let steps: Vec<_> = features.iter().map(|f| all_features.steps()[*f].clone()).collect();
        let missing: Vec<_> = features.iter().map(|f| all_features.missing()[*f]).collect();
        let transforms =
            |min_max_in_query| Transforms::new(steps.clone(), missing.clone(), min_max_in_query);
        let min_max_in_query = false;
        let order = |number: usize| {
            let mut order: Vec<u32> = (0..features.len() as u32).collect();
            Random::new(seed, PERMUTATION_STREAM + number as u64).shuffle(&mut order);
            order
        };
        // Every background document is used equally often.
        let orders = if is_linear { 0 } else { orders.next_multiple_of(background.rows.max(1)) };
        let (first_layer, later_layers) = layers_of(net, features)?;
        let weights_by_output = || first_layer.weights().chunks_exact(features.len().max(1));
        let weights_of =
            |index: usize| weights_by_output().map(|weights| f64::from(weights[index])).collect();
        Ok(NetShap {
            transforms: transforms(all_features.min_max_in_query())?,
            unscaled_transforms: transforms(min_max_in_query)?,
            input_scorer: scorer_of(&first_layer, &later_layers)?,
            feature_weights: (0..features.len()).map(weights_of).collect(),
            first_layer,
            later_layers,
            background,
            orders: (0..orders).map(order).collect(),
        })
    }

    pub(super) fn explain(&self, table: &UsedFeatureRows) -> Contributions {
        let mut inputs = table.clone();
        self.transforms.apply(&mut inputs.values);
        let background = self.background_inputs(table);
        let mut scores = vec![0.0; table.rows];
        self.score(&inputs.values, &mut scores);
        let (base, parts) = match self.orders.is_empty() {
            true => self.linear(&inputs, &background),
            false => self.sampled(&inputs, &background),
        };
        let mut values = parts.concat();
        for (row, score) in scores.iter().enumerate() {
            absorb_rounding(&mut values[row * table.width..(row + 1) * table.width], score - base);
        }
        Contributions { base, scores, values }
    }

    /// The base, and each document's contributions, of a net that is linear in the inputs.
    fn linear(
        &self,
        inputs: &UsedFeatureRows,
        background: &UsedFeatureRows,
    ) -> (f64, Vec<Vec<f64>>) {
        // The only output's weight of each feature.
        let weights = || self.feature_weights.iter().map(|w| w.first().copied().unwrap_or(0.0));
        let mut means = vec![0.0; inputs.width];
        for row in 0..background.rows {
            for (mean, input) in means.iter_mut().zip(background.row(row)) {
                *mean += f64::from(*input) / background.rows as f64;
            }
        }
        let bias = self.first_layer.biases().first().map_or(0.0, |bias| f64::from(*bias));
        let base = weights().zip(&means).fold(bias, |sum, (weight, mean)| sum + weight * mean);
        let part = |row: usize| {
            let terms = weights().zip(inputs.row(row)).zip(&means);
            terms.map(|((weight, input), mean)| weight * (f64::from(*input) - mean)).collect()
        };
        (base, (0..inputs.rows).map(part).collect())
    }

    /// The base, and each document's contributions, by exchanging inputs in random orders.
    fn sampled(
        &self,
        inputs: &UsedFeatureRows,
        background: &UsedFeatureRows,
    ) -> (f64, Vec<Vec<f64>>) {
        let starts: Vec<BackgroundState> = (0..background.rows)
            .map(|row| BackgroundState::new(self, background.row(row)))
            .collect();
        let base = starts.iter().map(|start| start.score).sum::<f64>() / starts.len().max(1) as f64;
        let documents = (0..inputs.rows).into_par_iter();
        let values = documents.map_init(ExchangeBuffers::default, |exchange, row| {
            let (mut values, document) = (vec![0.0; inputs.width], inputs.row(row));
            for (order, start) in self.orders.iter().zip(starts.iter().cycle()) {
                exchange.add_changes(self, start, document, order.iter(), &mut values);
                exchange.add_changes(self, start, document, order.iter().rev(), &mut values);
            }
            let passes = 2.0 * self.orders.len() as f64;
            values.iter_mut().for_each(|value| *value /= passes);
            values
        });
        (base, values.collect())
    }

    /// The background documents as inputs, scaled by the smallest and largest values of this list.
    fn background_inputs(&self, list: &UsedFeatureRows) -> UsedFeatureRows {
        let mut inputs = self.background.clone();
        self.unscaled_transforms.apply(&mut inputs.values);
        if !self.transforms.min_max_in_query() || self.background.width == 0 {
            return inputs;
        }
        let mut unscaled = list.clone();
        self.unscaled_transforms.apply(&mut unscaled.values);
        for column in 0..list.width {
            let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
            for row in (0..list.rows).filter(|row| !list.row(*row)[column].is_nan()) {
                let value = unscaled.row(row)[column];
                low = if value < low { value } else { low };
                high = if value > high { value } else { high };
            }
            let raw = self.background.values.chunks_exact(list.width);
            for (input, raw) in inputs.values.chunks_exact_mut(list.width).zip(raw) {
                if !raw[column].is_nan() {
                    input[column] = relative_position(low, high, input[column]);
                }
            }
        }
        inputs
    }

    /// Scores rows of inputs.
    fn score(&self, inputs: &[f32], scores: &mut [f64]) {
        // An error only if the number of inputs does not fit that of scores, which it does here.
        if self.input_scorer.score_query(inputs, scores, &mut ScoreBuffers::default()).is_err() {
            scores.fill(f64::NAN);
        }
    }

    /// The score of a document from the sums of the first layer's outputs before norm and
    /// activation; `outputs` is a buffer.
    fn score_of_sums(&self, sums: &[f64], outputs: &mut Vec<f32>) -> f64 {
        outputs.clear();
        outputs.extend(sums.iter().map(|sum| *sum as f32));
        normalise_and_activate(self.first_layer.norm(), self.first_layer.activation(), outputs);
        for layer in &self.later_layers {
            *outputs = layer.outputs_of(outputs);
        }
        outputs.first().map_or(0.0, |score| f64::from(*score))
    }
}

/// The position of a value between the smallest and the largest of a list, from 0 to 1; 0 if these
/// are equal.
fn relative_position(low: f32, high: f32, value: f32) -> f32 {
    if low >= high {
        return 0.0;
    }
    let (low, high) = (f64::from(low), f64::from(high));
    ((f64::from(value) - low) / (high - low)).clamp(0.0, 1.0) as f32
}

/// Whether a net has one layer and is linear in its inputs.
fn is_linear(net: &Net) -> bool {
    let no_activation = net.layers().iter().all(|layer| layer.activation() == Activation::None);
    net.linear_weights().is_some() && no_activation
}

/// The first layer with only the used features as inputs (the others have weights of 0 and add
/// nothing), and the other layers.
fn layers_of(net: &Net, features: &[usize]) -> Result<(Layer, Vec<Layer>), ExplainError> {
    let mut layers = net.layers().iter();
    let invariant = "a net has at least one layer";
    let first = layers.next().ok_or(ModelError::Internal { invariant })?;
    let outputs = first.weights().chunks_exact(first.inputs().max(1));
    let weights =
        outputs.flat_map(|of_output| features.iter().map(|feature| of_output[*feature])).collect();
    let (biases, norm) = (first.biases().to_vec(), first.norm().cloned());
    let first = Layer::new(features.len(), weights, biases, norm, first.activation())?;
    Ok((first, layers.cloned().collect()))
}

/// A scorer of the inputs of these layers.
fn scorer_of(first: &Layer, later: &[Layer]) -> Result<Scorer, ExplainError> {
    let count = first.inputs();
    let layers = [std::slice::from_ref(first), later].concat();
    let header = Header::new(FeatureNames::Ids { first: 1, count }, Absent::Zero);
    let net = Net::new(Transforms::identity(count), layers)?;
    Ok(Model::new(header, ModelBody::Net(net))?.scorer())
}

/// A background document: its inputs, the sums of the first layer, the score.
struct BackgroundState {
    inputs: Vec<f32>,
    sums: Vec<f64>,
    score: f64,
}

impl BackgroundState {
    fn new(net: &NetShap, inputs: &[f32]) -> BackgroundState {
        let mut sums: Vec<f64> =
            net.first_layer.biases().iter().map(|bias| f64::from(*bias)).collect();
        for (weights, input) in net.feature_weights.iter().zip(inputs) {
            add_input(&mut sums, weights, f64::from(*input));
        }
        let score = net.score_of_sums(&sums, &mut Vec::new());
        BackgroundState { inputs: inputs.to_vec(), sums, score }
    }
}

/// Adds the weights of a feature times its input (or the change of its input) to the sums.
fn add_input(sums: &mut [f64], weights: &[f64], input: f64) {
    sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight * input);
}

/// Buffers of one thread.
#[derive(Debug, Default)]
struct ExchangeBuffers {
    sums: Vec<f64>,
    outputs: Vec<f32>,
}

impl ExchangeBuffers {
    /// Exchanges the inputs of a background document for those of the explained document in this
    /// order, and adds the change of the score by each exchange to `values`.
    fn add_changes<'a>(
        &mut self,
        net: &NetShap,
        start: &BackgroundState,
        document: &[f32],
        order: impl Iterator<Item = &'a u32>,
        values: &mut [f64],
    ) {
        self.sums.clear();
        self.sums.extend_from_slice(&start.sums);
        let mut score = start.score;
        for feature in order.map(|feature| *feature as usize) {
            let (before, after) = (start.inputs[feature], document[feature]);
            if before == after {
                continue;
            }
            let change = f64::from(after) - f64::from(before);
            add_input(&mut self.sums, &net.feature_weights[feature], change);
            let next = net.score_of_sums(&self.sums, &mut self.outputs);
            values[feature] += next - score;
            score = next;
        }
    }
}
