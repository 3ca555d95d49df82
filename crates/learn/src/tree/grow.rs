//! Growth of one tree: choose a leaf, split it, evaluate its two children, until no split gains
//! enough.
//!
//! Leaf-wise growth splits the leaf with the largest gain next, depth-wise growth the shallowest
//! leaf; [`oblivious`](super::oblivious) splits whole levels at once. Of equal gains, the one with
//! the lower feature, then the lower bin wins, and between leaves the one with the lower number, so
//! a tree depends on the sums of derivatives alone. The left child of a split keeps the number of
//! the leaf. The buffers of a [`Grower`] serve all trees of a training. *Packed* values are
//! gradient and hessian as integers in 64 bits ([`quantise`](super::quantise)), and a *split
//! feature* is one with more than one bin, so that it can be split on.
//!
//! A large leaf is split by all threads together. With small leaves the threads would wait for each
//! other, so the next few leaves in the order of growth are split at the same time, one thread
//! each. A leaf split ahead of its turn keeps its children until it is chosen: the tree is the
//! same, and few leaves are split without being used.
//!
//! Features may have a cost, which is subtracted from the gain of every split on them until a tree
//! has used them (the coupled penalty of cost-efficient gradient boosting, Peter et al. 2017). All
//! splits of one tree pay the same cost, even if a split above already uses the feature: the costs
//! of leaves that are split at the same time must not depend on their order.

use std::ops::AddAssign;
use std::time::{Duration, Instant};

use rankwright_model::{Categories, Child, Side, Split, SplitCondition, Tree};
use rayon::prelude::*;

use super::evaluate::Evaluator;
use super::expand::{BestSplit, Children, Expander, GrowingLeaf, RowBuffers};
use super::grown::{GrownLeaf, GrownTree};
use super::histogram::{ColumnHistogram, PADDED_CELLS};
use super::interactions::Interactions;
use super::oblivious;
use super::params::{Growth, TreeConfig};
use super::partition::RowSlices;
use super::quantise::Scales;
use super::routes::Routes;
use super::sets::BinSet;
use super::split::ValueLimits;
use super::units::PackedUnits;
use crate::bins::Binned;
use crate::collective::Collective;
use crate::error::LearnError;
use crate::simd::Simd;

/// Leaves of up to this many rows are split by one thread each.
pub(super) const SMALL_LEAF_ROWS: usize = 1 << 15;

/// Time by phase, for the training history.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct GrowTimes {
    pub(crate) histograms: Duration,
    pub(crate) partition: Duration,
}

impl GrowTimes {
    /// The time since an earlier reading.
    pub(crate) fn since(self, before: GrowTimes) -> GrowTimes {
        GrowTimes {
            histograms: self.histograms.saturating_sub(before.histograms),
            partition: self.partition.saturating_sub(before.partition),
        }
    }
}

impl AddAssign for GrowTimes {
    fn add_assign(&mut self, other: GrowTimes) {
        self.histograms += other.histograms;
        self.partition += other.partition;
    }
}

/// Row numbers and the packed derivatives of these rows, grouped by leaf.
#[derive(Debug, Default)]
struct RowBuffer {
    rows: Vec<u32>,
    packed: Vec<u64>,
}

impl RowBuffer {
    /// The first `end` rows.
    fn slices(&mut self, end: usize) -> RowSlices<'_> {
        RowSlices { rows: &mut self.rows[..end], packed: &mut self.packed[..end] }
    }
}

/// Grows trees on one data set.
#[derive(Debug)]
pub(crate) struct Grower<'a> {
    binned: &'a Binned,
    params: &'a TreeConfig,
    collective: &'a dyn Collective,
    evaluator: Evaluator<'a>,
    interactions: Option<Interactions>,
    /// For each column of the data set, whether some tree splits on it; entries after the last such
    /// column are left out. Only used if features have costs.
    used_features: Vec<bool>,
    /// When a leaf is split, its rows move from one buffer to the other.
    buffers: [RowBuffer; 2],
    /// Work space of partitions: for each position in the buffer, 1 if its row goes left.
    flags: Vec<u8>,
    /// Histograms of leaves, to be used again.
    pool: Vec<Vec<ColumnHistogram>>,
    times: GrowTimes,
}

