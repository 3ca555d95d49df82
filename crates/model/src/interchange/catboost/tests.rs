//! Tests of reading CatBoost's JSON.

use rankwright_data::FeatureNames;

use super::{detect, read};
use crate::interchange::test_support::damage;
use crate::{Model, ModelBody};

/// Two features and oblivious (symmetric) trees: `x0 > 0.5` is bit 0, `x1 > -2` is bit 1.
const OBLIVIOUS: &str = r#"{
  "features_info": { "float_features": [
    { "borders": [0.5], "feature_id": "bm25", "feature_index": 0, "flat_feature_index": 0,
      "has_nans": true, "nan_value_treatment": "AsTrue" },
    { "borders": [-2], "feature_id": "", "feature_index": 1, "flat_feature_index": 1,
      "has_nans": false, "nan_value_treatment": "AsIs" } ] },
  "model_info": { "catboost_version_info": "Branch: tags/v1.2.10\n", "params":
    { "loss_function": { "type": "YetiRank", "params": {} } } },
  "oblivious_trees": [
    { "leaf_values": [1, 2, 4, 8], "leaf_weights": [10, 0, 3.6, 1], "splits": [
      { "border": 0.5, "float_feature_index": 0, "split_index": 0, "split_type": "FloatFeature" },
      { "border": -2, "float_feature_index": 1, "split_index": 1, "split_type": "FloatFeature" }
    ] },
    { "leaf_values": [0.25], "leaf_weights": [14], "splits": null } ],
  "scale_and_bias": [2, [0.5]]
}"#;

/// `x0 > 0.5 ? (x1 > -2 ? 8 : 2) : 1`, with keys in an unusual order.
const NESTED: &str = r#"{
  "scale_and_bias": [1, 10],
  "trees": [ { "left": { "value": 1, "weight": 5 },
    "right": { "split": { "border": -2, "float_feature_index": 1, "split_type": "FloatFeature" },
      "right": { "value": 8 }, "left": { "value": 2, "weight": 3 } },
    "split": { "border": 0.5, "float_feature_index": 0, "split_type": "FloatFeature" } } ],
  "features_info": { "float_features": [ { "feature_index": 0, "nan_value_treatment": "AsFalse" },
    { "feature_index": 1, "nan_value_treatment": "AsTrue" } ] }
}"#;

