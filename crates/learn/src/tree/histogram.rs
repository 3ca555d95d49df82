//! Histograms: for each column and value of its byte, the sum of the rows' derivatives, packed into
//! 64 bits ([`quantise`](super::quantise)). Such a sum is a *cell*.
//!
//! The bytes of up to 64 columns of one row lie side by side, one cache line: a *line*. The columns
//! of a line are divided into *tiles* of up to 13 columns; one tile is summed at a time, so that
//! its histograms stay in the first-level cache. Rows are taken in blocks of 512. Rows of a leaf
//! lie scattered: a block's lines are first copied together, and while they are summed the lines of
//! the next block are prefetched, a few at a time. The histograms of two columns are 264 cells
//! apart, not 256, otherwise the columns of a tile would compete for the same cache sets. Cost: one
//! addition per row and column, which is one store, and a processor does about one store per cycle.
//! [`reference_histograms`] is the reference implementation.

use std::ops::Range;

use crate::bins::{CELLS, LineGroup, MIN_LINE_BYTES, TILE_COLUMNS};

/// Number of cells of a column's histogram, with 8 cells of padding.
pub(super) const PADDED_CELLS: usize = CELLS + 8;
/// The histogram of one column: a packed sum for each value of the column's byte, and padding.
pub(crate) type ColumnHistogram = [u64; PADDED_CELLS];
/// Number of rows in a block.
const BLOCK_ROWS: usize = 512;
/// Number of rows that are summed between two calls that prefetch lines of the next block.
const PREFETCH_ROWS: usize = 64;
/// Number of bytes in the widest line.
const MAX_LINE_BYTES: usize = 64;

/// The rows of a leaf.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LeafRows<'a> {
    /// All rows, in order.
    All,
    /// These rows, ascending.
    Some(&'a [u32]),
}

/// Adds the rows to the histograms of some tiles, whose numbers count through all line groups;
/// `packed` holds the derivatives of `rows`, and `histograms` has one entry for each column of
/// these tiles.
pub(crate) fn add(
    groups: &[LineGroup],
    rows: LeafRows<'_>,
    packed: &[u64],
    tiles: Range<usize>,
    histograms: &mut [ColumnHistogram],
) {
    let mut remaining = histograms;
    let mut numbers = 0..;
    for group in groups {
        let group_tiles: Vec<_> =
            group.tiles().zip(&mut numbers).filter(|(_, number)| tiles.contains(number)).collect();
        let (Some((first, _)), Some((last, _))) = (group_tiles.first(), group_tiles.last()) else {
            continue;
        };
        let columns = first.start - group.first_column..last.end - group.first_column;
        let (of_group, after) = remaining.split_at_mut(columns.len());
        remaining = after;
        add_group(group, columns, rows, packed, of_group);
    }
}

/// Adds the rows to the histograms of some columns of one line group, numbered within the group.
fn add_group(
    group: &LineGroup,
    columns: Range<usize>,
    rows: LeafRows<'_>,
    packed: &[u64],
    histograms: &mut [ColumnHistogram],
) {
    match rows {
        LeafRows::All => {
            let blocks =
                group.bytes().chunks(group.width * BLOCK_ROWS).zip(packed.chunks(BLOCK_ROWS));
            for (block, (lines, packed)) in blocks.enumerate() {
                let next = (block + 1) * BLOCK_ROWS..(block + 2) * BLOCK_ROWS;
                let mut prefetch = Prefetch::new(group, NextRows::Range(next), columns.len());
                RowBlock { lines, width: group.width, packed }.add(
                    columns.start,
                    histograms,
                    &mut prefetch,
                );
            }
        }
        LeafRows::Some(rows) => {
            let mut copied = [0_u8; BLOCK_ROWS * MAX_LINE_BYTES];
            let mut blocks = rows.chunks(BLOCK_ROWS).zip(packed.chunks(BLOCK_ROWS)).peekable();
            while let Some((rows, packed)) = blocks.next() {
                let lines = &mut copied[..rows.len() * group.width];
                gather(group, rows, lines);
                let next = blocks.peek().map_or(&[][..], |(next, _)| *next);
                let mut prefetch = Prefetch::new(group, NextRows::Rows(next.iter()), columns.len());
                RowBlock { lines, width: group.width, packed }.add(
                    columns.start,
                    histograms,
                    &mut prefetch,
                );
            }
        }
    }
}

