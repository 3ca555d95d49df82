//! A tree laid out for TreeSHAP: its nodes in the order of a walk, each with the data of the walk.
//!
//! At a split a row goes down by its value if the feature is known, and down both sides if it is
//! unknown, weighted by the share of (training or background) rows there. For each feature on a
//! path the shares of its splits are multiplied: `z`, the share of rows that pass the feature's
//! splits if it is unknown. Below a split that no row reached, both sides count half.

use crate::tree::{Child, Tree};

/// A node other than the root, with the step from its parent.
#[derive(Debug, Clone)]
pub(super) struct PathStep {
    /// Number of splits above the node.
    pub(super) level: u32,
    /// The feature of the parent's split, as an index among those used.
    pub(super) slot: u32,
    /// Whether it is the left child.
    pub(super) left: bool,
    /// The share of rows that pass this feature's splits on the path.
    pub(super) share: f64,
    /// The level of the next step above on the same feature, with its share; 0 and 1 if there is
    /// none.
    pub(super) above: (u32, f64),
    /// The node.
    pub(super) node: PathNode,
}

/// A node on a walk.
#[derive(Debug, Clone, Copy)]
pub(super) enum PathNode {
    /// A split by number, with the index of its feature among those used.
    Split(u32, u32),
    /// The value of a leaf.
    Leaf(f64),
}

/// A tree as steps.
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

/// The state on the way down, which is undone on the way up.
struct PathState {
    slot: usize,
    share: f64,
    /// The level of the step above on this feature.
    before: u32,
    /// Number of different features so far.
    features: usize,
    /// The share of rows of all features together.
    weight: f64,
}

impl Paths {
    /// Lays out a tree, given the rows at its leaves; `slot` returns the index of a feature.
    pub(super) fn new(tree: &Tree, leaves: &[f64], slot: impl Fn(u32) -> usize) -> Paths {
        let shares = left_shares(tree, leaves);
        let node = |child: Child| match child {
            Child::Split(number) => {
                PathNode::Split(number, slot(tree.splits()[number as usize].feature) as u32)
            }
            Child::Leaf(number) => PathNode::Leaf(tree.leaves()[number as usize].value),
        };
        let root = node(tree.root());
        let mut paths = Paths { root, steps: Vec::new(), depth: 0, features: 0, base: 0.0 };
        // The level of the last step on each feature of the path.
        let mut last: Vec<u32> = Vec::new();
        let mut path: Vec<PathState> = Vec::new();
        let mut open = Vec::new();
        match tree.root() {
            Child::Leaf(_) => {
                paths.base = tree.leaves().first().map_or(0.0, |leaf| leaf.value);
            }
            Child::Split(number) => push_sides(&mut open, number, 1),
        }
        while let Some((parent, level, left)) = open.pop() {
            while path.len() >= level {
                let Some(above) = path.pop() else { break };
                last[above.slot] = above.before;
            }
            let split = &tree.splits()[parent as usize];
            let slot = slot(split.feature);
            if last.len() <= slot {
                last.resize(slot + 1, 0);
            }
            let before = last[slot];
            let earlier = before.checked_sub(1).map_or(1.0, |at| path[at as usize].share);
            let part = shares[parent as usize];
            let part = if left { part } else { 1.0 - part };
            let (features, weight) = path.last().map_or((0, 1.0), |a| (a.features, a.weight));
            let features = features + usize::from(before == 0);
            let (share, weight) = (earlier * part, weight * part);
            path.push(PathState { slot, share, before, features, weight });
            last[slot] = level as u32;
            let child = if left { split.left } else { split.right };
            match child {
                Child::Split(number) => push_sides(&mut open, number, level + 1),
                Child::Leaf(number) => {
                    paths.base += weight * tree.leaves()[number as usize].value;
                }
            }
            paths.depth = paths.depth.max(level);
            paths.features = paths.features.max(features);
            let above = (before, earlier);
            let (level, slot) = (level as u32, slot as u32);
            paths.steps.push(PathStep { level, slot, left, share, above, node: node(child) });
        }
        paths
    }
}

/// Pushes both sides of a split, so that the left one is visited first.
fn push_sides(open: &mut Vec<(u32, usize, bool)>, split: u32, level: usize) {
    open.push((split, level, false));
    open.push((split, level, true));
}

/// The share of rows that each split sends left, from the rows at the leaves only, so that the
/// numbers are consistent even if a file's split counts are not.
fn left_shares(tree: &Tree, leaves: &[f64]) -> Vec<f64> {
    let splits = tree.splits();
    let mut rows = vec![0.0; splits.len()];
    let mut shares = vec![0.5; splits.len()];
    // Children come after parents.
    for (number, split) in splits.iter().enumerate().rev() {
        let at = |child: Child| match child {
            Child::Split(below) => rows[below as usize],
            Child::Leaf(leaf) => leaves[leaf as usize],
        };
        let (left, right) = (at(split.left), at(split.right));
        rows[number] = left + right;
        if rows[number] > 0.0 {
            shares[number] = left / rows[number];
        }
    }
    shares
}
