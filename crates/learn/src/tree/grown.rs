//! A tree after growth: splits, and the rows of each leaf. Values are computed later.
//!
//! Most trees have a value for each leaf. In an oblivious tree several leaves may share one,
//! because the same rows stayed together there: a group with a value of its own is a grown leaf,
//! and the leaves of the tree are [`TreeLeaf`]s, each of which refers to a grown leaf.

use std::ops::Range;

use rankwright_model::{Categories, Leaf, ModelError, Split, Tree};

use super::split::Limits;

/// A grown tree: its splits, and the position of each leaf's rows in the grower's buffers.
#[derive(Debug)]
pub(crate) struct Grown {
    pub(crate) splits: Vec<Split>,
    /// The sets of categories that splits test.
    pub(crate) sets: Vec<Categories>,
    /// The grown leaves: each gets a value of its own.
    pub(crate) leaves: Vec<GrownLeaf>,
    /// The leaves of the tree, each with its grown leaf; `None` if these are `leaves`, one for one.
    pub(crate) tree_leaves: Option<Vec<TreeLeaf>>,
}

/// A leaf of a tree in which several share a value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TreeLeaf {
    /// The index of its grown leaf.
    pub(crate) leaf: u32,
    /// Number of rows that reach it, over all processes.
    pub(crate) rows: u64,
}

impl Grown {
    /// A tree without categorical splits whose leaves have a value each.
    pub(crate) fn numeric(splits: Vec<Split>, leaves: Vec<GrownLeaf>) -> Self {
        Self { splits, sets: Vec::new(), leaves, tree_leaves: None }
    }

    /// The tree, given the value of each grown leaf.
    pub(crate) fn tree(&self, values: &[f64]) -> Result<Tree, ModelError> {
        debug_assert_eq!(values.len(), self.leaves.len(), "each grown leaf has a value");
        let value = |leaf: usize| values.get(leaf).copied().unwrap_or(0.0);
        let own = |(at, leaf): (usize, &GrownLeaf)| Leaf { value: value(at), rows: leaf.rows };
        let leaves = match &self.tree_leaves {
            None => self.leaves.iter().enumerate().map(own).collect(),
            Some(tree_leaves) => {
                let shared =
                    |end: &TreeLeaf| Leaf { value: value(end.leaf as usize), rows: end.rows };
                tree_leaves.iter().map(shared).collect()
            }
        };
        Tree::with_sets(self.splits.clone(), leaves, self.sets.clone())
    }

    /// The value of each grown leaf, given the values of the leaves of the tree.
    pub(crate) fn values(&self, of_tree: impl Iterator<Item = f64>) -> Vec<f64> {
        let Some(tree_leaves) = &self.tree_leaves else { return of_tree.collect() };
        let mut values = vec![0.0; self.leaves.len()];
        for (end, value) in tree_leaves.iter().zip(of_tree) {
            values[end.leaf as usize] = value;
        }
        values
    }
}

/// A leaf of a grown tree: a group of rows with a value of its own.
#[derive(Debug, Clone)]
pub(crate) struct GrownLeaf {
    /// The range of its rows in the buffer.
    pub(crate) range: Range<usize>,
    /// The grower's buffer that holds its rows: 0 or 1.
    pub(crate) buffer: usize,
    /// Number of rows over all processes.
    pub(crate) rows: u64,
    /// Limits on its value, in the units of scores.
    pub(crate) limits: Limits,
}
