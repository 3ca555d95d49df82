//! Histograms and best splits of two new leaves, in one parallel step.
//!
//! The histogram of the smaller leaf is summed over its rows; that of the larger leaf is the
//! parent's minus the smaller one's, computed in the parent's cells. Binned data is stored in
//! *lines*: up to 64 columns of a row side by side, one cache line. A line is divided into *tiles*,
//! up to 13 columns whose histograms are summed together. For parallel tasks the columns are
//! divided into *pieces* of whole tiles; each task sums, subtracts and searches the columns of its
//! piece, so no task waits for another. With several processes the sums must be exchanged before
//! the subtraction, and the step is done in two halves.
//!
//! A histogram has cells for each column of bytes: the packed sum (gradient and hessian in 64 bits,
//! see [`quantise`](super::quantise)) of the rows with each value of the byte.

use std::ops::Range;

use rayon::prelude::*;

use super::histogram::{ColumnHistogram, LeafRows, add};
use super::params::Direction;
use super::sets::{BinSet, best_set, set_of};
use super::split::{
    FoundSplit, HistogramSearch, ScanBuffers, SplitConstraints, SplitCriteria, ValueLimits,
};
use crate::bins::{Binned, CELLS, PackedFeature};
use crate::collective::Collective;
use crate::error::LearnError;
#[cfg(target_arch = "x86_64")]
use crate::simd::Avx2;
use crate::simd::Simd;

/// A split feature: a feature with more than one bin, so that it can be split on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SplitFeature {
    /// The column of bytes that holds the feature.
    pub(crate) column: u32,
    /// The feature's digit in the bytes of the column, and its column in the data set.
    pub(crate) packing: PackedFeature,
    /// Whether the feature is alone in its column.
    has_own_column: bool,
    /// Number of bins, without the one for missing values.
    pub(crate) value_bins: usize,
    /// Whether some value is missing.
    pub(crate) missing: bool,
    /// The monotone constraint; `None` if there is none.
    pub(crate) direction: Option<Direction>,
    /// Whether values are categories.
    pub(crate) categorical: bool,
}

/// A leaf whose histogram is searched: the packed sum of its rows' derivatives, and the limits on
/// its value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SearchedLeaf {
    pub(crate) total: u64,
    pub(crate) limits: ValueLimits,
}

/// The best split of each split feature; `None` for a feature without an allowed split.
pub(crate) type FoundSplits = Vec<Option<FoundSplit>>;

/// Builds and searches histograms.
#[derive(Debug)]
pub(crate) struct Evaluator<'a> {
    binned: &'a Binned,
    collective: &'a dyn Collective,
    simd: Simd,
    /// The split features, in the order of their columns.
    pub(crate) split_features: Vec<SplitFeature>,
    /// The first column and the first split feature of each tile; at the end the number of columns
    /// and the number of split features.
    tiles: Vec<(usize, usize)>,
    /// Whether any feature has a monotone constraint: then limits on the values of leaves apply to
    /// the splits of every feature.
    constrained: bool,
    /// Whether any feature is categorical.
    categorical: bool,
}

/// Two sibling leaves: the smaller, whose rows are summed, and the larger; or the root alone.
#[derive(Debug)]
pub(crate) struct SiblingLeaves<'a> {
    /// The rows of the smaller leaf.
    pub(crate) rows: LeafRows<'a>,
    /// The packed derivatives of `rows`.
    pub(crate) packed: &'a [u64],
    pub(crate) small: SearchedLeaf,
    /// The histogram of the smaller leaf, to be filled.
    pub(crate) cells: &'a mut [ColumnHistogram],
    /// The larger leaf and the histogram of the parent, which becomes the larger leaf's; `None` if
    /// the only leaf is the root.
    pub(crate) large: Option<(SearchedLeaf, &'a mut [ColumnHistogram])>,
}

