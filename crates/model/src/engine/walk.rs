//! Walking down trees: for a few rows, and for trees that are too large for a network.
//!
//! Eight trees (or eight rows of one tree) take their steps together: each step waits for memory,
//! and eight can wait at the same time. Leaves lead to themselves, so that no lane has to be asked
//! whether it has arrived; the walk ends when a step changes nothing. Values are added tree by tree
//! in their order.

use super::ready::{Link, Ready};
use crate::categories::Categories;
use crate::tree::{Rule, Side};

/// Walks that go on together.
const LANES: usize = 8;

/// Trees as one array of nodes.
#[derive(Debug, Default)]
pub(crate) struct Walks {
    nodes: Vec<Step>,
    /// Values, by the number of a leaf's node.
    values: Vec<f64>,
    roots: Vec<u32>,
    sets: Vec<Categories>,
}

/// A split, or a leaf that leads to itself.
#[derive(Debug, Clone, Copy)]
struct Step {
    column: u32,
    kind: Kind,
    missing_right: bool,
    threshold: f32,
    children: [u32; 2],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    AtMost,
    NonZero,
    /// The number of a set.
    Set(u32),
}

impl Walks {
    pub(crate) fn new(trees: &[Ready]) -> Walks {
        let mut walks = Walks::default();
        for tree in trees {
            walks.add_tree(tree);
        }
        walks
    }

    fn add_tree(&mut self, tree: &Ready) {
        let (first, sets) = (self.nodes.len(), self.sets.len() as u32);
        let count = tree.nodes.len();
        // Splits from the root down, then leaves: the first steps of all rows lie together.
        let number = |link: Link| match link {
            Link::Node(node) => (first + count - 1 - node) as u32,
            Link::Leaf(leaf) => (first + count + leaf) as u32,
        };
        for node in tree.nodes.iter().rev() {
            let (kind, threshold) = match node.rule {
                Rule::AtMost(threshold) => (Kind::AtMost, threshold),
                Rule::NonZeroAtMost(threshold) => (Kind::NonZero, threshold),
                Rule::In(set) => (Kind::Set(sets + set), 0.0),
            };
            self.nodes.push(Step {
                column: node.column as u32,
                kind,
                missing_right: node.missing == Side::Right,
                threshold,
                children: [number(node.left), number(node.right)],
            });
        }
        for leaf in 0..tree.values.len() {
            let own = number(Link::Leaf(leaf));
            self.nodes.push(Step {
                column: 0,
                kind: Kind::AtMost,
                missing_right: false,
                threshold: f32::INFINITY,
                children: [own; 2],
            });
        }
        self.values.resize(first + count, 0.0);
        self.values.extend(&tree.values);
        self.sets.extend_from_slice(&tree.sets);
        self.roots.push(number(tree.root()));
    }

    /// Where a row goes from a node.
    #[inline(always)]
    fn step(&self, at: u32, row: &[f32]) -> u32 {
        let step = &self.nodes[at as usize];
        let value = row.get(step.column as usize).copied().unwrap_or(f32::NAN);
        let right = match step.kind {
            Kind::AtMost => (value > step.threshold) | (value.is_nan() & step.missing_right),
            Kind::NonZero | Kind::Set(_) => self.special(step, value),
        };
        step.children[usize::from(right)]
    }

    #[cold]
    fn special(&self, step: &Step, value: f32) -> bool {
        let rule = match step.kind {
            Kind::Set(set) => Rule::In(set),
            _ => Rule::NonZeroAtMost(step.threshold),
        };
        let missing = if step.missing_right { Side::Right } else { Side::Left };
        rule.side(value, missing, &self.sets) == Side::Right
    }

    /// The leaves at which some lanes arrive, each with a root and a row of its own.
    #[inline(always)]
    fn arrive<const N: usize>(&self, roots: [u32; N], rows: [&[f32]; N]) -> [u32; N] {
        let mut at = roots;
        loop {
            let next: [u32; N] = std::array::from_fn(|lane| self.step(at[lane], rows[lane]));
            if next == at {
                return at;
            }
            at = next;
        }
    }

    /// Adds the trees' values for one row to its score, eight trees at a time.
    pub(crate) fn add_row(&self, row: &[f32], score: &mut f64) {
        let (eights, rest) = self.roots.as_chunks::<LANES>();
        for roots in eights {
            for at in self.arrive(*roots, [row; LANES]) {
                *score += self.values[at as usize];
            }
        }
        for root in rest {
            let [at] = self.arrive([*root], [row]);
            *score += self.values[at as usize];
        }
    }

    /// The same for many rows of `columns` values, eight rows at a time through each tree.
    pub(crate) fn add(&self, values: &[f32], columns: usize, scores: &mut [f64]) {
        let row = |number: usize| &values[number * columns..(number + 1) * columns];
        for root in &self.roots {
            for (group, scores) in scores.chunks_mut(LANES).enumerate() {
                let last = scores.len() - 1;
                let rows = std::array::from_fn(|lane: usize| row(group * LANES + lane.min(last)));
                let at = self.arrive([*root; LANES], rows);
                for (score, at) in scores.iter_mut().zip(at) {
                    *score += self.values[at as usize];
                }
            }
        }
    }
}
