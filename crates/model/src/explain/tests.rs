//! Tests of explanations: against numbers computed by hand, and against Shapley values computed
//! from all subsets of the features.

mod others;

use proptest::prelude::*;
use rankwright_data::{Absent, FeatureNames, Matrix, Random};

use super::*;
use crate::categories::Categories;
use crate::error::ModelError;
use crate::tree::tests::{chain_tree, random_tree, two_split_tree};
use crate::tree::{Child, Leaf, Side, Split, SplitCondition, Tree};
use crate::{DependenceOptions, Ensemble, Header, Linear, ScoreOptions};

pub(super) fn ids(count: usize) -> FeatureNames {
    FeatureNames::Ids { first: 1, count }
}

/// Data of `width` columns, with a query for every seven rows.
pub(super) fn data(width: usize, values: Vec<f32>) -> Dataset {
    let rows = values.len() / width.max(1);
    let matrix = Matrix::from_rows(rows, width, values).unwrap();
    Dataset::builder().matrix(matrix).query_ids((0..rows).map(|row| row / 7)).build().unwrap()
}

// The second argument of `Random::new` is any number: it keeps streams of random numbers apart.

/// Data with the values 0 to 9, and missing ones.
pub(super) fn random_data(seed: u64, rows: usize, width: usize) -> Dataset {
    let mut draw = Random::new(seed, 2);
    let value = |_| match draw.below(11) {
        10 => f32::NAN,
        n => n as f32,
    };
    data(width, (0..rows * width).map(value).collect())
}

pub(super) fn tree_model(features: usize, base: f64, trees: Vec<Tree>) -> Model {
    let body = ModelBody::Trees(Ensemble::new(base, trees).unwrap());
    Model::new(Header::new(ids(features), Absent::Zero), body).unwrap()
}

/// Checks that every sum is the score, and that the score is the model's.
pub(super) fn check_sums(model: &Model, data: &Dataset, found: &[Explanation]) {
    let scores = model.score(data, ScoreOptions::default()).unwrap();
    for list in found {
        for document in 0..list.documents() {
            let parts = list.contributions(document);
            let size = parts.iter().map(|part| part.abs()).sum::<f64>().max(1.0);
            let sum = list.base + parts.iter().sum::<f64>();
            assert_eq!(list.scores[document] + 0.0, scores[list.rows.start + document] + 0.0);
            assert!((sum - list.scores[document]).abs() <= 1e-12 * size, "{sum} {list:?}");
        }
        for (a, b) in [(0, list.documents() - 1), (list.documents() / 2, 0)] {
            let difference = list.scores[a] - list.scores[b];
            let sum: f64 = list.difference(a, b).iter().sum();
            let tolerance = 1e-12 * difference.abs().max(1.0);
            assert!((sum - difference).abs() <= tolerance, "{sum} {difference}");
        }
    }
}

/// All numbers that were computed, to the bit.
pub(super) fn bits(found: &[Explanation]) -> Vec<u64> {
    let numbers =
        |list: &Explanation| [&[list.base], &list.scores[..], &list.contributions[..]].concat();
    found.iter().flat_map(numbers).map(f64::to_bits).collect()
}

fn assert_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
}

fn options() -> ExplainOptions {
    ExplainOptions::default()
}

#[test]
fn the_only_split_contributes_everything_to_its_feature() {
    let (left, right) = (Child::Leaf(0), Child::Leaf(1));
    let rule = SplitCondition::AtMost(0.5);
    let split = Split { feature: 1, rule, missing: Side::Left, left, right, gain: 1.0, rows: 4 };
    let leaves = vec![Leaf { value: -1.0, rows: 3 }, Leaf { value: 1.0, rows: 1 }];
    let model = tree_model(3, 10.0, vec![Tree::new(vec![split], leaves).unwrap()]);
    let explainer = Explainer::new(&model, options()).unwrap();
    assert_eq!((explainer.features(), explainer.names()), (&[1][..], vec!["2".to_owned()]));
    let data = data(3, vec![0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, f32::NAN, 0.0]);
    let found = &explainer.explain(&data, &[0]).unwrap()[0];
    // 10 + (3 x -1 + 1 x 1) / 4.
    assert_eq!(found.base, 9.5);
    let parts: Vec<f64> = (0..3).map(|document| found.contributions(document)[0]).collect();
    assert_eq!(parts, [1.5, -0.5, -0.5]);
    assert_eq!(found.difference(0, 1), [2.0]);
    // The mean of 1.5, -0.5 and -0.5 is 1/6; there is no fourth document.
    assert!(found.means()[0].abs() < 0.17 && found.contributions(3).is_empty());
}