/// Input of one tree: gradients, hessians, and the rows and features that may be used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GrowInput<'a> {
    pub(crate) gradient: &'a [f32],
    pub(crate) hessian: &'a [f32],
    pub(crate) scales: &'a Scales,
    /// The rows that the tree is grown from, ascending; `None` for all.
    pub(crate) sample: Option<&'a [u32]>,
    /// For each column of the data set, whether the tree may use it; `None` for all.
    pub(crate) features: Option<&'a [bool]>,
}

impl<'a> Grower<'a> {
    pub(crate) fn new(
        binned: &'a Binned,
        params: &'a TreeConfig,
        collective: &'a dyn Collective,
        simd: Simd,
    ) -> Self {
        let evaluator = Evaluator::new(binned, &params.monotone, collective, simd);
        let interactions = Interactions::new(&params.interactions, &evaluator.split_features);
        let buffer = || RowBuffer { rows: vec![0; binned.rows()], packed: vec![0; binned.rows()] };
        Self {
            binned,
            params,
            collective,
            evaluator,
            interactions,
            used_features: Vec::new(),
            buffers: [buffer(), buffer()],
            flags: vec![0; binned.rows()],
            pool: Vec::new(),
            times: GrowTimes::default(),
        }
    }
}

/// The rows of a grown tree's leaves.
pub(crate) trait GrownRows: Sync {
    /// Rows of a leaf of the tree that was grown last, ascending.
    fn rows_of(&self, leaf: &GrownLeaf) -> &[u32];

    /// The table that maps any row to its leaf of a tree, including rows that the tree was not
    /// grown from.
    fn routes(&self, grown: &GrownTree) -> Routes<'_>;
}

/// Grows trees: the fast [`Grower`], and in tests its reference implementation.
pub(crate) trait Grow: GrownRows {
    /// Called once with the trees of the start model or checkpoint, before the first new tree is
    /// grown.
    fn begin(&mut self, _trees: &[Tree]) {}

    /// Grows a tree.
    fn grow(&mut self, input: GrowInput<'_>) -> Result<GrownTree, LearnError>;

    /// Time spent on all trees so far, by phase.
    fn times(&self) -> GrowTimes;

    /// This grower as [`GrownRows`].
    fn as_rows(&self) -> &dyn GrownRows;
}

impl GrownRows for Grower<'_> {
    fn rows_of(&self, leaf: &GrownLeaf) -> &[u32] {
        &self.buffers[leaf.buffer].rows[leaf.range.clone()]
    }

    fn routes(&self, grown: &GrownTree) -> Routes<'_> {
        Routes::new(self.binned, grown)
    }
}

impl Grow for Grower<'_> {
    fn begin(&mut self, trees: &[Tree]) {
        self.used_features.clear();
        trees.iter().for_each(|tree| self.record_features(tree.splits()));
    }

    fn grow(&mut self, input: GrowInput<'_>) -> Result<GrownTree, LearnError> {
        let units = PackedUnits::new(self.params, input.scales);
        let active = self.active_features(input.features);
        let costs = self.feature_costs(&units);
        let mut root = self.root(input)?;
        root.allowed = self.interactions.as_ref().map(|groups| groups.at_root(&active));
        let grown = self.grow_from(root, input.sample.is_none(), &units, &active, &costs)?;
        self.record_features(&grown.splits);
        Ok(grown)
    }

    fn times(&self) -> GrowTimes {
        self.times
    }

    fn as_rows(&self) -> &dyn GrownRows {
        self
    }
}

