//! The graph of an ONNX model: finds the ensemble of trees in it, and checks the nodes around it.
//!
//! A graph is a list of nodes that read and write named tensors. The relevant node is
//! `TreeEnsembleRegressor`; before it only nodes are allowed that pass numbers on unchanged
//! (`Identity`, `Cast` to float or double), after it also nodes that change only the shape
//! (`Reshape`, `Flatten`, `Squeeze`, `Unsqueeze`). Every other node is rejected by its name: it
//! could change scores. At most [`MAX_NODES`] nodes are read.

use super::fields::{
    attribute, data_type, dimension, entry, graph as graph_fields, model, node as node_fields,
    shape, tensor_type, type_proto, value_info,
};
use super::wire::{Message, WireField, invalid};
use super::{NAME, ProtobufProblem, UnsupportedGraph};
use crate::error::ModelError;
use crate::interchange::UnsupportedPart;
use crate::interchange::common::MAX_FEATURES;

/// Maximum number of nodes of a graph, and of attributes of the ensemble.
const MAX_NODES: usize = 64;
/// Operators of nodes that pass numbers on unchanged.
const IDENTITY_OPERATORS: [&str; 2] = ["Identity", "Cast"];
/// Operators of nodes that pass numbers on in another shape.
const SHAPE_OPERATORS: [&str; 4] = ["Reshape", "Flatten", "Squeeze", "Unsqueeze"];

/// The parts of a model around its ensemble, and the attributes of the ensemble.
#[derive(Debug, Default)]
pub(super) struct OnnxParts<'a> {
    /// Name and version of the program that wrote the file.
    pub(super) producer: String,
    /// The attributes of the ensemble, not yet read.
    pub(super) attributes: Vec<Message<'a>>,
    /// Number of columns of the input; `None` if its shape does not have it.
    pub(super) columns: Option<usize>,
    /// Feature names as JSON; `None` if this crate did not write the file.
    pub(super) names: Option<&'a str>,
}

/// A node, with the parts that are needed to follow the path of the data through the graph.
#[derive(Debug, Clone, Copy, Default)]
struct GraphNode<'a> {
    /// The operator, and the domain that defines it.
    op: &'a str,
    domain: &'a str,
    /// The name of the first input.
    input: &'a str,
    output: &'a str,
    /// The protocol buffer of the node.
    message: &'a [u8],
}

pub(super) fn unsupported(part: UnsupportedGraph) -> ModelError {
    ModelError::unsupported(NAME, UnsupportedPart::Graph(part))
}

/// The error for more items than are read.
pub(super) fn too_many(items: &'static str, most: usize) -> ModelError {
    ModelError::unsupported(NAME, UnsupportedPart::TooMany { items, most })
}

/// Reads the model around the ensemble; fails if other nodes could change scores.
pub(super) fn read_parts(bytes: &[u8]) -> Result<OnnxParts<'_>, ModelError> {
    let mut parts = OnnxParts::default();
    let (mut graph, mut written_kind) = (None, None);
    for field in Message::new(bytes) {
        match field? {
            (model::PRODUCER_NAME, field) => parts.producer = field.text()?.to_owned(),
            (model::PRODUCER_VERSION, field) => {
                parts.producer = format!("{} {}", parts.producer, field.text()?)
            }
            (model::GRAPH, field) => graph = Some(field.bytes()?),
            (model::METADATA_PROPS, field) => match key_and_value(field)? {
                (super::FEATURES, names) => parts.names = Some(names),
                (super::KIND, kind) => written_kind = Some(kind),
                _ => {}
            },
            (model::FUNCTIONS, _) => return Err(unsupported(UnsupportedGraph::OwnFunctions)),
            _ => {}
        }
    }
    let graph = graph.ok_or_else(|| invalid(ProtobufProblem::NoGraph))?;
    if let Some(kind) = written_kind {
        return Err(unsupported(UnsupportedGraph::WrittenOnly { kind: kind.to_owned() }));
    }
    let nodes = nodes(graph)?;
    let (input, output, ensemble) = path(&nodes)?;
    for field in Message::new(graph) {
        match field? {
            (graph_fields::INPUT, field) => {
                let (name, columns) = name_and_columns(field)?;
                if name == input {
                    parts.columns = columns;
                }
            }
            (graph_fields::OUTPUT, field) => match name_and_columns(field)?.0 {
                name if name == output => {}
                name => {
                    let name = name.to_owned();
                    return Err(unsupported(UnsupportedGraph::ExtraOutput { name }));
                }
            },
            _ => {}
        }
    }
    for field in Message::new(ensemble.message) {
        if let (node_fields::ATTRIBUTE, field) = field? {
            match parts.attributes.len() < MAX_NODES {
                true => parts.attributes.push(field.message()?),
                false => return Err(too_many("attributes of the ensemble", MAX_NODES)),
            }
        }
    }
    Ok(parts)
}

