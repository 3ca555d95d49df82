//! Tests of reading and writing Solr's models; the files are hand-written after its documentation.

use proptest::prelude::*;
use rankwright_data::{Absent, FeatureNames};

use super::{detect, read, write};
use crate::interchange::test_support::{
    assert_round_trip, damage, linear_model, model, names, small_tree,
};
use crate::{Categories, Ensemble, Header, Model, ModelBody, Side, SplitCondition, Tree};

/// `2 (title <= 0.5 ? -100 : (score <= -10 ? 50 : 75)) - 10`.
const TREES: &str = r#"{
  "class": "org.apache.solr.ltr.model.MultipleAdditiveTreesModel",
  "name": "mine", "store": "shop",
  "features": [ { "name": "title" }, { "name": "score", "norm":
    { "class": "org.apache.solr.ltr.norm.IdentityNormalizer" } }, { "name": "unused" } ],
  "params": { "trees": [
    { "weight": "2f", "root": {
      "feature": "title", "threshold": "0.5f",
      "left": { "value": "-100" },
      "right": { "right": { "value": 75 }, "left": { "value": "50" },
        "threshold": -10.0, "feature": "score" } } },
    { "weight": 1, "root": { "value": "-10" } } ] }
}"#;

const LINEAR: &str = r#"{
  "params": { "weights": { "isBook": 0.1, "title": 1.0, "other": 7 } },
  "features": [ { "name": "title" }, { "name": "isBook" } ],
  "class": "org.apache.solr.ltr.model.LinearModel", "name": "line"
}"#;

