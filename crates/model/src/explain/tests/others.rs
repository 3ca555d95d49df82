//! Tests of explanations of linear models, nets and blends, and of partial dependence.

use super::*;
use crate::blend::{Blend, Normalise};
use crate::linear::Linear;
use crate::net::tests::{MIN_MAX, NO_MIN_MAX, random_net};
use crate::net::{Activation, Layer, Net};
use crate::transform::{TransformStep, Transforms};

fn linear_model(bias: f64, weights: &[f64]) -> Model {
    let body = ModelBody::Linear(Linear::new(bias, weights.to_vec()).unwrap());
    Model::new(Header::new(ids(weights.len()), Absent::Zero), body).unwrap()
}

fn net_model(net: Net) -> Model {
    let header = Header::new(ids(net.transforms().columns()), Absent::Zero);
    Model::new(header, ModelBody::Net(net)).unwrap()
}

/// The explanations of all queries.
fn explain_all(explainer: &Explainer<'_>, data: &Dataset) -> Vec<Explanation> {
    explainer.explain(data, &(0..data.queries()).collect::<Vec<_>>()).unwrap()
}

#[test]
fn a_feature_of_a_linear_model_adds_weight_times_distance_from_the_mean() {
    let model = linear_model(2.0, &[3.0, 0.0, -1.0]);
    let dataset = data(3, vec![1.0, 9.0, f32::NAN, 3.0, 9.0, 4.0]);
    let without_background =
        Explainer::new(&model, options()).unwrap().explain(&dataset, &[0]).unwrap();
    assert_eq!(without_background[0].base, 2.0);
    assert_eq!(without_background[0].contributions(0), [3.0, 0.0]);
    assert_eq!(without_background[0].contributions(1), [9.0, -4.0]);
    // Means of the terms: 6 and -2, as the missing value counts as 0.
    let explainer = Explainer::with_background(&model, &dataset, options()).unwrap();
    let found = explain_all(&explainer, &dataset);
    assert_eq!(found[0].base, 2.0 + 6.0 - 2.0);
    assert_eq!(found[0].contributions(0), [-3.0, 2.0]);
    assert_eq!(found[0].contributions(1), [3.0, -2.0]);
    assert_eq!(found[0].difference(1, 0), [6.0, -4.0]);
    check_sums(&model, &dataset, &found);
}

#[test]
fn a_net_with_an_interaction_of_two_features_is_explained_exactly() {
    // relu(x0 + x1) - relu(x0 - x1) with 0 <= x: an interaction of two features, for which one
    // order used forwards and backwards is exact.
    let first =
        Layer::new(3, vec![1.0, 1.0, 0.0, 1.0, -1.0, 0.0], vec![0.0; 2], None, Activation::Relu);
    let last = Layer::new(2, vec![1.0, -1.0], vec![0.5], None, Activation::None).unwrap();
    let model = net_model(Net::new(Transforms::identity(3), vec![first.unwrap(), last]).unwrap());
    let background = data(3, vec![1.0, 3.0, 7.0]);
    let explainer = Explainer::with_background(&model, &background, options()).unwrap();
    assert_eq!(explainer.features(), [0, 1]);
    let dataset = data(3, vec![4.0, 1.0, 0.0, 1.0, 3.0, 0.0]);
    let found = explain_all(&explainer, &dataset);
    // f(1,3) = 4.5, f(4,3) = 6.5, f(1,1) = 2.5, f(4,1) = 2.5.
    assert_eq!(found[0].base, 4.5);
    assert_eq!(found[0].contributions(0), [1.0, -3.0]);
    assert_eq!(found[0].contributions(1), [0.0, 0.0]);
    check_sums(&model, &dataset, &found);
    let error = Explainer::new(&model, options()).unwrap_err();
    assert!(matches!(error, ExplainError::NoBackground) && error.help().is_some(), "{error}");
}

