//! The ranks of rows among the thresholds of each column test.
//!
//! Values are transposed from rows to columns, 16 columns at a time. Up to
//! [`MAX_COUNTED_THRESHOLDS`] thresholds are counted one by one for many values at once; of more
//! thresholds the ends of blocks of 16 are counted, and then those inside one block.

use super::kernel::{Aligned, BLOCK, Bytes, Kernel, REGISTER};
use super::split_tests::{ColumnKey, ColumnTest, TestCondition};
use crate::categories::Categories;
use crate::tree::ABOUT_ZERO;

/// Number of thresholds up to which counting one by one is fastest.
const MAX_COUNTED_THRESHOLDS: usize = 32;
/// Blocks of thresholds.
const BLOCKS: usize = 16;
/// Columns transposed together: those of one cache line.
const TRANSPOSED_COLUMNS: usize = 16;
/// The rank of a value that goes right at every threshold.
const RIGHT_EVERYWHERE: u8 = u8::MAX;

/// A rank with its sign bit flipped: in the order of signed numbers.
pub(super) fn flip_sign(rank: u8) -> i8 {
    (rank ^ 0x80) as i8
}

/// Finds the ranks of rows.
#[derive(Debug, Default)]
pub(crate) struct RankFinder {
    groups: Vec<LookupGroup>,
}

/// The lookups of up to 16 neighbouring columns.
#[derive(Debug)]
struct LookupGroup {
    first: usize,
    lookups: Vec<RankLookup>,
}

/// Finds the rank of a value of one column.
#[derive(Debug)]
struct RankLookup {
    /// Row of ranks, and the rank of a missing value in it.
    first: (usize, u8),
    /// The same for the other side, if there are two.
    second: Option<(usize, u8)>,
    /// Column within the group.
    column: usize,
    zero_is_missing: bool,
    search: BoundSearch,
}

#[derive(Debug)]
enum BoundSearch {
    /// Counted one by one.
    Few(Vec<f32>),
    /// In 16 blocks of 16, padded with infinity.
    Blocks {
        ends: [f32; BLOCKS],
        blocks: Box<[[f32; BLOCK]; BLOCKS]>,
    },
    Set(Categories),
}

impl RankLookup {
    /// The lookup of a column test with these sorted thresholds, into the first row or both.
    fn new(test: &ColumnTest, sorted: &[f32], [row, second]: [usize; 2]) -> RankLookup {
        let search = match &test.condition {
            TestCondition::Set(set) => BoundSearch::Set(set.clone()),
            TestCondition::Thresholds(_) if sorted.len() <= MAX_COUNTED_THRESHOLDS => {
                BoundSearch::Few(sorted.to_vec())
            }
            TestCondition::Thresholds(_) => {
                let mut blocks = Box::new([[f32::INFINITY; BLOCK]; BLOCKS]);
                for (to, from) in blocks.as_flattened_mut().iter_mut().zip(sorted) {
                    *to = *from;
                }
                BoundSearch::Blocks { ends: blocks.map(|block| block[BLOCK - 1]), blocks }
            }
        };
        let right = if matches!(search, BoundSearch::Set(_)) { 1 } else { RIGHT_EVERYWHERE };
        let (first, second) = match test.sides {
            [true, true] => ((row, 0), Some((second, right))),
            [_, false] => ((row, 0), None),
            [false, true] => ((row, right), None),
        };
        let ColumnKey { column, zero_is_missing } = test.key;
        RankLookup { first, second, column: column % TRANSPOSED_COLUMNS, zero_is_missing, search }
    }

    /// The largest absolute value that counts as missing.
    #[inline(always)]
    fn missing_limit(&self) -> f32 {
        if self.zero_is_missing { ABOUT_ZERO } else { -1.0 }
    }

    /// The ranks of some values.
    #[inline(always)]
    fn search<K: Kernel>(&self, kernel: K, values: &[f32; REGISTER]) -> Bytes {
        match &self.search {
            BoundSearch::Few(list) => kernel.count(list, values),
            BoundSearch::Blocks { ends, blocks } => {
                let mut ranks = kernel.count(ends, values);
                for (rank, value) in ranks.iter_mut().zip(values) {
                    let block = &blocks[usize::from(*rank) % BLOCKS];
                    *rank = *rank * BLOCK as u8 + kernel.count_one(block, *value);
                }
                ranks
            }
            BoundSearch::Set(set) => {
                let mut ranks = [0; REGISTER];
                for (rank, value) in ranks.iter_mut().zip(values) {
                    *rank = u8::from(!set.contains(*value));
                }
                ranks
            }
        }
    }

