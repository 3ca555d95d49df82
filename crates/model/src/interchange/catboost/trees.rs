//! The trees of a CatBoost file. They are read one at a time, so that only one tree at a time is in
//! memory both as JSON values and as a [`Tree`].

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::metadata::Metadata;
use super::{NAME, invalid, invalid_json, unsupported};
use crate::bounded::BoundedVec;
use crate::error::ModelError;
use crate::interchange::common::{
    ForeignNode, MAX_TREES, assemble, at_most, in_tree, node_problem,
};
use crate::interchange::{FileProblem, NodeProblem, UnsupportedPart};
use crate::tree::{Leaf, Side, Split, Tree};

/// CatBoost's own depth limit of oblivious trees.
const MAX_DEPTH: usize = 16;
/// Maximum number of leaves of an oblivious tree.
const MAX_LEAVES: usize = 1 << MAX_DEPTH;

/// Reads all trees.
pub(super) fn read(bytes: &[u8], metadata: &Metadata) -> Result<Vec<Tree>, ModelError> {
    // The trees may take this number of bytes, so that a small file cannot use much memory: room
    // for some trees of the largest depth, and three times the size of the file.
    let memory_left = (12 << 20) + 3 * bytes.len();
    let mut reader = TreeReader { metadata, trees: Vec::new(), memory_left, error: None };
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let read = (&mut json).deserialize_map(&mut reader);
    match (read, reader.error.take()) {
        // Our own errors first: the JSON reader only knows that it was stopped.
        (_, Some(error)) => Err(error),
        (Err(error), None) => Err(invalid_json(&error)),
        (Ok(()), None) => Ok(reader.trees),
    }
}

/// Reads the trees: holds those read so far, and the error that ended reading.
struct TreeReader<'a> {
    metadata: &'a Metadata,
    trees: Vec<Tree>,
    /// Number of bytes that further trees may take.
    memory_left: usize,
    error: Option<ModelError>,
}

impl TreeReader<'_> {
    /// Adds a tree, or keeps its error.
    fn add<E: Error>(&mut self, tree: Result<Tree, ModelError>) -> Result<(), E> {
        let number = self.trees.len();
        let checked = match tree {
            _ if number == MAX_TREES => {
                let part = UnsupportedPart::TooMany { items: "trees", most: MAX_TREES };
                Err(unsupported(part))
            }
            Err(error) => Err(in_tree(NAME, number, error)),
            Ok(tree) => Ok(tree),
        };
        match checked {
            Ok(tree) => {
                self.trees.push(tree);
                Ok(())
            }
            Err(error) => {
                self.error = Some(error);
                // Stops the JSON reader; this text is not shown.
                Err(E::custom("no tree"))
            }
        }
    }

    /// Reserves memory for this number of leaves and their splits.
    fn reserve(&mut self, leaves: usize) -> Result<(), ModelError> {
        let cost = leaves.saturating_mul(size_of::<Split>() + size_of::<Leaf>());
        match self.memory_left.checked_sub(cost) {
            Some(memory_left) => {
                self.memory_left = memory_left;
                Ok(())
            }
            None => Err(unsupported(UnsupportedPart::TooManyLeaves)),
        }
    }

    /// The column of a split's feature, and its side of missing values.
    fn feature(&self, split: &CatboostSplit) -> Result<(u32, Side), ModelError> {
        match (split.split_type.as_deref(), split.float_feature_index) {
            (None | Some("FloatFeature"), Some(number)) => {
                let features = &self.metadata.features;
                let feature = features.get(number as usize).ok_or_else(|| {
                    let (item, count) = ("float feature", features.len());
                    invalid(FileProblem::NoSuchItem { item, number, count })
                })?;
                self.metadata.check_border(number, split.border, split.split_index)?;
                Ok((feature.column, feature.missing))
            }
            (kind, _) => {
                let kind = kind.unwrap_or("unknown").to_owned();
                Err(unsupported(UnsupportedPart::SplitKind { kind }))
            }
        }
    }

    /// Expands an oblivious tree to nodes: node `2^d - 1 + p` is the node on level `d` that is
    /// reached by the results `p` of the splits above (bit i is the result of split i).
    fn expand_oblivious(&mut self, tree: &ObliviousTree) -> Result<Tree, ModelError> {
        let splits = tree.splits.as_ref().map_or(&[][..], |splits| &splits.0);
        let (depth, values) = (splits.len(), &tree.leaf_values.0);
        if values.len() != 1 << depth {
            return Err(invalid(FileProblem::ListLength {
                list: "leaf_values",
                found: values.len(),
                expected: 1 << depth,
                rule: "one for each leaf",
            }));
        }
        self.reserve(values.len())?;
        // For each level the column and the side of missing values, and the threshold.
        let mut tests = Vec::with_capacity(depth);
        for split in splits {
            tests.push((self.feature(split)?, at_most(split.border)));
        }
        let weights = tree.leaf_weights.as_ref().map_or(&[][..], |weights| &weights.0);
        let scale = self.metadata.scale;
        assemble(NAME, 0, (2 << depth) - 1, |node| {
            let level = (node + 1).ilog2();
            let results = node + 1 - (1 << level);
            let Some(&((feature, missing), threshold)) = tests.get(level as usize) else {
                let leaf = results as usize;
                let value = values.get(leaf).copied().unwrap_or(f64::NAN) * scale;
                let rows = weights.get(leaf).map_or(0, |weight| weight.round() as u64);
                return Ok(ForeignNode::Leaf(Leaf { value, rows }));
            };
            let left = (2 << level) - 1 + results;
            let right = left + (1 << level);
            Ok(ForeignNode::Split { feature, threshold, missing, left, right, rows: 0 })
        })
    }

    /// Makes a tree of the nodes that [`NodeReader`] read.
    fn assemble_nested(&mut self, nodes: &[CatboostNode], root: u32) -> Result<Tree, ModelError> {
        self.reserve(nodes.len().div_ceil(2))?;
        let scale = self.metadata.scale;
        assemble(NAME, root, nodes.len(), |number| match nodes.get(number as usize) {
            Some(CatboostNode { children: Some((left, right)), split: Some(split), .. }) => {
                let (feature, missing) = self.feature(split)?;
                let (threshold, left, right) = (at_most(split.border), *left, *right);
                Ok(ForeignNode::Split { feature, threshold, missing, left, right, rows: 0 })
            }
            Some(CatboostNode { children: None, split: None, value: Some(value), weight }) => {
                Ok(ForeignNode::Leaf(Leaf { value: value * scale, rows: weight.round() as u64 }))
            }
            _ => Err(node_problem(NAME, NodeProblem::NeitherSplitNorLeaf)),
        })
    }
}

