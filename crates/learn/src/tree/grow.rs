//! Growing one tree: pick a leaf, split it, look at its two children, until nothing is worth it.
//!
//! Leaf-wise growth takes the leaf with the largest gain, depth-wise growth the shallowest first.
//! Equal gains go to the lower feature, then the lower bin, and between leaves to the older one, so
//! a tree depends on the sums alone. Of two children the one with fewer rows is added up, the other
//! is what remains of the parent. The buffers of a [`Grower`] serve all trees of a training.
//!
//! Histograms hold no row counts. `min_rows` is still exact: a side with second derivative H has
//! at least H / (largest of a row) rows, which settles most splits; where it does not, the rows
//! of that one column are counted and the feature is searched again with the counts.

use std::ops::Range;
use std::time::{Duration, Instant};

use rankwright_model::{Child, Side, Split};
use rayon::prelude::*;

use super::evaluate::{Evaluator, Founds, Place, Step, Target};
use super::histogram::{Cells, Rows};
use super::params::{Direction, Growth, TreeParams};
use super::partition::{Slots, left_bytes, partition};
use super::quantise::{Scales, unpack};
use super::routes::Routes;
use super::split::{Found, Limits, Rule};
use crate::bins::{Binned, CELLS};
use crate::collective::Collective;
use crate::error::LearnError;
use crate::simd::Simd;

/// A gain must exceed this part of the leaf's own worth, or it is rounding.
const LEAST_RELATIVE_GAIN: f64 = 1e-10;

/// Seconds by phase, for the record.
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

/// A leaf while its tree grows.
#[derive(Debug)]
struct Node {
    range: Range<usize>,
    /// Which of the two buffers holds its rows.
    buffer: usize,
    /// Rows of all processes.
    rows: u64,
    total: u64,
    depth: usize,
    limits: Limits,
    cells: Option<Vec<Cells>>,
    best: Option<Best>,
    /// The split above and the side of it.
    parent: Option<(usize, Side)>,
}

/// The best split of a leaf.
#[derive(Debug, Clone, Copy)]
struct Best {
    gain: f64,
    place: usize,
    found: Found,
}

/// A grown tree: its splits, and where the rows of each leaf lie in the grower.
#[derive(Debug)]
pub(crate) struct Grown {
    pub(crate) splits: Vec<Split>,
    pub(crate) leaves: Vec<GrownLeaf>,
}

/// A leaf of a grown tree.
#[derive(Debug, Clone)]
pub(crate) struct GrownLeaf {
    /// Where its rows lie in the buffer.
    pub(crate) range: Range<usize>,
    /// Which buffer.
    pub(crate) buffer: usize,
    /// Rows of all processes.
    pub(crate) rows: u64,
    /// Limits on its value.
    pub(crate) limits: Limits,
}

#[derive(Debug, Default)]
struct Buffer {
    rows: Vec<u32>,
    packed: Vec<u64>,
}

/// Grows trees on one data set.
#[derive(Debug)]
pub(crate) struct Grower<'a> {
    binned: &'a Binned,
    params: &'a TreeParams,
    collective: &'a dyn Collective,
    evaluator: Evaluator<'a>,
    buffers: [Buffer; 2],
    flags: Vec<u8>,
    pool: Vec<Vec<Cells>>,
    times: GrowTimes,
}

/// What one tree is grown from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Input<'a> {
    pub(crate) gradient: &'a [f32],
    pub(crate) hessian: &'a [f32],
    pub(crate) scales: &'a Scales,
    /// The rows that count, ascending; `None` is all.
    pub(crate) sample: Option<&'a [u32]>,
    /// Features that may be used, by number; `None` is all.
    pub(crate) features: Option<&'a [bool]>,
}

