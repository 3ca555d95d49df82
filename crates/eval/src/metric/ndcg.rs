//! NDCG: DCG divided by the ideal DCG, the highest that the judged documents allow.
//!
//! ```text
//! NDCG@k = DCG@k / IDCG@k,   IDCG@k = DCG@k of all judged documents sorted by label
//! ```
//!
//! The ideal includes judged documents that were not retrieved. Published figures differ by gain
//! (2^label - 1 or label), by discount, by the value of a query in which even the best document has
//! gain 0 (`blank`) and by lists shorter than k: `short=keep` evaluates the ranks that exist,
//! `short=zero` gives 0 (LETOR). The value is never above 1: labels whose gains would overflow are
//! errors, and a value above 1 by rounding is clamped. Under `ties=mean` the value is the exact
//! mean over all orders of tied documents. Cost O(k).
//!
//! ```
//! use rankwright_eval::{of_ranking, MetricSpec, SourceKind};
//! let linear = of_ranking("ndcg(gain=linear)@5", &[0.0, 1.0, 0.0, 1.0, 1.0])?;
//! assert_eq!(linear.map(|v| (v * 1e4).round()), Some(6797.0));
//! // exponential gain; the document of label 1 is tied with a worse one at the end
//! let ndcg = MetricSpec::parse("ndcg@5")?.resolve(SourceKind::Features)?;
//! let value = ndcg.of(&[3.0, 2.0, 0.0, 1.0, 0.0], &[3.0, 2.0, 1.0, 0.0, 0.0])?;
//! assert_eq!(value.map(|v| (v * 1e5).round()), Some(98795.0)); // ties=worst
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use rankwright_spec::{choices, param_groups, params};

use super::dcg::Dcg;
use super::{
    ConventionOptions, ConventionParams, DiscountOptions, DiscountParams, GainOptions, GainParams,
    Metric, MetricDef, MetricParams, PresetParams, ZERO_TO_ONE,
};
use crate::error::EvalError;
use crate::list::RankedList;
use crate::rank_sum::QueryValue;
use crate::swap::{AdditiveSwap, SwapDelta};

choices! {
    /// The treatment of a list with fewer documents than the cut-off of NDCG.
    #[non_exhaustive]
    pub enum NdcgShort {
        /// The ranks that exist are evaluated.
        Keep = "keep",
        /// The value of the list is 0.
        Zero = "zero",
    }
}

params! {
    /// The parameter that NDCG has beyond those of DCG.
    pub struct NdcgShortParams {
        short: NdcgShort = NdcgShort::Keep, ..,
            "List with fewer than k documents: keep evaluates the ranks that exist, zero gives the value 0.";
    }
    /// Builder methods for short lists in NDCG.
    pub trait NdcgShortOptions: ndcg_short_params;
}

param_groups! {
    /// Parameters of NDCG.
    pub struct NdcgParams {
        preset: PresetParams;
        gain: GainParams, GainOptions::gain_params;
        discount: DiscountParams, DiscountOptions::discount_params;
        short: NdcgShortParams, NdcgShortOptions::ndcg_short_params;
        conventions: ConventionParams, ConventionOptions::convention_params;
    }
}

/// NDCG.
pub(super) static NDCG: MetricDef = MetricDef {
    name: "ndcg",
    help: "DCG divided by the DCG of the ideal ranking.",
    example: "ndcg(gain=exp, blank=skip)@10",
    mean_ties: true,
    ..MetricDef::of::<NdcgParams>()
};

impl MetricParams for NdcgParams {
    fn def(&self) -> &'static MetricDef {
        &NDCG
    }

    fn build(&self, cutoff: Option<u32>) -> Box<dyn Metric> {
        let dcg = Dcg::new(&self.gain, &self.discount, cutoff);
        Box::new(Ndcg { dcg, short: self.short.short })
    }
}

#[derive(Debug, Clone)]
struct Ndcg {
    dcg: Dcg,
    short: NdcgShort,
}

impl Ndcg {
    /// Whether the value of a list of `n` documents is 0 because it is shorter than the cut-off.
    fn is_too_short(&self, n: usize) -> bool {
        self.short == NdcgShort::Zero && self.dcg.cutoff.is_some_and(|k| n < k as usize)
    }
}

impl Metric for Ndcg {
    fn range(&self) -> (f64, f64) {
        ZERO_TO_ONE
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        if self.is_too_short(list.len()) {
            return Ok(Some(0.0));
        }
        let ideal = self.dcg.of_ideal(list.ideal())?;
        Ok((ideal > 0.0).then_some((self.dcg.of_list(list)? / ideal).min(1.0)))
    }

    fn has_no_relevant(&self, list: &RankedList<'_>) -> Result<bool, EvalError> {
        self.dcg.has_no_gain(list)
    }

    fn depth(&self) -> Option<u32> {
        self.dcg.cutoff
    }

    fn swap(&self) -> Option<Box<dyn SwapDelta>> {
        let (gain, dcg, ndcg) = (self.dcg.gain.clone(), self.dcg.clone(), self.clone());
        Some(AdditiveSwap::new(
            move |label| gain.of(label),
            move |rank| dcg.discount_within(rank),
            move |n, ideal| {
                let ideal_dcg = ndcg.dcg.of_ideal(ideal)?;
                let is_zero = ideal_dcg <= 0.0 || ndcg.is_too_short(n);
                Ok(if is_zero { 0.0 } else { 1.0 / ideal_dcg })
            },
        ))
    }

    fn query_value(&self, labels: &[f64], ideal: &[f64]) -> Option<QueryValue> {
        if self.is_too_short(labels.len()) {
            return Some(QueryValue::Constant(Some(0.0)));
        }
        let ideal_dcg = self.dcg.of_ideal(ideal).ok()?;
        match ideal_dcg > 0.0 {
            true => self.dcg.divided_sum(labels, ideal_dcg, 1.0),
            false => Some(QueryValue::Constant(None)),
        }
    }
}
