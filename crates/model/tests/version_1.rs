//! Tests that model files of version 1 stay readable.

use std::path::PathBuf;

use rankwright_data::{Absent, FeatureNames};
use rankwright_model::{
    Child, Ensemble, Header, Leaf, Linear, Model, ModelBody, Side, Split, SplitCondition, Tree,
};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// The model in the file `trees-1.model`.
fn trees() -> Model {
    let split = |feature, threshold, missing, left, right, gain| Split {
        feature,
        rule: SplitCondition::AtMost(threshold),
        missing,
        left,
        right,
        gain,
        rows: 12,
    };
    let splits = vec![
        split(2, 0.1, Side::Left, Child::Split(1), Child::Leaf(0), 3.25),
        split(0, -1.5, Side::Right, Child::Leaf(2), Child::Leaf(1), 0.1),
    ];
    let leaves = [0.7, -0.1, 1e-3].map(|value| Leaf { value, rows: 4 }).to_vec();
    let trees = vec![Tree::new(splits, leaves).unwrap(), Tree::constant(0.05, 12).unwrap()];
    let names = ["bm25", "page rank", "clicks"].map(String::from).to_vec();
    let mut header = Header::new(FeatureNames::Named(names), Absent::Missing);
    header.learner = "lambdamart(trees=2, leaves=3)".into();
    header.objective = "lambda(metric=ndcg@10)".into();
    header.metric = "ndcg@10".into();
    header.conventions = "gain=exp, blank=skip".into();
    (header.seed, header.queries, header.rows) = (42, 3, 12);
    header.notes.insert("note".into(), "made by hand".into());
    Model::new(header, ModelBody::Trees(Ensemble::new(-0.25, trees).unwrap())).unwrap()
}

/// The model in the file `line-1.model`.
fn linear_model() -> Model {
    let weights = Linear::parse_weights("2:0.5/3:-0.1").unwrap();
    let names = Linear::names_of(&weights).unwrap();
    let linear = Linear::from_weights(&names, 1.0, &weights).unwrap();
    Model::new(Header::new(names, Absent::Zero), ModelBody::Linear(linear)).unwrap()
}

#[test]
fn trees_of_version_1_are_read_with_the_same_scores() {
    let model = Model::load(fixture("trees-1.model")).unwrap();
    assert_eq!(model, trees());
    for (row, score) in [
        ([0.0, 0.0, 0.2], -0.25 + 0.7 + 0.05),
        ([-2.0, 0.0, 0.1], -0.25 + 1e-3 + 0.05),
        ([f32::NAN, 0.0, f32::NAN], -0.25 - 0.1 + 0.05),
    ] {
        assert_eq!(model.score_row(&row), score);
    }
}

#[test]
fn a_linear_model_of_version_1_is_read_with_the_same_scores() {
    let model = Model::load(fixture("line-1.model")).unwrap();
    assert_eq!(model, linear_model());
    assert_eq!(model.score_row(&[9.0, 2.0, 10.0]), 1.0 + 1.0 - 1.0);
}

/// The bytes of version 1 are fixed: they change only together with the version.
#[test]
fn the_same_models_still_give_the_same_bytes() {
    for (name, model) in [("trees-1.model", trees()), ("line-1.model", linear_model())] {
        assert_eq!(std::fs::read(fixture(name)).unwrap(), model.to_bytes(), "{name}");
    }
}
