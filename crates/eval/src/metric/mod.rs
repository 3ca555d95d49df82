//! Metrics: one file each, and one list of all ([`METRICS`]).
//!
//! A [`Metric`] takes one query as a [`RankedList`] and returns a number. Queries without a
//! relevant document, queries that a run lacks, ties and means are handled once, outside
//! ([`Measure`], [`evaluate`](crate::evaluate())), so that a metric is its formula and little more.
//!
//! A metric's file declares its parameters (`param_groups!`, from the groups in `shared.rs` and its
//! own), its [`MetricDef`] and its formula. To add one: write its file, and add it
//! to this file: `mod`, `pub use`, and [`METRICS`].

use std::fmt::Debug;

use crate::compare::Better;
use crate::error::EvalError;
use crate::list::RankedList;
use crate::rank_sum::QueryValue;
use crate::swap::SwapDelta;

mod accuracy;
mod ap;
mod auc;
mod bpref;
mod choose;
mod counts;
mod dcg;
mod def;
mod err;
mod goals;
mod inversions;
mod iprec;
mod judged;
mod kendall;
mod mean_ndcg;
mod measure;
mod names;
mod ndcg;
mod pointwise;
mod precision;
mod preference_accuracy;
mod presets;
mod q;
mod rbp;
mod recall;
mod rprec;
mod rr;
mod shared;
mod spearman;
mod success;
#[cfg(test)]
mod tests;
mod text;

pub use choose::{
    DEFAULT_METRIC, DefaultMetrics, PREFERENCE_METRIC, ToMeasures, metric_or_default,
    metrics_or_default, usual_metrics,
};
pub use def::{MetricDef, MetricParams};
pub use measure::{BoundaryText, Measure, MetricSpec, of_ranking};
pub use names::parse_metrics;
pub use presets::{PRESETS, Preset, PresetDef, PresetParams};
pub use text::MetricText;

// The parameters of each metric.
pub use accuracy::*;
pub use ap::*;
pub use auc::*;
pub use bpref::*;
pub use counts::*;
pub use dcg::*;
pub use err::*;
pub use goals::*;
pub use inversions::*;
pub use iprec::*;
pub use judged::*;
pub use kendall::*;
pub use mean_ndcg::*;
pub use ndcg::*;
pub use pointwise::*;
pub use precision::*;
pub use preference_accuracy::*;
pub use q::*;
pub use rbp::*;
pub use recall::*;
pub use rprec::*;
pub use rr::*;
pub use shared::*;
pub use spearman::*;
pub use success::*;

/// Every metric.
pub static METRICS: &[&MetricDef] = &[
    &ndcg::NDCG,
    &dcg::DCG,
    &mean_ndcg::MEAN_NDCG,
    &ap::AP,
    &ap::GMAP,
    &rr::RR,
    &err::ERR,
    &rbp::RBP,
    &rbp::RBP_RESIDUAL,
    &precision::PRECISION,
    &recall::RECALL,
    &rprec::R_PRECISION,
    &success::SUCCESS,
    &bpref::BPREF,
    &iprec::INTERPOLATED_PRECISION,
    &q::Q,
    &judged::JUDGED,
    &kendall::KENDALL,
    &spearman::SPEARMAN,
    &inversions::PAIR_ACCURACY,
    &inversions::INVERSIONS,
    &preference_accuracy::PREFERENCE_ACCURACY,
    &auc::AUC,
    &accuracy::ACCURACY,
    &pointwise::RMSE,
    &pointwise::MAE,
    &goals::GOALS,
    &counts::NUM_Q,
    &counts::NUM_RET,
    &counts::NUM_REL,
    &counts::NUM_REL_RET,
];

/// Computes a number for one ranked query.
///
/// ```
/// use rankwright_eval::{Conventions, EvalError, Measure, Metric, RankedList, SourceKind};
///
/// /// Label of the first document.
/// #[derive(Debug)]
/// struct Top;
///
/// impl Metric for Top {
///     fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
///         Ok(list.labels().first().copied())
///     }
/// }
///
/// let top = Measure::custom("top", Top, Conventions::of(SourceKind::Features));
/// assert_eq!(top.of(&[0.1, 0.9], &[0.0, 3.0])?, Some(3.0));
/// # Ok::<(), EvalError>(())
/// ```
pub trait Metric: Debug + Send + Sync {
    /// The value for a query; `None` if it has no value, so that the query is skipped.
    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError>;

