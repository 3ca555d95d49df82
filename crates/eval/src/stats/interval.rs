//! Student-t confidence interval of a mean.
//!
//! mean +- t(level, n - 1) s / sqrt(n), where t is the two-sided critical value and s the
//! sample deviation (n - 1). Student, Biometrika 1908.
//!
//! Cost O(n). Edge cases: below two values there is no interval; equal values give an interval
//! of width 0. It is not cut to the range of the metric, so it may pass 1 for few queries.

use super::error::check_level;
use super::student::t_critical;
use super::{Paired, StatsError};

/// Confidence interval `[low, high]` of the mean of `values`; none below two values.
///
/// ```
/// use rankwright_eval::stats::mean_interval;
/// let [low, high] = mean_interval(&[0.2, 0.4, 0.6], 0.95)?.unwrap();
/// assert!(low < 0.4 && 0.4 < high);
/// assert_eq!(mean_interval(&[0.2], 0.95)?, None);
/// # Ok::<(), rankwright_eval::stats::StatsError>(())
/// ```
pub fn mean_interval(values: &[f64], level: f64) -> Result<Option<[f64; 2]>, StatsError> {
    check_level(level)?;
    // The spread of values is the spread of their differences to a baseline of zeros.
    let pairs = Paired::new(values, &vec![0.0; values.len()])?;
    let (Some(mean), Some(deviation)) = (pairs.mean(), pairs.deviation()) else {
        return Ok(None);
    };
    let n = pairs.len() as f64;
    let half = t_critical(level, n - 1.0).map(|t| t * deviation / n.sqrt());
    Ok(half.map(|half| [mean - half, mean + half]))
}

#[cfg(test)]
mod tests {
    use super::super::sample::{A, close, pairs};
    use super::*;

    #[test]
    fn equals_scipy() {
        // stats.t.interval(0.95, 11, np.mean(a), stats.sem(a))
        let [low, high] = mean_interval(&A, 0.95).unwrap().unwrap();
        close(low, 0.46279084998278786, 1e-11);
        close(high, 0.7205424833505455, 1e-11);
        // stats.t.interval(0.99, 11, np.mean(d), stats.sem(d))
        let [low, high] = mean_interval(pairs().differences(), 0.99).unwrap().unwrap();
        close(low, -0.013645393455675156, 1e-11);
        close(high, 0.11031206012234182, 1e-11);
    }

    #[test]
    fn few_or_equal_values_have_stated_intervals() {
        assert_eq!(mean_interval(&[], 0.95).unwrap(), None);
        assert_eq!(mean_interval(&[0.5], 0.95).unwrap(), None);
        assert_eq!(mean_interval(&[0.5, 0.5], 0.95).unwrap(), Some([0.5, 0.5]));
    }

    #[test]
    fn a_level_in_percent_is_refused() {
        assert_eq!(mean_interval(&A, 95.0).unwrap_err(), StatsError::Level { found: 95.0 });
    }
}
