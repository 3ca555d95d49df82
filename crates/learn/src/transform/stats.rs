//! Mean, standard deviation and range of each feature, without missing and infinite values.
//!
//! Each block of rows is summed separately, and the sums are merged in the order of the blocks
//! (Chan, Golub and LeVeque 1979), so that the number of threads does not change a bit. Cost: one
//! pass over the data.

use rankwright_data::Dataset;
use rankwright_model::{TransformStep, Transforms};
use rayon::prelude::*;

/// Number of rows that one task sums.
const BLOCK: usize = 4096;

/// Statistics of the finite values of one feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stats {
    /// Number of finite values.
    pub(super) count: f64,
    /// Their mean; 0 if there are none.
    pub(super) mean: f64,
    /// The sum of their squared distances from the mean.
    squares: f64,
    /// The smallest and the largest of them; both 0 if there are none.
    pub(super) min: f64,
    pub(super) max: f64,
    /// Whether the feature also has infinite values.
    pub(super) infinite: bool,
}

impl Stats {
    /// The standard deviation of these values (not an estimate for a population).
    pub(super) fn deviation(&self) -> f64 {
        if self.count > 0.0 { (self.squares / self.count).sqrt() } else { 0.0 }
    }

    fn of(values: impl Iterator<Item = f32> + Clone) -> Self {
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
            return Self { count, mean: 0.0, squares: 0.0, min: 0.0, max: 0.0, infinite };
        }
        let mean = sum / count;
        let squares = finite().map(|x| (x - mean) * (x - mean)).sum();
        Self { count, mean, squares, min, max, infinite }
    }

    /// The statistics of this block and the next one together.
    fn merged_with(self, next: Self) -> Self {
        let infinite = self.infinite || next.infinite;
        if self.count == 0.0 || next.count == 0.0 {
            let filled = if self.count == 0.0 { next } else { self };
            return Self { infinite, ..filled };
        }
        let count = self.count + next.count;
        let mean_difference = next.mean - self.mean;
        Self {
            count,
            mean: self.mean + mean_difference * (next.count / count),
            squares: self.squares
                + next.squares
                + mean_difference * mean_difference * (self.count * next.count / count),
            min: self.min.min(next.min),
            max: self.max.max(next.max),
            infinite,
        }
    }
}

/// The statistics of each feature: of its values, or of their signed logarithms.
pub(super) fn of(data: &Dataset, log: bool) -> Vec<Stats> {
    let columns = data.columns();
    if columns == 0 {
        return Vec::new();
    }
    let logarithms =
        Transforms::new(vec![vec![TransformStep::SignedLog]; columns], vec![0.0; columns], false);
    let of_block = |rows: &[f32]| -> Vec<Stats> {
        let mut copy = Vec::new();
        let mut values = rows;
        if let (true, Ok(logarithms)) = (log, &logarithms) {
            copy.extend_from_slice(rows);
            logarithms.apply(&mut copy);
            // A transform replaces missing and infinite values; the statistics must still see them.
            let not_finite = copy.iter_mut().zip(rows).filter(|(_, raw)| !raw.is_finite());
            not_finite.for_each(|(value, raw)| *value = *raw);
            values = &copy;
        }
        (0..columns).map(|c| Stats::of(values.iter().skip(c).step_by(columns).copied())).collect()
    };
    let blocks: Vec<Vec<Stats>> =
        data.matrix().values().par_chunks(columns * BLOCK).map(of_block).collect();
    let mut all = vec![Stats::of(std::iter::empty()); columns];
    for block in blocks {
        all.iter_mut().zip(block).for_each(|(sum, one)| *sum = sum.merged_with(one));
    }
    all
}

/// Whether a value of the data is infinite.
pub(super) fn any_infinite(data: &Dataset) -> bool {
    data.matrix().values().par_chunks(1 << 16).any(|part| part.iter().any(|x| x.is_infinite()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_blocks_have_the_statistics_of_the_whole() {
        let values: Vec<f32> = (0..1000).map(|i| ((i * 37) % 101) as f32 * 0.5 - 7.0).collect();
        let whole = Stats::of(values.iter().copied());
        let parts = values.chunks(77).map(|part| Stats::of(part.iter().copied()));
        let sum = parts.fold(Stats::of(std::iter::empty()), Stats::merged_with);
        assert_eq!((sum.count, sum.min, sum.max), (whole.count, whole.min, whole.max));
        assert!((sum.mean - whole.mean).abs() < 1e-12);
        assert!((sum.deviation() - whole.deviation()).abs() < 1e-12);
    }

    #[test]
    fn missing_and_infinite_values_are_left_out() {
        let stats = Stats::of([1.0, f32::NAN, 3.0, f32::NEG_INFINITY].into_iter());
        assert_eq!((stats.count, stats.mean, stats.deviation()), (2.0, 2.0, 1.0));
        assert!(stats.infinite);
        let none = Stats::of([f32::NAN].into_iter());
        assert_eq!((none.count, none.min, none.max, none.deviation()), (0.0, 0.0, 0.0, 0.0));
    }
}
