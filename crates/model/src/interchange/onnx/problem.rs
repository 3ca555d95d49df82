//! The problems of ONNX files, and the parts of graphs that are not supported.

use rankwright_spec::words::counted;
use thiserror::Error;

/// The problem with a protocol buffer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProtobufProblem {
    /// The bytes end too early.
    #[error("it is cut off")]
    CutOff,
    /// A field that is longer than the remaining bytes.
    #[error("a field is longer than the rest of the file")]
    FieldTooLong,
    /// A field of an unknown wire type.
    #[error("a field has the wire type {wire_type}")]
    WireType {
        /// The wire type.
        wire_type: u64,
    },
    /// A field with the number 0.
    #[error("a field has the number 0")]
    FieldNumber,
    /// A field whose content is of another kind than expected.
    #[error("a field is not {expected}")]
    WrongField {
        /// The content that was expected: "a whole number".
        expected: &'static str,
    },
    /// Text that is not UTF-8.
    #[error("a text is not UTF-8")]
    NotUtf8,
    /// Packed numbers whose bytes do not divide evenly.
    #[error("packed numbers end within a number")]
    PackedLength,
    /// A whole number of more than 64 bits.
    #[error("a whole number has more than 10 bytes")]
    LongNumber,
    /// No graph.
    #[error("there is no graph")]
    NoGraph,
    /// An attribute without a value.
    #[error("the attribute '{name}' has no value")]
    NoValue {
        /// The name of the attribute.
        name: String,
    },
    /// An attribute with more numbers than nodes can have.
    #[error("{name} has more numbers than the file can have nodes")]
    TooManyNumbers {
        /// The attribute.
        name: String,
    },
}

/// `type 6`, or `an unknown type`.
fn type_in_words(found: Option<i64>) -> String {
    found.map_or_else(|| "an unknown type".to_owned(), |found| format!("type {found}"))
}

/// A part of a graph that is not supported, because it could change scores.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum UnsupportedGraph {
    /// Functions that the file defines itself.
    #[error("the file defines functions of its own")]
    OwnFunctions,
    /// An operator that is not known.
    #[error(
        "the operator {operator} is not known; expected TreeEnsembleRegressor, and operators \
         around it that do not change numbers"
    )]
    Operator {
        /// The operator with its domain.
        operator: String,
    },
    /// A model of ours that is not trees alone, which is written for other systems only.
    #[error(
        "this is a model of Rankwright's kind '{kind}', which is written for other systems and not \
         read back; expected trees alone"
    )]
    WrittenOnly {
        /// The kind of the model that was written.
        kind: String,
    },
    /// No ensemble of trees.
    #[error("there is no TreeEnsembleRegressor")]
    NoEnsemble,
    /// Several ensembles of trees.
    #[error("there is more than one TreeEnsembleRegressor")]
    SeveralEnsembles,
    /// An operator that may only come after the ensemble.
    #[error("the operator {operator} comes before the trees; expected Identity or Cast there")]
    BeforeEnsemble {
        /// The operator.
        operator: String,
    },
    /// Operators that do not form one path.
    #[error("the operators do not form one path through the trees")]
    NoSinglePath,
    /// An operator with no output, or with several.
    #[error("the operator {operator} has {}; expected one", counted(*.outputs, "output"))]
    OperatorOutputs {
        /// The operator.
        operator: String,
        /// Number of its outputs.
        outputs: usize,
    },
    /// An output besides the scores.
    #[error("there is the output '{name}' besides the scores")]
    ExtraOutput {
        /// The name of the output.
        name: String,
    },
    /// A cast to another type than a float.
    #[error("a Cast to {}; expected float (1) or double (11)", type_in_words(*.found))]
    Cast {
        /// The number of the type; `None` if the file does not have it.
        found: Option<i64>,
    },
    /// An input of too many columns.
    #[error("an input of {columns} columns; expected at most {most}")]
    TooManyColumns {
        /// Number of columns.
        columns: usize,
        /// Maximum number.
        most: usize,
    },
    /// An attribute of the ensemble that is not known.
    #[error("the attribute '{name}' is not known")]
    Attribute {
        /// The attribute.
        name: String,
    },
    /// An attribute of the ensemble with a value that is not supported.
    #[error("{attribute} is '{found}'; expected {expected}")]
    AttributeValue {
        /// The attribute.
        attribute: &'static str,
        /// Its value.
        found: String,
        /// The values that are supported.
        expected: &'static str,
    },
    /// Weights for more than one target.
    #[error("there are weights for more than one target")]
    SeveralTargets,
    /// More than one base value.
    #[error("there is more than one base value")]
    SeveralBaseValues,
    /// Two weights for one leaf.
    #[error("there are two weights for node {node} of tree {tree}")]
    SeveralWeights {
        /// The id of the tree in the file.
        tree: u32,
        /// The id of the node in its tree.
        node: u32,
    },
    /// A mode of a node that is not known.
    #[error("node number {node} has the mode '{mode}'")]
    NodeMode {
        /// The index of the node among all nodes, from 0.
        node: usize,
        /// The mode.
        mode: String,
    },
    /// A node that tests for values below every number.
    #[error("a node tests for values below -inf")]
    BelowEveryNumber,
    /// A tensor of another type than float or double.
    #[error("a tensor of type {found}; expected float (1) or double (11)")]
    TensorType {
        /// The number of the type.
        found: i64,
    },
    /// A tensor whose numbers are in another file.
    #[error("the numbers of a tensor are in another file")]
    ExternalTensor,
}
