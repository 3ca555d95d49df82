//! Tests of summaries as JSON. The drop of a feature is the fall of the metric when its values are
//! shuffled (permutation importance).

use rankwright_data::{Absent, FeatureNames};
use serde_json::{Value, json};

use super::*;
use crate::net::tests::{NO_MIN_MAX, random_net};
use crate::tree::tests::two_split_tree;
use crate::{Header, Linear, Normalise};

fn model(body: ModelBody) -> Model {
    let names = FeatureNames::Named(vec!["a".into(), "b".into()]);
    let mut header = Header::new(names, Absent::Missing);
    header.learner = "by hand".into();
    header.notes.insert("from".into(), "paper".into());
    Model::new(header, body).unwrap()
}

fn trees() -> Model {
    model(ModelBody::Trees(Ensemble::new(0.5, vec![two_split_tree(), two_split_tree()]).unwrap()))
}

fn linear() -> Model {
    model(ModelBody::Linear(Linear::new(1.0, vec![0.25, -2.0]).unwrap()))
}

fn json(summary: &ModelSummary) -> Value {
    serde_json::to_value(summary).unwrap()
}

#[test]
fn trees_are_counted_and_their_features_ranked_by_gain() {
    let found = json(&trees().summary());
    assert_eq!((&found["kind"], &found["base"]), (&json!("trees"), &json!(0.5)));
    assert_eq!((&found["learner"], &found["absent"]), (&json!("by hand"), &json!("missing")));
    assert_eq!((&found["notes"]["from"], &found["features"]), (&json!("paper"), &json!(2)));
    let leaves = two_split_tree().leaves().len();
    let (depth, mean) = (two_split_tree().depth(), two_split_tree().depth() as f64);
    let sizes = json!({
        "count": 2, "leaves": 2 * leaves, "most_leaves": leaves, "depth": depth, "mean_depth": mean,
    });
    assert_eq!(found["trees"], sizes);
    let rows = found["importance"].as_array().unwrap();
    assert_eq!(rows.len(), trees().importance().len());
    assert!(rows.iter().all(|row| row["gain"].is_number() && row["splits"].is_number()));
    assert!(found.get("weights").is_none() && found.get("bias").is_none());
}

#[test]
fn weights_are_sorted_by_size_and_drops_are_added() {
    let summary = linear().summary();
    let rows = json!([{ "feature": "b", "weight": -2.0 }, { "feature": "a", "weight": 0.25 }]);
    assert_eq!(json(&summary)["weights"], rows);
    let drops = [(1, MetricDrop { mean: 0.5, spread: None })];
    let found = json(&summary.with_drops(&linear(), &drops));
    let row = json!({ "feature": "b", "weight": -2.0, "drop": 0.5, "drop_spread": null });
    assert_eq!(found["weights"][0], row);
    assert!(found["weights"][1].get("drop").is_none());
}

#[test]
fn a_blend_lists_its_members_and_its_features_by_drop() {
    let blend = Blend::new(Normalise::Rank, vec![(0.75, trees()), (-1.0, linear())]).unwrap();
    let blend = model(ModelBody::Blend(blend));
    let found = json(&blend.summary());
    assert_eq!(found["normalise"], "rank");
    let first = json!({
        "weight": 0.75, "normalise": "rank", "kind": "trees", "size": "2 trees", "learner": "by hand"
    });
    assert_eq!(found["members"][0], first);
    assert_eq!(found["members"][1]["size"], "2 features");
    assert!(found.get("importance").is_none());
    let drop = |mean| MetricDrop { mean, spread: Some(0.0) };
    let found = json(&blend.summary().with_drops(&blend, &[(0, drop(0.1)), (1, drop(0.3))]));
    let names: Vec<&Value> =
        found["importance"].as_array().unwrap().iter().map(|row| &row["feature"]).collect();
    assert_eq!(names, ["b", "a"]);
}

#[test]
fn a_net_lists_its_layers() {
    let net = random_net(1, 2, &[3], NO_MIN_MAX);
    let (parameters, layers) = (net.parameters(), net.layers().len());
    let found = json(&model(ModelBody::Net(net)).summary());
    assert_eq!((&found["kind"], &found["parameters"]), (&json!("net"), &json!(parameters)));
    assert_eq!(found["layers"].as_array().unwrap().len(), layers);
    assert_eq!(
        (&found["layers"][0]["inputs"], &found["layers"][0]["outputs"]),
        (&json!(2), &json!(3))
    );
}
