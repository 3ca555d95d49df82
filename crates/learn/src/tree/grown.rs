//! A tree as it comes out of growing: splits, and which rows each leaf holds; values come later.
//!
//! Most trees have a value for each leaf. In an oblivious tree several leaves may share one, as the
//! same rows stayed together there: what has a value of its own is a grown leaf, and the leaves of
//! the tree are [`End`]s that name one.

use std::ops::Range;

use rankwright_model::{Categories, Leaf, ModelError, Split, Tree};

use super::split::Limits;

/// A grown tree: its splits, and where the rows of each leaf lie in the grower.
#[derive(Debug)]
pub(crate) struct Grown {
    pub(crate) splits: Vec<Split>,
    /// The sets of categories that splits ask for.
    pub(crate) sets: Vec<Categories>,
    /// Everything that gets a value of its own.
    pub(crate) leaves: Vec<GrownLeaf>,
    /// The leaves of the tree, where several of them share one of `leaves`.
    pub(crate) ends: Option<Vec<End>>,
}

/// A leaf of a tree in which several share a value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    /// Which of the grown leaves it belongs to.
    pub(crate) leaf: u32,
    /// Rows of all processes that come here.
    pub(crate) rows: u64,
}

impl Grown {
    /// A tree without categories whose leaves have a value each.
    pub(crate) fn plain(splits: Vec<Split>, leaves: Vec<GrownLeaf>) -> Self {
        Self { splits, sets: Vec::new(), leaves, ends: None }
    }

    /// The tree, given the value of each grown leaf.
    pub(crate) fn tree(&self, values: &[f64]) -> Result<Tree, ModelError> {
        debug_assert_eq!(values.len(), self.leaves.len(), "each grown leaf has a value");
        let value = |leaf: usize| values.get(leaf).copied().unwrap_or(0.0);
        let own = |(at, leaf): (usize, &GrownLeaf)| Leaf { value: value(at), rows: leaf.rows };
        let leaves = match &self.ends {
            None => self.leaves.iter().enumerate().map(own).collect(),
            Some(ends) => {
                let shared = |end: &End| Leaf { value: value(end.leaf as usize), rows: end.rows };
                ends.iter().map(shared).collect()
            }
        };
        Tree::with_sets(self.splits.clone(), leaves, self.sets.clone())
    }

    /// What each grown leaf has, given what each leaf of the tree made of them has.
    pub(crate) fn values(&self, of_tree: impl Iterator<Item = f64>) -> Vec<f64> {
        let Some(ends) = &self.ends else { return of_tree.collect() };
        let mut values = vec![0.0; self.leaves.len()];
        for (end, value) in ends.iter().zip(of_tree) {
            values[end.leaf as usize] = value;
        }
        values
    }
}

/// A leaf of a grown tree.
#[derive(Debug, Clone)]
pub(crate) struct GrownLeaf {
    /// Where its rows lie in the buffer.
    pub(crate) range: Range<usize>,
    /// Which buffer.
    pub(crate) buffer: usize,
    /// Rows of all processes.
    pub(crate) rows: u64,
    /// Limits on its value.
    pub(crate) limits: Limits,
}
