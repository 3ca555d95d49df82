//! Growth of one tree: choose a leaf, split it, evaluate its two children, until no split gains
//! enough.
//!
//! Leaf-wise growth takes the leaf with the largest gain, depth-wise growth the shallowest first;
//! [`oblivious`](super::oblivious) splits whole levels at once. Equal gains go to the lower
//! feature, then the lower bin, and between leaves to the older one, so a tree depends on the sums
//! alone. The buffers of a [`Grower`] serve all trees of a training. Packed values are gradient and
//! hessian as integers in 64 bits ([`quantise`](super::quantise)), and a split feature is one with
//! more than one bin.
//!
//! A large leaf is split by all threads together. With small leaves the threads would wait for each
//! other, so the next few leaves in the order of growth are split at the same time, one thread
//! each. A leaf split ahead of its turn keeps its children until it is chosen: the tree is the
//! same, and few leaves are split without being used.
//!
//! Features may have a cost, which is subtracted from the gain of every split on them until a tree
//! has used them (the coupled penalty of cost-efficient gradient boosting, Peter et al. 2017). All
//! splits of one tree pay the same cost, even if the tree already uses the feature: the cost of
//! leaves split at the same time must not depend on their order.

use std::ops::AddAssign;
use std::time::{Duration, Instant};

use rankwright_model::{Categories, Child, Side, Split, SplitCondition, Tree};
use rayon::prelude::*;

use super::evaluate::Evaluator;
use super::expand::{Arena, BestSplit, Children, Expander, GrowingLeaf};
use super::grown::{Grown, GrownLeaf};
use super::histogram::Cells;
use super::interactions::Interactions;
use super::oblivious;
use super::params::{Growth, TreeConfig};
use super::partition::Slots;
use super::quantise::Scales;
use super::routes::Routes;
use super::sets::BinSet;
use super::split::Limits;
use super::units::Units;
use crate::bins::{Binned, CELLS};
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

/// Rows and their packed derivatives, grouped by leaf.
#[derive(Debug, Default)]
struct Buffer {
    rows: Vec<u32>,
    packed: Vec<u64>,
}

impl Buffer {
    fn slots(&mut self, end: usize) -> Slots<'_> {
        Slots { rows: &mut self.rows[..end], packed: &mut self.packed[..end] }
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
    /// For each feature, by number, whether some tree splits on it.
    used: Vec<bool>,
    /// The rows of a split leaf move from one buffer to the other.
    buffers: [Buffer; 2],
    /// Work space of partitions: by position in the buffer, 1 if the row goes left.
    flags: Vec<u8>,
    /// Histograms kept for reuse.
    pool: Vec<Vec<Cells>>,
    times: GrowTimes,
}

/// Input of one tree: gradients, hessians, and the rows and features that may be used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GrowInput<'a> {
    pub(crate) gradient: &'a [f32],
    pub(crate) hessian: &'a [f32],
    pub(crate) scales: &'a Scales,
    /// The sampled rows, ascending; `None` for all.
    pub(crate) sample: Option<&'a [u32]>,
    /// For each feature, by number, whether it may be used; `None` for all.
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
        let buffer = || Buffer { rows: vec![0; binned.rows()], packed: vec![0; binned.rows()] };
        Self {
            binned,
            params,
            collective,
            evaluator,
            interactions,
            used: Vec::new(),
            buffers: [buffer(), buffer()],
            flags: vec![0; binned.rows()],
            pool: Vec::new(),
            times: GrowTimes::default(),
        }
    }
}

/// The rows of a grown tree's leaves.
pub(crate) trait GrownRows: Sync {
    /// Rows of a leaf of the last tree, ascending.
    fn rows_of(&self, leaf: &GrownLeaf) -> &[u32];

    /// Maps any row to its leaf, including rows that the tree was not grown from.
    fn routes(&self, grown: &Grown) -> Routes<'_>;
}

/// Grows trees: the fast [`Grower`], and in tests its reference implementation.
pub(crate) trait Grow: GrownRows {
    /// Called once with the existing trees, before the first new tree is grown.
    fn begin(&mut self, _trees: &[Tree]) {}

