//! The select network: evaluates every tree from its leaves up, for many rows in a register.
//!
//! A byte for each row holds the number of a leaf. At a node whose children are both leaves it is
//! the left one's number, or one more if the row's rank is above the node's test; at any other node
//! it is taken from the right child or from the left one by the same comparison. So each node is a
//! comparison and a selection of bytes, 32 rows at a time with AVX2, without a branch or a jump in
//! memory; the cost of a tree depends on its size, not on the path of a row. The root has the
//! leaf's number, whose value is added to the row's score, tree after tree in their order: the bits
//! are those of [`Ensemble::score_row`](crate::Ensemble::score_row).
//!
//! A tree whose splits are the same on each level (CatBoost's oblivious trees) needs no selections:
//! each level gives one bit of the leaf's number.
//!
//! For trees of at most 256 leaves. A node reuses the slot of one of its children, leaves beside a
//! node have the first numbers, and nodes are ordered by height, so that little memory is touched
//! and no node waits for the one before it. The idea is related to QuickScorer (Lucchese et al.,
//! SIGIR 2015) and RapidScorer (Ye et al., KDD 2018), which also visit all nodes, but mask leaves
//! out instead of selecting them.

use super::kernel::{Aligned, Kernel, SLOTS, Slots};
use super::prepared_tree::{ChildLink, PreparedTree};
use super::rank_lookup::RankFinder;
use super::split_tests::{RankTest, SplitTests};
use super::steps::Steps;

/// Maximum number of leaves of a tree.
pub(crate) const MAX_LEAVES: usize = 256;
/// Number of trees whose leaf values are added together.
const TREES_PER_BATCH: usize = 8;

/// Trees that share the ranks of a row.
#[derive(Debug)]
pub(crate) struct Network {
    ranker: RankFinder,
    /// Number of rows of ranks.
    rows: usize,
    trees: Vec<Program>,
    /// The same trees, for a few rows.
    steps: Steps,
    /// Values of all leaves, and [`MAX_LEAVES`] more, so that as many follow each tree's first.
    values: Vec<f64>,
    /// The index of each tree's first value.
    starts: Vec<usize>,
}

/// The instructions that find the leaf of one tree.
#[derive(Debug)]
enum Program {
    Select {
        /// Nodes with two leaves; slot [`MAX_LEAVES`] and following.
        pairs: Vec<LeafPair>,
        /// All others, children first.
        selections: Vec<Selection>,
        /// The slot of the root.
        root: u16,
    },
    /// The tests of an oblivious tree, from the root down.
    Oblivious(Vec<RankTest>),
}

/// A node whose children are the leaves `low` and `low + 1`.
#[derive(Debug, Clone, Copy)]
struct LeafPair {
    test: RankTest,
    low: u8,
}

/// A node that copies the content of one of two slots into one of them.
#[derive(Debug, Clone, Copy)]
struct Selection {
    test: RankTest,
    left: u16,
    right: u16,
    to: u16,
}

/// Buffers of one thread for blocks of `N` rows.
#[derive(Debug)]
pub(crate) struct BlockBuffers<const N: usize> {
    ranks: Vec<Aligned<[i8; N]>>,
    /// First the numbers of the leaves, then the content of the nodes.
    slots: Box<Slots<N>>,
    roots: [[u8; N]; TREES_PER_BATCH],
}

impl<const N: usize> Default for BlockBuffers<N> {
    fn default() -> Self {
        let mut slots = Box::new(Aligned([[0; N]; SLOTS]));
        slots.0.iter_mut().zip(0..=u8::MAX).for_each(|(slot, leaf)| *slot = [leaf; N]);
        Self { ranks: Vec::new(), slots, roots: [[0; N]; TREES_PER_BATCH] }
    }
}

