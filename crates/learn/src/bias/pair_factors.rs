//! `bias=pairwise`: Unbiased LambdaMART (Hu, Wang, Peng and Li, WWW 2019).
//!
//! The loss of a pair, i clicked at position k and j not clicked at position l, is divided by
//! t+[k] t-[l], which are learned too. With the scores fixed, the factors that minimise
//!
//! ```text
//! sum over pairs of L_ij / (t+[k] t-[l])  +  |t+|_p^p + |t-|_p^p
//! ```
//!
//! are, relative to the first position (equations 30 and 31 of the paper),
//!
//! ```text
//! t+[k] <- ( C+[k] / C+[1] )^(1/(1+p))     C+[k] = sum of L_ij / t-[l] over pairs with i at k
//! t-[l] <- ( C-[l] / C-[1] )^(1/(1+p))     C-[l] = sum of L_ij / t+[k] over pairs with j at l
//! ```
//!
//! L_ij is the loss of the pair with the weights of its objective (the change of the metric, those
//! of documents, queries and of the query's normalisation). Both sums use the factors of the round
//! before. p is `bias_norm`; 0, the paper's choice, is no regularisation. A pair is any two
//! documents of different labels, so that graded feedback (clicks and purchases) works too: the one
//! with the higher label is i.
//!
//! Factors start at 1 and are updated after each tree (of nets: after each epoch), from the scores
//! with it. A position without
//! a pair keeps its factors, and so do all positions if the first one has no pair. Cost: a visit of
//! every pair in 64 bits, once a round.

use rankwright_model::{BiasColumn, BiasFactors};

use super::BiasCorrection;
use super::clicks::RowClickWeights;
use super::positions::PositionIndex;

/// The factors of a training so far.
#[derive(Debug, Clone)]
pub(crate) struct PairFactors {
    index: PositionIndex,
    /// The exponent 1 / (1 + p).
    exponent: f64,
    /// t+ of each position, then t- of each.
    factors: Vec<f64>,
}

impl PairFactors {
    /// Factors of 1; `norm` is p.
    pub(super) fn new(index: PositionIndex, norm: f64) -> Self {
        let factors = vec![1.0; 2 * index.len()];
        Self { index, exponent: 1.0 / (1.0 + norm), factors }
    }

    /// t+ and t- of all positions.
    fn split(&self) -> (&[f64], &[f64]) {
        self.factors.split_at(self.index.len())
    }

    /// The weights of each row in pairs: 1 / t+ as the better document, 1 / t- as the worse one.
    pub(super) fn row_weights(&self) -> RowClickWeights {
        let (clicked, other) = self.split();
        let of_rows = |factors: &[f64]| {
            self.index.of_row.iter().map(|position| 1.0 / factors[*position as usize]).collect()
        };
        RowClickWeights { better: of_rows(clicked), worse: of_rows(other) }
    }

    /// Updates the factors: `better` and `worse` are for each row the sums of the losses, divided
    /// by the factors, of the pairs in which it is the better or the worse document.
    pub(super) fn update(&mut self, better: &[f64], worse: &[f64]) {
        // The losses are divided by both factors; the sums of the formulas by the other one only.
        let divided =
            [self.index.sums(None, |row| better[row]), self.index.sums(None, |row| worse[row])];
        let positions = self.index.len();
        for (factors, divided) in self.factors.chunks_mut(positions.max(1)).zip(divided) {
            let sums: Vec<f64> = factors.iter().zip(&divided).map(|(t, sum)| t * sum).collect();
            let first = sums.first().copied().unwrap_or(0.0);
            for (factor, sum) in factors.iter_mut().zip(&sums) {
                let updated = (sum / first).powf(self.exponent);
                if updated > 0.0 && updated.is_finite() {
                    *factor = updated;
                }
            }
        }
    }

    /// t+ of each position, then t- of each.
    pub(super) fn values(&self) -> &[f64] {
        &self.factors
    }

    /// Sets the factors.
    pub(super) fn set(&mut self, factors: &[f64]) {
        self.factors.copy_from_slice(factors);
    }

    /// The factors of some round, for the header of a model.
    pub(super) fn factors(&self, factors: &[f64]) -> BiasFactors {
        let (clicked, other) = factors.split_at(self.index.len());
        let columns = [("clicked", clicked), ("not clicked", other)];
        let columns = columns.map(|(name, values)| BiasColumn::new(name, values.to_vec()));
        BiasFactors::new(
            BiasCorrection::Pairwise.name(),
            self.index.positions.clone(),
            columns.into(),
        )
    }
}
