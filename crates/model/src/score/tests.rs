//! Tests that the scores of data sets are those of the reference implementation, row by row.

use proptest::prelude::*;
use rankwright_data::{Absent, FeatureNames, Matrix, Random};

use super::*;
use crate::net::tests::{MIN_MAX, NO_MIN_MAX, random_net};
use crate::tree::tests::{random_tree, two_split_tree};
use crate::{Blend, Ensemble, Header, Linear, MatchBy, ModelBody, Normalise};

// The second argument of `Random::new` is any number: it keeps streams of random numbers apart.

/// Random data, with missing and infinite values, and a query for every seven rows.
fn data(rows: usize, features: FeatureNames, absent: Absent, seed: u64) -> Dataset {
    let mut draw = Random::new(seed, 2);
    let value = |_| match draw.below(12) {
        10 => f32::NAN,
        11 => [f32::INFINITY, f32::NEG_INFINITY, -0.0][draw.below(3)],
        n => n as f32,
    };
    let columns = features.len();
    let matrix = Matrix::from_rows(rows, columns, (0..rows * columns).map(value).collect());
    let data = Dataset::builder().matrix(matrix.unwrap()).features(features).absent(absent);
    data.query_ids((0..rows).map(|row| row / 7)).build().unwrap()
}

/// A model of nine random trees, with 0 to 64 splits.
fn forest(features: FeatureNames, absent: Absent, seed: u64) -> Model {
    let count = features.len();
    let trees = (0..9).map(|n| random_tree(seed + n, (n * n) as usize, count)).collect();
    let body = ModelBody::Trees(Ensemble::new(0.3, trees).unwrap());
    Model::new(Header::new(features, absent), body).unwrap()
}

fn linear_model(features: FeatureNames, absent: Absent, seed: u64) -> Model {
    let mut draw = Random::new(seed, 3);
    let weights = (0..features.len()).map(|_| draw.below(3) as f64 * draw.normal()).collect();
    let body = ModelBody::Linear(Linear::new(-0.0, weights).unwrap());
    Model::new(Header::new(features, absent), body).unwrap()
}

fn net(features: FeatureNames, absent: Absent, seed: u64, min_max: bool) -> Model {
    let net = random_net(seed, features.len(), &[5], min_max);
    Model::new(Header::new(features, absent), ModelBody::Net(net)).unwrap()
}

/// A blend of a tree model, a linear model and a net.
fn blend(features: FeatureNames, absent: Absent, seed: u64, normalise: Normalise) -> Model {
    // So that tests with all normalisations have nets with and without scaling in the query.
    let min_max = normalise == Normalise::Rank;
    let members = vec![
        (0.5, forest(features.clone(), absent, seed)),
        (-2.0, linear_model(features.clone(), absent, seed)),
        (1.5, net(features.clone(), absent, seed, min_max)),
    ];
    let body = ModelBody::Blend(Blend::new(normalise, members).unwrap());
    Model::new(Header::new(features, absent), body).unwrap()
}

/// The bits of the scores of the reference implementation, which gets each row's values in the
/// model's order.
fn reference(model: &Model, data: &Dataset, options: MatchOptions) -> Vec<u64> {
    let matching = Matching::new(model.header(), data.features(), options).unwrap();
    let row = |row: usize| -> Vec<f32> {
        let value = |feature| match matching.column(feature) {
            Some(column) => data.matrix().get(row, column),
            None => matching.absent(),
        };
        (0..model.header().features.len()).map(value).collect()
    };
    let rows: Vec<Vec<f32>> = (0..data.rows()).map(row).collect();
    let query = |query: usize| {
        let rows: Vec<&[f32]> = rows[data.query_rows(query)].iter().map(Vec::as_slice).collect();
        match model.is_listwise() {
            true => model.score_query(&rows),
            false => rows.iter().map(|row| model.score_row(row)).collect(),
        }
    };
    bits((0..data.queries()).flat_map(query).collect())
}

