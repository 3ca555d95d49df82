//! Line search: the step length along a tree.
//!
//! Finds the factor of the tree's leaf values (the step) at which the derivative of the loss is 0:
//! the step is doubled until the derivative changes sign, then the interval is bisected. The
//! derivative is a sum of the objective's gradients, so this works with every objective, including
//! lambdas. Cost: up to 32 evaluations of the objective on all queries.

use super::queries::{AllDerivatives, QueryPass, TrainingQueries};
use crate::error::LearnError;

/// Largest step; bounds the search if the loss falls forever.
const MAX_STEP: f64 = 64.0;
/// Number of bisections: enough for the precision of a 32-bit float.
const BISECTIONS: usize = 24;

/// The step along `direction`, the tree's value for each row, from the scores of `pass`; the
/// largest step if the derivative never changes sign, 0 if the loss rises from the start.
pub(crate) fn search(
    queries: &mut TrainingQueries<'_>,
    pass: QueryPass<'_>,
    direction: &[f64],
    buffers: &mut AllDerivatives,
) -> Result<f64, LearnError> {
    let mut moved_scores = vec![0.0; direction.len()];
    let mut derivative = |step: f64| {
        for ((moved, score), d) in moved_scores.iter_mut().zip(pass.scores).zip(direction) {
            *moved = score + step * d;
        }
        queries.directional_derivative(
            QueryPass { scores: &moved_scores, ..pass },
            direction,
            buffers,
        )
    };
    if derivative(0.0)? >= 0.0 {
        return Ok(0.0);
    }
    let (mut low, mut high) = (0.0, 1.0);
    while derivative(high)? < 0.0 {
        if high >= MAX_STEP {
            return Ok(high);
        }
        (low, high) = (high, high * 2.0);
    }
    for _ in 0..BISECTIONS {
        let middle = (low + high) / 2.0;
        match derivative(middle)? < 0.0 {
            true => low = middle,
            false => high = middle,
        }
    }
    Ok((low + high) / 2.0)
}
