//! Distillation: any objective, mixed with a loss on a teacher's scores (Hinton, Vinyals and Dean,
//! *Distilling the Knowledge in a Neural Network*, 2015, for rankings).
//!
//! ```text
//! L = (1 - w) L_labels + w L_teacher         w: the weight of the teacher
//! ```
//!
//! L_labels is the objective itself, and 0 in queries without labels. L_teacher depends on the kind
//! of the objective ([`TeacherTerm`]); z are the teacher's scores, standardised within the query:
//!
//! ```text
//! soft labels   the objective itself, with the labels a + b z in place of those of the data
//! soft pairs    sum over pairs of  -q log p - (1 - q) log(1 - p)
//!               p = 1 / (1 + exp(-(s_i - s_j)))     q = 1 / (1 + exp(-(z_i - z_j)))
//!               gradient of i:  sum over j of p - q          hessian: sum over j of p (1 - p)
//! soft list     -sum of t_i log p_i    t = softmax of z    p = softmax of the scores
//! ```
//!
//! Soft labels are for pointwise losses and for lambdas, which need gains; a and b are the least
//! squares line of labels on z ([`SoftTargets`]). Pairs and lists have their minimum where score
//! differences are those of z, without any scale of labels. Documents of weight v count like v
//! copies in each. Cost: that of the objective twice, or O(n^2) for pairs; above
//! [`MAX_DOCUMENTS`] documents each is paired with [`SAMPLED_PARTNERS`] others, drawn by seed and
//! query. Queries of 0 or 1 documents give zeros for pairs and lists. Equal scores of the teacher
//! are z = 0: pairs and lists then pull the scores together.

use std::sync::Arc;

use rankwright_data::Random;

use super::lambda::SAMPLED_PARTNERS;
use super::{
    Derivatives, Objective, ObjectiveBuffers, QueryView, Softmax, SoftmaxTarget, TrainingDocuments,
    check_shape,
};
use crate::error::LearnError;
use crate::exp::{sigmoid, softplus};
use crate::session::SoftTargets;
use crate::simd::Simd;

/// The form in which an objective learns from a teacher's scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TeacherTerm {
    /// The objective cannot learn from a teacher.
    Unsupported,
    /// The teacher's scores on the scale of the labels take the place of labels.
    SoftLabels,
    /// Each pair of documents has a target probability.
    SoftPairs,
    /// The softmax of the teacher's scores is the target distribution of the query.
    SoftList,
}

/// Largest number of documents of a query whose pairs are all used.
const MAX_DOCUMENTS: usize = 2_000;

/// An objective mixed with the scores of a teacher.
#[derive(Debug)]
pub(crate) struct DistilledObjective {
    /// The objective of the learner, L_labels.
    label_objective: Box<dyn Objective>,
    /// The teacher's scores, and their weight.
    targets: Arc<SoftTargets>,
}

/// Buffers of one thread.
#[derive(Debug, Default)]
pub(super) struct DistilledBuffers {
    gradient: Vec<f32>,
    hessian: Vec<f32>,
    /// Sums over pairs.
    sums: [Vec<f64>; 2],
}

impl DistilledObjective {
    /// The objective with a teacher; it must support one ([`Objective::teacher_term`]).
    pub(crate) fn new(label_objective: Box<dyn Objective>, targets: Arc<SoftTargets>) -> Self {
        Self { label_objective, targets }
    }

    /// The weight of the objective on labels: 0 in a query without labels.
    fn label_weight(&self, query: &QueryView<'_>) -> f64 {
        match self.targets.is_labelled(query.query) {
            true => 1.0 - self.targets.weight(),
            false => 0.0,
        }
    }

