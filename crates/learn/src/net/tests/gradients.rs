//! Gradients against finite differences, and RankNet's two forms (factored by document, and pair by
//! pair) against each other.

use rankwright_model::Activation;

use super::super::shape::HiddenNorm;
use super::*;
use crate::boost::queries::QueryPass;
use crate::objective::{Derivatives, ObjectiveBuffers, QueryView};

/// The derivative of a function with respect to each parameter, by finite differences.
fn finite_differences(parameters: &[f32], step: f32, function: impl Fn(&[f32]) -> f64) -> Vec<f64> {
    let slope = |index: usize| {
        // The value of the function, and the moved parameter as it was rounded to 32 bits.
        let moved = |by: f32| {
            let mut moved = parameters.to_vec();
            moved[index] += by;
            (function(&moved), f64::from(moved[index]))
        };
        let ((value_up, up), (value_down, down)) = (moved(step), moved(-step));
        (value_up - value_down) / (up - down)
    };
    (0..parameters.len()).map(slope).collect()
}

/// The sum of the losses of all queries.
fn total_loss(fixture: &NetFixture<'_>, parameters: &[f32]) -> f64 {
    let scores = fixture.scores(parameters);
    let mut queries = TrainingQueries::new(fixture.data, fixture.loss.objective.as_ref());
    let pass = QueryPass {
        objective: fixture.loss.objective.as_ref(),
        scores: &scores,
        seed: 7,
        multiplicities: None,
    };
    queries.loss(pass).unwrap().unwrap()
}

#[test]
fn the_gradient_of_every_loss_agrees_with_finite_differences() {
    let data = data(&[9, 1, 14, 6], 4, 1);
    for text in [
        "ranknet",
        "ranknet(sigma=2, ties=half)",
        "listnet",
        "listmle",
        "listmle(top=3)",
        "softmax",
        "softmax(target=label)",
        "softmax(target=noisy-gain)",
        "approxndcg",
        "approxndcg(temperature=0.5)",
    ] {
        for hidden in [&[][..], &[6, 5]] {
            let shape = NetShape::new(4, hidden, HiddenNorm::None, Activation::Tanh);
            let fixture = NetFixture::new(text, &data, shape);
            let expected = finite_differences(&fixture.parameters, 3e-3, |parameters| {
                total_loss(&fixture, parameters)
            });
            let relative_difference = relative_difference(&fixture.gradient(), &expected);
            assert!(relative_difference < 3e-3, "{text} {hidden:?}: {relative_difference}");
        }
    }
}

/// With a metric there is no loss: the lambdas are held constant, and the sum of scores times
/// lambdas replaces the loss.
#[test]
fn with_lambdas_the_gradient_agrees_with_finite_differences() {
    let data = data(&[9, 14, 6], 4, 2);
    for metric in ["ndcg@5", "ap", "err@10", "rbp", "rr", "p@3", "dcg"] {
        let text = format!("lambdarank(metric={metric})");
        let shape = NetShape::new(4, &[6, 5], HiddenNorm::None, Activation::Gelu);
        let fixture = NetFixture::new(&text, &data, shape);
        let scores = fixture.scores(&fixture.parameters);
        let mut lambdas = vec![0.0; data.rows()];
        for query in 0..data.queries() {
            let rows = data.query_rows(query);
            let view = QueryView {
                query,
                seed: 7,
                ..QueryView::new(&data.labels()[rows.clone()], &scores[rows.clone()])
            };
            let (gradient, hessian) = (&mut lambdas[rows.clone()], &mut vec![0.0; rows.len()]);
            let mut out = Derivatives { gradient, hessian, cache: &mut [] };
            fixture
                .loss
                .objective
                .derivatives(&view, &mut ObjectiveBuffers::default(), &mut out)
                .unwrap();
        }
        let scores_times_lambdas = |parameters: &[f32]| {
            let scores = fixture.scores(parameters);
            scores.iter().zip(&lambdas).map(|(s, l)| s * f64::from(*l)).sum::<f64>()
        };
        let expected = finite_differences(&fixture.parameters, 1e-2, scores_times_lambdas);
        let relative_difference = relative_difference(&fixture.gradient(), &expected);
        assert!(relative_difference < 3e-3, "{metric}: {relative_difference}");
    }
}

