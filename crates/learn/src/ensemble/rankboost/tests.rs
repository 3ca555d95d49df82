//! RankBoost compared with reference implementations: every pair listed, every threshold tried.

use proptest::prelude::*;
use rankwright_data::bytes::Input;
use rankwright_data::generate::LetorOptions;
use rankwright_data::{Dataset, Random};
use rankwright_model::{ModelBody, Side};

use super::loss::{LossTerms, PairExponential};
use super::stump::{Stumps, alpha};
use crate::bins::Binned;
use crate::collective::SingleProcess;
use crate::ensemble::test_support::{rows, trains_reproducibly};
use crate::learner::LearnerSpec;
use crate::objective::{Derivatives, DocumentPair, Objective, ObjectiveBuffers, QueryView};
use crate::session::TrainRequest;
use crate::tree::{Grow, GrowInput, GrownRows, Scales};

/// From every pair: the loss terms of each document as the worse one and as the better one, and the
/// total weight of the pairs.
fn by_pairs(labels: &[f64], scores: &[f64], weights: &[f32]) -> (Vec<f64>, Vec<f64>, f64) {
    let n = labels.len();
    let (mut worse, mut better, mut total) = (vec![0.0; n], vec![0.0; n], 0.0);
    let weight = |row: usize| weights.get(row).map_or(1.0, |w| f64::from(*w));
    for i in 0..n {
        for j in 0..n {
            if labels[i] > labels[j] {
                let loss = weight(i) * weight(j) * (scores[j] - scores[i]).exp();
                worse[j] += loss;
                better[i] += loss;
                total += weight(i) * weight(j);
            }
        }
    }
    (worse, better, total)
}

/// Whether all values agree within a relative error of 1e-9.
fn near(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-9 * (a.abs() + b.abs() + 1e-12))
}

proptest! {
    #[test]
    fn sums_by_grade_are_sums_over_pairs(
        documents in proptest::collection::vec((0..4_u8, -8.0..8.0_f64, 0.0..3.0_f32), 0..25),
        weighted: bool,
    ) {
        let labels: Vec<f64> = documents.iter().map(|d| f64::from(d.0)).collect();
        let scores: Vec<f64> = documents.iter().map(|d| d.1).collect();
        let weights: Vec<f32> = match weighted {
            true => documents.iter().map(|d| d.2).collect(),
            false => Vec::new(),
        };
        let query = QueryView { weights: &weights, ..QueryView::new(&labels, &scores) };
        let found = LossTerms::new(&query);
        let (worse, better, weight) = by_pairs(&labels, &scores, &weights);
        prop_assert!(near(&found.worse, &worse), "{:?} {worse:?}", found.worse);
        prop_assert!(near(&found.better, &better), "{:?} {better:?}", found.better);
        prop_assert!((found.weight - weight).abs() <= 1e-9 * (1.0 + weight));
    }
}

#[test]
fn preference_pairs_of_the_data_are_used() {
    let pair = |better, worse, weight, equal| DocumentPair { better, worse, weight, equal };
    let pairs = [pair(0, 1, 2.0, false), pair(2, 1, 1.0, true), pair(1, 2, 0.5, false)];
    let scores = [0.0, 1.0, -1.0];
    let query = QueryView { pairs: Some(&pairs), ..QueryView::new(&[], &scores) };
    let found = LossTerms::new(&query);
    // The terms of the first and of the last pair; the equal pair has none.
    let (first, last) = (2.0 * 1.0_f64.exp(), 0.5 * (-2.0_f64).exp());
    assert!(near(&found.worse, &[0.0, first, last]) && near(&found.better, &[first, last, 0.0]));
    assert_eq!(found.weight, 2.5);
}