fn bits(scores: Vec<f64>) -> Vec<u64> {
    scores.into_iter().map(f64::to_bits).collect()
}

fn named(names: &[&str]) -> FeatureNames {
    FeatureNames::Named(names.iter().map(|name| name.to_string()).collect())
}

proptest! {
    #[test]
    fn scores_have_the_bits_of_the_reference(
        seed in 0u64..1000, rows in 0usize..200, case in 0usize..5, missing in any::<bool>(),
    ) {
        let absent = if missing { Absent::Missing } else { Absent::Zero };
        let ids = |first, count| FeatureNames::Ids { first, count };
        // The features of the model and of the data, and whether to ignore extra ones.
        let (model_features, data_features, ignore_extra) = match case {
            0 => (ids(1, 4), ids(1, 4), false),
            1 => (ids(1, 4), ids(1, 2), false),
            2 => (ids(0, 4), ids(1, 6), true),
            3 => (named(&["a", "b", "c"]), named(&["c", "x", "a", "b"]), true),
            _ => (ids(1, 4), ids(1, 0), false),
        };
        let data = data(rows, data_features, absent, seed);
        let mut models = vec![
            forest(model_features.clone(), absent, seed),
            linear_model(model_features.clone(), absent, seed),
            net(model_features.clone(), absent, seed, NO_MIN_MAX),
            net(model_features.clone(), absent, seed, MIN_MAX),
        ];
        let blended = |normalise| blend(model_features.clone(), absent, seed, normalise);
        models.extend(Normalise::ALL.map(blended));
        for model in models {
            let options = MatchOptions::default().ignore_extra(ignore_extra);
            let scores = model.score(&data, options.into()).unwrap();
            prop_assert_eq!(bits(scores), reference(&model, &data, options));
        }
    }

    #[test]
    fn permuted_scores_are_those_of_permuted_data(seed in 0u64..1000, feature in 0usize..4) {
        let features = FeatureNames::Ids { first: 1, count: 3 };
        let data = data(150, features.clone(), Absent::Zero, seed);
        let model = forest(FeatureNames::Ids { first: 1, count: 4 }, Absent::Zero, seed);
        let mut order: Vec<u32> = (0..150).collect();
        Random::new(seed, 4).shuffle(&mut order);
        let found =
            model.score_permuted(&data, ScoreOptions::default(), feature, &order).unwrap();
        let mut expected = Vec::new();
        for (row, &from) in order.iter().enumerate() {
            let mut values = data.matrix().row(row).to_vec();
            // The model's last feature is absent from the data: there are no values to shuffle.
            values.push(0.0);
            if feature < 3 {
                values[feature] = data.matrix().get(from as usize, feature);
            }
            expected.push(model.score_row(&values).to_bits());
        }
        prop_assert_eq!(bits(found), expected);
    }
}

#[test]
fn permuted_scores_of_listwise_models_are_those_of_permuted_data() {
    let features = FeatureNames::Ids { first: 1, count: 3 };
    let original = data(150, features.clone(), Absent::Zero, 1);
    let mut order: Vec<u32> = (0..150).collect();
    Random::new(1, 4).shuffle(&mut order);
    let mut values = original.matrix().values().to_vec();
    for (row, &from) in order.iter().enumerate() {
        values[row * 3 + 1] = original.matrix().get(from as usize, 1);
    }
    let permuted = Dataset::builder().dense(values, 3).features(features.clone());
    let permuted = permuted.query_ids((0..150).map(|row| row / 7)).build().unwrap();
    let options = ScoreOptions::default();
    for model in [
        net(features.clone(), Absent::Zero, 2, MIN_MAX),
        blend(features.clone(), Absent::Zero, 2, Normalise::Standard),
        blend(features, Absent::Zero, 2, Normalise::None),
    ] {
        let found = model.score_permuted(&original, options, 1, &order).unwrap();
        assert_eq!(bits(found), bits(model.score(&permuted, options).unwrap()));
    }
}

