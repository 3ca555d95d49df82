//! Whole trainings: worked numbers, refusals, threads, checkpoints, and real data.

use std::path::PathBuf;

use rankwright_data::format::{ReadOptions, read};
use rankwright_data::generate::LetorOptions;
use rankwright_model::{Linear, Model, ModelBody};

use super::*;
use crate::session::test_support::StopAfterRounds;
use crate::session::{Checkpoints, TrainRequest, TrainResult, ValidationSet};
use crate::{LearnError, LearnerSpec};

/// Every linear learner, some with several losses.
const SPECS: [&str; 9] = [
    "linear-regression",
    "logistic",
    "linear-svm",
    "linear-svm(loss=hinge)",
    "ordinal",
    "ranksvm",
    "ranksvm(loss=hinge)",
    "ranksvm(norm_query=true)",
    "pairwise-logistic",
];

fn train(spec: &str, data: &Dataset) -> Result<TrainResult, LearnError> {
    LearnerSpec::parse(spec).unwrap().train(TrainRequest::new(data))
}

fn linear_model(result: &TrainResult) -> &Linear {
    match result.model.body() {
        ModelBody::Linear(linear) => linear,
        other => panic!("{other:?}"),
    }
}

/// One query of these rows.
fn one_query(columns: usize, values: &[f32], labels: &[f64]) -> Dataset {
    let matrix = Matrix::from_rows(labels.len(), columns, values.to_vec()).unwrap();
    let data = Dataset::builder().matrix(matrix).labels(labels);
    data.query_ids(vec!["q"; labels.len()]).build().unwrap()
}

#[test]
fn the_solution_for_one_pair_is_the_one_worked_out_by_hand() {
    // 1/2 w^2 + c (1 - 2w)^2 is smallest at w = 4c / (1 + 8c).
    let data = one_query(1, &[3.0, 1.0], &[1.0, 0.0]);
    let result = train("ranksvm(c=0.5, transform=none, tolerance=1e-9)", &data).unwrap();
    assert!((linear_model(&result).weights()[0] - 0.4).abs() < 1e-9);
    assert_eq!(linear_model(&result).bias(), 0.0);
    // The hinge itself, c small: 1/2 w^2 + c (1 - 2w) is smallest at w = 2c, where the margin 2w is
    // below 1.
    let hinge = train("ranksvm(loss=hinge, c=0.1, transform=none, tolerance=1e-9)", &data).unwrap();
    assert!((linear_model(&hinge).weights()[0] - 0.2).abs() < 1e-9);
    // Logistic: w = 2c / (1 + e^(2w)).
    let pair = train("pairwise-logistic(c=1, transform=none, tolerance=1e-9)", &data).unwrap();
    let w = linear_model(&pair).weights()[0];
    assert!((w - 2.0 / (1.0 + (2.0 * w).exp())).abs() < 1e-8, "{w}");
}

#[test]
fn least_squares_finds_the_linear_function_that_made_the_labels() {
    let values = [0.0, 1.0, 1.0, 0.0, 2.0, 2.0, 3.0, -1.0, 5.0, 4.0];
    let labels: Vec<f64> = values.chunks(2).map(|x| f64::from(1.0 + 2.0 * x[0] - x[1])).collect();
    let result = train("linear-regression(l2=0)", &one_query(2, &values, &labels)).unwrap();
    let found = linear_model(&result);
    assert!((found.weights()[0] - 2.0).abs() < 1e-5 && (found.weights()[1] + 1.0).abs() < 1e-5);
    assert!((found.bias() - 1.0).abs() < 1e-5, "{}", found.bias());
    // Ridge regression of labels -1 and 1 at x = -1 and 1: w = 1 / (1 + l2).
    let small = one_query(1, &[-1.0, 1.0], &[-1.0, 1.0]);
    let ridge = train("linear-regression(l2=1, transform=none)", &small).unwrap();
    assert!((linear_model(&ridge).weights()[0] - 0.5).abs() < 1e-12);
}

