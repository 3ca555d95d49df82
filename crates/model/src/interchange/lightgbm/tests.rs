//! Tests of reading and writing LightGBM's files: small hand-written files, every rejection, round
//! trips, and damage.

use proptest::prelude::*;
use rankwright_data::{Absent, FeatureNames, Random};

use super::{detect, read, write};
use crate::categories::Categories;
use crate::ensemble::Ensemble;
use crate::header::Header;
use crate::interchange::test_support::damage;
use crate::linear::Linear;
use crate::model::{Model, ModelBody};
use crate::tree::tests::{random_tree, two_split_tree};
use crate::tree::{Side, SplitCondition, Tree};

/// Missing types NaN (left), None, Zero (right) and the set of categories 0, 2, 33, in one tree;
/// then a tree of one leaf.
const TEXT: &str = "tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=3
objective=lambdarank
feature_names=Column_0 Column_1 Column_2 Column_3
feature_infos=none none none none
tree_sizes=1 2

Tree=0
num_leaves=5
num_cat=1
split_feature=0 1 2 3
split_gain=4 inf 2 1.5
threshold=0.1 -0.5 1.5 0
decision_type=10 0 4 9
left_child=1 -1 -3 -4
right_child=2 -2 3 -5
leaf_value=1 2 4 8 16
leaf_weight=1 1 1 1 1
leaf_count=5 4 3 2 1
internal_value=0 0 0 0
internal_count=15 9 6 3
cat_boundaries=0 2
cat_threshold=5 2
is_linear=0
shrinkage=0.1


Tree=1
num_leaves=1
num_cat=0
leaf_value=0.5


end of trees

parameters:
end of parameters
";

/// The model of [`TEXT`] as JSON.
const DUMP: &str = r#"{"name":"tree","version":"v4","num_class":1,"num_tree_per_iteration":1,
"label_index":0,"max_feature_idx":3,"objective":"lambdarank","average_output":false,
"feature_names":["Column_0","Column_1","Column_2","Column_3"],"feature_infos":{},"tree_info":[
{"tree_index":0,"num_leaves":5,"num_cat":1,"shrinkage":0.1,"tree_structure":
 {"split_index":0,"split_feature":0,"split_gain":4,"threshold":0.1,"decision_type":"<=",
 "default_left":true,"missing_type":"NaN","internal_count":15,"left_child":
  {"split_index":1,"split_feature":1,"split_gain":1e300,"threshold":-0.5,"decision_type":"<=",
  "default_left":false,"missing_type":"None","internal_count":9,
  "left_child":{"leaf_index":0,"leaf_value":1,"leaf_count":5},
  "right_child":{"leaf_index":1,"leaf_value":2,"leaf_count":4}},
 "right_child":
  {"split_index":2,"split_feature":2,"split_gain":2,"threshold":1.5,"decision_type":"<=",
  "default_left":false,"missing_type":"Zero","internal_count":6,
  "left_child":{"leaf_index":2,"leaf_value":4,"leaf_count":3},
  "right_child":
   {"split_index":3,"split_feature":3,"split_gain":1.5,"threshold":"0||2||33",
   "decision_type":"==","default_left":false,"missing_type":"NaN","internal_count":3,
   "left_child":{"leaf_index":3,"leaf_value":8,"leaf_count":2},
   "right_child":{"leaf_index":4,"leaf_value":16,"leaf_count":1}}}}},
{"tree_index":1,"num_leaves":1,"num_cat":0,"shrinkage":1,"tree_structure":{"leaf_value":0.5}}],
"pandas_categorical":null}"#;

/// Rows and their scores by the tree of [`TEXT`].
fn rows() -> Vec<([f32; 4], f64)> {
    let missing = f32::NAN;
    vec![
        // NaN goes left, then NaN counts as 0, which is over -0.5.
        ([missing, missing, 0.0, 0.0], 2.0),
        ([0.1f32.next_down(), -0.5, 0.0, 0.0], 1.0),
        // 0.1 in f32 is over 0.1 in f64.
        ([0.1, -1.0, 1.0, 0.0], 4.0),
        // 0 and NaN are missing and go right; then categories.
        ([1.0, 0.0, 0.0, 33.5], 8.0),
        ([1.0, 0.0, 1e-36, 2.0], 8.0),
        ([1.0, 0.0, missing, 1.0], 16.0),
        ([1.0, 0.0, missing, missing], 16.0),
        ([1.0, 0.0, 2.0, -1.0], 16.0),
    ]
}

fn refusal(bytes: &[u8]) -> String {
    read(bytes).unwrap_err().to_string()
}