impl<'a> Grower<'a> {
    pub(crate) fn new(
        binned: &'a Binned,
        params: &'a TreeParams,
        collective: &'a dyn Collective,
        simd: Simd,
    ) -> Self {
        let evaluator = Evaluator::new(binned, &params.monotone, collective, simd);
        let buffer = || Buffer { rows: vec![0; binned.rows()], packed: vec![0; binned.rows()] };
        Self {
            binned,
            params,
            collective,
            evaluator,
            buffers: [buffer(), buffer()],
            flags: vec![0; binned.rows()],
            pool: Vec::new(),
            times: GrowTimes::default(),
        }
    }
}

/// Where the rows of a grown tree's leaves lie.
pub(crate) trait GrownRows: Sync {
    /// Rows of a leaf of the last tree, ascending.
    fn rows_of(&self, leaf: &GrownLeaf) -> &[u32];

    /// The way from any row to its leaf, for rows that the tree was not grown from.
    fn routes(&self, grown: &Grown) -> Routes<'_>;
}

/// What grows trees: the fast [`Grower`], and in tests its twin.
pub(crate) trait Grow: GrownRows {
    /// Grows a tree.
    fn grow(&mut self, input: Input<'_>) -> Result<Grown, LearnError>;

    /// Time spent since training began, by phase.
    fn times(&self) -> GrowTimes;

    /// The same as what knows only the rows.
    fn as_rows(&self) -> &dyn GrownRows;
}

impl GrownRows for Grower<'_> {
    fn rows_of(&self, leaf: &GrownLeaf) -> &[u32] {
        self.buffers[leaf.buffer].rows.get(leaf.range.clone()).unwrap_or_default()
    }

    fn routes(&self, grown: &Grown) -> Routes<'_> {
        Routes::new(self.binned, &grown.splits)
    }
}

impl Grow for Grower<'_> {
    fn grow(&mut self, input: Input<'_>) -> Result<Grown, LearnError> {
        let units = Units::new(self.params, input.scales);
        let active = self.active(input.features);
        let mut nodes = vec![self.root(input)?];
        let mut splits = Vec::new();
        if self.params.leaves > 1 && self.may_split(&nodes[0], &units)? {
            let started = Instant::now();
            self.look_at_root(&mut nodes[0], input.sample.is_none(), &units, &active)?;
            self.times.histograms += started.elapsed();
        }
        while let Some(at) = self.next(&nodes) {
            let started = Instant::now();
            let number = nodes.len();
            let right = self.split(&mut nodes[at], at, number, &units, &mut splits)?;
            self.times.partition += started.elapsed();
            nodes.push(right);
            if nodes.len() == self.params.leaves {
                break;
            }
            let started = Instant::now();
            if let [left, .., right] = &mut nodes[at..] {
                self.look_at_children(left, right, &units, &active)?;
            }
            self.times.histograms += started.elapsed();
        }
        let leaves = nodes.into_iter().map(|mut node| {
            self.pool.extend(node.cells.take());
            let (range, buffer, rows) = (node.range, node.buffer, node.rows);
            GrownLeaf { range, buffer, rows, limits: units.limits(node.limits) }
        });
        Ok(Grown { leaves: leaves.collect(), splits })
    }

    fn times(&self) -> GrowTimes {
        self.times
    }

    fn as_rows(&self) -> &dyn GrownRows {
        self
    }
}

