//! Expansion of one leaf: its rows are partitioned, and its two children evaluated.
//!
//! This needs only the leaf itself and its part of the two row buffers, so several leaves can be
//! expanded at the same time. Of the two children the one with fewer rows is summed; the other's
//! histogram is the parent's minus that. Packed values are gradient and hessian as integers in 64
//! bits ([`quantise`](super::quantise)), and a split feature is one with more than one bin.
//!
//! Histograms hold no row counts. `min_rows` is still exact: a side with hessian sum H has at least
//! H / (largest hessian of a row) rows, which decides most splits; otherwise the rows of that one
//! column are counted and the feature is searched again with the counts.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::evaluate::{Evaluator, FoundSplits, SearchedLeaf, SiblingLeaves, SplitFeature};
use super::grow::GrowTimes;
use super::histogram::{Cells, LeafRows};
use super::interactions::{AllowedFeatures, Interactions};
use super::params::TreeConfig;
use super::partition::{Slots, left_bytes, left_bytes_of_set, partition};
use super::quantise::unpack;
use super::sets::BinSet;
use super::split::{FoundSplit, Limits};
use super::units::Units;
use crate::bins::{Binned, CELLS};
use crate::collective::Collective;
use crate::error::LearnError;

/// Least gain as a fraction of the leaf's own structure score; a smaller gain is rounding error.
pub(super) const MIN_RELATIVE_GAIN: f64 = 1e-10;

/// A leaf while its tree grows.
#[derive(Debug)]
pub(super) struct GrowingLeaf {
    /// The range of its rows in the buffer.
    pub(super) range: Range<usize>,
    /// The buffer that holds its rows: 0 or 1.
    pub(super) buffer: usize,
    /// Number of rows over all processes.
    pub(super) rows: u64,
    /// The packed sum of its rows' derivatives over all processes.
    pub(super) total: u64,
    /// Number of splits above it.
    pub(super) depth: usize,
    /// Limits on its value, in packed units.
    pub(super) limits: Limits,
    /// Features allowed below this leaf, if there are interaction constraints.
    pub(super) allowed: Option<Arc<AllowedFeatures>>,
    /// The histogram, while the leaf may still be split.
    pub(super) cells: Option<Vec<Cells>>,
    /// Its best split; `None` if it is not to be split.
    pub(super) best: Option<BestSplit>,
    /// Its children, if they were computed before the leaf was chosen.
    pub(super) expanded: Option<Box<Children>>,
}

/// The best split of a leaf.
#[derive(Debug, Clone, Copy)]
pub(super) struct BestSplit {
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
    /// Histograms that can be reused.
    pub(super) freed: Vec<Vec<Cells>>,
    pub(super) times: GrowTimes,
}

impl GrowingLeaf {
    /// The properties that a search of its histogram needs.
    pub(super) fn searched(&self) -> SearchedLeaf {
        SearchedLeaf { total: self.total, limits: self.limits }
    }
}

/// A contiguous part of both row buffers.
#[derive(Debug)]
pub(super) struct Arena<'a> {
    /// The position at which the part begins.
    pub(super) first: usize,
    pub(super) buffers: [Slots<'a>; 2],
    /// Work space of partitions: by position, 1 if the row goes left.
    pub(super) flags: &'a mut [u8],
}

impl<'a> Arena<'a> {
    /// Cuts the part in two at a position.
    pub(super) fn cut(self, at: usize) -> (Arena<'a>, Arena<'a>) {
        let mid = at - self.first;
        let [one, two] = self.buffers;
        let ((one, one_after), (two, two_after)) = (one.split_at(mid), two.split_at(mid));
        let (flags, flags_after) = self.flags.split_at_mut(mid);
        (
            Arena { first: self.first, buffers: [one, two], flags },
            Arena { first: at, buffers: [one_after, two_after], flags: flags_after },
        )
    }

    /// The range of a leaf's rows within this part.
    fn within(&self, node: &GrowingLeaf) -> Range<usize> {
        node.range.start - self.first..node.range.end - self.first
    }

    /// Reborrows the same part.
    pub(super) fn reborrow(&mut self) -> Arena<'_> {
        let [one, two] = &mut self.buffers;
        Arena { first: self.first, buffers: [one.reborrow(), two.reborrow()], flags: self.flags }
    }

    /// The rows of a leaf.
    pub(super) fn rows(&self, node: &GrowingLeaf) -> &[u32] {
        &self.buffers[node.buffer].rows[self.within(node)]
    }

    /// The packed derivatives of a leaf's rows.
    pub(super) fn packed(&self, node: &GrowingLeaf) -> &[u64] {
        &self.buffers[node.buffer].packed[self.within(node)]
    }
}

/// The state shared by all leaves of a tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expander<'a> {
    pub(super) binned: &'a Binned,
    pub(super) params: &'a TreeConfig,
    pub(super) collective: &'a dyn Collective,
    pub(super) evaluator: &'a Evaluator<'a>,
    pub(super) units: &'a Units,
    /// For each split feature, whether it may be used.
    pub(super) active: &'a [bool],
    /// The interaction constraints, if there are any.
    pub(super) interactions: Option<&'a Interactions>,
    /// The cost of a split on each split feature, in packed units; empty if no feature has a cost.
    pub(super) costs: &'a [f64],
}

