//! P@k: precision, the share of relevant documents among the first k.
//!
//! ```text
//! P@k = (relevant documents within rank k) / k
//! ```
//!
//! A list of n < k documents is divided by k all the same (`short=keep`, trec_eval, LETOR 4.0), by
//! n (`short=list`, RankLib, XGBoost), or counts 0 (`short=zero`, LETOR 3.0). Without a cut-off, k
//! is the length of the list; an empty list counts 0. Cost O(k); exact under `ties=mean`.
//!
//! ```
//! use rankwright_eval::of_ranking;
//! assert_eq!(of_ranking("p@4", &[1.0, 0.0, 2.0])?, Some(0.5));
//! assert_eq!(of_ranking("p(short=list)@4", &[1.0, 0.0, 2.0])?, Some(2.0 / 3.0));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use super::{Metric, position_sum, say_cutoff};
use crate::convention::read_rel;
use crate::error::EvalError;
use crate::list::RankedList;
use crate::params::{ParamInfo, Params};
use crate::swap::{AdditiveSwap, SwapDelta};
use rankwright_spec::SpecError;

/// `short` of P.
pub(crate) const SHORT: ParamInfo = ParamInfo {
    name: "short",
    doc: "list with fewer than k documents: keep (divide by k) | list (by its length) | zero",
    default: "keep",
};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Short {
    Keep,
    List,
    Zero,
}

#[derive(Debug, Clone, Copy)]
struct Precision {
    rel: f64,
    short: Short,
    cutoff: Option<u32>,
}

const SHORTS: [(&str, Short); 3] =
    [("keep", Short::Keep), ("list", Short::List), ("zero", Short::Zero)];

pub(crate) fn build(params: &Params<'_>) -> Result<Box<dyn Metric>, SpecError> {
    let short = params.choice("short", &SHORTS, Short::Keep)?;
    Ok(Box::new(Precision { rel: read_rel(params)?, short, cutoff: params.cutoff() }))
}

impl Precision {
    /// 1 / (what the hits are divided by) for a list of n documents.
    fn scale(&self, n: usize) -> f64 {
        let k = self.cutoff.map_or(n, |k| k as usize);
        match self.short {
            _ if n >= k => 1.0 / k.max(1) as f64,
            Short::Keep => 1.0 / k as f64,
            Short::List => 1.0 / n.max(1) as f64,
            Short::Zero => 0.0,
        }
    }
}

impl Metric for Precision {
    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        let hits = position_sum(list, self.cutoff, |l| Ok(one_if(l >= self.rel)), |_| 1.0)?;
        Ok(Some(hits * self.scale(list.len())))
    }

    fn is_blank(&self, list: &RankedList<'_>) -> Result<bool, EvalError> {
        Ok(list.has_no_relevant(self.rel))
    }

    fn convention(&self) -> String {
        let short = SHORTS.iter().find(|(_, s)| *s == self.short).map_or("", |(n, _)| n);
        format!("short={short}, rel={}, {}", self.rel, say_cutoff(self.cutoff))
    }

    fn swap(&self) -> Option<Box<dyn SwapDelta>> {
        let p = *self;
        Some(AdditiveSwap::new(
            move |label| Ok(one_if(label >= p.rel)),
            move |rank| one_if(p.cutoff.is_none_or(|k| rank < k as usize)),
            move |n, _| Ok(p.scale(n)),
        ))
    }
}

pub(crate) fn one_if(yes: bool) -> f64 {
    f64::from(u8::from(yes))
}
