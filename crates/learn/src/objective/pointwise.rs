//! Shared code of the pointwise objectives: a loop over documents with their weights, sums in a
//! fixed order, and the check of labels.
//!
//! A document of weight w counts w times; weight 0 gives exact zeros for any label, even if the
//! derivatives overflow.

use rankwright_eval::EvalError;

use super::{Derivatives, QueryView, TrainingDocuments};
use crate::error::{LearnError, NotFiniteValue};

/// Sets each document's derivatives, multiplied by its weight; `derivatives_of` computes gradient
/// and hessian from label and score.
pub(super) fn fill_derivatives(
    query: &QueryView<'_>,
    out: &mut Derivatives<'_>,
    derivatives_of: impl Fn(f64, f64) -> (f64, f64),
) -> Result<(), LearnError> {
    require_labels(query)?;
    let mut finite = true;
    for (row, (&label, &score)) in query.labels.iter().zip(query.scores).enumerate() {
        let (mut gradient, mut hessian) = derivatives_of(label, score);
        if let Some(&weight) = query.weights.get(row) {
            let weight = f64::from(weight);
            (gradient, hessian) =
                if weight == 0.0 { (0.0, 0.0) } else { (gradient * weight, hessian * weight) };
        }
        let (gradient, hessian) = (gradient as f32, hessian as f32);
        finite &= gradient.is_finite() && hessian.is_finite();
        out.gradient[row] = gradient;
        out.hessian[row] = hessian;
    }
    if finite { Ok(()) } else { Err(not_finite_error(query)) }
}

/// The error for derivatives that are too large for 32-bit floats, or NaN because of a NaN score.
pub(super) fn not_finite_error(query: &QueryView<'_>) -> LearnError {
    if let Some(row) = query.scores.iter().position(|s| s.is_nan()) {
        return EvalError::NanScore { row }.into();
    }
    NotFiniteValue::Derivatives.into()
}

/// Rejects queries that have preference pairs, or no labels.
pub(super) fn require_labels(query: &QueryView<'_>) -> Result<(), LearnError> {
    if query.labels.len() == query.scores.len() && query.pairs.is_none() {
        return Ok(());
    }
    Err(LearnError::ObjectiveNeedsLabels)
}

/// Sum of a function of label and score over the documents of a query, each term multiplied by the
/// document's weight.
pub(super) fn weighted_sum(query: &QueryView<'_>, value: impl Fn(f64, f64) -> f64) -> f64 {
    let rows = query.labels.iter().zip(query.scores).enumerate();
    let weighted = rows.map(|(row, (&label, &score))| {
        let weight = query.weights.get(row).map_or(1.0, |w| f64::from(*w));
        if weight == 0.0 { 0.0 } else { weight * value(label, score) }
    });
    weighted.sum()
}

/// Weight of a row of the training data.
pub(super) fn row_weight(all: &TrainingDocuments<'_>, row: usize) -> f64 {
    all.weights.get(row).map_or(1.0, |w| f64::from(*w))
}

/// Weighted mean of a function of the label over all rows; 0 if all weights are 0.
pub(super) fn weighted_mean(all: &TrainingDocuments<'_>, value: impl Fn(f64) -> f64) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for (row, &label) in all.labels.iter().enumerate() {
        let weight = row_weight(all, row);
        if weight > 0.0 {
            sum += weight * value(label);
            total += weight;
        }
    }
    if total > 0.0 { sum / total } else { 0.0 }
}

/// Rejects labels that are not finite.
pub(super) fn check_labels(all: &TrainingDocuments<'_>) -> Result<(), LearnError> {
    match all.labels.iter().enumerate().find(|(_, l)| !l.is_finite()) {
        None => Ok(()),
        Some((row, label)) => Err(LearnError::LabelNotFinite { row, label: *label }),
    }
}
