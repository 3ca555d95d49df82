//! Asks: what trees want to know about a row, and the answers as ranks.
//!
//! A split asks whether a value is above a threshold. Of all thresholds that some trees compare a
//! column with, sorted, let the rank of a value be the number that lie below it: the value is above
//! the k-th threshold (from 0) exactly if its rank is above k. Ranks fit a byte when there are at
//! most 255 thresholds, and comparing bytes is what wide registers do best.
//!
//! Splits that treat missing values alike share an ask: a missing value has the rank 0 where it goes
//! left and 255 where it goes right. A question about a set of categories is an ask of its own, with
//! rank 1 for the right side. Ranks are kept with their top bit turned, because registers compare
//! bytes as signed numbers.
//!
//! Finding ranks: values are turned from rows to columns, 16 columns at a time; up to [`FEW`]
//! thresholds are counted one by one for many values at once, more by counting the ends of blocks of
//! 16 and then inside one block.

use std::collections::HashMap;

use super::ready::{Node, Ready};
use crate::categories::Categories;
use crate::tree::{ABOUT_ZERO, Rule, Side};

/// The most thresholds of an ask.
pub(crate) const MOST: usize = 255;
/// Thresholds up to which counting one by one is quickest.
const FEW: usize = 32;
/// Thresholds in a block, and blocks.
const SIDE: usize = 16;
/// Values whose thresholds are counted together.
const LANES: usize = 32;
/// Columns turned together: those of one cache line.
const TOGETHER: usize = 16;
/// The rank of what goes right whatever the threshold.
const TOP: u8 = u8::MAX;

/// Which splits share an ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    column: usize,
    missing: Side,
    zero_is_missing: bool,
}

/// One question for every row.
#[derive(Debug)]
struct Ask {
    key: Key,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Sorted, distinct.
    Thresholds(Vec<f32>),
    Set(Categories),
}

/// The questions of some trees.
#[derive(Debug, Default)]
pub(crate) struct Asks {
    asks: Vec<Ask>,
    /// Where the numeric ask of a key is.
    numeric: HashMap<Key, usize>,
}

/// What a split compares: the rank of an ask with a number, both with the top bit turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Test {
    pub(crate) ask: u32,
    pub(crate) above: i8,
}

impl Key {
    fn of(node: &Node) -> Key {
        let zero_is_missing = matches!(node.rule, Rule::NonZeroAtMost(_));
        Key { column: node.column, missing: node.missing, zero_is_missing }
    }
}

/// The threshold of a numeric rule; -0 and 0 are the same.
fn threshold(rule: Rule) -> Option<f32> {
    match rule {
        Rule::AtMost(threshold) | Rule::NonZeroAtMost(threshold) => Some(threshold + 0.0),
        Rule::In(_) => None,
    }
}

impl Asks {
    /// Number of questions.
    pub(crate) fn len(&self) -> usize {
        self.asks.len()
    }

    /// Takes up the questions of a tree; `false`, and nothing changed, where an ask would get too
    /// many thresholds.
    pub(crate) fn add(&mut self, tree: &Ready) -> bool {
        let mut added: Vec<(usize, f32)> = Vec::new();
        for node in &tree.nodes {
            let Some(threshold) = threshold(node.rule) else {
                self.add_set(node, tree);
                continue;
            };
            let at = self.place(Key::of(node));
            let Kind::Thresholds(list) = &mut self.asks[at].kind else { continue };
            if let Err(place) = list.binary_search_by(|t| t.total_cmp(&threshold)) {
                list.insert(place, threshold);
                added.push((at, threshold));
                if list.len() > MOST {
                    self.take_back(&added);
                    return false;
                }
            }
        }
        true
    }

    /// An ask without thresholds that stays behind does no harm.
    fn take_back(&mut self, added: &[(usize, f32)]) {
        for (at, threshold) in added {
            if let Kind::Thresholds(list) = &mut self.asks[*at].kind {
                list.retain(|t| t != threshold);
            }
        }
    }

    /// The ask of a key, made now if there is none.
    fn place(&mut self, key: Key) -> usize {
        *self.numeric.entry(key).or_insert_with(|| {
            self.asks.push(Ask { key, kind: Kind::Thresholds(Vec::new()) });
            self.asks.len() - 1
        })
    }

