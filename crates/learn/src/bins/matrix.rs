//! Binned data: one byte per row and column, stored in two layouts.
//!
//! *Lines* hold up to 64 columns of a row side by side, one cache line: histograms read whole rows,
//! and a row of a deep leaf costs one cache miss for 64 columns. *By column* holds the bytes of a
//! column together: a partition reads one column of many rows. Both are filled by blocks of rows,
//! in parallel; memory is about two bytes per row and column.

use std::ops::Range;

use memmap2::MmapMut;
use rankwright_data::{DataError, Dataset};
use rayon::prelude::*;

use super::assign::{BLOCK, Searcher};
use super::bounds::FeatureBins;
use super::columns::{BinColumn, PackedFeature, columns};
use super::sample::feature_bins;
use crate::collective::Collective;
use crate::error::LearnError;

/// Number of columns in a full line.
pub(crate) const LINE: usize = 64;
/// Number of blocks of rows after which pages of a mapped file are released.
const RELEASE_BLOCKS: usize = 32;
/// Largest number of columns in a tile, the columns of a line whose histograms are summed together:
/// their histograms should stay in the first-level cache.
pub(crate) const TILE: usize = 13;
/// Smallest number of bytes that a row takes in a line.
pub(crate) const MIN_LINE_BYTES: usize = 8;
/// Number of columns that are transposed together.
const TRANSPOSED_COLUMNS: usize = 8;

/// A line: up to 64 columns, row by row.
#[derive(Debug)]
pub(crate) struct BinLines {
    /// Number of the first column.
    pub(crate) first: usize,
    /// Number of columns.
    pub(crate) columns: usize,
    /// Bytes per row: a power of two, so that no row crosses a cache line. Bytes without a column
    /// are 0.
    pub(crate) width: usize,
    bytes: Pages,
}

impl BinLines {
    fn new(first: usize, columns: usize, rows: usize) -> Result<Self, LearnError> {
        let width = columns.next_power_of_two().max(MIN_LINE_BYTES);
        Ok(Self { first, columns, width, bytes: Pages::zeroed(rows * width)? })
    }

    /// The columns in tiles of nearly equal size, numbered through all lines.
    pub(crate) fn tiles(&self) -> impl Iterator<Item = Range<usize>> {
        let count = self.columns.div_ceil(TILE);
        let cut = move |at: usize| self.first + self.columns * at / count.max(1);
        (0..count).map(move |tile| cut(tile)..cut(tile + 1))
    }

    /// The bytes of all rows.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.bytes()
    }
}

/// Zeroed bytes in pages of their own, huge pages where the kernel supports them: rows of a leaf
/// lie far apart, and the address translation of small pages would cost as much as the reads.
#[derive(Debug)]
struct Pages {
    map: MmapMut,
    len: usize,
}

impl Pages {
    fn zeroed(len: usize) -> Result<Self, LearnError> {
        let map = MmapMut::map_anon(len.max(1))
            .map_err(|error| DataError::io("get memory for", format!("{len} bytes"), error))?;
        // Advice only: without huge pages the result is the same, but slower.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Self { map, len })
    }

    fn bytes(&self) -> &[u8] {
        &self.map[..self.len]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.map[..self.len]
    }
}

/// A data set in bins, in both layouts.
#[derive(Debug)]
pub(crate) struct Binned {
    rows: usize,
    /// Bins of all features of the data, including features with one bin.
    features: Vec<FeatureBins>,
    columns: Vec<BinColumn>,
    lines: Vec<BinLines>,
    by_column: Pages,
}

impl Binned {
    /// Bins a data set: at most `max_bins` bins per feature (2 to 255), plus one for missing
    /// values.
    pub(crate) fn new(
        data: &Dataset,
        max_bins: usize,
        collective: &dyn Collective,
    ) -> Result<Self, LearnError> {
        Self::with_categories(data, max_bins, &[], collective)
    }

