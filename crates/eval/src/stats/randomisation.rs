//! Fisher's randomisation test on the mean difference, two-sided.
//!
//! If the two systems were the same, each query's two values could be exchanged, that is, each
//! d_i could carry either sign. p is the fraction of all assignments of signs whose sum has at
//! least the observed absolute value. Fisher, "The Design of Experiments", 1935; for retrieval:
//! Smucker, Allan and Carterette, "A comparison of statistical significance tests for information
//! retrieval evaluation", CIKM 2007.
//!
//! Queries with difference 0 do not change any sum and are left out; m is the number of the others.
//! If 2^m is at most the number of samples B, all assignments are enumerated and p is exact;
//! otherwise B are drawn and p = (count + 1) / (B + 1), the observed assignment being one of them
//! (Davison and Hinkley, "Bootstrap Methods and their Application", 1997, eq. 4.11).
//!
//! Cost O(B m / 8): one random bit per query and sample, and a table for every eight queries
//! replaces eight signed additions by one look-up. Edge cases: no queries, or no difference at all:
//! p = 1; a single query: p = 1. Swapping the systems gives the same p, bit for bit.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;
use rayon::prelude::*;

use super::{Paired, Sampling, StatsError};

/// Outcome of a randomisation test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Randomisation {
    /// Two-sided p-value.
    pub p: f64,
    /// Number of sign assignments that were counted.
    pub assignments: u64,
    /// Whether these were all that exist, so that p has no sampling error.
    pub exact: bool,
}

/// Tests whether the mean difference is 0 by exchanging the systems query by query.
///
/// ```
/// use rankwright_eval::stats::{Paired, Sampling, randomisation_test};
/// let pairs = Paired::new(&[0.9, 0.8, 0.7], &[0.5, 0.6, 0.6])?;
/// let found = randomisation_test(&pairs, Sampling::default())?;
/// // All three up: 2 of the 8 assignments are as extreme.
/// assert_eq!((found.p, found.exact), (0.25, true));
/// # Ok::<(), rankwright_eval::stats::StatsError>(())
/// ```
pub fn randomisation_test(pairs: &Paired, sampling: Sampling) -> Result<Randomisation, StatsError> {
    sampling.check()?;
    let nonzero: Vec<f64> = pairs.differences().iter().copied().filter(|d| *d != 0.0).collect();
    // Sums that are smaller only by rounding count as extreme.
    let threshold = pairs.sum().abs() - pairs.rounding_tolerance();
    let assignments = u32::try_from(nonzero.len()).ok().and_then(|m| 1u64.checked_shl(m));
    Ok(match assignments.filter(|&all| all <= sampling.samples as u64) {
        Some(all) => {
            let extreme = count_all(&nonzero, threshold, all);
            Randomisation { p: extreme as f64 / all as f64, assignments: all, exact: true }
        }
        None => {
            let drawn = sampling.samples as u64;
            let extreme = count_drawn(&nonzero, threshold, sampling);
            let p = (extreme + 1) as f64 / (drawn + 1) as f64;
            Randomisation { p, assignments: drawn, exact: false }
        }
    })
}

/// Number of samples that one random generator draws: their sums and eight tables fit the
/// first-level cache.
const BLOCK_SAMPLES: usize = 1024;

/// Counts the extreme ones of the drawn assignments.
fn count_drawn(differences: &[f64], threshold: f64, sampling: Sampling) -> u64 {
    let count = |rng, size| count_block(differences, threshold, rng, size);
    sampling.blocks(BLOCK_SAMPLES, count).into_iter().sum()
}

/// Draws `size` assignments, 64 queries at a time, and counts the extreme ones.
fn count_block(
    differences: &[f64],
    threshold: f64,
    mut rng: Xoshiro256PlusPlus,
    size: usize,
) -> u64 {
    let mut sums = vec![0.0; size];
    for chunk in differences.chunks(64) {
        let tables = SignTables::new(chunk);
        for sum in &mut sums {
            *sum += tables.sum(rng.next_u64());
        }
    }
    sums.iter().filter(|sum| sum.abs() >= threshold).count() as u64
}

/// Counts the extreme ones of all assignments, whose number is `all` = 2^m.
fn count_all(differences: &[f64], threshold: f64, all: u64) -> u64 {
    let tables = SignTables::new(differences);
    let extreme = |signs: &u64| tables.sum(*signs).abs() >= threshold;
    (0..all).into_par_iter().filter(extreme).count() as u64
}

/// Sums of up to 64 differences under any signs, by look-up: a table of 256 sums for every
/// eight differences, indexed by their eight sign bits (1 is plus).
struct SignTables(Vec<[f64; 256]>);

impl SignTables {
    fn new(differences: &[f64]) -> Self {
        Self(differences.chunks(8).map(Self::table).collect())
    }

    /// The table of up to eight differences. It is filled by doubling it once for each of them;
    /// differences that are missing in the last octet count as 0.
    fn table(octet: &[f64]) -> [f64; 256] {
        let mut table = [0.0; 256];
        for bit in 0..8 {
            let difference = octet.get(bit).copied().unwrap_or(0.0);
            let (minus, plus) = table.split_at_mut(1 << bit);
            for (minus, plus) in minus.iter_mut().zip(plus) {
                *plus = *minus + difference;
                *minus -= difference;
            }
        }
        table
    }

