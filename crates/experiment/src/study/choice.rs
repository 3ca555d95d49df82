//! Chooses among learners by the first metric of the experiment on validation data.
//!
//! The value of a training is that of its best round, from which its model is taken. The value of a
//! learner on a fold is the mean over its seeds. Among learners with equal values the first in the
//! file is chosen. A learner without a value on a fold, because no validation query has a value,
//! cannot be chosen there.

use rankwright_eval::compare::Better;

use super::super::cell::{ExperimentCell, StoredCell};
use super::super::report::System;

/// Validation results of a learner: the means over its trainings on a fold, or on all folds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Validated {
    /// The mean of each training's best value; `None` if a training has no value.
    pub(super) value: Option<f64>,
    /// The mean of each training's best round, from 1; `None` if a training has no value.
    pub(super) best_round: Option<f64>,
}

/// The learner that was chosen on a fold, or on all folds together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chosen {
    /// Index of the learner in the experiment.
    pub(super) learner: usize,
    pub(super) validated: Validated,
}

/// The first best round of a curve, from 1, and its value; `None` if no round has a value.
pub(super) fn first_best(curve: &[Option<f64>], better: Better) -> Option<(usize, f64)> {
    let mut best: Option<(usize, f64)> = None;
    for (index, value) in curve.iter().enumerate() {
        let Some(value) = value.filter(|value| value.is_finite()) else { continue };
        if best.is_none_or(|(_, best_value)| is_better(value, best_value, better)) {
            best = Some((index + 1, value));
        }
    }
    best
}

fn is_better(value: f64, other: f64, better: Better) -> bool {
    match better {
        Better::Higher => value > other,
        Better::Lower => value < other,
    }
}

/// The validation results of some cells of a learner.
pub(super) fn validated<'a>(
    cells: impl Iterator<Item = &'a (ExperimentCell, StoredCell)>,
    better: Better,
) -> Validated {
    // If one training has no value, there is no mean: a mean over fewer seeds could not be compared
    // with those of other learners.
    let bests: Option<Vec<(usize, f64)>> =
        cells.map(|(_, stored)| first_best(&stored.curve, better)).collect();
    let Some(bests) = bests.filter(|bests| !bests.is_empty()) else {
        return Validated::default();
    };
    let count = bests.len() as f64;
    Validated {
        value: Some(bests.iter().map(|(_, value)| value).sum::<f64>() / count),
        best_round: Some(bests.iter().map(|(round, _)| *round as f64).sum::<f64>() / count),
    }
}

/// The validation results of a learner on a fold.
pub(super) fn on_fold(system: &System, fold: usize, better: Better) -> Validated {
    validated(system.cells.iter().filter(|(cell, _)| cell.fold == fold), better)
}

/// The best of several learners by their validation results, the first among equals; a single
/// learner is chosen even without a value. `None` if no learner can be chosen.
pub(super) fn choose(
    systems: &[&System],
    better: Better,
    results_of: impl Fn(&System) -> Validated,
) -> Option<Chosen> {
    if let [single] = systems {
        return Some(Chosen { learner: single.learner, validated: results_of(single) });
    }
    let mut best: Option<(Chosen, f64)> = None;
    for system in systems {
        let validated = results_of(system);
        let Some(value) = validated.value else { continue };
        if best.as_ref().is_none_or(|(_, best_value)| is_better(value, *best_value, better)) {
            best = Some((Chosen { learner: system.learner, validated }, value));
        }
    }
    best.map(|(chosen, _)| chosen)
}
