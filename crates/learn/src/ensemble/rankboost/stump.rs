//! The weak rankers of RankBoost: one feature, one threshold.
//!
//! ```text
//! h(x) = 1 if x is above the threshold, else 0; a missing value is either, whichever is better
//! r = sum over pairs of D (h(better) - h(worse)) = sum over documents of pi h
//! alpha = 1/2 ln((1 + r) / (1 - r))
//! ```
//!
//! D is the distribution over pairs and pi the potential of a document (`loss.rs`). The ranker with
//! the largest |r| is chosen (Freund et al. 2003, sections 3.1 and 3.2); if r is below 0, alpha is
//! too. As pi is minus the gradient divided by the loss, and the hessians sum to twice the loss,
//! only sums of derivatives by bin are needed. These are integers, so that the number of threads
//! and of processes does not matter. Of rankers with equal |r| the one with the lower feature is
//! chosen, then that with the lower bin, then that with missing values on the left. A threshold
//! that orders all pairs correctly would have an infinite alpha, so a millionth is added to
//! numerator and denominator.
//!
//! The bins are stored in columns of bytes, a byte for each row. A column may hold several features
//! with few bins: the byte is then a number whose digits are the bins of these features. A cell is
//! the sum of the packed derivatives of all rows that have one value of the byte in one column.
//!
//! Cost: one pass over the bins of all features. If all derivatives are 0, or all features are
//! constant, the tree is a constant 0.

use std::cmp::Reverse;
use std::time::Instant;

use rankwright_model::{Child, Side, Split, SplitCondition};
use rayon::prelude::*;

use crate::bins::{Binned, CELLS, FeatureBins, PackedFeature};
use crate::collective::Collective;
use crate::error::LearnError;
use crate::tree::{
    Grow, GrowInput, GrowTimes, GrownLeaf, GrownRows, GrownTree, Routes, ValueLimits, left_bytes,
};

/// Added to numerator and denominator of alpha.
const SMOOTHING: f64 = 1e-6;

/// Finds stumps on one data set.
#[derive(Debug)]
pub(super) struct Stumps<'a> {
    binned: &'a Binned,
    collective: &'a dyn Collective,
    /// Gradient and hessian of each row as integers, packed into the upper and the lower half.
    packed: Vec<u64>,
    /// Rows of the last stump, those on the left first.
    rows: Vec<u32>,
    times: GrowTimes,
}

/// A weak ranker: one feature and one threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stump {
    pub(super) feature: u32,
    /// The last bin on the left, where h is 0.
    pub(super) bin: usize,
    /// The side of missing values.
    pub(super) missing: Side,
    /// |r|, not normalised: the absolute sum of the integer gradients on the right.
    pub(super) absolute_r: u64,
}

impl<'a> Stumps<'a> {
    /// Finds stumps on binned data: the data of this process if there are several.
    pub(super) fn new(binned: &'a Binned, collective: &'a dyn Collective) -> Self {
        let packed = vec![0; binned.rows()];
        Self { binned, collective, packed, rows: Vec::new(), times: GrowTimes::default() }
    }

    /// Sums of the packed derivatives by column and byte; `sample` are the rows that are used,
    /// `None` for all.
    fn cells(&self, sample: Option<&[u32]>) -> Result<Vec<u64>, LearnError> {
        let mut cells = vec![0_u64; self.binned.columns().len() * CELLS];
        cells.par_chunks_mut(CELLS).enumerate().for_each(|(column, cells)| {
            let bytes = self.binned.column(column);
            let mut add = |byte: u8, packed: u64| {
                let cell = &mut cells[usize::from(byte)];
                *cell = cell.wrapping_add(packed);
            };
            match sample {
                None => bytes.iter().zip(&self.packed).for_each(|(byte, p)| add(*byte, *p)),
                Some(rows) => {
                    for row in rows.iter().map(|row| *row as usize) {
                        add(bytes[row], self.packed[row]);
                    }
                }
            }
        });
        self.collective.sum(&mut cells)?;
        Ok(cells)
    }

