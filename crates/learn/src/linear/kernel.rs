//! The loops over feature values: rows times weights, and rows added up with coefficients.
//!
//! Values are f32, sums f64. The product of a row with the weights is added up in eight partial
//! sums (lanes), which are added in a fixed order; rows times coefficients are added row after row.
//! The loops are portable Rust without intrinsics, compiled twice, with and without AVX2 (see
//! [`crate::simd`]): both versions give the same bits.

#[cfg(target_arch = "x86_64")]
use crate::simd::Avx2;
use crate::simd::Simd;

/// The product of each row with the weights.
pub(super) fn products(simd: Simd, rows: &[f32], weights: &[f64], out: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = simd.avx2() {
        // SAFETY: `avx2` proves that the processor has AVX2.
        return unsafe { products_avx2(avx2, rows, weights, out) };
    }
    let _ = simd;
    products_loop(rows, weights, out);
}

/// Adds each row times its coefficient to the sums. Rows with a coefficient of 0 are skipped.
pub(super) fn add_rows(simd: Simd, rows: &[f32], coefficients: &[f64], sums: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = simd.avx2() {
        // SAFETY: `avx2` proves that the processor has AVX2.
        return unsafe { add_rows_avx2(avx2, rows, coefficients, sums) };
    }
    let _ = simd;
    add_rows_loop(rows, coefficients, sums);
}

/// Adds `weight x x^T` of each row x to the upper triangle of the square matrix `sums`, which is
/// stored row by row.
pub(super) fn add_squares(simd: Simd, rows: &[f64], weights: &[f64], sums: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = simd.avx2() {
        // SAFETY: `avx2` proves that the processor has AVX2.
        return unsafe { add_squares_avx2(avx2, rows, weights, sums) };
    }
    let _ = simd;
    add_squares_loop(rows, weights, sums);
}

/// Number of partial sums of a row's product.
const LANES: usize = 8;

#[inline(always)]
fn products_loop(rows: &[f32], weights: &[f64], out: &mut [f64]) {
    let columns = weights.len();
    if columns == 0 {
        return out.fill(0.0);
    }
    let (weight_chunks, last_weights) = weights.as_chunks::<LANES>();
    for (row, out) in rows.chunks_exact(columns).zip(out) {
        let (value_chunks, last_values) = row.as_chunks::<LANES>();
        let mut lanes = [0.0; LANES];
        for (values, weights) in value_chunks.iter().zip(weight_chunks) {
            for lane in 0..LANES {
                lanes[lane] += f64::from(values[lane]) * weights[lane];
            }
        }
        for ((lane, value), weight) in lanes.iter_mut().zip(last_values).zip(last_weights) {
            *lane += f64::from(*value) * weight;
        }
        let [a, b, c, d, e, f, g, h] = lanes;
        *out = ((a + e) + (c + g)) + ((b + f) + (d + h));
    }
}

#[inline(always)]
fn add_rows_loop(rows: &[f32], coefficients: &[f64], sums: &mut [f64]) {
    let columns = sums.len();
    if columns == 0 {
        return;
    }
    for (row, coefficient) in rows.chunks_exact(columns).zip(coefficients) {
        if *coefficient != 0.0 {
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += coefficient * f64::from(*value);
            }
        }
    }
}

#[inline(always)]
fn add_squares_loop(rows: &[f64], weights: &[f64], sums: &mut [f64]) {
    let columns = sums.len().isqrt();
    if columns == 0 {
        return;
    }
    for (row, weight) in rows.chunks_exact(columns).zip(weights) {
        for (i, matrix_row) in sums.chunks_exact_mut(columns).enumerate() {
            let factor = weight * row[i];
            for (sum, value) in matrix_row[i..].iter_mut().zip(&row[i..]) {
                *sum += factor * value;
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn products_avx2(_proof: Avx2, rows: &[f32], weights: &[f64], out: &mut [f64]) {
    products_loop(rows, weights, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_rows_avx2(_proof: Avx2, rows: &[f32], coefficients: &[f64], sums: &mut [f64]) {
    add_rows_loop(rows, coefficients, sums);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_squares_avx2(_proof: Avx2, rows: &[f64], weights: &[f64], sums: &mut [f64]) {
    add_squares_loop(rows, weights, sums);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn avx2_changes_no_bit_and_the_sums_are_right(
            columns in 1_usize..40,
            seed: u64,
            count in 0_usize..20,
        ) {
            let mut random = rankwright_data::Random::new(seed, 1);
            let rows: Vec<f32> = (0..count * columns).map(|_| random.normal() as f32).collect();
            let weights: Vec<f64> = (0..columns).map(|_| random.normal()).collect();
            let (mut scores, mut portable_scores) = (vec![0.0; count], vec![0.0; count]);
            products(Simd::Auto, &rows, &weights, &mut scores);
            products(Simd::Portable, &rows, &weights, &mut portable_scores);
            prop_assert_eq!(&scores, &portable_scores);
            for (row, found) in rows.chunks(columns).zip(&scores) {
                let expected: f64 = row.iter().zip(&weights).map(|(x, w)| f64::from(*x) * w).sum();
                prop_assert!((expected - found).abs() < 1e-9);
            }
            let (mut sums, mut portable_sums) = (vec![0.0; columns], vec![0.0; columns]);
            add_rows(Simd::Auto, &rows, &scores, &mut sums);
            add_rows(Simd::Portable, &rows, &scores, &mut portable_sums);
            prop_assert_eq!(&sums, &portable_sums);
            for (column, found) in sums.iter().enumerate() {
                let values = rows.iter().skip(column).step_by(columns);
                let expected: f64 = values.zip(&scores).map(|(x, c)| f64::from(*x) * c).sum();
                prop_assert!((expected - found).abs() < 1e-9);
            }
            let rows: Vec<f64> = rows.iter().map(|x| f64::from(*x)).collect();
            let mut squares = vec![0.0; columns * columns];
            let mut portable_squares = vec![0.0; columns * columns];
            add_squares(Simd::Auto, &rows, &scores, &mut squares);
            add_squares(Simd::Portable, &rows, &scores, &mut portable_squares);
            prop_assert_eq!(&squares, &portable_squares);
        }
    }

    #[test]
    fn data_without_features_gives_zeros() {
        let mut out = [7.0; 3];
        products(Simd::Auto, &[], &[], &mut out);
        assert_eq!(out, [0.0; 3]);
        add_rows(Simd::Auto, &[], &out, &mut []);
        add_squares(Simd::Auto, &[], &out, &mut []);
    }
}
