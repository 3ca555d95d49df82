//! Tests of every entry in the table of objectives: its texts, and its derivatives compared with
//! finite differences of its loss.

use proptest::prelude::*;
use rankwright_spec::Spec;

use super::*;

/// The objective of a spec.
fn objective(text: &str) -> Box<dyn Objective> {
    parse_objective(&Spec::parse(text).unwrap()).unwrap()
}

/// The gradient and the hessian of each document of one query, computed with new buffers.
pub(in crate::objective) fn derivatives(
    objective: &dyn Objective,
    query: &QueryView<'_>,
) -> Result<(Vec<f32>, Vec<f32>), LearnError> {
    let n = query.scores.len();
    // Not 0: the objective must overwrite all of them.
    let (mut gradient, mut hessian, mut cache) = (vec![9.0; n], vec![9.0; n], vec![0; n]);
    let mut out = Derivatives { gradient: &mut gradient, hessian: &mut hessian, cache: &mut cache };
    objective.derivatives(query, &mut ObjectiveBuffers::default(), &mut out)?;
    Ok((gradient, hessian))
}

/// The objective of a spec, prepared for training data that is one query at these scores.
fn prepared(text: &str, labels: &[f64], scores: &[f64], weights: &[f32]) -> Box<dyn Objective> {
    let mut objective = objective(text);
    let all = TrainingDocuments { labels, weights, scores };
    objective.prepare(&all).unwrap();
    objective.refresh(&all).unwrap();
    objective
}

/// Specs whose derivatives are compared with finite differences besides the examples of all
/// objectives.
const MORE_SPECS: &[&str] = &[
    "logloss(rel=2)",
    "huber(delta=0.7)",
    "pair-logistic",
    "pair-logistic(sigma=1.7, ties=half)",
    "xendcg(terms=1)",
    "softmax",
    "softmax(target=label)",
    "listmle",
    "listmle(top=3)",
    "approxndcg",
    "approxndcg(temperature=0.7)",
];

/// Examples whose gradient is not the derivative of their loss: `xendcg(terms=3)` has a Newton step
/// in its place (`MORE_SPECS` has the gradient), and the weights of `yeti` jump where an order
/// changes (tested beside its code).
const OTHER_GRADIENTS: [&str; 2] = ["xendcg", "yeti"];

/// Specs of objectives with a loss whose derivatives can be compared with finite differences: the
/// example of every objective that has a loss, and more. (With a metric, `lambda` has none.)
fn specs_with_loss() -> impl Iterator<Item = &'static str> {
    let has_loss = |def: &&&ObjectiveDef| {
        let (labels, scores) = ([0.0, 1.0], [0.1, 0.2]);
        let objective = prepared(def.example, &labels, &scores, &[]);
        let view = QueryView::new(&labels, &scores);
        let loss = objective.loss(&view, &mut ObjectiveBuffers::default()).unwrap();
        loss.is_some() && !OTHER_GRADIENTS.contains(&def.name)
    };
    OBJECTIVES.iter().filter(has_loss).map(|def| def.example).chain(MORE_SPECS.iter().copied())
}

/// Whether the gradient of a document depends on its own score alone.
fn is_pointwise(def: &ObjectiveDef) -> bool {
    let (labels, scores) = ([0.0, 1.0], [0.4, 0.2]);
    let objective = prepared(def.example, &labels, &scores, &[]);
    let gradient_of_first = |other_score: f64| {
        let scores = [0.4, other_score];
        derivatives(&*objective, &QueryView::new(&labels, &scores)).unwrap().0[0]
    };
    gradient_of_first(0.2) == gradient_of_first(0.7)
}

/// Whether the derivatives depend on random draws.
fn has_draws(text: &str) -> bool {
    let (labels, scores) = ([0.0, 1.0, 3.0], [0.4, 0.2, -0.1]);
    let objective = prepared(text, &labels, &scores, &[]);
    let with_seed = |seed: u64| {
        let view = QueryView { seed, ..QueryView::new(&labels, &scores) };
        derivatives(&*objective, &view).unwrap()
    };
    with_seed(1) != with_seed(2)
}

fn has_exact_hessian(text: &str) -> bool {
    let name = Spec::parse(text).unwrap().name;
    let def = OBJECTIVES.iter().find(|def| def.name == name).unwrap();
    def.hessian == HessianKind::Exact
}

