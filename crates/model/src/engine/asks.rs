//! Asks: what trees want to know about a row, and the answers as ranks.
//!
//! A split asks whether a value is above a threshold. Of all thresholds that some trees compare a
//! column with, sorted, let the rank of a value be the number that lie below it: the value is above
//! the k-th threshold (from 0) exactly if its rank is above k. Ranks fit a byte when there are at
//! most 255 thresholds, and comparing bytes is what wide registers do best.
//!
//! A missing value has the rank 0 where it goes left and 255 where it goes right. Splits of one
//! column that send missing values to different sides share an ask, which then has two rows of ranks;
//! where a block of rows has nothing missing both would be the same, and only the first is used. A
//! question about a set of categories is an ask of its own, with rank 1 for the right side. Ranks are
//! kept with their top bit turned, because registers compare bytes as signed numbers.
//!
//! Finding ranks: values are turned from rows to columns, 16 columns at a time; up to [`FEW`]
//! thresholds are counted one by one for many values at once, more by counting the ends of blocks of
//! 16 and then inside one block.

use std::collections::HashMap;

use super::kernel::{Aligned, BLOCK, Bytes, Kernel, REGISTER};
use super::ready::{Node, Ready};
use super::thresholds::Thresholds;
use crate::categories::Categories;
use crate::tree::{ABOUT_ZERO, Rule, Side};

/// Thresholds up to which counting one by one is quickest.
const FEW: usize = 32;
/// Blocks of thresholds.
const BLOCKS: usize = 16;
/// Columns turned together: those of one cache line.
const TOGETHER: usize = 16;
/// The rank of what goes right whatever the threshold.
const TOP: u8 = u8::MAX;

/// The most asks, so that rows of ranks can be numbered with 16 bits.
const MOST_ASKS: usize = 1 << 14;

/// Which splits share an ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    column: usize,
    zero_is_missing: bool,
}

/// One question for every row.
#[derive(Debug)]
struct Ask {
    key: Key,
    kind: Kind,
    /// Whether any split sends missing values left, and right.
    sides: [bool; 2],
}

#[derive(Debug)]
enum Kind {
    Thresholds(Thresholds),
    Set(Categories),
}

/// The questions of some trees.
#[derive(Debug, Default)]
pub(crate) struct Asks {
    asks: Vec<Ask>,
    /// Where the numeric ask of a key is.
    numeric: HashMap<Key, usize>,
    /// The ask of each node of each tree that was taken up, and the number of its threshold.
    asked: Vec<Vec<(u16, u8)>>,
}

/// What a split compares: a row of ranks with a number, both with the top bit turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Test {
    /// The row where nothing is missing.
    pub(crate) whole: u16,
    /// The row at any time.
    pub(crate) row: u16,
    pub(crate) above: i8,
}

impl Key {
    fn of(node: &Node) -> Key {
        let zero_is_missing = matches!(node.rule, Rule::NonZeroAtMost(_));
        Key { column: node.column, zero_is_missing }
    }
}

/// A side as a place in a list.
fn place(side: Side) -> usize {
    usize::from(side == Side::Right)
}

impl Asks {
    /// Takes up the questions of a tree; `false`, and nothing of it in the way, where an ask would
    /// get too many thresholds.
    pub(crate) fn add(&mut self, tree: &Ready) -> bool {
        if self.asks.len() + tree.nodes.len() > MOST_ASKS {
            return false;
        }
        // Asks that got a new threshold, and how many they had before.
        let mut before: Vec<(usize, usize)> = Vec::new();
        let mut asked = Vec::with_capacity(tree.nodes.len());
        for node in &tree.nodes {
            let at = match node.rule {
                Rule::In(set) => self.set_at(node, tree.sets.get(set as usize)),
                _ => self.numeric_at(Key::of(node)),
            };
            let ask = &mut self.asks[at];
            ask.sides[place(node.missing)] = true;
            let mut number = 0;
            if let (Kind::Thresholds(list), Some(threshold)) =
                (&mut ask.kind, node.rule.threshold())
            {
                let had = list.len();
                let Some(found) = list.number(threshold) else {
                    self.take_back(&before);
                    return false;
                };
                if list.len() > had {
                    before.push((at, had));
                }
                number = found;
            }
            asked.push((at as u16, number));
        }
        self.asked.push(asked);
        true
    }

    /// An ask without thresholds that stays behind does no harm, nor does a side.
    fn take_back(&mut self, before: &[(usize, usize)]) {
        for (at, had) in before.iter().rev() {
            if let Kind::Thresholds(list) = &mut self.asks[*at].kind {
                list.truncate(*had);
            }
        }
    }

    /// The ask of a key, made now if there is none.
    fn numeric_at(&mut self, key: Key) -> usize {
        *self.numeric.entry(key).or_insert_with(|| {
            let kind = Kind::Thresholds(Thresholds::default());
            self.asks.push(Ask { key, kind, sides: [false; 2] });
            self.asks.len() - 1
        })
    }