impl Grower<'_> {
    /// Grows a tree from its root. `all_rows`: whether the root holds every row of the data, in
    /// order. `active` and `costs` are by split feature (see [`Expander`]).
    fn grow_from(
        &mut self,
        root: GrowingLeaf,
        all_rows: bool,
        units: &PackedUnits,
        active: &[bool],
        costs: &[f64],
    ) -> Result<GrownTree, LearnError> {
        let Self { binned, params, collective, evaluator, interactions, .. } = self;
        let Self { buffers, flags, pool, times, .. } = self;
        let expander = Expander {
            binned,
            params,
            collective: *collective,
            evaluator,
            units,
            active,
            interactions: interactions.as_ref(),
            costs,
        };
        let mut pool = HistogramPool { free: pool, width: evaluator.width() };
        let end = root.range.end;
        let root_buffers = row_buffers(buffers, flags, end);
        if params.growth == Growth::Oblivious {
            return oblivious::grow(&expander, root, all_rows, root_buffers, &mut pool, times);
        }
        let mut tree = GrowingTree::new(root);
        let root = &mut tree.leaves[0];
        if params.leaves > 1 && expander.may_split(root, &root_buffers)? {
            let started = Instant::now();
            expander.evaluate_root(root, all_rows, &root_buffers, pool.take())?;
            times.histograms += started.elapsed();
        }
        while tree.leaves.len() < params.leaves
            && let Some(leaf) = tree.next(params.growth)
        {
            if tree.leaves[leaf].expanded.is_none() {
                // Processes that share a training must split leaves in the same order.
                let next_leaves = match collective.size() > 1 {
                    true => vec![leaf],
                    false => tree.leaves_to_split(leaf, params),
                };
                // The children of the last split stay leaves.
                let evaluate_children = tree.leaves.len() + 1 < params.leaves;
                tree.expand(
                    &next_leaves,
                    evaluate_children,
                    &expander,
                    row_buffers(buffers, flags, end),
                    &mut pool,
                )?;
            }
            *times += tree.commit(leaf, &expander, &mut pool)?;
        }
        Ok(tree.finish(units, &mut pool))
    }
}

/// The first `end` positions of both buffers: those of the rows that the tree is grown from.
fn row_buffers<'a>(
    buffers: &'a mut [RowBuffer; 2],
    flags: &'a mut [u8],
    end: usize,
) -> RowBuffers<'a> {
    let [one, two] = buffers;
    RowBuffers {
        first_position: 0,
        buffers: [one.slices(end), two.slices(end)],
        flags: &mut flags[..end],
    }
}

/// Histograms of leaves that are not in use, kept so that their memory can be used again.
pub(super) struct HistogramPool<'a> {
    pub(super) free: &'a mut Vec<Vec<ColumnHistogram>>,
    /// Number of columns of a histogram.
    width: usize,
}

impl HistogramPool<'_> {
    /// A histogram with any content.
    pub(super) fn take(&mut self) -> Vec<ColumnHistogram> {
        self.free.pop().unwrap_or_else(|| vec![[0; PADDED_CELLS]; self.width])
    }
}

/// A tree while it grows.
struct GrowingTree {
    /// The leaves by number, from 0.
    leaves: Vec<GrowingLeaf>,
    /// For each leaf, the split above it and the side of the leaf there; `None` for the root.
    parents: Vec<Option<(usize, Side)>>,
    splits: Vec<Split>,
    /// The sets of categories that splits test.
    sets: Vec<Categories>,
}

impl GrowingTree {
    /// The tree with a single leaf.
    fn new(root: GrowingLeaf) -> GrowingTree {
        GrowingTree {
            leaves: vec![root],
            parents: vec![None],
            splits: Vec::new(),
            sets: Vec::new(),
        }
    }

