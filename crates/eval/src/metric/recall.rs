//! Recall@k: the fraction of the query's relevant documents that are within rank k.
//!
//! ```text
//! recall@k = (relevant documents within rank k) / R
//! ```
//!
//! R is the number of the query's relevant documents, retrieved or not. Without a cut-off the whole
//! list counts. Cost O(k). `ties=mean` gives the exact mean over all orders of tied documents. With
//! R = 0 the convention `blank` decides: skipped, 0 or 1.
//!
//! ```
//! use rankwright_eval::of_ranking;
//! assert_eq!(of_ranking("recall@2", &[1.0, 0.0, 2.0, 1.0])?, Some(1.0 / 3.0));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use rankwright_spec::param_groups;

use super::precision::one_if;
use super::{
    ConventionOptions, ConventionParams, Metric, MetricDef, MetricParams, PresetParams, RelOptions,
    RelParams, ZERO_TO_ONE, position_sum,
};
use crate::error::EvalError;
use crate::list::RankedList;
use crate::swap::{AdditiveSwap, SwapDelta};

param_groups! {
    /// Parameters of recall.
    pub struct RecallParams {
        preset: PresetParams;
        rel: RelParams, RelOptions::rel_params;
        conventions: ConventionParams, ConventionOptions::convention_params;
    }
}

/// recall.
pub(super) static RECALL: MetricDef = MetricDef {
    name: "recall",
    aliases: &["r"],
    help: "Share of the relevant documents that are among the first k.",
    example: "recall(rel=1)@100",
    mean_ties: true,
    ..MetricDef::of::<RecallParams>()
};

impl MetricParams for RecallParams {
    fn def(&self) -> &'static MetricDef {
        &RECALL
    }

    fn build(&self, cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(Recall { rel: self.rel.rel, cutoff })
    }
}

#[derive(Debug, Clone, Copy)]
struct Recall {
    rel: f64,
    cutoff: Option<u32>,
}

impl Metric for Recall {
    fn range(&self) -> (f64, f64) {
        ZERO_TO_ONE
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        let hits = position_sum(list, self.cutoff, |l| Ok(one_if(l >= self.rel)), |_| 1.0)?;
        Ok(Some(hits / list.relevant(self.rel) as f64))
    }

    fn has_no_relevant(&self, list: &RankedList<'_>) -> Result<bool, EvalError> {
        Ok(list.has_no_relevant(self.rel))
    }

    fn depth(&self) -> Option<u32> {
        self.cutoff
    }

    fn swap(&self) -> Option<Box<dyn SwapDelta>> {
        let recall = *self;
        Some(AdditiveSwap::new(
            move |label| Ok(one_if(label >= recall.rel)),
            move |rank| one_if(recall.cutoff.is_none_or(|k| rank < k as usize)),
            move |_, ideal| {
                let relevant = ideal.iter().filter(|l| **l >= recall.rel).count();
                Ok(if relevant > 0 { 1.0 / relevant as f64 } else { 0.0 })
            },
        ))
    }
}