#[test]
fn the_gradient_of_every_kind_of_layer_agrees_with_finite_differences() {
    // Several blocks of rows; the second query is in more than one.
    let data = data(&[40, 300, 9], 3, 3);
    for norm in [HiddenNorm::None, HiddenNorm::Layer, HiddenNorm::Batch] {
        for activation in [Activation::Relu, Activation::Gelu, Activation::Tanh] {
            let shape = NetShape::new(3, &[7, 4], norm, activation);
            let fixture = NetFixture::new("listnet", &data, shape);
            // ReLU has no derivative at 0: a difference across 0 is wrong, and smaller steps cross
            // 0 less often.
            let step = if activation == Activation::Relu { 1e-3 } else { 5e-3 };
            let expected = finite_differences(&fixture.parameters, step, |parameters| {
                total_loss(&fixture, parameters)
            });
            let relative_difference = relative_difference(&fixture.gradient(), &expected);
            assert!(relative_difference < 0.01, "{norm:?} {activation:?}: {relative_difference}");
        }
    }
}

/// Checks that the losses of two specs have the same gradient.
fn assert_same_gradient(text: &str, other: &str, data: &Dataset) {
    let shape = || NetShape::new(data.columns(), &[6, 5], HiddenNorm::Layer, Activation::Relu);
    let expected = NetFixture::new(other, data, shape()).gradient();
    let expected: Vec<f64> = expected.iter().map(|g| f64::from(*g)).collect();
    let relative_difference =
        relative_difference(&NetFixture::new(text, data, shape()).gradient(), &expected);
    assert!(relative_difference < 1e-5, "{text} {other}: {relative_difference}");
    // Two gradients of 0 would be equal whatever the code does.
    assert!(super::norm(&expected) > 1e-3);
}

#[test]
fn ranknet_pair_by_pair_and_factored_have_the_same_gradient() {
    let labelled = data(&[9, 14, 30, 2], 4, 4);
    assert_same_gradient("ranknet(factored=false)", "ranknet", &labelled);
    assert_same_gradient(
        "ranknet(factored=false, sigma=1.7, ties=half)",
        "ranknet(sigma=1.7, ties=half)",
        &labelled,
    );
    let pairs = "0 0 4 0.5\n0 4 > 7 2\n1 12 = 9 0.25\n1 10 11\n2 30 24 3\n";
    let with_preferences = with_pairs(data(&[9, 14, 30, 2], 4, 4), pairs);
    assert_same_gradient("ranknet(factored=false)", "ranknet", &with_preferences);
    // Preferences replace the labels.
    let gradient = |data: &Dataset| {
        let shape = NetShape::new(4, &[], HiddenNorm::None, Activation::None);
        NetFixture::new("ranknet", data, shape).gradient()
    };
    assert!(gradient(&with_preferences) != gradient(&labelled));
}

/// The gradient with respect to the weight of a single feature. The weight is 1, so that the scores
/// are the values of the feature.
fn linear_gradient(data: &Dataset) -> f32 {
    let shape = NetShape::new(1, &[], HiddenNorm::None, Activation::None);
    let fixture = NetFixture { parameters: vec![1.0], ..NetFixture::new("ranknet", data, shape) };
    fixture.gradient()[0]
}

/// If the net gives the correct order the probability 0.2, lambda is -0.8; the gradient with
/// respect to the weight of the one feature is -0.8 times the difference of its two values.
#[test]
fn a_linear_scorer_gives_the_numbers_worked_out_by_hand() {
    // A score difference of ln(0.25) is the probability 1 / (1 + 1 / 0.25) = 0.2.
    let first_score = 0.25_f32.ln();
    let data = labelled_data(&[2], 1, vec![first_score, 0.0], vec![1.0, 0.0]);
    assert!((linear_gradient(&data) + 0.8 * first_score).abs() < 1e-6);
    // Cross entropy, -ln p, if the correct order has the probability 0.99, 0.5 and 0.01.
    for (p, expected) in [(0.99_f32, 0.01), (0.5, 0.69), (0.01, 4.61)] {
        let data = labelled_data(&[2], 1, vec![(p / (1.0 - p)).ln(), 0.0], vec![1.0, 0.0]);
        let shape = NetShape::new(1, &[], HiddenNorm::None, Activation::None);
        let fixture = NetFixture::new("ranknet", &data, shape);
        assert!((total_loss(&fixture, &[1.0]) - expected).abs() < 0.005);
    }
}

