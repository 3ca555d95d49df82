//! The change of a metric when two ranks are swapped, by which lambda learners weight pairs.
//!
//! A [`SwapDelta`] is prepared once for each query and order; then it gives a row of changes at a
//! time: those of rank i swapped with every rank j. Metrics that are a sum over ranks of gain times
//! discount (DCG, NDCG, RBP, P@k, recall@k) share [`AdditiveSwap`]: the change is
//! `scale * (gain_i - gain_j) * (discount_j - discount_i)`, O(1) per pair. AP, RR, success and ERR
//! have their own implementations, in the files of these metrics. Memory is O(n); nothing is
//! allocated after the buffers have grown. Swapping a rank with itself, or two equal labels, gives
//! 0. So does every swap in a query without a relevant document.

use std::fmt;

use crate::error::EvalError;
use crate::list::small_grade;

/// Changes of a metric under swaps, for one query at a time.
///
/// ```
/// use rankwright_eval::{MetricSpec, SourceKind};
///
/// let ndcg = MetricSpec::parse("ndcg(gain=linear)@5")?.resolve(SourceKind::Features)?;
/// let mut swap = ndcg.swap().ok_or("ndcg has a swap")?;
/// swap.prepare(&[0.0, 1.0, 0.0, 1.0, 1.0], &[1.0, 1.0, 1.0, 0.0, 0.0])?;
/// let mut row = [0.0; 5];
/// swap.swap_deltas(0, &mut row);
/// assert!((row[1] - 0.1732).abs() < 5e-5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait SwapDelta: fmt::Debug + Send {
    /// Prepares a query: labels by rank, and all judged labels best first (the ideal order; for
    /// training data these are the same labels sorted).
    fn prepare(&mut self, labels: &[f64], ideal: &[f64]) -> Result<(), EvalError>;

    /// Sets `out[j]`, for each rank j from `from` on, to the metric after swapping the ranks i and
    /// j minus the metric before. Ranks count from 0; `out` has one entry for each rank, or only
    /// for the first ranks if `from` is greater than i.
    fn swap_deltas_from(&self, i: usize, from: usize, out: &mut [f64]);

    /// The deltas of rank `i` with all ranks: [`swap_deltas_from`](SwapDelta::swap_deltas_from)
    /// rank 0.
    fn swap_deltas(&self, i: usize, out: &mut [f64]) {
        self.swap_deltas_from(i, 0, out);
    }

    /// Gains and discounts of the query that was prepared last, for metrics whose change is a
    /// product of their differences (see [`Factors`]), so that a fast loop over pairs needs no
    /// rows; `None` for other metrics.
    fn factors(&self) -> Option<Factors<'_>> {
        None
    }
}

/// A metric's change under swaps as a product: swapping the ranks i and j changes it by
/// `(gains[i] - gains[j]) * (discounts[j] - discounts[i])`.
#[derive(Debug, Clone, Copy)]
pub struct Factors<'a> {
    /// Gain at each rank, multiplied by the metric's factor for the query (1 / ideal DCG for NDCG);
    /// finite, never below 0.
    pub gains: &'a [f64],
    /// Discount of each rank; never rising.
    pub discounts: &'a [f64],
}

/// Gain of a label; an error if the metric does not allow the label.
type GainOf = dyn Fn(f64) -> Result<f64, EvalError> + Send;
/// Discount of a rank; 0 beyond a cut-off.
type DiscountOf = dyn Fn(usize) -> f64 + Send;
/// Factor for a query, from the list's length and the ideal labels.
type ScaleOf = dyn Fn(usize, &[f64]) -> Result<f64, EvalError> + Send;

/// The change under swaps of metrics of the form scale * sum of gain * discount.
pub(crate) struct AdditiveSwap {
    gain: Box<GainOf>,
    discount: Box<DiscountOf>,
    scale: Box<ScaleOf>,
    /// Gains of the labels 0, 1, 2, ...; NaN until a label first occurs.
    known_gains: [f64; CACHED_LABELS],
    /// The gain at each rank, times the query's scale.
    gains: Vec<f64>,
    /// Discounts, for as many ranks as the longest list so far.
    discounts: Vec<f64>,
}

/// The gains of whole labels below this number are computed once.
const CACHED_LABELS: usize = 32;

impl AdditiveSwap {
    pub(crate) fn new(
        gain: impl Fn(f64) -> Result<f64, EvalError> + Send + 'static,
        discount: impl Fn(usize) -> f64 + Send + 'static,
        scale: impl Fn(usize, &[f64]) -> Result<f64, EvalError> + Send + 'static,
    ) -> Box<Self> {
        Box::new(Self {
            gain: Box::new(gain),
            discount: Box::new(discount),
            scale: Box::new(scale),
            known_gains: [f64::NAN; CACHED_LABELS],
            gains: Vec::new(),
            discounts: Vec::new(),
        })
    }
}

impl fmt::Debug for AdditiveSwap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdditiveSwap").field("ranks", &self.gains.len()).finish_non_exhaustive()
    }
}

impl AdditiveSwap {
    /// Computes the gain of a label, and keeps that of a small whole label.
    fn compute_gain(&mut self, label: f64) -> Result<f64, EvalError> {
        let gain = (self.gain)(label)?;
        if let Some(grade) = small_grade(label) {
            self.known_gains[usize::from(grade)] = gain;
        }
        Ok(gain)
    }

    /// The gain of a label if it is already computed, else NaN.
    fn known_gain(&self, label: f64) -> f64 {
        small_grade(label).map_or(f64::NAN, |grade| self.known_gains[usize::from(grade)])
    }
}

impl SwapDelta for AdditiveSwap {
    fn prepare(&mut self, labels: &[f64], ideal: &[f64]) -> Result<(), EvalError> {
        let scale = (self.scale)(labels.len(), ideal)?;
        let mut gains = std::mem::take(&mut self.gains);
        gains.clear();
        gains.extend(labels.iter().map(|&label| self.known_gain(label)));
        for (gain, &label) in gains.iter_mut().zip(labels) {
            if gain.is_nan() {
                *gain = self.compute_gain(label)?;
            }
            *gain *= scale;
        }
        self.gains = gains;
        let computed = self.discounts.len();
        self.discounts.extend((computed..labels.len()).map(|rank| (self.discount)(rank)));
        Ok(())
    }

    fn swap_deltas_from(&self, i: usize, from: usize, out: &mut [f64]) {
        let (Some(&gain), Some(&discount)) = (self.gains.get(i), self.discounts.get(i)) else {
            return;
        };
        let pairs = self.gains.iter().zip(&self.discounts).skip(from);
        for (delta, (g, d)) in out.iter_mut().skip(from).zip(pairs) {
            *delta = (gain - g) * (d - discount);
        }
    }

    fn factors(&self) -> Option<Factors<'_>> {
        let discounts = self.discounts.get(..self.gains.len())?;
        Some(Factors { gains: &self.gains, discounts })
    }
}
