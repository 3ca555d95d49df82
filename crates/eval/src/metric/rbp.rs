//! RBP: rank-biased precision (Moffat and Zobel, TOIS 2008), and its residual.
//!
//! A reader goes on from each rank with probability p (the persistence):
//!
//! ```text
//! RBP      = (1 - p) * sum over r of gain_r * p^(r-1)
//! residual = (1 - p) * sum over unjudged r of p^(r-1)  +  p^n
//! ```
//!
//! Without `max` the gain is binary: 1 from label `rel` up. With `max` it is graded, label / max,
//! and a label above it is an error. The residual is the weight of what is not known: unjudged
//! ranks, and all ranks behind the end of the list; RBP could still rise by that much. A cut-off
//! ends the list there. Cost O(n). RBP is exact under `ties=mean`.
//!
//! ```
//! use rankwright_eval::of_ranking;
//! let close = |a: Option<f64>, b: f64| a.is_some_and(|a| (a - b).abs() < 1e-12);
//! assert!(close(of_ranking("rbp(p=0.5)", &[1.0, 0.0, 2.0])?, 0.625));
//! assert!(close(of_ranking("rbp(p=0.5, max=2)", &[1.0, 0.0, 2.0])?, 0.375));
//! assert!(close(of_ranking("rbp-residual(p=0.5)", &[1.0, 0.0, 2.0])?, 0.125));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use super::{Metric, position_sum, say_cutoff};
use crate::compare::Better;
use crate::convention::read_rel;
use crate::error::EvalError;
use crate::list::RankedList;
use crate::params::{ParamInfo, Params};
use crate::swap::{AdditiveSwap, SwapDelta};
use rankwright_spec::SpecError;

/// `p` of RBP.
pub(crate) const P: ParamInfo =
    ParamInfo { name: "p", doc: "persistence of the reader (between 0 and 1)", default: "0.8" };
/// `max` of RBP.
pub(crate) const MAX: ParamInfo = ParamInfo {
    name: "max",
    doc: "highest label, for graded gains label / max; without it gains are 0 or 1 by rel",
    default: "(binary)",
};

#[derive(Debug, Clone, Copy)]
struct Rbp {
    p: f64,
    gain: RbpGain,
    cutoff: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
enum RbpGain {
    Binary { rel: f64 },
    Graded { max: f64 },
}

fn persistence(params: &Params<'_>) -> Result<f64, SpecError> {
    params.f64_in("p", 0.8, |p| p > 0.0 && p < 1.0, "a number between 0 and 1, both excluded")
}

pub(crate) fn build(params: &Params<'_>) -> Result<Box<dyn Metric>, SpecError> {
    let gain = if params.text("max").is_some() {
        if params.is_written("rel") {
            return Err(params.conflict(
                "max= asks for graded gains and rel= for binary ones; leave one of them out",
            ));
        }
        RbpGain::Graded { max: params.f64_in("max", 1.0, |m| m > 0.0, "a label above 0")? }
    } else {
        RbpGain::Binary { rel: read_rel(params)? }
    };
    Ok(Box::new(Rbp { p: persistence(params)?, gain, cutoff: params.cutoff() }))
}

impl RbpGain {
    fn of(self, label: f64) -> Result<f64, EvalError> {
        match self {
            RbpGain::Binary { rel } => Ok(f64::from(u8::from(label >= rel))),
            RbpGain::Graded { max } if label > max => Err(EvalError::LabelTooLarge {
                metric: "rbp",
                found: label,
                max,
                hint: "say max= with the highest label of the data",
            }),
            RbpGain::Graded { max } => Ok(label.max(0.0) / max),
        }
    }
}

impl Rbp {
    fn weight(&self, rank: usize) -> f64 {
        (1.0 - self.p) * self.p.powf(rank as f64)
    }
}

impl Metric for Rbp {
    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        position_sum(list, self.cutoff, |l| self.gain.of(l), |r| self.weight(r)).map(Some)
    }

    fn is_blank(&self, list: &RankedList<'_>) -> Result<bool, EvalError> {
        match list.ideal().first() {
            Some(&best) => Ok(self.gain.of(best)? <= 0.0),
            None => Ok(true),
        }
    }

    fn convention(&self) -> String {
        let gain = match self.gain {
            RbpGain::Binary { rel } => format!("rel={rel}, max=none"),
            RbpGain::Graded { max } => format!("max={max}, rel=none"),
        };
        format!("p={}, {gain}, {}", self.p, say_cutoff(self.cutoff))
    }

    fn swap(&self) -> Option<Box<dyn SwapDelta>> {
        let rbp = *self;
        Some(AdditiveSwap::new(
            move |label| rbp.gain.of(label),
            move |rank| {
                let inside = rbp.cutoff.is_none_or(|k| rank < k as usize);
                if inside { rbp.weight(rank) } else { 0.0 }
            },
            |_, _| Ok(1.0),
        ))
    }
}

#[derive(Debug)]
struct Residual {
    p: f64,
    cutoff: Option<u32>,
}

pub(crate) fn build_residual(params: &Params<'_>) -> Result<Box<dyn Metric>, SpecError> {
    Ok(Box::new(Residual { p: persistence(params)?, cutoff: params.cutoff() }))
}

impl Metric for Residual {
    fn better(&self) -> Better {
        Better::Lower
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        let mut weight = 1.0;
        let mut unknown = 0.0;
        for rank in 0..list.depth(self.cutoff) {
            if !list.is_judged(rank) {
                unknown += (1.0 - self.p) * weight;
            }
            weight *= self.p;
        }
        Ok(Some(unknown + weight))
    }

    fn when_missing(&self, _list: &RankedList<'_>) -> Option<f64> {
        Some(1.0)
    }

    fn convention(&self) -> String {
        format!("p={}, {}", self.p, say_cutoff(self.cutoff))
    }
}
