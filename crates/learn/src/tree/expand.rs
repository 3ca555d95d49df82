//! Expansion of one leaf: its rows are partitioned, and its two children evaluated, which means
//! that their histograms are built and searched for the best splits.
//!
//! This needs only the leaf itself and its part of the two row buffers, so several leaves can be
//! expanded at the same time. The histogram of the child with fewer rows is summed over its rows;
//! that of the other child is the parent's minus the first one. *Packed* values are gradient and
//! hessian as integers in 64 bits ([`quantise`](super::quantise)), and a *split feature* is one
//! with more than one bin, so that it can be split on.
//!
//! Histograms hold no row counts. `min_rows` is still exact: a side with hessian sum H has at least
//! H / (largest hessian of a row) rows, which decides most splits; otherwise the rows of that one
//! column are counted and the feature is searched again with the counts.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::evaluate::{Evaluator, FoundSplits, SearchedLeaf, SiblingLeaves, SplitFeature};
use super::grow::GrowTimes;
use super::histogram::{ColumnHistogram, LeafRows};
use super::interactions::{AllowedFeatures, Interactions};
use super::params::TreeConfig;
use super::partition::{RowSlices, left_bytes, left_bytes_of_set, partition};
use super::quantise::unpack;
use super::sets::BinSet;
use super::split::{FoundSplit, ValueLimits};
use super::units::PackedUnits;
use crate::bins::{Binned, CELLS};
use crate::collective::Collective;
use crate::error::LearnError;

/// Least increase of the structure score by a split, as a fraction of the score of the undivided
/// leaf; a smaller increase is rounding error.
pub(super) const MIN_RELATIVE_GAIN: f64 = 1e-10;

/// A leaf while its tree grows.
#[derive(Debug)]
pub(super) struct GrowingLeaf {
    /// The range of the leaf's rows in the buffer.
    pub(super) range: Range<usize>,
    /// The number of the buffer that holds the leaf's rows: 0 or 1.
    pub(super) buffer: usize,
    /// Number of rows over all processes.
    pub(super) rows: u64,
    /// The packed sum of the rows' derivatives over all processes.
    pub(super) total: u64,
    /// Number of splits from the root to the leaf.
    pub(super) depth: usize,
    /// Limits on the leaf's value, in packed units.
    pub(super) limits: ValueLimits,
    /// The features that may split this leaf; `None` if there are no interaction constraints.
    pub(super) allowed: Option<Arc<AllowedFeatures>>,
    /// The histogram, as long as the leaf may still be split.
    pub(super) cells: Option<Vec<ColumnHistogram>>,
    /// The best split; `None` if the leaf is not to be split.
    pub(super) best: Option<BestSplit>,
    /// The children of the best split, once they are computed; the tree may choose this leaf later.
    pub(super) expanded: Option<Box<Children>>,
}

/// The best split of a leaf.
#[derive(Debug, Clone, Copy)]
pub(super) struct BestSplit {
    /// The decrease of the loss, minus the cost of the feature (not in oblivious trees), in the
    /// units of the loss.
    pub(super) gain: f64,
    /// The index of the feature among the evaluator's split features.
    pub(super) feature_index: usize,
    pub(super) found: FoundSplit,
}

/// The two children of a leaf.
#[derive(Debug)]
pub(super) struct Children {
    pub(super) left: GrowingLeaf,
    pub(super) right: GrowingLeaf,
    /// The bins that went left, if the split is on a categorical feature.
    pub(super) set: Option<BinSet>,
    /// Histograms that are no longer needed and can be used again.
    pub(super) freed: Vec<Vec<ColumnHistogram>>,
    pub(super) times: GrowTimes,
}

impl GrowingLeaf {
    /// The properties of the leaf that a search of its histogram needs.
    pub(super) fn searched(&self) -> SearchedLeaf {
        SearchedLeaf { total: self.total, limits: self.limits }
    }
}

/// A contiguous part of both row buffers.
#[derive(Debug)]
pub(super) struct RowBuffers<'a> {
    /// The position in the whole buffers at which the part begins.
    pub(super) first_position: usize,
    /// The part of each of the two buffers.
    pub(super) buffers: [RowSlices<'a>; 2],
    /// Work space of partitions: for each position of the part, 1 if its row goes left.
    pub(super) flags: &'a mut [u8],
}