    /// The best stump of all features that may be used: `features` says for each whether it may be
    /// used, `None` that all may. The result is `None` if r is 0 for every stump.
    fn best(&self, cells: &[u64], features: Option<&[bool]>) -> Option<Stump> {
        let best_of_column = |(column, cells): (usize, &[u64])| {
            let members = self.binned.columns()[column].features.iter();
            let allowed = members.filter(|m| features.is_none_or(|f| f[m.feature as usize]));
            let found = allowed.filter_map(|packing| {
                best_of_feature(cells, *packing, self.binned.feature(packing.feature))
            });
            found.max_by_key(stump_order)
        };
        cells.par_chunks(CELLS).enumerate().filter_map(best_of_column).max_by_key(stump_order)
    }

    /// Moves the rows of the left side to the front; returns their number. `None` if the feature of
    /// the stump has no bins.
    fn partition_rows(&mut self, stump: Stump, sample: Option<&[u32]>) -> Option<usize> {
        let (column, packing) = self.binned.column_of(stump.feature)?;
        let bins = self.binned.feature(stump.feature);
        let goes_left = left_bytes(packing, bins, stump.bin, stump.missing);
        let bytes = self.binned.column(column);
        let is_left = |row: &u32| goes_left[usize::from(bytes[*row as usize])] == 1;
        let all = || 0..self.binned.rows() as u32;
        let rows: Vec<u32> = match sample {
            None => all().filter(is_left).collect(),
            Some(sample) => sample.iter().copied().filter(is_left).collect(),
        };
        let count = rows.len();
        let right: Vec<u32> = match sample {
            None => all().filter(|row| !is_left(row)).collect(),
            Some(sample) => sample.iter().copied().filter(|row| !is_left(row)).collect(),
        };
        self.rows = rows;
        self.rows.extend(right);
        Some(count)
    }

    /// The value of r if the first `left_count` rows are on the left, and the number of rows of all
    /// processes on the left and on the right.
    fn ranker_r(
        &self,
        left_count: usize,
        input: &GrowInput<'_>,
    ) -> Result<(f64, u64, u64), LearnError> {
        // Gradients and hessians of rows, added as 64-bit integers.
        let wide = |rows: &[u32]| {
            rows.iter().fold([0_i64; 2], |sum, row| {
                let row = *row as usize;
                let more = input.scales.wide(input.gradient[row], input.hessian[row]);
                [sum[0].wrapping_add(more[0]), sum[1].wrapping_add(more[1])]
            })
        };
        let (left_rows, right_rows) = self.rows.split_at(left_count);
        let ([_, h_left], [g, h_right]) = (wide(left_rows), wide(right_rows));
        let counts = [left_rows.len() as u64, right_rows.len() as u64];
        let mut sums = [g as u64, h_left as u64, h_right as u64, counts[0], counts[1]];
        self.collective.sum(&mut sums)?;
        let [g, h_left, h_right, left, right] = sums;
        let wide_sums = [g as i64, (h_left as i64).wrapping_add(h_right as i64)];
        let (g, h) = input.scales.wide_to_floats(wide_sums);
        let r = if h > 0.0 { (-g / (h / 2.0)).clamp(-1.0, 1.0) } else { 0.0 };
        Ok((r, left, right))
    }

    /// The tree that is a constant 0.
    fn constant_tree(&mut self, input: &GrowInput<'_>) -> Result<GrownTree, LearnError> {
        self.rows = match input.sample {
            None => (0..self.binned.rows() as u32).collect(),
            Some(sample) => sample.to_vec(),
        };
        let mut rows = [self.rows.len() as u64];
        self.collective.sum(&mut rows)?;
        let leaf = leaf(0..self.rows.len(), rows[0], 0.0);
        Ok(GrownTree::numeric(Vec::new(), vec![leaf]))
    }
}

