//! Oblivious (symmetric) trees: one split test for all leaves of a level, as CatBoost grows them
//! (Prokhorenkova et al. 2018; Kohavi 1994).
//!
//! A split test (feature, threshold, side of missing values) is chosen by the sum of its gains over
//! the leaves of the level; of tests with equal sums, the one with the lower feature wins, then the
//! one with missing values on the right, then the one with the lower bin. A test need not be useful
//! in every leaf. A leaf in which a side would have too few rows, too small a hessian sum, a value
//! against a monotone constraint, or no gain, is *not split*: its rows keep one value and may be
//! split by a later level. In the tree both sides of the test then lead to equal subtrees, so the
//! tree is always full, with 2^levels leaves, some of which share a value ([`TreeLeaf`]); a leaf
//! that no row reaches has the value of the rows from which it was not separated. So `min_rows`
//! holds for every group of rows with a value of its own (a *grown leaf*), though a leaf of the
//! tree may hold fewer rows. A *position* is one of the 2^d nodes of the full tree below d tests,
//! numbered from left to right; a grown leaf may stand at several positions. A grown leaf is *open*
//! as long as it may still be split; only open leaves have a histogram.
//!
//! Growth ends after `levels` tests, or when no test has a total gain above `min_gain`. In the
//! model, the gain of a grown leaf's split is divided among the leaf's positions in proportion to
//! their rows.
//!
//! Sums are packed: gradient and hessian as integers in 64 bits ([`quantise`](super::quantise)).
//!
//! Cost of a level: the histograms of the smaller children are summed, those of the larger ones
//! computed by subtraction, and all bins of all features are scanned in all open leaves. Histograms
//! hold no row counts: a test is first valued without `min_rows`, which can only overestimate its
//! gain. If it is uncertain that the best test leaves enough rows, the rows are counted by bin and
//! the tests on its feature are valued again, until the best test is known to leave enough rows.

#[cfg(test)]
mod reference;
mod shape;

use std::sync::Arc;
use std::time::Instant;

use rankwright_model::Side;
use rayon::prelude::*;

use self::shape::{rows_of_positions, splits};
use super::evaluate::{SiblingLeaves, SplitFeature, search_of};
use super::expand::{BestSplit, Children, Expander, GrowingLeaf, MIN_RELATIVE_GAIN, RowBuffers};
use super::grow::{GrowTimes, HistogramPool, SMALL_LEAF_ROWS};
use super::grown::{GrownLeaf, GrownTree, TreeLeaf};
use super::histogram::{ColumnHistogram, LeafRows};
use super::interactions::AllowedFeatures;
use super::split::{FoundSplit, HistogramSearch, SplitConstraints, unpack_floats};
use crate::bins::CELLS;
use crate::error::LearnError;

/// A split test of a level.
#[derive(Debug, Clone, Copy, PartialEq)]
struct LevelSplit {
    /// The increase of the structure score, summed over all open leaves, in packed units.
    increase: f64,
    /// Last bin on the left.
    bin: u8,
    /// The side of missing values.
    missing: Side,
}

/// For each open leaf, the number of its rows for each value of the byte in one column.
type LeafCounts = Vec<[u64; CELLS]>;

/// The split test chosen for a level, and the row counts of its column if they were needed.
#[derive(Debug)]
struct LevelChoice {
    /// Index of the split feature.
    feature_index: usize,
    test: LevelSplit,
    counts: Option<LeafCounts>,
}

/// A level after its split test was applied.
#[derive(Debug)]
struct EvaluatedLevel {
    feature: SplitFeature,
    test: LevelSplit,
    /// By position: the gain and the number of rows of the grown leaf there; `None` if that leaf
    /// was not split.
    gains: Vec<Option<(f64, u64)>>,
}

/// The levels grown so far.
struct GrownLevels<'e> {
    expander: &'e Expander<'e>,
    /// The grown leaves, each with a value of its own; open ones have a histogram.
    nodes: Vec<GrowingLeaf>,
    /// The index in `nodes` of the grown leaf at each position of the last level, left to right.
    positions: Vec<usize>,
    levels: Vec<EvaluatedLevel>,
    /// The features that the next test may use; `None` if there are no interaction constraints.
    allowed: Option<Arc<AllowedFeatures>>,
}