    /// The query as the teacher sees it: these labels, and neither preferences nor clicks.
    fn view<'b>(&'b self, query: &QueryView<'b>, labels: &'b [f64]) -> QueryView<'b> {
        QueryView { labels, pairs: None, click_weights: None, ..*query }
    }

    /// The derivatives of the teacher's term.
    fn teacher_derivatives(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
        sums: &mut [Vec<f64>; 2],
        out: &mut Derivatives<'_>,
    ) -> Result<(), LearnError> {
        match self.label_objective.teacher_term() {
            TeacherTerm::SoftLabels => {
                let soft = self.view(query, self.targets.soft_labels(query.query));
                self.label_objective.derivatives(&soft, buffers, out)
            }
            TeacherTerm::SoftList => {
                let list = self.view(query, self.targets.standard(query.query));
                Softmax { target: SoftmaxTarget::Softmax }.derivatives(&list, buffers, out)
            }
            TeacherTerm::SoftPairs => {
                let n = query.scores.len();
                let [gradient, hessian] = sums;
                for sum in [&mut *gradient, &mut *hessian] {
                    sum.clear();
                    sum.resize(n, 0.0);
                }
                self.each_pair(query, |i, j, weight, p, q| {
                    let (g, h) = (weight * (p - q), weight * p * (1.0 - p));
                    gradient[i] += g;
                    gradient[j] -= g;
                    hessian[i] += h;
                    hessian[j] += h;
                });
                let to_f32 = |to: &mut [f32], from: &[f64]| {
                    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from as f32);
                };
                to_f32(out.gradient, gradient);
                to_f32(out.hessian, hessian);
                Ok(())
            }
            TeacherTerm::Unsupported => Err(no_term()),
        }
    }

    /// Calls `visit(i, j, weight, p, q)` with each pair of a query: the model's probability p that
    /// i is better than j, and the teacher's q.
    fn each_pair(&self, query: &QueryView<'_>, mut visit: impl FnMut(usize, usize, f64, f64, f64)) {
        let (n, z) = (query.scores.len(), self.targets.standard(query.query));
        let weight_of = |row: usize| query.weights.get(row).map_or(1.0, |w| f64::from(*w));
        let mut pair = |i: usize, j: usize, copies: f64| {
            let weight = copies * weight_of(i) * weight_of(j);
            let p = sigmoid(query.scores[i] - query.scores[j]);
            visit(i, j, weight, p, sigmoid(z[i] - z[j]));
        };
        if n <= MAX_DOCUMENTS {
            (0..n).for_each(|i| (i + 1..n).for_each(|j| pair(i, j, 1.0)));
            return;
        }
        let mut random = Random::new(query.seed, query.query as u64);
        // n (n - 1) / 2 pairs are represented by n draws of partners each.
        let copies = (n - 1) as f64 / (2 * SAMPLED_PARTNERS) as f64;
        for i in 0..n {
            for _ in 0..SAMPLED_PARTNERS {
                // Any document but i.
                let j = random.below(n - 1);
                pair(i, j + usize::from(j >= i), copies);
            }
        }
    }

    /// The loss of the teacher's term.
    fn teacher_loss(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
    ) -> Result<Option<f64>, LearnError> {
        match self.label_objective.teacher_term() {
            TeacherTerm::SoftLabels => {
                let soft = self.view(query, self.targets.soft_labels(query.query));
                self.label_objective.loss(&soft, buffers)
            }
            TeacherTerm::SoftList => {
                let list = self.view(query, self.targets.standard(query.query));
                Softmax { target: SoftmaxTarget::Softmax }.loss(&list, buffers)
            }
            TeacherTerm::SoftPairs => {
                let mut sum = 0.0;
                let scores = query.scores;
                self.each_pair(query, |i, j, weight, _, q| {
                    // -log p = softplus(-(s_i - s_j)), -log(1 - p) = softplus(s_i - s_j)
                    let gap = scores[i] - scores[j];
                    sum += weight * (q * softplus(-gap) + (1.0 - q) * softplus(gap));
                });
                Ok(Some(sum))
            }
            TeacherTerm::Unsupported => Err(no_term()),
        }
    }
}

/// An objective that cannot learn from a teacher is refused before the training.
fn no_term() -> LearnError {
    LearnError::Internal { invariant: "the objective of a student can learn from a teacher" }
}

impl Objective for DistilledObjective {
    fn derivatives(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
        out: &mut Derivatives<'_>,
    ) -> Result<(), LearnError> {
        check_shape(query, out)?;
        let label_weight = self.label_weight(query);
        if label_weight > 0.0 {
            self.label_objective.derivatives(query, buffers, out)?;
        } else {
            out.gradient.fill(0.0);
            out.hessian.fill(0.0);
        }
        let mut teacher_buffers = std::mem::take(&mut buffers.distilled);
        let n = query.scores.len();
        teacher_buffers.gradient.resize(n, 0.0);
        teacher_buffers.hessian.resize(n, 0.0);
        let mut term = Derivatives {
            gradient: &mut teacher_buffers.gradient[..n],
            hessian: &mut teacher_buffers.hessian[..n],
            // The order of the previous iteration is kept by the objective on labels.
            cache: &mut [],
        };
        let result = self.teacher_derivatives(query, buffers, &mut teacher_buffers.sums, &mut term);
        let mix = |of_labels: &mut [f32], of_teacher: &[f32]| {
            for (labels, teacher) in of_labels.iter_mut().zip(of_teacher) {
                let mixed =
                    label_weight * f64::from(*labels) + self.targets.weight() * f64::from(*teacher);
                *labels = mixed as f32;
            }
        };
        mix(out.gradient, &teacher_buffers.gradient[..n]);
        mix(out.hessian, &teacher_buffers.hessian[..n]);
        buffers.distilled = teacher_buffers;
        result
    }

