//! The select network: evaluates every tree from its leaves up, for many rows in a register.
//!
//! At each node a byte for each row holds the number of the leaf that the row reaches from there.
//! At a node whose children are both leaves it is the left leaf's number, or one more if the row's
//! rank (`split_tests.rs`) is greater than that of the node's threshold; at any other node it is
//! the byte of the right child or of the left one, by the same comparison. So each node is a
//! comparison and a selection of bytes, 32 rows at a time with AVX2, without a branch or a jump in
//! memory; the cost of a tree depends on its size, not on the path of a row. At the root the byte
//! is the number of the row's leaf, whose value is added to the row's score, tree after tree in
//! their order: the bits are those of [`Ensemble::score_row`](crate::Ensemble::score_row).
//!
//! A tree whose splits are the same on each level (CatBoost's oblivious trees) needs no selections:
//! each level gives one bit of the leaf's number.
//!
//! For trees of at most 256 leaves. The bytes of a leaf or node are its slot. A node reuses the
//! slot of one of its children, leaves whose sibling is a node have the first numbers, and nodes
//! are ordered by height, so that little memory is touched and no node waits for the one before it.
//! The idea is related to QuickScorer (Lucchese et al., SIGIR 2015) and RapidScorer (Ye et al., KDD
//! 2018), which also visit all nodes, but mask leaves out instead of selecting them.

use super::kernel::{Aligned, Kernel, SLOTS, Slots};
use super::prepared_tree::{ChildLink, PreparedTree};
use super::rank_lookup::RankFinder;
use super::split_tests::{RankTest, SplitTests};
use super::steps::Steps;

/// Maximum number of leaves of a tree.
pub(crate) const MAX_LEAVES: usize = 256;
/// Number of trees whose leaf values are added in one pass over the scores.
const TREES_PER_PASS: usize = 8;

/// Trees that share the ranks of a row.
#[derive(Debug)]
pub(crate) struct Network {
    rank_finder: RankFinder,
    /// Number of rank vectors: the ranks of a block of rows for one column test.
    rank_vectors: usize,
    trees: Vec<Program>,
    /// The same trees, prepared for walking down row by row.
    steps: Steps,
    /// Values of all leaves, tree after tree, and [`MAX_LEAVES`] zeros, so that at least as many
    /// values follow the start of each tree.
    values: Vec<f64>,
    /// The index of each tree's first leaf in `values`.
    starts: Vec<usize>,
}

/// The instructions that find the leaf of one tree.
#[derive(Debug)]
enum Program {
    Select {
        /// Nodes whose children are both leaves; they have the slots from [`MAX_LEAVES`] on.
        pairs: Vec<LeafPair>,
        /// All other nodes, children before parents.
        selections: Vec<Selection>,
        /// The slot of the root.
        root: u16,
    },
    /// The tests of an oblivious tree, from the root down.
    Oblivious(Vec<RankTest>),
}

/// A node whose children are the leaves `low_leaf` and `low_leaf + 1`.
#[derive(Debug, Clone, Copy)]
struct LeafPair {
    test: RankTest,
    low_leaf: u8,
}

/// A node that copies the content of the slot of its left or right child into the slot `target`,
/// which is one of the two.
#[derive(Debug, Clone, Copy)]
struct Selection {
    test: RankTest,
    left: u16,
    right: u16,
    target: u16,
}

/// Buffers of one thread for blocks of `N` rows.
#[derive(Debug)]
pub(crate) struct BlockBuffers<const N: usize> {
    /// The rank vectors.
    ranks: Vec<Aligned<[i8; N]>>,
    /// First the slots of the leaves, each filled with its leaf's number, then those of nodes.
    slots: Box<Slots<N>>,
    /// For each tree of a pass the number of the leaf that each row reaches.
    reached_leaves: [[u8; N]; TREES_PER_PASS],
}

