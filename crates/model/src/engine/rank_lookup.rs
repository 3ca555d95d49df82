//! Replaces feature values by ranks. A column test (`split_tests.rs`) has the thresholds that a
//! column is compared with; the rank of a value is the number of these thresholds that lie below
//! it. The ranks of a block of rows for one column test are a rank vector.
//!
//! Values are transposed from rows to columns, 16 columns at a time. Up to
//! [`MAX_COUNTED_THRESHOLDS`] thresholds are counted one by one for many values at once; more
//! thresholds are cut into blocks of 16: first the blocks whose last threshold lies below the value
//! are counted, then the thresholds below it in the next block.

use super::kernel::{Aligned, BLOCK_THRESHOLDS, Bytes, Kernel, ROWS_PER_REGISTER};
use super::split_tests::{ColumnKey, ColumnTest, TestCondition};
use crate::categories::Categories;
use crate::tree::ABOUT_ZERO;

/// Number of thresholds up to which counting one by one is fastest.
const MAX_COUNTED_THRESHOLDS: usize = 32;
/// Number of blocks of thresholds.
const BLOCKS: usize = 16;
/// Number of columns transposed together: those of one cache line.
const TRANSPOSED_COLUMNS: usize = 16;
/// The rank of a value that goes right at every threshold.
const RIGHT_EVERYWHERE: u8 = u8::MAX;

/// A rank with its sign bit flipped, which keeps the order of ranks when compared as signed
/// numbers.
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
    first_column: usize,
    lookups: Vec<RankLookup>,
}

/// Finds the rank of a value of one column.
#[derive(Debug)]
struct RankLookup {
    first: TargetVector,
    /// The second rank vector, if some splits send missing values left and others right.
    second: Option<TargetVector>,
    /// The column, counted from the first column of the group.
    column: usize,
    zero_is_missing: bool,
    search: RankSearch,
}

/// A rank vector that a lookup fills.
#[derive(Debug, Clone, Copy)]
struct TargetVector {
    /// The number of the rank vector.
    number: usize,
    /// The rank of a missing value in this vector.
    missing_rank: u8,
}

/// The way to find the rank of a value that is not missing.
#[derive(Debug)]
enum RankSearch {
    /// Few thresholds: all are compared with the value, and those below it are counted.
    CountAll(Vec<f32>),
    /// Sorted thresholds in 16 blocks of 16, padded with infinity.
    Blocks {
        /// The last threshold of each block.
        ends: [f32; BLOCKS],
        blocks: Box<[[f32; BLOCK_THRESHOLDS]; BLOCKS]>,
    },
    /// Rank 0 for categories of the set, 1 for others.
    Set(Categories),
}

impl RankLookup {
    /// The lookup of a column test with these sorted thresholds, which fills the first of two rank
    /// vectors, or both if missing values go to both sides.
    fn new(test: &ColumnTest, sorted: &[f32], [vector, second]: [usize; 2]) -> RankLookup {
        let search = match &test.condition {
            TestCondition::Set(set) => RankSearch::Set(set.clone()),
            TestCondition::Thresholds(_) if sorted.len() <= MAX_COUNTED_THRESHOLDS => {
                RankSearch::CountAll(sorted.to_vec())
            }
            TestCondition::Thresholds(_) => {
                let mut blocks = Box::new([[f32::INFINITY; BLOCK_THRESHOLDS]; BLOCKS]);
                for (to, from) in blocks.as_flattened_mut().iter_mut().zip(sorted) {
                    *to = *from;
                }
                RankSearch::Blocks { ends: blocks.map(|block| block[BLOCK_THRESHOLDS - 1]), blocks }
            }
        };
        let right_rank = if matches!(search, RankSearch::Set(_)) { 1 } else { RIGHT_EVERYWHERE };
        let target = |number, missing_rank| TargetVector { number, missing_rank };
        let (first, second) = match test.missing_sides {
            [true, true] => (target(vector, 0), Some(target(second, right_rank))),
            [_, false] => (target(vector, 0), None),
            [false, true] => (target(vector, right_rank), None),
        };
        let ColumnKey { column, zero_is_missing } = test.key;
        RankLookup { first, second, column: column % TRANSPOSED_COLUMNS, zero_is_missing, search }
    }

    /// The largest absolute value that counts as missing; negative if none does.
    #[inline(always)]
    fn missing_limit(&self) -> f32 {
        if self.zero_is_missing { ABOUT_ZERO } else { -1.0 }
    }

