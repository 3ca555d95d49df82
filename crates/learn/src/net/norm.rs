//! Layer norm and batch norm, forward and backward.
//!
//! Both bring values to mean 0 and variance 1, then multiply with a scale and add a shift that are
//! learnt; layer norm over the outputs of a document, batch norm over the documents of a
//! mini-batch, output by output. With x the input, x^ the value after the first step and g the
//! gradient of the loss with respect to x^ ("by x^"):
//!
//! ```text
//! gradient by x = (g - mean of g - x^ * mean of g x^) / standard deviation
//! ```
//!
//! The variance has [`EPSILON`] added to it, so equal values become 0. A mini-batch is cut into
//! blocks: each gives its sums in 64 bits, which are added in the order of the blocks.

/// Added to a variance before the square root.
const EPSILON: f32 = rankwright_model::LayerNorm::EPSILON as f32;

/// Number of partial sums that are added up side by side.
const LANES: usize = 8;

/// Sum of products, in eight partial sums: an order of additions that does not depend on the width
/// of the processor's registers.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    for ((lane, a), b) in lanes.iter_mut().zip(a_rest).zip(b_rest) {
        *lane += a * b;
    }
    total(lanes)
}

/// Sum, in eight partial sums like [`dot`].
fn sum(values: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += value;
        }
    }
    lanes.iter_mut().zip(rest).for_each(|(lane, value)| *lane += value);
    total(lanes)
}

/// The sum of the partial sums, always in the same order.
fn total([a, b, c, d, e, f, g, h]: [f32; LANES]) -> f32 {
    ((a + e) + (b + f)) + ((c + g) + (d + h))
}

/// Layer norm of each row in place, without scale and shift; `inverses` gets 1 / standard deviation
/// of each row. `width` is the number of values of a row.
pub(super) fn layer_forward(rows: &mut [f32], width: usize, inverses: &mut [f32]) {
    let inverse_width = 1.0 / width as f32;
    for (row, inverse) in rows.chunks_exact_mut(width).zip(inverses) {
        let mean = sum(row) * inverse_width;
        row.iter_mut().for_each(|x| *x -= mean);
        let variance = dot(row, row) * inverse_width;
        *inverse = 1.0 / (variance + EPSILON).sqrt();
        row.iter_mut().for_each(|x| *x *= *inverse);
    }
}

/// The backward pass through layer norm: turns `gradient` by the results (before the scale) into
/// the gradient by the inputs. `normalised` are the results, and `inverses` are those of the
/// forward pass.
pub(super) fn layer_backward(
    gradient: &mut [f32],
    normalised: &[f32],
    width: usize,
    inverses: &[f32],
) {
    let inverse_width = 1.0 / width as f32;
    let rows = gradient.chunks_exact_mut(width).zip(normalised.chunks_exact(width));
    for ((row, normalised), inverse) in rows.zip(inverses) {
        let mean = sum(row) * inverse_width;
        let mean_product = dot(row, normalised) * inverse_width;
        for (g, x) in row.iter_mut().zip(normalised) {
            *g = inverse * (*g - mean - x * mean_product);
        }
    }
}

/// Sums over the rows of a block: first the sum of `a` for each output, then the sum of the
/// products of `a` and `b` for each output. `width` is the number of outputs.
pub(super) fn column_sums(a: &[f32], b: &[f32], width: usize, into: &mut Vec<f64>) {
    into.clear();
    into.resize(2 * width, 0.0);
    let (sums, product_sums) = into.split_at_mut(width);
    for (a, b) in a.chunks_exact(width).zip(b.chunks_exact(width)) {
        let outputs = sums.iter_mut().zip(product_sums.iter_mut());
        for ((sum, product_sum), (a, b)) in outputs.zip(a.iter().zip(b)) {
            *sum += f64::from(*a);
            *product_sum += f64::from(*a) * f64::from(*b);
        }
    }
}

/// Statistics of each output over a mini-batch.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct BatchStats {
    pub(super) means: Vec<f32>,
    pub(super) variances: Vec<f32>,
    /// 1 / standard deviation; empty in moving means, which do not need these.
    pub(super) inverses: Vec<f32>,
}

impl BatchStats {
    /// Statistics from the sums of values and of their squares ([`column_sums`] of the values with
    /// themselves).
    pub(super) fn new(sums: &[f64], rows: usize) -> Self {
        let (sums, square_sums) = sums.split_at(sums.len() / 2);
        let inverse_rows = 1.0 / rows.max(1) as f64;
        let variance = |(sum, square_sum): (&f64, &f64)| {
            let mean = sum * inverse_rows;
            (square_sum * inverse_rows - mean * mean).max(0.0) as f32
        };
        let variances: Vec<f32> = sums.iter().zip(square_sums).map(variance).collect();
        Self {
            means: sums.iter().map(|sum| (sum * inverse_rows) as f32).collect(),
            inverses: variances.iter().map(|v| 1.0 / (v + EPSILON).sqrt()).collect(),
            variances,
        }
    }
}

/// Batch norm of each row in place, without scale and shift.
pub(super) fn batch_forward(rows: &mut [f32], stats: &BatchStats) {
    let width = stats.means.len();
    for row in rows.chunks_exact_mut(width) {
        for ((x, mean), inverse) in row.iter_mut().zip(&stats.means).zip(&stats.inverses) {
            *x = (*x - mean) * inverse;
        }
    }
}

