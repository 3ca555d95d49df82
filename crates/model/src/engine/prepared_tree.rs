//! Trees prepared for the columns of a data set.
//!
//! A split on a feature that the data lacks always goes to the same side, so it is left out; the
//! remaining splits test columns. Nodes are ordered children first, the root last, and leaves are
//! numbered from left to right, so that the leaves under a node have consecutive numbers.

use crate::categories::Categories;
use crate::matching::Matching;
use crate::tree::{Child, Side, Split, SplitCondition, Tree};

/// The child of a node: the index of another node, or the number of a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChildLink {
    Node(usize),
    Leaf(usize),
}

/// A split of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PreparedSplit {
    pub(crate) column: usize,
    pub(crate) rule: SplitCondition,
    pub(crate) missing: Side,
    pub(crate) left: ChildLink,
    pub(crate) right: ChildLink,
}

/// A tree whose splits test columns of a data set.
#[derive(Debug, Clone)]
pub(crate) struct PreparedTree {
    /// Children first; empty if the tree is one leaf.
    pub(crate) nodes: Vec<PreparedSplit>,
    /// Values of the leaves, from left to right.
    pub(crate) values: Vec<f64>,
    /// The sets that split conditions name by number.
    pub(crate) sets: Vec<Categories>,
}

/// An entry of the stack of a depth-first walk over a tree. The walk needs no recursion, as an
/// imported model may be deep.
enum Visit {
    Enter(Child),
    /// The number of a split whose children were visited, and its column.
    Leave(u32, usize),
}

impl PreparedTree {
    pub(crate) fn new(tree: &Tree, matching: &Matching) -> PreparedTree {
        let nodes = Vec::with_capacity(tree.splits().len());
        let values = Vec::with_capacity(tree.leaves().len());
        let mut prepared = PreparedTree { nodes, values, sets: tree.sets().to_vec() };
        let mut stack = vec![Visit::Enter(tree.root())];
        // Visited subtrees whose parent is not yet complete.
        let mut done: Vec<ChildLink> = Vec::new();
        while let Some(visit) = stack.pop() {
            match visit {
                Visit::Enter(Child::Leaf(leaf)) => {
                    done.push(ChildLink::Leaf(prepared.values.len()));
                    prepared.values.push(tree.leaves()[leaf as usize].value);
                }
                Visit::Enter(Child::Split(number)) => {
                    let split = &tree.splits()[number as usize];
                    if let Some(column) = matching.column(split.feature as usize) {
                        stack.push(Visit::Leave(number, column));
                        stack.push(Visit::Enter(split.right));
                        stack.push(Visit::Enter(split.left));
                    } else {
                        let side = split.side(matching.absent(), tree.sets());
                        stack.push(Visit::Enter(split.child(side)));
                    }
                }
                Visit::Leave(number, column) => {
                    // Both children were visited, the left one first.
                    let (Some(right), Some(left)) = (done.pop(), done.pop()) else { break };
                    let Split { rule, missing, .. } = tree.splits()[number as usize];
                    done.push(ChildLink::Node(prepared.nodes.len()));
                    prepared.nodes.push(PreparedSplit { column, rule, missing, left, right });
                }
            }
        }
        prepared
    }

    /// The split or leaf at which every row starts.
    pub(crate) fn root(&self) -> ChildLink {
        match self.nodes.len() {
            0 => ChildLink::Leaf(0),
            n => ChildLink::Node(n - 1),
        }
    }
}
