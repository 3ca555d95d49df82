//! The tests of the splits of some trees, grouped by column, with thresholds as ranks.
//!
//! A split tests whether a value is above a threshold. Of all thresholds that some trees compare a
//! column with, sorted, let the rank of a value be the number that lie below it: the value is above
//! the k-th threshold (from 0) exactly if its rank is above k. Ranks fit a byte if there are at
//! most 255 thresholds, and wide registers compare many bytes at once. The ranks of a block of rows
//! in one such list of thresholds are a rank vector, with a byte for each row.
//!
//! A missing value has the rank 0 if it goes left and 255 if it goes right. Splits of one column
//! that send missing values to different sides share a [`ColumnTest`], which then has two rank
//! vectors; in a block of rows without missing values both would be equal, and only the first is
//! used. A test for a set of categories is a column test of its own, with rank 1 for the right
//! side. Ranks are stored with their sign bit flipped, because registers compare bytes as signed
//! numbers.
//!
//! `rank_lookup.rs` computes rank vectors.

use std::collections::HashMap;

use super::prepared_tree::{PreparedSplit, PreparedTree};
use super::rank_lookup::{RankFinder, flip_sign};
use super::thresholds::Thresholds;
use crate::categories::Categories;
use crate::tree::{Side, SplitCondition};

/// Maximum number of column tests, so that their rank vectors (up to two each) can be numbered with
/// 16 bits.
const MAX_COLUMN_TESTS: usize = 1 << 14;

/// A column, and whether zeros in it count as missing. Numeric splits with the same key share a
/// column test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ColumnKey {
    pub(super) column: usize,
    pub(super) zero_is_missing: bool,
}

/// A test of the values of one column.
#[derive(Debug)]
pub(super) struct ColumnTest {
    pub(super) key: ColumnKey,
    pub(super) condition: TestCondition,
    /// Whether any split sends missing values left, and whether any sends them right.
    pub(super) missing_sides: [bool; 2],
}

/// The condition of a column test.
#[derive(Debug)]
pub(super) enum TestCondition {
    Thresholds(Thresholds),
    Set(Categories),
}

/// The tests of some trees.
#[derive(Debug, Default)]
pub(crate) struct SplitTests {
    column_tests: Vec<ColumnTest>,
    /// The index of the numeric column test of a key.
    numeric: HashMap<ColumnKey, usize>,
    /// For each added tree and each of its nodes, the index of the column test and the number of
    /// the threshold in it (0 for a set).
    node_tests: Vec<Vec<(u16, u8)>>,
}

/// The comparison of a split: a row goes right if its rank in a rank vector is greater than
/// `threshold_rank`. Both have their sign bit flipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RankTest {
    /// The number of the rank vector for blocks without missing values.
    pub(crate) vector_without_missing: u16,
    /// The number of the rank vector for any block.
    pub(crate) vector: u16,
    /// The rank of the split's threshold, with its sign bit flipped.
    pub(crate) threshold_rank: i8,
}

impl ColumnKey {
    fn of(node: &PreparedSplit) -> ColumnKey {
        let zero_is_missing = matches!(node.rule, SplitCondition::NonZeroAtMost(_));
        ColumnKey { column: node.column, zero_is_missing }
    }
}

/// The index of a side in [`ColumnTest::missing_sides`].
fn side_index(side: Side) -> usize {
    usize::from(side == Side::Right)
}

impl SplitTests {
    /// Adds the tests of a tree; returns `false`, and adds nothing, if a column test would get too
    /// many thresholds or there would be too many column tests.
    pub(crate) fn add(&mut self, tree: &PreparedTree) -> bool {
        if self.column_tests.len() + tree.nodes.len() > MAX_COLUMN_TESTS {
            return false;
        }
        // For each added threshold the index of its column test, and the number of thresholds that
        // the column test had before.
        let mut counts_before: Vec<(usize, usize)> = Vec::new();
        let mut node_tests = Vec::with_capacity(tree.nodes.len());
        for node in &tree.nodes {
            let index = match node.rule {
                SplitCondition::In(set) => self.set_test(node, &tree.sets[set as usize]),
                _ => self.numeric_test(ColumnKey::of(node)),
            };
            let test = &mut self.column_tests[index];
            test.missing_sides[side_index(node.missing)] = true;
            let mut number = 0;
            if let (TestCondition::Thresholds(list), Some(threshold)) =
                (&mut test.condition, node.rule.threshold())
            {
                let count_before = list.len();
                let Some(found) = list.index_or_insert(threshold) else {
                    self.roll_back(&counts_before);
                    return false;
                };
                if list.len() > count_before {
                    counts_before.push((index, count_before));
                }
                number = found;
            }
            node_tests.push((index as u16, number));
        }
        self.node_tests.push(node_tests);
        true
    }