impl<const N: usize> Default for BlockBuffers<N> {
    fn default() -> Self {
        let mut slots = Box::new(Aligned([[0; N]; SLOTS]));
        slots.0.iter_mut().zip(0..=u8::MAX).for_each(|(slot, leaf)| *slot = [leaf; N]);
        Self { ranks: Vec::new(), slots, reached_leaves: [[0; N]; TREES_PER_PASS] }
    }
}

impl Network {
    /// The network of the longest prefix of the trees that one network can hold, and the length of
    /// this prefix; `None` if the first tree does not fit into a network.
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
        let (rank_finder, rank_vectors) = (layout.rank_finder(), layout.vectors());
        let trees = programs;
        Some((Network { rank_finder, rank_vectors, trees, steps, values, starts }, count))
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
        buffers.ranks.resize(self.rank_vectors.max(buffers.ranks.len()), Aligned([0; N]));
        match self.rank_finder.ranks(kernel, values, columns, &mut buffers.ranks) {
            true => self.add_trees::<K, N, true>(kernel, scores, buffers),
            false => self.add_trees::<K, N, false>(kernel, scores, buffers),
        }
    }

    /// Adds the trees' values for one row to its score; `ranks` is a reusable buffer for the ranks
    /// of the row's values.
    #[inline(always)]
    pub(crate) fn add_row<K: Kernel>(
        &self,
        kernel: K,
        row: &[f32],
        score: &mut f64,
        ranks: &mut Vec<i8>,
    ) {
        ranks.resize(self.rank_vectors.max(ranks.len()), 0);
        self.rank_finder.ranks_of_row(kernel, row, ranks);
        self.steps.leaves(ranks, |tree, leaf| {
            *score += self.leaf_values(self.starts[tree])[leaf % MAX_LEAVES];
        });
    }

    /// Adds the trees' values for rows with these ranks; `MISSING` says whether a value is missing
    /// that some splits send left and others right.
    #[inline(always)]
    fn add_trees<K: Kernel, const N: usize, const MISSING: bool>(
        &self,
        kernel: K,
        scores: &mut [f64],
        buffers: &mut BlockBuffers<N>,
    ) {
        let BlockBuffers { ranks, slots, reached_leaves } = buffers;
        for (trees, starts) in
            self.trees.chunks(TREES_PER_PASS).zip(self.starts.chunks(TREES_PER_PASS))
        {
            for (tree, leaves) in trees.iter().zip(reached_leaves.iter_mut()) {
                tree.run::<K, N, MISSING>(kernel, ranks, slots, leaves);
            }
            match <&[usize; TREES_PER_PASS]>::try_from(starts) {
                Ok(starts) => {
                    let values = starts.map(|start| self.leaf_values(start));
                    add_values(values, reached_leaves, scores);
                }
                // The last pass may have fewer trees.
                Err(_) => {
                    for (start, leaves) in starts.iter().zip(reached_leaves.iter()) {
                        add_values([self.leaf_values(*start)], &[*leaves], scores);
                    }
                }
            }
        }
    }

    /// The leaf values of the tree that starts at `start`, followed by values of other trees.
    #[inline(always)]
    fn leaf_values(&self, start: usize) -> &[f64; MAX_LEAVES] {
        debug_assert!(
            start + MAX_LEAVES <= self.values.len(),
            "enough values follow the start of each tree"
        );
        self.values.get(start..).and_then(|rest| rest.first_chunk()).unwrap_or(&[0.0; MAX_LEAVES])
    }
}

/// Adds to the score of each row the values of the leaves that it reaches in `TREES` trees, tree
/// after tree; `values` has the leaf values of each tree.
#[inline(always)]
fn add_values<const N: usize, const TREES: usize>(
    values: [&[f64; MAX_LEAVES]; TREES],
    reached_leaves: &[[u8; N]; TREES],
    scores: &mut [f64],
) {
    for (row, score) in scores.iter_mut().enumerate().take(N) {
        let mut sum = *score;
        for (values, leaves) in values.iter().zip(reached_leaves) {
            sum += values[usize::from(leaves[row])];
        }
        *score = sum;
    }
}