#[test]
fn without_a_useful_feature_thresholds_are_the_logits_of_cumulative_fractions() {
    // A quarter of the labels is 0 and three quarters are at most 1: logits of -ln 3 and ln 3.
    let data = one_query(1, &[7.0; 4], &[0.0, 1.0, 1.0, 3.0]);
    let result = train("ordinal", &data).unwrap();
    assert_eq!(linear_model(&result).weights(), [0.0]);
    let thresholds = &result.model.header().notes["thresholds"];
    let thresholds: Vec<f64> = thresholds.split('/').map(|t| t.parse().unwrap()).collect();
    assert!((thresholds[0] + 3.0_f64.ln()).abs() < 1e-9, "{thresholds:?}");
    assert!((thresholds[1] - 3.0_f64.ln()).abs() < 1e-9, "{thresholds:?}");
    let with_feature = one_query(1, &[0.0, 1.0, 1.1, 3.0], &[0.0, 1.0, 1.0, 3.0]);
    let result = train("ordinal(c=40)", &with_feature).unwrap();
    assert!(linear_model(&result).weights()[0] > 0.5);
    let thresholds = &result.model.header().notes["thresholds"];
    let thresholds: Vec<f64> = thresholds.split('/').map(|t| t.parse().unwrap()).collect();
    assert!(thresholds[0] < thresholds[1]);
}

#[test]
fn classes_that_one_feature_separates_are_separated() {
    let data = one_query(1, &[0.0, 1.0, 2.0, 3.0], &[0.0, 0.0, 1.0, 1.0]);
    for spec in ["logistic(c=40)", "linear-svm(c=40)", "linear-svm(loss=hinge, c=40)"] {
        let result = train(spec, &data).unwrap();
        let score = |x: f32| linear_model(&result).score_row(&[x]);
        assert!((score(1.5)).abs() < 0.05, "{spec}: {}", score(1.5));
        assert!(score(1.0) < -0.5 && score(2.0) > 0.5, "{spec}");
    }
    // The widest margin: with a large c, the SVM's function is -1 at 1 and 1 at 2.
    let large_c = train("linear-svm(loss=hinge, c=4000, transform=none)", &data).unwrap();
    let model = linear_model(&large_c);
    assert!((model.weights()[0] - 2.0).abs() < 0.1, "{model:?}");
}

#[test]
fn threads_and_simd_change_no_bit() {
    let data = LetorOptions { queries: 24, documents: 90, seed: 4 }.generate().unwrap();
    for spec in SPECS {
        let bytes = |threads: usize, simd: Simd| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let request = TrainRequest::new(&data).simd(simd);
            let train = || LearnerSpec::parse(spec).unwrap().train(request).unwrap();
            pool.install(train).model.to_bytes()
        };
        let one = bytes(1, Simd::Auto);
        assert!(one == bytes(4, Simd::Auto), "{spec}");
        assert!(one == bytes(3, Simd::Portable), "{spec}");
    }
}

#[test]
fn a_weight_of_two_counts_like_two_documents() {
    let copied = one_query(1, &[0.5, 0.5, 2.0, 1.0], &[1.0, 1.0, 0.0, 1.0]);
    let weighted = Dataset::builder().rows([[0.5], [2.0], [1.0]]).labels([1, 0, 1]);
    let weighted = weighted.query_ids(["q"; 3]).weights([2.0, 1.0, 1.0]).build().unwrap();
    for spec in SPECS.iter().filter(|spec| !spec.contains('(')) {
        let spec = format!("{spec}(transform=none)");
        let weight = |data: &Dataset| linear_model(&train(&spec, data).unwrap()).weights()[0];
        let (a, b) = (weight(&copied), weight(&weighted));
        assert!((a - b).abs() < 1e-3 * a.abs(), "{spec}: {a} {b}");
    }
}

