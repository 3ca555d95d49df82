//! Ordinal regression: the cumulative logit (proportional odds, McCullagh 1980) on any set of
//! grades.
//!
//! The K distinct labels of the training data, in order, are the grades. With thresholds t_1 < ...
//! < t_(K-1) and F the score, P(grade <= k) = 1 / (1 + exp(F - t_k)). For a document of grade k let
//! A = P(grade <= k), which is 1 for the highest grade, and B = P(grade <= k - 1), which is 0 for
//! the lowest:
//!
//! ```text
//! L = -log(A - B)      gradient 1 - A - B      hessian A (1 - A) + B (1 - B)
//! ```
//!
//! Both derivatives are exact for fixed thresholds, and multiplied by the document's weight. The
//! thresholds start as the logits of the labels' cumulative fractions (t_k is the logit of the
//! fraction of labels up to grade k), which is the best fit for F = 0, the initial score. Before
//! each tree they are fitted to the scores by Newton's method (the log-likelihood is concave, the
//! matrix of its second derivatives is tridiagonal). Newton's method starts each time from those
//! logits plus the mean of the scores, and sums are added in a fixed order, so that a resumed
//! training finds the same thresholds.
//!
//! More than 255 different labels are an error. A single grade gives zeros. Cost O(n log K) a
//! query, O(rows) for each Newton step.

use rayon::prelude::*;

use rankwright_model::{GRADES_NOTE, THRESHOLDS_NOTE};
use rankwright_spec::{SpecError, params};

use super::def::{ObjectiveDef, ObjectiveParams};
use super::pointwise::{self, row_weight};
use super::{
    Derivatives, Objective, ObjectiveBuffers, QueryView, TrainingDocuments, check_shape, slashed,
};
use crate::error::LearnError;
use crate::exp::{exp, one_minus_sigmoid, sigmoid};

/// Largest number of grades.
const MAX_GRADES: usize = 255;
/// Largest number of Newton steps before a tree.
const MAX_STEPS: usize = 12;
/// The fit ends when no derivative exceeds this fraction of the total weight.
const TOLERANCE: f64 = 1e-9;
/// A step is halved until the loss does not rise; the fit ends below this fraction of a step.
const MIN_STEP_LENGTH: f64 = 1e-4;
/// Lower limit of probabilities and divisors: keeps logarithms and quotients finite.
const TINY: f64 = 1e-300;
/// Number of rows summed by one task; fixed, so that the number of threads does not change a sum.
const BLOCK_ROWS: usize = 8192;
/// Smallest distance of two thresholds.
const MIN_DISTANCE: f64 = 1e-6;
/// Cumulative fractions for the initial thresholds are kept this far from 0 and 1, so that their
/// logits are finite.
const MIN_FRACTION: f64 = 1e-9;

params! {
    /// Parameters of `ordinal`: none.
    pub struct OrdinalParams {
    }
}

impl ObjectiveParams for OrdinalParams {
    const DEF: &'static ObjectiveDef = &ObjectiveDef {
        name: "ordinal",
        help: "Ordinal regression: cumulative logit on up to 255 grades.",
        example: "ordinal",
        ..ObjectiveDef::of::<Self>()
    };

    fn build(&self) -> Result<Box<dyn Objective>, SpecError> {
        Ok(Box::new(Ordinal::default()))
    }
}

/// The cumulative-logit loss.
///
/// ```
/// use rankwright_learn::objective::{TrainingDocuments, Objective, Ordinal};
///
/// let mut ordinal = Ordinal::default();
/// let all = TrainingDocuments { labels: &[0.0, 0.5, 0.5, 7.0], weights: &[], scores: &[] };
/// assert_eq!(ordinal.prepare(&all)?, 0.0);
/// // A quarter of the labels is at most 0, three quarters are at most 0.5.
/// assert!((ordinal.thresholds()[0] - (1.0_f64 / 3.0).ln()).abs() < 1e-9);
/// assert!((ordinal.thresholds()[1] - 3.0_f64.ln()).abs() < 1e-9);
/// # Ok::<(), rankwright_learn::LearnError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Ordinal {
    /// Every distinct label of the training data, ascending.
    grades: Vec<f64>,
    /// The initial thresholds: logits of the cumulative fractions.
    initial: Vec<f64>,
    /// The current thresholds.
    thresholds: Vec<f64>,
}