/// The columns of one task, with their part of the buffers.
struct Piece<'a> {
    /// Numbers of the tiles among the evaluator's `tiles`.
    tiles: Range<usize>,
    /// Number of the first column, from 0.
    first_column: usize,
    split_features: &'a [SplitFeature],
    /// For each of these split features, whether it may be used.
    active: &'a [bool],
    /// The histogram of the smaller leaf.
    small: &'a mut [ColumnHistogram],
    /// The histogram of the larger leaf; empty if there is none.
    large: &'a mut [ColumnHistogram],
    /// The best split of each split feature, to be found: in the smaller and in the larger leaf.
    found_splits: [&'a mut [Option<FoundSplit>]; 2],
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(
        binned: &'a Binned,
        directions: &[(u32, Direction)],
        collective: &'a dyn Collective,
        simd: Simd,
    ) -> Self {
        let mut split_features: Vec<SplitFeature> = Vec::new();
        for (number, column) in binned.columns().iter().enumerate() {
            for &packing in &column.features {
                let bins = binned.feature(packing.feature);
                let direction = directions.iter().find(|(f, _)| *f == packing.feature);
                split_features.push(SplitFeature {
                    column: number as u32,
                    packing,
                    has_own_column: column.features.len() == 1,
                    value_bins: bins.value_bins(),
                    missing: bins.missing,
                    direction: direction.map(|(_, d)| *d),
                    categorical: bins.categories.is_some(),
                });
            }
        }
        let constrained = split_features.iter().any(|feature| feature.direction.is_some());
        let categorical = split_features.iter().any(|feature| feature.categorical);
        let groups = binned.line_groups().iter();
        let first_columns = groups.flat_map(|group| group.tiles().map(|tile| tile.start));
        let first_feature_of =
            |column: usize| split_features.partition_point(|f| (f.column as usize) < column);
        let with_end = first_columns.chain([binned.columns().len()]);
        let tiles = with_end.map(|column| (column, first_feature_of(column))).collect();
        Self { binned, collective, simd, split_features, tiles, constrained, categorical }
    }

    /// Number of columns of a histogram.
    pub(crate) fn width(&self) -> usize {
        self.binned.columns().len()
    }

    /// Builds, subtracts and searches histograms on `threads` threads. Returns the best splits of
    /// the smaller and of the larger leaf. `active` tells for each split feature whether it may be
    /// used.
    pub(crate) fn find_splits(
        &self,
        siblings: SiblingLeaves<'_>,
        criteria: &SplitCriteria,
        active: &[bool],
        threads: usize,
    ) -> Result<[FoundSplits; 2], LearnError> {
        let mut found_splits =
            [vec![None; self.split_features.len()], vec![None; self.split_features.len()]];
        self.build_and_search(siblings, Some(criteria), active, &mut found_splits, threads)?;
        Ok(found_splits)
    }

    /// Builds and subtracts histograms on `threads` threads, without a search.
    pub(crate) fn build(
        &self,
        siblings: SiblingLeaves<'_>,
        threads: usize,
    ) -> Result<(), LearnError> {
        let active = vec![false; self.split_features.len()];
        let mut found_splits =
            [vec![None; self.split_features.len()], vec![None; self.split_features.len()]];
        self.build_and_search(siblings, None, &active, &mut found_splits, threads)
    }

    /// Builds and subtracts histograms, and searches them if there are `criteria` to value splits
    /// by.
    fn build_and_search(
        &self,
        siblings: SiblingLeaves<'_>,
        criteria: Option<&SplitCriteria>,
        active: &[bool],
        found_splits: &mut [FoundSplits; 2],
        threads: usize,
    ) -> Result<(), LearnError> {
        let SiblingLeaves { rows, packed, small, cells, large } = siblings;
        let (large, large_cells) = match large {
            Some((leaf, cells)) => (Some(leaf), cells),
            None => (None, &mut [][..]),
        };
        let mut pieces = self.pieces(cells, large_cells, active, found_splits, threads);
        let build = |piece: &mut Piece<'_>| {
            piece.small.iter_mut().for_each(|cells| cells.fill(0));
            add(self.binned.line_groups(), rows, packed, piece.tiles.clone(), piece.small);
        };
        let subtract_and_search = |piece: &mut Piece<'_>| {
            for (large, small) in piece.large.iter_mut().zip(piece.small.iter()) {
                for (large, small) in large.iter_mut().zip(small) {
                    *large = large.wrapping_sub(*small);
                }
            }
            if let Some(criteria) = criteria {
                self.search(piece, small, large, criteria);
            }
        };
        if self.collective.size() > 1 {
            pieces.par_iter_mut().with_max_len(1).for_each(build);
            for piece in &mut pieces {
                self.collective.sum(piece.small.as_flattened_mut())?;
            }
            pieces.par_iter_mut().with_max_len(1).for_each(subtract_and_search);
        } else {
            let do_all = |piece: &mut Piece<'_>| {
                build(piece);
                subtract_and_search(piece);
            };
            match threads {
                1 => pieces.iter_mut().for_each(do_all),
                _ => pieces.par_iter_mut().with_max_len(1).for_each(do_all),
            }
        }
        Ok(())
    }

    /// Divides the columns, and with them the histograms of both leaves and the results, into
    /// pieces.
    fn pieces<'b>(
        &'b self,
        mut small: &'b mut [ColumnHistogram],
        mut large: &'b mut [ColumnHistogram],
        mut active: &'b [bool],
        found_splits: &'b mut [FoundSplits; 2],
        threads: usize,
    ) -> Vec<Piece<'b>> {
        let tiles = self.tiles.len() - 1;
        // Each piece copies the leaf's scattered rows again, so fewer pieces copy less; but there
        // are at least as many pieces as line groups, so that a piece's histograms are still in the
        // second-level cache when they are subtracted and searched. All processes must cut the
        // pieces in the same way for the exchange.
        let line_groups = self.binned.line_groups().len();
        let preferred = if self.collective.size() > 1 { 1 } else { threads.max(line_groups) };
        let count = preferred.clamp(1, tiles.max(1));
        let [small_found, large_found] = found_splits;
        let (mut small_found, mut large_found) =
            (small_found.as_mut_slice(), large_found.as_mut_slice());
        let mut pieces = Vec::with_capacity(count);
        for piece in 0..count {
            let range = tiles * piece / count..tiles * (piece + 1) / count;
            let (first_column, first_feature) = self.tiles[range.start];
            let (end_column, end_feature) = self.tiles[range.end];
            let columns = end_column - first_column;
            let split_features = &self.split_features[first_feature..end_feature];
            let features = split_features.len();
            // The parts of this piece, and those of the pieces after it.
            let (piece_small, small_after) = small.split_at_mut(columns);
            let large_columns = if large.is_empty() { 0 } else { columns };
            let (piece_large, large_after) = large.split_at_mut(large_columns);
            let (piece_small_found, small_found_after) = small_found.split_at_mut(features);
            let (piece_large_found, large_found_after) = large_found.split_at_mut(features);
            let (piece_active, active_after) = active.split_at(features);
            (small, large, active) = (small_after, large_after, active_after);
            (small_found, large_found) = (small_found_after, large_found_after);
            pieces.push(Piece {
                tiles: range,
                first_column,
                split_features,
                active: piece_active,
                small: piece_small,
                large: piece_large,
                found_splits: [piece_small_found, piece_large_found],
            });
        }
        pieces
    }

    /// Searches the columns of a piece for the best splits of both leaves.
    fn search(
        &self,
        piece: &mut Piece<'_>,
        small: SearchedLeaf,
        large: Option<SearchedLeaf>,
        criteria: &SplitCriteria,
    ) {
        let first_column = piece.first_column as u32;
        let [of_small, of_large] = &mut piece.found_splits;
        let (split_features, active) = (piece.split_features, piece.active);
        let search =
            |cells: &[ColumnHistogram], leaf: SearchedLeaf, out: &mut [Option<FoundSplit>]| {
                let job = SearchJob { split_features, active, cells, first_column, leaf, criteria };
                self.search_values(&job, out);
                if self.categorical {
                    search_categories(&job, out);
                }
            };
        search(piece.small, small, of_small);
        if let Some(large) = large {
            search(piece.large, large, of_large);
        }
    }

    /// Searches all features as numeric ones, with the fastest code that can handle the criteria.
    fn search_values(&self, job: &SearchJob<'_>, out: &mut [Option<FoundSplit>]) {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = self.simd.avx2().filter(|_| self.is_unconstrained(job.criteria)) {
            // SAFETY: `avx2` proves that the processor has AVX2.
            return unsafe { search_avx2(avx2, job, out) };
        }
        match self.is_unconstrained(job.criteria) {
            true => search_portable(job, out),
            false => search_constrained(job, out),
        }
    }

    /// Whether neither l1 nor monotone constraints apply.
    pub(crate) fn is_unconstrained(&self, criteria: &SplitCriteria) -> bool {
        criteria.l1 == 0.0 && !self.constrained
    }

    /// The best split of one feature whose sides have enough rows; `by_byte` is the leaf's number
    /// of rows for each value of the byte in the feature's column.
    pub(crate) fn search_with_counts(
        &self,
        feature_index: usize,
        cells: &[ColumnHistogram],
        by_byte: &[u64; CELLS],
        leaf: SearchedLeaf,
        criteria: &SplitCriteria,
    ) -> Option<FoundSplit> {
        let feature = &self.split_features[feature_index];
        let mut by_bin = [0_u64; CELLS];
        for (byte, count) in by_byte.iter().enumerate() {
            by_bin[feature.packing.bin(byte as u8)] += count;
        }
        let (values, missing) = by_bin.split_at(feature.value_bins);
        let missing = if feature.missing { missing[0] } else { 0 };
        let constraints = SplitConstraints {
            counts: Some(super::split::RowCounts::new(values, missing)),
            limits: leaf.limits,
            direction: feature.direction,
        };
        let mut buffer = [0; CELLS];
        let cells = &cells[feature.column as usize];
        let search = search_of(feature, cells, &mut buffer, leaf);
        match feature.categorical {
            true => best_set(&search, criteria, &constraints),
            false => search.search_each_bin(criteria, &constraints),
        }
    }

    /// The set of bins that a split on a categorical feature sends left; `cells` is the histogram
    /// in which the split was found.
    pub(crate) fn set(
        &self,
        feature: SplitFeature,
        cells: &[ColumnHistogram],
        criteria: &SplitCriteria,
        found: &FoundSplit,
    ) -> BinSet {
        let cells = &cells[feature.column as usize];
        let mut buffer = [0; CELLS];
        // A set depends on the cells only, not on the sum and the limits of the leaf.
        let leaf = SearchedLeaf { total: 0, limits: ValueLimits::NONE };
        set_of(search_of(&feature, cells, &mut buffer, leaf).values, criteria, found)
    }
}