impl Grower<'_> {
    /// Which places may be used.
    fn active(&self, features: Option<&[bool]>) -> Vec<bool> {
        let flag = |feature: u32| match features {
            Some(flags) => flags.get(feature as usize).copied().unwrap_or(false),
            None => true,
        };
        self.evaluator.places.iter().map(|place| flag(place.member.feature)).collect()
    }

    /// Puts the rows and their packed derivatives into the first buffer.
    fn root(&mut self, input: Input<'_>) -> Result<Node, LearnError> {
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
        Ok(Node {
            range: 0..count,
            buffer: 0,
            rows: sums[1],
            total: sums[0],
            depth: 0,
            limits: Limits::NONE,
            cells: None,
            best: None,
            parent: None,
        })
    }

    fn take_cells(&mut self) -> Vec<Cells> {
        self.pool.pop().unwrap_or_else(|| vec![[0; CELLS + 8]; self.evaluator.width()])
    }

    fn look_at_root(
        &mut self,
        root: &mut Node,
        all: bool,
        units: &Units,
        active: &[bool],
    ) -> Result<(), LearnError> {
        let mut cells = self.take_cells();
        let Buffer { rows, packed } = &self.buffers[0];
        let rows = match all {
            true => Rows::All,
            false => Rows::Some(&rows[root.range.clone()]),
        };
        let packed = &packed[root.range.clone()];
        let small = root.target();
        let step = Step { rows, packed, small, cells: &mut cells, large: None };
        let [mut founds, _] = self.evaluator.run(step, &units.rule, active)?;
        root.best = self.pick(root, &cells, &mut founds, units)?;
        root.cells = Some(cells);
        Ok(())
    }

    /// Histograms and best splits of two children; the left one still has the parent's histogram.
    fn look_at_children(
        &mut self,
        left: &mut Node,
        right: &mut Node,
        units: &Units,
        active: &[bool],
    ) -> Result<(), LearnError> {
        let Some(mut parent) = left.cells.take() else { return Ok(()) };
        let may = [self.may_split(left, units)?, self.may_split(right, units)?];
        if may == [false, false] {
            self.pool.push(parent);
            return Ok(());
        }
        let left_is_small = left.rows <= right.rows;
        let mut cells = self.take_cells();
        let (small, large) = if left_is_small { (&*left, &*right) } else { (&*right, &*left) };
        let buffer = &self.buffers[small.buffer];
        let step = Step {
            rows: Rows::Some(&buffer.rows[small.range.clone()]),
            packed: &buffer.packed[small.range.clone()],
            small: small.target(),
            cells: &mut cells,
            large: Some((large.target(), &mut parent)),
        };
        let [mut of_small, mut of_large] = self.evaluator.run(step, &units.rule, active)?;
        let (small, large) = if left_is_small { (left, right) } else { (right, left) };
        let may = if left_is_small { may } else { [may[1], may[0]] };
        for (node, cells, founds, may) in
            [(small, cells, &mut of_small, may[0]), (large, parent, &mut of_large, may[1])]
        {
            if may {
                node.best = self.pick(node, &cells, founds, units)?;
            }
            match node.best {
                Some(_) => node.cells = Some(cells),
                None => self.pool.push(cells),
            }
        }
        Ok(())
    }

    /// Whether a leaf may be split at all, before its splits are looked at.
    fn may_split(&self, node: &Node, units: &Units) -> Result<bool, LearnError> {
        if !self.params.may_deepen(node.depth) || node.rows < 2 * self.params.min_rows.max(1) {
            return Ok(false);
        }
        match self.params.impurity {
            Some(least) => Ok(self.impurity(node, units)? > least),
            None => Ok(true),
        }
    }

    /// Half the variance of the first derivatives: the lectures' G of a leaf.
    fn impurity(&self, node: &Node, units: &Units) -> Result<f64, LearnError> {
        let packed = &self.buffers[node.buffer].packed[node.range.clone()];
        let mut sums = [0_u64; 2];
        for packed in packed {
            let square = i64::from(unpack(*packed).0).pow(2) as u64;
            sums[0] += square >> 32;
            sums[1] += square & 0xffff_ffff;
        }
        self.collective.sum(&mut sums)?;
        let squares = sums[0] as f64 * 4_294_967_296.0 + sums[1] as f64;
        let rows = node.rows as f64;
        let mean = f64::from(unpack(node.total).0) / rows;
        Ok((squares / rows - mean * mean).max(0.0) * 0.5 / (units.gradient * units.gradient))
    }

    /// The leaf to split next.
    fn next(&self, nodes: &[Node]) -> Option<usize> {
        let mut best: Option<(usize, &Node, f64)> = None;
        for (at, node) in nodes.iter().enumerate() {
            let Some(Best { gain, .. }) = node.best else { continue };
            let wins = best.is_none_or(|(_, other, most)| match self.params.growth {
                Growth::LeafWise => gain > most,
                Growth::DepthWise => (node.depth, -gain) < (other.depth, -most),
            });
            if wins {
                best = Some((at, node, gain));
            }
        }
        best.map(|(at, _, _)| at)
    }

    /// The best of the splits found that leaves enough rows on both sides.
    fn pick(
        &self,
        node: &Node,
        cells: &[Cells],
        founds: &mut Founds,
        units: &Units,
    ) -> Result<Option<Best>, LearnError> {
        let (g, h) = unpack(node.total);
        let own = units.rule.worth(f64::from(g), f64::from(h), node.limits);
        let mut counted = vec![false; founds.len()];
        loop {
            let Some((place, found)) = self.best_of(founds) else { return Ok(None) };
            let more = found.worth - own;
            let gain = units.gain(more);
            if more <= LEAST_RELATIVE_GAIN * own.abs() || gain <= self.params.min_gain {
                return Ok(None);
            }
            if counted[place] || units.has_rows(node.total, found.left) {
                return Ok(Some(Best { gain, place, found }));
            }
            let by_byte = self.count(node, place)?;
            let target = node.target();
            founds[place] = self.evaluator.counted(place, cells, &by_byte, target, &units.rule);
            counted[place] = true;
        }
    }

    /// Largest worth; among equals the lowest feature.
    fn best_of(&self, founds: &Founds) -> Option<(usize, Found)> {
        let feature = |place: usize| self.evaluator.places[place].member.feature;
        let mut best: Option<(usize, Found)> = None;
        for (place, found) in founds.iter().enumerate() {
            let Some(found) = found else { continue };
            let wins = best.is_none_or(|(other, most)| {
                found.worth > most.worth
                    || (found.worth == most.worth && feature(place) < feature(other))
            });
            if wins {
                best = Some((place, *found));
            }
        }
        best
    }

    /// Rows of a leaf by byte of the place's column.
    fn count(&self, node: &Node, place: usize) -> Result<[u64; CELLS], LearnError> {
        let column = self.binned.column(self.evaluator.places[place].column as usize);
        let mut counts = [0; CELLS];
        for row in &self.buffers[node.buffer].rows[node.range.clone()] {
            counts[usize::from(column[*row as usize])] += 1;
        }
        self.collective.sum(&mut counts)?;
        Ok(counts)
    }

    /// Moves the rows of a leaf to the other buffer, those of the left child first; gives their
    /// number.
    fn move_rows(&mut self, node: &Node, place: Place, found: &Found) -> usize {
        let Some(bins) = self.binned.feature(place.member.feature) else { return 0 };
        let goes_left = left_bytes(place.member, bins, found.bin.into(), found.missing);
        let (first, second) = self.buffers.split_at_mut(1);
        let (from, to) = match node.buffer {
            0 => (&mut first[0], &mut second[0]),
            _ => (&mut second[0], &mut first[0]),
        };
        let range = node.range.clone();
        partition(
            self.binned.column(place.column as usize),
            &goes_left,
            &from.rows[range.clone()],
            &from.packed[range.clone()],
            &mut self.flags[range.clone()],
            Slots { rows: &mut to.rows[range.clone()], packed: &mut to.packed[range] },
        )
    }

    /// Splits leaf `at`: it becomes the left child, the right one (leaf number `number`) is given
    /// back.
    fn split(
        &mut self,
        node: &mut Node,
        at: usize,
        number: usize,
        units: &Units,
        splits: &mut Vec<Split>,
    ) -> Result<Node, LearnError> {
        let Some(Best { gain, place, found }) = node.best.take() else {
            return Err(LearnError::unfit("a leaf without a split was to be split", "report this"));
        };
        let place = self.evaluator.places[place];
        let range = node.range.clone();
        let left_rows = self.move_rows(node, place, &found);
        let mut rows = [left_rows as u64];
        self.collective.sum(&mut rows)?;
        let rows = [rows[0], node.rows - rows[0]];
        let missing = match (place.missing, rows[0] >= rows[1]) {
            (true, _) => found.missing,
            // No value was missing in training: with the majority.
            (false, true) => Side::Left,
            (false, false) => Side::Right,
        };
        let bounds = self.binned.feature(place.member.feature).map(|bins| bins.bounds.as_slice());
        let threshold = bounds.and_then(|bounds| bounds.get(usize::from(found.bin))).copied();
        if let Some((parent, side)) = node.parent {
            let child = Child::Split(splits.len() as u32);
            match side {
                Side::Left => splits[parent].left = child,
                Side::Right => splits[parent].right = child,
            }
        }
        splits.push(Split {
            feature: place.member.feature,
            rule: rankwright_model::Rule::AtMost(threshold.unwrap_or(f32::INFINITY)),
            missing,
            left: Child::Leaf(at as u32),
            right: Child::Leaf(number as u32),
            gain,
            rows: node.rows,
        });
        let limits = units.child_limits(node, &found, place.direction);
        let split = splits.len() - 1;
        let middle = range.start + left_rows;
        let buffer = 1 - node.buffer;
        let right = Node {
            range: middle..range.end,
            buffer,
            rows: rows[1],
            total: node.total.wrapping_sub(found.left),
            depth: node.depth + 1,
            limits: limits[1],
            cells: None,
            best: None,
            parent: Some((split, Side::Right)),
        };
        *node = Node {
            range: range.start..middle,
            buffer,
            rows: rows[0],
            total: found.left,
            depth: right.depth,
            limits: limits[0],
            cells: node.cells.take(),
            best: None,
            parent: Some((split, Side::Left)),
        };
        Ok(right)
    }
}

