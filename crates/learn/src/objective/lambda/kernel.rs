//! The hot loop over pairs: 8 pairs at a time in 32-bit floats, one division for all 8.
//!
//! The documents of a query are ordered by score, and each of their properties is a *column*. A
//! *row* of pairs is one document, the *anchor*, with all the documents that it is paired with,
//! its *partners*, usually those ranked below it. A *block* is 8 neighbouring ranks of a column; a
//! *lane* is one of the 8.
//!
//! With E = exp(sigma * s), the probability that j beats i is rho = E_j / (E_i + E_j): one
//! exponential for each document, none for a pair. With D = E_i + E_j, gap = 0.01 + |s_i - s_j| and
//! w the pair's weight (above 0 if i is the better one, below 0 if j is),
//!
//! ```text
//! lambda_i -= w * E_worse * D / (D * D * gap)      lambda_j += the same
//! hessian  += |w| * E_i * E_j / (D * D * gap)      to both
//! ```
//!
//! E_worse is the E of the worse of the two documents. The sums in [`RankColumns`] leave out the
//! factors sigma and sigma * sigma and the scaling of weights and scores; the caller multiplies the
//! sums by these factors.
//!
//! Pairs of equal gain have w = 0 and contribute 0 without a mask; so do the lanes after the last
//! document, whose E is 0 and which count as the worse document or have w = 0. 32 bits are precise
//! enough (1e-5 of a query's largest lambda, tested against the reference implementation) because E
//! comes from a 64-bit exponential; scores inside `gap` are integers of 31 bits, whose differences
//! are exact; gains are scaled to 0..1 within the query; sums go to 64 bits every 64 rows and every
//! 512 documents.
//!
//! The score range times sigma must be within [`MAX_RANGE`], so that no product leaves the range of
//! a 32-bit float; a wider query is computed pair by pair in 64 bits (`pairs.rs`). Each loop is the
//! same portable Rust (without intrinsics) compiled twice, for AVX2 and portable, with identical
//! results. Cost O(rows * n) time, O(n) memory.

use crate::exp::{ROUND_TO_INTEGER, exp};
#[cfg(target_arch = "x86_64")]
use crate::simd::Avx2;
use crate::simd::Simd;

/// Number of pairs computed together: the 32-bit floats in a register of AVX2.
const LANES: usize = 8;
/// A block of a column.
type Lanes = [f32; LANES];
/// Number of rows after which 32-bit sums of documents are added to the 64-bit ones.
const ROWS_PER_FLUSH: usize = 64;
/// Number of blocks (512 documents) after which 32-bit sums of a row are added to the 64-bit ones.
const CHUNK_BLOCKS: usize = 64;
/// Largest sigma * (best score - worst score) that the kernel can compute.
pub(super) const MAX_RANGE: f64 = 60.0;
/// The exponent of the best document; the others are lower by sigma * (best score - score), so that
/// every E is within e^-35 and e^25.
const TOP_EXPONENT: f64 = 25.0;
/// Scores inside the gap are whole numbers of steps. This is the number of steps in the score range
/// of a query, or in 1 if that range is less than 1.
const STEPS_IN_RANGE: f64 = (1 << 30) as f64;
/// Added to the absolute score difference of every pair, as in LightGBM: the weight of pairs of
/// nearly equal scores grows at most 100-fold.
pub(super) const MIN_GAP: f64 = 0.01;

/// One query in columns: entry r belongs to the document at rank r, from 0. The 32-bit columns are
/// padded with a block of empty lanes.
#[derive(Debug, Default)]
pub(super) struct RankColumns {
    documents: usize,
    /// E of the module's formulas.
    exponential: Vec<f32>,
    /// Distance to the best score in steps, at most 0; all 0 without division by the gap.
    score_step: Vec<i32>,
    /// [`MIN_GAP`] in steps; 1 without division by the gap.
    min_gap: f64,
    /// Number of steps in a score difference of 1, by which the lambdas must be multiplied; 1
    /// without division by the gap.
    pub(super) scale: f64,
    /// Gains, or labels if all weights are 1.
    gain: Vec<f32>,
    /// Discounts of the ranks.
    discount: Vec<f32>,
    /// Weights of the pairs of one row: w of the module's formulas.
    pub(super) row_weights: Vec<f32>,
    /// Weights of the equal pairs of one row; empty if pairs of equal labels do not count.
    pub(super) row_tie_weights: Vec<f32>,
    /// 32-bit sums of each rank's lambdas as a partner in the rows of others, since the last flush.
    partner_lambdas: Vec<f32>,
    /// The same for hessians.
    partner_hessians: Vec<f32>,
    /// Gradient of each rank, still to be multiplied by `scale`, sigma and the caller's unit of
    /// weight.
    pub(super) lambdas: Vec<f64>,
    /// Hessian of each rank, still to be multiplied by the same factors and by sigma once more.
    pub(super) hessians: Vec<f64>,
}

