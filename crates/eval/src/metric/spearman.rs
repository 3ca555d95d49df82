//! Spearman's rank correlation between scores and labels.
//!
//! Pearson's correlation of the ranks, where equal values share the mean of their ranks. From -1 to
//! 1, O(n log n). No tie policy applies. All labels equal, or fewer than two documents: no value,
//! skipped. All scores equal: 0.
//!
//! ```
//! use rankwright_eval::of_ranking;
//! assert_eq!(of_ranking("spearman", &[3.0, 1.0, 2.0])?, Some(0.5));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use rankwright_spec::param_groups;

use super::{
    Metric, MetricDef, MetricParams, MissingOptions, MissingParams, UnjudgedOptions, UnjudgedParams,
};
use crate::error::EvalError;
use crate::list::RankedList;

param_groups! {
    /// Parameters of Spearman's correlation.
    pub struct SpearmanParams {
        missing: MissingParams, MissingOptions::missing_params;
        unjudged: UnjudgedParams, UnjudgedOptions::unjudged_params;
    }
}

/// Spearman's correlation.
pub(super) static SPEARMAN: MetricDef = MetricDef {
    name: "spearman",
    aliases: &["rho"],
    help: "Spearman's rank correlation between scores and labels.",
    example: "spearman",
    cutoff: false,
    ..MetricDef::of::<SpearmanParams>()
};

impl MetricParams for SpearmanParams {
    fn def(&self) -> &'static MetricDef {
        &SPEARMAN
    }

    fn build(&self, _cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(Spearman)
    }
}

#[derive(Debug)]
struct Spearman;

impl Metric for Spearman {
    fn range(&self) -> (f64, f64) {
        (-1.0, 1.0)
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        let scores = centred_ranks(list.scores());
        let labels = centred_ranks(list.labels());
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        // Proportional to the variances of the ranks.
        let (label_variance, score_variance) = (dot(&labels, &labels), dot(&scores, &scores));
        if label_variance == 0.0 {
            return Ok(None);
        }
        if score_variance == 0.0 {
            return Ok(Some(0.0));
        }
        Ok(Some(dot(&scores, &labels) / (label_variance * score_variance).sqrt()))
    }

    fn when_missing(&self, list: &RankedList<'_>) -> Option<f64> {
        list.labels_differ().then_some(0.0)
    }
}

/// The ranks of values, where equal values share the mean of their ranks, shifted so that they sum
/// to 0. They are multiples of one half, hence exact.
fn centred_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    // Adding 0.0 turns -0.0 into 0.0.
    order.sort_unstable_by(|&a, &b| (values[a] + 0.0).total_cmp(&(values[b] + 0.0)));
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let mean = start as f64 + (equal.len() as f64 - 1.0) / 2.0;
        for &row in equal {
            ranks[row] = mean - middle;
        }
        start += equal.len();
    }
    ranks
}