impl Network {
    /// The longest prefix of the trees that one network can hold, and the number of its trees;
    /// `None` if the first tree is too large.
    pub(crate) fn of_prefix(trees: &[PreparedTree]) -> Option<(Network, usize)> {
        let mut tests = SplitTests::default();
        let fits = |tree: &&PreparedTree| tree.values.len() <= MAX_LEAVES && tests.add(tree);
        let count = trees.iter().take_while(fits).count();
        if count == 0 {
            return None;
        }
        let layout = tests.layout();
        let (mut programs, mut values, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        let mut steps = Steps::default();
        for (number, tree) in trees[..count].iter().enumerate() {
            let tests = layout.tests(number, tree);
            let (program, leaves) = Program::new(tree, &tests);
            steps.add(tree, &tests, &leaves);
            programs.push(program);
            starts.push(values.len());
            values.extend(leaves.into_iter().map(|leaf| tree.values[leaf]));
        }
        values.resize(values.len() + MAX_LEAVES, 0.0);
        let (ranker, rows) = (layout.ranker(), layout.rows());
        Some((Network { ranker, rows, trees: programs, steps, values, starts }, count))
    }

    /// Whether all trees are oblivious.
    pub(crate) fn is_oblivious(&self) -> bool {
        self.trees.iter().all(|tree| matches!(tree, Program::Oblivious(_)))
    }

    /// Adds the trees' values for up to `N` rows of `columns` values to their scores.
    #[inline(always)]
    pub(crate) fn add<K: Kernel, const N: usize>(
        &self,
        kernel: K,
        values: &[f32],
        columns: usize,
        scores: &mut [f64],
        buffers: &mut BlockBuffers<N>,
    ) {
        buffers.ranks.resize(self.rows.max(buffers.ranks.len()), Aligned([0; N]));
        match self.ranker.ranks(kernel, values, columns, &mut buffers.ranks) {
            true => self.add_trees::<K, N, true>(kernel, scores, buffers),
            false => self.add_trees::<K, N, false>(kernel, scores, buffers),
        }
    }

    /// Adds the trees' values for one row to its score; `ranks` is a buffer.
    #[inline(always)]
    pub(crate) fn add_row<K: Kernel>(
        &self,
        kernel: K,
        row: &[f32],
        score: &mut f64,
        ranks: &mut Vec<i8>,
    ) {
        ranks.resize(self.rows.max(ranks.len()), 0);
        self.ranker.ranks_of_row(kernel, row, ranks);
        self.steps.leaves(ranks, |tree, leaf| {
            *score += self.leaves(self.starts[tree])[leaf % MAX_LEAVES];
        });
    }

    /// Runs the trees over the ranks; `MISSING` if some splits send a missing value left and others
    /// right.
    #[inline(always)]
    fn add_trees<K: Kernel, const N: usize, const MISSING: bool>(
        &self,
        kernel: K,
        scores: &mut [f64],
        buffers: &mut BlockBuffers<N>,
    ) {
        let BlockBuffers { ranks, slots, roots } = buffers;
        for (trees, starts) in
            self.trees.chunks(TREES_PER_BATCH).zip(self.starts.chunks(TREES_PER_BATCH))
        {
            for (tree, root) in trees.iter().zip(roots.iter_mut()) {
                tree.run::<K, N, MISSING>(kernel, ranks, slots, root);
            }
            match <&[usize; TREES_PER_BATCH]>::try_from(starts) {
                Ok(starts) => add_values(starts.map(|start| self.leaves(start)), roots, scores),
                Err(_) => {
                    for (start, root) in starts.iter().zip(roots.iter()) {
                        add_values([self.leaves(*start)], &[*root], scores);
                    }
                }
            }
        }
    }

    /// The values of a tree's leaves, followed by values of others.
    #[inline(always)]
    fn leaves(&self, start: usize) -> &[f64; MAX_LEAVES] {
        debug_assert!(start + MAX_LEAVES <= self.values.len(), "values follow each tree's first");
        self.values.get(start..).and_then(|rest| rest.first_chunk()).unwrap_or(&[0.0; MAX_LEAVES])
    }
}

/// Adds the values of the leaves at the roots, tree after tree.
#[inline(always)]
fn add_values<const N: usize, const T: usize>(
    values: [&[f64; MAX_LEAVES]; T],
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
    /// The program of a tree, and its leaves in the order of the program's numbers: leaves without
    /// a sibling leaf come first, so that few slots of leaves are ever read.
    fn new(tree: &PreparedTree, tests: &[RankTest]) -> (Program, Vec<usize>) {
        if let Some(levels) = levels(tree, tests) {
            return (Program::Oblivious(levels), (0..tree.values.len()).collect());
        }
        let (mut paired, mut leaves) = (Vec::new(), Vec::new());
        let mut slots = vec![0; tree.nodes.len()];
        for (number, node) in tree.nodes.iter().enumerate() {
            match (node.left, node.right) {
                (ChildLink::Leaf(left), ChildLink::Leaf(right)) => {
                    slots[number] = MAX_LEAVES + paired.len();
                    paired.push((number, [left, right]));
                }
                (ChildLink::Leaf(leaf), _) | (_, ChildLink::Leaf(leaf)) => leaves.push(leaf),
                _ => {}
            }
        }
        let mut numbers = vec![0_usize; tree.values.len()];
        leaves.iter().enumerate().for_each(|(number, leaf)| numbers[*leaf] = number);
        let mut pairs = Vec::with_capacity(paired.len());
        for (number, both) in paired {
            pairs.push(LeafPair { test: tests[number], low: leaves.len() as u8 });
            leaves.extend(both);
        }
        let mut selections = Vec::with_capacity(tree.nodes.len() - pairs.len());
        for number in by_height(tree) {
            let node = &tree.nodes[number];
            let slot = |link: ChildLink| match link {
                ChildLink::Leaf(leaf) => numbers[leaf] as u16,
                ChildLink::Node(node) => slots[node] as u16,
            };
            let (left, right) = (slot(node.left), slot(node.right));
            // Only the parent reads the content of a node, so it reuses the slot.
            let to = match (node.left, node.right) {
                (ChildLink::Leaf(_), ChildLink::Leaf(_)) => continue,
                (ChildLink::Node(_), _) => left,
                (ChildLink::Leaf(_), ChildLink::Node(_)) => right,
            };
            slots[number] = usize::from(to);
            selections.push(Selection { test: tests[number], left, right, to });
        }
        let root = slots.last().map_or(0, |slot| *slot as u16);
        (Program::Select { pairs, selections, root }, leaves)
    }

    /// Computes the leaf of each row.
    #[inline(always)]
    fn run<K: Kernel, const N: usize, const MISSING: bool>(
        &self,
        kernel: K,
        ranks: &[Aligned<[i8; N]>],
        slots: &mut Slots<N>,
        out: &mut [u8; N],
    ) {
        let row = |test: &RankTest| {
            &ranks[usize::from(if MISSING { test.row } else { test.row_without_missing })].0
        };
        match self {
            Program::Select { pairs, selections, root } => {
                for (LeafPair { test, low }, out) in pairs.iter().zip(&mut slots.0[MAX_LEAVES..]) {
                    kernel.pair(row(test), test.above, *low, out);
                }
                for Selection { test, left, right, to } in selections {
                    let of = [left, right, to].map(|slot| usize::from(*slot));
                    kernel.pick(row(test), test.above, slots, of);
                }
                *out = slots.0[usize::from(*root) % SLOTS];
            }
            Program::Oblivious(tests) => {
                out.fill(0);
                for (level, test) in tests.iter().rev().enumerate() {
                    kernel.level(row(test), test.above, 1 << level, out);
                }
            }
        }
    }
}

/// The nodes by height above the leaves. A node just after its child would wait for it; so there
/// are others in between, and all children still come first.
fn by_height(tree: &PreparedTree) -> Vec<usize> {
    let mut heights: Vec<usize> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let height = |link: ChildLink| match link {
            ChildLink::Leaf(_) => 0,
            ChildLink::Node(below) => heights[below],
        };
        heights.push(1 + height(node.left).max(height(node.right)));
    }
    // Counting sort: the start of each height.
    let mut starts = vec![0; heights.last().map_or(0, |height| height + 2)];
    heights.iter().for_each(|height| starts[height + 1] += 1);
    for height in 1..starts.len() {
        starts[height] += starts[height - 1];
    }
    let mut order = vec![0; heights.len()];
    for (number, height) in heights.iter().enumerate() {
        order[starts[*height]] = number;
        starts[*height] += 1;
    }
    order
}

/// The tests of the levels of an oblivious tree, from the root down; a single leaf has no level.
fn levels(tree: &PreparedTree, tests: &[RankTest]) -> Option<Vec<RankTest>> {
    let mut level = vec![tree.root()];
    let mut found = Vec::new();
    loop {
        let nodes: Vec<usize> = level
            .iter()
            .filter_map(|link| match link {
                ChildLink::Node(node) => Some(*node),
                ChildLink::Leaf(_) => None,
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