    /// Grows a tree.
    fn grow(&mut self, input: GrowInput<'_>) -> Result<Grown, LearnError>;

    /// Time spent on all trees so far, by phase.
    fn times(&self) -> GrowTimes;

    /// This grower as [`GrownRows`].
    fn as_rows(&self) -> &dyn GrownRows;
}

impl GrownRows for Grower<'_> {
    fn rows_of(&self, leaf: &GrownLeaf) -> &[u32] {
        &self.buffers[leaf.buffer].rows[leaf.range.clone()]
    }

    fn routes(&self, grown: &Grown) -> Routes<'_> {
        Routes::new(self.binned, grown)
    }
}

impl Grow for Grower<'_> {
    fn begin(&mut self, trees: &[Tree]) {
        self.used.clear();
        trees.iter().for_each(|tree| self.record_features(tree.splits()));
    }

    fn grow(&mut self, input: GrowInput<'_>) -> Result<Grown, LearnError> {
        let units = Units::new(self.params, input.scales);
        let active = self.active(input.features);
        let costs = self.costs(&units);
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
    /// Grows a tree from its root; `all` if the root holds every row in order.
    fn grow_from(
        &mut self,
        root: GrowingLeaf,
        all: bool,
        units: &Units,
        active: &[bool],
        costs: &[f64],
    ) -> Result<Grown, LearnError> {
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
        let all_rows = arena(buffers, flags, end);
        if params.growth == Growth::Oblivious {
            return oblivious::grow(&expander, root, all, all_rows, &mut pool, times);
        }
        let mut tree = GrowingTree::new(root);
        let root = &mut tree.nodes[0];
        if params.leaves > 1 && expander.may_split(root, &all_rows)? {
            let started = Instant::now();
            expander.evaluate_root(root, all, &all_rows, pool.take())?;
            times.histograms += started.elapsed();
        }
        while tree.nodes.len() < params.leaves
            && let Some(at) = tree.next(params.growth)
        {
            if tree.nodes[at].expanded.is_none() {
                // Processes that share the work must split leaves in the same order.
                let next_leaves =
                    if collective.size() > 1 { vec![at] } else { tree.leaves_to_split(at, params) };
                // The children of the last split stay leaves.
                let evaluate_children = tree.nodes.len() + 1 < params.leaves;
                tree.expand(
                    &next_leaves,
                    evaluate_children,
                    &expander,
                    arena(buffers, flags, end),
                    &mut pool,
                )?;
            }
            *times += tree.commit(at, &expander, &mut pool)?;
        }
        Ok(tree.finish(units, &mut pool))
    }
}

/// Both buffers up to position `end`, after the last sampled row.
fn arena<'a>(buffers: &'a mut [Buffer; 2], flags: &'a mut [u8], end: usize) -> Arena<'a> {
    let [one, two] = buffers;
    Arena { first: 0, buffers: [one.slots(end), two.slots(end)], flags: &mut flags[..end] }
}

/// Histograms kept for reuse.
pub(super) struct HistogramPool<'a> {
    pub(super) free: &'a mut Vec<Vec<Cells>>,
    width: usize,
}

impl HistogramPool<'_> {
    pub(super) fn take(&mut self) -> Vec<Cells> {
        self.free.pop().unwrap_or_else(|| vec![[0; CELLS + 8]; self.width])
    }
}

/// A tree while it grows.
struct GrowingTree {
    /// The leaves by number, from 0.
    nodes: Vec<GrowingLeaf>,
    /// For each leaf, the split above it and the side of the leaf there; `None` for the root.
    parents: Vec<Option<(usize, Side)>>,
    splits: Vec<Split>,
    /// The sets of categories that splits test.
    sets: Vec<Categories>,
}

impl GrowingTree {
    /// The tree with a single leaf.
    fn new(root: GrowingLeaf) -> GrowingTree {
        GrowingTree { nodes: vec![root], parents: vec![None], splits: Vec::new(), sets: Vec::new() }
    }

    /// Whether leaf `a` is split before leaf `b`, given their best splits.
    fn comes_first(&self, a: (usize, &BestSplit), b: (usize, &BestSplit), growth: Growth) -> bool {
        let (one, other) = (&self.nodes[a.0], &self.nodes[b.0]);
        match growth {
            Growth::LeafWise => a.1.gain > b.1.gain,
            Growth::DepthWise | Growth::Oblivious => {
                (one.depth, -a.1.gain) < (other.depth, -b.1.gain)
            }
        }
    }

    /// The leaf to split next; `None` if no leaf has a split.
    fn next(&self, growth: Growth) -> Option<usize> {
        self.first(growth, |_| true)
    }

