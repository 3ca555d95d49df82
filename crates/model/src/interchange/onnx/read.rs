//! Makes trees from arrays of nodes.
//!
//! Nodes are identified by the pair (tree, node). They are mostly sorted by it; otherwise a sorted
//! order is computed. The root of a tree is the one node that is no child. With `n` nodes the cost
//! is n, or n log n if they are not sorted.

use rankwright_data::{Absent, FeatureNames};

use super::columns::{Mode, TreeArrays};
use super::graph::{Outline, outline, too_many, unsupported};
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

/// Nodes in the order of (tree, node).
struct OnnxNodes {
    columns: TreeArrays,
    /// The index into the columns by rank in that order; `None` if they are sorted.
    order: Option<Vec<u32>>,
}

/// Reads a model.
pub(super) fn model(bytes: &[u8]) -> Result<Model, ModelError> {
    let outline = outline(bytes)?;
    let mut nodes = OnnxNodes::sorted(TreeArrays::read(&outline, bytes.len())?)?;
    let ends = nodes.ends()?;
    let divisor = if nodes.columns.average { ends.len().max(1) as f64 } else { 1.0 };
    nodes.set_leaf_values(divisor)?;
    let mut trees = Vec::with_capacity(ends.len());
    let mut start = 0;
    for (number, end) in ends.into_iter().enumerate() {
        trees.push(nodes.tree(start, end).map_err(|error| in_tree(NAME, number, error))?);
        start = end;
    }
    let ensemble = Ensemble::new(nodes.columns.base, trees)?;
    let mut header = Header::new(features(&outline, ensemble.features())?, Absent::Zero);
    let from = format!("ONNX {}", outline.producer);
    header.notes.insert("from".into(), from.trim_end().into());
    Model::new(header, ModelBody::Trees(ensemble))
}

