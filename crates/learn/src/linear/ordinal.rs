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
//! Cost O(n) exponentials a query.

use rankwright_data::Dataset;

use super::loss::{ConvexLoss, Gradient, LossPoint};
use super::pointwise::{shares, weighted_labels};
use crate::error::LearnError;
use crate::exp::{falling_sigmoid, softplus};

/// Maximum number of grades.
const MAX_GRADES: usize = 255;

/// The cumulative logit loss of grades.
#[derive(Debug)]
pub(super) struct Grades<'a> {
    data: &'a Dataset,
    shares: Vec<f64>,
    grades: Vec<f64>,
    /// Logits of the cumulative shares of the grades: the best thresholds if all scores are 0.
    first_thresholds: Vec<f64>,
}

impl<'a> Grades<'a> {
    /// Fails on data with only one grade, or with more than 255.
    pub(super) fn new(data: &'a Dataset) -> Result<Self, LearnError> {
        let shares = shares(data)?;
        let mut grades: Vec<f64> = weighted_labels(data, &shares).map(|(label, _)| label).collect();
        grades.sort_unstable_by(f64::total_cmp);
        grades.dedup_by(|a, b| a == b);
        if grades.len() < 2 {
            return Err(LearnError::OneGrade);
        }
        if grades.len() > MAX_GRADES {
            return Err(LearnError::TooManyGrades { most: MAX_GRADES });
        }
        let mut of_grade = vec![0.0; grades.len()];
        for (label, share) in weighted_labels(data, &shares) {
            of_grade[grades.partition_point(|grade| *grade < label)] += share;
        }
        let all: f64 = of_grade.iter().sum();
        let mut below = 0.0;
        let logit = |share: &f64| {
            below += share;
            (below / (all - below)).ln()
        };
        let first_thresholds = of_grade[..grades.len() - 1].iter().map(logit).collect();
        Ok(Self { data, shares, grades, first_thresholds })
    }

    /// Share and grade of a row; `None` if it has weight 0.
    fn row(&self, row: usize) -> Option<(f64, usize)> {
        let (label, share) = (self.data.labels()[row], self.shares[row]);
        let grade = self.grades.partition_point(|grade| *grade < label);
        (share > 0.0).then_some((share, grade))
    }
}

/// Values that a document keeps: its grade, and the second derivatives of its three terms.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct DocumentCache {
    grade: usize,
    above: f64,
    below: f64,
    gap: f64,
}

impl ConvexLoss for Grades<'_> {
    type Cache = Vec<DocumentCache>;

    fn extras(&self) -> Vec<f64> {
        self.first_thresholds.clone()
    }

    fn value(
        &self,
        query: usize,
        at: LossPoint<'_>,
        cache: &mut Vec<DocumentCache>,
        gradient: Gradient<'_>,
    ) -> f64 {
        let thresholds = at.extras;
        if !thresholds.is_sorted_by(|a, b| a < b) {
            return f64::INFINITY;
        }
        cache.clear();
        let mut total = 0.0;
        let rows = self.data.query_rows(query);
        for ((row, score), slope) in rows.zip(at.scores).zip(gradient.scores.iter_mut()) {
            *slope = 0.0;
            let Some((share, grade)) = self.row(row) else {
                cache.push(DocumentCache::default());
                continue;
            };
            let mut document = DocumentCache { grade, ..DocumentCache::default() };
            let upper = thresholds.get(grade);
            let lower = grade.checked_sub(1).and_then(|k| thresholds.get(k));
            if let Some(upper) = upper {
                let a = score - upper;
                let (rises, falls) = (falling_sigmoid(-a), falling_sigmoid(a));
                total += share * softplus(a);
                *slope += share * rises;
                gradient.extras[grade] -= share * rises;
                document.above = share * rises * falls;
            }
            if let Some(lower) = lower {
                let b = lower - score;
                let (rises, falls) = (falling_sigmoid(-b), falling_sigmoid(b));
                total += share * softplus(b);
                *slope -= share * rises;
                gradient.extras[grade - 1] += share * rises;
                document.below = share * rises * falls;
            }
            if let (Some(upper), Some(lower)) = (upper, lower) {
                let width = upper - lower;
                // 1 - e^-width, exact for small widths too.
                let apart = -(-width).exp_m1();
                total -= share * apart.ln();
                let repulsion = share * (1.0 - apart) / apart;
                gradient.extras[grade] -= repulsion;
                gradient.extras[grade - 1] += repulsion;
                document.gap = repulsion / apart;
            }
            cache.push(document);
        }
        total
    }

    fn hessian_product(
        &self,
        _query: usize,
        along: LossPoint<'_>,
        cache: &mut Vec<DocumentCache>,
        gradient: Gradient<'_>,
    ) {
        let moves = along.extras;
        for ((cache, score), slope) in
            cache.iter().zip(along.scores).zip(gradient.scores.iter_mut())
        {
            let DocumentCache { grade, above, below, gap } = *cache;
            *slope = 0.0;
            if above > 0.0 {
                let change = above * (score - moves[grade]);
                *slope += change;
                gradient.extras[grade] -= change;
            }
            if below > 0.0 {
                let change = below * (moves[grade - 1] - score);
                *slope -= change;
                gradient.extras[grade - 1] += change;
            }
            if gap > 0.0 {
                let change = gap * (moves[grade] - moves[grade - 1]);
                gradient.extras[grade] += change;
                gradient.extras[grade - 1] -= change;
            }
        }
    }
}