/// Copies the lines of some rows together.
fn gather(group: &LineGroup, rows: &[u32], copy: &mut [u8]) {
    // A copy of constant length compiles to a few register moves.
    match group.width {
        64 => gather_wide::<64>(group, rows, copy),
        32 => gather_wide::<32>(group, rows, copy),
        16 => gather_wide::<16>(group, rows, copy),
        _ => gather_wide::<MIN_LINE_BYTES>(group, rows, copy),
    }
}

/// Copies the lines of some rows together, `W` bytes each.
fn gather_wide<const W: usize>(group: &LineGroup, rows: &[u32], copy: &mut [u8]) {
    let lines = group.bytes().as_chunks::<W>().0;
    for (copied, row) in copy.as_chunks_mut::<W>().0.iter_mut().zip(rows) {
        if let Some(line) = lines.get(*row as usize) {
            *copied = *line;
        }
    }
}

/// Prefetches the lines of the next block, a few in each call: more at once would only queue up.
struct Prefetch<'a> {
    /// The lines of all rows.
    lines: &'a [u8],
    /// Bytes per line.
    width: usize,
    /// The rows that are still to be prefetched.
    rows: NextRows<'a>,
    /// Number of rows that one call prefetches.
    rows_per_call: usize,
}

/// Rows to prefetch.
enum NextRows<'a> {
    Range(Range<usize>),
    Rows(std::slice::Iter<'a, u32>),
}

impl<'a> Prefetch<'a> {
    /// Divides the rows of the next block evenly among the calls made while the histograms of
    /// `columns` columns are summed: one call for each tile and each [`PREFETCH_ROWS`] rows.
    fn new(group: &'a LineGroup, rows: NextRows<'a>, columns: usize) -> Self {
        let calls = columns.div_ceil(TILE_COLUMNS) * BLOCK_ROWS / PREFETCH_ROWS;
        let rows_per_call = BLOCK_ROWS.div_ceil(calls.max(1));
        Self { lines: group.bytes(), width: group.width, rows, rows_per_call }
    }

    #[inline(always)]
    fn prefetch_some(&mut self) {
        let Self { lines, width, rows, rows_per_call } = self;
        let prefetch_row = |row: usize| {
            if let Some(byte) = lines.get(row * *width) {
                prefetch_line(byte);
            }
        };
        match rows {
            NextRows::Range(range) => range.by_ref().take(*rows_per_call).for_each(prefetch_row),
            NextRows::Rows(rows) => {
                rows.by_ref().take(*rows_per_call).for_each(|row| prefetch_row(*row as usize))
            }
        }
    }
}

/// Prefetches the cache line of a byte that will be read soon.
#[inline(always)]
fn prefetch_line(byte: &u8) {
    // SAFETY: the address is that of a reference; a prefetch reads nothing into the program, and
    // SSE is part of every x86-64 processor.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch(std::ptr::from_ref(byte).cast::<i8>(), _MM_HINT_T1);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = byte;
}

/// Lines of up to [`BLOCK_ROWS`] rows, and the packed derivatives of these rows.
#[derive(Clone, Copy)]
struct RowBlock<'a> {
    lines: &'a [u8],
    /// Bytes per line.
    width: usize,
    packed: &'a [u64],
}

impl RowBlock<'_> {
    /// Adds the rows to the histograms of some columns, tile by tile; the first of them is column
    /// `first_column` of the line.
    fn add(
        &self,
        first_column: usize,
        histograms: &mut [ColumnHistogram],
        prefetch: &mut Prefetch<'_>,
    ) {
        let tiles = histograms.len().div_ceil(TILE_COLUMNS).max(1);
        let (mut first_column, mut remaining) = (first_column, histograms);
        for tiles_left in (1..=tiles).rev() {
            let (tile, after) = remaining.split_at_mut(remaining.len() / tiles_left);
            remaining = after;
            self.add_tile(first_column, tile, prefetch);
            first_column += tile.len();
        }
    }

    /// Adds the rows to the histograms of one tile, with code compiled for its number of columns.
    fn add_tile(
        &self,
        first_column: usize,
        histograms: &mut [ColumnHistogram],
        prefetch: &mut Prefetch<'_>,
    ) {
        macro_rules! by_width {
            ($($width:literal)*) => {
                match histograms.len() {
                    $($width => if let Some(tile) = histograms.first_chunk_mut::<$width>() {
                        self.add_wide(first_column, tile, prefetch);
                    })*
                    _ => {}
                }
            };
        }
        const { assert!(TILE_COLUMNS <= 16) };
        by_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
    }

    /// Adds the rows to the histograms of a tile of `W` columns.
    fn add_wide<const W: usize>(
        &self,
        first_column: usize,
        tile: &mut [ColumnHistogram; W],
        prefetch: &mut Prefetch<'_>,
    ) {
        let RowBlock { lines, width, packed } = *self;
        for (lines, packed) in lines.chunks(width * PREFETCH_ROWS).zip(packed.chunks(PREFETCH_ROWS))
        {
            prefetch.prefetch_some();
            for (line, packed) in lines.chunks_exact(width).zip(packed) {
                add_row(&line[first_column..], *packed, tile);
            }
        }
    }
}

