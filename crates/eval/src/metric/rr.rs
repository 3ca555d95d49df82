//! RR: reciprocal rank of the first relevant document; its mean is MRR.
//!
//! ```text
//! RR@k = 1 / (first relevant rank), or 0 when there is none within k
//! ```
//!
//! Cost O(first relevant rank). `ties=mean` gives the exact mean over all orders of tied documents:
//! let the first tied group with a relevant document have n documents, of which m are relevant; the
//! first relevant one is at position j of the group with probability m/(n-j+1) * product over i < j
//! of (1 - m/(n-i+1)).
//!
//! ```
//! use rankwright_eval::of_ranking;
//! assert_eq!(of_ranking("rr", &[0.0, 0.0, 0.0, 2.0, 1.0])?, Some(0.25));
//! assert_eq!(of_ranking("rr@3", &[0.0, 0.0, 0.0, 2.0, 1.0])?, Some(0.0));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use rankwright_spec::param_groups;

use super::{
    ConventionOptions, ConventionParams, Metric, MetricDef, MetricParams, PresetParams, RelOptions,
    RelParams, ZERO_TO_ONE,
};
use crate::error::EvalError;
use crate::list::RankedList;
use crate::swap::SwapDelta;

param_groups! {
    /// Parameters of RR.
    pub struct RrParams {
        preset: PresetParams;
        rel: RelParams, RelOptions::rel_params;
        conventions: ConventionParams, ConventionOptions::convention_params;
    }
}

/// RR.
pub(super) static RR: MetricDef = MetricDef {
    name: "rr",
    aliases: &["mrr"],
    help: "Reciprocal rank of the first relevant document; its mean is MRR.",
    example: "rr(rel=1)@10",
    mean_ties: true,
    ..MetricDef::of::<RrParams>()
};

impl MetricParams for RrParams {
    fn def(&self) -> &'static MetricDef {
        &RR
    }

    fn build(&self, cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(Rr { rel: self.rel.rel, cutoff })
    }
}

#[derive(Debug, Clone, Copy)]
struct Rr {
    rel: f64,
    cutoff: Option<u32>,
}

impl Rr {
    /// The value when the first relevant document is at this rank, from 0; `None` if there is none.
    fn value_at(&self, first: Option<usize>) -> f64 {
        let within = first.filter(|r| self.cutoff.is_none_or(|k| *r < k as usize));
        within.map_or(0.0, |r| 1.0 / (r as f64 + 1.0))
    }

    /// The mean over all orders of tied documents.
    fn expected(
        &self,
        list: &RankedList<'_>,
        mut groups: impl Iterator<Item = std::ops::Range<usize>>,
    ) -> f64 {
        let count = |g: &std::ops::Range<usize>| {
            list.labels()[g.clone()].iter().filter(|l| **l >= self.rel).count()
        };
        let Some(group) = groups.find(|g| count(g) > 0) else { return 0.0 };
        let relevant = count(&group) as f64;
        let (mut not_yet, mut sum) = (1.0, 0.0);
        for rank in group.clone() {
            let remaining = (group.end - rank) as f64;
            // The probability that the document at this rank is relevant, if none before it is.
            let chance = (relevant / remaining).min(1.0);
            sum += not_yet * chance * self.value_at(Some(rank));
            not_yet *= 1.0 - chance;
        }
        sum
    }
}

impl Metric for Rr {
    fn range(&self) -> (f64, f64) {
        ZERO_TO_ONE
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        Ok(Some(match list.tie_groups() {
            Some(groups) => self.expected(list, groups),
            None => self.value_at(list.top(self.cutoff).iter().position(|l| *l >= self.rel)),
        }))
    }

    fn has_no_relevant(&self, list: &RankedList<'_>) -> Result<bool, EvalError> {
        Ok(list.has_no_relevant(self.rel))
    }

    fn depth(&self) -> Option<u32> {
        self.cutoff
    }

    fn swap(&self) -> Option<Box<dyn SwapDelta>> {
        Some(Box::new(RrSwap { rr: *self, relevant: Vec::new(), first: None, second: None }))
    }
}

/// The change of RR under swaps; only the first two relevant ranks matter.
#[derive(Debug)]
struct RrSwap {
    rr: Rr,
    /// Whether the document at each rank is relevant.
    relevant: Vec<bool>,
    /// The first two relevant ranks, from 0; `None` if there are fewer.
    first: Option<usize>,
    second: Option<usize>,
}

impl RrSwap {
    /// The change of RR when the ranks i and j are swapped.
    fn delta(&self, i: usize, j: usize) -> f64 {
        let (top, low) = (i.min(j), i.max(j));
        let Some(first) = self.first.filter(|_| self.relevant[top] != self.relevant[low]) else {
            return 0.0;
        };
        let new_first = if self.relevant[top] {
            if top != first {
                return 0.0;
            }
            self.second.map_or(low, |s| s.min(low))
        } else {
            first.min(top)
        };
        self.rr.value_at(Some(new_first)) - self.rr.value_at(Some(first))
    }
}

impl SwapDelta for RrSwap {
    fn prepare(&mut self, labels: &[f64], _ideal: &[f64]) -> Result<(), EvalError> {
        self.relevant.clear();
        self.relevant.extend(labels.iter().map(|l| *l >= self.rr.rel));
        let mut ranks = self.relevant.iter().enumerate().filter(|(_, r)| **r).map(|(i, _)| i);
        self.first = ranks.next();
        self.second = ranks.next();
        Ok(())
    }

    fn swap_deltas_from(&self, i: usize, from: usize, out: &mut [f64]) {
        if i < self.relevant.len() {
            for (j, delta) in out.iter_mut().enumerate().take(self.relevant.len()).skip(from) {
                *delta = self.delta(i, j);
            }
        }
    }
}
