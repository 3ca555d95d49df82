//! ListMLE: the likelihood of the order given by the labels (Xia et al., ICML 2008).
//!
//! Scores define a Plackett-Luce model: the best document is drawn first, each with a probability
//! proportional to exp(s), then the second best among the rest, and so on. With the documents in
//! the order of their labels:
//!
//! ```text
//! S_k = sum over j >= k of w_j exp(s_j)        L = sum over k of w_k (log S_k - s_k)
//! gradient_i = w_i exp(s_i) * (sum over k <= i of w_k / S_k) - w_i
//! hessian_i  = sum over k <= i of w_k (q_ik - q_ik^2),      q_ik = w_i exp(s_i) / S_k
//! ```
//!
//! i, j and k are positions in that order, the best document first; w is a document's weight. The
//! gradient is exact, and the hessian is the exact diagonal of the matrix of second derivatives.
//! Documents of equal labels are ordered by a random draw for each query and iteration, so that on
//! average all their orders have the same weight. With the parameter `top`, the loss is summed over
//! that many first positions only (Xia et al., NIPS 2009). A document of weight 0 is ignored. Sums
//! are kept as logarithms, so no range of scores overflows. Queries of 0 or 1 documents give zeros;
//! queries of equal labels pull scores together. Cost O(n log n).

use rankwright_data::Random;
use rankwright_eval::EvalError;

use rankwright_spec::{SpecError, params};

use super::def::{ObjectiveDef, ObjectiveParams};
use super::{Derivatives, Objective, ObjectiveBuffers, QueryView, TeacherTerm, TrainingDocuments};
use super::{check_shape, pointwise};
use crate::error::LearnError;
use crate::exp::exp;

/// The ListMLE objective: the Plackett-Luce likelihood of the best order.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListMle {
    /// Number of first positions that are used; `None` for all.
    pub top: Option<usize>,
}

params! {
    /// Parameters of ListMLE.
    pub struct ListMleParams {
        top: Option<usize> = None, 1..,
            "Number of first positions of the best order that are used; none: all.";
    }
    /// Builder methods for the parameters of ListMLE.
    pub trait ListMleOptions: list_mle_params;
}

impl ObjectiveParams for ListMleParams {
    const DEF: &'static ObjectiveDef = &ObjectiveDef {
        name: "listmle",
        help: "Likelihood of the best order under a Plackett-Luce model (ListMLE).",
        example: "listmle(top=10)",
        ..ObjectiveDef::of::<Self>()
    };

    fn build(&self) -> Result<Box<dyn Objective>, SpecError> {
        Ok(Box::new(ListMle { top: self.top }))
    }
}

/// Buffers that a thread keeps from query to query.
#[derive(Debug, Default)]
pub(super) struct ListMleBuffers {
    /// Documents of weight above 0, the best first.
    order: Vec<u32>,
    /// A random number for each document, by which equal labels are ordered.
    draws: Vec<f64>,
    /// log(w exp(s)) by position.
    logs: Vec<f64>,
    /// log S by position.
    sums: Vec<f64>,
}

impl ListMle {
    /// Sorts the query by label, the best document first, and computes log S of all positions, from
    /// the last to the first; returns the number of first positions that the loss is summed over.
    fn sort_and_sum(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ListMleBuffers,
    ) -> Result<usize, LearnError> {
        pointwise::require_labels(query)?;
        if let Some(row) = query.scores.iter().position(|s| s.is_nan()) {
            return Err(EvalError::NanScore { row }.into());
        }
        let ListMleBuffers { order, draws, logs, sums } = buffers;
        let mut random = Random::new(query.seed, query.query as u64);
        draws.clear();
        draws.extend(query.labels.iter().map(|_| random.unit()));
        order.clear();
        order.extend(
            (0..query.scores.len() as u32).filter(|document| weight(query, *document) > 0.0),
        );
        let key = |document: u32| (query.labels[document as usize], draws[document as usize]);
        order.sort_unstable_by(|a, b| {
            let ((label_a, draw_a), (label_b, draw_b)) = (key(*a), key(*b));
            // Adding 0 turns -0 into 0.
            (label_b + 0.0).total_cmp(&(label_a + 0.0)).then(draw_a.total_cmp(&draw_b))
        });
        logs.clear();
        logs.extend(order.iter().map(|&d| query.scores[d as usize] + log_weight(query, d)));
        sums.clear();
        sums.resize(logs.len(), f64::NEG_INFINITY);
        // The logarithm of a sum without terms.
        let mut sum_so_far = f64::NEG_INFINITY;
        for (sum, log) in sums.iter_mut().zip(logs.iter()).rev() {
            sum_so_far = log_add(sum_so_far, *log);
            *sum = sum_so_far;
        }
        Ok(if order.len() < 2 { 0 } else { self.top.unwrap_or(usize::MAX).min(order.len()) })
    }
}

/// Weight of a document.
fn weight(query: &QueryView<'_>, document: u32) -> f64 {
    query.weights.get(document as usize).map_or(1.0, |w| f64::from(*w))
}

/// Logarithm of the weight of a document.
fn log_weight(query: &QueryView<'_>, document: u32) -> f64 {
    query.weights.get(document as usize).map_or(0.0, |w| f64::from(*w).ln())
}

