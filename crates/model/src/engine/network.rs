//! The select network: every tree evaluated from its leaves up, for many rows in a register.
//!
//! A byte for each row holds the number of a leaf. At a node whose children are both leaves it is
//! the left one's number, or one more where the row's rank is above the node's test; at any other
//! node it is taken from the right child or from the left one by the same comparison. So each node is
//! a comparison and a selection of bytes, 32 rows at a time with AVX2, without a branch or a jump in
//! memory; what a tree costs depends on its size, not on the way a row takes. At the root stands the
//! leaf, whose value is added to the row's score, tree after tree in their order: the bits are those
//! of [`Ensemble::score_row`](crate::Ensemble::score_row).
//!
//! A tree whose splits are the same on each level (CatBoost's oblivious trees) needs no selections:
//! each level gives one bit of the leaf's number.
//!
//! For trees of at most 256 leaves. The same plain Rust is compiled twice, for AVX2 and for any
//! processor. The idea is a relative of QuickScorer (Lucchese et al., SIGIR 2015) and RapidScorer (Ye
//! et al., KDD 2018), which also visit all nodes, but mask leaves out instead of selecting them.

use super::asks::{Asks, Ranker, Test};
use super::ready::{Link, Ready};

/// The most leaves of a tree.
pub(crate) const MOST_LEAVES: usize = 256;
/// Rows of a register with AVX2.
const REGISTER: usize = 32;
/// Trees whose leaf values are added together.
const TOGETHER: usize = 8;

/// Trees that share the ranks of a row.
#[derive(Debug)]
pub(crate) struct Network {
    ranker: Ranker,
    asks: usize,
    trees: Vec<Program>,
    /// Values by tree and leaf.
    values: Vec<[f64; MOST_LEAVES]>,
    slots: usize,
}

/// How one tree finds its leaf.
#[derive(Debug)]
enum Program {
    Select {
        /// Nodes with two leaves; slot [`MOST_LEAVES`] and following.
        pairs: Vec<Pair>,
        /// All others, children first; the slots after those of the pairs.
        picks: Vec<Pick>,
    },
    /// The tests of an oblivious tree, from the root down.
    Levels(Vec<Test>),
}

/// A node whose children are the leaves `low` and `low + 1`.
#[derive(Debug, Clone, Copy)]
struct Pair {
    test: Test,
    low: u8,
}

/// A node that takes over what one of two slots holds.
#[derive(Debug, Clone, Copy)]
struct Pick {
    test: Test,
    left: u16,
    right: u16,
}

/// What a thread keeps between blocks of `N` rows.
#[derive(Debug)]
pub(crate) struct Board<const N: usize> {
    ranks: Vec<[i8; N]>,
    /// First the numbers of the leaves, then what the nodes hold.
    slots: Vec<[u8; N]>,
    roots: [[u8; N]; TOGETHER],
}

impl<const N: usize> Default for Board<N> {
    fn default() -> Self {
        let slots = (0..=u8::MAX).map(|leaf| [leaf; N]).collect();
        Self { ranks: Vec::new(), slots, roots: [[0; N]; TOGETHER] }
    }
}

impl Network {
    /// The longest prefix of the trees that one network can hold, and the number of its trees; none
    /// where the first tree is too large.
    pub(crate) fn of_prefix(trees: &[Ready]) -> Option<(Network, usize)> {
        let mut asks = Asks::default();
        let fits = |tree: &&Ready| tree.values.len() <= MOST_LEAVES && asks.add(tree);
        let count = trees.iter().take_while(fits).count();
        if count == 0 {
            return None;
        }
        let programs: Option<Vec<Program>> =
            trees[..count].iter().map(|tree| Program::new(tree, &asks)).collect();
        let values = trees[..count].iter().map(|tree| {
            let mut values = [0.0; MOST_LEAVES];
            values.iter_mut().zip(&tree.values).for_each(|(to, from)| *to = *from);
            values
        });
        let trees = programs?;
        let slots = MOST_LEAVES + trees.iter().map(Program::nodes).max().unwrap_or(0);
        let network = Network {
            ranker: asks.ranker(),
            asks: asks.len(),
            trees,
            values: values.collect(),
            slots,
        };
        Some((network, count))
    }

    /// Whether the trees are oblivious, for whoever wants to know.
    pub(crate) fn is_oblivious(&self) -> bool {
        self.trees.iter().all(|tree| matches!(tree, Program::Levels(_)))
    }

    /// Adds the trees' values for up to `N` rows of `columns` values to their scores.
    #[inline(always)]
    pub(crate) fn add<const N: usize>(
        &self,
        values: &[f32],
        columns: usize,
        scores: &mut [f64],
        board: &mut Board<N>,
    ) {
        let Board { ranks, slots, roots } = board;
        ranks.resize(self.asks.max(ranks.len()), [0; N]);
        slots.resize(self.slots.max(slots.len()), [0; N]);
        self.ranker.ranks(values, columns, ranks);
        for (trees, values) in self.trees.chunks(TOGETHER).zip(self.values.chunks(TOGETHER)) {
            for (tree, root) in trees.iter().zip(roots.iter_mut()) {
                tree.run(ranks, slots, root);
            }
            match <&[_; TOGETHER]>::try_from(values) {
                Ok(values) => add_values(values, roots, scores),
                Err(_) => {
                    for (values, root) in values.iter().zip(roots.iter()) {
                        add_values(&[*values], &[*root], scores);
                    }
                }
            }
        }
    }
}

