//! Ridge regression by the normal equations:
//!
//! ```text
//! l2/2 |w|^2 + 1/2 * mean over rows, by weight, of (w.x + b - label)^2
//! ```
//!
//! The sums of products of features are computed in blocks of rows, whose size only the data
//! decides, and added in their order; the system is solved by Cholesky. A constant feature gets
//! weight 0. Cost O(rows columns^2) once; for many columns conjugate gradients are used instead
//! (`trainer.rs`).

use rankwright_data::Dataset;
use rayon::prelude::*;

use super::kernel::add_squares;
use super::problem::Design;
use crate::cholesky::solve;
use crate::simd::Simd;

/// Maximum number of columns of the normal equations.
pub(super) const MAX_COLUMNS: usize = 500;
/// Maximum number of blocks; each has its own matrix of sums.
const BLOCKS: usize = 64;
/// Minimum number of rows of a block.
const ROWS: usize = 2048;

/// Returns the weights, then the intercept.
pub(super) fn fit(design: Design<'_>, normalised_weights: &[f64], l2: f64) -> Vec<f64> {
    let Design { data, values, simd } = design;
    let columns = data.columns();
    let sums = sums(data, values, normalised_weights, simd);
    let (size, width) = (columns + 1, columns + 2);
    let mut a = vec![0.0; size * size];
    let mut b = vec![0.0; size];
    for i in 0..size {
        for j in i..size {
            a[j * size + i] = sums[i * width + j];
        }
        b[i] = sums[i * width + size];
    }
    (0..columns).for_each(|i| a[i * size + i] += l2);
    solve(a, b, 0.0)
}

/// The upper triangle of all products of features, 1 and the label with each other.
fn sums(data: &Dataset, values: &[f32], normalised_weights: &[f64], simd: Simd) -> Vec<f64> {
    let columns = data.columns();
    let width = columns + 2;
    let rows = data.rows().div_ceil(BLOCKS).max(ROWS);
    let of_block = |block: usize| {
        let mine = block * rows..((block + 1) * rows).min(data.rows());
        let mut sums = vec![0.0; width * width];
        let mut extended_row = vec![0.0; width];
        for row in mine {
            let features = &values[row * columns..(row + 1) * columns];
            extended_row.iter_mut().zip(features).for_each(|(to, x)| *to = f64::from(*x));
            extended_row[columns] = 1.0;
            extended_row[columns + 1] = data.labels()[row];
            add_squares(simd, &extended_row, &normalised_weights[row..=row], &mut sums);
        }
        sums
    };
    let blocks = data.rows().div_ceil(rows);
    let parts: Vec<Vec<f64>> = (0..blocks).into_par_iter().map(of_block).collect();
    let mut all = vec![0.0; width * width];
    for part in parts {
        all.iter_mut().zip(part).for_each(|(sum, more)| *sum += more);
    }
    all
}
