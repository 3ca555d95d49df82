//! Properties of the objectives `lambda` and `yeti` with different metrics, pairs and weights:
//! lambdas of a query sum to 0, hessians are never below 0, a constant added to all scores changes
//! nothing, and for `lambda` neither does the order of the documents in the file.

use proptest::prelude::*;
use rankwright_spec::Spec;

use super::tests::derivatives;
use super::*;

/// Lambda objectives with different weights and pairs.
const LAMBDAS: &[&str] = &[
    "lambda(metric=ndcg@5)",
    "lambda(metric=ndcg@5, weight=loss2)",
    "lambda(metric=ndcg(gain=linear), weight=loss2, norm_gap=false, norm_query=false)",
    "lambda(metric=ndcg, weight=loss2++)",
    "lambda(metric=dcg@4, weight=loss2++, mu=0.5, cut=hard)",
    "lambda(metric=p@2, weight=gap)",
    "lambda(metric=p@3, weight=gap, truncation=5)",
    "lambda(metric=ndcg@3, pairs=coherent, truncation=2)",
    "lambda(metric=ap@2, pairs=coherent, norm_gap=false)",
    "lambda(metric=ndcg@2, weight=loss2++, pairs=coherent, truncation=3)",
    "lambda(metric=p@1, weight=gap, pairs=coherent, truncation=2)",
];

/// YetiLoss with every metric whose change under swaps is defined.
const YETIS: &[&str] = &[
    "yeti(metric=ndcg@5, samples=3)",
    "yeti(metric=dcg, samples=3, noise=0.1)",
    "yeti(metric=ap)",
    "yeti(metric=err(max=10)@4, samples=2)",
    "yeti(metric=rbp, samples=1)",
    "yeti(metric=rr, noise=3)",
    "yeti(metric=p@3)",
    "yeti(metric=recall@3)",
    "yeti(metric=success@2)",
];

/// The objective of a spec.
fn objective(text: &str) -> Box<dyn Objective> {
    parse_objective(&Spec::parse(text).unwrap()).unwrap()
}

/// Whether values differ by at most 4e-5 of the largest expected size.
fn close(found: &[f32], expected: &[f32]) -> bool {
    let largest = expected.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 4e-5 * largest + 1e-30)
}

prop_compose! {
    /// Labels, distinct scores that are multiples of 1/8, and weights or none.
    fn any_list()(
        documents in prop::collection::vec((0_i32..5, 0.0..3.0_f32), 0..14),
        ranks in Just((0..14).collect::<Vec<i32>>()).prop_shuffle(),
        weighted in any::<bool>(),
    ) -> (Vec<f64>, Vec<f64>, Vec<f32>) {
        let labels = documents.iter().map(|d| f64::from(d.0)).collect();
        let scores = documents.iter().zip(ranks).map(|(_, rank)| f64::from(rank) / 8.0).collect();
        let weights = documents.iter().map(|d| d.1).filter(|_| weighted).collect();
        (labels, scores, weights)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn lambdas_add_up_to_0_and_a_constant_on_all_scores_changes_nothing(
        (labels, scores, weights) in any_list(), seed in any::<u64>(), shift in -40_i32..40,
    ) {
        let moved: Vec<f64> = scores.iter().map(|score| score + f64::from(shift)).collect();
        for text in LAMBDAS.iter().chain(YETIS) {
            let objective = objective(text);
            let view = QueryView { weights: &weights, seed, ..QueryView::new(&labels, &scores) };
            let (gradient, hessian) = derivatives(&*objective, &view).unwrap();
            let sum: f64 = gradient.iter().map(|g| f64::from(*g)).sum();
            let size: f64 = gradient.iter().map(|g| f64::from(g.abs())).sum();
            prop_assert!(sum.abs() <= 1e-5 * size, "{text}: {sum} of {size}");
            prop_assert!(hessian.iter().all(|h| h.is_finite() && *h >= 0.0), "{text}");
            let moved = derivatives(&*objective, &QueryView { scores: &moved, ..view }).unwrap();
            prop_assert!(close(&moved.0, &gradient), "{text}: {moved:?} {gradient:?}");
            prop_assert!(close(&moved.1, &hessian), "{text}");
        }
    }

    #[test]
    fn lambdas_do_not_depend_on_the_order_of_documents(
        (labels, scores, weights) in any_list(), seed in any::<u64>(),
        order in Just((0..14_usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let order: Vec<usize> = order.into_iter().filter(|row| *row < labels.len()).collect();
        let (other_labels, other_scores): (Vec<f64>, Vec<f64>) =
            order.iter().map(|row| (labels[*row], scores[*row])).unzip();
        let other_weights: Vec<f32> =
            order.iter().filter_map(|row| weights.get(*row).copied()).collect();
        for text in LAMBDAS {
            let objective = objective(text);
            let view = QueryView { weights: &weights, seed, ..QueryView::new(&labels, &scores) };
            let (gradient, hessian) = derivatives(&*objective, &view).unwrap();
            let view = QueryView {
                weights: &other_weights, seed, ..QueryView::new(&other_labels, &other_scores)
            };
            let other = derivatives(&*objective, &view).unwrap();
            for (other_row, row) in order.iter().enumerate() {
                let found = (other.0[other_row], other.1[other_row]);
                prop_assert_eq!(found, (gradient[*row], hessian[*row]), "{}", text);
            }
        }
    }
}

#[test]
fn equal_labels_single_documents_and_empty_queries_give_zeros() {
    let scores = [0.3, -0.2, 0.9, 0.1, 0.0, -0.7];
    for text in LAMBDAS.iter().chain(YETIS) {
        let objective = objective(text);
        for label in [0.0, 1.0, 3.0] {
            for count in 0..=scores.len() {
                let labels = vec![label; count];
                let view = QueryView::new(&labels, &scores[..count]);
                let (gradient, hessian) = derivatives(&*objective, &view).unwrap();
                let all = gradient.iter().chain(&hessian);
                assert!(all.clone().all(|x| *x == 0.0), "{text}: {count} of label {label}");
                assert_eq!(gradient.len(), count);
            }
        }
        // A query with a nonzero gradient, so that the zeros above are not trivial.
        let labels = [0.0, 3.0, 0.0, 1.0, 0.0, 2.0];
        let (gradient, _) = derivatives(&*objective, &QueryView::new(&labels, &scores)).unwrap();
        // The pairs of yeti are drawn: the best document may have none.
        let is_pushed_up = gradient[1] < 0.0 || text.starts_with("yeti");
        assert!(is_pushed_up, "{text}: the best document is not pushed up");
        assert!(gradient.iter().any(|g| *g != 0.0), "{text}");
    }
}
