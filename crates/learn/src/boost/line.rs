//! Line search: the step length along a tree.
//!
//! Finds the step beta at which the derivative of the loss along the tree's values is 0: the step
//! is doubled until the derivative changes sign, then bisected. The derivative is a sum of the
//! objective's gradients, so this works with every objective, including lambdas. Cost: up to 30
//! passes over the objective.

use super::queries::{AllDerivatives, Pass, TrainingQueries};
use crate::error::LearnError;

/// Largest step.
const FARTHEST: f64 = 64.0;
/// Number of bisections.
const HALVINGS: usize = 24;

/// The step along `direction` from the scores of `pass`; the largest step if the derivative never
/// changes sign, 0 if the loss rises from the start.
pub(crate) fn search(
    queries: &mut TrainingQueries<'_>,
    pass: Pass<'_>,
    direction: &[f64],
    buffers: &mut AllDerivatives,
) -> Result<f64, LearnError> {
    let mut moved = vec![0.0; direction.len()];
    let mut slope = |step: f64| {
        for ((to, score), d) in moved.iter_mut().zip(pass.scores).zip(direction) {
            *to = score + step * d;
        }
        queries.slope(Pass { scores: &moved, ..pass }, direction, buffers)
    };
    if slope(0.0)? >= 0.0 {
        return Ok(0.0);
    }
    let (mut low, mut high) = (0.0, 1.0);
    while slope(high)? < 0.0 {
        if high >= FARTHEST {
            return Ok(high);
        }
        (low, high) = (high, high * 2.0);
    }
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        match slope(middle)? < 0.0 {
            true => low = middle,
            false => high = middle,
        }
    }
    Ok((low + high) / 2.0)
}
