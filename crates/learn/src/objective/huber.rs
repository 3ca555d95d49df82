//! Huber's loss (Friedman 2001, section 4.3): squared error for small residuals, absolute beyond.
//!
//! ```text
//! r = s - y,  |r| <= delta:  L = r^2 / 2                     gradient r
//!             |r| >  delta:  L = delta (|r| - delta / 2)     gradient delta * sign(r)
//! ```
//!
//! s is the score, y the label. delta is given, or is the alpha-quantile of |r| over all rows
//! (weighted), computed again before each tree; if that quantile is 0 the largest |r| is used,
//! since nothing could be learnt otherwise. The gradient is exact for fixed delta. The second
//! derivative is 1 or 0, but 1 is always used as the hessian, so that a leaf that contains only
//! outliers still has a step. Both derivatives are multiplied by the document's weight. The initial
//! score, the constant that minimises the loss, is found by bisection. Cost O(n) per query; the
//! quantile O(rows), with weights O(rows log rows).

use rankwright_spec::{Conflict, SpecError, above, params};

use super::def::{HessianKind, ObjectiveDef, ObjectiveParams};
use super::pointwise::{self, row_weight};
use super::{
    Derivatives, Objective, ObjectiveBuffers, QueryView, TeacherTerm, TrainingDocuments,
    check_shape,
};
use crate::error::LearnError;

/// The residual up to which the loss is squared error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HuberWidth {
    /// This residual, above 0.
    Delta(f64),
    /// This quantile of the absolute residuals, above 0 and at most 1.
    Alpha(f64),
}

/// Huber loss: squared error that is robust to outliers.
///
/// ```
/// use rankwright_learn::objective::{TrainingDocuments, Huber, HuberWidth, Objective};
///
/// let mut huber = Huber::new(HuberWidth::Delta(1.0))?;
/// let all = TrainingDocuments { labels: &[0.0, 1.0, 2.0, 1e6], weights: &[], scores: &[] };
/// assert!((huber.prepare(&all)? - 1.5).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Huber {
    width: HuberWidth,
    /// The residual up to which the loss is squared error at present.
    delta: f64,
}

params! {
    /// Parameters of the Huber loss.
    pub struct HuberParams, check = check_one_width {
        alpha: f64 = 0.9, above(0.0).up_to(1.0),
            "Quantile of the residuals up to which the error is squared.";
        delta: Option<f64> = None, above(0.0),
            "Residual up to which the error is squared, instead of a quantile.";
    }
    /// Builder methods for the parameters of the Huber loss.
    pub trait HuberOptions: huber_params;
}

impl ObjectiveParams for HuberParams {
    const DEF: &'static ObjectiveDef = &ObjectiveDef {
        name: "huber",
        help: "Squared error on the labels for most rows, absolute error for the outliers.",
        example: "huber(alpha=0.9)",
        hessian: HessianKind::Approximate,
        ..ObjectiveDef::of::<Self>()
    };

    fn build(&self) -> Result<Box<dyn Objective>, SpecError> {
        let width = match self.delta {
            Some(delta) => HuberWidth::Delta(delta),
            None => HuberWidth::Alpha(self.alpha),
        };
        Ok(Box::new(Huber::new(width)?))
    }
}

/// Rejects delta together with an alpha other than the default.
fn check_one_width(params: &HuberParams) -> Result<(), Conflict> {
    match params.delta.is_some() && params.alpha != HuberParams::default().alpha {
        true => {
            let reason = "both set the width";
            Err(Conflict::OnlyOneOf { keys: &["delta", "alpha"], reason })
        }
        false => Ok(()),
    }
}

impl Huber {
    /// Checks the width and creates the objective.
    pub fn new(width: HuberWidth) -> Result<Self, SpecError> {
        let (legal, key, value, expected) = match width {
            HuberWidth::Delta(d) => (d.is_finite() && d > 0.0, "delta", d, "a number above 0"),
            HuberWidth::Alpha(a) => (a > 0.0 && a <= 1.0, "alpha", a, "a number above 0, up to 1"),
        };
        if !legal {
            let (value, expected) = (value.to_string(), expected.to_owned());
            let conflict = Conflict::BadValue { key, value, expected };
            return Err(SpecError::conflict("huber", conflict));
        }
        let delta = if let HuberWidth::Delta(delta) = width { delta } else { 1.0 };
        Ok(Self { width, delta })
    }

    /// Sets delta to the quantile of the residuals, if the width is a quantile; `score` gives the
    /// score of a row.
    fn update_delta(&mut self, all: &TrainingDocuments<'_>, score: impl Fn(usize) -> f64) {
        let HuberWidth::Alpha(alpha) = self.width else { return };
        let residual_size = |row: usize| (score(row) - all.labels[row]).abs();
        let delta = quantile(all, alpha, residual_size);
        self.delta = if delta > 0.0 { delta } else { quantile(all, 1.0, residual_size) };
    }

    /// The initial score: the constant at which the gradients sum to 0.
    fn initial_score(&self, all: &TrainingDocuments<'_>) -> f64 {
        let has_weight = |row: usize| row_weight(all, row) > 0.0;
        let rows = || all.labels.iter().enumerate().filter(|(row, _)| has_weight(*row));
        let mut low = rows().fold(f64::INFINITY, |m, (_, l)| m.min(*l));
        let mut high = rows().fold(f64::NEG_INFINITY, |m, (_, l)| m.max(*l));
        if low > high {
            return 0.0;
        }
        // 60 halvings: more than the 53 bits of a float need.
        for _ in 0..60 {
            let middle = low + 0.5 * (high - low);
            let gradient: f64 = rows()
                .map(|(row, l)| row_weight(all, row) * (middle - l).clamp(-self.delta, self.delta))
                .sum();
            *(if gradient > 0.0 { &mut high } else { &mut low }) = middle;
        }
        low + 0.5 * (high - low)
    }
}

