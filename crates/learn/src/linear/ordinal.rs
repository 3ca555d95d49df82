//! Ordinal regression by the cumulative logit (proportional odds, McCullagh 1980): a linear model
//! for the score s, and thresholds t_1 < ... < t_(K-1) between the K grades, all learnt together.
//!
//! P(grade <= k) = 1 / (1 + exp(s - t_k)), and for a document of grade k, with a = s - t_k and b =
//! t_(k-1) - s, the negative log-likelihood is the sum of three convex terms:
//!
//! ```text
//! ln(1 + e^a) + ln(1 + e^b) - ln(1 - e^-(t_k - t_(k-1)))
//! ```
//!
//! (the first is missing for the highest grade, the second for the lowest, the third for both). The
//! third keeps the thresholds in order: it is infinite where two are equal. Grades are the
//! different labels of the training data, up to 255. The loss is a mean over documents, by weight.
//! Cost O(n) exponentials per query.

use rankwright_data::Dataset;

use super::loss::{ConvexLoss, Gradient, LossPoint};
use super::pointwise::{normalised_weights, weighted_labels};
use crate::error::LearnError;
use crate::exp::{one_minus_sigmoid, sigmoid, softplus};

/// Maximum number of grades.
const MAX_GRADES: usize = 255;
/// Minimum difference of two neighbouring initial thresholds; any small positive number.
const MIN_GAP: f64 = 1e-9;

/// The cumulative logit loss of grades.
#[derive(Debug)]
pub(super) struct CumulativeLogitLoss<'a> {
    data: &'a Dataset,
    normalised_weights: Vec<f64>,
    /// The distinct labels, ascending.
    grades: Vec<f64>,
    /// The thresholds that minimise the loss if all scores are 0.
    first_thresholds: Vec<f64>,
}

impl<'a> CumulativeLogitLoss<'a> {
    /// The loss of the labels of a data set; fails on data with one grade, or with more than 255.
    pub(super) fn new(data: &'a Dataset) -> Result<Self, LearnError> {
        let normalised_weights = normalised_weights(data)?;
        let mut grades: Vec<f64> =
            weighted_labels(data, &normalised_weights).map(|(label, _)| label).collect();
        grades.sort_unstable_by(f64::total_cmp);
        grades.dedup_by(|a, b| a == b);
        if grades.len() < 2 {
            return Err(LearnError::OneGrade);
        }
        if grades.len() > MAX_GRADES {
            return Err(LearnError::TooManyGrades { most: MAX_GRADES });
        }
        let mut weight_of_grade = vec![0.0; grades.len()];
        for (label, weight) in weighted_labels(data, &normalised_weights) {
            weight_of_grade[grades.partition_point(|grade| *grade < label)] += weight;
        }
        let first_thresholds = first_thresholds(&weight_of_grade);
        Ok(Self { data, normalised_weights, grades, first_thresholds })
    }

    /// The distinct labels of rows with a weight, ascending.
    pub(super) fn into_grades(self) -> Vec<f64> {
        self.grades
    }

    /// Normalised weight of a row and the number of its grade, from 0; `None` if it has weight 0.
    fn weight_and_grade(&self, row: usize) -> Option<(f64, usize)> {
        let (label, weight) = (self.data.labels()[row], self.normalised_weights[row]);
        let grade = self.grades.partition_point(|grade| *grade < label);
        (weight > 0.0).then_some((weight, grade))
    }
}

/// The thresholds that minimise the loss if all scores are 0, from the weight of each grade: the
/// logit of the fraction of the weight up to each grade.
///
/// A grade whose weight is lost in rounding would give a threshold that equals the one before, or
/// that is infinite; the loss is infinite there. So thresholds are kept finite and [`MIN_GAP`]
/// apart.
fn first_thresholds(weight_of_grade: &[f64]) -> Vec<f64> {
    let all: f64 = weight_of_grade.iter().sum();
    let (mut below, mut last) = (0.0, f64::NEG_INFINITY);
    let threshold = |weight: &f64| {
        below += weight;
        let above = (all - below).max(0.5 * f64::EPSILON * all);
        last = (below / above).ln().max(last + MIN_GAP);
        last
    };
    weight_of_grade.iter().take(weight_of_grade.len() - 1).map(threshold).collect()
}

/// Values of a document that `value` keeps for `hessian_product`: its grade, and the second
/// derivatives of its three terms, 0 for those that are missing.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DocumentCache {
    /// The number of the grade, from 0.
    grade: usize,
    /// Of ln(1 + e^a), by a: the term of the threshold above the grade.
    above: f64,
    /// Of ln(1 + e^b), by b: the term of the threshold below the grade.
    below: f64,
    /// Of the third term, by the distance of the two thresholds.
    between: f64,
}

