//! Confidence interval of a mean, within the range of the metric.
//!
//! Student-t: mean +- h, h = t(level, n - 1) s / sqrt(n), where t is the two-sided critical value
//! and s the sample deviation (n - 1). Student, Biometrika 1908.
//!
//! For few queries, or a mean near an end of the range, that interval may leave the range: a
//! reciprocal rank of 1.2 does not exist. Then the same standard error is taken to a scale without
//! ends, by the delta method, and the ends are taken back:
//!
//! ```text
//! both ends known, p = (mean - low) / (high - low):  logit(p) +- h / (high - low) / (p (1 - p))
//! only the low end known, m = mean - low:            ln(m) +- h / m
//! ```
//!
//! Cost O(n). Edge cases: below two values there is no interval; equal values give an interval of
//! width 0; a mean at or beyond an end of the range (by rounding, or because a metric states a
//! wrong range) keeps the Student-t interval, cut to the range where the mean is at its end.

use serde::Serialize;

use super::error::check_level;
use super::student::t_critical;
use super::{Paired, StatsError};

/// The method of a confidence interval. It serialises to its name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum IntervalMethod {
    /// Student's t.
    #[default]
    T,
    /// Student's t on the logit scale, because on the scale of the metric the interval would leave
    /// its range.
    Logit,
    /// Student's t on the logarithmic scale, because on the scale of the metric the interval would
    /// fall below the lowest value.
    Log,
    /// Percentiles of the bootstrap.
    Bootstrap,
}

impl IntervalMethod {
    /// The name in tables and results.
    pub fn name(self) -> &'static str {
        match self {
            IntervalMethod::T => "t",
            IntervalMethod::Logit => "logit",
            IntervalMethod::Log => "log",
            IntervalMethod::Bootstrap => "bootstrap",
        }
    }
}

/// A confidence interval and its method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The method.
    pub method: IntervalMethod,
}

impl Interval {
    /// Student's interval `centre +- half`; where it leaves `range` (lowest and highest value), the
    /// interval on the logit or logarithmic scale.
    ///
    /// ```
    /// use rankwright_eval::stats::{Interval, IntervalMethod};
    ///
    /// let student = Interval::within(0.5, 0.2, (0.0, 1.0));
    /// assert_eq!((student.low, student.high, student.method), (0.3, 0.7, IntervalMethod::T));
    /// let near = Interval::within(0.9, 0.2, (0.0, 1.0));
    /// assert!(near.method == IntervalMethod::Logit && near.high < 1.0 && near.low > 0.4);
    /// ```
    pub fn within(centre: f64, half: f64, range: (f64, f64)) -> Interval {
        let (lowest, highest) = range;
        let student =
            Interval { low: centre - half, high: centre + half, method: IntervalMethod::T };
        let fits = student.low >= lowest && student.high <= highest;
        if fits || !half.is_finite() || centre < lowest || centre > highest {
            return student;
        }
        if centre == lowest || centre == highest {
            let (low, high) = (student.low.max(lowest), student.high.min(highest));
            return Interval { low, high, ..student };
        }
        match (lowest.is_finite(), highest.is_finite()) {
            (true, true) => {
                let width = highest - lowest;
                let p = (centre - lowest) / width;
                let (logit, step) = ((p / (1.0 - p)).ln(), half / width / (p * (1.0 - p)));
                let back = |x: f64| lowest + width / (1.0 + (-x).exp());
                let (low, high) = (back(logit - step), back(logit + step));
                Interval { low, high, method: IntervalMethod::Logit }
            }
            (true, false) => {
                let m = centre - lowest;
                let (log, step) = (m.ln(), half / m);
                let back = |x: f64| lowest + x.exp();
                let (low, high) = (back(log - step), back(log + step));
                Interval { low, high, method: IntervalMethod::Log }
            }
            // No metric has a highest value alone.
            (false, _) => student,
        }
    }
}

/// Confidence interval of the mean of `values`, within `range`; none below two values.
///
/// ```
/// use rankwright_eval::stats::{IntervalMethod, mean_interval_within};
/// let found = mean_interval_within(&[1.0, 1.0, 0.5], 0.95, (0.0, 1.0))?.unwrap();
/// assert!(found.method == IntervalMethod::Logit && found.high < 1.0);
/// # Ok::<(), rankwright_eval::stats::StatsError>(())
/// ```
pub fn mean_interval_within(
    values: &[f64],
    level: f64,
    range: (f64, f64),
) -> Result<Option<Interval>, StatsError> {
    check_level(level)?;
    // The spread of values is the spread of their differences to a baseline of zeros.
    let pairs = Paired::new(values, &vec![0.0; values.len()])?;
    let (Some(mean), Some(deviation)) = (pairs.mean(), pairs.deviation()) else {
        return Ok(None);
    };
    let n = pairs.len() as f64;
    let half = t_critical(level, n - 1.0).map(|t| t * deviation / n.sqrt());
    Ok(half.map(|half| Interval::within(mean, half, range)))
}

