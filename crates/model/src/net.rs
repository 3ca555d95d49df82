//! A neural net that scores a document: each layer computes `y = activation(norm(W x + b))` from
//! the outputs x of the layer before it, and the last layer has one output, the score.
//!
//! Everything is f32 in a fixed order, which is part of the contract: an output starts at its bias
//! and adds weight times input in the order of the inputs. Every scorer gives the same bits as
//! [`Net::score_row`], for any number of rows and threads and on any processor. Layer normalisation
//! (Ba, Kiros and Hinton, *Layer Normalization*, 2016) sums in f64, in eight lanes (partial sums).
//!
//! A number that overflows counts as the largest finite one, and a sum of two opposite infinities
//! as 0, so that a score is never NaN. Cost: the number of weights for each row. A net of one layer
//! is a linear model of transformed features.

use crate::error::ModelError;
use crate::math::tanh;
use crate::problem::{ModelParameter, NetProblem};
use crate::transform::Transforms;

/// The activation of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Activation {
    /// No activation.
    #[default]
    None,
    /// max(z, 0).
    Relu,
    /// z/2 (1 + tanh(sqrt(2/pi) (z + 0.044715 z^3))): the Gaussian error linear unit in its tanh
    /// form (Hendrycks and Gimpel, *Gaussian Error Linear Units*, 2016).
    Gelu,
    /// tanh(z), by our own function, which gives the same bits on every machine.
    Tanh,
}

/// sqrt(2 / pi).
const ROOT_2_PI: f32 = 0.797_884_6;
/// The coefficient of z^3 in the formula of [`Activation::Gelu`].
const CUBE_COEFFICIENT: f32 = 0.044_715;

impl Activation {
    /// Every activation.
    pub const ALL: [Activation; 4] =
        [Activation::None, Activation::Relu, Activation::Gelu, Activation::Tanh];

    /// The name in specs and reports.
    pub fn name(self) -> &'static str {
        match self {
            Activation::None => "none",
            Activation::Relu => "relu",
            Activation::Gelu => "gelu",
            Activation::Tanh => "tanh",
        }
    }

    /// Replaces each value by its activation.
    #[inline(always)]
    pub fn apply(self, values: &mut [f32]) {
        match self {
            Activation::None => {}
            // Not `max`, which may return either of 0 and -0.
            Activation::Relu => each(values, |z| if z > 0.0 { z } else { 0.0 }),
            Activation::Gelu => each(values, |z| {
                let inner = ROOT_2_PI * (z + CUBE_COEFFICIENT * z * z * z);
                0.5 * z * (1.0 + tanh(inner))
            }),
            Activation::Tanh => each(values, tanh),
        }
    }
}

/// Replaces each value by the result of `change`.
#[inline(always)]
fn each(values: &mut [f32], change: impl Fn(f32) -> f32) {
    values.iter_mut().for_each(|value| *value = change(*value));
}

/// Scale and shift of each output after layer normalisation.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerNorm {
    /// The factor of each output.
    pub scale: Vec<f32>,
    /// The number that is added to each output after scaling.
    pub shift: Vec<f32>,
}

/// Number of lanes of a sum: partial sums that can be computed at the same time.
const LANES: usize = 8;

impl LayerNorm {
    /// The number that is added to the variance before the square root.
    pub const EPSILON: f64 = 1e-5;

    /// Replaces each output `z` of one row by `(z - mean) / sqrt(variance + EPSILON) scale +
    /// shift`, with the mean and the variance of these outputs (the variance divides by their
    /// number).
    #[inline(always)]
    pub fn apply(&self, outputs: &mut [f32]) {
        let n = outputs.len().max(1) as f64;
        let mean = sum(outputs, |z| z) / n;
        let variance = sum(outputs, |z| (z - mean) * (z - mean)) / n;
        let inverse = 1.0 / (variance + LayerNorm::EPSILON).sqrt();
        for ((z, scale), shift) in outputs.iter_mut().zip(&self.scale).zip(&self.shift) {
            *z = ((f64::from(*z) - mean) * inverse) as f32 * scale + shift;
        }
    }
}

