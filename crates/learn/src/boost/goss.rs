//! Gradient-based one-side sampling (GOSS; Ke et al., *LightGBM*, 2017, section 3), by query.
//!
//! A tree is grown from the queries whose documents have the largest sum of |gradient| (a fraction
//! `top` of all queries), and from a random sample of the other queries (a fraction `rest` of all
//! queries) whose derivatives are multiplied by (1 - top)/rest, so that sums over the other queries
//! are unbiased. This factor is the *multiplicity* of a query.
//! The paper samples rows; the lambdas of a query depend on each other, so whole queries are
//! sampled here. Both fractions are rounded to a number of queries, at least one each; the factor
//! is computed from the rounded numbers. As in LightGBM, the first 1/rate trees use all queries,
//! because early gradients carry little information.
//!
//! A query's sum is added by one thread in the order of its documents, queries with equal sums are
//! ordered by their number, and the sample is drawn by a hash of (seed, tree, query), so the number
//! of threads cannot change a bit. With several processes each samples its own queries. Cost: the
//! derivatives of all queries, and a sort of the queries; growth and leaf values then use the
//! sampled rows only.

use rankwright_data::Random;

use super::sample::stream_of;

/// Any constant ("OneSide!" in ASCII): keeps this stream of random numbers apart from the others.
const STREAM: u64 = 0x4f6e_6553_6964_6521;

/// Parameters of GOSS.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Goss {
    /// Fraction of all queries that is kept: those with the largest gradients.
    pub(crate) top: f64,
    /// Fraction of all queries that is sampled from the others.
    pub(crate) rest: f64,
}

impl Goss {
    /// Whether the queries of the tree with this number, from 0, are sampled; `rate` is the
    /// learning rate.
    pub(crate) fn is_active(rate: f64, number: usize) -> bool {
        number >= (1.0 / rate) as usize
    }

    /// The multiplicity of each query, given its sum of |gradient|: 1 for the largest sums, at
    /// least 1 for queries sampled from the others, 0 for all other queries. `number` is the number
    /// of the tree, from 0.
    pub(crate) fn multiplicities(&self, sums: &[f64], seed: u64, number: usize) -> Vec<f32> {
        let rounded = |fraction: f64| ((fraction * sums.len() as f64).round() as usize).max(1);
        let mut order: Vec<usize> = (0..sums.len()).collect();
        order.sort_unstable_by(|a, b| sums[*b].total_cmp(&sums[*a]).then(a.cmp(b)));
        let mut multiplicities = vec![0.0; sums.len()];
        let others = order.split_off(rounded(self.top).min(order.len()));
        order.into_iter().for_each(|query| multiplicities[query] = 1.0);
        let draw = |query: usize| Random::new(seed ^ STREAM, stream_of(number, query)).unit();
        let mut draws: Vec<(f64, usize)> =
            others.into_iter().map(|query| (draw(query), query)).collect();
        draws.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let drawn = rounded(self.rest).min(draws.len());
        let multiplicity = (draws.len() as f64 / drawn as f64) as f32;
        draws.iter().take(drawn).for_each(|(_, query)| multiplicities[*query] = multiplicity);
        multiplicities
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIGHTGBM_DEFAULTS: Goss = Goss { top: 0.2, rest: 0.1 };
    /// Multiplicity of sampled queries with the defaults of LightGBM: (1 - 0.2) / 0.1.
    const SAMPLED: f32 = 8.0;

    #[test]
    fn large_gradients_are_kept_and_sampled_queries_stand_for_the_others() {
        let sums: Vec<f64> = (0..100).map(|query| f64::from(query * 37 % 100)).collect();
        let multiplicities = LIGHTGBM_DEFAULTS.multiplicities(&sums, 3, 12);
        for (sum, multiplicity) in sums.iter().zip(&multiplicities) {
            assert_eq!(*multiplicity == 1.0, *sum >= 80.0);
            assert!([0.0, 1.0, SAMPLED].contains(multiplicity));
        }
        assert_eq!(multiplicities.iter().filter(|times| **times == SAMPLED).count(), 10);
        assert_ne!(multiplicities, LIGHTGBM_DEFAULTS.multiplicities(&sums, 3, 13));
        assert_ne!(multiplicities, LIGHTGBM_DEFAULTS.multiplicities(&sums, 4, 12));
    }

    #[test]
    fn sums_over_all_queries_are_right_in_expectation() {
        let sums: Vec<f64> = (0..60).map(|query| f64::from(query % 13)).collect();
        let all: f64 = sums.iter().sum();
        let of_tree = |number| {
            let multiplicities = LIGHTGBM_DEFAULTS.multiplicities(&sums, 1, number);
            multiplicities
                .iter()
                .zip(&sums)
                .map(|(multiplicity, sum)| f64::from(*multiplicity) * sum)
                .sum::<f64>()
        };
        let mean = (0..3000).map(of_tree).sum::<f64>() / 3000.0;
        assert!((mean / all - 1.0).abs() < 0.02, "{mean} {all}");
    }

    #[test]
    fn few_queries_or_none_are_legal() {
        assert!(LIGHTGBM_DEFAULTS.multiplicities(&[], 1, 1).is_empty());
        assert_eq!(LIGHTGBM_DEFAULTS.multiplicities(&[2.0], 1, 1), [1.0]);
        assert_eq!(LIGHTGBM_DEFAULTS.multiplicities(&[2.0, 3.0], 1, 1), [1.0, 1.0]);
        let equal_sums = LIGHTGBM_DEFAULTS.multiplicities(&[0.0; 10], 1, 1);
        assert_eq!(equal_sums[..2], [1.0, 1.0]);
        assert_eq!(equal_sums.iter().filter(|times| **times == SAMPLED).count(), 1);
        let all_kept = Goss { top: 0.7, rest: 0.3 }.multiplicities(&[1.0, 5.0, 2.0, 2.0], 1, 1);
        assert_eq!(all_kept, [1.0; 4]);
    }

    #[test]
    fn the_first_trees_use_all_queries() {
        assert!(!Goss::is_active(0.1, 9) && Goss::is_active(0.1, 10));
        assert!(!Goss::is_active(1.0, 0) && Goss::is_active(1.0, 1));
        assert!(Goss::is_active(3.0, 0));
    }

    proptest! {
        #[test]
        fn multiplicities_add_up_to_the_number_of_queries(
            sums in proptest::collection::vec(0.0_f64..9.0, 0..80),
            top in 0.05_f64..0.6,
            rest in 0.05_f64..0.4,
            number in 0_usize..50,
        ) {
            let multiplicities = Goss { top, rest }.multiplicities(&sums, 7, number);
            let total: f64 = multiplicities.iter().map(|times| f64::from(*times)).sum();
            prop_assert!((total - sums.len() as f64).abs() < 1e-3);
            let queries = || multiplicities.iter().zip(&sums);
            let kept = queries().filter(|(times, _)| **times == 1.0).map(|(_, sum)| *sum);
            let left_out = queries().filter(|(times, _)| **times == 0.0).map(|(_, sum)| *sum);
            prop_assert!(kept.fold(9.0, f64::min) >= left_out.fold(0.0, f64::max));
        }
    }
}
