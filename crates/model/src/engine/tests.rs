//! Tests that every engine gives the scores of the reference implementation, bit for bit.

mod nets;

use proptest::prelude::*;
use rankwright_data::{Absent, FeatureNames, Random};

use super::*;
use crate::net::tests::{MIN_MAX, NO_MIN_MAX, random_net};
use crate::tree::tests::random_tree;
use crate::{
    Categories, Child, Ensemble, Header, Leaf, Linear, Model, Side, Split, SplitCondition, Tree,
};

// The second argument of `Random::new` is any number: it keeps streams of random numbers apart.

/// Number of features of all models of these tests.
const FEATURES: usize = 20;

/// A tree of random shape with all kinds of split conditions.
fn any_tree(seed: u64, splits: usize) -> Tree {
    let tree = random_tree(seed, splits, FEATURES);
    let mut draw = Random::new(seed, 9);
    let sets = vec![
        Categories::new((0..10).filter(|_| draw.below(2) == 0)).unwrap(),
        Categories::new([1, 3, 5]).unwrap(),
    ];
    let mut vary = |split: &Split| {
        let threshold = split.rule.threshold().unwrap();
        let rule = match draw.below(8) {
            0 => SplitCondition::NonZeroAtMost(threshold - 3.0),
            1 => SplitCondition::In(draw.below(2) as u32),
            2 => {
                SplitCondition::AtMost([f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.0][draw.below(4)])
            }
            _ => SplitCondition::AtMost(threshold + draw.below(100) as f32 / 128.0),
        };
        let missing = if draw.below(2) == 0 { Side::Left } else { Side::Right };
        Split { rule, missing, ..*split }
    };
    let splits = tree.splits().iter().map(&mut vary).collect();
    Tree::with_sets(splits, tree.leaves().to_vec(), sets).unwrap()
}

/// An oblivious tree: the same test on all splits of a level.
fn oblivious(seed: u64, depth: usize) -> Tree {
    let mut draw = Random::new(seed, 5);
    let levels: Vec<(u32, f32)> =
        (0..depth).map(|_| (draw.below(FEATURES) as u32, draw.below(9) as f32)).collect();
    let splits = (1_u32 << depth) - 1;
    // Numbered by level: the children of split n are 2n + 1 and 2n + 2.
    let child = |number: u32| match number < splits {
        true => Child::Split(number),
        false => Child::Leaf(number - splits),
    };
    let split = |number: u32| {
        let (feature, threshold) = levels[(number + 1).ilog2() as usize];
        Split {
            feature,
            rule: SplitCondition::AtMost(threshold),
            missing: Side::Left,
            left: child(2 * number + 1),
            right: child(2 * number + 2),
            gain: 0.0,
            rows: 1,
        }
    };
    let leaves = (0..=splits).map(|_| Leaf { value: draw.normal(), rows: 1 }).collect();
    Tree::new((0..splits).map(split).collect(), leaves).unwrap()
}

fn model(trees: Vec<Tree>) -> Model {
    let features = FeatureNames::Ids { first: 1, count: FEATURES };
    let body = ModelBody::Trees(Ensemble::new(0.7, trees).unwrap());
    Model::new(Header::new(features, Absent::Zero), body).unwrap()
}

/// Random rows, with missing and infinite values.
fn rows(seed: u64, count: usize) -> Vec<f32> {
    let mut draw = Random::new(seed, 7);
    let value = |_| match draw.below(14) {
        10 => f32::NAN,
        11 => [f32::INFINITY, f32::NEG_INFINITY, -0.0, 1e-36][draw.below(4)],
        12 => -(draw.below(9) as f32),
        13 => draw.below(700) as f32 / 64.0,
        n => n as f32,
    };
    (0..count * FEATURES).map(value).collect()
}

