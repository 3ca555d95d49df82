//! Sign test: could a fair coin have given these numbers of wins and losses?
//!
//! With w wins and l losses (ties dropped) and X ~ Binomial(w + l, 1/2):
//! p = min(1, 2 P(X <= min(w, l))), exact.
//! Dixon and Mood, "The statistical sign test", JASA 1946.
//!
//! Cost O(n). Edge cases: no wins and no losses, or as many wins as losses: p = 1. The test uses
//! only counts, so it may disagree in direction with the mean difference.

use statrs::function::gamma::ln_gamma;

use super::{Paired, StatsError, Wins, wins};

/// Outcome of a sign test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignTest {
    /// The counts from which the p-value was computed.
    pub counts: Wins,
    /// Two-sided p-value.
    pub p: f64,
}

/// Tests whether the system wins as many queries as it loses; differences within `tolerance` are
/// ties and dropped.
///
/// ```
/// use rankwright_eval::stats::{Paired, sign_test};
/// let pairs = Paired::new(&[0.9; 5], &[0.8; 5])?;
/// // Five wins of five: 2 / 2^5.
/// assert!((sign_test(&pairs, 0.0)?.p - 0.0625).abs() < 1e-12);
/// # Ok::<(), rankwright_eval::stats::StatsError>(())
/// ```
pub fn sign_test(pairs: &Paired, tolerance: f64) -> Result<SignTest, StatsError> {
    let counts = wins(pairs, tolerance)?;
    Ok(SignTest { counts, p: binomial_p_value(counts.wins, counts.losses) })
}

/// Two-sided exact p-value of a number of wins and losses.
fn binomial_p_value(wins: usize, losses: usize) -> f64 {
    let (n, k) = ((wins + losses) as f64, wins.min(losses) as f64);
    // P(X = k), then downwards by P(X = i - 1) = P(X = i) * i / (n - i + 1): each term is smaller
    // than the last, so the sum may stop once terms no longer change it.
    let log_choose = ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0);
    let mut term = (log_choose - n * std::f64::consts::LN_2).exp();
    let mut sum = 0.0;
    let mut i = k;
    while i >= 0.0 && sum + term > sum {
        sum += term;
        term *= i / (n - i + 1.0);
        i -= 1.0;
    }
    (2.0 * sum).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::super::sample::{self, close};
    use super::*;

    #[test]
    fn p_values_equal_scipy() {
        // stats.binomtest(int((d > 0).sum()), 10).pvalue, and the same for |d| > 0.05
        close(sign_test(&sample::pairs(), 0.0).unwrap().p, 0.34375, 1e-12);
        close(sign_test(&sample::pairs(), 0.05).unwrap().p, 0.0703125, 1e-12);
        // stats.binomtest(w, w + l).pvalue
        close(binomial_p_value(9, 1), 0.021484375, 1e-12);
        close(binomial_p_value(480, 520), 0.2174482932041415, 1e-11);
        close(binomial_p_value(50_500, 49_500), 0.0015823598788515154, 1e-9);
        close(binomial_p_value(0, 5), 0.0625, 1e-12);
    }

    #[test]
    fn equal_counts_give_p_1() {
        assert_eq!(binomial_p_value(0, 0), 1.0);
        close(binomial_p_value(3, 3), 1.0, 1e-12);
        assert_eq!(sign_test(&sample::differences(&[0.0; 9]), 0.0).unwrap().p, 1.0);
    }

    #[test]
    fn two_thousand_losses_give_p_0() {
        // stats.binomtest(0, 2000).pvalue is 0 too: 2^-1999 has no float.
        assert_eq!(binomial_p_value(0, 2000), 0.0);
    }
}
