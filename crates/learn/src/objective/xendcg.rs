//! XE-NDCG: a cross entropy that bounds NDCG (Bruch, "An alternative cross entropy loss for
//! learning to rank", WWW 2021).
//!
//! ```text
//! rho = softmax of the scores     t_i = phi_i / sum of phi     phi_i = 2^label_i - g_i
//! L = -sum of t_i log rho_i       g uniform in [0, 1), drawn anew for each query and iteration
//! ```
//!
//! phi is the gain of a document with noise g. The matrix of second derivatives is D - O, with D_ii
//! = rho_i (1 - rho_i) and O_ij = rho_i rho_j off the diagonal. A boosted tree divides by D alone;
//! the paper (section 4.2) and LightGBM's `rank_xendcg` compensate for O by the first terms of a
//! series,
//!
//! ```text
//! (D - O)^-1 l  =  D^-1 (l + O D^-1 l + O D^-1 O D^-1 l + ...)     l_i = rho_i - t_i
//! ```
//!
//! and use the sum in brackets as the gradient, D as the hessian. `terms=1` is the exact gradient
//! alone; `terms=3`, the default, is the paper's sum. Each term costs O(n): with x = D^-1 times the
//! previous term, the next is rho_i (sum of rho_j x_j - rho_i x_i). The draws depend on seed and
//! query alone. Labels below 0 count as 0. A document of weight w counts like w copies of it.
//! Weights of clicks multiply the gain 2^label - 1 alone, and the sum of phi without them remains
//! the divisor; with T the sum of t, l is T rho - t, and D and O have the factor T. Queries of 0 or
//! 1 documents give zeros; equal labels do not, because of g.

use rankwright_data::Random;
use rankwright_eval::Gain;

use rankwright_spec::{SpecError, params};

use super::def::{ObjectiveDef, ObjectiveParams};
use super::{
    Derivatives, Objective, ObjectiveBuffers, QueryView, RelevanceScale, TeacherTerm,
    TrainingDocuments,
};
use super::{check_shape, listwise, pointwise};
use crate::bias::BiasCorrection;
use crate::error::LearnError;

/// The cross entropy of XE-NDCG-MART.
#[derive(Debug, Clone, Copy)]
pub struct XeNdcg {
    /// Number of terms of the series in the gradient, from 1.
    terms: u32,
}

impl Default for XeNdcg {
    fn default() -> Self {
        Self { terms: XeNdcgParams::default().terms }
    }
}

params! {
    /// Parameters of XE-NDCG.
    pub struct XeNdcgParams {
        terms: u32 = 3, 1..=3,
            "Terms of the Newton step: 1 is the gradient alone, 3 as published.";
    }
    /// Builder methods for the parameters of XE-NDCG.
    pub trait XeNdcgOptions: xe_ndcg_params;
}

impl ObjectiveParams for XeNdcgParams {
    const DEF: &'static ObjectiveDef = &ObjectiveDef {
        name: "xendcg",
        help: "Cross entropy that bounds NDCG (XE-NDCG-MART).",
        example: "xendcg(terms=3)",
        ..ObjectiveDef::of::<Self>()
    };

    fn build(&self) -> Result<Box<dyn Objective>, SpecError> {
        Ok(Box::new(XeNdcg { terms: self.terms }))
    }
}

impl XeNdcg {
    /// Computes the target distribution; returns its sum, which is 1 unless there are weights of
    /// clicks.
    fn target(query: &QueryView<'_>, into: &mut Vec<f64>) -> Result<f64, LearnError> {
        pointwise::require_labels(query)?;
        let mut random = Random::new(query.seed, query.query as u64);
        into.clear();
        let mut unweighted = 0.0;
        for (row, &label) in query.labels.iter().enumerate() {
            let weight = query.weights.get(row).map_or(1.0, |w| f64::from(*w));
            let (gain, noise) = (Gain::Exp.of(label)?, random.unit());
            unweighted += weight * (gain + 1.0 - noise);
            into.push(weight * (query.gain_weight(row) * gain + 1.0 - noise));
        }
        if query.click_weights.is_some() {
            return Ok(listwise::divide_by_unweighted(into, unweighted));
        }
        listwise::normalise(into);
        Ok(1.0)
    }
}

