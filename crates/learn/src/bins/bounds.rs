//! Upper bounds of the bins of one feature: quantiles of the values in a sample.
//!
//! Up to `max_bins` distinct values get a bin each. With more, bins take about the same number of
//! rows: the quota is the number of remaining rows divided by the number of remaining bins, and a
//! value that alone fills a quota gets a bin of its own, so that one frequent value (often 0) does
//! not take the rows of its neighbours' bins (the rule of LightGBM's `GreedyFindBin`). A bound lies
//! halfway between the last value of a bin and the first of the next, so that exactly the values of
//! this bin and the bins before it are `<= bound`. Cost O(n log n) for the sort.
//!
//! No values (all missing) or one distinct value: no bounds, one bin. Infinite values are treated
//! like all others.

/// The bins of one feature.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FeatureBins {
    /// Upper bounds of all bins but the last, ascending.
    pub(crate) bounds: Vec<f32>,
    /// Whether some value is missing; missing values have a bin of their own, the last one.
    pub(crate) missing: bool,
    /// The category of each bin, ascending; `None` for a feature that is not categorical. With
    /// categories there are no bounds, and a category without a bin of its own counts as missing.
    pub(crate) categories: Option<Vec<u32>>,
}

impl FeatureBins {
    /// Number of bins, without the bin of missing values.
    pub(crate) fn value_bins(&self) -> usize {
        self.categories.as_ref().map_or(self.bounds.len() + 1, Vec::len)
    }

    /// Number of bins, including the bin of missing values if there is one.
    pub(crate) fn all_bins(&self) -> usize {
        self.value_bins() + usize::from(self.missing)
    }

    /// Whether the feature has more than one bin, so that a split on it is possible.
    pub(crate) fn is_useful(&self) -> bool {
        self.all_bins() > 1
    }

    /// The bin of a value; for NaN (a missing value) the number after that of the last value bin.
    /// The reference implementation of `BinSearcher::search`, which finds the bins of a block of
    /// values.
    #[cfg(test)]
    pub(crate) fn bin(&self, value: f32) -> usize {
        if let Some(categories) = &self.categories {
            let category = super::categories::category(value);
            let bin = category.and_then(|category| categories.iter().position(|c| *c == category));
            return bin.unwrap_or(categories.len());
        }
        match value.is_nan() {
            true => self.value_bins(),
            false => self.bounds.partition_point(|bound| *bound < value),
        }
    }
}

/// A float, not NaN, as an integer with the same order; -0 and 0 have the same key. The bits of
/// floats above 0 are in order once the sign bit is set; those of floats below 0 are inverted.
pub(crate) fn sort_key(value: f32) -> u32 {
    // Adding 0 turns -0 into 0.
    let bits = (value + 0.0).to_bits();
    bits ^ (((bits as i32 >> 31) as u32) | 0x8000_0000)
}

/// The float of a [`sort_key`].
pub(crate) fn from_sort_key(key: u32) -> f32 {
    let mask = if key & 0x8000_0000 != 0 { 0x8000_0000 } else { u32::MAX };
    f32::from_bits(key ^ mask)
}

/// The bounds that divide values, given as sorted [`sort_key`]s, into at most `max_bins` bins.
pub(crate) fn bounds(sorted: &[u32], max_bins: usize) -> Vec<f32> {
    // Each value with its number of rows.
    let mut distinct: Vec<(f32, usize)> = Vec::new();
    for run in sorted.chunk_by(|a, b| a == b) {
        if let Some(&key) = run.first() {
            distinct.push((from_sort_key(key), run.len()));
        }
    }
    if distinct.len() <= max_bins.max(1) {
        return distinct.windows(2).map(|pair| midpoint(pair[0].0, pair[1].0)).collect();
    }
    quantiles(&distinct, sorted.len(), max_bins.max(1))
}

