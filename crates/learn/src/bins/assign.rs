//! Bin of a value: the number of the feature's bin bounds below the value.
//!
//! The bounds are divided into 16 groups of 16. Two counts replace a binary search: first the
//! groups whose last bound is below the value, for eight values at a time, then the bounds below
//! the value in the group after those. Counts vectorise well and have no branch to mispredict. The
//! reference implementation is [`FeatureBins::bin`](super::FeatureBins::bin). Cost: 32 comparisons
//! per value.

use super::bounds::FeatureBins;
use super::categories::category;

/// Number of rows binned together.
pub(crate) const BLOCK_ROWS: usize = 256;
/// Number of bounds in a group, and number of groups.
const GROUP_SIZE: usize = 16;
/// Number of values whose groups are found together, so that the loop is vectorised.
const LANES: usize = 8;

/// Finds the bins of one feature's values. The bounds are padded with infinity to 256.
#[derive(Debug, Clone)]
pub(crate) struct BinSearcher {
    bounds: [[f32; GROUP_SIZE]; GROUP_SIZE],
    /// The last bound of each group.
    group_ends: [f32; GROUP_SIZE],
    /// The bin of missing values; `None` if no value is missing.
    missing: Option<u8>,
    /// The category of each bin; `None` for a feature that is not categorical.
    categories: Option<Vec<u32>>,
}

impl BinSearcher {
    /// The searcher for a feature that has at most 255 bins besides that of missing values.
    pub(crate) fn new(bins: &FeatureBins) -> Self {
        let mut bounds = [[f32::INFINITY; GROUP_SIZE]; GROUP_SIZE];
        for (padded, bound) in bounds.as_flattened_mut().iter_mut().zip(&bins.bounds) {
            *padded = *bound;
        }
        let group_ends = bounds.map(|group| group[GROUP_SIZE - 1]);
        let missing = bins.missing.then_some(bins.value_bins() as u8);
        Self { bounds, group_ends, missing, categories: bins.categories.clone() }
    }

    /// Writes the bins of a block of values to `out`. The last block of a data set may have fewer
    /// values: it is padded with any number, and the caller ignores the bins of the padding.
    pub(crate) fn search(&self, values: &[f32; BLOCK_ROWS], out: &mut [u8; BLOCK_ROWS]) {
        if let Some(categories) = &self.categories {
            for (out, value) in out.iter_mut().zip(values) {
                let found = category(*value).and_then(|c| categories.binary_search(&c).ok());
                *out = found.unwrap_or(categories.len()) as u8;
            }
            return;
        }
        let lanes_of_values = values.as_chunks::<LANES>().0;
        for (values, out) in lanes_of_values.iter().zip(out.as_chunks_mut::<LANES>().0) {
            // The number of each value's group: that of the groups that end below the value.
            let mut groups = [0_u32; LANES];
            for end in &self.group_ends {
                for (group, value) in groups.iter_mut().zip(values) {
                    *group += u32::from(end < value);
                }
            }
            for ((out, value), group) in out.iter_mut().zip(values).zip(groups) {
                // The last group ends with padding, so `group` is below 16 anyway; the remainder
                // saves the check of the index.
                let bounds = &self.bounds[group as usize % GROUP_SIZE];
                let below_in_group: u32 = bounds.iter().map(|bound| u32::from(bound < value)).sum();
                *out = (group * GROUP_SIZE as u32 + below_in_group) as u8;
            }
        }
        if let Some(missing) = self.missing {
            for (out, value) in out.iter_mut().zip(values) {
                if value.is_nan() {
                    *out = missing;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_search_equals_its_reference_implementation(
            bounds in proptest::collection::btree_set(-200_i32..200, 0..254),
            values in proptest::collection::vec(
                prop_oneof![(-210_i32..210).prop_map(|v| v as f32 / 2.0), Just(f32::INFINITY),
                    Just(f32::NEG_INFINITY), Just(f32::NAN)], BLOCK_ROWS),
        ) {
            let bounds = bounds.into_iter().map(|b| b as f32 / 2.0).collect();
            let bins = FeatureBins { bounds, missing: true, categories: None };
            let values: [f32; BLOCK_ROWS] = values.try_into().unwrap();
            let mut out = [0; BLOCK_ROWS];
            BinSearcher::new(&bins).search(&values, &mut out);
            for (value, bin) in values.iter().zip(out) {
                prop_assert_eq!(usize::from(bin), bins.bin(*value));
            }
        }

        #[test]
        fn the_search_of_categories_equals_its_reference_implementation(
            categories in proptest::collection::btree_set(0_u32..300, 0..=255),
            values in proptest::collection::vec(
                prop_oneof![(-9_i32..700).prop_map(|v| v as f32 / 2.0), Just(f32::INFINITY),
                    Just(3e9), Just(f32::NAN)], BLOCK_ROWS),
        ) {
            let categories = Some(categories.into_iter().collect());
            let bins = FeatureBins { bounds: Vec::new(), missing: true, categories };
            let values: [f32; BLOCK_ROWS] = values.try_into().unwrap();
            let mut out = [0; BLOCK_ROWS];
            BinSearcher::new(&bins).search(&values, &mut out);
            for (value, bin) in values.iter().zip(out) {
                prop_assert_eq!(usize::from(bin), bins.bin(*value));
            }
        }
    }
}
