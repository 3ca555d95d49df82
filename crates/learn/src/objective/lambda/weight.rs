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
//! success@k are always hard: without a cut-off they never change. A weighted sum of metrics
//! (`metric=ndcg@10:1+p@5:0.3`) has the weighted sum of their changes, each with its own cut-off.
//! With a metric, pairs of equal labels have weight 0.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use rankwright_eval::metric::{Goal, GoalsText, SummedSwap};
use rankwright_eval::{Measure, MetricSpec, SourceKind, SwapDelta};
use rankwright_spec::{Conflict, SpecError, TextValue, choices};

use super::goal::{KeepSwap, KeptLabels, KeptMetric};
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

/// Metrics whose cut-off is never dropped: without one, no swap changes them.
const ALWAYS_HARD: [&str; 3] = ["p", "recall", "success"];

/// A metric resolved as a pair weight.
#[derive(Debug)]
pub(super) struct MetricWeight {
    /// Identifies this value within the process, for [`SwapCache`].
    id: u64,
    /// One metric, or the goals of a weighted sum.
    parts: Vec<WeightPart>,
    scheme: WeightScheme,
    /// The kept metric of `goal=keep(...)`, with its tolerance.
    kept: Option<(Box<MetricWeight>, f64)>,
}

/// A metric of a pair weight.
#[derive(Debug)]
struct WeightPart {
    /// Its weight in the sum of all parts; 1 if it is the only one.
    weight: f64,
    measure: Measure,
    /// The largest number of best labels from which the ideal DCG is computed.
    max_ideal: usize,
}

/// The swap computation that a thread keeps from query to query, with the id of the
/// [`MetricWeight`] that it belongs to.
#[derive(Debug, Default)]
pub(super) struct SwapCache {
    cached: Option<(u64, PreparedSwap)>,
}

/// The changes of a metric under swaps.
#[derive(Debug)]
enum PreparedSwap {
    One(Box<dyn SwapDelta>),
    /// With a kept metric.
    Keep(KeepSwap),
}

impl WeightSource {
    /// The cut-off of the metric, if it has one.
    pub(super) fn cutoff(&self) -> Option<u32> {
        match self {
            WeightSource::One => None,
            WeightSource::Metric(spec) => match goals_of(spec) {
                // Pairs below the largest cut-off of all goals change none of them.
                Ok(Some(goals)) => {
                    let cutoffs = goals.iter().map(|goal| goal.metric.canonical().cutoff);
                    cutoffs.collect::<Option<Vec<u32>>>()?.into_iter().max()
                }
                _ => spec.canonical().cutoff,
            },
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
        let parts = match self {
            WeightSource::One => return Ok(None),
            WeightSource::Custom(measure) => {
                let spec = measure.spec();
                scheme.check(&spec.name, spec.cutoff)?;
                let (weight, max_ideal) = (1.0, usize::MAX);
                vec![WeightPart { weight, measure: measure.clone(), max_ideal }]
            }
            WeightSource::Metric(spec) => {
                scheme.check(spec.def().name, spec.canonical().cutoff)?;
                match goals_of(spec)? {
                    None => vec![WeightPart::new(1.0, spec, cut, truncation)?],
                    Some(goals) => {
                        let part = |goal: &Goal| {
                            WeightPart::new(goal.weight, &goal.metric, cut, truncation)
                        };
                        goals.iter().map(part).collect::<Result<_, _>>()?
                    }
                }
            }
        };
        if let Some(part) = parts.iter().find(|part| part.measure.swap().is_none()) {
            let name = match parts.len() {
                1 => self.to_string(),
                _ => part.measure.to_string(),
            };
            let conflict = Conflict::UnsuitableMetric {
                metric: name.clone(),
                reason: "it has no change under swaps of two ranks".to_owned(),
                expected: "ndcg, dcg, ap, err, rbp, rr, p, recall or success",
            };
            return Err(SpecError::conflict(name, conflict));
        }
        static NEXT_ID: AtomicU64 = AtomicU64::new(0);
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        Ok(Some(MetricWeight { id, parts, scheme, kept: None }))
    }
}

/// The goals of a weighted sum of metrics; `None` for any other metric.
fn goals_of(spec: &MetricSpec) -> Result<Option<Vec<Goal>>, SpecError> {
    match spec.canonical().get("of").filter(|_| spec.def().name == "goals") {
        None => Ok(None),
        Some(text) => GoalsText::from_text(text).goals().map(Some),
    }
}

impl WeightPart {
    /// A metric with its cut-off treated as `cut` says.
    fn new(
        weight: f64,
        spec: &MetricSpec,
        cut: CutoffMode,
        truncation: usize,
    ) -> Result<Self, SpecError> {
        let name = spec.def().name;
        let mut used = spec.canonical().clone();
        let mut max_ideal = usize::MAX;
        if cut == CutoffMode::Soft && !ALWAYS_HARD.contains(&name) {
            used.cutoff = None;
            if name == "ndcg" {
                max_ideal = truncation;
            }
        }
        let measure = MetricSpec::from_spec(used)?.resolve(SourceKind::Features)?;
        Ok(Self { weight, measure, max_ideal })
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
    /// worst, `kept` the labels of the kept metric if these are another column. Returns the weights
    /// of its pairs.
    pub(super) fn prepare<'s>(
        &self,
        swaps: &'s mut SwapCache,
        labels: &[f64],
        ideal: &[f64],
        kept: Option<KeptLabels<'_>>,
    ) -> Result<&'s dyn SwapDelta, LearnError> {
        if swaps.cached.as_ref().is_none_or(|(id, _)| *id != self.id) {
            swaps.cached = self.swap().map(|swap| (self.id, swap));
        }
        let Some((_, swap)) = swaps.cached.as_mut() else {
            let names = self.parts.iter().map(|part| part.measure.to_string());
            return Err(LearnError::NoSwaps { metric: names.collect::<Vec<_>>().join("+") });
        };
        match swap {
            PreparedSwap::One(swap) => {
                swap.prepare(labels, ideal.get(..self.max_ideal()).unwrap_or(ideal))?;
                Ok(&**swap)
            }
            PreparedSwap::Keep(swap) => {
                swap.prepare_with_kept_labels(labels, ideal, kept)?;
                Ok(swap)
            }
        }
    }