#[test]
fn two_levels_give_the_values_computed_by_hand() {
    // Leaves -1 (4 rows) at x0 <= 0.5; else 0.25 (2 rows) at x1 <= 0.1, else 3 (4 rows).
    let model = tree_model(2, 0.0, vec![two_split_tree()]);
    let explainer = Explainer::new(&model, options()).unwrap();
    let data = data(2, vec![0.6, 0.2, f32::NAN, f32::NAN, 0.0, 0.2]);
    let found = &explainer.explain(&data, &[0]).unwrap()[0];
    assert_near(&[found.base], &[0.85]);
    // Knowing x0: 12.5/6. Knowing x1: 0.4 x -1 + 0.6 x 3 = 1.4. Knowing both: 3.
    let x0 = 0.5 * ((12.5 / 6.0 - 0.85) + (3.0 - 1.4));
    assert_near(found.contributions(0), &[x0, 3.0 - 0.85 - x0]);
    // A missing value goes right, then left: 0.25. Knowing x1: 0.4 x -1 + 0.6 x 0.25 = -0.25.
    let x0 = 0.5 * ((12.5 / 6.0 - 0.85) + (0.25 + 0.25));
    assert_near(found.contributions(1), &[x0, 0.25 - 0.85 - x0]);
    // Left: knowing x0 is knowing all; knowing x1 is 1.4 as above.
    let x0 = 0.5 * ((-1.0 - 0.85) + (-1.0 - 1.4));
    assert_near(found.contributions(2), &[x0, -1.0 - 0.85 - x0]);
    check_sums(&model, &data, std::slice::from_ref(found));
}

#[test]
fn trees_of_one_leaf_add_to_the_base_alone() {
    let constant = || Tree::constant(0.25, 0).unwrap();
    let model = tree_model(2, 1.0, vec![constant(), two_split_tree(), constant()]);
    let found = Explainer::new(&model, options()).unwrap();
    let data = data(2, vec![0.6, 0.2]);
    let found = found.explain(&data, &[0]).unwrap();
    assert_near(&[found[0].base], &[0.85 + 1.5]);
    check_sums(&model, &data, &found);
    let model = tree_model(2, 1.0, vec![constant()]);
    let found = Explainer::new(&model, options()).unwrap();
    let found = found.explain(&data, &[0]).unwrap();
    assert_eq!((found[0].base, found[0].contributions(0)), (1.25, &[][..]));
}

#[test]
fn a_deep_chain_of_splits_on_one_feature_can_be_explained() {
    // Leaf n has the value n and one row, so that the base is the mean of 0 to 30,000; the value
    // 17.5 reaches leaf 18.
    let model = tree_model(1, 0.0, vec![chain_tree(30_000)]);
    let data = data(1, vec![17.5, -1.0]);
    let found = Explainer::new(&model, options()).unwrap().explain(&data, &[0]).unwrap();
    assert_near(&[found[0].base / 1e4], &[1.5]);
    assert!((found[0].contributions(0)[0] - (18.0 - 15_000.0)).abs() < 1e-6);
    check_sums(&model, &data, &found);
}