#[test]
fn text_and_json_score_by_the_same_rules() {
    for file in [TEXT, DUMP, &TEXT.replace('\n', "\r\n")] {
        assert!(detect(file.as_bytes()));
        let model = read(file.as_bytes()).unwrap();
        // The second tree is one leaf of 0.5.
        for (row, expected) in rows() {
            assert_eq!(model.score_row(&row), expected + 0.5, "{row:?}");
        }
        let header = model.header();
        assert_eq!(header.features, FeatureNames::Ids { first: 0, count: 4 });
        assert_eq!((header.absent, header.learner.as_str()), (Absent::Zero, ""));
        assert_eq!(header.notes["from"], "LightGBM 4");
        assert_eq!(header.notes["objective"], "lambdarank");
        let ModelBody::Trees(trees) = model.body() else { panic!() };
        let splits = trees.trees()[0].splits();
        assert_eq!((splits[0].gain, splits[0].rows, splits[0].feature), (4.0, 15, 0));
        assert_eq!(trees.trees()[0].leaves().iter().map(|leaf| leaf.rows).sum::<u64>(), 15);
        assert!(splits.iter().all(|split| split.gain.is_finite()));
    }
}

#[test]
fn a_first_tree_of_one_leaf_is_the_base_and_forests_are_averages() {
    let first =
        TEXT.replace("Tree=0", "Tree=0\nnum_leaves=1\nnum_cat=0\nleaf_value=0.25\n\nTree=1");
    let model = read(first.as_bytes()).unwrap();
    let ModelBody::Trees(trees) = model.body() else { panic!() };
    assert_eq!((trees.base(), trees.trees().len()), (0.25, 2));
    let forest = TEXT.replace("objective=lambdarank\n", "objective=lambdarank\naverage_output\n");
    let dump = DUMP.replace("output\":false", "output\":true");
    for forest in [forest, dump] {
        let model = read(forest.as_bytes()).unwrap();
        for (row, expected) in rows() {
            assert_eq!(model.score_row(&row), (expected + 0.5) / 2.0, "{row:?}");
        }
    }
}

#[test]
fn names_are_kept_and_their_number_is_checked() {
    let named = |names| TEXT.replace("Column_0 Column_1 Column_2 Column_3", names);
    let features = |names| read(named(names).as_bytes()).unwrap().into_parts().0.features;
    let list = |names: [&str; 4]| FeatureNames::Named(names.map(str::to_owned).to_vec());
    assert_eq!(features("a b=c d e"), list(["a", "b=c", "d", "e"]));
    assert_eq!(features("Column_0 Column_1 x y"), list(["Column_0", "Column_1", "x", "y"]));
    assert_eq!(features("1 2 3 4"), FeatureNames::Ids { first: 1, count: 4 });
    assert_eq!(features(""), FeatureNames::Ids { first: 0, count: 4 });
    let error = refusal(named("a b c").as_bytes());
    assert!(error.contains("feature_names has 3 entries; expected 4"), "{error}");
    assert!(refusal(named("a a b c").as_bytes()).contains("two features are named 'a'"));
}

#[test]
fn invalid_text_is_refused_with_its_position() {
    for (from, to, reason) in [
        ("num_class=1", "num_class=3", "num_class is 3"),
        ("iteration=1", "iteration=2", "num_tree_per_iteration is 2"),
        ("version=v4", "version=v5", "the version 'v5' is not known; expected v2, v3 or v4"),
        ("is_linear=0", "is_linear=1", "LightGBM model: tree 0: the leaves are linear models"),
        ("end of trees", "", "tree 2: the file ends too early"),
        ("num_leaves=5", "num_leaves=6", "right_child and leaf_value is too short"),
        ("num_leaves=5", "num_leaves=0", "num_leaves is '0'"),
        ("num_leaves=5", "num_leaves=99999999999", "num_leaves is '99999999999'"),
        ("num_leaves=5", "num_leaves=4", "split_feature is too long"),
        ("num_leaves=5", "num_leaves=x", "tree 0: line 12: num_leaves is 'x'"),
        ("left_child=1", "left_child=0", "tree 0: split 0 leads back to split 0"),
        ("left_child=1 -1", "left_child=1 -9", "split 1 leads to leaf 8"),
        ("leaf_value=1 2", "leaf_value=1 nan", "tree 0: the value of leaf 1 is NaN"),
        ("leaf_value=1 2", "leaf_value=1 x", "leaf_value is 'x'; expected a number"),
        ("threshold=0.1", "threshold=nan", "the threshold of split 0 is NaN"),
        ("decision_type=10", "decision_type=12", "decision_type is '12'"),
        ("cat_boundaries=0 2", "cat_boundaries=0 1", "cat_threshold is too long"),
        ("cat_boundaries=0 2", "cat_boundaries=2 0", "cat_boundaries is '2 0'"),
        ("cat_boundaries=0 2", "cat_boundaries=0 99999999", "cat_boundaries is '0 99999999'"),
        ("1.5 0\n", "1.5 1\n", "threshold is '1'; expected the number of a set"),
        ("num_cat=1", "num_cat=9", "num_cat is '9'; expected at most one set for each split"),
        ("split_feature=0", "split_feature=9", "uses 10 features; its header has 4"),
        ("max_feature_idx=3", "max_feature_idx=-2", "max_feature_idx is '-2'"),
        ("max_feature_idx=3", "max_feature_idx=x", "line 6: max_feature_idx is 'x'"),
    ] {
        assert!(TEXT.contains(from), "{from}");
        let error = refusal(TEXT.replacen(from, to, 1).as_bytes());
        assert!(error.contains(reason), "{to}: {error}");
    }
    assert!(refusal(b"tree\n\xff").contains("byte 5 is not UTF-8"));
    let long = TEXT.replacen("num_class", &("x\n".repeat(2000) + "num_class"), 1);
    assert!(
        refusal(long.as_bytes())
            .contains("line 1002 is not allowed: there are 1000 lines before it")
    );
}