#[test]
fn the_derivatives_of_the_loss_agree_with_finite_differences() {
    let (labels, mut scores) = ([2.0, 0.0, 1.0, 1.0, 0.0], [0.3, -0.4, 1.1, 0.0, 0.2]);
    for norm_query in [false, true] {
        let loss = PairExponential { norm_query };
        let value = |scores: &[f64]| {
            let query = QueryView::new(&labels, scores);
            loss.loss(&query, &mut ObjectiveBuffers::default()).unwrap().unwrap()
        };
        let (mut gradient, mut hessian) = ([0.0; 5], [0.0; 5]);
        let mut out =
            Derivatives { gradient: &mut gradient, hessian: &mut hessian, cache: &mut [] };
        let query = QueryView::new(&labels, &scores);
        loss.derivatives(&query, &mut ObjectiveBuffers::default(), &mut out).unwrap();
        for row in 0..5 {
            let (middle, step) = (scores[row], 1e-4);
            let mut loss_with = |score| {
                scores[row] = score;
                value(&scores)
            };
            let (low, here, high) =
                (loss_with(middle - step), loss_with(middle), loss_with(middle + step));
            scores[row] = middle;
            let first = (high - low) / (2.0 * step);
            let second = (high - 2.0 * here + low) / (step * step);
            assert!((first - f64::from(gradient[row])).abs() < 1e-5, "{first} {gradient:?}");
            assert!((second - f64::from(hessian[row])).abs() < 1e-4, "{second} {hessian:?}");
        }
    }
}

/// The largest |r| over all features, thresholds and sides of missing values, by pairs.
fn best_r(data: &Dataset, scores: &[f64]) -> f64 {
    let mut pairs = Vec::new();
    for query in 0..data.queries() {
        for i in data.query_rows(query) {
            for j in data.query_rows(query) {
                if data.labels()[i] > data.labels()[j] {
                    pairs.push((i, j, (scores[j] - scores[i]).exp()));
                }
            }
        }
    }
    let total: f64 = pairs.iter().map(|(.., d)| d).sum();
    let mut best: f64 = 0.0;
    for feature in 0..data.columns() {
        let value = |row: usize| data.matrix().get(row, feature);
        for threshold in (0..data.rows()).map(value).filter(|v| !v.is_nan()) {
            for missing in [0.0, 1.0] {
                let h = |row: usize| match value(row) {
                    v if v.is_nan() => missing,
                    v => f64::from(u8::from(v > threshold)),
                };
                let r: f64 = pairs.iter().map(|(i, j, d)| d / total * (h(*i) - h(*j))).sum();
                best = best.max(r.abs());
            }
        }
    }
    best
}

/// Four queries of ten documents and three features, of which an eighth of the values is missing.
fn random_data(seed: u64) -> Dataset {
    let mut random = Random::new(seed, 0);
    let mut all: Vec<(String, f64, Vec<f32>)> = Vec::new();
    for row in 0..40 {
        let mut value = |distinct_values: usize| match random.below(8) {
            0 => f32::NAN,
            _ => random.below(distinct_values) as f32,
        };
        let features = vec![value(3), value(20), value(2)];
        all.push((format!("q{}", row / 10), random.below(3) as f64, features));
    }
    let all: Vec<(&str, f64, &[f32])> =
        all.iter().map(|(q, label, features)| (q.as_str(), *label, &features[..])).collect();
    rows(&all)
}

#[test]
fn the_stump_found_is_the_best_of_all_and_has_the_alpha_of_the_formula() {
    for seed in 0..20 {
        let data = random_data(seed);
        let mut random = Random::new(seed, 1);
        let scores: Vec<f64> = (0..data.rows()).map(|_| random.normal()).collect();
        let loss = PairExponential { norm_query: false };
        let (mut gradient, mut hessian) = (vec![0.0; data.rows()], vec![0.0; data.rows()]);
        for query in 0..data.queries() {
            let rows = data.query_rows(query);
            let view = QueryView::new(data.query(query).labels, &scores[rows.clone()]);
            let (gradient, hessian) = (&mut gradient[rows.clone()], &mut hessian[rows]);
            let mut out = Derivatives { gradient, hessian, cache: &mut [] };
            loss.derivatives(&view, &mut ObjectiveBuffers::default(), &mut out).unwrap();
        }
        let binned = Binned::new(&data, 255, &SingleProcess).unwrap();
        let mut stumps = Stumps::new(&binned, &SingleProcess);
        let scales = Scales::of(&gradient, &hessian, &SingleProcess).unwrap();
        let (gradient, hessian, scales) = (&gradient[..], &hessian[..], &scales);
        let input = GrowInput { gradient, hessian, scales, sample: None, features: None };
        let grown = stumps.grow(input).unwrap();
        let best = best_r(&data, &scores);
        assert!((grown.splits[0].gain - best).abs() < 1e-5, "{seed}: {best}");
        // A stump fixes the value of a leaf by equal limits (see `leaf` in stump.rs).
        assert!((grown.leaves[1].limits.low.abs() - alpha(best)).abs() < 1e-4);
        // Each row is in the leaf that its value belongs to.
        let split = grown.splits[0];
        for (leaf, side) in grown.leaves.iter().zip([Side::Left, Side::Right]) {
            for row in stumps.rows_of(leaf) {
                let value = data.matrix().get(*row as usize, split.feature as usize);
                assert_eq!(split.side(value, &[]), side);
            }
        }
    }
}