    /// Whether the query has no relevant document, so that the convention `blank` decides its
    /// value: skipped, 0 or 1.
    fn has_no_relevant(&self, _list: &RankedList<'_>) -> Result<bool, EvalError> {
        Ok(false)
    }

    /// The value of a judged query that the run lacks, under `missing=zero`; `None` if it is
    /// skipped even then.
    fn when_missing(&self, _list: &RankedList<'_>) -> Option<f64> {
        Some(0.0)
    }

    /// The metric's own conventions as `key=value, key=value`; empty if it has none.
    fn convention(&self) -> String {
        String::new()
    }

    /// The aggregation of the values of queries into one number.
    fn aggregate(&self) -> Aggregate {
        Aggregate::Mean
    }

    /// The weight of the query in a mean over rows: its number of rows.
    fn rows(&self, list: &RankedList<'_>) -> f64 {
        list.len() as f64
    }

    /// Whether the value depends on labels, so that data without labels cannot be evaluated.
    fn needs_labels(&self) -> bool {
        true
    }

    /// Whether higher or lower values are better.
    fn better(&self) -> Better {
        Better::Higher
    }

    /// The lowest and the highest value of a query; infinite if there is no bound. Intervals and
    /// axes of plots stay within it.
    fn range(&self) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }

    /// The number of first ranks whose labels, together with the ideal, determine the value, so
    /// that only the best documents need to be sorted; `None` if the value depends on more.
    fn depth(&self) -> Option<u32> {
        None
    }

    /// The change of the value when two ranks are swapped, for metrics that training can optimise;
    /// `None` for others.
    fn swap(&self) -> Option<Box<dyn SwapDelta>> {
        None
    }

    /// The value of a query with a relevant document as a function of the order of its documents,
    /// for metrics that are a sum over few ranks: from the labels of all documents, which are all
    /// judged, and the same labels best first. `None` for other metrics, and if the gain of a label
    /// is not defined.
    fn query_value(&self, _labels: &[f64], _ideal: &[f64]) -> Option<QueryValue> {
        None
    }
}

/// The range of most metrics.
pub(crate) const ZERO_TO_ONE: (f64, f64) = (0.0, 1.0);

/// The aggregation of the values of queries into one number.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Aggregate {
    /// Mean over queries, by query weight.
    Mean,
    /// Sum over queries; weights do not matter.
    Sum,
    /// Geometric mean over queries; values below the floor are raised to it.
    GeometricMean {
        /// The smallest value of a query in the mean.
        floor: f64,
    },
    /// Mean over rows: the weight of a query is its number of rows, times its query weight.
    RowMean,
    /// Square root of the mean over rows of the squared values.
    RowRootMeanSquare,
}

impl Aggregate {
    /// The name, as printed with a result.
    pub fn name(self) -> &'static str {
        match self {
            Aggregate::Mean => "mean",
            Aggregate::Sum => "sum",
            Aggregate::GeometricMean { .. } => "geometric-mean",
            Aggregate::RowMean => "mean-over-rows",
            Aggregate::RowRootMeanSquare => "root-mean-square-over-rows",
        }
    }
}

/// The sum over the ranks within the cut-off of gain(label) * discount(rank).
///
/// Under `ties=mean` each document of a tied group is at every rank of the group equally often, so
/// the group's mean gain times the sum of its ranks' discounts is the exact expectation (McSherry
/// and Najork, ECIR 2008). Cost O(n).
pub(crate) fn position_sum(
    list: &RankedList<'_>,
    cutoff: Option<u32>,
    gain: impl Fn(f64) -> Result<f64, EvalError>,
    discount: impl Fn(usize) -> f64,
) -> Result<f64, EvalError> {
    let depth = list.depth(cutoff);
    let mut sum = 0.0;
    let Some(groups) = list.tie_groups() else {
        for (rank, &label) in list.top(cutoff).iter().enumerate() {
            let gain = gain(label)?;
            if gain != 0.0 {
                sum += gain * discount(rank);
            }
        }
        return Ok(sum);
    };
    for group in groups.take_while(|g| g.start < depth) {
        let mut gains = 0.0;
        for &label in &list.labels()[group.clone()] {
            gains += gain(label)?;
        }
        let weight: f64 = (group.start..group.end.min(depth)).map(&discount).sum();
        sum += gains / group.len() as f64 * weight;
    }
    Ok(sum)
}