    fn add_set(&mut self, node: &Node, tree: &Ready) {
        if let (None, Some(set)) = (self.find_set(node, tree), set_of(node, tree)) {
            self.asks.push(Ask { key: Key::of(node), kind: Kind::Set(set.clone()) });
        }
    }

    fn find_set(&self, node: &Node, tree: &Ready) -> Option<usize> {
        let set = set_of(node, tree)?;
        let same = |ask: &Ask| matches!(&ask.kind, Kind::Set(other) if other == set);
        self.asks.iter().position(|ask| ask.key == Key::of(node) && same(ask))
    }

    /// What a node of a tree that was taken up compares.
    pub(crate) fn test(&self, node: &Node, tree: &Ready) -> Option<Test> {
        let (ask, above) = match threshold(node.rule) {
            None => (self.find_set(node, tree)?, 0),
            Some(threshold) => {
                let ask = *self.numeric.get(&Key::of(node))?;
                let Kind::Thresholds(list) = &self.asks[ask].kind else { return None };
                (ask, list.binary_search_by(|t| t.total_cmp(&threshold)).ok()?)
            }
        };
        Some(Test { ask: ask as u32, above: turned(above as u8) })
    }

    /// Makes the questions ready to be answered.
    pub(crate) fn ranker(&self) -> Ranker {
        let mut order: Vec<usize> = (0..self.asks.len()).collect();
        order.sort_by_key(|at| self.asks[*at].key.column);
        let mut groups: Vec<Group> = Vec::new();
        for at in order {
            let ask = &self.asks[at];
            let first = ask.key.column / TOGETHER * TOGETHER;
            if groups.last().is_none_or(|group| group.first != first) {
                groups.push(Group { first, answers: Vec::new() });
            }
            if let Some(group) = groups.last_mut() {
                group.answers.push(Answer::new(ask, at));
            }
        }
        Ranker { groups }
    }
}

fn set_of<'a>(node: &Node, tree: &'a Ready) -> Option<&'a Categories> {
    match node.rule {
        Rule::In(set) => tree.sets.get(set as usize),
        _ => None,
    }
}

/// A byte with its top bit turned: in the order of signed numbers.
fn turned(rank: u8) -> i8 {
    (rank ^ 0x80) as i8
}

/// Finds the ranks of rows.
#[derive(Debug)]
pub(crate) struct Ranker {
    groups: Vec<Group>,
}

/// What is asked about up to 16 neighbouring columns.
#[derive(Debug)]
struct Group {
    first: usize,
    answers: Vec<Answer>,
}

#[derive(Debug)]
struct Answer {
    ask: usize,
    /// Column within the group.
    place: usize,
    missing: u8,
    zero_is_missing: bool,
    search: Search,
}

#[derive(Debug)]
enum Search {
    /// Counted one by one.
    Few(Vec<f32>),
    /// In 16 blocks of 16, filled up with infinity.
    Blocks(Box<[[f32; SIDE]; SIDE]>),
    Set(Categories),
}

impl Answer {
    fn new(ask: &Ask, number: usize) -> Answer {
        let search = match &ask.kind {
            Kind::Set(set) => Search::Set(set.clone()),
            Kind::Thresholds(list) if list.len() <= FEW => Search::Few(list.clone()),
            Kind::Thresholds(list) => {
                let mut blocks = Box::new([[f32::INFINITY; SIDE]; SIDE]);
                for (to, from) in blocks.as_flattened_mut().iter_mut().zip(list) {
                    *to = *from;
                }
                Search::Blocks(blocks)
            }
        };
        let missing = match (&search, ask.key.missing) {
            (_, Side::Left) => 0,
            (Search::Set(_), Side::Right) => 1,
            (_, Side::Right) => TOP,
        };
        let Key { column, zero_is_missing, .. } = ask.key;
        Answer { ask: number, place: column % TOGETHER, missing, zero_is_missing, search }
    }

