//! A model made ready for one data set: trees as flat arrays of nodes whose features are columns.
//!
//! A split on a feature that the data lacks always goes the same way, so it is left out when the
//! arrays are made; rows are never copied or rearranged. Blocks of rows go through one tree after
//! another, so that a tree stays in the cache while a block passes, and each score adds the trees
//! in their order: the bits are those of [`Ensemble::score_row`](crate::Ensemble::score_row).

use crate::ensemble::Ensemble;
use crate::linear::{Linear, add_term};
use crate::matching::Matching;
use crate::model::Kind;
use crate::tree::{Child, Side, Split, Tree};

/// Rows that go through a tree together.
pub(crate) const BLOCK: usize = 64;
/// Rows of a block that take their steps at the same time.
const LANES: usize = 8;

/// A model that reads the columns of a certain data set.
pub(crate) enum Flat {
    Trees { base: f64, trees: Vec<FlatTree> },
    Linear { bias: f64, terms: Vec<(usize, f64)> },
}

/// A tree of which each node is 24 bytes in a row.
pub(crate) struct FlatTree {
    root: i32,
    nodes: Vec<Node>,
    values: Vec<f64>,
}

/// A split. Children are numbers of nodes, or `!leaf`, which is below 0, for leaves.
#[derive(Clone, Copy)]
struct Node {
    column: usize,
    threshold: f32,
    missing_right: bool,
    children: [i32; 2],
}

impl Flat {
    pub(crate) fn new(kind: &Kind, matching: &Matching) -> Flat {
        match kind {
            Kind::Trees(ensemble) => Flat::of_trees(ensemble, matching),
            Kind::Linear(line) => Flat::of_line(line, matching),
        }
    }

    fn of_trees(ensemble: &Ensemble, matching: &Matching) -> Flat {
        let trees = ensemble.trees().iter().map(|tree| FlatTree::new(tree, matching)).collect();
        Flat::Trees { base: ensemble.base(), trees }
    }

    fn of_line(line: &Linear, matching: &Matching) -> Flat {
        let used = line.weights().iter().enumerate().filter(|(_, weight)| **weight != 0.0);
        // An absent value counts 0 whether it is 0 or missing.
        let terms = used.filter_map(|(feature, &weight)| Some((matching.column(feature)?, weight)));
        Flat::Linear { bias: line.bias(), terms: terms.collect() }
    }

    /// Scores rows of `columns` values each, one for each entry of `scores`.
    pub(crate) fn score(&self, values: &[f32], columns: usize, scores: &mut [f64]) {
        let row = |number: usize| &values[number * columns..(number + 1) * columns];
        match self {
            Flat::Trees { base, trees } => {
                scores.fill(*base);
                for tree in trees {
                    let (groups, rest) = scores.as_chunks_mut::<LANES>();
                    let first_of_rest = groups.len() * LANES;
                    for (number, scores) in groups.iter_mut().enumerate() {
                        let rows = std::array::from_fn(|lane| row(number * LANES + lane));
                        tree.add(rows, scores);
                    }
                    for (number, score) in rest.iter_mut().enumerate() {
                        tree.add([row(first_of_rest + number)], std::array::from_mut(score));
                    }
                }
            }
            Flat::Linear { bias, terms } => {
                for (number, score) in scores.iter_mut().enumerate() {
                    let row = row(number);
                    *score = terms
                        .iter()
                        .fold(*bias, |sum, &(column, weight)| add_term(sum, weight, row[column]));
                }
            }
        }
    }
}

impl FlatTree {
    fn new(tree: &Tree, matching: &Matching) -> FlatTree {
        let splits = tree.splits();
        // Where a way to each split really leads, once splits on absent features are left out.
        // Children come after their parents, so backwards theirs is known.
        let mut leads: Vec<i32> = vec![0; splits.len()];
        let mut nodes: Vec<Node> = Vec::with_capacity(splits.len());
        for (number, split) in splits.iter().enumerate().rev() {
            let to = |child: Child| match child {
                Child::Split(below) => leads[below as usize],
                Child::Leaf(leaf) => !(leaf as i32),
            };
            leads[number] = match matching.column(split.feature as usize) {
                None => to(split.child(split.side(matching.absent()))),
                Some(column) => {
                    nodes.push(Node::new(split, column, [to(split.left), to(split.right)]));
                    nodes.len() as i32 - 1
                }
            };
        }
        let root = leads.first().copied().unwrap_or(!0);
        FlatTree { root, nodes, values: tree.leaves().iter().map(|leaf| leaf.value).collect() }
    }

    /// Adds the tree's values for some rows to their scores. The rows take their steps together:
    /// each waits for memory, not for the others.
    fn add<const N: usize>(&self, rows: [&[f32]; N], scores: &mut [f64; N]) {
        let mut at = [self.root; N];
        while at.iter().any(|&at| at >= 0) {
            for (at, row) in at.iter_mut().zip(rows) {
                if *at >= 0 {
                    *at = self.nodes[*at as usize].child(row);
                }
            }
        }
        for (score, at) in scores.iter_mut().zip(at) {
            *score += self.values[!at as usize];
        }
    }
}

impl Node {
    fn new(split: &Split, column: usize, children: [i32; 2]) -> Node {
        let missing_right = split.missing == Side::Right;
        Node { column, threshold: split.threshold, missing_right, children }
    }

    fn child(&self, row: &[f32]) -> i32 {
        let value = row[self.column];
        let right = (value > self.threshold) | (value.is_nan() & self.missing_right);
        self.children[usize::from(right)]
    }
}
