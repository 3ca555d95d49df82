//! Shared code of the pointwise objectives: a loop over documents with their weights, sums in a
//! fixed order, and the check of labels.
//!
//! A document of weight w counts w times; weight 0 gives exact zeros for any label.

use rankwright_eval::EvalError;

use super::{Derivatives, QueryView, TrainingDocuments};
use crate::error::{LearnError, NotFiniteValue};

/// Sets each document's derivatives, times its weight; `derive` computes gradient and hessian from
/// label and score.
pub(super) fn fill(
    query: &QueryView<'_>,
    out: &mut Derivatives<'_>,
    derive: impl Fn(f64, f64) -> (f64, f64),
) -> Result<(), LearnError> {
    need_labels(query)?;
    let mut finite = true;
    for (row, (&label, &score)) in query.labels.iter().zip(query.scores).enumerate() {
        let (mut gradient, mut hessian) = derive(label, score);
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
    if finite { Ok(()) } else { Err(too_large(query)) }
}

/// The error for derivatives that 32 bits cannot hold, or that are NaN because of a score.
pub(super) fn too_large(query: &QueryView<'_>) -> LearnError {
    if let Some(row) = query.scores.iter().position(|s| s.is_nan()) {
        return EvalError::NanScore { row }.into();
    }
    NotFiniteValue::Derivatives.into()
}

/// Rejects queries that have preference pairs, or no labels.
pub(super) fn need_labels(query: &QueryView<'_>) -> Result<(), LearnError> {
    if query.labels.len() == query.scores.len() && query.pairs.is_none() {
        return Ok(());
    }
    Err(LearnError::ObjectiveNeedsLabels)
}

/// Sum of a function of label and score over the documents of a query, times their weights.
pub(super) fn sum(query: &QueryView<'_>, value: impl Fn(f64, f64) -> f64) -> f64 {
    let rows = query.labels.iter().zip(query.scores).enumerate();
    let weighted = rows.map(|(row, (&label, &score))| {
        let weight = query.weights.get(row).map_or(1.0, |w| f64::from(*w));
        if weight == 0.0 { 0.0 } else { weight * value(label, score) }
    });
    weighted.sum()
}

/// Weight of a row.
pub(super) fn weight(all: &TrainingDocuments<'_>, row: usize) -> f64 {
    all.weights.get(row).map_or(1.0, |w| f64::from(*w))
}

/// Weighted mean of a function of the labels; 0 if all weights are 0.
pub(super) fn mean(all: &TrainingDocuments<'_>, value: impl Fn(f64) -> f64) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for (row, &label) in all.labels.iter().enumerate() {
        let weight = weight(all, row);
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
