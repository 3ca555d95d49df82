//! Tests that every change under a swap equals the difference of two full evaluations.

use crate::common::{falling, measure};
use proptest::prelude::*;
use rankwright_eval::{METRICS, MetricSpec, SourceKind};

/// Metrics that support swaps.
const METRICS_WITH_SWAPS: &[&str] = &[
    "dcg",
    "dcg(gain=linear, discount=zipf)@4",
    "ndcg",
    "ndcg@1",
    "ndcg@5",
    "ndcg(gain=0/1/3/10/10)@5",
    "ndcg(preset=letor4)@6",
    "ap",
    "ap@5",
    "ap(norm=min, rel=2)@4",
    "gmap",
    "err",
    "err@3",
    "err(max=10)@7",
    "rbp",
    "rbp(p=0.5)@5",
    "rbp(max=4)",
    "rr",
    "rr@4",
    "rr(rel=3)",
    "p@5",
    "p",
    "p(short=list)@8",
    "p(short=zero)@8",
    "recall@3",
    "success@2",
    "success",
    "goals(of=ndcg@10:1+p@5:0.3)",
    "ap:2+rr:0.5+err@3:1",
];

/// All labels in the ideal order, best first.
fn ideal_labels(labels: &[f64], unretrieved: &[f64]) -> Vec<f64> {
    let mut ideal = [labels, unretrieved].concat();
    ideal.sort_by(|a, b| b.total_cmp(a));
    ideal
}

/// The value of a metric, given the labels by rank and those of judged documents that are not in
/// the list; queries without a value count 0, as in training.
fn evaluate(spec: &str, labels: &[f64], unretrieved: &[f64]) -> f64 {
    let query = rankwright_eval::Candidates {
        scores: falling(labels.len()),
        labels: labels.to_vec(),
        unretrieved: unretrieved.to_vec(),
        returned: true,
        ..Default::default()
    };
    measure(spec).of_candidates(&query).unwrap().unwrap_or(0.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn every_change_of_a_row_equals_the_difference_of_two_evaluations(
        labels in prop::collection::vec((-1_i32..5).prop_map(f64::from), 1..14),
        unretrieved in prop::collection::vec((0_i32..5).prop_map(f64::from), 0..3),
    ) {
        let n = labels.len();
        for spec in METRICS_WITH_SWAPS {
            let mut swap = measure(spec).swap().unwrap();
            swap.prepare(&labels, &ideal_labels(&labels, &unretrieved)).unwrap();
            let before = evaluate(spec, &labels, &unretrieved);
            for i in 0..n {
                let mut row = vec![f64::NAN; n];
                swap.swap_deltas(i, &mut row);
                // Entries that must not be written keep a number that no change has.
                let untouched = 7.0;
                let mut part = vec![untouched; n];
                swap.swap_deltas_from(i, i + 1, &mut part);
                for j in i + 1..n {
                    let mut short = vec![untouched; j + 1];
                    swap.swap_deltas_from(i, j, &mut short);
                    prop_assert_eq!(short[j], row[j], "{} cut short", spec);
                    if let Some(f) = swap.factors() {
                        let product =
                            (f.gains[i] - f.gains[j]) * (f.discounts[j] - f.discounts[i]);
                        prop_assert_eq!(product, row[j], "{} by factors", spec);
                    }
                }
                for j in 0..n {
                    let mut swapped = labels.clone();
                    swapped.swap(i, j);
                    let delta = evaluate(spec, &swapped, &unretrieved) - before;
                    prop_assert!((row[j] - delta).abs() < 1e-10,
                        "{spec} {labels:?} {i} {j}: {} instead of {delta}", row[j]);
                    prop_assert_eq!(part[j], if j > i { row[j] } else { untouched });
                }
            }
        }
    }
}

#[test]
fn a_swap_delta_can_be_used_for_query_after_query() {
    for spec in METRICS_WITH_SWAPS {
        let mut reused = measure(spec).swap().unwrap();
        for labels in [&[4.0, 0.0, 2.0, 1.0, 0.0, 0.0][..], &[0.0, 1.0], &[0.0, 0.0], &[3.0], &[]] {
            let ideal = ideal_labels(labels, &[]);
            let mut fresh = measure(spec).swap().unwrap();
            fresh.prepare(labels, &ideal).unwrap();
            reused.prepare(labels, &ideal).unwrap();
            for i in 0..labels.len() {
                let (mut a, mut b) = (vec![0.0; labels.len()], vec![0.0; labels.len()]);
                fresh.swap_deltas(i, &mut a);
                reused.swap_deltas(i, &mut b);
                assert_eq!(a, b, "{spec} {labels:?}");
            }
        }
    }
}

#[test]
fn metrics_that_learners_can_optimise_have_swaps() {
    for name in ["dcg", "ndcg", "ap", "err", "rbp", "rr", "p", "recall", "success"] {
        assert!(METRICS.iter().any(|m| m.name == name));
        let measure = MetricSpec::parse(name).unwrap().resolve(SourceKind::Features).unwrap();
        assert!(measure.swap().is_some(), "{name}");
    }
    assert!(measure("kendall").swap().is_none());
}

#[test]
fn sums_of_gain_times_discount_have_factors_that_fit_the_last_query() {
    for spec in ["dcg@3", "ndcg@3", "rbp", "p@2", "recall@2"] {
        let mut swap = measure(spec).swap().unwrap();
        for labels in [&[2.0, 0.0, 1.0, 0.0][..], &[0.0, 1.0], &[]] {
            swap.prepare(labels, &ideal_labels(labels, &[])).unwrap();
            let factors = swap.factors().unwrap();
            assert_eq!(
                (factors.gains.len(), factors.discounts.len()),
                (labels.len(), labels.len())
            );
            assert!(factors.discounts.windows(2).all(|w| w[0] >= w[1]));
        }
    }
    assert!(measure("ap").swap().unwrap().factors().is_none());
}

#[test]
fn labels_above_the_maximum_are_an_error_of_prepare() {
    let mut err = measure("err").swap().unwrap();
    let message = err.prepare(&[5.0], &[5.0]).unwrap_err().to_string();
    assert!(message.contains("found label 5, but the scale ends at 4"), "{message}");
}