    fn loss(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
    ) -> Result<Option<f64>, LearnError> {
        let label_weight = self.label_weight(query);
        let of_labels = match label_weight > 0.0 {
            true => self.label_objective.loss(query, buffers)?,
            false => Some(0.0),
        };
        let of_teacher = self.teacher_loss(query, buffers)?;
        let weight = self.targets.weight();
        Ok(of_labels.zip(of_teacher).map(|(l, t)| label_weight * l + weight * t))
    }

    fn prepare(&mut self, all: &TrainingDocuments<'_>) -> Result<f64, LearnError> {
        self.label_objective.prepare(all)
    }

    fn refresh(&mut self, all: &TrainingDocuments<'_>) -> Result<(), LearnError> {
        self.label_objective.refresh(all)
    }

    fn has_notes(&self) -> bool {
        self.label_objective.has_notes()
    }

    fn notes(&self) -> Vec<(&'static str, String)> {
        self.label_objective.notes()
    }

    fn pair_hessians(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
        visit: &mut dyn FnMut(usize, usize, f64),
    ) -> Result<bool, LearnError> {
        let (label_weight, weight) = (self.label_weight(query), self.targets.weight());
        let mut has_pairs = true;
        if label_weight > 0.0 {
            let mut of_labels = |i: usize, j: usize, h: f64| visit(i, j, label_weight * h);
            has_pairs = self.label_objective.pair_hessians(query, buffers, &mut of_labels)?;
        }
        let mut of_teacher = |i: usize, j: usize, h: f64| visit(i, j, weight * h);
        match self.label_objective.teacher_term() {
            TeacherTerm::SoftLabels => {
                let soft = self.view(query, self.targets.soft_labels(query.query));
                has_pairs &= self.label_objective.pair_hessians(&soft, buffers, &mut of_teacher)?;
            }
            TeacherTerm::SoftPairs => {
                self.each_pair(query, |i, j, weight, p, _| {
                    of_teacher(i, j, weight * p * (1.0 - p));
                });
            }
            TeacherTerm::SoftList | TeacherTerm::Unsupported => has_pairs = false,
        }
        Ok(has_pairs)
    }

    fn samples_pairs(&self, documents: usize) -> bool {
        let of_teacher = self.label_objective.teacher_term() == TeacherTerm::SoftPairs
            && documents > MAX_DOCUMENTS;
        of_teacher || self.label_objective.samples_pairs(documents)
    }

    fn set_simd(&mut self, simd: Simd) {
        self.label_objective.set_simd(simd);
    }

