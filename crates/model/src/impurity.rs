//! The impurity of the splits of a tree: the criterion by which a regression tree chooses a split
//! (Breiman, Friedman, Olshen and Stone, *Classification and Regression Trees*, 1984, section 8.4).
//!
//! For rows S with targets y, and the two parts S1 and S2 that a split makes of them,
//!
//! ```text
//! L(S) = 1/|S| * sum over S of 1/2 (y - mean of y in S)^2
//! G    = |S1|/|S| * L(S1) + |S2|/|S| * L(S2)
//! ```
//!
//! L(S) is the impurity before the split, G after it; G is never above L(S). In boosting, the
//! targets are the negative gradients of the loss, which the caller computes.
//!
//! Cost: one pass over the rows, then one over the splits. Sums of squares are kept about the mean
//! (Welford's method) and merged from the leaves up (Chan, Golub, LeVeque 1979), so that large
//! targets of small variance lose no digits. A split that no row reaches has the impurity 0.

use rankwright_data::Dataset;
use serde::Serialize;

use crate::matching::Matching;
use crate::tree::{Child, Tree};

/// The impurity of the rows of a split, before and after it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SplitImpurity {
    /// Number of the split, from 0.
    pub split: usize,
    /// Number of rows of the data that reach the split.
    pub rows: u64,
    /// The impurity L of these rows: half the variance of their targets.
    pub before: f64,
    /// The impurity G after the split: the mean of the impurities of the two parts, weighted by
    /// their rows.
    pub after: f64,
}

impl SplitImpurity {
    /// The impurity of each split of a tree, in the order of the splits. `targets` has a value for
    /// each row of the data.
    pub fn of_tree(
        tree: &Tree,
        data: &Dataset,
        matching: &Matching,
        targets: &[f64],
    ) -> Vec<SplitImpurity> {
        let mut leaves = vec![Spread::default(); tree.leaves().len()];
        for (row, target) in targets.iter().enumerate().take(data.rows()) {
            let values = data.matrix().row(row);
            leaves[tree.leaf_by(&|feature| matching.value(values, feature))].add(*target);
        }
        // Children come after parents, so that a backward loop knows both parts of a split.
        let mut splits = vec![Spread::default(); tree.splits().len()];
        let mut impurities = Vec::with_capacity(splits.len());
        for (number, split) in tree.splits().iter().enumerate().rev() {
            let part = |child: Child| match child {
                Child::Split(below) => splits[below as usize],
                Child::Leaf(leaf) => leaves[leaf as usize],
            };
            let (left, right) = (part(split.left), part(split.right));
            let whole = left.merged(right);
            impurities.push(SplitImpurity {
                split: number,
                rows: whole.rows,
                before: half_mean(whole.squares, whole.rows),
                after: half_mean(left.squares + right.squares, whole.rows),
            });
            splits[number] = whole;
        }
        impurities.reverse();
        impurities
    }
}

/// Half the mean of a sum of squares; 0 without rows.
fn half_mean(squares: f64, rows: u64) -> f64 {
    squares / 2.0 / rows.max(1) as f64
}

/// Number, mean and spread of some targets.
#[derive(Debug, Clone, Copy, Default)]
struct Spread {
    rows: u64,
    mean: f64,
    /// The sum of squared differences from the mean.
    squares: f64,
}

impl Spread {
    fn add(&mut self, target: f64) {
        self.rows += 1;
        let before = target - self.mean;
        self.mean += before / self.rows as f64;
        self.squares += before * (target - self.mean);
    }

    /// The spread of the targets of both parts together.
    fn merged(self, other: Spread) -> Spread {
        let rows = self.rows + other.rows;
        let share = other.rows as f64 / rows.max(1) as f64;
        let difference = other.mean - self.mean;
        Spread {
            rows,
            mean: self.mean + difference * share,
            squares: self.squares
                + other.squares
                + difference * difference * share * self.rows as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use rankwright_data::Random;

    use super::*;
    use crate::header::Header;
    use crate::matching::MatchOptions;
    use crate::tree::tests::random_tree;

    /// Half the variance in two passes, as in the definition.
    fn impurity(targets: &[f64]) -> f64 {
        let count = targets.len().max(1) as f64;
        let mean = targets.iter().sum::<f64>() / count;
        targets.iter().map(|y| (y - mean).powi(2) / 2.0).sum::<f64>() / count
    }

    /// The targets of the rows that are below a child.
    fn below(tree: &Tree, data: &Dataset, targets: &[f64], child: Child) -> Vec<f64> {
        let is_below = |row: usize| {
            let (values, mut node) = (data.matrix().row(row), tree.root());
            loop {
                match node {
                    _ if node == child => return true,
                    Child::Leaf(_) => return false,
                    Child::Split(number) => {
                        let split = tree.splits()[number as usize];
                        node = split.child(split.side(values[split.feature as usize], tree.sets()));
                    }
                }
            }
        };
        (0..data.rows()).filter(|row| is_below(*row)).map(|row| targets[row]).collect()
    }

    #[test]
    fn impurities_are_those_of_the_definition() {
        for seed in 0..10 {
            let tree = random_tree(seed, 12, 3);
            let mut random = Random::new(seed, 3);
            let values: Vec<f32> = (0..300).map(|_| 10.0 * random.unit() as f32).collect();
            let data = Dataset::builder().dense(values, 3).labels([0.0; 100]);
            let data = data.query_ids(["q"; 100]).build().unwrap();
            let targets: Vec<f64> = (0..100).map(|_| 1e6 + random.unit()).collect();
            let header = Header::new(data.features().clone(), data.absent());
            let matching =
                Matching::new(&header, data.features(), MatchOptions::default()).unwrap();
            let found = SplitImpurity::of_tree(&tree, &data, &matching, &targets);
            assert_eq!(found.len(), tree.splits().len());
            for (number, (impurity_of, split)) in found.iter().zip(tree.splits()).enumerate() {
                let parts =
                    [split.left, split.right].map(|child| below(&tree, &data, &targets, child));
                let whole = below(&tree, &data, &targets, Child::Split(number as u32));
                let share = |part: &Vec<f64>| part.len() as f64 / whole.len().max(1) as f64;
                let after: f64 = parts.iter().map(|part| share(part) * impurity(part)).sum();
                assert_eq!((impurity_of.split, impurity_of.rows), (number, whole.len() as u64));
                assert!((impurity_of.before - impurity(&whole)).abs() < 1e-9);
                assert!((impurity_of.after - after).abs() < 1e-9);
                assert!(impurity_of.after <= impurity_of.before + 1e-12);
            }
        }
    }
}
