//! The pairwise objectives compared with their reference implementation, and edge cases.

use proptest::prelude::*;
use rankwright_eval::MetricSpec;
use rankwright_spec::Spec;

use super::reference::reference;
use super::*;
use crate::objective::tests::derivatives as try_derivatives;
use crate::objective::{DocumentPair, parse_objective};

const METRICS: &[&str] = &[
    "ndcg@5",
    "ndcg",
    "ndcg(gain=linear)@3",
    "dcg@4",
    "dcg(gain=linear, discount=zipf)",
    "ap",
    "ap@5",
    "err(max=10)",
    "err(max=10)@4",
    "rbp",
    "rbp(max=10)@6",
    "rr",
    "rr@3",
    "p@4",
    "recall@3",
    "success@2",
    "gmap",
];

fn derivatives(objective: &dyn Objective, query: &QueryView<'_>) -> (Vec<f32>, Vec<f32>) {
    try_derivatives(objective, query).unwrap()
}

/// The configuration for a metric.
fn lambda(metric: &str) -> LambdaConfig {
    LambdaConfig::for_metric(MetricSpec::parse(metric).unwrap())
}

/// Every metric with weights by its change under swaps, and some metrics with the weights of
/// LambdaLoss (`Loss2`, `Loss2PlusPlus`) and LambdaGap (`Gap`), with their cut-off as written
/// (`Hard`; by default it is left out) and with pairs of promoted documents (`Coherent`).
fn variants() -> Vec<LambdaConfig> {
    let mut all: Vec<LambdaConfig> = METRICS.iter().map(|metric| lambda(metric)).collect();
    let (scheme, pairs) = (WeightScheme::Loss2PlusPlus(10.0), PairChoice::Coherent);
    all.extend([
        LambdaConfig { scheme: WeightScheme::Loss2, ..lambda("ndcg@5") },
        LambdaConfig { scheme, ..lambda("ndcg") },
        LambdaConfig { scheme, cut: CutoffMode::Hard, ..lambda("dcg@4") },
        LambdaConfig { scheme: WeightScheme::Gap, ..lambda("p@2") },
        LambdaConfig { pairs, truncation: Some(2), ..lambda("ndcg@5") },
        LambdaConfig { pairs, truncation: Some(1), ..lambda("ap") },
        LambdaConfig { pairs, scheme, truncation: Some(2), ..lambda("ndcg") },
    ]);
    all
}

fn largest_size(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m, x| m.max(x.abs()))
}

/// Checks that each value differs from the expected one by at most 1e-5 of the largest expected
/// size, or of `min_size` if that is larger.
fn close(found: &[f32], expected: &[f64], min_size: f64) -> Result<(), TestCaseError> {
    let size = largest_size(expected).max(min_size);
    for (f, e) in found.iter().zip(expected) {
        prop_assert!((f64::from(*f) - e).abs() <= 1e-5 * size + 1e-30, "{found:?}\n{expected:?}");
    }
    Ok(())
}

fn label() -> impl Strategy<Value = f64> {
    prop_oneof![4 => (0_i32..5).prop_map(f64::from), 1 => -2.0..4.5_f64, 1 => Just(-1.0)]
}

prop_compose! {
    // Labels, scores and weights (empty for half of the queries) of a query's documents.
    fn any_query()(documents in prop::collection::vec((label(), -1.0..1.0_f64, 0.0..3.0_f32), 0..90),
        scale in prop_oneof![Just(0.0), Just(1e-9), Just(0.1), Just(3.0), Just(30.0), Just(300.0)],
        shift in prop_oneof![Just(0.0), -50.0..50.0_f64],
        irrelevant in prop::bool::weighted(0.05),
        weighted in any::<bool>(),
    ) -> (Vec<f64>, Vec<f64>, Vec<f32>) {
        let labels = documents.iter().map(|d| if irrelevant { 0.0 } else { d.0 }).collect();
        // Every fourth score is rounded, which creates equal scores.
        let round = |s: f64| if s.to_bits().is_multiple_of(4) { (s * 4.0).round() / 4.0 } else { s };
        let scores = documents.iter().map(|d| round(d.1) * scale + shift).collect();
        let weights = documents.iter().map(|d| d.2).filter(|_| weighted).collect();
        (labels, scores, weights)
    }
}