/// The backward pass through batch norm: turns `gradient` by the scaled results into the gradient
/// by the inputs. `sums` are the [`column_sums`] of the gradient and `normalised` over the whole
/// mini-batch, which has `rows` rows.
pub(super) fn batch_backward(
    gradient: &mut [f32],
    normalised: &[f32],
    scales: &[f32],
    stats: &BatchStats,
    sums: &[f64],
    rows: usize,
) {
    let width = scales.len();
    let (sums, product_sums) = sums.split_at(width);
    let inverse_rows = 1.0 / rows.max(1) as f64;
    let means: Vec<f32> = sums.iter().map(|s| (s * inverse_rows) as f32).collect();
    let mean_products: Vec<f32> = product_sums.iter().map(|s| (s * inverse_rows) as f32).collect();
    let factors: Vec<f32> = scales.iter().zip(&stats.inverses).map(|(s, i)| s * i).collect();
    for (row, normalised) in gradient.chunks_exact_mut(width).zip(normalised.chunks_exact(width)) {
        for (output, (g, x)) in row.iter_mut().zip(normalised).enumerate() {
            *g = factors[output] * (*g - means[output] - x * mean_products[output]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_data::Random;

    fn random_numbers(count: usize, seed: u64) -> Vec<f32> {
        let mut random = Random::new(seed, 2);
        (0..count).map(|_| 3.0 + 2.0 * random.normal() as f32).collect()
    }

    fn stats(rows: &[f32], width: usize) -> BatchStats {
        let mut sums = Vec::new();
        column_sums(rows, rows, width, &mut sums);
        BatchStats::new(&sums, rows.len() / width)
    }

    #[test]
    fn results_have_mean_0_and_variance_1() {
        let (mut by_layer, mut by_batch) = (random_numbers(60, 1), random_numbers(60, 1));
        let mut inverses = [0.0; 6];
        layer_forward(&mut by_layer, 10, &mut inverses);
        for row in by_layer.chunks(10) {
            assert!(row.iter().sum::<f32>().abs() < 1e-5);
            assert!((row.iter().map(|x| x * x).sum::<f32>() / 10.0 - 1.0).abs() < 1e-4);
        }
        let stats = stats(&by_batch, 10);
        batch_forward(&mut by_batch, &stats);
        for column in 0..10 {
            let values = || by_batch.iter().skip(column).step_by(10);
            assert!(values().sum::<f32>().abs() < 1e-4);
            assert!((values().map(|x| x * x).sum::<f32>() / 6.0 - 1.0).abs() < 1e-4);
        }
    }

    #[test]
    fn equal_values_become_zero() {
        let (mut rows, mut inverses) = (vec![4.0; 12], [0.0; 3]);
        layer_forward(&mut rows, 4, &mut inverses);
        assert_eq!(rows, [0.0; 12]);
        let mut rows = vec![4.0; 12];
        let stats = stats(&rows, 4);
        batch_forward(&mut rows, &stats);
        assert_eq!(rows, [0.0; 12]);
    }

    /// A loss of the results: cosines with different weights, so that all derivatives differ.
    fn loss(results: &[f32]) -> f64 {
        let terms = results.iter().enumerate();
        terms.map(|(index, x)| (1.0 + index as f64 * 0.1) * f64::from(*x).cos()).sum()
    }

    /// The derivative of the loss by the result at an index.
    fn slope(index: usize, result: f32) -> f32 {
        -((1.0 + index as f64 * 0.1) * f64::from(result).sin()) as f32
    }

    /// Compares a gradient by the inputs with finite differences of the loss after `forward`.
    fn check_gradient(forward: impl Fn(&mut [f32]), gradient: &[f32], inputs: &[f32]) {
        for index in 0..inputs.len() {
            let moved = |by: f32| {
                let mut rows = inputs.to_vec();
                rows[index] += by;
                forward(&mut rows);
                loss(&rows)
            };
            let expected = (moved(0.02) - moved(-0.02)) / 0.04;
            assert!(
                (f64::from(gradient[index]) - expected).abs() < 2e-3,
                "{index}: {} {expected}",
                gradient[index]
            );
        }
    }

    #[test]
    fn the_backward_pass_of_layer_norm_agrees_with_finite_differences() {
        let inputs = random_numbers(24, 3);
        let (mut normalised, mut inverses) = (inputs.clone(), [0.0; 3]);
        layer_forward(&mut normalised, 8, &mut inverses);
        let mut gradient: Vec<f32> =
            normalised.iter().enumerate().map(|(index, x)| slope(index, *x)).collect();
        layer_backward(&mut gradient, &normalised, 8, &inverses);
        check_gradient(|rows| layer_forward(rows, 8, &mut [0.0; 3]), &gradient, &inputs);
    }

    #[test]
    fn the_backward_pass_of_batch_norm_agrees_with_finite_differences() {
        let (inputs, scales) = (random_numbers(28, 4), [0.5, -1.0, 2.0, 1.5]);
        let scaled = |rows: &mut [f32]| {
            let stats = stats(rows, 4);
            batch_forward(rows, &stats);
            rows.iter_mut().enumerate().for_each(|(index, x)| *x *= scales[index % 4]);
        };
        let (mut normalised, stats) = (inputs.clone(), stats(&inputs, 4));
        batch_forward(&mut normalised, &stats);
        let result = |(index, x): (usize, &f32)| slope(index, x * scales[index % 4]);
        let mut gradient: Vec<f32> = normalised.iter().enumerate().map(result).collect();
        let mut sums = Vec::new();
        column_sums(&gradient, &normalised, 4, &mut sums);
        batch_backward(&mut gradient, &normalised, &scales, &stats, &sums, 7);
        check_gradient(scaled, &gradient, &inputs);
    }
}
