//! Q-measure (Sakai, SIGIR 2006): average precision blended with graded cumulative gain.
//!
//! ```text
//! Q = 1/R * sum over relevant ranks r of (beta * cg(r) + c(r)) / (beta * cg*(r) + r)
//! ```
//!
//! c(r) counts relevant documents up to r, cg(r) sums their gains, cg*(r) sums the gains of the
//! ideal list. beta = 0 gives AP. Gains are the labels (`gain=linear`); documents below `rel` gain
//! nothing. With a cut-off only ranks within it count, and `norm=min` divides by min(R, k).
//! Cost O(n). R = 0 makes the query blank.
//!
//! ```
//! use rankwright_eval::of_ranking;
//! // ((1 + 1)/(2 + 1) + (3 + 2)/(3 + 2)) / 2
//! assert_eq!(of_ranking("q", &[1.0, 2.0])?, Some((2.0 / 3.0 + 1.0) / 2.0));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use super::ap::Norm;
use super::{Metric, say_cutoff};
use crate::convention::read_rel;
use crate::error::EvalError;
use crate::gain::Gain;
use crate::list::RankedList;
use crate::params::{ParamInfo, Params};
use rankwright_spec::SpecError;

/// `beta` of Q.
pub(crate) const BETA: ParamInfo =
    ParamInfo { name: "beta", doc: "weight of gain against count (0 or more)", default: "1" };
/// `gain` of Q, whose default is not that of NDCG.
pub(crate) const GAIN: ParamInfo = ParamInfo {
    name: "gain",
    doc: "worth of a label: exp (2^label - 1) | linear | a table such as 0/1/3/7/15",
    default: "linear",
};

#[derive(Debug)]
struct QMeasure {
    beta: f64,
    gain: Gain,
    norm: Norm,
    rel: f64,
    cutoff: Option<u32>,
}

pub(crate) fn build(params: &Params<'_>) -> Result<Box<dyn Metric>, SpecError> {
    Ok(Box::new(QMeasure {
        beta: params.f64_in("beta", 1.0, |b| b >= 0.0, "a number from 0 on")?,
        gain: Gain::read(params, Gain::Linear)?,
        norm: Norm::read(params)?,
        rel: read_rel(params)?,
        cutoff: params.cutoff(),
    }))
}

impl Metric for QMeasure {
    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        let relevant = list.relevant(self.rel);
        let mut ideal = list.ideal().iter().take(relevant);
        let (mut count, mut gained, mut best, mut sum) = (0.0, 0.0, 0.0, 0.0);
        for (rank, &label) in list.top(self.cutoff).iter().enumerate() {
            if let Some(&label) = ideal.next() {
                best += self.gain.of(label)?;
            }
            if label >= self.rel {
                count += 1.0;
                gained += self.gain.of(label)?;
                sum += (self.beta * gained + count) / (self.beta * best + rank as f64 + 1.0);
            }
        }
        if !f64::is_finite(best) {
            return Err(EvalError::Overflow { metric: "q" });
        }
        Ok(Some(sum / self.norm.of(relevant)))
    }

    fn is_blank(&self, list: &RankedList<'_>) -> Result<bool, EvalError> {
        Ok(list.has_no_relevant(self.rel))
    }

    fn convention(&self) -> String {
        let (gain, norm) = (self.gain.name(), self.norm.say());
        let cutoff = say_cutoff(self.cutoff);
        format!("beta={}, gain={gain}, {norm}, rel={}, {cutoff}", self.beta, self.rel)
    }
}