/// The object of a file; only its trees are read here.
impl<'de> Visitor<'de> for &mut TreeReader<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a CatBoost model")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "oblivious_trees" => map.next_value_seed(TreeList(self, TreeForm::Oblivious))?,
                "trees" => map.next_value_seed(TreeList(self, TreeForm::Nested))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// The form of the trees of a list.
#[derive(Clone, Copy)]
enum TreeForm {
    Oblivious,
    Nested,
}

/// The reader of a list of trees.
struct TreeList<'a, 'b>(&'a mut TreeReader<'b>, TreeForm);

impl<'de> DeserializeSeed<'de> for TreeList<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for TreeList<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of trees")
    }

    /// `null`: a model without trees.
    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<(), S::Error> {
        let TreeList(reader, form) = self;
        let mut nodes = Vec::new();
        loop {
            let tree = match form {
                TreeForm::Oblivious => {
                    let Some(tree) = list.next_element::<ObliviousTree>()? else { return Ok(()) };
                    reader.expand_oblivious(&tree)
                }
                TreeForm::Nested => {
                    nodes.clear();
                    let Some(root) = list.next_element_seed(NodeReader(&mut nodes))? else {
                        return Ok(());
                    };
                    reader.assemble_nested(&nodes, root)
                }
            };
            reader.add(tree)?;
        }
    }
}

/// An oblivious tree, under CatBoost's names.
#[derive(Deserialize)]
struct ObliviousTree {
    leaf_values: BoundedVec<f64, MAX_LEAVES>,
    #[serde(default)]
    leaf_weights: Option<BoundedVec<f64, MAX_LEAVES>>,
    #[serde(default)]
    splits: Option<BoundedVec<CatboostSplit, MAX_DEPTH>>,
}

/// A split, under CatBoost's names.
#[derive(Deserialize)]
struct CatboostSplit {
    #[serde(default)]
    split_type: Option<String>,
    #[serde(default)]
    float_feature_index: Option<u32>,
    #[serde(default)]
    split_index: Option<u32>,
    #[serde(default)]
    border: f64,
}

/// A node: with children and a split, or with a value.
#[derive(Default)]
struct CatboostNode {
    /// The left and the right child, as indices in the list of nodes.
    children: Option<(u32, u32)>,
    split: Option<CatboostSplit>,
    value: Option<f64>,
    weight: f64,
}

/// Reads a node and those under it into a list; returns the index of the node there. The JSON
/// reader allows 128 levels.
struct NodeReader<'a>(&'a mut Vec<CatboostNode>);

impl<'de> DeserializeSeed<'de> for NodeReader<'_> {
    type Value = u32;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<u32, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for NodeReader<'_> {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a node of a tree")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<u32, M::Error> {
        let (mut left, mut right, mut node) = (None, None, CatboostNode::default());
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "left" => left = Some(map.next_value_seed(NodeReader(self.0))?),
                "right" => right = Some(map.next_value_seed(NodeReader(self.0))?),
                "split" => node.split = Some(map.next_value()?),
                "value" => node.value = Some(map.next_value()?),
                "weight" => node.weight = map.next_value()?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        node.children = match (left, right) {
            (Some(left), Some(right)) => Some((left, right)),
            (None, None) => None,
            _ => return Err(M::Error::custom("a node with one child")),
        };
        self.0.push(node);
        Ok(self.0.len() as u32 - 1)
    }
}
