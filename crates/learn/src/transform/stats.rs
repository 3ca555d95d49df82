//! Mean, standard deviation and range of each feature, without missing and infinite values.
//!
//! Each block of rows is summed separately, and the sums are merged in the order of the blocks
//! (Chan, Golub and LeVeque 1979), so that the number of threads does not change a bit. Cost: one
//! pass over the data.

use rankwright_data::Dataset;
use rankwright_model::{TransformStep, Transforms};
use rayon::prelude::*;

use crate::error::LearnError;

/// Number of rows that one task sums.
const BLOCK: usize = 4096;
/// Number of columns that are gathered together: a line of the cache holds so many values.
const LINE: usize = 16;

/// Statistics of the finite values of one feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stats {
    /// Number of finite values.
    pub(super) count: f64,
    /// The mean of the finite values; 0 if there are none.
    pub(super) mean: f64,
    /// The sum of the squared distances of the finite values from the mean.
    square_sum: f64,
    /// The smallest finite value; 0 if there are none.
    pub(super) min: f64,
    /// The largest finite value; 0 if there are none.
    pub(super) max: f64,
    /// Whether the feature also has infinite values.
    pub(super) infinite: bool,
}

impl Stats {
    /// The standard deviation of these values: the squared distances are divided by their number n,
    /// not by n - 1.
    pub(super) fn deviation(&self) -> f64 {
        if self.count > 0.0 { (self.square_sum / self.count).sqrt() } else { 0.0 }
    }

    /// The statistics of one block of values; missing values (NaN) are left out.
    fn new(values: impl Iterator<Item = f32> + Clone) -> Self {
        let finite = || values.clone().filter(|x| x.is_finite()).map(f64::from);
        let infinite = values.clone().any(f32::is_infinite);
        let (mut count, mut sum) = (0.0, 0.0);
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        for x in finite() {
            count += 1.0;
            sum += x;
            min = min.min(x);
            max = max.max(x);
        }
        if count == 0.0 {
            return Self { count, mean: 0.0, square_sum: 0.0, min: 0.0, max: 0.0, infinite };
        }
        let mean = sum / count;
        let square_sum = finite().map(|x| (x - mean) * (x - mean)).sum();
        Self { count, mean, square_sum, min, max, infinite }
    }

    /// The statistics of this block and the next one together.
    fn merged_with(self, next: Self) -> Self {
        let infinite = self.infinite || next.infinite;
        if self.count == 0.0 || next.count == 0.0 {
            let not_empty = if self.count == 0.0 { next } else { self };
            return Self { infinite, ..not_empty };
        }
        let count = self.count + next.count;
        let mean_difference = next.mean - self.mean;
        Self {
            count,
            mean: self.mean + mean_difference * (next.count / count),
            square_sum: self.square_sum
                + next.square_sum
                + mean_difference * mean_difference * (self.count * next.count / count),
            min: self.min.min(next.min),
            max: self.max.max(next.max),
            infinite,
        }
    }
}

/// The statistics of each selected feature: of its values, or with `log` of their signed logarithms;
/// those of no value for the other features.
pub(super) fn feature_stats(
    data: &Dataset,
    log: bool,
    is_selected: impl Fn(usize) -> bool + Sync,
) -> Result<Vec<Stats>, LearnError> {
    let columns = data.columns();
    if columns == 0 {
        return Ok(Vec::new());
    }
    let min_max_in_query = false;
    let steps = vec![vec![TransformStep::SignedLog]];
    let logarithm = Transforms::new(steps, vec![0.0], min_max_in_query)?;
    let block_stats = |rows: &[f32]| -> Vec<Stats> {
        let (mut values, mut stats) = (Vec::new(), Vec::with_capacity(columns));
        let len = rows.len() / columns;
        for first in (0..columns).step_by(LINE) {
            // Some columns at a time, so that each line of the cache is read once.
            let width = LINE.min(columns - first);
            values.resize(width * len, 0.0);
            for (place, row) in rows.chunks_exact(columns).enumerate() {
                for (number, value) in row[first..first + width].iter().enumerate() {
                    values[number * len + place] = *value;
                }
            }
            for (column, values) in (first..).zip(values.chunks(len)) {
                stats.push(match (is_selected(column), log) {
                    (false, _) => Stats::new(std::iter::empty()),
                    (true, false) => Stats::new(values.iter().copied()),
                    (true, true) => Stats::new(transformed(&logarithm, values).iter().copied()),
                });
            }
        }
        stats
    };
    let blocks: Vec<Vec<Stats>> =
        data.matrix().values().par_chunks(columns * BLOCK).map(block_stats).collect();
    let mut all = vec![Stats::new(std::iter::empty()); columns];
    for block in blocks {
        all.iter_mut().zip(block).for_each(|(stats, next)| *stats = stats.merged_with(next));
    }
    Ok(all)
}

/// Values of one feature with finite ones transformed. A transform replaces missing and infinite
/// values, but the statistics must still see them.
fn transformed(transform: &Transforms, values: &[f32]) -> Vec<f32> {
    let mut changed = values.to_vec();
    transform.apply_to_column(0, &mut changed);
    let not_finite = changed.iter_mut().zip(values).filter(|(_, raw)| !raw.is_finite());
    not_finite.for_each(|(changed, raw)| *changed = *raw);
    changed
}

/// Whether a value of the data is infinite.
pub(super) fn any_infinite(data: &Dataset) -> bool {
    data.matrix().values().par_chunks(1 << 16).any(|part| part.iter().any(|x| x.is_infinite()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_blocks_have_the_statistics_of_all_values() {
        let values: Vec<f32> = (0..1000).map(|i| ((i * 37) % 101) as f32 * 0.5 - 7.0).collect();
        let all = Stats::new(values.iter().copied());
        let blocks = values.chunks(77).map(|block| Stats::new(block.iter().copied()));
        let merged = blocks.fold(Stats::new(std::iter::empty()), Stats::merged_with);
        assert_eq!((merged.count, merged.min, merged.max), (all.count, all.min, all.max));
        assert!((merged.mean - all.mean).abs() < 1e-12);
        assert!((merged.deviation() - all.deviation()).abs() < 1e-12);
    }

    #[test]
    fn missing_and_infinite_values_are_left_out() {
        let stats = Stats::new([1.0, f32::NAN, 3.0, f32::NEG_INFINITY].into_iter());
        assert_eq!((stats.count, stats.mean, stats.deviation()), (2.0, 2.0, 1.0));
        assert!(stats.infinite);
        let none = Stats::new([f32::NAN].into_iter());
        assert_eq!((none.count, none.min, none.max, none.deviation()), (0.0, 0.0, 0.0, 0.0));
    }
}
