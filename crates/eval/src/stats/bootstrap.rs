//! Bootstrap of the mean difference: percentile interval, and p-value by the shift method.
//!
//! A number B of times, n queries are drawn with replacement from the n queries; m*_b is the mean
//! difference over those of sample b, and m that over all queries. The interval runs between the
//! (1 - level)/2 and (1 + level)/2 quantiles of the m*_b, interpolated linearly. For the p-value
//! the distribution is shifted to mean 0, as if there were no difference:
//! p = (#{|m*_b - m| >= |m|} + 1) / (B + 1). Efron and Tibshirani, "An Introduction to the
//! Bootstrap", 1993, chapters 13 and 16; the shift method for retrieval: Smucker, Allan and
//! Carterette, CIKM 2007.
//!
//! Cost O(B n) time and O(B) memory. Indices come from 32 random bits each; the bias, n / 2^32, is
//! far below the sampling error. Edge cases: below two queries p = 1 and there is no interval; all
//! differences 0: p = 1; equal differences other than 0: p = 1/(B+1), since all samples have the
//! same mean. With few queries the p-values of the bootstrap are too small; use the randomisation
//! test then.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;
use rayon::prelude::*;

use super::error::check_level;
use super::{Paired, Sampling, StatsError};

/// Outcome of a bootstrap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// Two-sided p-value by the shift method.
    pub p: f64,
    /// Percentile interval `[low, high]` of the mean difference; `None` below two queries.
    pub interval: Option<[f64; 2]>,
}

/// Resamples queries and gives the interval of the mean difference at `level` and its p-value.
///
/// ```
/// use rankwright_eval::stats::{Paired, Sampling, bootstrap};
/// let pairs = Paired::new(&[0.9, 0.8, 0.7, 0.5], &[0.5, 0.6, 0.6, 0.4])?;
/// let found = bootstrap(&pairs, 0.95, Sampling::default())?;
/// let [low, high] = found.interval.unwrap();
/// assert!(0.09 < low && low < 0.2 && 0.2 < high && high < 0.41);
/// # Ok::<(), rankwright_eval::stats::StatsError>(())
/// ```
pub fn bootstrap(pairs: &Paired, level: f64, sampling: Sampling) -> Result<Bootstrap, StatsError> {
    sampling.check()?;
    check_level(level)?;
    let n = pairs.len();
    if n < 2 {
        return Ok(Bootstrap { p: 1.0, interval: None });
    }
    let block_sums = |rng, size| resampled_sums(pairs.differences(), rng, size);
    let mut sums: Vec<f64> = sampling.blocks(BLOCK_SAMPLES, block_sums).concat();
    sums.par_sort_unstable_by(f64::total_cmp);

    let observed = pairs.sum();
    let threshold = observed.abs() - pairs.rounding_tolerance();
    let extreme = sums.iter().filter(|sum| (**sum - observed).abs() >= threshold).count();
    let p = (extreme + 1) as f64 / (sums.len() + 1) as f64;
    let bound = |fraction| quantile(&sums, fraction) / n as f64;
    Ok(Bootstrap { p, interval: Some([bound((1.0 - level) / 2.0), bound((1.0 + level) / 2.0)]) })
}

/// Number of samples that one random generator draws.
const BLOCK_SAMPLES: usize = 256;

/// The sums of `size` samples of the differences with replacement, two draws from each random word.
fn resampled_sums(differences: &[f64], mut rng: Xoshiro256PlusPlus, size: usize) -> Vec<f64> {
    let n = differences.len() as u64;
    // The upper half of (32 random bits) * n lies in 0..n.
    let pick = |bits: u64| differences[((bits * n) >> 32) as usize];
    let resample = |_| {
        let (mut even, mut odd) = (0.0, 0.0);
        for _ in 0..differences.len() / 2 {
            let word = rng.next_u64();
            even += pick(word >> 32);
            odd += pick(word & 0xffff_ffff);
        }
        if differences.len() % 2 == 1 {
            even += pick(rng.next_u64() >> 32);
        }
        even + odd
    };
    (0..size).map(resample).collect()
}

/// The quantile of sorted, non-empty values at a fraction from 0 to 1, linear between neighbours
/// (NumPy's default).
fn quantile(sorted: &[f64], fraction: f64) -> f64 {
    let position = fraction * (sorted.len() - 1) as f64;
    let below = (position.floor() as usize).min(sorted.len() - 1);
    let above = (below + 1).min(sorted.len() - 1);
    let (low, high) = (sorted[below], sorted[above]);
    low + (high - low) * (position - below as f64)
}

