//! A tree after growth: splits, and the rows of each leaf. Leaf values are computed later.
//!
//! Most trees have a value for each leaf. In an oblivious tree (one split test for all leaves of a
//! level) several leaves may share a value, because a test was not applied to a group of rows. Such
//! a group of rows with a value of its own is a *grown leaf* ([`GrownLeaf`]); the leaves of the
//! finished tree are [`TreeLeaf`]s, each of which refers to a grown leaf.

use std::ops::Range;

use rankwright_model::{Categories, Leaf, ModelError, Split, Tree};

use super::split::ValueLimits;

/// A grown tree: its splits, and the range of each leaf's rows in the grower's buffers.
#[derive(Debug)]
pub(crate) struct GrownTree {
    pub(crate) splits: Vec<Split>,
    /// The sets of categories that splits test.
    pub(crate) sets: Vec<Categories>,
    /// The grown leaves: each gets a value of its own.
    pub(crate) leaves: Vec<GrownLeaf>,
    /// The leaves of the finished tree, left to right; `None` if they are the same as `leaves`.
    pub(crate) tree_leaves: Option<Vec<TreeLeaf>>,
}

/// A leaf of a tree in which several leaves may share a value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TreeLeaf {
    /// The index of the grown leaf whose value this leaf has.
    pub(crate) grown_leaf: u32,
    /// Number of rows that reach this leaf, in all processes of a distributed training.
    pub(crate) rows: u64,
}

impl GrownTree {
    /// A tree without categorical splits whose leaves have a value each.
    pub(crate) fn numeric(splits: Vec<Split>, leaves: Vec<GrownLeaf>) -> Self {
        Self { splits, sets: Vec::new(), leaves, tree_leaves: None }
    }

    /// The finished tree, given the value of each grown leaf.
    pub(crate) fn tree(&self, values: &[f64]) -> Result<Tree, ModelError> {
        assert_eq!(values.len(), self.leaves.len(), "each grown leaf has a value");
        let unshared =
            |(index, leaf): (usize, &GrownLeaf)| Leaf { value: values[index], rows: leaf.rows };
        let leaves = match &self.tree_leaves {
            None => self.leaves.iter().enumerate().map(unshared).collect(),
            Some(tree_leaves) => {
                let shared = |tree_leaf: &TreeLeaf| Leaf {
                    value: values[tree_leaf.grown_leaf as usize],
                    rows: tree_leaf.rows,
                };
                tree_leaves.iter().map(shared).collect()
            }
        };
        Tree::with_sets(self.splits.clone(), leaves, self.sets.clone())
    }

    /// The value of each grown leaf, given the values of the leaves of the finished tree.
    pub(crate) fn values(&self, tree_values: impl Iterator<Item = f64>) -> Vec<f64> {
        let Some(tree_leaves) = &self.tree_leaves else { return tree_values.collect() };
        let mut values = vec![0.0; self.leaves.len()];
        for (tree_leaf, value) in tree_leaves.iter().zip(tree_values) {
            values[tree_leaf.grown_leaf as usize] = value;
        }
        values
    }
}

/// A grown leaf: a group of rows with a value of its own.
#[derive(Debug, Clone)]
pub(crate) struct GrownLeaf {
    /// The range of the leaf's rows in the grower's buffer.
    pub(crate) range: Range<usize>,
    /// The number of the grower's buffer that holds the leaf's rows: 0 or 1.
    pub(crate) buffer: usize,
    /// Number of rows of the leaf, in all processes of a distributed training.
    pub(crate) rows: u64,
    /// Limits on the leaf's value, in the units of scores.
    pub(crate) limits: ValueLimits,
}
