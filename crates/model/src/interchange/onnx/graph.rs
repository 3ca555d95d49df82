//! The graph of an ONNX model: the position of the ensemble in it, and the nodes around it.
//!
//! A graph is a list of nodes that read and write named tensors. The relevant node is
//! `TreeEnsembleRegressor`; before it only nodes are allowed that pass numbers on unchanged
//! (`Identity`, `Cast` to float or double), after it also nodes that change only the shape
//! (`Reshape`, `Flatten`, `Squeeze`, `Unsqueeze`). Every other node is rejected by its name: it
//! could change scores. At most [`MOST_NODES`] nodes are read.

use super::NAME;
use super::wire::{Message, WireField, damaged};
use crate::error::ModelError;
use crate::interchange::common::MOST_FEATURES;

/// Maximum number of nodes of a graph.
const MOST_NODES: usize = 64;
/// Nodes that pass numbers on unchanged.
const SAME: [&str; 2] = ["Identity", "Cast"];
/// Nodes that pass numbers on in another shape.
const SHAPES: [&str; 4] = ["Reshape", "Flatten", "Squeeze", "Unsqueeze"];

/// The facts of a model outside its ensemble.
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

pub(super) fn refuse(what: impl Into<String>) -> ModelError {
    ModelError::Unsupported { format: NAME, what: what.into() }
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
            (25, _) => return Err(refuse("it has functions of its own")),
            _ => {}
        }
    }
    let graph = graph.ok_or_else(|| damaged("there is no graph"))?;
    let stops = stops(graph)?;
    let (input, output, ensemble) = path(&stops)?;
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
                name => return Err(refuse(format!("'{name}' is an output besides the scores"))),
            },
            _ => {}
        }
    }
    for field in Message::new(ensemble.body) {
        if let (5, field) = field? {
            match found.attributes.len() < MOST_NODES {
                true => found.attributes.push(field.message()?),
                false => return Err(refuse("the ensemble has too many attributes")),
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
fn stops(graph: &[u8]) -> Result<Vec<GraphNode<'_>>, ModelError> {
    let mut stops = Vec::new();
    for field in Message::new(graph) {
        let (1, field) = field? else { continue };
        let stop = stop(field.bytes()?)?;
        match (stop.domain, stop.op) {
            // Holds the shape for another node.
            ("" | "ai.onnx", "Constant") => continue,
            ("ai.onnx.ml", "TreeEnsembleRegressor") => {}
            ("" | "ai.onnx", op) if SAME.contains(&op) || SHAPES.contains(&op) => {}
            (domain, op) => {
                let dot = if domain.is_empty() { "" } else { "." };
                return Err(refuse(format!(
                    "the operator {domain}{dot}{op} is not known here (only TreeEnsembleRegressor \
                     with nodes around it that change no numbers)"
                )));
            }
        }
        if stops.len() == MOST_NODES {
            return Err(refuse(format!("more than {MOST_NODES} nodes")));
        }
        stops.push(stop);
    }
    Ok(stops)
}

fn stop(body: &[u8]) -> Result<GraphNode<'_>, ModelError> {
    let mut stop = GraphNode { body, ..GraphNode::default() };
    let (mut inputs, mut outputs) = (0_usize, 0_usize);
    for field in Message::new(body) {
        match field? {
            // The second input of these nodes is a shape.
            (1, field) => {
                if inputs == 0 {
                    stop.input = field.text()?;
                }
                inputs += 1;
            }
            (2, field) => {
                stop.output = field.text()?;
                outputs += 1;
            }
            (4, field) => stop.op = field.text()?,
            (7, field) => stop.domain = field.text()?,
            _ => {}
        }
    }
    match outputs {
        1 => Ok(stop),
        _ => Err(refuse(format!("a node {} with {outputs} outputs", stop.op))),
    }
}

/// The path through the graph: the names of its input and its output, and the ensemble.
fn path<'a>(stops: &[GraphNode<'a>]) -> Result<(&'a str, &'a str, GraphNode<'a>), ModelError> {
    let mut ensembles = stops.iter().filter(|stop| stop.op == "TreeEnsembleRegressor");
    let ensemble = *ensembles.next().ok_or_else(|| refuse("it has no TreeEnsembleRegressor"))?;
    if ensembles.next().is_some() {
        return Err(refuse("it has more than one TreeEnsembleRegressor"));
    }
    let (mut input, mut output) = (ensemble.input, ensemble.output);
    let mut passed = 1;
    // A path that is longer than the graph is a cycle.
    for _ in stops {
        if let Some(stop) = stops.iter().find(|stop| stop.output == input) {
            if !SAME.contains(&stop.op) {
                return Err(refuse(format!("a node {} before the ensemble", stop.op)));
            }
            keeps_numbers(stop)?;
            (input, passed) = (stop.input, passed + 1);
        }
        let mut next = stops.iter().filter(|stop| stop.input == output);
        if let Some(stop) = next.next() {
            keeps_numbers(stop)?;
            (output, passed) = (stop.output, passed + 1);
        }
    }
    match passed == stops.len() {
        true => Ok((input, output, ensemble)),
        false => Err(refuse("nodes that do not stand in one line with the ensemble")),
    }
}

/// A cast must be to float or double.
fn keeps_numbers(stop: &GraphNode<'_>) -> Result<(), ModelError> {
    if stop.op != "Cast" {
        return Ok(());
    }
    for field in Message::new(stop.body) {
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
            ("to", other) => return Err(refuse(format!("a Cast to type {other}"))),
            _ => {}
        }
    }
    Err(refuse("a Cast that does not say to what"))
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
        Some(columns) if columns > MOST_FEATURES => {
            Err(refuse(format!("an input of {columns} columns (at most {MOST_FEATURES})")))
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
