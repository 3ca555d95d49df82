//! Writes a model as an ONNX graph of one node.
//!
//! The input is `X`, float, rows by features; the output is `score`, float, rows by 1. Splits are
//! `BRANCH_LEQ`, exact; leaf values and the base are rounded to f32, and onnxruntime adds them in
//! f32: scores agree to about 1e-6 of their size. Feature names go into the model's metadata.
//! Operator set 1 of ai.onnx.ml and version 8 of the file form, so that older runtimes can read
//! it. An ensemble without trees is written with one tree that gives 0.

use super::wire::WireWriter;
use super::{FEATURES, NAME};
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::interchange::UnsupportedFeature;
use crate::interchange::common::{in_tree, plain_threshold};
use crate::model::{Model, ModelBody};
use crate::tree::{Child, Side, Tree};

/// The version of the file form, and of the two sets of operators.
const IR_VERSION: i64 = 8;
const OPERATORS: i64 = 15;
const ML_OPERATORS: i64 = 1;
/// Kinds of attributes.
const INT: i64 = 2;
const STRING: i64 = 3;
const FLOATS: i64 = 6;
const INTS: i64 = 7;
const STRINGS: i64 = 8;

/// Writes a model of trees.
pub(super) fn model(model: &Model) -> Result<Vec<u8>, ModelError> {
    let ModelBody::Trees(ensemble) = model.body() else {
        return Err(unsupported(UnsupportedFeature::Body(model.body().kind())));
    };
    let features = &model.header().features;
    let names: Vec<_> = features.iter().collect();
    let names = serde_json::Value::from_iter(names).to_string();
    let mut graph = WireWriter::default();
    graph.message(1, &node(ensemble)?).text(2, "rankwright");
    // Runtimes reject a tensor without columns.
    graph.message(11, &tensor("X", features.len().max(1))).message(12, &tensor("score", 1));
    let mut file = WireWriter::default();
    file.int(1, IR_VERSION).text(2, "rankwright").text(3, env!("CARGO_PKG_VERSION"));
    file.message(7, &graph);
    for (domain, version) in [("", OPERATORS), ("ai.onnx.ml", ML_OPERATORS)] {
        let mut set = WireWriter::default();
        set.text(1, domain).int(2, version);
        file.message(8, &set);
    }
    let mut entry = WireWriter::default();
    entry.text(1, FEATURES).text(2, &names);
    file.message(14, &entry);
    Ok(file.done())
}

/// A tensor of floats with any number of rows.
fn tensor(name: &str, columns: usize) -> WireWriter {
    let (mut rows, mut width) = (WireWriter::default(), WireWriter::default());
    rows.text(2, "N");
    width.int(1, columns as i64);
    let mut shape = WireWriter::default();
    shape.message(1, &rows).message(1, &width);
    let mut of = WireWriter::default();
    of.int(1, 1).message(2, &shape);
    let (mut kind, mut info) = (WireWriter::default(), WireWriter::default());
    kind.message(1, &of);
    info.text(1, name).message(2, &kind);
    info
}

/// An f64 as f32; fails if that is infinite.
fn narrow(name: &'static str, value: f64) -> Result<f32, ModelError> {
    let narrow = value as f32;
    match narrow.is_finite() {
        true => Ok(narrow),
        false => Err(unsupported(UnsupportedFeature::Beyond32Bits { name, value })),
    }
}

fn unsupported(feature: UnsupportedFeature) -> ModelError {
    ModelError::unsupported(NAME, feature)
}