#[test]
fn data_that_a_learner_cannot_use_is_refused() {
    let all_relevant = one_query(1, &[1.0, 2.0], &[1.0, 1.0]);
    let none_relevant = one_query(1, &[1.0, 2.0], &[0.0, 0.0]);
    for (spec, data, expected) in [
        ("logistic", &all_relevant, "every document is relevant"),
        ("linear-svm", &none_relevant, "no document is relevant"),
        ("ordinal", &all_relevant, "different labels"),
        ("ranksvm", &all_relevant, "nothing to rank"),
        ("pairwise-logistic", &none_relevant, "nothing to rank"),
    ] {
        let error = train(spec, data).unwrap_err().to_string();
        assert!(error.contains(expected), "{spec}: {error}");
    }
    let empty = Dataset::from_dense(&[], 1, [0.0; 0], ["q"; 0]);
    let featureless = one_query(0, &[], &[1.0, 0.0]);
    for spec in SPECS {
        let error = train(spec, empty.as_ref().unwrap()).unwrap_err().to_string();
        assert!(error.contains("is empty"), "{spec}: {error}");
        let error = train(spec, &featureless).unwrap_err().to_string();
        assert!(error.contains("no features"), "{spec}: {error}");
    }
}

#[test]
fn constant_features_get_no_weight_and_missing_values_need_a_net() {
    let nan = f32::NAN;
    let values = [1.0, 5.0, nan, 2.0, 5.0, 7.0, 3.0, 5.0, nan, 4.0, 5.0, 2.0];
    let data = one_query(3, &values, &[0.0, 0.0, 1.0, 1.0]);
    for spec in SPECS {
        let result = train(spec, &data).unwrap();
        // Training replaced missing values by the mean, which a linear model of raw features cannot
        // do.
        assert!(matches!(result.model.body(), ModelBody::Net(_)), "{spec}");
        assert_eq!(result.history.weights[1], 0.0, "{spec}: a constant feature has no weight");
        let score = |row: &[f32]| result.model.score_row(row);
        assert!(score(&[4.0, 5.0, nan]) > score(&[1.0, 5.0, nan]), "{spec}");
        assert!(score(&[nan; 3]).is_finite());
    }
}

#[test]
fn errors_name_wrong_parameters() {
    for (spec, expected) in [
        ("ranksvm(c=0)", "c=0 is not allowed; expected auto | a number above 0"),
        ("ranksvm(c=1/0.1)", "c=1/0.1 is not allowed; expected ascending values"),
        ("ranksvm(c=0.1/x)", "or several separated by slashes"),
        ("ranksvm(loss=logistic)", "squared-hinge | hinge"),
        ("ranksvm(tolerance=1)", "below 1"),
        ("logistic(steps=0)", "from 1 on"),
        ("logistic(rel=x)", "a finite number"),
        ("linear-regression(l2=-1)", "a number from 0 on"),
        ("linear-regression(c=1)", "`linear-regression` has no parameter `c`"),
        ("ordinal(transform=whiten)", "query-min-max"),
    ] {
        let error = LearnerSpec::parse(spec).unwrap_err().to_string();
        assert!(error.contains(expected), "{spec}: {error}");
    }
    let text = LearnerSpec::parse("ranksvm(c=0.010 / 1e-1/1)").unwrap().to_string();
    assert_eq!(text, "ranksvm(c=0.01/0.1/1)");
}

#[test]
fn preference_pairs_of_the_data_replace_labels() {
    // The labels prefer high values of the first feature, the pairs low ones.
    let data = one_query(1, &[3.0, 2.0, 1.0], &[2.0, 1.0, 0.0]);
    for spec in ["ranksvm(c=1)", "ranksvm(c=1, loss=hinge)", "pairwise-logistic(c=1)"] {
        let by_labels = train(spec, &data).unwrap();
        assert!(linear_model(&by_labels).weights()[0] > 0.0, "{spec}");
        let with_preferences = with_pairs(data.clone(), "q 2 > 0\nq 1 > 0 0.5\nq 1 = 2\n");
        let by_pairs = train(spec, &with_preferences).unwrap();
        assert!(linear_model(&by_pairs).weights()[0] < 0.0, "{spec}");
    }
    let with_preferences = with_pairs(data, "q 2 > 0\n");
    let error = train("logistic", &with_preferences).unwrap_err().to_string();
    assert!(error.contains("does not learn from preference pairs"), "{error}");
}