/// Checks that portable and AVX2 code score `count` random rows as the reference implementation.
fn check(model: &Model, seed: u64, count: usize) {
    let rows = rows(seed, count);
    let reference: Vec<u64> =
        rows.chunks(FEATURES).map(|row| model.score_row(row).to_bits()).collect();
    let matching = Matching::identity(model.header());
    for simd in [Simd::Auto, Simd::Portable] {
        let scorer = Scorer::new(model, &matching, FEATURES, simd);
        // The same buffers twice: no state may remain.
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
    fn any_trees_score_any_rows_as_the_reference_does(
        seed: u64,
        sizes in proptest::collection::vec(0_usize..300, 1..20),
        count in 1_usize..300,
    ) {
        let trees = sizes.iter().enumerate().map(|(n, splits)| any_tree(seed ^ n as u64, *splits));
        check(&model(trees.collect()), seed, count);
    }

    #[test]
    fn oblivious_trees_score_as_the_reference_does(
        seed: u64, depths in proptest::collection::vec(0_usize..10, 1..20), count in 1_usize..200,
    ) {
        let trees = depths.iter().enumerate().map(|(n, depth)| oblivious(seed ^ n as u64, *depth));
        check(&model(trees.collect()), seed, count);
    }
}

#[test]
fn the_engine_is_chosen_by_the_trees() {
    let engine = |trees: Vec<Tree>| model(trees).scorer().engine();
    assert_eq!(engine(vec![]), "constant");
    assert_eq!(engine(vec![oblivious(1, 6), oblivious(2, 8)]), "oblivious");
    assert_eq!(engine(vec![any_tree(1, 255), any_tree(2, 3)]), "select network");
    assert_eq!(engine(vec![any_tree(1, 256)]), "walk");
    assert_eq!(engine(vec![any_tree(1, 30), any_tree(2, 300)]), "select network + walk");
}

#[test]
fn a_feature_with_many_thresholds_takes_several_networks() {
    let stump = |n: u32| {
        let (left, right) = (Child::Leaf(0), Child::Leaf(1));
        let rule = SplitCondition::AtMost(n as f32 / 64.0);
        let split =
            Split { feature: 3, rule, missing: Side::Left, left, right, gain: 0.0, rows: 1 };
        let leaf = |value: f64| Leaf { value, rows: 1 };
        Tree::new(vec![split], vec![leaf(f64::from(n)), leaf(-0.1)]).unwrap()
    };
    // 700 thresholds of one feature, of which a network holds at most 255.
    let model = model((0..700).map(stump).collect());
    check(&model, 4, 200);
    let matching = Matching::identity(model.header());
    let ModelBody::Trees(trees) = model.body() else { unreachable!() };
    assert_eq!(TreeBatches::new(trees, &matching, Simd::Auto).batches.len(), 3);
}

#[test]
fn sparse_rows_score_as_their_dense_form() {
    let features = FeatureNames::Ids { first: 1, count: 3 };
    for (absent, absent_value) in [(Absent::Zero, 0.0), (Absent::Missing, f32::NAN)] {
        let split = Split {
            feature: 2,
            rule: SplitCondition::AtMost(1.0),
            missing: Side::Right,
            left: Child::Leaf(0),
            right: Child::Leaf(1),
            gain: 0.0,
            rows: 1,
        };
        let leaves = [1.0, 2.0].map(|value| Leaf { value, rows: 1 }).to_vec();
        let tree = Tree::new(vec![split], leaves).unwrap();
        let body = ModelBody::Trees(Ensemble::new(0.0, vec![tree]).unwrap());
        let scorer = Model::new(Header::new(features.clone(), absent), body).unwrap().scorer();
        let (mut buffers, count) = (ScoreBuffers::default(), 300);
        // Row n holds column n % 4, if it exists; every value is n % 3.
        let columns: Vec<u32> = (0..count).map(|n| n % 4).filter(|c| *c < 3).collect();
        let values: Vec<f32> = (0..count).filter(|n| n % 4 < 3).map(|n| (n % 3) as f32).collect();
        let starts: Vec<usize> =
            (0..=count).map(|n| (0..n).filter(|m| m % 4 < 3).count()).collect();
        let rows = SparseRows { row_offsets: &starts, columns: &columns, values: &values };
        let mut scores = vec![0.0; count as usize];
        scorer.score_sparse(rows, &mut scores, &mut buffers).unwrap();
        let mut dense = vec![absent_value; 3 * count as usize];
        for n in (0..count).filter(|n| n % 4 < 3) {
            dense[(n * 3 + n % 4) as usize] = (n % 3) as f32;
        }
        let mut expected = vec![0.0; count as usize];
        scorer.score_query(&dense, &mut expected, &mut buffers).unwrap();
        assert_eq!(scores, expected);
        let wrong = [
            SparseRows { row_offsets: &starts[1..], ..rows },
            SparseRows { values: &values[1..], ..rows },
            SparseRows { columns: &vec![3; columns.len()], ..rows },
        ];
        for rows in wrong {
            assert!(scorer.score_sparse(rows, &mut scores, &mut buffers).is_err());
        }
    }
}

#[test]
fn a_wrong_number_of_values_is_refused() {
    let linear = ModelBody::Linear(Linear::new(0.0, vec![1.0, 2.0]).unwrap());
    let features = FeatureNames::Ids { first: 1, count: 2 };
    let scorer = Model::new(Header::new(features, Absent::Zero), linear).unwrap().scorer();
    let error =
        scorer.score_query(&[1.0; 3], &mut [0.0; 2], &mut ScoreBuffers::default()).unwrap_err();
    assert!(error.to_string().contains("3 values for 2 rows; expected 2 for each row"), "{error}");
    assert!(scorer.score_query(&[], &mut [], &mut ScoreBuffers::default()).is_ok());
}

#[test]
fn only_listwise_models_refuse_rows_without_their_query() {
    let header = || Header::new(FeatureNames::Ids { first: 1, count: 2 }, Absent::Zero);
    let net = |min_max| {
        let net = random_net(1, 2, &[3], min_max);
        Model::new(header(), ModelBody::Net(net)).unwrap().scorer()
    };
    let (mut buffers, mut scores, row) = (ScoreBuffers::default(), [0.0; 1], [1.0, 2.0]);
    let listwise = net(MIN_MAX);
    let one = listwise.score_one(&row, &mut buffers);
    assert!(matches!(one, Err(crate::ModelError::NeedsWholeQuery)), "{one:?}");
    assert!(listwise.score_rows(&row, &mut scores, &mut buffers).is_err());
    assert!(listwise.score_query(&row, &mut scores, &mut buffers).is_ok());
    let pointwise = net(NO_MIN_MAX);
    let one = pointwise.score_one(&row, &mut buffers).unwrap();
    pointwise.score_query(&row, &mut scores, &mut buffers).unwrap();
    assert_eq!(one, scores[0]);
    assert!(pointwise.score_one(&row[..1], &mut buffers).is_err());
}

#[test]
fn scorers_can_be_shared_by_threads() {
    fn shared<T: Send + Sync + Clone>() {}
    shared::<Scorer>();
}