prop_compose! {
    fn any_params()(metric in prop::option::weighted(0.8, prop::sample::select(METRICS)),
        sigma in prop_oneof![Just(1.0), 0.3..2.5_f64],
        truncation in prop_oneof![Just(None), (1..100_usize).prop_map(Some), Just(Some(usize::MAX))],
        ties in any::<bool>(), norm_gap in any::<bool>(), norm_query in any::<bool>(),
        hard in any::<bool>(), coherent in any::<bool>(), scheme_number in 0..3_usize,
        mu in 0.0..20.0_f64,
    ) -> LambdaConfig {
        let pairs = if coherent { PairChoice::Coherent } else { PairChoice::Top };
        let params = LambdaConfig { sigma, truncation, norm_gap, norm_query, pairs,
            cut: if hard { CutoffMode::Hard } else { CutoffMode::Soft }, ..LambdaConfig::default() };
        match metric {
            Some(m) => {
                let scheme = match scheme_number {
                    1 if m.contains("dcg") => WeightScheme::Loss2,
                    2 if m.contains("dcg") => WeightScheme::Loss2PlusPlus(mu),
                    1 if m.starts_with("p@") => WeightScheme::Gap,
                    _ => WeightScheme::Swap,
                };
                LambdaConfig { pair_weight: lambda(m).pair_weight, scheme, ..params }
            }
            None if ties => LambdaConfig { ties: TiedLabels::Half, ..params },
            None => params,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn the_kernel_equals_the_reference(
        (labels, scores, weights) in any_query(), params in any_params(), seed in any::<u64>(),
    ) {
        let query =
            QueryView { weights: &weights, seed, query: 3, ..QueryView::new(&labels, &scores) };
        let objective = params.clone().check().unwrap();
        let (gradient, hessian) = derivatives(&objective, &query);
        let (slow_gradient, slow_hessian) = reference(&params, &query);
        // A pair of equal labels counts as half a preference each way, and the two halves nearly
        // cancel; the tolerance is relative to the halves, which have the size of the hessian. If
        // all pairs are such pairs, the sum of lambdas that is in the norm cancels too, and makes its
        // error several times larger.
        let halves = match (objective.counts_ties(), params.norm_query) {
            (false, _) => 0.0,
            (true, false) => largest_size(&slow_hessian),
            (true, true) => 10.0 * largest_size(&slow_hessian),
        };
        close(&gradient, &slow_gradient, halves)?;
        close(&hessian, &slow_hessian, halves)?;
        let size = largest_size(&slow_gradient).max(halves);
        let sum: f64 = gradient.iter().map(|g| f64::from(*g)).sum();
        prop_assert!(sum.abs() <= 1e-5 * size.max(1e-30), "{sum}");
        prop_assert!(hessian.iter().all(|h| *h >= 0.0));

        let mut portable = params.clone().check().unwrap();
        portable.set_simd(Simd::Portable);
        prop_assert_eq!(derivatives(&portable, &query), (gradient, hessian.clone()));
        pair_hessians_add_up(&objective, &query, &slow_hessian, halves)?;
        pair_lambdas_add_up(&objective, &query, &slow_gradient, halves)?;
    }
}

fn pair_hessians_add_up(
    objective: &Lambda,
    query: &QueryView<'_>,
    hessian: &[f64],
    min_size: f64,
) -> Result<(), TestCaseError> {
    let mut sums = vec![0.0; hessian.len()];
    let visited =
        objective.pair_hessians(query, &mut ObjectiveBuffers::default(), &mut |i, j, h| {
            sums[i] += h;
            sums[j] += h;
        });
    prop_assert!(visited.unwrap());
    close(&sums.iter().map(|s| *s as f32).collect::<Vec<_>>(), hessian, min_size)
}

fn pair_lambdas_add_up(
    objective: &Lambda,
    query: &QueryView<'_>,
    gradient: &[f64],
    min_size: f64,
) -> Result<(), TestCaseError> {
    let mut sums = vec![0.0; gradient.len()];
    let order = query.order().unwrap();
    let mut ranks_agree = true;
    let visited = objective.pair_lambdas(query, &mut ObjectiveBuffers::default(), &mut |pair| {
        sums[pair.pushed_up.document] -= pair.size;
        sums[pair.pushed_down.document] += pair.size;
        for RankedDocument { document, rank } in [pair.pushed_up, pair.pushed_down] {
            ranks_agree &= order[rank] as usize == document;
        }
    });
    prop_assert!(visited.unwrap() && ranks_agree);
    close(&sums.iter().map(|s| *s as f32).collect::<Vec<_>>(), gradient, min_size)
}

/// Derivatives that LightGBM 4.7 gave for this query (lambdarank, truncation level 6), derived from
/// trees that have one document alone in a leaf: row, gradient and hessian. LightGBM's logistic
/// function is a table, hence the tolerance.
#[test]
fn lambdas_are_those_of_lightgbm() {
    let labels = [3., 4., 0., 4., 2., 2., 3., 1., 4., 0., 1., 1., 2., 2., 0., 0.];
    let scores = [
        0.75, 1.63, 0.27, -1.23, -0.96, 1.6, 0.2, -1.73, -0.08, -1.16, -0.63, -0.49, -0.71, 0.55,
        -0.06, -0.59,
    ];
    let normed = [
        (0, 0.0050608, 0.0486083),
        (1, -0.9070324, 0.4961405),
        (2, 0.104951, 0.0498619),
        (5, 0.8484289, 0.4137512),
        (6, -0.0259028, 0.038605),
        (13, 0.0647838, 0.0403063),
    ];
    let unnormed = [
        (0, 0.0337014, 0.08249),
        (1, -0.3858023, 0.3047704),
        (3, -0.2655892, 0.0299309),
        (8, -0.1531365, 0.0378391),
        (10, 0.0367493, 0.0338857),
        (15, 0.0439704, 0.0375949),
    ];
    for (norm, expected) in [(true, normed), (false, unnormed)] {
        let params = LambdaConfig {
            truncation: Some(6),
            norm_gap: norm,
            norm_query: norm,
            ..lambda("ndcg@3")
        };
        let (gradient, hessian) =
            derivatives(&params.check().unwrap(), &QueryView::new(&labels, &scores));
        for (row, g, h) in expected {
            assert!((f64::from(gradient[row]) - g).abs() < 1e-5, "{row}: {} {g}", gradient[row]);
            assert!((f64::from(hessian[row]) - h).abs() < 1e-5, "{row}: {} {h}", hessian[row]);
        }
    }
}

/// The loss has order, weights and both norms fixed at the current scores.
#[test]
fn lambdas_are_the_gradient_of_the_loss_with_frozen_weights() {
    let labels = [2.0, 0.0, 1.0, 4.0, 0.0, 3.0, 1.0];
    let scores = [0.3, 0.9, -0.2, 0.1, 0.5, -0.7, 0.0];
    let query = QueryView::new(&labels, &scores);
    for params in variants() {
        let config = format!("{params:?}");
        let objective = LambdaConfig { sigma: 1.3, ..params }.check().unwrap();
        let mut buffers = LambdaBuffers::default();
        let norm = objective.sums(&query, &mut buffers, &mut []).unwrap().norm;
        let swap = objective
            .prepare_query(&query, &mut buffers.ranked, &mut buffers.swaps, &mut [])
            .unwrap();
        let (ranked, truncation) = (&buffers.ranked, objective.truncation);
        let mut frozen = Vec::new();
        let pairs = QueryPairs { ranked, swap, truncation, ties: false };
        let pair_buffers = (&mut buffers.row, &mut buffers.ranks);
        pairs.for_each(&query, pair_buffers, |pair| frozen.push(*pair)).unwrap();
        let logistic = Logistic { sigma: 1.3, divide_by_gap: false };
        let loss = |scores: &[f64]| -> f64 {
            let each = frozen.iter().map(|pair| {
                let gap = 0.01 + (ranked.scores[pair.i] - ranked.scores[pair.j]).abs();
                let (i, j) = (ranked.order[pair.i] as usize, ranked.order[pair.j] as usize);
                norm / gap * logistic.loss(pair, scores[i], scores[j])
            });
            each.sum()
        };
        let (gradient, _) = derivatives(&objective, &query);
        assert!(gradient.iter().any(|g| *g != 0.0), "{config}");
        for row in 0..labels.len() {
            let moved = |by: f64| {
                let mut scores = scores;
                scores[row] += by;
                loss(&scores)
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((f64::from(gradient[row]) - slope).abs() < 1e-5 * slope.abs().max(1.0));
        }
    }
}

fn is_zero((gradient, hessian): (Vec<f32>, Vec<f32>)) -> bool {
    gradient.iter().chain(&hessian).all(|x| *x == 0.0)
}

#[test]
fn equal_labels_and_queries_without_a_relevant_document_give_zeros() {
    let scores: Vec<f64> = (0..20).map(|i| (f64::from(i) * 0.7).sin()).collect();
    for params in variants() {
        let config = format!("{params:?}");
        let objective = params.check().unwrap();
        for label in [-3.0, 0.0, 0.25, 2.0] {
            assert!(is_zero(derivatives(&objective, &QueryView::new(&[label; 20], &scores))));
        }
        let irrelevant: Vec<f64> = (0..20).map(|i| -f64::from(i % 3)).collect();
        let query = QueryView::new(&irrelevant, &scores);
        assert!(is_zero(derivatives(&objective, &query)), "{config}");
    }
    let default = LambdaConfig::default().check().unwrap();
    assert!(is_zero(derivatives(&default, &QueryView::new(&[2.0; 20], &scores))));
    // A pair of equal labels pulls the scores together.
    let half = LambdaConfig { ties: TiedLabels::Half, ..LambdaConfig::default() }.check().unwrap();
    let (gradient, _) = derivatives(&half, &QueryView::new(&[1.0; 2], &[1.0, 0.0]));
    let expected = 0.5 - 1.0 / (1.0 + 1_f64.exp());
    assert!((f64::from(gradient[0]) - expected).abs() < 1e-6 && gradient[1] == -gradient[0]);
}

/// The cache holds the order of the previous call. Here that is the order of another objective or
/// of other scores.
#[test]
fn a_cached_order_and_used_buffers_do_not_change_the_derivatives() {
    let labels: Vec<f64> = (0..50).map(|i| f64::from(i % 5)).collect();
    let (mut buffers, mut cache) = (ObjectiveBuffers::default(), vec![0; 50]);
    for round in 0..6_u64 {
        let scores: Vec<f64> =
            (0..50).map(|i| (i as f64 * 0.1 + round as f64 * 0.03).sin()).collect();
        for params in variants() {
            let config = format!("{params:?}");
            let objective = params.check().unwrap();
            let query = QueryView { seed: round, ..QueryView::new(&labels, &scores) };
            let (mut gradient, mut hessian) = (vec![0.0; 50], vec![0.0; 50]);
            let mut out =
                Derivatives { gradient: &mut gradient, hessian: &mut hessian, cache: &mut cache };
            objective.derivatives(&query, &mut buffers, &mut out).unwrap();
            assert_eq!((gradient, hessian), derivatives(&objective, &query), "{config} {round}");
        }
    }
}

/// With all scores equal the order is random: the position of the relevant documents in the file
/// must not matter.
#[test]
fn a_file_sorted_by_label_does_not_leak_labels() {
    let sorted: Vec<f64> = (0..40).map(|i| f64::from(i < 10)).collect();
    let reversed: Vec<f64> = sorted.iter().rev().copied().collect();
    let objective = lambda("ndcg@5").check().unwrap();
    let mean_lambda_sum = |labels: &[f64]| {
        let lambda_sum = |query: usize| {
            let view = QueryView { query, seed: 5, ..QueryView::new(labels, &[0.0; 40]) };
            let (gradient, _) = derivatives(&objective, &view);
            gradient.iter().map(|g| f64::from(g.abs())).sum::<f64>()
        };
        (0..400).map(lambda_sum).sum::<f64>() / 400.0
    };
    let (a, b) = (mean_lambda_sum(&sorted), mean_lambda_sum(&reversed));
    assert!((a - b).abs() < 0.05 * a, "{a} {b}");
}

/// The preferences that follow from labels.
fn all_preferences(labels: &[f64]) -> Vec<DocumentPair> {
    let n = labels.len() as u32;
    let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    pairs
        .filter(|(i, j)| labels[*i as usize] > labels[*j as usize])
        .map(|(better, worse)| DocumentPair { better, worse, weight: 1.0, equal: false })
        .collect()
}

#[test]
fn preferences_that_say_what_labels_say_give_the_same_lambdas() {
    let labels = [2.0, 0.0, 1.0, 4.0, 0.0, 3.0, 1.0];
    let scores = [0.3, 0.9, -0.2, 0.1, 0.5, -0.7, 0.0];
    let pairs = all_preferences(&labels);
    let all = METRICS.iter().map(|m| lambda(m)).chain([LambdaConfig::default()]);
    for params in all {
        let objective = params.clone().check().unwrap();
        let query = QueryView::new(&labels, &scores);
        let (gradient, hessian) = derivatives(&objective, &query);
        let with_pairs = QueryView { pairs: Some(&pairs), ..query };
        let (pair_gradient, pair_hessian) = derivatives(&objective, &with_pairs);
        for (a, b) in gradient.iter().chain(&hessian).zip(pair_gradient.iter().chain(&pair_hessian))
        {
            assert!((a - b).abs() < 1e-5, "{}: {a} {b}", params.pair_weight);
        }
    }
}

#[test]
fn preferences_have_weights_and_equal_pairs_pull_the_scores_together() {
    let objective = LambdaConfig::default().check().unwrap();
    let pair = |equal| DocumentPair { better: 0, worse: 1, weight: 3.0, equal };
    let gradient_of_first = |equal| {
        let pairs = [pair(equal)];
        let view = QueryView { pairs: Some(&pairs), ..QueryView::new(&[], &[1.0, 0.0]) };
        f64::from(derivatives(&objective, &view).0[0])
    };
    let (preference, equal_pair) = (gradient_of_first(false), gradient_of_first(true));
    // The pair has score difference 1 and weight 3.
    let rho = 1.0 / (1.0 + 1_f64.exp());
    assert!((preference + 3.0 * rho).abs() < 1e-6);
    assert!((equal_pair - 3.0 * (0.5 - rho)).abs() < 1e-6);
    let loss = |equal| {
        let pairs = [pair(equal)];
        let view = QueryView { pairs: Some(&pairs), ..QueryView::new(&[], &[1.0, 0.0]) };
        objective.loss(&view, &mut ObjectiveBuffers::default()).unwrap().unwrap()
    };
    let (wins, loses) = ((1.0 + (-1_f64).exp()).ln(), (1.0 + 1_f64.exp()).ln());
    assert!((loss(false) - 3.0 * wins).abs() < 1e-12);
    assert!((loss(true) - 1.5 * (wins + loses)).abs() < 1e-12);
}

#[test]
fn preferences_of_unknown_documents_are_rejected() {
    let objective = LambdaConfig::default().check().unwrap();
    for (better, worse) in [(0, 2), (5, 1), (1, 1)] {
        let pairs = [DocumentPair { better, worse, weight: 1.0, equal: false }];
        let view = QueryView { pairs: Some(&pairs), ..QueryView::new(&[], &[0.0, 0.0]) };
        let message = try_derivatives(&objective, &view).unwrap_err().to_string();
        assert!(message.contains("a query that has 2 documents"), "{message}");
    }
    let pairs = [DocumentPair { better: 0, worse: 1, weight: 1.0, equal: false }];
    let mut ndcg = lambda("ndcg").check().unwrap();
    let unlabelled = QueryView { pairs: Some(&pairs), ..QueryView::new(&[], &[0.0, 0.0]) };
    assert!(try_derivatives(&ndcg, &unlabelled).is_err());
    // All labels of the data equal: treated like missing labels.
    ndcg.prepare(&TrainingDocuments { labels: &[0.0, 0.0], weights: &[], scores: &[] }).unwrap();
    let zeros = QueryView { pairs: Some(&pairs), ..QueryView::new(&[0.0, 0.0], &[0.0, 0.0]) };
    let message = try_derivatives(&ndcg, &zeros).unwrap_err().to_string();
    assert!(message.contains("need labels"), "{message}");
}

#[test]
fn labels_beyond_the_grades_of_a_metric_are_rejected_before_training() {
    for (metric, labels, word) in
        [("err", [5.0, 0.0], "parameter max"), ("ndcg", [1e30, 0.0], "gain=linear")]
    {
        let mut objective = lambda(metric).check().unwrap();
        let all = TrainingDocuments { labels: &labels, weights: &[], scores: &[] };
        let help = objective.prepare(&all).unwrap_err().help().unwrap();
        assert!(help.contains(word), "{help}");
        assert!(try_derivatives(&objective, &QueryView::new(&labels, &[0.0, 0.0])).is_err());
    }
    // Gains of 1e30 are within the range of 32 bits, gains of 1e300 are not, unless divided by the
    // ideal DCG.
    let query = |labels| QueryView::new(labels, &[0.0, 0.1]);
    let dcg = LambdaConfig { norm_query: false, ..lambda("dcg(gain=linear)") }.check().unwrap();
    assert!(derivatives(&dcg, &query(&[1e30, 0.0])).0[0] < -1e29);
    let message = try_derivatives(&dcg, &query(&[1e300, 0.0])).unwrap_err().to_string();
    assert!(message.contains("32-bit"), "{message}");
    let ndcg = lambda("ndcg(gain=linear)").check().unwrap();
    assert!(derivatives(&ndcg, &query(&[1e300, 0.0])).0[0] < 0.0);
}

/// Random labels and scores.
fn random_query(documents: usize) -> (Vec<f64>, Vec<f64>) {
    let mut random = rankwright_data::Random::new(4, 4);
    let labels = (0..documents).map(|_| random.below(4) as f64).collect();
    let scores = (0..documents).map(|_| random.normal()).collect();
    (labels, scores)
}

#[test]
fn a_query_of_a_million_documents_has_finite_derivatives_that_sum_to_zero() {
    let (labels, scores) = random_query(1_000_000);
    for params in [lambda("ndcg@10"), lambda("ap@10")] {
        let objective = params.check().unwrap();
        let (gradient, hessian) = derivatives(&objective, &QueryView::new(&labels, &scores));
        let largest = gradient.iter().fold(0.0_f64, |m, g| m.max(f64::from(g.abs())));
        let sum: f64 = gradient.iter().map(|g| f64::from(*g)).sum();
        assert!(largest > 0.0 && sum.abs() < 1e-5 * largest, "{sum} {largest}");
        assert!(hessian.iter().all(|h| h.is_finite() && *h >= 0.0));
    }
}

#[test]
fn sampled_pairs_keep_the_expectation_and_the_sum() {
    let documents = 20_500;
    let (labels, scores) = random_query(documents);
    let objective = LambdaConfig::default().check().unwrap();
    assert!(is_sampled(documents, objective.truncation));
    let seeds = 12;
    let mut mean = vec![0.0; documents];
    for seed in 0..seeds {
        let query = QueryView { seed, ..QueryView::new(&labels, &scores) };
        let (gradient, _) = derivatives(&objective, &query);
        let sum: f64 = gradient.iter().map(|g| f64::from(*g)).sum();
        let sizes: f64 = gradient.iter().map(|g| f64::from(g.abs())).sum();
        assert!(sum.abs() < 1e-7 * sizes, "{sum} {sizes}");
        mean.iter_mut().zip(&gradient).for_each(|(m, g)| *m += f64::from(*g) / seeds as f64);
    }
    // The gradient of a document from all of its pairs.
    let exact = |i: usize| -> f64 {
        let others = (0..documents).filter(|j| labels[*j] != labels[i]);
        let sign = |j: usize| if labels[i] > labels[j] { 1.0 } else { -1.0 };
        others.map(|j| -sign(j) / (1.0 + (sign(j) * (scores[i] - scores[j])).exp())).sum()
    };
    for i in (0..documents).step_by(1000) {
        let exact = exact(i);
        assert!((mean[i] - exact).abs() < 0.06 * documents as f64 / 4.0, "{} {exact}", mean[i]);
    }
    // The hessians of the sampled pairs add up to those of the documents.
    let query = QueryView::new(&labels, &scores);
    let (_, hessian) = derivatives(&objective, &query);
    let mut total = 0.0;
    let visit = &mut |_, _, h: f64| total += 2.0 * h;
    objective.pair_hessians(&query, &mut ObjectiveBuffers::default(), visit).unwrap();
    let sum: f64 = hessian.iter().map(|h| f64::from(*h)).sum();
    assert!((total - sum).abs() < 1e-4 * sum, "{total} {sum}");
}

/// Sampled pairs cover all ranks, so no document needs to be promoted, and no pair may be lost.
#[test]
fn coherent_pairs_change_nothing_where_pairs_are_sampled() {
    let (labels, scores) = random_query(210_000);
    let derivatives_with = |pairs: PairChoice| {
        let params = LambdaConfig { pairs, truncation: Some(2000), ..lambda("ndcg@10") };
        let objective = params.check().unwrap();
        assert!(objective.samples_pairs(labels.len()));
        derivatives(&objective, &QueryView::new(&labels, &scores))
    };
    assert!(derivatives_with(PairChoice::Coherent) == derivatives_with(PairChoice::Top));
}

#[test]
fn there_is_a_loss_for_weight_one_without_normalisation_only() {
    let query = QueryView::new(&[1.0, 0.0], &[0.0, 0.0]);
    let loss = |params: LambdaConfig| {
        params.check().unwrap().loss(&query, &mut ObjectiveBuffers::default()).unwrap()
    };
    assert!((loss(LambdaConfig::default()).unwrap() - 2_f64.ln()).abs() < 1e-12);
    assert_eq!(loss(lambda("ndcg")), None);
    assert_eq!(loss(LambdaConfig { norm_gap: true, ..LambdaConfig::default() }), None);
}

/// The preference pairs of a soft target: documents 0 and 1, of which the first is better with
/// probability `p`.
fn soft_pairs(p: f32) -> [DocumentPair; 2] {
    let pair = |better, worse, weight| DocumentPair { better, worse, weight, equal: false };
    [pair(0, 1, p), pair(1, 0, 1.0 - p)]
}

/// With the target P, the loss of a pair is -P log p - (1 - P) log(1 - p), and its derivative is
/// sigma (p - P), where p is the probability that the scores give.
#[test]
fn the_gradient_of_soft_targets_agrees_with_finite_differences_of_the_cross_entropy() {
    let objective = parse_objective(&Spec::parse("pair-logistic(sigma=1.5)").unwrap()).unwrap();
    for target in [0.1_f32, 0.25, 0.5, 0.8] {
        let pairs = soft_pairs(target);
        for difference in [-2.0_f64, -0.3, 0.0, 1.1] {
            let loss = |first: f64| {
                let scores = [first, 0.0];
                let view = QueryView { pairs: Some(&pairs), ..QueryView::new(&[], &scores) };
                objective.loss(&view, &mut ObjectiveBuffers::default()).unwrap().unwrap()
            };
            let p = 1.0 / (1.0 + (-1.5 * difference).exp());
            let target = f64::from(target);
            let cross_entropy = -target * p.ln() - (1.0 - target) * (1.0 - p).ln();
            assert!((loss(difference) - cross_entropy).abs() < 1e-6, "{target} {difference}");
            let slope = (loss(difference + 1e-4) - loss(difference - 1e-4)) / 2e-4;
            let scores = [difference, 0.0];
            let view = QueryView { pairs: Some(&pairs), ..QueryView::new(&[], &scores) };
            let gradient = try_derivatives(&*objective, &view).unwrap().0;
            assert!((f64::from(gradient[0]) - slope).abs() < 1e-4, "{target} {difference}");
            assert!((f64::from(gradient[0]) - 1.5 * (p - target)).abs() < 1e-5);
        }
    }
}

/// With a metric, the lambda of a soft target is that of the cross-entropy times the change of the
/// metric.
#[test]
fn lambdas_of_soft_targets_are_weighted_by_the_metric() {
    let objective =
        parse_objective(&Spec::parse("lambda(metric=ndcg, preset=burges)").unwrap()).unwrap();
    let (labels, scores) = ([1.0, 0.0], [0.4, 0.0]);
    // NDCG is 1, and 1 / log2(3) after the swap.
    let change = 1.0 - 1.0 / 3.0_f64.log2();
    let p = 1.0 / (1.0 + (-0.4_f64).exp());
    for target in [0.2_f32, 0.5, 0.9] {
        let pairs = soft_pairs(target);
        let view = QueryView { pairs: Some(&pairs), ..QueryView::new(&labels, &scores) };
        let gradient = try_derivatives(&*objective, &view).unwrap().0;
        let expected = change * (p - f64::from(target));
        assert!((f64::from(gradient[0]) - expected).abs() < 1e-5, "{gradient:?} {expected}");
    }
}
