//! Binned data: one byte per row and column, stored in two layouts.
//!
//! *In lines*: a line holds the bytes of up to 64 columns of one row side by side, one cache line.
//! Histograms read whole rows, and a row of a deep leaf costs one cache miss for 64 columns. *By
//! column*: the bytes of a column lie together, because a partition reads one column of many rows.
//! Both layouts are filled by blocks of rows, in parallel; memory is about two bytes per row and
//! column.

use std::ops::Range;

use memmap2::MmapMut;
use rankwright_data::{DataError, Dataset};
use rayon::prelude::*;

use super::assign::{BLOCK_ROWS, BinSearcher};
use super::bounds::FeatureBins;
use super::columns::{BinColumn, PackedFeature, columns};
use super::sample::feature_bins;
use crate::collective::Collective;
use crate::error::LearnError;

/// Number of columns in a full line.
pub(crate) const LINE_COLUMNS: usize = 64;
/// Number of blocks of rows after which pages of a mapped file are released.
const RELEASE_BLOCKS: usize = 32;
/// Largest number of columns in a tile. A tile is a part of a line whose columns' histograms are
/// summed together; they are few enough for these histograms to stay in the first-level cache.
pub(crate) const TILE_COLUMNS: usize = 13;
/// Smallest number of bytes in a line.
pub(crate) const MIN_LINE_BYTES: usize = 8;
/// Number of columns that are transposed together.
const TRANSPOSED_COLUMNS: usize = 8;

/// A group of up to 64 columns, stored as one line for each row.
#[derive(Debug)]
pub(crate) struct LineGroup {
    /// Number of the group's first column among all columns, from 0.
    pub(crate) first_column: usize,
    /// Number of columns in the group.
    pub(crate) columns: usize,
    /// Bytes per line: a power of two, so that no line crosses a cache line of the processor. Bytes
    /// after the last column are 0.
    pub(crate) width: usize,
    bytes: Pages,
}

impl LineGroup {
    fn new(first_column: usize, columns: usize, rows: usize) -> Result<Self, LearnError> {
        let width = columns.next_power_of_two().max(MIN_LINE_BYTES);
        Ok(Self { first_column, columns, width, bytes: Pages::zeroed(rows * width)? })
    }

    /// The tiles of the group, of nearly equal size: ranges of column numbers among all columns.
    pub(crate) fn tiles(&self) -> impl Iterator<Item = Range<usize>> {
        let count = self.columns.div_ceil(TILE_COLUMNS);
        let start = move |tile: usize| self.first_column + self.columns * tile / count.max(1);
        (0..count).map(move |tile| start(tile)..start(tile + 1))
    }

    /// The lines of all rows, one after another.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.bytes()
    }
}

/// Zeroed bytes in memory pages of their own, huge pages where the operating system supports them:
/// rows of a leaf lie far apart, and the address translation of small pages would cost as much as
/// the reads.
#[derive(Debug)]
struct Pages {
    /// At least one byte: an empty mapping is an error on some systems.
    map: MmapMut,
    /// Number of bytes in use.
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
    /// The layout in lines: groups of 64 columns, the last of which may have fewer.
    line_groups: Vec<LineGroup>,
    /// The layout by column: the bytes of all rows of the first column, then of the next ones.
    by_column: Pages,
}

impl Binned {
    /// Bins a data set: at most `max_bins` bins per feature (2 to 255), plus one for missing
    /// values. All processes of `collective` get the same bins.
    pub(crate) fn new(
        data: &Dataset,
        max_bins: usize,
        collective: &dyn Collective,
    ) -> Result<Self, LearnError> {
        Self::with_categories(data, max_bins, &[], collective)
    }

