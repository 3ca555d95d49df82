//! Derivatives as integers: sums become exact, hence independent of their order.
//!
//! Gradients and hessians are multiplied by a power of two each and rounded to the nearest integer;
//! both are packed into 64 bits, `g << 32 | h`, so that one wrapping addition adds both. The powers
//! are about the largest for which the sum of absolute values over all rows stays below 2^30: then
//! no partial sum overflows its half (h is never negative, so nothing carries into g). They are
//! computed from an exact integer sum of coarsely rounded values, so that they do not depend on the
//! order of rows either. Leaf values are computed from *wide* sums ([`Scales::wide`]): 64-bit
//! integers in units 2^31 times smaller. Cost: three passes over the derivatives. All zeros are
//! legal; a NaN or an infinity is an error.

use rayon::prelude::*;

use crate::collective::Collective;
use crate::error::{LearnError, NotFiniteValue};
use crate::exp::ROUND_TO_INTEGER;

/// Number of rows of one parallel task.
const CHUNK_ROWS: usize = 1 << 15;
/// Sums of absolute values stay at or below 2 to this power.
const SUM_BITS: i32 = 30;
/// Additional bits of the wide sums.
const WIDE_BITS: i32 = 31;
/// Bits of the coarsely rounded values from which the powers are computed: few enough that the sum
/// over 2^43 rows fits into 64 bits.
const COARSE_BITS: i32 = 20;

/// Powers of two by which gradients and hessians are multiplied to become integers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scales {
    pub(crate) gradient: f64,
    pub(crate) hessian: f64,
    /// The largest packed hessian of a row.
    pub(crate) largest_hessian: u32,
}

impl Scales {
    /// The scales for the derivatives of all rows, the same in all processes of `collective`.
    pub(crate) fn of(
        gradient: &[f32],
        hessian: &[f32],
        collective: &dyn Collective,
    ) -> Result<Self, LearnError> {
        // The bits of the largest absolute value.
        let largest_bits = |values: &[f32]| {
            // The bits of absolute values sort like the values, with NaN above all numbers.
            let of_chunk = |chunk: &[f32]| {
                chunk.iter().fold(0_u32, |largest, v| largest.max(v.to_bits() & 0x7fff_ffff))
            };
            values.par_chunks(CHUNK_ROWS).map(of_chunk).max().unwrap_or(0)
        };
        let mut bits = [u64::from(largest_bits(gradient)), u64::from(largest_bits(hessian))];
        collective.max(&mut bits)?;
        let largest = bits.map(|bits| f32::from_bits(bits as u32));
        if largest.iter().any(|v| !v.is_finite()) {
            return Err(NotFiniteValue::ObjectiveDerivative.into());
        }
        if hessian.par_chunks(CHUNK_ROWS).any(|chunk| chunk.iter().any(|h| *h < 0.0)) {
            return Err(LearnError::NegativeHessian);
        }
        // Coarse sums are counted in units of 2 to this power.
        let unit_powers = largest.map(|largest| exponent(largest) - COARSE_BITS);
        let mut sums = [coarse_sum(gradient, unit_powers[0]), coarse_sum(hessian, unit_powers[1])];
        collective.sum(&mut sums)?;
        let scale = |sum: u64, unit_power: i32| match sum {
            0 => 1.0,
            _ => two_to(SUM_BITS - (unit_power + (u64::BITS - sum.leading_zeros()) as i32)),
        };
        let gradient = scale(sums[0], unit_powers[0]);
        let hessian = scale(sums[1], unit_powers[1]);
        let largest_hessian = rounded(largest[1], hessian);
        Ok(Self { gradient, hessian, largest_hessian })
    }

    /// Packs the gradient and the hessian of one row.
    #[inline(always)]
    pub(crate) fn pack(&self, gradient: f32, hessian: f32) -> u64 {
        let (g, h) = (rounded(gradient, self.gradient), rounded(hessian, self.hessian));
        (u64::from(g) << 32).wrapping_add(u64::from(h))
    }

    /// The gradient and the hessian of one row as integers in the units of wide sums.
    #[inline(always)]
    pub(crate) fn wide(&self, gradient: f32, hessian: f32) -> [i64; 2] {
        let wide_factor = (1_i64 << WIDE_BITS) as f64;
        let part = |value: f32, scale: f64| (f64::from(value) * (scale * wide_factor)) as i64;
        [part(gradient, self.gradient), part(hessian, self.hessian)]
    }

    /// The factor by which a hessian is multiplied in wide sums.
    pub(crate) fn wide_hessian_scale(&self) -> f64 {
        self.hessian * (1_i64 << WIDE_BITS) as f64
    }

    /// Wide sums of gradients and of hessians, converted back to floats.
    pub(crate) fn wide_to_floats(&self, sums: [i64; 2]) -> (f64, f64) {
        let wide_factor = (1_i64 << WIDE_BITS) as f64;
        (
            sums[0] as f64 / (self.gradient * wide_factor),
            sums[1] as f64 / (self.hessian * wide_factor),
        )
    }

