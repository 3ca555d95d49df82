//! Tests of reading and writing XGBoost's files: small hand-written files, every rejection, round
//! trips, and damage.

use proptest::prelude::*;
use rankwright_data::{Absent, FeatureNames};

use super::{detect, read, write};
use crate::categories::Categories;
use crate::ensemble::Ensemble;
use crate::header::Header;
use crate::interchange::lightgbm::tests::tree_of_mixed_conditions;
use crate::interchange::test_support::damage;
use crate::linear::Linear;
use crate::model::{Model, ModelBody};
use crate::tree::tests::{chain_tree, two_split_tree};
use crate::tree::{Leaf, Side, Split, SplitCondition, Tree};

/// Node 0 tests a number (`x1 < 0.5`), node 4 the categories 0 and 2 of x0; node 1 is not
/// reachable, and nodes 2 and 3 come before their parent 4.
const TREE: &str = r#"{"base_weights":[0E0,0E0,0E0,0E0,0E0,0E0],"categories":[9,0,2],
"categories_nodes":[4],"categories_segments":[1],"categories_sizes":[2],
"default_left":[1,0,0,0,0,0],"id":0,"left_children":[5,-1,-1,-1,2,-1],
"loss_changes":[4.5E0,0E0,0E0,0E0,2E0,0E0],"parents":[2147483647,0,0,1,1,2],
"right_children":[4,-1,-1,-1,3,-1],"split_conditions":[5E-1,9E9,2E0,4E0,NaN,1E0],
"split_indices":[1,2147483647,0,0,0,0],"split_type":[0,0,0,0,1,0],
"sum_hessian":[9E0,0E0,3E0,2E0,5E0,4E0],
"tree_param":{"num_deleted":"1","num_feature":"2","num_nodes":"6","size_leaf_vector":"1"}}"#;

/// A file with this booster.
fn file(booster: &str) -> String {
    format!(
        "{{\"learner\":{{\"attributes\":{{\"best_iteration\":\"0\"}},\"feature_names\":[],\
         \"feature_types\":[],\"gradient_booster\":{{{booster}}},\"learner_model_param\":\
         {{\"base_score\":\"[2.5E-1]\",\"boost_from_average\":\"1\",\"num_class\":\"0\",\
         \"num_feature\":\"2\",\"num_target\":\"1\"}},\"objective\":{{\"name\":\
         \"reg:squarederror\",\"reg_loss_param\":{{\"scale_pos_weight\":\"1\"}}}}}},\
         \"version\":[3,2,0]}}"
    )
}

/// A file with the booster `gbtree`.
fn gbtree() -> String {
    file(&format!(
        "\"model\":{{\"gbtree_model_param\":{{\"num_trees\":\"1\"}},\"tree_info\":[0],\
         \"trees\":[{TREE}]}},\"name\":\"gbtree\""
    ))
}

/// A file with the booster `dart`.
fn dart() -> String {
    file(&format!(
        "\"gbtree\":{{\"model\":{{\"tree_info\":[0,0],\"trees\":[{TREE},{TREE}]}},\
         \"name\":\"gbtree\"}},\"name\":\"dart\",\"weight_drop\":[5E-1,-2E0]"
    ))
}

fn refusal(bytes: &[u8]) -> String {
    read(bytes).unwrap_err().to_string()
}

/// Writes a value as UBJSON: numbers in a list without markers after their common type, all else
/// with markers.
fn write_ubjson(value: &serde_json::Value, out: &mut Vec<u8>) {
    use serde_json::Value;
    let text = |text: &str, out: &mut Vec<u8>| {
        out.push(b'L');
        out.extend((text.len() as u64).to_be_bytes());
        out.extend(text.as_bytes());
    };
    match value {
        Value::Null => out.push(b'Z'),
        Value::Bool(flag) => out.push(if *flag { b'T' } else { b'F' }),
        Value::Number(number) if number.is_f64() => {
            out.push(b'd');
            out.extend((number.as_f64().unwrap() as f32).to_be_bytes());
        }
        Value::Number(number) => {
            out.push(b'l');
            out.extend((number.as_i64().unwrap() as i32).to_be_bytes());
        }
        Value::String(string) => {
            out.push(b'S');
            text(string, out);
        }
        Value::Array(list) => {
            let is_float = list.iter().all(Value::is_f64);
            let is_number = list.iter().all(Value::is_number);
            let kind: &[u8] = if is_float { b"[$d#L" } else { b"[$l#L" };
            out.extend(if is_number { kind } else { b"[#L" });
            out.extend((list.len() as u64).to_be_bytes());
            for element in list {
                let mut bytes = Vec::new();
                write_ubjson(element, &mut bytes);
                out.extend(&bytes[usize::from(is_number)..]);
            }
        }
        Value::Object(map) => {
            out.push(b'{');
            for (key, value) in map {
                text(key, out);
                write_ubjson(value, out);
            }
            out.push(b'}');
        }
    }
}