/// The key of a stump: [`Stumps`] takes the stump with the largest key.
fn stump_order(stump: &Stump) -> (u64, Reverse<(u32, usize, bool)>) {
    (stump.absolute_r, Reverse((stump.feature, stump.bin, stump.missing == Side::Right)))
}

/// The weight of a ranker by its r.
pub(super) fn alpha(r: f64) -> f64 {
    0.5 * ((1.0 + r + SMOOTHING) / (1.0 - r + SMOOTHING)).ln()
}

/// The best threshold of one feature from the cells of its column; `None` if r is 0 for each.
fn best_of_feature(cells: &[u64], packing: PackedFeature, bins: &FeatureBins) -> Option<Stump> {
    let mut sums = [0_i64; CELLS];
    for (byte, cell) in cells.iter().enumerate() {
        // The gradient is the upper half; the sum in the lower half, of hessians, is never
        // negative, so it changes nothing in the upper half.
        sums[packing.bin(byte as u8)] += i64::from((cell >> 32) as i32);
    }
    let missing = if bins.missing { sums[bins.value_bins()] } else { 0 };
    let mut right: i64 = sums[..bins.value_bins()].iter().sum();
    let mut best: Option<Stump> = None;
    for (bin, sum) in sums[..bins.value_bins()].iter().enumerate() {
        right -= sum;
        for (side, g) in [(Side::Left, right), (Side::Right, right + missing)] {
            let absolute_r = g.unsigned_abs();
            // Without missing values both sides give the same stump.
            let is_new = side == Side::Left || bins.missing;
            if is_new && absolute_r > best.map_or(0, |best| best.absolute_r) {
                best = Some(Stump { feature: packing.feature, bin, missing: side, absolute_r });
            }
        }
    }
    best
}

/// A leaf with this value: its range in the rows of this process, and its number of rows in all
/// processes.
fn leaf(range: std::ops::Range<usize>, rows: u64, value: f64) -> GrownLeaf {
    // Limits that allow only this value: without them boosting would compute another value.
    GrownLeaf { range, buffer: 0, rows, limits: ValueLimits { low: value, high: value } }
}

impl GrownRows for Stumps<'_> {
    fn rows_of(&self, leaf: &GrownLeaf) -> &[u32] {
        &self.rows[leaf.range.clone()]
    }

    fn routes(&self, grown: &GrownTree) -> Routes<'_> {
        Routes::new(self.binned, grown)
    }
}

impl Grow for Stumps<'_> {
    fn grow(&mut self, input: GrowInput<'_>) -> Result<GrownTree, LearnError> {
        let started = Instant::now();
        input.scales.pack_all(input.gradient, input.hessian, &mut self.packed);
        let cells = self.cells(input.sample)?;
        let best = self.best(&cells, input.features);
        self.times.histograms += started.elapsed();
        let started = Instant::now();
        let partitioned =
            best.and_then(|stump| Some((stump, self.partition_rows(stump, input.sample)?)));
        let Some((stump, count)) = partitioned else { return self.constant_tree(&input) };
        let (r, left, right) = self.ranker_r(count, &input)?;
        self.times.partition += started.elapsed();
        // Without a bound after it, the last bin on the left is the last bin of values.
        let bounds = &self.binned.feature(stump.feature).bounds;
        let threshold = bounds.get(stump.bin).copied().unwrap_or(f32::INFINITY);
        let split = Split {
            feature: stump.feature,
            rule: SplitCondition::AtMost(threshold),
            missing: stump.missing,
            left: Child::Leaf(0),
            right: Child::Leaf(1),
            gain: r.abs(),
            rows: left + right,
        };
        let rows = self.rows.len();
        let leaves = vec![leaf(0..count, left, 0.0), leaf(count..rows, right, alpha(r))];
        Ok(GrownTree::numeric(vec![split], leaves))
    }

    fn times(&self) -> GrowTimes {
        self.times
    }

    fn as_rows(&self) -> &dyn GrownRows {
        self
    }
}