/// Key and value of an entry of the metadata.
fn key_and_value(field: WireField<'_>) -> Result<(&str, &str), ModelError> {
    let (mut key, mut value) = ("", "");
    for field in field.message()? {
        match field? {
            (entry::KEY, field) => key = field.text()?,
            (entry::VALUE, field) => value = field.text()?,
            _ => {}
        }
    }
    Ok((key, value))
}

/// The nodes of a graph; unknown ones are rejected.
fn nodes(graph: &[u8]) -> Result<Vec<GraphNode<'_>>, ModelError> {
    let mut nodes = Vec::new();
    for field in Message::new(graph) {
        let (graph_fields::NODE, field) = field? else { continue };
        let node = node(field.bytes()?)?;
        match (node.domain, node.op) {
            // A constant holds the shape for another node.
            ("" | "ai.onnx", "Constant") => continue,
            ("ai.onnx.ml", "TreeEnsembleRegressor") => {}
            ("" | "ai.onnx", op)
                if IDENTITY_OPERATORS.contains(&op) || SHAPE_OPERATORS.contains(&op) => {}
            (domain, op) => {
                let dot = if domain.is_empty() { "" } else { "." };
                let operator = format!("{domain}{dot}{op}");
                return Err(unsupported(UnsupportedGraph::Operator { operator }));
            }
        }
        if nodes.len() == MAX_NODES {
            return Err(too_many("nodes of the graph", MAX_NODES));
        }
        nodes.push(node);
    }
    Ok(nodes)
}

/// Reads a node, which must have one output.
fn node(message: &[u8]) -> Result<GraphNode<'_>, ModelError> {
    let mut node = GraphNode { message, ..GraphNode::default() };
    let (mut inputs, mut outputs) = (0_usize, 0_usize);
    for field in Message::new(message) {
        match field? {
            // The first input is the data; the second one, if any, is a shape.
            (node_fields::INPUT, field) => {
                if inputs == 0 {
                    node.input = field.text()?;
                }
                inputs += 1;
            }
            (node_fields::OUTPUT, field) => {
                node.output = field.text()?;
                outputs += 1;
            }
            (node_fields::OP_TYPE, field) => node.op = field.text()?,
            (node_fields::DOMAIN, field) => node.domain = field.text()?,
            _ => {}
        }
    }
    match outputs {
        1 => Ok(node),
        _ => {
            let operator = node.op.to_owned();
            Err(unsupported(UnsupportedGraph::OperatorOutputs { operator, outputs }))
        }
    }
}

