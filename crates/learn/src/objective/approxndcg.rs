//! ApproxNDCG: NDCG with smooth ranks (Qin, Liu and Li, Information Retrieval 2010; Bruch et al.,
//! SIGIR 2019).
//!
//! ```text
//! r_i = 1 + sum over j != i of w_j sigmoid((s_j - s_i) / T)       close to the rank for small T
//! L   = 1 - (sum over i of G_i / log2(1 + r_i)) / ideal           G_i = w_i (2^label_i - 1)
//! ```
//!
//! T is the temperature, w a document's weight, ideal the DCG of the ideal order. With f_i =
//! dL/dr_i >= 0 and d_ij = sigmoid'((s_j - s_i) / T) / T, each pair adds f_i w_j d_ij to the
//! gradient of j and subtracts it from that of i. L is not convex; an upper bound of the second
//! derivative is used as the hessian: the sum of f_i w_j d_ij / T over the pairs of a document,
//! which omits the negative contribution of the curvature of the logarithm.
//!
//! Only documents with a gain have an f above 0, so the cost is O(R n) for R such documents. In
//! queries of more than 20,000 documents they are compared with 256 *partners* only: the documents
//! are divided into 256 ranges, and one partner, drawn by the seed, represents all documents of its
//! range. A document of weight 0 is ignored. Queries of 0 or 1 documents or without any gain give
//! zeros; equal labels above 0 do not, since the smooth ranks can still change.

use std::f64::consts::LN_2;

use rankwright_data::Random;
use rankwright_eval::Gain;

use rankwright_spec::{SpecError, params};

use super::def::{HessianKind, ObjectiveDef, ObjectiveParams};
use super::{Derivatives, Objective, ObjectiveBuffers, QueryView, TeacherTerm, TrainingDocuments};
use super::{SAMPLED_PARTNERS, check_shape, listwise, pointwise};
use crate::error::LearnError;
use crate::exp::exp;

/// The ApproxNDCG objective: NDCG with smooth ranks.
#[derive(Debug, Clone, Copy)]
pub struct ApproxNdcg {
    /// Width of the smooth step from rank to rank, in units of the score; above 0.
    pub temperature: f64,
}

impl Default for ApproxNdcg {
    fn default() -> Self {
        Self { temperature: ApproxNdcgParams::default().temperature }
    }
}

params! {
    /// Parameters of ApproxNDCG.
    pub struct ApproxNdcgParams {
        temperature: f64 = 0.1, 0.000001..=1000000.0,
            "Difference of scores over which ranks change smoothly.";
    }
    /// Builder methods for the parameters of ApproxNDCG.
    pub trait ApproxNdcgOptions: approx_ndcg_params;
}

impl ObjectiveParams for ApproxNdcgParams {
    const DEF: &'static ObjectiveDef = &ObjectiveDef {
        name: "approxndcg",
        help: "NDCG with smooth ranks (ApproxNDCG).",
        example: "approxndcg(temperature=0.1)",
        hessian: HessianKind::Approximate,
        ..ObjectiveDef::of::<Self>()
    };

    fn build(&self) -> Result<Box<dyn Objective>, SpecError> {
        Ok(Box::new(ApproxNdcg { temperature: self.temperature }))
    }
}

/// Number of documents of a query above which partners are sampled.
const MAX_DOCUMENTS: usize = 20_000;

/// Buffers that a thread keeps from query to query.
#[derive(Debug, Default)]
pub(super) struct ApproxNdcgBuffers {
    /// Gains of the documents, times their weights, divided by the ideal DCG.
    gains: Vec<f64>,
    /// Gains, best first.
    ideal: Vec<f64>,
    /// Documents that every document is compared with: all, or a sample, ascending.
    partners: Vec<u32>,
    /// Scores of the partners.
    partner_scores: Vec<f64>,
    /// Weights of the partners, times the number of documents that each represents.
    partner_weights: Vec<f64>,
    /// The terms f_i w_j d_ij of one document i with each partner j.
    increments: Vec<f64>,
    /// The gradient of each document.
    gradient: Vec<f64>,
    /// The hessian of each document.
    hessian: Vec<f64>,
}