#[test]
fn trees_without_row_counts_are_refused_without_background_documents() {
    let without_counts = |tree: &Tree| {
        let leaves = tree.leaves().iter().map(|leaf| Leaf { rows: 0, ..*leaf }).collect();
        Tree::new(tree.splits().to_vec(), leaves).unwrap()
    };
    let constant = Tree::constant(1.0, 0).unwrap();
    let model = tree_model(2, 0.0, vec![constant, without_counts(&two_split_tree())]);
    let error = Explainer::new(&model, options()).unwrap_err();
    assert!(matches!(error, ExplainError::NoCounts { tree: 1 }), "{error}");
    assert!(error.help().unwrap().contains("background"));
    // Rows 4, 2 and 4 at the leaves, as in `two_split_tree`.
    let rows = [[0.0, 0.0]; 4].into_iter().chain([[1.0, 0.0]; 2]).chain([[1.0, 1.0]; 4]);
    let background = data(2, rows.flatten().collect());
    let found = Explainer::with_background(&model, &background, options()).unwrap();
    let counted = tree_model(2, 1.0, vec![two_split_tree()]);
    let counted = Explainer::new(&counted, options()).unwrap();
    let dataset = data(2, vec![0.6, 0.2]);
    let (found, counted) = (found.explain(&dataset, &[0]), counted.explain(&dataset, &[0]));
    assert_near(found.unwrap()[0].contributions(0), counted.unwrap()[0].contributions(0));
    let nothing = data(2, Vec::new());
    let error = Explainer::with_background(&model, &nothing, options()).unwrap_err();
    assert!(matches!(error, ExplainError::EmptyBackground), "{error}");
}

/// Replaces some split conditions of a tree: by sets of categories, or by thresholds with 0 as
/// missing.
fn with_mixed_conditions(tree: &Tree, seed: u64) -> Tree {
    let mut draw = Random::new(seed, 9);
    let sets = vec![Categories::new([0, 3, 4, 8]).unwrap()];
    let mut rule = |split: &Split| match (draw.below(3), split.rule.threshold()) {
        (1, Some(threshold)) => SplitCondition::NonZeroAtMost(threshold),
        (2, _) => SplitCondition::In(0),
        _ => split.rule,
    };
    let splits = tree.splits().iter().map(|split| Split { rule: rule(split), ..*split }).collect();
    Tree::with_sets(splits, tree.leaves().to_vec(), sets).unwrap()
}

/// The expected value of a tree from a node on, and the number of rows there, if only the features
/// whose bits are set in `known` are known; `leaf_rows` are the rows at the leaves.
fn expected(tree: &Tree, leaf_rows: &[f64], row: &[f32], known: u32, node: Child) -> (f64, f64) {
    match node {
        Child::Leaf(leaf) => (tree.leaves()[leaf as usize].value, leaf_rows[leaf as usize]),
        Child::Split(number) => {
            let split = &tree.splits()[number as usize];
            let (left, left_rows) = expected(tree, leaf_rows, row, known, split.left);
            let (right, right_rows) = expected(tree, leaf_rows, row, known, split.right);
            let rows = left_rows + right_rows;
            let left_fraction = if rows > 0.0 { left_rows / rows } else { 0.5 };
            let value = match known >> split.feature & 1 == 1 {
                true if split.side(row[split.feature as usize], tree.sets()) == Side::Left => left,
                true => right,
                false => left_fraction * left + (1.0 - left_fraction) * right,
            };
            (value, rows)
        }
    }
}

/// Shapley values from all subsets of features; `value` is the expected score if the features whose
/// bits are set are known.
fn shapley_values_from_subsets(features: usize, value: impl Fn(u32) -> f64) -> Vec<f64> {
    let values: Vec<f64> = (0..1 << features).map(value).collect();
    let mut weights = vec![1.0; features];
    for size in 1..features {
        // The weight of a set of s among m features is s! (m - s - 1)! / m!: it follows from that
        // of s - 1. The factor 1/m comes below.
        weights[size] = weights[size - 1] * size as f64 / (features - size) as f64;
    }
    let part = |feature: usize| {
        let without = (0..1_usize << features).filter(|set| set >> feature & 1 == 0);
        let terms = without.map(|set| {
            let weight = weights[set.count_ones() as usize] / features as f64;
            weight * (values[set | 1 << feature] - values[set])
        });
        terms.sum()
    };
    (0..features).map(part).collect()
}

/// The expected score if the features whose bits are set are known, for trees with these rows at
/// their leaves.
fn expected_score(model: &Model, leaves: &[Vec<f64>], row: &[f32], known: u32) -> f64 {
    let ModelBody::Trees(ensemble) = model.body() else { return f64::NAN };
    let tree_value =
        |(tree, rows): (&Tree, &Vec<f64>)| expected(tree, rows, row, known, tree.root()).0;
    ensemble.base() + ensemble.trees().iter().zip(leaves).map(tree_value).sum::<f64>()
}