    /// Removes the thresholds that a tree added. A column test without thresholds may stay without
    /// harm, and so may a side that the tree set in [`ColumnTest::missing_sides`].
    fn roll_back(&mut self, counts_before: &[(usize, usize)]) {
        for (index, count_before) in counts_before.iter().rev() {
            if let TestCondition::Thresholds(list) = &mut self.column_tests[*index].condition {
                list.truncate(*count_before);
            }
        }
    }

    /// The index of the numeric column test of a key, created if there is none.
    fn numeric_test(&mut self, key: ColumnKey) -> usize {
        *self.numeric.entry(key).or_insert_with(|| {
            let condition = TestCondition::Thresholds(Thresholds::default());
            self.column_tests.push(ColumnTest { key, condition, missing_sides: [false; 2] });
            self.column_tests.len() - 1
        })
    }

    /// The index of the column test of a set, created if there is none. Splits on the same set that
    /// send missing values to different sides have different column tests.
    fn set_test(&mut self, node: &PreparedSplit, set: &Categories) -> usize {
        let (key, side) = (ColumnKey::of(node), side_index(node.missing));
        let same = |test: &ColumnTest| match &test.condition {
            TestCondition::Set(other) => {
                test.key == key && test.missing_sides[side] && other == set
            }
            TestCondition::Thresholds(_) => false,
        };
        self.column_tests.iter().position(same).unwrap_or_else(|| {
            let mut missing_sides = [false; 2];
            missing_sides[side] = true;
            let condition = TestCondition::Set(set.clone());
            self.column_tests.push(ColumnTest { key, condition, missing_sides });
            self.column_tests.len() - 1
        })
    }

    /// Numbers the rank vectors, once every tree is added.
    pub(crate) fn layout(&self) -> RankLayout<'_> {
        // Second vectors come after all first ones: they are read only if a value is missing, and
        // vectors that are read together are adjacent.
        let mut next = self.column_tests.len() as u16;
        let mut second_vectors = Vec::with_capacity(self.column_tests.len());
        for test in &self.column_tests {
            second_vectors.push(next);
            next += u16::from(test.missing_sides == [true; 2]);
        }
        let sorted = self.column_tests.iter().map(|test| match &test.condition {
            TestCondition::Thresholds(list) => list.sorted(),
            TestCondition::Set(_) => (Vec::new(), vec![0]),
        });
        let (sorted, ranks) = sorted.unzip();
        RankLayout { tests: self, sorted, ranks, second_vectors, vectors: usize::from(next) }
    }
}

/// Split tests whose rank vectors have numbers: the number of the first vector of a column test is
/// the index of the column test.
#[derive(Debug)]
pub(crate) struct RankLayout<'a> {
    tests: &'a SplitTests,
    /// The sorted thresholds of each column test; empty for a set.
    sorted: Vec<Vec<f32>>,
    /// For each column test the rank of each threshold by its number; a single 0 for a set.
    ranks: Vec<Vec<u8>>,
    /// The number of the second vector of each column test; only meaningful if it has two.
    second_vectors: Vec<u16>,
    /// Number of rank vectors.
    vectors: usize,
}

