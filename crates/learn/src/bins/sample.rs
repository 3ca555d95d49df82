//! The bins of all features, from the rows or from a sample of them.
//!
//! Data of up to [`SAMPLE_ROWS`] rows is used in full. Of larger data, a row is in the sample when
//! the hash of its query's number and its position in the query falls below the fraction of rows to
//! sample: the choice does not depend on threads or on other rows. Whether a feature has missing
//! values is always determined from all rows. If several processes share a training
//! (`collective`), the rows of all of them count, and all get the same bins. Cost: one pass over
//! the matrix, and a sort of the sample per feature.

use rankwright_data::{Dataset, Matrix};
use rayon::prelude::*;

use super::bounds::{FeatureBins, bounds, sort_key};
use super::categories::{frequent_categories, mark_unbinned_categories};
use crate::collective::Collective;
use crate::error::LearnError;

/// Approximate number of rows in the sample; 200,000 as in LightGBM's `bin_construct_sample_cnt`.
pub(crate) const SAMPLE_ROWS: u64 = 200_000;

/// Number of columns read together: the values of one row in one cache line of 64 bytes.
const BLOCK_COLUMNS: usize = 16;
/// Number of rows that one parallel task reads: enough to outweigh the cost of starting it.
const ROWS_PER_TASK: usize = 4096;

/// Finds the bins of every feature, at most `max_bins` each, without that of missing values;
/// `categorical` are the features whose values are category numbers.
pub(crate) fn feature_bins(
    data: &Dataset,
    max_bins: usize,
    categorical: &[u32],
    collective: &dyn Collective,
) -> Result<Vec<FeatureBins>, LearnError> {
    let mut counts = vec![data.rows() as u64];
    collective.sum(&mut counts)?;
    let rows = sampled_rows(data, counts.first().copied().unwrap_or(0));
    let missing = missing(data.matrix(), collective)?;
    // The first column of each block of columns.
    let first_columns: Vec<usize> = (0..data.columns()).step_by(BLOCK_COLUMNS).collect();
    let mut features: Vec<FeatureBins> = Vec::with_capacity(data.columns());
    // As many blocks are read at a time as there are threads, into buffers that are used again:
    // the sample of all columns would take as much memory as the bins. A block's buffer holds the
    // sort keys of each of its columns.
    let mut blocks: Vec<Vec<Vec<u32>>> = vec![Vec::new(); rayon::current_num_threads().max(1)];
    for first_columns in first_columns.chunks(blocks.len()) {
        let reads = blocks.par_iter_mut().zip(first_columns);
        reads.for_each(|(keys, first_column)| read_keys(data, &rows, *first_column, keys));
        for keys in blocks.iter_mut().take(first_columns.len()).flatten() {
            collective.gather(keys)?;
        }
        let bins_of = |(keys, feature, missing): (&mut Vec<u32>, usize, bool)| {
            keys.sort_unstable();
            match categorical.contains(&(feature as u32)) {
                false => FeatureBins { bounds: bounds(keys, max_bins), missing, categories: None },
                true => {
                    let categories = Some(frequent_categories(keys, max_bins));
                    FeatureBins { bounds: Vec::new(), missing, categories }
                }
            }
        };
        let first_feature = features.len();
        let keys = blocks.iter_mut().take(first_columns.len()).flatten();
        let jobs: Vec<_> = keys
            .zip(first_feature..)
            .map(|(keys, feature)| (keys, feature, missing.get(feature).copied().unwrap_or(false)))
            .collect();
        features.par_extend(jobs.into_par_iter().map(bins_of));
    }
    if !categorical.is_empty() {
        mark_unbinned_categories(data.matrix(), &mut features, collective)?;
    }
    Ok(features)
}

/// Fills `keys` with the values of a block of columns in the sampled rows, as sort keys: one list
/// for each column from `first_column` on, without missing values.
fn read_keys(data: &Dataset, rows: &[u32], first_column: usize, keys: &mut Vec<Vec<u32>>) {
    let columns = first_column..(first_column + BLOCK_COLUMNS).min(data.columns());
    keys.resize(columns.len(), Vec::new());
    for keys in keys.iter_mut() {
        keys.clear();
        keys.reserve(rows.len());
    }
    for &row in rows {
        let values = data.matrix().row(row as usize);
        for (keys, value) in keys.iter_mut().zip(&values[columns.clone()]) {
            if !value.is_nan() {
                keys.push(sort_key(*value));
            }
        }
    }
}

/// The sampled rows, ascending; `total_rows` counts the rows of all processes.
fn sampled_rows(data: &Dataset, total_rows: u64) -> Vec<u32> {
    if total_rows <= SAMPLE_ROWS {
        return (0..data.rows() as u32).collect();
    }
    // Rows with a hash below this limit are sampled: the fraction of rows to sample, times 2^64.
    let limit = ((u128::from(SAMPLE_ROWS) << 64) / u128::from(total_rows)) as u64;
    let in_query = |query: usize| {
        let rows = data.query_rows(query);
        let first = rows.start;
        rows.filter(move |row| hash(query as u64, (row - first) as u64) < limit)
    };
    (0..data.queries()).flat_map(in_query).map(|row| row as u32).collect()
}

/// A well-mixed hash of a query and a row's position in it: the finaliser of MurmurHash3 twice,
/// with its constants. The constant added to the query is arbitrary; it only keeps query 0 from
/// being hashed to 0.
fn hash(query: u64, position: u64) -> u64 {
    let mix = |mut z: u64| {
        z = (z ^ (z >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        z = (z ^ (z >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        z ^ (z >> 33)
    };
    mix(mix(query.wrapping_add(0x9e37_79b9_7f4a_7c15)) ^ position)
}

/// For each feature, whether it has a missing value in any row of any process.
fn missing(matrix: &Matrix, collective: &dyn Collective) -> Result<Vec<bool>, LearnError> {
    let columns = matrix.columns();
    if columns == 0 {
        return Ok(Vec::new());
    }
    // Flags of the features with a missing value in some rows.
    let in_rows = |rows: &[f32]| {
        let mut found = vec![0_u32; columns];
        for row in rows.chunks_exact(columns) {
            for (found, value) in found.iter_mut().zip(row) {
                *found |= u32::from(value.is_nan());
            }
        }
        found
    };
    let union = |mut a: Vec<u32>, b: Vec<u32>| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a |= b);
        a
    };
    let chunks = matrix.values().par_chunks(columns * ROWS_PER_TASK);
    let found = chunks.map(in_rows).reduce(|| vec![0; columns], union);
    let mut flags: Vec<u64> = found.into_iter().map(u64::from).collect();
    collective.max(&mut flags)?;
    Ok(flags.into_iter().map(|flag| flag > 0).collect())
}
