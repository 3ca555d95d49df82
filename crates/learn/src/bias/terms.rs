//! `bias=gam`: a generalised additive model of score and position (as LightGBM's lambdarank has it,
//! after Guo et al., "PAL: a position-bias aware learning framework", 2019).
//!
//! The loss is that of the score plus a term of the document's position, s + b[p]. After the
//! derivatives of a round are computed, each term takes a Newton step on the penalised loss
//!
//! ```text
//! L + l2/2 sum over positions p of n_p b[p]^2
//! b[p] <- b[p] - rate (G_p + l2 n_p b[p]) / (H_p + l2 n_p + 0.001)
//! ```
//!
//! G_p, H_p and n_p are the sums of the gradients and hessians and the number of the documents that
//! were shown at p, those of the sampled queries if queries are sampled; rate is the learning rate
//! of the trees. The penalty is for each document, so that `bias_l2` means the same on small and
//! large data; 0.001 bounds the step of a position whose hessians vanish. Terms start at 0.
//!
//! If every query shows the same positions, a loss of pairs or lists does not change when a
//! constant is added to all terms: only their differences mean something. Cost O(rows) a round.

use rankwright_model::{BiasColumn, BiasFactors};

use super::BiasCorrection;
use super::positions::PositionIndex;

/// Added to the denominator of a step.
const MIN_CURVATURE: f64 = 0.001;

/// The terms of a training so far.
#[derive(Debug, Clone)]
pub(crate) struct PositionTerms {
    index: PositionIndex,
    /// The parameter `bias_l2`.
    l2: f64,
    /// The factor of a step.
    rate: f64,
    /// The term of each position.
    terms: Vec<f64>,
    /// Scores plus terms, of the round that is computed.
    shifted: Vec<f64>,
}

impl PositionTerms {
    /// Terms of 0.
    pub(super) fn new(index: PositionIndex, l2: f64, rate: f64) -> Self {
        let terms = vec![0.0; index.len()];
        Self { index, l2, rate, terms, shifted: Vec::new() }
    }

    /// The term of a row.
    pub(crate) fn of_row(&self, row: usize) -> f64 {
        self.terms[self.index.of_row[row] as usize]
    }

    /// Computes the scores of all rows plus their terms.
    pub(super) fn shift(&mut self, scores: &[f64]) {
        let Self { index, terms, shifted, .. } = self;
        shifted.clear();
        let rows = scores.iter().zip(&index.of_row);
        shifted.extend(rows.map(|(score, position)| score + terms[*position as usize]));
    }

    /// The scores plus terms that [`shift`](Self::shift) computed last.
    pub(super) fn shifted(&self) -> &[f64] {
        &self.shifted
    }

    /// The Newton step of all terms, by the derivatives of all rows; `rows` are those of the
    /// sampled queries, `None` for all.
    pub(super) fn step(&mut self, gradient: &[f32], hessian: &[f32], rows: Option<&[u32]>) {
        let gradients = self.index.sums(rows, |row| f64::from(gradient[row]));
        let hessians = self.index.sums(rows, |row| f64::from(hessian[row]));
        let counts = self.index.sums(rows, |_| 1.0);
        let sums = gradients.iter().zip(&hessians).zip(&counts);
        for (term, ((gradient, hessian), count)) in self.terms.iter_mut().zip(sums) {
            let penalty = self.l2 * count;
            *term -= self.rate * (gradient + penalty * *term) / (hessian + penalty + MIN_CURVATURE);
        }
    }

    /// The terms.
    pub(super) fn values(&self) -> &[f64] {
        &self.terms
    }

    /// Sets the terms.
    pub(super) fn set(&mut self, terms: &[f64]) {
        self.terms.copy_from_slice(terms);
    }

    /// The terms of some round, for the header of a model.
    pub(super) fn factors(&self, terms: &[f64]) -> BiasFactors {
        let column = BiasColumn::new("term", terms.to_vec());
        BiasFactors::new(BiasCorrection::Gam.name(), self.index.positions.clone(), vec![column])
    }
}
