//! Trees from nested JSON in which splits name their features (Elasticsearch and Solr). Nodes are
//! added to a list as they end in the file, children before their parents, and names are numbered
//! in the order of first occurrence. The nodes become trees once the column of each name is known.

use std::collections::HashMap;

use super::NodeProblem;
use super::common::{ForeignNode, MAX_TREES, assemble, in_tree, node_problem};
use crate::error::ModelError;
use crate::tree::{Leaf, Side, Tree};

/// Maximum number of feature names: a limit on the memory that a file can use.
pub(super) const MAX_NAMES: usize = 1 << 17;

/// All trees of a file, before columns are known.
#[derive(Default)]
pub(super) struct RawTrees {
    /// The number of each feature name that a node tests.
    names: HashMap<String, u32>,
    nodes: Vec<RawNode>,
    /// For each tree its weight, and the index after its last node, which is the root.
    trees: Vec<(f64, usize)>,
}

/// A node of the file: a leaf if it has no feature.
#[derive(Clone, Copy, Default)]
pub(super) struct RawNode {
    /// The number of the feature's name; `None` for a leaf.
    pub(super) feature: Option<u32>,
    /// Values at most this go left.
    pub(super) threshold: Option<f32>,
    /// The side of missing values; `None` if the file does not have it.
    pub(super) missing: Option<Side>,
    /// The number of the left child as [`RawTrees::push`] returned it; 0 if there is none.
    pub(super) left: u32,
    /// The same for the right child.
    pub(super) right: u32,
    /// The value of a leaf.
    pub(super) value: f64,
}

impl RawTrees {
    /// The number of a name, from 0; a new name gets the next one.
    pub(super) fn number_of_name(&mut self, name: String) -> Result<u32, String> {
        let next = self.names.len();
        if next > MAX_NAMES {
            return Err(format!("more than {MAX_NAMES} features"));
        }
        Ok(*self.names.entry(name).or_insert(next as u32))
    }

    /// Every name with its number.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, u32)> {
        self.names.iter().map(|(name, number)| (name.as_str(), *number))
    }

    /// Adds a node whose children were added before; returns its number, from 1.
    pub(super) fn push(&mut self, node: RawNode) -> u32 {
        self.nodes.push(node);
        self.nodes.len() as u32
    }

    /// Ends a tree with this weight: its nodes are those that were added after the end of the last
    /// tree.
    pub(super) fn end_tree(&mut self, weight: f64) -> Result<(), String> {
        if self.trees.len() == MAX_TREES {
            return Err(format!("more than {MAX_TREES} trees"));
        }
        self.trees.push((weight, self.nodes.len()));
        Ok(())
    }

    /// The trees, given the column of each name, and `missing`, which returns the side of missing
    /// values of a node with a threshold; `format` is for errors.
    pub(super) fn trees(
        &self,
        format: &'static str,
        columns: &[u32],
        missing: impl Fn(&RawNode, f32) -> Side,
    ) -> Result<Vec<Tree>, ModelError> {
        let invalid = |problem| node_problem(format, problem);
        let mut trees = Vec::with_capacity(self.trees.len());
        let mut start = 0;
        for (number, &(weight, end)) in self.trees.iter().enumerate() {
            let nodes = self.nodes.get(start..end).unwrap_or(&[]);
            let root = nodes.len().checked_sub(1);
            let node = |index: u32| {
                let node = (index as usize).checked_sub(start).and_then(|index| nodes.get(index));
                let node =
                    node.ok_or_else(|| invalid(NodeProblem::NoSuchNode { node: index.into() }))?;
                let Some(feature) = node.feature else {
                    return match node.left == 0 && node.right == 0 {
                        true => Ok(ForeignNode::Leaf(Leaf { value: node.value * weight, rows: 0 })),
                        false => Err(invalid(NodeProblem::LeafWithChildren)),
                    };
                };
                let threshold = node.threshold.ok_or_else(|| invalid(NodeProblem::NoThreshold))?;
                if node.left == 0 || node.right == 0 {
                    return Err(invalid(NodeProblem::MissingChild));
                }
                let feature = columns.get(feature as usize).copied().unwrap_or(u32::MAX);
                let (left, right) = (node.left - 1, node.right - 1);
                let missing = missing(node, threshold);
                Ok(ForeignNode::Split { feature, threshold, missing, left, right, rows: 0 })
            };
            let tree = root
                .ok_or_else(|| invalid(NodeProblem::EmptyTree))
                .and_then(|root| assemble(format, (start + root) as u32, nodes.len(), node));
            trees.push(tree.map_err(|error| in_tree(format, number, error))?);
            start = end;
        }
        Ok(trees)
    }
}
