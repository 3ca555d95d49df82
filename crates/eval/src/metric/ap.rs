//! AP: average precision. Its mean over queries is MAP, its geometric mean is GMAP.
//!
//! ```text
//! AP@k = 1/N * sum over relevant ranks r <= k of (relevant documents up to r) / r
//! ```
//!
//! N is the number of relevant documents R (`norm=rel`, trec_eval), or min(R, k) (`norm=min`,
//! LightGBM and XGBoost), which lets a perfect top k reach 1. Relevant documents that were not
//! retrieved count in R. Cost O(k). GMAP (Robertson, CIKM 2006) raises values below `floor` to it.
//!
//! Under `ties=mean` (McSherry and Najork, ECIR 2008): in a group of n tied documents, of which m
//! are relevant, and before which there are c relevant documents, the document at position j of the
//! group is relevant with probability m/n; then c + 1 + (j-1)(m-1)/(n-1) relevant documents are
//! expected up to its rank.
//!
//! ```
//! use rankwright_eval::of_ranking;
//! assert_eq!(of_ranking("ap", &[1.0, 0.0, 1.0, 0.0])?, Some((1.0 + 2.0 / 3.0) / 2.0));
//! assert_eq!(of_ranking("ap(norm=min)@1", &[1.0, 0.0, 1.0])?, Some(1.0));
//! # Ok::<(), rankwright_eval::EvalError>(())
//! ```

use rankwright_spec::{above, choices, param_groups, params};

use super::{
    Aggregate, ConventionOptions, ConventionParams, Metric, MetricDef, MetricParams, PresetParams,
    RelOptions, RelParams, ZERO_TO_ONE,
};
use crate::error::EvalError;
use crate::list::RankedList;
use crate::swap::SwapDelta;

choices! {
    /// The number by which a sum over relevant ranks is divided.
    #[non_exhaustive]
    pub enum ApNorm {
        /// The number of relevant documents.
        Relevant = "rel",
        /// The number of relevant documents, at most the cut-off.
        AtMostCutoff = "min",
    }
}

params! {
    /// Normalisation of AP and Q.
    pub struct NormParams {
        norm: ApNorm = ApNorm::Relevant, ..,
            "Divisor of the sum: rel is the number of relevant documents, min the smaller of it \
             and k.";
    }
    /// Builder methods for the normalisation.
    pub trait NormOptions: norm_params;
}

params! {
    /// The parameter of the geometric mean.
    pub struct FloorParams {
        floor: f64 = 1e-5, above(0.0).up_to(1.0), "Least value of a query in the geometric mean.";
    }
    /// Builder methods for the geometric mean.
    pub trait FloorOptions: floor_params;
}

param_groups! {
    /// Parameters of AP.
    pub struct ApParams {
        preset: PresetParams;
        norm: NormParams, NormOptions::norm_params;
        rel: RelParams, RelOptions::rel_params;
        conventions: ConventionParams, ConventionOptions::convention_params;
    }
}

param_groups! {
    /// Parameters of GMAP.
    pub struct GmapParams {
        preset: PresetParams;
        norm: NormParams, NormOptions::norm_params;
        floor: FloorParams, FloorOptions::floor_params;
        rel: RelParams, RelOptions::rel_params;
        conventions: ConventionParams, ConventionOptions::convention_params;
    }
}

/// AP.
pub(super) static AP: MetricDef = MetricDef {
    name: "ap",
    aliases: &["map"],
    help: "Average precision; its mean over queries is MAP.",
    example: "ap(rel=2)@100",
    mean_ties: true,
    ..MetricDef::of::<ApParams>()
};

/// GMAP.
pub(super) static GMAP: MetricDef = MetricDef {
    name: "gmap",
    help: "Geometric mean of average precision, in which hard queries weigh more.",
    example: "gmap(floor=0.00001)",
    mean_ties: true,
    ..MetricDef::of::<GmapParams>()
};