/// Student-t confidence interval `[low, high]` of the mean of `values`, which may have any size;
/// none below two values.
///
/// ```
/// use rankwright_eval::stats::mean_interval;
/// let [low, high] = mean_interval(&[0.2, 0.4, 0.6], 0.95)?.unwrap();
/// assert!(low < 0.4 && 0.4 < high);
/// assert_eq!(mean_interval(&[0.2], 0.95)?, None);
/// # Ok::<(), rankwright_eval::stats::StatsError>(())
/// ```
pub fn mean_interval(values: &[f64], level: f64) -> Result<Option<[f64; 2]>, StatsError> {
    let found = mean_interval_within(values, level, (f64::NEG_INFINITY, f64::INFINITY))?;
    Ok(found.map(|found| [found.low, found.high]))
}

#[cfg(test)]
mod tests {
    use super::super::sample::{A, close, pairs};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn intervals_equal_scipy() {
        // stats.t.interval(0.95, 11, np.mean(a), stats.sem(a))
        let [low, high] = mean_interval(&A, 0.95).unwrap().unwrap();
        close(low, 0.46279084998278786, 1e-11);
        close(high, 0.7205424833505455, 1e-11);
        // stats.t.interval(0.99, 11, np.mean(d), stats.sem(d))
        let [low, high] = mean_interval(pairs().differences(), 0.99).unwrap().unwrap();
        close(low, -0.013645393455675156, 1e-11);
        close(high, 0.11031206012234182, 1e-11);
    }

    /// `m, s, t = np.mean(v), stats.sem(v), stats.t.ppf(0.975, len(v) - 1)`, then with SciPy's
    /// `expit` and `logit`: `expit(logit(m) + np.array([-1, 1]) * t * s / (m * (1 - m)))`, and
    /// `np.exp(np.log(m) + np.array([-1, 1]) * t * s / m)`.
    #[test]
    fn the_logit_and_the_logarithm_equal_scipy() {
        let values = [1.0, 1.0, 0.5, 1.0, 1.0 / 3.0, 1.0];
        let found = mean_interval_within(&values, 0.95, (0.0, 1.0)).unwrap().unwrap();
        assert_eq!(found.method, IntervalMethod::Logit);
        close(found.low, LOGIT[0], 1e-11);
        close(found.high, LOGIT[1], 1e-11);
        // The same values on the range -1 to 1 of a correlation: 2 v - 1.
        let doubled = values.map(|v| 2.0 * v - 1.0);
        let wide = mean_interval_within(&doubled, 0.95, (-1.0, 1.0)).unwrap().unwrap();
        close(wide.low, 2.0 * LOGIT[0] - 1.0, 1e-11);
        close(wide.high, 2.0 * LOGIT[1] - 1.0, 1e-11);
        let counts = [0.0, 9.0, 1.0, 0.0];
        let found = mean_interval_within(&counts, 0.95, (0.0, f64::INFINITY)).unwrap().unwrap();
        assert_eq!(found.method, IntervalMethod::Log);
        close(found.low, LOG[0], 1e-10);
        close(found.high, LOG[1], 1e-10);
    }

    /// The expected intervals, from the Python code above.
    const LOGIT: [f64; 2] = [0.34808205887539256, 0.9698293872978357];
    const LOG: [f64; 2] = [0.1559684344117771, 40.07221091608307];

    #[test]
    fn few_or_equal_values_have_the_documented_intervals() {
        assert_eq!(mean_interval(&[], 0.95).unwrap(), None);
        assert_eq!(mean_interval(&[0.5], 0.95).unwrap(), None);
        assert_eq!(mean_interval(&[0.5, 0.5], 0.95).unwrap(), Some([0.5, 0.5]));
        let perfect = mean_interval_within(&[1.0; 4], 0.95, (0.0, 1.0)).unwrap().unwrap();
        assert_eq!((perfect.low, perfect.high, perfect.method), (1.0, 1.0, IntervalMethod::T));
        // A mean beyond the stated range is not forced into it.
        let beyond = Interval::within(1.5, 0.1, (0.0, 1.0));
        assert_eq!((beyond.low, beyond.method), (1.4, IntervalMethod::T));
        // A mean that rounding has put on the end.
        let end = Interval::within(1.0, 1e-17, (0.0, 1.0));
        assert_eq!((end.low, end.high), (1.0, 1.0));
    }

    #[test]
    fn a_level_in_percent_is_refused() {
        assert_eq!(mean_interval(&A, 95.0).unwrap_err(), StatsError::Level { found: 95.0 });
    }

    proptest! {
        #[test]
        fn no_interval_leaves_the_range_and_each_contains_its_mean(
            values in prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0_f64], 2..12)
        ) {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let found = mean_interval_within(&values, 0.95, (0.0, 1.0)).unwrap().unwrap();
            prop_assert!(0.0 <= found.low && found.high <= 1.0, "{found:?}");
            prop_assert!(found.low <= mean + 1e-12 && mean <= found.high + 1e-12, "{found:?}");
        }
    }
}
