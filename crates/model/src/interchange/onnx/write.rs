//! Writes a model as an ONNX graph: trees as one node, other models as `sum` describes.
//!
//! The input is `X`, float, rows by features; the output is `score`, float, rows by 1. Splits are
//! `BRANCH_LEQ`, exact; leaf values and the base are rounded to f32, and onnxruntime adds them in
//! f32: scores agree to about 1e-6 of their size. Feature names go into the model's metadata.
//! Version 1 of the operators of ai.onnx.ml and version 8 of the file format are used, so that
//! older runtimes can read the file. An ensemble without trees is written with one tree that gives
//! 0.

use super::fields::{
    attribute, attribute_type, data_type, dimension, entry, graph as graph_fields, model as fields,
    node as node_fields, operator_set, shape, tensor_type, type_proto, value_info,
};
use super::wire::WireWriter;
use super::{FEATURES, KIND, NAME, sum};
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::interchange::UnsupportedPart;
use crate::interchange::common::{as_threshold, in_tree};
use crate::model::{Model, ModelBody};
use crate::tree::{Child, Side, Tree};

/// The version of the file format.
const IR_VERSION: i64 = 8;
/// The version of the standard set of operators.
const OPERATORS_VERSION: i64 = 15;
/// The version of the operators of ai.onnx.ml.
const ML_OPERATORS_VERSION: i64 = 1;

/// The name of the input.
const INPUT: &str = "X";
/// The name of the output.
const OUTPUT: &str = "score";

/// Writes a model.
pub(super) fn model(model: &Model) -> Result<Vec<u8>, ModelError> {
    let features = &model.header().features;
    let names: Vec<_> = features.iter().collect();
    let names = serde_json::Value::from_iter(names).to_string();
    let mut metadata = vec![(FEATURES, names)];
    let mut graph = match model.body() {
        ModelBody::Trees(ensemble) => {
            let mut graph = WireWriter::default();
            let node = ensemble_node(ensemble, "trees", [INPUT, OUTPUT], |feature| feature)?;
            graph.message(graph_fields::NODE, &node);
            graph
        }
        body => {
            metadata.push((KIND, body.name().to_owned()));
            sum::graph(model, INPUT, OUTPUT)?.into_message()
        }
    };
    graph.text(graph_fields::NAME, "rankwright");
    // At least one column: runtimes reject an input without columns.
    graph.message(graph_fields::INPUT, &value_info(INPUT, features.len().max(1)));
    graph.message(graph_fields::OUTPUT, &value_info(OUTPUT, 1));
    let mut file = WireWriter::default();
    file.int(fields::IR_VERSION, IR_VERSION);
    file.text(fields::PRODUCER_NAME, "rankwright");
    file.text(fields::PRODUCER_VERSION, env!("CARGO_PKG_VERSION"));
    file.message(fields::GRAPH, &graph);
    for (domain, version) in [("", OPERATORS_VERSION), ("ai.onnx.ml", ML_OPERATORS_VERSION)] {
        let mut set = WireWriter::default();
        set.text(operator_set::DOMAIN, domain).int(operator_set::VERSION, version);
        file.message(fields::OPSET_IMPORT, &set);
    }
    for (key, value) in metadata {
        let mut added = WireWriter::default();
        added.text(entry::KEY, key).text(entry::VALUE, &value);
        file.message(fields::METADATA_PROPS, &added);
    }
    Ok(file.done())
}

/// The `ValueInfoProto` of an input or output: a tensor of floats with any number of rows.
fn value_info(name: &str, columns: usize) -> WireWriter {
    let (mut rows, mut width) = (WireWriter::default(), WireWriter::default());
    rows.text(dimension::NAME, "N");
    width.int(dimension::VALUE, columns as i64);
    let mut dimensions = WireWriter::default();
    dimensions.message(shape::DIM, &rows).message(shape::DIM, &width);
    let mut tensor = WireWriter::default();
    tensor.int(tensor_type::ELEM_TYPE, data_type::FLOAT).message(tensor_type::SHAPE, &dimensions);
    let (mut kind, mut info) = (WireWriter::default(), WireWriter::default());
    kind.message(type_proto::TENSOR_TYPE, &tensor);
    info.text(value_info::NAME, name).message(value_info::TYPE, &kind);
    info
}

/// A value rounded to f32; fails if that is infinite. `name` is for the message.
fn to_f32(name: &'static str, value: f64) -> Result<f32, ModelError> {
    let rounded = value as f32;
    match rounded.is_finite() {
        true => Ok(rounded),
        false => Err(unsupported(UnsupportedPart::Beyond32Bits { name, value })),
    }
}

pub(super) fn unsupported(part: UnsupportedPart) -> ModelError {
    ModelError::unsupported(NAME, part)
}

