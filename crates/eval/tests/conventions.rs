//! Tests that conventions have their documented effect, and that presets give the numbers of their
//! tools.

use crate::common::{measure, value};
use proptest::prelude::*;
use rankwright_eval::compare::Better;
use rankwright_eval::{
    Candidates, EvalError, EvalOptions, METRICS, MetricSpec, QuerySource, ScoredQueries,
    SourceKind, evaluate,
};

/// Three judged queries of a run: one with a relevant document in the run, one without relevant
/// documents (blank), one that the run lacks.
struct SmallRun;

impl QuerySource for SmallRun {
    fn len(&self) -> usize {
        3
    }

    fn id(&self, q: usize) -> &str {
        ["found", "blank", "lacking"][q]
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Run
    }

    fn load<'a>(&'a self, q: usize, into: &mut Candidates<'a>) -> Result<(), EvalError> {
        into.clear();
        match q {
            0 => {
                into.scores.extend([3.0, 2.0, 1.0]);
                into.labels.extend([0.0, 1.0, 0.0]);
                into.judged.extend([false, true, true]);
                into.doc_ids.extend([b"a", b"b", b"c"].map(|d| &d[..]));
                into.unretrieved.push(2.0);
            }
            1 => {
                into.scores.push(1.0);
                into.labels.push(0.0);
                into.doc_ids.push(b"a");
            }
            _ => {
                into.returned = false;
                into.unretrieved.push(1.0);
            }
        }
        Ok(())
    }
}

/// The values of the three queries, and the total.
fn evaluate_run(spec: &str) -> (Vec<Option<f64>>, f64) {
    let measure = MetricSpec::parse(spec).unwrap().resolve(SourceKind::Run).unwrap();
    let result = evaluate(&SmallRun, &[measure], EvalOptions::default()).unwrap();
    (result.results[0].values.clone(), result.results[0].value)
}

#[test]
fn blank_missing_and_unjudged_decide_the_values_of_queries() {
    let (half, zero, one) = (Some(0.5), Some(0.0), Some(1.0));
    for (spec, values) in [
        ("rr", [half, None, zero]),
        ("rr(blank=0)", [half, zero, zero]),
        ("rr(blank=1)", [half, one, zero]),
        ("rr(missing=skip)", [half, None, None]),
        ("rr(preset=trec)", [half, zero, None]),
        ("rr(preset=trec, missing=zero)", [half, zero, zero]),
        ("rr(unjudged=drop)", [one, None, zero]),
        ("rr(rel=2)", [zero, None, None]),
        ("recall", [half, None, zero]),
        ("judged", [Some(2.0 / 3.0), one, zero]),
        ("judged@1", [zero, one, zero]),
        ("num_ret", [Some(3.0), one, None]),
        ("num_rel", [Some(2.0), zero, None]),
        ("num_rel(missing=zero)", [Some(2.0), zero, one]),
        ("inversions", [one, zero, None]),
        ("kendall", [zero, None, None]),
        ("rmse", [Some(f64::sqrt((1.0 + 1.0) / 2.0)), one, None]),
    ] {
        assert_eq!(evaluate_run(spec).0, values, "{spec}");
    }
    let (residual, _) = evaluate_run("rbp-residual(p=0.5)");
    assert_eq!(residual, [Some(0.5 + 0.125), half, one]);
}

#[test]
fn totals_follow_the_aggregate() {
    assert_eq!(evaluate_run("num_rel(missing=zero)").1, 3.0);
    assert_eq!(evaluate_run("num_q").1, 2.0);
    // AP is 1/4, and 0 raised to the floor of 0.01
    assert!((evaluate_run("gmap(floor=0.01)").1 - f64::sqrt(0.25 * 0.01)).abs() < 1e-12);
    let (labels, scores) = ([0.0, 0.0, 0.0, 3.0], [1.0, 1.0, 1.0, 0.0]);
    let source = ScoredQueries::new(&labels, &scores, vec![0..3, 3..4], vec!["a", "b"]).unwrap();
    let specs = ["rmse", "rmse(over=queries)", "mae", "mae(over=queries)"].map(measure);
    let found = evaluate(&source, &specs, EvalOptions::default()).unwrap();
    let values: Vec<f64> = found.results.iter().map(|r| r.value).collect();
    assert_eq!(values, [f64::sqrt((3.0 + 9.0) / 4.0), 2.0, 1.5, 2.0]);
}

