//! The problems of files in the formats of other systems, and their messages.

use rankwright_spec::words::counted;
use thiserror::Error;

use super::onnx::ProtobufProblem;
use crate::error::ModelError;

/// The problem with a file that does not follow its format.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileProblem {
    /// Text that is not UTF-8.
    #[error("byte {byte} is not UTF-8; expected text")]
    NotUtf8 {
        /// The first such byte, from 0.
        byte: usize,
    },
    /// A file that the reader of its syntax rejects: JSON, UBJSON, XML.
    #[error("{message}; expected {expected}")]
    Syntax {
        /// The message of the reader, with the position.
        message: String,
        /// The content that was expected.
        expected: &'static str,
    },
    /// A problem with a binary file in the form of protocol buffers.
    #[error("{0}; expected a whole protocol buffer")]
    Protobuf(ProtobufProblem),
    /// A file that ends too early.
    #[error("the file ends too early; expected {expected}")]
    CutOff {
        /// The part that should follow.
        expected: &'static str,
    },
    /// A value that is not allowed.
    #[error("{}{name} is '{found}'; expected {expected}", at_line(.line))]
    BadValue {
        /// The name of the value in the file.
        name: &'static str,
        /// The line, from 1, if it is known.
        line: Option<usize>,
        /// The beginning of the value.
        found: String,
        /// The values that are allowed.
        expected: &'static str,
    },
    /// A line after too many others.
    #[error("line {line} is not allowed: there are {most} lines before it; expected {expected}")]
    TooManyLines {
        /// The line, from 1.
        line: usize,
        /// Maximum number of lines.
        most: usize,
        /// The content that should have come before this line.
        expected: &'static str,
    },
    /// A list with too few or too many entries.
    #[error("{list} has {}; expected {expected}, {rule}", counted(*.found, "entry"))]
    ListLength {
        /// The name of the list in the file.
        list: &'static str,
        /// Number of its entries.
        found: usize,
        /// The expected number.
        expected: usize,
        /// The rule behind that number: "one for each feature".
        rule: &'static str,
    },
    /// A list with fewer numbers than the tree has splits or leaves.
    #[error("{list} is too short; expected as many numbers as num_leaves requires")]
    ListTooShort {
        /// The name of the list in the file, or the names of several.
        list: &'static str,
    },
    /// A list with more numbers than the tree has splits or leaves.
    #[error("{list} is too long; expected as many numbers as num_leaves requires")]
    ListTooLong {
        /// The name of the list in the file.
        list: &'static str,
    },
    /// An item with another number than its position in the file.
    #[error("{item} {found} where {item} {expected} should be")]
    OutOfOrder {
        /// The kind of item: `float feature`.
        item: &'static str,
        /// The number in the file.
        found: usize,
        /// The number by its position.
        expected: usize,
    },
    /// A reference to an item that does not exist.
    #[error("a split tests {item} {number}; expected numbers below {count}")]
    NoSuchItem {
        /// The kind of item: `float feature`.
        item: &'static str,
        /// The number in the file.
        number: u32,
        /// Number of items that exist.
        count: usize,
    },
    /// A split whose border is not the one that the list of borders has.
    #[error(
        "a split of float feature {feature} has the border {border}, but {}",
        listed_border(.listed)
    )]
    InconsistentBorder {
        /// The number of the float feature.
        feature: u32,
        /// The border of the split.
        border: f64,
        /// The border at the split's index in the lists; `None` if the split has no index, or one
        /// beyond the lists.
        listed: Option<f32>,
    },
    /// A problem with the nodes of a tree.
    #[error(transparent)]
    Node(NodeProblem),
    /// A feature without a weight.
    #[error("there is no weight for feature '{feature}'; expected one for each")]
    NoWeight {
        /// The name of the feature.
        feature: String,
    },
    /// Two weights for one feature.
    #[error("two weights for feature {feature}; expected one for each")]
    DuplicateWeight {
        /// The id of the feature.
        feature: String,
    },
    /// Text or a tag of XML that is not allowed in its place.
    #[error("{found}; expected {expected}")]
    Unexpected {
        /// The text or tag.
        found: String,
        /// The content that is allowed.
        expected: &'static str,
    },
    /// A problem at a position of the file.
    #[error("{problem} (before byte {byte})")]
    BeforeByte {
        /// The position after the problem.
        byte: u64,
        /// The problem.
        problem: Box<FileProblem>,
    },
    /// Parts that are read, but do not make a tree or a model.
    #[error(transparent)]
    Model(Box<ModelError>),
}

/// The clause of a message about the border that the list of borders has.
fn listed_border(listed: &Option<f32>) -> String {
    match listed {
        Some(border) => format!("its index is that of another split, with the border {border}"),
        None => "the list of borders does not have it".to_owned(),
    }
}

/// `line 3: ` as the start of a message; nothing without a line.
fn at_line(line: &Option<usize>) -> String {
    line.map(|line| format!("line {line}: ")).unwrap_or_default()
}

/// The first 40 characters of a text, for a message.
pub(super) fn excerpt(text: &str) -> String {
    text.trim().chars().take(40).collect()
}

/// The problem with nodes that do not make a tree.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NodeProblem {
    /// A node that is no split and no leaf.
    #[error("a node is neither a split nor a leaf")]
    NeitherSplitNorLeaf,
    /// A leaf with children.
    #[error("a leaf has children")]
    LeafWithChildren,
    /// A split without a threshold.
    #[error("a split has no threshold")]
    NoThreshold,
    /// A split without a left or a right child.
    #[error("a split has no left or no right child")]
    MissingChild,
    /// A threshold that is NaN or infinite.
    #[error("the threshold of node {node} is NaN or infinite; expected a finite number")]
    BadThreshold {
        /// The number of the node in the file.
        node: i32,
    },
    /// A split on categories that the file does not list.
    #[error("node {node} is a split on categories, and the file does not list them")]
    NoCategories {
        /// The node.
        node: i32,
    },
    /// A tree without nodes.
    #[error("a tree has no nodes")]
    EmptyTree,
    /// A tree with no root, or with several.
    #[error("the tree has no single root; expected one node that is no child")]
    NoSingleRoot,
    /// Nodes that cannot be reached from the root.
    #[error("some nodes cannot be reached from the root")]
    Unreachable,
    /// A child that does not exist in the tree.
    #[error("a split leads to node {node}; expected a node of the same tree")]
    NoSuchNode {
        /// The number of the child in the file.
        node: i64,
    },
    /// A node that is reached by two paths, or by a cycle.
    #[error("two paths lead to node {node}, or the nodes form a cycle; expected one path to each")]
    ReachedTwice {
        /// The node.
        node: i64,
    },
    /// Two nodes of the same number.
    #[error("two nodes of tree {tree} have the number {node}; expected different numbers")]
    DuplicateNode {
        /// The tree in the file.
        tree: u32,
        /// The number.
        node: u32,
    },
    /// A weight for a node that is no leaf.
    #[error("a weight for node {node} of tree {tree}; expected weights for leaves that exist")]
    NoSuchLeaf {
        /// The tree in the file.
        tree: u32,
        /// The node.
        node: u32,
    },
}
