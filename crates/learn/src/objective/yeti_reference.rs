//! The reference implementation of `yeti`: its exact expectation over the noise, from every order
//! of a short list with its probability.
//!
//! ```text
//! P(z_a > z_b > ...) = integral of f_a(t) P(t > z_b > ...) dt        from the last rank upwards
//! ```
//!
//! z_a is the noisy score of document a, f_a its density: the logistic distribution around the
//! score of a. The integrals are computed on a fine grid, one after another, so that a list of n
//! documents costs n passes over the grid for each of n! orders: feasible for 3 or 4 documents. The
//! change of a metric is the difference of its values by definition, computed for both orders.

use rankwright_spec::Spec;

use super::tests::derivatives;
use super::{QueryView, parse_objective};

/// The value of a metric by definition, from labels by rank.
type MetricValue = fn(&[f64]) -> f64;

/// Metrics as in specs, with their values by definition.
const METRICS: [(&str, MetricValue); 6] = [
    ("ndcg@2", ndcg_at_2),
    ("ap", average_precision),
    ("rr", |labels| first_relevant(labels).map_or(0.0, |rank| 1.0 / (rank as f64 + 1.0))),
    ("err", expected_reciprocal_rank),
    ("p@2", |labels| labels.iter().take(2).filter(|label| **label >= 1.0).count() as f64 / 2.0),
    ("success@2", |labels| f64::from(u8::from(first_relevant(labels).is_some_and(|r| r < 2)))),
];

fn ndcg_at_2(labels: &[f64]) -> f64 {
    let dcg = |labels: &[f64]| -> f64 {
        let ranks = labels.iter().take(2).zip([1.0_f64, 2.0]);
        ranks.map(|(label, rank)| (label.exp2() - 1.0) / (1.0 + rank).log2()).sum()
    };
    let mut ideal = labels.to_vec();
    ideal.sort_by(|a, b| b.total_cmp(a));
    dcg(labels) / dcg(&ideal)
}

fn average_precision(labels: &[f64]) -> f64 {
    let (mut found, mut sum) = (0.0, 0.0);
    for (rank, _) in labels.iter().enumerate().filter(|(_, label)| **label >= 1.0) {
        found += 1.0;
        sum += found / (rank as f64 + 1.0);
    }
    sum / found
}

/// The rank of the first relevant document, from 0.
fn first_relevant(labels: &[f64]) -> Option<usize> {
    labels.iter().position(|label| *label >= 1.0)
}

fn expected_reciprocal_rank(labels: &[f64]) -> f64 {
    let (mut reach, mut sum) = (1.0, 0.0);
    for (rank, label) in labels.iter().enumerate() {
        // The probability that a user stops, for the default largest grade 4: 2^4 = 16.
        let stop = (label.exp2() - 1.0) / 16.0;
        sum += reach * stop / (rank as f64 + 1.0);
        reach *= 1.0 - stop;
    }
    sum
}

/// All orders of n documents.
fn permutations(n: usize) -> Vec<Vec<usize>> {
    let mut prefixes = vec![Vec::new()];
    for _ in 0..n {
        let extensions = |prefix: &Vec<usize>| {
            let prefix = prefix.clone();
            let rest: Vec<usize> = (0..n).filter(|next| !prefix.contains(next)).collect();
            rest.into_iter().map(move |next| [&prefix[..], &[next]].concat())
        };
        prefixes = prefixes.iter().flat_map(extensions).collect();
    }
    prefixes
}

/// The probability that noise puts the documents into this order.
fn probability(order: &[usize], scores: &[f64], noise: f64) -> f64 {
    // The noise is beyond 30 times its scale with a probability below 1e-12.
    let step = 0.02 * noise;
    let lowest = scores.iter().copied().fold(f64::INFINITY, f64::min) - 30.0 * noise;
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max) + 30.0 * noise;
    let points = ((highest - lowest) / step) as usize;
    // For each grid point, the probability that the documents visited so far are in this order and
    // have scores below the point.
    let mut below = vec![1.0; points];
    for &document in order.iter().rev() {
        let density = |point: usize| {
            let score = lowest + point as f64 * step;
            let rho = 1.0 / (1.0 + ((score - scores[document]) / noise).exp());
            rho * (1.0 - rho) / noise
        };
        // The integral up to each point, by the trapezoidal rule.
        let (mut sum, mut last) = (0.0, 0.0);
        for (point, below) in below.iter_mut().enumerate() {
            let here = density(point) * *below;
            sum += 0.5 * (last + here) * step;
            last = here;
            *below = sum;
        }
    }
    below[points - 1]
}

