//! Ensemble selection with replacement (Caruana, Niculescu-Mizil, Crew and Ksikes, *Ensemble
//! Selection from Libraries of Models*, 2004) on out-of-fold scores.
//!
//! A selection starts from nothing and picks, again and again, the candidate whose scores, added to
//! those picked so far, give the best metric; a candidate may be picked several times. A single
//! selection overfits its queries, so the weights are mean counts over many selections, each on a
//! random half of the queries (every second one on the half that the selection before left out).
//! A pull toward the plain mean reduces what chance is left: the weights are
//!
//! ```text
//! w_m = (1 - pull) picks of m / all picks + pull / number of candidates
//! ```
//!
//! Cost: selections x picks x candidates rankings of half of the queries. One candidate has weight
//! 1. Of candidates with the same metric the first one is picked.

use rankwright_data::Random;

use crate::ensemble::target::TargetMetric;
use crate::error::LearnError;

/// Any constant: keeps the random halves apart from other random numbers of the seed.
const HALVES_SEED: u64 = 0x6175_746f_2068;

/// Parameters of the selection.
#[derive(Debug, Clone, Copy)]
pub(super) struct EnsembleSelection {
    /// Number of selections, each on half of the queries.
    pub(super) selections: usize,
    /// Number of picks of a selection.
    pub(super) picks: usize,
    /// Share of the weight that is divided among all candidates alike.
    pub(super) pull: f64,
    pub(super) seed: u64,
}

/// The scores of candidates for the rows of the target's data, normalised within each query.
pub(super) type CandidateScores = [Vec<f64>];

impl EnsembleSelection {
    /// Weights that sum to 1; only the queries with `used` take part.
    pub(super) fn weights(
        &self,
        target: &TargetMetric<'_>,
        scores: &CandidateScores,
        used: &[bool],
    ) -> Result<Vec<f64>, LearnError> {
        let candidates = scores.len();
        let mut counts = vec![0_usize; candidates];
        for selection in 0..self.selections {
            let target = target.restricted_to(half_of(used, self.seed, selection));
            self.select(&target, scores, &mut counts)?;
        }
        let all: usize = counts.iter().sum();
        let weight = |count: &usize| {
            let picked = match all {
                0 => 1.0 / candidates as f64,
                all => *count as f64 / all as f64,
            };
            (1.0 - self.pull) * picked + self.pull / candidates as f64
        };
        Ok(counts.iter().map(weight).collect())
    }

    /// One selection; adds its picks to `counts`.
    fn select(
        &self,
        target: &TargetMetric<'_>,
        scores: &CandidateScores,
        counts: &mut [usize],
    ) -> Result<(), LearnError> {
        let data = target.data();
        let mut sum = vec![0.0; data.rows()];
        for _ in 0..self.picks {
            let fill = |query: usize, candidate: usize, to: &mut [f64]| {
                let rows = data.query_rows(query);
                let added = sum[rows.clone()].iter().zip(&scores[candidate][rows]);
                to.iter_mut().zip(added).for_each(|(to, (sum, score))| *to = sum + score);
            };
            let totals = target.totals(scores.len(), fill)?;
            let Some(best) = first_best(&totals) else {
                // No query of this half has a metric value.
                return Ok(());
            };
            counts[best] += 1;
            sum.iter_mut().zip(&scores[best]).for_each(|(sum, score)| *sum += score);
        }
        Ok(())
    }
}

/// The index of the first of the best values; `None` if all are NaN.
fn first_best(values: &[f64]) -> Option<usize> {
    let mut best: Option<usize> = None;
    for (index, value) in values.iter().enumerate() {
        let is_better = match best {
            None => !value.is_nan(),
            Some(other) => *value > values[other],
        };
        if is_better {
            best = Some(index);
        }
    }
    best
}

/// For each query, whether it is in the half of this selection: one half of the used queries.
/// Selections 2k and 2k + 1 have the two halves of one random division.
fn half_of(used: &[bool], seed: u64, selection: usize) -> Vec<bool> {
    let mut queries: Vec<usize> = (0..used.len()).filter(|query| used[*query]).collect();
    Random::new(seed ^ HALVES_SEED, (selection / 2) as u64).shuffle(&mut queries);
    let (first, second) = queries.split_at(queries.len() / 2);
    let mut flags = vec![false; used.len()];
    let half = if selection.is_multiple_of(2) { first } else { second };
    half.iter().for_each(|query| flags[*query] = true);
    flags
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_data::Dataset;
    use rankwright_data::generate::LetorOptions;
    use rankwright_eval::MetricSpec;

    fn data() -> Dataset {
        LetorOptions { queries: 40, documents: 15, seed: 3 }.generate().unwrap()
    }

    /// The scores of two candidates whose independent errors cancel in part, and of one that are
    /// random.
    fn scores(data: &Dataset) -> Vec<Vec<f64>> {
        let mut random = Random::new(5, 0);
        let mut noisy = |share: f64, noise: f64| -> Vec<f64> {
            data.labels().iter().map(|label| share * label + noise * random.normal()).collect()
        };
        vec![noisy(1.0, 1.0), noisy(1.0, 1.0), noisy(0.0, 1.0)]
    }

    #[test]
    fn candidates_that_err_differently_share_the_weight() {
        let data = data();
        let target = TargetMetric::new(&data, &MetricSpec::parse("ndcg@10").unwrap()).unwrap();
        let selection = EnsembleSelection { selections: 10, picks: 10, pull: 0.0, seed: 1 };
        let (scores, used) = (scores(&data), vec![true; 40]);
        let weights = selection.weights(&target, &scores, &used).unwrap();
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(weights[0] > 0.3 && weights[1] > 0.3 && weights[2] < 0.15, "{weights:?}");
        assert_eq!(weights, selection.weights(&target, &scores, &used).unwrap());
        let pulled =
            EnsembleSelection { pull: 1.0, ..selection }.weights(&target, &scores, &used).unwrap();
        assert_eq!(pulled, [1.0 / 3.0; 3]);
    }

    #[test]
    fn queries_that_are_not_used_decide_nothing() {
        let data = data();
        let target = TargetMetric::new(&data, &MetricSpec::parse("ndcg@10").unwrap()).unwrap();
        let used: Vec<bool> = (0..40).map(|query| query % 2 == 0).collect();
        let selection = EnsembleSelection { selections: 4, picks: 5, pull: 0.0, seed: 2 };
        let scores = scores(&data);
        let expected = selection.weights(&target, &scores, &used).unwrap();
        // The scores of the other queries become those of a perfect third candidate.
        let mut changed = scores.clone();
        for query in (0..40).filter(|query| query % 2 == 1) {
            let rows = data.query_rows(query);
            changed[2][rows.clone()].copy_from_slice(&data.labels()[rows]);
        }
        assert_eq!(selection.weights(&target, &changed, &used).unwrap(), expected);
    }

    #[test]
    fn two_halves_cover_the_used_queries() {
        let used = [true, false, true, true, true];
        let (one, two) = (half_of(&used, 4, 2), half_of(&used, 4, 3));
        let both: Vec<bool> = one.iter().zip(&two).map(|(a, b)| a ^ b).collect();
        assert_eq!(both, used);
        assert_eq!(first_best(&[f64::NAN, 1.0, 3.0, 3.0]), Some(2));
        assert_eq!(first_best(&[f64::NAN]), None);
    }
}