    /// Whether leaf `a` is split before leaf `b`; each is given by its number and its best split.
    fn comes_first(&self, a: (usize, &BestSplit), b: (usize, &BestSplit), growth: Growth) -> bool {
        let (leaf_a, leaf_b) = (&self.leaves[a.0], &self.leaves[b.0]);
        match growth {
            Growth::LeafWise => a.1.gain > b.1.gain,
            Growth::DepthWise | Growth::Oblivious => {
                (leaf_a.depth, -a.1.gain) < (leaf_b.depth, -b.1.gain)
            }
        }
    }

    /// The number of the leaf to split next; `None` if no leaf has a split.
    fn next(&self, growth: Growth) -> Option<usize> {
        self.next_of(growth, |_| true)
    }

    /// The number of the leaf to split next, among the numbers that `accepts` returns true for; the
    /// lowest number among equals.
    fn next_of(&self, growth: Growth, accepts: impl Fn(usize) -> bool) -> Option<usize> {
        let mut next: Option<(usize, &BestSplit)> = None;
        for (number, leaf) in self.leaves.iter().enumerate().filter(|(number, _)| accepts(*number))
        {
            let Some(best) = &leaf.best else { continue };
            if next.is_none_or(|next| self.comes_first((number, best), next, growth)) {
                next = Some((number, best));
            }
        }
        next.map(|(number, _)| number)
    }

    /// The numbers of the leaves to split now: the leaf with number `chosen` and, if it is small,
    /// the small ones that come next, up to as many as there are threads.
    fn leaves_to_split(&self, chosen: usize, params: &TreeConfig) -> Vec<usize> {
        let is_small = |leaf: usize| self.leaves[leaf].range.len() <= SMALL_LEAF_ROWS;
        let room = params.leaves - self.leaves.len();
        let max_leaves = rayon::current_num_threads().min(room);
        let mut next_leaves = vec![chosen];
        while is_small(chosen) && next_leaves.len() < max_leaves {
            let may_join = |leaf: usize| {
                is_small(leaf)
                    && self.leaves[leaf].expanded.is_none()
                    && !next_leaves.contains(&leaf)
            };
            match self.next_of(params.growth, may_join) {
                Some(next) => next_leaves.push(next),
                None => break,
            }
        }
        next_leaves
    }

    /// Splits the leaves with these numbers, at the same time if there are several, and stores
    /// their children with them; evaluates the children if they may be split later.
    fn expand(
        &mut self,
        next_leaves: &[usize],
        evaluate_children: bool,
        expander: &Expander<'_>,
        row_buffers: RowBuffers<'_>,
        pool: &mut HistogramPool<'_>,
    ) -> Result<(), LearnError> {
        let started = Instant::now();
        let leaves = self.leaves.iter_mut().enumerate();
        let leaves = leaves.filter(|(number, _)| next_leaves.contains(number));
        let mut leaves: Vec<&mut GrowingLeaf> = leaves.map(|(_, leaf)| leaf).collect();
        leaves.sort_by_key(|leaf| leaf.range.start);
        let threads = if leaves.len() > 1 { 1 } else { rayon::current_num_threads() };
        let (mut remaining, mut tasks) = (row_buffers, Vec::with_capacity(leaves.len()));
        for leaf in leaves {
            let (_, from_leaf) = remaining.cut(leaf.range.start);
            let (of_leaf, after) = from_leaf.cut(leaf.range.end);
            remaining = after;
            tasks.push((leaf, of_leaf, evaluate_children.then(|| pool.take())));
        }
        let expand_leaf =
            |task: (&mut GrowingLeaf, RowBuffers<'_>, Option<Vec<ColumnHistogram>>)| {
                let (leaf, mut row_buffers, spare) = task;
                let children = expander.expand(leaf, &mut row_buffers, spare, threads)?;
                leaf.expanded = Some(Box::new(children));
                Ok::<(), LearnError>(())
            };
        match tasks.len() {
            1 => tasks.into_iter().try_for_each(expand_leaf)?,
            _ => tasks.into_par_iter().with_max_len(1).try_for_each(expand_leaf)?,
        }
        self.scale_times(next_leaves, started.elapsed());
        Ok(())
    }

