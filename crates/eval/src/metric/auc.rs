//! AUC: area under the ROC curve within one query.
//!
//! ```text
//! AUC = P(score of a relevant document > score of a non-relevant one), equal scores counting half
//! ```
//!
//! One pass over the ranking, O(n). No tie policy applies. A query without a relevant or without a
//! non-relevant document has no AUC and is skipped.
//!
//! ```
//! use rankwright_eval::of_ranking;
//! assert_eq!(of_ranking("auc", &[1.0, 0.0, 1.0, 0.0])?, Some(0.75));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use rankwright_spec::param_groups;

use super::{
    Metric, MetricDef, MetricParams, MissingOptions, MissingParams, RelOptions, RelParams,
    UnjudgedOptions, UnjudgedParams, ZERO_TO_ONE,
};
use crate::error::EvalError;
use crate::list::RankedList;

param_groups! {
    /// Parameters of AUC.
    pub struct AucParams {
        rel: RelParams, RelOptions::rel_params;
        missing: MissingParams, MissingOptions::missing_params;
        unjudged: UnjudgedParams, UnjudgedOptions::unjudged_params;
    }
}

/// AUC.
pub(super) static AUC: MetricDef = MetricDef {
    name: "auc",
    help: "Area under the ROC curve within a query; equal scores count half.",
    example: "auc(rel=1)",
    cutoff: false,
    ..MetricDef::of::<AucParams>()
};

impl MetricParams for AucParams {
    fn def(&self) -> &'static MetricDef {
        &AUC
    }

    fn build(&self, _cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(Auc { rel: self.rel.rel })
    }
}

#[derive(Debug)]
struct Auc {
    rel: f64,
}

impl Metric for Auc {
    fn range(&self) -> (f64, f64) {
        ZERO_TO_ONE
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        // Numbers of relevant and of other documents so far, and of pairs in the right order.
        let (mut relevant_above, mut others_above, mut right_pairs, mut start) = (0.0, 0.0, 0.0, 0);
        for tied in list.scores().chunk_by(|a, b| a == b) {
            let labels = &list.labels()[start..start + tied.len()];
            let relevant = labels.iter().filter(|l| **l >= self.rel).count() as f64;
            let others = labels.len() as f64 - relevant;
            right_pairs += others * (relevant_above + relevant / 2.0);
            relevant_above += relevant;
            others_above += others;
            start += tied.len();
        }
        let pairs = relevant_above * others_above;
        Ok((pairs > 0.0).then(|| right_pairs / pairs))
    }

    fn when_missing(&self, list: &RankedList<'_>) -> Option<f64> {
        let relevant = list.relevant(self.rel);
        (relevant > 0 && relevant < list.ideal().len()).then_some(0.0)
    }
}
