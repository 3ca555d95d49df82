//! Q-measure (Sakai, SIGIR 2006): average precision blended with graded cumulative gain.
//!
//! ```text
//! Q = 1/R * sum over relevant ranks r of (beta * cg(r) + c(r)) / (beta * cg*(r) + r)
//! ```
//!
//! R is the number of relevant documents, c(r) the number of relevant documents up to rank r, cg(r)
//! the sum of their gains, cg*(r) the same sum for the ideal list. beta = 0 gives AP. Gains are the
//! labels (`gain=linear`); documents below `rel` gain nothing. With a cut-off only ranks within it
//! count, and `norm=min` divides by min(R, k). Cost O(n). With R = 0 the convention `blank`
//! decides: skipped, 0 or 1.
//!
//! ```
//! use rankwright_eval::of_ranking;
//! // ((1 + 1)/(2 + 1) + (3 + 2)/(3 + 2)) / 2
//! assert_eq!(of_ranking("q", &[1.0, 2.0])?, Some((2.0 / 3.0 + 1.0) / 2.0));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use rankwright_spec::{param_groups, params};

use super::ap::{ApNorm, NormOptions, NormParams};
use super::{
    ConventionOptions, ConventionParams, GainOptions, GainParams, Metric, MetricDef, MetricParams,
    RelOptions, RelParams, ZERO_TO_ONE,
};
use crate::error::EvalError;
use crate::gain::Gain;
use crate::list::RankedList;

params! {
    /// The weight of gains in Q.
    pub struct BetaParams {
        beta: f64 = 1.0, 0.0..,
            "Weight of the gains relative to the counts of relevant documents.";
    }
    /// Builder methods for the weight of gains in Q.
    pub trait BetaOptions: beta_params;
}

param_groups! {
    /// Parameters of the Q-measure.
    pub struct QParams {
        beta: BetaParams, BetaOptions::beta_params;
        gain: GainParams = GainParams::default().gain(Gain::Linear), GainOptions::gain_params;
        norm: NormParams, NormOptions::norm_params;
        rel: RelParams, RelOptions::rel_params;
        conventions: ConventionParams, ConventionOptions::convention_params;
    }
}

/// Q-measure.
pub(super) static Q: MetricDef = MetricDef {
    name: "q",
    aliases: &["q-measure"],
    help: "Q-measure: average precision blended with graded cumulative gain.",
    example: "q(beta=1)@100",
    ..MetricDef::of::<QParams>()
};

impl MetricParams for QParams {
    fn def(&self) -> &'static MetricDef {
        &Q
    }

    fn build(&self, cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(QMeasure {
            beta: self.beta.beta,
            gain: self.gain.gain.clone(),
            norm: self.norm.norm,
            rel: self.rel.rel,
            cutoff,
        })
    }
}

#[derive(Debug)]
struct QMeasure {
    beta: f64,
    gain: Gain,
    norm: ApNorm,
    rel: f64,
    cutoff: Option<u32>,
}

impl Metric for QMeasure {
    fn range(&self) -> (f64, f64) {
        ZERO_TO_ONE
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        let relevant = list.relevant(self.rel);
        let mut ideal = list.ideal().iter().take(relevant);
        let (mut count, mut gains, mut ideal_gains, mut sum) = (0.0, 0.0, 0.0, 0.0);
        for (rank, &label) in list.top(self.cutoff).iter().enumerate() {
            if let Some(&label) = ideal.next() {
                ideal_gains += self.gain.of(label)?;
            }
            if label >= self.rel {
                count += 1.0;
                gains += self.gain.of(label)?;
                let ideal = self.beta * ideal_gains + rank as f64 + 1.0;
                sum += (self.beta * gains + count) / ideal;
            }
        }
        if !f64::is_finite(ideal_gains) {
            return Err(EvalError::Overflow { metric: "q" });
        }
        Ok(Some(sum / self.norm.of(relevant, self.cutoff)))
    }

    fn has_no_relevant(&self, list: &RankedList<'_>) -> Result<bool, EvalError> {
        Ok(list.has_no_relevant(self.rel))
    }
}
