//! Metrics of validation data, and the decision when to stop.
//!
//! The first metric on the first validation set decides: the number of rounds with the best value
//! is kept (the earliest among equals), and training stops after a number of rounds without a
//! better value, the learner's patience.

use rankwright_eval::compare::Better;
use rankwright_eval::{Measure, measures_for_model};
use rankwright_model::Model;

use super::history::TrainingHistory;
use super::labels::MetricLabels;
use super::request::ValidationSet;
use crate::error::LearnError;

pub(crate) use super::labels::values;

/// Makes sure that the metric used for early stopping has a value on each set.
pub(crate) fn check_sets(
    sets: &[ValidationSet<'_>],
    measures: &[Measure],
    labels: &MetricLabels,
) -> Result<(), LearnError> {
    let Some(first) = measures.first() else { return Ok(()) };
    for ValidationSet { name, data } in sets {
        // Whether a metric has a value depends on the labels, not on the scores.
        let values = labels.values(data, &vec![0.0; data.rows()], std::slice::from_ref(first))?;
        if values.first().is_none_or(|value| value.is_nan()) {
            return Err(LearnError::NoMetricValue {
                data: name.clone(),
                metric: first.to_string(),
            });
        }
    }
    Ok(())
}

/// The metrics for the scores of a model: those that compare scores with a boundary take the
/// model's own, if it has one.
pub(crate) fn measures_for(
    model: &Model,
    measures: &[Measure],
) -> Result<Vec<Measure>, LearnError> {
    Ok(measures_for_model(measures, |rel| model.boundary(rel))?)
}

/// Finds the best round, and decides when to stop, by the first metric on one validation set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EarlyStopping {
    /// Index of the evaluated set that is used for early stopping.
    pub(crate) set: usize,
    /// Whether higher or lower values of the metric are better.
    pub(crate) better: Better,
    /// With a kept metric (`goal=keep(...)`), which is the first one: the tolerance within which the
    /// second metric decides.
    pub(crate) tolerance: Option<f64>,
    /// Rounds without improvement after which training stops; with `None` it never stops early.
    pub(crate) patience: Option<usize>,
}

impl EarlyStopping {
    /// The first metric on that set after a number of rounds.
    pub(crate) fn value(&self, history: &TrainingHistory, rounds: usize) -> Option<f64> {
        let round = history.iterations.get(rounds.checked_sub(1)?)?;
        round.values.get(self.set)?.first().copied()
    }

    /// The number of rounds, from 1, after which the value was best; `None` before the first round.
    pub(crate) fn best(&self, history: &TrainingHistory) -> Option<usize> {
        if let Some(tolerance) = self.tolerance {
            return self.best_within(tolerance, history);
        }
        let mut best: Option<(usize, f64)> = None;
        for round in 1..=history.iterations.len() {
            let Some(value) = self.value(history, round) else { continue };
            let is_better = best.is_none_or(|(_, best_value)| match self.better {
                Better::Higher => value > best_value,
                Better::Lower => value < best_value,
            });
            if is_better {
                best = Some((round, value));
            }
        }
        best.map(|(rounds, _)| rounds)
    }

    /// The best round by two metrics, in the order of the rounds: one takes the place of the best so
    /// far if its first metric is within the tolerance of the best value so far, and either its
    /// second metric is better or the first metric of the other is no longer within the tolerance.
    fn best_within(&self, tolerance: f64, history: &TrainingHistory) -> Option<usize> {
        let (mut best, mut highest): (Option<(usize, f64, f64)>, _) = (None, f64::NEG_INFINITY);
        for (index, round) in history.iterations.iter().enumerate() {
            let Some([first, second, ..]) = round.values.get(self.set).map(Vec::as_slice) else {
                continue;
            };
            highest = highest.max(*first);
            let is_kept = |value: f64| value >= highest - tolerance;
            let is_better = match best {
                None => true,
                Some((_, best_first, _)) if !is_kept(best_first) => true,
                Some((.., best_second)) => *second > best_second,
            };
            if is_better && is_kept(*first) {
                best = Some((index + 1, *first, *second));
            }
        }
        best.map(|(rounds, ..)| rounds)
    }

    /// Whether there was no improvement for as many rounds as the patience.
    pub(crate) fn is_over(&self, history: &TrainingHistory) -> bool {
        match (self.patience, history.best) {
            (Some(patience), Some(best)) => history.iterations.len() >= best + patience,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Iteration, PhaseSeconds};

    /// The best round by the values of two metrics after each round.
    fn best(tolerance: Option<f64>, values: &[[f64; 2]]) -> Option<usize> {
        let rounds = values.iter().enumerate().map(|(index, values)| Iteration {
            number: index + 1,
            leaves: None,
            loss: None,
            step: None,
            values: vec![values.to_vec()],
            seconds: PhaseSeconds::default(),
        });
        let history = TrainingHistory { iterations: rounds.collect(), ..Default::default() };
        let (set, better, patience) = (0, Better::Higher, None);
        EarlyStopping { set, better, tolerance, patience }.best(&history)
    }

    #[test]
    fn the_second_metric_decides_within_the_tolerance_of_the_first() {
        let values = [[0.50, 0.9], [0.60, 0.2], [0.597, 0.4], [0.58, 0.8], [0.601, 0.3]];
        assert_eq!(best(None, &values), Some(5));
        // Round 3 is within 0.005 of the best so far and has more of the second metric; round 4 has
        // too little of the first.
        assert_eq!(best(Some(0.005), &values), Some(3));
        assert_eq!(best(Some(0.0), &values), Some(5));
        assert_eq!(best(Some(0.03), &values), Some(4));
        assert_eq!(best(Some(1.0), &values), Some(1));
        // Round 2 raises the first metric by more than the tolerance, so that round 1 is not kept.
        assert_eq!(best(Some(0.005), &[[0.5, 0.9], [0.6, 0.1]]), Some(2));
        assert_eq!(best(Some(0.1), &[]), None);
    }
}
