//! Tests of comparisons of per-query values.

use super::*;
use crate::stats::Correction;

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

/// Values without skipped queries.
fn all_counted(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().copied().map(Some).collect()
}

/// Values of 20 queries that vary, shifted by an offset.
fn wave(offset: f64) -> Vec<Option<f64>> {
    (0..20).map(|q| Some(0.5 + 0.3 * f64::from(q).sin() + offset)).collect()
}

fn run(systems: &[&str], metric: MetricValues, options: CompareOptions) -> Comparison {
    compare(&names(systems), &[metric], &options.check().unwrap()).unwrap()
}

/// The comparison of a system with the baseline.
fn vs_baseline(found: &Comparison, system: usize) -> &BaselineDelta {
    found.metrics[0].systems[system].vs_baseline.as_ref().unwrap()
}

#[test]
fn better_and_worse_systems_are_marked_under_every_test() {
    for &(_, test) in Test::ALL {
        let metric = MetricValues::new("m", vec![wave(0.0), wave(0.05), wave(-0.05)]);
        let options = CompareOptions::default().test(test);
        let found = run(&["base", "up", "down"], metric, options);
        assert_eq!(vs_baseline(&found, 1).mark, Mark::Better, "{test}");
        assert_eq!(vs_baseline(&found, 2).mark, Mark::Worse, "{test}");
        assert_eq!(vs_baseline(&found, 2).counts, Wins { wins: 0, ties: 0, losses: 20 });
        assert!((vs_baseline(&found, 1).difference.unwrap() - 0.05).abs() < 1e-12);
        assert!(found.metrics[0].systems[0].vs_baseline.is_none());
        assert_eq!(best(&found), [false, true, false]);
    }
}

fn best(found: &Comparison) -> Vec<bool> {
    found.metrics[0].systems.iter().map(|system| system.best).collect()
}

#[test]
fn marks_wins_and_best_are_reversed_if_lower_is_better() {
    let values = vec![wave(0.0), wave(0.05)];
    let metric = MetricValues { better: Better::Lower, ..MetricValues::new("rmse", values) };
    let found = run(&["base", "up"], metric, CompareOptions::default());
    assert_eq!(vs_baseline(&found, 1).mark, Mark::Worse);
    assert_eq!(vs_baseline(&found, 1).counts.losses, 20);
    assert!(vs_baseline(&found, 1).difference.unwrap() > 0.0);
    assert_eq!(best(&found), [true, false]);
}

#[test]
fn identical_systems_share_best_and_have_no_mark() {
    let metric = MetricValues::new("m", vec![wave(0.0), wave(0.0)]);
    let found = run(&["a", "b"], metric, CompareOptions::default());
    let vs_baseline = vs_baseline(&found, 1);
    assert_eq!((vs_baseline.p, vs_baseline.mark, vs_baseline.effect), (1.0, Mark::None, Some(0.0)));
    assert_eq!(vs_baseline.counts, Wins { wins: 0, ties: 20, losses: 0 });
    assert_eq!(best(&found), [true, true]);
}

#[test]
fn only_queries_counted_in_both_are_paired() {
    let base = vec![Some(0.1), None, Some(0.3), Some(0.4)];
    let other = vec![Some(0.2), Some(0.9), None, Some(0.6)];
    let found = run(
        &["base", "other"],
        MetricValues::new("m", vec![base, other]),
        CompareOptions::default(),
    );
    let system = &found.metrics[0].systems[1];
    assert_eq!(system.queries, 3);
    assert!((system.mean.unwrap() - 1.7 / 3.0).abs() < 1e-12);
    assert_eq!(vs_baseline(&found, 1).pairs, 2);
    assert!((vs_baseline(&found, 1).difference.unwrap() - 0.15).abs() < 1e-12);
}

#[test]
fn a_system_without_values_has_no_mean_and_a_p_value_of_1() {
    let metric = MetricValues::new("m", vec![all_counted(&[0.1, 0.2]), vec![None, None]]);
    let found = run(&["base", "empty"], metric, CompareOptions::default());
    let system = &found.metrics[0].systems[1];
    assert_eq!((system.mean, system.ci95, system.queries, system.best), (None, None, 0, false));
    assert_eq!((vs_baseline(&found, 1).difference, vs_baseline(&found, 1).p), (None, 1.0));
}

#[test]
fn p_values_are_corrected_over_the_systems_of_a_metric() {
    let noisy = |shift: f64| -> Vec<Option<f64>> {
        (0..20).map(|q| Some(0.5 + 0.1 * f64::from(q * q).sin() + shift)).collect()
    };
    let metric = MetricValues::new("m", vec![wave(0.0), noisy(0.05), noisy(0.2), noisy(0.3)]);
    for &(_, correction) in Correction::ALL {
        let options = CompareOptions::default().correction(correction).test(Test::T);
        let found = run(&["base", "a", "b", "c"], metric.clone(), options);
        let (uncorrected, corrected): (Vec<f64>, Vec<f64>) =
            (1..4).map(|s| (vs_baseline(&found, s).p, vs_baseline(&found, s).p_corrected)).unzip();
        assert_eq!(corrected, correction.adjust(&uncorrected));
    }
}

