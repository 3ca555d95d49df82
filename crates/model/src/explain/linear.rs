//! Exact Shapley values of a linear model: feature i adds its term `w_i x_i` (weight times value)
//! minus the mean of this term over background documents, as the features do not interact (Lundberg
//! and Lee, *A unified approach to interpreting model predictions*, 2017, corollary 1).
//!
//! Without background documents the mean is 0: a feature adds its whole term, and the base is the
//! bias. A missing value counts as 0, as it does in the score.

use super::table::{Contributions, UsedFeatureRows};
use crate::linear::{Linear, add_term};

/// A linear model prepared for explanations.
#[derive(Debug)]
pub(super) struct LinearShap {
    bias: f64,
    /// The weights of the features used.
    weights: Vec<f64>,
    /// The mean of each feature's term over background documents.
    means: Vec<f64>,
}

impl LinearShap {
    pub(super) fn new(
        linear: &Linear,
        features: &[usize],
        background: Option<&UsedFeatureRows>,
    ) -> LinearShap {
        let weights: Vec<f64> = features.iter().map(|feature| linear.weights()[*feature]).collect();
        let mut means = vec![0.0; weights.len()];
        if let Some(table) = background {
            for row in 0..table.rows {
                for ((mean, weight), value) in means.iter_mut().zip(&weights).zip(table.row(row)) {
                    *mean += add_term(0.0, *weight, *value) / table.rows as f64;
                }
            }
        }
        LinearShap { bias: linear.bias(), weights, means }
    }

    pub(super) fn explain(&self, table: &UsedFeatureRows) -> Contributions {
        let mut values = Vec::with_capacity(table.values.len());
        let mut scores = Vec::with_capacity(table.rows);
        for row in 0..table.rows {
            let mut score = self.bias;
            for ((weight, mean), value) in self.weights.iter().zip(&self.means).zip(table.row(row))
            {
                score = add_term(score, *weight, *value);
                values.push(add_term(0.0, *weight, *value) - mean);
            }
            scores.push(score);
        }
        let base = self.means.iter().fold(self.bias, |sum, mean| sum + mean);
        Contributions { base, scores, values }
    }
}
