//! Interpolated precision at a level of recall.
//!
//! ```text
//! iprec(x) = highest precision at any rank from the first one with recall x on
//! ```
//!
//! Recall x of R relevant documents is reached at the relevant document with the number x * R,
//! rounded: `round=nearest` is floor(x * R + 0.5), as in trec_eval 10; `round=up` adds 0.9 instead,
//! as in trec_eval 9 and pytrec_eval. A level that the list never reaches counts 0; level 0 is the
//! highest precision anywhere. Cost O(n). With R = 0 the convention `blank` decides:
//! skipped, 0 or 1.
//!
//! ```
//! use rankwright_eval::of_ranking;
//! let labels = [1.0, 0.0, 0.0, 1.0];
//! assert_eq!(of_ranking("iprec(recall=0.6)", &labels)?, Some(1.0));
//! assert_eq!(of_ranking("iprec(recall=0.6, round=up)", &labels)?, Some(0.5));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use rankwright_spec::{choices, param_groups, params};

use super::{
    ConventionOptions, ConventionParams, Metric, MetricDef, MetricParams, PresetParams, RelOptions,
    RelParams, ZERO_TO_ONE,
};
use crate::error::EvalError;
use crate::list::RankedList;

choices! {
    /// The rounding that decides which relevant document reaches a level of recall.
    #[non_exhaustive]
    pub enum RecallRounding {
        /// floor(x * R + 0.5), as trec_eval 10 does.
        Nearest = "nearest",
        /// floor(x * R + 0.9), as trec_eval 9 does.
        Up = "up",
    }
}

params! {
    /// The level of recall.
    pub struct RecallLevelParams {
        // NaN: there is no default, the parameter must be given.
        recall: f64 = f64::NAN, 0.0..=1.0, "Level of recall, from 0 to 1.";
        round: RecallRounding = RecallRounding::Nearest, ..,
            "Relevant document that reaches the level: nearest as trec_eval 10, up as trec_eval 9.";
    }
    /// Builder methods for the level of recall.
    pub trait RecallLevelOptions: recall_level_params;
}

param_groups! {
    /// Parameters of interpolated precision.
    pub struct InterpolatedPrecisionParams {
        preset: PresetParams;
        level: RecallLevelParams, RecallLevelOptions::recall_level_params;
        rel: RelParams, RelOptions::rel_params;
        conventions: ConventionParams, ConventionOptions::convention_params;
    }
}

/// Interpolated precision.
pub(super) static INTERPOLATED_PRECISION: MetricDef = MetricDef {
    name: "iprec",
    help: "Interpolated precision at a level of recall.",
    example: "iprec(recall=0.1)",
    cutoff: false,
    ..MetricDef::of::<InterpolatedPrecisionParams>()
};

impl MetricParams for InterpolatedPrecisionParams {
    fn def(&self) -> &'static MetricDef {
        &INTERPOLATED_PRECISION
    }

    fn build(&self, _cutoff: Option<u32>) -> Box<dyn Metric> {
        let RecallLevelParams { recall, round } = self.level;
        Box::new(InterpolatedPrecision { recall, round, rel: self.rel.rel })
    }
}

#[derive(Debug)]
struct InterpolatedPrecision {
    recall: f64,
    round: RecallRounding,
    rel: f64,
}

impl Metric for InterpolatedPrecision {
    fn range(&self) -> (f64, f64) {
        ZERO_TO_ONE
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        let rounding = match self.round {
            RecallRounding::Nearest => 0.5,
            RecallRounding::Up => 0.9,
        };
        let needed = (self.recall * list.relevant(self.rel) as f64 + rounding) as usize;
        let (mut hits, mut best) = (0_usize, 0.0);
        for (rank, &label) in list.labels().iter().enumerate() {
            // Precision has its maxima at relevant ranks.
            if label >= self.rel {
                hits += 1;
                if hits >= needed {
                    best = f64::max(best, hits as f64 / (rank as f64 + 1.0));
                }
            }
        }
        Ok(Some(best))
    }

    fn has_no_relevant(&self, list: &RankedList<'_>) -> Result<bool, EvalError> {
        Ok(list.has_no_relevant(self.rel))
    }
}
