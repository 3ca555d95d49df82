//! Edge cases of training data, each with its expected result: a model or an error, never a panic.

use rankwright_data::generate::LetorOptions;
use rankwright_data::{Dataset, DatasetBuilder};
use rankwright_eval::{Measure, MetricSpec, SourceKind};
use rankwright_learn::objective::{Lambda, LambdaConfig};
use rankwright_learn::prelude::*;
use rankwright_learn::tree::Growth;
use rankwright_learn::{KeptReason, LearnError, Newton, ValidationSet};
use rankwright_model::{Model, ModelBody, ScoreOptions, Tree};

/// Rows of (query, label, features).
fn data(rows: &[(&str, f64, &[f32])]) -> Dataset {
    builder(rows).build().unwrap()
}

fn builder(rows: &[(&str, f64, &[f32])]) -> DatasetBuilder {
    Dataset::builder()
        .rows(rows.iter().map(|(.., features)| features))
        .labels(rows.iter().map(|(_, label, _)| label))
        .query_ids(rows.iter().map(|(query, ..)| query))
}

fn generated(queries: usize, seed: u64) -> Dataset {
    LetorOptions { queries, documents: 40, seed }.generate().unwrap()
}

fn lambda() -> Lambda {
    LambdaConfig::for_metric(MetricSpec::parse("ndcg@10").unwrap()).check().unwrap()
}

/// Parameters of small trees without limits on rows and hessians.
fn params(trees: usize) -> Booster {
    Booster::new().trees(trees).leaves(4).min_rows(1).min_hessian(0.0)
}

fn train(data: &Dataset, params: Booster) -> Result<TrainResult, LearnError> {
    params.train(&mut lambda(), TrainRequest::new(data))
}

fn scores(model: &Model, data: &Dataset) -> Vec<f64> {
    model.score(data, ScoreOptions::default()).unwrap()
}

fn trees(model: &Model) -> &[Tree] {
    match model.body() {
        ModelBody::Trees(ensemble) => ensemble.trees(),
        _ => &[],
    }
}

fn ndcg() -> Measure {
    MetricSpec::parse("ndcg@10").unwrap().resolve(SourceKind::Features).unwrap()
}

#[test]
fn queries_of_one_document_give_a_constant_model() {
    let data = data(&[("a", 1.0, &[1.0]), ("b", 0.0, &[2.0]), ("c", 2.0, &[3.0])]);
    let model = train(&data, params(3)).unwrap().model;
    assert_eq!(scores(&model, &data), [0.0; 3]);
}

#[test]
fn equal_labels_give_a_constant_model() {
    let data =
        data(&[("a", 1.0, &[1.0]), ("a", 1.0, &[2.0]), ("b", 0.0, &[3.0]), ("b", 0.0, &[4.0])]);
    let model = train(&data, params(3)).unwrap().model;
    assert_eq!(scores(&model, &data), [0.0; 4]);
}

#[test]
fn one_query_is_enough_to_learn_from() {
    let data = data(&[("a", 0.0, &[3.0]), ("a", 2.0, &[1.0]), ("a", 1.0, &[2.0])]);
    let found = scores(&train(&data, params(20)).unwrap().model, &data);
    assert!(found[1] > found[2] && found[2] > found[0], "{found:?}");
}

#[test]
fn constant_features_give_trees_of_one_leaf() {
    let data = data(&[("a", 0.0, &[3.0]), ("a", 2.0, &[3.0]), ("a", 1.0, &[3.0])]);
    let model = train(&data, params(2)).unwrap().model;
    assert!(trees(&model).iter().all(|tree| tree.leaves().len() == 1));
}

#[test]
fn missing_and_infinite_values_can_be_split_off() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let with_missing =
        data(&[("a", 2.0, &[nan]), ("a", 0.0, &[1.0]), ("a", 2.0, &[nan]), ("a", 0.0, &[5.0])]);
    let model = train(&with_missing, params(5)).unwrap().model;
    let found = scores(&model, &with_missing);
    assert!(found[0] > found[1] && found[0] == found[2], "{found:?}");
    let infinite = data(&[("a", 0.0, &[-inf]), ("a", 2.0, &[inf]), ("a", 1.0, &[0.0])]);
    let found = scores(&train(&infinite, params(20)).unwrap().model, &infinite);
    assert!(found[1] > found[2] && found[2] > found[0], "{found:?}");
}

#[test]
fn a_missing_value_of_a_feature_never_missing_in_training_follows_the_majority() {
    let data =
        data(&[("a", 2.0, &[1.0]), ("a", 0.0, &[2.0]), ("a", 0.0, &[2.0]), ("a", 0.0, &[2.0])]);
    let model = train(&data, params(1)).unwrap().model;
    assert_eq!(model.score_row(&[f32::NAN]), model.score_row(&[2.0]));
}

#[test]
fn negative_labels_have_no_gain_and_can_be_trained_on() {
    let data = data(&[("a", -1.0, &[3.0]), ("a", 2.0, &[1.0]), ("a", 0.0, &[2.0])]);
    let found = scores(&train(&data, params(10)).unwrap().model, &data);
    assert!(found[1] > found[0] && found[1] > found[2], "{found:?}");
}