/// A search for the best split of each of some split features in one leaf.
struct SearchJob<'a> {
    split_features: &'a [SplitFeature],
    active: &'a [bool],
    cells: &'a [ColumnHistogram],
    /// Number of the column that the first cells belong to, from 0.
    first_column: u32,
    leaf: SearchedLeaf,
    criteria: &'a SplitCriteria,
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn search_avx2(_proof: Avx2, job: &SearchJob<'_>, out: &mut [Option<FoundSplit>]) {
    search_body(job, out);
}

fn search_portable(job: &SearchJob<'_>, out: &mut [Option<FoundSplit>]) {
    search_body(job, out);
}

/// The fast search, without l1 and monotone constraints; inlined into two functions, of which one
/// is compiled for AVX2.
#[inline(always)]
fn search_body(job: &SearchJob<'_>, out: &mut [Option<FoundSplit>]) {
    let mut scan_buffers = ScanBuffers::default();
    let mut buffer = [0; CELLS];
    for ((feature, active), out) in job.split_features.iter().zip(job.active).zip(out) {
        *out = None;
        if *active {
            let cells = &job.cells[(feature.column - job.first_column) as usize];
            let search = search_of(feature, cells, &mut buffer, job.leaf);
            *out = search.search_fast(job.criteria, &mut scan_buffers);
        }
    }
}