impl Node {
    fn target(&self) -> Target {
        Target { total: self.total, limits: self.limits }
    }
}

/// Parameters in the packed units of one tree.
#[derive(Debug)]
struct Units {
    rule: Rule,
    gradient: f64,
    hessian: f64,
    largest_hessian: u64,
}

impl Units {
    fn new(params: &TreeParams, scales: &Scales) -> Self {
        let rule = Rule {
            l1: params.l1 * scales.gradient,
            l2: params.l2 * scales.hessian,
            min_hessian: (params.min_hessian * scales.hessian).max(1.0),
            min_rows: params.min_rows,
        };
        let largest_hessian = u64::from(scales.largest_hessian).max(1);
        Self { rule, gradient: scales.gradient, hessian: scales.hessian, largest_hessian }
    }

    /// The fall of the loss for a rise in worth.
    fn gain(&self, worth: f64) -> f64 {
        0.5 * worth * (self.hessian / self.gradient) / self.gradient
    }

    /// Limits as numbers.
    fn limits(&self, limits: Limits) -> Limits {
        let unit = self.hessian / self.gradient;
        Limits { low: limits.low * unit, high: limits.high * unit }
    }

    /// Whether both sides have enough rows for sure, as no row has more second derivative than
    /// the largest.
    fn has_rows(&self, total: u64, left: u64) -> bool {
        let at_least = |packed: u64| (unpack(packed).1 as u64).div_ceil(self.largest_hessian);
        at_least(left) >= self.rule.min_rows
            && at_least(total.wrapping_sub(left)) >= self.rule.min_rows
    }

    /// A split on a constrained feature parts the values of the two sides in the middle.
    fn child_limits(
        &self,
        node: &Node,
        found: &Found,
        direction: Option<Direction>,
    ) -> [Limits; 2] {
        let value = |packed: u64| {
            let (g, h) = unpack(packed);
            self.rule.value(f64::from(g), f64::from(h), node.limits)
        };
        let middle = (value(found.left) + value(node.total.wrapping_sub(found.left))) / 2.0;
        let Limits { low, high } = node.limits;
        match direction {
            None => [node.limits; 2],
            Some(Direction::Rising) => [Limits { low, high: middle }, Limits { low: middle, high }],
            Some(Direction::Falling) => {
                [Limits { low: middle, high }, Limits { low, high: middle }]
            }
        }
    }
}