    /// Scales the times of leaves that were expanded at the same time down to the elapsed time.
    fn scale_times(&mut self, next_leaves: &[usize], elapsed: Duration) {
        let times_of = |leaf: &GrowingLeaf| leaf.expanded.as_ref().map(|children| children.times);
        let times = next_leaves.iter().filter_map(|leaf| times_of(&self.leaves[*leaf]));
        let spent: f64 = times.map(|t| (t.histograms + t.partition).as_secs_f64()).sum();
        let factor = if spent > 0.0 { (elapsed.as_secs_f64() / spent).min(1.0) } else { 1.0 };
        for leaf in next_leaves {
            if let Some(children) = &mut self.leaves[*leaf].expanded {
                let GrowTimes { histograms, partition } = &mut children.times;
                *histograms = histograms.mul_f64(factor);
                *partition = partition.mul_f64(factor);
            }
        }
    }

    /// Replaces the leaf with this number by its children: the left child keeps the number, the
    /// right one gets the next free number. Returns the time that the split took.
    fn commit(
        &mut self,
        number: usize,
        expander: &Expander<'_>,
        pool: &mut HistogramPool<'_>,
    ) -> Result<GrowTimes, LearnError> {
        let leaf = &mut self.leaves[number];
        let (Some(best), Some(children)) = (leaf.best.take(), leaf.expanded.take()) else {
            return Err(LearnError::Internal { invariant: "a leaf that is split has children" });
        };
        let Children { left, right, set, freed, times } = *children;
        pool.free.extend(freed);
        let split_number = self.splits.len();
        if let Some((parent, side)) = self.parents[number] {
            let child = Child::Split(split_number as u32);
            match side {
                Side::Left => self.splits[parent].left = child,
                Side::Right => self.splits[parent].right = child,
            }
        }
        let right_leaf = Child::Leaf(self.leaves.len() as u32);
        let rows = (left.rows, right.rows);
        let mut split = split_of(&best, rows, expander, [Child::Leaf(number as u32), right_leaf]);
        if let Some(set) = set {
            (split.rule, split.missing) = (SplitCondition::In(self.sets.len() as u32), Side::Right);
            self.sets.push(categories(expander.binned, split.feature, &set)?);
        }
        self.splits.push(split);
        self.leaves[number] = left;
        self.leaves.push(right);
        self.parents[number] = Some((split_number, Side::Left));
        self.parents.push(Some((split_number, Side::Right)));
        Ok(times)
    }

    /// The finished tree; its histograms return to the pool.
    fn finish(self, units: &PackedUnits, pool: &mut HistogramPool<'_>) -> GrownTree {
        let leaves = self.leaves.into_iter().map(|leaf| {
            let GrowingLeaf { range, buffer, rows, limits, cells, expanded, .. } = leaf;
            pool.free.extend(cells);
            if let Some(children) = expanded {
                let Children { left, right, freed, .. } = *children;
                pool.free.extend(freed.into_iter().chain(left.cells).chain(right.cells));
            }
            GrownLeaf { range, buffer, rows, limits: units.limits(limits) }
        });
        GrownTree {
            leaves: leaves.collect(),
            splits: self.splits,
            sets: self.sets,
            tree_leaves: None,
        }
    }
}

/// The categories of a feature whose bins are in a set.
fn categories(binned: &Binned, feature: u32, set: &BinSet) -> Result<Categories, LearnError> {
    let all = binned.feature(feature).categories.as_deref();
    let invariant = "a split by a set of categories is on a feature that has some";
    let all = all.ok_or(LearnError::Internal { invariant })?;
    let chosen = all.iter().zip(set).filter(|(_, left)| **left == 1);
    Ok(Categories::new(chosen.map(|(category, _)| *category))?)
}

