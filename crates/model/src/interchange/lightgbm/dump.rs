//! Reads LightGBM's JSON: the result of `dump_model`, with nested nodes.
//!
//! Nodes are added to lists as they are read, children before parents; at the end the list of
//! splits is reversed and renumbered, so that parents come first. serde_json stops at 128 levels,
//! which bounds the recursion.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::parts::{FileHead, MissingValues, ReadNames, finite_gain, numeric_condition};
use super::{NAME, invalid, unsupported};
use crate::categories::Categories;
use crate::error::ModelError;
use crate::interchange::common::in_tree;
use crate::interchange::{FileProblem, UnsupportedPart};
use crate::model::Model;
use crate::tree::{Child, Leaf, Side, Split, SplitCondition, Tree};

/// Bytes that sets of categories may use in addition to half the file's size: a single category
/// with a large number makes a large set.
const EXTRA_SET_BYTES: usize = 4 << 20;

/// The parts of the file that are read.
#[derive(Deserialize)]
struct DumpFile {
    version: String,
    num_class: u64,
    num_tree_per_iteration: u64,
    max_feature_idx: i64,
    #[serde(default)]
    objective: String,
    #[serde(default)]
    average_output: bool,
    #[serde(default)]
    feature_names: ReadNames,
    tree_info: DumpedTrees,
}

/// Reads the JSON of a model.
pub(super) fn read(bytes: &[u8]) -> Result<Model, ModelError> {
    let dump: DumpFile = serde_json::from_slice(bytes).map_err(|error| {
        let message = error.to_string();
        let expected = match message.contains("recursion limit") {
            true => "trees of less depth, or the model saved as text",
            false => "the JSON of dump_model",
        };
        invalid(FileProblem::Syntax { message, expected })
    })?;
    let head = FileHead {
        version: dump.version,
        classes: dump.num_class,
        trees_per_iteration: dump.num_tree_per_iteration,
        last_feature: dump.max_feature_idx,
        objective: dump.objective,
        average: dump.average_output,
        names: dump.feature_names,
    };
    head.check()?;
    let mut set_bytes_left = EXTRA_SET_BYTES + bytes.len() / 2;
    let mut trees = Vec::with_capacity(dump.tree_info.0.len());
    for (number, nodes) in dump.tree_info.0.into_iter().enumerate() {
        let tree = nodes.into_tree(&mut set_bytes_left);
        trees.push(tree.map_err(|error| in_tree(NAME, number, error))?);
    }
    head.into_model(trees)
}

impl<'de> Deserialize<'de> for ReadNames {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<ReadNames, D::Error> {
        struct NamesVisitor;
        impl<'de> Visitor<'de> for NamesVisitor {
            type Value = ReadNames;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("feature names")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ReadNames, A::Error> {
                let mut names = ReadNames::default();
                while let Some(name) = list.next_element::<String>()? {
                    names.push(&name).map_err(A::Error::custom)?;
                }
                Ok(names)
            }
        }
        from.deserialize_seq(NamesVisitor)
    }
}

/// The nodes of each tree. The list grows by quarters: most of the memory of a small tree is its
/// entry in this list, so that doubling would waste much.
struct DumpedTrees(Vec<DumpedNodes>);

impl<'de> Deserialize<'de> for DumpedTrees {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<DumpedTrees, D::Error> {
        struct TreesVisitor;
        impl<'de> Visitor<'de> for TreesVisitor {
            type Value = DumpedTrees;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a list of trees")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<DumpedTrees, A::Error> {
                let mut trees = Vec::new();
                while let Some(tree) = list.next_element::<TreeInfo>()? {
                    if trees.len() == trees.capacity() {
                        trees.reserve_exact(trees.len() / 4 + 16);
                    }
                    trees.push(tree.tree_structure);
                }
                Ok(DumpedTrees(trees))
            }
        }
        from.deserialize_seq(TreesVisitor)
    }
}

