//! The numbers of queries won, tied and lost.
//!
//! With d_i = system_i - baseline_i, query i is won if d_i > tolerance, lost if d_i < -tolerance,
//! tied otherwise. Cost O(n). Edge cases: with tolerance 0 only queries whose difference is 0, or
//! no more than a rounding error ([`Paired`]), are ties; no queries give 0, 0, 0.

use serde::Serialize;

use super::error::check_tolerance;
use super::{Paired, StatsError};

/// Counts of queries won, tied and lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Wins {
    /// Number of queries in which the system is above its baseline.
    pub wins: usize,
    /// Number of queries in which both are equal within the tolerance.
    pub ties: usize,
    /// Number of queries in which the system is below its baseline.
    pub losses: usize,
}

/// Counts wins, ties and losses of the system, where a higher value is better.
///
/// ```
/// use rankwright_eval::stats::{Paired, wins};
/// let pairs = Paired::new(&[0.9, 0.501, 0.2], &[0.8, 0.500, 0.3])?;
/// let found = wins(&pairs, 0.01)?;
/// assert_eq!((found.wins, found.ties, found.losses), (1, 1, 1));
/// # Ok::<(), rankwright_eval::stats::StatsError>(())
/// ```
pub fn wins(pairs: &Paired, tolerance: f64) -> Result<Wins, StatsError> {
    check_tolerance(tolerance)?;
    let wins = pairs.differences().iter().filter(|d| **d > tolerance).count();
    let losses = pairs.differences().iter().filter(|d| **d < -tolerance).count();
    Ok(Wins { wins, ties: pairs.len() - wins - losses, losses })
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn tolerance_turns_small_differences_into_ties() {
        let strict = wins(&sample::pairs(), 0.0).unwrap();
        assert_eq!(strict, Wins { wins: 7, ties: 2, losses: 3 });
        let wide = wins(&sample::pairs(), 0.05).unwrap();
        assert_eq!(wide, Wins { wins: 7, ties: 4, losses: 1 });
    }

    #[test]
    fn without_queries_all_counts_are_0() {
        assert_eq!(wins(&sample::differences(&[]), 0.0).unwrap(), Wins::default());
    }

    #[test]
    fn a_negative_tolerance_is_refused() {
        let error = wins(&sample::pairs(), -0.1).unwrap_err();
        assert_eq!(error, StatsError::Tolerance { found: -0.1 });
    }
}