/// Checks that contributions are those computed from all subsets of features, for trees with these
/// rows at their leaves.
fn check_against_subsets(
    model: &Model,
    leaves: &[Vec<f64>],
    data: &Dataset,
    found: &[Explanation],
) {
    let (width, used) = (data.columns(), model.used_features());
    for list in found {
        for document in 0..list.documents() {
            let row = data.matrix().row(list.rows.start + document);
            let value = |known| expected_score(model, leaves, row, known);
            let exact = shapley_values_from_subsets(width, value);
            let exact: Vec<f64> = used.iter().map(|feature| exact[*feature]).collect();
            assert_near(list.contributions(document), &exact);
        }
        assert_near(&[list.base], &[expected_score(model, leaves, &[], 0)]);
    }
    check_sums(model, data, found);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn tree_contributions_are_those_of_all_subsets(
        seed in 0..1000_u64, splits in 1..40_usize, width in 1..=8_usize,
    ) {
        let tree = |n: u64| with_mixed_conditions(&random_tree(seed + n, splits, width), seed + n);
        let forest = (0..3).map(tree).collect();
        let model = tree_model(width, 0.5, forest);
        let data = random_data(seed, 9, width);
        let ModelBody::Trees(ensemble) = model.body() else { return Ok(()) };
        if let Ok(leaves) = stored_leaf_rows(ensemble) {
            let found = Explainer::new(&model, options()).unwrap().explain(&data, &[0, 1]).unwrap();
            check_against_subsets(&model, &leaves, &data, &found);
        }
    }

    #[test]
    fn background_documents_are_counted_and_leaves_without_any_do_no_harm(
        seed in 0..1000_u64, splits in 1..40_usize, width in 1..=6_usize, rows in 1..12_usize,
    ) {
        let tree = |n: u64| with_mixed_conditions(&random_tree(seed + n, splits, width), seed + n);
        let forest = (0..2).map(tree).collect();
        let model = tree_model(width, 0.0, forest);
        let (data, background) = (random_data(seed, 9, width), random_data(seed + 1, rows, width));
        let ModelBody::Trees(ensemble) = model.body() else { return Ok(()) };
        let leaf_rows = |tree: &Tree| {
            let mut counts = vec![0.0; tree.leaves().len()];
            (0..rows).for_each(|row| counts[tree.leaf_of(background.matrix().row(row))] += 1.0);
            counts
        };
        let leaves: Vec<Vec<f64>> = ensemble.trees().iter().map(leaf_rows).collect();
        let explainer = Explainer::with_background(&model, &background, options()).unwrap();
        check_against_subsets(&model, &leaves, &data, &explainer.explain(&data, &[0, 1]).unwrap());
        // The base is the mean score of the background.
        let scores = model.score(&background, ScoreOptions::default()).unwrap();
        let mean = scores.iter().sum::<f64>() / rows as f64;
        assert_near(&[explainer.explain(&data, &[0]).unwrap()[0].base], &[mean]);
    }
}

#[test]
fn explanations_depend_neither_on_threads_nor_on_other_documents() {
    let forest = (0..20).map(|n| random_tree(n, 30, 12)).collect();
    let model = tree_model(12, 0.0, forest);
    let data = random_data(5, 100, 12);
    let explainer = Explainer::new(&model, options()).unwrap();
    let queries: Vec<usize> = (0..data.queries()).collect();
    let explain_on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| explainer.explain(&data, &queries).unwrap())
    };
    let on_one = explain_on(1);
    assert!(bits(&on_one) == bits(&explain_on(3)));
    // The same documents as one list.
    let mut list = UsedFeatureRows::gather(
        &data,
        0..100,
        &model.prepared(&data, MatchOptions::default()).unwrap().1,
        explainer.features(),
    );
    let together = explainer.method.explain(&list);
    let parts: Vec<f64> = on_one.iter().flat_map(|list| list.contributions.clone()).collect();
    assert!(together.values == parts);
    list = list.first(3);
    assert!(explainer.method.explain(&list).values == parts[..list.values.len()]);
}

