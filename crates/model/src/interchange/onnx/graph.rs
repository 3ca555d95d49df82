//! The graph of an ONNX model: the position of the ensemble in it, and the nodes around it.
//!
//! A graph is a list of nodes that read and write named tensors. The relevant node is
//! `TreeEnsembleRegressor`; before it only nodes are allowed that pass numbers on unchanged
//! (`Identity`, `Cast` to float or double), after it also nodes that change only the shape
//! (`Reshape`, `Flatten`, `Squeeze`, `Unsqueeze`). Every other node is rejected by its name: it
//! could change scores. At most [`MAX_NODES`] nodes are read.

use super::wire::{Message, WireField, invalid};
use super::{NAME, ProtobufProblem, UnsupportedGraph};
use crate::error::ModelError;
use crate::interchange::UnsupportedFeature;
use crate::interchange::common::MAX_FEATURES;

/// Maximum number of nodes of a graph.
const MAX_NODES: usize = 64;
/// Nodes that pass numbers on unchanged.
const UNCHANGED: [&str; 2] = ["Identity", "Cast"];
/// Nodes that pass numbers on in another shape.
const RESHAPED: [&str; 4] = ["Reshape", "Flatten", "Squeeze", "Unsqueeze"];

/// The parts of a model outside its ensemble.
#[derive(Debug, Default)]
pub(super) struct Outline<'a> {
    /// Program and version that wrote it.
    pub(super) producer: String,
    /// Attributes of the ensemble.
    pub(super) attributes: Vec<Message<'a>>,
    /// Number of columns of the input, if its shape has it.
    pub(super) columns: Option<usize>,
    /// Feature names as JSON, if this crate wrote the model.
    pub(super) names: Option<&'a str>,
}

/// The parts of a node that the path through the graph needs.
#[derive(Debug, Clone, Copy, Default)]
struct GraphNode<'a> {
    op: &'a str,
    domain: &'a str,
    input: &'a str,
    output: &'a str,
    body: &'a [u8],
}

pub(super) fn unsupported(part: UnsupportedGraph) -> ModelError {
    ModelError::unsupported(NAME, UnsupportedFeature::Graph(part))
}

/// More items than are read.
pub(super) fn too_many(items: &'static str, most: usize) -> ModelError {
    ModelError::unsupported(NAME, UnsupportedFeature::TooMany { items, most })
}

/// Finds the ensemble of a model.
pub(super) fn outline(bytes: &[u8]) -> Result<Outline<'_>, ModelError> {
    let mut found = Outline::default();
    let mut graph = None;
    for field in Message::new(bytes) {
        match field? {
            (2, field) => found.producer = field.text()?.to_owned(),
            (3, field) => found.producer = format!("{} {}", found.producer, field.text()?),
            (7, field) => graph = Some(field.bytes()?),
            (14, field) => {
                if let (super::FEATURES, names) = entry(field)? {
                    found.names = Some(names);
                }
            }
            (25, _) => return Err(unsupported(UnsupportedGraph::OwnFunctions)),
            _ => {}
        }
    }
    let graph = graph.ok_or_else(|| invalid(ProtobufProblem::NoGraph))?;
    let nodes = nodes(graph)?;
    let (input, output, ensemble) = path(&nodes)?;
    for field in Message::new(graph) {
        match field? {
            (11, field) => {
                let (name, columns) = tensor(field)?;
                if name == input {
                    found.columns = columns;
                }
            }
            (12, field) => match tensor(field)?.0 {
                name if name == output => {}
                name => {
                    let name = name.to_owned();
                    return Err(unsupported(UnsupportedGraph::ExtraOutput { name }));
                }
            },
            _ => {}
        }
    }
    for field in Message::new(ensemble.body) {
        if let (5, field) = field? {
            match found.attributes.len() < MAX_NODES {
                true => found.attributes.push(field.message()?),
                false => return Err(too_many("attributes of the ensemble", MAX_NODES)),
            }
        }
    }
    Ok(found)
}

/// Key and value of an entry.
fn entry(field: WireField<'_>) -> Result<(&str, &str), ModelError> {
    let mut found = ("", "");
    for field in field.message()? {
        match field? {
            (1, field) => found.0 = field.text()?,
            (2, field) => found.1 = field.text()?,
            _ => {}
        }
    }
    Ok(found)
}