/// The bounds for more distinct values than bins; `distinct` holds each value, ascending, with its
/// number of rows, and `rows` is the sum of these numbers.
fn quantiles(distinct: &[(f32, usize)], rows: usize, max_bins: usize) -> Vec<f32> {
    // Values that fill a bin alone ("big") are counted first; the other values ("small") share the
    // remaining bins.
    let mean_rows = rows as f64 / max_bins as f64;
    let is_big = |count: usize| count as f64 >= mean_rows;
    let (mut big_bins, mut small_rows) = (0, rows);
    for (_, count) in distinct.iter().filter(|(_, count)| is_big(*count)) {
        big_bins += 1;
        small_rows -= count;
    }
    let mut small_bins = max_bins.saturating_sub(big_bins).max(1);
    let (mut bounds, mut rows_in_bin) = (Vec::with_capacity(max_bins), 0_usize);
    for pair in distinct.windows(2) {
        let ((value, count), (next, next_count)) = (pair[0], pair[1]);
        if bounds.len() + 1 >= max_bins {
            break;
        }
        rows_in_bin += count;
        let quota = small_rows as f64 / small_bins as f64;
        // A bin that is only half full also ends before a big value.
        let full = is_big(count)
            || rows_in_bin as f64 >= quota
            || (is_big(next_count) && rows_in_bin as f64 >= (quota * 0.5).max(1.0));
        if full {
            if !is_big(count) {
                small_rows -= rows_in_bin.min(small_rows);
                small_bins = (small_bins - 1).max(1);
            }
            bounds.push(midpoint(value, next));
            rows_in_bin = 0;
        }
    }
    bounds
}

/// A threshold t with low <= t < high, halfway if that is representable.
fn midpoint(low: f32, high: f32) -> f32 {
    let middle = ((f64::from(low) + f64::from(high)) / 2.0) as f32;
    if middle >= low && middle < high { middle } else { low }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The bounds for values in any order.
    fn bounds_of(values: &[f32], max_bins: usize) -> Vec<f32> {
        let mut keys: Vec<u32> = values.iter().map(|v| sort_key(*v)).collect();
        keys.sort_unstable();
        bounds(&keys, max_bins)
    }

    #[test]
    fn few_values_get_a_bin_each() {
        assert_eq!(bounds_of(&[3.0, 1.0, 1.0, 2.0], 255), [1.5, 2.5]);
        assert_eq!(bounds_of(&[0.0, -0.0], 255), [0.0; 0]);
        assert_eq!(bounds_of(&[], 255), [0.0; 0]);
    }

    #[test]
    fn infinite_values_have_bins_of_their_own() {
        let (low, high) = (f32::NEG_INFINITY, f32::INFINITY);
        let bounds = bounds_of(&[low, 0.0, high], 255);
        let bins = FeatureBins { bounds, missing: true, categories: None };
        assert_eq!([low, 0.0, high, f32::NAN].map(|v| bins.bin(v)), [0, 1, 2, 3]);
    }

    #[test]
    fn a_frequent_value_has_its_own_bin_and_the_other_rows_are_divided_evenly() {
        let mut values = vec![0.0_f32; 5000];
        values.extend((1..=5000).map(|i| i as f32));
        let bins = FeatureBins { bounds: bounds_of(&values, 11), missing: false, categories: None };
        assert_eq!(bins.value_bins(), 11);
        let mut counts = vec![0; 11];
        values.iter().for_each(|v| counts[bins.bin(*v)] += 1);
        assert_eq!(counts[0], 5000);
        // The other 5000 rows are in 10 bins, about 500 each.
        assert!(counts[1..].iter().all(|c| (450..=550).contains(c)), "{counts:?}");
    }

    proptest! {
        #[test]
        fn bounds_ascend_and_never_separate_equal_values(
            values in proptest::collection::vec(
                prop_oneof![any::<f32>().prop_filter("a number", |v| !v.is_nan()),
                    (-5_i8..5).prop_map(f32::from)], 0..300),
            max_bins in 1_usize..40,
        ) {
            let bounds = bounds_of(&values, max_bins);
            prop_assert!(bounds.len() < max_bins.max(1));
            prop_assert!(bounds.windows(2).all(|w| w[0] < w[1]));
            let bins = FeatureBins { bounds, missing: false, categories: None };
            let mut used: Vec<usize> = values.iter().map(|v| bins.bin(*v)).collect();
            used.sort_unstable();
            used.dedup();
            // No bin is empty.
            prop_assert!(values.is_empty() || used.len() == bins.value_bins());
        }

        #[test]
        fn sort_keys_sort_like_numbers(a in any::<f32>(), b in any::<f32>()) {
            prop_assume!(!a.is_nan() && !b.is_nan());
            prop_assert_eq!(sort_key(a).cmp(&sort_key(b)), a.partial_cmp(&b).unwrap());
            prop_assert_eq!(from_sort_key(sort_key(a)), a);
        }
    }
}