/// A split in the form of the model; `rows` are the numbers of rows of the left and right child,
/// `children` the left and right child in the model.
fn split_of(
    best: &BestSplit,
    rows: (u64, u64),
    expander: &Expander<'_>,
    children: [Child; 2],
) -> Split {
    let BestSplit { gain, feature_index, found } = *best;
    let feature = expander.evaluator.split_features[feature_index];
    let missing = match (feature.missing, rows.0 >= rows.1) {
        (true, _) => found.missing,
        // No value was missing in training: missing values go with the majority.
        (false, true) => Side::Left,
        (false, false) => Side::Right,
    };
    // Without a bound after it, the last bin on the left is the last bin of values.
    let bounds = &expander.binned.feature(feature.packing.feature).bounds;
    let threshold = bounds.get(usize::from(found.bin)).copied();
    let [left, right] = children;
    Split {
        feature: feature.packing.feature,
        rule: SplitCondition::AtMost(threshold.unwrap_or(f32::INFINITY)),
        missing,
        left,
        right,
        gain,
        rows: rows.0 + rows.1,
    }
}

impl Grower<'_> {
    /// Records the features that a tree splits on, if features have costs.
    fn record_features(&mut self, splits: &[Split]) {
        if self.params.feature_cost.is_empty() {
            return;
        }
        for split in splits {
            let feature = split.feature as usize;
            if self.used_features.len() <= feature {
                self.used_features.resize(feature + 1, false);
            }
            self.used_features[feature] = true;
        }
    }

    /// The cost of a split on each split feature in packed units; empty if no feature has a cost.
    fn feature_costs(&self, units: &PackedUnits) -> Vec<f64> {
        if self.params.feature_cost.is_empty() {
            return Vec::new();
        }
        let cost = |feature: u32| {
            if self.used_features.get(feature as usize).copied().unwrap_or(false) {
                return 0.0;
            }
            let cost = self.params.feature_cost.iter().find(|(costly, _)| *costly == feature);
            cost.map_or(0.0, |(_, cost)| units.structure_score(cost * self.params.cost_weight))
        };
        self.evaluator.split_features.iter().map(|feature| cost(feature.packing.feature)).collect()
    }

    /// For each split feature, whether it may be used; `features` says for each column of the data
    /// set whether it may be used, `None` that all may.
    fn active_features(&self, features: Option<&[bool]>) -> Vec<bool> {
        let flag = |feature: u32| match features {
            Some(flags) => flags.get(feature as usize).copied().unwrap_or(false),
            None => true,
        };
        self.evaluator.split_features.iter().map(|feature| flag(feature.packing.feature)).collect()
    }

    /// The root of a new tree: copies the rows and their packed derivatives into the first buffer.
    fn root(&mut self, input: GrowInput<'_>) -> Result<GrowingLeaf, LearnError> {
        let RowBuffer { rows, packed } = &mut self.buffers[0];
        let count = input.sample.map_or(self.binned.rows(), <[u32]>::len);
        match input.sample {
            None => {
                rows.par_iter_mut().enumerate().for_each(|(row, to)| *to = row as u32);
                input.scales.pack_all(input.gradient, input.hessian, packed);
            }
            Some(sample) => {
                rows[..count].copy_from_slice(sample);
                packed[..count].par_iter_mut().zip(sample).for_each(|(to, row)| {
                    let row = *row as usize;
                    *to = input.scales.pack(input.gradient[row], input.hessian[row]);
                });
            }
        }
        let sum = packed[..count].par_iter().copied().reduce(|| 0, u64::wrapping_add);
        let mut sums = [sum, count as u64];
        self.collective.sum(&mut sums)?;
        Ok(GrowingLeaf {
            range: 0..count,
            buffer: 0,
            rows: sums[1],
            total: sums[0],
            depth: 0,
            limits: ValueLimits::NONE,
            allowed: None,
            cells: None,
            best: None,
            expanded: None,
        })
    }
}