impl ApproxNdcg {
    /// Computes the gains divided by the ideal DCG, and the partners; returns false if all
    /// derivatives of the query are 0.
    fn prepare_query(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ApproxNdcgBuffers,
    ) -> Result<bool, LearnError> {
        pointwise::require_labels(query)?;
        let ApproxNdcgBuffers { gains, ideal, partners, partner_scores, partner_weights, .. } =
            buffers;
        let weight = |row: usize| query.weights.get(row).map_or(1.0, |w| f64::from(*w));
        gains.clear();
        for (row, &label) in query.labels.iter().enumerate() {
            gains.push(weight(row) * Gain::Exp.of(label)?);
        }
        ideal.clone_from(gains);
        ideal.sort_unstable_by(|a, b| b.total_cmp(a));
        let rank_plus_one = 2..;
        let ideal_dcg: f64 =
            ideal.iter().zip(rank_plus_one).map(|(g, r)| g / f64::from(r).log2()).sum();
        if query.scores.len() < 2 || ideal_dcg <= 0.0 {
            return Ok(false);
        }
        gains.iter_mut().for_each(|gain| *gain /= ideal_dcg);
        let represented = draw_partners(query, partners);
        partner_scores.clear();
        partner_scores.extend(partners.iter().map(|&p| query.scores[p as usize]));
        partner_weights.clear();
        let partners = partners.iter().zip(represented);
        partner_weights.extend(partners.map(|(&p, documents)| documents * weight(p as usize)));
        Ok(true)
    }

    /// The smooth rank r of a document. If the document is among the partners, it is not compared
    /// with itself.
    fn rank(&self, document: usize, score: f64, buffers: &ApproxNdcgBuffers) -> f64 {
        let steepness = 1.0 / self.temperature;
        // Four sums side by side, so that the loop is vectorised.
        let mut lanes = [0.0; 4];
        let partners = buffers.partner_scores.iter().zip(&buffers.partner_weights).enumerate();
        for (index, (other, weight)) in partners {
            // The sigmoid of x, without overflow: 1 / (1 + e^-x), or e^x / (1 + e^x) for x below 0.
            let x = steepness * (other - score);
            let small = exp(-x.abs());
            let numerator = if x > 0.0 { 1.0 } else { small };
            lanes[index % 4] += weight * (numerator / (1.0 + small));
        }
        // The document itself was added with sigmoid(0) = 0.5.
        let own_weight = buffers
            .partners
            .binary_search(&(document as u32))
            .map_or(0.0, |p| buffers.partner_weights[p]);
        1.0 + ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]) - 0.5 * own_weight).max(0.0)
    }

    /// Adds the pairs of one document to the gradients and hessians; `f` is the derivative of the
    /// loss by the document's rank.
    fn add_pairs(&self, document: usize, score: f64, f: f64, buffers: &mut ApproxNdcgBuffers) {
        let steepness = 1.0 / self.temperature;
        let ApproxNdcgBuffers {
            partners,
            partner_scores,
            partner_weights,
            increments,
            gradient,
            hessian,
            ..
        } = buffers;
        increments.clear();
        let partner_terms = partner_scores.iter().zip(partner_weights.iter());
        increments.extend(partner_terms.map(|(other, weight)| {
            // The derivative of the sigmoid is e^-|x| / (1 + e^-|x|)^2.
            let small = exp(-(steepness * (other - score)).abs());
            let large = 1.0 / (1.0 + small);
            f * weight * steepness * (small * large * large)
        }));
        // The document is not paired with itself.
        if let Ok(index) = partners.binary_search(&(document as u32)) {
            increments[index] = 0.0;
        }
        let mut total = 0.0;
        for (&partner, &increment) in partners.iter().zip(increments.iter()) {
            gradient[partner as usize] += increment;
            hessian[partner as usize] += increment * steepness;
            total += increment;
        }
        gradient[document] -= total;
        hessian[document] += total * steepness;
    }
}

/// Sets `partners` to all documents, or to a sample of them, ascending; returns the number of
/// documents that each represents.
fn draw_partners(
    query: &QueryView<'_>,
    partners: &mut Vec<u32>,
) -> impl Iterator<Item = f64> + use<> {
    let documents = query.scores.len();
    let sampled = documents > MAX_DOCUMENTS;
    let count = if sampled { SAMPLED_PARTNERS } else { documents };
    let mut random = Random::new(query.seed, query.query as u64);
    // The range of documents that a partner represents.
    let range_of =
        move |partner: usize| partner * documents / count..(partner + 1) * documents / count;
    partners.clear();
    partners.extend((0..count).map(|partner| {
        let range = range_of(partner);
        (if sampled { range.start + random.below(range.len()) } else { partner }) as u32
    }));
    (0..count).map(move |partner| range_of(partner).len() as f64)
}

impl Objective for ApproxNdcg {
    fn teacher_term(&self) -> TeacherTerm {
        TeacherTerm::SoftLabels
    }