    /// Like [`Binned::new`]; `categorical` are the features whose values are category numbers.
    pub(crate) fn with_categories(
        data: &Dataset,
        max_bins: usize,
        categorical: &[u32],
        collective: &dyn Collective,
    ) -> Result<Self, LearnError> {
        let features = feature_bins(data, max_bins.clamp(2, 255), categorical, collective)?;
        let columns = columns(&features);
        let mut lines: Vec<BinLines> = (0..columns.len())
            .step_by(LINE)
            .map(|first| BinLines::new(first, (columns.len() - first).min(LINE), data.rows()))
            .collect::<Result<_, _>>()?;
        // Pages that the sample touched are read again block by block, so a mapped file is never in
        // memory as a whole beside the bins.
        data.matrix().release(0..data.rows());
        let searchers: Vec<Searcher> = features.iter().map(Searcher::new).collect();
        for line in &mut lines {
            let mine = &columns[line.first..line.first + line.columns];
            let width = line.width;
            line.bytes.bytes_mut().par_chunks_mut(width * BLOCK).enumerate().for_each(
                |(block, bytes)| {
                    fill_block(data, block * BLOCK, mine, &searchers, width, bytes);
                    if block % RELEASE_BLOCKS == RELEASE_BLOCKS - 1 {
                        data.matrix()
                            .release((block + 1 - RELEASE_BLOCKS) * BLOCK..(block + 1) * BLOCK);
                    }
                },
            );
        }
        data.matrix().release(0..data.rows());
        let by_column = transpose(&lines, columns.len(), data.rows())?;
        Ok(Self { rows: data.rows(), features, columns, lines, by_column })
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Bins of a feature.
    pub(crate) fn feature(&self, feature: u32) -> Option<&FeatureBins> {
        self.features.get(feature as usize)
    }

    /// The column that holds a feature, from 0, and the feature's place in that column's byte;
    /// `None` if the feature has only one bin.
    pub(crate) fn column_of(&self, feature: u32) -> Option<(usize, PackedFeature)> {
        let mut columns = self.columns.iter().enumerate();
        columns.find_map(|(at, column)| {
            let packed = column.features.iter().find(|packed| packed.feature == feature)?;
            Some((at, *packed))
        })
    }

    /// Columns, in the order of the lines.
    pub(crate) fn columns(&self) -> &[BinColumn] {
        &self.columns
    }

    /// All lines.
    pub(crate) fn lines(&self) -> &[BinLines] {
        &self.lines
    }

    /// The bytes of one column, one per row.
    pub(crate) fn column(&self, column: usize) -> &[u8] {
        &self.by_column.bytes()[column * self.rows..(column + 1) * self.rows]
    }

    /// The bin of a feature in a row: the reference implementation of both layouts.
    #[cfg(test)]
    pub(crate) fn bin(&self, row: usize, column: usize, packing: PackedFeature) -> usize {
        packing.bin(self.column(column)[row])
    }
}

/// Bins a block of rows, from row `start` on, for the columns of one line.
fn fill_block(
    data: &Dataset,
    start: usize,
    columns: &[BinColumn],
    searchers: &[Searcher],
    width: usize,
    bytes: &mut [u8],
) {
    let data_columns = data.columns();
    let rows = bytes.len() / width;
    let values = &data.matrix().values()[start * data_columns..(start + rows) * data_columns];
    let (mut gathered, mut bins, mut packed) = ([0.0; BLOCK], [0; BLOCK], [0_u8; BLOCK]);
    for (position, column) in columns.iter().enumerate() {
        packed.fill(0);
        for &PackedFeature { feature, stride, .. } in &column.features {
            let of_feature = values[feature as usize..].iter().step_by(data_columns);
            for (to, from) in gathered.iter_mut().zip(of_feature) {
                *to = *from;
            }
            searchers[feature as usize].search(&gathered, &mut bins);
            for (packed, bin) in packed.iter_mut().zip(bins) {
                *packed = packed.wrapping_add(bin.wrapping_mul(stride as u8));
            }
        }
        for (line, byte) in bytes.chunks_exact_mut(width).zip(packed) {
            line[position] = byte;
        }
    }
}

/// Transposes the lines into columns: a few columns at a time, so that reads and writes both stay
/// local.
fn transpose(lines: &[BinLines], columns: usize, rows: usize) -> Result<Pages, LearnError> {
    let mut by_column = Pages::zeroed(columns * rows)?;
    if rows == 0 {
        return Ok(by_column);
    }
    let mut left = by_column.bytes_mut();
    let mut tasks = Vec::new();
    for line in lines {
        for position in (0..line.columns).step_by(TRANSPOSED_COLUMNS) {
            let take = (line.columns - position).min(TRANSPOSED_COLUMNS);
            let (mine, others) = left.split_at_mut(take * rows);
            left = others;
            tasks.push((line, position, mine));
        }
    }
    tasks.into_par_iter().for_each(|(line, position, mine)| {
        let mut columns: Vec<&mut [u8]> = mine.chunks_mut(rows).collect();
        for first in (0..rows).step_by(BLOCK) {
            let block = first..(first + BLOCK).min(rows);
            let bytes = &line.bytes()[block.start * line.width..block.end * line.width];
            for (at, column) in columns.iter_mut().enumerate() {
                let from = bytes[position + at..].iter().step_by(line.width);
                for (to, from) in column[block.clone()].iter_mut().zip(from) {
                    *to = *from;
                }
            }
        }
    });
    Ok(by_column)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::SingleProcess;
    use rankwright_data::generate::LetorOptions;

    #[test]
    fn both_layouts_hold_the_bin_of_every_value() {
        let data = LetorOptions { queries: 9, documents: 40, seed: 3 }.generate().unwrap();
        let binned = Binned::new(&data, 255, &SingleProcess).unwrap();
        assert!(binned.columns().len() < data.columns(), "few-valued features share columns");
        for (at, column) in binned.columns().iter().enumerate() {
            let line = &binned.lines()[at / LINE];
            for row in 0..data.rows() {
                let byte = line.bytes()[row * line.width + at - line.first];
                assert_eq!(byte, binned.column(at)[row]);
                for packed in &column.features {
                    let value = data.matrix().get(row, packed.feature as usize);
                    let bins = binned.feature(packed.feature).unwrap();
                    assert_eq!(binned.bin(row, at, *packed), bins.bin(value));
                }
            }
        }
    }
}