    fn cost(&self, documents: usize) -> u64 {
        let pairs = match self.label_objective.teacher_term() {
            TeacherTerm::SoftPairs => documents.min(SAMPLED_PARTNERS) as u64 * documents as u64,
            _ => 0,
        };
        (2 * self.label_objective.cost(documents)).saturating_add(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::derivatives;
    use super::*;
    use crate::objective::parse_objective;
    use rankwright_spec::Spec;

    /// The teacher's scores, labels and scores of a query of four documents.
    const TEACHER: [f64; 4] = [1.3, -0.2, 0.4, 0.9];
    const LABELS: [f64; 4] = [2.0, 0.0, 1.0, 0.0];
    const SCORES: [f64; 4] = [0.3, 0.5, -0.4, 0.1];

    /// A distilled objective for queries with the same documents: the first one has labels, the
    /// second one has none.
    fn distilled(text: &str, weight: f64) -> DistilledObjective {
        let mut labels = parse_objective(&Spec::parse(text).unwrap()).unwrap();
        let all = TrainingDocuments { labels: &LABELS, weights: &[], scores: &SCORES };
        labels.prepare(&all).unwrap();
        labels.refresh(&all).unwrap();
        let scores = [TEACHER, TEACHER].concat();
        let targets = SoftTargets::new(scores, vec![0, 4, 8], &LABELS, weight);
        DistilledObjective::new(labels, Arc::new(targets))
    }

    /// A query with these scores, and documents of different weights.
    fn view(query: usize, scores: &[f64; 4]) -> QueryView<'_> {
        let weights = &[1.0, 2.0, 1.0, 0.5];
        QueryView { query, weights, ..QueryView::new(&LABELS, scores) }
    }

    #[test]
    fn derivatives_are_those_of_the_loss() {
        let specs = ["squared", "query-rmse", "pair-logistic", "softmax", "listmle", "approxndcg"];
        for (text, query, weight) in
            specs.iter().flat_map(|text| [(*text, 0, 0.3), (*text, 1, 0.3), (*text, 0, 1.0)])
        {
            let objective = distilled(text, weight);
            let (gradient, hessian) = derivatives(&objective, &view(query, &SCORES)).unwrap();
            let loss = |scores: &[f64; 4]| {
                let buffers = &mut ObjectiveBuffers::default();
                objective.loss(&view(query, scores), buffers).unwrap().unwrap()
            };
            for document in 0..4 {
                let moved = |step: f64| {
                    let mut scores = SCORES;
                    scores[document] += step;
                    loss(&scores)
                };
                let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                let found = f64::from(gradient[document]);
                assert!((slope - found).abs() < 1e-4, "{text} {query}: {slope} {found}");
                assert!(hessian[document] >= 0.0, "{text}");
            }
        }
    }

    /// Two documents: z = 1 and -1, so that q = 1 / (1 + exp(-2)) = 0.8808. At equal scores p is a
    /// half: the gradient is 0.5 - 0.8808, the hessian a quarter.
    #[test]
    fn a_soft_pair_worked_out_by_hand() {
        let labels = parse_objective(&Spec::parse("pair-logistic").unwrap()).unwrap();
        let targets = SoftTargets::new(vec![7.0, 3.0], vec![0, 2], &[], 1.0);
        let objective = DistilledObjective::new(labels, Arc::new(targets));
        let view = QueryView::new(&[0.0, 0.0], &[0.0, 0.0]);
        let (gradient, hessian) = derivatives(&objective, &view).unwrap();
        assert!((gradient[0] + 0.380_797).abs() < 1e-6, "{gradient:?}");
        assert_eq!((gradient[1], hessian[0]), (-gradient[0], 0.25));
        // The minimum: score differences are those of z.
        let best = QueryView::new(&[0.0, 0.0], &[2.0, 0.0]);
        assert!(derivatives(&objective, &best).unwrap().0[0].abs() < 1e-6);
    }

    #[test]
    fn lambdas_of_soft_labels_follow_the_teacher_where_there_are_no_labels() {
        let objective = distilled("lambda(metric=ndcg@10)", 0.5);
        let equal = [0.0; 4];
        let query = |query| QueryView { query, ..QueryView::new(&LABELS, &equal) };
        let (gradient, _) = derivatives(&objective, &query(1)).unwrap();
        // The teacher's best document rises most, its worst one falls most.
        assert!(gradient[0] < gradient[3] && gradient[3] < gradient[2], "{gradient:?}");
        assert!(gradient[2] < gradient[1] && gradient[1] > 0.0, "{gradient:?}");
        let (both, _) = derivatives(&objective, &query(0)).unwrap();
        assert!(both[0] < gradient[0], "labels and teacher agree on the first: {both:?}");
    }

    #[test]
    fn sampled_pairs_keep_the_gradient_on_average() {
        let n = MAX_DOCUMENTS + 1;
        let labels = parse_objective(&Spec::parse("pair-logistic").unwrap()).unwrap();
        let teacher: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let targets = SoftTargets::new(teacher, vec![0, n], &[], 1.0);
        let objective = DistilledObjective::new(labels, Arc::new(targets));
        let (zeros, scores) = (vec![0.0; n], vec![0.0; n]);
        let (gradient, _) = derivatives(&objective, &QueryView::new(&zeros, &scores)).unwrap();
        let z = objective.targets.standard(0);
        let all: f64 = (0..n - 1).map(|j| 0.5 - sigmoid(z[n - 1] - z[j])).sum();
        let found = f64::from(gradient[n - 1]);
        assert!((found - all).abs() < 0.15 * all.abs(), "{found} {all}");
        assert!(gradient.iter().map(|g| f64::from(*g)).sum::<f64>().abs() < 0.1);
    }
}
