//! Tests that nets and blends score as the reference implementation does, bit for bit, row by row
//! and query by query.

use super::*;
use crate::{Activation, Blend, Layer, Net, Normalise, Transforms};

fn header() -> Header {
    Header::new(FeatureNames::Ids { first: 1, count: FEATURES }, Absent::Zero)
}

fn net(seed: u64, hidden: &[usize], min_max: bool) -> Model {
    let net = random_net(seed, FEATURES, hidden, min_max);
    Model::new(header(), ModelBody::Net(net)).unwrap()
}

fn linear_model(seed: u64) -> Model {
    // 31 is the number of the stream, chosen freely: other tests with the same seed use other
    // streams.
    let mut draw = Random::new(seed, 31);
    let weights = (0..FEATURES).map(|_| draw.normal()).collect();
    Model::new(header(), ModelBody::Linear(Linear::new(0.5, weights).unwrap())).unwrap()
}

/// A blend with members of every kind; members with fewer features find them among the blend's.
fn blend(seed: u64, normalise: Normalise, min_max: bool) -> Model {
    let five_features = Header::new(FeatureNames::Ids { first: 1, count: 5 }, Absent::Zero);
    let narrow = ModelBody::Net(random_net(seed, 5, &[3], NO_MIN_MAX));
    let members = vec![
        (0.4, model((0..5).map(|n| any_tree(seed + n, 20)).collect())),
        (-1.5, net(seed, &[7], min_max)),
        (0.0, linear_model(seed)),
        (1e-3, linear_model(seed + 1)),
        (2.0, Model::new(five_features, narrow).unwrap()),
    ];
    Model::new(header(), ModelBody::Blend(Blend::new(normalise, members).unwrap())).unwrap()
}

