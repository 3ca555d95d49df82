//! The reference implementation of the lambdas: a double loop in 64 bits with the library's exp, as
//! the formulas are written. The tests compare the kernel with it.

use rankwright_eval::{MetricSpec, Orderer, SourceKind};

use super::{CutoffMode, LambdaConfig, PairChoice, TiedLabels, WeightScheme, WeightSource};
use crate::objective::QueryView;

/// Gradient and hessian of each document, by definition.
pub(super) fn reference(params: &LambdaConfig, query: &QueryView<'_>) -> (Vec<f64>, Vec<f64>) {
    let n = query.scores.len();
    // The seed by which equal scores are ordered, as in `ranked.rs`.
    let seed = query.seed ^ (query.query as u64).wrapping_mul(0xd1b5_4a32_d192_ed03);
    let mut orderer = Orderer::default();
    let order = orderer.order_seeded(query.scores, seed, &mut []).unwrap();
    let document_at: Vec<usize> = order.iter().map(|&d| d as usize).collect();
    let labels: Vec<f64> = document_at.iter().map(|&d| query.labels[d]).collect();
    let scores: Vec<f64> = document_at.iter().map(|&d| query.scores[d]).collect();
    let document_weight =
        |rank: usize| query.weights.get(document_at[rank]).map_or(1.0, |w| f64::from(*w));
    let truncation = match (&params.truncation, &params.pair_weight) {
        (Some(t), _) => *t,
        (None, _) if params.scheme == WeightScheme::Gap => n,
        (None, WeightSource::Metric(m)) => m.canonical().cutoff.map_or(n, |k| k as usize + 3),
        _ => n,
    };
    let (mut gradient, mut hessian, mut total) = (vec![0.0; n], vec![0.0; n], 0.0);
    let range = scores.first().map_or(0.0, |best| best - scores[n - 1]);
    let is_promoted = is_promoted(params, &labels, truncation);
    for i in 0..n {
        let metric_weights = pair_weights(params, &labels, truncation, i);
        for j in (i + 1..n).filter(|j| i < truncation || is_promoted[i] || is_promoted[*j]) {
            let (better, worse) = if labels[i] >= labels[j] { (i, j) } else { (j, i) };
            let mut w = metric_weights[j].abs() * document_weight(i) * document_weight(j);
            if params.norm_gap && range > 0.0 {
                w /= 0.01 + (scores[i] - scores[j]).abs();
            }
            let sigma = params.sigma;
            let x = sigma * (scores[better] - scores[worse]);
            let (rho, one_minus_rho) = (1.0 / (1.0 + x.exp()), 1.0 / (1.0 + (-x).exp()));
            let lambda = if labels[i] != labels[j] {
                -sigma * w * rho
            } else if params.ties == TiedLabels::Half {
                sigma * w * (0.5 - rho)
            } else {
                continue;
            };
            gradient[document_at[better]] += lambda;
            gradient[document_at[worse]] -= lambda;
            hessian[document_at[i]] += sigma * sigma * w * rho * one_minus_rho;
            hessian[document_at[j]] += sigma * sigma * w * rho * one_minus_rho;
            total += 2.0 * lambda.abs();
        }
    }
    if params.norm_query {
        let norm = if total > 0.0 { total.ln_1p() / total } else { 1.0 } / std::f64::consts::LN_2;
        gradient.iter_mut().chain(&mut hessian).for_each(|x| *x *= norm);
    }
    (gradient, hessian)
}

/// For each rank, whether it is below the truncation level and treated as above it: with
/// `pairs=coherent` the documents that an ideal ranking has above it, except those of the lowest
/// label.
fn is_promoted(params: &LambdaConfig, labels: &[f64], truncation: usize) -> Vec<bool> {
    let ideal_rank = |rank: usize| {
        let better = labels.iter().filter(|label| **label > labels[rank]).count();
        better + labels[..rank].iter().filter(|label| **label == labels[rank]).count()
    };
    let is_promoted = |rank: usize| {
        params.pairs == PairChoice::Coherent
            && rank >= truncation
            && ideal_rank(rank) < truncation
            && labels.iter().any(|label| *label < labels[rank])
    };
    (0..labels.len()).map(is_promoted).collect()
}

/// The weight of the pair of rank i and every rank: the metric's change, or the scheme's formula; 1
/// for weight 1.
fn pair_weights(params: &LambdaConfig, labels: &[f64], truncation: usize, i: usize) -> Vec<f64> {
    let WeightSource::Metric(metric) = &params.pair_weight else { return vec![1.0; labels.len()] };
    let mut ideal = labels.to_vec();
    ideal.sort_by(|a, b| b.total_cmp(a));
    let mut spec = metric.canonical().clone();
    if params.cut == CutoffMode::Soft && !["p", "recall", "success"].contains(&spec.name.as_str()) {
        spec.cutoff = None;
        if spec.name == "ndcg" {
            ideal.truncate(truncation);
        }
    }
    let measure = MetricSpec::from_spec(spec).unwrap().resolve(SourceKind::Features).unwrap();
    let mut swap = measure.swap().unwrap();
    swap.prepare(labels, &ideal).unwrap();
    // The factors of rho and delta in the weights of LambdaLoss.
    let (rho, delta) = match params.scheme {
        WeightScheme::Loss2 => (0.0, 1.0),
        WeightScheme::Loss2PlusPlus(mu) => (1.0, mu),
        WeightScheme::Gap => {
            let k = measure.spec().cutoff.map_or(0, |k| k as usize);
            return lambdagap_weights(labels, k, i);
        }
        WeightScheme::Swap => {
            let mut row = vec![0.0; labels.len()];
            swap.swap_deltas(i, &mut row);
            return row;
        }
    };
    let factors = swap.factors().unwrap();
    // Entry r of both is that of rank r, from 0.
    let (gains, d) = (factors.gains, factors.discounts);
    let weight = |j: usize| match i.abs_diff(j) {
        0 => 0.0,
        apart => {
            (gains[i] - gains[j]) * (rho * (d[i] - d[j]).abs() + delta * (d[apart - 1] - d[apart]))
        }
    };
    (0..labels.len()).map(weight).collect()
}

/// LambdaGap: 1/k for a relevant and another document that are k or more ranks apart.
fn lambdagap_weights(labels: &[f64], k: usize, i: usize) -> Vec<f64> {
    let relevant = |rank: usize| labels[rank] >= 1.0;
    let counts = |j: usize| relevant(i) != relevant(j) && i.abs_diff(j) >= k;
    (0..labels.len()).map(|j| f64::from(u8::from(counts(j))) / k as f64).collect()
}