    /// Packs all rows.
    pub(crate) fn pack_all(&self, gradient: &[f32], hessian: &[f32], out: &mut [u64]) {
        let chunks = out
            .par_chunks_mut(CHUNK_ROWS)
            .zip(gradient.par_chunks(CHUNK_ROWS).zip(hessian.par_chunks(CHUNK_ROWS)));
        chunks.for_each(|(out, (gradient, hessian))| {
            for (out, (g, h)) in out.iter_mut().zip(gradient.iter().zip(hessian)) {
                *out = self.pack(*g, *h);
            }
        });
    }
}

/// `value * scale`, rounded to the nearest integer, ties to even, as 32 bits in two's complement.
/// Adding [`ROUND_TO_INTEGER`] leaves exactly these bits in the lowest ones of the mantissa.
#[inline(always)]
fn rounded(value: f32, scale: f64) -> u32 {
    (f64::from(value) * scale + ROUND_TO_INTEGER).to_bits() as u32
}

/// The least e with value <= 2^e; 0 for 0.
fn exponent(value: f32) -> i32 {
    if value == 0.0 {
        return 0;
    }
    let bits = f64::from(value).to_bits();
    // The exponent of a float is stored with 1023 added, in the bits above the 52 of the mantissa.
    let floor = (bits >> 52) as i32 - 1023;
    floor + i32::from(bits & ((1 << 52) - 1) != 0)
}

/// 2^e as a float, for exponents within -1000 and 1000, which include all that occur here.
fn two_to(e: i32) -> f64 {
    f64::from_bits(((e.clamp(-1000, 1000) + 1023) as u64) << 52)
}

/// Sum of absolute values in units of 2^`unit_power`, each rounded down plus 1: an upper bound that
/// does not depend on the order of the values.
fn coarse_sum(values: &[f32], unit_power: i32) -> u64 {
    let factor = two_to(-unit_power);
    let of_chunk = |chunk: &[f32]| {
        chunk.iter().map(|v| (f64::from(v.abs()) * factor) as u32 as u64 + 1).sum::<u64>()
    };
    values.par_chunks(CHUNK_ROWS).map(of_chunk).sum()
}

/// The two halves of a packed sum: the sum of gradients and the sum of hessians.
#[inline(always)]
pub(crate) fn unpack(packed: u64) -> (i32, i32) {
    ((packed >> 32) as i32, packed as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::SingleProcess;
    use proptest::prelude::*;

    fn scales(g: &[f32], h: &[f32]) -> Scales {
        Scales::of(g, h, &SingleProcess).unwrap()
    }

    #[test]
    fn no_rows_and_zero_derivatives_are_legal() {
        assert_eq!(scales(&[], &[]).pack(0.0, 0.0), 0);
        assert_eq!(scales(&[0.0, -0.0], &[0.0, 0.0]).pack(-0.0, 0.0), 0);
    }

    #[test]
    fn nan_infinity_and_negative_hessians_are_errors() {
        for bad in [f32::NAN, f32::INFINITY] {
            assert!(Scales::of(&[1.0, bad], &[1.0, 1.0], &SingleProcess).is_err());
            assert!(Scales::of(&[1.0, 1.0], &[bad, 1.0], &SingleProcess).is_err());
            assert!(Scales::of(&[1.0, 1.0], &[1.0, -1e-9], &SingleProcess).is_err());
        }
    }

    proptest! {
        #[test]
        fn packed_sums_hold_the_sums_of_gradients_and_hessians(
            rows in proptest::collection::vec((-1e3_f32..1e3, 0.0_f32..10.0), 1..500),
            power in -60_i32..60,
        ) {
            let factor = 2_f32.powi(power);
            let (g, h): (Vec<f32>, Vec<f32>) =
                rows.iter().map(|(g, h)| (g * factor, h * factor)).unzip();
            let scales = scales(&g, &h);
            let mut packed = vec![0; g.len()];
            scales.pack_all(&g, &h, &mut packed);
            let sum = packed.iter().fold(0_u64, |a, b| a.wrapping_add(*b));
            let expected: i64 = g.iter().map(|g| rounded(*g, scales.gradient) as i32 as i64).sum();
            let (sum_g, sum_h) = unpack(sum);
            prop_assert_eq!(i64::from(sum_g), expected);
            let exact: f64 = h.iter().map(|h| f64::from(*h)).sum();
            let error = (f64::from(sum_h) / scales.hessian - exact).abs();
            prop_assert!(error <= 0.5 * g.len() as f64 / scales.hessian);
            // The scale is fine enough: the sum of all hessians is at least about 2^27 of the 2^30
            // that fit.
            prop_assert!(exact == 0.0 || exact * scales.hessian > f64::from(1 << 28) * 0.49);
            let wide = g.iter().zip(&h).fold([0; 2], |sum, (g, h)| {
                let [a, b] = scales.wide(*g, *h);
                [sum[0] + a, sum[1] + b]
            });
            let (wide_g, wide_h) = scales.wide_to_floats(wide);
            let exact_g: f64 = g.iter().map(|g| f64::from(*g)).sum();
            prop_assert!((wide_h - exact).abs() <= exact * 1e-12);
            prop_assert!((wide_g - exact_g).abs() <= f64::from(1000.0 * factor) * 1e-9);
        }
    }
}
