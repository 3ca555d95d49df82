//! YetiLoss: a metric smoothed by noise on the scores (Gulin, Kuralenok and Pavlov, "Winning the
//! transfer learning track of Yahoo!'s learning to rank challenge with YetiRank", 2011; Lyzhin et
//! al., "Which tricks are important for learning to rank?", ICML 2023).
//!
//! ```text
//! z_i = s_i + noise * log(u_i / (1 - u_i))         u uniform in (0, 1), drawn `samples` times
//! order by z; at each rank r, for the documents a at r and b at r + 1 of different labels:
//! w_ab += |change of the metric when a and b swap| / samples
//! L = sum over pairs (i better than j) of w_ij log(1 + exp(-(s_i - s_j)))
//! ```
//!
//! Only neighbours in a drawn order form pairs, and the weight of a pair is the metric's change if
//! the two swap. Documents of close scores are often neighbours, at any of the ranks that the noise
//! may give them, so their pairs have most of the weight. The weights are constants in the
//! derivatives, which are those of the pair logistic loss. Works for every metric whose change
//! under swaps is defined (the papers use NDCG, MAP and MRR). The draws depend on seed, query and
//! sample alone, so a resumed training repeats them.
//!
//! Cost O(samples n log n), memory O(n). A metric's cut-off is used as written: swaps below the
//! cut-off change nothing. Queries of 0 or 1 documents, of equal labels, or without a relevant
//! document give zeros. A document of weight w counts like w copies. In a query of two documents
//! these two are always neighbours.

use rankwright_data::Random;
use rankwright_eval::{Measure, MetricText, Orderer, SourceKind, SwapDelta, sort_labels};

use rankwright_spec::{Conflict, SpecError, above, params};

use super::def::{ObjectiveDef, ObjectiveParams};
use super::{
    DEFAULT_METRIC, Derivatives, Objective, ObjectiveBuffers, QueryView, TeacherTerm,
    TrainingDocuments,
};
use super::{check_shape, pointwise};
use crate::error::LearnError;
use crate::exp::{exp, ln, softplus};

/// The YetiLoss objective: the expected value of a metric when random noise is added to the scores.
#[derive(Debug, Clone)]
pub struct Yeti {
    /// The metric that is smoothed.
    measure: Measure,
    /// Number of orders drawn for each query and tree.
    samples: u32,
    /// Scale of the noise on the scores.
    noise: f64,
}

/// Buffers of one thread.
#[derive(Debug, Default)]
pub(super) struct YetiBuffers {
    orderer: Orderer,
    /// The swap computation of the previous query, with the name of its metric.
    swap: Option<(String, Box<dyn SwapDelta>)>,
    /// Scores with noise.
    noisy: Vec<f64>,
    /// Labels in the drawn order.
    labels: Vec<f64>,
    /// Labels, best first.
    ideal: Vec<f64>,
    /// Changes of the metric when one rank swaps with each of the others.
    deltas: Vec<f64>,
    /// Gradient and hessian of each document.
    sums: Vec<(f64, f64)>,
}

params! {
    /// Parameters of YetiLoss.
    pub struct YetiParams {
        metric: MetricText = MetricText::new(DEFAULT_METRIC), .., "Metric whose expected value is optimised.";
        samples: u32 = 10, 1..=1000, "Number of orders drawn for each query and tree.";
        noise: f64 = 1.0, above(0.0),
            "Scale of the noise on the scores; the smaller, the closer to the metric itself.";
    }
    /// Builder methods for the parameters of YetiLoss.
    pub trait YetiOptions: yeti_params;
}

impl ObjectiveParams for YetiParams {
    const DEF: &'static ObjectiveDef = &ObjectiveDef {
        name: "yeti",
        help: "Expected value of a metric when random noise is added to the scores, by swaps of neighbouring documents (YetiLoss).",
        example: "yeti(metric=ap, samples=10)",
        ..ObjectiveDef::of::<Self>()
    };

    fn build(&self) -> Result<Box<dyn Objective>, SpecError> {
        let measure = self.metric.spec()?.resolve(SourceKind::Features)?;
        if measure.swap().is_none() {
            let conflict = Conflict::UnsuitableMetric {
                metric: measure.to_string(),
                reason: "it has no change under swaps of two ranks".to_owned(),
                expected: "ndcg, dcg, ap, err, rbp, rr, p, recall or success",
            };
            return Err(SpecError::conflict(Self::DEF.name, conflict));
        }
        Ok(Box::new(Yeti { measure, samples: self.samples, noise: self.noise }))
    }
}

/// One pair of neighbours in a drawn order.
struct Neighbours {
    /// The document with the higher label, numbered within the query.
    better: usize,
    /// The document with the lower label.
    worse: usize,
    weight: f64,
}

