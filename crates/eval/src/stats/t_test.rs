//! Paired t-test, two-sided.
//!
//! t = mean(d) / (s / sqrt(n)) for the differences d of n queries, where s is their sample standard
//! deviation (which divides by n - 1); p = P(|T| > |t|) with n - 1 degrees of freedom.
//! Student, "The probable error of a mean", Biometrika 1908.
//!
//! Cost O(n). Edge cases: fewer than two queries: t = 0, p = 1. All differences
//! 0: t = 0, p = 1 (SciPy says NaN). All differences equal but not 0: t infinite, p = 0.

use super::Paired;
use super::student::two_sided_tail;

/// Outcome of a paired t-test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TTest {
    /// The statistic, positive if the system is above its baseline.
    pub t: f64,
    /// Degrees of freedom, n - 1.
    pub df: f64,
    /// Two-sided p-value.
    pub p: f64,
}

/// Tests whether the mean difference is 0.
///
/// ```
/// use rankwright_eval::stats::{Paired, t_test};
/// let pairs = Paired::new(&[1.0, 2.0, 3.0], &[0.0, 0.0, 0.0])?;
/// // t = 2 / (1 / sqrt(3))
/// assert!((t_test(&pairs).t - 12f64.sqrt()).abs() < 1e-12);
/// # Ok::<(), rankwright_eval::stats::StatsError>(())
/// ```
pub fn t_test(pairs: &Paired) -> TTest {
    let df = pairs.len().saturating_sub(1) as f64;
    let no_difference = TTest { t: 0.0, df, p: 1.0 };
    let (Some(mean), Some(deviation)) = (pairs.mean(), pairs.deviation()) else {
        return no_difference;
    };
    if mean == 0.0 {
        return no_difference;
    }
    // With deviation 0 this is an infinity of the right sign.
    let t = mean / (deviation / (pairs.len() as f64).sqrt());
    TTest { t, df, p: two_sided_tail(t, df) }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn the_test_equals_scipy() {
        // stats.ttest_rel(a, b)
        let found = t_test(&sample::pairs());
        sample::close(found.t, 2.4220242873885605, 1e-12);
        sample::close(found.p, 0.03388516417444898, 1e-12);
        assert_eq!(found.df, 11.0);
    }

    #[test]
    fn fewer_than_two_queries_give_p_1() {
        assert_eq!(t_test(&sample::differences(&[])), TTest { t: 0.0, df: 0.0, p: 1.0 });
        assert_eq!(t_test(&sample::differences(&[0.5])), TTest { t: 0.0, df: 0.0, p: 1.0 });
    }

    #[test]
    fn equal_differences_give_p_1_or_p_0() {
        assert_eq!(t_test(&sample::differences(&[0.0; 5])), TTest { t: 0.0, df: 4.0, p: 1.0 });
        let worse = t_test(&sample::differences(&[-0.1; 5]));
        assert_eq!((worse.t, worse.p), (f64::NEG_INFINITY, 0.0));
    }
}
