//! A regression tree that is valid by construction: every value of [`Tree`] has been checked.
//!
//! Splits and leaves are numbered. The root is split 0, or leaf 0 of a tree without splits. At a
//! split a row goes left or right by its [`SplitCondition`], and to the side `missing` if its value
//! is missing. [`Tree::new`] checks that
//!
//! - there is one leaf more than there are splits, and each split and leaf is reached exactly once;
//! - a split's children have larger numbers than the split, so that there is no cycle and a loop
//!   over the numbers visits parents before children;
//! - thresholds are not NaN (infinite ones are legal), gains and leaf values are finite;
//! - a set of categories that a split condition names exists.
//!
//! Checking costs one pass. A path from the root costs at most `depth` steps.

use crate::categories::Categories;
use crate::error::ModelError;
use crate::problem::{ModelParameter, TreeProblem};

/// The child on one side of a split.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Child {
    /// The split with this number, from 0.
    Split(u32),
    /// The leaf with this number, from 0.
    Leaf(u32),
}

/// A side of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The side of values at most the threshold, or of categories in the set.
    Left,
    /// The side of all others.
    Right,
}

/// The largest absolute value that counts as 0 in [`SplitCondition::NonZeroAtMost`]; LightGBM's
/// constant `kZeroThreshold`.
pub const ABOUT_ZERO: f32 = 1e-35;

/// The condition under which a value goes left at a split. NaN is always missing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SplitCondition {
    /// Values at most this go left.
    AtMost(f32),
    /// Values at most this go left, but a value within [`ABOUT_ZERO`] of 0 is missing too (a split
    /// of LightGBM with `zero_as_missing`).
    NonZeroAtMost(f32),
    /// Categories in the tree's set with this number, from 0, go left.
    In(u32),
}

impl SplitCondition {
    /// The side of a value, given the side of missing values and the tree's sets of categories.
    pub fn side(self, value: f32, missing: Side, sets: &[Categories]) -> Side {
        let left = match self {
            _ if value.is_nan() => return missing,
            SplitCondition::AtMost(threshold) => value <= threshold,
            SplitCondition::NonZeroAtMost(_) if value.abs() <= ABOUT_ZERO => return missing,
            SplitCondition::NonZeroAtMost(threshold) => value <= threshold,
            SplitCondition::In(set) => {
                sets.get(set as usize).is_some_and(|set| set.contains(value))
            }
        };
        if left { Side::Left } else { Side::Right }
    }

    /// The threshold; `None` for a set of categories.
    pub fn threshold(self) -> Option<f32> {
        match self {
            SplitCondition::AtMost(threshold) | SplitCondition::NonZeroAtMost(threshold) => {
                Some(threshold)
            }
            SplitCondition::In(_) => None,
        }
    }
}

/// A split: a test of one feature, with two children.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    /// Number of the feature, from 0.
    pub feature: u32,
    /// The condition under which a value goes left.
    pub rule: SplitCondition,
    /// The side of missing values.
    pub missing: Side,
    /// The child on the left.
    pub left: Child,
    /// The child on the right.
    pub right: Child,
    /// The reduction of the training loss by the split; 0 if it is not known.
    pub gain: f64,
    /// Number of training rows that reached the split.
    pub rows: u64,
}

impl Split {
    /// The side of a value, given the tree's sets of categories.
    pub fn side(&self, value: f32, sets: &[Categories]) -> Side {
        self.rule.side(value, self.missing, sets)
    }

    /// The child on a side.
    pub fn child(&self, side: Side) -> Child {
        match side {
            Side::Left => self.left,
            Side::Right => self.right,
        }
    }
}

/// A leaf of a tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leaf {
    /// The number that the leaf adds to a score.
    pub value: f64,
    /// Number of training rows that reached the leaf.
    pub rows: u64,
}

/// A checked regression tree.
///
/// ```
/// use rankwright_model::{Child, Leaf, SplitCondition, Side, Split, Tree};
///
/// let split = Split {
///     feature: 1,
///     rule: SplitCondition::AtMost(0.5),
///     missing: Side::Right,
///     left: Child::Leaf(0),
///     right: Child::Leaf(1),
///     gain: 2.0,
///     rows: 10,
/// };
/// let leaves = [-1.0, 1.0].map(|value| Leaf { value, rows: 5 }).to_vec();
/// let tree = Tree::new(vec![split], leaves)?;
/// assert_eq!(tree.value(&[9.0, 0.5]), -1.0);
/// assert_eq!(tree.value(&[9.0, f32::NAN]), 1.0);
/// assert!(Tree::new(vec![split], vec![]).is_err());
/// # Ok::<(), rankwright_model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    splits: Vec<Split>,
    leaves: Vec<Leaf>,
    sets: Vec<Categories>,
}