/// A file in UBJSON; NaN becomes an ordinary number, as it is an unused threshold.
fn as_ubjson(json: &str) -> Vec<u8> {
    let mut out = Vec::new();
    write_ubjson(&serde_json::from_str(&json.replace("NaN", "1e-3")).unwrap(), &mut out);
    out
}

#[test]
fn json_and_ubjson_score_by_the_same_rules() {
    let missing = f32::NAN;
    for bytes in [gbtree().into_bytes(), as_ubjson(&gbtree())] {
        assert!(detect(&bytes));
        let model = read(&bytes).unwrap();
        for (row, expected) in [
            ([0.0, 0.5f32.next_down()], 1.0),
            ([0.0, missing], 1.0),
            // Listed categories go right, missing values to their default side.
            ([0.0, 0.5], 4.0),
            ([2.5, 1.0], 4.0),
            ([1.0, 1.0], 2.0),
            ([9.0, 1.0], 2.0),
            ([missing, 1.0], 4.0),
        ] {
            assert_eq!(model.score_row(&row), expected + 0.25, "{row:?}");
        }
        let header = model.header();
        assert_eq!(header.features, FeatureNames::Ids { first: 0, count: 2 });
        assert_eq!((header.absent, header.notes["from"].as_str()), (Absent::Missing, "XGBoost 3"));
        assert_eq!(header.notes["objective"], "reg:squarederror");
        assert_eq!(header.notes["best_iteration"], "0");
        let ModelBody::Trees(trees) = model.body() else { panic!() };
        let root = trees.trees()[0].splits()[0];
        assert_eq!((root.gain, root.rows), (4.5, 9));
    }
}

#[test]
fn a_base_score_is_a_prediction_whose_margin_depends_on_the_objective() {
    for (objective, base, margin) in [
        ("rank:ndcg", "5E-1", 0.5),
        ("rank:pairwise", "[-1E0]", -1.0),
        ("binary:logistic", "[2.5E-1]", -(3f64.ln())),
        ("reg:logistic", "5E-1", 0.0),
        ("binary:logitraw", "2.5E-1", 0.25),
        ("count:poisson", "2E0", 2f64.ln()),
        ("reg:tweedie", "5E-1", 0.5f64.ln()),
    ] {
        let file = gbtree().replace("reg:squarederror", objective).replace("[2.5E-1]", base);
        let model = read(file.as_bytes()).unwrap();
        let ModelBody::Trees(trees) = model.body() else { panic!() };
        assert!((trees.base() - margin).abs() < 1e-12, "{objective}: {}", trees.base());
        // The file stores sums of hessians. They are row counts only if every hessian is 1, which
        // these objectives do not have, so the number of rows is unknown: 0.
        assert_eq!(trees.trees()[0].splits()[0].rows, 0);
    }
    let logit = gbtree().replace("reg:squarederror", "binary:logistic");
    for bad in ["[1E0]", "2E0", "-1E0"] {
        let error = refusal(logit.replace("[2.5E-1]", bad).as_bytes());
        assert!(
            error.contains("a number whose margin under the objective is finite"),
            "{bad}: {error}"
        );
    }
    let old = gbtree().replace("reg:squarederror", "binary:logitraw").replace("[3,2,0]", "[1,4,0]");
    assert!(refusal(old.as_bytes()).contains("the meaning of its base_score is not known"));
}

