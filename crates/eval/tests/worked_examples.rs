//! Values of metrics that were worked out by hand.

use crate::common::{measure, value};
use rankwright_eval::of_ranking;

fn ranked(spec: &str, labels: &[f64]) -> f64 {
    of_ranking(spec, labels).unwrap().unwrap()
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() < tolerance, "found {found}, expected {expected}");
}

#[test]
fn linear_ndcg_and_its_two_swaps() {
    let list = [0.0, 1.0, 0.0, 1.0, 1.0];
    close(ranked("dcg(gain=linear)@5", &list), 1.4485, 5e-5);
    close(ranked("dcg(gain=linear)@5", &[1.0, 1.0, 1.0, 0.0, 0.0]), 2.1309, 5e-5);
    close(ranked("ndcg(gain=linear)@5", &list), 0.6797, 5e-5);
    let first = [1.0, 0.0, 0.0, 1.0, 1.0];
    close(ranked("dcg(gain=linear)@5", &first), 1.8175, 5e-5);
    close(ranked("ndcg(gain=linear)@5", &first), 0.8529, 5e-5);
    let second = [0.0, 1.0, 1.0, 0.0, 1.0];
    close(ranked("dcg(gain=linear)@5", &second), 1.5178, 5e-5);
    close(ranked("ndcg(gain=linear)@5", &second), 0.7123, 5e-5);

    let mut swap = measure("ndcg(gain=linear)@5").swap().unwrap();
    swap.prepare(&list, &[1.0, 1.0, 1.0, 0.0, 0.0]).unwrap();
    let mut row = [0.0; 5];
    swap.row(0, &mut row);
    close(row[1], 0.17, 5e-3);
    swap.row(2, &mut row);
    close(row[3], 0.03, 5e-3);
}

#[test]
fn exponential_ndcg_of_two_score_columns() {
    // Equal scores are in row order, as in the slides.
    let labels = [3.0, 2.0, 1.0, 0.0, 0.0];
    let spec = "ndcg(ties=stable)@5";
    close(value(spec, &[3.0, 0.0, 2.0, 1.0, 0.0], &labels), 0.94998, 5e-6);
    close(value(spec, &[3.0, 2.0, 0.0, 1.0, 0.0], &labels), 0.99262, 5e-6);
}

#[test]
fn fewer_inversions_and_yet_a_lower_ndcg() {
    let list = |a: usize, b: usize| {
        let mut labels = [0.0; 16];
        labels[a - 1] = 1.0;
        labels[b - 1] = 1.0;
        labels
    };
    let (before, after) = (list(1, 15), list(4, 10));
    assert_eq!(ranked("inversions", &before), 13.0);
    assert_eq!(ranked("inversions", &after), 11.0);
    close(ranked("ndcg", &before), 0.766, 5e-4);
    close(ranked("ndcg", &after), 0.441, 5e-4);
}

#[test]
fn the_delta_formula_equals_two_evaluations() {
    let labels = [1.0, 3.0, 0.0, 2.0, 4.0, 0.0, 1.0];
    let mut ideal: [f64; 7] = labels;
    ideal.sort_by(|a, b| b.total_cmp(a));
    let best = ranked("dcg", &ideal);
    let before = ranked("ndcg", &labels);
    for j in 0..labels.len() {
        for k in 0..labels.len() {
            let mut swapped = labels;
            swapped.swap(j, k);
            let discount = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
            let gains = labels[j].exp2() - labels[k].exp2();
            let formula = (gains / best * (discount(j) - discount(k))).abs();
            close((ranked("ndcg", &swapped) - before).abs(), formula, 1e-12);
        }
    }
}