#[test]
fn data_without_rows_is_an_error() {
    let empty = data(&[]);
    let message = train(&empty, params(1)).unwrap_err().to_string();
    assert!(message.contains("empty"), "{message}");
}

#[test]
fn validation_data_without_a_relevant_document_is_an_error() {
    let (data, irrelevant) = (generated(6, 1), data(&[("x", 0.0, &[0.0; 136])]));
    let valid = vec![ValidationSet::new("valid.txt", &irrelevant)];
    let request = TrainRequest::new(&data).validation_sets(valid).metrics([ndcg()]);
    let error = params(2).train(&mut lambda(), &request).unwrap_err();
    assert!(error.to_string().contains("no query of valid.txt has a value for ndcg@10"), "{error}");
}

#[test]
fn stopping_without_validation_data_is_an_error() {
    let stopping = params(5).stop(3);
    let message = train(&generated(6, 1), stopping).unwrap_err().to_string();
    assert!(message.contains("needs validation data"), "{message}");
}

#[test]
fn stopping_keeps_the_best_number_of_trees() {
    let (train_data, valid_data) = (generated(30, 1), generated(20, 2));
    let valid = vec![ValidationSet::new("valid", &valid_data)];
    let request = TrainRequest::new(&train_data).validation_sets(valid).metrics([ndcg()]);
    let stopping = params(300).stop(5).rate(0.5);
    let result = stopping.train(&mut lambda(), &request).unwrap();
    let best = result.history.best.unwrap();
    assert_eq!(trees(&result.model).len(), best);
    assert_eq!(result.history.iterations.len(), best + 5);
    let values: Vec<f64> = result.history.iterations.iter().map(|i| i.values[0][0]).collect();
    assert!(values.iter().all(|value| *value <= values[best - 1]));
}

#[test]
fn an_own_objective_with_validation_data_keeps_the_best_trees_without_a_metric() {
    let (train_on, valid_on) = (generated(30, 1), generated(20, 2));
    let request = TrainRequest::new(&train_on).validation(&valid_on);
    for booster in [params(60).rate(0.5), params(300).stop(5).rate(0.5)] {
        let result = booster.train(&mut lambda(), &request).unwrap();
        let best = result.history.best.unwrap();
        assert_eq!(result.history.metrics, ["ndcg@10"]);
        assert_eq!(trees(&result.model).len(), best);
        assert!(best < result.history.iterations.len(), "{best}");
        let kept = result.history.kept.unwrap();
        assert!(matches!(kept.reason, KeptReason::BestOnValidation { .. }), "{kept:?}");
    }
}

#[test]
fn every_limit_of_a_tree_holds_exactly() {
    let data = generated(40, 3);
    let limited = Booster::new().trees(4).leaves(40).depth(4).min_rows(37).l1(0.01).l2(1.0);
    for growth in [Growth::LeafWise, Growth::DepthWise] {
        let params = limited.clone().growth(growth);
        let model = train(&data, params).unwrap().model;
        for tree in trees(&model) {
            assert!(tree.depth() <= 4);
            assert!(tree.leaves().iter().all(|leaf| leaf.rows >= 37), "{:?}", tree.leaves());
            assert_eq!(tree.leaves().iter().map(|l| l.rows).sum::<u64>(), data.rows() as u64);
        }
    }
}

#[test]
fn monotone_constraints_hold_for_every_document() {
    let data = generated(40, 5);
    // Feature 22 (BM25 of the body) may only raise a score, feature 11 (its length) only lower it.
    // In specs features count from 1, in the model from 0.
    let params = Booster::new().trees(15).rate(0.3).leaves(15).monotone("22:+/11:-");
    let model = train(&data, params).unwrap().model;
    assert!(trees(&model).iter().flat_map(Tree::splits).any(|split| split.feature == 21));
    for row in (0..data.rows()).step_by(7) {
        let mut values = data.matrix().row(row).to_vec();
        for (feature, sign) in [(21, 1.0), (10, -1.0)] {
            let original = values[feature];
            let mut last = f64::NEG_INFINITY;
            for step in 0..60 {
                values[feature] = sign * (step as f32 * 0.8 - if sign < 0.0 { 48.0 } else { 0.0 });
                let score = model.score_row(&values);
                assert!(score >= last - 1e-12, "feature {feature}, row {row}");
                last = score;
            }
            values[feature] = original;
        }
    }
}

#[test]
fn a_query_of_weight_zero_changes_nothing() {
    let mut rows = Vec::new();
    let all_features: Vec<Vec<f32>> =
        (0..40).map(|i| vec![(i * 7 % 11) as f32, (i % 5) as f32]).collect();
    for (i, features) in all_features.iter().enumerate() {
        rows.push((if i < 20 { "kept" } else { "ignored" }, (i % 3) as f64, features.as_slice()));
    }
    let weights = (0..40).map(|row| if row < 20 { 1.0 } else { 0.0 });
    let weighted = builder(&rows).query_weights(weights).build().unwrap();
    let model = |data: &Dataset| train(data, params(8)).unwrap().model;
    let (of_weighted, of_kept) = (model(&weighted), model(&data(&rows[..20])));
    for features in &all_features[..20] {
        assert_eq!(of_weighted.score_row(features), of_kept.score_row(features));
    }
}