    /// The same weight with a kept metric.
    pub(super) fn keeping(
        self,
        kept: &KeptMetric,
        cut: CutoffMode,
        truncation: usize,
    ) -> Result<Self, SpecError> {
        let source = WeightSource::Metric(kept.metric.clone());
        let weight = source.resolve(self.scheme, cut, truncation)?;
        Ok(Self { kept: weight.map(|weight| (Box::new(weight), kept.tolerance)), ..self })
    }

    /// The number of best labels from which the ideal DCG of the only metric is computed; without
    /// limit for several metrics, each of which applies its own limit.
    fn max_ideal(&self) -> usize {
        match self.parts.as_slice() {
            [part] => part.max_ideal,
            _ => usize::MAX,
        }
    }

    /// The changes under swaps; `None` if a metric has none.
    fn swap(&self) -> Option<PreparedSwap> {
        let swap = self.swap_without_kept()?;
        Some(match &self.kept {
            None => PreparedSwap::One(swap),
            Some((kept, tolerance)) => PreparedSwap::Keep(KeepSwap {
                kept: (kept.swap_without_kept()?, kept.max_ideal()),
                added: (swap, self.max_ideal()),
                tolerance: *tolerance,
                kept_deltas: RefCell::default(),
                only_excludes: false,
            }),
        })
    }

    /// The changes of `parts` under swaps, by the scheme; `kept` is not considered.
    fn swap_without_kept(&self) -> Option<Box<dyn SwapDelta>> {
        if let [part] = self.parts.as_slice() {
            return Some(self.scheme.weights_of(part.measure.swap()?, part.measure.spec().cutoff));
        }
        // Sums of metrics have the scheme `Swap`: `WeightScheme::check` rejects the others.
        let parts = self.parts.iter();
        let swaps = parts.map(|part| Some((part.weight, part.max_ideal, part.measure.swap()?)));
        Some(Box::new(SummedSwap::new(swaps.collect::<Option<_>>()?)))
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
        let swap =
            metric_weight.prepare(&mut swaps, &labels, &[3.0, 2.0, 1.0, 0.0, 0.0], None).unwrap();
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

    /// Several goals: the weighted sum of the changes, each goal with its own cut-off.
    #[test]
    fn changes_of_several_goals_add_up() {
        let both = deltas("ndcg@2:1+p@2:0.3", CutoffMode::Soft, 5);
        let (ndcg, p) = (deltas("ndcg@2", CutoffMode::Soft, 5), deltas("p@2", CutoffMode::Soft, 5));
        for rank in 0..5 {
            assert!((both[rank] - ndcg[rank] - 0.3 * p[rank]).abs() < 1e-12, "{both:?}");
        }
        let cutoff = |text: &str| WeightSource::Metric(MetricSpec::parse(text).unwrap()).cutoff();
        assert_eq!((cutoff("ndcg@10:1+p@5:0.3"), cutoff("ndcg:1+p@5:1")), (Some(10), None));
    }

    /// Three documents with the labels 0, 2, 1 by rank. Swapping ranks 1 and 2 changes NDCG by
    /// 1.10721 / 3.63093 = 0.30494, ranks 1 and 3 by 0.5 / 3.63093 = 0.13770, and both P@1 by 1.
    /// With the tolerance 0.2, P@1 counts for the second pair only.
    #[test]
    fn a_kept_metric_decides_where_it_changes_by_more_than_the_tolerance() {
        let spec = |text: &str| MetricSpec::parse(text).unwrap();
        let row = |tolerance: f64| {
            let own = WeightSource::Metric(spec("p@1"));
            let weight = own.resolve(WeightScheme::Swap, CutoffMode::Hard, 3).unwrap().unwrap();
            let kept = KeptMetric::new(spec("ndcg"), tolerance);
            let weight = weight.keeping(&kept, CutoffMode::Hard, 3).unwrap();
            let mut swaps = SwapCache::default();
            let swap =
                weight.prepare(&mut swaps, &[0.0, 2.0, 1.0], &[2.0, 1.0, 0.0], None).unwrap();
            let mut row = vec![0.0; 3];
            swap.swap_deltas(0, &mut row);
            row
        };
        let is_near = |row: &[f64], expected: [f64; 3]| {
            row.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4)
        };
        assert!(is_near(&row(0.2), [0.0, 0.30494, 1.13770]), "{:?}", row(0.2));
        // Nothing changes by more than 1: both metrics count everywhere. With 0, the first decides
        // wherever it changes at all.
        assert!(is_near(&row(1.0), [0.0, 1.30494, 1.13770]), "{:?}", row(1.0));
        assert!(is_near(&row(0.0), [0.0, 0.30494, 0.13770]), "{:?}", row(0.0));
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