/// The sum of `term` of each value, in eight lanes, which are added up from the first to the last.
#[inline(always)]
fn sum(values: &[f32], term: impl Fn(f64) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane += term(f64::from(value));
        }
    }
    for (lane, &value) in lanes.iter_mut().zip(rest) {
        *lane += term(f64::from(value));
    }
    lanes.iter().fold(0.0, |sum, lane| sum + lane)
}

/// The nearest finite number; 0 for NaN.
#[inline(always)]
fn finite_or_zero(z: f32) -> f32 {
    if z.is_nan() { 0.0 } else { z.clamp(f32::MIN, f32::MAX) }
}

/// One layer.
///
/// ```
/// use rankwright_model::{Activation, Layer};
///
/// // Two outputs of three inputs each.
/// let layer = Layer::new(3, vec![1.0, 0.0, 2.0, 0.0, -1.0, 0.0], vec![0.5, 0.0], None, Activation::Relu)?;
/// assert_eq!(layer.outputs_of(&[1.0, 2.0, 3.0]), [7.5, 0.0]);
/// # Ok::<(), rankwright_model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    inputs: usize,
    weights: Vec<f32>,
    biases: Vec<f32>,
    norm: Option<LayerNorm>,
    activation: Activation,
}

impl Layer {
    /// A layer with a bias for each output, and the weights of all inputs for the first output,
    /// then for the second, and so on. All numbers must be finite.
    pub fn new(
        inputs: usize,
        weights: Vec<f32>,
        biases: Vec<f32>,
        norm: Option<LayerNorm>,
        activation: Activation,
    ) -> Result<Layer, ModelError> {
        let outputs = biases.len();
        if outputs == 0 || inputs.checked_mul(outputs) != Some(weights.len()) {
            let weights = weights.len();
            let problem = NetProblem::LayerWeights { weights, inputs, outputs };
            return Err(ModelError::InvalidNet(problem));
        }
        if let Some(LayerNorm { scale, shift }) = &norm
            && (scale.len() != outputs || shift.len() != outputs)
        {
            let (scales, shifts) = (scale.len(), shift.len());
            let problem = NetProblem::LayerNorm { scales, shifts, outputs };
            return Err(ModelError::InvalidNet(problem));
        }
        let scaling = norm.iter().flat_map(|norm| norm.scale.iter().chain(&norm.shift));
        for &value in weights.iter().chain(&biases).chain(scaling) {
            ModelError::check_finite(ModelParameter::LayerParameter, f64::from(value))?;
        }
        Ok(Layer { inputs, weights, biases, norm, activation })
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.biases.len()
    }

    /// The weights of all inputs for the first output, then for the second, and so on.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// The bias of each output.
    pub fn biases(&self) -> &[f32] {
        &self.biases
    }

    /// The normalisation of the outputs; `None` if they are not normalised.
    pub fn norm(&self) -> Option<&LayerNorm> {
        self.norm.as_ref()
    }

    /// The activation, which comes last.
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// The number of weights and biases, and of scales and shifts of a normalisation.
    pub fn parameters(&self) -> usize {
        let scaling = if self.norm.is_some() { 2 * self.outputs() } else { 0 };
        self.weights.len() + self.biases.len() + scaling
    }

    /// The outputs for one row of inputs, by the reference implementation. Inputs beyond the end
    /// count as 0.
    pub fn outputs_of(&self, inputs: &[f32]) -> Vec<f32> {
        let mut outputs = self.biases.clone();
        // Without inputs there are no weights to iterate over.
        for (output, weights) in outputs.iter_mut().zip(self.weights.chunks(self.inputs.max(1))) {
            for (weight, input) in weights.iter().zip(inputs) {
                *output += weight * input;
            }
        }
        normalise_and_activate(self.norm.as_ref(), self.activation, &mut outputs);
        outputs
    }
}