/// Sums of one row of pairs for its anchor.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct RowSums {
    /// To be subtracted from the gradient of the anchor.
    pub(super) lambda: f64,
    /// To be added to the hessian of the anchor.
    pub(super) hessian: f64,
    /// Sum of absolute lambdas.
    pub(super) total: f64,
}

impl RankColumns {
    /// Loads the scores of a query, best first; sigma times their range is at most [`MAX_RANGE`].
    /// `divide_by_gap` takes effect only if the scores are not all equal.
    pub(super) fn load_scores(
        &mut self,
        scores: &[f64],
        sigma: f64,
        divide_by_gap: bool,
        simd: Simd,
    ) {
        let n = scores.len();
        let (best, worst) = (scores.first().copied(), scores.last().copied());
        let best = best.unwrap_or(0.0);
        let worst = worst.unwrap_or(0.0);
        let range = if best == worst { 0.0 } else { best - worst };
        self.documents = n;
        let divide_by_gap = divide_by_gap && range > 0.0;
        let steps = if divide_by_gap { STEPS_IN_RANGE / range.max(1.0) } else { 0.0 };
        self.min_gap = if divide_by_gap { MIN_GAP * steps } else { 1.0 };
        self.scale = if divide_by_gap { steps } else { 1.0 };
        for column in [&mut self.partner_lambdas, &mut self.partner_hessians] {
            column.clear();
            column.resize(n + LANES, 0.0);
        }
        self.clear_sums(n);
        self.exponential.resize(n + LANES, 0.0);
        self.score_step.resize(n + LANES, 0);
        self.exponential[n..].fill(0.0);
        self.score_step[n..].fill(0);
        let columns = (&mut self.exponential[..n], &mut self.score_step[..n]);
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = simd.avx2() {
            // SAFETY: `avx2` proves that the processor has AVX2.
            unsafe { fill_avx2(avx2, scores, best, sigma, steps, columns) };
            return;
        }
        let _ = simd;
        fill(scores, best, sigma, steps, columns);
    }

    /// Sets the 64-bit sums of this many documents to 0; returns the sums of gradients and those of
    /// hessians.
    pub(super) fn clear_sums(&mut self, documents: usize) -> (&mut [f64], &mut [f64]) {
        for sums in [&mut self.lambdas, &mut self.hessians] {
            sums.clear();
            sums.resize(documents, 0.0);
        }
        (&mut self.lambdas, &mut self.hessians)
    }

    /// Loads gains within 0..1 and discounts, for [`RankColumns::product_rows`].
    pub(super) fn set_factors(&mut self, gains: impl Iterator<Item = f64>, discounts: &[f64]) {
        let n = self.documents;
        self.gain.clear();
        self.gain.extend(gains.map(|g| g as f32));
        self.gain.resize(n + LANES, 0.0);
        self.discount.clear();
        self.discount.extend(discounts.iter().map(|&d| d as f32));
        self.discount.resize(n + LANES, 0.0);
    }

    /// Sets the weights of the row to 0; `ties`: whether pairs of equal labels count.
    pub(super) fn clear_row(&mut self, ties: bool) {
        self.row_weights.clear();
        self.row_weights.resize(self.documents + LANES, 0.0);
        self.row_tie_weights.clear();
        self.row_tie_weights.resize(if ties { self.documents + LANES } else { 0 }, 0.0);
    }

    /// Loads labels for [`RankColumns::sign_rows`]. False if a label is not exact in 32 bits:
    /// distinct labels might then become equal.
    pub(super) fn set_labels(&mut self, labels: &[f64]) -> bool {
        self.gain.clear();
        self.gain.extend(labels.iter().map(|&l| l as f32));
        self.gain.resize(self.documents + LANES, f32::NEG_INFINITY);
        labels.iter().zip(&self.gain).all(|(l, g)| f64::from(*g) == *l)
    }

