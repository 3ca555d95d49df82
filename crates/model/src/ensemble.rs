//! A sum of trees: `score = base + tree_1(row) + tree_2(row) + ...`, added in f64 in this order.
//!
//! The order of addition is part of the contract: every scorer gives the same bits as
//! [`Ensemble::score_row`]. Leaf values are finite, so a sum may overflow to an infinity but is
//! never NaN. Without trees every row scores `base`.

use crate::error::ModelError;
use crate::problem::ModelParameter;
use crate::tree::Tree;

/// Maximum number of trees. It bounds the memory that a file can take, as a tree without splits
/// needs some 100 bytes in memory, more than in the file.
pub(crate) const MAX_TREES: usize = 1 << 19;

/// A base score and trees.
///
/// ```
/// use rankwright_model::{Ensemble, Tree};
///
/// let trees = vec![Tree::constant(0.5, 1)?, Tree::constant(0.25, 1)?];
/// let model = Ensemble::new(1.0, trees)?;
/// assert_eq!(model.score_row(&[]), 1.75);
/// assert_eq!(model.truncated(1).score_row(&[]), 1.5);
/// # Ok::<(), rankwright_model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Ensemble {
    base: f64,
    trees: Vec<Tree>,
}

impl Ensemble {
    /// Makes an ensemble of at most 524,288 trees and a base score, which must be finite.
    pub fn new(base: f64, trees: Vec<Tree>) -> Result<Ensemble, ModelError> {
        if trees.len() > MAX_TREES {
            let (found, most) = (trees.len(), MAX_TREES);
            return Err(ModelError::TooMany { item: "tree", found, most });
        }
        ModelError::check_finite(ModelParameter::BaseScore, base)?;
        Ok(Ensemble { base, trees })
    }

    /// The base score, to which the trees are added.
    pub fn base(&self) -> f64 {
        self.base
    }

    /// The trees in the order in which they are added.
    pub fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// The largest feature number plus one; 0 if there is no split.
    pub fn features(&self) -> usize {
        self.trees.iter().map(Tree::features).max().unwrap_or(0)
    }

    /// The score of a row. A feature beyond the end of the row is missing.
    pub fn score_row(&self, row: &[f32]) -> f64 {
        self.trees.iter().fold(self.base, |sum, tree| sum + tree.value(row))
    }

    /// The score of a row whose values are looked up by feature number.
    pub(crate) fn score_by(&self, value: impl Fn(usize) -> f32) -> f64 {
        let add = |sum, tree: &Tree| sum + tree.leaves()[tree.leaf_by(&value)].value;
        self.trees.iter().fold(self.base, add)
    }

    /// The ensemble of the base score and the first `n` trees; of all trees if there are fewer.
    pub fn truncated(&self, n: usize) -> Ensemble {
        Ensemble { base: self.base, trees: self.trees.iter().take(n).cloned().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::two_split_tree;

    #[test]
    fn a_score_is_the_base_and_the_trees_in_their_order() {
        // About the distance from 0.1 to the next f64: the sum depends on the order of addition.
        let tiny = Tree::constant(1e-17, 1).unwrap();
        let trees = vec![tiny.clone(), tiny, two_split_tree()];
        let model = Ensemble::new(0.1, trees).unwrap();
        assert_eq!(model.score_row(&[0.0, 0.0]), 0.1 + 1e-17 + 1e-17 - 1.0);
        assert_eq!(model.features(), 2);
        assert_eq!(model.truncated(2).trees().len(), 2);
        assert_eq!(model.truncated(9), model);
        assert_eq!(model.truncated(0).score_row(&[]), 0.1);
    }

    #[test]
    fn an_overflow_is_infinite_and_never_nan() {
        let huge = |value| Tree::constant(value, 1).unwrap();
        let model = Ensemble::new(f64::MAX, vec![huge(f64::MAX), huge(f64::MIN)]).unwrap();
        assert_eq!(model.score_row(&[]), f64::INFINITY);
        assert!(Ensemble::new(f64::NAN, vec![]).is_err());
    }
}
