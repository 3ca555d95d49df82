//! Paired differences, checked once: d_i = system_i - baseline_i.
//!
//! Metric values are sums of floats, so 0.3 and 0.1 + 0.2 count as the same number. Differences of
//! at most a rounding error, 4 x machine epsilon x (largest absolute value), are taken as 0, and
//! comparisons of sums over n queries allow n such errors. Without this a randomisation test would
//! decide exact ties by rounding.
//!
//! Cost O(n). Edge cases: no queries give no mean; fewer than two give no deviation; differences
//! that are equal up to rounding have deviation exactly 0.

use super::StatsError;
use super::error::check_values;

/// The differences of two systems over the same queries.
///
/// ```
/// use rankwright_eval::stats::{Paired, t_test};
/// let pairs = Paired::new(&[0.6, 0.5, 0.9], &[0.5, 0.5, 0.7])?;
/// assert_eq!(pairs.len(), 3);
/// assert!((pairs.mean().unwrap() - 0.1).abs() < 1e-15);
/// assert!(t_test(&pairs).p > 0.05);
/// # Ok::<(), rankwright_eval::stats::StatsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Paired {
    differences: Vec<f64>,
    /// The rounding error of a difference.
    rounding_error: f64,
}

impl Paired {
    /// Pairs the values of a system with those of its baseline, query by query.
    pub fn new(system: &[f64], baseline: &[f64]) -> Result<Self, StatsError> {
        if system.len() != baseline.len() {
            let (system, baseline) = (system.len(), baseline.len());
            return Err(StatsError::LengthMismatch { system, baseline });
        }
        check_values(system)?;
        check_values(baseline)?;
        let largest = system.iter().chain(baseline).fold(0.0, |max: f64, v| max.max(v.abs()));
        let rounding_error = 4.0 * f64::EPSILON * largest;
        let without_rounding = |d: f64| if d.abs() <= rounding_error { 0.0 } else { d };
        let pairs = system.iter().zip(baseline);
        let differences = pairs.map(|(s, b)| without_rounding(s - b)).collect();
        Ok(Self { differences, rounding_error })
    }

    /// System minus baseline, one per query.
    pub fn differences(&self) -> &[f64] {
        &self.differences
    }

    /// Number of queries.
    pub fn len(&self) -> usize {
        self.differences.len()
    }

    /// Whether there is no query at all.
    pub fn is_empty(&self) -> bool {
        self.differences.is_empty()
    }

    /// Mean difference; `None` without queries.
    pub fn mean(&self) -> Option<f64> {
        if self.is_empty() { None } else { Some(self.sum() / self.len() as f64) }
    }

    /// Sample standard deviation (which divides by n - 1) of the differences; `None` below two
    /// queries.
    pub fn deviation(&self) -> Option<f64> {
        let mean = self.mean().filter(|_| self.len() >= 2)?;
        let largest = self.differences.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let smallest = self.differences.iter().copied().fold(f64::INFINITY, f64::min);
        if largest - smallest <= 2.0 * self.rounding_error {
            return Some(0.0);
        }
        let squares: f64 = self.differences.iter().map(|d| (d - mean) * (d - mean)).sum();
        Some((squares / (self.len() - 1) as f64).sqrt())
    }

    /// Sum of the differences, in query order.
    pub(super) fn sum(&self) -> f64 {
        self.differences.iter().sum()
    }

    /// The largest difference of two sums over the queries that rounding alone can make.
    pub(super) fn rounding_tolerance(&self) -> f64 {
        self.rounding_error * self.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn mean_and_deviation_equal_numpy() {
        // np.mean(d), np.std(d, ddof=1)
        sample::close(sample::pairs().mean().unwrap(), 0.04833333333333333, 1e-14);
        sample::close(sample::pairs().deviation().unwrap(), 0.06912877750103699, 1e-14);
    }

    #[test]
    fn rounding_noise_is_no_difference() {
        let pairs = Paired::new(&[0.1 + 0.2, 1.0], &[0.3, 1.0]).unwrap();
        assert_eq!(pairs.differences(), [0.0, 0.0]);
    }

    #[test]
    fn constant_differences_have_deviation_zero_in_spite_of_rounding() {
        let pairs = Paired::new(&[0.2, 0.8, 0.6], &[0.1, 0.7, 0.5]).unwrap();
        assert_ne!(pairs.differences()[0], pairs.differences()[1]);
        assert_eq!(pairs.deviation(), Some(0.0));
    }

    #[test]
    fn too_few_queries_have_no_mean_or_deviation() {
        let none = Paired::new(&[], &[]).unwrap();
        assert_eq!((none.mean(), none.deviation()), (None, None));
        let one = Paired::new(&[0.5], &[0.25]).unwrap();
        assert_eq!((one.mean(), one.deviation()), (Some(0.25), None));
    }

    #[test]
    fn lists_of_different_length_are_refused() {
        let error = Paired::new(&[0.5], &[]).unwrap_err();
        assert_eq!(error, StatsError::LengthMismatch { system: 1, baseline: 0 });
        assert!(Paired::new(&[0.5], &[f64::NAN]).is_err());
    }
}
