//! Tests that model files of version 3, nets and blends, stay readable.

use std::path::PathBuf;

use rankwright_data::{Absent, FeatureNames};
use rankwright_model::{
    Activation, Blend, Child, Ensemble, Header, Layer, LayerNorm, Leaf, Linear, Model, ModelBody,
    Net, Normalise, Side, Split, SplitCondition, TransformStep, Transforms, Tree,
};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn header(names: &[&str]) -> Header {
    let names = names.iter().map(|name| name.to_string()).collect();
    let mut header = Header::new(FeatureNames::Named(names), Absent::Missing);
    header.learner = "made by hand".into();
    header
}

/// The model in the file `net-3.model`: with every step, and layers with and without a norm.
fn net() -> Model {
    let table = TransformStep::Table { from: vec![0.0, 1.0, 4.0], to: vec![-1.0, 0.0, 1.5] };
    let steps = vec![
        vec![TransformStep::Clip { low: -2.0, high: 8.0 }, TransformStep::SignedLog],
        vec![table],
        vec![TransformStep::Affine { shift: 1.0, scale: 0.5 }],
    ];
    let min_max_in_query = true;
    let transforms = Transforms::new(steps, vec![0.0, 0.25, -1.0], min_max_in_query).unwrap();
    let norm = LayerNorm { scale: vec![1.0, 0.5], shift: vec![0.0, 0.25] };
    let weights = vec![0.5, -1.0, 0.25, 2.0, 0.0, -0.75];
    let first = Layer::new(3, weights, vec![0.1, -0.1], Some(norm), Activation::Tanh).unwrap();
    let second = Layer::new(2, vec![1.0, 0.5, -1.0, 2.0], vec![0.0, 0.3], None, Activation::Gelu);
    let third = Layer::new(2, vec![1.5, -0.5], vec![0.75], None, Activation::None).unwrap();
    let net = Net::new(transforms, vec![first, second.unwrap(), third]).unwrap();
    Model::new(header(&["bm25", "page rank", "clicks"]), ModelBody::Net(net)).unwrap()
}

/// The model in the file `blend-3.model`: with a member of each kind.
fn blend() -> Model {
    let (left, right) = (Child::Leaf(0), Child::Leaf(1));
    let (rule, missing) = (SplitCondition::AtMost(2.5), Side::Right);
    let split = Split { feature: 0, rule, missing, left, right, gain: 1.0, rows: 7 };
    let leaves = [-0.5, 1.0].map(|value| Leaf { value, rows: 3 }).to_vec();
    let trees = Ensemble::new(0.25, vec![Tree::new(vec![split], leaves).unwrap()]).unwrap();
    let trees = Model::new(header(&["clicks"]), ModelBody::Trees(trees)).unwrap();
    let linear = Linear::new(0.5, vec![2.0, -1.0]).unwrap();
    let linear = Model::new(header(&["page rank", "bm25"]), ModelBody::Linear(linear)).unwrap();
    let members = vec![(0.5, trees), (0.375, linear), (0.125, net())];
    let blend = ModelBody::Blend(Blend::new(Normalise::Standard, members).unwrap());
    Model::new(header(&["page rank", "clicks", "bm25"]), blend).unwrap()
}

/// Scores of one query at the time when the files were written (and, except for the last digits, as
/// a few lines of Python computed them from the formulas).
const NET_SCORES: [f64; 4] =
    [1.5376871824264526, -0.6234502792358398, -0.6234469413757324, -0.6233348250389099];
const BLEND_SCORES: [f64; 4] =
    [-0.4824951490355167, -0.46631705299458703, 0.257142859733828, 0.691669342296276];

/// The scores of a query of four documents.
fn scored(model: &Model) -> Vec<f64> {
    let rows: [&[f32]; 4] =
        [&[1.0, 0.5, 3.0], &[-4.0, 2.0, f32::NAN], &[9.0, 0.0, 0.0], &[0.25, f32::NAN, 1.0]];
    model.score_query(&rows)
}

#[test]
fn a_net_of_version_3_is_read_with_the_same_scores() {
    let model = Model::load(fixture("net-3.model")).unwrap();
    assert_eq!(model, net());
    assert_eq!(scored(&model), NET_SCORES);
}

#[test]
fn a_blend_of_version_3_is_read_with_the_same_scores() {
    let model = Model::load(fixture("blend-3.model")).unwrap();
    assert_eq!(model, blend());
    assert_eq!(scored(&model), BLEND_SCORES);
}

/// The bytes of version 3 are fixed: they change only together with the version.
#[test]
fn the_same_models_still_give_the_same_bytes() {
    for (name, model) in [("net-3.model", net()), ("blend-3.model", blend())] {
        assert_eq!(std::fs::read(fixture(name)).unwrap(), model.to_bytes(), "{name}");
    }
}