/// Replaces rho - t in `gradient` by the sum of the first `terms` terms of the series. `last` is
/// the last term that was added, and is overwritten: rho - t at the start.
fn add_terms(gradient: &mut [f64], last: &mut [f64], rho: &[f64], terms: u32) {
    for _ in 1..terms {
        let mut sum = 0.0;
        for (l, p) in last.iter_mut().zip(rho) {
            // `l` becomes rho times x of the module's formulas. If the rho of a document rounds to
            // 1, those of the others, by which this value is multiplied below, are 0.
            *l /= (1.0 - p).max(f64::EPSILON);
            sum += *l;
        }
        for ((l, p), g) in last.iter_mut().zip(rho).zip(gradient.iter_mut()) {
            *l = p * (sum - *l);
            *g += *l;
        }
    }
}

impl Objective for XeNdcg {
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
        let [rho, target, gradient] = &mut buffers.numbers;
        let sum = Self::target(query, target)?;
        listwise::softmax(query.scores, query.weights, rho);
        if query.scores.len() < 2 {
            return listwise::write_derivatives(query, out, |_| (0.0, 0.0));
        }
        let last_term = target;
        for (t, p) in last_term.iter_mut().zip(rho.iter()) {
            *t = sum * p - *t;
        }
        gradient.clone_from(last_term);
        add_terms(gradient, last_term, rho, self.terms);
        listwise::write_derivatives(query, out, |i| (gradient[i], sum * rho[i] * (1.0 - rho[i])))
    }

    fn loss(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
    ) -> Result<Option<f64>, LearnError> {
        let [rho, target, _] = &mut buffers.numbers;
        Self::target(query, target)?;
        let denominator = listwise::softmax(query.scores, query.weights, rho);
        let has_loss = query.scores.len() > 1;
        Ok(Some(if has_loss { listwise::cross_entropy(query, target, denominator) } else { 0.0 }))
    }

    fn supports_bias(&self, bias: BiasCorrection) -> bool {
        bias != BiasCorrection::Pairwise
    }

    fn relevance_scale(&self) -> Option<RelevanceScale> {
        Some(RelevanceScale::Exponential)
    }

    fn prepare(&mut self, all: &TrainingDocuments<'_>) -> Result<f64, LearnError> {
        pointwise::check_labels(all)?;
        // Only the largest label can be too large for a gain.
        Gain::Exp.of(all.labels.iter().copied().fold(0.0, f64::max))?;
        Ok(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the series computed by full matrices.
    #[test]
    fn terms_are_those_of_the_series() {
        let (rho, l) = ([0.5, 0.3, 0.15, 0.05], [0.2, -0.4, 0.15, 0.05]);
        // O D^-1 times a vector.
        let next_term = |term: &[f64]| -> Vec<f64> {
            let x: Vec<f64> = (0..4).map(|j| term[j] / (rho[j] * (1.0 - rho[j]))).collect();
            let others = |i: usize| (0..4).filter(move |j| *j != i);
            (0..4).map(|i| others(i).map(|j| rho[i] * rho[j] * x[j]).sum()).collect()
        };
        let (second, third) = (next_term(&l), next_term(&next_term(&l)));
        for terms in 1..4 {
            let (mut gradient, mut last) = (l, l);
            add_terms(&mut gradient, &mut last, &rho, terms);
            for i in 0..4 {
                let added = [0.0, second[i], second[i] + third[i]][terms as usize - 1];
                assert!((gradient[i] - l[i] - added).abs() < 1e-12, "{terms} {i}");
            }
        }
    }
}