impl Expander<'_> {
    /// Evaluates the root; `all` if it holds every row in order.
    pub(super) fn evaluate_root(
        &self,
        root: &mut GrowingLeaf,
        all: bool,
        arena: &Arena<'_>,
        mut cells: Vec<Cells>,
    ) -> Result<(), LearnError> {
        let rows = if all { LeafRows::All } else { LeafRows::Some(arena.rows(root)) };
        let packed = arena.packed(root);
        let small = root.searched();
        let only_root = SiblingLeaves { rows, packed, small, cells: &mut cells, large: None };
        let threads = rayon::current_num_threads();
        let [mut found_splits, _] =
            self.evaluator.run(only_root, &self.units.criteria, self.active, threads)?;
        root.best = self.pick(root, arena, &cells, &mut found_splits)?;
        root.cells = Some(cells);
        Ok(())
    }

    /// Splits a leaf by its best split. With a spare histogram its children are evaluated too, on
    /// `threads` threads.
    pub(super) fn expand(
        &self,
        node: &mut GrowingLeaf,
        arena: &mut Arena<'_>,
        spare: Option<Vec<Cells>>,
        threads: usize,
    ) -> Result<Children, LearnError> {
        let started = Instant::now();
        let Some(BestSplit { feature_index, found, .. }) = node.best else {
            return Err(LearnError::Internal { invariant: "a leaf that is split has a split" });
        };
        let feature = self.evaluator.split_features[feature_index];
        let set = match (feature.categorical, node.cells.as_deref()) {
            (false, _) => None,
            (true, Some(cells)) => {
                Some(self.evaluator.set(feature, cells, &self.units.criteria, &found))
            }
            (true, None) => {
                let invariant = "a set of categories is computed from a histogram";
                return Err(LearnError::Internal { invariant });
            }
        };
        let left_rows = self.move_rows(node, feature, &found, set.as_ref(), arena);
        let mut rows = [left_rows as u64];
        self.collective.sum(&mut rows)?;
        let limits = self.units.child_limits(node.searched(), &found, feature.direction);
        let middle = node.range.start + left_rows;
        let allowed = match (self.interactions, &node.allowed) {
            (Some(interactions), Some(above)) => Some(interactions.below(above, feature_index)),
            _ => None,
        };
        let child = |range: Range<usize>, rows: u64, total: u64, limits: Limits| GrowingLeaf {
            range,
            buffer: 1 - node.buffer,
            rows,
            total,
            depth: node.depth + 1,
            limits,
            allowed: allowed.clone(),
            cells: None,
            best: None,
            expanded: None,
        };
        let left = child(node.range.start..middle, rows[0], found.left, limits[0]);
        let total = node.total.wrapping_sub(found.left);
        let right = child(middle..node.range.end, node.rows - rows[0], total, limits[1]);
        let (freed, times) = (Vec::new(), GrowTimes::default());
        let mut children = Children { left, right, set, freed, times };
        children.times.partition = started.elapsed();
        let started = Instant::now();
        if let (Some(parent), Some(spare)) = (node.cells.take(), spare) {
            self.evaluate_children(&mut children, arena, parent, spare, threads)?;
        }
        children.times.histograms = started.elapsed();
        Ok(children)
    }

    /// Builds the histograms and finds the best splits of two children.
    fn evaluate_children(
        &self,
        children: &mut Children,
        arena: &Arena<'_>,
        mut parent: Vec<Cells>,
        mut cells: Vec<Cells>,
        threads: usize,
    ) -> Result<(), LearnError> {
        let Children { left, right, freed, .. } = children;
        let (small, large) = if left.rows <= right.rows { (left, right) } else { (right, left) };
        let may_split = [self.may_split(small, arena)?, self.may_split(large, arena)?];
        if may_split == [false, false] {
            freed.extend([parent, cells]);
            return Ok(());
        }
        let siblings = SiblingLeaves {
            rows: LeafRows::Some(arena.rows(small)),
            packed: arena.packed(small),
            small: small.searched(),
            cells: &mut cells,
            large: Some((large.searched(), &mut parent)),
        };
        let allowed = small.allowed.clone();
        let active = allowed.as_ref().map_or(self.active, |allowed| &allowed.active);
        let found = self.evaluator.run(siblings, &self.units.criteria, active, threads)?;
        let [mut of_small, mut of_large] = found;
        for (node, cells, found_splits, may_split) in [
            (small, cells, &mut of_small, may_split[0]),
            (large, parent, &mut of_large, may_split[1]),
        ] {
            if may_split {
                node.best = self.pick(node, arena, &cells, found_splits)?;
            }
            match node.best {
                Some(_) => node.cells = Some(cells),
                None => freed.push(cells),
            }
        }
        Ok(())
    }

    /// Whether a leaf may be split at all, checked before its splits are searched.
    pub(super) fn may_split(
        &self,
        node: &GrowingLeaf,
        arena: &Arena<'_>,
    ) -> Result<bool, LearnError> {
        if !self.params.may_deepen(node.depth) || node.rows < 2 * self.params.min_rows.max(1) {
            return Ok(false);
        }
        match self.params.impurity {
            Some(limit) => Ok(self.impurity(node, arena)? > limit),
            None => Ok(true),
        }
    }

    /// The impurity of a leaf: half the variance of its rows' gradients.
    fn impurity(&self, node: &GrowingLeaf, arena: &Arena<'_>) -> Result<f64, LearnError> {
        // Sums of the upper and the lower 32 bits of the squares: 64 bits would overflow.
        let mut sums = [0_u64; 2];
        for packed in arena.packed(node) {
            let square = i64::from(unpack(*packed).0).pow(2) as u64;
            sums[0] += square >> 32;
            sums[1] += square & 0xffff_ffff;
        }
        self.collective.sum(&mut sums)?;
        let squares = sums[0] as f64 * 4_294_967_296.0 + sums[1] as f64;
        let rows = node.rows as f64;
        let mean = f64::from(unpack(node.total).0) / rows;
        Ok((squares / rows - mean * mean).max(0.0) * 0.5
            / (self.units.gradient * self.units.gradient))
    }

    /// The best of the splits found that has enough gain and leaves enough rows on both sides;
    /// `None` if there is none.
    fn pick(
        &self,
        node: &GrowingLeaf,
        arena: &Arena<'_>,
        cells: &[Cells],
        found_splits: &mut FoundSplits,
    ) -> Result<Option<BestSplit>, LearnError> {
        let (g, h) = unpack(node.total);
        let unsplit_score =
            self.units.criteria.structure_score(f64::from(g), f64::from(h), node.limits);
        let mut counted = vec![false; found_splits.len()];
        loop {
            let Some((feature_index, found)) = self.best_of(found_splits) else { return Ok(None) };
            let increase = found.structure_score - self.cost(feature_index) - unsplit_score;
            let gain = self.units.gain(increase);
            if increase <= MIN_RELATIVE_GAIN * unsplit_score.abs() || gain <= self.params.min_gain {
                return Ok(None);
            }
            if counted[feature_index] || self.units.has_rows(node.total, found.left) {
                return Ok(Some(BestSplit { gain, feature_index, found }));
            }
            let by_byte = self.count(node, feature_index, arena)?;
            found_splits[feature_index] = self.evaluator.search_with_counts(
                feature_index,
                cells,
                &by_byte,
                node.searched(),
                &self.units.criteria,
            );
            counted[feature_index] = true;
        }
    }

    /// The cost of a split on a feature, in packed units.
    pub(super) fn cost(&self, feature_index: usize) -> f64 {
        self.costs.get(feature_index).copied().unwrap_or(0.0)
    }

    /// The split with the largest structure score minus cost; among equals the lowest feature.
    fn best_of(&self, found_splits: &FoundSplits) -> Option<(usize, FoundSplit)> {
        let feature =
            |feature_index: usize| self.evaluator.split_features[feature_index].packing.feature;
        let mut best: Option<(usize, FoundSplit)> = None;
        for (feature_index, found) in found_splits.iter().enumerate() {
            let Some(found) = found else { continue };
            let is_better = best.is_none_or(|(other, most)| {
                let (structure_score, most) = (
                    found.structure_score - self.cost(feature_index),
                    most.structure_score - self.cost(other),
                );
                structure_score > most
                    || (structure_score == most && feature(feature_index) < feature(other))
            });
            if is_better {
                best = Some((feature_index, *found));
            }
        }
        best
    }

    /// Number of rows of a leaf by byte of the feature's column.
    pub(super) fn count(
        &self,
        node: &GrowingLeaf,
        feature_index: usize,
        arena: &Arena<'_>,
    ) -> Result<[u64; CELLS], LearnError> {
        let column =
            self.binned.column(self.evaluator.split_features[feature_index].column as usize);
        let mut counts = [0; CELLS];
        for row in arena.rows(node) {
            counts[usize::from(column[*row as usize])] += 1;
        }
        self.collective.sum(&mut counts)?;
        Ok(counts)
    }

    /// Moves the rows of a leaf to the other buffer, those of the left child first; returns the
    /// number of rows of the left child.
    fn move_rows(
        &self,
        node: &GrowingLeaf,
        feature: SplitFeature,
        found: &FoundSplit,
        set: Option<&BinSet>,
        arena: &mut Arena<'_>,
    ) -> usize {
        let Some(bins) = self.binned.feature(feature.packing.feature) else { return 0 };
        let goes_left = match set {
            Some(set) => left_bytes_of_set(feature.packing, set),
            None => left_bytes(feature.packing, bins, found.bin.into(), found.missing),
        };
        let range = arena.within(node);
        let [one, two] = &mut arena.buffers;
        let (from, to) = if node.buffer == 0 { (one, two) } else { (two, one) };
        partition(
            self.binned.column(feature.column as usize),
            &goes_left,
            &from.rows[range.clone()],
            &from.packed[range.clone()],
            &mut arena.flags[range.clone()],
            Slots { rows: &mut to.rows[range.clone()], packed: &mut to.packed[range] },
        )
    }
}