/// The probabilities of one document that loss and derivatives are computed from; the upper
/// threshold is the one above the document's grade, the lower threshold the one below.
#[derive(Debug, Clone, Copy)]
struct ThresholdTerms {
    /// A: P(grade <= own grade).
    upper: f64,
    /// B: P(grade < own grade).
    lower: f64,
    /// 1 - `upper`, without cancellation.
    above_upper: f64,
    /// 1 - `lower`, without cancellation.
    above_lower: f64,
    /// 1 - exp(-(upper threshold - lower threshold)).
    one_minus_exp: f64,
}

impl ThresholdTerms {
    /// The probability of the document's own grade: A - B, without cancellation.
    fn probability(&self) -> f64 {
        self.upper * self.above_lower * self.one_minus_exp
    }
}

/// The negative log-likelihood and its derivatives by the thresholds.
#[derive(Debug, Clone)]
struct ThresholdFit {
    loss: f64,
    gradient: Vec<f64>,
    /// The diagonal of the matrix of second derivatives.
    diagonal: Vec<f64>,
    /// Entry k is the second derivative by the thresholds k and k + 1, from 0.
    off_diagonal: Vec<f64>,
}

impl ThresholdFit {
    /// The sums over no documents.
    fn new(thresholds: usize) -> Self {
        let zeros = || vec![0.0; thresholds];
        Self { loss: 0.0, gradient: zeros(), diagonal: zeros(), off_diagonal: zeros() }
    }

    /// Adds the sums over other documents.
    fn add(&mut self, other: &ThresholdFit) {
        self.loss += other.loss;
        for (mine, theirs) in [
            (&mut self.gradient, &other.gradient),
            (&mut self.diagonal, &other.diagonal),
            (&mut self.off_diagonal, &other.off_diagonal),
        ] {
            mine.iter_mut().zip(theirs).for_each(|(a, b)| *a += b);
        }
    }

    /// Adds a document. `grade` counts from 0: the threshold above it has the same number, the one
    /// below it the number before.
    fn add_document(&mut self, grade: usize, terms: &ThresholdTerms, weight: f64) {
        self.loss -= weight * terms.probability().max(TINY).ln();
        // The derivative of log(A - B) by the upper threshold, A (1 - A) / (A - B), and minus that
        // by the lower threshold, B (1 - B) / (A - B).
        let by_upper = terms.above_upper / (terms.above_lower * terms.one_minus_exp).max(TINY);
        let by_lower = terms.lower / (terms.upper * terms.one_minus_exp).max(TINY);
        if let Some(gradient) = self.gradient.get_mut(grade) {
            *gradient -= weight * by_upper;
            self.diagonal[grade] +=
                weight * (by_upper * by_upper - by_upper * (terms.above_upper - terms.upper));
        }
        if let Some(below) = grade.checked_sub(1) {
            self.gradient[below] += weight * by_lower;
            self.diagonal[below] +=
                weight * (by_lower * by_lower + by_lower * (terms.above_lower - terms.lower));
            if grade < self.gradient.len() {
                self.off_diagonal[below] -= weight * by_upper * by_lower;
            }
        }
    }

