//! Linear models, nets, blends and partial dependence.

use super::*;
use crate::blend::{Blend, Normalise};
use crate::linear::Linear;
use crate::net;
use crate::net::{Activation, Layer, Net};
use crate::transform::{TransformStep, Transforms};

fn linear_model(bias: f64, weights: &[f64]) -> Model {
    let kind = ModelBody::Linear(Linear::new(bias, weights.to_vec()).unwrap());
    Model::new(Header::new(ids(weights.len()), Absent::Zero), kind).unwrap()
}

fn net_model(net: Net) -> Model {
    let header = Header::new(ids(net.transforms().columns()), Absent::Zero);
    Model::new(header, ModelBody::Net(net)).unwrap()
}

fn all(explainer: &Explainer<'_>, data: &Dataset) -> Vec<Explanation> {
    explainer.explain(data, &(0..data.queries()).collect::<Vec<_>>()).unwrap()
}

#[test]
fn a_line_adds_weight_times_distance_from_the_mean() {
    let model = linear_model(2.0, &[3.0, 0.0, -1.0]);
    let some = data(3, vec![1.0, 9.0, f32::NAN, 3.0, 9.0, 4.0]);
    let plain = Explainer::new(&model, options()).unwrap().explain(&some, &[0]).unwrap();
    assert_eq!(plain[0].base, 2.0);
    assert_eq!(plain[0].contributions(0), [3.0, 0.0]);
    assert_eq!(plain[0].contributions(1), [9.0, -4.0]);
    // Means of the terms: 6 and -2, as the missing value counts as 0.
    let explainer = Explainer::with_background(&model, &some, options()).unwrap();
    let found = all(&explainer, &some);
    assert_eq!(found[0].base, 2.0 + 6.0 - 2.0);
    assert_eq!(found[0].contributions(0), [-3.0, 2.0]);
    assert_eq!(found[0].contributions(1), [3.0, -2.0]);
    assert_eq!(found[0].difference(1, 0), [6.0, -4.0]);
    check_sums(&model, &some, &found);
}

#[test]
fn a_net_of_a_product_is_exact_with_both_directions() {
    // relu(x0 + x1) - relu(x0 - x1) with 0 <= x: an interaction of two features.
    let first =
        Layer::new(3, vec![1.0, 1.0, 0.0, 1.0, -1.0, 0.0], vec![0.0; 2], None, Activation::Relu);
    let last = Layer::new(2, vec![1.0, -1.0], vec![0.5], None, Activation::None).unwrap();
    let model = net_model(Net::new(Transforms::identity(3), vec![first.unwrap(), last]).unwrap());
    let background = data(3, vec![1.0, 3.0, 7.0]);
    let explainer = Explainer::with_background(&model, &background, options()).unwrap();
    assert_eq!(explainer.features(), [0, 1]);
    let some = data(3, vec![4.0, 1.0, 0.0, 1.0, 3.0, 0.0]);
    let found = all(&explainer, &some);
    // f(1,3) = 4.5, f(4,3) = 6.5, f(1,1) = 2.5, f(4,1) = 2.5.
    assert_eq!(found[0].base, 4.5);
    assert_eq!(found[0].contributions(0), [1.0, -3.0]);
    assert_eq!(found[0].contributions(1), [0.0, 0.0]);
    check_sums(&model, &some, &found);
    let error = Explainer::new(&model, options()).unwrap_err();
    assert!(matches!(error, ExplainError::NoBackground) && error.help().is_some(), "{error}");
}

#[test]
fn a_net_of_one_layer_is_a_line_over_its_inputs() {
    let layer = Layer::new(2, vec![2.0, -1.0], vec![0.5], None, Activation::None).unwrap();
    let steps = vec![vec![TransformStep::Affine { shift: 1.0, scale: 0.5 }], Vec::new()];
    let transforms = Transforms::new(steps, vec![-4.0, 3.0], false).unwrap();
    let model = net_model(Net::new(transforms, vec![layer]).unwrap());
    // Inputs (1, 4) and (-4, 3).
    let some = data(2, vec![3.0, 4.0, f32::NAN, f32::NAN]);
    let plain = all(&Explainer::new(&model, options()).unwrap(), &some);
    assert_eq!((plain[0].base, plain[0].contributions(0)), (0.5, &[2.0, -4.0][..]));
    assert_eq!(plain[0].contributions(1), [-8.0, -3.0]);
    // Mean inputs (-1.5, 3.5).
    let explainer = Explainer::with_background(&model, &some, options()).unwrap();
    let found = all(&explainer, &some);
    assert_eq!((found[0].base, found[0].contributions(0)), (-6.0, &[5.0, -0.5][..]));
    check_sums(&model, &some, &found);
}

#[test]
fn a_sampled_net_comes_near_all_subsets() {
    let model = net_model(net::tests::random(3, 5, &[6, 4], false));
    let (some, background) = (random_data(1, 4, 5), random_data(2, 2, 5));
    let many = ExplainOptions { permutations: 2000, ..options() };
    let explainer = Explainer::with_background(&model, &background, many).unwrap();
    let found = all(&explainer, &some);
    let used = model.used_features();
    for document in 0..4 {
        let row = some.matrix().row(document);
        let value = |known: u32| {
            let mixed = |other: &[f32]| -> Vec<f32> {
                (0..5).map(|f| if known >> f & 1 == 1 { row[f] } else { other[f] }).collect()
            };
            let scores = (0..2).map(|b| model.score_row(&mixed(background.matrix().row(b))));
            scores.sum::<f64>() / 2.0
        };
        let exact = from_subsets(5, value);
        let size = exact.iter().fold(0.1_f64, |size, part| size.max(part.abs()));
        for (found, feature) in found[0].contributions(document).iter().zip(&used) {
            assert!((found - exact[*feature]).abs() < 0.05 * size, "{found} {}", exact[*feature]);
        }
    }
}