#[test]
fn one_round_has_the_weight_worked_out_by_hand() {
    // Three pairs, of which feature 1 above 0.5 orders two correctly and has equal values for the
    // third: r = 2/3, alpha = 1/2 ln 5.
    let data =
        rows(&[("a", 1.0, &[1.0]), ("a", 0.0, &[0.0]), ("a", 0.0, &[0.0]), ("a", 0.0, &[1.0])]);
    let learner = LearnerSpec::parse("rankboost(trees=1)").unwrap();
    let model = learner.train(TrainRequest::new(&data)).unwrap().model;
    let found = model.score_row(&[1.0]);
    assert!((found - 0.5 * 5.0_f64.ln()).abs() < 1e-5, "{found}");
    assert_eq!(model.score_row(&[0.0]), 0.0);
    assert!((alpha(2.0 / 3.0) - 0.5 * 5.0_f64.ln()).abs() < 1e-5);
    assert!(alpha(1.0).is_finite() && alpha(-1.0) == -alpha(1.0));
}

#[test]
fn the_loss_falls_at_least_by_the_factor_that_the_paper_proves() {
    // With equal weights of all pairs, the loss of a round is at most sqrt(1 - r^2) times the
    // previous one.
    let data = LetorOptions { queries: 20, documents: 15, seed: 3 }.generate().unwrap();
    let learner = LearnerSpec::parse("rankboost(trees=30, norm_query=false)").unwrap();
    let request = TrainRequest::new(&data).evaluate_training(true);
    let result = learner.train(request).unwrap();
    let ModelBody::Trees(trees) = result.model.body() else { panic!("no trees") };
    let losses: Vec<f64> = result.history.iterations.iter().filter_map(|i| i.loss).collect();
    assert_eq!(losses.len(), 30);
    for (losses, tree) in losses.windows(2).zip(&trees.trees()[1..]) {
        // A stump has |r| as the gain of its split.
        let r = tree.splits()[0].gain;
        assert!(losses[1] <= losses[0] * (1.0 - r * r).sqrt() * (1.0 + 1e-5), "{losses:?} {r}");
    }
}

#[test]
fn pairs_of_a_file_replace_labels() {
    let data = rows(&[("a", 0.0, &[1.0]), ("a", 9.0, &[0.0]), ("a", 0.0, &[0.5])]);
    let input = Input::from_bytes("pairs", b"a 0 1 3\na 2 1\n".to_vec()).unwrap();
    let (data, _) = data.with_pairs(&input).unwrap();
    let learner = LearnerSpec::parse("rankboost(trees=2)").unwrap();
    let model = learner.train(TrainRequest::new(&data)).unwrap().model;
    assert!(model.score_row(&[1.0]) > model.score_row(&[0.0]));
}

#[test]
fn data_without_preferences_and_bad_parameters_are_refused() {
    let equal_labels = rows(&[("a", 1.0, &[0.0]), ("a", 1.0, &[1.0]), ("b", 0.0, &[1.0])]);
    let learner = LearnerSpec::parse("rankboost").unwrap();
    let error = learner.train(TrainRequest::new(&equal_labels)).unwrap_err().to_string();
    assert!(error.contains("no query has two documents with different labels"), "{error}");
    for (text, expected) in [
        ("rankboost(trees=0)", "from 1 on"),
        ("rankboost(rate=0)", "rate=0"),
        ("rankboost(bins=1)", "bins=1"),
        ("rankboost(norm_query=all)", "true | false"),
        ("rankboost(leaves=3)", "no parameter `leaves`"),
    ] {
        let error = LearnerSpec::parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn constant_features_give_a_score_of_0() {
    let data = rows(&[("a", 1.0, &[3.0]), ("a", 0.0, &[3.0])]);
    let learner = LearnerSpec::parse("rankboost(trees=3)").unwrap();
    let model = learner.train(TrainRequest::new(&data)).unwrap().model;
    assert_eq!([model.score_row(&[3.0]), model.score_row(&[0.0])], [0.0; 2]);
}

#[test]
fn threads_and_an_interruption_change_nothing() {
    trains_reproducibly("rankboost(trees=9, sample_queries=0.7, sample_features=0.5)");
}