    /// Solves (tridiagonal matrix) * step = -gradient by the Thomas algorithm. A small ridge keeps
    /// pivots above 0.
    fn newton_step(&self) -> Vec<f64> {
        let n = self.gradient.len();
        let ridge = 1e-12 * self.diagonal.iter().fold(1e-12, |m: f64, d| m.max(*d));
        // The matrix after elimination has 1 on the diagonal and `upper` above it.
        let (mut upper, mut step) = (vec![0.0; n], vec![0.0; n]);
        let (mut last_upper, mut last_step) = (0.0, 0.0);
        for k in 0..n {
            let left = if k > 0 { self.off_diagonal[k - 1] } else { 0.0 };
            let pivot = (self.diagonal[k] + ridge - left * last_upper).max(ridge);
            last_upper = self.off_diagonal[k] / pivot;
            last_step = (-self.gradient[k] - left * last_step) / pivot;
            (upper[k], step[k]) = (last_upper, last_step);
        }
        for k in (0..n.saturating_sub(1)).rev() {
            step[k] -= upper[k] * step[k + 1];
        }
        step
    }
}

impl Ordinal {
    /// The thresholds between the grades.
    pub fn thresholds(&self) -> &[f64] {
        &self.thresholds
    }

    /// The grades: every distinct label of the training data, ascending.
    pub fn grades(&self) -> &[f64] {
        &self.grades
    }

    /// The number, from 0, of the grade that equals a label.
    fn grade(&self, label: f64) -> Result<usize, LearnError> {
        // Adding 0 turns -0 into 0.
        self.grades
            .binary_search_by(|g| g.total_cmp(&(label + 0.0)))
            .map_err(|_| LearnError::UnknownGrade { label })
    }

    /// The grade of a label that is known to be one of the grades.
    #[allow(clippy::expect_used, reason = "a wrong grade would go unnoticed")]
    fn checked_grade(&self, label: f64) -> usize {
        self.grade(label).expect("the labels of a query are checked first")
    }

    /// The probabilities of a document with this grade and score, for these thresholds.
    fn threshold_terms(&self, grade: usize, score: f64, thresholds: &[f64]) -> ThresholdTerms {
        // The thresholds above and below the grade, and the logits of A and B.
        let above = thresholds.get(grade);
        let below = grade.checked_sub(1).and_then(|g| thresholds.get(g));
        let upper = above.map_or(f64::INFINITY, |t| t - score);
        let lower = below.map_or(f64::NEG_INFINITY, |t| t - score);
        let distance = match (above, below) {
            (Some(above), Some(below)) => above - below,
            _ => f64::INFINITY,
        };
        ThresholdTerms {
            upper: sigmoid(upper),
            lower: sigmoid(lower),
            above_upper: one_minus_sigmoid(upper),
            above_lower: one_minus_sigmoid(lower),
            one_minus_exp: 1.0 - exp(-distance),
        }
    }

    /// Sets `grades` to the distinct labels, ascending.
    fn collect_grades(&mut self, all: &TrainingDocuments<'_>) -> Result<(), LearnError> {
        self.grades.clear();
        for label in all.labels.iter().map(|l| l + 0.0) {
            if let Err(index) = self.grades.binary_search_by(|g| g.total_cmp(&label)) {
                self.grades.insert(index, label);
            }
            if self.grades.len() > MAX_GRADES {
                return Err(LearnError::TooManyGrades { most: MAX_GRADES });
            }
        }
        Ok(())
    }

    /// Sets `initial` to the logits of the cumulative fractions of the grades.
    fn set_initial_thresholds(&mut self, all: &TrainingDocuments<'_>) -> Result<(), LearnError> {
        // The weight of each grade.
        let mut counts = vec![0.0; self.grades.len()];
        for (row, &label) in all.labels.iter().enumerate() {
            let grade = self.grade(label)?;
            counts[grade] += row_weight(all, row);
        }
        let total: f64 = counts.iter().sum();
        let mut sum = 0.0;
        self.initial.clear();
        for count in counts.iter().take(counts.len().saturating_sub(1)) {
            sum += count;
            let fraction = match total > 0.0 {
                true => (sum / total).clamp(MIN_FRACTION, 1.0 - MIN_FRACTION),
                false => 0.5,
            };
            self.initial.push((fraction / (1.0 - fraction)).ln());
        }
        separate(&mut self.initial);
        Ok(())
    }

