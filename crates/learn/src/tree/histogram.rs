//! Histograms: for each column and bin, the packed sum of the rows' derivatives.
//!
//! The kernel takes 16 columns at a time (8 at the end of a line), so that their histograms stay
//! in the first-level cache, and blocks of 512 rows. Rows of a leaf lie scattered: a block's lines
//! are fetched ahead and copied together first, then every tile of columns reads the copy. A
//! column's cells are 264 apart, not 256, or the columns of a tile would fight for the same cache
//! sets. Cost: one addition a row and column. [`plain`] is the slow twin.

use std::ops::Range;

use crate::bins::{CELLS, Lines};

/// Cells of one column, with a gap.
pub(crate) type Cells = [u64; CELLS + 8];
/// Columns in the smallest tile, and in a unit of parallel work.
pub(crate) const UNIT: usize = 8;
/// Rows in a block.
const BLOCK: usize = 512;
/// Bytes of a full line.
const LINE: usize = 64;

/// The rows of a leaf.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rows<'a> {
    /// All rows, in order.
    All,
    /// These rows, ascending.
    Some(&'a [u32]),
}

/// Adds the rows to the histograms of some units of columns; `packed` goes with `rows`, and
/// `cells` holds [`UNIT`] columns for each unit. Units are numbered through all lines.
pub(crate) fn add(
    lines: &[Lines],
    rows: Rows<'_>,
    packed: &[u64],
    units: Range<usize>,
    cells: &mut [Cells],
) {
    let mut cells = cells;
    let mut first = 0;
    for line in lines {
        let here = line.width / UNIT;
        let from = units.start.max(first).min(first + here);
        let to = units.end.min(first + here).max(from);
        let (mine, rest) = cells.split_at_mut((to - from) * UNIT);
        cells = rest;
        if from < to {
            add_line(line, (from - first) * UNIT..(to - first) * UNIT, rows, packed, mine);
        }
        first += here;
    }
}

/// The columns `places` of one line.
fn add_line(
    line: &Lines,
    places: Range<usize>,
    rows: Rows<'_>,
    packed: &[u64],
    cells: &mut [Cells],
) {
    match rows {
        Rows::All => {
            let blocks = line.bytes().chunks(line.width * BLOCK).zip(packed.chunks(BLOCK));
            for (bytes, packed) in blocks {
                add_block(bytes, line.width, places.start, packed, cells);
            }
        }
        Rows::Some(rows) => {
            let width = places.len();
            let mut copied = [0_u8; BLOCK * LINE];
            let mut blocks = rows.chunks(BLOCK).zip(packed.chunks(BLOCK)).peekable();
            while let Some((rows, packed)) = blocks.next() {
                let copy = &mut copied[..rows.len() * width];
                let next = blocks.peek().map_or(&[][..], |(next, _)| *next);
                gather(line, &places, rows, next, copy);
                add_block(copy, width, 0, packed, cells);
            }
        }
    }
}

/// Copies the lines of some rows together, and asks for those of the rows that come next.
fn gather(line: &Lines, places: &Range<usize>, rows: &[u32], next: &[u32], copy: &mut [u8]) {
    let (bytes, width) = (line.bytes(), line.width);
    let from = |row: u32| bytes.get(row as usize * width + places.start..).unwrap_or_default();
    let mut next = next.iter();
    let mut ask = || {
        if let Some(byte) = next.next().and_then(|row| from(*row).first()) {
            fetch_ahead(byte);
        }
    };
    if places.len() == LINE {
        // A copy of known length is a few register moves.
        for (to, row) in copy.as_chunks_mut::<LINE>().0.iter_mut().zip(rows) {
            ask();
            if let Some(line) = from(*row).first_chunk::<LINE>() {
                *to = *line;
            }
        }
        return;
    }
    for (to, row) in copy.chunks_exact_mut(places.len()).zip(rows) {
        ask();
        for (to, from) in to.as_chunks_mut::<UNIT>().0.iter_mut().zip(from(*row).as_chunks().0) {
            *to = *from;
        }
    }
}

/// Asks for a cache line that will be read soon.
#[inline(always)]
fn fetch_ahead(byte: &u8) {
    // SAFETY: the address is that of a reference; a prefetch reads nothing into the program, and SSE
    // is part of every x86-64 processor.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch(std::ptr::from_ref(byte).cast::<i8>(), _MM_HINT_T1);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = byte;
}

/// A block of rows, tile by tile; `stride` bytes lie between rows.
fn add_block(bytes: &[u8], stride: usize, place: usize, packed: &[u64], cells: &mut [Cells]) {
    let (wide, narrow) = cells.as_chunks_mut::<{ 2 * UNIT }>();
    let mut place = place;
    for tile in wide {
        add_tile(bytes, stride, place, packed, tile);
        place += 2 * UNIT;
    }
    for tile in narrow.as_chunks_mut::<UNIT>().0 {
        add_tile(bytes, stride, place, packed, tile);
        place += UNIT;
    }
}

/// The innermost loop. A byte cannot leave its column's cells, so no index needs a check.
#[inline(always)]
fn add_tile<const W: usize>(
    bytes: &[u8],
    stride: usize,
    place: usize,
    packed: &[u64],
    tile: &mut [Cells; W],
) {
    for (line, packed) in bytes.chunks_exact(stride).zip(packed) {
        let Some(bins) = line.get(place..).and_then(|line| line.first_chunk::<W>()) else { return };
        for (cells, bin) in tile.iter_mut().zip(bins) {
            let cell = &mut cells[usize::from(*bin)];
            *cell = cell.wrapping_add(*packed);
        }
    }
}

/// The slow twin: column by column, row by row.
#[cfg(test)]
pub(crate) fn plain(binned: &crate::bins::Binned, rows: &[u32], packed: &[u64]) -> Vec<Cells> {
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
    use crate::collective::Local;
    use proptest::prelude::*;
    use rankwright_data::Random;
    use rankwright_data::generate::LetorOptions;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn histograms_equal_their_plain_twin_however_columns_are_cut(seed: u64, keep in 0.02..1.0) {
            let data = LetorOptions { queries: 20, documents: 90, seed }.generate().unwrap();
            let binned = Binned::new(&data, 255, &Local).unwrap();
            let mut random = Random::new(seed, 1);
            let all: Vec<u32> = (0..data.rows() as u32).collect();
            let packed: Vec<u64> = all.iter().map(|_| random.below(1 << 40) as u64).collect();
            let some: Vec<u32> = all.iter().copied().filter(|_| random.unit() < keep).collect();
            let units = binned.lines().iter().map(|line| line.width / UNIT).sum::<usize>();
            for (rows, listed) in [(Rows::All, &all), (Rows::Some(&some), &some)] {
                let expected = plain(&binned, listed, &packed);
                for pieces in [1, 2, 3, 5, units] {
                    let mut cells = vec![[0; CELLS + 8]; units * UNIT];
                    for piece in 0..pieces {
                        let cut = |at: usize| units * at / pieces;
                        let range = cut(piece)..cut(piece + 1);
                        let mine = &mut cells[range.start * UNIT..range.end * UNIT];
                        add(binned.lines(), rows, &packed[..listed.len()], range, mine);
                    }
                    prop_assert!(cells.iter().zip(&expected).all(|(a, b)| a == b));
                }
            }
        }
    }
}
