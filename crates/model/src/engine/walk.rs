//! Walks down the trees that the select network (`network.rs`, at most 256 leaves) cannot hold.
//!
//! Eight trees (or eight rows of one tree) take their steps together: each step waits for memory,
//! and eight can wait at the same time. A leaf's next node is the leaf itself, so that no lane (one
//! of the eight walks) needs a check whether it has reached one; the walk ends when a step changes
//! nothing. Values are added tree by tree in their order.
//!
//! Nodes are stored level by level with the two children of a node adjacent, so that a node needs
//! only one link and takes 12 bytes. Small nodes matter: for a single row most of the time is spent
//! waiting for nodes that are not in the caches.

use super::prepared_tree::{ChildLink, PreparedTree};
use crate::categories::Categories;
use crate::tree::{Side, SplitCondition};

/// Number of simultaneous walks.
const LANES: usize = 8;
/// Marks a split that sends missing values right.
const MISSING_RIGHT: u32 = 1 << 31;

/// Trees as one array of nodes.
#[derive(Debug, Default)]
pub(crate) struct Walks {
    nodes: Vec<WalkNode>,
    /// The kind of each node's split; empty if every split compares with a threshold.
    kinds: Vec<SplitKind>,
    /// The value of each node that is a leaf; 0 for splits.
    values: Vec<f64>,
    /// The index of each tree's root.
    roots: Vec<u32>,
    /// The sets of categories of all trees.
    sets: Vec<Categories>,
}

/// A split, or a leaf whose next node is itself.
#[derive(Debug, Clone, Copy)]
struct WalkNode {
    threshold: f32,
    /// The column, with the flag [`MISSING_RIGHT`].
    column: u32,
    /// The index of the left child; the right child is the node after it.
    left: u32,
}

/// The kind of a split condition, as in [`SplitCondition`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SplitKind {
    AtMost,
    NonZeroAtMost,
    /// The number of a set.
    Set(u32),
}

impl Walks {
    pub(crate) fn new(trees: &[PreparedTree]) -> Walks {
        let mut walks = Walks::default();
        for tree in trees {
            walks.add_tree(tree);
        }
        if walks.kinds.iter().all(|kind| *kind == SplitKind::AtMost) {
            walks.kinds = Vec::new();
        }
        walks
    }

    /// Adds the nodes of a tree, level by level.
    fn add_tree(&mut self, tree: &PreparedTree) {
        let first_set = self.sets.len() as u32;
        self.sets.extend_from_slice(&tree.sets);
        self.roots.push(self.nodes.len() as u32);
        let mut level = vec![tree.root()];
        // The index of the left child of the next split.
        let mut next_child = self.nodes.len() as u32 + 1;
        while !level.is_empty() {
            let mut level_below = Vec::new();
            for link in level {
                let index = self.nodes.len() as u32;
                let (node, kind, value) = match link {
                    ChildLink::Leaf(leaf) => {
                        let node = WalkNode { threshold: f32::INFINITY, column: 0, left: index };
                        (node, SplitKind::AtMost, tree.values[leaf])
                    }
                    ChildLink::Node(number) => {
                        let split = &tree.nodes[number];
                        let (kind, threshold) = match split.rule {
                            SplitCondition::AtMost(threshold) => (SplitKind::AtMost, threshold),
                            SplitCondition::NonZeroAtMost(threshold) => {
                                (SplitKind::NonZeroAtMost, threshold)
                            }
                            SplitCondition::In(set) => (SplitKind::Set(first_set + set), 0.0),
                        };
                        let missing = if split.missing == Side::Right { MISSING_RIGHT } else { 0 };
                        let column = split.column as u32 | missing;
                        let node = WalkNode { threshold, column, left: next_child };
                        level_below.extend([split.left, split.right]);
                        next_child += 2;
                        (node, kind, 0.0)
                    }
                };
                self.nodes.push(node);
                self.kinds.push(kind);
                self.values.push(value);
            }
            level = level_below;
        }
    }

    /// The index of the next node of a row that is at the node `index`; `ONLY_THRESHOLDS` if every
    /// split compares with a threshold.
    #[inline(always)]
    fn step<const ONLY_THRESHOLDS: bool>(&self, index: u32, row: &[f32]) -> u32 {
        let node = &self.nodes[index as usize];
        let column = (node.column & !MISSING_RIGHT) as usize;
        let missing_right = node.column & MISSING_RIGHT != 0;
        let value = row.get(column).copied().unwrap_or(f32::NAN);
        let right = match ONLY_THRESHOLDS || self.kinds[index as usize] == SplitKind::AtMost {
            true => (value > node.threshold) | (value.is_nan() & missing_right),
            false => self.goes_right_by_condition(index, value),
        };
        node.left + u32::from(right)
    }

    /// Whether a value goes right at a split whose condition is more than a threshold.
    #[cold]
    fn goes_right_by_condition(&self, index: u32, value: f32) -> bool {
        let node = &self.nodes[index as usize];
        let rule = match self.kinds[index as usize] {
            SplitKind::Set(set) => SplitCondition::In(set),
            _ => SplitCondition::NonZeroAtMost(node.threshold),
        };
        let missing = if node.column & MISSING_RIGHT != 0 { Side::Right } else { Side::Left };
        rule.side(value, missing, &self.sets) == Side::Right
    }

    /// The indices of the leaves that some lanes reach, each with a root and a row of its own.
    #[inline(always)]
    fn leaves_reached<const N: usize>(&self, roots: [u32; N], rows: [&[f32]; N]) -> [u32; N] {
        match self.kinds.is_empty() {
            true => self.walk::<N, true>(roots, rows),
            false => self.walk::<N, false>(roots, rows),
        }
    }

    /// Like `leaves_reached`; `ONLY_THRESHOLDS` if every split compares with a threshold.
    #[inline(always)]
    fn walk<const N: usize, const ONLY_THRESHOLDS: bool>(
        &self,
        roots: [u32; N],
        rows: [&[f32]; N],
    ) -> [u32; N] {
        let mut nodes = roots;
        loop {
            let next: [u32; N] =
                std::array::from_fn(|lane| self.step::<ONLY_THRESHOLDS>(nodes[lane], rows[lane]));
            if next == nodes {
                return nodes;
            }
            nodes = next;
        }
    }

    /// Adds the trees' values for one row to its score, eight trees at a time.
    pub(crate) fn add_row(&self, row: &[f32], score: &mut f64) {
        let (groups, rest) = self.roots.as_chunks::<LANES>();
        for roots in groups {
            for leaf in self.leaves_reached(*roots, [row; LANES]) {
                *score += self.values[leaf as usize];
            }
        }
        for root in rest {
            let [leaf] = self.leaves_reached([*root], [row]);
            *score += self.values[leaf as usize];
        }
    }

    /// Adds the trees' values for many rows of `columns` values, eight rows at a time through each
    /// tree.
    pub(crate) fn add(&self, values: &[f32], columns: usize, scores: &mut [f64]) {
        let row = |number: usize| &values[number * columns..(number + 1) * columns];
        for root in &self.roots {
            for (group, scores) in scores.chunks_mut(LANES).enumerate() {
                // In the last group the lanes beyond its rows repeat the last row.
                let last = scores.len() - 1;
                let rows = std::array::from_fn(|lane: usize| row(group * LANES + lane.min(last)));
                let leaves = self.leaves_reached([*root; LANES], rows);
                for (score, leaf) in scores.iter_mut().zip(leaves) {
                    *score += self.values[leaf as usize];
                }
            }
        }
    }
}