    /// The ask of a set, made now if there is none. Sets have an ask for each side.
    fn set_at(&mut self, node: &Node, set: Option<&Categories>) -> usize {
        let (key, side) = (Key::of(node), place(node.missing));
        let same = |ask: &Ask| match &ask.kind {
            Kind::Set(other) => ask.key == key && ask.sides[side] && Some(other) == set,
            Kind::Thresholds(_) => false,
        };
        self.asks.iter().position(same).unwrap_or_else(|| {
            let mut sides = [false; 2];
            sides[side] = true;
            // A tree has the sets that its rules name.
            self.asks.push(Ask { key, kind: Kind::Set(set.cloned().unwrap_or_default()), sides });
            self.asks.len() - 1
        })
    }

    /// Numbers the rows of ranks, once every tree is taken up.
    pub(crate) fn numbered(&self) -> Numbered<'_> {
        // Second rows stand behind all others: where nothing is missing nobody looks at them, and
        // what is looked at lies together.
        let both = |ask: &&Ask| ask.sides == [true; 2];
        let mut next = self.asks.len() as u16;
        let mut seconds = Vec::with_capacity(self.asks.len());
        for ask in &self.asks {
            seconds.push(next);
            next += u16::from(both(&ask));
        }
        let sorted = self.asks.iter().map(|ask| match &ask.kind {
            Kind::Thresholds(list) => list.sorted(),
            Kind::Set(_) => (Vec::new(), vec![0]),
        });
        let (sorted, places) = sorted.unzip();
        Numbered { asks: self, sorted, places, seconds, rows: usize::from(next) }
    }
}

/// Questions whose rows of ranks have numbers: the first row of each ask is its own number.
#[derive(Debug)]
pub(crate) struct Numbered<'a> {
    asks: &'a Asks,
    /// The thresholds of each ask, and the place among them of each by its number; a set has one.
    sorted: Vec<Vec<f32>>,
    places: Vec<Vec<u8>>,
    /// The second row of each ask that has one.
    seconds: Vec<u16>,
    rows: usize,
}

impl Numbered<'_> {
    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// What each node of a tree compares that was taken up as the `number`-th.
    pub(crate) fn tests(&self, number: usize, tree: &Ready) -> Option<Vec<Test>> {
        let asked = self.asks.asked.get(number)?;
        let test = |(node, (at, threshold)): (&Node, &(u16, u8))| {
            let ask = usize::from(*at);
            let second = node.missing == Side::Right && self.asks.asks[ask].sides[0];
            let row = if second { self.seconds[ask] } else { *at };
            let above = turned(self.places[ask][usize::from(*threshold)]);
            Test { whole: *at, row, above }
        };
        Some(tree.nodes.iter().zip(asked).map(test).collect())
    }

    /// Makes the questions ready to be answered.
    pub(crate) fn ranker(&self) -> Ranker {
        let asks = &self.asks.asks;
        // Asks without a side are those that a tree left behind.
        let used = |at: &usize| asks[*at].sides.contains(&true);
        let mut order: Vec<usize> = (0..asks.len()).filter(used).collect();
        order.sort_by_key(|at| asks[*at].key.column);
        let mut groups: Vec<Group> = Vec::new();
        for at in order {
            let first = asks[at].key.column / TOGETHER * TOGETHER;
            if groups.last().is_none_or(|group| group.first != first) {
                groups.push(Group { first, answers: Vec::new() });
            }
            if let Some(group) = groups.last_mut() {
                let rows = [at, usize::from(self.seconds[at])];
                group.answers.push(Answer::new(&asks[at], &self.sorted[at], rows));
            }
        }
        Ranker { groups }
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
    /// Row of ranks, and the rank of a missing value in it.
    first: (usize, u8),
    /// The same for the other side, where there are two.
    second: Option<(usize, u8)>,
    /// Column within the group.
    place: usize,
    zero_is_missing: bool,
    search: Search,
}

#[derive(Debug)]
enum Search {
    /// Counted one by one.
    Few(Vec<f32>),
    /// In 16 blocks of 16, filled up with infinity.
    Blocks {
        ends: [f32; BLOCKS],
        blocks: Box<[[f32; BLOCK]; BLOCKS]>,
    },
    Set(Categories),
}

impl Answer {
    /// The answer to an ask with these sorted thresholds, in the first row or both.
    fn new(ask: &Ask, list: &[f32], [row, second]: [usize; 2]) -> Answer {
        let search = match &ask.kind {
            Kind::Set(set) => Search::Set(set.clone()),
            Kind::Thresholds(_) if list.len() <= FEW => Search::Few(list.to_vec()),
            Kind::Thresholds(_) => {
                let mut blocks = Box::new([[f32::INFINITY; BLOCK]; BLOCKS]);
                for (to, from) in blocks.as_flattened_mut().iter_mut().zip(list) {
                    *to = *from;
                }
                Search::Blocks { ends: blocks.map(|block| block[BLOCK - 1]), blocks }
            }
        };
        let right = if matches!(search, Search::Set(_)) { 1 } else { TOP };
        let (first, second) = match ask.sides {
            [true, true] => ((row, 0), Some((second, right))),
            [_, false] => ((row, 0), None),
            [false, true] => ((row, right), None),
        };
        let Key { column, zero_is_missing } = ask.key;
        Answer { first, second, place: column % TOGETHER, zero_is_missing, search }
    }