#[test]
fn members_of_a_blend_are_matched_through_it() {
    // The member's order differs from the blend's; only the blend's order is matched with the
    // data's numbers.
    let weights = |weights: &[f64]| ModelBody::Linear(Linear::new(0.0, weights.to_vec()).unwrap());
    let header = |names: &[&str]| Header::new(named(names), Absent::Zero);
    let member = Model::new(header(&["b", "a"]), weights(&[1.0, 10.0])).unwrap();
    let blend = ModelBody::Blend(Blend::new(Normalise::None, vec![(1.0, member)]).unwrap());
    let model = Model::new(header(&["a", "b"]), blend).unwrap();
    let data = data(20, FeatureNames::Ids { first: 1, count: 2 }, Absent::Zero, 3);
    let matching = MatchOptions::default().by(MatchBy::Position);
    let options = ScoreOptions { matching, ..ScoreOptions::default() };
    let scores = model.score(&data, options).unwrap();
    assert_eq!(bits(scores), reference(&model, &data, matching));
}

#[test]
fn a_reordering_that_does_not_fit_the_rows_is_refused() {
    let features = FeatureNames::Ids { first: 1, count: 2 };
    let data = data(3, features.clone(), Absent::Zero, 1);
    let model = forest(features, Absent::Zero, 1);
    for order in [&[0, 1][..], &[0, 1, 3]] {
        assert!(model.score_permuted(&data, ScoreOptions::default(), 0, order).is_err());
    }
}

#[test]
fn scores_do_not_depend_on_the_number_of_threads() {
    let features = FeatureNames::Ids { first: 1, count: 5 };
    let data = data(1000, features.clone(), Absent::Zero, 5);
    for model in [
        forest(features.clone(), Absent::Zero, 5),
        net(features.clone(), Absent::Zero, 5, MIN_MAX),
        blend(features, Absent::Zero, 5, Normalise::MinMax),
    ] {
        let scores_on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            bits(pool.install(|| model.score(&data, ScoreOptions::default())).unwrap())
        };
        assert_eq!(scores_on(1), scores_on(3));
    }
}

#[test]
fn data_must_treat_absent_values_as_the_model_does_if_that_matters() {
    let features = FeatureNames::Ids { first: 1, count: 2 };
    let data = data(5, features.clone(), Absent::Zero, 1);
    let trees = ModelBody::Trees(Ensemble::new(0.0, vec![two_split_tree()]).unwrap());
    let model = Model::new(Header::new(features.clone(), Absent::Missing), trees).unwrap();
    let error = model.score(&data, ScoreOptions::default()).unwrap_err();
    assert!(error.to_string().contains("as missing, but the data was read with them as zero"));
    assert!(error.help().unwrap().contains("absent features as missing"));
    let accepts = |model: Model| model.score(&data, ScoreOptions::default()).is_ok();
    assert!(accepts(linear_model(features.clone(), Absent::Missing, 1)));
    assert!(!accepts(net(features.clone(), Absent::Missing, 1, NO_MIN_MAX)));
    assert!(!accepts(blend(features.clone(), Absent::Missing, 1, Normalise::None)));
    let members = vec![(1.0, linear_model(features.clone(), Absent::Zero, 1))];
    let body = ModelBody::Blend(Blend::new(Normalise::None, members).unwrap());
    assert!(accepts(Model::new(Header::new(features, Absent::Missing), body).unwrap()));
}

#[test]
fn data_that_lacks_a_feature_is_refused() {
    let data = data(5, named(&["a", "b"]), Absent::Zero, 1);
    let model = forest(named(&["a", "c"]), Absent::Zero, 1);
    let error = model.score(&data, MatchOptions::default().ignore_extra(true).into()).unwrap_err();
    assert!(matches!(error, ModelError::MissingFeatures { count: 1, .. }), "{error}");
}