impl RankLayout<'_> {
    /// Number of rank vectors.
    pub(crate) fn vectors(&self) -> usize {
        self.vectors
    }

    /// The comparison of each node of the tree that was added as the `number`-th, from 0.
    pub(crate) fn tests(&self, number: usize, tree: &PreparedTree) -> Vec<RankTest> {
        let node_tests = &self.tests.node_tests[number];
        let test = |(node, (column_test, threshold)): (&PreparedSplit, &(u16, u8))| {
            let (first_vector, index) = (*column_test, usize::from(*column_test));
            let [any_left, _] = self.tests.column_tests[index].missing_sides;
            let is_second = node.missing == Side::Right && any_left;
            let vector = if is_second { self.second_vectors[index] } else { first_vector };
            let threshold_rank = flip_sign(self.ranks[index][usize::from(*threshold)]);
            RankTest { vector_without_missing: first_vector, vector, threshold_rank }
        };
        tree.nodes.iter().zip(node_tests).map(test).collect()
    }

    /// Makes the finder of the ranks of rows.
    pub(crate) fn rank_finder(&self) -> RankFinder {
        let tests = &self.tests.column_tests;
        let mut order: Vec<usize> = (0..tests.len()).collect();
        order.sort_by_key(|index| tests[*index].key.column);
        let mut finder = RankFinder::default();
        for index in order {
            let vectors = [index, usize::from(self.second_vectors[index])];
            finder.push(&tests[index], &self.sorted[index], vectors);
        }
        finder
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::kernel::{Aligned, Portable};
    use crate::engine::prepared_tree::ChildLink;
    use proptest::prelude::*;

    /// A node with two leaves as children.
    fn node(column: usize, rule: SplitCondition, missing: Side) -> PreparedSplit {
        PreparedSplit { column, rule, missing, left: ChildLink::Leaf(0), right: ChildLink::Leaf(1) }
    }

    fn value() -> impl Strategy<Value = f32> {
        prop_oneof![
            4 => (-40_i32..40).prop_map(|v| v as f32 / 4.0),
            1 => any::<f32>(),
            1 => prop::sample::select(vec![f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 1e-36]),
        ]
    }

    proptest! {
        #[test]
        fn a_rank_is_greater_than_that_of_the_threshold_where_the_value_goes_right(
            thresholds in proptest::collection::vec(value(), 1..200),
            values in proptest::collection::vec(value(), 32 * 3),
            // Bit i is 1 if splits i, i + 64, ... send missing values right.
            missing_right in any::<u64>(),
        ) {
            let sets = vec![Categories::new([0, 2, 7]).unwrap()];
            let thresholds = thresholds.into_iter().filter(|t| !t.is_nan()).enumerate();
            let mut nodes: Vec<PreparedSplit> = thresholds.map(|(number, threshold)| {
                let goes_right = missing_right >> (number % 64) & 1 == 1;
                let side = if goes_right { Side::Right } else { Side::Left };
                let rule = match number % 5 {
                    0 => SplitCondition::NonZeroAtMost(threshold),
                    1 => SplitCondition::In(0),
                    _ => SplitCondition::AtMost(threshold),
                };
                node(number % 3, rule, side)
            }).collect();
            nodes.push(node(1, SplitCondition::AtMost(0.5), Side::Left));
            let tree = PreparedTree { nodes, values: vec![0.0; 2], sets };
            let mut tests = SplitTests::default();
            prop_assert!(tests.add(&tree));
            let layout = tests.layout();
            let mut ranks = vec![Aligned([0_i8; 32]); layout.vectors()];
            let differ = layout.rank_finder().ranks::<_, 32>(Portable, &values, 3, &mut ranks);
            for (node, test) in tree.nodes.iter().zip(layout.tests(0, &tree)) {
                for row in 0..32 {
                    let side = node.rule.side(values[row * 3 + node.column], node.missing, &tree.sets);
                    let right = |number: u16| ranks[usize::from(number)].0[row] > test.threshold_rank;
                    prop_assert_eq!(right(test.vector), side == Side::Right);
                    let same = right(test.vector_without_missing) == right(test.vector);
                    prop_assert!(differ || same);
                }
            }
        }
    }

    #[test]
    fn a_tree_with_too_many_thresholds_is_rolled_back() {
        let tree_with_thresholds = |from: usize, count: usize| PreparedTree {
            nodes: (from..from + count)
                .map(|t| node(0, SplitCondition::AtMost(t as f32), Side::Left))
                .collect(),
            values: Vec::new(),
            sets: Vec::new(),
        };
        let mut tests = SplitTests::default();
        // A column test has at most 255 thresholds: the second tree would make them 270.
        assert!(tests.add(&tree_with_thresholds(0, 200)));
        assert!(!tests.add(&tree_with_thresholds(150, 120)));
        assert!(tests.add(&tree_with_thresholds(200, 55)));
        let layout = tests.layout();
        assert!(layout.sorted[0].iter().copied().eq((0..255).map(|t| t as f32)));
        let threshold_rank = layout.tests(1, &tree_with_thresholds(200, 55))[54].threshold_rank;
        assert_eq!(threshold_rank, flip_sign(254));
    }
}