    /// The ranks of 32 values, as if none of them were missing.
    #[inline(always)]
    fn search<K: Kernel>(&self, kernel: K, values: &[f32; ROWS_PER_REGISTER]) -> Bytes {
        match &self.search {
            RankSearch::CountAll(list) => kernel.count_below(list, values),
            RankSearch::Blocks { ends, blocks } => {
                let mut ranks = kernel.count_below(ends, values);
                for (rank, value) in ranks.iter_mut().zip(values) {
                    let block = &blocks[usize::from(*rank) % BLOCKS];
                    *rank = *rank * BLOCK_THRESHOLDS as u8 + kernel.count_below_one(block, *value);
                }
                ranks
            }
            RankSearch::Set(set) => {
                let mut ranks = [0; ROWS_PER_REGISTER];
                for (rank, value) in ranks.iter_mut().zip(values) {
                    *rank = u8::from(!set.contains(*value));
                }
                ranks
            }
        }
    }

    /// Writes the rank of one value into its rank vectors, which have one entry each.
    #[inline(always)]
    fn fill_one<K: Kernel>(&self, kernel: K, value: f32, vectors: &mut [i8]) {
        let is_missing = value.is_nan() | (value.abs() <= self.missing_limit());
        let rank = match &self.search {
            RankSearch::CountAll(list) => list.iter().map(|t| u8::from(*t < value)).sum(),
            RankSearch::Blocks { ends, blocks } => {
                let block = kernel.count_below_one(ends, value);
                let inside = kernel.count_below_one(&blocks[usize::from(block) % BLOCKS], value);
                block * BLOCK_THRESHOLDS as u8 + inside
            }
            RankSearch::Set(set) => u8::from(!set.contains(value)),
        };
        for target in std::iter::once(self.first).chain(self.second) {
            let rank = if is_missing { target.missing_rank } else { rank };
            vectors[target.number] = flip_sign(rank);
        }
    }

    /// Fills the rank vectors of this column test; returns whether there are two that differ.
    #[inline(always)]
    fn fill<K: Kernel, const N: usize>(
        &self,
        kernel: K,
        values: &[f32; N],
        vectors: &mut [Aligned<[i8; N]>],
    ) -> bool {
        let missing_limit = self.missing_limit();
        let mut any_missing = 0;
        for (chunk, values) in values.as_chunks().0.iter().enumerate() {
            let (ranks, mask) =
                (self.search(kernel, values), kernel.missing_mask(values, missing_limit));
            let mut put = |target: TargetVector| {
                vectors[target.number].0.as_chunks_mut().0[chunk] =
                    kernel.flip_sign(&ranks, &mask, target.missing_rank);
            };
            put(self.first);
            if let Some(second) = self.second {
                put(second);
                any_missing |= mask.iter().fold(0, |any, missing| any | missing);
            }
        }
        any_missing != 0
    }
}

impl RankFinder {
    /// Adds a column test with its sorted thresholds and the numbers of its two rank vectors, of
    /// which the second may be unused. Column tests must be added in the order of columns.
    pub(super) fn push(&mut self, test: &ColumnTest, sorted: &[f32], vectors: [usize; 2]) {
        let first_column = test.key.column / TRANSPOSED_COLUMNS * TRANSPOSED_COLUMNS;
        let lookup = RankLookup::new(test, sorted, vectors);
        match self.groups.last_mut().filter(|group| group.first_column == first_column) {
            Some(group) => group.lookups.push(lookup),
            None => self.groups.push(LookupGroup { first_column, lookups: vec![lookup] }),
        }
    }

    /// Writes the ranks of one row: `out` has one entry for each rank vector.
    #[inline(always)]
    pub(crate) fn ranks_of_row<K: Kernel>(&self, kernel: K, values: &[f32], out: &mut [i8]) {
        for group in &self.groups {
            for lookup in &group.lookups {
                lookup.fill_one(kernel, values[group.first_column + lookup.column], out);
            }
        }
    }

    /// Writes the rank vectors of up to `N` rows of `columns` values each; returns whether a value
    /// is missing that some splits send left and others right. Ranks beyond the last row are
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
            let width = TRANSPOSED_COLUMNS.min(columns.saturating_sub(group.first_column));
            for (row, values) in values.chunks_exact(columns.max(1)).take(N).enumerate() {
                let (values, next) = values[group.first_column..].split_at(width);
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