#[test]
fn every_net_and_blend_sums_to_its_scores_on_any_number_of_threads() {
    for seed in 0..6 {
        let member = || trees(4, 0.2, (0..3).map(|n| random(seed + n, 20, 4)).collect());
        let net = |min_max| net_model(net::tests::random(seed, 4, &[5], min_max));
        let mut models = vec![net(false), net(true)];
        for normalise in Normalise::ALL {
            let linear = linear_model(1.0, &[0.5, 0.0, -2.0, 0.25]);
            let members =
                vec![(0.5, member()), (-2.0, linear), (1.5, net(true)), (0.0, net(false))];
            let kind = ModelBody::Blend(Blend::new(normalise, members).unwrap());
            models.push(Model::new(Header::new(ids(4), Absent::Zero), kind).unwrap());
        }
        let (some, background) = (random_data(seed, 22, 4), random_data(seed + 1, 9, 4));
        for model in &models {
            let few = ExplainOptions { permutations: 3, ..options() };
            let explainer = Explainer::with_background(model, &background, few).unwrap();
            let found = all(&explainer, &some);
            check_sums(model, &some, &found);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            assert!(bits(&pool.install(|| all(&explainer, &some))) == bits(&found));
        }
    }
}

#[test]
fn a_blend_adds_its_members_on_the_scale_of_the_list() {
    let header = || Header::new(ids(2), Absent::Zero);
    let blend = |normalise| {
        let members =
            vec![(2.0, linear_model(1.0, &[1.0, 0.0])), (0.5, linear_model(0.0, &[0.0, 3.0]))];
        let blend = Blend::new(normalise, members).unwrap();
        Model::new(header(), ModelBody::Blend(blend)).unwrap()
    };
    let some = data(2, vec![0.0, 1.0, 4.0, 1.0, 3.0, 2.0]);
    let plain = blend(Normalise::None);
    let plain = &all(&Explainer::new(&plain, options()).unwrap(), &some)[0];
    assert_eq!((plain.base, plain.contributions(1)), (2.0, &[8.0, 1.5][..]));
    // Scores 1, 5, 4 become 0, 1, 0.75 and the base 1 becomes 0; 3, 3, 6 become 0, 0, 1 and 0 -1.
    let scaled = blend(Normalise::MinMax);
    let scaled = &all(&Explainer::new(&scaled, options()).unwrap(), &some)[0];
    assert_eq!((scaled.base, scaled.contributions(2)), (-0.5, &[1.5, 1.0][..]));
    // Ranks of the first member 0, 1, 0.5; its base 1 has rank 0.
    let ranked = blend(Normalise::Rank);
    let ranked = &all(&Explainer::new(&ranked, options()).unwrap(), &some)[0];
    assert_eq!(ranked.contributions(2)[0], 1.0);
    assert_eq!(ranked.scores, [2.0 * 0.0 + 0.5 * 0.25, 2.0 + 0.5 * 0.25, 1.0 + 0.5]);
}

#[test]
fn dependence_of_a_line_is_a_line_and_curves_are_parallel() {
    let model = linear_model(1.0, &[2.0, -1.0]);
    let values = (0..40).flat_map(|i| [i as f32, (i % 5) as f32]).collect();
    let some = data(2, values);
    let how = DependenceOptions { points: 5, documents: 40, curves: 3 };
    let found = model.dependence(&some, 0, how, options()).unwrap();
    assert_eq!((found.name.as_str(), &found.values[..]), ("1", &[0.0, 9.0, 19.0, 29.0, 39.0][..]));
    assert_eq!(found.means, [-1.0, 17.0, 37.0, 57.0, 77.0], "1 - the mean of the other feature");
    assert_eq!((found.missing, found.documents, found.curves.len()), (None, 40, 3));
    for (row, curve) in &found.curves {
        assert_eq!(curve[0], 1.0 - (row % 5) as f64);
        assert_eq!(curve[4] - curve[0], 78.0);
    }
    let every = model.dependence(&some, 1, how, options()).unwrap();
    assert_eq!(every.values, [0.0, 1.0, 2.0, 3.0, 4.0], "few different values are all taken");
    let narrow = data(1, vec![1.0; 3]);
    let error = model.dependence(&narrow, 1, how, options()).unwrap_err().to_string();
    assert!(error.contains("no values of feature 2"), "{error}");
}

#[test]
fn dependence_changes_one_document_of_a_list_and_tells_of_missing_values() {
    // Two documents at 0 and 10 of which one is moved: 0..1 within the query.
    let step = Layer::new(1, vec![1.0], vec![0.0], None, Activation::None).unwrap();
    let transforms = Transforms::new(vec![Vec::new()], vec![-3.0], true).unwrap();
    let model = net_model(Net::new(transforms, vec![step]).unwrap());
    let some = data(1, vec![0.0, 10.0, f32::NAN]);
    let how = DependenceOptions { points: 9, documents: 9, curves: 9 };
    let found = model.dependence(&some, 0, how, options()).unwrap();
    assert_eq!(found.values, [0.0, 10.0]);
    // At 0: documents 0 (0), 1 (0, as all are equal) and 2 (0). At 10: 0 (equal), 1 and 1.
    assert_eq!(found.means, [0.0, 2.0 / 3.0]);
    assert_eq!(found.missing, Some(-3.0));
    assert!(found.curves.iter().all(|(_, curve)| curve.len() == 2));
}
