//! Trees from nested JSON in which splits name their features (Elasticsearch and Solr). Nodes are
//! added to a list as they end in the file, children before their parents, and names are numbered
//! in the order of first occurrence. The nodes become trees once the column of each name is known.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

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
    trees: Vec<RawTree>,
}

/// A tree of the file.
struct RawTree {
    /// The factor of the leaf values.
    weight: f64,
    /// The index after the tree's last node, which is the root.
    end: usize,
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
        match self.names.entry(name) {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(_) if next == MAX_NAMES => Err(format!("more than {MAX_NAMES} features")),
            Entry::Vacant(new) => Ok(*new.insert(next as u32)),
        }
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
        self.trees.push(RawTree { weight, end: self.nodes.len() });
        Ok(())
    }

    /// Builds the trees, given the column of each name, and `missing`, which returns the side of
    /// missing values of a node with a threshold; `format` is for errors.
    pub(super) fn build_trees(
        &self,
        format: &'static str,
        columns: &[u32],
        missing: impl Fn(&RawNode, f32) -> Side,
    ) -> Result<Vec<Tree>, ModelError> {
        let invalid = |problem| node_problem(format, problem);
        let mut trees = Vec::with_capacity(self.trees.len());
        let mut start = 0;
        for (number, &RawTree { weight, end }) in self.trees.iter().enumerate() {
            let nodes = self.nodes.get(start..end).ok_or(TREE_END)?;
            let root = nodes.len().checked_sub(1);
            let node = |index: u32| {
                let node = (index as usize).checked_sub(start).and_then(|index| nodes.get(index));
                let node = node.ok_or(CHILD_OF_OTHER_TREE)?;
                let Some(feature) = node.feature else {
                    // 0 rows means that their number is unknown: these files do not have it.
                    return match node.left == 0 && node.right == 0 {
                        true => Ok(ForeignNode::Leaf(Leaf { value: node.value * weight, rows: 0 })),
                        false => Err(invalid(NodeProblem::LeafWithChildren)),
                    };
                };
                let threshold = node.threshold.ok_or_else(|| invalid(NodeProblem::NoThreshold))?;
                if node.left == 0 || node.right == 0 {
                    return Err(invalid(NodeProblem::MissingChild));
                }
                let feature = *columns.get(feature as usize).ok_or(NO_COLUMN)?;
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

/// An error that no file can cause.
const TREE_END: ModelError =
    ModelError::Internal { invariant: "a tree ends after the one before it, at a node" };
/// An error that no file can cause.
const CHILD_OF_OTHER_TREE: ModelError =
    ModelError::Internal { invariant: "the children of a node were added to the same tree" };
/// An error that no file can cause.
const NO_COLUMN: ModelError =
    ModelError::Internal { invariant: "every feature name of a node has a column" };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_name_is_accepted_when_there_is_no_room_for_a_new_one() {
        let mut trees = RawTrees::default();
        for number in 0..MAX_NAMES {
            assert_eq!(trees.number_of_name(format!("f{number}")), Ok(number as u32));
        }
        assert_eq!(trees.number_of_name("f7".into()), Ok(7));
        assert!(trees.number_of_name("new".into()).is_err());
        assert_eq!(trees.names().count(), MAX_NAMES);
    }
}