/// Exact expectation of gradient and hessian of each document.
fn expected_derivatives(
    value: MetricValue,
    labels: &[f64],
    scores: &[f64],
    noise: f64,
) -> (Vec<f64>, Vec<f64>) {
    let n = labels.len();
    let (mut gradient, mut hessian) = (vec![0.0; n], vec![0.0; n]);
    for order in permutations(n) {
        let probability = probability(&order, scores, noise);
        let ranked: Vec<f64> = order.iter().map(|&document| labels[document]).collect();
        for rank in (0..n - 1).filter(|rank| ranked[*rank] != ranked[rank + 1]) {
            let mut swapped = ranked.clone();
            swapped.swap(rank, rank + 1);
            let weight = probability * (value(&ranked) - value(&swapped)).abs();
            let (a, b) = (order[rank], order[rank + 1]);
            let (better, worse) = if labels[a] > labels[b] { (a, b) } else { (b, a) };
            let rho = 1.0 / (1.0 + (scores[better] - scores[worse]).exp());
            gradient[better] -= weight * rho;
            gradient[worse] += weight * rho;
            hessian[better] += weight * rho * (1.0 - rho);
            hessian[worse] += weight * rho * (1.0 - rho);
        }
    }
    (gradient, hessian)
}

/// The mean of gradient and hessian over 20,000 drawn orders: 20 seeds of 1000 samples each.
fn mean_of_draws(metric: &str, noise: f64, labels: &[f64], scores: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let text = format!("yeti(metric={metric}, samples=1000, noise={noise})");
    let yeti = parse_objective(&Spec::parse(&text).unwrap()).unwrap();
    let mut sums = (vec![0.0; labels.len()], vec![0.0; labels.len()]);
    for seed in 0..20 {
        let query = QueryView { seed, ..QueryView::new(labels, scores) };
        let (gradient, hessian) = derivatives(&*yeti, &query).unwrap();
        for row in 0..labels.len() {
            sums.0[row] += f64::from(gradient[row]) / 20.0;
            sums.1[row] += f64::from(hessian[row]) / 20.0;
        }
    }
    sums
}

#[test]
fn the_probabilities_of_all_orders_add_up_to_1() {
    let scores = [0.0, 0.8, -0.5, 0.3];
    let all: Vec<f64> =
        permutations(4).iter().map(|order| probability(order, &scores, 0.7)).collect();
    assert_eq!(all.len(), 24);
    assert!((all.iter().sum::<f64>() - 1.0).abs() < 1e-4, "{all:?}");
    // Two equal scores: either order.
    assert!((probability(&[0, 1], &[0.4, 0.4], 1.0) - 0.5).abs() < 1e-4);
}

/// Also with the documents in reverse order: the draws differ, the expectation does not.
#[test]
fn the_mean_over_draws_is_the_exact_expectation() {
    let lists: [(&[f64], &[f64]); 3] = [
        (&[2.0, 0.0, 0.0], &[0.0, 0.8, -0.5]),
        (&[2.0, 0.0, 1.0, 0.0], &[-0.3, 0.6, 0.1, -0.9]),
        (&[0.0, 1.0, 0.0, 1.0], &[0.2, 0.2, 0.2, 0.2]),
    ];
    for (labels, scores) in lists {
        let reversed = |values: &[f64]| values.iter().rev().copied().collect::<Vec<_>>();
        for (metric, value) in METRICS {
            for noise in [1.0, 0.4] {
                let (gradient, hessian) = expected_derivatives(value, labels, scores, noise);
                let largest = gradient.iter().fold(0.0_f64, |most, g| most.max(g.abs()));
                assert!(largest > 1e-3, "{metric}");
                let found = mean_of_draws(metric, noise, labels, scores);
                let of_reversed =
                    mean_of_draws(metric, noise, &reversed(labels), &reversed(scores));
                let of_reversed = (reversed(&of_reversed.0), reversed(&of_reversed.1));
                for (mean_gradient, mean_hessian) in [found, of_reversed] {
                    let gradients = mean_gradient.iter().zip(&gradient);
                    for (found, exact) in gradients.chain(mean_hessian.iter().zip(&hessian)) {
                        let difference = (found - exact).abs();
                        assert!(difference < 0.06 * largest, "{metric}: {found} {exact}");
                    }
                }
            }
        }
    }
}