/// A preference of weight p and its opposite of 1 - p: lambda is the net's probability of the first
/// order, here 0.2, minus p.
#[test]
fn opposite_preferences_are_a_soft_label() {
    let first_score = 0.25_f32.ln();
    let without_pairs = labelled_data(&[2], 1, vec![first_score, 0.0], vec![0.0, 0.0]);
    for p in [0.9, 0.5, 0.3] {
        let text = format!("0 0 1 {p}\n0 1 0 {}\n", 1.0 - p);
        let data = with_pairs(without_pairs.clone(), &text);
        assert!((linear_gradient(&data) - (0.2 - p) * first_score).abs() < 1e-6, "{p}");
    }
    // An equal pair has the target 0.5, the other pair the target 1 and the weight 0.5.
    let equal = with_pairs(without_pairs, "0 0 = 1\n0 0 > 1 0.5\n");
    let expected = ((0.2 - 0.5) + 0.5 * (0.2 - 1.0)) * first_score;
    assert!((linear_gradient(&equal) - expected).abs() < 1e-6);
}

/// Soft targets, whose loss is -P log p - (1 - P) log(1 - p), in both forms of RankNet.
#[test]
fn the_gradient_of_soft_targets_agrees_with_finite_differences() {
    let lines = "0 0 4 0.7\n0 4 7 0.5\n1 12 9 0.25\n1 10 11 1\n2 30 24 0.9\n2 25 24 0\n";
    let data = with_probabilities(data(&[9, 14, 30], 4, 4), lines);
    for text in ["ranknet", "ranknet(sigma=1.7)", "ranknet(factored=false)"] {
        let shape = NetShape::new(4, &[6, 5], HiddenNorm::None, Activation::Tanh);
        let fixture = NetFixture::new(text, &data, shape);
        let expected = finite_differences(&fixture.parameters, 3e-3, |parameters| {
            total_loss(&fixture, parameters)
        });
        let relative_difference = relative_difference(&fixture.gradient(), &expected);
        assert!(relative_difference < 3e-3, "{text}: {relative_difference}");
    }
}

#[test]
fn weights_of_queries_and_documents_have_an_effect() {
    let shape = || NetShape::new(3, &[4], HiddenNorm::None, Activation::Tanh);
    let unweighted = data(&[6, 8], 3, 5);
    let weighted = |row_weights: [f32; 14], query_weights: [f32; 2]| {
        let query_of_row = unweighted.query_of_rows();
        Dataset::builder()
            .matrix(unweighted.matrix().clone())
            .labels(unweighted.labels())
            .weights(row_weights)
            .query_weights(query_of_row.iter().map(|query| query_weights[*query as usize]))
            .query_ids(query_of_row)
            .build()
            .unwrap()
    };
    for text in ["ranknet", "ranknet(factored=false)", "listnet", "approxndcg"] {
        let gradient = |data: &Dataset| NetFixture::new(text, data, shape()).gradient();
        // The gradient is the sum over queries, each times its weight.
        let both = gradient(&unweighted);
        let first = gradient(&weighted([1.0; 14], [1.0, 0.0]));
        let second = gradient(&weighted([1.0; 14], [0.0, 3.0]));
        for ((both, first), second) in both.iter().zip(first).zip(second) {
            assert!((both - first - second / 3.0).abs() < 1e-4, "{text}");
        }
        let mut row_weights = [1.0; 14];
        row_weights[2] = 0.5;
        assert!(gradient(&weighted(row_weights, [1.0; 2])) != both, "{text}");
    }
}