#[test]
fn every_objective_has_a_doc_line_and_an_example_that_prints_back_and_runs() {
    let (labels, scores) = ([0.0, 2.0, 1.0, 0.0], [0.3, 0.1, -0.2, 0.0]);
    for def in OBJECTIVES {
        assert!(def.help.ends_with('.') && !def.help.contains('\n'), "{}", def.name);
        let spec = Spec::parse(def.example).unwrap();
        assert_eq!((spec.to_string().as_str(), spec.name.as_str()), (def.example, def.name));
        for param in def.params() {
            assert!(param.help.ends_with('.'), "{}", param.name);
            let default = param.default.expect("objectives need no parameter");
            if param.requires.is_none() {
                objective(&format!("{}({}={default})", def.name, param.name));
            }
        }
        let objective = prepared(def.example, &labels, &scores, &[]);
        let (gradient, hessian) =
            derivatives(&*objective, &QueryView::new(&labels, &scores)).unwrap();
        assert!(gradient.iter().any(|g| *g != 0.0) && hessian.iter().all(|h| *h >= 0.0));
        assert!(gradient[1] < gradient[0], "{}: the better document should rise", def.name);
    }
}

#[test]
fn the_selections_of_objectives_for_other_tests_are_right() {
    let compared: Vec<&str> = specs_with_loss().collect();
    assert!(
        ["squared", "huber(alpha=0.9)", "listmle(top=10)"].iter().all(|t| compared.contains(t))
    );
    assert!(!compared.iter().any(|text| text.starts_with("lambda") || text.contains("terms=3")));
    let named = |holds: &dyn Fn(&ObjectiveDef) -> bool| -> Vec<&str> {
        OBJECTIVES.iter().filter(|def| holds(def)).map(|def| def.name).collect()
    };
    let pointwise = named(&is_pointwise);
    assert!(pointwise.contains(&"squared") && !pointwise.contains(&"pair-logistic"));
    let drawing = named(&|def| has_draws(def.example));
    assert!(drawing.contains(&"xendcg") && !drawing.contains(&"squared"));
}

#[test]
fn the_list_of_objectives_serialises() {
    let list = serde_json::to_value(OBJECTIVES).unwrap();
    assert_eq!(list.as_array().unwrap().len(), OBJECTIVES.len());
    let lambda = list.as_array().unwrap().iter().find(|def| def["name"] == "lambda").unwrap();
    assert_eq!(lambda["preferences"], true);
    assert_eq!(lambda["hessian"], "exact");
    assert!(
        lambda["parameters"].as_array().unwrap().iter().any(|param| param["name"] == "truncation")
    );
}

#[test]
fn misspelt_names_and_wrong_values_are_rejected() {
    let fails = |text: &str| parse_objective(&Spec::parse(text).unwrap()).unwrap_err().to_string();
    assert!(fails("sqared").contains("did you mean `squared`?"));
    assert!(fails("lambda@10").contains("takes no cut-off"));
    assert!(fails("lambda(truncation=0)").contains("from 1 on"));
    assert!(fails("lambda(metric=kendall)").contains("change under swaps"));
    assert!(fails("lambda(metric=ndgc)").contains("did you mean `ndcg`?"));
    assert!(fails("lambda(ties=half)").contains("no parameter `ties`"));
    assert!(fails("pair-logistic(sigma=0)").contains("above 0"));
    assert!(
        fails("huber(alpha=0.5, delta=1)").contains("delta and alpha cannot be given together")
    );
    assert!(fails("xendcg(terms=4)").contains("from 1 to 3"));
}

