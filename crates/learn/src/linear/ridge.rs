//! Ridge regression by the normal equations:
//!
//! ```text
//! l2/2 |w|^2 + 1/2 * mean over rows, by weight, of (w.x + b - label)^2
//! ```
//!
//! The sums of products of features are computed in blocks of rows, whose size depends on the data
//! alone, and added in the order of the blocks; the system is solved by Cholesky. A constant
//! feature gets weight 0 if l2 is above 0 or the transform makes the feature 0. Cost O(rows
//! columns^2) once; for many columns conjugate gradients are used instead (`trainer.rs`).

use rankwright_data::Dataset;
use rayon::prelude::*;

use super::kernel::add_squares;
use super::problem::DesignMatrix;
use crate::cholesky::solve;
use crate::simd::Simd;

/// Maximum number of columns of the normal equations, whose cost grows with its square.
pub(super) const MAX_COLUMNS: usize = 500;
/// Maximum number of blocks; each has its own matrix of sums.
const MAX_BLOCKS: usize = 64;
/// Minimum number of rows of a block.
const MIN_BLOCK_ROWS: usize = 2048;

/// Returns the weights, then the intercept.
pub(super) fn fit(design: DesignMatrix<'_>, normalised_weights: &[f64], l2: f64) -> Vec<f64> {
    let DesignMatrix { data, values, simd } = design;
    let columns = data.columns();
    let sums = sums(data, values, normalised_weights, simd);
    // The unknowns are the weights and the intercept; a row of `sums` also has the label.
    let (unknowns, width) = (columns + 1, columns + 2);
    let mut a = vec![0.0; unknowns * unknowns];
    let mut b = vec![0.0; unknowns];
    for i in 0..unknowns {
        for j in i..unknowns {
            a[j * unknowns + i] = sums[i * width + j];
        }
        b[i] = sums[i * width + unknowns];
    }
    // The intercept has no penalty.
    (0..columns).for_each(|i| a[i * unknowns + i] += l2);
    // `l2` is on the diagonal already.
    let ridge = 0.0;
    solve(a, b, ridge)
}

/// For each row the features, then 1, then the label: the upper triangle of the matrix of their
/// products with each other, summed over all rows by weight.
fn sums(data: &Dataset, values: &[f32], normalised_weights: &[f64], simd: Simd) -> Vec<f64> {
    let columns = data.columns();
    let width = columns + 2;
    let block_rows = data.rows().div_ceil(MAX_BLOCKS).max(MIN_BLOCK_ROWS);
    let block_sums = |block: usize| {
        let rows = block * block_rows..((block + 1) * block_rows).min(data.rows());
        let mut sums = vec![0.0; width * width];
        let mut extended_row = vec![0.0; width];
        for row in rows {
            let features = &values[row * columns..(row + 1) * columns];
            extended_row.iter_mut().zip(features).for_each(|(to, x)| *to = f64::from(*x));
            extended_row[columns] = 1.0;
            extended_row[columns + 1] = data.labels()[row];
            add_squares(simd, &extended_row, &normalised_weights[row..=row], &mut sums);
        }
        sums
    };
    let blocks = data.rows().div_ceil(block_rows);
    let parts: Vec<Vec<f64>> = (0..blocks).into_par_iter().map(block_sums).collect();
    let mut sums = vec![0.0; width * width];
    for part in parts {
        sums.iter_mut().zip(part).for_each(|(sum, more)| *sum += more);
    }
    sums
}