    fn derivatives(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
        out: &mut Derivatives<'_>,
    ) -> Result<(), LearnError> {
        check_shape(query, out)?;
        let buffers = &mut buffers.approxndcg;
        let n = query.scores.len();
        for sums in [&mut buffers.gradient, &mut buffers.hessian] {
            sums.clear();
            sums.resize(n, 0.0);
        }
        if self.prepare_query(query, buffers)? {
            for document in 0..n {
                let (gain, score) = (buffers.gains[document], query.scores[document]);
                if gain > 0.0 {
                    let rank = self.rank(document, score, buffers);
                    let log = rank.ln_1p();
                    // The derivative of -gain * ln 2 / ln(1 + r) by r.
                    let f = gain * LN_2 / ((1.0 + rank) * log * log);
                    self.add_pairs(document, score, f, buffers);
                }
            }
        }
        listwise::write_derivatives(query, out, |i| (buffers.gradient[i], buffers.hessian[i]))
    }

    fn loss(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
    ) -> Result<Option<f64>, LearnError> {
        let buffers = &mut buffers.approxndcg;
        if !self.prepare_query(query, buffers)? {
            return Ok(Some(0.0));
        }
        let mut ndcg = 0.0;
        for (document, &gain) in buffers.gains.iter().enumerate().filter(|(_, gain)| **gain > 0.0) {
            let rank = self.rank(document, query.scores[document], buffers);
            ndcg += gain * LN_2 / rank.ln_1p();
        }
        Ok(Some(1.0 - ndcg))
    }

    fn prepare(&mut self, all: &TrainingDocuments<'_>) -> Result<f64, LearnError> {
        pointwise::check_labels(all)?;
        // Only the largest label can be too large for a gain.
        Gain::Exp.of(all.labels.iter().copied().fold(0.0, f64::max))?;
        Ok(0.0)
    }

    fn samples_pairs(&self, documents: usize) -> bool {
        documents > MAX_DOCUMENTS
    }

    fn cost(&self, documents: usize) -> u64 {
        let partners = if self.samples_pairs(documents) { SAMPLED_PARTNERS } else { documents };
        // About half of the documents have a gain; a pair takes two exponentials.
        (documents as u64).saturating_mul(10 + 4 * partners as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::tests::derivatives;

    #[test]
    fn at_a_low_temperature_the_loss_is_one_minus_ndcg() {
        // By score the documents have the ranks 1, 4, 2, 3 and 5. NDCG worked out by hand:
        // (7 + 1 / log2(3) + 3 / log2(5)) / (7 + 3 / log2(3) + 1 / log2(4)) = 0.94998.
        let (labels, scores) = ([3.0, 2.0, 1.0, 0.0, 0.0], [3.0, 0.5, 2.0, 1.0, 0.0]);
        let objective = ApproxNdcg { temperature: 1e-3 };
        let query = QueryView::new(&labels, &scores);
        let loss = objective.loss(&query, &mut ObjectiveBuffers::default());
        assert!((1.0 - loss.unwrap().unwrap() - 0.94998).abs() < 1e-5);
    }

    #[test]
    fn gradients_of_a_query_add_up_to_zero() {
        let (labels, scores) = ([3.0, 2.0, 1.0, 0.0, 0.0], [0.3, 0.5, 0.2, 0.4, 0.0]);
        let view = QueryView::new(&labels, &scores);
        let (gradient, _) = derivatives(&ApproxNdcg::default(), &view).unwrap();
        assert!(gradient.iter().sum::<f32>().abs() < 1e-5);
        let irrelevant = QueryView { labels: &[0.0; 5], ..view };
        assert_eq!(derivatives(&ApproxNdcg::default(), &irrelevant).unwrap().0, [0.0; 5]);
    }

    #[test]
    fn the_loss_of_a_long_list_is_sampled_and_close_to_the_exact_one() {
        let n = MAX_DOCUMENTS + 1;
        let mut random = Random::new(3, 3);
        let scores: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let labels: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i % 2000 == 5))).collect();
        let objective = ApproxNdcg::default();
        let view = QueryView::new(&labels, &scores);
        assert!(objective.samples_pairs(n) && !objective.samples_pairs(n - 1));
        let loss = |view: &QueryView<'_>| {
            objective.loss(view, &mut ObjectiveBuffers::default()).unwrap().unwrap()
        };
        // One document less, so that nothing is sampled.
        let exact = QueryView::new(&labels[1..], &scores[1..]);
        assert!((loss(&view) - loss(&exact)).abs() < 0.01);
        let (gradient, _) = derivatives(&objective, &view).unwrap();
        let other_draw = derivatives(&objective, &QueryView { seed: 9, ..view }).unwrap().0;
        assert!(gradient != other_draw);
    }
}
