//! Categories with a bin of their own: the most frequent ones of a sample.
//!
//! A value's category is its integer part, as the model reads it
//! ([`Categories`](rankwright_model::Categories)): 2.7 is category 2, -0.5 is category 0. At most
//! `max_bins` categories get a bin, the more frequent first and among equals the lower number, so
//! that a row takes one byte for any number of categories. All others share the bin of missing
//! values, as do NaN, values of -1 and below, 2^24 and above. Bins are numbered in the order of
//! their categories. Cost: one look-up per value.
//!
//! A feature without any category (all values missing) has one bin and cannot be split on.

use rankwright_data::Matrix;
use rayon::prelude::*;

use super::bounds::{FeatureBins, from_sort_key};
use crate::collective::Collective;
use crate::error::LearnError;

/// Categories are below this limit: above it, not every integer is exact in an `f32`.
const CATEGORY_LIMIT: f32 = 16_777_216.0;

/// Number of rows that one parallel task reads: enough to outweigh the cost of starting it.
const ROWS_PER_TASK: usize = 4096;

/// The category of a value; `None` if the value is NaN or outside the range of categories.
pub(crate) fn category(value: f32) -> Option<u32> {
    // Comparisons are false for NaN; the integer part of -0.5 is 0.
    (value > -1.0 && value < CATEGORY_LIMIT).then_some(value as u32)
}

/// The most frequent categories among values that are given as sorted
/// [`sort_key`](super::bounds::sort_key)s: at most `max_bins`, ascending.
pub(crate) fn frequent_categories(sorted: &[u32], max_bins: usize) -> Vec<u32> {
    let found: Vec<u32> = sorted.iter().filter_map(|key| category(from_sort_key(*key))).collect();
    let runs = found.chunk_by(|a, b| a == b);
    let mut counts: Vec<(usize, u32)> =
        runs.filter_map(|run| run.first().map(|category| (run.len(), *category))).collect();
    counts.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    counts.truncate(max_bins);
    let mut kept: Vec<u32> = counts.into_iter().map(|(_, category)| category).collect();
    kept.sort_unstable();
    kept
}

/// Sets `missing` of the categorical features: whether any row, of all processes, has a missing
/// value or a category without a bin of its own.
pub(crate) fn mark_unbinned_categories(
    matrix: &Matrix,
    features: &mut [FeatureBins],
    collective: &dyn Collective,
) -> Result<(), LearnError> {
    let columns = matrix.columns().max(1);
    // The categorical features, from 0, each with the categories that have a bin of their own.
    let categorical =
        |(feature, bins): (usize, &FeatureBins)| Some((feature, bins.categories.clone()?));
    let binned: Vec<(usize, Vec<u32>)> =
        features.iter().enumerate().filter_map(categorical).collect();
    let mut flags: Vec<u64> = Vec::with_capacity(binned.len());
    for (feature, categories) in &binned {
        let is_unbinned = |value: &f32| {
            category(*value).is_none_or(|found| categories.binary_search(&found).is_err())
        };
        let in_rows = |rows: &[f32]| rows.iter().skip(*feature).step_by(columns).any(is_unbinned);
        flags.push(u64::from(matrix.values().par_chunks(columns * ROWS_PER_TASK).any(in_rows)));
    }
    collective.max(&mut flags)?;
    for ((feature, _), flag) in binned.iter().zip(flags) {
        features[*feature].missing = flag > 0;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::bounds::sort_key;
    use super::*;
    use crate::collective::SingleProcess;
    use proptest::prelude::*;
    use rankwright_model::Categories;

    #[test]
    fn rare_categories_share_the_bin_of_missing_values() {
        let mut keys: Vec<u32> =
            [7.0, 7.5, 7.0, 3.0, 3.0, 9.0, 9.0, 1.0, -5.0, 2e9].map(sort_key).to_vec();
        keys.sort_unstable();
        assert_eq!(frequent_categories(&keys, 255), [1, 3, 7, 9]);
        assert_eq!(frequent_categories(&keys, 2), [3, 7], "of equals the lower number");
        let bins = FeatureBins { bounds: vec![], missing: true, categories: Some(vec![3, 7]) };
        assert_eq!((bins.value_bins(), bins.all_bins()), (2, 3));
        let values = [3.9, 7.0, 9.0, 1.0, -5.0, 2e9, f32::NAN];
        assert_eq!(values.map(|value| bins.bin(value)), [0, 1, 2, 2, 2, 2, 2]);
        assert_eq!(frequent_categories(&[], 9), [0; 0]);
    }

    #[test]
    fn categories_without_a_bin_are_found_in_any_row() {
        let values = vec![1.0, 1.0, 1.0, 2.0, 1.0, f32::NAN, 1.0, 2.0];
        let matrix = Matrix::from_rows(4, 2, values).unwrap();
        let feature = |categories: &[u32]| FeatureBins {
            bounds: vec![],
            missing: false,
            categories: Some(categories.to_vec()),
        };
        let mut features = [feature(&[1]), feature(&[1, 2])];
        mark_unbinned_categories(&matrix, &mut features, &SingleProcess).unwrap();
        assert_eq!(features.map(|bins| bins.missing), [false, true]);
    }

    proptest! {
        #[test]
        fn a_value_has_the_category_that_the_model_sees(
            value in any::<f32>(), quarters in -3_i32..90,
        ) {
            for value in [value, quarters as f32 / 4.0] {
                let expected = category(value);
                // The model's set of this category alone, or the empty set.
                let set = Categories::new(expected).unwrap();
                prop_assert_eq!(set.contains(value), expected.is_some());
            }
        }
    }
}
