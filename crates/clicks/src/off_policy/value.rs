//! The value of a ranking, from sums over the pages of a log.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use rankwright_data::Random;
use rankwright_spec::check_params;
use rayon::prelude::*;
use serde::Serialize;

use super::log::{LoggedPage, LoggedPages};
use super::{OffPolicyOptions, PropensityKind, ResampledUnit, ValueEstimator};
use crate::bias::percentiles;
use crate::error::ClicksError;
use crate::pages::poisson;

/// A document of the ranking to evaluate.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetDocument {
    /// Its id.
    pub id: String,
    /// Its relevance by the regression on features, from 0 to 1; `dm` and `dr` use it.
    pub relevance: f64,
}

/// The ranking to evaluate, with the weights of its metric and the examination of ranks.
#[derive(Debug, Clone, Copy)]
pub struct TargetRanking<'a> {
    /// For each query of the log the first documents of the ranking, the best one first; `None` for
    /// a query that is left out.
    pub rankings: &'a [Option<Vec<TargetDocument>>],
    /// The weight of each rank in the metric ([`rank_weights`](super::rank_weights)).
    pub weights: &'a [f64],
    /// The examination of each rank relative to rank 1; may be empty if the estimate uses the
    /// probabilities of pages alone.
    pub examination: &'a [Option<f64>],
}

/// The value that a ranking would have.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PolicyValue {
    /// The estimated value of the metric.
    pub value: f64,
    /// Its 95 % interval; `None` if no interval was requested.
    pub ci95: Option<[f64; 2]>,
    /// The value of the pages that were shown, by the same propensities.
    pub logged: f64,
    /// The share of the metric's weight that the log covers.
    pub overlap: f64,
    /// The effective number of shown documents that the estimate is based on.
    pub effective_sample: f64,
    /// The largest weight of a click.
    pub largest_weight: f64,
    /// Number of impressions.
    pub impressions: f64,
    /// Number of queries.
    pub queries: usize,
    /// The value in each bootstrap sample.
    #[serde(skip)]
    pub samples: Vec<f64>,
}

/// The difference between two values of one log with one seed: the first minus the second, with the
/// 95 % interval of the paired bootstrap samples.
pub fn value_difference(one: &PolicyValue, other: &PolicyValue) -> (f64, Option<[f64; 2]>) {
    let samples = one.samples.iter().zip(&other.samples).map(|(one, other)| one - other);
    (one.value - other.value, percentiles(samples.collect()))
}

impl LoggedPages {
    /// Estimates the value of a ranking. The result is the same on any number of threads.
    pub fn value(
        &self,
        target: &TargetRanking<'_>,
        options: &OffPolicyOptions,
    ) -> Result<PolicyValue, ClicksError> {
        check_params(options, "evaluation")?;
        let prepared = PreparedEstimate::new(self, target, options)?;
        let counts: Vec<f64> = prepared.pages.iter().map(|page| page.count).collect();
        let sums = prepared.sums(&counts);
        let overlap = prepared.overlap(&sums);
        if options.estimator != ValueEstimator::Dm && overlap < options.min_overlap {
            return Err(ClicksError::NoOverlap { overlap, needed: options.min_overlap });
        }
        let draw = |sample: u64| {
            let mut random = Random::new(options.seed, sample);
            let drawn = prepared.resampled(&counts, options.unit, &mut random);
            prepared.estimate(&prepared.sums(&drawn))
        };
        let samples: Vec<f64> = (0..u64::from(options.samples)).into_par_iter().map(draw).collect();
        let (effective_sample, largest_weight) = prepared.weights(&sums);
        Ok(PolicyValue {
            value: prepared.estimate(&sums),
            ci95: percentiles(samples.clone()),
            logged: prepared.logged(&counts),
            overlap,
            effective_sample,
            largest_weight,
            impressions: counts.iter().sum(),
            queries: target.rankings.iter().flatten().count(),
            samples,
        })
    }
}

/// A shown document that the ranking has, too.
#[derive(Debug, Clone, Copy)]
struct LoggedDocument {
    /// The index in `PreparedEstimate::slots` of this document. (For propensities of pages, the
    /// document stands at the same rank on the page and in the ranking.)
    slot: usize,
    clicked: bool,
    /// The weight of a click.
    weight: f64,
    /// The probability that the document is examined; 1 for propensities of pages.
    examined: f64,
}

/// A page, reduced to the documents that count in the estimate.
struct PreparedPage {
    query: usize,
    documents: Vec<LoggedDocument>,
    /// The value of the page itself.
    value: f64,
    count: f64,
}

/// A document of the ranking of a query.
#[derive(Debug, Clone, Copy)]
struct Slot {
    query: usize,
    /// The rank, from 0.
    rank: usize,
    /// The weight of the rank in the metric.
    weight: f64,
    /// The gain by the direct method.
    predicted: f64,
}

