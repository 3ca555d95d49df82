//! Scores a few rows: walks down the trees of a network for one row, whose ranks (`split_tests.rs`)
//! are known.
//!
//! The ranks of a row are found once for all trees; a step then compares two bytes, and a node has
//! eight bytes in all, so that hundreds of trees stay in the second-level cache. Eight trees take
//! their steps together: each step waits for memory, and eight can wait at the same time. They
//! continue until the last one has reached a leaf; a leaf's next node is the leaf itself, so that
//! no lane (one of the eight walks) needs a branch. Values are added tree by tree in their order.

use super::prepared_tree::{ChildLink, PreparedTree};
use super::split_tests::RankTest;

/// Number of trees that are walked together.
const LANES: usize = 8;

/// Trees as one array of nodes, to be walked down by the ranks of one row.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    nodes: Vec<RankSplit>,
    trees: Vec<TreeStart>,
}

/// A split: the number of a rank vector, the number that its rank is compared with, and the left
/// and right child as indices from the tree's first node. Or a leaf, whose next node is itself.
#[derive(Debug, Clone, Copy)]
struct RankSplit {
    vector: u16,
    threshold_rank: i8,
    next: [u16; 2],
}

/// A tree: the index of its first node, and the number of its splits, after which come its leaves.
#[derive(Debug, Clone, Copy)]
struct TreeStart {
    first_node: u32,
    splits: u16,
}

impl Steps {
    /// Adds a tree whose nodes make the comparisons `tests` and whose leaves are numbered in the
    /// order of `leaves`.
    pub(crate) fn add(&mut self, tree: &PreparedTree, tests: &[RankTest], leaves: &[usize]) {
        let splits = tree.nodes.len();
        // The number of each leaf.
        let mut numbers = vec![0; tree.values.len()];
        for (number, leaf) in leaves.iter().enumerate() {
            numbers[*leaf] = number;
        }
        // From the root down, so that the first steps of all rows are adjacent; then the leaves.
        let index = |link: ChildLink| match link {
            ChildLink::Node(node) => (splits - 1 - node) as u16,
            ChildLink::Leaf(leaf) => (splits + numbers[leaf]) as u16,
        };
        let first_node = self.nodes.len() as u32;
        for (node, RankTest { vector, threshold_rank, .. }) in tree.nodes.iter().zip(tests).rev() {
            let (vector, threshold_rank) = (*vector, *threshold_rank);
            let next = [index(node.left), index(node.right)];
            self.nodes.push(RankSplit { vector, threshold_rank, next });
        }
        let leaf = |number: usize| RankSplit {
            vector: 0,
            threshold_rank: 0,
            next: [(splits + number) as u16; 2],
        };
        self.nodes.extend((0..leaves.len()).map(leaf));
        self.trees.push(TreeStart { first_node, splits: splits as u16 });
    }

    /// Calls `found` with the number of each tree and of the leaf that a row with these ranks
    /// reaches in it, in the order of the trees.
    #[inline(always)]
    pub(crate) fn leaves(&self, ranks: &[i8], mut found: impl FnMut(usize, usize)) {
        let (groups, rest) = self.trees.as_chunks::<LANES>();
        for (group, trees) in groups.iter().enumerate() {
            for (lane, leaf) in self.walk(*trees, ranks).into_iter().enumerate() {
                found(group * LANES + lane, leaf);
            }
        }
        for (number, tree) in rest.iter().enumerate() {
            let [leaf] = self.walk([*tree], ranks);
            found(groups.len() * LANES + number, leaf);
        }
    }

    /// Walks down some trees; returns the numbers of the leaves.
    #[inline(always)]
    fn walk<const N: usize>(&self, trees: [TreeStart; N], ranks: &[i8]) -> [usize; N] {
        let mut nodes = [0; N];
        let mut arrived = trees.iter().all(|tree| tree.splits == 0);
        while !arrived {
            arrived = true;
            for (node, tree) in nodes.iter_mut().zip(&trees) {
                let split = &self.nodes[tree.first_node as usize + *node];
                let right = ranks[usize::from(split.vector)] > split.threshold_rank;
                *node = usize::from(split.next[usize::from(right)]);
                arrived &= *node >= usize::from(tree.splits);
            }
        }
        for (node, tree) in nodes.iter_mut().zip(&trees) {
            *node -= usize::from(tree.splits);
        }
        nodes
    }
}
