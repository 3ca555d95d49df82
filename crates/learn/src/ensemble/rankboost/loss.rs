//! The loss of RankBoost: the sum over preferences of the exponential of the score difference.
//!
//! ```text
//! L = sum over preferences of w exp(s_worse - s_better)
//! gradient of a document: its terms as the worse document minus its terms as the better document
//! hessian of a document: the sum of both
//! ```
//!
//! w is the weight of a preference. RankBoost's distribution D over pairs is each term divided by
//! L, and the potential pi(x) of a document is minus its gradient divided by L (Freund et al. 2003,
//! section 3.2). With labels the terms factor, exp(s_worse) exp(-s_better), so that sums over all
//! documents of lower and of higher grades replace the sum over all pairs: O(n log n) for the sort,
//! pairs are never listed. Preferences given in the data are visited one by one, O(pairs); equal
//! ones are ignored here. With `norm_query` a query's terms are divided by the weight of its
//! preferences, so that long lists do not outweigh short ones.
//!
//! Queries of 0 or 1 documents or of equal labels give zeros. Scores so far apart that an
//! exponential overflows are an error; boosting on all queries with a rate of at most 1 does not
//! reach such scores, because L never grows then.

use crate::error::{LearnError, NotFiniteValue};
use crate::exp::exp;
use crate::objective::{
    Derivatives, DocumentPair, Objective, ObjectiveBuffers, PairLossDef, QueryView,
};

/// The exponential loss of a pair; its slope is the weight of the pair before it is normalised.
pub(crate) static PAIR_EXPONENTIAL: PairLossDef =
    PairLossDef::new("pair-exponential", |margin| (-margin).exp());

/// The exponential loss of preferences.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairExponential {
    /// Whether every query has the same total weight.
    pub(super) norm_query: bool,
}

/// The sums of the loss terms of each document, and the total weight of the pairs.
#[derive(Debug, Default)]
pub(super) struct LossTerms {
    /// For each document, the sum over the pairs in which it is the worse one.
    pub(super) worse: Vec<f64>,
    /// For each document, the sum over the pairs in which it is the better one.
    pub(super) better: Vec<f64>,
    /// Total weight of all pairs.
    pub(super) weight: f64,
}

impl LossTerms {
    /// The terms from the preferences or the labels of a query.
    pub(super) fn new(query: &QueryView<'_>) -> Self {
        let n = query.scores.len();
        let mut terms = LossTerms { worse: vec![0.0; n], better: vec![0.0; n], weight: 0.0 };
        match query.pairs {
            Some(pairs) => terms.add_pairs(query, pairs),
            None => terms.add_grades(query),
        }
        terms
    }

    /// Adds the terms of the preferences given in the data.
    fn add_pairs(&mut self, query: &QueryView<'_>, pairs: &[DocumentPair]) {
        let weight = |row: usize| query.weights.get(row).map_or(1.0, |w| f64::from(*w));
        for pair in pairs.iter().filter(|pair| !pair.equal) {
            let (better, worse) = (pair.better as usize, pair.worse as usize);
            let weight = f64::from(pair.weight) * weight(better) * weight(worse);
            if weight > 0.0 {
                let loss = weight * exp(query.scores[worse] - query.scores[better]);
                self.worse[worse] += loss;
                self.better[better] += loss;
                self.weight += weight;
            }
        }
    }

    /// Visits the grades (the distinct labels) from the lowest, with one sum for all lower grades;
    /// then from the highest, with one sum for all higher grades.
    fn add_grades(&mut self, query: &QueryView<'_>) {
        let QueryView { labels, scores, weights, .. } = *query;
        let mut order: Vec<usize> = (0..labels.len()).collect();
        order.sort_by(|a, b| labels[*a].total_cmp(&labels[*b]));
        let (low, high) = scores
            .iter()
            .fold((f64::MAX, f64::MIN), |(low, high), score| (low.min(*score), high.max(*score)));
        // Any value gives the same products; this one keeps the exponentials in range.
        let middle = low / 2.0 + high / 2.0;
        let weight = |row: usize| weights.get(row).map_or(1.0, |w| f64::from(*w));
        let grades = || order.chunk_by(|a, b| labels[*a] == labels[*b]);
        let (mut below, mut weight_below) = (0.0, 0.0);
        for grade in grades() {
            for &row in grade {
                self.better[row] = weight(row) * exp(middle - scores[row]) * below;
                self.weight += weight(row) * weight_below;
            }
            below += grade.iter().map(|row| weight(*row) * exp(scores[*row] - middle)).sum::<f64>();
            weight_below += grade.iter().map(|row| weight(*row)).sum::<f64>();
        }
        let mut above = 0.0;
        for grade in grades().rev() {
            for &row in grade {
                self.worse[row] = weight(row) * exp(scores[row] - middle) * above;
            }
            above += grade.iter().map(|row| weight(*row) * exp(middle - scores[*row])).sum::<f64>();
        }
    }

    /// The factor of all terms of the query.
    fn scale(&self, norm_query: bool) -> f64 {
        if norm_query && self.weight > 0.0 { 1.0 / self.weight } else { 1.0 }
    }
}

impl Objective for PairExponential {
    fn derivatives(
        &self,
        query: &QueryView<'_>,
        _buffers: &mut ObjectiveBuffers,
        out: &mut Derivatives<'_>,
    ) -> Result<(), LearnError> {
        let terms = LossTerms::new(query);
        let scale = terms.scale(self.norm_query);
        let mut finite = true;
        for (row, (worse, better)) in terms.worse.iter().zip(&terms.better).enumerate() {
            let (gradient, hessian) = ((worse - better) * scale, (worse + better) * scale);
            let (gradient, hessian) = (gradient as f32, hessian as f32);
            finite &= gradient.is_finite() && hessian.is_finite();
            (out.gradient[row], out.hessian[row]) = (gradient, hessian);
        }
        if finite { Ok(()) } else { Err(overflow()) }
    }

    fn loss(
        &self,
        query: &QueryView<'_>,
        _buffers: &mut ObjectiveBuffers,
    ) -> Result<Option<f64>, LearnError> {
        let terms = LossTerms::new(query);
        Ok(Some(terms.better.iter().sum::<f64>() * terms.scale(self.norm_query)))
    }
}

/// The error of scores whose exponentials overflow.
fn overflow() -> LearnError {
    NotFiniteValue::PairExponentials.into()
}