    /// Adds the pairs of each of the first `rows` ranks with all ranks below it, weights from gains
    /// and discounts. Returns the sum of absolute lambdas.
    pub(super) fn product_rows(&mut self, rows: usize, simd: Simd) -> f64 {
        self.rows::<false>(rows, simd)
    }

    /// The same with weight 1 for all pairs of different labels.
    pub(super) fn sign_rows(&mut self, rows: usize, simd: Simd) -> f64 {
        self.rows::<true>(rows, simd)
    }

    /// Both kinds of rows: with `SIGNS` weights are 1, otherwise from gains and discounts.
    fn rows<const SIGNS: bool>(&mut self, rows: usize, simd: Simd) -> f64 {
        let rows = rows.min(self.documents.saturating_sub(1));
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = simd.avx2() {
            // SAFETY: `avx2` proves that the processor has AVX2.
            return unsafe { rows_avx2::<SIGNS>(avx2, self, rows) };
        }
        let _ = simd;
        rows_of::<SIGNS>(self, rows)
    }

    /// Computes the pairs of rank i with the ranks `from..to`, using `row_weights` (and
    /// `row_tie_weights`), which are 0 in the rest of the last block. The sums of the partners are
    /// added to the columns; those of rank i, the anchor, are returned.
    pub(super) fn weighted_row(&mut self, i: usize, from: usize, to: usize, simd: Simd) -> RowSums {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = simd.avx2() {
            // SAFETY: `avx2` proves that the processor has AVX2.
            return unsafe { weighted_row_avx2(avx2, self, i, from, to) };
        }
        let _ = simd;
        weighted_row(self, i, from, to)
    }

    /// Adds the 32-bit sums to the 64-bit ones; must be called after every [`ROWS_PER_FLUSH`] rows
    /// and at the end.
    pub(super) fn flush(&mut self) {
        for (sums, column) in [
            (&mut self.lambdas, &mut self.partner_lambdas),
            (&mut self.hessians, &mut self.partner_hessians),
        ] {
            for (sum, part) in sums.iter_mut().zip(column.iter_mut()) {
                *sum += f64::from(*part);
                *part = 0.0;
            }
        }
    }

    /// Whether a flush is due after this number of rows.
    pub(super) fn needs_flush(rows: usize) -> bool {
        rows.is_multiple_of(ROWS_PER_FLUSH)
    }

    /// Rank i as the anchor of a row.
    #[inline(always)]
    fn anchor(&self, i: usize) -> Anchor {
        Anchor {
            exponential: self.exponential[i],
            score_step: self.score_step[i],
            min_gap: self.min_gap as f32,
        }
    }

    /// The columns from rank `from` on, in blocks that cover the ranks before `to`.
    #[inline(always)]
    fn blocks(&mut self, from: usize, to: usize, input: RowInput) -> LaneBlocks<'_> {
        let ranks = from..from + (to - from).next_multiple_of(LANES);
        let (first, second) = match input {
            RowInput::Factors => (&self.gain, &self.discount),
            RowInput::Labels => (&self.gain, &self.gain),
            RowInput::Weights => (&self.row_weights, &self.row_weights),
            RowInput::WeightsAndTies => (&self.row_weights, &self.row_tie_weights),
        };
        LaneBlocks {
            exponentials: self.exponential[ranks.clone()].as_chunks().0,
            score_steps: self.score_step[ranks.clone()].as_chunks().0,
            first: first[ranks.clone()].as_chunks().0,
            second: second[ranks.clone()].as_chunks().0,
            lambdas: self.partner_lambdas[ranks.clone()].as_chunks_mut().0,
            hessians: self.partner_hessians[ranks].as_chunks_mut().0,
        }
    }
}

