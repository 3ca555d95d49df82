//! Activations: replaces each value by its activation, and keeps the derivative for the backward
//! pass.
//!
//! ```text
//! relu(z) = max(z, 0)          slope 0 at 0
//! gelu(z) = z/2 (1 + tanh(c (z + 0.044715 z^3))),   c = sqrt(2 / pi)     (Hendrycks and Gimpel, 2016)
//! ```
//!
//! The derivatives are kept: the backward pass multiplies a gradient by them, for any activation
//! and with dropout included.

use rankwright_model::Activation;

use crate::exp::one_minus_sigmoid;

const GELU_SCALE: f32 = 0.797_884_6;
const GELU_CUBE: f32 = 0.044_715;

/// Replaces each z of `values` by its activation and sets `slopes` to the derivatives there.
pub(super) fn activate(activation: Activation, values: &mut [f32], slopes: &mut [f32]) {
    match activation {
        Activation::Relu => each(values, slopes, |z| if z > 0.0 { (z, 1.0) } else { (0.0, 0.0) }),
        Activation::Gelu => each(values, slopes, gelu),
        Activation::Tanh => each(values, slopes, |z| {
            let t = tanh(z);
            (t, 1.0 - t * t)
        }),
        _ => slopes.fill(1.0),
    }
}

#[inline(always)]
fn each(values: &mut [f32], slopes: &mut [f32], of: impl Fn(f32) -> (f32, f32)) {
    for (value, slope) in values.iter_mut().zip(slopes) {
        (*value, *slope) = of(*value);
    }
}

#[inline(always)]
fn gelu(z: f32) -> (f32, f32) {
    let square = z * z;
    let t = tanh(GELU_SCALE * (z + GELU_CUBE * square * z));
    let inner = GELU_SCALE * (1.0 + 3.0 * GELU_CUBE * square);
    (0.5 * z * (1.0 + t), 0.5 * (1.0 + t) + 0.5 * z * (1.0 - t * t) * inner)
}

/// The hyperbolic tangent by our own exponential; 64 bits keep the digits of the difference.
#[inline(always)]
fn tanh(x: f32) -> f32 {
    (1.0 - 2.0 * one_minus_sigmoid(2.0 * f64::from(x))) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Activation; 4] =
        [Activation::None, Activation::Relu, Activation::Gelu, Activation::Tanh];

    fn of(activation: Activation, z: f32) -> (f32, f32) {
        let (mut value, mut slope) = ([z], [9.0]);
        activate(activation, &mut value, &mut slope);
        (value[0], slope[0])
    }

    #[test]
    fn slopes_are_those_of_the_values() {
        for activation in ALL {
            for z in [-3.0, -0.7, -0.05, 0.05, 0.4, 1.0, 2.5] {
                let step = 1e-2;
                let (up, down) = (of(activation, z + step).0, of(activation, z - step).0);
                let expected = (up - down) / (2.0 * step);
                let found = of(activation, z).1;
                assert!((found - expected).abs() < 1e-3, "{activation:?} {z}: {found} {expected}");
            }
        }
    }

    #[test]
    fn values_are_known_ones_and_large_inputs_stay_finite() {
        assert_eq!(of(Activation::Relu, -2.0), (0.0, 0.0));
        assert_eq!(of(Activation::Relu, 2.0), (2.0, 1.0));
        assert!((of(Activation::Gelu, 1.0).0 - 0.841_192).abs() < 1e-5);
        assert!((of(Activation::Tanh, 0.5).0 - 0.5_f32.tanh()).abs() < 1e-7);
        for activation in ALL {
            for z in [-1e6, 1e6] {
                let (value, slope) = of(activation, z);
                assert!(value.is_finite() && slope.is_finite(), "{activation:?} {z}");
            }
        }
    }
}
