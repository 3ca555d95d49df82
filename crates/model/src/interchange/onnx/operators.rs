//! A graph of standard operators under construction: nodes, constants, and the names of the tensors
//! between them.
//!
//! Numbers are doubles, so that only the result is rounded to f32. Every operator used here exists
//! since version 13 of the standard set with these types, and onnxruntime runs it.

use super::fields::{
    attribute, attribute_type, data_type, graph as graph_fields, node as node_fields, tensor,
};
use super::wire::WireWriter;

/// The name of a tensor of a graph: of an input, a constant or the output of a node.
#[derive(Debug, Clone)]
pub(super) struct TensorName(String);

impl TensorName {
    /// The tensor of this name.
    pub(super) fn new(name: &str) -> TensorName {
        TensorName(name.to_owned())
    }

    /// The name as it is written.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The nodes and constants of a graph.
#[derive(Debug, Default)]
pub(super) struct OperatorGraph {
    /// The protocol buffer of the graph.
    message: WireWriter,
    /// Number of tensors that were named.
    tensors: usize,
}

impl OperatorGraph {
    /// The protocol buffer of the graph, which has no inputs and outputs yet.
    pub(super) fn into_message(self) -> WireWriter {
        self.message
    }

    /// A tensor under a name of its own.
    pub(super) fn new_tensor(&mut self) -> TensorName {
        self.tensors += 1;
        TensorName(format!("t{}", self.tensors))
    }

    /// Adds a node whose protocol buffer is complete.
    pub(super) fn add_node(&mut self, node: &WireWriter) {
        self.message.message(graph_fields::NODE, node);
    }

    /// Adds a node, and returns its output.
    pub(super) fn apply(&mut self, operator: &str, inputs: &[&TensorName]) -> TensorName {
        let output = self.new_tensor();
        self.apply_to(operator, inputs, &output, &[]);
        output
    }

    /// Adds a node with attributes that are lists of whole numbers or one whole number.
    pub(super) fn apply_with(
        &mut self,
        operator: &str,
        inputs: &[&TensorName],
        attributes: &[OperatorAttribute],
    ) -> TensorName {
        let output = self.new_tensor();
        self.apply_to(operator, inputs, &output, attributes);
        output
    }

    /// Adds a node with a given output.
    pub(super) fn apply_to(
        &mut self,
        operator: &str,
        inputs: &[&TensorName],
        output: &TensorName,
        attributes: &[OperatorAttribute],
    ) {
        let mut node = WireWriter::default();
        for input in inputs {
            node.text(node_fields::INPUT, &input.0);
        }
        node.text(node_fields::OUTPUT, &output.0).text(node_fields::OP_TYPE, operator);
        for added in attributes {
            let mut message = WireWriter::default();
            match added {
                OperatorAttribute::Int(name, value) => message
                    .text(attribute::NAME, name)
                    .int(attribute::INT, *value)
                    .int(attribute::TYPE, attribute_type::INT),
                OperatorAttribute::Ints(name, value) => message
                    .text(attribute::NAME, name)
                    .int(attribute::INTS, *value)
                    .int(attribute::TYPE, attribute_type::INTS),
            };
            node.message(node_fields::ATTRIBUTE, &message);
        }
        self.add_node(&node);
    }

    /// The tensor converted to doubles.
    pub(super) fn cast_to_doubles(&mut self, tensor: &TensorName) -> TensorName {
        self.apply_with("Cast", &[tensor], &[OperatorAttribute::Int("to", data_type::DOUBLE)])
    }

    /// A constant of doubles; `shape` has the size of each dimension, and is empty for one number.
    pub(super) fn doubles(&mut self, shape: &[usize], values: &[f64]) -> TensorName {
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(data_type::DOUBLE, shape, &raw)
    }

    /// A constant of f32 numbers.
    pub(super) fn floats(&mut self, shape: &[usize], values: &[f32]) -> TensorName {
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(data_type::FLOAT, shape, &raw)
    }

    /// A constant list of whole numbers.
    pub(super) fn ints(&mut self, values: &[i64]) -> TensorName {
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(data_type::INT64, &[values.len()], &raw)
    }

    /// A constant of one row of truth values.
    pub(super) fn flags(&mut self, values: &[bool]) -> TensorName {
        let raw: Vec<u8> = values.iter().map(|value| u8::from(*value)).collect();
        self.constant(data_type::BOOL, &[1, values.len()], &raw)
    }

    fn constant(&mut self, kind: i64, shape: &[usize], raw: &[u8]) -> TensorName {
        let name = self.new_tensor();
        let mut constant = WireWriter::default();
        for &size in shape {
            constant.int(tensor::DIMS, size as i64);
        }
        constant.int(tensor::DATA_TYPE, kind).text(tensor::NAME, &name.0);
        constant.bytes(tensor::RAW_DATA, raw);
        self.message.message(graph_fields::INITIALIZER, &constant);
        name
    }
}

/// An attribute of an operator, with its name.
#[derive(Debug, Clone, Copy)]
pub(super) enum OperatorAttribute {
    /// A whole number.
    Int(&'static str, i64),
    /// A list of one whole number.
    Ints(&'static str, i64),
}
