//! RMSE and MAE: the error of scores as predictions of labels, for pointwise learners.
//!
//! ```text
//! RMSE = sqrt(mean of (score - label)^2)        MAE = mean of |score - label|
//! ```
//!
//! Each query gets its own value. The value for all queries is computed over all rows by default
//! (`over=rows`, the usual definition: long queries weigh more); `over=queries` takes the mean of
//! the queries' values.
//! Unjudged documents are left out unless `unjudged=nonrel`. An empty query is skipped. An infinite
//! score makes an infinite error. Cost O(n).
//!
//! ```
//! use rankwright_eval::{MetricSpec, SourceKind};
//! let mae = MetricSpec::parse("mae")?.resolve(SourceKind::Features)?;
//! let rmse = MetricSpec::parse("rmse")?.resolve(SourceKind::Features)?;
//! assert_eq!(mae.of(&[1.0, 4.0], &[1.0, 2.0])?, Some(1.0));
//! assert_eq!(rmse.of(&[1.0, 4.0], &[1.0, 2.0])?, Some(2_f64.sqrt()));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use rankwright_spec::{choices, param_groups, params};

use super::{Aggregate, Metric, MetricDef, MetricParams, UnjudgedOptions, UnjudgedParams};
use crate::compare::Better;
use crate::convention::Unjudged;
use crate::error::EvalError;
use crate::list::RankedList;

choices! {
    /// The items over which the value for all queries is a mean.
    #[non_exhaustive]
    pub enum Over {
        /// Documents: each counts the same.
        Rows = "rows",
        /// Queries: each counts the same.
        Queries = "queries",
    }
}

params! {
    /// The mean of a pointwise metric.
    pub struct OverParams {
        over: Over = Over::Rows, .., "Value for all queries: computed over all rows (rows), or the mean of the queries' values (queries).";
    }
    /// Builder methods for the mean of a pointwise metric.
    pub trait OverOptions: over_params;
}

param_groups! {
    /// Parameters of RMSE.
    pub struct RmseParams {
        over: OverParams, OverOptions::over_params;
        unjudged: UnjudgedParams = UnjudgedParams::default().unjudged(Unjudged::Drop), UnjudgedOptions::unjudged_params;
    }
}

param_groups! {
    /// Parameters of MAE.
    pub struct MaeParams {
        over: OverParams, OverOptions::over_params;
        unjudged: UnjudgedParams = UnjudgedParams::default().unjudged(Unjudged::Drop), UnjudgedOptions::unjudged_params;
    }
}

/// RMSE.
pub(super) static RMSE: MetricDef = MetricDef {
    name: "rmse",
    help: "Root of the mean squared difference between score and label.",
    example: "rmse(over=queries)",
    cutoff: false,
    ..MetricDef::of::<RmseParams>()
};

/// MAE.
pub(super) static MAE: MetricDef = MetricDef {
    name: "mae",
    help: "Mean absolute difference between score and label.",
    example: "mae(over=queries)",
    cutoff: false,
    ..MetricDef::of::<MaeParams>()
};

impl MetricParams for RmseParams {
    fn def(&self) -> &'static MetricDef {
        &RMSE
    }

    fn build(&self, _cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(PointwiseError { squared: true, over: self.over.over })
    }
}

impl MetricParams for MaeParams {
    fn def(&self) -> &'static MetricDef {
        &MAE
    }

    fn build(&self, _cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(PointwiseError { squared: false, over: self.over.over })
    }
}

#[derive(Debug)]
struct PointwiseError {
    /// Whether differences are squared (RMSE); otherwise their absolute values count (MAE).
    squared: bool,
    over: Over,
}

impl Metric for PointwiseError {
    fn range(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

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

    fn aggregate(&self) -> Aggregate {
        match (self.over, self.squared) {
            (Over::Rows, true) => Aggregate::RowRootMeanSquare,
            (Over::Rows, false) => Aggregate::RowMean,
            (Over::Queries, _) => Aggregate::Mean,
        }
    }
}
