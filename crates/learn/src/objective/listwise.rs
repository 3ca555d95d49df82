//! Shared code of the listwise objectives: scores of a query as a probability distribution.
//!
//! ```text
//! p_i = w_i exp(s_i) / sum over the query of w_j exp(s_j)
//! ```
//!
//! A document of weight w counts like w copies of it. Infinite scores are legal: if the largest
//! score is infinite, the documents that have it share all the probability by their weights, and a
//! score of minus infinity below a larger one has the probability 0. If all weights are 0, all p
//! are 0. Cost O(n).

use super::{Derivatives, QueryView, pointwise};
use crate::error::LearnError;
use crate::exp::exp;

/// The logarithm of the denominator of p, as two parts whose sum it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogDenominator {
    /// The logarithm of the sum of w_j exp(s_j - largest score).
    log_sum: f64,
    /// The largest score.
    largest: f64,
}

/// Sets `probabilities` to p, and returns the logarithm of the denominator.
pub(super) fn softmax(
    scores: &[f64],
    weights: &[f32],
    probabilities: &mut Vec<f64>,
) -> LogDenominator {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    probabilities.clear();
    // The largest score minus itself is 0 even if it is infinite.
    let relative = |&s: &f64| exp(if s == largest { 0.0 } else { s - largest });
    probabilities.extend(scores.iter().map(relative));
    for (p, &weight) in probabilities.iter_mut().zip(weights) {
        *p *= f64::from(weight);
    }
    let total = normalise(probabilities);
    LogDenominator { log_sum: total.ln(), largest }
}

/// Divides the values by their sum, if it is not 0; returns the sum.
pub(super) fn normalise(values: &mut [f64]) -> f64 {
    let total: f64 = values.iter().sum();
    if total > 0.0 {
        values.iter_mut().for_each(|v| *v /= total);
    }
    total
}

/// Divides targets, which have been multiplied by weights of clicks, by the sum that they had
/// before, if it is not 0; returns the sum of the result. Divided by their own sum, they would lose
/// the weight of a query's only click.
pub(super) fn divide_by_unweighted(targets: &mut [f64], unweighted: f64) -> f64 {
    if unweighted > 0.0 {
        targets.iter_mut().for_each(|target| *target /= unweighted);
    }
    targets.iter().sum()
}

/// Sets the derivatives: `derivatives_of` gives the gradient and hessian of the document with this
/// number. An error if they are too large for 32-bit floats.
pub(super) fn write_derivatives(
    query: &QueryView<'_>,
    out: &mut Derivatives<'_>,
    derivatives_of: impl Fn(usize) -> (f64, f64),
) -> Result<(), LearnError> {
    let mut finite = true;
    for row in 0..query.scores.len() {
        let (gradient, hessian) = derivatives_of(row);
        (out.gradient[row], out.hessian[row]) = (gradient as f32, hessian as f32);
        finite &= out.gradient[row].is_finite() && out.hessian[row].is_finite();
    }
    if finite { Ok(()) } else { Err(pointwise::not_finite_error(query)) }
}

/// Cross entropy between a target distribution and the softmax of the scores, given the result of
/// [`softmax`]: the sum of -t_i ln(exp(s_i) / D), where D is the denominator of p. The constant
/// -t_i ln w_i is left out.
pub(super) fn cross_entropy(
    query: &QueryView<'_>,
    target: &[f64],
    denominator: LogDenominator,
) -> f64 {
    let LogDenominator { log_sum, largest } = denominator;
    let terms = query.scores.iter().zip(target).filter(|(_, t)| **t > 0.0);
    terms.map(|(&s, t)| t * (log_sum + if s == largest { 0.0 } else { largest - s })).sum()
}
