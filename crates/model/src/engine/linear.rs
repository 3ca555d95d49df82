//! The engine of a linear model: the bias and a sum of weight times value, in the order of the
//! features.

use super::{Engine, ScoreBuffers};
use crate::linear::{Linear, add_term};
use crate::matching::Matching;

/// The bias, and the weights that are not 0.
#[derive(Debug)]
pub(super) struct LinearEngine {
    bias: f64,
    /// Columns and weights, in the order of the features.
    terms: Vec<(usize, f64)>,
}

impl LinearEngine {
    pub(super) fn new(linear: &Linear, matching: &Matching) -> LinearEngine {
        let used = linear.weights().iter().enumerate().filter(|(_, weight)| **weight != 0.0);
        // A feature without a column is absent: 0 or missing, which both count as 0.
        let terms = used.filter_map(|(feature, &weight)| Some((matching.column(feature)?, weight)));
        LinearEngine { bias: linear.bias(), terms: terms.collect() }
    }
}

impl Engine for LinearEngine {
    fn score(
        &self,
        values: &[f32],
        columns: usize,
        scores: &mut [f64],
        _buffers: &mut ScoreBuffers,
    ) {
        for (number, score) in scores.iter_mut().enumerate() {
            let row = &values[number * columns..(number + 1) * columns];
            let add = |sum, &(column, weight): &(usize, f64)| add_term(sum, weight, row[column]);
            *score = self.terms.iter().fold(self.bias, add);
        }
    }

    fn name(&self) -> String {
        "linear model".to_owned()
    }
}