#[test]
fn every_newton_step_learns_and_a_pointwise_objective_refuses_those_of_pairs() {
    let data = generated(30, 8);
    for newton in [Newton::PerDocument, Newton::CrossLeaf, Newton::Joint] {
        let params = params(10).newton(newton);
        let request = TrainRequest::new(&data).evaluate_training(true).metrics([ndcg()]);
        let result = params.train(&mut lambda(), &request).unwrap();
        let ndcg_after = |tree: usize| result.history.iterations[tree].values[0][0];
        let (first, last) = (ndcg_after(0), ndcg_after(9));
        assert!(last > first, "{newton:?}: {last} after {first}");
    }
    let joint = params(1).newton(Newton::Joint);
    let mut squared = rankwright_learn::objective::Squared;
    let error = joint.train(&mut squared, TrainRequest::new(&data)).unwrap_err().to_string();
    assert!(error.contains("this one has none"), "{error}");
}

#[test]
fn trees_are_added_to_a_start_model() {
    let data = generated(30, 4);
    // Squared error makes no random draws, so four trees and six more are the same as ten.
    let grow = |count: usize, start: Option<&Model>| {
        let mut squared = rankwright_learn::objective::Squared;
        let request = TrainRequest::new(&data).start(start);
        params(count).train(&mut squared, &request).unwrap().model
    };
    let (four, ten) = (grow(4, None), grow(10, None));
    let more = grow(6, Some(&four));
    assert_eq!(trees(&more), trees(&ten));
    assert_eq!(scores(&more, &data), scores(&ten, &data));
    // Trees grown without the scores of the start model would repeat its trees.
    assert_ne!(trees(&more)[4..8], trees(&four)[..]);
}

#[test]
fn a_start_model_must_treat_absent_features_like_the_data() {
    let data = generated(10, 4);
    let model = train(&data, params(1)).unwrap().model;
    let (mut header, body) = model.into_parts();
    header.absent = rankwright_data::Absent::Missing;
    let other_model = Model::new(header, body).unwrap();
    let request = TrainRequest::new(&data).start(&other_model);
    let error = params(1).train(&mut lambda(), &request).unwrap_err();
    assert!(error.to_string().contains("absent"), "{error}");
}

#[test]
fn the_l1_penalty_shrinks_leaves_in_every_newton_step() {
    let data = generated(20, 6);
    for newton in [Newton::PerDocument, Newton::CrossLeaf, Newton::Joint] {
        let leaf_size = |l1: f64| {
            let params = params(1).newton(newton).leaves(2).l1(l1);
            trees(&train(&data, params).unwrap().model)[0].leaves()[0].value.abs()
        };
        assert!(leaf_size(0.5) < leaf_size(0.0), "{newton:?}");
    }
}

#[test]
fn the_joint_newton_step_has_a_limit_of_leaves() {
    let many_leaves = params(1).newton(Newton::Joint).leaves(5000);
    let error = train(&generated(20, 6), many_leaves).unwrap_err().to_string();
    assert!(error.contains("leaves is above 2048"), "{error}");
}

#[test]
fn a_query_of_a_million_documents_trains() {
    let n = 1_000_000;
    let values: Vec<f32> = (0..n).map(|i| (i * 7919 % n) as f32).collect();
    let labels = (0..n).map(|i| u8::from(i * 7919 % n < 1000));
    let data = Dataset::from_dense(values, 1, labels, vec!["all"; n]).unwrap();
    let model = train(&data, params(2)).unwrap().model;
    assert!(model.score_row(&[10.0]) > model.score_row(&[900_000.0]));
}

/// A spec within a spec is read by recursion; an overflow of the stack cannot be caught.
#[test]
fn deeply_nested_learners_are_refused_on_a_small_stack() {
    let nested =
        |start: &str, levels: usize| format!("{}mart{}", start.repeat(levels), ")".repeat(levels));
    let on_small_stack = std::thread::Builder::new().stack_size(512 << 10);
    let tried = on_small_stack.spawn(move || {
        for start in ["blend(members=", "bagging(learner="] {
            let error = LearnerSpec::parse(&nested(start, 5000)).unwrap_err();
            let message = error.to_string();
            assert!(message.ends_with("nest more than 64 levels deep"), "{message}");
            // The deepest nesting that is read: a learner or an error of its own.
            let _ = LearnerSpec::parse(&nested(start, 64));
        }
        let space = format!("learner=choice({})", nested("bagging(learner=", 5000));
        assert!(rankwright_learn::tune::Space::parse(&space).is_err());
    });
    tried.unwrap().join().unwrap();
}
