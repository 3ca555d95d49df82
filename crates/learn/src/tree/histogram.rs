//! Histograms: for each column and value of its byte, the sum of the rows' derivatives, packed into
//! 64 bits ([`quantise`](super::quantise)).
//!
//! The kernel takes a tile of up to 13 columns at a time, so that their histograms stay in the
//! first-level cache, and blocks of 512 rows. A line holds the bytes of up to 64 columns of a row.
//! Rows of a leaf lie scattered: a block's lines are first copied together, and while they are
//! summed the lines of the next block are prefetched, a few at a time. A column's cells are 264
//! apart, not 256, otherwise the columns of a tile would compete for the same cache sets. Cost: one
//! addition per row and column, which is one store, and a processor does about one store per cycle.
//! [`reference_histograms`] is the reference implementation.

use std::ops::Range;

use crate::bins::{BinLines, CELLS, MIN_LINE_BYTES, TILE};

/// The histogram of one column: a packed sum for each value of the column's byte, and padding.
pub(crate) type Cells = [u64; CELLS + 8];
/// Number of rows in a block.
const BLOCK: usize = 512;
/// Number of rows between two groups of prefetches for the next block.
const PREFETCH_ROWS: usize = 64;
/// Bytes of a row in the widest line.
const MAX_LINE_BYTES: usize = 64;

/// The rows of a leaf.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LeafRows<'a> {
    /// All rows, in order.
    All,
    /// These rows, ascending.
    Some(&'a [u32]),
}

/// Adds the rows to the histograms of some tiles, numbered through all lines; `packed` holds the
/// derivatives of `rows`, and `cells` the columns of these tiles.
pub(crate) fn add(
    lines: &[BinLines],
    rows: LeafRows<'_>,
    packed: &[u64],
    tiles: Range<usize>,
    cells: &mut [Cells],
) {
    let mut cells = cells;
    let mut numbers = 0..;
    for line in lines {
        let mine: Vec<_> =
            line.tiles().zip(&mut numbers).filter(|(_, at)| tiles.contains(at)).collect();
        let (Some((first, _)), Some((last, _))) = (mine.first(), mine.last()) else { continue };
        let columns = first.start - line.first..last.end - line.first;
        let (own, rest) = cells.split_at_mut(columns.len());
        cells = rest;
        add_line(line, columns, rows, packed, own);
    }
}

/// Adds the rows to some columns of one line.
fn add_line(
    line: &BinLines,
    columns: Range<usize>,
    rows: LeafRows<'_>,
    packed: &[u64],
    cells: &mut [Cells],
) {
    match rows {
        LeafRows::All => {
            let blocks = line.bytes().chunks(line.width * BLOCK).zip(packed.chunks(BLOCK));
            for (at, (bytes, packed)) in blocks.enumerate() {
                let next = (at + 1) * BLOCK..(at + 2) * BLOCK;
                let mut prefetch = Prefetch::new(line, NextRows::Range(next), columns.len());
                RowBlock { bytes, width: line.width, packed }.add(
                    columns.start,
                    cells,
                    &mut prefetch,
                );
            }
        }
        LeafRows::Some(rows) => {
            let mut copied = [0_u8; BLOCK * MAX_LINE_BYTES];
            let mut blocks = rows.chunks(BLOCK).zip(packed.chunks(BLOCK)).peekable();
            while let Some((rows, packed)) = blocks.next() {
                let bytes = &mut copied[..rows.len() * line.width];
                gather(line, rows, bytes);
                let next = blocks.peek().map_or(&[][..], |(next, _)| *next);
                let mut prefetch = Prefetch::new(line, NextRows::Rows(next.iter()), columns.len());
                RowBlock { bytes, width: line.width, packed }.add(
                    columns.start,
                    cells,
                    &mut prefetch,
                );
            }
        }
    }
}

/// Copies the lines of some rows together.
fn gather(line: &BinLines, rows: &[u32], copy: &mut [u8]) {
    // A copy of constant length compiles to a few register moves.
    match line.width {
        64 => gather_wide::<64>(line, rows, copy),
        32 => gather_wide::<32>(line, rows, copy),
        16 => gather_wide::<16>(line, rows, copy),
        _ => gather_wide::<MIN_LINE_BYTES>(line, rows, copy),
    }
}

/// Copies the lines of some rows together, `W` bytes each.
fn gather_wide<const W: usize>(line: &BinLines, rows: &[u32], copy: &mut [u8]) {
    let lines = line.bytes().as_chunks::<W>().0;
    for (to, row) in copy.as_chunks_mut::<W>().0.iter_mut().zip(rows) {
        if let Some(line) = lines.get(*row as usize) {
            *to = *line;
        }
    }
}

/// Prefetches the lines of the next block, a few at a time: more at once would only queue up.
struct Prefetch<'a> {
    bytes: &'a [u8],
    width: usize,
    rows: NextRows<'a>,
    /// Number of rows that one call prefetches.
    at_a_time: usize,
}

/// Rows to prefetch.
enum NextRows<'a> {
    Range(Range<usize>),
    Rows(std::slice::Iter<'a, u32>),
}

impl<'a> Prefetch<'a> {
    fn new(line: &'a BinLines, rows: NextRows<'a>, columns: usize) -> Self {
        let times = columns.div_ceil(TILE) * BLOCK / PREFETCH_ROWS;
        let at_a_time = BLOCK.div_ceil(times.max(1));
        Self { bytes: line.bytes(), width: line.width, rows, at_a_time }
    }