/// The entry of a tree.
#[derive(Deserialize)]
struct TreeInfo {
    /// Every dump has this key and the next two. They are required, so that a tree takes some space
    /// in the file too: a file of many tiny trees would need much more memory than its size.
    #[serde(rename = "num_leaves")]
    _num_leaves: u64,
    #[serde(rename = "num_cat")]
    _num_cat: u64,
    #[serde(rename = "shrinkage")]
    _shrinkage: f64,
    tree_structure: DumpedNodes,
}

/// The nodes of a tree; splits in the order in which they end in the file.
#[derive(Default)]
struct DumpedNodes {
    splits: Vec<Split>,
    leaves: Vec<Leaf>,
    /// The categories of each set.
    sets: Vec<Vec<u32>>,
    /// Whether the leaves are linear models, not numbers.
    is_linear: bool,
}

impl DumpedNodes {
    /// Makes the tree; `set_bytes_left` is the memory that further sets may use.
    fn into_tree(mut self, set_bytes_left: &mut usize) -> Result<Tree, ModelError> {
        if self.is_linear {
            return Err(unsupported(UnsupportedPart::LinearLeaves));
        }
        let last = (self.splits.len() as u32).wrapping_sub(1);
        let renumbered = |child| match child {
            Child::Split(number) => Child::Split(last.wrapping_sub(number)),
            leaf => leaf,
        };
        self.splits.reverse();
        for split in &mut self.splits {
            (split.left, split.right) = (renumbered(split.left), renumbered(split.right));
        }
        let mut sets = Vec::with_capacity(self.sets.len());
        for ids in self.sets {
            let bytes = ids.iter().max().map_or(0, |&id| id as usize / 8);
            *set_bytes_left = set_bytes_left
                .checked_sub(bytes)
                .ok_or_else(|| unsupported(UnsupportedPart::LargeCategories))?;
            sets.push(Categories::new(ids)?);
        }
        Tree::with_sets(self.splits, self.leaves, sets)
    }
}

impl<'de> Deserialize<'de> for DumpedNodes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<DumpedNodes, D::Error> {
        let mut nodes = DumpedNodes::default();
        NodeSeed(&mut nodes).deserialize(from)?;
        nodes.splits.shrink_to_fit();
        nodes.leaves.shrink_to_fit();
        Ok(nodes)
    }
}

/// Reads a node and those under it into the lists of their tree.
struct NodeSeed<'a>(&'a mut DumpedNodes);

/// The keys of a node.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum NodeField {
    SplitFeature,
    SplitGain,
    Threshold,
    DecisionType,
    DefaultLeft,
    MissingType,
    InternalCount,
    LeftChild,
    RightChild,
    LeafValue,
    LeafCount,
    LeafCoeff,
    #[serde(other)]
    Other,
}

/// The values of a node's keys; a node with `value` is a leaf.
#[derive(Default)]
struct NodeValues {
    feature: Option<u32>,
    gain: f64,
    threshold: Option<Threshold>,
    decision: Option<DecisionType>,
    default_left: bool,
    missing: Option<MissingType>,
    rows: u64,
    left: Option<Child>,
    right: Option<Child>,
    value: Option<f64>,
}

/// The values of `missing_type`.
#[derive(Deserialize, Clone, Copy)]
enum MissingType {
    None,
    Zero,
    NaN,
}

/// The values of `decision_type`.
#[derive(Deserialize, PartialEq)]
enum DecisionType {
    #[serde(rename = "<=")]
    AtMost,
    #[serde(rename = "==")]
    In,
}