    /// The ranks of some values.
    #[inline(always)]
    fn search<K: Kernel>(&self, values: &[f32; REGISTER]) -> Bytes {
        match &self.search {
            Search::Few(list) => K::count(list, values),
            Search::Blocks { ends, blocks } => {
                let mut ranks = K::count(ends, values);
                for (rank, value) in ranks.iter_mut().zip(values) {
                    let block = &blocks[usize::from(*rank) % BLOCKS];
                    *rank = *rank * BLOCK as u8 + K::count_one(block, *value);
                }
                ranks
            }
            Search::Set(set) => {
                let mut ranks = [0; REGISTER];
                for (rank, value) in ranks.iter_mut().zip(values) {
                    *rank = u8::from(!set.contains(*value));
                }
                ranks
            }
        }
    }

    /// The rank of one value in each of the rows.
    #[inline(always)]
    fn fill_one<K: Kernel>(&self, value: f32, rows: &mut [i8]) {
        let least = if self.zero_is_missing { ABOUT_ZERO } else { -1.0 };
        let gone = value.is_nan() | (value.abs() <= least);
        let rank = match &self.search {
            Search::Few(list) => list.iter().map(|t| u8::from(*t < value)).sum(),
            Search::Blocks { ends, blocks } => {
                let block = K::count_one(ends, value);
                let inside = K::count_one(&blocks[usize::from(block) % BLOCKS], value);
                block * BLOCK as u8 + inside
            }
            Search::Set(set) => u8::from(!set.contains(value)),
        };
        for (row, missing) in std::iter::once(self.first).chain(self.second) {
            if let Some(row) = rows.get_mut(row) {
                *row = turned(if gone { missing } else { rank });
            }
        }
    }

    /// Fills the rows of this ask; whether its two rows differ.
    #[inline(always)]
    fn fill<K: Kernel, const N: usize>(
        &self,
        values: &[f32; N],
        rows: &mut [Aligned<[i8; N]>],
    ) -> bool {
        let least = if self.zero_is_missing { ABOUT_ZERO } else { -1.0 };
        let mut any = 0;
        for (piece, values) in values.as_chunks().0.iter().enumerate() {
            let (ranks, gone) = (self.search::<K>(values), K::gone(values, least));
            let mut put = |(row, missing): (usize, u8)| {
                if let Some(row) = rows.get_mut(row) {
                    row.0.as_chunks_mut().0[piece] = K::turned(&ranks, &gone, missing);
                }
            };
            put(self.first);
            if let Some(second) = self.second {
                put(second);
                any |= gone.iter().fold(0, |any, gone| any | gone);
            }
        }
        any != 0
    }
}

impl Ranker {
    /// The ranks of one row.
    #[inline(always)]
    pub(crate) fn ranks_of_row<K: Kernel>(&self, values: &[f32], out: &mut [i8]) {
        for group in &self.groups {
            for answer in &group.answers {
                if let Some(value) = values.get(group.first + answer.place) {
                    answer.fill_one::<K>(*value, out);
                }
            }
        }
    }

    /// The ranks of up to `N` rows of `columns` values each, into the rows that asks have; whether
    /// anything is missing that goes both ways. What stands there for rows beyond the last is of no
    /// meaning.
    #[inline(always)]
    pub(crate) fn ranks<K: Kernel, const N: usize>(
        &self,
        values: &[f32],
        columns: usize,
        out: &mut [Aligned<[i8; N]>],
    ) -> bool {
        let mut turned = Aligned([[0.0_f32; N]; TOGETHER]);
        let mut differ = false;
        for group in &self.groups {
            let width = TOGETHER.min(columns.saturating_sub(group.first));
            for (row, values) in values.chunks_exact(columns.max(1)).take(N).enumerate() {
                let (values, next) = values[group.first..].split_at(width);
                K::soon(next);
                for (column, value) in turned.0.iter_mut().zip(values) {
                    column[row] = *value;
                }
            }
            for answer in &group.answers {
                differ |= answer.fill::<K, N>(&turned.0[answer.place], out);
            }
        }
        differ
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::kernel::Portable;
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
            let asks = asks.numbered();
            let mut ranks = vec![Aligned([0_i8; 32]); asks.rows()];
            let differ = asks.ranker().ranks::<Portable, 32>(&values, 3, &mut ranks);
            for (node, test) in tree.nodes.iter().zip(asks.tests(0, &tree).unwrap()) {
                for row in 0..32 {
                    let side = node.rule.side(values[row * 3 + node.column], node.missing, &tree.sets);
                    let right = |number: u16| ranks[usize::from(number)].0[row] > test.above;
                    prop_assert_eq!(right(test.row), side == Side::Right);
                    prop_assert!(differ || right(test.whole) == right(test.row));
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
        let asks = asks.numbered();
        assert!(asks.sorted[0].iter().copied().eq((0..255).map(|t| t as f32)));
        let above = asks.tests(1, &many(200, 55)).unwrap()[54].above;
        assert_eq!(above, turned(254));
    }
}
