//! Losses of single documents: binary relevance, and the label itself.
//!
//! [`Signed`] is a loss of `y (s + b)`, with y = +1 where the label reaches `rel` and -1 below, and
//! b an intercept: the logistic loss, the squared hinge or the smoothed hinge of `loss.rs`.
//! [`LeastSquares`] is `(s + b - label)^2 / 2`. Both are means: each document counts by its weight
//! times that of its query, divided by the sum of all; those of weight 0 are ignored. Cost
//! O(n).

use rankwright_data::Dataset;

use super::loss::{ConvexLoss, Gradient, LossPoint, MarginLoss};
use crate::error::LearnError;

/// The share of each row in a mean over all rows: its weight times its query's, over the sum.
pub(super) fn shares(data: &Dataset) -> Result<Vec<f64>, LearnError> {
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
    all.iter_mut().for_each(|share| *share /= sum);
    Ok(all)
}

/// Labels and shares of the rows with a positive weight.
pub(super) fn weighted_labels(data: &Dataset, shares: &[f64]) -> impl Iterator<Item = (f64, f64)> {
    data.labels().iter().copied().zip(shares.iter().copied()).filter(|(_, share)| *share > 0.0)
}

/// A margin loss of binary relevance.
#[derive(Debug)]
pub(super) struct Signed<'a> {
    data: &'a Dataset,
    rel: f64,
    shares: Vec<f64>,
    shape: MarginLoss,
}

impl<'a> Signed<'a> {
    /// Fails on data of one class only.
    pub(super) fn new(data: &'a Dataset, rel: f64, shape: MarginLoss) -> Result<Self, LearnError> {
        let shares = shares(data)?;
        let any = |relevant: bool| {
            weighted_labels(data, &shares).any(|(label, _)| (label >= rel) == relevant)
        };
        if !any(true) {
            return Err(LearnError::OneKind { rel, relevant: false });
        }
        if !any(false) {
            return Err(LearnError::OneKind { rel, relevant: true });
        }
        Ok(Self { data, rel, shares, shape })
    }

    fn sign(&self, row: usize) -> f64 {
        if self.data.labels()[row] >= self.rel { 1.0 } else { -1.0 }
    }
}

impl ConvexLoss for Signed<'_> {
    /// Second derivatives by score, multiplied by the shares.
    type Cache = Vec<f64>;

    fn extras(&self) -> Vec<f64> {
        vec![0.0]
    }

    fn value(
        &self,
        query: usize,
        at: LossPoint<'_>,
        hessians: &mut Vec<f64>,
        gradient: Gradient<'_>,
    ) -> f64 {
        let intercept = at.extras[0];
        let mut total = 0.0;
        hessians.clear();
        for ((row, score), slope) in
            self.data.query_rows(query).zip(at.scores).zip(gradient.scores.iter_mut())
        {
            let (y, share) = (self.sign(row), self.shares[row]);
            let (loss, first, second) = self.shape.at(y * (score + intercept));
            total += share * loss;
            *slope = share * y * first;
            gradient.extras[0] += *slope;
            hessians.push(share * second);
        }
        total
    }

    fn hessian_product(
        &self,
        _query: usize,
        along: LossPoint<'_>,
        hessians: &mut Vec<f64>,
        gradient: Gradient<'_>,
    ) {
        for ((hessian, score), slope) in
            hessians.iter().zip(along.scores).zip(gradient.scores.iter_mut())
        {
            *slope = hessian * (score + along.extras[0]);
            gradient.extras[0] += *slope;
        }
    }

    fn widths(&self) -> &'static [f64] {
        self.shape.widths()
    }

    fn smooth(&mut self, width: f64) {
        self.shape.smooth(width);
    }
}

/// Half the squared distance to the label.
#[derive(Debug)]
pub(super) struct LeastSquares<'a> {
    pub(super) data: &'a Dataset,
    pub(super) shares: Vec<f64>,
}

impl ConvexLoss for LeastSquares<'_> {
    type Cache = ();

    fn extras(&self) -> Vec<f64> {
        vec![0.0]
    }

    fn value(&self, query: usize, at: LossPoint<'_>, _: &mut (), gradient: Gradient<'_>) -> f64 {
        let rows = self.data.query_rows(query);
        let mut total = 0.0;
        for ((row, score), slope) in rows.zip(at.scores).zip(gradient.scores.iter_mut()) {
            let share = self.shares[row];
            let residual = score + at.extras[0] - self.data.labels()[row];
            total += 0.5 * share * residual * residual;
            *slope = share * residual;
            gradient.extras[0] += *slope;
        }
        total
    }

    fn hessian_product(
        &self,
        query: usize,
        along: LossPoint<'_>,
        _: &mut (),
        gradient: Gradient<'_>,
    ) {
        let rows = self.data.query_rows(query);
        for ((row, score), slope) in rows.zip(along.scores).zip(gradient.scores.iter_mut()) {
            *slope = self.shares[row] * (score + along.extras[0]);
            gradient.extras[0] += *slope;
        }
    }
}
