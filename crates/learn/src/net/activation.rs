//! Activations: replaces each value by its activation, and keeps the derivative for the backward
//! pass.
//!
//! ```text
//! relu(z) = max(z, 0)          derivative 0 at 0
//! gelu(z) = z/2 (1 + tanh(c (z + 0.044715 z^3))),   c = sqrt(2 / pi)     (Hendrycks and Gimpel, 2016)
//! ```
//!
//! The backward pass only multiplies a gradient by these derivatives, whatever the activation.
//! Dropout, which is applied after the activation, multiplies values and derivatives by the same
//! factors, so that the backward pass need not know it.

use rankwright_model::Activation;

use crate::exp::one_minus_sigmoid;

/// c in the formula of GELU: sqrt(2 / pi).
const GELU_SCALE: f32 = 0.797_884_6;
/// The factor of z^3 in the formula of GELU.
const GELU_CUBE: f32 = 0.044_715;

/// Replaces each z of `values` by its activation and sets `derivatives` to the derivatives there.
pub(super) fn activate(activation: Activation, values: &mut [f32], derivatives: &mut [f32]) {
    match activation {
        Activation::Relu => {
            apply(values, derivatives, |z| if z > 0.0 { (z, 1.0) } else { (0.0, 0.0) })
        }
        Activation::Gelu => apply(values, derivatives, gelu),
        Activation::Tanh => apply(values, derivatives, |z| {
            let t = tanh(z);
            (t, 1.0 - t * t)
        }),
        // No activation: values stay as they are.
        Activation::None => derivatives.fill(1.0),
        // An activation that has no derivative here yet: NaN ends the training with an error. A
        // test tries every activation.
        _ => derivatives.fill(f32::NAN),
    }
}

/// Applies a function that returns the activation of a value and its derivative.
#[inline(always)]
fn apply(values: &mut [f32], derivatives: &mut [f32], function: impl Fn(f32) -> (f32, f32)) {
    for (value, derivative) in values.iter_mut().zip(derivatives) {
        (*value, *derivative) = function(*value);
    }
}

/// GELU and its derivative.
#[inline(always)]
fn gelu(z: f32) -> (f32, f32) {
    let square = z * z;
    let t = tanh(GELU_SCALE * (z + GELU_CUBE * square * z));
    let inner_derivative = GELU_SCALE * (1.0 + 3.0 * GELU_CUBE * square);
    (0.5 * z * (1.0 + t), 0.5 * (1.0 + t) + 0.5 * z * (1.0 - t * t) * inner_derivative)
}

/// The hyperbolic tangent by our own exponential, in 64 bits, so that the difference of two nearly
/// equal numbers is precise.
#[inline(always)]
fn tanh(x: f32) -> f32 {
    (1.0 - 2.0 * one_minus_sigmoid(2.0 * f64::from(x))) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value_and_derivative(activation: Activation, z: f32) -> (f32, f32) {
        let (mut value, mut derivative) = ([z], [9.0]);
        activate(activation, &mut value, &mut derivative);
        (value[0], derivative[0])
    }

    #[test]
    fn derivatives_agree_with_finite_differences() {
        for activation in Activation::ALL {
            for z in [-3.0, -0.7, -0.05, 0.05, 0.4, 1.0, 2.5] {
                let step = 1e-2;
                let (up, _) = value_and_derivative(activation, z + step);
                let (down, _) = value_and_derivative(activation, z - step);
                let expected = (up - down) / (2.0 * step);
                let found = value_and_derivative(activation, z).1;
                assert!((found - expected).abs() < 1e-3, "{activation:?} {z}: {found} {expected}");
            }
        }
    }

    #[test]
    fn known_values_are_met_and_large_inputs_give_finite_ones() {
        assert_eq!(value_and_derivative(Activation::Relu, -2.0), (0.0, 0.0));
        assert_eq!(value_and_derivative(Activation::Relu, 2.0), (2.0, 1.0));
        // The formula at z = 1: (1 + tanh(0.797885 * 1.044715)) / 2.
        assert!((value_and_derivative(Activation::Gelu, 1.0).0 - 0.841_192).abs() < 1e-5);
        assert!((value_and_derivative(Activation::Tanh, 0.5).0 - 0.5_f32.tanh()).abs() < 1e-7);
        for activation in Activation::ALL {
            for z in [-1e6, 1e6] {
                let (value, derivative) = value_and_derivative(activation, z);
                assert!(value.is_finite() && derivative.is_finite(), "{activation:?} {z}");
            }
        }
    }
}