/// The weighted quantile of a value over all rows: the smallest value such that the rows with at
/// most this value have this fraction of the total weight; 0 without rows. `value` gives the value
/// of a row.
fn quantile(all: &TrainingDocuments<'_>, fraction: f64, value: impl Fn(usize) -> f64) -> f64 {
    let rows = (0..all.labels.len()).filter(|row| row_weight(all, *row) > 0.0);
    // The value and the weight of each row.
    let mut values: Vec<(f64, f64)> = rows.map(|row| (value(row), row_weight(all, row))).collect();
    if all.weights.is_empty() {
        let Some(last) = values.len().checked_sub(1) else { return 0.0 };
        let index = ((fraction * values.len() as f64).ceil() as usize).saturating_sub(1).min(last);
        return values.select_nth_unstable_by(index, |a, b| a.0.total_cmp(&b.0)).1.0;
    }
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let weight_to_reach = fraction * values.iter().map(|v| v.1).sum::<f64>();
    let mut sum = 0.0;
    let reached = values.iter().find(|(_, weight)| {
        sum += weight;
        sum >= weight_to_reach
    });
    reached.or(values.last()).map_or(0.0, |v| v.0)
}

impl Objective for Huber {
    fn teacher_term(&self) -> TeacherTerm {
        TeacherTerm::SoftLabels
    }

    fn derivatives(
        &self,
        query: &QueryView<'_>,
        _buffers: &mut ObjectiveBuffers,
        out: &mut Derivatives<'_>,
    ) -> Result<(), LearnError> {
        check_shape(query, out)?;
        let delta = self.delta;
        pointwise::fill_derivatives(query, out, |label, score| {
            ((score - label).clamp(-delta, delta), 1.0)
        })
    }

    fn loss(
        &self,
        query: &QueryView<'_>,
        _buffers: &mut ObjectiveBuffers,
    ) -> Result<Option<f64>, LearnError> {
        let loss = |label: f64, score: f64| {
            let size = (score - label).abs();
            // One formula for both cases: size^2 / 2 up to delta, delta (size - delta / 2) beyond.
            let capped = size.min(self.delta);
            capped * (size - 0.5 * capped)
        };
        Ok(Some(pointwise::weighted_sum(query, loss)))
    }

    fn prepare(&mut self, all: &TrainingDocuments<'_>) -> Result<f64, LearnError> {
        pointwise::check_labels(all)?;
        let median = quantile(all, 0.5, |row| all.labels[row]);
        self.update_delta(all, |_| median);
        Ok(self.initial_score(all))
    }

    fn refresh(&mut self, all: &TrainingDocuments<'_>) -> Result<(), LearnError> {
        if all.scores.len() == all.labels.len() {
            self.update_delta(all, |row| all.scores[row]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_count_weights() {
        let labels = [5.0, 1.0, 3.0, 2.0, 4.0];
        let label_quantile = |weights: &[f32], fraction| {
            let all = TrainingDocuments { labels: &labels, weights, scores: &[] };
            quantile(&all, fraction, |row| labels[row])
        };
        for (fraction, expected) in [(0.5, 3.0), (0.8, 4.0), (1.0, 5.0), (0.01, 1.0)] {
            assert_eq!(label_quantile(&[], fraction), expected);
        }
        assert_eq!(label_quantile(&[1.0; 5], 0.5), 3.0);
        // Label 1 has weight 9 and label 2 weight 1.
        assert_eq!(label_quantile(&[0.0, 9.0, 0.0, 1.0, 0.0], 0.9), 1.0);
        assert_eq!(label_quantile(&[0.0; 5], 0.9), 0.0);
    }

    #[test]
    fn the_width_follows_the_residuals() {
        let mut huber = Huber::new(HuberWidth::Alpha(0.75)).unwrap();
        let (labels, scores) = ([0.0, 0.0, 0.0, 0.0], [1.0, -2.0, 3.0, -40.0]);
        huber
            .refresh(&TrainingDocuments { labels: &labels, weights: &[], scores: &scores })
            .unwrap();
        assert_eq!(huber.delta, 3.0);
        // If most residuals are 0, the largest one sets the width.
        let scores = [0.0, 0.0, 0.0, 7.0];
        huber
            .refresh(&TrainingDocuments { labels: &labels, weights: &[], scores: &scores })
            .unwrap();
        assert_eq!(huber.delta, 7.0);
    }

    #[test]
    fn without_rows_or_weights_above_0_the_initial_score_is_0() {
        for weights in [&[][..], &[0.0, 0.0]] {
            let labels = &[3.0, 4.0][..weights.len()];
            let mut huber = Huber::new(HuberWidth::Alpha(0.9)).unwrap();
            assert_eq!(
                huber.prepare(&TrainingDocuments { labels, weights, scores: &[] }).unwrap(),
                0.0
            );
        }
    }

    #[test]
    fn widths_out_of_range_are_refused() {
        for width in [HuberWidth::Delta(0.0), HuberWidth::Alpha(1.5), HuberWidth::Alpha(f64::NAN)] {
            assert!(Huber::new(width).is_err(), "{width:?}");
        }
    }
}