impl<'a> RowBuffers<'a> {
    /// Cuts the part in two at a position of the whole buffers.
    pub(super) fn cut(self, position: usize) -> (RowBuffers<'a>, RowBuffers<'a>) {
        let mid = position - self.first_position;
        let [one, two] = self.buffers;
        let ((one, one_after), (two, two_after)) = (one.split_at(mid), two.split_at(mid));
        let (flags, flags_after) = self.flags.split_at_mut(mid);
        (
            RowBuffers { first_position: self.first_position, buffers: [one, two], flags },
            RowBuffers {
                first_position: position,
                buffers: [one_after, two_after],
                flags: flags_after,
            },
        )
    }

    /// The range of a leaf's rows within this part.
    fn within(&self, leaf: &GrowingLeaf) -> Range<usize> {
        leaf.range.start - self.first_position..leaf.range.end - self.first_position
    }

    /// Reborrows the same part.
    pub(super) fn reborrow(&mut self) -> RowBuffers<'_> {
        let [one, two] = &mut self.buffers;
        RowBuffers {
            first_position: self.first_position,
            buffers: [one.reborrow(), two.reborrow()],
            flags: self.flags,
        }
    }

    /// The rows of a leaf.
    pub(super) fn rows(&self, leaf: &GrowingLeaf) -> &[u32] {
        &self.buffers[leaf.buffer].rows[self.within(leaf)]
    }

    /// The packed derivatives of a leaf's rows.
    pub(super) fn packed(&self, leaf: &GrowingLeaf) -> &[u64] {
        &self.buffers[leaf.buffer].packed[self.within(leaf)]
    }
}

/// Splits the leaves of a tree: the inputs that are the same for all of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expander<'a> {
    pub(super) binned: &'a Binned,
    pub(super) params: &'a TreeConfig,
    pub(super) collective: &'a dyn Collective,
    pub(super) evaluator: &'a Evaluator<'a>,
    pub(super) units: &'a PackedUnits,
    /// For each split feature, whether it may be used.
    pub(super) active: &'a [bool],
    /// The interaction constraints, if there are any.
    pub(super) interactions: Option<&'a Interactions>,
    /// The cost of a split on each split feature, in packed units; empty if no feature has a cost.
    pub(super) costs: &'a [f64],
}