impl Yeti {
    /// Visits the pairs of all drawn orders.
    fn for_each_pair(
        &self,
        query: &QueryView<'_>,
        buffers: &mut YetiBuffers,
        mut visit: impl FnMut(&Neighbours),
    ) -> Result<(), LearnError> {
        pointwise::require_labels(query)?;
        let n = query.scores.len();
        let YetiBuffers { orderer, swap, noisy, labels, ideal, deltas, .. } = buffers;
        let name = self.measure.to_string();
        if swap.as_ref().is_none_or(|(last_name, _)| *last_name != name) {
            *swap = self.measure.swap().map(|swap| (name, swap));
        }
        let Some((_, swap)) = swap.as_mut() else { return Ok(()) };
        ideal.clear();
        ideal.extend_from_slice(query.labels);
        sort_labels(ideal);
        deltas.clear();
        deltas.resize(n, 0.0);
        let weight = |row: usize| query.weights.get(row).map_or(1.0, |w| f64::from(*w));
        for sample in 0..self.samples {
            // A stream of random numbers for each query and sample; there are at most 1000 samples.
            let stream = (query.query as u64) << 10 | u64::from(sample);
            let mut random = Random::new(query.seed, stream);
            noisy.clear();
            noisy.extend(query.scores.iter().map(|s| s + self.noise * logit(random.unit())));
            let order = orderer.order_seeded(noisy, query.seed ^ stream, &mut [])?;
            labels.clear();
            labels.extend(order.iter().map(|&row| query.labels[row as usize]));
            swap.prepare(labels, ideal)?;
            for (rank, pair) in order.windows(2).enumerate() {
                if labels[rank] == labels[rank + 1] {
                    continue;
                }
                swap.swap_deltas_from(rank, rank + 1, &mut deltas[..rank + 2]);
                let size = deltas[rank + 1].abs() / f64::from(self.samples);
                let (a, b) = (pair[0] as usize, pair[1] as usize);
                let (better, worse) = if labels[rank] > labels[rank + 1] { (a, b) } else { (b, a) };
                if size > 0.0 {
                    let weight = size * weight(better) * weight(worse);
                    visit(&Neighbours { better, worse, weight });
                }
            }
        }
        Ok(())
    }
}

/// The score difference of the better and the worse document; two equal infinities differ by 0.
fn score_difference(query: &QueryView<'_>, pair: &Neighbours) -> f64 {
    let (better, worse) = (query.scores[pair.better], query.scores[pair.worse]);
    if better == worse { 0.0 } else { better - worse }
}

/// Minus the first derivative, and the second derivative of a pair's loss by the score difference.
fn pair_derivatives(query: &QueryView<'_>, pair: &Neighbours) -> (f64, f64) {
    let score_difference = score_difference(query, pair);
    // The exponential of a number of at most 0 cannot overflow.
    let small = exp(-score_difference.abs());
    let large = 1.0 / (1.0 + small);
    let rho = if score_difference < 0.0 { large } else { small * large };
    (pair.weight * rho, pair.weight * small * large * large)
}

/// log(u / (1 - u)) for u in [0, 1), finite even at 0: logistic noise if u is uniform.
fn logit(u: f64) -> f64 {
    let u = u.max(f64::MIN_POSITIVE);
    ln(u) - ln(1.0 - u)
}

impl Objective for Yeti {
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
        let mut sums = std::mem::take(&mut buffers.yeti.sums);
        sums.clear();
        sums.resize(query.scores.len(), (0.0, 0.0));
        if query.scores.len() > 1 {
            self.for_each_pair(query, &mut buffers.yeti, |pair| {
                let (lambda, hessian) = pair_derivatives(query, pair);
                sums[pair.better].0 -= lambda;
                sums[pair.worse].0 += lambda;
                sums[pair.better].1 += hessian;
                sums[pair.worse].1 += hessian;
            })?;
        }
        for ((gradient, hessian), (g, h)) in
            out.gradient.iter_mut().zip(out.hessian.iter_mut()).zip(&sums)
        {
            (*gradient, *hessian) = (*g as f32, *h as f32);
        }
        buffers.yeti.sums = sums;
        Ok(())
    }

    fn loss(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
    ) -> Result<Option<f64>, LearnError> {
        let mut sum = 0.0;
        if query.scores.len() > 1 {
            self.for_each_pair(query, &mut buffers.yeti, |pair| {
                sum += pair.weight * softplus(-score_difference(query, pair));
            })?;
        }
        Ok(Some(sum))
    }

    fn prepare(&mut self, all: &TrainingDocuments<'_>) -> Result<f64, LearnError> {
        pointwise::check_labels(all)?;
        // Only the largest label can be outside the metric's scale of grades.
        let largest = all.labels.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if let Some(mut swap) = self.measure.swap().filter(|_| largest.is_finite()) {
            swap.prepare(&[largest], &[largest])?;
        }
        Ok(0.0)
    }

    fn pair_hessians(
        &self,
        query: &QueryView<'_>,
        buffers: &mut ObjectiveBuffers,
        visit: &mut dyn FnMut(usize, usize, f64),
    ) -> Result<bool, LearnError> {
        if query.scores.len() > 1 {
            self.for_each_pair(query, &mut buffers.yeti, |pair| {
                visit(pair.better, pair.worse, pair_derivatives(query, pair).1);
            })?;
        }
        Ok(true)
    }

    fn cost(&self, documents: usize) -> u64 {
        // The noise and the sort of one order cost about 100 units per document.
        (documents as u64).saturating_mul(100 * u64::from(self.samples))
    }
}

