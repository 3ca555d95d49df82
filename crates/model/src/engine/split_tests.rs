//! The tests of the splits of some trees, grouped by column, with thresholds as ranks.
//!
//! A split tests whether a value is above a threshold. Of all thresholds that some trees compare a
//! column with, sorted, let the rank of a value be the number that lie below it: the value is above
//! the k-th threshold (from 0) exactly if its rank is above k. Ranks fit a byte if there are at
//! most 255 thresholds, and wide registers compare many bytes at once.
//!
//! A missing value has the rank 0 if it goes left and 255 if it goes right. Splits of one column
//! that send missing values to different sides share a [`ColumnTest`], which then has two rows of
//! ranks; in a block of rows without missing values both would be equal, and only the first is
//! used. A test for a set of categories is a column test of its own, with rank 1 for the right
//! side. Ranks are stored with their sign bit flipped, because registers compare bytes as signed
//! numbers.
//!
//! `rank_lookup.rs` finds the ranks of rows.

use std::collections::HashMap;

use super::prepared_tree::{PreparedSplit, PreparedTree};
use super::rank_lookup::{RankFinder, flip_sign};
use super::thresholds::Thresholds;
use crate::categories::Categories;
use crate::tree::{Side, SplitCondition};

/// Maximum number of column tests, so that rows of ranks can be numbered with 16 bits.
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
    /// Whether any split sends missing values left, and right.
    pub(super) sides: [bool; 2],
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
    columns: Vec<ColumnTest>,
    /// The number of the numeric column test of a key.
    numeric: HashMap<ColumnKey, usize>,
    /// For each added tree and each of its nodes, the number of the column test and of the
    /// threshold in it.
    node_tests: Vec<Vec<(u16, u8)>>,
}

/// The comparison of a split: a row of ranks with a number, both with the sign bit flipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RankTest {
    /// The row of ranks for blocks without missing values.
    pub(crate) row_without_missing: u16,
    /// The row of ranks for any block.
    pub(crate) row: u16,
    pub(crate) above: i8,
}

impl ColumnKey {
    fn of(node: &PreparedSplit) -> ColumnKey {
        let zero_is_missing = matches!(node.rule, SplitCondition::NonZeroAtMost(_));
        ColumnKey { column: node.column, zero_is_missing }
    }
}

/// The index of a side in [`ColumnTest::sides`].
fn index_of(side: Side) -> usize {
    usize::from(side == Side::Right)
}

impl SplitTests {
    /// Adds the tests of a tree. If a column would get too many thresholds it rolls back and
    /// returns `false`.
    pub(crate) fn add(&mut self, tree: &PreparedTree) -> bool {
        if self.columns.len() + tree.nodes.len() > MAX_COLUMN_TESTS {
            return false;
        }
        // Column tests that got a new threshold, and the number that they had before.
        let mut before: Vec<(usize, usize)> = Vec::new();
        let mut node_tests = Vec::with_capacity(tree.nodes.len());
        for node in &tree.nodes {
            let at = match node.rule {
                SplitCondition::In(set) => self.set_at(node, &tree.sets[set as usize]),
                _ => self.numeric_at(ColumnKey::of(node)),
            };
            let test = &mut self.columns[at];
            test.sides[index_of(node.missing)] = true;
            let mut number = 0;
            if let (TestCondition::Thresholds(list), Some(threshold)) =
                (&mut test.condition, node.rule.threshold())
            {
                let had = list.len();
                let Some(found) = list.number(threshold) else {
                    self.roll_back(&before);
                    return false;
                };
                if list.len() > had {
                    before.push((at, had));
                }
                number = found;
            }
            node_tests.push((at as u16, number));
        }
        self.node_tests.push(node_tests);
        true
    }

    /// Removes thresholds that were added. A column test without thresholds may stay without harm,
    /// and so may a side.
    fn roll_back(&mut self, before: &[(usize, usize)]) {
        for (at, had) in before.iter().rev() {
            if let TestCondition::Thresholds(list) = &mut self.columns[*at].condition {
                list.truncate(*had);
            }
        }
    }

    /// The number of the numeric column test of a key, created if there is none.
    fn numeric_at(&mut self, key: ColumnKey) -> usize {
        *self.numeric.entry(key).or_insert_with(|| {
            let condition = TestCondition::Thresholds(Thresholds::default());
            self.columns.push(ColumnTest { key, condition, sides: [false; 2] });
            self.columns.len() - 1
        })
    }

    /// The number of the column test of a set, created if there is none. Sets have a column test
    /// for each side.
    fn set_at(&mut self, node: &PreparedSplit, set: &Categories) -> usize {
        let (key, side) = (ColumnKey::of(node), index_of(node.missing));
        let same = |test: &ColumnTest| match &test.condition {
            TestCondition::Set(other) => test.key == key && test.sides[side] && other == set,
            TestCondition::Thresholds(_) => false,
        };
        self.columns.iter().position(same).unwrap_or_else(|| {
            let mut sides = [false; 2];
            sides[side] = true;
            self.columns.push(ColumnTest {
                key,
                condition: TestCondition::Set(set.clone()),
                sides,
            });
            self.columns.len() - 1
        })
    }

