//! Makes a model from the weights of transformed features.
//!
//! If features were only shifted and scaled, the model is linear in the raw features: their weights
//! are multiplied by the scales, and the shifts go into the bias. A linear model counts a missing
//! value as 0. If the training data has missing values, which training replaced by the mean, and
//! for every other transform, the model is a net of one layer that keeps the transforms.

use rankwright_model::{Activation, Layer, Linear, ModelBody, Net, TransformStep, Transforms};

use crate::error::LearnError;

/// The model of these weights; `missing` says whether training data has missing values.
pub(crate) fn model(
    transforms: &Transforms,
    weights: &[f64],
    intercept: f64,
    missing: bool,
) -> Result<ModelBody, LearnError> {
    if let Some(scales) = affine(transforms, missing) {
        let mut bias = intercept;
        let mut raw = Vec::with_capacity(weights.len());
        for (weight, (shift, scale)) in weights.iter().zip(scales) {
            let weight = weight * f64::from(scale);
            bias -= weight * f64::from(shift);
            raw.push(weight);
        }
        return Ok(ModelBody::Linear(Linear::new(bias, raw)?));
    }
    let single = |number: f64| (number as f32).clamp(f32::MIN, f32::MAX);
    let weights: Vec<f32> = weights.iter().map(|weight| single(*weight)).collect();
    let biases = vec![single(intercept)];
    let layer = Layer::new(weights.len(), weights, biases, None, Activation::None)?;
    Ok(ModelBody::Net(Net::new(transforms.clone(), vec![layer])?))
}

/// The weights of transformed features that a model of [`model`] was made of; 0 for those whose
/// values become 0.
pub(crate) fn weights(kind: &ModelBody, transforms: &Transforms) -> Vec<f64> {
    match kind {
        ModelBody::Linear(linear) => {
            let scales = affine(transforms, false);
            debug_assert!(scales.is_some(), "a linear model is made of affine transforms alone");
            let scales = scales.unwrap_or_default();
            let learnt = |(raw, (_, scale)): (&f64, (f32, f32))| match scale {
                0.0 => 0.0,
                scale => raw / f64::from(scale),
            };
            linear.weights().iter().zip(scales).map(learnt).collect()
        }
        ModelBody::Net(net) => {
            let first = net.layers().first().map_or(&[][..], Layer::weights);
            first.iter().map(|weight| f64::from(*weight)).collect()
        }
        _ => Vec::new(),
    }
}

/// Shift and scale of each feature, where that is all that happens to it.
fn affine(transforms: &Transforms, missing: bool) -> Option<Vec<(f32, f32)>> {
    if missing {
        return transforms.is_affine();
    }
    if transforms.min_max_in_query() {
        return None;
    }
    // Training data without missing values: their treatment has not influenced the weights.
    let of = |steps: &Vec<TransformStep>| match steps.as_slice() {
        [] => Some((0.0, 1.0)),
        [TransformStep::Affine { shift, scale }] => Some((*shift, *scale)),
        _ => None,
    };
    transforms.steps().iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled(missing: f32) -> Transforms {
        let step = |shift, scale| vec![TransformStep::Affine { shift, scale }];
        Transforms::new(vec![step(2.0, 0.5), step(-1.0, 0.0)], vec![missing, 0.0], false).unwrap()
    }

    #[test]
    fn a_line_over_shifted_and_scaled_features_is_a_line_over_raw_ones() {
        let kind = model(&scaled(0.0), &[3.0, 7.0], 0.25, false).unwrap();
        let ModelBody::Linear(linear) = kind else { panic!("{kind:?}") };
        assert_eq!(linear.weights(), [1.5, 0.0]);
        assert_eq!(linear.bias(), 0.25 - 3.0);
        assert_eq!(linear.score_row(&[4.0, 9.0]), 3.25);
        assert_eq!(weights(&ModelBody::Linear(linear), &scaled(0.0)), [3.0, 0.0]);
    }

    #[test]
    fn what_a_line_cannot_say_is_a_net_of_one_layer() {
        let with_missing = model(&scaled(0.0), &[3.0, 7.0], 0.25, true).unwrap();
        let ModelBody::Net(net) = &with_missing else { panic!("{with_missing:?}") };
        assert_eq!(net.score_row(&[4.0, 9.0]), 3.25);
        assert_eq!(net.score_row(&[f32::NAN, 9.0]), 0.25, "missing is the mean");
        assert_eq!(weights(&with_missing, &scaled(0.0)), [3.0, 7.0]);
        // A missing value that becomes 0 is what a linear model does anyway.
        assert!(matches!(model(&scaled(-1.0), &[3.0, 7.0], 0.0, true), Ok(ModelBody::Linear(_))));
        let log = Transforms::new(vec![vec![TransformStep::SignedLog]], vec![0.0], false).unwrap();
        assert!(matches!(model(&log, &[1.0], 0.0, false), Ok(ModelBody::Net(_))));
        let query = Transforms::new(vec![vec![]], vec![0.5], true).unwrap();
        assert!(matches!(model(&query, &[1.0], 0.0, false), Ok(ModelBody::Net(_))));
    }
}
