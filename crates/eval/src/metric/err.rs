//! ERR: expected reciprocal rank (Chapelle et al., CIKM 2009).
//!
//! A user reads down the list and stops at a document of label l with probability R(l) = (2^l - 1)
//! / 2^max. ERR is the mean of 1 / (rank at which the user stops):
//!
//! ```text
//! ERR@k = sum over r = 1..k of 1/r * R_r * product over s < r of (1 - R_s)
//! ```
//!
//! A label above `max` is an error. The user never stops at negative labels. Cost O(k). `ties=mean`
//! is refused, as ERR has no closed form for the mean over tied orders. A query without a label
//! above 0 counts as one without a relevant document (`blank`).
//!
//! ```
//! use rankwright_eval::of_ranking;
//! // 7/16 + 1/2 * 9/16 * 3/16
//! let err = of_ranking("err(max=4)", &[3.0, 2.0])?;
//! assert_eq!(err, Some(7.0 / 16.0 + 0.5 * 9.0 / 16.0 * 3.0 / 16.0));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use rankwright_spec::{above, param_groups, params};

use super::{
    ConventionOptions, ConventionParams, Metric, MetricDef, MetricParams, PresetParams, ZERO_TO_ONE,
};
use crate::error::{EvalError, LabelLimit};
use crate::gain::Gain;
use crate::list::RankedList;
use crate::swap::SwapDelta;

params! {
    /// The scale of ERR.
    pub struct ErrScaleParams {
        max: f64 = 4.0, above(0.0).up_to(100.0),
            "Highest label of the scale: a reader is satisfied with probability (2^label - 1) / 2^max.";
    }
    /// Builder methods for the scale of ERR.
    pub trait ErrScaleOptions: err_scale_params;
}

param_groups! {
    /// Parameters of ERR.
    pub struct ErrParams {
        preset: PresetParams;
        scale: ErrScaleParams, ErrScaleOptions::err_scale_params;
        conventions: ConventionParams, ConventionOptions::convention_params;
    }
}

/// ERR.
pub(super) static ERR: MetricDef = MetricDef {
    name: "err",
    help: "Expected reciprocal rank at which a reader is satisfied.",
    example: "err(max=4)@20",
    ..MetricDef::of::<ErrParams>()
};

impl MetricParams for ErrParams {
    fn def(&self) -> &'static MetricDef {
        &ERR
    }

    fn build(&self, cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(ExpectedReciprocalRank { max: self.scale.max, cutoff })
    }
}

#[derive(Debug, Clone, Copy)]
struct ExpectedReciprocalRank {
    max: f64,
    cutoff: Option<u32>,
}

impl ExpectedReciprocalRank {
    /// Probability that the user stops at a document of this label.
    fn stop_probability(&self, label: f64) -> Result<f64, EvalError> {
        if label > self.max {
            return Err(EvalError::LabelTooLarge {
                metric: "err",
                found: label,
                max: self.max,
                limit: LabelLimit::MaxParameter,
            });
        }
        Ok(Gain::Exp.of(label)? / self.max.exp2())
    }

    /// 1/rank for a rank from 0; 0 beyond the cut-off.
    fn weight(&self, rank: usize) -> f64 {
        let inside = self.cutoff.is_none_or(|k| rank < k as usize);
        if inside { 1.0 / (rank as f64 + 1.0) } else { 0.0 }
    }
}

impl Metric for ExpectedReciprocalRank {
    fn range(&self) -> (f64, f64) {
        ZERO_TO_ONE
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        // The probability that the user reads this rank.
        let (mut reading, mut sum) = (1.0, 0.0);
        for (rank, &label) in list.top(self.cutoff).iter().enumerate() {
            let satisfied = self.stop_probability(label)?;
            sum += reading * satisfied / (rank as f64 + 1.0);
            reading *= 1.0 - satisfied;
        }
        Ok(Some(sum))
    }

    /// The best label is checked even when it was not retrieved, so that every query whose labels
    /// exceed the scale is an error.
    fn has_no_relevant(&self, list: &RankedList<'_>) -> Result<bool, EvalError> {
        match list.ideal().first() {
            Some(&best) => Ok(self.stop_probability(best)? <= 0.0),
            None => Ok(true),
        }
    }

    fn depth(&self) -> Option<u32> {
        self.cutoff
    }

    fn swap(&self) -> Option<Box<dyn SwapDelta>> {
        let (stop_probability, reading, weights) = (Vec::new(), Vec::new(), Vec::new());
        Some(Box::new(ErrSwap { err: *self, stop_probability, reading, weights }))
    }
}

/// The change of ERR under swaps: O(1) for each j, if all ranks j are swapped with the same rank i.
///
/// For i < j let P_i be the probability of reading rank i, a and b the R of the documents at i and
/// j, Q the product of (1 - R) over the ranks strictly between, M the sum over these ranks of
/// weight * R * (product of 1 - R since i), and w the weights 1/rank:
///
/// ```text
/// delta = P_i * (a - b) * (M + Q * w_j - w_i)
/// ```
///
/// Documents below j see the same product as before. M and Q are updated while j moves away from i
/// in either direction; there is no division, so R may come close to 1.
#[derive(Debug)]
struct ErrSwap {
    err: ExpectedReciprocalRank,
    /// R of the document at each rank.
    stop_probability: Vec<f64>,
    /// The probability of reading each rank, P.
    reading: Vec<f64>,
    /// 1/rank within the cut-off, for as many ranks as the longest list so far.
    weights: Vec<f64>,
}

impl SwapDelta for ErrSwap {
    fn prepare(&mut self, labels: &[f64], _ideal: &[f64]) -> Result<(), EvalError> {
        self.stop_probability.clear();
        self.reading.clear();
        let mut reading = 1.0;
        for &label in labels {
            let satisfied = self.err.stop_probability(label)?;
            self.stop_probability.push(satisfied);
            self.reading.push(reading);
            reading *= 1.0 - satisfied;
        }
        let known = self.weights.len();
        self.weights.extend((known..labels.len()).map(|rank| self.err.weight(rank)));
        Ok(())
    }

    fn swap_deltas_from(&self, i: usize, from: usize, out: &mut [f64]) {
        let (Some(&own), Some(&reading)) = (self.stop_probability.get(i), self.reading.get(i))
        else {
            return;
        };
        let w_own = self.weights[i];
        // In the formula above, `middle` is M, `product` is Q, `own` and `other` are the R of the
        // documents at i and j, `w_own` and `w` their weights.
        let (mut middle, mut product) = (0.0, 1.0);
        let below = out.iter_mut().zip(&self.stop_probability).zip(&self.weights).enumerate();
        for (j, ((delta, other), w)) in below.skip(i + 1) {
            if j >= from {
                *delta = reading * (own - other) * (middle + product * w - w_own);
            }
            middle += product * other * w;
            product *= 1.0 - other;
        }
        if from > i {
            return;
        }
        out[i] = 0.0;
        (middle, product) = (0.0, 1.0);
        for j in (from..i).rev() {
            let (other, w) = (self.stop_probability[j], self.weights[j]);
            out[j] = self.reading[j] * (other - own) * (middle + product * w_own - w);
            middle = other * w + (1.0 - other) * middle;
            product *= 1.0 - other;
        }
    }
}