/// Computes exponentials and score steps from the scores; `steps` is the number of steps in a score
/// difference of 1.
#[inline(always)]
fn fill(scores: &[f64], best: f64, sigma: f64, steps: f64, into: (&mut [f32], &mut [i32])) {
    let (exponentials, score_steps) = into;
    for ((s, exponential), score_step) in scores.iter().zip(exponentials).zip(score_steps) {
        // All scores may be the same infinity, whose difference is not a number.
        let below = if *s == best { 0.0 } else { s - best };
        *exponential = exp(sigma * below + TOP_EXPONENT) as f32;
        // After the addition of ROUND_TO_INTEGER the low bits of the float are the rounded integer.
        *score_step = (below * steps + ROUND_TO_INTEGER).to_bits() as i32;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn fill_avx2(
    _proof: Avx2,
    scores: &[f64],
    best: f64,
    sigma: f64,
    steps: f64,
    into: (&mut [f32], &mut [i32]),
) {
    fill(scores, best, sigma, steps, into);
}

/// The columns from which the weights of a row are computed.
#[derive(Debug, Clone, Copy)]
enum RowInput {
    /// Gains and discounts.
    Factors,
    /// Labels, whose order is the sign of a weight of 1.
    Labels,
    /// The weights themselves.
    Weights,
    /// The weights themselves, and those of equal pairs.
    WeightsAndTies,
}

/// The document of a row of pairs that is paired with all others of the row.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    exponential: f32,
    score_step: i32,
    /// As in [`RankColumns`].
    min_gap: f32,
}

/// The sums of [`RowSums`], separately for each lane.
#[derive(Debug, Default, Clone, Copy)]
struct LaneSums {
    lambda: Lanes,
    hessian: Lanes,
    total: Lanes,
}

impl LaneSums {
    #[inline(always)]
    fn add_to(&self, sums: &mut RowSums) {
        sums.lambda += lane_sum(&self.lambda);
        sums.hessian += lane_sum(&self.hessian);
        sums.total += lane_sum(&self.total);
    }
}

/// The sum of the lanes, always in the same order.
#[inline(always)]
fn lane_sum(x: &Lanes) -> f64 {
    f64::from(((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])))
}

/// Computes 8 pairs of one row: the anchor with `partners`, given by exponential and score step.
/// Adds to the anchor's `sums` and to the partners' lambdas and hessians (`into`). `weight` is w of
/// the module's formulas; `tie` are the weights of equal pairs, used only with `TIES`.
#[inline(always)]
fn pairs<const TIES: bool>(
    anchor: Anchor,
    weight: &Lanes,
    tie: &Lanes,
    partners: (&Lanes, &[i32; LANES]),
    sums: &mut LaneSums,
    into: (&mut Lanes, &mut Lanes),
) {
    let anchor_exponential = anchor.exponential;
    let (lambda, hessian) = into;
    for l in 0..LANES {
        let partner_exponential = partners.0[l];
        // D of the module's formulas.
        let sum = anchor_exponential + partner_exponential;
        // Without division by the gap all score steps are 0 and `min_gap` is 1: one loop body,
        // which is vectorised.
        let gap = anchor.min_gap + (anchor.score_step - partners.1[l]).abs() as f32;
        let inverse = 1.0 / ((sum * sum) * gap);
        let worse = if weight[l] > 0.0 { partner_exponential } else { anchor_exponential };
        let factor = inverse * weight[l];
        let mut pair_lambda = (worse * sum) * factor;
        let mut size = factor.abs();
        if TIES {
            // An equal pair is half a preference each way: (E_j - E_i) / 2 in place of E_worse.
            let factor = inverse * tie[l];
            pair_lambda -= ((anchor_exponential - partner_exponential) * sum) * (0.5 * factor);
            size += factor;
        }
        let pair_hessian = (anchor_exponential * partner_exponential) * size;
        sums.lambda[l] += pair_lambda;
        sums.hessian[l] += pair_hessian;
        sums.total[l] += pair_lambda.abs();
        lambda[l] += pair_lambda;
        hessian[l] += pair_hessian;
    }
}

/// One query's columns from a rank on, in blocks of lanes. (Slices and indexed loops: iterators of
/// the standard library that are not inlined would run without wide registers.)
struct LaneBlocks<'a> {
    exponentials: &'a [Lanes],
    score_steps: &'a [[i32; LANES]],
    /// The first column of the [`RowInput`]: gains, labels or weights.
    first: &'a [Lanes],
    /// The second column: discounts or weights of equal pairs; the first one again if there is
    /// none.
    second: &'a [Lanes],
    lambdas: &'a mut [Lanes],
    hessians: &'a mut [Lanes],
}

