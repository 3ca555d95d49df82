//! An example of a regression tree and of MART worked out by hand, through the public interface.

use rankwright_data::Dataset;
use rankwright_learn::objective::Squared;
use rankwright_learn::prelude::*;
use rankwright_model::{ModelBody, Tree};

/// Seventeen points: labels 1 x5, 2 x4, 3 x3, 4 x5. x1 parts {1, 2} from {3, 4}; x2 is low for two
/// of the ones, two of the twos and all the threes.
fn points() -> Dataset {
    let mut values = Vec::new();
    let mut labels = Vec::new();
    for (label, count, low) in [(1.0, 5, 2), (2.0, 4, 2), (3.0, 3, 3), (4.0, 5, 0)] {
        for i in 0..count {
            values.extend([if label < 2.5 { 0.2 } else { 0.7 }, if i < low { 0.1 } else { 0.9 }]);
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

fn stumps(trees: usize) -> Booster {
    Booster::new().trees(trees).rate(1.0).leaves(2).min_rows(1)
}

fn trees(result: &TrainResult) -> (f64, &[Tree]) {
    match result.model.body() {
        ModelBody::Trees(ensemble) => (ensemble.base(), ensemble.trees()),
        _ => panic!("no trees"),
    }
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 0.0005, "{found} instead of {expected}");
}

#[test]
fn two_trees_come_out_as_worked_by_hand() {
    let data = points();
    let result = train(&data, stumps(2));
    let (base, trees) = trees(&result);
    near(base, 2.4706);
    assert_eq!(trees[0].splits()[0].feature, 0);
    near(trees[0].leaves()[0].value, -1.0261);
    near(trees[0].leaves()[1].value, 1.1544);
    // G after the first split is the mean of half the squared errors that remain.
    near(result.history.iterations[0].loss.unwrap(), 0.1205);
    near(base + trees[0].value(&[0.2, 0.1]), 1.4444);
    near(base + trees[0].value(&[0.7, 0.1]), 3.625);
    assert_eq!(trees[1].splits()[0].feature, 1);
    near(trees[1].leaves()[0].value, -0.2361);
    near(trees[1].leaves()[1].value, 0.1653);
}

#[test]
fn the_gain_of_a_split_is_the_fall_of_the_loss() {
    let data = points();
    let result = train(&data, stumps(1));
    let (base, trees) = trees(&result);
    let before: f64 = data.labels().iter().map(|y| (y - base).powi(2) / 2.0).sum();
    let after = result.history.iterations[0].loss.unwrap() * 17.0;
    near(trees[0].splits()[0].gain, before - after);
}

#[test]
fn a_leaf_that_is_pure_enough_is_not_split() {
    let data = points();
    let grown = |impurity: f64| {
        let params = stumps(1).leaves(10).impurity(impurity);
        trees(&train(&data, params)).1[0].leaves().len()
    };
    // G of the whole is 0.7145, of its halves 0.1235 and 0.1172.
    assert_eq!([grown(0.75), grown(0.13), grown(0.12)], [1, 2, 3]);
}

#[test]
fn the_line_search_finds_the_full_step_for_squared_loss() {
    let data = points();
    let result = train(&data, stumps(1).line_search(true));
    near(result.history.iterations[0].step.unwrap(), 1.0);
}
