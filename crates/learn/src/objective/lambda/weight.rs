//! The weight of a pair: 1, or computed from a metric, by default as the change of the metric if
//! the two documents swapped ranks.
//!
//! | weight | learner |
//! |---|---|
//! | 1 | RankNet on trees, RankMART |
//! | abs(delta metric) | LambdaMART (Burges, MSR-TR-2010-82) |
//! | difference of gains, by the distance of the two ranks | NDCG-Loss2 (`lambdaloss.rs`) |
//! | abs(delta metric) plus a multiple of NDCG-Loss2 | NDCG-Loss2++ (`lambdaloss.rs`) |
//! | difference of gains of pairs k or more ranks apart | LambdaGap (`lambdagap.rs`) |
//!
//! A metric with a cut-off k can be used in two modes. `cut=soft`, the default and the convention
//! of other tools: the change of the metric without its cut-off, so that documents far below rank k
//! still have lambdas; NDCG is scaled by the ideal DCG at the truncation level. `cut=hard`: the
//! change of the metric exactly as written, which is 0 between two ranks below k. P@k, recall@k and
//! success@k are always hard: without a cut-off they never change. Pairs of equal labels have
//! weight 0 with a metric.

use std::sync::atomic::{AtomicU64, Ordering};

use rankwright_eval::{Measure, MetricSpec, SourceKind, SwapDelta};
use rankwright_spec::{Conflict, SpecError, choices};

use super::lambdagap::LambdaGap;
use super::lambdaloss::LambdaLoss;
use crate::error::LearnError;

/// The source of a pair's weight. [`WeightScheme`] is the formula that computes the weight from a
/// metric.
#[derive(Debug, Clone)]
pub enum WeightSource {
    /// Weight 1 for every pair: the pairwise logistic loss of RankNet.
    One,
    /// A metric; [`CutoffMode`] says how its cut-off is used.
    Metric(MetricSpec),
    /// A metric that the caller implements; its cut-off is always used as written.
    Custom(Measure),
}

choices! {
    /// The treatment of a metric's cut-off.
    pub enum CutoffMode {
        /// The cut-off is dropped: pairs below it have a weight too.
        Soft = "soft",
        /// The metric is used as written: pairs below the cut-off have weight 0.
        Hard = "hard",
    }
}

/// The formula by which a metric gives the weight of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum WeightScheme {
    /// The metric's change when the two documents swap ranks: LambdaRank.
    #[default]
    Swap,
    /// NDCG-Loss2 (LambdaLoss), for NDCG and DCG.
    Loss2,
    /// NDCG-Loss2++: the weight of `Swap` plus this factor times that of `Loss2`.
    Loss2PlusPlus(f64),
    /// LambdaGap, for P@k.
    Gap,
}

impl WeightScheme {
    /// Rejects a metric that the scheme does not support.
    fn check(self, name: &str, cutoff: Option<u32>) -> Result<(), SpecError> {
        let (reason, expected) = match self {
            WeightScheme::Loss2 | WeightScheme::Loss2PlusPlus(_)
                if !matches!(name, "ndcg" | "dcg") =>
            {
                ("weight=loss2 and loss2++ are for ndcg and dcg", "ndcg or dcg")
            }
            WeightScheme::Gap if name != "p" || cutoff.is_none() => {
                ("weight=gap is for p@k", "p@k")
            }
            _ => return Ok(()),
        };
        let (metric, reason) = (name.to_owned(), reason.to_owned());
        Err(SpecError::conflict(name, Conflict::UnsuitableMetric { metric, reason, expected }))
    }

    /// The weights of the scheme, computed from the metric's changes under swaps, or from its gains
    /// and discounts.
    fn weights_of(self, metric: Box<dyn SwapDelta>, cutoff: Option<u32>) -> Box<dyn SwapDelta> {
        match self {
            WeightScheme::Swap => metric,
            WeightScheme::Loss2 => {
                Box::new(LambdaLoss { metric, rho_factor: 0.0, delta_factor: 1.0 })
            }
            WeightScheme::Loss2PlusPlus(mu) => {
                Box::new(LambdaLoss { metric, rho_factor: 1.0, delta_factor: mu })
            }
            WeightScheme::Gap => {
                Box::new(LambdaGap { metric, min_distance: cutoff.map_or(1, |k| k as usize) })
            }
        }
    }
}

/// Metrics that never change without their cut-off, so that it is never dropped.
const ALWAYS_HARD: [&str; 3] = ["p", "recall", "success"];

/// A metric resolved as a pair weight.
#[derive(Debug)]
pub(super) struct MetricWeight {
    /// Identifies this value within the process, for [`SwapCache`].
    id: u64,
    measure: Measure,
    scheme: WeightScheme,
    /// The largest number of best labels from which the ideal DCG is computed.
    max_ideal: usize,
}

/// The swap computation that a thread keeps from query to query, with the id of the
/// [`MetricWeight`] that it belongs to.
#[derive(Debug, Default)]
pub(super) struct SwapCache {
    cached: Option<(u64, Box<dyn SwapDelta>)>,
}

impl WeightSource {
    /// The cut-off of the metric, if it has one.
    pub(super) fn cutoff(&self) -> Option<u32> {
        match self {
            WeightSource::One => None,
            WeightSource::Metric(spec) => spec.canonical().cutoff,
            WeightSource::Custom(measure) => measure.spec().cutoff,
        }
    }