#[cfg(test)]
mod tests {
    use rankwright_spec::Spec;

    use super::super::tests::derivatives;
    use super::super::{LambdaConfig, parse_objective};
    use rankwright_eval::MetricSpec;

    use super::*;

    fn yeti(text: &str) -> Box<dyn Objective> {
        parse_objective(&Spec::parse(text).unwrap()).unwrap()
    }

    /// Two documents are always neighbours, so the result is the lambda of the metric.
    #[test]
    fn two_documents_have_the_lambda_of_their_swap() {
        let (labels, scores) = ([0.0, 1.0], [0.4, 0.1]);
        let query = QueryView::new(&labels, &scores);
        let (gradient, hessian) =
            derivatives(&*yeti("yeti(metric=ndcg, samples=3)"), &query).unwrap();
        let metric = MetricSpec::parse("ndcg").unwrap();
        let lambda =
            LambdaConfig { norm_gap: false, norm_query: false, ..LambdaConfig::for_metric(metric) };
        let (lambda_gradient, lambda_hessian) =
            derivatives(&lambda.check().unwrap(), &query).unwrap();
        for row in 0..2 {
            assert!((gradient[row] - lambda_gradient[row]).abs() < 1e-6);
            assert!((hessian[row] - lambda_hessian[row]).abs() < 1e-6);
        }
    }

    fn view<'a>(labels: &'a [f64], scores: &'a [f64], weights: &'a [f32]) -> QueryView<'a> {
        QueryView { weights, seed: 11, ..QueryView::new(labels, scores) }
    }

    /// As long as no drawn order changes, the derivatives are those of the loss.
    #[test]
    fn derivatives_are_those_of_the_loss() {
        let labels = [0.0, 2.0, 1.0, 0.0, 1.0];
        let scores = [0.3, -0.4, 0.9, 0.1, -1.2];
        let weights = [1.0, 2.0, 0.5, 1.0, 1.5];
        for metric in ["ndcg@3", "dcg", "ap", "err", "rbp", "rr", "p@2", "recall@2", "gmap"] {
            let yeti = yeti(&format!("yeti(metric={metric}, samples=5, noise=0.7)"));
            let (gradient, hessian) =
                derivatives(&*yeti, &view(&labels, &scores, &weights)).unwrap();
            assert!(
                gradient.iter().any(|g| *g != 0.0) && gradient.iter().sum::<f32>().abs() < 1e-6
            );
            for row in 0..5 {
                let loss_after_move = |by: f64| {
                    let mut moved = scores;
                    moved[row] += by;
                    yeti.loss(&view(&labels, &moved, &weights), &mut ObjectiveBuffers::default())
                        .unwrap()
                        .unwrap()
                };
                let (down, here, up) =
                    (loss_after_move(-1e-4), loss_after_move(0.0), loss_after_move(1e-4));
                assert!(
                    (f64::from(gradient[row]) - (up - down) / 2e-4).abs() < 1e-6,
                    "{metric} {row}"
                );
                let second = (up - 2.0 * here + down) / 1e-8;
                assert!((f64::from(hessian[row]) - second).abs() < 1e-4, "{metric} {row}");
            }
        }
    }

    #[test]
    fn metrics_without_swaps_and_parameters_out_of_range_are_refused() {
        let fails =
            |text: &str| parse_objective(&Spec::parse(text).unwrap()).unwrap_err().to_string();
        assert!(fails("yeti(metric=kendall)").contains("change under swaps"));
        assert!(fails("yeti(samples=0)").contains("from 1 to 1000"));
        assert!(fails("yeti(noise=-1)").contains("above 0"));
    }
}