impl<'de> DeserializeSeed<'de> for NodeSeed<'_> {
    type Value = Child;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Child, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for NodeSeed<'_> {
    type Value = Child;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a split or a leaf")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Child, A::Error> {
        let mut node = NodeValues::default();
        while let Some(field) = map.next_key::<NodeField>()? {
            match field {
                NodeField::SplitFeature => node.feature = Some(map.next_value()?),
                NodeField::SplitGain => node.gain = map.next_value()?,
                NodeField::Threshold => node.threshold = Some(map.next_value()?),
                NodeField::DecisionType => node.decision = Some(map.next_value()?),
                NodeField::DefaultLeft => node.default_left = map.next_value()?,
                NodeField::MissingType => node.missing = Some(map.next_value()?),
                NodeField::InternalCount | NodeField::LeafCount => node.rows = map.next_value()?,
                NodeField::LeftChild => {
                    node.left = Some(map.next_value_seed(NodeSeed(&mut *self.0))?)
                }
                NodeField::RightChild => {
                    node.right = Some(map.next_value_seed(NodeSeed(&mut *self.0))?)
                }
                NodeField::LeafValue => node.value = Some(map.next_value()?),
                NodeField::LeafCoeff => {
                    self.0.is_linear = true;
                    map.next_value::<IgnoredAny>()?;
                }
                NodeField::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        node.add_to(self.0).map_err(A::Error::custom)
    }
}

impl NodeValues {
    /// Adds the node to the lists of its tree; returns it as a child of its parent.
    fn add_to(self, nodes: &mut DumpedNodes) -> Result<Child, String> {
        let too_many = |_| "too many nodes".to_owned();
        if let Some(value) = self.value {
            nodes.leaves.push(Leaf { value, rows: self.rows });
            return Ok(Child::Leaf(u32::try_from(nodes.leaves.len() - 1).map_err(too_many)?));
        }
        let need = |key: &str| format!("a node without leaf_value has no {key}");
        let (rule, missing) = match (self.decision, self.threshold) {
            (Some(DecisionType::AtMost), Some(Threshold::Number(threshold))) => {
                let missing = match self.missing.ok_or_else(|| need("missing_type"))? {
                    MissingType::None => MissingValues::None,
                    MissingType::Zero => MissingValues::Zero,
                    MissingType::NaN => MissingValues::NaN,
                };
                numeric_condition(threshold, missing, self.default_left)
            }
            (Some(DecisionType::In), Some(Threshold::Categories(ids))) => {
                nodes.sets.push(ids);
                (
                    SplitCondition::In(u32::try_from(nodes.sets.len() - 1).map_err(too_many)?),
                    Side::Right,
                )
            }
            _ => return Err(need("decision_type '<=' or '==' and a threshold that fits it")),
        };
        nodes.splits.push(Split {
            feature: self.feature.ok_or_else(|| need("split_feature"))?,
            rule,
            missing,
            left: self.left.ok_or_else(|| need("left_child"))?,
            right: self.right.ok_or_else(|| need("right_child"))?,
            gain: finite_gain(self.gain),
            rows: self.rows,
        });
        Ok(Child::Split(u32::try_from(nodes.splits.len() - 1).map_err(too_many)?))
    }
}

/// A threshold, or the categories that go left, such as `0||3||6`.
enum Threshold {
    Number(f64),
    Categories(Vec<u32>),
}

impl<'de> Deserialize<'de> for Threshold {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Threshold, D::Error> {
        struct ThresholdVisitor;
        impl Visitor<'_> for ThresholdVisitor {
            type Value = Threshold;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number or categories such as \"0||3||6\"")
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<Threshold, E> {
                Ok(Threshold::Number(number))
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Threshold, E> {
                Ok(Threshold::Number(number as f64))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Threshold, E> {
                Ok(Threshold::Number(number as f64))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Threshold, E> {
                let ids = text.split("||").filter(|id| !id.is_empty()).map(str::parse);
                let ids = ids.collect::<Result<Vec<u32>, _>>();
                let ids = ids.map_err(|_| E::custom("categories are whole numbers"))?;
                Ok(Threshold::Categories(ids))
            }
        }
        from.deserialize_any(ThresholdVisitor)
    }
}