/// Everything that is the same in all bootstrap samples.
struct PreparedEstimate {
    estimator: ValueEstimator,
    kind: PropensityKind,
    slots: Vec<Slot>,
    pages: Vec<PreparedPage>,
    queries: usize,
}

/// Reduces a page to the documents that count in the estimate. `ranks` has the ranks of documents
/// in the ranking, `first_slot` is the slot of its first one.
fn prepared_page(
    page: &LoggedPage,
    target: &TargetRanking<'_>,
    ranks: &HashMap<u32, usize, FixedState>,
    first_slot: usize,
    clip: f64,
) -> PreparedPage {
    let has_propensities = !page.propensities.is_empty();
    let mut prepared =
        PreparedPage { query: page.query, documents: Vec::new(), value: 0.0, count: page.count };
    let (mut propensity, mut is_prefix) = (1.0, true);
    for (at, (document, clicked)) in page.documents.iter().zip(&page.clicked).enumerate() {
        let target_rank = ranks.get(document).copied();
        let (weight, examined) = match has_propensities {
            false => match known_examination(target.examination, at) {
                Some(examined) => ((1.0 / examined).min(clip), examined),
                // Nothing is known of a rank without examination.
                None => (0.0, 0.0),
            },
            true => {
                propensity *= page.propensities[at];
                is_prefix &= target_rank == Some(at);
                (if is_prefix { (1.0 / propensity).min(clip) } else { 0.0 }, 1.0)
            }
        };
        if *clicked {
            let gain = if has_propensities { 1.0 } else { weight };
            prepared.value += gain * target.weights.get(at).copied().unwrap_or(0.0);
        }
        if let Some(rank) = target_rank.filter(|_| weight > 0.0) {
            let slot = first_slot + rank;
            prepared.documents.push(LoggedDocument { slot, clicked: *clicked, weight, examined });
        }
    }
    prepared
}

/// The examination of a rank, from 0, if it is known and above 0.
fn known_examination(examination: &[Option<f64>], rank: usize) -> Option<f64> {
    examination.get(rank).copied().flatten().filter(|value| *value > 0.0)
}

/// Sums over the impressions of a slot.
#[derive(Debug, Clone, Copy, Default)]
struct SlotSums {
    shown: f64,
    clicks: f64,
    /// The sum of examinations.
    examined: f64,
    /// The sum of weights of clicks.
    weighted_clicks: f64,
    /// The sum of weights times examinations.
    weighted: f64,
}

/// The sums of a log.
struct LogSums {
    slots: Vec<SlotSums>,
    /// Impressions of each query.
    impressions: Vec<f64>,
}

impl PreparedEstimate {
    fn new(
        log: &LoggedPages,
        target: &TargetRanking<'_>,
        options: &OffPolicyOptions,
    ) -> Result<Self, ClicksError> {
        let needs_examination =
            log.kind == PropensityKind::Page && options.estimator.needs_regression();
        let (mut slots, mut first_slots) = (Vec::new(), Vec::new());
        for (query, ranking) in target.rankings.iter().enumerate() {
            first_slots.push(slots.len());
            for ((rank, document), weight) in
                ranking.iter().flatten().enumerate().zip(target.weights)
            {
                let examined =
                    match (needs_examination, known_examination(target.examination, rank)) {
                        (false, _) => 1.0,
                        (true, Some(value)) => value,
                        (true, None) => return Err(ClicksError::NoExamination { rank: rank + 1 }),
                    };
                let predicted = examined * document.relevance;
                slots.push(Slot { query, rank, weight: *weight, predicted });
            }
        }
        let mut prepared = Self {
            estimator: options.estimator,
            kind: log.kind,
            slots,
            pages: Vec::new(),
            queries: target.rankings.len(),
        };
        let clip = options.clip.unwrap_or(f64::INFINITY);
        let mut ranks: HashMap<u32, usize, FixedState> = HashMap::default();
        for pages in log.pages.chunk_by(|one, other| one.query == other.query) {
            let query = pages.first().map_or(0, |page| page.query);
            let Some(ranking) = target.rankings.get(query).and_then(Option::as_ref) else {
                continue;
            };
            let known = ranking.iter().take(target.weights.len()).enumerate();
            ranks.clear();
            ranks.extend(known.filter_map(|(rank, d)| Some((*log.documents.get(&d.id)?, rank))));
            let first_slot = first_slots[query];
            let page = |page: &LoggedPage| prepared_page(page, target, &ranks, first_slot, clip);
            prepared.pages.extend(pages.iter().map(page));
        }
        Ok(prepared)
    }