#[test]
fn invalid_json_is_refused() {
    for (from, to, reason) in [
        ("\"num_class\":1", "\"num_class\":3", "num_class is 3"),
        (
            "\"leaf_value\":8",
            "\"leaf_value\":8,\"leaf_coeff\":[1]",
            "tree 0: the leaves are linear models",
        ),
        ("\"decision_type\":\"<=\"", "\"decision_type\":\">\"", "unknown variant `>`"),
        ("\"missing_type\":\"None\"", "\"missing_type\":\"Some\"", "unknown variant `Some`"),
        ("\"missing_type\":\"None\",", "", "has no missing_type"),
        ("\"threshold\":0.1", "\"threshold\":\"1||2\"", "a threshold that fits it"),
        ("0||2||33", "0||x", "categories are whole numbers"),
        ("0||2||33", "16777216", "tree 0: a set with category 16777216"),
        ("\"right_child\":{\"leaf_index\":1", "\"other\":{\"leaf_index\":1", "no right_child"),
        ("\"shrinkage\":0.1,", "", "missing field `shrinkage`"),
        ("\"leaf_value\":16", "\"leaf_value\":1e999", "number out of range"),
    ] {
        assert!(DUMP.contains(from), "{from}");
        let error = refusal(DUMP.replacen(from, to, 1).as_bytes());
        assert!(error.contains(reason), "{to}: {error}");
        assert_eq!(error.matches("LightGBM model").count(), 1, "{error}");
    }
}

#[test]
fn the_error_of_deep_json_names_the_alternative() {
    let split = r#"{"split_feature":0,"threshold":1,"decision_type":"<=","missing_type":"None",
        "left_child":{"leaf_value":0},"right_child":"#;
    let nested = |depth| split.repeat(depth) + "{\"leaf_value\":1}" + &"}".repeat(depth);
    let file = |depth| {
        let leaf = "{\"leaf_value\":0.5}";
        let begin = DUMP.find(leaf).unwrap();
        DUMP[..begin].to_owned() + &nested(depth) + &DUMP[begin + leaf.len()..]
    };
    assert!(read(file(100).as_bytes()).is_ok());
    assert!(refusal(file(100_000).as_bytes()).contains("or the model saved as text"));
}

#[test]
fn large_categories_in_json_cannot_use_much_memory() {
    let leaf = "{\"leaf_value\":1}";
    let split = format!(
        "{{\"split_feature\":0,\"threshold\":\"16777215\",\"decision_type\":\"==\",\"left_child\":{leaf},\"right_child\":{leaf}}}"
    );
    let begin = DUMP.find("{\"tree_index\":1").unwrap();
    let tree =
        format!("{{\"num_leaves\":2,\"num_cat\":1,\"shrinkage\":1,\"tree_structure\":{split}}},");
    let file = |count| DUMP[..begin].to_owned() + &tree.repeat(count) + &DUMP[begin..];
    assert!(read(file(1).as_bytes()).is_ok());
    assert!(refusal(file(1000).as_bytes()).contains("do not fit"));
}

fn model(base: f64, trees: Vec<Tree>, features: FeatureNames) -> Model {
    let header = Header::new(features, Absent::Zero);
    Model::new(header, ModelBody::Trees(Ensemble::new(base, trees).unwrap())).unwrap()
}