#[test]
fn a_net_of_one_layer_is_linear_in_its_inputs() {
    let layer = Layer::new(2, vec![2.0, -1.0], vec![0.5], None, Activation::None).unwrap();
    let steps = vec![vec![TransformStep::Affine { shift: 1.0, scale: 0.5 }], Vec::new()];
    let min_max_in_query = false;
    let transforms = Transforms::new(steps, vec![-4.0, 3.0], min_max_in_query).unwrap();
    let model = net_model(Net::new(transforms, vec![layer]).unwrap());
    // Inputs (1, 4) and (-4, 3).
    let dataset = data(2, vec![3.0, 4.0, f32::NAN, f32::NAN]);
    let without_background = explain_all(&Explainer::new(&model, options()).unwrap(), &dataset);
    assert_eq!(
        (without_background[0].base, without_background[0].contributions(0)),
        (0.5, &[2.0, -4.0][..])
    );
    assert_eq!(without_background[0].contributions(1), [-8.0, -3.0]);
    // Mean inputs (-1.5, 3.5).
    let explainer = Explainer::with_background(&model, &dataset, options()).unwrap();
    let found = explain_all(&explainer, &dataset);
    assert_eq!((found[0].base, found[0].contributions(0)), (-6.0, &[5.0, -0.5][..]));
    check_sums(&model, &dataset, &found);
}

#[test]
fn the_orders_are_rounded_up_to_a_multiple_of_the_background_documents() {
    let model = net_model(random_net(3, 5, &[6, 4], NO_MIN_MAX));
    let (dataset, background) = (random_data(1, 4, 5), random_data(2, 3, 5));
    let rows = background.rows();
    assert!(rows > 1);
    let contributions = |permutations| {
        let options = ExplainOptions { permutations, ..options() };
        let explainer = Explainer::with_background(&model, &background, options).unwrap();
        explain_all(&explainer, &dataset)[0].contributions(0).to_vec()
    };
    assert_eq!(contributions(rows + 1), contributions(2 * rows));
    assert_ne!(contributions(rows + 1), contributions(rows));
}

#[test]
fn many_random_orders_come_near_the_values_from_all_subsets() {
    let model = net_model(random_net(3, 5, &[6, 4], NO_MIN_MAX));
    let (dataset, background) = (random_data(1, 4, 5), random_data(2, 2, 5));
    let many_orders = ExplainOptions { permutations: 2000, ..options() };
    let explainer = Explainer::with_background(&model, &background, many_orders).unwrap();
    let found = explain_all(&explainer, &dataset);
    let used = model.used_features();
    for document in 0..4 {
        let row = dataset.matrix().row(document);
        let value = |known: u32| {
            let exchanged = |other: &[f32]| -> Vec<f32> {
                (0..5).map(|f| if known >> f & 1 == 1 { row[f] } else { other[f] }).collect()
            };
            let scores = (0..2).map(|b| model.score_row(&exchanged(background.matrix().row(b))));
            scores.sum::<f64>() / 2.0
        };
        let exact = shapley_values_from_subsets(5, value);
        let size = exact.iter().fold(0.1_f64, |size, part| size.max(part.abs()));
        for (found, feature) in found[0].contributions(document).iter().zip(&used) {
            assert!((found - exact[*feature]).abs() < 0.05 * size, "{found} {}", exact[*feature]);
        }
    }
}

#[test]
fn every_net_and_blend_sums_to_its_scores_on_any_number_of_threads() {
    for seed in 0..6 {
        let member = || tree_model(4, 0.2, (0..3).map(|n| random_tree(seed + n, 20, 4)).collect());
        let net = |min_max| net_model(random_net(seed, 4, &[5], min_max));
        let mut models = vec![net(NO_MIN_MAX), net(MIN_MAX)];
        for normalise in Normalise::ALL {
            let linear = linear_model(1.0, &[0.5, 0.0, -2.0, 0.25]);
            let members =
                vec![(0.5, member()), (-2.0, linear), (1.5, net(MIN_MAX)), (0.0, net(NO_MIN_MAX))];
            let body = ModelBody::Blend(Blend::new(normalise, members).unwrap());
            let model = Model::new(Header::new(ids(4), Absent::Zero), body).unwrap();
            // Of different normalisations: the blend's own, and none for the added trees.
            let sum = ModelBody::Blend(Blend::sum(model.clone(), member()).unwrap());
            models.push(Model::new(model.header().clone(), sum).unwrap());
            models.push(model);
        }
        let (dataset, background) = (random_data(seed, 22, 4), random_data(seed + 1, 9, 4));
        for model in &models {
            let few_orders = ExplainOptions { permutations: 3, ..options() };
            let explainer = Explainer::with_background(model, &background, few_orders).unwrap();
            let found = explain_all(&explainer, &dataset);
            check_sums(model, &dataset, &found);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            assert!(bits(&pool.install(|| explain_all(&explainer, &dataset))) == bits(&found));
        }
    }
}

