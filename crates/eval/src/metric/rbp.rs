//! RBP: rank-biased precision (Moffat and Zobel, TOIS 2008), and its residual.
//!
//! A user continues from each rank with probability p (the persistence):
//!
//! ```text
//! RBP      = (1 - p) * sum over r of gain_r * p^(r-1)
//! residual = (1 - p) * sum over unjudged r of p^(r-1)  +  p^n
//! ```
//!
//! Without `max` the gain is binary: 1 for labels of `rel` and more, else 0. With `max` it is
//! graded, label / max, and a label above `max` is an error. The residual is the weight of the
//! unknown: of unjudged ranks, and of all ranks beyond the n of the list; RBP could still rise by
//! that much. With a cut-off k the list ends at rank k. Cost O(n). For RBP, `ties=mean` gives the
//! exact mean over all orders of tied documents.
//!
//! ```
//! use rankwright_eval::of_ranking;
//! let close = |a: Option<f64>, b: f64| a.is_some_and(|a| (a - b).abs() < 1e-12);
//! assert!(close(of_ranking("rbp(p=0.5)", &[1.0, 0.0, 2.0])?, 0.625));
//! assert!(close(of_ranking("rbp(p=0.5, max=2)", &[1.0, 0.0, 2.0])?, 0.375));
//! assert!(close(of_ranking("rbp-residual(p=0.5)", &[1.0, 0.0, 2.0])?, 0.125));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use rankwright_spec::{above, param_groups, params};

use super::{
    ConventionOptions, ConventionParams, Metric, MetricDef, MetricParams, MissingOptions,
    MissingParams, OrderOptions, OrderParams, RelOptions, RelParams, UnjudgedOptions,
    UnjudgedParams, ZERO_TO_ONE, position_sum,
};
use crate::compare::Better;
use crate::error::{EvalError, LabelLimit};
use crate::list::RankedList;
use crate::swap::{AdditiveSwap, SwapDelta};

params! {
    /// The persistence of RBP's user.
    pub struct PersistenceParams {
        p: f64 = 0.8, above(0.0).below(1.0),
            "Persistence: probability that the reader goes on to the next rank.";
    }
    /// Builder methods for the persistence of RBP's user.
    pub trait PersistenceOptions: persistence_params;
}

params! {
    /// The scale of graded gains.
    pub struct RbpScaleParams {
        max: Option<f64> = None, above(0.0),
            "Highest label, for graded gains label / max; with none, gains are 0 or 1 by rel.";
    }
    /// Builder methods for the scale of graded gains.
    pub trait RbpScaleOptions: rbp_scale_params;
}

param_groups! {
    /// Parameters of RBP.
    pub struct RbpParams {
        reader: PersistenceParams, PersistenceOptions::persistence_params;
        scale: RbpScaleParams, RbpScaleOptions::rbp_scale_params;
        rel: RelParams, RelOptions::rel_params, requires "max=none";
        conventions: ConventionParams, ConventionOptions::convention_params;
    }
}

param_groups! {
    /// Parameters of RBP's residual.
    pub struct RbpResidualParams {
        reader: PersistenceParams, PersistenceOptions::persistence_params;
        missing: MissingParams, MissingOptions::missing_params;
        unjudged: UnjudgedParams, UnjudgedOptions::unjudged_params;
        order: OrderParams, OrderOptions::order_params;
    }
}

/// RBP.
pub(super) static RBP: MetricDef = MetricDef {
    name: "rbp",
    help: "Rank-biased precision: the gain seen by a reader of persistence p.",
    example: "rbp(p=0.8, max=4)",
    mean_ties: true,
    ..MetricDef::of::<RbpParams>()
};

/// RBP's residual.
pub(super) static RBP_RESIDUAL: MetricDef = MetricDef {
    name: "rbp-residual",
    aliases: &["rbp_residual"],
    help: "Weight of unjudged and unseen ranks in RBP, by which it could still rise.",
    example: "rbp-residual(p=0.8)",
    ..MetricDef::of::<RbpResidualParams>()
};

impl MetricParams for RbpParams {
    fn def(&self) -> &'static MetricDef {
        &RBP
    }

    fn build(&self, cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(Rbp { p: self.reader.p, gain: self.gain(), cutoff })
    }

    fn own_conventions(&self) -> Vec<String> {
        let p = format!("p={}", self.reader.p);
        match self.gain() {
            RbpGain::Binary { rel } => vec![p, format!("rel={rel}"), "max=none".to_owned()],
            RbpGain::Graded { max } => vec![p, format!("max={max}"), "rel=none".to_owned()],
        }
    }
}

impl RbpParams {
    fn gain(&self) -> RbpGain {
        match self.scale.max {
            Some(max) => RbpGain::Graded { max },
            None => RbpGain::Binary { rel: self.rel.rel },
        }
    }
}

impl MetricParams for RbpResidualParams {
    fn def(&self) -> &'static MetricDef {
        &RBP_RESIDUAL
    }

    fn build(&self, cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(Residual { p: self.reader.p, cutoff })
    }
}

#[derive(Debug, Clone, Copy)]
struct Rbp {
    /// The persistence.
    p: f64,
    gain: RbpGain,
    cutoff: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
enum RbpGain {
    Binary { rel: f64 },
    Graded { max: f64 },
}

impl RbpGain {
    fn of(self, label: f64) -> Result<f64, EvalError> {
        match self {
            RbpGain::Binary { rel } => Ok(f64::from(u8::from(label >= rel))),
            RbpGain::Graded { max } if label > max => Err(EvalError::LabelTooLarge {
                metric: "rbp",
                found: label,
                max,
                limit: LabelLimit::MaxParameter,
            }),
            RbpGain::Graded { max } => Ok(label.max(0.0) / max),
        }
    }
}

impl Rbp {
    /// The weight of a rank, from 0.
    fn weight(&self, rank: usize) -> f64 {
        (1.0 - self.p) * self.p.powf(rank as f64)
    }
}

impl Metric for Rbp {
    fn range(&self) -> (f64, f64) {
        ZERO_TO_ONE
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        position_sum(list, self.cutoff, |l| self.gain.of(l), |r| self.weight(r)).map(Some)
    }

    fn has_no_relevant(&self, list: &RankedList<'_>) -> Result<bool, EvalError> {
        match list.ideal().first() {
            Some(&best) => Ok(self.gain.of(best)? <= 0.0),
            None => Ok(true),
        }
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
    /// The persistence.
    p: f64,
    cutoff: Option<u32>,
}

impl Metric for Residual {
    fn range(&self) -> (f64, f64) {
        ZERO_TO_ONE
    }

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
}
