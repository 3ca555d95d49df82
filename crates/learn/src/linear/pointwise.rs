//! Losses of single documents: binary relevance, and the label itself.
//!
//! [`BinaryMarginLoss`] is a loss of `y (s + b)`, with y = +1 if the label reaches `rel` and -1
//! below, and b an intercept: the logistic loss, the squared hinge or the smoothed hinge of
//! `loss.rs`. [`LeastSquares`] is `(s + b - label)^2 / 2`. Both are means: each document counts by
//! its weight times that of its query, divided by the sum of all; those of weight 0 are ignored.
//! Cost O(n).

use rankwright_data::Dataset;

use super::loss::{ConvexLoss, Gradient, LossPoint, MarginLoss};
use crate::error::LearnError;

/// The weight of each row in a mean over all rows: the row's weight times that of its query,
/// divided by the sum, so that all weights sum to 1.
pub(super) fn normalised_weights(data: &Dataset) -> Result<Vec<f64>, LearnError> {
    let mut all = match data.row_weights() {
        Some(weights) => weights.iter().map(|w| f64::from(*w)).collect(),
        None => vec![1.0; data.rows()],
    };
    for (query, weight) in data.query_weights().unwrap_or_default().iter().enumerate() {
        all[data.query_rows(query)].iter_mut().for_each(|w| *w *= f64::from(*weight));
    }
    let sum: f64 = all.iter().sum();
    if sum <= 0.0 {
        return Err(LearnError::ZeroWeights);
    }
    all.iter_mut().for_each(|weight| *weight /= sum);
    Ok(all)
}

/// Labels and normalised weights of the rows with a positive weight.
pub(super) fn weighted_labels(
    data: &Dataset,
    normalised_weights: &[f64],
) -> impl Iterator<Item = (f64, f64)> {
    data.labels()
        .iter()
        .copied()
        .zip(normalised_weights.iter().copied())
        .filter(|(_, weight)| *weight > 0.0)
}

/// A margin loss of binary relevance.
#[derive(Debug)]
pub(super) struct BinaryMarginLoss<'a> {
    data: &'a Dataset,
    /// Lowest label that counts as relevant.
    rel: f64,
    normalised_weights: Vec<f64>,
    margin_loss: MarginLoss,
}

impl<'a> BinaryMarginLoss<'a> {
    /// The loss of the labels of a data set; fails if all or no documents are relevant.
    pub(super) fn new(
        data: &'a Dataset,
        rel: f64,
        margin_loss: MarginLoss,
    ) -> Result<Self, LearnError> {
        let normalised_weights = normalised_weights(data)?;
        let has_class = |relevant: bool| {
            weighted_labels(data, &normalised_weights).any(|(label, _)| (label >= rel) == relevant)
        };
        for relevant in [true, false] {
            if !has_class(relevant) {
                // All documents are of the other class.
                return Err(LearnError::OneClass { rel, relevant: !relevant });
            }
        }
        Ok(Self { data, rel, normalised_weights, margin_loss })
    }

    /// y of a row: 1 for a relevant document, -1 for another.
    fn sign(&self, row: usize) -> f64 {
        if self.data.labels()[row] >= self.rel { 1.0 } else { -1.0 }
    }
}

impl ConvexLoss for BinaryMarginLoss<'_> {
    /// Second derivatives by score, multiplied by the normalised weights.
    type Cache = Vec<f64>;

    fn extra_parameters(&self) -> Vec<f64> {
        vec![0.0]
    }

    fn value(
        &self,
        query: usize,
        point: LossPoint<'_>,
        hessians: &mut Vec<f64>,
        gradient: Gradient<'_>,
    ) -> f64 {
        let intercept = point.extra_parameters[0];
        let mut total = 0.0;
        hessians.clear();
        for ((row, score), slope) in
            self.data.query_rows(query).zip(point.scores).zip(gradient.scores.iter_mut())
        {
            let (y, weight) = (self.sign(row), self.normalised_weights[row]);
            let (loss, first, second) =
                self.margin_loss.value_and_derivatives(y * (score + intercept));
            total += weight * loss;
            *slope = weight * y * first;
            gradient.extra_parameters[0] += *slope;
            hessians.push(weight * second);
        }
        total
    }

    fn hessian_product(
        &self,
        _query: usize,
        direction: LossPoint<'_>,
        hessians: &mut Vec<f64>,
        product: Gradient<'_>,
    ) {
        for ((hessian, score), out) in
            hessians.iter().zip(direction.scores).zip(product.scores.iter_mut())
        {
            *out = hessian * (score + direction.extra_parameters[0]);
            product.extra_parameters[0] += *out;
        }
    }

    fn smoothing_widths(&self) -> &'static [f64] {
        self.margin_loss.smoothing_widths()
    }

    fn set_smoothing_width(&mut self, smoothing_width: f64) {
        self.margin_loss.set_smoothing_width(smoothing_width);
    }
}

/// Half the squared distance to the label.
#[derive(Debug)]
pub(super) struct LeastSquares<'a> {
    pub(super) data: &'a Dataset,
    pub(super) normalised_weights: Vec<f64>,
}

impl ConvexLoss for LeastSquares<'_> {
    type Cache = ();

    fn extra_parameters(&self) -> Vec<f64> {
        vec![0.0]
    }

    fn value(&self, query: usize, point: LossPoint<'_>, _: &mut (), gradient: Gradient<'_>) -> f64 {
        let rows = self.data.query_rows(query);
        let mut total = 0.0;
        for ((row, score), slope) in rows.zip(point.scores).zip(gradient.scores.iter_mut()) {
            let weight = self.normalised_weights[row];
            let residual = score + point.extra_parameters[0] - self.data.labels()[row];
            total += 0.5 * weight * residual * residual;
            *slope = weight * residual;
            gradient.extra_parameters[0] += *slope;
        }
        total
    }

    fn hessian_product(
        &self,
        query: usize,
        direction: LossPoint<'_>,
        _: &mut (),
        product: Gradient<'_>,
    ) {
        let rows = self.data.query_rows(query);
        for ((row, score), out) in rows.zip(direction.scores).zip(product.scores.iter_mut()) {
            *out = self.normalised_weights[row] * (score + direction.extra_parameters[0]);
            product.extra_parameters[0] += *out;
        }
    }
}
