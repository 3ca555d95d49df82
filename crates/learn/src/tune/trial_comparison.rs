//! Compares the best trial with trial 0 (the learner as given): Fisher's randomisation test, paired
//! by query.
//!
//! The best trial was chosen by the same values that are tested here, so p is too small, and the
//! more trials there are, the smaller it is. If the difference is not significant even with this p,
//! it may be chance.

use rankwright_eval::compare::{Better, Test};
use rankwright_eval::stats::{
    Paired, Sampling, StatsError, mean_interval, randomisation_test, wins,
};
use serde::Serialize;

use super::trial::Trial;
use crate::error::LearnError;

/// The best trial against trial 0, over the queries that have a value in both.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TrialComparison {
    /// Mean of the differences, best minus trial 0.
    pub difference: f64,
    /// The 95% confidence interval of the mean (Student's t); `None` if there are too few queries.
    pub ci95: Option<[f64; 2]>,
    /// Name of the test.
    pub test: &'static str,
    /// Two-sided p of the randomisation test.
    pub p: f64,
    /// Number of queries where the best trial is better.
    pub better: usize,
    /// Number of queries where both are equal.
    pub equal: usize,
    /// Number of queries where trial 0 is better.
    pub worse: usize,
}

/// Compares the best trial with trial 0; `None` if no query has a value in both.
pub(super) fn compare_trials(
    best: &Trial,
    trial_0: &Trial,
    better: Better,
) -> Result<Option<TrialComparison>, LearnError> {
    let both = best.values.iter().zip(&trial_0.values);
    let (best_values, values_0): (Vec<f64>, Vec<f64>) =
        both.filter_map(|(a, b)| (*a).zip(*b)).unzip();
    let internal = |_: StatsError| LearnError::Internal {
        invariant: "values of the same queries can be compared",
    };
    let pairs = Paired::new(&best_values, &values_0).map_err(internal)?;
    let Some(difference) = pairs.mean() else { return Ok(None) };
    let counts = wins(&pairs, 0.0).map_err(internal)?;
    let (better, worse) = match better {
        Better::Higher => (counts.wins, counts.losses),
        Better::Lower => (counts.losses, counts.wins),
    };
    Ok(Some(TrialComparison {
        difference,
        ci95: mean_interval(pairs.differences(), 0.95).map_err(internal)?,
        test: Test::Randomisation.name(),
        p: randomisation_test(&pairs, Sampling::default()).map_err(internal)?.p,
        better,
        equal: counts.ties,
        worse,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_without_a_value_on_either_side_do_not_count() {
        let trial = |values: &[Option<f64>]| Trial { values: values.to_vec(), ..Trial::default() };
        let best = trial(&[Some(0.5), None, Some(0.9), Some(0.3), Some(0.4)]);
        let trial_0 = trial(&[Some(0.4), Some(1.0), None, Some(0.3), Some(0.6)]);
        let found = compare_trials(&best, &trial_0, Better::Higher).unwrap().unwrap();
        // The differences are 0.1, 0 and -0.2.
        assert!((found.difference + 0.1 / 3.0).abs() < 1e-12);
        assert_eq!((found.better, found.equal, found.worse), (1, 1, 1));
        assert_eq!(found.p, 1.0);
        let lower = compare_trials(&best, &trial_0, Better::Lower).unwrap().unwrap();
        assert_eq!((lower.better, lower.worse), (1, 1));
        assert_eq!(compare_trials(&trial(&[None]), &trial_0, Better::Higher).unwrap(), None);
    }
}
