//! An example of a regression tree and of MART worked out by hand, through the public interface.

use rankwright_data::Dataset;
use rankwright_learn::objective::Squared;
use rankwright_learn::prelude::*;
use rankwright_model::{ModelBody, Tree};

/// Seventeen documents in one query: five of label 1, four of label 2, three of label 3, five of
/// label 4. Feature x1 separates the labels 1 and 2 from 3 and 4; x2 is low for two of label 1, two
/// of label 2 and all of label 3.
fn points() -> Dataset {
    let mut values = Vec::new();
    let mut labels = Vec::new();
    for (label, count, low_x2) in [(1.0, 5, 2), (2.0, 4, 2), (3.0, 3, 3), (4.0, 5, 0)] {
        for i in 0..count {
            let x1 = if label < 2.5 { 0.2 } else { 0.7 };
            let x2 = if i < low_x2 { 0.1 } else { 0.9 };
            values.extend([x1, x2]);
            labels.push(label);
        }
    }
    let data = Dataset::builder().dense(values, 2).feature_names(["x1", "x2"]);
    data.query_ids(vec!["all"; labels.len()]).labels(labels).build().unwrap()
}

fn train(data: &Dataset, params: Booster) -> TrainResult {
    let request = TrainRequest::new(data).evaluate_training(true);
    params.train(&mut Squared, &request).unwrap()
}

/// Parameters of trees of two leaves, at rate 1.
fn stumps(trees: usize) -> Booster {
    Booster::new().trees(trees).rate(1.0).leaves(2).min_rows(1)
}

/// The initial score and the trees.
fn trees(result: &TrainResult) -> (f64, &[Tree]) {
    match result.model.body() {
        ModelBody::Trees(ensemble) => (ensemble.base(), ensemble.trees()),
        _ => panic!("no trees"),
    }
}

fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 0.0005, "{found} instead of {expected}");
}

#[test]
fn two_trees_have_the_values_worked_out_by_hand() {
    let data = points();
    let result = train(&data, stumps(2));
    let (base, trees) = trees(&result);
    assert_near(base, 2.4706);
    assert_eq!(trees[0].splits()[0].feature, 0);
    assert_near(trees[0].leaves()[0].value, -1.0261);
    assert_near(trees[0].leaves()[1].value, 1.1544);
    // The loss after the first split: the mean of half the squared errors.
    assert_near(result.history.iterations[0].loss.unwrap(), 0.1205);
    assert_near(base + trees[0].value(&[0.2, 0.1]), 1.4444);
    assert_near(base + trees[0].value(&[0.7, 0.1]), 3.625);
    assert_eq!(trees[1].splits()[0].feature, 1);
    assert_near(trees[1].leaves()[0].value, -0.2361);
    assert_near(trees[1].leaves()[1].value, 0.1653);
}

#[test]
fn the_gain_of_a_split_is_the_fall_of_the_loss() {
    let data = points();
    let result = train(&data, stumps(1));
    let (base, trees) = trees(&result);
    let before: f64 = data.labels().iter().map(|y| (y - base).powi(2) / 2.0).sum();
    let after = result.history.iterations[0].loss.unwrap() * data.rows() as f64;
    assert_near(trees[0].splits()[0].gain, before - after);
}

#[test]
fn a_leaf_that_is_pure_enough_is_not_split() {
    let data = points();
    let leaf_count = |impurity: f64| {
        let params = stumps(1).leaves(10).impurity(impurity);
        trees(&train(&data, params)).1[0].leaves().len()
    };
    // The impurity (the mean of half the squared errors) of all documents is 0.7128, that of the
    // two sides of the first split 0.1235 and 0.1172.
    assert_eq!([leaf_count(0.75), leaf_count(0.13), leaf_count(0.12)], [1, 2, 3]);
}

#[test]
fn the_line_search_finds_a_step_of_1_for_squared_error() {
    let data = points();
    let result = train(&data, stumps(1).line_search(true));
    assert_near(result.history.iterations[0].step.unwrap(), 1.0);
}
