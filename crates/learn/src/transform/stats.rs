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
/// Number of features whose statistics are computed at once: a cache line holds this many values.
const LANES: usize = 16;

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

/// The statistics of each selected feature: of its values, or with `log` of their signed
/// logarithms. Those of the other features have no meaning.
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
        for first in (0..columns).step_by(LANES) {
            let group = first..columns.min(first + LANES);
            if !group.clone().any(&is_selected) {
                stats.extend(group.map(|_| Stats::new(std::iter::empty())));
                continue;
            }
            values.clear();
            values.extend(rows.chunks_exact(columns).map(|row| {
                let mut lanes = [f32::NAN; LANES];
                lanes[..group.len()].copy_from_slice(&row[group.clone()]);
                lanes
            }));
            if log {
                transform_finite(&logarithm, values.as_flattened_mut());
            }
            stats.extend(&lane_stats(&values)[..group.len()]);
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

/// Transforms the finite values. A transform replaces missing and infinite ones, but the statistics
/// must still see them.
fn transform_finite(transform: &Transforms, values: &mut [f32]) {
    let raw = values.to_vec();
    transform.apply_to_column(0, values);
    let not_finite = values.iter_mut().zip(raw).filter(|(_, raw)| !raw.is_finite());
    not_finite.for_each(|(value, raw)| *value = raw);
}

/// The statistics of several features at once, each the same as [`Stats::new`] of its values, to
/// the bit. It is faster: each addition waits for the result of the previous one; the processor
/// meanwhile adds for the other features.
fn lane_stats(rows: &[[f32; LANES]]) -> [Stats; LANES] {
    let (mut count, mut sum) = ([0.0; LANES], [0.0; LANES]);
    let (mut min, mut max) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    let mut infinite = [false; LANES];
    for row in rows {
        for lane in 0..LANES {
            let (raw, x) = (row[lane], f64::from(row[lane]));
            let is_finite = raw.is_finite();
            count[lane] += if is_finite { 1.0 } else { 0.0 };
            // No sum is -0, so that adding 0 changes nothing.
            sum[lane] += if is_finite { x } else { 0.0 };
            min[lane] = f64::min(min[lane], if is_finite { x } else { f64::INFINITY });
            max[lane] = f64::max(max[lane], if is_finite { x } else { f64::NEG_INFINITY });
            infinite[lane] |= raw.is_infinite();
        }
    }
    let mean: [f64; LANES] = std::array::from_fn(|lane| sum[lane] / count[lane]);
    let mut square_sum = [0.0; LANES];
    for row in rows {
        for lane in 0..LANES {
            let distance = f64::from(row[lane]) - mean[lane];
            square_sum[lane] += if row[lane].is_finite() { distance * distance } else { 0.0 };
        }
    }
    std::array::from_fn(|lane| match count[lane] == 0.0 {
        true => Stats { infinite: infinite[lane], ..Stats::new(std::iter::empty()) },
        false => Stats {
            count: count[lane],
            mean: mean[lane],
            square_sum: square_sum[lane],
            min: min[lane],
            max: max[lane],
            infinite: infinite[lane],
        },
    })
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
    fn features_at_once_have_the_statistics_of_each_alone() {
        let value = |cell: usize| match cell * 7919 % 101 {
            3 => f32::NAN,
            11 => f32::INFINITY,
            n => (n as f32 - 50.0) * 0.37,
        };
        let row = |row: usize| std::array::from_fn(|lane| value(row * LANES + lane * lane));
        let mut rows: Vec<[f32; LANES]> = (0..300).map(row).collect();
        rows.iter_mut().for_each(|row| (row[4], row[5]) = (f32::NAN, f32::NEG_INFINITY));
        for (lane, stats) in lane_stats(&rows).into_iter().enumerate() {
            assert_eq!(stats, Stats::new(rows.iter().map(|row| row[lane])), "feature {lane}");
        }
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