/// Mostly grades from 0 to 4, sometimes a negative or a fractional label.
fn label() -> impl Strategy<Value = f64> {
    prop_oneof![4 => (0_i32..5).prop_map(f64::from), 1 => Just(-1.0), 1 => Just(0.5)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn derivatives_are_those_of_the_loss(
        rows in prop::collection::vec((label(), -2.0..2.0_f64, 0.0..2.0_f32), 0..12),
        weighted in any::<bool>(), seed in any::<u64>(),
    ) {
        let labels: Vec<f64> = rows.iter().map(|r| r.0).collect();
        let scores: Vec<f64> = rows.iter().map(|r| r.1).collect();
        let weights: Vec<f32> = rows.iter().map(|r| r.2).filter(|_| weighted).collect();
        for text in specs_with_loss() {
            let objective = prepared(text, &labels, &scores, &weights);
            let loss_after_move = |row: usize, by: f64| {
                let mut moved = scores.clone();
                moved[row] += by;
                let view = QueryView { weights: &weights, seed, ..QueryView::new(&labels, &moved) };
                objective.loss(&view, &mut ObjectiveBuffers::default()).unwrap().unwrap()
            };
            let view = QueryView { weights: &weights, seed, ..QueryView::new(&labels, &scores) };
            let (gradient, hessian) = derivatives(&*objective, &view).unwrap();
            for row in 0..rows.len() {
                let step = 1e-4;
                let (up, here, down) = (
                    loss_after_move(row, step),
                    loss_after_move(row, 0.0),
                    loss_after_move(row, -step),
                );
                let slope = (up - down) / (2.0 * step);
                let scale = 1.0 + here.abs();
                prop_assert!((f64::from(gradient[row]) - slope).abs() < 2e-4 * scale,
                    "{text} row {row}: {} instead of {slope}", gradient[row]);
                let second = (up - 2.0 * here + down) / (step * step);
                if has_exact_hessian(text) {
                    prop_assert!((f64::from(hessian[row]) - second).abs() < 1e-4 * scale,
                        "{text} row {row}: {} instead of {second}", hessian[row]);
                } else {
                    // An approximate hessian is an upper bound.
                    prop_assert!(f64::from(hessian[row]) >= second - 1e-4 * scale, "{text}");
                }
            }
        }
    }

    #[test]
    fn the_initial_score_is_the_constant_of_smallest_loss(
        rows in prop::collection::vec((label(), 0.01..2.0_f32), 2..20), weighted in any::<bool>(),
    ) {
        let labels: Vec<f64> = rows.iter().map(|r| r.0).collect();
        let weights: Vec<f32> = rows.iter().map(|r| r.1).filter(|_| weighted).collect();
        for text in ["squared", "query-rmse", "logloss", "huber(delta=0.7)", "ordinal"] {
            let mut objective = objective(text);
            let all = TrainingDocuments { labels: &labels, weights: &weights, scores: &[] };
            let base = objective.prepare(&all).unwrap();
            let loss = |constant: f64| {
                let scores = vec![constant; labels.len()];
                let view = QueryView { weights: &weights, ..QueryView::new(&labels, &scores) };
                objective.loss(&view, &mut ObjectiveBuffers::default()).unwrap().unwrap()
            };
            // All labels relevant, or none: the constant of smallest loss is infinite, the one
            // given is bounded.
            let bounded = text == "logloss" && base.abs() > 7.0;
            for other in [base - 0.1, base + 0.1].into_iter().filter(|_| !bounded) {
                prop_assert!(loss(base) <= loss(other) + 1e-9, "{text} {base} {other}");
            }
        }
    }
}

#[test]
fn queries_of_0_or_1_documents_have_zero_gradients_unless_pointwise() {
    for def in OBJECTIVES {
        for (labels, scores) in [(&[][..], &[][..]), (&[2.0], &[0.7])] {
            let objective = prepared(def.example, labels, scores, &[]);
            let view = QueryView::new(labels, scores);
            let (gradient, hessian) = derivatives(&*objective, &view).unwrap();
            assert!(is_pointwise(def) || gradient.iter().all(|g| *g == 0.0), "{}", def.name);
            assert!(hessian.iter().all(|h| h.is_finite()), "{}", def.name);
            objective.loss(&view, &mut ObjectiveBuffers::default()).unwrap();
            objective
                .pair_hessians(&view, &mut ObjectiveBuffers::default(), &mut |_, _, _| {})
                .unwrap();
        }
    }
}

#[test]
fn a_document_of_weight_zero_has_zero_derivatives_and_does_not_change_those_of_others() {
    let (labels, scores) = ([1.0, 0.0, 3.0, 2.0], [0.3, 0.1, -0.4, 0.2]);
    // The same without the second document.
    let (other_labels, other_scores) = ([1.0, 3.0, 2.0], [0.3, -0.4, 0.2]);
    // With a random number for each document, the draws of the others would differ.
    for text in specs_with_loss().filter(|text| !has_draws(text)) {
        let objective = prepared(text, &labels, &scores, &[1.0, 0.0, 1.0, 1.0]);
        let view = QueryView { weights: &[1.0, 0.0, 1.0, 1.0], ..QueryView::new(&labels, &scores) };
        let (gradient, hessian) = derivatives(&*objective, &view).unwrap();
        assert_eq!((gradient[1], hessian[1]), (0.0, 0.0), "{text}");
        let others = QueryView::new(&other_labels, &other_scores);
        let without = derivatives(&*objective, &others).unwrap().0;
        for (with, without) in [gradient[0], gradient[2], gradient[3]].iter().zip(&without) {
            assert!((with - without).abs() < 1e-6, "{text}");
        }
        let weightless = QueryView { weights: &[0.0; 4], ..view };
        let (gradient, hessian) = derivatives(&*objective, &weightless).unwrap();
        assert!(gradient.iter().chain(&hessian).all(|x| *x == 0.0), "{text}");
    }
}

#[test]
fn a_document_of_weight_two_counts_like_two_copies() {
    let (labels, scores) = ([1.0, 0.0, 3.0], [0.3, 0.1, -0.4]);
    let (copied_labels, copied_scores) = ([1.0, 0.0, 0.0, 3.0], [0.3, 0.1, 0.1, -0.4]);
    for text in ["squared", "query-rmse", "logloss", "softmax", "pair-logistic"] {
        let objective = prepared(text, &labels, &scores, &[]);
        let view = QueryView { weights: &[1.0, 2.0, 1.0], ..QueryView::new(&labels, &scores) };
        let weighted = derivatives(&*objective, &view).unwrap().0;
        let copies = QueryView::new(&copied_labels, &copied_scores);
        let copied = derivatives(&*objective, &copies).unwrap().0;
        let merged = [copied[0], copied[1] + copied[2], copied[3]];
        for (a, b) in weighted.iter().zip(merged) {
            assert!((a - b).abs() < 1e-6, "{text}: {weighted:?} {merged:?}");
        }
    }
}

#[test]
fn huge_labels_and_infinite_scores_give_finite_derivatives_or_an_error() {
    let inf = f64::INFINITY;
    let labels: [&[f64]; 3] = [&[1e30, 0.0, -1e30], &[1e300, 1.0, 0.0], &[-5.5, 0.25, 1e-300]];
    let scores: [&[f64]; 6] = [
        &[0.0, 1.0, 2.0],
        &[inf, -inf, 0.0],
        &[-inf, -inf, inf],
        &[inf; 3],
        &[-inf; 3],
        &[1e308, -1e308, 1e-308],
    ];
    // The number of combinations of objective, labels and scores that are not an error.
    let mut successes = 0;
    for def in OBJECTIVES {
        for (labels, scores) in labels.iter().flat_map(|l| scores.iter().map(move |s| (l, s))) {
            let mut objective = objective(def.example);
            let all = TrainingDocuments { labels, weights: &[], scores };
            if objective.prepare(&all).and_then(|_| objective.refresh(&all)).is_err() {
                continue;
            }
            if let Ok((gradient, hessian)) =
                derivatives(&*objective, &QueryView::new(labels, scores))
            {
                successes += 1;
                let all = gradient.iter().chain(&hessian);
                assert!(all.clone().all(|x| x.is_finite()), "{} {labels:?} {scores:?}", def.name);
            }
        }
    }
    assert!(successes > 50, "{successes}");
}

#[test]
fn labels_that_are_not_finite_and_scores_that_are_nan_are_refused() {
    for def in OBJECTIVES {
        for bad in [f64::NAN, f64::INFINITY] {
            let all = TrainingDocuments { labels: &[0.0, bad], weights: &[], scores: &[] };
            let message = objective(def.example).prepare(&all).unwrap_err().to_string();
            assert!(message.contains("finite"), "{}: {message}", def.name);
        }
        let objective = prepared(def.example, &[0.0, 1.0], &[0.0, 0.0], &[]);
        let view = QueryView::new(&[0.0, 1.0], &[f64::NAN, 0.0]);
        assert!(derivatives(&*objective, &view).is_err(), "{}", def.name);
    }
}

#[test]
fn preferences_are_refused_by_objectives_that_learn_from_labels() {
    let pairs = [DocumentPair { better: 0, worse: 1, weight: 1.0, equal: false }];
    for def in OBJECTIVES {
        let objective = prepared(def.example, &[0.0, 0.0], &[0.0, 0.0], &[]);
        let view = QueryView { pairs: Some(&pairs), ..QueryView::new(&[0.0, 0.0], &[0.0, 0.0]) };
        let found = derivatives(&*objective, &view);
        // All labels are equal here: a loss without labels takes the pairs, and `lambda` has no
        // weights for them.
        assert!(found.is_err() || def.preferences, "{}", def.name);
        assert!(found.is_ok() || def.name != "pair-logistic");
        if let Err(error) = found {
            assert!(error.to_string().contains("pair"), "{error}");
        }
    }
}

#[test]
fn slices_of_different_lengths_are_an_error() {
    for def in OBJECTIVES {
        let objective = prepared(def.example, &[0.0, 1.0], &[0.0, 0.0], &[]);
        let view = QueryView::new(&[0.0], &[0.0, 0.0]);
        assert!(derivatives(&*objective, &view).is_err(), "{}", def.name);
    }
}

#[test]
fn random_draws_depend_on_seed_and_query_alone() {
    let (labels, scores) = ([1.0, 0.0, 3.0], [0.3, 0.1, -0.4]);
    let xendcg = prepared("xendcg", &labels, &scores, &[]);
    let derivatives_for = |seed: u64, query: usize| {
        let view = QueryView { seed, query, ..QueryView::new(&labels, &scores) };
        derivatives(&*xendcg, &view).unwrap()
    };
    assert_eq!(derivatives_for(1, 2), derivatives_for(1, 2));
    assert_ne!(derivatives_for(1, 2), derivatives_for(1, 3));
    assert_ne!(derivatives_for(1, 2), derivatives_for(2, 2));
}
