//! Tests of reading and writing the plugins' trees.

use proptest::prelude::*;
use rankwright_data::{Absent, FeatureNames};

use super::{detect, read, write};
use crate::interchange::test_support::{
    damage, linear_model, model, names, rows, same_bits, small_tree,
};
use crate::{Categories, Ensemble, Header, Model, ModelBody, Side, SplitCondition, Tree};

/// Two trees: `x3 < 0.5 ? 1.5 : (x0 < -2 ? 2 : 4)` and `-10`. A missing x3 goes right, a missing x0
/// left.
const DUMP: &str = r#"[
  { "nodeid": 0, "depth": 0, "split": "f3", "split_condition": 0.5, "yes": 1, "no": 2, "missing": 2,
    "children": [
      { "nodeid": 1, "leaf": 1.5 },
      { "nodeid": 2, "depth": 1, "split": "f0", "split_condition": -2, "yes": 3, "no": 4,
        "missing": 3, "gain": 5.5, "children": [
          { "nodeid": 3, "leaf": 2, "cover": 3 }, { "nodeid": 4, "leaf": 4 } ]}
    ]},
  { "nodeid": 0, "leaf": -10 }
]"#;

fn parse(text: &str) -> Result<Model, String> {
    read(text.as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn values_below_the_condition_go_to_the_first_child() {
    assert!(
        detect(DUMP.as_bytes()) && !detect(b"[]") && !detect(b"{\"splits\": 1}") && !detect(b"")
    );
    let model = parse(DUMP).unwrap();
    let below_half = 0.5_f32.next_down();
    for (row, score) in [
        ([0.0, 9.0, 9.0, below_half], -8.5),
        ([0.0, 9.0, 9.0, 0.5], -6.0),
        ([-2.5, 9.0, 9.0, 0.5], -8.0),
        ([f32::NAN, 9.0, 9.0, f32::NAN], -8.0),
    ] {
        assert_eq!(model.score_row(&row), score, "{row:?}");
    }
    let header = model.header();
    assert_eq!(header.features, FeatureNames::Ids { first: 0, count: 4 });
    assert_eq!(header.absent, Absent::Missing);
    let named = parse(&DUMP.replace("f3", "title").replace("f0", "price")).unwrap();
    let names = ["title", "price"].map(String::from).to_vec();
    assert_eq!(named.header().features, FeatureNames::Named(names));
    let numbered = parse(&DUMP.replace("f3", "3").replace("f0", "1")).unwrap();
    assert_eq!(numbered.header().features, FeatureNames::Ids { first: 1, count: 3 });
}

#[test]
fn an_object_around_the_trees_is_read_if_its_objective_keeps_the_sums() {
    let object = |other_keys: &str| format!("{{{other_keys} \"splits\": {DUMP}}}");
    let ndcg = object("\"objective\": \"rank:ndcg\", \"missing_as_zero\": true,");
    assert!(detect(ndcg.as_bytes()));
    let model = parse(&ndcg).unwrap();
    assert_eq!(model.header().absent, Absent::Zero);
    assert_eq!(model.header().notes["objective"], "rank:ndcg");
    let error = parse(&object("\"objective\": \"binary:logistic\",")).unwrap_err();
    assert!(error.contains("'binary:logistic': it changes the sum"), "{error}");
}

#[test]
fn the_writer_gives_the_text_that_the_plugins_read() {
    let header = Header::new(FeatureNames::Ids { first: 1, count: 2 }, Absent::Zero);
    let written_text = |base, missing| {
        let body = ModelBody::Trees(Ensemble::new(base, vec![small_tree(missing)]).unwrap());
        String::from_utf8(write(&Model::new(header.clone(), body).unwrap()).unwrap()).unwrap()
    };
    let expected = r#"[
{"nodeid": 0, "leaf": 0.25},
{"nodeid": 0, "depth": 0, "split": "1", "split_condition": 0.50000006, "yes": 1, "no": 2, "missing": 1, "children": [{"nodeid": 1, "leaf": 1.0}, {"nodeid": 2, "depth": 1, "split": "2", "split_condition": -1.9999999, "yes": 3, "no": 4, "missing": 4, "children": [{"nodeid": 3, "leaf": 2.0}, {"nodeid": 4, "leaf": 4.0}]}]}
]
"#;
    assert_eq!(written_text(0.25, [Side::Left, Side::Right]), expected);
    let missing_right = written_text(0.0, [Side::Right, Side::Right]);
    assert!(missing_right.starts_with("[\n{\"nodeid\": 0, \"depth\": 0,"), "{missing_right}");
    assert!(missing_right.contains("\"no\": 2, \"missing\": 2"), "{missing_right}");
}

#[test]
fn models_that_cannot_be_written_are_refused_with_a_reason() {
    // The base score becomes the first tree of the file; errors count the trees of the model.
    let write_tree = |tree: Tree| {
        let body = ModelBody::Trees(Ensemble::new(0.5, vec![tree]).unwrap());
        let model = Model::new(Header::new(names(), Absent::Zero), body).unwrap();
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
        (
            with_condition(SplitCondition::AtMost(f32::MAX)),
            "a threshold is inf, out of the range of 32-bit numbers",
        ),
        (
            write_tree(Tree::constant(1e39, 1).unwrap()),
            "a leaf value is 1e39, out of the range of 32-bit numbers",
        ),
        (
            write(&linear_model(0.5)).map_err(|error| error.to_string()),
            "a linear model cannot be written",
        ),
    ] {
        let error = error.unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn invalid_files_are_refused_with_a_reason() {
    let deep = r#"{"nodeid":1,"children":["#.repeat(200);
    for (from, to, reason) in [
        (r#""yes": 1, "no": 2"#, r#""yes": 2, "no": 1"#, "are not its two children"),
        (r#""missing": 2"#, r#""missing": 7"#, "'missing' is none of its children"),
        (r#""nodeid": 1, "leaf": 1.5"#, r#""nodeid": 1"#, "neither split nor leaf"),
        (r#""leaf": 1.5"#, r#""leaf": 1.5, "split": "f1""#, "split and leaf"),
        (r#""split_condition": 0.5,"#, "", "Elasticsearch model: tree 0: a split has no threshold"),
        (r#""split_condition": 0.5"#, r#""split_condition": [1, 2]"#, "invalid type: sequence"),
        (r#"{ "nodeid": 1, "leaf": 1.5 },"#, "", "are not its two children"),
        (
            r#"{ "nodeid": 1, "leaf": 1.5 },"#,
            r#"{ "nodeid": 1, "leaf": 1 }, { "nodeid": 2, "leaf": 1 },"#,
            "three children",
        ),
        (r#"{ "nodeid": 1, "leaf": 1.5 }"#, &deep, "recursion limit"),
        (r#""leaf": 1.5"#, r#""leaf": 1e999"#, "number out of range"),
    ] {
        assert!(DUMP.contains(from), "{from}");
        let error = parse(&DUMP.replacen(from, to, 1)).unwrap_err();
        assert!(error.contains(reason), "{from}: {error}");
    }
}

#[test]
fn damaged_files_give_a_model_or_an_error() {
    assert!(damage(DUMP.as_bytes(), read) > 5_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Features that no split tests are lost, so the columns of rows are chosen by name.
    #[test]
    fn models_are_read_back_with_the_same_scores(seed in 0..u64::MAX - 100) {
        let model = model(seed, |_, side| side, |value| f64::from(value as f32));
        let back = read(&write(&model).unwrap()).unwrap();
        let features = &model.header().features;
        let columns: Vec<usize> =
            back.header().features.iter().map(|name| features.column(&name).unwrap()).collect();
        for row in &rows(seed) {
            let chosen: Vec<f32> = columns.iter().map(|column| row[*column]).collect();
            prop_assert_eq!(back.score_row(&chosen).to_bits(), model.score_row(row).to_bits());
        }
        let again = read(&write(&back).unwrap()).unwrap();
        prop_assert!(same_bits(&again, &back, &rows(seed)));
    }
}