/// The nodes of a graph; unknown ones are rejected.
fn nodes(graph: &[u8]) -> Result<Vec<GraphNode<'_>>, ModelError> {
    let mut nodes = Vec::new();
    for field in Message::new(graph) {
        let (1, field) = field? else { continue };
        let node = node(field.bytes()?)?;
        match (node.domain, node.op) {
            // Holds the shape for another node.
            ("" | "ai.onnx", "Constant") => continue,
            ("ai.onnx.ml", "TreeEnsembleRegressor") => {}
            ("" | "ai.onnx", op) if UNCHANGED.contains(&op) || RESHAPED.contains(&op) => {}
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

fn node(body: &[u8]) -> Result<GraphNode<'_>, ModelError> {
    let mut node = GraphNode { body, ..GraphNode::default() };
    let (mut inputs, mut outputs) = (0_usize, 0_usize);
    for field in Message::new(body) {
        match field? {
            // The second input of these nodes is a shape.
            (1, field) => {
                if inputs == 0 {
                    node.input = field.text()?;
                }
                inputs += 1;
            }
            (2, field) => {
                node.output = field.text()?;
                outputs += 1;
            }
            (4, field) => node.op = field.text()?,
            (7, field) => node.domain = field.text()?,
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

/// The path through the graph: the names of its input and its output, and the ensemble.
fn path<'a>(nodes: &[GraphNode<'a>]) -> Result<(&'a str, &'a str, GraphNode<'a>), ModelError> {
    let mut ensembles = nodes.iter().filter(|node| node.op == "TreeEnsembleRegressor");
    let ensemble = *ensembles.next().ok_or_else(|| unsupported(UnsupportedGraph::NoEnsemble))?;
    if ensembles.next().is_some() {
        return Err(unsupported(UnsupportedGraph::SeveralEnsembles));
    }
    let (mut input, mut output) = (ensemble.input, ensemble.output);
    let mut passed = 1;
    // A path that is longer than the graph is a cycle.
    for _ in nodes {
        if let Some(node) = nodes.iter().find(|node| node.output == input) {
            if !UNCHANGED.contains(&node.op) {
                let operator = node.op.to_owned();
                return Err(unsupported(UnsupportedGraph::BeforeEnsemble { operator }));
            }
            keeps_numbers(node)?;
            (input, passed) = (node.input, passed + 1);
        }
        let mut next = nodes.iter().filter(|node| node.input == output);
        if let Some(node) = next.next() {
            keeps_numbers(node)?;
            (output, passed) = (node.output, passed + 1);
        }
    }
    match passed == nodes.len() {
        true => Ok((input, output, ensemble)),
        false => Err(unsupported(UnsupportedGraph::NoSinglePath)),
    }
}

/// A cast must be to float or double.
fn keeps_numbers(node: &GraphNode<'_>) -> Result<(), ModelError> {
    if node.op != "Cast" {
        return Ok(());
    }
    for field in Message::new(node.body) {
        let (5, field) = field? else { continue };
        let (mut name, mut to) = ("", 0);
        for field in field.message()? {
            match field? {
                (1, field) => name = field.text()?,
                (3, field) => to = field.int()?,
                _ => {}
            }
        }
        match (name, to) {
            ("to", 1 | 11) => return Ok(()),
            ("to", other) => {
                return Err(unsupported(UnsupportedGraph::Cast { found: Some(other) }));
            }
            _ => {}
        }
    }
    Err(unsupported(UnsupportedGraph::Cast { found: None }))
}

/// Name of a tensor, and the number of its columns if it has two dimensions of known size.
fn tensor(field: WireField<'_>) -> Result<(&str, Option<usize>), ModelError> {
    let (mut name, mut dimensions, mut columns) = ("", 0, None);
    for field in field.message()? {
        match field? {
            (1, field) => name = field.text()?,
            (2, field) => {
                // Type, tensor type, shape, dimensions.
                let shape = inner(field, 1)?.map(|field| inner(field, 2)).transpose()?.flatten();
                for dimension in shape.map_or(Ok(Message::new(&[])), WireField::message)? {
                    if let (1, field) = dimension? {
                        dimensions += 1;
                        columns = inner(field, 1)?.map(WireField::int).transpose()?;
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

/// The last field with this number in a message.
fn inner(field: WireField<'_>, number: u64) -> Result<Option<WireField<'_>>, ModelError> {
    let mut found = None;
    for field in field.message()? {
        let field = field?;
        if field.0 == number {
            found = Some(field.1);
        }
    }
    Ok(found)
}