/// Regression: pair-accuracy was declared as better when it is lower, so that training kept the
/// worst round.
#[test]
fn every_metric_prefers_the_ideal_order_to_the_reversed_one() {
    let labels: Vec<f64> =
        (0..20).map(|document| if document % 3 == 0 { 2.0 } else { 0.0 }).collect();
    let reversed: Vec<f64> = labels.iter().map(|label| 2.0 - label).collect();
    let mut differ = 0;
    for def in METRICS {
        let measure = measure(def.example);
        if !measure.metric().needs_labels() {
            continue; // It has a value for given pairs only, and its own tests.
        }
        let value = |scores: &[f64]| {
            let source = ScoredQueries::new(&labels, scores, vec![0..10, 10..20], vec!["a", "b"]);
            let specs = std::slice::from_ref(&measure);
            evaluate(&source.unwrap(), specs, EvalOptions::default()).unwrap().results[0].value
        };
        let (ideal, worst) = (value(&labels), value(&reversed));
        match measure.metric().better() {
            Better::Higher => assert!(ideal >= worst, "{}: {ideal} {worst}", def.name),
            Better::Lower => assert!(ideal <= worst, "{}: {ideal} {worst}", def.name),
        }
        differ += usize::from(ideal != worst);
    }
    assert!(differ >= 20, "{differ}");
}

#[test]
fn presets_give_the_numbers_of_their_tools() {
    let close = |spec: &str, scores: &[f64], labels: &[f64], expected: f64| {
        let found = value(spec, scores, labels);
        assert!((found - expected).abs() < 1e-12, "{spec}: found {found}, expected {expected}");
    };
    let (scores, labels) = ([1.0, 1.0, 0.5, 0.5, 0.5, 0.0], [3.0, 0.0, 2.0, 1.0, 0.0, 2.0]);
    // scikit-learn and scipy
    close("ndcg(preset=sklearn)", &scores, &labels, 0.786352219572819);
    close("ndcg(preset=sklearn)@3", &scores, &labels, 0.5599531166420328);
    close("dcg(preset=sklearn)@4", &scores, &labels, 3.3770711884305786);
    close("ndcg(preset=sklearn)", &[1.0, 2.0], &[0.0, 0.0], 0.0);
    close("auc", &scores, &[1.0, 0.0, 1.0, 0.0, 0.0, 1.0], 0.38888888888888895);
    close("kendall", &scores, &labels, -0.08362420100070908);
    close("spearman", &scores, &labels, -0.04767312946227962);
    // XGBoost 3.2
    close("map(preset=xgboost)@2", &[4.0, 3.0, 2.0, 1.0], &[0.0, 1.0, 1.0, 1.0], 0.25);
    close("map(preset=xgboost)", &[3.0, 2.0, 1.0], &[0.0; 3], 1.0);
    close("p(preset=xgboost)@5", &[3.0, 2.0, 1.0], &[1.0, 0.0, 1.0], 2.0 / 3.0);
    close("p(preset=xgboost)@2", &[3.0, 2.0], &[0.0; 2], 0.0);
    close("ndcg(preset=xgboost)@2", &[3.0, 2.0, 1.0], &[1.0, 0.0, 1.0], 0.6131471927654584);
    close("ndcg(preset=xgboost)", &[2.0, 2.0], &[0.0, 1.0], 0.6309297535714575);
    // LETOR: a list of two documents at k = 3
    let (scores, labels) = ([2.0, 1.0], [1.0, 1.0]);
    close("ndcg(preset=letor4)@3", &scores, &labels, 0.0);
    close("p(preset=letor4)@3", &scores, &labels, 2.0 / 3.0);
    close("p(preset=letor3)@3", &scores, &labels, 0.0);
    close("ndcg(preset=yahoo)@3", &scores, &[0.0; 2], 1.0);
    close("err(preset=yahoo)", &scores, &[0.0; 2], 0.0);
}

