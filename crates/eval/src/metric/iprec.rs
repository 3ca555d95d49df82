//! Interpolated precision at a level of recall.
//!
//! ```text
//! iprec(x) = highest precision at any rank from the one where recall reaches x
//! ```
//!
//! Recall x of R relevant documents is reached with the relevant document number x * R, rounded:
//! `round=nearest` is floor(x * R + 0.5), as trec_eval 10 does; `round=up` is floor(x * R + 0.9), as
//! trec_eval 9 and pytrec_eval do. A level that the list never reaches counts 0; level 0 is the
//! highest precision anywhere. Cost O(n). R = 0 makes the query blank.
//!
//! ```
//! use rankwright_eval::of_ranking;
//! let labels = [1.0, 0.0, 0.0, 1.0];
//! assert_eq!(of_ranking("iprec(recall=0.6)", &labels)?, Some(1.0));
//! assert_eq!(of_ranking("iprec(recall=0.6, round=up)", &labels)?, Some(0.5));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use super::Metric;
use crate::convention::read_rel;
use crate::error::EvalError;
use crate::list::RankedList;
use crate::params::{ParamInfo, Params};
use rankwright_spec::SpecError;

/// `recall` of interpolated precision.
pub(crate) const RECALL: ParamInfo =
    ParamInfo { name: "recall", doc: "level of recall, from 0 to 1", default: "(required)" };
/// `round` of interpolated precision.
pub(crate) const ROUND: ParamInfo = ParamInfo {
    name: "round",
    doc: "relevant document that reaches the level: nearest (trec_eval 10) | up (trec_eval 9)",
    default: "nearest",
};

#[derive(Debug)]
struct InterpolatedPrecision {
    recall: f64,
    round_up: bool,
    rel: f64,
}

pub(crate) fn build(params: &Params<'_>) -> Result<Box<dyn Metric>, SpecError> {
    const EXPECTED: &str = "a level of recall from 0 to 1";
    if params.text("recall").is_none() {
        let (name, key) = (params.name().to_owned(), "recall".to_owned());
        return Err(SpecError::MissingKey { name, key, expected: EXPECTED.to_owned() });
    }
    let recall = params.f64_in("recall", 0.0, |r| (0.0..=1.0).contains(&r), EXPECTED)?;
    let round_up = params.choice("round", &[("nearest", false), ("up", true)], false)?;
    Ok(Box::new(InterpolatedPrecision { recall, round_up, rel: read_rel(params)? }))
}

impl Metric for InterpolatedPrecision {
    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        let up = if self.round_up { 0.9 } else { 0.5 };
        let needed = (self.recall * list.relevant(self.rel) as f64 + up) as usize;
        let (mut hits, mut best) = (0_usize, 0.0);
        for (rank, &label) in list.labels().iter().enumerate() {
            // Precision only peaks at relevant ranks.
            if label >= self.rel {
                hits += 1;
                if hits >= needed {
                    best = f64::max(best, hits as f64 / (rank as f64 + 1.0));
                }
            }
        }
        Ok(Some(best))
    }

    fn is_blank(&self, list: &RankedList<'_>) -> Result<bool, EvalError> {
        Ok(list.has_no_relevant(self.rel))
    }

    fn convention(&self) -> String {
        format!(
            "recall={}, round={}, rel={}",
            self.recall,
            if self.round_up { "up" } else { "nearest" },
            self.rel
        )
    }
}