fn parse(text: &str) -> Result<Model, String> {
    read(text.as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn trees_are_read_with_1e_6_added_to_their_thresholds() {
    assert!(detect(TREES.as_bytes()) && detect(LINEAR.as_bytes()));
    let model = parse(TREES).unwrap();
    for (row, score) in [
        ([0.5, 0.0, 0.0], -210.0),
        // Solr adds 1e-6 to both thresholds; -10 then becomes the next f32 above it.
        ([0.5000009, 0.0, 0.0], -210.0),
        ([0.5000012, 0.0, 0.0], 140.0),
        ([0.6, -10.0, 0.0], 90.0),
        ([0.6, (-10.0_f32).next_up(), 0.0], 90.0),
        ([0.6, -9.99999, 0.0], 140.0),
        // A missing value counts as 0: left of 0.5, right of -10.
        ([f32::NAN; 3], -210.0),
        ([1.0, f32::NAN, 0.0], 140.0),
    ] {
        assert_eq!(model.score_row(&row), score, "{row:?}");
    }
    let header = model.header();
    let names = ["title", "score", "unused"].map(String::from).to_vec();
    assert_eq!((&header.features, header.absent), (&FeatureNames::Named(names), Absent::Zero));
    assert_eq!(header.notes["from"], "Solr MultipleAdditiveTreesModel");
    assert_eq!((&*header.notes["name"], &*header.notes["store"]), ("mine", "shop"));
}

#[test]
fn missing_values_go_to_the_side_of_the_node_if_null_is_not_zero() {
    let score_with = |missing: &str, null_same_as_zero: &str| {
        let text = TREES.replacen(
            r#""threshold": "0.5f","#,
            &format!(r#""threshold": "0.5f", "missing": "{missing}","#),
            1,
        );
        let with_flag = format!("\"isNullSameAsZero\": {null_same_as_zero}, \"trees\"");
        let text = text.replacen("\"trees\"", &with_flag, 1);
        parse(&text).unwrap().score_row(&[f32::NAN, -20.0])
    };
    assert_eq!(score_with("left", "false"), -210.0);
    assert_eq!(score_with("right", "false"), 90.0);
    assert_eq!(score_with("right", "\"false\""), 90.0);
    assert_eq!(score_with("right", "true"), -210.0);
}

#[test]
fn linear_models_are_read() {
    let model = parse(LINEAR).unwrap();
    assert_eq!(model.score_row(&[2.0, 10.0]), 2.0 + 0.1 * 10.0);
    assert_eq!(model.header().features.len(), 2);
}

#[test]
fn the_writer_gives_the_text_that_solr_reads() {
    let header = Header::new(FeatureNames::Ids { first: 1, count: 2 }, Absent::Zero);
    let written_text = |missing| {
        let body = ModelBody::Trees(Ensemble::new(0.25, vec![small_tree(missing)]).unwrap());
        String::from_utf8(write(&Model::new(header.clone(), body).unwrap()).unwrap()).unwrap()
    };
    let expected = r#"{
  "class": "org.apache.solr.ltr.model.MultipleAdditiveTreesModel",
  "name": "rankwright",
  "features": [
      {"name": "1"},
      {"name": "2"}
  ],
  "params": {
    "trees": [
      {"weight": "1", "root": {"value": "0.25"}},
      {"weight": "1", "root": {"feature": "1", "threshold": "0.499999", "left": {"value": "1.0"}, "right": {"feature": "2", "threshold": "-2.000001", "left": {"value": "2.0"}, "right": {"value": "4.0"}}}}
    ]
  }
}
"#;
    assert_eq!(written_text([Side::Left, Side::Right]), expected);
    let missing = written_text([Side::Right, Side::Right]);
    assert!(missing.contains("\"isNullSameAsZero\": false,\n    \"trees\""), "{missing}");
    assert!(
        missing.contains(r#""threshold": "0.499999", "missing": "right", "left""#),
        "{missing}"
    );
    let text = String::from_utf8(write(&linear_model(0.0)).unwrap()).unwrap();
    assert!(text.contains("\"a \\\"b\\\" <c> & é\": -2.5e-7,\n"), "{text}");
    let back = read(text.as_bytes()).unwrap();
    assert_eq!((back.body(), &back.header().features), (linear_model(0.0).body(), &names()));
}

#[test]
fn invalid_files_are_refused_with_a_reason() {
    let changed = |from: &str, to: &str| {
        let base = if TREES.contains(from) { TREES } else { LINEAR };
        assert!(base.contains(from), "{from}");
        parse(&base.replacen(from, to, 1)).unwrap_err()
    };
    let deep = format!("{}1{}", r#"{"left":"#.repeat(500), "}".repeat(500));
    for (from, to, reason) in [
        ("MultipleAdditiveTreesModel", "NeuralNetworkModel", "class 'NeuralNetworkModel' is not"),
        ("IdentityNormalizer", "MinMaxNormalizer", "feature 'score' is normalised by org"),
        (
            r#""feature": "title""#,
            r#""feature": "nobody""#,
            "tests the feature 'nobody', which is not in the list",
        ),
        (r#""weight": "2f","#, "", "a tree without a weight"),
        (r#""weight": "2f""#, r#""weight": "heavy""#, "a number, perhaps in quotes"),
        (r#""threshold": "0.5f","#, "", "Solr model: tree 0: a split has no threshold"),
        (r#""threshold": "0.5f""#, r#""threshold": "NaN""#, "the threshold of split 0 is NaN"),
        (r#""left": { "value": "-100" },"#, "", "a split has no left or no right child"),
        (r#""feature": "title","#, "", "a leaf has children"),
        (r#""left": { "value": "-100" }"#, r#""left": {}, "left": {}"#, "two children 'left'"),
        (r#"{ "value": "-100" }"#, &deep, "recursion limit"),
        (r#""-100""#, r#""1e999""#, "tree 0: the value of leaf 0 is inf"),
        (
            r#""root": { "value": "-10" }"#,
            r#""leaf": 1"#,
            "Solr model: tree 1: a tree has no nodes",
        ),
        (r#""root": { "value": "-10" }"#, r#""root": {}, "root": {}"#, "two roots"),
        (r#""title": 1.0,"#, "", "no weight for feature 'title'"),
        (r#"{ "name": "isBook" }"#, r#"{ "name": "title" }"#, "two features are named 'title'"),
        (r#""features""#, r#""feature""#, "missing field `features`"),
    ] {
        let error = changed(from, to);
        assert!(error.contains(reason), "{from}: {error}");
    }
    assert!(!detect(b"{}") && !detect(b"[\"org.apache.solr.ltr.model.x\"]") && !detect(b""));
}

#[test]
fn models_that_cannot_be_written_are_refused_with_a_reason() {
    let write_tree = |tree: Tree| {
        let body = ModelBody::Trees(Ensemble::new(0.0, vec![tree]).unwrap());
        let model = Model::new(linear_model(0.0).header().clone(), body).unwrap();
        write(&model).map_err(|error| error.to_string())
    };
    let base = small_tree([Side::Left, Side::Right]);
    let with_condition = |rule: SplitCondition| {
        let mut splits = base.splits().to_vec();
        splits[0].rule = rule;
        let sets = vec![Categories::new([1]).unwrap()];
        write_tree(Tree::with_sets(splits, base.leaves().to_vec(), sets).unwrap())
    };
    for (error, reason) in [
        (with_condition(SplitCondition::In(0)), "tree 0: split 0 tests categories"),
        (with_condition(SplitCondition::AtMost(1e-10)), "threshold 1e-10; the system adds 1e-6"),
        (
            write_tree(Tree::constant(1e39, 1).unwrap()),
            "a leaf value is 1e39, out of the range of 32-bit numbers",
        ),
        (write(&linear_model(0.5)).map_err(|error| error.to_string()), "has the bias 0.5"),
    ] {
        let error = error.unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
    for threshold in [0.0, -0.0, 1e-6, 0.1, 3e-5, 1e10, f32::MAX, f32::INFINITY, f32::NEG_INFINITY]
    {
        let bytes = with_condition(SplitCondition::AtMost(threshold)).unwrap();
        let ModelBody::Trees(trees) = read(&bytes).unwrap().into_parts().1 else { panic!() };
        assert_eq!(trees.trees()[0].splits()[0].rule, SplitCondition::AtMost(threshold));
    }
}

#[test]
fn damaged_files_give_a_model_or_an_error() {
    assert!(damage(TREES.as_bytes(), read) + damage(LINEAR.as_bytes(), read) > 10_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Everything is kept, missing values too; the base becomes a tree.
    #[test]
    fn models_are_read_back_with_the_same_scores(seed in 0..u64::MAX - 100) {
        let model = model(seed, |_, side| side, |value| value);
        assert_round_trip(&model, seed, read, write);
    }

    #[test]
    fn any_text_gives_a_model_or_an_error(text in "\\PC{0,60}") {
        let _ = parse(&TREES.replacen("\"-100\"", &text, 1));
    }
}
