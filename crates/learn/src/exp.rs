//! The exponential function, implemented here so that a model's bits do not depend on a machine's
//! `libm`; also functions computed from it, and the logarithm.
//!
//! ```text
//! exp(x) = 2^k * exp(r),   k = round(x / ln 2),   |r| <= ln(2) / 2
//! ```
//!
//! exp(r) is its Taylor series to the 13th power (the remainder is below 1e-17). No branch, no
//! table and no fused multiply-add: a loop over a slice is vectorised, and every width of register
//! gives the same bits. Relative error below 4e-16. Below -708 the result is 0, above 709 infinity
//! (true values there are below 4e-308 or above 8e307). NaN stays NaN.

const LOG2_E: f64 = std::f64::consts::LOG2_E;
/// The first of two parts of ln 2: its last 21 bits are 0, so that k times it is exact.
const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
/// The second part: ln 2 - [`LN2_HIGH`].
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// 1.5 * 2^52: adding this constant to a number leaves the nearest integer in the lowest bits of
/// the sum; subtracting it again gives this integer as a float.
pub(crate) const ROUND_TO_INTEGER: f64 = 6_755_399_441_055_744.0;

/// 1/n! for n = 2 to 13.
const TAYLOR: [f64; 12] = [
    0.5,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5_040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
];

/// e to the power x.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    // min and max would turn NaN into a bound; these comparisons preserve it.
    let clamped = if x < -708.0 { -708.0 } else { x };
    let clamped = if clamped > 709.0 { 709.0 } else { clamped };
    let rounded = clamped * LOG2_E + ROUND_TO_INTEGER;
    let k = rounded - ROUND_TO_INTEGER;
    let r = (clamped - k * LN2_HIGH) - k * LN2_LOW;
    // exp(r) by Estrin's scheme, so that the processor need not wait for each power in turn.
    let (r2, c) = (r * r, &TAYLOR);
    let r4 = r2 * r2;
    let low = (c[0] + c[1] * r) + (c[2] + c[3] * r) * r2;
    let middle = (c[4] + c[5] * r) + (c[6] + c[7] * r) * r2;
    let high = (c[8] + c[9] * r) + (c[10] + c[11] * r) * r2;
    let exp_r = 1.0 + (r + r2 * (low + r4 * (middle + r4 * high)));
    // 2^k: the exponent of a float is stored with 1023 added, in the bits from 52 on.
    let two_to_k = f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52);
    let value = exp_r * two_to_k;
    let value = if x < -708.0 { 0.0 } else { value };
    if x > 709.0 { f64::INFINITY } else { value }
}

/// The logistic function 1 / (1 + e^-x).
#[inline(always)]
pub(crate) fn sigmoid(x: f64) -> f64 {
    one_minus_sigmoid(-x)
}

/// 1 - sigmoid(x) = 1 / (1 + e^x), precise for large x too.
#[inline(always)]
pub(crate) fn one_minus_sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + exp(x))
}

/// ln(1 + e^x) without overflow.
pub(crate) fn softplus(x: f64) -> f64 {
    x.max(0.0) + exp(-x.abs()).ln_1p()
}

/// The natural logarithm of a number above 0 that is not subnormal; the error is below 1e-15,
/// relative away from 1 and absolute near it.
///
/// ```text
/// ln x = k ln 2 + 2 (s + s^3/3 + s^5/5 + ...)
/// x = 2^k m,   m within sqrt(1/2)..sqrt(2),   s = (m - 1) / (m + 1)
/// ```
pub(crate) fn ln(x: f64) -> f64 {
    /// The bits of the square root of 1/2, the smallest m.
    const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    let k = (x.to_bits().wrapping_sub(ROOT_HALF) as i64) >> 52;
    let m = f64::from_bits(x.to_bits().wrapping_sub((k as u64) << 52));
    let s = (m - 1.0) / (m + 1.0);
    let s2 = s * s;
    // 1/(2n + 1) for n = 11 down to 0: the remainder is below 1e-18.
    let series = (0..12).rev().fold(0.0, |sum, n| sum * s2 + 1.0 / f64::from(2 * n + 1));
    k as f64 * std::f64::consts::LN_2 + 2.0 * s * series
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_relative_error_stays_below_4e_16() {
        let mut worst = 0.0_f64;
        for i in 0..2_000_000 {
            let x = -708.0 + 1417.0 * (f64::from(i) / 2e6);
            let error = (exp(x) / x.exp() - 1.0).abs();
            worst = worst.max(error);
        }
        assert!(worst < 4e-16, "{worst}");
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-0.0), 1.0);
        assert_eq!(exp(1e-300), 1.0);
    }

    #[test]
    fn arguments_out_of_range_give_zero_or_infinity_and_nan_gives_nan() {
        for x in [-708.1, -1e10, f64::MIN, f64::NEG_INFINITY] {
            assert_eq!(exp(x), 0.0);
        }
        for x in [709.1, 1e300, f64::INFINITY] {
            assert_eq!(exp(x), f64::INFINITY);
            assert_eq!(one_minus_sigmoid(x), 0.0);
            assert_eq!(softplus(x), x);
        }
        assert!(exp(f64::NAN).is_nan());
        assert_eq!(one_minus_sigmoid(f64::NEG_INFINITY), 1.0);
        assert_eq!(softplus(f64::NEG_INFINITY), 0.0);
    }

    #[test]
    fn the_logarithm_is_that_of_the_standard_library() {
        assert_eq!(ln(1.0), 0.0);
        for i in 1..200_000 {
            let x = f64::from(i) / 1e5;
            assert!((ln(x) - x.ln()).abs() < 4e-16 * x.ln().abs().max(1.0), "{x}");
        }
        for x in [f64::MIN_POSITIVE, 1e-300, 1e300, f64::MAX] {
            assert!((ln(x) / x.ln() - 1.0).abs() < 1e-15, "{x}");
        }
    }

    proptest! {
        #[test]
        fn exp_never_falls(x in -700.0..700.0_f64, step in 0.0..1.0_f64) {
            prop_assert!(exp(x + step * 1e-3) >= exp(x) * (1.0 - 4e-16));
        }

        #[test]
        fn softplus_is_the_logarithm_of_one_plus_exp(x in -30.0..30.0_f64) {
            prop_assert!((softplus(x) - (1.0 + x.exp()).ln()).abs() < 1e-13);
        }
    }
}