/// The node of the graph.
fn node(ensemble: &Ensemble) -> Result<WireWriter, ModelError> {
    let mut columns = EnsembleArrays::default();
    for (number, tree) in ensemble.trees().iter().enumerate() {
        columns.tree(number, tree).map_err(|error| in_tree(NAME, number, error))?;
    }
    if ensemble.trees().is_empty() {
        columns.leaf(0, 0, 0.0);
    }
    let mut node = WireWriter::default();
    node.text(1, "X").text(2, "score").text(3, "trees").text(4, "TreeEnsembleRegressor");
    node.text(7, "ai.onnx.ml");
    let base = narrow("the base score", ensemble.base())?;
    attribute(&mut node, "aggregate_function", STRING, |to| WireWriter::text(to, 4, "SUM"));
    attribute(&mut node, "post_transform", STRING, |to| WireWriter::text(to, 4, "NONE"));
    attribute(&mut node, "n_targets", INT, |to| WireWriter::int(to, 3, 1));
    attribute(&mut node, "base_values", FLOATS, |to| WireWriter::float(to, 7, base));
    attribute(&mut node, "nodes_modes", STRINGS, |to| {
        let modes = columns.is_leaf.iter().map(|leaf| if *leaf { "LEAF" } else { "BRANCH_LEQ" });
        modes.fold(to, |to, mode| to.text(9, mode))
    });
    for (name, ints) in [
        ("nodes_treeids", &columns.treeids),
        ("nodes_nodeids", &columns.nodeids),
        ("nodes_featureids", &columns.featureids),
        ("nodes_truenodeids", &columns.truenodeids),
        ("nodes_falsenodeids", &columns.falsenodeids),
        ("nodes_missing_value_tracks_true", &columns.missing_tracks_true),
        ("target_treeids", &columns.target_treeids),
        ("target_nodeids", &columns.target_nodeids),
        ("target_ids", &columns.target_ids),
    ] {
        attribute(&mut node, name, INTS, |to| {
            ints.iter().fold(to, |to, &int| to.int(8, int.into()))
        });
    }
    for (name, reals) in
        [("nodes_values", &columns.values), ("target_weights", &columns.target_weights)]
    {
        attribute(&mut node, name, FLOATS, |to| {
            reals.iter().fold(to, |to, &real| to.float(7, real))
        });
    }
    Ok(node)
}

/// Adds an attribute of a kind to a node.
fn attribute(
    node: &mut WireWriter,
    name: &str,
    kind: i64,
    fill: impl FnOnce(&mut WireWriter) -> &mut WireWriter,
) {
    let mut attribute = WireWriter::default();
    fill(attribute.text(1, name)).int(20, kind);
    node.message(5, &attribute);
}

/// The arrays of all trees.
#[derive(Default)]
struct EnsembleArrays {
    treeids: Vec<u32>,
    nodeids: Vec<u32>,
    is_leaf: Vec<bool>,
    featureids: Vec<u32>,
    truenodeids: Vec<u32>,
    falsenodeids: Vec<u32>,
    missing_tracks_true: Vec<u32>,
    values: Vec<f32>,
    target_treeids: Vec<u32>,
    target_nodeids: Vec<u32>,
    target_ids: Vec<u32>,
    target_weights: Vec<f32>,
}

impl EnsembleArrays {
    /// A tree: its splits by number, then its leaves.
    fn tree(&mut self, number: usize, tree: &Tree) -> Result<(), ModelError> {
        let splits = tree.splits().len() as u32;
        let node = |child: Child| match child {
            Child::Split(to) => to,
            Child::Leaf(to) => splits + to,
        };
        for (at, split) in tree.splits().iter().enumerate() {
            self.treeids.push(number as u32);
            self.nodeids.push(at as u32);
            self.is_leaf.push(false);
            self.featureids.push(split.feature);
            self.truenodeids.push(node(split.left));
            self.falsenodeids.push(node(split.right));
            self.missing_tracks_true.push((split.missing == Side::Left).into());
            self.values.push(plain_threshold(NAME, at, split)?);
        }
        for (at, leaf) in tree.leaves().iter().enumerate() {
            let value = narrow("a leaf value", leaf.value)?;
            self.leaf(number as u32, splits + at as u32, value);
        }
        Ok(())
    }

    fn leaf(&mut self, tree: u32, node: u32, value: f32) {
        self.treeids.push(tree);
        self.nodeids.push(node);
        self.is_leaf.push(true);
        self.featureids.push(0);
        self.truenodeids.push(0);
        self.falsenodeids.push(0);
        self.missing_tracks_true.push(0);
        self.values.push(0.0);
        self.target_treeids.push(tree);
        self.target_nodeids.push(node);
        self.target_ids.push(0);
        self.target_weights.push(value);
    }
}