/// Adds the values of the leaves at the roots, tree after tree.
#[inline(always)]
fn add_values<const N: usize, const T: usize>(
    values: &[[f64; MOST_LEAVES]; T],
    roots: &[[u8; N]; T],
    scores: &mut [f64],
) {
    for (row, score) in scores.iter_mut().enumerate().take(N) {
        let mut sum = *score;
        for (values, root) in values.iter().zip(roots) {
            sum += values[usize::from(root[row])];
        }
        *score = sum;
    }
}

impl Program {
    fn new(tree: &Ready, asks: &Asks) -> Option<Program> {
        let tests: Vec<Test> =
            tree.nodes.iter().map(|node| asks.test(node, tree)).collect::<Option<_>>()?;
        if let Some(levels) = levels(tree, &tests) {
            return Some(Program::Levels(levels));
        }
        let (mut pairs, mut others) = (Vec::new(), Vec::new());
        // Where each node's result lies; pairs come first, and the others keep their order.
        let mut slots = vec![0; tree.nodes.len()];
        for (number, node) in tree.nodes.iter().enumerate() {
            match (node.left, node.right) {
                (Link::Leaf(low), Link::Leaf(_)) => {
                    slots[number] = MOST_LEAVES + pairs.len();
                    pairs.push(Pair { test: tests[number], low: low as u8 });
                }
                _ => others.push(number),
            }
        }
        for (place, number) in others.iter().enumerate() {
            slots[*number] = MOST_LEAVES + pairs.len() + place;
        }
        let slot = |link: Link| match link {
            Link::Leaf(leaf) => leaf as u16,
            Link::Node(node) => slots[node] as u16,
        };
        let pick = |number: usize| {
            let node = &tree.nodes[number];
            Pick { test: tests[number], left: slot(node.left), right: slot(node.right) }
        };
        Some(Program::Select { pairs, picks: others.into_iter().map(pick).collect() })
    }

    fn nodes(&self) -> usize {
        match self {
            Program::Select { pairs, picks } => pairs.len() + picks.len(),
            Program::Levels(_) => 0,
        }
    }

    /// The leaf of each row.
    #[inline(always)]
    fn run<const N: usize>(&self, ranks: &[[i8; N]], slots: &mut [[u8; N]], root: &mut [u8; N]) {
        match self {
            Program::Select { pairs, picks } => {
                let mut next = MOST_LEAVES;
                for Pair { test, low } in pairs {
                    let ranks = &ranks[test.ask as usize];
                    let out = slots[next].as_chunks_mut::<REGISTER>().0;
                    for (out, ranks) in out.iter_mut().zip(ranks.as_chunks::<REGISTER>().0) {
                        *out = ranks.map(|rank| low + u8::from(rank > test.above));
                    }
                    next += 1;
                }
                for Pick { test, left, right } in picks {
                    let ranks = &ranks[test.ask as usize];
                    let (below, here) = slots.split_at_mut(next);
                    let (left, right) = (&below[usize::from(*left)], &below[usize::from(*right)]);
                    select(ranks, test.above, left, right, &mut here[0]);
                    next += 1;
                }
                *root = slots[next - 1];
            }
            Program::Levels(tests) => {
                root.fill(0);
                for (level, test) in tests.iter().rev().enumerate() {
                    let (ranks, bit) = (&ranks[test.ask as usize], 1_u8 << level);
                    let out = root.as_chunks_mut::<REGISTER>().0;
                    for (out, ranks) in out.iter_mut().zip(ranks.as_chunks::<REGISTER>().0) {
                        let bits = ranks.map(|rank| if rank > test.above { bit } else { 0 });
                        *out = std::array::from_fn(|row| out[row] | bits[row]);
                    }
                }
            }
        }
    }
}

/// Takes each byte from `right` where the rank is above, else from `left`. In pieces of a register
/// that are loaded whole, because the compiler cannot know that `out` is none of the others.
#[inline(always)]
fn select<const N: usize>(
    ranks: &[i8; N],
    above: i8,
    left: &[u8; N],
    right: &[u8; N],
    out: &mut [u8; N],
) {
    let pieces = left.as_chunks::<REGISTER>().0.iter().zip(right.as_chunks::<REGISTER>().0);
    let outs = out.as_chunks_mut::<REGISTER>().0.iter_mut();
    for ((out, ranks), (left, right)) in outs.zip(ranks.as_chunks::<REGISTER>().0).zip(pieces) {
        let (ranks, left, right) = (*ranks, *left, *right);
        let mut picked = [0_u8; REGISTER];
        for row in 0..REGISTER {
            picked[row] = if ranks[row] > above { right[row] } else { left[row] };
        }
        *out = picked;
    }
}

/// The tests of the levels of an oblivious tree, from the root down; a leaf alone has no level.
fn levels(tree: &Ready, tests: &[Test]) -> Option<Vec<Test>> {
    let mut level = vec![tree.root()];
    let mut found = Vec::new();
    loop {
        let nodes: Vec<usize> = level
            .iter()
            .filter_map(|link| match link {
                Link::Node(node) => Some(*node),
                Link::Leaf(_) => None,
            })
            .collect();
        if nodes.is_empty() {
            return (found.len() <= 8).then_some(found);
        }
        let test = tests[nodes[0]];
        if nodes.len() < level.len() || nodes.iter().any(|node| tests[*node] != test) {
            return None;
        }
        found.push(test);
        level = nodes
            .iter()
            .flat_map(|node| [tree.nodes[*node].left, tree.nodes[*node].right])
            .collect();
    }
}