/// Maximum number of splits of a tree.
const MAX_SPLITS: usize = i32::MAX as usize;

impl Tree {
    /// Checks splits and leaves and makes a tree of them, without categories.
    pub fn new(splits: Vec<Split>, leaves: Vec<Leaf>) -> Result<Tree, ModelError> {
        Tree::with_sets(splits, leaves, Vec::new())
    }

    /// Like `new`, with sets of categories, which split conditions name by number.
    pub fn with_sets(
        splits: Vec<Split>,
        leaves: Vec<Leaf>,
        sets: Vec<Categories>,
    ) -> Result<Tree, ModelError> {
        if splits.len() > MAX_SPLITS || leaves.len() != splits.len() + 1 {
            let (splits, leaves) = (splits.len(), leaves.len());
            return Err(ModelError::InvalidTree(TreeProblem::Size { splits, leaves }));
        }
        for (leaf, &Leaf { value, .. }) in leaves.iter().enumerate() {
            ModelError::check_finite(ModelParameter::LeafValue { leaf }, value)?;
        }
        check_splits(&splits, leaves.len(), sets.len())?;
        Ok(Tree { splits, leaves, sets })
    }

    /// A tree of one leaf: the same value for every row.
    pub fn constant(value: f64, rows: u64) -> Result<Tree, ModelError> {
        Tree::new(Vec::new(), vec![Leaf { value, rows }])
    }

    /// The splits by number.
    pub fn splits(&self) -> &[Split] {
        &self.splits
    }

    /// The leaves by number.
    pub fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    /// The sets of categories by number.
    pub fn sets(&self) -> &[Categories] {
        &self.sets
    }

    /// The split or leaf at which every row starts.
    pub fn root(&self) -> Child {
        match self.splits.is_empty() {
            true => Child::Leaf(0),
            false => Child::Split(0),
        }
    }

    /// The split with the number of a [`Child::Split`] of this tree.
    pub(crate) fn split(&self, number: u32) -> &Split {
        // Children of a valid tree exist.
        &self.splits[number as usize]
    }

    /// The leaf with the number of a [`Child::Leaf`] of this tree.
    pub(crate) fn leaf(&self, number: u32) -> &Leaf {
        &self.leaves[number as usize]
    }

    /// The largest feature number plus one; 0 for a tree without splits.
    pub fn features(&self) -> usize {
        self.splits.iter().map(|split| split.feature as usize + 1).max().unwrap_or(0)
    }

    /// Number of splits on the longest path from the root; 0 for a tree without splits.
    pub fn depth(&self) -> usize {
        // Children come after parents, so that a backward loop knows each child's height.
        let mut heights = vec![0usize; self.splits.len()];
        for (number, split) in self.splits.iter().enumerate().rev() {
            let height = |child: Child| match child {
                Child::Split(below) => heights[below as usize],
                Child::Leaf(_) => 0,
            };
            heights[number] = 1 + height(split.left).max(height(split.right));
        }
        heights.first().copied().unwrap_or(0)
    }

    /// The number of the leaf that a row reaches. A feature beyond the end of the row is missing.
    pub fn leaf_of(&self, row: &[f32]) -> usize {
        self.leaf_by(&|feature| row.get(feature).copied().unwrap_or(f32::NAN))
    }

    /// The number of the leaf that a row reaches; values are looked up by feature number.
    pub(crate) fn leaf_by(&self, value: &impl Fn(usize) -> f32) -> usize {
        let mut node = self.root();
        loop {
            match node {
                Child::Leaf(leaf) => return leaf as usize,
                Child::Split(number) => {
                    let split = &self.splits[number as usize];
                    let value = value(split.feature as usize);
                    node = split.child(split.side(value, &self.sets));
                }
            }
        }
    }

    /// The value of the leaf that a row reaches.
    pub fn value(&self, row: &[f32]) -> f64 {
        self.leaves[self.leaf_of(row)].value
    }
}

