//! Tests of tie policies against brute force: the value under `ties=mean` is the mean over all
//! orders of tied documents and lies between those of worst and best; and NDCG lies between 0 and 1
//! under any convention.

use crate::common::{falling, measure};
use proptest::prelude::*;

/// Metrics that allow `ties=mean`, and whether higher values are better.
const WITH_MEAN_TIES: &[(&str, bool)] = &[
    ("dcg", true),
    ("dcg(gain=linear, discount=zipf)@3", true),
    ("ndcg", true),
    ("ndcg(discount=letor)@2", true),
    ("ap", true),
    ("ap@3", true),
    ("ap(norm=min)@2", true),
    ("rr", true),
    ("rr(rel=2)@2", true),
    ("p@1", true),
    ("p@4", true),
    ("recall@3", true),
    ("rbp(p=0.6)", true),
    ("rbp(p=0.9, max=3)@3", true),
    ("success@1", true),
    ("success(rel=2)@3", true),
    ("pair-accuracy", true),
    ("inversions", false),
];

/// The spec with a tie policy added.
fn with_ties(spec: &str, ties: &str) -> String {
    let mut parsed = rankwright_spec::Spec::parse(spec).unwrap();
    parsed.args.push(("ties".into(), ties.into()));
    parsed.to_string()
}

/// The labels by rank in every order of documents in which scores never rise.
fn orders(scores: &[f64], labels: &[f64]) -> Vec<Vec<f64>> {
    let mut rows: Vec<(f64, f64)> = scores.iter().copied().zip(labels.iter().copied()).collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut all = vec![Vec::new()];
    for group in rows.chunk_by(|a, b| a.0 == b.0) {
        let labels: Vec<f64> = group.iter().map(|r| r.1).collect();
        let mut next = Vec::new();
        for tail in permutations(&labels) {
            next.extend(all.iter().map(|head| [head.clone(), tail.clone()].concat()));
        }
        all = next;
    }
    all
}

fn permutations(items: &[f64]) -> Vec<Vec<f64>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for i in 0..items.len() {
        let mut rest = items.to_vec();
        let first = rest.remove(i);
        all.extend(permutations(&rest).into_iter().map(|p| [vec![first], p].concat()));
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn mean_is_the_mean_over_all_orders_and_lies_between_worst_and_best(
        rows in prop::collection::vec((0_u8..3, 0_u8..4), 1..7),
    ) {
        let scores: Vec<f64> = rows.iter().map(|r| f64::from(r.0)).collect();
        let labels: Vec<f64> = rows.iter().map(|r| f64::from(r.1)).collect();
        let orders = orders(&scores, &labels);
        for (spec, higher_is_better) in WITH_MEAN_TIES {
            let value_with = |ties: &str| {
                measure(&with_ties(spec, ties)).of(&scores, &labels).unwrap()
            };
            let Some(mean) = value_with("mean") else { continue };
            let without_ties = measure(spec);
            let scores_by_rank = falling(labels.len());
            let values = orders.iter().map(|order| {
                without_ties.of(&scores_by_rank, order).unwrap().unwrap()
            });
            let brute_force = values.sum::<f64>() / orders.len() as f64;
            prop_assert!((mean - brute_force).abs() < 1e-9, "{spec}: {mean} {brute_force}");
            let (worst, best) = (value_with("worst").unwrap(), value_with("best").unwrap());
            let (low, high) = if *higher_is_better { (worst, best) } else { (best, worst) };
            prop_assert!(low <= mean + 1e-9 && mean <= high + 1e-9, "{spec}: {low} {mean} {high}");
            let stable = value_with("stable").unwrap();
            prop_assert!(low <= stable + 1e-9 && stable <= high + 1e-9, "{spec}: {stable}");
        }
    }

    #[test]
    fn ndcg_stays_between_0_and_1(
        rows in prop::collection::vec((-2.0..2.0_f64, prop_oneof![
            (-1_i32..6).prop_map(f64::from), 0.0..40.0_f64, Just(1000.0)]), 1..30),
        gain in prop_oneof![Just("exp"), Just("linear")],
        discount in prop_oneof![Just("log2"), Just("letor"), Just("zipf"), Just("none")],
        ties in prop_oneof![Just("worst"), Just("best"), Just("mean"), Just("stable")],
        k in 1_u32..40,
    ) {
        let (scores, labels): (Vec<f64>, Vec<f64>) = rows.into_iter().unzip();
        let spec = format!("ndcg(gain={gain}, discount={discount}, ties={ties})@{k}");
        if let Some(v) = measure(&spec).of(&scores, &labels).unwrap() {
            prop_assert!((0.0..=1.0).contains(&v), "{spec}: {v}");
        }
        let mean = format!("mean-ndcg(gain={gain}, discount={discount})");
        if let Some(v) = measure(&mean).of(&scores, &labels).unwrap() {
            prop_assert!((0.0..=1.0).contains(&v), "{mean}: {v}");
        }
    }
}

#[test]
fn equal_scores_in_a_file_sorted_by_label_earn_nothing_by_default() {
    let (scores, labels) = ([0.0; 4], [3.0, 1.0, 0.0, 0.0]);
    let stable = measure("ndcg(ties=stable)").of(&scores, &labels).unwrap().unwrap();
    let default = measure("ndcg").of(&scores, &labels).unwrap().unwrap();
    assert_eq!(stable, 1.0);
    assert!(default < 0.6, "{default}");
}

#[test]
fn labels_too_large_for_exponential_gain_are_an_error() {
    let error = measure("ndcg@10").of(&[1.0, 2.0], &[1024.0, 1.0]).unwrap_err();
    assert!(error.to_string().contains("1024"), "{error}");
    assert!(error.help().unwrap().contains("gain=linear"), "{error:?}");
    let linear = measure("ndcg(gain=linear)").of(&[1.0, 2.0, 3.0], &[1e308; 3]);
    assert!(linear.unwrap_err().to_string().contains("not a finite number"));
}

#[test]
fn ties_mean_is_refused_for_metrics_without_an_exact_mean() {
    for spec in ["err(ties=mean)", "bpref(ties=mean)", "rprec(ties=mean)", "q(ties=mean)"] {
        let error = rankwright_eval::MetricSpec::parse(spec).unwrap_err().to_string();
        assert!(
            error.contains("ties=mean is not supported: this metric has no exact mean"),
            "{error}"
        );
    }
}