#[test]
fn a_p_value_does_not_depend_on_the_other_systems() {
    let alone = MetricValues::new("m", vec![wave(0.0), wave(0.01)]);
    let among = MetricValues::new("m", vec![wave(0.0), wave(-0.2), wave(0.01)]);
    let first = run(&["base", "x"], alone, CompareOptions::default());
    let second = run(&["base", "y", "x"], among, CompareOptions::default());
    assert_eq!(vs_baseline(&first, 1).p, vs_baseline(&second, 2).p);
}

#[test]
fn the_baseline_is_found_by_name() {
    let metric = MetricValues::new("m", vec![wave(0.0), wave(0.1)]);
    let options = CompareOptions::default().baseline("b");
    let found = run(&["a", "b"], metric, options);
    assert_eq!(found.baseline, 1);
    assert_eq!(vs_baseline(&found, 0).mark, Mark::Worse);
}

#[test]
fn a_single_system_is_described_and_not_called_best() {
    let found = run(&["a"], MetricValues::new("m", vec![wave(0.0)]), CompareOptions::default());
    assert!(found.metrics[0].systems[0].ci95.is_some());
    assert_eq!(best(&found), [false]);
}

#[test]
fn invalid_input_is_an_error_that_names_the_metric_and_the_system() {
    let default = CompareOptions::default().check().unwrap();
    let unknown_baseline = CompareOptions::default().baseline("z").check().unwrap();
    let message = |systems: &[&str], values: Vec<Vec<Option<f64>>>, options| {
        let metric = MetricValues::new("map", values);
        compare(&names(systems), &[metric], options).unwrap_err().to_string()
    };
    assert_eq!(
        message(&[], vec![], &default),
        "no system was given; expected at least one, and two for a comparison"
    );
    assert_eq!(
        message(&["a", "a"], vec![], &default),
        "two systems are named `a`; expected different names"
    );
    assert_eq!(
        message(&["a", "b"], vec![], &unknown_baseline),
        "baseline `z` is not among the systems; expected one of: a, b"
    );
    assert_eq!(
        message(&["a", "b"], vec![all_counted(&[0.1])], &default),
        "metric `map` has values of 1 system; expected one list for each of 2 systems"
    );
    assert_eq!(
        message(&["a", "b"], vec![all_counted(&[0.1]), vec![]], &default),
        "metric `map`: system `b` has 0 per-query entries; expected 1, as many as the first system \
         has"
    );
    assert_eq!(
        message(&["a"], vec![vec![None, Some(f64::INFINITY)]], &default),
        "metric `map`, system `a`: value inf at position 1 cannot be tested; expected a finite \
         number whose absolute value is below 1e100"
    );
}

#[test]
fn the_json_of_a_comparison_stays_the_same() {
    let values = vec![vec![Some(0.25), Some(0.5), None], vec![Some(0.5), Some(0.75), Some(1.0)]];
    let metric =
        MetricValues { convention: Some("rel=1".into()), ..MetricValues::new("ap", values) };
    let found = run(&["base", "new"], metric, CompareOptions::default().test(Test::T));
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "systems": ["base", "new"],
            "baseline": "base",
            "test": "t",
            "correction": "holm",
            "alpha": 0.05,
            "seed": rankwright_data::DEFAULT_SEED,
            "samples": 100_000,
            "tolerance": 0.0,
            "metrics": [{
                "metric": "ap",
                "convention": "rel=1",
                "better": "higher",
                "systems": [
                    {
                        "system": "base",
                        "value": 0.375,
                        "ci95": found.metrics[0].systems[0].ci95,
                        "ci95_method": "t",
                        "queries": 2,
                        "best": false,
                        "versus_baseline": null,
                    },
                    {
                        "system": "new",
                        "value": 0.75,
                        "ci95": found.metrics[0].systems[1].ci95,
                        "ci95_method": "t",
                        "queries": 3,
                        "best": true,
                        "versus_baseline": {
                            "pairs": 2,
                            "difference": 0.25,
                            "difference_ci95": [0.25, 0.25],
                            "p": 0.0,
                            "p_corrected": 0.0,
                            "effect": null,
                            "wins": 2,
                            "ties": 0,
                            "losses": 0,
                            "mark": "▲",
                        },
                    },
                ],
            }],
        })
    );
}

#[test]
fn intervals_stay_within_the_range_of_the_metric_and_of_its_differences() {
    use crate::stats::IntervalMethod;
    let systems = ["a", "b"].map(str::to_owned);
    let values = vec![all_counted(&[0.0, 0.0, 0.1]), all_counted(&[1.0, 1.0, 0.9])];
    let options = CompareOptions::default().check().unwrap();
    let unbounded = MetricValues::new("anything", values.clone());
    let found = compare(&systems, &[unbounded], &options).unwrap();
    let [low, _] = found.metrics[0].systems[0].ci95.unwrap();
    assert!(low < 0.0 && found.metrics[0].systems[0].ci95_method == Some(IntervalMethod::T));
    let metric = MetricValues { range: (0.0, 1.0), ..MetricValues::new("rr", values) };
    let found = compare(&systems, &[metric], &options).unwrap();
    for system in &found.metrics[0].systems {
        let [low, high] = system.ci95.unwrap();
        assert!(0.0 <= low && high <= 1.0, "{system:?}");
        assert_eq!(system.ci95_method, Some(IntervalMethod::Logit));
    }
    let [low, high] =
        found.metrics[0].systems[1].vs_baseline.as_ref().unwrap().difference_ci95.unwrap();
    assert!(-1.0 <= low && high <= 1.0, "{low} {high}");
}