#[test]
fn a_blend_adds_its_members_contributions_after_normalisation() {
    let header = || Header::new(ids(2), Absent::Zero);
    let blend = |normalise| {
        let members =
            vec![(2.0, linear_model(1.0, &[1.0, 0.0])), (0.5, linear_model(0.0, &[0.0, 3.0]))];
        let blend = Blend::new(normalise, members).unwrap();
        Model::new(header(), ModelBody::Blend(blend)).unwrap()
    };
    let dataset = data(2, vec![0.0, 1.0, 4.0, 1.0, 3.0, 2.0]);
    let unnormalised = blend(Normalise::None);
    let unnormalised =
        &explain_all(&Explainer::new(&unnormalised, options()).unwrap(), &dataset)[0];
    assert_eq!((unnormalised.base, unnormalised.contributions(1)), (2.0, &[8.0, 1.5][..]));
    // First member: scores 1, 5, 4 become 0, 1, 0.75, and its base 1 becomes 0. Second member:
    // scores 3, 3, 6 become 0, 0, 1, and its base 0 becomes -1.
    let scaled = blend(Normalise::MinMax);
    let scaled = &explain_all(&Explainer::new(&scaled, options()).unwrap(), &dataset)[0];
    assert_eq!((scaled.base, scaled.contributions(2)), (-0.5, &[1.5, 1.0][..]));
    // Ranks of the first member 0, 1, 0.5; its base 1 has rank 0.
    let ranked = blend(Normalise::Rank);
    let ranked = &explain_all(&Explainer::new(&ranked, options()).unwrap(), &dataset)[0];
    assert_eq!(ranked.contributions(2)[0], 1.0);
    assert_eq!(ranked.scores, [2.0 * 0.0 + 0.5 * 0.25, 2.0 + 0.5 * 0.25, 1.0 + 0.5]);
}

#[test]
fn the_dependence_of_a_linear_model_is_linear_and_curves_are_parallel() {
    let model = linear_model(1.0, &[2.0, -1.0]);
    let values = (0..40).flat_map(|i| [i as f32, (i % 5) as f32]).collect();
    let dataset = data(2, values);
    let dependence = DependenceOptions { points: 5, documents: 40, curves: 3 };
    let found = model.dependence(&dataset, 0, dependence, options()).unwrap();
    assert_eq!((found.name.as_str(), &found.values[..]), ("1", &[0.0, 9.0, 19.0, 29.0, 39.0][..]));
    // 2 x value + 1 - the mean of the other feature.
    assert_eq!(found.means, [-1.0, 17.0, 37.0, 57.0, 77.0]);
    assert_eq!((found.missing, found.documents, found.curves.len()), (None, 40, 3));
    for (row, curve) in &found.curves {
        assert_eq!(curve[0], 1.0 - (row % 5) as f64);
        assert_eq!(curve[4] - curve[0], 78.0);
    }
    let few_values = model.dependence(&dataset, 1, dependence, options()).unwrap();
    assert_eq!(few_values.values, [0.0, 1.0, 2.0, 3.0, 4.0], "few different values are all taken");
    let narrow = data(1, vec![1.0; 3]);
    let error = model.dependence(&narrow, 1, dependence, options()).unwrap_err().to_string();
    assert!(error.contains("no values of feature 2"), "{error}");
}

#[test]
fn dependence_changes_one_document_of_a_list_and_reports_missing_values() {
    // Documents with the values 0, 10 and missing; one of them is changed, then all are scaled to
    // 0..1 within the query.
    let layer = Layer::new(1, vec![1.0], vec![0.0], None, Activation::None).unwrap();
    let min_max_in_query = true;
    let transforms = Transforms::new(vec![Vec::new()], vec![-3.0], min_max_in_query).unwrap();
    let model = net_model(Net::new(transforms, vec![layer]).unwrap());
    let dataset = data(1, vec![0.0, 10.0, f32::NAN]);
    let dependence = DependenceOptions { points: 9, documents: 9, curves: 9 };
    let found = model.dependence(&dataset, 0, dependence, options()).unwrap();
    assert_eq!(found.values, [0.0, 10.0]);
    // Set to 0, the documents score 0, 0 (all values are equal) and 0; set to 10, they score 0 (all
    // values are equal), 1 and 1.
    assert_eq!(found.means, [0.0, 2.0 / 3.0]);
    assert_eq!(found.missing, Some(-3.0));
    assert!(found.curves.iter().all(|(_, curve)| curve.len() == 2));
}