    /// The sums of a log that shows each page this many times.
    fn sums(&self, counts: &[f64]) -> LogSums {
        let mut slots = vec![SlotSums::default(); self.slots.len()];
        let mut impressions = vec![0.0; self.queries];
        for (page, count) in self.pages.iter().zip(counts) {
            impressions[page.query] += count;
            for document in &page.documents {
                let sums = &mut slots[document.slot];
                let clicks = if document.clicked { *count } else { 0.0 };
                sums.shown += count;
                sums.clicks += clicks;
                sums.examined += count * document.examined;
                sums.weighted_clicks += clicks * document.weight;
                sums.weighted += count * document.weight * document.examined;
            }
        }
        LogSums { slots, impressions }
    }

    /// Counts of a bootstrap sample.
    fn resampled(&self, counts: &[f64], unit: ResampledUnit, random: &mut Random) -> Vec<f64> {
        match unit {
            ResampledUnit::Impression => {
                counts.iter().map(|count| poisson(*count, random) as f64).collect()
            }
            ResampledUnit::Query => {
                let times: Vec<f64> =
                    (0..self.queries).map(|_| poisson(1.0, random) as f64).collect();
                self.pages.iter().zip(counts).map(|(page, n)| n * times[page.query]).collect()
            }
        }
    }

    /// The value of the ranking from these sums.
    fn estimate(&self, sums: &LogSums) -> f64 {
        let impressions: f64 = sums.impressions.iter().sum();
        if impressions == 0.0 {
            return 0.0;
        }
        let normalised = match (self.kind, self.estimator) {
            (PropensityKind::Page, ValueEstimator::Snips) => self.rates_by_rank(sums),
            _ => Vec::new(),
        };
        let value = |(slot, found): (&Slot, &SlotSums)| {
            let shown = match self.kind {
                PropensityKind::Examination => found.shown,
                PropensityKind::Page => sums.impressions[slot.query],
            };
            let mean = |sum: f64| if shown > 0.0 { sum / shown } else { 0.0 };
            let gain = match (self.estimator, self.kind) {
                (ValueEstimator::Ips, _) => mean(found.weighted_clicks),
                (ValueEstimator::Snips, PropensityKind::Page) => normalised[slot.rank],
                (ValueEstimator::Snips, PropensityKind::Examination) => {
                    match found.examined > 0.0 {
                        true => found.clicks / found.examined,
                        false => 0.0,
                    }
                }
                (ValueEstimator::Dm, _) => slot.predicted,
                (ValueEstimator::Dr, _) => {
                    slot.predicted + mean(found.weighted_clicks - slot.predicted * found.weighted)
                }
            };
            sums.impressions[slot.query] * slot.weight * gain
        };
        self.slots.iter().zip(&sums.slots).map(value).sum::<f64>() / impressions
    }

    /// The self-normalised click rate of each rank, over all queries.
    fn rates_by_rank(&self, sums: &LogSums) -> Vec<f64> {
        let ranks = self.slots.iter().map(|slot| slot.rank + 1).max().unwrap_or(0);
        let mut totals = vec![(0.0, 0.0); ranks];
        for (slot, found) in self.slots.iter().zip(&sums.slots) {
            totals[slot.rank].0 += found.weighted_clicks;
            totals[slot.rank].1 += found.weighted;
        }
        let rate =
            |(clicks, weights): (f64, f64)| if weights > 0.0 { clicks / weights } else { 0.0 };
        totals.into_iter().map(rate).collect()
    }

    /// The share of the metric's weight at slots that the log covers.
    fn overlap(&self, sums: &LogSums) -> f64 {
        let (mut covered, mut total) = (0.0, 0.0);
        for (slot, found) in self.slots.iter().zip(&sums.slots) {
            let weight = slot.weight * sums.impressions[slot.query];
            total += weight;
            covered += if found.weighted > 0.0 { weight } else { 0.0 };
        }
        if total > 0.0 { covered / total } else { 0.0 }
    }

    /// The effective sample and the largest weight.
    fn weights(&self, sums: &LogSums) -> (f64, f64) {
        let (mut sum, mut squares, mut largest) = (0.0, 0.0, 0.0_f64);
        for page in &self.pages {
            for document in &page.documents {
                let slot = &self.slots[document.slot];
                let of_query = sums.impressions[slot.query];
                let shown = match self.kind {
                    PropensityKind::Examination => sums.slots[document.slot].shown,
                    PropensityKind::Page => of_query,
                };
                let weight = slot.weight * document.weight * of_query / shown;
                sum += page.count * weight;
                squares += page.count * weight * weight;
                if slot.weight > 0.0 {
                    largest = largest.max(document.weight);
                }
            }
        }
        (if squares > 0.0 { sum * sum / squares } else { 0.0 }, largest)
    }

    /// The mean value of the shown pages.
    fn logged(&self, counts: &[f64]) -> f64 {
        let total: f64 = counts.iter().sum();
        let values = self.pages.iter().zip(counts).map(|(page, count)| count * page.value);
        if total > 0.0 { values.sum::<f64>() / total } else { 0.0 }
    }
}