/// Grows a tree from its root. `all_rows`: whether the root holds every row of the data, in order.
pub(super) fn grow(
    expander: &Expander<'_>,
    mut root: GrowingLeaf,
    all_rows: bool,
    mut row_buffers: RowBuffers<'_>,
    pool: &mut HistogramPool<'_>,
    times: &mut GrowTimes,
) -> Result<GrownTree, LearnError> {
    let levels = expander.params.levels();
    let started = Instant::now();
    if levels > 0 && expander.may_split(&root, &row_buffers)? {
        let mut cells = pool.take();
        let rows = if all_rows { LeafRows::All } else { LeafRows::Some(row_buffers.rows(&root)) };
        let (packed, small) = (row_buffers.packed(&root), root.searched());
        let only_root = SiblingLeaves { rows, packed, small, cells: &mut cells, large: None };
        expander.evaluator.build(only_root, rayon::current_num_threads())?;
        root.cells = Some(cells);
    }
    times.histograms += started.elapsed();
    let allowed = root.allowed.clone();
    let (nodes, positions) = (vec![root], vec![0]);
    let mut tree = GrownLevels { expander, nodes, positions, levels: Vec::new(), allowed };
    for level in 0..levels {
        let started = Instant::now();
        let Some(choice) = tree.choose(&row_buffers)? else { break };
        times.histograms += started.elapsed();
        let evaluate_children = level + 1 < levels;
        *times += tree.apply_test(choice, evaluate_children, &mut row_buffers, pool)?;
    }
    tree.finish(&row_buffers, pool)
}