    /// The loss and its derivatives at these thresholds.
    fn fit_at(
        &self,
        all: &TrainingDocuments<'_>,
        thresholds: &[f64],
    ) -> Result<ThresholdFit, LearnError> {
        let block = |start: usize| {
            let mut fit = ThresholdFit::new(thresholds.len());
            for row in start..all.labels.len().min(start + BLOCK_ROWS) {
                let weight = row_weight(all, row);
                if weight > 0.0 {
                    let grade = self.grade(all.labels[row])?;
                    let terms = self.threshold_terms(grade, all.scores[row], thresholds);
                    fit.add_document(grade, &terms, weight);
                }
            }
            Ok(fit)
        };
        let starts: Vec<usize> = (0..all.labels.len()).step_by(BLOCK_ROWS).collect();
        let parts: Result<Vec<ThresholdFit>, LearnError> =
            starts.into_par_iter().map(block).collect();
        let mut sum = ThresholdFit::new(thresholds.len());
        parts?.iter().for_each(|part| sum.add(part));
        Ok(sum)
    }

    /// The best thresholds for these scores, by Newton's method from the initial thresholds,
    /// shifted by the mean of the scores.
    fn fit(&self, all: &TrainingDocuments<'_>) -> Result<Vec<f64>, LearnError> {
        let (mut sum, mut total) = (0.0, 0.0);
        for (row, score) in all.scores.iter().enumerate() {
            let weight = row_weight(all, row);
            sum += weight * score;
            total += weight;
        }
        let shift = if total > 0.0 { sum / total } else { 0.0 };
        let mut thresholds: Vec<f64> = self.initial.iter().map(|t| t + shift).collect();
        let mut fit = self.fit_at(all, &thresholds)?;
        for _ in 0..MAX_STEPS {
            if fit.gradient.iter().all(|g| g.abs() <= TOLERANCE * total) {
                break;
            }
            let step = fit.newton_step();
            let mut length = max_step_length(&thresholds, &step);
            // The step is halved until the loss does not rise.
            let better = loop {
                let mut moved: Vec<f64> =
                    thresholds.iter().zip(&step).map(|(t, s)| t + length * s).collect();
                separate(&mut moved);
                let found = self.fit_at(all, &moved)?;
                if found.loss <= fit.loss {
                    break Some((moved, found));
                }
                length *= 0.5;
                if length < MIN_STEP_LENGTH {
                    break None;
                }
            };
            let Some(better) = better else { break };
            (thresholds, fit) = better;
        }
        Ok(thresholds)
    }
}

/// The largest fraction of a step that does not reduce a distance between thresholds by more than
/// half.
fn max_step_length(thresholds: &[f64], step: &[f64]) -> f64 {
    let pairs = thresholds.windows(2).zip(step.windows(2));
    pairs.fold(1.0, |length: f64, (t, s)| {
        // The amount by which the full step reduces the distance.
        let reduction = s[0] - s[1];
        if reduction > 0.0 { length.min(0.5 * (t[1] - t[0]) / reduction) } else { length }
    })
}

/// Makes thresholds ascending, at least [`MIN_DISTANCE`] apart.
fn separate(thresholds: &mut [f64]) {
    for k in 1..thresholds.len() {
        thresholds[k] = thresholds[k].max(thresholds[k - 1] + MIN_DISTANCE);
    }
}

impl Objective for Ordinal {
    fn derivatives(
        &self,
        query: &QueryView<'_>,
        _buffers: &mut ObjectiveBuffers,
        out: &mut Derivatives<'_>,
    ) -> Result<(), LearnError> {
        check_shape(query, out)?;
        for &label in query.labels {
            self.grade(label)?;
        }
        pointwise::fill_derivatives(query, out, |label, score| {
            let grade = self.checked_grade(label);
            let terms = self.threshold_terms(grade, score, &self.thresholds);
            let gradient = terms.above_upper - terms.lower;
            (gradient, terms.upper * terms.above_upper + terms.lower * terms.above_lower)
        })
    }

