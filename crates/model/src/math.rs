//! Our own ln(1 + x) and tanh, so that a score's bits do not depend on a machine's `libm`.
//!
//! ```text
//! ln(1 + x) = k ln 2 + 2 (s + s^3/3 + s^5/5 + ...),   1 + x = 2^k (1 + d),   s = d / (2 + d)
//! tanh(x)   = e / (e + 2),   e = exp(2x) - 1 = 2^k (exp(r) - 1) + (2^k - 1),   2x = k ln 2 + r
//! ```
//!
//! Neither has a branch, a table or a fused multiply-add: a loop over a slice is vectorised, and
//! every width of register gives the same bits. Both are odd functions and exact at 0, and their
//! relative error is below 3e-7 everywhere (tests compare them with the standard library).

/// The bits of the square root of 1/2, the smallest value of `1 + d` in the formula.
const ROOT_HALF_BITS: u64 = 0x3fe6_a09e_667f_3bcd;
/// 2^52: its sum with a small whole number has that number in its lowest bits.
const TWO_TO_52: f64 = 4_503_599_627_370_496.0;
/// 1.5 x 2^23: its sum with a number has the nearest whole number in its lowest bits.
const ROUNDING_OFFSET: f32 = 12_582_912.0;
/// The high part of ln 2 = `LN2_HIGH + LN2_LOW`. Its last bits are 0, so that its product with a
/// small whole number is exact.
const LN2_HIGH: f32 = 0.693_359_4;
/// The low part of ln 2.
const LN2_LOW: f32 = -2.121_944_4e-4;
/// From this number on tanh, rounded to f32, is 1.
const TANH_IS_ONE: f32 = 9.1;

/// sign(x) ln(1 + |x|), for finite x; an unspecified number for others, but no panic.
#[inline(always)]
pub(crate) fn signed_log(x: f32) -> f32 {
    let y = f64::from(x.abs());
    let sum = 1.0 + y;
    // k in the formula.
    let power = sum.to_bits().wrapping_sub(ROOT_HALF_BITS) >> 52;
    let mantissa = f64::from_bits(sum.to_bits().wrapping_sub(power << 52));
    // If k is 0, d is y itself, of which the sum 1 + y has lost digits.
    let d = if power == 0 { y } else { mantissa - 1.0 };
    let s = d / (2.0 + d);
    let s2 = s * s;
    let series = 1.0 / 11.0 + s2 * (1.0 / 13.0);
    let series = 1.0 / 7.0 + s2 * (1.0 / 9.0 + s2 * series);
    let series = 1.0 + s2 * (1.0 / 3.0 + s2 * (1.0 / 5.0 + s2 * series));
    // k as a float, by bits: a conversion of 64 bits would not be vectorised.
    let power = f64::from_bits(power | TWO_TO_52.to_bits()) - TWO_TO_52;
    let log = power * std::f64::consts::LN_2 + 2.0 * s * series;
    (log as f32).copysign(x)
}

/// The hyperbolic tangent, for any x but NaN.
#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    let magnitude = x.abs();
    let twice = 2.0 * if magnitude > TANH_IS_ONE { TANH_IS_ONE } else { magnitude };
    let rounded = twice * std::f32::consts::LOG2_E + ROUNDING_OFFSET;
    let k = rounded - ROUNDING_OFFSET;
    let r = (twice - k * LN2_HIGH) - k * LN2_LOW;
    let series = 1.0 / 120.0 + r * (1.0 / 720.0 + r * (1.0 / 5_040.0));
    let series = 0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * series));
    let exp_r_minus_one = r + r * r * series;
    // The lowest bits of `rounded` are k; 127 more, in the bits of the exponent, make 2^k.
    let two_to_k = f32::from_bits(rounded.to_bits().wrapping_add(127) << 23);
    let e = two_to_k * exp_r_minus_one + (two_to_k - 1.0);
    (e / (e + 2.0)).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Powers of 10, from 10^-38 to 10^38.
    fn values_of_all_magnitudes() -> impl Iterator<Item = f32> {
        (0..=2_000_000)
            .map(|n| f64::from(n - 1_000_000) / 1_000_000.0 * 38.0)
            .map(|power| 10_f64.powf(power) as f32)
    }

    #[test]
    fn the_logarithm_is_that_of_the_standard_library() {
        for x in values_of_all_magnitudes() {
            let exact = f64::from(x).ln_1p();
            let error = (f64::from(signed_log(x)) / exact - 1.0).abs();
            assert!(error < 1e-7, "{x}: {error}");
            assert_eq!(signed_log(-x), -signed_log(x));
        }
        assert_eq!(signed_log(0.0).to_bits(), 0.0_f32.to_bits());
        assert_eq!(signed_log(-0.0).to_bits(), (-0.0_f32).to_bits());
        assert!(signed_log(f32::MAX).is_finite() && signed_log(1e-45) > 0.0);
    }

    #[test]
    fn the_hyperbolic_tangent_is_that_of_the_standard_library() {
        for x in values_of_all_magnitudes().filter(|x| *x > 1e-37) {
            let exact = f64::from(x).tanh();
            let error = (f64::from(tanh(x)) / exact - 1.0).abs();
            assert!(error < 3e-7, "{x}: {error}");
            assert_eq!(tanh(-x), -tanh(x));
        }
        assert_eq!(tanh(0.0).to_bits(), 0.0_f32.to_bits());
        assert_eq!((tanh(f32::INFINITY), tanh(f32::NEG_INFINITY)), (1.0, -1.0));
        assert!(tanh(1e-45) >= 0.0);
    }

    proptest! {
        #[test]
        fn results_stay_in_range(x in prop::num::f32::NORMAL | prop::num::f32::ZERO) {
            prop_assert!(tanh(x).abs() <= 1.0);
            // The logarithm of the largest f32 is 88.7.
            prop_assert!(signed_log(x).abs() <= 89.0);
        }
    }
}
