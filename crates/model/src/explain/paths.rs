//! A tree laid out for TreeSHAP (`trees.rs`): its nodes in the order of a depth-first walk, each
//! with the numbers that the walk needs there.
//!
//! At a split a row goes down by its value if the feature is known, and down both sides if it is
//! unknown, weighted by the fraction of (training or background) rows that go there. For each
//! feature on a path the fractions of its splits are multiplied, to the fraction of rows that pass
//! the feature's splits if it is unknown (`z` in `trees.rs`). At a split that no row reached, both
//! sides count half.

use crate::tree::{Child, Tree};

/// A node other than the root, with the step from its parent.
#[derive(Debug, Clone)]
pub(super) struct PathStep {
    /// Number of splits above the node; the root is on level 0.
    pub(super) level: u32,
    /// The feature of the parent's split, as an index among the features that the ensemble uses.
    pub(super) slot: u32,
    /// Whether the node is the left child.
    pub(super) is_left: bool,
    /// The fraction of rows that pass this feature's splits on the path.
    pub(super) fraction: f64,
    /// The level of the nearest step above on the same feature; 0 if there is none.
    pub(super) level_above: u32,
    /// The fraction of that step; 1 if there is none.
    pub(super) fraction_above: f64,
    /// The node.
    pub(super) node: PathNode,
}

/// A node on a walk.
#[derive(Debug, Clone, Copy)]
pub(super) enum PathNode {
    /// The number of a split, and the index of its feature among the used features (`slot`).
    Split { number: u32, slot: u32 },
    /// The value of a leaf.
    Leaf(f64),
}

/// A tree as a list of steps.
#[derive(Debug, Clone)]
pub(super) struct Paths {
    /// The root.
    pub(super) root: PathNode,
    /// All other nodes; a node is followed by those below it.
    pub(super) steps: Vec<PathStep>,
    /// Splits on the longest path.
    pub(super) depth: usize,
    /// Maximum number of different features on a path.
    pub(super) features: usize,
    /// The expected value: that of a row whose features are all unknown.
    pub(super) base: f64,
}

/// A step of the path from the root to the current node, with the state that is restored on the way
/// up.
struct PathState {
    slot: usize,
    fraction: f64,
    /// The level of the nearest step above on this feature; 0 if there is none.
    level_above: u32,
    /// Number of different features so far.
    features: usize,
    /// The product of the fractions of all features on the path.
    weight: f64,
}

impl Paths {
    /// Lays out a tree, given the number of rows at each leaf; `slot` returns the index of a
    /// feature among the used features.
    pub(super) fn new(tree: &Tree, leaf_rows: &[f64], slot: impl Fn(u32) -> usize) -> Paths {
        let left_fractions = left_fractions(tree, leaf_rows);
        let node = |child: Child| match child {
            Child::Split(number) => {
                let slot = slot(tree.splits()[number as usize].feature) as u32;
                PathNode::Split { number, slot }
            }
            Child::Leaf(number) => PathNode::Leaf(tree.leaves()[number as usize].value),
        };
        let root = node(tree.root());
        let mut paths = Paths { root, steps: Vec::new(), depth: 0, features: 0, base: 0.0 };
        // The level of the last step on each feature of the path; 0 for other features.
        let mut last_levels: Vec<u32> = Vec::new();
        let mut path: Vec<PathState> = Vec::new();
        // The nodes to visit, as `push_sides` writes them.
        let mut pending = Vec::new();
        match tree.root() {
            Child::Leaf(_) => {
                paths.base = tree.leaves().first().map_or(0.0, |leaf| leaf.value);
            }
            Child::Split(number) => push_sides(&mut pending, number, 1),
        }
        while let Some((parent, level, is_left)) = pending.pop() {
            // Goes up to the parent of the next node.
            while path.len() >= level {
                let Some(step) = path.pop() else { break };
                last_levels[step.slot] = step.level_above;
            }
            let split = &tree.splits()[parent as usize];
            let slot = slot(split.feature);
            if last_levels.len() <= slot {
                last_levels.resize(slot + 1, 0);
            }
            let level_above = last_levels[slot];
            let fraction_above =
                level_above.checked_sub(1).map_or(1.0, |index| path[index as usize].fraction);
            let left_fraction = left_fractions[parent as usize];
            let side_fraction = if is_left { left_fraction } else { 1.0 - left_fraction };
            let (features, weight) =
                path.last().map_or((0, 1.0), |last| (last.features, last.weight));
            let features = features + usize::from(level_above == 0);
            let (fraction, weight) = (fraction_above * side_fraction, weight * side_fraction);
            path.push(PathState { slot, fraction, level_above, features, weight });
            last_levels[slot] = level as u32;
            let child = if is_left { split.left } else { split.right };
            match child {
                Child::Split(number) => push_sides(&mut pending, number, level + 1),
                Child::Leaf(number) => {
                    paths.base += weight * tree.leaves()[number as usize].value;
                }
            }
            paths.depth = paths.depth.max(level);
            paths.features = paths.features.max(features);
            paths.steps.push(PathStep {
                level: level as u32,
                slot: slot as u32,
                is_left,
                fraction,
                level_above,
                fraction_above,
                node: node(child),
            });
        }
        paths
    }
}

/// Pushes both children of a split, which are on this level, as (number of the split, level,
/// whether the left child); the left one is visited first.
fn push_sides(pending: &mut Vec<(u32, usize, bool)>, split: u32, level: usize) {
    for is_left in [false, true] {
        pending.push((split, level, is_left));
    }
}

/// The fraction of rows that each split sends left. It is computed from the rows at the leaves, not
/// from those at the splits, which may be inconsistent in a file.
fn left_fractions(tree: &Tree, leaf_rows: &[f64]) -> Vec<f64> {
    let splits = tree.splits();
    let mut rows = vec![0.0; splits.len()];
    let mut fractions = vec![0.5; splits.len()];
    // Children have larger numbers than their parents.
    for (number, split) in splits.iter().enumerate().rev() {
        let rows_at = |child: Child| match child {
            Child::Split(below) => rows[below as usize],
            Child::Leaf(leaf) => leaf_rows[leaf as usize],
        };
        let (left, right) = (rows_at(split.left), rows_at(split.right));
        rows[number] = left + right;
        if rows[number] > 0.0 {
            fractions[number] = left / rows[number];
        }
    }
    fractions
}