    /// The sum of the differences under these signs, a bit for each.
    #[inline]
    fn sum(&self, signs: u64) -> f64 {
        let octets = self.0.iter().zip(signs.to_le_bytes());
        octets.map(|(table, signs)| table[usize::from(signs)]).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::sample::{self, in_pools};
    use super::*;

    /// The sum without tables, one sign at a time.
    fn reference_sum(differences: &[f64], signs: &[u64]) -> f64 {
        let sign = |i: usize| if signs[i / 64] >> (i % 64) & 1 == 1 { 1.0 } else { -1.0 };
        differences.iter().enumerate().map(|(i, d)| sign(i) * d).sum()
    }

    /// Forty differences in hundredths with mean 0.044.
    fn forty_pairs() -> Paired {
        let d: Vec<f64> = (0..40).map(|i| f64::from(i * 37 % 41 - 19) / 100.0 + 0.03).collect();
        sample::differences(&d)
    }

    fn p_value(pairs: &Paired) -> f64 {
        randomisation_test(pairs, Sampling::default()).unwrap().p
    }

    #[test]
    fn exact_p_equals_scipy() {
        // stats.permutation_test((a, b), lambda x, y: np.mean(x - y),
        //                        permutation_type='samples', n_resamples=np.inf).pvalue
        let found = randomisation_test(&sample::pairs(), Sampling::default()).unwrap();
        assert_eq!(found, Randomisation { p: 0.041015625, assignments: 1024, exact: true });
    }

    #[test]
    fn drawn_p_is_near_the_exact_one() {
        // Exact by convolving the 40 two-point distributions in Python integers. Four standard
        // errors of 100,000 draws are 0.002.
        let found = randomisation_test(&forty_pairs(), Sampling::default()).unwrap();
        assert!(!found.exact);
        assert!((found.p - 0.025564919254975393).abs() < 0.002, "{}", found.p);
    }

    #[test]
    fn drawing_agrees_with_enumerating() {
        let pairs = sample::pairs();
        let nonzero: Vec<f64> = pairs.differences().iter().copied().filter(|d| *d != 0.0).collect();
        let sampling = Sampling { samples: 200_000, seed: 3 };
        let threshold = pairs.sum().abs() - pairs.rounding_tolerance();
        let drawn = count_drawn(&nonzero, threshold, sampling);
        assert!((drawn as f64 / 200_000.0 - 0.041015625).abs() < 0.002, "{drawn}");
    }

    #[test]
    fn seeds_change_the_draws_but_hardly_the_p() {
        let p_with = |seed| {
            randomisation_test(&forty_pairs(), Sampling { samples: 100_000, seed }).unwrap().p
        };
        assert_ne!(p_with(1), p_with(2));
        assert!((p_with(1) - p_with(2)).abs() < 0.003);
    }

    #[test]
    fn identical_systems_give_p_1() {
        let values: Vec<f64> = (0..500).map(|i| f64::from(i).sin()).collect();
        assert_eq!(p_value(&Paired::new(&values, &values).unwrap()), 1.0);
        assert_eq!(p_value(&sample::differences(&[])), 1.0);
        assert_eq!(p_value(&sample::differences(&[0.4])), 1.0);
    }

    #[test]
    fn a_constant_improvement_on_twenty_queries_is_significant() {
        let found = p_value(&sample::differences(&[0.01; 20]));
        assert!(found < 0.001, "{found}");
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let sampled = in_pools(|| p_value(&forty_pairs()).to_bits());
        assert!(sampled.windows(2).all(|pair| pair[0] == pair[1]));
        let exact = in_pools(|| p_value(&sample::pairs()).to_bits());
        assert!(exact.windows(2).all(|pair| pair[0] == pair[1]));
    }

    #[test]
    fn zero_samples_are_refused() {
        let sampling = Sampling { samples: 0, seed: 1 };
        let error = randomisation_test(&forty_pairs(), sampling).unwrap_err();
        assert_eq!(error, StatsError::Samples { found: 0 });
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn tables_equal_signed_additions(
            d in prop::collection::vec(-1.0..1.0f64, 0..200),
            signs in prop::collection::vec(any::<u64>(), 4),
        ) {
            let chunks = d.chunks(64).zip(&signs);
            let found: f64 = chunks.map(|(chunk, bits)| SignTables::new(chunk).sum(*bits)).sum();
            prop_assert!((found - reference_sum(&d, &signs)).abs() < 1e-12);
        }

        #[test]
        fn swapping_the_systems_changes_nothing(
            values in prop::collection::vec((0.0..1.0f64, 0.0..1.0f64), 0..60)
        ) {
            let (a, b): (Vec<f64>, Vec<f64>) = values.into_iter().unzip();
            let sampling = Sampling { samples: 2000, seed: 9 };
            let original = randomisation_test(&Paired::new(&a, &b).unwrap(), sampling).unwrap();
            let swapped = randomisation_test(&Paired::new(&b, &a).unwrap(), sampling).unwrap();
            prop_assert_eq!(original, swapped);
            prop_assert!(original.p > 0.0 && original.p <= 1.0);
        }
    }
}