    /// The leaf to split next among those accepted by `accepts`; the older one among equals.
    fn first(&self, growth: Growth, accepts: impl Fn(usize) -> bool) -> Option<usize> {
        let mut first: Option<(usize, &BestSplit)> = None;
        for (at, node) in self.nodes.iter().enumerate().filter(|(at, _)| accepts(*at)) {
            let Some(best) = &node.best else { continue };
            if first.is_none_or(|first| self.comes_first((at, best), first, growth)) {
                first = Some((at, best));
            }
        }
        first.map(|(at, _)| at)
    }

    /// The leaves to split now: leaf `at` and, if it is small, the next small ones, up to as many
    /// as there are threads.
    fn leaves_to_split(&self, at: usize, params: &TreeConfig) -> Vec<usize> {
        let is_small = |at: usize| self.nodes[at].range.len() <= SMALL_LEAF_ROWS;
        let room = params.leaves - self.nodes.len();
        let max_leaves = rayon::current_num_threads().min(room);
        let mut next_leaves = vec![at];
        while is_small(at) && next_leaves.len() < max_leaves {
            let may_join = |at: usize| {
                is_small(at) && self.nodes[at].expanded.is_none() && !next_leaves.contains(&at)
            };
            match self.first(params.growth, may_join) {
                Some(next) => next_leaves.push(next),
                None => break,
            }
        }
        next_leaves
    }

    /// Splits some leaves, and evaluates the children if they may be split later.
    fn expand(
        &mut self,
        next_leaves: &[usize],
        evaluate_children: bool,
        expander: &Expander<'_>,
        arena: Arena<'_>,
        pool: &mut HistogramPool<'_>,
    ) -> Result<(), LearnError> {
        let started = Instant::now();
        let nodes = self.nodes.iter_mut().enumerate().filter(|(at, _)| next_leaves.contains(at));
        let mut nodes: Vec<&mut GrowingLeaf> = nodes.map(|(_, node)| node).collect();
        nodes.sort_by_key(|node| node.range.start);
        let threads = if nodes.len() > 1 { 1 } else { rayon::current_num_threads() };
        let (mut rest, mut tasks) = (arena, Vec::with_capacity(nodes.len()));
        for node in nodes {
            let (_, from) = rest.cut(node.range.start);
            let (mine, after) = from.cut(node.range.end);
            rest = after;
            tasks.push((node, mine, evaluate_children.then(|| pool.take())));
        }
        let work = |(node, mut arena, spare): (&mut GrowingLeaf, Arena<'_>, Option<Vec<Cells>>)| {
            node.expanded = Some(Box::new(expander.expand(node, &mut arena, spare, threads)?));
            Ok::<(), LearnError>(())
        };
        match tasks.len() {
            1 => tasks.into_iter().try_for_each(work)?,
            _ => tasks.into_par_iter().with_max_len(1).try_for_each(work)?,
        }
        self.scale_times(next_leaves, started.elapsed());
        Ok(())
    }

    /// Scales the times of leaves that were expanded at the same time down to the elapsed time.
    fn scale_times(&mut self, next_leaves: &[usize], elapsed: Duration) {
        let expanded = |node: &GrowingLeaf| node.expanded.as_ref().map(|children| children.times);
        let times = next_leaves.iter().filter_map(|at| expanded(&self.nodes[*at]));
        let spent: f64 = times.map(|t| (t.histograms + t.partition).as_secs_f64()).sum();
        let factor = if spent > 0.0 { (elapsed.as_secs_f64() / spent).min(1.0) } else { 1.0 };
        for at in next_leaves {
            if let Some(children) = &mut self.nodes[*at].expanded {
                let GrowTimes { histograms, partition } = &mut children.times;
                *histograms = histograms.mul_f64(factor);
                *partition = partition.mul_f64(factor);
            }
        }
    }