    /// Resolves the metric; `None` for weight 1.
    pub(super) fn resolve(
        &self,
        scheme: WeightScheme,
        cut: CutoffMode,
        truncation: usize,
    ) -> Result<Option<MetricWeight>, SpecError> {
        let mut max_ideal = usize::MAX;
        let measure = match self {
            WeightSource::One => return Ok(None),
            WeightSource::Custom(measure) => {
                let spec = measure.spec();
                scheme.check(&spec.name, spec.cutoff)?;
                measure.clone()
            }
            WeightSource::Metric(spec) => {
                let name = spec.def().name;
                scheme.check(name, spec.canonical().cutoff)?;
                let mut used = spec.canonical().clone();
                if cut == CutoffMode::Soft && !ALWAYS_HARD.contains(&name) {
                    used.cutoff = None;
                    if name == "ndcg" {
                        max_ideal = truncation;
                    }
                }
                MetricSpec::from_spec(used)?.resolve(SourceKind::Features)?
            }
        };
        if measure.swap().is_none() {
            let name = self.to_string();
            let conflict = Conflict::UnsuitableMetric {
                metric: name.clone(),
                reason: "it has no change under swaps of two ranks".to_owned(),
                expected: "ndcg, dcg, ap, err, rbp, rr, p, recall or success",
            };
            return Err(SpecError::conflict(name, conflict));
        }
        static NEXT_ID: AtomicU64 = AtomicU64::new(0);
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        Ok(Some(MetricWeight { id, measure, scheme, max_ideal }))
    }
}

impl std::fmt::Display for WeightSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WeightSource::One => f.write_str("1"),
            WeightSource::Metric(spec) => spec.fmt(f),
            WeightSource::Custom(measure) => measure.fmt(f),
        }
    }
}

impl MetricWeight {
    /// Loads a query: `labels` are its labels by rank, `ideal` its labels from the best to the
    /// worst. Returns the weights of its pairs.
    pub(super) fn prepare<'s>(
        &self,
        swaps: &'s mut SwapCache,
        labels: &[f64],
        ideal: &[f64],
    ) -> Result<&'s dyn SwapDelta, LearnError> {
        if swaps.cached.as_ref().is_none_or(|(id, _)| *id != self.id) {
            let cutoff = self.measure.spec().cutoff;
            swaps.cached =
                self.measure.swap().map(|swap| (self.id, self.scheme.weights_of(swap, cutoff)));
        }
        let Some((_, swap)) = swaps.cached.as_mut() else {
            return Err(LearnError::NoSwaps { metric: self.measure.to_string() });
        };
        swap.prepare(labels, ideal.get(..self.max_ideal).unwrap_or(ideal))?;
        Ok(&**swap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changes of the metric when rank 2 (from 0) of an example query swaps with each rank.
    fn deltas(metric: &str, cut: CutoffMode, truncation: usize) -> Vec<f64> {
        let weight = WeightSource::Metric(MetricSpec::parse(metric).unwrap());
        let metric_weight = weight.resolve(WeightScheme::Swap, cut, truncation).unwrap().unwrap();
        let mut swaps = SwapCache::default();
        let labels = [0.0, 2.0, 1.0, 0.0, 3.0];
        let swap = metric_weight.prepare(&mut swaps, &labels, &[3.0, 2.0, 1.0, 0.0, 0.0]).unwrap();
        let mut row = vec![0.0; 5];
        swap.swap_deltas(2, &mut row);
        row
    }

    #[test]
    fn pairs_below_the_cut_off_have_a_weight_if_it_is_soft_and_none_if_it_is_hard() {
        let (soft, hard) =
            (deltas("ndcg@2", CutoffMode::Soft, 5), deltas("ndcg@2", CutoffMode::Hard, 5));
        assert!(soft[4] > 0.0 && hard[4] == 0.0);
        assert_eq!(soft, deltas("ndcg", CutoffMode::Hard, 5));
        assert!(hard[0] > 0.0);
    }

    #[test]
    fn ndcg_is_scaled_by_the_ideal_dcg_at_the_truncation_level() {
        let (truncated, all) =
            (deltas("ndcg@2", CutoffMode::Soft, 2), deltas("ndcg@2", CutoffMode::Soft, 5));
        let ideal_dcg = |depth: usize| -> f64 {
            let gains = [7.0, 3.0, 1.0];
            gains[..depth].iter().enumerate().map(|(r, g)| g / (r as f64 + 2.0).log2()).sum()
        };
        assert!((truncated[4] * ideal_dcg(2) - all[4] * ideal_dcg(3)).abs() < 1e-12);
    }

    #[test]
    fn the_cut_off_of_precision_is_always_hard() {
        assert_eq!(deltas("p@2", CutoffMode::Soft, 5), deltas("p@2", CutoffMode::Hard, 5));
        assert!(deltas("p@2", CutoffMode::Soft, 5)[0] > 0.0);
    }

    #[test]
    fn a_metric_without_swaps_is_refused_by_name() {
        let weight = WeightSource::Metric(MetricSpec::parse("kendall").unwrap());
        let message =
            weight.resolve(WeightScheme::Swap, CutoffMode::Soft, 5).unwrap_err().to_string();
        assert!(message.contains("kendall") && message.contains("expected ndcg"), "{message}");
    }
}
