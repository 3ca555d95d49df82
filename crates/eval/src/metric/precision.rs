//! P@k: precision, the fraction of relevant documents among the first k.
//!
//! ```text
//! P@k = (relevant documents within rank k) / k
//! ```
//!
//! A list of n < k documents is still divided by k (`short=keep`, trec_eval, LETOR 4.0), by n
//! (`short=list`, RankLib, XGBoost), or counts 0 (`short=zero`, LETOR 3.0). Without a cut-off, k is
//! the length of the list; an empty list counts 0. Cost O(k). `ties=mean` gives the
//! exact mean over all orders of tied documents.
//!
//! ```
//! use rankwright_eval::of_ranking;
//! assert_eq!(of_ranking("p@4", &[1.0, 0.0, 2.0])?, Some(0.5));
//! assert_eq!(of_ranking("p(short=list)@4", &[1.0, 0.0, 2.0])?, Some(2.0 / 3.0));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use rankwright_spec::{choices, param_groups, params};

use super::{
    ConventionOptions, ConventionParams, Metric, MetricDef, MetricParams, PresetParams, RelOptions,
    RelParams, ZERO_TO_ONE, position_sum,
};
use crate::error::EvalError;
use crate::list::RankedList;
use crate::swap::{AdditiveSwap, SwapDelta};

choices! {
    /// The treatment of a list with fewer documents than the cut-off of precision.
    #[non_exhaustive]
    pub enum PrecisionShort {
        /// Divide by the cut-off.
        Keep = "keep",
        /// Divide by the length of the list.
        List = "list",
        /// The list counts 0.
        Zero = "zero",
    }
}

params! {
    /// The parameter of precision for short lists.
    pub struct PrecisionShortParams {
        short: PrecisionShort = PrecisionShort::Keep, ..,
            "List with fewer than k documents: keep divides by k, list by its length, zero counts it 0.";
    }
    /// Builder methods for short lists in precision.
    pub trait PrecisionShortOptions: precision_short_params;
}

param_groups! {
    /// Parameters of precision.
    pub struct PrecisionParams {
        preset: PresetParams;
        short: PrecisionShortParams, PrecisionShortOptions::precision_short_params;
        rel: RelParams, RelOptions::rel_params;
        conventions: ConventionParams, ConventionOptions::convention_params;
    }
}

/// Precision.
pub(super) static PRECISION: MetricDef = MetricDef {
    name: "p",
    aliases: &["precision"],
    help: "Share of relevant documents among the first k.",
    example: "p(rel=1)@10",
    mean_ties: true,
    ..MetricDef::of::<PrecisionParams>()
};

impl MetricParams for PrecisionParams {
    fn def(&self) -> &'static MetricDef {
        &PRECISION
    }

    fn build(&self, cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(Precision { rel: self.rel.rel, short: self.short.short, cutoff })
    }
}

#[derive(Debug, Clone, Copy)]
struct Precision {
    rel: f64,
    short: PrecisionShort,
    cutoff: Option<u32>,
}

impl Precision {
    /// The inverse of the divisor for a list of n documents.
    fn scale(&self, n: usize) -> f64 {
        let k = self.cutoff.map_or(n, |k| k as usize);
        match self.short {
            _ if n >= k => 1.0 / k.max(1) as f64,
            PrecisionShort::Keep => 1.0 / k as f64,
            PrecisionShort::List => 1.0 / n.max(1) as f64,
            PrecisionShort::Zero => 0.0,
        }
    }
}

impl Metric for Precision {
    fn range(&self) -> (f64, f64) {
        ZERO_TO_ONE
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        let hits = position_sum(list, self.cutoff, |l| Ok(one_if(l >= self.rel)), |_| 1.0)?;
        Ok(Some(hits * self.scale(list.len())))
    }

    fn has_no_relevant(&self, list: &RankedList<'_>) -> Result<bool, EvalError> {
        Ok(list.has_no_relevant(self.rel))
    }

    fn depth(&self) -> Option<u32> {
        self.cutoff
    }

    fn swap(&self) -> Option<Box<dyn SwapDelta>> {
        let p = *self;
        Some(AdditiveSwap::new(
            move |label| Ok(one_if(label >= p.rel)),
            move |rank| one_if(p.cutoff.is_none_or(|k| rank < k as usize)),
            move |n, _| Ok(p.scale(n)),
        ))
    }
}

/// 1 if the condition holds, else 0.
pub(crate) fn one_if(condition: bool) -> f64 {
    f64::from(u8::from(condition))
}