    /// Replaces leaf `at` by its children: the left child keeps the number `at`. Returns the time
    /// that the split took.
    fn commit(
        &mut self,
        at: usize,
        expander: &Expander<'_>,
        pool: &mut HistogramPool<'_>,
    ) -> Result<GrowTimes, LearnError> {
        let node = &mut self.nodes[at];
        let (Some(best), Some(children)) = (node.best.take(), node.expanded.take()) else {
            return Err(LearnError::Internal { invariant: "a leaf that is split has children" });
        };
        let Children { left, right, set, freed, times } = *children;
        pool.free.extend(freed);
        let number = self.splits.len();
        if let Some((parent, side)) = self.parents[at] {
            let child = Child::Split(number as u32);
            match side {
                Side::Left => self.splits[parent].left = child,
                Side::Right => self.splits[parent].right = child,
            }
        }
        let right_leaf = Child::Leaf(self.nodes.len() as u32);
        let rows = (left.rows, right.rows);
        let mut split = split_of(&best, rows, expander, [Child::Leaf(at as u32), right_leaf]);
        if let Some(set) = set {
            (split.rule, split.missing) = (SplitCondition::In(self.sets.len() as u32), Side::Right);
            self.sets.push(categories(expander.binned, split.feature, &set)?);
        }
        self.splits.push(split);
        self.nodes[at] = left;
        self.nodes.push(right);
        self.parents[at] = Some((number, Side::Left));
        self.parents.push(Some((number, Side::Right)));
        Ok(times)
    }

    /// The finished tree; its histograms return to the pool.
    fn finish(self, units: &Units, pool: &mut HistogramPool<'_>) -> Grown {
        let leaves = self.nodes.into_iter().map(|node| {
            let GrowingLeaf { range, buffer, rows, limits, cells, expanded, .. } = node;
            pool.free.extend(cells);
            if let Some(children) = expanded {
                let Children { left, right, freed, .. } = *children;
                pool.free.extend(freed.into_iter().chain(left.cells).chain(right.cells));
            }
            GrownLeaf { range, buffer, rows, limits: units.limits(limits) }
        });
        Grown { leaves: leaves.collect(), splits: self.splits, sets: self.sets, tree_leaves: None }
    }
}

/// The categories of a set of bins.
fn categories(binned: &Binned, feature: u32, set: &BinSet) -> Result<Categories, LearnError> {
    let all = binned.feature(feature).and_then(|bins| bins.categories.as_deref());
    let invariant = "a split by a set of categories is on a feature that has some";
    let all = all.ok_or(LearnError::Internal { invariant })?;
    let chosen = all.iter().zip(set).filter(|(_, left)| **left == 1);
    Ok(Categories::new(chosen.map(|(category, _)| *category))?)
}

/// A split in the form of the model; `rows` are the numbers of rows of the left and right child.
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
    let bounds =
        expander.binned.feature(feature.packing.feature).map(|bins| bins.bounds.as_slice());
    let threshold = bounds.and_then(|bounds| bounds.get(usize::from(found.bin))).copied();
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
    /// Records the features that a tree splits on.
    fn record_features(&mut self, splits: &[Split]) {
        if self.params.feature_cost.is_empty() {
            return;
        }
        for split in splits {
            let feature = split.feature as usize;
            if self.used.len() <= feature {
                self.used.resize(feature + 1, false);
            }
            self.used[feature] = true;
        }
    }

    /// The cost of a split on each split feature in packed units; empty if no feature has a cost.
    fn costs(&self, units: &Units) -> Vec<f64> {
        if self.params.feature_cost.is_empty() {
            return Vec::new();
        }
        let cost = |feature: u32| {
            if self.used.get(feature as usize).copied().unwrap_or(false) {
                return 0.0;
            }
            let found = self.params.feature_cost.iter().find(|(costly, _)| *costly == feature);
            found.map_or(0.0, |(_, cost)| units.structure_score(cost * self.params.cost_weight))
        };
        self.evaluator.split_features.iter().map(|feature| cost(feature.packing.feature)).collect()
    }

    /// For each split feature, whether it may be used.
    fn active(&self, features: Option<&[bool]>) -> Vec<bool> {
        let flag = |feature: u32| match features {
            Some(flags) => flags.get(feature as usize).copied().unwrap_or(false),
            None => true,
        };
        self.evaluator.split_features.iter().map(|feature| flag(feature.packing.feature)).collect()
    }

    /// Copies the rows and their packed derivatives into the first buffer.
    fn root(&mut self, input: GrowInput<'_>) -> Result<GrowingLeaf, LearnError> {
        let Buffer { rows, packed } = &mut self.buffers[0];
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
            limits: Limits::NONE,
            allowed: None,
            cells: None,
            best: None,
            expanded: None,
        })
    }
}