/// The names in our own metadata, or the numbers of the columns.
fn features(outline: &Outline<'_>, tested: usize) -> Result<FeatureNames, ModelError> {
    let Some(names) = outline.names else {
        let count = outline.columns.unwrap_or(tested);
        return Ok(FeatureNames::Ids { first: 0, count });
    };
    let names: Vec<String> = serde_json::from_str(names).map_err(|error| {
        let message = format!("the feature names cannot be read ({error})");
        invalid(FileProblem::Syntax { message, expected: "JSON" })
    })?;
    match outline.columns {
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

impl OnnxNodes {
    fn sorted(columns: TreeArrays) -> Result<OnnxNodes, ModelError> {
        let key = |at: usize| (columns.treeids.get(at), columns.nodeids.get(at));
        let count = columns.treeids.len();
        if (1..count).all(|at| key(at - 1) < key(at)) {
            return Ok(OnnxNodes { columns, order: None });
        }
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.sort_unstable_by_key(|&at| key(at as usize));
        let pairs = order.iter().zip(order.iter().skip(1));
        let mut duplicates = pairs.filter(|(a, b)| key(**a as usize) == key(**b as usize));
        if let Some((at, _)) = duplicates.next() {
            let (tree, node) = key(*at as usize);
            let (tree, node) = (tree.copied().unwrap_or(0), node.copied().unwrap_or(0));
            return Err(node_problem(NAME, NodeProblem::DuplicateNode { tree, node }));
        }
        Ok(OnnxNodes { columns, order: Some(order) })
    }

    fn len(&self) -> usize {
        self.columns.treeids.len()
    }

    /// The index into the columns of a rank.
    fn index(&self, rank: usize) -> usize {
        match &self.order {
            None => rank,
            Some(order) => order.get(rank).map_or(usize::MAX, |&at| at as usize),
        }
    }

    fn key(&self, rank: usize) -> Option<(u32, u32)> {
        let at = self.index(rank);
        Some((*self.columns.treeids.get(at)?, *self.columns.nodeids.get(at)?))
    }

    /// The end of each tree's nodes.
    fn ends(&self) -> Result<Vec<usize>, ModelError> {
        let tree = |rank| self.key(rank).map(|key| key.0);
        let mut ends = Vec::new();
        for rank in 1..=self.len() {
            if tree(rank) != tree(rank - 1) || rank == self.len() {
                if ends.len() == MAX_TREES {
                    return Err(too_many("trees", MAX_TREES));
                }
                ends.push(rank);
            }
        }
        Ok(ends)
    }

    /// The rank of a node between two ranks; a guess is tried first.
    fn find(&self, key: (u32, u32), guess: usize, from: usize, to: usize) -> Option<usize> {
        if (from..to).contains(&guess) && self.key(guess) == Some(key) {
            return Some(guess);
        }
        let (mut low, mut high) = (from, to);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.key(middle)? < key {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        (low < to && self.key(low) == Some(key)).then_some(low)
    }

    /// Stores the weights of the leaves in rank of thresholds; a leaf without one has weight 0.
    fn set_leaf_values(&mut self, divisor: f64) -> Result<(), ModelError> {
        for (mode, value) in self.columns.modes.iter().zip(&mut self.columns.values) {
            if *mode == Mode::Leaf {
                *value = 0.0;
            }
        }
        let trees = std::mem::take(&mut self.columns.target_treeids);
        let nodes = std::mem::take(&mut self.columns.target_nodeids);
        let weights = std::mem::take(&mut self.columns.target_weights);
        // Weights are mostly in the order of their leaves, with a few splits between.
        let mut last = 0;
        for ((tree, node), weight) in trees.into_iter().zip(nodes).zip(weights) {
            let near = (last..last + 4).find(|&rank| self.key(rank) == Some((tree, node)));
            let rank = self.find((tree, node), near.unwrap_or(last), 0, self.len());
            let at = rank.map(|rank| self.index(rank));
            let slot = at.and_then(|at| {
                Some((self.columns.modes.get_mut(at)?, self.columns.values.get_mut(at)?))
            });
            match slot {
                Some((mode @ Mode::Leaf, value)) => {
                    (*mode, *value) = (Mode::Weighted, weight / divisor);
                }
                Some((Mode::Weighted, _)) => {
                    return Err(unsupported(UnsupportedGraph::SeveralWeights { tree, node }));
                }
                _ => {
                    return Err(node_problem(NAME, NodeProblem::NoSuchLeaf { tree, node }));
                }
            }
            last = rank.unwrap_or(last);
        }
        Ok(())
    }

    /// The tree of the ranks from `start` to `end`.
    fn tree(&self, start: usize, end: usize) -> Result<Tree, ModelError> {
        let mut is_child = vec![false; end - start];
        for rank in start..end {
            let at = self.index(rank);
            let columns = &self.columns;
            if matches!(columns.modes.get(at), Some(Mode::Leaf | Mode::Weighted)) {
                continue;
            }
            for side in [&columns.truenodeids, &columns.falsenodeids] {
                let to = self.child(side, rank, start, end)?;
                if let Some(is_child) = is_child.get_mut(to as usize - start) {
                    *is_child = true;
                }
            }
        }
        let mut roots = is_child.iter().enumerate().filter(|(_, is_child)| !**is_child);
        let (Some((root, _)), None) = (roots.next(), roots.next()) else {
            return Err(node_problem(NAME, NodeProblem::NoSingleRoot));
        };
        let tree =
            assemble(NAME, (start + root) as u32, end - start, |at| self.node(at, start, end))?;
        match tree.splits().len() + tree.leaves().len() == end - start {
            true => Ok(tree),
            false => Err(node_problem(NAME, NodeProblem::Unreachable)),
        }
    }

    /// The rank of a child of a node.
    fn child(
        &self,
        side: &[u32],
        rank: usize,
        start: usize,
        end: usize,
    ) -> Result<u32, ModelError> {
        let key = self.key(rank).unwrap_or_default();
        let node = side.get(self.index(rank)).copied().unwrap_or(u32::MAX);
        match self.find((key.0, node), start.saturating_add(node as usize), start, end) {
            Some(rank) => Ok(rank as u32),
            None => Err(node_problem(NAME, NodeProblem::NoSuchNode { node: node.into() })),
        }
    }

    fn node(&self, rank: u32, start: usize, end: usize) -> Result<ForeignNode, ModelError> {
        let (rank, columns) = (rank as usize, &self.columns);
        let at = self.index(rank);
        let value = columns.values.get(at).copied().unwrap_or(f64::NAN);
        let mode = columns.modes.get(at).copied().unwrap_or(Mode::Leaf);
        if matches!(mode, Mode::Leaf | Mode::Weighted) {
            return Ok(ForeignNode::Leaf(Leaf { value, rows: 0 }));
        }
        let threshold = match mode {
            Mode::AtMost | Mode::Above => at_most(value),
            _ => below(value).ok_or_else(|| unsupported(UnsupportedGraph::BelowEveryNumber))?,
        };
        let true_child = self.child(&columns.truenodeids, rank, start, end)?;
        let false_child = self.child(&columns.falsenodeids, rank, start, end)?;
        // Values up to the threshold go left: the true side if the mode tests for that.
        let true_left = matches!(mode, Mode::AtMost | Mode::Below);
        let tracks = columns.missing_tracks_true.get(at).is_some_and(|&tracks| tracks != 0);
        Ok(ForeignNode::Split {
            feature: columns.featureids.get(at).copied().unwrap_or(u32::MAX),
            threshold,
            missing: if tracks == true_left { Side::Left } else { Side::Right },
            left: if true_left { true_child } else { false_child },
            right: if true_left { false_child } else { true_child },
            rows: 0,
        })
    }
}