impl Program {
    /// The program of a tree, and its leaves in the order of their numbers in the program: leaves
    /// without a sibling leaf come first, so that few slots of leaves are ever read.
    fn new(tree: &PreparedTree, tests: &[RankTest]) -> (Program, Vec<usize>) {
        if let Some(levels) = oblivious_levels(tree, tests) {
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
        // The program's number of each leaf that has no sibling leaf.
        let mut numbers = vec![0_usize; tree.values.len()];
        leaves.iter().enumerate().for_each(|(number, leaf)| numbers[*leaf] = number);
        let mut pairs = Vec::with_capacity(paired.len());
        for (number, both) in paired {
            pairs.push(LeafPair { test: tests[number], low_leaf: leaves.len() as u8 });
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
            // Only the parent reads the slot of a node, so the parent can overwrite it.
            let target = match (node.left, node.right) {
                (ChildLink::Leaf(_), ChildLink::Leaf(_)) => continue,
                (ChildLink::Node(_), _) => left,
                (ChildLink::Leaf(_), ChildLink::Node(_)) => right,
            };
            slots[number] = usize::from(target);
            selections.push(Selection { test: tests[number], left, right, target });
        }
        let root = slots.last().map_or(0, |slot| *slot as u16);
        (Program::Select { pairs, selections, root }, leaves)
    }

    /// Writes the number of the leaf that each row reaches to `out`.
    #[inline(always)]
    fn run<K: Kernel, const N: usize, const MISSING: bool>(
        &self,
        kernel: K,
        ranks: &[Aligned<[i8; N]>],
        slots: &mut Slots<N>,
        out: &mut [u8; N],
    ) {
        let vector = |test: &RankTest| {
            let number = if MISSING { test.vector } else { test.vector_without_missing };
            &ranks[usize::from(number)].0
        };
        match self {
            Program::Select { pairs, selections, root } => {
                for (LeafPair { test, low_leaf }, out) in
                    pairs.iter().zip(&mut slots.0[MAX_LEAVES..])
                {
                    kernel.leaf_pair(vector(test), test.threshold_rank, *low_leaf, out);
                }
                for Selection { test, left, right, target } in selections {
                    let left_right_target = [left, right, target].map(|slot| usize::from(*slot));
                    let ranks = vector(test);
                    kernel.select_child(ranks, test.threshold_rank, slots, left_right_target);
                }
                *out = slots.0[usize::from(*root) % SLOTS];
            }
            Program::Oblivious(tests) => {
                out.fill(0);
                for (level, test) in tests.iter().rev().enumerate() {
                    kernel.oblivious_level(vector(test), test.threshold_rank, 1 << level, out);
                }
            }
        }
    }
}

/// The nodes by height above the leaves, so that children come before their parents. A node that
/// comes just after its child would have to wait for it; in this order other nodes are in between.
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
/// `None` if the tree is not oblivious or has more than 8 levels (leaf numbers have 8 bits).
fn oblivious_levels(tree: &PreparedTree, tests: &[RankTest]) -> Option<Vec<RankTest>> {
    let mut level = vec![tree.root()];
    let mut level_tests = Vec::new();
    loop {
        let nodes: Vec<usize> = level
            .iter()
            .filter_map(|link| match link {
                ChildLink::Node(node) => Some(*node),
                ChildLink::Leaf(_) => None,
            })
            .collect();
        if nodes.is_empty() {
            return (level_tests.len() <= 8).then_some(level_tests);
        }
        let test = tests[nodes[0]];
        if nodes.len() < level.len() || nodes.iter().any(|node| tests[*node] != test) {
            return None;
        }
        level_tests.push(test);
        level = nodes
            .iter()
            .flat_map(|node| [tree.nodes[*node].left, tree.nodes[*node].right])
            .collect();
    }
}
