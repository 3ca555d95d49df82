//! Success@k: 1 if any of the first k documents is relevant, else 0.
//!
//! Also called hit rate. Without a cut-off the whole list counts. Cost O(k). `ties=mean` gives the
//! exact mean over all orders of tied documents: if the cut-off splits a group of n tied documents
//! with m relevant ones, and s of the group's ranks lie within k, the probability of a hit is
//! 1 - C(n-m, s) / C(n, s).
//!
//! ```
//! use rankwright_eval::of_ranking;
//! assert_eq!(of_ranking("success@2", &[0.0, 0.0, 1.0])?, Some(0.0));
//! assert_eq!(of_ranking("success@3", &[0.0, 0.0, 1.0])?, Some(1.0));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use rankwright_spec::param_groups;

use super::precision::one_if;
use super::{
    ConventionOptions, ConventionParams, Metric, MetricDef, MetricParams, PresetParams, RelOptions,
    RelParams, ZERO_TO_ONE,
};
use crate::error::EvalError;
use crate::list::RankedList;
use crate::swap::SwapDelta;

param_groups! {
    /// Parameters of success.
    pub struct SuccessParams {
        preset: PresetParams;
        rel: RelParams, RelOptions::rel_params;
        conventions: ConventionParams, ConventionOptions::convention_params;
    }
}

/// success.
pub(super) static SUCCESS: MetricDef = MetricDef {
    name: "success",
    aliases: &["hit"],
    help: "1 if any of the first k documents is relevant.",
    example: "success(rel=1)@10",
    mean_ties: true,
    ..MetricDef::of::<SuccessParams>()
};

impl MetricParams for SuccessParams {
    fn def(&self) -> &'static MetricDef {
        &SUCCESS
    }

    fn build(&self, cutoff: Option<u32>) -> Box<dyn Metric> {
        Box::new(Success { rel: self.rel.rel, cutoff })
    }
}

#[derive(Debug, Clone, Copy)]
struct Success {
    rel: f64,
    cutoff: Option<u32>,
}

impl Success {
    /// The mean over all orders of tied documents.
    fn expected(
        &self,
        list: &RankedList<'_>,
        groups: impl Iterator<Item = std::ops::Range<usize>>,
    ) -> f64 {
        let depth = list.depth(self.cutoff);
        let mut no_hit = 1.0;
        for group in groups.take_while(|g| g.start < depth) {
            let labels = &list.labels()[group.clone()];
            let others = labels.iter().filter(|l| **l < self.rel).count() as f64;
            for position in 0..group.end.min(depth) - group.start {
                let (position, size) = (position as f64, labels.len() as f64);
                no_hit *= (others - position).max(0.0) / (size - position);
            }
        }
        1.0 - no_hit
    }
}

impl Metric for Success {
    fn range(&self) -> (f64, f64) {
        ZERO_TO_ONE
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        Ok(Some(match list.tie_groups() {
            Some(groups) => self.expected(list, groups),
            None => one_if(list.top(self.cutoff).iter().any(|l| *l >= self.rel)),
        }))
    }

    fn has_no_relevant(&self, list: &RankedList<'_>) -> Result<bool, EvalError> {
        Ok(list.has_no_relevant(self.rel))
    }

    fn depth(&self) -> Option<u32> {
        self.cutoff
    }

    fn swap(&self) -> Option<Box<dyn SwapDelta>> {
        Some(Box::new(SuccessSwap { success: *self, relevant: Vec::new(), hits: 0 }))
    }
}

/// The change of success under swaps. A swap across the cut-off may change the number of relevant
/// documents within it (hits) by one, which matters only between 0 and 1.
#[derive(Debug)]
struct SuccessSwap {
    success: Success,
    /// Whether the document at each rank is relevant.
    relevant: Vec<bool>,
    /// Number of relevant documents within the cut-off.
    hits: usize,
}

impl SuccessSwap {
    /// The change of success when the ranks i and j are swapped.
    fn delta(&self, i: usize, j: usize) -> f64 {
        let (top, low) = (i.min(j), i.max(j));
        let k = self.success.cutoff.map_or(usize::MAX, |k| k as usize);
        if !(top < k && k <= low) {
            return 0.0;
        }
        match (self.relevant[top], self.relevant[low], self.hits) {
            (true, false, 1) => -1.0,
            (false, true, 0) => 1.0,
            _ => 0.0,
        }
    }
}

impl SwapDelta for SuccessSwap {
    fn prepare(&mut self, labels: &[f64], _ideal: &[f64]) -> Result<(), EvalError> {
        self.relevant.clear();
        self.relevant.extend(labels.iter().map(|l| *l >= self.success.rel));
        let depth = self.success.cutoff.map_or(usize::MAX, |k| k as usize);
        self.hits = self.relevant.iter().take(depth).filter(|r| **r).count();
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
