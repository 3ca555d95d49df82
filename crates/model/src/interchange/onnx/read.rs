//! Makes trees from arrays of nodes.
//!
//! A node is identified by its key, the pair (id of the tree, id of the node). Nodes are mostly
//! sorted by key in the file; otherwise a sorted order is computed. In this file, the position of a
//! node is its number in sorted order, and the index of a node is its number in the arrays of the
//! file, both from 0. The root of a tree is the one node that is no child. With `n` nodes the cost
//! is n, or n log n if they are not sorted.

use rankwright_data::{Absent, FeatureNames};

use super::columns::{NodeMode, TreeArrays};
use super::graph::{OnnxParts, read_parts, too_many, unsupported};
use super::{NAME, UnsupportedGraph};
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::header::Header;
use crate::interchange::common::{
    ForeignNode, MAX_TREES, assemble, at_most, below, in_tree, node_problem,
};
use crate::interchange::{FileProblem, NodeProblem};
use crate::model::{Model, ModelBody};
use crate::tree::{Leaf, Side, Tree};

/// The nodes of all trees, with their order by key.
struct OnnxNodes {
    arrays: TreeArrays,
    /// The index of the node at each position; `None` if the arrays are sorted.
    order: Option<Vec<u32>>,
}

/// Reads a model.
pub(super) fn model(bytes: &[u8]) -> Result<Model, ModelError> {
    let parts = read_parts(bytes)?;
    let mut nodes = OnnxNodes::sorted(TreeArrays::read(&parts, bytes.len())?)?;
    let ends = nodes.ends()?;
    let divisor = if nodes.arrays.average { ends.len().max(1) as f64 } else { 1.0 };
    nodes.set_leaf_values(divisor)?;
    let mut trees = Vec::with_capacity(ends.len());
    let mut start = 0;
    for (number, end) in ends.into_iter().enumerate() {
        trees.push(nodes.tree(start, end).map_err(|error| in_tree(NAME, number, error))?);
        start = end;
    }
    let ensemble = Ensemble::new(nodes.arrays.base, trees)?;
    let mut header = Header::new(features(&parts, ensemble.features())?, Absent::Zero);
    let from = format!("ONNX {}", parts.producer);
    header.notes.insert("from".into(), from.trim_end().into());
    Model::new(header, ModelBody::Trees(ensemble))
}

/// The names in the metadata that this crate writes, or ids from 0 for the columns.
fn features(parts: &OnnxParts<'_>, features_tested: usize) -> Result<FeatureNames, ModelError> {
    let Some(names) = parts.names else {
        let count = parts.columns.unwrap_or(features_tested);
        return Ok(FeatureNames::Ids { first: 0, count });
    };
    let names: Vec<String> = serde_json::from_str(names).map_err(|error| {
        let message = format!("the feature names cannot be read ({error})");
        invalid(FileProblem::Syntax { message, expected: "JSON" })
    })?;
    match parts.columns {
        Some(columns) if columns != names.len() && !(columns == 1 && names.is_empty()) => {
            Err(invalid(FileProblem::ListLength {
                list: super::FEATURES,
                found: names.len(),
                expected: columns,
                rule: "one for each column of the input",
            }))
        }
        _ => Ok(FeatureNames::from_names(names)),
    }
}

fn invalid(problem: FileProblem) -> ModelError {
    ModelError::invalid_file(NAME, problem)
}

/// The error of a node that is not in all arrays, whose lengths were checked.
const UNEQUAL_ARRAYS: ModelError =
    ModelError::Internal { invariant: "each node of an ONNX graph has an entry in every array" };

impl OnnxNodes {
    /// Finds the order of nodes by key; fails if two have the same key.
    fn sorted(arrays: TreeArrays) -> Result<OnnxNodes, ModelError> {
        let key = |index: usize| (arrays.treeids.get(index), arrays.nodeids.get(index));
        let count = arrays.treeids.len();
        if (1..count).all(|index| key(index - 1) < key(index)) {
            return Ok(OnnxNodes { arrays, order: None });
        }
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.sort_unstable_by_key(|&index| key(index as usize));
        let pairs = order.iter().zip(order.iter().skip(1));
        let mut duplicates = pairs.filter(|(a, b)| key(**a as usize) == key(**b as usize));
        if let Some((index, _)) = duplicates.next() {
            let (Some(&tree), Some(&node)) = key(*index as usize) else {
                return Err(UNEQUAL_ARRAYS);
            };
            return Err(node_problem(NAME, NodeProblem::DuplicateNode { tree, node }));
        }
        Ok(OnnxNodes { arrays, order: Some(order) })
    }

    fn len(&self) -> usize {
        self.arrays.treeids.len()
    }

    /// The index of the node at a position.
    fn index(&self, position: usize) -> usize {
        match &self.order {
            None => position,
            Some(order) => order.get(position).map_or(usize::MAX, |&index| index as usize),
        }
    }

    /// The key of the node at a position.
    fn key(&self, position: usize) -> Option<(u32, u32)> {
        let index = self.index(position);
        Some((*self.arrays.treeids.get(index)?, *self.arrays.nodeids.get(index)?))
    }

    /// For each tree the position after its last node.
    fn ends(&self) -> Result<Vec<usize>, ModelError> {
        let tree = |position| self.key(position).map(|key| key.0);
        let mut ends = Vec::new();
        for position in 1..=self.len() {
            if tree(position) != tree(position - 1) || position == self.len() {
                if ends.len() == MAX_TREES {
                    return Err(too_many("trees", MAX_TREES));
                }
                ends.push(position);
            }
        }
        Ok(ends)
    }