impl ConvexLoss for CumulativeLogitLoss<'_> {
    type Cache = Vec<DocumentCache>;

    fn extra_parameters(&self) -> Vec<f64> {
        self.first_thresholds.clone()
    }

    fn value(
        &self,
        query: usize,
        point: LossPoint<'_>,
        cache: &mut Vec<DocumentCache>,
        gradient: Gradient<'_>,
    ) -> f64 {
        let thresholds = point.extra_parameters;
        if !thresholds.is_sorted_by(|a, b| a < b) {
            return f64::INFINITY;
        }
        cache.clear();
        let mut total = 0.0;
        let rows = self.data.query_rows(query);
        for ((row, score), slope) in rows.zip(point.scores).zip(gradient.scores.iter_mut()) {
            *slope = 0.0;
            let Some((weight, grade)) = self.weight_and_grade(row) else {
                cache.push(DocumentCache::default());
                continue;
            };
            let mut document = DocumentCache { grade, ..DocumentCache::default() };
            let upper = thresholds.get(grade);
            let lower = grade.checked_sub(1).and_then(|k| thresholds.get(k));
            if let Some(upper) = upper {
                let a = score - upper;
                let (sigma, one_minus_sigma) = (sigmoid(a), one_minus_sigmoid(a));
                total += weight * softplus(a);
                *slope += weight * sigma;
                gradient.extra_parameters[grade] -= weight * sigma;
                document.above = weight * sigma * one_minus_sigma;
            }
            if let Some(lower) = lower {
                let b = lower - score;
                let (sigma, one_minus_sigma) = (sigmoid(b), one_minus_sigmoid(b));
                total += weight * softplus(b);
                *slope -= weight * sigma;
                gradient.extra_parameters[grade - 1] += weight * sigma;
                document.below = weight * sigma * one_minus_sigma;
            }
            if let (Some(upper), Some(lower)) = (upper, lower) {
                let distance = upper - lower;
                // 1 - e^-distance, exact for small distances too; its logarithm keeps the
                // thresholds apart.
                let one_minus_exp = -(-distance).exp_m1();
                total -= weight * one_minus_exp.ln();
                let threshold_slope = weight * (1.0 - one_minus_exp) / one_minus_exp;
                gradient.extra_parameters[grade] -= threshold_slope;
                gradient.extra_parameters[grade - 1] += threshold_slope;
                document.between = threshold_slope / one_minus_exp;
            }
            cache.push(document);
        }
        total
    }

    fn hessian_product(
        &self,
        _query: usize,
        direction: LossPoint<'_>,
        cache: &mut Vec<DocumentCache>,
        product: Gradient<'_>,
    ) {
        let thresholds = direction.extra_parameters;
        for ((cache, score), out) in
            cache.iter().zip(direction.scores).zip(product.scores.iter_mut())
        {
            let DocumentCache { grade, above, below, between } = *cache;
            *out = 0.0;
            if above > 0.0 {
                let change = above * (score - thresholds[grade]);
                *out += change;
                product.extra_parameters[grade] -= change;
            }
            if below > 0.0 {
                let change = below * (thresholds[grade - 1] - score);
                *out -= change;
                product.extra_parameters[grade - 1] += change;
            }
            if between > 0.0 {
                let change = between * (thresholds[grade] - thresholds[grade - 1]);
                product.extra_parameters[grade] += change;
                product.extra_parameters[grade - 1] -= change;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_thresholds_are_the_logits_of_the_cumulative_weights() {
        let found = first_thresholds(&[0.25, 0.25, 0.5]);
        assert_eq!(found, [(0.25_f64 / 0.75).ln(), 0.0]);
    }

    #[test]
    fn first_thresholds_of_grades_with_tiny_weights_are_finite_and_ascending() {
        for weights in [
            [0.5, 1e-30, 0.5, 1e-40],
            [1e-40, 1e-60, 1.0, 1e-30],
            [1.0, 1e-30, 1e-30, 1e-30],
            [1e-300, 1e-300, 1e-300, 1.0],
        ] {
            let found = first_thresholds(&weights);
            assert!(found.iter().all(|threshold| threshold.is_finite()), "{weights:?} {found:?}");
            assert!(found.is_sorted_by(|a, b| a < b), "{weights:?} {found:?}");
        }
    }

    #[test]
    fn the_loss_at_the_first_thresholds_is_finite_for_a_grade_with_a_tiny_weight() {
        let data = Dataset::builder()
            .dense(vec![0.0; 4], 1)
            .labels([0_u8, 1, 2, 3])
            .query_ids(["q"; 4])
            .weights([1.0, 1e-30, 1.0, 1e-30])
            .build()
            .unwrap();
        let loss = CumulativeLogitLoss::new(&data).unwrap();
        let thresholds = loss.extra_parameters();
        let (mut by_score, mut by_threshold) = ([0.0; 4], [0.0; 3]);
        let point = LossPoint { scores: &[0.0; 4], extra_parameters: &thresholds };
        let gradient = Gradient { scores: &mut by_score, extra_parameters: &mut by_threshold };
        let value = loss.value(0, point, &mut Vec::new(), gradient);
        assert!(value.is_finite() && value > 0.0, "{value}");
        assert!(by_score.iter().chain(&by_threshold).all(|slope| slope.is_finite()));
    }
}
