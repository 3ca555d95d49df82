//! Effect size: Cohen's d of paired differences.
//!
//! d_z = mean(d) / s for the differences d of n queries, where s is their sample standard deviation
//! (which divides by n - 1), so that the t of a paired t-test is d_z sqrt(n). Cohen, "Statistical
//! Power Analysis for the Behavioral Sciences", 1988, section 2.3.5. A p-value shrinks with the
//! number of queries; d_z does not.
//!
//! Cost O(n). Edge cases: `None` below two queries; 0 if all differences are 0; `None` for equal
//! differences other than 0, whose d_z would be infinite.

use super::Paired;

/// Cohen's d_z, positive if the system is above its baseline; `None` if it is undefined.
///
/// ```
/// use rankwright_eval::stats::{Paired, effect_size};
/// let pairs = Paired::new(&[1.0, 2.0, 3.0], &[0.0, 0.0, 0.0])?;
/// assert_eq!(effect_size(&pairs), Some(2.0));
/// # Ok::<(), rankwright_eval::stats::StatsError>(())
/// ```
pub fn effect_size(pairs: &Paired) -> Option<f64> {
    let (mean, deviation) = (pairs.mean()?, pairs.deviation()?);
    if mean == 0.0 {
        return Some(0.0);
    }
    Some(mean / deviation).filter(|d| d.is_finite())
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn the_effect_size_equals_numpy() {
        // d.mean() / d.std(ddof=1)
        sample::close(effect_size(&sample::pairs()).unwrap(), 0.6991781871537984, 1e-13);
    }

    #[test]
    fn undefined_cases_are_none_and_no_difference_is_zero() {
        assert_eq!(effect_size(&sample::differences(&[])), None);
        assert_eq!(effect_size(&sample::differences(&[0.3])), None);
        assert_eq!(effect_size(&sample::differences(&[0.3, 0.3])), None);
        assert_eq!(effect_size(&sample::differences(&[0.0, 0.0])), Some(0.0));
    }
}