fn parse(text: &str) -> Result<Model, String> {
    read(text.as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn oblivious_trees_are_read_with_the_first_split_as_the_lowest_bit() {
    assert!(detect(OBLIVIOUS.as_bytes()) && !detect(&NESTED.as_bytes()[..5]));
    // Scores are scale x (tree 0 + tree 1) + bias, with scale 2, bias 0.5 and 0.25 of tree 1.
    let model = parse(OBLIVIOUS).unwrap();
    let nan = f32::NAN;
    for (row, leaf) in [
        ([0.5, -2.0], 1.0),
        ([0.6, -2.0], 2.0),
        ([0.5, -1.9], 4.0),
        ([0.6, -1.9], 8.0),
        // AsTrue is right, AsIs is left.
        ([nan, nan], 2.0),
        ([f32::INFINITY, f32::NEG_INFINITY], 2.0),
    ] {
        assert_eq!(model.score_row(&row), 0.5 + 2.0 * leaf + 2.0 * 0.25, "{row:?}");
    }
    let header = model.header();
    assert_eq!(header.features, FeatureNames::Named(vec!["bm25".into(), "1".into()]));
    assert_eq!(
        (&*header.notes["from"], &*header.notes["objective"]),
        ("CatBoost 1.2.10", "YetiRank")
    );
    let ModelBody::Trees(trees) = model.body() else { panic!() };
    let rows: Vec<u64> = trees.trees()[0].leaves().iter().map(|leaf| leaf.rows).collect();
    assert_eq!(rows, [10, 4, 0, 1], "in the order of the leaves in the tree");
}

#[test]
fn nested_trees_are_read_whatever_the_order_of_their_keys() {
    let model = parse(NESTED).unwrap();
    let nan = f32::NAN;
    // The value of a leaf and the bias 10.
    for (row, score) in
        [([0.5, 9.0], 11.0), ([nan, 9.0], 11.0), ([1.0, -2.0], 12.0), ([1.0, nan], 18.0)]
    {
        assert_eq!(model.score_row(&row), score, "{row:?}");
    }
    assert_eq!(model.header().features, FeatureNames::Ids { first: 0, count: 2 });
    assert_eq!(model.header().notes["from"], "CatBoost");
    let without_trees =
        r#"{"features_info": {}, "oblivious_trees": null, "scale_and_bias": [1, [3]]}"#;
    assert_eq!(parse(without_trees).unwrap().score_row(&[]), 3.0);
}

#[test]
fn a_deep_oblivious_tree_is_expanded_to_its_splits() {
    let depth = 12;
    let split = r#"{"border":0,"float_feature_index":N}"#;
    let splits: Vec<_> = (0..depth).map(|f| split.replace('N', &f.to_string())).collect();
    let values: Vec<_> = (0..1 << depth).map(|leaf| leaf.to_string()).collect();
    let features: Vec<_> = (0..depth).map(|f| format!(r#"{{"feature_index":{f}}}"#)).collect();
    let model = parse(&format!(
        r#"{{"features_info":{{"float_features":[{}]}},
        "oblivious_trees":[{{"leaf_values":[{}],"splits":[{}]}}]}}"#,
        features.join(","),
        values.join(","),
        splits.join(",")
    ))
    .unwrap();
    for leaf in [0_u32, 1, 2, 1000, 2048, 4095] {
        let row: Vec<f32> = (0..depth).map(|f| (leaf >> f & 1) as f32).collect();
        assert_eq!(model.score_row(&row), f64::from(leaf));
    }
}

#[test]
fn files_that_are_unsupported_or_inconsistent_are_refused_with_a_reason() {
    let changed = |from: &str, to: &str| {
        let base = if OBLIVIOUS.contains(from) { OBLIVIOUS } else { NESTED };
        assert!(base.contains(from), "{from}");
        parse(&base.replacen(from, to, 1)).unwrap_err()
    };
    let deep = format!("{}1{}", r#"{"left":"#.repeat(500), "}".repeat(500));
    for (from, to, reason) in [
        (r#"{ "float_features""#, r#"{ "categorical_features": [{}], "float_features""#, "1 categ"),
        (r#"{ "float_features""#, r#"{ "text_features": [{}], "float_features""#, "1 text feat"),
        (r#"{ "float_features""#, r#"{ "embedding_features": [1], "float_features""#, "1 embed"),
        ("[0.5]]", "[0.5, 0.5]]", "the number of outputs is 2; only models with one score"),
        (r#""FloatFeature" },"#, r#""OnlineCtr" },"#, "tree 0: a split of the kind 'OnlineCtr'"),
        (
            "[1, 2, 4, 8]",
            "[1, 2, 4]",
            "CatBoost model: tree 0: leaf_values has 3 entries; expected 4",
        ),
        ("[1, 2, 4, 8]", "[1, 2, 4, 8, 1, 2, 4, 8]", "leaf_values has 8 entries; expected 4"),
        ("[1, 2, 4, 8]", "[1, 2, 4, [8]]", "expected f64"),
        ("[0.25]", "[1e308]", "tree 1: the value of leaf 0 is inf"),
        (
            r#"index": 1, "split"#,
            r#"index": 7, "split"#,
            "float feature 7; expected numbers below 2",
        ),
        (
            r#""feature_index": 1"#,
            r#""feature_index": 3"#,
            "float feature 3 where float feature 1 should be",
        ),
        (
            r#""flat_feature_index": 1"#,
            r#""flat_feature_index": 3"#,
            "column 3 where column 1 should be",
        ),
        // CatBoost uses the index in the lists of borders, so the border of a split must agree with
        // it.
        (r#""borders": [0.5]"#, r#""borders": [0.75]"#, "another split, with the border 0.75"),
        (r#""border": 0.5"#, r#""border": 0.25"#, "float feature 0 has the border 0.25, but its"),
        (r#""split_index": 1"#, r#""split_index": 0"#, "another split, with the border 0.5"),
        (r#""split_index": 1"#, r#""split_index": 9"#, "the list of borders does not have it"),
        (
            r#"{ "feature_index": 0, "nan"#,
            r#"{ "feature_index": 0, "borders": [0, 0.25, 1], "nan"#,
            "has the border 0.5, but the list of borders does not have it",
        ),
        ("[2, [0.5]]", "[2, [1e999]]", "CatBoost model: number out of range"),
        (r#""AsIs""#, r#""AsYouLike""#, "unknown variant `AsYouLike`"),
        (r#""right": { "value": 8 },"#, "", "a node with one child"),
        (r#"{ "value": 8 }"#, "{}", "neither a split nor a leaf"),
        (r#"{ "value": 8 }"#, &deep, "recursion limit exceeded"),
        (r#"{ "value": 8 }"#, r#"{ "value": [8, 9] }"#, "invalid type"),
        ("features_info", "features", "missing field `features_info`"),
    ] {
        let error = changed(from, to);
        assert!(error.contains(reason), "{from}: {error}");
    }
    assert!(!detect(b"{}") && !detect(b"[\"features_info\"]") && !detect(b""));
}

#[test]
fn files_that_claim_more_than_they_hold_are_refused() {
    let zeros = |count: usize| vec!["0"; count].join(",");
    let read_copies = |tree: &str, count: usize| {
        let trees = vec![tree; count].join(",");
        parse(&format!(
            r#"{{"features_info":{{"float_features":[{{"feature_index":0}}]}},
            "oblivious_trees":[{trees}]}}"#
        ))
        .map(|_| ())
        .map_err(|error| error.to_string())
    };
    let split = r#"{"float_feature_index":0}"#;
    let wide =
        format!(r#"{{"leaf_values":[{}],"splits":[{}]}}"#, zeros(1 << 16), [split; 16].join(","));
    assert!(read_copies(&wide, 2).is_ok());
    assert!(read_copies(&wide, 8).unwrap_err().contains("more leaves than a file of this size"));
    let wider = format!(r#"{{"leaf_values":[{}]}}"#, zeros((1 << 16) + 1));
    assert!(read_copies(&wider, 1).unwrap_err().contains("a list of at most 65536 elements"));
    let deeper = format!(r#"{{"leaf_values":[1],"splits":[{}]}}"#, [split; 17].join(","));
    assert!(read_copies(&deeper, 1).unwrap_err().contains("a list of at most 16 elements"));
    assert!(
        read_copies(r#"{"leaf_values":[1]}"#, (1 << 17) + 1)
            .unwrap_err()
            .contains("more than 131072 trees")
    );
}

#[test]
fn damaged_files_give_a_model_or_an_error() {
    assert!(damage(OBLIVIOUS.as_bytes(), read) + damage(NESTED.as_bytes(), read) > 10_000);
}
