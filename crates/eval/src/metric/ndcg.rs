//! NDCG: DCG as a share of the best DCG that the judged documents allow.
//!
//! ```text
//! NDCG@k = DCG@k / IDCG@k,   IDCG@k = DCG@k of all judged documents sorted by label
//! ```
//!
//! The ideal includes judged documents that were not retrieved. Published figures differ by gain
//! (2^label - 1 or label), by discount, by what a query without gain counts (`blank`) and by lists
//! shorter than k: `short=keep` uses the ranks there are, `short=zero` gives 0 (LETOR). Never above
//! 1: labels that would overflow are errors, and only rounding is clamped. Cost O(k); exact under
//! `ties=mean`.
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

use super::dcg::Dcg;
use super::{Metric, say_cutoff};
use crate::error::EvalError;
use crate::list::RankedList;
use crate::params::{ParamInfo, Params};
use crate::swap::{AdditiveSwap, SwapDelta};
use rankwright_spec::SpecError;

/// `short` of NDCG.
pub(crate) const SHORT: ParamInfo = ParamInfo {
    name: "short",
    doc: "list with fewer than k documents: keep (use what is there) | zero",
    default: "keep",
};

#[derive(Debug, Clone)]
struct Ndcg {
    dcg: Dcg,
    /// A list shorter than the cut-off scores 0.
    short_zero: bool,
}

pub(crate) fn build(params: &Params<'_>) -> Result<Box<dyn Metric>, SpecError> {
    let short_zero = params.choice("short", &[("keep", false), ("zero", true)], false)?;
    Ok(Box::new(Ndcg { dcg: Dcg::read(params)?, short_zero }))
}

impl Ndcg {
    fn too_short(&self, n: usize) -> bool {
        self.short_zero && self.dcg.cutoff.is_some_and(|k| n < k as usize)
    }
}

impl Metric for Ndcg {
    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        if self.too_short(list.len()) {
            return Ok(Some(0.0));
        }
        let ideal = self.dcg.of_ideal(list.ideal())?;
        Ok((ideal > 0.0).then_some((self.dcg.of_list(list)? / ideal).min(1.0)))
    }

    fn is_blank(&self, list: &RankedList<'_>) -> Result<bool, EvalError> {
        self.dcg.no_gain(list)
    }

    fn convention(&self) -> String {
        let short = if self.short_zero { "zero" } else { "keep" };
        format!("{}, short={short}, {}", self.dcg.say(), say_cutoff(self.dcg.cutoff))
    }

    fn swap(&self) -> Option<Box<dyn SwapDelta>> {
        let (gain, rank, whole) = (self.dcg.gain.clone(), self.dcg.clone(), self.clone());
        Some(AdditiveSwap::new(
            move |label| gain.of(label),
            move |r| rank.discount_within(r),
            move |n, ideal| {
                let best = whole.dcg.of_ideal(ideal)?;
                Ok(if best > 0.0 && !whole.too_short(n) { 1.0 / best } else { 0.0 })
            },
        ))
    }
}