/// The node of an ensemble, from the tensor `input` to the tensor `output`. `name` is the name of the
/// node, which no other node of the graph may have. `column` gives the column of the input that a
/// feature has.
pub(super) fn ensemble_node(
    ensemble: &Ensemble,
    name: &str,
    [input, output]: [&str; 2],
    column: impl Fn(u32) -> u32,
) -> Result<WireWriter, ModelError> {
    let mut arrays = EnsembleArrays::default();
    for (number, tree) in ensemble.trees().iter().enumerate() {
        arrays.add_tree(number, tree, &column).map_err(|error| in_tree(NAME, number, error))?;
    }
    if ensemble.trees().is_empty() {
        arrays.add_leaf(0, 0, 0.0);
    }
    let mut node = WireWriter::default();
    node.text(node_fields::INPUT, input).text(node_fields::OUTPUT, output);
    node.text(node_fields::NAME, name).text(node_fields::OP_TYPE, "TreeEnsembleRegressor");
    node.text(node_fields::DOMAIN, "ai.onnx.ml");
    let base = to_f32("the base score", ensemble.base())?;
    add_attribute(&mut node, "aggregate_function", attribute_type::STRING, |out| {
        out.text(attribute::STRING, "SUM")
    });
    add_attribute(&mut node, "post_transform", attribute_type::STRING, |out| {
        out.text(attribute::STRING, "NONE")
    });
    add_attribute(&mut node, "n_targets", attribute_type::INT, |out| out.int(attribute::INT, 1));
    add_attribute(&mut node, "base_values", attribute_type::FLOATS, |out| {
        out.float(attribute::FLOATS, base)
    });
    add_attribute(&mut node, "nodes_modes", attribute_type::STRINGS, |out| {
        let modes = arrays.is_leaf.iter().map(|leaf| if *leaf { "LEAF" } else { "BRANCH_LEQ" });
        modes.fold(out, |out, mode| out.text(attribute::STRINGS, mode))
    });
    for (name, ints) in [
        ("nodes_treeids", &arrays.treeids),
        ("nodes_nodeids", &arrays.nodeids),
        ("nodes_featureids", &arrays.featureids),
        ("nodes_truenodeids", &arrays.truenodeids),
        ("nodes_falsenodeids", &arrays.falsenodeids),
        ("nodes_missing_value_tracks_true", &arrays.missing_tracks_true),
        ("target_treeids", &arrays.target_treeids),
        ("target_nodeids", &arrays.target_nodeids),
        ("target_ids", &arrays.target_ids),
    ] {
        add_attribute(&mut node, name, attribute_type::INTS, |out| {
            ints.iter().fold(out, |out, &int| out.int(attribute::INTS, int.into()))
        });
    }
    for (name, reals) in
        [("nodes_values", &arrays.values), ("target_weights", &arrays.target_weights)]
    {
        add_attribute(&mut node, name, attribute_type::FLOATS, |out| {
            reals.iter().fold(out, |out, &real| out.float(attribute::FLOATS, real))
        });
    }
    Ok(node)
}

/// Adds an attribute to a node; `kind` is one of [`attribute_type`], and `fill` adds the values.
fn add_attribute(
    node: &mut WireWriter,
    name: &str,
    kind: i64,
    fill: impl FnOnce(&mut WireWriter) -> &mut WireWriter,
) {
    let mut added = WireWriter::default();
    fill(added.text(attribute::NAME, name)).int(attribute::TYPE, kind);
    node.message(node_fields::ATTRIBUTE, &added);
}

/// The arrays of all trees, named after their attributes.
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
    /// Adds a tree: its splits by number, then its leaves.
    fn add_tree(
        &mut self,
        number: usize,
        tree: &Tree,
        column: impl Fn(u32) -> u32,
    ) -> Result<(), ModelError> {
        let splits = tree.splits().len() as u32;
        let node_id = |child: Child| match child {
            Child::Split(split) => split,
            Child::Leaf(leaf) => splits + leaf,
        };
        for (split_number, split) in tree.splits().iter().enumerate() {
            self.treeids.push(number as u32);
            self.nodeids.push(split_number as u32);
            self.is_leaf.push(false);
            self.featureids.push(column(split.feature));
            self.truenodeids.push(node_id(split.left));
            self.falsenodeids.push(node_id(split.right));
            self.missing_tracks_true.push((split.missing == Side::Left).into());
            self.values.push(as_threshold(NAME, split_number, split)?);
        }
        for (leaf_number, leaf) in tree.leaves().iter().enumerate() {
            let value = to_f32("a leaf value", leaf.value)?;
            self.add_leaf(number as u32, splits + leaf_number as u32, value);
        }
        Ok(())
    }

    /// Adds a leaf, whose value is its weight.
    fn add_leaf(&mut self, tree: u32, node: u32, value: f32) {
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
