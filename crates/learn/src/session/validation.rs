//! Metrics of validation data, and the decision when to stop.
//!
//! The first metric on the first validation set decides: the number of rounds with the best value
//! is kept (the earliest among equals), and training stops after a number of rounds without a
//! better value, the learner's patience.

use rankwright_data::Dataset;
use rankwright_eval::compare::Better;
use rankwright_eval::{BoundaryText, Measure, ScoredDataset};
use rankwright_model::Model;

use super::history::TrainingHistory;
use super::request::ValidationSet;
use crate::error::LearnError;

/// Makes sure that the metric used for early stopping has a value on each set.
pub(crate) fn check_sets(
    sets: &[ValidationSet<'_>],
    measures: &[Measure],
) -> Result<(), LearnError> {
    let Some(first) = measures.first() else { return Ok(()) };
    for ValidationSet { name, data } in sets {
        // Whether a metric has a value depends on the labels, not on the scores.
        let values = values(data, &vec![0.0; data.rows()], std::slice::from_ref(first))?;
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
    let boundary = |rel| model.boundary(rel);
    let own = |measure: &Measure| measure.with_boundary(BoundaryText::Number, boundary);
    Ok(measures.iter().map(own).collect::<Result<_, _>>()?)
}

/// The value of each metric on one scored data set; NaN if no query has a value.
pub(crate) fn values(
    data: &Dataset,
    scores: &[f64],
    measures: &[Measure],
) -> Result<Vec<f64>, LearnError> {
    let evaluation = ScoredDataset::new(data, scores)?.evaluate(measures)?;
    Ok(evaluation.results.iter().map(|result| result.value).collect())
}

/// Finds the best round, and decides when to stop, by the first metric on one validation set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EarlyStopping {
    /// Index of the evaluated set that is used for early stopping.
    pub(crate) set: usize,
    /// Whether higher or lower values of the metric are better.
    pub(crate) better: Better,
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

    /// Whether there was no improvement for as many rounds as the patience.
    pub(crate) fn is_over(&self, history: &TrainingHistory) -> bool {
        match (self.patience, history.best) {
            (Some(patience), Some(best)) => history.iterations.len() >= best + patience,
            _ => false,
        }
    }
}