impl MetricParams for ApParams {
    fn def(&self) -> &'static MetricDef {
        &AP
    }

    fn build(&self, cutoff: Option<u32>) -> Box<dyn Metric> {
        let norm = self.norm.norm;
        Box::new(Ap { rel: self.rel.rel, norm, cutoff, floor: None })
    }
}

impl MetricParams for GmapParams {
    fn def(&self) -> &'static MetricDef {
        &GMAP
    }

    fn build(&self, cutoff: Option<u32>) -> Box<dyn Metric> {
        let (norm, floor) = (self.norm.norm, Some(self.floor.floor));
        Box::new(Ap { rel: self.rel.rel, norm, cutoff, floor })
    }
}

impl ApNorm {
    /// The divisor for a number of relevant documents.
    pub(super) fn of(self, relevant: usize, cutoff: Option<u32>) -> f64 {
        match (self, cutoff) {
            (Self::AtMostCutoff, Some(k)) => relevant.min(k as usize) as f64,
            _ => relevant as f64,
        }
    }
}

#[derive(Debug, Clone)]
struct Ap {
    rel: f64,
    norm: ApNorm,
    cutoff: Option<u32>,
    /// The floor of the geometric mean, for GMAP; `None` for AP.
    floor: Option<f64>,
}

impl Ap {
    /// The sum of the precisions at relevant ranks.
    fn sum_of_precisions(&self, list: &RankedList<'_>) -> f64 {
        let (mut hits, mut sum) = (0.0, 0.0);
        for (rank, &label) in list.top(self.cutoff).iter().enumerate() {
            if label >= self.rel {
                hits += 1.0;
                sum += hits / (rank as f64 + 1.0);
            }
        }
        sum
    }

    /// The mean of `sum_of_precisions` over all orders of tied documents, by the formula above.
    fn expected_sum_of_precisions(
        &self,
        list: &RankedList<'_>,
        groups: impl Iterator<Item = std::ops::Range<usize>>,
    ) -> f64 {
        let depth = list.depth(self.cutoff);
        let (mut relevant_before, mut sum) = (0.0, 0.0);
        for group in groups.take_while(|g| g.start < depth) {
            let labels = &list.labels()[group.clone()];
            let relevant = labels.iter().filter(|l| **l >= self.rel).count() as f64;
            if relevant > 0.0 {
                let chance = relevant / labels.len() as f64;
                // The probability that another document of the group is relevant, given that this
                // one is.
                let other_chance = (relevant - 1.0) / (labels.len() as f64 - 1.0).max(1.0);
                for (j, rank) in (group.start..group.end.min(depth)).enumerate() {
                    let hits = relevant_before + 1.0 + j as f64 * other_chance;
                    sum += chance * hits / (rank as f64 + 1.0);
                }
            }
            relevant_before += relevant;
        }
        sum
    }
}

impl Metric for Ap {
    fn range(&self) -> (f64, f64) {
        ZERO_TO_ONE
    }

    fn evaluate(&self, list: &RankedList<'_>) -> Result<Option<f64>, EvalError> {
        let sum = match list.tie_groups() {
            Some(groups) => self.expected_sum_of_precisions(list, groups),
            None => self.sum_of_precisions(list),
        };
        Ok(Some(sum / self.norm.of(list.relevant(self.rel), self.cutoff)))
    }

    fn has_no_relevant(&self, list: &RankedList<'_>) -> Result<bool, EvalError> {
        Ok(list.has_no_relevant(self.rel))
    }

    fn aggregate(&self) -> Aggregate {
        self.floor.map_or(Aggregate::Mean, |floor| Aggregate::GeometricMean { floor })
    }

    fn depth(&self) -> Option<u32> {
        self.cutoff
    }

    fn swap(&self) -> Option<Box<dyn SwapDelta>> {
        Some(Box::new(ApSwap::new(self.clone())))
    }
}