impl Expander<'_> {
    /// Builds the histogram of the root, in `cells`, and finds its best split. `all_rows`: whether
    /// the root holds every row of the data, in order.
    pub(super) fn evaluate_root(
        &self,
        root: &mut GrowingLeaf,
        all_rows: bool,
        row_buffers: &RowBuffers<'_>,
        mut cells: Vec<ColumnHistogram>,
    ) -> Result<(), LearnError> {
        let rows = if all_rows { LeafRows::All } else { LeafRows::Some(row_buffers.rows(root)) };
        let packed = row_buffers.packed(root);
        let small = root.searched();
        let only_root = SiblingLeaves { rows, packed, small, cells: &mut cells, large: None };
        let threads = rayon::current_num_threads();
        let [mut found_splits, _] =
            self.evaluator.find_splits(only_root, &self.units.criteria, self.active, threads)?;
        root.best = self.best_valid_split(root, row_buffers, &cells, &mut found_splits)?;
        root.cells = Some(cells);
        Ok(())
    }

    /// Splits a leaf by its best split. If there is a `spare` histogram, the children are evaluated
    /// too, on `threads` threads: the smaller one in `spare`, the larger one in the leaf's own.
    pub(super) fn expand(
        &self,
        leaf: &mut GrowingLeaf,
        row_buffers: &mut RowBuffers<'_>,
        spare: Option<Vec<ColumnHistogram>>,
        threads: usize,
    ) -> Result<Children, LearnError> {
        let started = Instant::now();
        let Some(BestSplit { feature_index, found, .. }) = leaf.best else {
            return Err(LearnError::Internal { invariant: "a leaf that is split has a split" });
        };
        let feature = self.evaluator.split_features[feature_index];
        let set = match (feature.categorical, leaf.cells.as_deref()) {
            (false, _) => None,
            (true, Some(cells)) => {
                Some(self.evaluator.set(feature, cells, &self.units.criteria, &found))
            }
            (true, None) => {
                let invariant = "a set of categories is computed from a histogram";
                return Err(LearnError::Internal { invariant });
            }
        };
        let left_rows = self.move_rows(leaf, feature, &found, set.as_ref(), row_buffers);
        let mut rows = [left_rows as u64];
        self.collective.sum(&mut rows)?;
        let limits = self.units.child_limits(leaf.searched(), &found, feature.direction);
        let middle = leaf.range.start + left_rows;
        let allowed = match (self.interactions, &leaf.allowed) {
            (Some(interactions), Some(above)) => Some(interactions.below(above, feature_index)),
            _ => None,
        };
        let child = |range: Range<usize>, rows: u64, total: u64, limits: ValueLimits| GrowingLeaf {
            range,
            buffer: 1 - leaf.buffer,
            rows,
            total,
            depth: leaf.depth + 1,
            limits,
            allowed: allowed.clone(),
            cells: None,
            best: None,
            expanded: None,
        };
        let left = child(leaf.range.start..middle, rows[0], found.left, limits[0]);
        let total = leaf.total.wrapping_sub(found.left);
        let right = child(middle..leaf.range.end, leaf.rows - rows[0], total, limits[1]);
        let (freed, times) = (Vec::new(), GrowTimes::default());
        let mut children = Children { left, right, set, freed, times };
        children.times.partition = started.elapsed();
        let started = Instant::now();
        if let (Some(parent), Some(spare)) = (leaf.cells.take(), spare) {
            self.evaluate_children(&mut children, row_buffers, parent, spare, threads)?;
        }
        children.times.histograms = started.elapsed();
        Ok(children)
    }

    /// Builds the histograms and finds the best splits of two children. `parent` is the histogram
    /// of the parent and becomes that of the larger child; `cells` becomes that of the smaller one.
    fn evaluate_children(
        &self,
        children: &mut Children,
        row_buffers: &RowBuffers<'_>,
        mut parent: Vec<ColumnHistogram>,
        mut cells: Vec<ColumnHistogram>,
        threads: usize,
    ) -> Result<(), LearnError> {
        let Children { left, right, freed, .. } = children;
        let (small, large) = if left.rows <= right.rows { (left, right) } else { (right, left) };
        let may_split = [self.may_split(small, row_buffers)?, self.may_split(large, row_buffers)?];
        if may_split == [false, false] {
            freed.extend([parent, cells]);
            return Ok(());
        }
        let siblings = SiblingLeaves {
            rows: LeafRows::Some(row_buffers.rows(small)),
            packed: row_buffers.packed(small),
            small: small.searched(),
            cells: &mut cells,
            large: Some((large.searched(), &mut parent)),
        };
        let allowed = small.allowed.clone();
        let active = allowed.as_ref().map_or(self.active, |allowed| &allowed.active);
        let found = self.evaluator.find_splits(siblings, &self.units.criteria, active, threads)?;
        let [mut of_small, mut of_large] = found;
        for (leaf, cells, found_splits, may_split) in [
            (small, cells, &mut of_small, may_split[0]),
            (large, parent, &mut of_large, may_split[1]),
        ] {
            if may_split {
                leaf.best = self.best_valid_split(leaf, row_buffers, &cells, found_splits)?;
            }
            match leaf.best {
                Some(_) => leaf.cells = Some(cells),
                None => freed.push(cells),
            }
        }
        Ok(())
    }

    /// Whether depth, number of rows and impurity allow to split a leaf, checked before its splits
    /// are searched.
    pub(super) fn may_split(
        &self,
        leaf: &GrowingLeaf,
        row_buffers: &RowBuffers<'_>,
    ) -> Result<bool, LearnError> {
        if !self.params.may_deepen(leaf.depth) || leaf.rows < 2 * self.params.min_rows.max(1) {
            return Ok(false);
        }
        match self.params.impurity {
            Some(limit) => Ok(self.impurity(leaf, row_buffers)? > limit),
            None => Ok(true),
        }
    }

    /// The impurity of a leaf: half the variance of its rows' gradients.
    fn impurity(
        &self,
        leaf: &GrowingLeaf,
        row_buffers: &RowBuffers<'_>,
    ) -> Result<f64, LearnError> {
        // The upper and the lower 32 bits of the squares are summed apart: one sum of 64 bits would
        // overflow.
        let mut sums = [0_u64; 2];
        for packed in row_buffers.packed(leaf) {
            let square = i64::from(unpack(*packed).0).pow(2) as u64;
            sums[0] += square >> 32;
            sums[1] += square & 0xffff_ffff;
        }
        self.collective.sum(&mut sums)?;
        let squares = sums[0] as f64 * 4_294_967_296.0 + sums[1] as f64;
        let rows = leaf.rows as f64;
        let mean = f64::from(unpack(leaf.total).0) / rows;
        Ok((squares / rows - mean * mean).max(0.0) * 0.5
            / (self.units.gradient_scale * self.units.gradient_scale))
    }

    /// The best of the splits found that has enough gain and leaves enough rows on both sides;
    /// `None` if there is none. If it is uncertain that the best split leaves enough rows, rows are
    /// counted by bin of its feature, and the feature is searched again with the counts.
    fn best_valid_split(
        &self,
        leaf: &GrowingLeaf,
        row_buffers: &RowBuffers<'_>,
        cells: &[ColumnHistogram],
        found_splits: &mut FoundSplits,
    ) -> Result<Option<BestSplit>, LearnError> {
        let (g, h) = unpack(leaf.total);
        let unsplit_score =
            self.units.criteria.structure_score(f64::from(g), f64::from(h), leaf.limits);
        // For each split feature, whether its split was found with row counts.
        let mut counted = vec![false; found_splits.len()];
        loop {
            let Some((feature_index, found)) = self.best_of(found_splits) else { return Ok(None) };
            let increase = found.split_score - self.cost(feature_index) - unsplit_score;
            let gain = self.units.gain(increase);
            if increase <= MIN_RELATIVE_GAIN * unsplit_score.abs() || gain <= self.params.min_gain {
                return Ok(None);
            }
            if counted[feature_index] || self.units.surely_has_min_rows(leaf.total, found.left) {
                return Ok(Some(BestSplit { gain, feature_index, found }));
            }
            let by_byte = self.rows_by_byte(leaf, feature_index, row_buffers)?;
            found_splits[feature_index] = self.evaluator.search_with_counts(
                feature_index,
                cells,
                &by_byte,
                leaf.searched(),
                &self.units.criteria,
            );
            counted[feature_index] = true;
        }
    }

    /// The cost of a split on a feature, in packed units.
    pub(super) fn cost(&self, feature_index: usize) -> f64 {
        self.costs.get(feature_index).copied().unwrap_or(0.0)
    }

    /// The split with the largest split score minus cost; among equals the lowest feature.
    fn best_of(&self, found_splits: &FoundSplits) -> Option<(usize, FoundSplit)> {
        let feature =
            |feature_index: usize| self.evaluator.split_features[feature_index].packing.feature;
        let mut best: Option<(usize, FoundSplit)> = None;
        for (feature_index, found) in found_splits.iter().enumerate() {
            let Some(found) = found else { continue };
            let is_better = best.is_none_or(|(best_index, best)| {
                let (score, best_score) = (
                    found.split_score - self.cost(feature_index),
                    best.split_score - self.cost(best_index),
                );
                score > best_score
                    || (score == best_score && feature(feature_index) < feature(best_index))
            });
            if is_better {
                best = Some((feature_index, *found));
            }
        }
        best
    }

    /// Number of rows of a leaf, over all processes, for each value of the byte in the feature's
    /// column.
    pub(super) fn rows_by_byte(
        &self,
        leaf: &GrowingLeaf,
        feature_index: usize,
        row_buffers: &RowBuffers<'_>,
    ) -> Result<[u64; CELLS], LearnError> {
        let column =
            self.binned.column(self.evaluator.split_features[feature_index].column as usize);
        let mut counts = [0; CELLS];
        for row in row_buffers.rows(leaf) {
            counts[usize::from(column[*row as usize])] += 1;
        }
        self.collective.sum(&mut counts)?;
        Ok(counts)
    }

    /// Moves the rows of a leaf to the other buffer, those of the left child first; returns the
    /// number of rows of the left child.
    fn move_rows(
        &self,
        leaf: &GrowingLeaf,
        feature: SplitFeature,
        found: &FoundSplit,
        set: Option<&BinSet>,
        row_buffers: &mut RowBuffers<'_>,
    ) -> usize {
        let bins = self.binned.feature(feature.packing.feature);
        let goes_left = match set {
            Some(set) => left_bytes_of_set(feature.packing, set),
            None => left_bytes(feature.packing, bins, found.bin.into(), found.missing),
        };
        let range = row_buffers.within(leaf);
        let [one, two] = &mut row_buffers.buffers;
        let (from, to) = if leaf.buffer == 0 { (one, two) } else { (two, one) };
        partition(
            self.binned.column(feature.column as usize),
            &goes_left,
            &from.rows[range.clone()],
            &from.packed[range.clone()],
            &mut row_buffers.flags[range.clone()],
            RowSlices { rows: &mut to.rows[range.clone()], packed: &mut to.packed[range] },
        )
    }
}