#[test]
fn lightgbm_means_over_three_queries_with_ties_and_a_blank_one() {
    let labels = [3.0, 0.0, 2.0, 1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0];
    let scores = [1.0, 1.0, 0.5, 0.5, 0.5, 0.0, 1.0, 2.0, 3.0, 0.1, 0.2, 0.3, 0.2];
    let ranges = vec![0..6, 6..9, 9..13];
    let source = ScoredQueries::new(&labels, &scores, ranges, vec!["a", "b", "c"]).unwrap();
    for (name, k, expected) in [
        ("ndcg", 2, 0.8001005985854768),
        ("ndcg", 3, 0.8405976156282743),
        ("ndcg", 10, 0.9432930197977821),
        ("map", 2, 0.6666666666666666),
        ("map", 3, 0.7037037037037036),
        ("map", 10, 0.8587962962962963),
    ] {
        let measure = measure(&format!("{name}(preset=lightgbm)@{k}"));
        let found = evaluate(&source, &[measure], EvalOptions::default()).unwrap();
        let value = found.results[0].value;
        assert!((value - expected).abs() < 1e-12, "{name}@{k}: found {value}");
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let n = 3000;
    let labels: Vec<f64> = (0..n).map(|i| f64::from((i * 7919 % 13 % 5) as u8)).collect();
    let scores: Vec<f64> = (0..n).map(|i| f64::from((i * 104_729 % 97) as u8)).collect();
    let ranges: Vec<_> = (0..n / 10).map(|q| q * 10..q * 10 + 10).collect();
    let ids = vec!["q"; ranges.len()];
    let source = ScoredQueries::new(&labels, &scores, ranges, ids).unwrap();
    let specs = ["ndcg@10", "err", "map", "rmse", "gmap"].map(measure);
    let bits = |threads: usize| -> Vec<u64> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| evaluate(&source, &specs, EvalOptions::default()).unwrap());
        found.results.iter().map(|r| r.value.to_bits()).collect()
    };
    assert_eq!(bits(1), bits(2));
    assert_eq!(bits(1), bits(7));
}

proptest! {
    #[test]
    fn correlations_equal_their_pair_counts(
        rows in prop::collection::vec((0_i8..6, 0_i8..4), 2..25),
    ) {
        let scores: Vec<f64> = rows.iter().map(|r| f64::from(r.0)).collect();
        let labels: Vec<f64> = rows.iter().map(|r| f64::from(r.1)).collect();
        // Concordant minus discordant pairs, and pairs with different scores or different labels.
        let (mut balance, mut different_scores, mut different_labels) = (0.0, 0.0, 0.0);
        let (mut auc, mut auc_pairs) = (0.0, 0.0);
        for (i, a) in rows.iter().enumerate() {
            for b in &rows[i + 1..] {
                let (s, l) = (f64::from((a.0 - b.0).signum()), f64::from((a.1 - b.1).signum()));
                balance += s * l;
                different_scores += s.abs();
                different_labels += l.abs();
            }
            for b in rows.iter().filter(|b| a.1 >= 1 && b.1 < 1) {
                auc_pairs += 1.0;
                auc += (1.0 + f64::from((a.0 - b.0).signum())) / 2.0;
            }
        }
        let tau = measure("kendall").of(&scores, &labels).unwrap();
        prop_assert_eq!(tau.is_some(), different_labels > 0.0);
        if let Some(tau) = tau {
            let divisor = f64::sqrt(different_scores * different_labels);
            let expected = if different_scores > 0.0 { balance / divisor } else { 0.0 };
            prop_assert!((tau - expected).abs() < 1e-12, "{tau} {expected}");
            let rho = measure("spearman").of(&scores, &labels).unwrap().unwrap();
            prop_assert!(rho.abs() <= 1.0 + 1e-12 && (rho == 0.0 || different_scores > 0.0));
        }
        let found = measure("auc").of(&scores, &labels).unwrap();
        prop_assert_eq!(found.is_some(), auc_pairs > 0.0);
        if let Some(found) = found {
            prop_assert!((found - auc / auc_pairs).abs() < 1e-12);
        }
    }
}
