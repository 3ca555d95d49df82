//! Trees made ready for the columns of certain data.
//!
//! A split on a feature that the data lacks always goes the same way, so it is left out; the splits
//! that remain ask for columns. Nodes stand children first, the root last, and leaves are numbered
//! from left to right as the drawn tree has them: under any node they are a range.

use crate::categories::Categories;
use crate::matching::Matching;
use crate::tree::{Child, Rule, Side, Split, Tree};

/// Where a side of a node leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    Node(usize),
    Leaf(usize),
}

/// A split.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Node {
    pub(crate) column: usize,
    pub(crate) rule: Rule,
    pub(crate) missing: Side,
    pub(crate) left: Link,
    pub(crate) right: Link,
}

/// A tree over columns.
#[derive(Debug, Clone)]
pub(crate) struct Ready {
    /// Children first; empty where the tree is one leaf.
    pub(crate) nodes: Vec<Node>,
    /// Values of the leaves, from left to right.
    pub(crate) values: Vec<f64>,
    /// The sets that rules name by number.
    pub(crate) sets: Vec<Categories>,
}

/// A step of a walk over a tree that needs no recursion: a damaged or clever model may be deep.
enum Step {
    Enter(Child),
    /// A split, and its column.
    Leave(u32, usize),
}

impl Ready {
    pub(crate) fn new(tree: &Tree, matching: &Matching) -> Ready {
        let nodes = Vec::with_capacity(tree.splits().len());
        let values = Vec::with_capacity(tree.leaves().len());
        let mut ready = Ready { nodes, values, sets: tree.sets().to_vec() };
        let mut steps = vec![Step::Enter(tree.root())];
        let mut done: Vec<Link> = Vec::new();
        while let Some(step) = steps.pop() {
            match step {
                Step::Enter(Child::Leaf(leaf)) => {
                    done.push(Link::Leaf(ready.values.len()));
                    ready.values.push(tree.leaves()[leaf as usize].value);
                }
                Step::Enter(Child::Split(number)) => {
                    let split = &tree.splits()[number as usize];
                    if let Some(column) = matching.column(split.feature as usize) {
                        steps.push(Step::Leave(number, column));
                        steps.push(Step::Enter(split.right));
                        steps.push(Step::Enter(split.left));
                    } else {
                        let side = split.side(matching.absent(), tree.sets());
                        steps.push(Step::Enter(split.child(side)));
                    }
                }
                Step::Leave(number, column) => {
                    let (Some(right), Some(left)) = (done.pop(), done.pop()) else { break };
                    let Split { rule, missing, .. } = tree.splits()[number as usize];
                    done.push(Link::Node(ready.nodes.len()));
                    ready.nodes.push(Node { column, rule, missing, left, right });
                }
            }
        }
        ready
    }

    /// Where every row starts.
    pub(crate) fn root(&self) -> Link {
        match self.nodes.len() {
            0 => Link::Leaf(0),
            n => Link::Node(n - 1),
        }
    }
}