    fn loss(
        &self,
        query: &QueryView<'_>,
        _buffers: &mut ObjectiveBuffers,
    ) -> Result<Option<f64>, LearnError> {
        for &label in query.labels {
            self.grade(label)?;
        }
        Ok(Some(pointwise::weighted_sum(query, |label, score| {
            let grade = self.checked_grade(label);
            -self.threshold_terms(grade, score, &self.thresholds).probability().max(TINY).ln()
        })))
    }

    fn prepare(&mut self, all: &TrainingDocuments<'_>) -> Result<f64, LearnError> {
        pointwise::check_labels(all)?;
        self.collect_grades(all)?;
        self.set_initial_thresholds(all)?;
        self.thresholds.clone_from(&self.initial);
        Ok(0.0)
    }

    fn refresh(&mut self, all: &TrainingDocuments<'_>) -> Result<(), LearnError> {
        if all.scores.len() == all.labels.len() {
            self.thresholds = self.fit(all)?;
        }
        Ok(())
    }

    fn has_notes(&self) -> bool {
        true
    }

    fn notes(&self) -> Vec<(&'static str, String)> {
        let (grades, thresholds) = (slashed(&self.grades), slashed(&self.thresholds));
        vec![(GRADES_NOTE, grades), (THRESHOLDS_NOTE, thresholds)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn documents<'a>(labels: &'a [f64], scores: &'a [f64]) -> TrainingDocuments<'a> {
        TrainingDocuments { labels, weights: &[], scores }
    }

    #[test]
    fn more_than_255_grades_are_refused() {
        let labels: Vec<f64> = (0..256).map(f64::from).collect();
        let mut ordinal = Ordinal::default();
        let message = ordinal.prepare(&documents(&labels, &[])).unwrap_err().to_string();
        assert!(message.contains("more than 255 different labels"), "{message}");
        assert!(ordinal.prepare(&documents(&labels[..255], &[])).is_ok());
    }

    #[test]
    fn a_constant_score_moves_all_thresholds_by_that_constant() {
        let labels = [0.0, 1.0, 1.0, 2.0, 3.0, 3.0];
        let mut ordinal = Ordinal::default();
        ordinal.prepare(&documents(&labels, &[])).unwrap();
        let before = ordinal.thresholds().to_vec();
        ordinal.refresh(&documents(&labels, &[1.25; 6])).unwrap();
        for (a, b) in before.iter().zip(ordinal.thresholds()) {
            assert!((a + 1.25 - b).abs() < 1e-9);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn fitted_thresholds_have_a_gradient_of_zero(
            rows in prop::collection::vec((0_u8..5, -2.0..2.0_f64), 30..200),
        ) {
            let labels: Vec<f64> = rows.iter().map(|r| f64::from(r.0)).collect();
            let scores: Vec<f64> = rows.iter().map(|r| r.1 + f64::from(r.0) * 0.3).collect();
            let all = documents(&labels, &scores);
            let mut ordinal = Ordinal::default();
            ordinal.prepare(&all).unwrap();
            ordinal.refresh(&all).unwrap();
            let fit = ordinal.fit_at(&all, ordinal.thresholds()).unwrap();
            prop_assert!(fit.gradient.iter().all(|g| g.abs() < 1e-4), "{:?}", fit.gradient);
            prop_assert!(ordinal.thresholds().windows(2).all(|w| w[0] < w[1]));
            // The second derivatives agree with differences of the first ones.
            let step = 1e-5;
            for k in 0..fit.gradient.len() {
                let moved = |by: f64| {
                    let mut t = ordinal.thresholds().to_vec();
                    t[k] += by;
                    ordinal.fit_at(&all, &t).unwrap()
                };
                let second = (moved(step).gradient[k] - moved(-step).gradient[k]) / (2.0 * step);
                prop_assert!((second - fit.diagonal[k]).abs() < 1e-4 * fit.diagonal[k].max(1.0));
            }
        }
    }
}