/// Checks that portable and AVX2 code score a query of `count` random rows as the reference
/// implementation.
fn check_query(model: &Model, seed: u64, count: usize) {
    let rows = rows(seed, count);
    let slices: Vec<&[f32]> = rows.chunks(FEATURES).collect();
    let reference: Vec<u64> = model.score_query(&slices).iter().map(|s| s.to_bits()).collect();
    let matching = Matching::identity(model.header());
    for simd in [Simd::Auto, Simd::Portable] {
        let scorer = Scorer::new(model, &matching, FEATURES, simd);
        assert_eq!(scorer.is_listwise(), model.is_listwise());
        let (mut buffers, mut scores) = (ScoreBuffers::default(), vec![0.0; count]);
        for _ in 0..2 {
            scorer.score_query(&rows, &mut scores, &mut buffers).unwrap();
            let bits: Vec<u64> = scores.iter().map(|score| score.to_bits()).collect();
            assert_eq!(bits, reference, "{simd:?}, {}", scorer.engine());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn nets_score_as_the_reference_does(
        seed: u64,
        hidden in proptest::collection::vec(1_usize..40, 0..4),
        count in 1_usize..150,
    ) {
        check(&net(seed, &hidden, NO_MIN_MAX), seed, count);
        check_query(&net(seed, &hidden, MIN_MAX), seed, count);
    }

    #[test]
    fn blends_score_as_the_reference_does(seed in 0..u64::MAX - 9, count in 1_usize..150) {
        check(&blend(seed, Normalise::None, NO_MIN_MAX), seed, count);
        check_query(&blend(seed, Normalise::None, MIN_MAX), seed, count);
        for normalise in Normalise::ALL {
            let blend = blend(seed, normalise, NO_MIN_MAX);
            check_query(&blend, seed, count);
            let sum = Blend::sum(blend, model(vec![any_tree(seed, 9)])).unwrap();
            check_query(&Model::new(header(), ModelBody::Blend(sum)).unwrap(), seed, count);
        }
    }
}

#[test]
fn the_other_documents_of_a_query_matter_only_to_listwise_models() {
    let rows = rows(3, 10);
    let slices: Vec<&[f32]> = rows.chunks(FEATURES).collect();
    for (model, listwise) in [
        (net(1, &[4], NO_MIN_MAX), false),
        (net(1, &[4], MIN_MAX), true),
        (blend(1, Normalise::None, NO_MIN_MAX), false),
        (blend(1, Normalise::None, MIN_MAX), true),
        (blend(1, Normalise::Standard, NO_MIN_MAX), true),
    ] {
        assert_eq!(model.is_listwise(), listwise);
        let together = model.score_query(&slices);
        let alone: Vec<f64> = slices.iter().map(|row| model.score_row(row)).collect();
        assert_eq!(together == alone, !listwise);
    }
}

#[test]
fn columns_that_the_data_lacks_are_absent_to_nets_and_members() {
    let names = FeatureNames::Ids { first: 1, count: 7 };
    for model in [net(5, &[9], NO_MIN_MAX), blend(5, Normalise::None, NO_MIN_MAX)] {
        let scorer = model.scorer_for(&names, crate::ScoreOptions::default()).unwrap();
        // Three rows of seven values.
        let values: Vec<f32> = rows(5, 3)[..21].to_vec();
        let mut scores = [0.0; 3];
        scorer.score_query(&values, &mut scores, &mut ScoreBuffers::default()).unwrap();
        for (row, score) in values.chunks(7).zip(scores) {
            let padded: Vec<f32> = row.iter().copied().chain([0.0; FEATURES - 7]).collect();
            assert_eq!(score.to_bits(), model.score_row(&padded).to_bits());
        }
    }
}

#[test]
fn sparse_rows_of_a_query_are_scored_together() {
    // More rows than a block holds; row n holds the value n in column 0.
    let count = 300;
    let starts: Vec<usize> = (0..=count).collect();
    let values: Vec<f32> = (0..count).map(|n| n as f32).collect();
    let rows = SparseRows { row_offsets: &starts, columns: &vec![0; count], values: &values };
    let layer = Layer::new(FEATURES, vec![1.0; FEATURES], vec![0.0], None, Activation::None);
    let min_max_in_query = true;
    let transforms =
        Transforms::new(vec![vec![]; FEATURES], vec![0.0; FEATURES], min_max_in_query).unwrap();
    let net = Net::new(transforms, vec![layer.unwrap()]).unwrap();
    let scorer = Model::new(header(), ModelBody::Net(net)).unwrap().scorer();
    let mut scores = vec![0.0; count];
    scorer.score_sparse(rows, &mut scores, &mut ScoreBuffers::default()).unwrap();
    // Column 0 is scaled from 0..=299 to 0..=1; all others are equal and become 0.
    for (n, score) in scores.iter().enumerate() {
        assert_eq!(*score, f64::from((n as f64 / 299.0) as f32));
    }
}

#[test]
fn the_engine_names_its_parts() {
    assert_eq!(net(1, &[], NO_MIN_MAX).scorer().engine(), "net of 1 layer");
    assert_eq!(net(1, &[3, 3], NO_MIN_MAX).scorer().engine(), "net of 3 layers");
    let blend = blend(1, Normalise::Rank, NO_MIN_MAX).scorer().engine();
    assert_eq!(blend, "blend of select network, net of 2 layers, linear model, net of 2 layers");
}

#[test]
fn a_net_without_features_scores_any_rows() {
    let layer = Layer::new(0, vec![], vec![2.5], None, Activation::None).unwrap();
    let net = Net::new(Transforms::identity(0), vec![layer]).unwrap();
    let none = Header::new(FeatureNames::Ids { first: 1, count: 0 }, Absent::Zero);
    let scorer = Model::new(none, ModelBody::Net(net)).unwrap().scorer();
    let mut scores = [0.0; 70];
    scorer.score_query(&[], &mut scores, &mut ScoreBuffers::default()).unwrap();
    assert_eq!(scores, [2.5; 70]);
}
