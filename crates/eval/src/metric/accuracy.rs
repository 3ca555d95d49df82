//! Classification accuracy: a document is classified as relevant if its score reaches a threshold.
//!
//! ```text
//! accuracy = fraction of documents for which (score >= threshold) equals (label >= rel)
//! ```
//!
//! Averaged over rows (`over=rows`: each document counts the same) or over queries. Unjudged
//! documents are left out unless `unjudged=nonrel`. No documents: no value, skipped. Cost O(n).
//!
//! ```
//! use rankwright_eval::{MetricSpec, SourceKind};
//! let accuracy = MetricSpec::parse("accuracy(threshold=0)")?.resolve(SourceKind::Features)?;
//! assert_eq!(accuracy.of(&[0.4, -0.2, 0.1], &[1.0, 0.0, 0.0])?, Some(2.0 / 3.0));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use rankwright_spec::{param_groups, params};

use super::pointwise::{Over, OverOptions, OverParams};
use super::{
    Aggregate, Metric, MetricDef, MetricParams, RelOptions, RelParams, UnjudgedOptions,
    UnjudgedParams, ZERO_TO_ONE,
};
use crate::convention::Unjudged;
use crate::error::EvalError;
use crate::list::RankedList;

params! {
    /// The threshold of accuracy.
    pub struct ThresholdParams {
        threshold: f64 = 0.5, .., "Score from which a document is called relevant.";
    }
    /// Builder methods for the threshold of accuracy.
    pub trait ThresholdOptions: threshold_params;
}

param_groups! {
    /// Parameters of accuracy.
    pub struct AccuracyParams {
        threshold: ThresholdParams, ThresholdOptions::threshold_params;
        rel: RelParams, RelOptions::rel_params;
        over: OverParams, OverOptions::over_params;
        unjudged: UnjudgedParams = UnjudgedParams::default().unjudged(Unjudged::Drop), UnjudgedOptions::unjudged_params;
    }
}

/// Accuracy.
pub(super) static ACCURACY: MetricDef = MetricDef {
    name: "accuracy",
    help: "Classification: share of documents on the right side of a score threshold.",
    example: "accuracy(threshold=0.5, rel=1)",
    cutoff: false,
    ..MetricDef::of::<AccuracyParams>()
};

impl MetricParams for AccuracyParams {
    fn def(&self) -> &'static MetricDef {
        &ACCURACY
    }

    fn build(&self, _cutoff: Option<u32>) -> Box<dyn Metric> {
        let (threshold, over) = (self.threshold.threshold, self.over.over);
        Box::new(Accuracy { threshold, rel: self.rel.rel, over })
    }
}

#[derive(Debug)]
struct Accuracy {
    threshold: f64,
    rel: f64,
    over: Over,
}

impl Metric for Accuracy {
    fn range(&self) -> (f64, f64) {
        ZERO_TO_ONE
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        let rows = list.scores().iter().zip(list.labels());
        let right = rows.filter(|(s, l)| (**s >= self.threshold) == (**l >= self.rel)).count();
        Ok((!list.is_empty()).then(|| right as f64 / list.len() as f64))
    }

    fn when_missing(&self, _list: &RankedList<'_>) -> Option<f64> {
        None
    }

    fn aggregate(&self) -> Aggregate {
        match self.over {
            Over::Rows => Aggregate::RowMean,
            Over::Queries => Aggregate::Mean,
        }
    }
}
