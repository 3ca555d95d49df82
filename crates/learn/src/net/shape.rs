//! The sizes of a net, and the ranges of its parameters in one vector, so that optimisers, sums of
//! gradients and checkpoints are loops over a slice.
//!
//! A hidden layer is `y = activation(norm(W x + b))`; the last layer is `w x` without a bias: every
//! loss here depends only on differences of scores, so that no gradient would hold the bias in
//! place. With batch norm, hidden layers have no bias either, since batch norm subtracts the mean.
//! Without a hidden layer the net is a linear scorer.

use rankwright_spec::choices;
use std::ops::Range;

use rankwright_data::Random;
use rankwright_model::Activation;

choices! {
    /// The normalisation of hidden layers.
    pub enum HiddenNorm {
        /// None.
        None = "none",
        /// Scales each document's outputs to mean 0 and variance 1 (Ba et al., 2016).
        Layer = "layer",
        /// Scales each output to mean 0 and variance 1 over the mini-batch (Ioffe and Szegedy,
        /// 2015).
        Batch = "batch",
    }
}

/// Any constant: keeps the random numbers of initial weights apart from others of the same seed.
const WEIGHTS_SEED: u64 = 0x6e65_7420_7765_6967;

/// The size of one layer, and the ranges of its parameters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LayerShape {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    /// Outputs x inputs, row by row.
    pub(super) weights: Range<usize>,
    /// One for each output; empty if the layer has no bias.
    pub(super) biases: Range<usize>,
    /// If there is a norm, the factor of its result for each output; otherwise empty.
    pub(super) scales: Range<usize>,
    /// If there is a norm, the offset of its result for each output; otherwise empty.
    pub(super) shifts: Range<usize>,
    pub(super) norm: HiddenNorm,
    pub(super) activation: Activation,
}

/// The layers of a net and its number of parameters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NetShape {
    pub(super) layers: Vec<LayerShape>,
    /// Total number of parameters.
    pub(super) parameter_count: usize,
}

impl NetShape {
    /// A net with this number of inputs, hidden layers of these widths and one output.
    pub(super) fn new(
        inputs: usize,
        hidden: &[usize],
        norm: HiddenNorm,
        activation: Activation,
    ) -> Self {
        let (mut layers, mut parameter_count, mut layer_inputs) = (Vec::new(), 0, inputs);
        // Assigns the next `count` parameters and returns their range.
        let mut take = |count: usize| {
            parameter_count += count;
            parameter_count - count..parameter_count
        };
        for &outputs in hidden {
            let scale_count = if norm == HiddenNorm::None { 0 } else { outputs };
            layers.push(LayerShape {
                inputs: layer_inputs,
                outputs,
                weights: take(layer_inputs * outputs),
                biases: take(if norm == HiddenNorm::Batch { 0 } else { outputs }),
                scales: take(scale_count),
                shifts: take(scale_count),
                norm,
                activation,
            });
            layer_inputs = outputs;
        }
        layers.push(LayerShape {
            inputs: layer_inputs,
            outputs: 1,
            weights: take(layer_inputs),
            biases: take(0),
            scales: take(0),
            shifts: take(0),
            norm: HiddenNorm::None,
            activation: Activation::None,
        });
        Self { layers, parameter_count }
    }

    /// Initial parameters: weights drawn from a normal distribution so that values keep their size
    /// from layer to layer (variance 2 / inputs for ReLU and GELU: He et al., 2015; 1 / inputs for
    /// tanh and without an activation: LeCun et al., 1998), scales of 1, biases and shifts of 0. A
    /// linear scorer starts with zeros: random weights would be no better a start, as most losses
    /// are convex in its weights.
    pub(super) fn initial_parameters(&self, seed: u64) -> Vec<f32> {
        let mut parameters = vec![0.0; self.parameter_count];
        for (number, layer) in self.layers.iter().enumerate() {
            parameters[layer.scales.clone()].fill(1.0);
            if self.layers.len() == 1 {
                continue;
            }
            let mut random = Random::new(seed ^ WEIGHTS_SEED, number as u64);
            let numerator = match layer.activation {
                Activation::Relu | Activation::Gelu => 2.0,
                _ => 1.0,
            };
            let deviation = (numerator / layer.inputs.max(1) as f64).sqrt();
            let weights = &mut parameters[layer.weights.clone()];
            weights.iter_mut().for_each(|w| *w = (deviation * random.normal()) as f32);
        }
        parameters
    }

    /// Whether a layer has batch norm, with which the rows of a mini-batch depend on each other.
    pub(super) fn has_batch_norm(&self) -> bool {
        self.layers.iter().any(|layer| layer.norm == HiddenNorm::Batch)
    }

    /// The ranges of parameters of each layer, and whether weight decay applies to them: it applies
    /// to weights, not to biases and the parameters of norms.
    pub(super) fn parts(&self) -> impl Iterator<Item = (Range<usize>, bool)> {
        self.layers.iter().flat_map(|layer| {
            let biases_and_norm = layer.weights.end..layer.shifts.end;
            [(layer.weights.clone(), true), (biases_and_norm, false)]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_is_in_one_range() {
        for norm in [HiddenNorm::None, HiddenNorm::Layer, HiddenNorm::Batch] {
            for hidden in [&[][..], &[5], &[7, 3, 2]] {
                let shape = NetShape::new(4, hidden, norm, Activation::Relu);
                let mut end = 0;
                for (part, _) in shape.parts() {
                    assert_eq!(part.start, end);
                    end = part.end;
                }
                assert_eq!(end, shape.parameter_count);
                assert_eq!(shape.layers.len(), hidden.len() + 1);
                assert!(shape.layers.windows(2).all(|w| w[0].outputs == w[1].inputs));
            }
        }
        let without_norm = NetShape::new(136, &[64, 32], HiddenNorm::None, Activation::Relu);
        assert_eq!(without_norm.parameter_count, 136 * 64 + 64 + 64 * 32 + 32 + 32);
        assert_eq!(NetShape::new(9, &[], HiddenNorm::Layer, Activation::Relu).parameter_count, 9);
    }

    #[test]
    fn initial_parameters_have_the_stated_variance_and_depend_on_the_seed() {
        let shape = NetShape::new(200, &[300], HiddenNorm::Layer, Activation::Relu);
        let parameters = shape.initial_parameters(1);
        let weights = &parameters[shape.layers[0].weights.clone()];
        let mean_square = weights.iter().map(|w| w * w).sum::<f32>() / weights.len() as f32;
        // 2 / 200 inputs.
        assert!((mean_square - 0.01).abs() < 0.0005, "{mean_square}");
        assert!(parameters[shape.layers[0].scales.clone()].iter().all(|s| *s == 1.0));
        assert!(
            parameters != shape.initial_parameters(2) && parameters == shape.initial_parameters(1)
        );
        assert_eq!(
            NetShape::new(3, &[], HiddenNorm::None, Activation::None).initial_parameters(1),
            [0.0; 3]
        );
    }
}
