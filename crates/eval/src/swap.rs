//! The change of a metric when two ranks are swapped: what a lambda learner multiplies with.
//!
//! A [`SwapDelta`] is prepared once per query and order, then gives a whole row of changes: swap
//! rank i with every rank j. Metrics that are a sum over ranks of gain times discount (DCG, NDCG,
//! RBP, P@k, recall@k) share [`AdditiveSwap`]: the change is
//! `scale * (gain_i - gain_j) * (discount_j - discount_i)`, O(1) per pair. AP, RR, success and ERR
//! bring their own, in their files. Memory is O(n); nothing is allocated once buffers are warm.
//! Swapping a rank with itself, or two equal labels, gives 0. So does every swap in a query
//! without a relevant document.

use std::fmt;

use crate::error::EvalError;

/// Changes of a metric under swaps, for one query at a time.
///
/// ```
/// use rankwright_eval::{MetricSpec, SourceKind};
///
/// let ndcg = MetricSpec::parse("ndcg(gain=linear)@5")?.resolve(SourceKind::Features)?;
/// let mut swap = ndcg.swap().ok_or("ndcg has a swap")?;
/// swap.prepare(&[0.0, 1.0, 0.0, 1.0, 1.0], &[1.0, 1.0, 1.0, 0.0, 0.0])?;
/// let mut row = [0.0; 5];
/// swap.row(0, &mut row);
/// assert!((row[1] - 0.1732).abs() < 5e-5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait SwapDelta: fmt::Debug + Send {
    /// Takes up a query: labels by rank, and all judged labels best first (the ideal order; for
    /// training data these are the same labels sorted).
    fn prepare(&mut self, labels: &[f64], ideal: &[f64]) -> Result<(), EvalError>;

    /// Sets `out[j]`, for each rank j from `from` on, to the metric after swapping the ranks i
    /// and j minus the metric before. Ranks count from 0; `out` has one entry for each rank.
    fn row_from(&self, i: usize, from: usize, out: &mut [f64]);

    /// The whole row of rank `i`.
    fn row(&self, i: usize, out: &mut [f64]) {
        self.row_from(i, 0, out);
    }
}

/// Gain of a label; an error where the metric's scale has no such label.
type GainOf = dyn Fn(f64) -> Result<f64, EvalError> + Send;
/// Discount of a rank among `n`; 0 beyond a cut-off.
type DiscountOf = dyn Fn(usize, usize) -> f64 + Send;
/// Factor for a query, from the list's length and the ideal labels.
type ScaleOf = dyn Fn(usize, &[f64]) -> Result<f64, EvalError> + Send;

/// Swaps of metrics of the form scale * sum of gain * discount.
pub(crate) struct AdditiveSwap {
    gain: Box<GainOf>,
    discount: Box<DiscountOf>,
    scale: Box<ScaleOf>,
    /// Gains, scaled.
    gains: Vec<f64>,
    discounts: Vec<f64>,
}

impl AdditiveSwap {
    pub(crate) fn new(
        gain: impl Fn(f64) -> Result<f64, EvalError> + Send + 'static,
        discount: impl Fn(usize, usize) -> f64 + Send + 'static,
        scale: impl Fn(usize, &[f64]) -> Result<f64, EvalError> + Send + 'static,
    ) -> Box<Self> {
        Box::new(Self {
            gain: Box::new(gain),
            discount: Box::new(discount),
            scale: Box::new(scale),
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

impl SwapDelta for AdditiveSwap {
    fn prepare(&mut self, labels: &[f64], ideal: &[f64]) -> Result<(), EvalError> {
        let n = labels.len();
        let scale = (self.scale)(n, ideal)?;
        self.gains.clear();
        for &label in labels {
            self.gains.push((self.gain)(label)? * scale);
        }
        // Discounts depend on the rank alone, or on n for metrics that divide by it.
        self.discounts.clear();
        self.discounts.extend((0..n).map(|rank| (self.discount)(rank, n)));
        Ok(())
    }

    fn row_from(&self, i: usize, from: usize, out: &mut [f64]) {
        let (Some(&gain), Some(&discount)) = (self.gains.get(i), self.discounts.get(i)) else {
            return;
        };
        let pairs = self.gains.iter().zip(&self.discounts).skip(from);
        for (delta, (g, d)) in out.iter_mut().skip(from).zip(pairs) {
            *delta = (gain - g) * (d - discount);
        }
    }
}