/// The change of AP under swaps, each in O(1): when a relevant document moves from rank i down to
/// j, its term moves with it, and each relevant document between has one relevant document less
/// above it; moving up is the reverse.
#[derive(Debug)]
struct ApSwap {
    ap: Ap,
    /// 1 over the divisor of the sum.
    scale: f64,
    /// Whether the document at each rank is relevant.
    relevant: Vec<bool>,
    /// Number of relevant documents up to and including each rank.
    hits: Vec<f64>,
    /// Sum of 1/rank over the relevant ranks before each rank, within the cut-off.
    inverse: Vec<f64>,
    /// 1/rank within the cut-off, for as many ranks as the longest list so far.
    weights: Vec<f64>,
}

impl ApSwap {
    fn new(ap: Ap) -> Self {
        let (relevant, hits, inverse, weights) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { ap, scale: 0.0, relevant, hits, inverse, weights }
    }

    /// The change of the sum of precisions when the ranks i and j are swapped.
    fn delta(&self, i: usize, j: usize) -> f64 {
        let (top, low) = (i.min(j), i.max(j));
        if self.relevant[top] == self.relevant[low] {
            return 0.0;
        }
        let (top_weight, low_weight) = (self.weights[top], self.weights[low]);
        let between = self.inverse[low] - self.inverse[top];
        if self.relevant[top] {
            // `between` includes the term of `top` itself, which is not between.
            self.hits[low] * low_weight - self.hits[top] * top_weight - (between - top_weight)
        } else {
            (self.hits[top] + 1.0) * top_weight + between - self.hits[low] * low_weight
        }
    }
}

impl SwapDelta for ApSwap {
    fn prepare(&mut self, labels: &[f64], ideal: &[f64]) -> Result<(), EvalError> {
        let rel = self.ap.rel;
        let total = ideal.iter().filter(|l| **l >= rel).count();
        self.scale = if total > 0 { 1.0 / self.ap.norm.of(total, self.ap.cutoff) } else { 0.0 };
        self.relevant.clear();
        self.relevant.extend(labels.iter().map(|l| *l >= rel));
        let cutoff = self.ap.cutoff.map_or(usize::MAX, |k| k as usize);
        let weight = |rank: usize| if rank < cutoff { 1.0 / (rank as f64 + 1.0) } else { 0.0 };
        self.weights.extend((self.weights.len()..labels.len()).map(weight));
        self.hits.clear();
        self.inverse.clear();
        let (mut hits, mut inverse) = (0.0, 0.0);
        for rank in 0..labels.len() {
            self.inverse.push(inverse);
            if self.relevant[rank] {
                hits += 1.0;
                inverse += self.weights[rank];
            }
            self.hits.push(hits);
        }
        Ok(())
    }

    fn swap_deltas_from(&self, i: usize, from: usize, out: &mut [f64]) {
        let n = self.relevant.len().min(out.len());
        if i >= self.relevant.len() || from >= n {
            return;
        }
        if from <= i {
            for (j, delta) in out.iter_mut().enumerate().take(n).skip(from) {
                *delta = self.delta(i, j) * self.scale;
            }
            return;
        }
        // The same as `delta` for i above every j, in a form that is vectorised.
        let (hits, weights) = (&self.hits[from..n], &self.weights[from..n]);
        let (inverse, relevant) = (&self.inverse[from..n], &self.relevant[from..n]);
        let (hits_at_i, weight_at_i) = (self.hits[i], self.weights[i]);
        let inverse_at_i = self.inverse[i];
        for (j, delta) in out[from..n].iter_mut().enumerate() {
            let between = inverse[j] - inverse_at_i;
            let changed = if self.relevant[i] {
                hits[j] * weights[j] - hits_at_i * weight_at_i - (between - weight_at_i)
            } else {
                (hits_at_i + 1.0) * weight_at_i + between - hits[j] * weights[j]
            };
            *delta = if self.relevant[i] == relevant[j] { 0.0 } else { changed * self.scale };
        }
    }
}