#[test]
fn dart_weights_multiply_leaves_and_gblinear_is_a_linear_model() {
    let model = read(dart().as_bytes()).unwrap();
    assert_eq!(model.score_row(&[0.0, 0.0]), 0.25 + 0.5 - 2.0);
    let gblinear =
        file("\"model\":{\"boosted_rounds\":2,\"weights\":[5E-1,-2E0,1E0]},\"name\":\"gblinear\"");
    for bytes in [gblinear.clone().into_bytes(), as_ubjson(&gblinear)] {
        let model = read(&bytes).unwrap();
        assert_eq!(model.score_row(&[2.0, f32::NAN]), 2.25);
        let again = read(&write(&model).unwrap()).unwrap();
        assert_eq!(again.body(), model.body());
    }
    let error = refusal(gblinear.replace("[5E-1,", "[").as_bytes());
    assert!(error.contains("weights has 2 entries; expected 3"), "{error}");
}

#[test]
fn names_are_kept_and_their_number_is_checked() {
    let named = |names| gbtree().replace("\"feature_names\":[]", names);
    let model = read(named(r#""feature_names":["a b","\"c\""]"#).as_bytes()).unwrap();
    let names = FeatureNames::Named(vec!["a b".into(), "\"c\"".into()]);
    assert_eq!(model.header().features, names);
    assert_eq!(read(&write(&model).unwrap()).unwrap().header().features, names);
    let error = refusal(named(r#""feature_names":["a"]"#).as_bytes());
    assert!(error.contains("feature_names has 1 entry; expected 2"), "{error}");
}

#[test]
fn invalid_files_are_refused_with_the_position() {
    for (from, to, reason) in [
        ("\"num_class\":\"0\"", "\"num_class\":\"3\"", "XGBoost model: num_class is 3"),
        ("\"num_target\":\"1\"", "\"num_target\":\"2\"", "num_target is 2"),
        ("[2.5E-1]", "[1E0,2E0]", "base_score is '[1E0,2E0]'"),
        ("[2.5E-1]", "inf", "base_score is 'inf'"),
        ("reg:squarederror", "multi:softmax", "the objective 'multi:softmax'"),
        ("\"gbtree\"", "\"gbforest\"", "the booster 'gbforest'"),
        ("\"tree_info\":[0]", "\"tree_info\":[1]", "tree 0: the tree is for output 1"),
        ("vector\":\"1\"", "vector\":\"2\"", "tree 0: the leaves are vectors"),
        ("[5,-1,-1,-1,2,-1]", "[0,-1,-1,-1,2,-1]", "tree 0: two paths lead to node 0"),
        ("[5,-1,-1,-1,2,-1]", "[6,-1,-1,-1,2,-1]", "leads to node 6"),
        ("[5,-1,-1,-1,2,-1]", "[-7,-1,-1,-1,2,-1]", "leads to node -7"),
        ("[5,-1,-1,-1,2,-1]", "[5,-1]", "right_children has 6 entries; expected 2"),
        ("[5,-1,-1,-1,2,-1]", "[5,-1,3,-1,2,-1]", "two paths lead to node 3"),
        ("\"split_type\":[0", "\"split_type\":[2", "a split of the kind '2'"),
        ("\"split_type\":[0", "\"split_type\":[1", "node 0 is a split on categories"),
        ("[0,0,0,0,1,0]", "[0,0,0,0,0,0]", "the threshold of node 4 is NaN"),
        ("\"categories_sizes\":[2]", "\"categories_sizes\":[3]", "node 4 is a split on categories"),
        ("\"categories_sizes\":[2]", "\"categories_sizes\":[]", "categories_sizes has 0 entries"),
        ("[9,0,2]", "[9,0,16777216]", "tree 0: a set with category 16777216"),
        ("\"split_indices\":[1", "\"split_indices\":[2", "uses 3 features; its header has 2"),
        ("[5E-1,9E9", "[-Infinity,9E9", "invalid number"),
        ("4E0,NaN,1E0]", "4E0,NaN,Infinity]", "tree 0: the value of leaf 0 is inf"),
        ("4E0,NaN,1E0]", "NaN,NaN,1E0]", "is NaN"),
        ("\"version\":[3,2,0]", "\"version\":[]", "version is '[]'"),
        ("\"default_left\":[1", "\"default_left\":[\"\"", "expected 0, 1, false or true"),
        ("\"default_left\":[1", "\"default_left\":[2", "`2`, expected 0, 1, false or true"),
        ("\"default_left\":[1", "\"default_left\":[-1", "`-1`, expected 0, 1, false or true"),
        ("\"default_left\":[1", "\"default_left\":[256", "`256`, expected 0, 1, false or true"),
        (",1E0],", ",1E99],", "number out of range"),
    ] {
        assert!(gbtree().contains(from), "{from}");
        let error = refusal(gbtree().replacen(from, to, 1).as_bytes());
        assert!(error.contains(reason), "{to}: {error}");
        assert_eq!(
            error.matches("XGBoost model").count(),
            usize::from(!error.contains("its header has 2")),
            "{error}"
        );
    }
    let error = refusal(dart().replace("-2E0", "-2E0,1E0").as_bytes());
    assert!(error.contains("weight_drop has 3 entries; expected 2"), "{error}");
    assert!(read(b"binf....").unwrap_err().help().unwrap().contains("save it as model.json"));
}

#[test]
fn flags_of_the_first_versions_are_read() {
    let old = gbtree().replace(
        "\"default_left\":[1,0,0,0,0,0]",
        "\"default_left\":[true,false,false,false,false,false]",
    );
    assert_eq!(read(old.as_bytes()).unwrap(), read(gbtree().as_bytes()).unwrap());
}

#[test]
fn ubjson_lengths_are_compared_with_the_bytes() {
    let good = as_ubjson(&gbtree());
    // The bytes before and after the length of a list of integers.
    let start = good.windows(5).position(|part| part == b"[$l#L").unwrap() + 5;
    let (before, after) = (&good[..start], &good[start + 8..]);
    let no_type = &good[..start - 3];
    for (bytes, reason) in [
        ([before, &(1u64 << 60).to_be_bytes(), after].concat(), "longer than the file"),
        ([before, &u64::MAX.to_be_bytes(), after].concat(), "a length of -1"),
        ([no_type, b"T#L", &good[start..]].concat(), "the marker 'T' where a list of numbers"),
        (good[..good.len() - 30].to_vec(), "more bytes, found"),
        ([&b"{U\x07learner"[..], &[b'['; 100_000]].concat(), "invalid type"),
        ([&b"{U\x01xU\x07learner"[..], &[b'['; 100_000]].concat(), "at byte"),
        ([&b"{U\x07version[]U\x01x"[..], &[b'['; 100_000]].concat(), "nesting is too deep"),
    ] {
        let error = refusal(&bytes);
        assert!(error.contains(reason), "{reason}: {error}");
    }
}

#[test]
fn large_categories_cannot_use_much_memory() {
    let tree = TREE.replace("[9,0,2]", "[9,0,16777215]");
    let list = |count: usize| {
        let trees = vec![tree.as_str(); count].join(",");
        file(&format!("\"model\":{{\"trees\":[{trees}]}},\"name\":\"gbtree\""))
    };
    assert!(read(list(1).as_bytes()).is_ok());
    assert!(refusal(list(200).as_bytes()).contains("do not fit"));
}

fn model(base: f64, trees: Vec<Tree>) -> Model {
    let header = Header::new(FeatureNames::Ids { first: 0, count: 3 }, Absent::Missing);
    Model::new(header, ModelBody::Trees(Ensemble::new(base, trees).unwrap())).unwrap()
}

#[test]
fn models_that_xgboost_cannot_express_are_refused() {
    let mut splits = two_split_tree().splits().to_vec();
    splits[1].rule = SplitCondition::NonZeroAtMost(1.0);
    let zero = Tree::new(splits, two_split_tree().leaves().to_vec()).unwrap();
    let huge = Tree::constant(1e39, 1).unwrap();
    for (model, reason) in [
        (model(0.0, vec![two_split_tree(), zero]), "tree 1: split 1 counts 0 as missing"),
        (model(0.0, vec![huge]), "tree 0: a leaf value is 1e39"),
        (model(-1e40, vec![]), "the base score is -1e40"),
    ] {
        let error = write(&model).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    let header = Header::new(FeatureNames::Ids { first: 1, count: 1 }, Absent::Zero);
    let linear = ModelBody::Linear(Linear::new(0.0, vec![1e39]).unwrap());
    let error = write(&Model::new(header, linear).unwrap()).unwrap_err().to_string();
    assert!(error.contains("a weight is 1e39"), "{error}");
}

#[test]
fn the_right_child_is_written_after_the_left_one() {
    let model = model(0.0, vec![as_xgboost_keeps_it(&tree_of_mixed_conditions(3, 20))]);
    let text = String::from_utf8(write(&model).unwrap()).unwrap();
    let list = |key: &str| -> Vec<i64> {
        // After the key come `":[`.
        let begin = text.find(key).unwrap() + key.len() + 3;
        let end = begin + text[begin..].find(']').unwrap();
        text[begin..end].split(',').map(|word| word.parse().unwrap()).collect()
    };
    let (left, right, parents) = (list("left_children"), list("right_children"), list("parents"));
    // 20 splits and 21 leaves.
    assert_eq!((left.len(), right.len(), parents.len()), (41, 41, 41));
    let splits = left.iter().zip(&right).enumerate().filter(|(_, (left, _))| **left >= 0);
    for (node, (&left, &right)) in splits {
        let parent = node as i64;
        assert_eq!(right, left + 1);
        assert_eq!((parents[left as usize], parents[right as usize]), (parent, parent));
    }
}

#[test]
fn deep_trees_are_read_and_written_without_recursion() {
    let deep = model(0.0, vec![chain_tree(50_000)]);
    let again = read(&write(&deep).unwrap()).unwrap();
    assert_eq!(again.score_row(&[49_999.5, 0.0]), deep.score_row(&[49_999.5, 0.0]));
}

/// The tree with the parts that XGBoost keeps: numbers of 32 bits, no condition with 0 as missing.
fn as_xgboost_keeps_it(tree: &Tree) -> Tree {
    let split = |split: &Split| Split {
        rule: match split.rule {
            SplitCondition::NonZeroAtMost(threshold) => SplitCondition::AtMost(threshold),
            // No finite value distinguishes these two thresholds.
            SplitCondition::AtMost(f32::INFINITY) => SplitCondition::AtMost(f32::MAX),
            rule => rule,
        },
        gain: f64::from(split.gain as f32),
        ..*split
    };
    let leaf = |leaf: &Leaf| Leaf { value: f64::from(leaf.value as f32), ..*leaf };
    let splits = tree.splits().iter().map(split).collect();
    Tree::with_sets(splits, tree.leaves().iter().map(leaf).collect(), tree.sets().to_vec()).unwrap()
}

proptest! {
    #[test]
    fn models_of_32_bit_values_are_read_back_with_the_same_scores(
        seed in any::<u64>(),
        sizes in proptest::collection::vec(0usize..30, 0..5),
        base in -1e10f32..1e10,
        row in proptest::collection::vec(prop_oneof![Just(f32::NAN), 0f32..100.0, (0u8..12).prop_map(f32::from)], 3),
    ) {
        let tree = |(&size, seed)| as_xgboost_keeps_it(&tree_of_mixed_conditions(seed, size));
        let trees = sizes.iter().zip(seed..).map(tree).collect();
        let model = model(f64::from(base), trees);
        let text = write(&model).unwrap();
        let again = read(&text).unwrap();
        prop_assert_eq!(again.score_row(&row).to_bits(), model.score_row(&row).to_bits());
        prop_assert_eq!(write(&again).unwrap(), text);
    }

    #[test]
    fn any_bytes_give_a_model_or_an_error(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        index in any::<prop::sample::Index>(),
    ) {
        let _ = read(&[b"{L\0\0\0\0\0\0\0\x07learner", &bytes[..]].concat());
        let mut file = as_ubjson(&dart());
        let offset = index.index(file.len());
        file.splice(offset..offset, bytes);
        let _ = read(&file);
    }
}

#[test]
fn damaged_files_give_a_model_or_an_error() {
    assert!(damage(gbtree().as_bytes(), read) + damage(&as_ubjson(&dart()), read) > 10_000);
}

#[test]
fn category_sets_are_read_back_although_xgboost_stores_those_that_go_right() {
    for missing in [Side::Left, Side::Right] {
        let mut splits = two_split_tree().splits().to_vec();
        (splits[0].rule, splits[0].missing) = (SplitCondition::In(0), missing);
        let sets = vec![Categories::new([0, 3]).unwrap()];
        let tree = Tree::with_sets(splits, two_split_tree().leaves().to_vec(), sets).unwrap();
        let before = model(0.0, vec![tree]);
        let after = read(&write(&before).unwrap()).unwrap();
        for value in [0.0, 1.0, 3.9, 700.0, f32::NAN] {
            let row = [value, 0.05, 0.0];
            assert_eq!(after.score_row(&row), before.score_row(&row), "{value}");
        }
    }
}