impl GrownLevels<'_> {
    /// The grown leaves that may still be split.
    fn open(&self) -> impl Iterator<Item = &GrowingLeaf> {
        self.nodes.iter().filter(|node| node.cells.is_some())
    }

    /// The best split test for the level; `None` if no test gains enough.
    fn choose(&self, row_buffers: &RowBuffers<'_>) -> Result<Option<LevelChoice>, LearnError> {
        let Expander { evaluator, units, params, .. } = self.expander;
        let unsplit_score: f64 = self.open().map(|node| self.unsplit_score(node).abs()).sum();
        let active = self.allowed.as_ref().map_or(self.expander.active, |a| &a.active);
        let search = |(feature_index, active): (usize, &bool)| match active {
            true => self.search(evaluator.split_features[feature_index], None),
            false => None,
        };
        // The best test on each split feature.
        let mut found: Vec<Option<LevelSplit>> =
            active.par_iter().enumerate().with_max_len(1).map(search).collect();
        // The row counts of each split feature whose tests were valued with them.
        let mut counted: Vec<Option<LeafCounts>> = vec![None; found.len()];
        loop {
            let Some((feature_index, test)) = self.best_of(&found) else { return Ok(None) };
            let increase = test.increase - self.expander.cost(feature_index);
            if increase <= MIN_RELATIVE_GAIN * unsplit_score
                || units.gain(increase) <= params.min_gain
            {
                return Ok(None);
            }
            let counts = counted[feature_index].take();
            if counts.is_some()
                || self.has_enough_rows(evaluator.split_features[feature_index], test)
            {
                return Ok(Some(LevelChoice { feature_index, test, counts }));
            }
            let counts = self.leaf_counts(feature_index, row_buffers)?;
            found[feature_index] =
                self.search(evaluator.split_features[feature_index], Some(&counts));
            counted[feature_index] = Some(counts);
        }
    }

    /// The test with the largest gain minus cost; among equals the lowest feature.
    fn best_of(&self, found: &[Option<LevelSplit>]) -> Option<(usize, LevelSplit)> {
        let feature = |feature_index: usize| {
            self.expander.evaluator.split_features[feature_index].packing.feature
        };
        let mut best: Option<(usize, LevelSplit, f64)> = None;
        for (feature_index, test) in found.iter().enumerate() {
            let Some(test) = test else { continue };
            let increase = test.increase - self.expander.cost(feature_index);
            let wins = best.is_none_or(|(best_index, _, best_increase)| {
                increase > best_increase
                    || (increase == best_increase && feature(feature_index) < feature(best_index))
            });
            if wins {
                best = Some((feature_index, *test, increase));
            }
        }
        best.map(|(feature_index, test, _)| (feature_index, test))
    }

    /// The structure score of a leaf that is not split.
    fn unsplit_score(&self, node: &GrowingLeaf) -> f64 {
        let (g, h) = unpack_floats(node.total);
        self.expander.units.criteria.structure_score(g, h, node.limits)
    }

    /// The best split test on one feature; `None` if no test gains anything. With `counts`, a leaf
    /// gains only if both sides have enough rows.
    fn search(&self, feature: SplitFeature, counts: Option<&LeafCounts>) -> Option<LevelSplit> {
        // The sum of increases by last bin on the left, with missing values right, then left.
        let mut totals = [[0.0; CELLS]; 2];
        for (number, node) in self.open().enumerate() {
            let counts = counts.and_then(|counts| counts.get(number));
            self.visit(feature, node, counts, |missing, bin, increase, _| {
                totals[usize::from(missing == Side::Left)][bin] += increase;
            });
        }
        let mut best: Option<LevelSplit> = None;
        for (missing, totals) in [Side::Right, Side::Left].into_iter().zip(&totals) {
            for (bin, increase) in totals.iter().enumerate() {
                if *increase > best.map_or(0.0, |best| best.increase) {
                    best = Some(LevelSplit { increase: *increase, bin: bin as u8, missing });
                }
            }
        }
        best
    }

    /// Calls `visitor` for every test on a feature that would gain something in a leaf, with the
    /// side of missing values, the last bin on the left, the increase of the structure score, and
    /// the packed sum of the left side. `by_byte` is the leaf's number of rows for each value of
    /// the byte in the feature's column; without it `min_rows` is not checked.
    fn visit(
        &self,
        feature: SplitFeature,
        node: &GrowingLeaf,
        by_byte: Option<&[u64; CELLS]>,
        mut visitor: impl FnMut(Side, usize, f64, u64),
    ) {
        let Some(cells) = node.cells.as_ref().and_then(|all| all.get(feature.column as usize))
        else {
            return;
        };
        let criteria = &self.expander.units.criteria;
        let mut buffer = [0; CELLS];
        let search = search_of(&feature, cells, &mut buffer, node.searched());
        let constraints =
            SplitConstraints { counts: None, limits: node.limits, direction: feature.direction };
        let unsplit_score = self.unsplit_score(node);
        let min_increase = MIN_RELATIVE_GAIN * unsplit_score.abs();
        let is_unconstrained = self.expander.evaluator.is_unconstrained(criteria);
        let rows = by_byte.map(|by_byte| rows_by_bin(feature, by_byte));
        for missing in [Side::Right, Side::Left] {
            let Some((mut left, candidate_bins)) = search.scan_start(missing) else { continue };
            let mut left_rows = match (missing, &rows) {
                (Side::Left, Some(rows)) => rows[feature.value_bins],
                _ => 0,
            };
            for (bin, cell) in search.values.iter().enumerate().take(candidate_bins) {
                left = left.wrapping_add(*cell);
                if let Some(rows) = &rows {
                    left_rows += rows[bin];
                    if left_rows < criteria.min_rows || node.rows - left_rows < criteria.min_rows {
                        continue;
                    }
                }
                let split_score = match is_unconstrained {
                    true => unconstrained_score(&search, left, criteria.min_hessian, criteria.l2),
                    false => search.score_of_split(left, 0, criteria, &constraints),
                };
                match split_score {
                    Some(split_score) if split_score - unsplit_score > min_increase => {
                        visitor(missing, bin, split_score - unsplit_score, left)
                    }
                    _ => {}
                }
            }
        }
    }

    /// The increase of the structure score by a test in one leaf, and the packed sum of the left
    /// side there; `None` if the test gains nothing in the leaf.
    fn gain_in_leaf(
        &self,
        feature: SplitFeature,
        node: &GrowingLeaf,
        counts: Option<&[u64; CELLS]>,
        test: LevelSplit,
    ) -> Option<(f64, u64)> {
        let mut gain_in_leaf = None;
        self.visit(feature, node, counts, |missing, bin, increase, left| {
            if missing == test.missing && bin == usize::from(test.bin) {
                gain_in_leaf = Some((increase, left));
            }
        });
        gain_in_leaf
    }

    /// Whether both sides are certain to have enough rows in all leaves that the test would split.
    fn has_enough_rows(&self, feature: SplitFeature, test: LevelSplit) -> bool {
        self.open().all(|node| match self.gain_in_leaf(feature, node, None, test) {
            Some((_, left)) => self.expander.units.surely_has_min_rows(node.total, left),
            None => true,
        })
    }

    /// For each open leaf, the number of its rows for each value of the byte in the feature's
    /// column.
    fn leaf_counts(
        &self,
        feature_index: usize,
        row_buffers: &RowBuffers<'_>,
    ) -> Result<LeafCounts, LearnError> {
        self.open()
            .map(|node| self.expander.rows_by_byte(node, feature_index, row_buffers))
            .collect()
    }

    /// Applies a split test: splits the leaves in which it gains, and evaluates their children if
    /// another level may follow.
    fn apply_test(
        &mut self,
        choice: LevelChoice,
        evaluate_children: bool,
        row_buffers: &mut RowBuffers<'_>,
        pool: &mut HistogramPool<'_>,
    ) -> Result<GrowTimes, LearnError> {
        let (expander, feature_index, test) = (self.expander, choice.feature_index, choice.test);
        let feature = expander.evaluator.split_features[feature_index];
        self.store_splits(&choice, feature);
        let gain = |node: &GrowingLeaf| node.best.map(|best| (best.gain, node.rows));
        let gains = self.positions.iter().map(|leaf| gain(&self.nodes[*leaf])).collect();
        self.levels.push(EvaluatedLevel { feature, test, gains });
        if let (Some(interactions), Some(above)) = (expander.interactions, &self.allowed) {
            self.allowed = Some(interactions.below(above, feature_index));
        }
        let (times, partitioned) = self.partition_leaves(evaluate_children, row_buffers, pool)?;
        // The left child keeps the index of the leaf, the right one gets a new index. A leaf that
        // was not split stands at both positions.
        let mut right_of: Vec<Option<usize>> = vec![None; self.nodes.len()];
        for (leaf, children) in partitioned {
            let Children { left, right, freed, .. } = children;
            pool.free.extend(freed);
            right_of[leaf] = Some(self.nodes.len());
            self.nodes[leaf] = left;
            self.nodes.push(right);
        }
        let children = |leaf: &usize| [*leaf, right_of[*leaf].unwrap_or(*leaf)];
        self.positions = self.positions.iter().flat_map(children).collect();
        Ok(times)
    }

    /// Stores the split in every leaf in which the test gains.
    fn store_splits(&mut self, choice: &LevelChoice, feature: SplitFeature) {
        let LevelChoice { feature_index, test, counts } = choice;
        let gain_in_leaf = |(open_index, node): (usize, &GrowingLeaf)| {
            let counts = counts.as_ref().and_then(|counts| counts.get(open_index));
            self.gain_in_leaf(feature, node, counts, *test)
        };
        let gains_in_leaves: Vec<_> = self.open().enumerate().map(gain_in_leaf).collect();
        let open = self.nodes.iter_mut().filter(|node| node.cells.is_some());
        for (node, gain_in_leaf) in open.zip(gains_in_leaves) {
            node.best = gain_in_leaf.map(|(increase, left)| {
                let LevelSplit { bin, missing, .. } = *test;
                // The expansion of a leaf does not use the score.
                let found = FoundSplit { split_score: increase, bin, missing, left };
                BestSplit {
                    gain: self.expander.units.gain(increase),
                    feature_index: *feature_index,
                    found,
                }
            });
        }
    }

    /// Partitions the leaves that have a split: large ones by all threads, small ones one thread
    /// each. Returns the time that this took, and the index of each leaf with its children.
    fn partition_leaves(
        &mut self,
        evaluate_children: bool,
        row_buffers: &mut RowBuffers<'_>,
        pool: &mut HistogramPool<'_>,
    ) -> Result<(GrowTimes, Vec<(usize, Children)>), LearnError> {
        let started = Instant::now();
        let expander = self.expander;
        let mut nodes: Vec<(usize, &mut GrowingLeaf)> =
            self.nodes.iter_mut().enumerate().filter(|(_, node)| node.best.is_some()).collect();
        nodes.sort_by_key(|(_, node)| node.range.start);
        let (mut remaining, mut large, mut small) =
            (row_buffers.reborrow(), Vec::new(), Vec::new());
        let distributed = expander.collective.size() > 1;
        for (leaf, node) in nodes {
            let (_, from_leaf) = remaining.cut(node.range.start);
            let (of_leaf, after) = from_leaf.cut(node.range.end);
            remaining = after;
            // Processes that share a training must partition leaves in the same order.
            let is_large = distributed || node.range.len() > SMALL_LEAF_ROWS;
            let task = (leaf, node, of_leaf, pool.take());
            if is_large { large.push(task) } else { small.push(task) }
        }
        let partition = |task: (usize, &mut GrowingLeaf, RowBuffers<'_>, Vec<ColumnHistogram>),
                         threads: usize| {
            let (leaf, node, mut row_buffers, spare) = task;
            let children = partition_leaf(
                expander,
                node,
                &mut row_buffers,
                spare,
                evaluate_children,
                threads,
            )?;
            Ok::<_, LearnError>((leaf, children))
        };
        let threads = rayon::current_num_threads();
        let mut partitioned: Vec<(usize, Children)> =
            large.into_iter().map(|task| partition(task, threads)).collect::<Result<_, _>>()?;
        let small: Vec<(usize, Children)> = small
            .into_par_iter()
            .with_max_len(1)
            .map(|task| partition(task, 1))
            .collect::<Result<_, LearnError>>()?;
        partitioned.extend(small);
        partitioned.sort_by_key(|(leaf, _)| *leaf);
        // The times of leaves that were partitioned at the same time are scaled to the elapsed
        // time.
        let spent: f64 = partitioned.iter().map(|(_, c)| seconds(c.times)).sum();
        let factor = if spent > 0.0 { started.elapsed().as_secs_f64() / spent } else { 0.0 };
        let mut times = GrowTimes::default();
        for (_, children) in &partitioned {
            times.histograms += children.times.histograms.mul_f64(factor);
            times.partition += children.times.partition.mul_f64(factor);
        }
        Ok((times, partitioned))
    }

    /// The finished tree; its histograms return to the pool.
    fn finish(
        self,
        row_buffers: &RowBuffers<'_>,
        pool: &mut HistogramPool<'_>,
    ) -> Result<GrownTree, LearnError> {
        let Self { expander, mut nodes, positions, levels, .. } = self;
        pool.free.extend(nodes.iter_mut().filter_map(|node| node.cells.take()));
        let rows = rows_of_positions(expander, &nodes, &positions, &levels, row_buffers)?;
        let leaves = nodes.iter().map(|node| GrownLeaf {
            range: node.range.clone(),
            buffer: node.buffer,
            rows: node.rows,
            limits: expander.units.limits(node.limits),
        });
        let leaves: Vec<GrownLeaf> = leaves.collect();
        let tree_leaves = positions.iter().zip(&rows);
        let tree_leaves = tree_leaves
            .map(|(leaf, rows)| TreeLeaf { grown_leaf: *leaf as u32, rows: *rows })
            .collect();
        let splits = splits(expander, &levels, &rows);
        Ok(GrownTree { splits, sets: Vec::new(), leaves, tree_leaves: Some(tree_leaves) })
    }
}