#[cfg(test)]
mod tests {
    use super::super::sample::{self, in_pools};
    use super::*;

    const SIX_DIFFERENCES: [f64; 6] = [0.07, 0.07, -0.06, 0.14, -0.03, 0.13];

    fn run(pairs: &Paired) -> Bootstrap {
        bootstrap(pairs, 0.95, Sampling::default()).unwrap()
    }

    #[test]
    fn p_and_interval_of_six_queries_equal_full_enumeration() {
        // In Python: s = np.array([np.mean(x) for x in itertools.product(six, repeat=6)]);
        // the interval is np.percentile(s, [2.5, 97.5]), p is (np.abs(s - m) >= m - 1e-12).mean().
        // Means are multiples of 1/600, which limits the interval; four standard errors of p are
        // 0.0035.
        let found = run(&sample::differences(&SIX_DIFFERENCES));
        let [low, high] = found.interval.unwrap();
        assert!((low - -0.00666667).abs() < 0.0017, "{low}");
        assert!((high - 0.11166667).abs() < 0.0017, "{high}");
        assert!((found.p - 0.08363340192043896).abs() < 0.0035, "{}", found.p);
    }

    #[test]
    fn interval_equals_scipy() {
        // stats.bootstrap((d,), np.mean, method='percentile', n_resamples=400000)
        let [low, high] = run(&sample::pairs()).interval.unwrap();
        assert!((low - 0.010833333333333328).abs() < 0.0017, "{low}");
        assert!((high - 0.085).abs() < 0.0017, "{high}");
    }

    #[test]
    fn quantiles_equal_numpy() {
        // np.percentile([1, 2, 4, 8], [0, 2.5, 50, 97.5, 100])
        let found = [0.0, 0.025, 0.5, 0.975, 1.0].map(|q| quantile(&[1.0, 2.0, 4.0, 8.0], q));
        for (found, expected) in found.into_iter().zip([1.0, 1.075, 3.0, 7.7, 8.0]) {
            sample::close(found, expected, 1e-14);
        }
        assert_eq!(quantile(&[3.0], 0.7), 3.0);
    }

    #[test]
    fn every_query_is_drawn_equally_often() {
        let rng = <Xoshiro256PlusPlus as rand_xoshiro::rand_core::SeedableRng>::seed_from_u64(5);
        // One query of seven counts 1: the mean sum of 70,000 resamples is 1, standard error
        // 0.0035.
        let sums = resampled_sums(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], rng, 70_000);
        assert!((sums.iter().sum::<f64>() / 70_000.0 - 1.0).abs() < 0.014);
    }

    #[test]
    fn identical_systems_give_p_1_and_a_constant_improvement_is_significant() {
        let same = run(&sample::differences(&[0.0; 30]));
        assert_eq!(same, Bootstrap { p: 1.0, interval: Some([0.0, 0.0]) });
        let improved = run(&sample::differences(&[0.01; 20]));
        assert_eq!(improved.p, 1.0 / 100_001.0);
        sample::close(improved.interval.unwrap()[0], 0.01, 1e-12);
    }

    #[test]
    fn fewer_than_two_queries_give_p_1_and_no_interval() {
        for d in [&[][..], &[0.5]] {
            assert_eq!(run(&sample::differences(d)), Bootstrap { p: 1.0, interval: None });
        }
    }

    #[test]
    fn swapping_the_systems_mirrors_the_interval() {
        let original = run(&sample::pairs());
        let swapped = run(&Paired::new(&sample::B, &sample::A).unwrap());
        assert_eq!(original.p, swapped.p);
        sample::close(original.interval.unwrap()[0], -swapped.interval.unwrap()[1], 1e-12);
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let bits =
            |found: Bootstrap| (found.p.to_bits(), found.interval.map(|i| i.map(f64::to_bits)));
        let found = in_pools(|| bits(run(&sample::pairs())));
        assert!(found.windows(2).all(|pair| pair[0] == pair[1]));
    }

    #[test]
    fn a_level_of_one_is_refused() {
        let error = bootstrap(&sample::pairs(), 1.0, Sampling::default()).unwrap_err();
        assert_eq!(error, StatsError::Level { found: 1.0 });
    }
}