    #[inline(always)]
    fn prefetch_some(&mut self) {
        let Self { bytes, width, rows, at_a_time } = self;
        let prefetch_row = |row: usize| {
            if let Some(byte) = bytes.get(row * *width) {
                prefetch_line(byte);
            }
        };
        match rows {
            NextRows::Range(range) => range.by_ref().take(*at_a_time).for_each(prefetch_row),
            NextRows::Rows(rows) => {
                rows.by_ref().take(*at_a_time).for_each(|row| prefetch_row(*row as usize))
            }
        }
    }
}

/// Prefetches a cache line that will be read soon.
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

/// Lines of up to [`BLOCK`] rows, and their packed derivatives.
#[derive(Clone, Copy)]
struct RowBlock<'a> {
    bytes: &'a [u8],
    width: usize,
    packed: &'a [u64],
}

impl RowBlock<'_> {
    /// Sums some columns, tile by tile, starting at column `first_column` of the line.
    fn add(&self, first_column: usize, cells: &mut [Cells], prefetch: &mut Prefetch<'_>) {
        let tiles = cells.len().div_ceil(TILE).max(1);
        let (mut first_column, mut left) = (first_column, cells);
        for tile in (1..=tiles).rev() {
            let (cells, others) = left.split_at_mut(left.len() / tile);
            left = others;
            self.add_tile(first_column, cells, prefetch);
            first_column += cells.len();
        }
    }

    /// Sums one tile, with code compiled for its width.
    fn add_tile(&self, first_column: usize, cells: &mut [Cells], prefetch: &mut Prefetch<'_>) {
        macro_rules! by_width {
            ($($width:literal)*) => {
                match cells.len() {
                    $($width => if let Some(tile) = cells.first_chunk_mut::<$width>() {
                        self.add_wide(first_column, tile, prefetch);
                    })*
                    _ => {}
                }
            };
        }
        const { assert!(TILE <= 16) };
        by_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
    }

    /// Sums a tile of `W` columns.
    fn add_wide<const W: usize>(
        &self,
        first_column: usize,
        tile: &mut [Cells; W],
        prefetch: &mut Prefetch<'_>,
    ) {
        let RowBlock { bytes, width, packed } = *self;
        for (bytes, packed) in bytes.chunks(width * PREFETCH_ROWS).zip(packed.chunks(PREFETCH_ROWS))
        {
            prefetch.prefetch_some();
            for (line, packed) in bytes.chunks_exact(width).zip(packed) {
                add_row(&line[first_column..], *packed, tile);
            }
        }
    }
}

/// The innermost loop: adds a row's derivatives to `W` columns. A byte cannot index outside its
/// column's cells, so no index needs a check; eight bytes are loaded together, because loads and
/// stores are the bottleneck.
#[inline(always)]
fn add_row<const W: usize>(line: &[u8], packed: u64, tile: &mut [Cells; W]) {
    let Some(bins) = line.first_chunk::<W>() else { return };
    let mut add = |column: usize, bin: u8| {
        let cell = &mut tile[column][usize::from(bin)];
        *cell = cell.wrapping_add(packed);
    };
    let (words, rest) = bins.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        for byte in 0..8 {
            add(at * 8 + byte, (word >> (8 * byte)) as u8);
        }
    }
    for (at, bin) in rest.iter().enumerate() {
        add(W / 8 * 8 + at, *bin);
    }
}

/// The reference implementation: column by column, row by row.
#[cfg(test)]
pub(crate) fn reference_histograms(
    binned: &crate::bins::Binned,
    rows: &[u32],
    packed: &[u64],
) -> Vec<Cells> {
    let mut all = vec![[0_u64; CELLS + 8]; binned.columns().len()];
    for (column, cells) in all.iter_mut().enumerate() {
        for (row, packed) in rows.iter().zip(packed) {
            let bin = binned.column(column)[*row as usize];
            cells[usize::from(bin)] = cells[usize::from(bin)].wrapping_add(*packed);
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

    /// Random values: every fourth feature has few distinct ones.
    fn data(rows: usize, columns: usize, seed: u64) -> Dataset {
        let mut random = Random::new(seed, 0);
        let mut value =
            |at: usize| random.below(if (at % columns).is_multiple_of(4) { 3 } else { 500 }) as f32;
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
            let tiles: Vec<_> = binned.lines().iter().flat_map(BinLines::tiles).collect();
            for (rows, listed) in [(LeafRows::All, &all), (LeafRows::Some(&some), &some)] {
                let expected = reference_histograms(&binned, listed, &packed);
                for pieces in [1, 2, 3, 5, tiles.len()] {
                    let mut cells = vec![[0; CELLS + 8]; binned.columns().len()];
                    for piece in 0..pieces {
                        let cut = |at: usize| tiles.len() * at / pieces;
                        let range = cut(piece)..cut(piece + 1);
                        let Some(last) = range.clone().last() else { continue };
                        let columns = tiles[range.start].start..tiles[last].end;
                        let mine = &mut cells[columns];
                        add(binned.lines(), rows, &packed[..listed.len()], range, mine);
                    }
                    prop_assert!(cells.iter().zip(&expected).all(|(a, b)| a == b));
                }
            }
        }
    }
}