/// The seconds of both phases together.
fn seconds(times: GrowTimes) -> f64 {
    (times.histograms + times.partition).as_secs_f64()
}

/// The sum of both sides' structure scores without l1 and monotone constraints, equal to that of
/// `score_of_split`; `None` if a hessian sum is too small.
#[inline(always)]
fn unconstrained_score(
    search: &HistogramSearch<'_>,
    left: u64,
    min_hessian: f64,
    l2: f64,
) -> Option<f64> {
    let (gl, hl) = unpack_floats(left);
    let (gr, hr) = unpack_floats(search.total.wrapping_sub(left));
    let split_score = gl * gl / (hl + l2) + gr * gr / (hr + l2);
    (hl >= min_hessian && hr >= min_hessian).then_some(split_score)
}

/// Number of rows by bin of a feature; the entry after the last value bin counts the rows with a
/// missing value.
fn rows_by_bin(feature: SplitFeature, by_byte: &[u64; CELLS]) -> [u64; CELLS + 1] {
    let mut rows = [0; CELLS + 1];
    for (byte, count) in by_byte.iter().enumerate() {
        rows[feature.packing.bin(byte as u8)] += count;
    }
    rows
}

/// Partitions the rows of one leaf. If `evaluate_children`, builds the histograms of the children
/// that may be split later: of the smaller one in `spare`, of the larger one in the leaf's own.
fn partition_leaf(
    expander: &Expander<'_>,
    node: &mut GrowingLeaf,
    row_buffers: &mut RowBuffers<'_>,
    mut spare: Vec<ColumnHistogram>,
    evaluate_children: bool,
    threads: usize,
) -> Result<Children, LearnError> {
    let parent = node.cells.take();
    let mut children = expander.expand(node, row_buffers, None, threads)?;
    let started = Instant::now();
    let Children { left, right, freed, .. } = &mut children;
    let (small, large) = if left.rows <= right.rows { (left, right) } else { (right, left) };
    let may_split = match evaluate_children {
        true => [expander.may_split(small, row_buffers)?, expander.may_split(large, row_buffers)?],
        false => [false, false],
    };
    let Some(mut parent) = parent else {
        freed.push(spare);
        return Ok(children);
    };
    if may_split == [false, false] {
        freed.extend([parent, spare]);
        return Ok(children);
    }
    let siblings = SiblingLeaves {
        rows: LeafRows::Some(row_buffers.rows(small)),
        packed: row_buffers.packed(small),
        small: small.searched(),
        cells: &mut spare,
        large: Some((large.searched(), &mut parent)),
    };
    expander.evaluator.build(siblings, threads)?;
    for (node, cells, may_split) in [(small, spare, may_split[0]), (large, parent, may_split[1])] {
        match may_split {
            true => node.cells = Some(cells),
            false => freed.push(cells),
        }
    }
    children.times.histograms += started.elapsed();
    Ok(children)
}