/// The innermost loop: adds a row's derivatives to `W` columns, whose bytes are the first of
/// `line`. A byte cannot index outside its column's cells, so no index needs a check; eight bytes
/// are loaded together, because loads and stores are the bottleneck.
#[inline(always)]
fn add_row<const W: usize>(line: &[u8], packed: u64, tile: &mut [ColumnHistogram; W]) {
    let Some(bytes) = line.first_chunk::<W>() else { return };
    let mut add = |column: usize, byte: u8| {
        let cell = &mut tile[column][usize::from(byte)];
        *cell = cell.wrapping_add(packed);
    };
    let (words, rest) = bytes.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        for position in 0..8 {
            add(number * 8 + position, (word >> (8 * position)) as u8);
        }
    }
    for (position, byte) in rest.iter().enumerate() {
        add(W / 8 * 8 + position, *byte);
    }
}

/// The reference implementation: column by column, row by row.
#[cfg(test)]
pub(crate) fn reference_histograms(
    binned: &crate::bins::Binned,
    rows: &[u32],
    packed: &[u64],
) -> Vec<ColumnHistogram> {
    let mut all = vec![[0_u64; PADDED_CELLS]; binned.columns().len()];
    for (column, cells) in all.iter_mut().enumerate() {
        for (row, packed) in rows.iter().zip(packed) {
            let byte = usize::from(binned.column(column)[*row as usize]);
            cells[byte] = cells[byte].wrapping_add(*packed);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bins::Binned;
    use crate::collective::SingleProcess;
    use proptest::prelude::*;
    use rankwright_data::{Dataset, Random};

    /// Random values: every fourth feature has 3 distinct ones, so that features share columns.
    fn data(rows: usize, columns: usize, seed: u64) -> Dataset {
        let mut random = Random::new(seed, 0);
        let mut value = |index: usize| {
            random.below(if (index % columns).is_multiple_of(4) { 3 } else { 500 }) as f32
        };
        let values: Vec<f32> = (0..rows * columns).map(&mut value).collect();
        Dataset::from_dense(values, columns, vec![0; rows], vec!["q"; rows]).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn histograms_equal_the_reference_however_columns_are_cut(
            seed: u64, keep in 0.02..1.0, columns in 1_usize..150,
        ) {
            let data = data(1800, columns, seed);
            let binned = Binned::new(&data, 255, &SingleProcess).unwrap();
            let mut random = Random::new(seed, 1);
            let all: Vec<u32> = (0..data.rows() as u32).collect();
            let packed: Vec<u64> = all.iter().map(|_| random.below(1 << 40) as u64).collect();
            let some: Vec<u32> = all.iter().copied().filter(|_| random.unit() < keep).collect();
            let tiles: Vec<_> = binned.line_groups().iter().flat_map(LineGroup::tiles).collect();
            for (rows, listed) in [(LeafRows::All, &all), (LeafRows::Some(&some), &some)] {
                let expected = reference_histograms(&binned, listed, &packed);
                for pieces in [1, 2, 3, 5, tiles.len()] {
                    let mut histograms = vec![[0; PADDED_CELLS]; binned.columns().len()];
                    for piece in 0..pieces {
                        let first_tile = |piece: usize| tiles.len() * piece / pieces;
                        let range = first_tile(piece)..first_tile(piece + 1);
                        let Some(last) = range.clone().last() else { continue };
                        let columns = tiles[range.start].start..tiles[last].end;
                        let of_piece = &mut histograms[columns];
                        add(binned.line_groups(), rows, &packed[..listed.len()], range, of_piece);
                    }
                    prop_assert!(histograms.iter().zip(&expected).all(|(a, b)| a == b));
                }
            }
        }
    }
}
