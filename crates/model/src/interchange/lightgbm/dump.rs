//! Reads LightGBM's JSON: the result of `dump_model`, with nested nodes.
//!
//! Nodes are added to lists as they are read, children before parents, and numbered from the end,
//! so that parents come first. serde_json stops at 128 levels, which bounds the recursion.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::parts::{FileHead, MissingValues, ReadNames, finite, numeric};
use super::{NAME, invalid, unsupported};
use crate::categories::Categories;
use crate::error::ModelError;
use crate::interchange::common::in_tree;
use crate::interchange::{FileProblem, UnsupportedPart};
use crate::model::Model;
use crate::tree::{Child, Leaf, Side, Split, SplitCondition, Tree};

/// Memory that sets may use besides the file's size: a single large category makes a large set.
const SET_BYTES: usize = 4 << 20;

/// The parts of the file that are read.
#[derive(Deserialize)]
struct Dump {
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
    tree_info: TreeListVisitor,
}

pub(super) fn read(bytes: &[u8]) -> Result<Model, ModelError> {
    let dump: Dump = serde_json::from_slice(bytes).map_err(|error| {
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
    let mut room = SET_BYTES + bytes.len() / 2;
    let mut trees = Vec::with_capacity(dump.tree_info.0.len());
    for (number, parts) in dump.tree_info.0.into_iter().enumerate() {
        trees.push(parts.finish(&mut room).map_err(|error| in_tree(NAME, number, error))?);
    }
    head.finish(trees)
}

impl<'de> Deserialize<'de> for ReadNames {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<ReadNames, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
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
        from.deserialize_seq(List)
    }
}

/// The trees, in a list that grows by quarters: a small tree is mostly its list entry, so
/// that spare capacity is expensive.
struct TreeListVisitor(Vec<DumpedNodes>);

impl<'de> Deserialize<'de> for TreeListVisitor {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<TreeListVisitor, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = TreeListVisitor;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a list of trees")
            }
            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut list: A,
            ) -> Result<TreeListVisitor, A::Error> {
                let mut trees = Vec::new();
                while let Some(tree) = list.next_element::<Info>()? {
                    if trees.len() == trees.capacity() {
                        trees.reserve_exact(trees.len() / 4 + 16);
                    }
                    trees.push(tree.tree_structure);
                }
                Ok(TreeListVisitor(trees))
            }
        }
        from.deserialize_seq(List)
    }
}

/// One tree.
#[derive(Deserialize)]
struct Info {
    /// Every dump has these; they are required so that a tree in a file is not much smaller than in
    /// memory.
    #[serde(rename = "num_leaves")]
    _num_leaves: u64,
    #[serde(rename = "num_cat")]
    _num_cat: u64,
    #[serde(rename = "shrinkage")]
    _shrinkage: f64,
    tree_structure: DumpedNodes,
}

/// The nodes of a tree; splits in the order in which they end.
#[derive(Default)]
struct DumpedNodes {
    splits: Vec<Split>,
    leaves: Vec<Leaf>,
    /// Categories of each set.
    sets: Vec<Vec<u32>>,
    /// Whether a leaf has a linear model.
    is_linear: bool,
}

impl DumpedNodes {
    fn finish(mut self, room: &mut usize) -> Result<Tree, ModelError> {
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
            *room = room
                .checked_sub(bytes)
                .ok_or_else(|| unsupported(UnsupportedPart::LargeCategories))?;
            sets.push(Categories::new(ids)?);
        }
        Tree::with_sets(self.splits, self.leaves, sets)
    }
}

impl<'de> Deserialize<'de> for DumpedNodes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<DumpedNodes, D::Error> {
        let mut parts = DumpedNodes::default();
        NodeSeed(&mut parts).deserialize(from)?;
        parts.splits.shrink_to_fit();
        parts.leaves.shrink_to_fit();
        Ok(parts)
    }
}

/// A node, added to the lists of its tree.
struct NodeSeed<'a>(&'a mut DumpedNodes);

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

