//! The record of a finished trial, which is the learner with one set of parameters: a line of the
//! log.

use std::ops::{Deref, DerefMut};

use rankwright_eval::compare::Better;
use serde::{Deserialize, Serialize};

/// The learner, value and size of a trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TrialValues {
    /// The number of the trial; 0 is the learner as given.
    pub trial: usize,
    /// The learner as a spec.
    pub spec: String,
    /// The metric over all queries; `None` if the trial failed.
    pub value: Option<f64>,
    /// The 95% confidence interval of the value over the queries; `None` if the value has none.
    pub ci95: Option<(f64, f64)>,
    /// Number of queries with a value.
    pub queries: usize,
    /// Number of rounds in the model, on folds the mean number of trees of their models; `None` if
    /// the model has none.
    pub rounds: Option<f64>,
    /// Maximum number of rounds, on a rung of halving before the last; `None` if the trial was
    /// trained completely.
    pub limit: Option<usize>,
    /// Seconds of binning and training.
    pub seconds: f64,
    /// The number of the trial whose result was taken over: another trial with the same learner, or
    /// this one if it had stopped early on the rung before. `None` if this trial was trained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<usize>,
    /// The error, if the trial failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A trial that was trained and measured: a line of the log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Trial {
    /// Its learner, value and size.
    #[serde(flatten)]
    pub result: TrialValues,
    /// Seed of the training.
    pub seed: u64,
    /// Number of rounds trained; `None` on folds, which have several trainings.
    pub trained: Option<usize>,
    /// The convention of the metric: how ties, unjudged documents and so on are treated.
    pub convention: String,
    /// Checksums of the training data and, if there was some, of the validation data.
    pub data: Vec<String>,
    /// The value of each query; `None` for a query without a value.
    pub values: Vec<Option<f64>>,
}

/// The fields of `result` can be read without naming it: `trial.value`.
impl Deref for Trial {
    type Target = TrialValues;

    fn deref(&self) -> &TrialValues {
        &self.result
    }
}

impl DerefMut for Trial {
    fn deref_mut(&mut self) -> &mut TrialValues {
        &mut self.result
    }
}

impl Trial {
    /// Whether this trial is better than another; a failed one is never better.
    pub(super) fn is_better_than(&self, other: &Trial, better: Better) -> bool {
        match (self.value, other.value) {
            (Some(own), Some(other_value)) => match better {
                Better::Higher => own > other_value,
                Better::Lower => own < other_value,
            },
            (own, None) => own.is_some(),
            (None, Some(_)) => false,
        }
    }
}

/// The trials with the best first; equal ones by number, and failed ones last.
pub(super) fn best_first<'a>(
    trials: impl IntoIterator<Item = &'a Trial>,
    better: Better,
) -> Vec<&'a Trial> {
    let mut all: Vec<&Trial> = trials.into_iter().collect();
    all.sort_by(|a, b| match (a.is_better_than(b, better), b.is_better_than(a, better)) {
        (true, _) => std::cmp::Ordering::Less,
        (_, true) => std::cmp::Ordering::Greater,
        _ => a.trial.cmp(&b.trial),
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_comes_first_and_failures_last() {
        let trial = |trial, value| {
            let result = TrialValues { trial, value, ..TrialValues::default() };
            Trial { result, ..Trial::default() }
        };
        let all = [trial(0, None), trial(1, Some(0.2)), trial(2, Some(0.5)), trial(3, Some(0.2))];
        let order = |better| best_first(&all, better).iter().map(|t| t.trial).collect::<Vec<_>>();
        assert_eq!(order(Better::Higher), [2, 1, 3, 0]);
        assert_eq!(order(Better::Lower), [1, 3, 2, 0]);
    }
}