/// The end of a layer: makes the outputs of one row finite, normalises them and applies the
/// activation.
#[inline(always)]
pub(crate) fn normalise_and_activate(
    norm: Option<&LayerNorm>,
    activation: Activation,
    outputs: &mut [f32],
) {
    each(outputs, finite_or_zero);
    if let Some(norm) = norm {
        norm.apply(outputs);
        each(outputs, finite_or_zero);
    }
    activation.apply(outputs);
}

/// A net: transforms and layers.
///
/// ```
/// use rankwright_model::{Activation, Layer, Net, Transforms};
///
/// let hidden = Layer::new(2, vec![1.0, -1.0], vec![0.0], None, Activation::Relu)?;
/// let last = Layer::new(1, vec![3.0], vec![1.0], None, Activation::None)?;
/// let net = Net::new(Transforms::identity(2), vec![hidden, last])?;
/// assert_eq!(net.score_row(&[5.0, 3.0]), 7.0);
/// assert_eq!(net.score_row(&[3.0, 5.0]), 1.0);
/// # Ok::<(), rankwright_model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Net {
    transforms: Transforms,
    layers: Vec<Layer>,
}

impl Net {
    /// Makes a net of layers: each takes the outputs of the one before, the first takes the
    /// transformed features, the last has one output.
    pub fn new(transforms: Transforms, layers: Vec<Layer>) -> Result<Net, ModelError> {
        let mut expected = transforms.columns();
        for (number, layer) in layers.iter().enumerate() {
            let inputs = layer.inputs();
            if inputs != expected {
                let problem = NetProblem::LayerInputs { layer: number, inputs, expected };
                return Err(ModelError::InvalidNet(problem));
            }
            expected = layer.outputs();
        }
        match layers.last().map(Layer::outputs) {
            Some(1) => Ok(Net { transforms, layers }),
            None => Err(ModelError::InvalidNet(NetProblem::NoLayers)),
            Some(outputs) => Err(ModelError::InvalidNet(NetProblem::Outputs { outputs })),
        }
    }

    /// The transforms of features.
    pub fn transforms(&self) -> &Transforms {
        &self.transforms
    }

    /// The layers in their order.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The number of parameters of all layers.
    pub fn parameters(&self) -> usize {
        self.layers.iter().map(Layer::parameters).sum()
    }

    /// The weights of the inputs of a net of one layer without normalisation, in which each feature
    /// has one weight; `None` for other nets. The net is linear in its inputs if there is no
    /// activation either.
    pub fn linear_weights(&self) -> Option<&[f32]> {
        match self.layers.as_slice() {
            [layer] if layer.norm.is_none() => Some(&layer.weights),
            _ => None,
        }
    }

    /// The score of a row, by the reference implementation. A feature beyond the end of the row is
    /// missing. If features are scaled to 0..1 within their query, the row is a query of its own;
    /// [`Net::score_query`] takes a whole query.
    pub fn score_row(&self, row: &[f32]) -> f64 {
        self.score_query(&[row])[0]
    }

