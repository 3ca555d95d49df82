//! R-precision: precision at rank R, where R is the number of relevant documents.
//!
//! ```text
//! Rprec = (relevant documents within rank R) / R
//! ```
//!
//! A list shorter than R is divided by R all the same, as in trec_eval. Cost O(R). R = 0 makes the
//! query blank.
//!
//! ```
//! use rankwright_eval::of_ranking;
//! assert_eq!(of_ranking("rprec", &[1.0, 0.0, 2.0, 1.0])?, Some(2.0 / 3.0));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use super::Metric;
use crate::convention::read_rel;
use crate::error::EvalError;
use crate::list::RankedList;
use crate::params::Params;
use rankwright_spec::SpecError;

#[derive(Debug)]
struct RPrecision {
    rel: f64,
}

pub(crate) fn build(params: &Params<'_>) -> Result<Box<dyn Metric>, SpecError> {
    Ok(Box::new(RPrecision { rel: read_rel(params)? }))
}

impl Metric for RPrecision {
    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        let relevant = list.relevant(self.rel);
        let hits = list.labels().iter().take(relevant).filter(|l| **l >= self.rel).count();
        Ok(Some(hits as f64 / relevant as f64))
    }

    fn is_blank(&self, list: &RankedList<'_>) -> Result<bool, EvalError> {
        Ok(list.has_no_relevant(self.rel))
    }

    fn convention(&self) -> String {
        format!("rel={}", self.rel)
    }
}