/// The path of the data through the graph: the names of its input and its output, and the ensemble.
/// All nodes must be on this path.
fn path<'a>(nodes: &[GraphNode<'a>]) -> Result<(&'a str, &'a str, GraphNode<'a>), ModelError> {
    let mut ensembles = nodes.iter().filter(|node| node.op == "TreeEnsembleRegressor");
    let ensemble = *ensembles.next().ok_or_else(|| unsupported(UnsupportedGraph::NoEnsemble))?;
    if ensembles.next().is_some() {
        return Err(unsupported(UnsupportedGraph::SeveralEnsembles));
    }
    let (mut input, mut output) = (ensemble.input, ensemble.output);
    let mut nodes_on_path = 1;
    // One step in each direction for each node of the graph: a longer path would be a cycle.
    for _ in nodes {
        if let Some(node) = nodes.iter().find(|node| node.output == input) {
            if !IDENTITY_OPERATORS.contains(&node.op) {
                let operator = node.op.to_owned();
                return Err(unsupported(UnsupportedGraph::BeforeEnsemble { operator }));
            }
            check_cast(node)?;
            (input, nodes_on_path) = (node.input, nodes_on_path + 1);
        }
        let mut next = nodes.iter().filter(|node| node.input == output);
        if let Some(node) = next.next() {
            check_cast(node)?;
            (output, nodes_on_path) = (node.output, nodes_on_path + 1);
        }
    }
    match nodes_on_path == nodes.len() {
        true => Ok((input, output, ensemble)),
        false => Err(unsupported(UnsupportedGraph::NoSinglePath)),
    }
}

/// Rejects a cast to another type than float or double.
fn check_cast(node: &GraphNode<'_>) -> Result<(), ModelError> {
    if node.op != "Cast" {
        return Ok(());
    }
    for field in Message::new(node.message) {
        let (node_fields::ATTRIBUTE, field) = field? else { continue };
        let (mut name, mut to) = ("", 0);
        for field in field.message()? {
            match field? {
                (attribute::NAME, field) => name = field.text()?,
                (attribute::INT, field) => to = field.int()?,
                _ => {}
            }
        }
        match (name, to) {
            ("to", data_type::FLOAT | data_type::DOUBLE) => return Ok(()),
            ("to", other) => {
                return Err(unsupported(UnsupportedGraph::Cast { found: Some(other) }));
            }
            _ => {}
        }
    }
    Err(unsupported(UnsupportedGraph::Cast { found: None }))
}

/// The name of an input or output (a `ValueInfoProto`), and the number of its columns: the second
/// of two dimensions, `None` if its size is not known.
fn name_and_columns(field: WireField<'_>) -> Result<(&str, Option<usize>), ModelError> {
    let (mut name, mut dimensions, mut columns) = ("", 0, None);
    for field in field.message()? {
        match field? {
            (value_info::NAME, field) => name = field.text()?,
            (value_info::TYPE, field) => {
                let tensor = last_field(field, type_proto::TENSOR_TYPE)?;
                let shape = tensor.map(|field| last_field(field, tensor_type::SHAPE));
                let shape = shape.transpose()?.flatten();
                for field in shape.map_or(Ok(Message::new(&[])), WireField::message)? {
                    if let (shape::DIM, field) = field? {
                        dimensions += 1;
                        columns =
                            last_field(field, dimension::VALUE)?.map(WireField::int).transpose()?;
                    }
                }
            }
            _ => {}
        }
    }
    // Some writers put 0 for an unknown size.
    let columns = columns.filter(|&columns| dimensions == 2 && columns > 0);
    match columns.map(|columns| usize::try_from(columns).unwrap_or(usize::MAX)) {
        Some(columns) if columns > MAX_FEATURES => {
            Err(unsupported(UnsupportedGraph::TooManyColumns { columns, most: MAX_FEATURES }))
        }
        columns => Ok((name, columns)),
    }
}

/// The last field with this number in the message that `field` holds; `None` if there is none.
fn last_field(field: WireField<'_>, number: u64) -> Result<Option<WireField<'_>>, ModelError> {
    let mut last = None;
    for field in field.message()? {
        let (found, inner) = field?;
        if found == number {
            last = Some(inner);
        }
    }
    Ok(last)
}