#[test]
fn written_text_is_read_back_as_the_same_trees() {
    let first = read(TEXT.as_bytes()).unwrap();
    let text = write(&first).unwrap();
    let again = read(&text).unwrap();
    assert_eq!(again.body(), first.body());
    assert_eq!(write(&again).unwrap(), text);
    // LightGBM separates the trees by these sizes.
    let text = String::from_utf8(text).unwrap();
    let trees = &text[text.find("Tree=0").unwrap()..text.find("end of trees").unwrap()];
    let sizes = text.lines().find_map(|line| line.strip_prefix("tree_sizes=")).unwrap();
    let sizes: Vec<usize> = sizes.split(' ').map(|size| size.parse().unwrap()).collect();
    assert_eq!(sizes.iter().sum::<usize>(), trees.len());
    assert!(trees[sizes[0]..].starts_with("Tree=1\n"));
    // An empty set has a number in the file too.
    let mut splits = two_split_tree().splits().to_vec();
    (splits[0].rule, splits[0].missing) = (SplitCondition::In(0), Side::Right);
    let leaves = two_split_tree().leaves().to_vec();
    let tree = Tree::with_sets(splits, leaves, vec![Categories::default()]).unwrap();
    let with_set = model(0.0, vec![tree], FeatureNames::Ids { first: 1, count: 2 });
    let again = read(&write(&with_set).unwrap()).unwrap();
    assert_eq!(
        (again.body(), &again.header().features),
        (with_set.body(), &with_set.header().features)
    );
}

#[test]
fn models_that_lightgbm_cannot_express_are_refused() {
    let ids = FeatureNames::Ids { first: 1, count: 2 };
    let header = Header::new(ids.clone(), Absent::Zero);
    let linear = ModelBody::Linear(Linear::new(0.0, vec![1.0; 2]).unwrap());
    let error = write(&Model::new(header, linear).unwrap()).unwrap_err().to_string();
    assert_eq!(error, "LightGBM model: a linear model cannot be written in this format");
    for bad in ["b c", "", "b\n"] {
        let names = FeatureNames::Named(vec!["a".into(), bad.into()]);
        let error = write(&model(0.0, vec![two_split_tree()], names)).unwrap_err().to_string();
        assert!(error.contains("white space"), "{error}");
    }
    let mut splits = two_split_tree().splits().to_vec();
    (splits[0].rule, splits[0].missing) = (SplitCondition::In(0), Side::Left);
    let leaves = two_split_tree().leaves().to_vec();
    let tree = Tree::with_sets(splits, leaves, vec![Categories::default()]).unwrap();
    let error = write(&model(1.0, vec![two_split_tree(), tree], ids)).unwrap_err().to_string();
    assert!(error.starts_with("LightGBM model: tree 1: a split sends missing values"), "{error}");
}

/// A random tree with all split conditions that LightGBM has too.
pub(crate) fn tree_of_mixed_conditions(seed: u64, splits: usize) -> Tree {
    // 7 is any number: it keeps this stream of random numbers apart from those of other tests.
    let mut draw = Random::new(seed, 7);
    let tree = random_tree(seed, splits, 3);
    let mut sets = Vec::new();
    let mut splits = tree.splits().to_vec();
    for split in &mut splits {
        let threshold = split.rule.threshold().unwrap();
        match draw.below(8) {
            0 => split.rule = SplitCondition::NonZeroAtMost(threshold),
            1 => {
                (split.rule, split.missing) = (SplitCondition::In(sets.len() as u32), Side::Right);
                let ids = (0..100).filter(|_| draw.below(3) == 0);
                sets.push(Categories::new(ids.collect::<Vec<_>>()).unwrap());
            }
            2 => split.rule = SplitCondition::AtMost(f32::NEG_INFINITY),
            3 => split.rule = SplitCondition::AtMost(f32::INFINITY),
            4 => split.rule = SplitCondition::AtMost(draw.normal() as f32),
            _ => {}
        }
    }
    Tree::with_sets(splits, tree.leaves().to_vec(), sets).unwrap()
}

proptest! {
    #[test]
    fn written_models_are_read_back_equal(
        seed in any::<u64>(),
        sizes in proptest::collection::vec(1usize..30, 0..5),
        base in prop_oneof![Just(0.0), -1e10f64..1e10],
        first in 0u32..2,
    ) {
        let tree = |(&size, seed)| tree_of_mixed_conditions(seed, size);
        let trees = sizes.iter().zip(seed..).map(tree).collect();
        let model = model(base, trees, FeatureNames::Ids { first, count: 3 });
        let again = read(&write(&model).unwrap()).unwrap();
        prop_assert_eq!(again.body(), model.body());
        prop_assert_eq!(&again.header().features, &model.header().features);
    }

    #[test]
    fn any_text_gives_a_model_or_an_error(text in "[ -~\n]{0,200}", offset in 0usize..400) {
        let _ = read(format!("tree\n{text}").as_bytes());
        let mut file = TEXT.to_owned();
        file.insert_str(offset, &text);
        let _ = read(file.as_bytes());
    }
}

#[test]
fn damaged_files_give_a_model_or_an_error() {
    assert!(damage(TEXT.as_bytes(), read) + damage(DUMP.as_bytes(), read) > 10_000);
}