    /// Numbers the rows of ranks, once every tree is added.
    pub(crate) fn layout(&self) -> RankLayout<'_> {
        // Second rows come after all others: they are read only if a value is missing, and rows
        // that are read together are adjacent.
        let mut next = self.columns.len() as u16;
        let mut second_rows = Vec::with_capacity(self.columns.len());
        for test in &self.columns {
            second_rows.push(next);
            next += u16::from(test.sides == [true; 2]);
        }
        let sorted = self.columns.iter().map(|test| match &test.condition {
            TestCondition::Thresholds(list) => list.sorted(),
            TestCondition::Set(_) => (Vec::new(), vec![0]),
        });
        let (sorted, ranks) = sorted.unzip();
        RankLayout { tests: self, sorted, ranks, second_rows, rows: usize::from(next) }
    }
}

/// Split tests whose rows of ranks have numbers: the first row of each column test is its own
/// number.
#[derive(Debug)]
pub(crate) struct RankLayout<'a> {
    tests: &'a SplitTests,
    /// The sorted thresholds of each column test, and the rank of each threshold by its number; a
    /// set has one.
    sorted: Vec<Vec<f32>>,
    ranks: Vec<Vec<u8>>,
    /// The second row of each column test that has one.
    second_rows: Vec<u16>,
    rows: usize,
}

impl RankLayout<'_> {
    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The comparison of each node of the tree that was added as the `number`-th.
    pub(crate) fn tests(&self, number: usize, tree: &PreparedTree) -> Vec<RankTest> {
        let node_tests = &self.tests.node_tests[number];
        let test = |(node, (at, threshold)): (&PreparedSplit, &(u16, u8))| {
            let column = usize::from(*at);
            let second = node.missing == Side::Right && self.tests.columns[column].sides[0];
            let row = if second { self.second_rows[column] } else { *at };
            let above = flip_sign(self.ranks[column][usize::from(*threshold)]);
            RankTest { row_without_missing: *at, row, above }
        };
        tree.nodes.iter().zip(node_tests).map(test).collect()
    }

    /// Makes the lookup of ranks.
    pub(crate) fn ranker(&self) -> RankFinder {
        let columns = &self.tests.columns;
        // Column tests without a side are those that a roll-back left behind.
        let used = |at: &usize| columns[*at].sides.contains(&true);
        let mut order: Vec<usize> = (0..columns.len()).filter(used).collect();
        order.sort_by_key(|at| columns[*at].key.column);
        let mut ranker = RankFinder::default();
        for at in order {
            let rows = [at, usize::from(self.second_rows[at])];
            ranker.push(&columns[at], &self.sorted[at], rows);
        }
        ranker
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::kernel::{Aligned, Portable};
    use crate::engine::prepared_tree::ChildLink;
    use proptest::prelude::*;

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
        fn a_rank_is_above_a_test_where_the_value_goes_right(
            thresholds in proptest::collection::vec(value(), 1..200),
            values in proptest::collection::vec(value(), 32 * 3),
            rights in any::<u64>(),
        ) {
            let sets = vec![Categories::new([0, 2, 7]).unwrap()];
            let thresholds = thresholds.into_iter().filter(|t| !t.is_nan()).enumerate();
            let mut nodes: Vec<PreparedSplit> = thresholds.map(|(at, threshold)| {
                let side = if rights >> (at % 64) & 1 == 1 { Side::Right } else { Side::Left };
                let rule = match at % 5 {
                    0 => SplitCondition::NonZeroAtMost(threshold),
                    1 => SplitCondition::In(0),
                    _ => SplitCondition::AtMost(threshold),
                };
                node(at % 3, rule, side)
            }).collect();
            nodes.push(node(1, SplitCondition::AtMost(0.5), Side::Left));
            let tree = PreparedTree { nodes, values: vec![0.0; 2], sets };
            let mut tests = SplitTests::default();
            prop_assert!(tests.add(&tree));
            let layout = tests.layout();
            let mut ranks = vec![Aligned([0_i8; 32]); layout.rows()];
            let differ = layout.ranker().ranks::<_, 32>(Portable, &values, 3, &mut ranks);
            for (node, test) in tree.nodes.iter().zip(layout.tests(0, &tree)) {
                for row in 0..32 {
                    let side = node.rule.side(values[row * 3 + node.column], node.missing, &tree.sets);
                    let right = |number: u16| ranks[usize::from(number)].0[row] > test.above;
                    prop_assert_eq!(right(test.row), side == Side::Right);
                    prop_assert!(differ || right(test.row_without_missing) == right(test.row));
                }
            }
        }
    }

    #[test]
    fn a_tree_with_too_many_thresholds_is_rolled_back() {
        let many = |from: usize, count: usize| PreparedTree {
            nodes: (from..from + count)
                .map(|t| node(0, SplitCondition::AtMost(t as f32), Side::Left))
                .collect(),
            values: Vec::new(),
            sets: Vec::new(),
        };
        let mut tests = SplitTests::default();
        assert!(tests.add(&many(0, 200)));
        assert!(!tests.add(&many(150, 120)));
        assert!(tests.add(&many(200, 55)));
        let layout = tests.layout();
        assert!(layout.sorted[0].iter().copied().eq((0..255).map(|t| t as f32)));
        let above = layout.tests(1, &many(200, 55))[54].above;
        assert_eq!(above, flip_sign(254));
    }
}