    /// Like [`Binned::new`]; `categorical` are the features whose values are category numbers, by
    /// their column in the data set.
    pub(crate) fn with_categories(
        data: &Dataset,
        max_bins: usize,
        categorical: &[u32],
        collective: &dyn Collective,
    ) -> Result<Self, LearnError> {
        let features = feature_bins(data, max_bins.clamp(2, 255), categorical, collective)?;
        let columns = columns(&features);
        let mut line_groups: Vec<LineGroup> = (0..columns.len())
            .step_by(LINE_COLUMNS)
            .map(|first| {
                LineGroup::new(first, (columns.len() - first).min(LINE_COLUMNS), data.rows())
            })
            .collect::<Result<_, _>>()?;
        // If the matrix is a mapped file, `release` lets the operating system drop its pages from
        // memory. They are read again block by block below, so that the file is never in memory as
        // a whole beside the bins.
        data.matrix().release(0..data.rows());
        let searchers: Vec<BinSearcher> = features.iter().map(BinSearcher::new).collect();
        for group in &mut line_groups {
            let group_columns = &columns[group.first_column..group.first_column + group.columns];
            let width = group.width;
            group.bytes.bytes_mut().par_chunks_mut(width * BLOCK_ROWS).enumerate().for_each(
                |(block, bytes)| {
                    fill_block(data, block * BLOCK_ROWS, group_columns, &searchers, width, bytes);
                    if block % RELEASE_BLOCKS == RELEASE_BLOCKS - 1 {
                        data.matrix().release(
                            (block + 1 - RELEASE_BLOCKS) * BLOCK_ROWS..(block + 1) * BLOCK_ROWS,
                        );
                    }
                },
            );
        }
        data.matrix().release(0..data.rows());
        let by_column = transpose(&line_groups, columns.len(), data.rows())?;
        Ok(Self { rows: data.rows(), features, columns, line_groups, by_column })
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Bins of a feature, given by its column in the data set.
    pub(crate) fn feature(&self, feature: u32) -> &FeatureBins {
        &self.features[feature as usize]
    }

    /// The number of the column of bytes that holds a feature, from 0, and the feature's digit in
    /// that byte; `None` if the feature has only one bin.
    pub(crate) fn column_of(&self, feature: u32) -> Option<(usize, PackedFeature)> {
        let mut columns = self.columns.iter().enumerate();
        columns.find_map(|(number, column)| {
            let packed = column.features.iter().find(|packed| packed.feature == feature)?;
            Some((number, *packed))
        })
    }

    /// The columns of bytes, with the features that each holds.
    pub(crate) fn columns(&self) -> &[BinColumn] {
        &self.columns
    }

    /// The layout in lines: groups of up to 64 columns, in the order of [`Binned::columns`].
    pub(crate) fn line_groups(&self) -> &[LineGroup] {
        &self.line_groups
    }

    /// The bytes of one column, one per row.
    pub(crate) fn column(&self, column: usize) -> &[u8] {
        &self.by_column.bytes()[column * self.rows..(column + 1) * self.rows]
    }

    /// The bin of a feature in a row; `column` is the number of the feature's column of bytes.
    #[cfg(test)]
    pub(crate) fn bin(&self, row: usize, column: usize, packing: PackedFeature) -> usize {
        packing.bin(self.column(column)[row])
    }
}

/// Bins a block of rows, from row `first_row` on, for the columns of one line group; `bytes` are
/// the lines of these rows, of `width` bytes each.
fn fill_block(
    data: &Dataset,
    first_row: usize,
    columns: &[BinColumn],
    searchers: &[BinSearcher],
    width: usize,
    bytes: &mut [u8],
) {
    let data_columns = data.columns();
    let rows = bytes.len() / width;
    let values =
        &data.matrix().values()[first_row * data_columns..(first_row + rows) * data_columns];
    let (mut gathered, mut bins, mut packed) =
        ([0.0; BLOCK_ROWS], [0; BLOCK_ROWS], [0_u8; BLOCK_ROWS]);
    for (position, column) in columns.iter().enumerate() {
        packed.fill(0);
        for &PackedFeature { feature, stride, .. } in &column.features {
            let of_feature = values[feature as usize..].iter().step_by(data_columns);
            for (gathered, value) in gathered.iter_mut().zip(of_feature) {
                *gathered = *value;
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
fn transpose(groups: &[LineGroup], columns: usize, rows: usize) -> Result<Pages, LearnError> {
    let mut by_column = Pages::zeroed(columns * rows)?;
    if rows == 0 {
        return Ok(by_column);
    }
    let mut remaining = by_column.bytes_mut();
    // Each task has a line group, its first column within the group, and the bytes of its columns.
    let mut tasks = Vec::new();
    for group in groups {
        for position in (0..group.columns).step_by(TRANSPOSED_COLUMNS) {
            let task_columns = (group.columns - position).min(TRANSPOSED_COLUMNS);
            let (task_bytes, after) = remaining.split_at_mut(task_columns * rows);
            remaining = after;
            tasks.push((group, position, task_bytes));
        }
    }
    tasks.into_par_iter().for_each(|(group, position, task_bytes)| {
        let mut columns: Vec<&mut [u8]> = task_bytes.chunks_mut(rows).collect();
        for first_row in (0..rows).step_by(BLOCK_ROWS) {
            let block = first_row..(first_row + BLOCK_ROWS).min(rows);
            let lines = &group.bytes()[block.start * group.width..block.end * group.width];
            for (number, column) in columns.iter_mut().enumerate() {
                let from_lines = lines[position + number..].iter().step_by(group.width);
                for (byte, from_line) in column[block.clone()].iter_mut().zip(from_lines) {
                    *byte = *from_line;
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
        for (number, column) in binned.columns().iter().enumerate() {
            let group = &binned.line_groups()[number / LINE_COLUMNS];
            for row in 0..data.rows() {
                let byte = group.bytes()[row * group.width + number - group.first_column];
                assert_eq!(byte, binned.column(number)[row]);
                for packed in &column.features {
                    let value = data.matrix().get(row, packed.feature as usize);
                    let bins = binned.feature(packed.feature);
                    assert_eq!(binned.bin(row, number, *packed), bins.bin(value));
                }
            }
        }
    }
}
