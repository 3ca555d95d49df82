//! Classification accuracy: a document is called relevant when its score reaches a threshold.
//!
//! ```text
//! accuracy = share of documents where (score >= threshold) equals (label >= rel)
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

use super::pointwise::Over;
use super::{Aggregate, Metric};
use crate::convention::read_rel;
use crate::error::EvalError;
use crate::list::RankedList;
use crate::params::{ParamInfo, Params};
use rankwright_spec::SpecError;

/// `threshold` of accuracy.
pub(crate) const THRESHOLD: ParamInfo = ParamInfo {
    name: "threshold",
    doc: "score from which a document is called relevant",
    default: "0.5",
};

#[derive(Debug)]
struct Accuracy {
    threshold: f64,
    rel: f64,
    over: Over,
}

pub(crate) fn build(params: &Params<'_>) -> Result<Box<dyn Metric>, SpecError> {
    let threshold = params.f64("threshold", 0.5)?;
    Ok(Box::new(Accuracy { threshold, rel: read_rel(params)?, over: Over::read(params)? }))
}

impl Metric for Accuracy {
    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        let rows = list.scores().iter().zip(list.labels());
        let right = rows.filter(|(s, l)| (**s >= self.threshold) == (**l >= self.rel)).count();
        Ok((!list.is_empty()).then(|| right as f64 / list.len() as f64))
    }

    fn when_missing(&self, _list: &RankedList<'_>) -> Option<f64> {
        None
    }

    fn convention(&self) -> String {
        format!("threshold={}, rel={}, over={}", self.threshold, self.rel, self.over.name())
    }

    fn aggregate(&self) -> Aggregate {
        match self.over {
            Over::Rows => Aggregate::RowMean,
            Over::Queries => Aggregate::Mean,
        }
    }
}