/// log(e^a + e^b) without overflow.
fn log_add(a: f64, b: f64) -> f64 {
    let (less, more) = if a < b { (a, b) } else { (b, a) };
    if less == f64::NEG_INFINITY { more } else { more + exp(less - more).ln_1p() }
}

impl Objective for ListMle {
    fn teacher_term(&self) -> TeacherTerm {
        TeacherTerm::SoftList
    }

    fn derivatives(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
        out: &mut Derivatives<'_>,
    ) -> Result<(), LearnError> {
        check_shape(query, out)?;
        let positions = self.sort_and_sum(query, &mut buffers.listmle)?;
        let ListMleBuffers { order, logs, sums, .. } = &buffers.listmle;
        out.gradient.fill(0.0);
        out.hessian.fill(0.0);
        // Logarithms of the sums of w / S and of w / S^2 over the positions so far.
        let (mut log_inverse, mut log_inverse_square) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        let mut finite = true;
        for (position, (&document, &log)) in order.iter().zip(logs).enumerate() {
            if positions == 0 {
                break;
            }
            // The weight of the document as the one drawn at this position; 0 after the last
            // position that is used.
            let mut drawn_weight = 0.0;
            if position < positions {
                let log_w = log_weight(query, document);
                log_inverse = log_add(log_inverse, log_w - sums[position]);
                log_inverse_square = log_add(log_inverse_square, log_w - 2.0 * sums[position]);
                drawn_weight = weight(query, document);
            }
            // The sums of w_k q_ik and of w_k q_ik^2 over the positions k so far.
            let (sum, sum_of_squares) =
                (exp(log + log_inverse), exp(2.0 * log + log_inverse_square));
            let (gradient, hessian) = (sum - drawn_weight, sum - sum_of_squares);
            let (gradient, hessian) = (gradient as f32, hessian.max(0.0) as f32);
            finite &= gradient.is_finite() && hessian.is_finite();
            out.gradient[document as usize] = gradient;
            out.hessian[document as usize] = hessian;
        }
        if finite { Ok(()) } else { Err(pointwise::not_finite_error(query)) }
    }

    fn loss(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
    ) -> Result<Option<f64>, LearnError> {
        let positions = self.sort_and_sum(query, &mut buffers.listmle)?;
        let ListMleBuffers { order, sums, .. } = &buffers.listmle;
        let term = |(&document, sum): (&u32, &f64)| {
            weight(query, document) * (sum - query.scores[document as usize])
        };
        Ok(Some(order.iter().zip(sums).take(positions).map(term).sum()))
    }

    fn prepare(&mut self, all: &TrainingDocuments<'_>) -> Result<f64, LearnError> {
        pointwise::check_labels(all)?;
        Ok(0.0)
    }

    fn cost(&self, documents: usize) -> u64 {
        // Five exponentials or logarithms per document, and the sort.
        20 * documents as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::tests::derivatives;

    /// The loss and gradient by the definition, for scores of documents in descending order of
    /// labels.
    fn reference(scores: &[f64], top: usize) -> (f64, Vec<f64>) {
        let (mut loss, mut gradient) = (0.0, vec![0.0; scores.len()]);
        for k in 0..scores.len().min(top) {
            let sum: f64 = scores[k..].iter().map(|s| s.exp()).sum();
            loss += sum.ln() - scores[k];
            gradient[k] -= 1.0;
            (k..scores.len()).for_each(|j| gradient[j] += scores[j].exp() / sum);
        }
        (loss, gradient)
    }

    #[test]
    fn loss_and_gradient_are_those_of_the_definition() {
        let (labels, scores) = ([4.0, 3.0, 1.0, 0.0, -2.0], [0.3, -1.0, 2.0, 0.1, 0.7]);
        for top in [1, 3, 5, 9] {
            let listmle = ListMle { top: Some(top) };
            let view = QueryView::new(&labels, &scores);
            let (loss, gradient) = reference(&scores, top);
            let found = listmle.loss(&view, &mut ObjectiveBuffers::default()).unwrap().unwrap();
            assert!((found - loss).abs() < 1e-12);
            for (found, expected) in derivatives(&listmle, &view).unwrap().0.iter().zip(gradient) {
                assert!((f64::from(*found) - expected).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn orders_of_equal_labels_are_drawn_by_seed_and_query() {
        let (labels, scores) = ([1.0, 1.0, 1.0, 0.0, 0.0], [0.3, -1.0, 2.0, 0.1, 0.7]);
        let derivatives_for = |seed: u64, query: usize| {
            let view = QueryView { seed, query, ..QueryView::new(&labels, &scores) };
            derivatives(&ListMle::default(), &view).unwrap()
        };
        let first = derivatives_for(1, 2);
        assert_eq!(first, derivatives_for(1, 2));
        assert!((2..12).any(|seed| derivatives_for(seed, 2) != first));
        assert!((3..12).any(|query| derivatives_for(1, query) != first));
    }

    #[test]
    fn scores_far_apart_neither_overflow_nor_vanish() {
        let (labels, scores) = ([0.0, 1.0, 2.0], [5000.0, 0.0, -5000.0]);
        let (gradient, _) =
            derivatives(&ListMle::default(), &QueryView::new(&labels, &scores)).unwrap();
        // By score, the third document by label is first with certainty, so that each of the two
        // better documents has gradient -1 and the third gets both, 2.
        assert_eq!(gradient, [2.0, -1.0, -1.0]);
    }
}
