//! judged@k: the fraction of judged documents among the first k.
//!
//! ```text
//! judged@k = (judged documents within rank k) / min(k, n)
//! ```
//!
//! Low values mean that the other metrics count many unjudged documents as non-relevant. This
//! metric sees the ranking with its unjudged documents even if other metrics drop them. An empty
//! list has no value and is skipped; a query that the run lacks counts 0 under `missing=zero`. Cost
//! O(k).
//!
//! ```
//! use rankwright_eval::{Candidates, MetricSpec, SourceKind};
//! let mut query = Candidates::new();
//! query.clear();
//! for score in [3.0, 2.0, 1.0] { query.push(score, 0.0); }
//! query.judged = vec![true, false, true];
//! let judged = MetricSpec::parse("judged@2")?.resolve(SourceKind::Run)?;
//! assert_eq!(judged.of_candidates(&query)?, Some(0.5));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use rankwright_spec::param_groups;

use super::{
    Metric, MetricDef, MetricParams, MissingOptions, MissingParams, OrderOptions, OrderParams,
    ZERO_TO_ONE,
};
use crate::error::EvalError;
use crate::list::RankedList;

param_groups! {
    /// Parameters of the fraction of judged documents.
    pub struct JudgedParams {
        missing: MissingParams, MissingOptions::missing_params;
        order: OrderParams, OrderOptions::order_params;
    }
}

/// Fraction of judged documents.
pub(super) static JUDGED: MetricDef = MetricDef {
    name: "judged",
    help: "Share of judged documents among the first k.",
    example: "judged@10",
    ..MetricDef::of::<JudgedParams>()
};

impl MetricParams for JudgedParams {
    fn def(&self) -> &'static MetricDef {
        &JUDGED
    }

    fn build(&self, cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(Judged { cutoff })
    }
}

#[derive(Debug)]
struct Judged {
    cutoff: Option<u32>,
}

impl Metric for Judged {
    fn range(&self) -> (f64, f64) {
        ZERO_TO_ONE
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        let depth = list.depth(self.cutoff);
        let judged = (0..depth).filter(|&rank| list.is_judged(rank)).count();
        Ok((depth > 0).then(|| judged as f64 / depth as f64))
    }
}