/// Ignored by default: `cargo test --release -p rankwright-model treeshap_speed -- --ignored
/// --nocapture`.
#[test]
#[ignore = "measures time, and takes long"]
fn treeshap_speed() {
    for (splits, width) in [(30, 136), (254, 136)] {
        let trees = (0..500).map(|n| random_tree(n, splits, width)).collect();
        let model = tree_model(width, 0.0, trees);
        let data = random_data(1, 100, width);
        let start = std::time::Instant::now();
        let explainer = Explainer::new(&model, options()).unwrap();
        let preparing = start.elapsed();
        let queries: Vec<usize> = (0..data.queries()).collect();
        let found = explainer.explain(&data, &queries).unwrap();
        let leaves = splits + 1;
        let total = start.elapsed();
        println!("500 trees x {leaves} leaves, 100 documents: {preparing:?} of {total:?}");
        check_sums(&model, &data, &found);
    }
}

#[test]
fn queries_and_features_that_do_not_exist_are_refused() {
    let linear = ModelBody::Linear(Linear::new(0.0, vec![1.0]).unwrap());
    let model = Model::new(Header::new(ids(1), Absent::Zero), linear).unwrap();
    let data = data(1, vec![1.0, 2.0]);
    let explainer = Explainer::new(&model, options()).unwrap();
    let error = explainer.explain(&data, &[0, 99]).unwrap_err();
    assert!(matches!(error, ExplainError::NoSuchQuery { query: 99, queries: 1 }), "{error}");
    let error = model.dependence(&data, 1, DependenceOptions::default(), options()).unwrap_err();
    let ExplainError::Model(error) = error else { panic!("{error}") };
    assert!(matches!(error, ModelError::NoSuchFeature { feature: 1, features: 1 }), "{error}");
    let error = model.score_permuted(&data, ScoreOptions::default(), 7, &[1, 0]).unwrap_err();
    assert!(matches!(error, ModelError::NoSuchFeature { feature: 7, features: 1 }), "{error}");
}

/// The value 7 is the number of no category.
#[test]
fn texts_of_a_partial_dependence_line_up_with_its_values() {
    use rankwright_data::{Encoding, TableColumn, TableColumns};

    let names = FeatureNames::Named(vec!["brand".to_owned()]);
    let linear = Linear::new(0.0, vec![1.0]).unwrap();
    let mut header = Header::new(names, Absent::Zero);
    let columns = |texts: [&str; 2]| {
        let texts = texts.map(str::to_owned).into();
        let brand = TableColumn::feature("brand", Encoding::Category(texts));
        TableColumns::new(vec![brand]).unwrap()
    };
    header.table_columns = Some(columns(["acme", "zenith"]).into());
    let model = Model::new(header, ModelBody::Linear(linear)).unwrap();
    let rows = || Dataset::from_rows([[0.0], [1.0], [1.0]], ["brand"]).query_ids(["q"; 3]);
    let (dependence, options) = (DependenceOptions::new(), ExplainOptions::new());
    // The data numbers its texts in another order.
    let data = rows().table_columns(columns(["zenith", "acme"])).build().unwrap();
    let found = model.dependence(&data, 0, dependence, options).unwrap();
    assert_eq!(found.values, [0.0, 1.0]);
    assert_eq!(found.texts, ["acme", "zenith"]);
    let numbers = rows().build().unwrap();
    let error = model.dependence(&numbers, 0, dependence, options).unwrap_err();
    assert_eq!(error.kind(), "categories-without-texts", "{error}");
    for wrong in [dependence.points(0_usize), dependence.curves(101_usize)] {
        let error = model.dependence(&data, 0, wrong, options).unwrap_err();
        assert_eq!(error.kind(), "bad-value", "{error}");
    }
    let error = Explainer::new(&model, options.permutations(0)).unwrap_err();
    assert_eq!(error.kind(), "bad-value", "{error}");
}

#[test]
fn documents_are_in_the_order_of_rankings() {
    let list = Explanation {
        query: 0,
        rows: 0..3,
        base: 0.0,
        scores: vec![-0.0, 0.0, 1.0],
        width: 0,
        feature_values: Vec::new(),
        contributions: Vec::new(),
    };
    // -0.0 and 0.0 are equal scores, so that these documents keep their order.
    assert_eq!(list.order(), [2, 0, 1]);
}