/// The search that handles l1 and monotone constraints.
fn search_constrained(job: &SearchJob<'_>, out: &mut [Option<FoundSplit>]) {
    let mut buffer = [0; CELLS];
    for ((feature, active), out) in job.split_features.iter().zip(job.active).zip(out) {
        *out = None;
        if *active {
            let constraints = SplitConstraints {
                counts: None,
                limits: job.leaf.limits,
                direction: feature.direction,
            };
            let cells = &job.cells[(feature.column - job.first_column) as usize];
            *out = search_of(feature, cells, &mut buffer, job.leaf)
                .search_each_bin(job.criteria, &constraints);
        }
    }
}

/// Searches the categorical features, replacing the splits found for them as numeric features.
fn search_categories(job: &SearchJob<'_>, out: &mut [Option<FoundSplit>]) {
    let mut buffer = [0; CELLS];
    for ((feature, active), out) in job.split_features.iter().zip(job.active).zip(out) {
        if feature.categorical && *active {
            let constraints =
                SplitConstraints { counts: None, limits: job.leaf.limits, direction: None };
            let cells = &job.cells[(feature.column - job.first_column) as usize];
            *out = best_set(
                &search_of(feature, cells, &mut buffer, job.leaf),
                job.criteria,
                &constraints,
            );
        }
    }
}

/// The search of one feature's histogram, given the cells of its column. If features share the
/// column, the cells are first summed by bin of this feature, in `buffer`.
#[inline(always)]
pub(crate) fn search_of<'a>(
    feature: &SplitFeature,
    cells: &'a ColumnHistogram,
    buffer: &'a mut [u64; CELLS],
    leaf: SearchedLeaf,
) -> HistogramSearch<'a> {
    let cells: &[u64] = if feature.has_own_column {
        cells
    } else {
        let bins = usize::from(feature.packing.bins);
        buffer[..bins].fill(0);
        let stride = usize::from(feature.packing.stride);
        // Each run of `stride` consecutive cells belongs to the same bin.
        for (run, cells) in cells[..CELLS].chunks(stride).enumerate() {
            let sum = cells.iter().fold(0_u64, |sum, cell| sum.wrapping_add(*cell));
            let bin = run % bins;
            buffer[bin] = buffer[bin].wrapping_add(sum);
        }
        buffer
    };
    let missing = feature.missing.then(|| cells[feature.value_bins]);
    HistogramSearch { values: &cells[..feature.value_bins], missing, total: leaf.total }
}