    /// The scores of the rows of one query, by the reference implementation.
    pub fn score_query(&self, rows: &[&[f32]]) -> Vec<f64> {
        let columns = self.transforms.columns();
        let mut inputs = vec![f32::NAN; rows.len() * columns];
        if columns > 0 {
            for (to, row) in inputs.chunks_exact_mut(columns).zip(rows) {
                to.iter_mut().zip(*row).for_each(|(to, value)| *to = *value);
            }
        }
        self.transforms.apply(&mut inputs);
        let score = |number: usize| {
            let first = inputs[number * columns..(number + 1) * columns].to_vec();
            let last = self.layers.iter().fold(first, |inputs, layer| layer.outputs_of(&inputs));
            f64::from(last[0])
        };
        (0..rows.len()).map(score).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::transform;
    use proptest::prelude::*;
    use rankwright_data::Random;

    /// Random numbers, normally distributed.
    fn numbers(draw: &mut Random, count: usize) -> Vec<f32> {
        (0..count).map(|_| draw.normal() as f32).collect()
    }

    /// `min_max` of [`random_net`]: features are scaled to 0..1 within the query.
    pub(crate) const MIN_MAX: bool = true;
    /// `min_max` of [`random_net`]: features are not scaled within the query.
    pub(crate) const NO_MIN_MAX: bool = false;

    /// A random net with hidden layers of these sizes; `min_max` if features are scaled to 0..1
    /// within the query.
    pub(crate) fn random_net(seed: u64, columns: usize, hidden: &[usize], min_max: bool) -> Net {
        // 23 is any number: it keeps this stream of random numbers apart from those of other tests.
        let mut draw = Random::new(seed, 23);
        let mut inputs = columns;
        let mut layers = Vec::new();
        for (number, &outputs) in hidden.iter().chain([&1]).enumerate() {
            let norm = (number < hidden.len() && draw.below(2) == 0).then(|| LayerNorm {
                scale: numbers(&mut draw, outputs),
                shift: numbers(&mut draw, outputs),
            });
            let weights = numbers(&mut draw, inputs * outputs);
            let biases = numbers(&mut draw, outputs);
            let activation = Activation::ALL[draw.below(4)];
            layers.push(Layer::new(inputs, weights, biases, norm, activation).unwrap());
            inputs = outputs;
        }
        Net::new(transform::tests::random_transforms(seed, columns, min_max), layers).unwrap()
    }

    #[test]
    fn activations_follow_their_formulas() {
        let apply = |activation: Activation, z: f32| {
            let mut values = [z];
            activation.apply(&mut values);
            values[0]
        };
        for z in [-30.0_f32, -2.0, -0.5, 0.0, 0.1, 1.0, 3.0, 1e30] {
            let exact = f64::from(z);
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (exact + 0.044715 * exact.powi(3));
            let gelu = 0.5 * exact * (1.0 + inner.tanh());
            let close = |found: f32, exact: f64| {
                (f64::from(found) - exact).abs() <= 1e-6 * exact.abs().max(1.0)
            };
            assert!(close(apply(Activation::Gelu, z), gelu), "{z}");
            assert!(close(apply(Activation::Tanh, z), exact.tanh()), "{z}");
            assert_eq!(apply(Activation::None, z), z);
            assert_eq!(apply(Activation::Relu, z), z.max(0.0));
        }
        for activation in Activation::ALL {
            for z in [f32::MAX, f32::MIN, -0.0] {
                assert!(apply(activation, z).is_finite(), "{activation:?} of {z}");
            }
        }
        assert_eq!(apply(Activation::Relu, -0.0).to_bits(), 0);
    }

    #[test]
    fn a_layer_is_normalised_over_its_outputs() {
        let norm = LayerNorm { scale: vec![1.0, 1.0, 2.0], shift: vec![0.0, 0.5, 0.0] };
        let layer = Layer::new(1, vec![1.0, 2.0, 3.0], vec![0.0; 3], Some(norm), Activation::None);
        let found = layer.unwrap().outputs_of(&[10.0]);
        // Outputs 10, 20, 30: mean 20, variance 200/3.
        let normalised = 10.0 / (200.0_f32 / 3.0 + 1e-5).sqrt();
        for (found, exact) in found.iter().zip([-normalised, 0.5, 2.0 * normalised]) {
            assert!((found - exact).abs() < 1e-6, "{found} {exact}");
        }
    }

    #[test]
    fn invalid_layers_are_refused_with_a_reason() {
        let layer = |inputs, outputs| {
            let weights = vec![1.0; inputs * outputs];
            Layer::new(inputs, weights, vec![0.0; outputs], None, Activation::Relu).unwrap()
        };
        let net = |layers| Net::new(Transforms::identity(2), layers).unwrap_err().to_string();
        assert!(net(vec![]).contains("without layers"));
        assert!(net(vec![layer(3, 1)]).contains("layer 0 with 3 inputs; expected 2"));
        assert!(net(vec![layer(2, 4), layer(3, 1)]).contains("layer 1 with 3 inputs; expected 4"));
        assert!(net(vec![layer(2, 4)]).contains("4 outputs; expected one output"));
        let norm = |n, m| Some(LayerNorm { scale: vec![1.0; n], shift: vec![1.0; m] });
        // The message of the error; empty if the layer is valid.
        let layer_error = |weights: &[f32], biases: &[f32], norm| {
            let layer = Layer::new(2, weights.into(), biases.into(), norm, Activation::None);
            layer.map(|_| String::new()).unwrap_or_else(|error| error.to_string())
        };
        assert_eq!(layer_error(&[1.0, 2.0], &[0.0], norm(1, 1)), "");
        let error = layer_error(&[1.0], &[0.0], None);
        assert!(error.contains("a layer of 2 inputs and 1 output with 1 weight;"));
        assert!(layer_error(&[], &[], None).contains("at least one output"));
        assert!(layer_error(&[1.0, 2.0], &[0.0], norm(1, 2)).contains("1 scale and 2 shifts"));
        let error = layer_error(&[1.0, f32::NAN], &[0.0], None);
        assert!(error.contains("a parameter of a layer is NaN"));
        let error = layer_error(&[1.0, 1.0], &[f32::INFINITY], None);
        assert!(error.contains("a parameter of a layer is inf"));
        let bad = Some(LayerNorm { scale: vec![f32::NAN], shift: vec![0.0] });
        assert!(layer_error(&[1.0, 1.0], &[0.0], bad).contains("a parameter of a layer is NaN"));
    }

    #[test]
    fn a_net_of_one_layer_has_linear_weights_and_parameters_are_counted() {
        let net = random_net(3, 4, &[], NO_MIN_MAX);
        assert_eq!((net.linear_weights().unwrap().len(), net.parameters()), (4, 4 + 1));
        // The hidden layer has 4 x 3 weights, 3 biases and perhaps 3 scales and 3 shifts, the last
        // layer 3 weights and a bias.
        let net = random_net(3, 4, &[3], NO_MIN_MAX);
        let scaling = net.layers()[0].norm().map_or(0, |_| 6);
        assert_eq!((net.linear_weights(), net.parameters()), (None, 15 + 4 + scaling));
    }

    #[test]
    fn the_rows_of_a_query_are_scaled_together() {
        let layer = Layer::new(1, vec![2.0], vec![0.0], None, Activation::None).unwrap();
        let transforms = Transforms::new(vec![vec![]], vec![0.0], MIN_MAX).unwrap();
        let net = Net::new(transforms, vec![layer]).unwrap();
        assert_eq!(net.score_query(&[&[1.0], &[3.0], &[2.0], &[]]), [0.0, 2.0, 1.0, 0.0]);
        assert_eq!(net.score_row(&[3.0]), 0.0);
        assert!(net.score_query(&[]).is_empty());
    }

    #[test]
    fn a_net_without_features_scores_its_biases() {
        let layer = Layer::new(0, vec![], vec![2.5], None, Activation::Relu).unwrap();
        let net = Net::new(Transforms::identity(0), vec![layer]).unwrap();
        assert_eq!(net.score_query(&[&[], &[]]), [2.5, 2.5]);
    }

    proptest! {
        #[test]
        fn no_score_is_nan_whatever_the_numbers(
            seed: u64, row in proptest::collection::vec(prop::num::f32::ANY, 3), huge: bool,
        ) {
            let net = random_net(seed, 3, &[5, 2], NO_MIN_MAX);
            let layers = net.layers().iter().map(|layer| {
                let enlarge = |x: &f32| if huge { x.signum() * f32::MAX } else { *x };
                let weights = layer.weights().iter().map(enlarge).collect();
                let biases = layer.biases().iter().map(enlarge).collect();
                let norm = layer.norm().cloned();
                Layer::new(layer.inputs(), weights, biases, norm, layer.activation()).unwrap()
            });
            let net = Net::new(net.transforms().clone(), layers.collect()).unwrap();
            prop_assert!(net.score_row(&row).is_finite());
        }
    }
}