    /// The position of the node with this key among the positions from `start` to before `end`; the
    /// position `guess` is tried first, then a binary search.
    fn find(&self, key: (u32, u32), guess: usize, start: usize, end: usize) -> Option<usize> {
        if (start..end).contains(&guess) && self.key(guess) == Some(key) {
            return Some(guess);
        }
        let (mut low, mut high) = (start, end);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.key(middle)? < key {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        (low < end && self.key(low) == Some(key)).then_some(low)
    }

    /// Stores the weights of the leaves, divided by `divisor`, in place of thresholds; a leaf
    /// without a weight gets 0.
    fn set_leaf_values(&mut self, divisor: f64) -> Result<(), ModelError> {
        for (mode, value) in self.arrays.modes.iter().zip(&mut self.arrays.values) {
            if *mode == NodeMode::Leaf {
                *value = 0.0;
            }
        }
        let trees = std::mem::take(&mut self.arrays.target_treeids);
        let nodes = std::mem::take(&mut self.arrays.target_nodeids);
        let weights = std::mem::take(&mut self.arrays.target_weights);
        // Weights are mostly in the order of their leaves, so the next leaf is a few positions
        // further.
        let mut last = 0;
        for ((tree, node), weight) in trees.into_iter().zip(nodes).zip(weights) {
            let near = (last..last + 4).find(|&position| self.key(position) == Some((tree, node)));
            let position = self.find((tree, node), near.unwrap_or(last), 0, self.len());
            let index = position.map(|position| self.index(position));
            let mode_and_value = index.and_then(|index| {
                Some((self.arrays.modes.get_mut(index)?, self.arrays.values.get_mut(index)?))
            });
            match mode_and_value {
                Some((mode @ NodeMode::Leaf, value)) => {
                    (*mode, *value) = (NodeMode::WeightedLeaf, weight / divisor);
                }
                Some((NodeMode::WeightedLeaf, _)) => {
                    return Err(unsupported(UnsupportedGraph::SeveralWeights { tree, node }));
                }
                _ => {
                    return Err(node_problem(NAME, NodeProblem::NoSuchLeaf { tree, node }));
                }
            }
            last = position.unwrap_or(last);
        }
        Ok(())
    }

    /// The tree of the nodes at the positions from `start` to before `end`.
    fn tree(&self, start: usize, end: usize) -> Result<Tree, ModelError> {
        let mut is_child = vec![false; end - start];
        for position in start..end {
            let index = self.index(position);
            let arrays = &self.arrays;
            if matches!(arrays.modes.get(index), Some(NodeMode::Leaf | NodeMode::WeightedLeaf)) {
                continue;
            }
            for side in [&arrays.truenodeids, &arrays.falsenodeids] {
                let child = self.child(side, position, start, end)?;
                if let Some(is_child) = is_child.get_mut(child as usize - start) {
                    *is_child = true;
                }
            }
        }
        let mut roots = is_child.iter().enumerate().filter(|(_, is_child)| !**is_child);
        let (Some((root, _)), None) = (roots.next(), roots.next()) else {
            return Err(node_problem(NAME, NodeProblem::NoSingleRoot));
        };
        let node = |position| self.node(position, start, end);
        let tree = assemble(NAME, (start + root) as u32, end - start, node)?;
        match tree.splits().len() + tree.leaves().len() == end - start {
            true => Ok(tree),
            false => Err(node_problem(NAME, NodeProblem::Unreachable)),
        }
    }

    /// The position of a child of the node at `position`; `side` has the ids of the children of all
    /// nodes on one side.
    fn child(
        &self,
        side: &[u32],
        position: usize,
        start: usize,
        end: usize,
    ) -> Result<u32, ModelError> {
        let (tree, _) = self.key(position).ok_or(UNEQUAL_ARRAYS)?;
        let node = *side.get(self.index(position)).ok_or(UNEQUAL_ARRAYS)?;
        match self.find((tree, node), start.saturating_add(node as usize), start, end) {
            Some(position) => Ok(position as u32),
            None => Err(node_problem(NAME, NodeProblem::NoSuchNode { node: node.into() })),
        }
    }

    /// The node at a position, in the tree at the positions from `start` to before `end`.
    fn node(&self, position: u32, start: usize, end: usize) -> Result<ForeignNode, ModelError> {
        let (position, arrays) = (position as usize, &self.arrays);
        let index = self.index(position);
        let value = *arrays.values.get(index).ok_or(UNEQUAL_ARRAYS)?;
        let mode = *arrays.modes.get(index).ok_or(UNEQUAL_ARRAYS)?;
        if matches!(mode, NodeMode::Leaf | NodeMode::WeightedLeaf) {
            return Ok(ForeignNode::Leaf(Leaf { value, rows: 0 }));
        }
        let threshold = match mode {
            NodeMode::AtMost | NodeMode::Above => at_most(value),
            _ => below(value).ok_or_else(|| unsupported(UnsupportedGraph::BelowEveryNumber))?,
        };
        let true_child = self.child(&arrays.truenodeids, position, start, end)?;
        let false_child = self.child(&arrays.falsenodeids, position, start, end)?;
        // Values up to the threshold go left, which is the true side of some modes.
        let true_is_left = matches!(mode, NodeMode::AtMost | NodeMode::Below);
        let missing_true = arrays.missing_tracks_true.get(index).is_some_and(|&tracks| tracks != 0);
        Ok(ForeignNode::Split {
            feature: *arrays.featureids.get(index).ok_or(UNEQUAL_ARRAYS)?,
            threshold,
            missing: if missing_true == true_is_left { Side::Left } else { Side::Right },
            left: if true_is_left { true_child } else { false_child },
            right: if true_is_left { false_child } else { true_child },
            rows: 0,
        })
    }
}
