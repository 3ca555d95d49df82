//! What used to give nonsense without a word, and is an error now.
#![cfg(feature = "train")]

use rankwright::eval::ScoredQueries;
use rankwright::model::{ExplainOptions, Explainer, ScoreOptions};
use rankwright::prelude::*;

fn data() -> Dataset {
    let values: Vec<f32> = (0..12).map(|n| n as f32).collect();
    // The rows of the queries are scattered.
    Dataset::from_dense(&values, 2, [0, 1, 0, 1, 1, 0], ["a", "b", "a", "b", "a", "b"]).unwrap()
}

#[test]
fn numbers_out_of_range_are_errors() {
    let data = data();
    assert!(data.matrix().select(&[0, 99]).is_err());
    assert!(data.matrix().select(&[6]).is_err());
    assert_eq!(data.matrix().select(&[5, 0]).unwrap().rows(), 2);
    assert!(data.select_queries(&[99]).is_err());
    assert!(data.select_queries(&[2]).is_err());
    assert_eq!(data.select_queries(&[1, 0]).unwrap().rows(), 6);
    for values in [&[1.0; 5][..], &[1.0; 7], &[]] {
        assert!(data.to_source_order(values).is_err());
        assert!(data.from_source_order(values).is_err());
    }
    let rows: Vec<usize> = (0..6).collect();
    let there = data.to_source_order(&rows).unwrap();
    assert_eq!(data.from_source_order(&there).unwrap(), rows);
    let model = Mart::new().trees(2).min_rows(1).fit(&data).unwrap().model;
    let explainer = Explainer::new(&model, ExplainOptions::default()).unwrap();
    assert!(explainer.explain(&data, &[99]).is_err());
    assert!(explainer.explain(&data, &[2]).is_err());
    assert_eq!(explainer.explain(&data, &[1]).unwrap().len(), 1);
    assert!(model.score_permuted(&data, ScoreOptions::default(), 9, &[0; 6]).is_err());
    assert!(model.score_permuted(&data, ScoreOptions::default(), 0, &[9; 6]).is_err());
}

#[test]
fn two_features_of_one_name_are_refused() {
    let built = Dataset::from_rows([[1.0, 2.0]], ["x", "x"]).labels([1]).query_ids(["a"]).build();
    assert!(built.unwrap_err().to_string().contains("x"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("d.csv");
    std::fs::write(&file, "qid,label,x,x\na,1,2,3\n").unwrap();
    assert!(Dataset::read(&file).is_err());
}

#[test]
fn queries_that_share_rows_are_refused() {
    let (labels, scores) = ([1.0, 0.0, 1.0], [0.3, 0.2, 0.1]);
    let ids = || vec!["a", "b"];
    assert!(ScoredQueries::new(&labels, &scores, vec![0..2, 1..3], ids()).is_err());
    assert!(ScoredQueries::new(&labels, &scores, vec![0..2, 2..4], ids()).is_err());
    assert!(ScoredQueries::new(&labels, &scores, vec![2..3, 0..2], ids()).is_ok());
}

#[test]
fn one_leaf_is_refused() {
    for spec in
        ["lambdamart(leaves=1)", "mart(leaves=0)", "random-forest(leaves=1)", "tree(leaves=1)"]
    {
        let error = LearnerSpec::parse(spec).unwrap_err().to_string();
        assert!(error.contains("from 2 to"), "{error}");
    }
    let error = Mart::new().leaves(1).fit(&data()).unwrap_err().to_string();
    assert!(error.contains("leaves=1"), "{error}");
}

#[test]
fn systems_are_compared_query_by_query_whatever_their_order() {
    // Two documents in each of 40 queries; the second system is better for some of them.
    let queries: Vec<String> = (0..80).map(|row| format!("q{}", row / 2)).collect();
    let labels: Vec<f64> = (0..80).map(|row| f64::from(row % 2)).collect();
    let scores = |flip: usize| -> Vec<f64> {
        (0..80).map(|row| if row / 2 % flip == 0 { -(row as f64) } else { row as f64 }).collect()
    };
    let reversed = |values: &[f64]| values.iter().rev().copied().collect::<Vec<f64>>();
    let ids: Vec<&str> = queries.iter().map(String::as_str).collect();
    let back: Vec<&str> = ids.iter().rev().copied().collect();
    let first = evaluate_slices(&scores(3), &labels, &ids, ["ndcg@10"]).unwrap();
    let second = evaluate_slices(&scores(5), &labels, &ids, ["ndcg@10"]).unwrap();
    let turned =
        evaluate_slices(&reversed(&scores(5)), &reversed(&labels), &back, ["ndcg@10"]).unwrap();
    let compare = |other| {
        let systems = [("first".to_owned(), first.clone()), ("second".to_owned(), other)];
        compare_evaluations(&systems, &CompareOptions::default()).unwrap()
    };
    let (straight, turned) = (compare(second), compare(turned));
    let of = |comparison: &Comparison| format!("{:?}", comparison.metrics[0].systems[1]);
    assert_eq!(of(&straight), of(&turned));
}