/// Checks the feature, condition, gain and children of each split. The `n` splits have `2n`
/// children, as many as there are splits without the root (`n - 1`) and leaves (`n + 1`) together:
/// if no child is out of range or reached twice, every split and leaf is reached.
fn check_splits(splits: &[Split], leaves: usize, sets: usize) -> Result<(), ModelError> {
    let mut seen_splits = vec![false; splits.len()];
    let mut seen_leaves = vec![false; leaves];
    for (number, split) in splits.iter().enumerate() {
        let fail = |problem| Err(ModelError::InvalidTree(problem));
        if split.feature == u32::MAX {
            return fail(TreeProblem::FeatureNumber { split: number, feature: split.feature });
        }
        match split.rule {
            SplitCondition::AtMost(threshold) | SplitCondition::NonZeroAtMost(threshold)
                if threshold.is_nan() =>
            {
                return fail(TreeProblem::NanThreshold { split: number });
            }
            SplitCondition::In(set) if set as usize >= sets => {
                return fail(TreeProblem::UnknownSet { split: number, set, sets });
            }
            _ => {}
        }
        ModelError::check_finite(ModelParameter::Gain { split: number }, split.gain)?;
        for child in [split.left, split.right] {
            let seen = match child {
                Child::Split(child) if child as usize <= number => {
                    return fail(TreeProblem::BackwardChild { split: number, child });
                }
                Child::Split(child) => seen_splits.get_mut(child as usize),
                Child::Leaf(leaf) => seen_leaves.get_mut(leaf as usize),
            };
            match seen {
                Some(seen) if !*seen => *seen = true,
                Some(_) => return fail(TreeProblem::SharedChild { split: number, child }),
                None => return fail(TreeProblem::UnknownChild { split: number, child }),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use rankwright_data::Random;

    /// A split that sends missing values right, with gain 1.
    pub(crate) fn split(feature: u32, threshold: f32, left: Child, right: Child) -> Split {
        let rule = SplitCondition::AtMost(threshold);
        Split { feature, rule, missing: Side::Right, left, right, gain: 1.0, rows: 6 }
    }

    fn leaves(values: &[f64]) -> Vec<Leaf> {
        values.iter().map(|&value| Leaf { value, rows: 4 }).collect()
    }

    /// A tree of two splits and three leaves: `x0 <= 0.5 ? -1 : (x1 <= 0.1 ? 0.25 : 3)`. A missing
    /// `x0` goes right, a missing `x1` left.
    pub(crate) fn two_split_tree() -> Tree {
        let mut splits = vec![
            split(0, 0.5, Child::Leaf(0), Child::Split(1)),
            split(1, 0.1, Child::Leaf(1), Child::Leaf(2)),
        ];
        (splits[0].gain, splits[0].rows, splits[1].missing) = (2.5, 10, Side::Left);
        let mut leaves = leaves(&[-1.0, 0.25, 3.0]);
        leaves[1].rows = 2;
        Tree::new(splits, leaves).unwrap()
    }

    /// A tree of maximum depth: the left child of each split is a leaf, the right child the next
    /// split. All splits test feature 0.
    pub(crate) fn chain_tree(splits: u32) -> Tree {
        let right = |i| if i + 1 == splits { Child::Leaf(splits) } else { Child::Split(i + 1) };
        let chain = (0..splits).map(|i| split(0, i as f32, Child::Leaf(i), right(i))).collect();
        let leaf = |i: u32| Leaf { value: f64::from(i), rows: 1 };
        Tree::new(chain, (0..=splits).map(leaf).collect()).unwrap()
    }

    /// A tree of random shape; its thresholds are the values 0 to 9 that random rows have, or 0.5
    /// less.
    pub(crate) fn random_tree(seed: u64, splits: usize, features: usize) -> Tree {
        // 0 is the number of the stream, chosen freely: other tests with the same seed use other
        // streams.
        let mut draw = Random::new(seed, 0);
        // Each new split replaces a random leaf of the tree so far.
        let mut grown: Vec<Split> = Vec::new();
        // The position of each leaf: its parent and side, `None` at the root.
        let mut leaf_positions: Vec<Option<(usize, Side)>> = vec![None];
        for number in 0..splits {
            let replaced = draw.below(leaf_positions.len());
            let child = Child::Split(number as u32);
            match leaf_positions.swap_remove(replaced) {
                Some((parent, Side::Left)) => grown[parent].left = child,
                Some((parent, Side::Right)) => grown[parent].right = child,
                None => {}
            }
            let threshold = draw.below(10) as f32 - 0.5 * draw.below(2) as f32;
            let unset = Child::Leaf(0);
            let mut new = split(draw.below(features) as u32, threshold, unset, unset);
            new.missing = if draw.below(2) == 0 { Side::Left } else { Side::Right };
            new.gain = draw.unit();
            grown.push(new);
            leaf_positions.extend([Some((number, Side::Left)), Some((number, Side::Right))]);
        }
        for (leaf, position) in leaf_positions.iter().enumerate() {
            match position {
                Some((parent, Side::Left)) => grown[*parent].left = Child::Leaf(leaf as u32),
                Some((parent, Side::Right)) => grown[*parent].right = Child::Leaf(leaf as u32),
                None => {}
            }
        }
        let leaf = |_| Leaf { value: draw.normal(), rows: draw.below(100) as u64 };
        Tree::new(grown, (0..=splits).map(leaf).collect()).unwrap()
    }

    #[test]
    fn values_at_the_threshold_go_left_and_missing_ones_to_their_side() {
        let tree = two_split_tree();
        assert_eq!(tree.value(&[0.5, 9.0]), -1.0);
        assert_eq!(tree.value(&[0.6, 0.1]), 0.25);
        assert_eq!(tree.value(&[f32::INFINITY, 0.2]), 3.0);
        assert_eq!(tree.value(&[f32::NAN, f32::NAN]), 0.25);
        assert_eq!(tree.value(&[]), 0.25, "a row that is too short has missing values");
        assert_eq!((tree.features(), tree.depth(), tree.root()), (2, 2, Child::Split(0)));
    }

    #[test]
    fn a_tree_without_splits_gives_the_value_of_its_leaf() {
        let tree = Tree::constant(4.0, 7).unwrap();
        assert_eq!((tree.root(), tree.depth(), tree.features()), (Child::Leaf(0), 0, 0));
        assert_eq!(tree.value(&[1.0]), 4.0);
        assert_eq!(chain_tree(100_000).depth(), 100_000);
    }

    #[test]
    fn bad_trees_are_refused_with_a_reason() {
        use Child::{Leaf as L, Split as S};
        let two = |a: Split, b: Split| Tree::new(vec![a, b], leaves(&[1.0, 2.0, 3.0]));
        // A second split without a mistake.
        let fine = split(0, 1.0, L(1), L(2));
        for (tree, reason) in [
            (two(split(0, 1.0, L(0), S(0)), fine), "split 0 leads back to split 0"),
            (two(split(0, 1.0, L(0), S(1)), split(0, 1.0, L(1), S(0))), "leads back to split 0"),
            (
                two(split(0, 1.0, L(0), S(2)), fine),
                "split 0 leads to split 2; expected a split or leaf that exists",
            ),
            (two(split(0, 1.0, L(3), S(1)), fine), "split 0 leads to leaf 3"),
            (
                two(split(0, 1.0, L(1), S(1)), fine),
                "split 1 leads to leaf 1, which has a parent already",
            ),
            (two(split(0, 1.0, S(1), S(1)), fine), "split 1, which has a parent already"),
            (two(split(0, f32::NAN, L(0), S(1)), fine), "the threshold of split 0 is NaN"),
            (two(split(u32::MAX, 1.0, L(0), S(1)), fine), "feature 4294967295"),
            (Tree::new(vec![fine], leaves(&[1.0])), "1 split and 1 leaf"),
            (Tree::new(vec![], vec![]), "0 splits and 0 leaves"),
            (Tree::constant(f64::NAN, 1), "the value of leaf 0 is NaN"),
            (Tree::constant(f64::INFINITY, 1), "the value of leaf 0 is inf"),
        ] {
            let error = tree.unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
        let mut bad = split(0, f32::INFINITY, L(0), S(1));
        assert!(two(bad, fine).is_ok(), "an infinite threshold is legal");
        bad.gain = f64::INFINITY;
        assert!(two(bad, fine).unwrap_err().to_string().contains("the gain of split 0 is inf"));
    }

    proptest! {
        #[test]
        fn random_trees_lead_every_row_to_a_leaf(seed in any::<u64>(), splits in 0usize..40) {
            let tree = random_tree(seed, splits, 3);
            let mut draw = Random::new(seed, 1);
            let row = [draw.below(10) as f32, draw.below(10) as f32];
            prop_assert!(tree.leaf_of(&row) <= splits);
            prop_assert!(tree.depth() <= splits);
        }
    }
}
