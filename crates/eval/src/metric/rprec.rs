//! R-precision: precision at rank R, where R is the number of relevant documents.
//!
//! ```text
//! Rprec = (relevant documents within rank R) / R
//! ```
//!
//! A list shorter than R is still divided by R, as in trec_eval. Cost O(R). With R = 0 the
//! convention `blank` decides: skipped, 0 or 1.
//!
//! ```
//! use rankwright_eval::of_ranking;
//! assert_eq!(of_ranking("rprec", &[1.0, 0.0, 2.0, 1.0])?, Some(2.0 / 3.0));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use rankwright_spec::param_groups;

use super::{
    ConventionOptions, ConventionParams, Metric, MetricDef, MetricParams, PresetParams, RelOptions,
    RelParams, ZERO_TO_ONE,
};
use crate::error::EvalError;
use crate::list::RankedList;

param_groups! {
    /// Parameters of R-precision.
    pub struct RPrecisionParams {
        preset: PresetParams;
        rel: RelParams, RelOptions::rel_params;
        conventions: ConventionParams, ConventionOptions::convention_params;
    }
}

/// R-precision.
pub(super) static R_PRECISION: MetricDef = MetricDef {
    name: "rprec",
    aliases: &["r-precision"],
    help: "Precision at rank R, the number of relevant documents.",
    example: "rprec(rel=1)",
    cutoff: false,
    ..MetricDef::of::<RPrecisionParams>()
};

impl MetricParams for RPrecisionParams {
    fn def(&self) -> &'static MetricDef {
        &R_PRECISION
    }

    fn build(&self, _cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(RPrecision { rel: self.rel.rel })
    }
}

#[derive(Debug)]
struct RPrecision {
    rel: f64,
}

impl Metric for RPrecision {
    fn range(&self) -> (f64, f64) {
        ZERO_TO_ONE
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        let relevant = list.relevant(self.rel);
        let hits = list.labels().iter().take(relevant).filter(|l| **l >= self.rel).count();
        Ok(Some(hits as f64 / relevant as f64))
    }

    fn has_no_relevant(&self, list: &RankedList<'_>) -> Result<bool, EvalError> {
        Ok(list.has_no_relevant(self.rel))
    }
}
