//! RMSE and MAE: how far scores are from labels, for pointwise learners.
//!
//! ```text
//! RMSE = sqrt(mean of (score - label)^2)        MAE = mean of |score - label|
//! ```
//!
//! Each query gets its own value. The total is over all rows by default (`over=rows`, what people
//! expect of these two: long queries weigh more); `over=queries` takes the mean of the queries'
//! values. Unjudged documents are left out unless `unjudged=nonrel`. An empty query is skipped. An
//! infinite score makes an infinite error. Cost O(n).
//!
//! ```
//! use rankwright_eval::{MetricSpec, SourceKind};
//! let mae = MetricSpec::parse("mae")?.resolve(SourceKind::Features)?;
//! let rmse = MetricSpec::parse("rmse")?.resolve(SourceKind::Features)?;
//! assert_eq!(mae.of(&[1.0, 4.0], &[1.0, 2.0])?, Some(1.0));
//! assert_eq!(rmse.of(&[1.0, 4.0], &[1.0, 2.0])?, Some(2_f64.sqrt()));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use super::{Aggregate, Metric};
use crate::compare::Better;
use crate::error::EvalError;
use crate::list::RankedList;
use crate::params::{ParamInfo, Params};
use rankwright_spec::SpecError;

/// `over` of the pointwise metrics.
pub(crate) const OVER: ParamInfo = ParamInfo {
    name: "over",
    doc: "what the total is a mean of: rows (each document the same) | queries",
    default: "rows",
};

/// What the total is a mean of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Over {
    Rows,
    Queries,
}

impl Over {
    pub(crate) fn read(params: &Params<'_>) -> Result<Self, SpecError> {
        params.choice("over", &[("rows", Over::Rows), ("queries", Over::Queries)], Over::Rows)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Over::Rows => "rows",
            Over::Queries => "queries",
        }
    }
}

#[derive(Debug)]
struct Difference {
    squared: bool,
    over: Over,
}

pub(crate) fn build_rmse(params: &Params<'_>) -> Result<Box<dyn Metric>, SpecError> {
    Ok(Box::new(Difference { squared: true, over: Over::read(params)? }))
}

pub(crate) fn build_mae(params: &Params<'_>) -> Result<Box<dyn Metric>, SpecError> {
    Ok(Box::new(Difference { squared: false, over: Over::read(params)? }))
}

impl Metric for Difference {
    fn better(&self) -> Better {
        Better::Lower
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        if list.is_empty() {
            return Ok(None);
        }
        let differences = list.scores().iter().zip(list.labels()).map(|(s, l)| s - l);
        let sum: f64 = match self.squared {
            true => differences.map(|d| d * d).sum(),
            false => differences.map(f64::abs).sum(),
        };
        let mean = sum / list.len() as f64;
        Ok(Some(if self.squared { mean.sqrt() } else { mean }))
    }

    fn when_missing(&self, _list: &RankedList<'_>) -> Option<f64> {
        None
    }

    fn convention(&self) -> String {
        format!("over={}", self.over.name())
    }

    fn aggregate(&self) -> Aggregate {
        match (self.over, self.squared) {
            (Over::Rows, true) => Aggregate::RowRootMeanSquare,
            (Over::Rows, false) => Aggregate::RowMean,
            (Over::Queries, _) => Aggregate::Mean,
        }
    }
}
