//! Classification accuracy: a document is classified as relevant if its score reaches a threshold.
//!
//! ```text
//! accuracy = fraction of documents for which (score >= threshold) equals (label >= rel)
//! ```
//!
//! The threshold is given, or `auto`: the boundary of the model that made the scores, such as 0 for
//! a support vector machine, if the caller knows the model ([`Measure::with_boundary`]), and
//! otherwise 0.5. The convention printed with the value names the number that was used, or
//! `each-model` if each model has its own.
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
//!
//! [`Measure::with_boundary`]: crate::Measure::with_boundary

use rankwright_spec::{Auto, ParamGroup, ParamValue, param_groups, params};

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
        threshold: Auto<f64> = Auto::Auto, ..,
            "Score from which a document is called relevant; auto: the boundary of the model, or 0.5 \
             if there is no model or it has no boundary.";
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
        Box::new(Accuracy {
            threshold: self.threshold_or_default(),
            rel: self.rel.rel,
            over: self.over.over,
        })
    }

    fn own_conventions(&self) -> Vec<String> {
        let over = self.text("over").map(|over| format!("over={over}"));
        let threshold = self.threshold_or_default().write();
        let parts = [format!("threshold={threshold}"), format!("rel={}", self.rel.rel.write())];
        parts.into_iter().chain(over).collect()
    }

    fn takes_boundary(&self) -> Option<f64> {
        (self.threshold.threshold == Auto::Auto).then_some(self.rel.rel)
    }
}

impl AccuracyParams {
    /// The threshold of scores without a model, or of a model without a boundary.
    pub const DEFAULT_THRESHOLD: f64 = 0.5;

    /// The given threshold, or the default. [`Measure::with_boundary`] gives the boundary of a
    /// model as the threshold.
    fn threshold_or_default(&self) -> f64 {
        self.threshold.threshold.or(Self::DEFAULT_THRESHOLD)
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
