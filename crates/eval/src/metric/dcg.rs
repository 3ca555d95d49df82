//! DCG: discounted cumulative gain (Jarvelin and Kekalainen, TOIS 2002).
//!
//! ```text
//! DCG@k = sum over ranks r = 1..min(k, n) of gain(label_r) * discount(r)
//! ```
//!
//! With the defaults, gain 2^label - 1 and discount 1/log2(r+1) (Burges et al., ICML 2005). Cost
//! O(k). A query in which even the best document has gain 0 counts as one without a relevant
//! document (`blank`); an empty list has DCG 0. `ties=mean` gives the exact mean over the orders of
//! ties.
//!
//! ```
//! use rankwright_eval::of_ranking;
//! // 1/log2(3) + 1/log2(5) + 1/log2(6)
//! let dcg = of_ranking("dcg(gain=linear)@5", &[0.0, 1.0, 0.0, 1.0, 1.0])?;
//! assert_eq!(dcg.map(|v| (v * 1e4).round()), Some(14485.0));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use std::sync::Arc;

use rankwright_spec::param_groups;

use super::{
    ConventionOptions, ConventionParams, DiscountOptions, DiscountParams, GainOptions, GainParams,
    Metric, MetricDef, MetricParams, PresetParams, position_sum,
};
use crate::discount::Discount;
use crate::error::EvalError;
use crate::gain::Gain;
use crate::list::RankedList;
use crate::rank_sum::{QueryValue, RankSum};
use crate::swap::{AdditiveSwap, SwapDelta};

param_groups! {
    /// Parameters of DCG.
    pub struct DcgParams {
        preset: PresetParams;
        gain: GainParams, GainOptions::gain_params;
        discount: DiscountParams, DiscountOptions::discount_params;
        conventions: ConventionParams, ConventionOptions::convention_params;
    }
}

/// DCG.
pub(super) static DCG: MetricDef = MetricDef {
    name: "dcg",
    help: "Discounted cumulative gain.",
    example: "dcg(gain=linear)@10",
    mean_ties: true,
    ..MetricDef::of::<DcgParams>()
};

impl MetricParams for DcgParams {
    fn def(&self) -> &'static MetricDef {
        &DCG
    }

    fn build(&self, cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(Dcg::new(&self.gain, &self.discount, cutoff))
    }
}

/// Gain, discount and cut-off, which DCG, NDCG and MeanNDCG share.
#[derive(Debug, Clone)]
pub(crate) struct Dcg {
    pub(crate) gain: Gain,
    pub(crate) discount: Discount,
    pub(crate) cutoff: Option<u32>,
    /// The discounts of all ranks within a cut-off of up to [`FEW_RANKS`]; otherwise empty.
    discounts: Arc<[f64]>,
}

/// The largest cut-off for which [`Metric::query_value`] gives the value of a query as a sum
/// ([`QueryValue`]).
const FEW_RANKS: u32 = 64;

impl Dcg {
    pub(crate) fn new(gain: &GainParams, discount: &DiscountParams, cutoff: Option<u32>) -> Self {
        let (gain, discount) = (gain.gain.clone(), discount.discount);
        let few_ranks = cutoff.filter(|k| *k <= FEW_RANKS).unwrap_or(0);
        let discounts = (0..few_ranks as usize).map(|rank| discount.at(rank)).collect();
        Self { gain, discount, cutoff, discounts }
    }

    /// DCG of the list.
    pub(crate) fn of_list(&self, list: &RankedList<'_>) -> Result<f64, EvalError> {
        let gain = |label| self.gain.of(label);
        finite(position_sum(list, self.cutoff, gain, |rank| self.discount.at(rank))?)
    }

    /// DCG of labels in the ideal order, best first; stops at the first label of gain 0, after
    /// which all gains are 0.
    pub(crate) fn of_ideal(&self, ideal: &[f64]) -> Result<f64, EvalError> {
        let depth = self.cutoff.map_or(usize::MAX, |k| k as usize);
        let mut sum = 0.0;
        for (rank, &label) in ideal.iter().take(depth).enumerate() {
            let gain = self.gain.of(label)?;
            if gain <= 0.0 {
                break;
            }
            sum += gain * self.discount.at(rank);
        }
        finite(sum)
    }

    /// DCG of a query divided by a number, as a function of the order of its documents; a value
    /// above `max` counts as `max`. `None` if there are many ranks, the gain of a label is not
    /// defined, or a sum could overflow.
    pub(crate) fn divided_sum(&self, labels: &[f64], divisor: f64, max: f64) -> Option<QueryValue> {
        if self.discounts.is_empty() {
            return None;
        }
        let gains: Result<Vec<f64>, EvalError> = labels.iter().map(|l| self.gain.of(*l)).collect();
        let gains = gains.ok().filter(|gains| gains.iter().sum::<f64>().is_finite())?;
        let discounts = Arc::clone(&self.discounts);
        Some(QueryValue::Sum(RankSum::new(gains, discounts, divisor, max)))
    }

    /// Whether even the best document has gain 0.
    pub(crate) fn has_no_gain(&self, list: &RankedList<'_>) -> Result<bool, EvalError> {
        match list.ideal().first() {
            Some(&best) => Ok(self.gain.of(best)? <= 0.0),
            None => Ok(true),
        }
    }

    /// Discount of a rank, from 0; 0 beyond the cut-off.
    pub(crate) fn discount_within(&self, rank: usize) -> f64 {
        let inside = self.cutoff.is_none_or(|k| rank < k as usize);
        if inside { self.discount.at(rank) } else { 0.0 }
    }
}

fn finite(sum: f64) -> Result<f64, EvalError> {
    if sum.is_finite() { Ok(sum) } else { Err(EvalError::Overflow { metric: "dcg" }) }
}

impl Metric for Dcg {
    fn range(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        self.of_list(list).map(Some)
    }

    fn has_no_relevant(&self, list: &RankedList<'_>) -> Result<bool, EvalError> {
        self.has_no_gain(list)
    }

    fn depth(&self) -> Option<u32> {
        self.cutoff
    }

    fn swap(&self) -> Option<Box<dyn SwapDelta>> {
        let (gain, dcg) = (self.gain.clone(), self.clone());
        Some(AdditiveSwap::new(
            move |label| gain.of(label),
            move |rank| dcg.discount_within(rank),
            |_, _| Ok(1.0),
        ))
    }

    fn query_value(&self, labels: &[f64], _ideal: &[f64]) -> Option<QueryValue> {
        self.divided_sum(labels, 1.0, f64::INFINITY)
    }
}
