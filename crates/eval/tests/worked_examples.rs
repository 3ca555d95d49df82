//! Values of metrics that were worked out by hand.

use crate::common::{measure, value};
use rankwright_eval::of_ranking;

/// The value of a metric for labels by rank.
fn value_of_ranking(spec: &str, labels: &[f64]) -> f64 {
    of_ranking(spec, labels).unwrap().unwrap()
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() < tolerance, "found {found}, expected {expected}");
}

#[test]
fn linear_ndcg_and_its_two_swaps() {
    let list = [0.0, 1.0, 0.0, 1.0, 1.0];
    close(value_of_ranking("dcg(gain=linear)@5", &list), 1.4485, 5e-5);
    close(value_of_ranking("dcg(gain=linear)@5", &[1.0, 1.0, 1.0, 0.0, 0.0]), 2.1309, 5e-5);
    close(value_of_ranking("ndcg(gain=linear)@5", &list), 0.6797, 5e-5);
    // The list after a swap of its ranks 1 and 2, and after one of its ranks 3 and 4.
    let first_swap = [1.0, 0.0, 0.0, 1.0, 1.0];
    close(value_of_ranking("dcg(gain=linear)@5", &first_swap), 1.8175, 5e-5);
    close(value_of_ranking("ndcg(gain=linear)@5", &first_swap), 0.8529, 5e-5);
    let second_swap = [0.0, 1.0, 1.0, 0.0, 1.0];
    close(value_of_ranking("dcg(gain=linear)@5", &second_swap), 1.5178, 5e-5);
    close(value_of_ranking("ndcg(gain=linear)@5", &second_swap), 0.7123, 5e-5);

    let mut swap = measure("ndcg(gain=linear)@5").swap().unwrap();
    swap.prepare(&list, &[1.0, 1.0, 1.0, 0.0, 0.0]).unwrap();
    let mut row = [0.0; 5];
    swap.swap_deltas(0, &mut row);
    close(row[1], 0.17, 5e-3);
    swap.swap_deltas(2, &mut row);
    close(row[3], 0.03, 5e-3);
}

#[test]
fn exponential_ndcg_of_two_score_columns() {
    // Equal scores are in row order, as in the source of the example.
    let labels = [3.0, 2.0, 1.0, 0.0, 0.0];
    let spec = "ndcg(ties=stable)@5";
    close(value(spec, &[3.0, 0.0, 2.0, 1.0, 0.0], &labels), 0.94998, 5e-6);
    close(value(spec, &[3.0, 2.0, 0.0, 1.0, 0.0], &labels), 0.99262, 5e-6);
}

#[test]
fn fewer_inversions_and_yet_a_lower_ndcg() {
    // A list of 16 documents with relevant ones at two ranks, from 1.
    let list = |a: usize, b: usize| {
        let mut labels = [0.0; 16];
        labels[a - 1] = 1.0;
        labels[b - 1] = 1.0;
        labels
    };
    let (before, after) = (list(1, 15), list(4, 10));
    assert_eq!(value_of_ranking("inversions", &before), 13.0);
    assert_eq!(value_of_ranking("inversions", &after), 11.0);
    close(value_of_ranking("ndcg", &before), 0.766, 5e-4);
    close(value_of_ranking("ndcg", &after), 0.441, 5e-4);
}

#[test]
fn the_formula_of_a_swap_equals_the_difference_of_two_evaluations() {
    let labels = [1.0, 3.0, 0.0, 2.0, 4.0, 0.0, 1.0];
    let mut ideal: [f64; 7] = labels;
    ideal.sort_by(|a, b| b.total_cmp(a));
    let ideal_dcg = value_of_ranking("dcg", &ideal);
    let before = value_of_ranking("ndcg", &labels);
    for j in 0..labels.len() {
        for k in 0..labels.len() {
            let mut swapped = labels;
            swapped.swap(j, k);
            let discount = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
            let gain_difference = labels[j].exp2() - labels[k].exp2();
            let formula = (gain_difference / ideal_dcg * (discount(j) - discount(k))).abs();
            close((value_of_ranking("ndcg", &swapped) - before).abs(), formula, 1e-12);
        }
    }
}
