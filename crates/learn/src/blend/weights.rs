//! The weights of a blend, learnt for the metric on scores of data that the members were not fitted
//! to.
//!
//! From equal weights, coordinate ascent ([`CoordinateSearch`]) changes one weight at a time as
//! long as the metric improves; weights stay at 0 or above, because a member trained for the same
//! task should not count negatively. Validation data has few queries and a metric is constant
//! almost everywhere, so a single search would overfit; the weights are means over several
//! searches, each on a random half of the queries, every second search on the half that the search
//! before left out (in the manner of bagged ensemble selection: Caruana, Niculescu-Mizil, Crew and
//! Ksikes 2004). The halves are determined by the seed.
//!
//! Cost: repeats x passes x members x 31 rankings of half of the validation data (31 is the number
//! of values that a pass tries for a weight). A single member has weight 1; if no query of a half
//! has a metric value, the weights of that search stay equal.

use rankwright_data::Random;

use crate::ensemble::columns::QueryColumns;
use crate::ensemble::coordinate_search::{CoordinateSearch, WeightPoint};
use crate::ensemble::target::TargetMetric;
use crate::error::LearnError;

/// Maximum number of passes over the weights.
const MAX_PASSES: usize = 20;
/// Any constant: keeps the random order of weights apart from other random numbers of the seed.
const ORDER_SEED: u64 = 0x626c_656e_6473;
/// Any constant: keeps the random halves apart from other random numbers of the seed.
const HALVES_SEED: u64 = 0x6861_6c76_6573;

/// Parameters of the search for weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct WeightSearch {
    /// Number of searches, each on half of the queries; 1 for one search on all queries.
    pub(super) repeats: usize,
    /// A change of a weight must raise the metric by more than this.
    pub(super) tolerance: f64,
}

impl WeightSearch {
    /// Weights that sum to 1; `scores` has the scores of all members for the first row, then for
    /// the second, and so on.
    pub(super) fn weights(
        &self,
        target: &TargetMetric<'_>,
        scores: &[f64],
        members: usize,
        seed: u64,
    ) -> Result<Vec<f64>, LearnError> {
        let columns = &QueryColumns::new(target.layout(), scores, members);
        let mut sums = vec![0.0; members];
        for repeat in 0..self.repeats {
            let target_on_half;
            let target = match self.repeats {
                1 => target,
                _ => {
                    target_on_half =
                        target.restricted_to(half_of_repeat(target.data().queries(), seed, repeat));
                    &target_on_half
                }
            };
            let search =
                CoordinateSearch { target, columns, tolerance: self.tolerance, min_weight: 0.0 };
            let point = ascend(&search, members, (seed, repeat))?;
            sums.iter_mut().zip(&point.weights).for_each(|(sum, weight)| *sum += weight);
        }
        let total: f64 = sums.iter().sum();
        if total == 0.0 {
            // Equal scores are best, as they may be under a metric with `ties=best`.
            return Ok(vec![1.0 / members as f64; members]);
        }
        Ok(sums.into_iter().map(|sum| sum / total).collect())
    }
}

/// The weights of one search: from equal weights, at most [`MAX_PASSES`] passes, until a pass
/// changes nothing.
fn ascend(
    search: &CoordinateSearch<'_, f64>,
    members: usize,
    (seed, repeat): (u64, usize),
) -> Result<WeightPoint, LearnError> {
    let mut point = search.evaluate(vec![1.0; members])?;
    for pass in 0..MAX_PASSES {
        let mut order: Vec<usize> = (0..members).collect();
        let stream = (repeat * MAX_PASSES + pass) as u64;
        Random::new(seed ^ ORDER_SEED, stream).shuffle(&mut order);
        let next = search.pass(&point, &order)?;
        if next == point {
            break;
        }
        point = next;
    }
    Ok(point)
}

/// For each query, whether it is in the half of this repeat; repeats 2k and 2k + 1 have the two
/// halves of one random division.
fn half_of_repeat(queries: usize, seed: u64, repeat: usize) -> Vec<bool> {
    let mut order: Vec<usize> = (0..queries).collect();
    Random::new(seed ^ HALVES_SEED, (repeat / 2) as u64).shuffle(&mut order);
    let is_first_half = repeat.is_multiple_of(2);
    let mut flags = vec![!is_first_half; queries];
    order.iter().take(queries / 2).for_each(|query| flags[*query] = is_first_half);
    flags
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_data::Dataset;
    use rankwright_data::generate::LetorOptions;
    use rankwright_eval::MetricSpec;

    fn data() -> Dataset {
        LetorOptions { queries: 30, documents: 15, seed: 3 }.generate().unwrap()
    }

    /// The first member scores by the labels, the second is uninformative, the third is the
    /// opposite of the first.
    fn scores(data: &Dataset) -> Vec<f64> {
        let mut random = Random::new(5, 0);
        let of_row = |label: &f64| [*label + 0.3 * random.normal(), random.normal(), -*label];
        data.labels().iter().flat_map(of_row).collect()
    }

    #[test]
    fn better_members_get_larger_weights() {
        let data = data();
        let target = TargetMetric::new(&data, &MetricSpec::parse("ndcg@10").unwrap()).unwrap();
        for repeats in [1, 6] {
            let search = WeightSearch { repeats, tolerance: 1e-4 };
            let weights = search.weights(&target, &scores(&data), 3, 1).unwrap();
            assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(weights[0] > 0.5 && weights[0] > weights[1] + weights[2], "{weights:?}");
            assert!(weights.iter().all(|weight| *weight >= 0.0));
            assert_eq!(weights, search.weights(&target, &scores(&data), 3, 1).unwrap());
        }
    }

    #[test]
    fn members_are_equal_where_equal_scores_are_best() {
        let data = data();
        let metric = MetricSpec::parse("ndcg(ties=best)@10").unwrap();
        let target = TargetMetric::new(&data, &metric).unwrap();
        let search = WeightSearch { repeats: 1, tolerance: 0.0 };
        let wrong: Vec<f64> = data.labels().iter().flat_map(|label| [-*label, -*label]).collect();
        assert_eq!(search.weights(&target, &wrong, 2, 1).unwrap(), [0.5, 0.5]);
    }

    #[test]
    fn one_member_has_all_the_weight() {
        let data = data();
        let target = TargetMetric::new(&data, &MetricSpec::parse("ap").unwrap()).unwrap();
        let search = WeightSearch { repeats: 4, tolerance: 0.0 };
        assert_eq!(search.weights(&target, data.labels(), 1, 9).unwrap(), [1.0]);
    }

    #[test]
    fn two_halves_cover_all_queries() {
        let (even, odd) = (half_of_repeat(9, 4, 2), half_of_repeat(9, 4, 3));
        assert_eq!(even.iter().filter(|flag| **flag).count(), 4);
        assert!(even.iter().zip(&odd).all(|(a, b)| a != b));
        assert_ne!(half_of_repeat(9, 4, 0), half_of_repeat(9, 4, 2));
    }
}