    /// The ranks of some values, with the top bit turned.
    #[inline(always)]
    fn ranks<const N: usize>(&self, values: &[f32; N], out: &mut [i8; N]) {
        let mut ranks = [0_u8; N];
        match &self.search {
            Search::Few(list) => count(list, values, &mut ranks),
            Search::Blocks(blocks) => {
                count(&blocks.map(|block| block[SIDE - 1]), values, &mut ranks);
                for (rank, value) in ranks.iter_mut().zip(values) {
                    let block = &blocks[usize::from(*rank) % SIDE];
                    // A bit for each: wide registers give the mask in two instructions.
                    let mut below = 0_u32;
                    for (bit, threshold) in block.iter().enumerate() {
                        below |= u32::from(threshold < value) << bit;
                    }
                    *rank = *rank * SIDE as u8 + below.count_ones() as u8;
                }
            }
            Search::Set(set) => {
                for (rank, value) in ranks.iter_mut().zip(values) {
                    *rank = u8::from(!set.contains(*value));
                }
            }
        }
        let least = if self.zero_is_missing { ABOUT_ZERO } else { -1.0 };
        for ((out, rank), value) in out.iter_mut().zip(ranks).zip(values) {
            let gone = value.is_nan() | (value.abs() <= least);
            *out = turned(if gone { self.missing } else { rank });
        }
    }
}

impl Ranker {
    /// The ranks of up to `N` rows of `columns` values each, one entry of `out` for each ask. What
    /// stands there for rows beyond the last is of no meaning.
    #[inline(always)]
    pub(crate) fn ranks<const N: usize>(
        &self,
        values: &[f32],
        columns: usize,
        out: &mut [[i8; N]],
    ) {
        let mut turned = [[0.0_f32; N]; TOGETHER];
        for group in &self.groups {
            let width = TOGETHER.min(columns.saturating_sub(group.first));
            for (row, values) in values.chunks_exact(columns.max(1)).take(N).enumerate() {
                let values = &values[group.first..group.first + width];
                for (column, value) in turned.iter_mut().zip(values) {
                    column[row] = *value;
                }
            }
            for answer in &group.answers {
                if let Some(out) = out.get_mut(answer.ask) {
                    answer.ranks(&turned[answer.place], out);
                }
            }
        }
    }
}

/// Counts the thresholds below each value, for many values at a time.
#[inline(always)]
fn count<const N: usize>(thresholds: &[f32], values: &[f32; N], ranks: &mut [u8; N]) {
    let lanes = values.as_chunks::<LANES>().0;
    for (values, ranks) in lanes.iter().zip(ranks.as_chunks_mut::<LANES>().0) {
        let mut counts = [0_u32; LANES];
        for threshold in thresholds {
            for (count, value) in counts.iter_mut().zip(values) {
                *count += u32::from(threshold < value);
            }
        }
        for (rank, count) in ranks.iter_mut().zip(counts) {
            *rank = count as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::ready::Link;
    use proptest::prelude::*;

    fn node(column: usize, rule: Rule, missing: Side) -> Node {
        Node { column, rule, missing, left: Link::Leaf(0), right: Link::Leaf(1) }
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
            let mut nodes: Vec<Node> = thresholds.map(|(at, threshold)| {
                let side = if rights >> (at % 64) & 1 == 1 { Side::Right } else { Side::Left };
                let rule = match at % 5 {
                    0 => Rule::NonZeroAtMost(threshold),
                    1 => Rule::In(0),
                    _ => Rule::AtMost(threshold),
                };
                node(at % 3, rule, side)
            }).collect();
            nodes.push(node(1, Rule::AtMost(0.5), Side::Left));
            let tree = Ready { nodes, values: vec![0.0; 2], sets };
            let mut asks = Asks::default();
            prop_assert!(asks.add(&tree));
            let mut ranks = vec![[0_i8; 32]; asks.len()];
            asks.ranker().ranks(&values, 3, &mut ranks);
            for node in &tree.nodes {
                let test = asks.test(node, &tree).unwrap();
                for row in 0..32 {
                    let side = node.rule.side(values[row * 3 + node.column], node.missing, &tree.sets);
                    let right = ranks[test.ask as usize][row] > test.above;
                    prop_assert_eq!(right, side == Side::Right);
                }
            }
        }
    }

    #[test]
    fn a_tree_that_asks_too_much_leaves_no_trace() {
        let many = |from: usize, count: usize| Ready {
            nodes: (from..from + count)
                .map(|t| node(0, Rule::AtMost(t as f32), Side::Left))
                .collect(),
            values: Vec::new(),
            sets: Vec::new(),
        };
        let mut asks = Asks::default();
        assert!(asks.add(&many(0, 200)));
        assert!(!asks.add(&many(150, 120)));
        assert!(asks.add(&many(200, 55)));
        assert!(asks.test(&many(254, 1).nodes[0], &many(254, 1)).is_some());
        assert!(asks.test(&many(256, 1).nodes[0], &many(256, 1)).is_none());
    }
}
