//! Makes a model from the weights of transformed features: folds the transforms into the weights if
//! possible.
//!
//! If features were only shifted and scaled, the transforms are folded into the weights: the model
//! is linear in the raw features, their weights are multiplied by the scales, and the shifts go
//! into the bias. A linear model counts a missing value as 0. If the training data has missing
//! values that became another value, such as the mean, and for every other transform, the model is
//! a net of one layer that keeps the transforms.

use rankwright_model::{Activation, Layer, Linear, ModelBody, Net, TransformStep, Transforms};

use crate::error::LearnError;

/// The model of these weights of transformed features; `missing` says whether training data has
/// missing values.
pub(crate) fn model(
    transforms: &Transforms,
    weights: &[f64],
    intercept: f64,
    missing: bool,
) -> Result<ModelBody, LearnError> {
    if let Some(shifts_and_scales) = shifts_and_scales(transforms, missing) {
        let mut bias = intercept;
        let mut raw_weights = Vec::with_capacity(weights.len());
        for (weight, (shift, scale)) in weights.iter().zip(shifts_and_scales) {
            let raw_weight = weight * f64::from(scale);
            bias -= raw_weight * f64::from(shift);
            raw_weights.push(raw_weight);
        }
        return Ok(ModelBody::Linear(Linear::new(bias, raw_weights)?));
    }
    let to_f32 = |number: f64| (number as f32).clamp(f32::MIN, f32::MAX);
    let weights: Vec<f32> = weights.iter().map(|weight| to_f32(*weight)).collect();
    let biases = vec![to_f32(intercept)];
    let layer = Layer::new(weights.len(), weights, biases, None, Activation::None)?;
    Ok(ModelBody::Net(Net::new(transforms.clone(), vec![layer])?))
}

/// The weights of transformed features that a model of [`model`] was made of; 0 for features that
/// the transform makes 0.
#[allow(clippy::expect_used, reason = "wrong weights would not be noticed")]
pub(crate) fn weights(body: &ModelBody, transforms: &Transforms) -> Vec<f64> {
    match body {
        ModelBody::Linear(linear) => {
            let missing = false;
            let scales = shifts_and_scales(transforms, missing)
                .expect("a linear model is made of affine transforms alone");
            let weight = |(raw_weight, (_, scale)): (&f64, (f32, f32))| match scale {
                0.0 => 0.0,
                scale => raw_weight / f64::from(scale),
            };
            linear.weights().iter().zip(scales).map(weight).collect()
        }
        ModelBody::Net(net) => {
            let first = net.layers().first().map_or(&[][..], Layer::weights);
            first.iter().map(|weight| f64::from(*weight)).collect()
        }
        _ => Vec::new(),
    }
}

/// Shift and scale of each feature; `None` if the transforms do more than shift and scale. With
/// `missing`, replacing a missing value by anything but a raw 0 counts as more.
fn shifts_and_scales(transforms: &Transforms, missing: bool) -> Option<Vec<(f32, f32)>> {
    if missing {
        return transforms.affine_parameters();
    }
    if transforms.min_max_in_query() {
        return None;
    }
    // Without missing values in the training data, their replacement has not influenced the
    // weights.
    let shift_and_scale = |steps: &Vec<TransformStep>| match steps.as_slice() {
        [] => Some((0.0, 1.0)),
        [TransformStep::Affine { shift, scale }] => Some((*shift, *scale)),
        _ => None,
    };
    transforms.steps().iter().map(shift_and_scale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the argument `missing` of [`model`].
    const WITHOUT_MISSING: bool = false;
    const WITH_MISSING: bool = true;

    /// Two scaled features, the second by 0; missing values of the first become `replacement`.
    fn scaled(replacement: f32) -> Transforms {
        let step = |shift, scale| vec![TransformStep::Affine { shift, scale }];
        let (steps, min_max_in_query) = (vec![step(2.0, 0.5), step(-1.0, 0.0)], false);
        Transforms::new(steps, vec![replacement, 0.0], min_max_in_query).unwrap()
    }

    #[test]
    fn a_linear_model_of_shifted_and_scaled_features_is_one_of_raw_features() {
        let body = model(&scaled(0.0), &[3.0, 7.0], 0.25, WITHOUT_MISSING).unwrap();
        let ModelBody::Linear(linear) = body else { panic!("{body:?}") };
        assert_eq!(linear.weights(), [1.5, 0.0]);
        // The first weight is 3 * 0.5, and its shift of 2 goes into the bias.
        assert_eq!(linear.bias(), 0.25 - 3.0);
        assert_eq!(linear.score_row(&[4.0, 9.0]), 3.25);
        assert_eq!(weights(&ModelBody::Linear(linear), &scaled(0.0)), [3.0, 0.0]);
    }

    #[test]
    fn transforms_beyond_shift_and_scale_give_a_net_of_one_layer() {
        let with_missing = model(&scaled(0.0), &[3.0, 7.0], 0.25, WITH_MISSING).unwrap();
        let ModelBody::Net(net) = &with_missing else { panic!("{with_missing:?}") };
        assert_eq!(net.score_row(&[4.0, 9.0]), 3.25);
        assert_eq!(net.score_row(&[f32::NAN, 9.0]), 0.25, "missing is the mean");
        assert_eq!(weights(&with_missing, &scaled(0.0)), [3.0, 7.0]);
        // A replacement of -1 is a raw value of 0 after shift and scale, which is the value that a
        // linear model gives to missing values anyway.
        let as_zero = model(&scaled(-1.0), &[3.0, 7.0], 0.0, WITH_MISSING);
        assert!(matches!(as_zero, Ok(ModelBody::Linear(_))));
        let log_steps = vec![vec![TransformStep::SignedLog]];
        let min_max_in_query = false;
        let log = Transforms::new(log_steps, vec![0.0], min_max_in_query).unwrap();
        assert!(matches!(model(&log, &[1.0], 0.0, WITHOUT_MISSING), Ok(ModelBody::Net(_))));
        let min_max_in_query = true;
        let in_query = Transforms::new(vec![vec![]], vec![0.5], min_max_in_query).unwrap();
        assert!(matches!(model(&in_query, &[1.0], 0.0, WITHOUT_MISSING), Ok(ModelBody::Net(_))));
    }
}