    /// Writes the rank of one value into each of the rows.
    #[inline(always)]
    fn fill_one<K: Kernel>(&self, kernel: K, value: f32, rows: &mut [i8]) {
        let is_missing = value.is_nan() | (value.abs() <= self.missing_limit());
        let rank = match &self.search {
            BoundSearch::Few(list) => list.iter().map(|t| u8::from(*t < value)).sum(),
            BoundSearch::Blocks { ends, blocks } => {
                let block = kernel.count_one(ends, value);
                let inside = kernel.count_one(&blocks[usize::from(block) % BLOCKS], value);
                block * BLOCK as u8 + inside
            }
            BoundSearch::Set(set) => u8::from(!set.contains(value)),
        };
        for (row, missing) in std::iter::once(self.first).chain(self.second) {
            if let Some(row) = rows.get_mut(row) {
                *row = flip_sign(if is_missing { missing } else { rank });
            }
        }
    }

    /// Fills the rows of this column test; returns whether its two rows differ.
    #[inline(always)]
    fn fill<K: Kernel, const N: usize>(
        &self,
        kernel: K,
        values: &[f32; N],
        rows: &mut [Aligned<[i8; N]>],
    ) -> bool {
        let missing_limit = self.missing_limit();
        let mut any = 0;
        for (piece, values) in values.as_chunks().0.iter().enumerate() {
            let (ranks, mask) =
                (self.search(kernel, values), kernel.missing_mask(values, missing_limit));
            let mut put = |(row, missing): (usize, u8)| {
                if let Some(row) = rows.get_mut(row) {
                    row.0.as_chunks_mut().0[piece] = kernel.flip_sign(&ranks, &mask, missing);
                }
            };
            put(self.first);
            if let Some(second) = self.second {
                put(second);
                any |= mask.iter().fold(0, |any, missing| any | missing);
            }
        }
        any != 0
    }
}

impl RankFinder {
    /// Adds a column test with its sorted thresholds and the numbers of its rows. Column tests must
    /// be added in the order of columns.
    pub(super) fn push(&mut self, test: &ColumnTest, sorted: &[f32], rows: [usize; 2]) {
        let first = test.key.column / TRANSPOSED_COLUMNS * TRANSPOSED_COLUMNS;
        let lookup = RankLookup::new(test, sorted, rows);
        match self.groups.last_mut().filter(|group| group.first == first) {
            Some(group) => group.lookups.push(lookup),
            None => self.groups.push(LookupGroup { first, lookups: vec![lookup] }),
        }
    }

    /// The ranks of one row.
    #[inline(always)]
    pub(crate) fn ranks_of_row<K: Kernel>(&self, kernel: K, values: &[f32], out: &mut [i8]) {
        for group in &self.groups {
            for lookup in &group.lookups {
                if let Some(value) = values.get(group.first + lookup.column) {
                    lookup.fill_one(kernel, *value, out);
                }
            }
        }
    }

    /// Writes the ranks of up to `N` rows of `columns` values each; returns whether a value is
    /// missing that some splits send left and others right. Ranks beyond the last row are
    /// undefined.
    #[inline(always)]
    pub(crate) fn ranks<K: Kernel, const N: usize>(
        &self,
        kernel: K,
        values: &[f32],
        columns: usize,
        out: &mut [Aligned<[i8; N]>],
    ) -> bool {
        let mut transposed = Aligned([[0.0_f32; N]; TRANSPOSED_COLUMNS]);
        let mut differ = false;
        for group in &self.groups {
            let width = TRANSPOSED_COLUMNS.min(columns.saturating_sub(group.first));
            for (row, values) in values.chunks_exact(columns.max(1)).take(N).enumerate() {
                let (values, next) = values[group.first..].split_at(width);
                kernel.prefetch(next);
                for (column, value) in transposed.0.iter_mut().zip(values) {
                    column[row] = *value;
                }
            }
            for lookup in &group.lookups {
                differ |= lookup.fill(kernel, &transposed.0[lookup.column], out);
            }
        }
        differ
    }
}