#[test]
fn the_best_c_on_validation_data_is_chosen() {
    let data = LetorOptions { queries: 40, documents: 20, seed: 4 }.generate().unwrap();
    let valid = LetorOptions { queries: 40, documents: 20, seed: 5 }.generate().unwrap();
    let validation_sets = || vec![ValidationSet::new("valid", &valid)];
    let spec = LearnerSpec::parse("ranksvm(c=0.1/10/1000)").unwrap();
    let error = spec.train(TrainRequest::new(&data)).unwrap_err().to_string();
    assert!(error.contains("needs validation data"), "{error}");
    let request = TrainRequest::new(&data).validation_sets(validation_sets());
    let result = spec.train(request).unwrap();
    assert_eq!(result.history.unit, "value of c");
    let values: Vec<f64> = result.history.iterations.iter().map(|i| i.values[0][0]).collect();
    assert_eq!(values.len(), 3);
    let best = result.history.best.unwrap();
    assert!(values.iter().all(|value| *value <= values[best - 1]), "{values:?} {best}");
    let c = ["0.1", "10", "1000"][best - 1];
    assert_eq!(result.model.header().notes["c"], c);
    // The search that started from the weights of a smaller c ends at the same weights as one that
    // starts from 0.
    let alone = train(&format!("ranksvm(c={c})"), &data).unwrap();
    for (a, b) in alone.history.weights.iter().zip(&result.history.weights) {
        assert!((a - b).abs() < 0.02, "{a} {b}");
    }
}

#[test]
fn a_resumed_training_gives_the_same_bytes() {
    let data = LetorOptions { queries: 30, documents: 20, seed: 4 }.generate().unwrap();
    let valid = LetorOptions { queries: 10, documents: 20, seed: 5 }.generate().unwrap();
    for spec in ["ranksvm(loss=hinge)", "logistic", "ranksvm(c=0.1/1/10)"] {
        let spec = LearnerSpec::parse(spec).unwrap();
        let request = || {
            let validation_set = ValidationSet::new("valid", &valid);
            TrainRequest::new(&data).validation_sets(vec![validation_set])
        };
        let uninterrupted = spec.train(request()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut resumed: Option<Model> = None;
        for _ in 0..100 {
            let progress = StopAfterRounds::new(2);
            let checkpoints = Checkpoints::new(folder.path());
            let request = request().progress(&progress).checkpoints(checkpoints);
            let result = spec.train(request).unwrap();
            if result.finished {
                resumed = Some(result.model);
                break;
            }
        }
        assert!(resumed.unwrap().to_bytes() == uninterrupted.model.to_bytes(), "{spec}");
    }
}

#[test]
fn a_list_of_many_documents_costs_neither_quadratic_time_nor_memory() {
    // 200,000 documents are 10 billion pairs: visiting them would take minutes.
    let n = 200_000;
    let data = random_data(2, &[n], 3, 5, false);
    let started = std::time::Instant::now();
    let result = train("ranksvm", &data).unwrap();
    assert!(result.history.weights.iter().all(|weight| weight.is_finite()));
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

/// Parts of MQ2008, numbered from 1; `None` if RANKWRIGHT_DATA is not set.
fn mq2008(parts: &[usize]) -> Option<Dataset> {
    let folder = std::env::var_os("RANKWRIGHT_DATA").map(PathBuf::from)?;
    let folder = folder.join("mq2008");
    let paths: Vec<PathBuf> =
        parts.iter().map(|part| folder.join(format!("S{part}.txt"))).collect();
    Some(read(&paths, &ReadOptions::default()).unwrap().data)
}

#[test]
fn every_learner_is_better_than_chance_on_mq2008() {
    let (Some(data), Some(test)) = (mq2008(&[1, 2, 3]), mq2008(&[5])) else {
        return skipped();
    };
    for spec in SPECS {
        let spec = LearnerSpec::parse(spec).unwrap();
        let result = spec.train(TrainRequest::new(&data)).unwrap();
        let scores = result.model.score(&test, Default::default()).unwrap();
        let measure = spec.measure().unwrap();
        let value = crate::session::validation::values(&test, &scores, &[measure]).unwrap()[0];
        // A random order reaches 0.46.
        assert!(value > 0.62, "{spec}: {value}");
    }
}

/// Reports that a test on real data is skipped.
#[allow(clippy::print_stderr)]
fn skipped() {
    eprintln!("skipped: RANKWRIGHT_DATA is not set");
}