/// The keys of a node.
#[derive(Default)]
struct NodeKeys {
    feature: Option<u32>,
    gain: f64,
    threshold: Option<Threshold>,
    decision: Option<DecisionType>,
    default_left: bool,
    missing: Option<MissingName>,
    rows: u64,
    left: Option<Child>,
    right: Option<Child>,
    value: Option<f64>,
}

#[derive(Deserialize, Clone, Copy)]
enum MissingName {
    None,
    Zero,
    NaN,
}

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
        let mut keys = NodeKeys::default();
        while let Some(field) = map.next_key::<NodeField>()? {
            match field {
                NodeField::SplitFeature => keys.feature = Some(map.next_value()?),
                NodeField::SplitGain => keys.gain = map.next_value()?,
                NodeField::Threshold => keys.threshold = Some(map.next_value()?),
                NodeField::DecisionType => keys.decision = Some(map.next_value()?),
                NodeField::DefaultLeft => keys.default_left = map.next_value()?,
                NodeField::MissingType => keys.missing = Some(map.next_value()?),
                NodeField::InternalCount | NodeField::LeafCount => keys.rows = map.next_value()?,
                NodeField::LeftChild => {
                    keys.left = Some(map.next_value_seed(NodeSeed(&mut *self.0))?)
                }
                NodeField::RightChild => {
                    keys.right = Some(map.next_value_seed(NodeSeed(&mut *self.0))?)
                }
                NodeField::LeafValue => keys.value = Some(map.next_value()?),
                NodeField::LeafCoeff => {
                    self.0.is_linear = true;
                    map.next_value::<IgnoredAny>()?;
                }
                NodeField::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        keys.node(self.0).map_err(A::Error::custom)
    }
}

impl NodeKeys {
    fn node(self, parts: &mut DumpedNodes) -> Result<Child, String> {
        let too_many = |_| "too many nodes".to_owned();
        if let Some(value) = self.value {
            parts.leaves.push(Leaf { value, rows: self.rows });
            return Ok(Child::Leaf(u32::try_from(parts.leaves.len() - 1).map_err(too_many)?));
        }
        let need = |what: &str| format!("a node without leaf_value has no {what}");
        let (rule, missing) = match (self.decision, self.threshold) {
            (Some(DecisionType::AtMost), Some(Threshold::Number(threshold))) => {
                let missing = match self.missing.ok_or_else(|| need("missing_type"))? {
                    MissingName::None => MissingValues::None,
                    MissingName::Zero => MissingValues::Zero,
                    MissingName::NaN => MissingValues::NaN,
                };
                numeric(threshold, missing, self.default_left)
            }
            (Some(DecisionType::In), Some(Threshold::Ids(ids))) => {
                parts.sets.push(ids);
                (
                    SplitCondition::In(u32::try_from(parts.sets.len() - 1).map_err(too_many)?),
                    Side::Right,
                )
            }
            _ => return Err(need("decision_type '<=' or '==' and a threshold that fits it")),
        };
        parts.splits.push(Split {
            feature: self.feature.ok_or_else(|| need("split_feature"))?,
            rule,
            missing,
            left: self.left.ok_or_else(|| need("left_child"))?,
            right: self.right.ok_or_else(|| need("right_child"))?,
            gain: finite(self.gain),
            rows: self.rows,
        });
        Ok(Child::Split(u32::try_from(parts.splits.len() - 1).map_err(too_many)?))
    }
}

/// A number, or categories such as `0||3||6`.
enum Threshold {
    Number(f64),
    Ids(Vec<u32>),
}

impl<'de> Deserialize<'de> for Threshold {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Threshold, D::Error> {
        struct NumberOrCategories;
        impl Visitor<'_> for NumberOrCategories {
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
                Ok(Threshold::Ids(ids.map_err(|_| E::custom("categories are whole numbers"))?))
            }
        }
        from.deserialize_any(NumberOrCategories)
    }
}