impl<'a> LaneBlocks<'a> {
    /// Splits off the next [`CHUNK_BLOCKS`] blocks, or all that are left; `None` at the end.
    #[inline(always)]
    fn next_chunk(&mut self) -> Option<LaneBlocks<'a>> {
        let blocks = self.exponentials.len().min(CHUNK_BLOCKS);
        if blocks == 0 {
            return None;
        }
        let (exponentials, score_steps) =
            (self.exponentials.split_at(blocks), self.score_steps.split_at(blocks));
        let (first, second) = (self.first.split_at(blocks), self.second.split_at(blocks));
        let lambdas = std::mem::take(&mut self.lambdas).split_at_mut(blocks);
        let hessians = std::mem::take(&mut self.hessians).split_at_mut(blocks);
        *self = LaneBlocks {
            exponentials: exponentials.1,
            score_steps: score_steps.1,
            first: first.1,
            second: second.1,
            lambdas: lambdas.1,
            hessians: hessians.1,
        };
        Some(LaneBlocks {
            exponentials: exponentials.0,
            score_steps: score_steps.0,
            first: first.0,
            second: second.0,
            lambdas: lambdas.0,
            hessians: hessians.0,
        })
    }

    /// Computes the pairs of the anchor with all blocks; `weight` computes the weights of a block's
    /// pairs from its entries of `first` and `second`. `TIES`: whether `second` are the weights of
    /// equal pairs.
    #[inline(always)]
    fn add_pairs<const TIES: bool>(
        mut self,
        anchor: Anchor,
        weight: impl Fn(&Lanes, &Lanes) -> Lanes,
    ) -> RowSums {
        let mut sums = RowSums::default();
        while let Some(chunk) = self.next_chunk() {
            let mut lanes = LaneSums::default();
            let mut block = 0;
            while block < chunk.exponentials.len() {
                let second = &chunk.second[block];
                let weight = weight(&chunk.first[block], second);
                let partners = (&chunk.exponentials[block], &chunk.score_steps[block]);
                let into = (&mut chunk.lambdas[block], &mut chunk.hessians[block]);
                pairs::<TIES>(anchor, &weight, second, partners, &mut lanes, into);
                block += 1;
            }
            lanes.add_to(&mut sums);
        }
        sums
    }
}

/// Adds the pairs of each of the first `rows` ranks with all ranks below it: with `SIGNS` the
/// weights are 1, otherwise products of gain and discount differences. Returns the sum of absolute
/// lambdas.
#[inline(always)]
fn rows_of<const SIGNS: bool>(columns: &mut RankColumns, rows: usize) -> f64 {
    let n = columns.documents;
    let mut total = 0.0;
    let mut i = 0;
    while i < rows {
        if i > 0 && RankColumns::needs_flush(i) {
            columns.flush();
        }
        let anchor = columns.anchor(i);
        let sums = if SIGNS {
            let label = columns.gain[i];
            let blocks = columns.blocks(i + 1, n, RowInput::Labels);
            blocks.add_pairs::<false>(anchor, |labels, _| {
                let mut weight = [0.0; LANES];
                for l in 0..LANES {
                    let (better, worse) = (label > labels[l], label < labels[l]);
                    weight[l] = if better { 1.0 } else { 0.0 } - if worse { 1.0 } else { 0.0 };
                }
                weight
            })
        } else {
            let (gain, discount) = (columns.gain[i], columns.discount[i]);
            let blocks = columns.blocks(i + 1, n, RowInput::Factors);
            blocks.add_pairs::<false>(anchor, |gains, discounts| {
                let mut weight = [0.0; LANES];
                for l in 0..LANES {
                    weight[l] = (gain - gains[l]) * (discount - discounts[l]).abs();
                }
                weight
            })
        };
        columns.lambdas[i] -= sums.lambda;
        columns.hessians[i] += sums.hessian;
        total += sums.total;
        i += 1;
    }
    columns.flush();
    total
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn rows_avx2<const SIGNS: bool>(_proof: Avx2, columns: &mut RankColumns, rows: usize) -> f64 {
    rows_of::<SIGNS>(columns, rows)
}

/// See [`RankColumns::weighted_row`]: inlined into two functions, of which one is compiled for
/// AVX2.
#[inline(always)]
fn weighted_row(columns: &mut RankColumns, i: usize, from: usize, to: usize) -> RowSums {
    let anchor = columns.anchor(i);
    if columns.row_tie_weights.is_empty() {
        let blocks = columns.blocks(from, to, RowInput::Weights);
        return blocks.add_pairs::<false>(anchor, |weights, _| *weights);
    }
    let blocks = columns.blocks(from, to, RowInput::WeightsAndTies);
    blocks.add_pairs::<true>(anchor, |weights, _| *weights)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn weighted_row_avx2(
    _proof: Avx2,
    columns: &mut RankColumns,
    i: usize,
    from: usize,
    to: usize,
) -> RowSums {
    weighted_row(columns, i, from, to)
}
