//! `bias=dr`: doubly robust labels (Oosterhuis, "Doubly robust estimation for correcting position
//! bias in click feedback for unbiased learning to rank", ACM TOIS 2023) under the affine model of
//! trust bias (`examination.rs`).
//!
//! A row is a document that was shown at position k; its label c is 1 for a click and 0 for none,
//! or the click rate of several impressions with their number as its weight. The label becomes
//!
//! ```text
//! r + (c - alpha_k r - beta_k) / rho
//! ```
//!
//! r, between 0 and 1, is an estimate of the document's relevance by a regression on its features,
//! and rho the document's expected examination: the mean of alpha over all rows of this query with
//! the same document id, by weight; without document ids, alpha_k. The estimate is unbiased if
//! either the examination or r is right. r has an effect only where rho differs from alpha_k: for
//! documents that were shown at several positions, and with `bias_clip`, which raises rho: the
//! label of a document that is rarely seen is then drawn towards r instead of being multiplied by a
//! large weight. Otherwise the label is (c - beta_k) / alpha_k, the affine correction of Vardasbi
//! et al. (2020). A row at a position without a known alpha has the label r, unless it was clicked,
//! which is an error.
//!
//! The regression is a first training: boosted trees that minimise the sum over rows of
//! w (c - alpha_k r - beta_k)^2, which is squared error on (c - beta_k) / alpha_k with weight
//! w alpha_k^2, so that rarely seen positions do not dominate.
//!
//! For objectives with gains, the label is the one whose gain is the estimate ([`RelevanceScale`]),
//! where negative estimates count as 0; for squared errors it is the estimate itself. The paper's
//! loss is linear in the labels, as squared errors and `lambda(metric=dcg@10, norm_query=false)`
//! are. NDCG, softmax and XE-NDCG divide the gains of a query by a sum of them, and `norm_query` by
//! a sum of lambdas: queries with few clicks then weigh more than in the paper's loss.

use std::collections::HashMap;

use rankwright_data::Dataset;

use super::BiasParams;
use super::clicks::CorrectedClicks;
use super::examination::GivenExamination;
use super::positions::positions_of;
use crate::error::LearnError;
use crate::objective::RelevanceScale;

/// The clicks of a data set with the examination of their positions.
#[derive(Debug)]
pub(super) struct AffineClicks<'a> {
    data: &'a Dataset,
    positions: &'a [u32],
    examination: GivenExamination,
}

impl<'a> AffineClicks<'a> {
    /// Checks that labels are clicks or click rates at known positions.
    pub(super) fn new(params: &BiasParams, data: &'a Dataset) -> Result<Self, LearnError> {
        let examination = GivenExamination::new(params)?;
        let positions = positions_of(data, params.bias)?;
        for (row, (label, position)) in data.labels().iter().zip(positions).enumerate() {
            if !(0.0..=1.0).contains(label) {
                return Err(LearnError::NotAClickRate { row, label: *label });
            }
            if *label > 0.0 && examination.alpha(*position).is_none() {
                return Err(LearnError::ExaminationUnknown { position: *position });
            }
        }
        Ok(Self { data, positions, examination })
    }

    /// Labels and weights of the regression.
    pub(super) fn regression(&self) -> CorrectedClicks {
        let (mut labels, mut weights) = (Vec::new(), Vec::new());
        for (row, (label, position)) in self.data.labels().iter().zip(self.positions).enumerate() {
            let weight = self.row_weight(row);
            let alpha = self.examination.alpha(*position).unwrap_or(0.0);
            let target = (label - self.examination.beta(*position)) / alpha;
            labels.push(if alpha > 0.0 { target } else { 0.0 });
            weights.push((weight * alpha * alpha) as f32);
        }
        CorrectedClicks { labels: Some(labels), row_weights: Some(weights), weights: None }
    }

    /// The doubly robust labels, given the scores of the regression.
    pub(super) fn corrected(&self, regression: &[f64], scale: RelevanceScale) -> CorrectedClicks {
        let expected = self.expected_examination();
        let rows =
            self.data.labels().iter().zip(self.positions).zip(regression.iter().zip(expected));
        let label = |((click, position), (relevance, rho)): ((&f64, &u32), (&f64, f64))| {
            let relevance = relevance.clamp(0.0, 1.0);
            let Some(alpha) = self.examination.alpha(*position) else {
                return scale.label(relevance);
            };
            let residual = click - alpha * relevance - self.examination.beta(*position);
            scale.label(relevance + residual / self.examination.clipped(rho))
        };
        CorrectedClicks { labels: Some(rows.map(label).collect()), ..CorrectedClicks::default() }
    }

    /// rho of each row.
    fn expected_examination(&self) -> Vec<f64> {
        let alpha = |row: usize| self.examination.alpha(self.positions[row]).unwrap_or(0.0);
        let Some(ids) = self.data.doc_ids() else {
            return (0..self.data.rows()).map(alpha).collect();
        };
        let mut expected = vec![0.0; self.data.rows()];
        for query in 0..self.data.queries() {
            let mut documents: HashMap<&str, (f64, f64)> = HashMap::new();
            for row in self.data.query_rows(query) {
                let sums = documents.entry(ids.get(row)).or_default();
                let weight = self.row_weight(row);
                *sums = (sums.0 + weight * alpha(row), sums.1 + weight);
            }
            for row in self.data.query_rows(query) {
                // A document of weight 0 counts nowhere.
                let mean = documents.get(ids.get(row)).filter(|(_, weight)| *weight > 0.0);
                expected[row] = mean.map_or(alpha(row), |(sum, weight)| sum / weight);
            }
        }
        expected
    }

    fn row_weight(&self, row: usize) -> f64 {
        self.data.row_weights().map_or(1.0, |weights| f64::from(weights[row]))
    }

    /// Examination and click noise, for the header of a model.
    pub(super) fn factors(&self, params: &BiasParams) -> rankwright_model::BiasFactors {
        self.examination.factors(params)
    }
}
