//! Position bias: the probability that a rank is examined, relative to rank 1, estimated from the
//! clicks of a log under the position-based model P(click) = examination(rank) x
//! relevance(query, document).
//!
//! The estimators differ in the impressions that they compare:
//!
//! - `em`: all, by expectation maximisation of the whole model (`model/pbm.rs`), without a prior.
//! - `allpairs` (Agarwal et al. 2019): for each two ranks, the documents that were shown at both;
//!   every such set has an unknown mean relevance, and all sets are fitted together.
//! - `adjacent`: documents that were shown at neighbouring ranks; the bias is the product of the
//!   ratios from rank 1 on.
//! - `swap`: documents that were shown at rank 1 and at the rank itself.
//! - `click-rate`: the click rates of the ranks. No correction: relevant documents are shown on
//!   top, so that it overstates the bias. It is the value to compare the others with.
//!
//! Within a set of two ranks each document counts the same, by its click rate at either rank;
//! a document counts only if it was shown often enough at both (`min_shown`). Ranks that no
//! document links have no estimate.

use std::collections::BTreeMap;

use rankwright_data::{DEFAULT_SEED, Random};
use rankwright_spec::{choices, params};
use rayon::prelude::*;
use serde::Serialize;

use crate::pages::Pages;

choices! {
    /// An estimator of position bias.
    pub enum BiasEstimator {
        /// The position-based model, fitted to all impressions.
        Em = "em",
        /// Documents shown at two ranks, all pairs of ranks together.
        AllPairs = "allpairs",
        /// Documents shown at neighbouring ranks.
        Adjacent = "adjacent",
        /// Documents shown at rank 1 and at the rank itself.
        Swap = "swap",
        /// Click rates without a correction.
        ClickRate = "click-rate",
    }
}

params! {
    /// Options of an estimation of position bias.
    pub struct BiasOptions {
        min_shown: u64 = 10, 1.., "Impressions that a document needs at each of two ranks to link them.";
        iterations: u32 = 2000, 1..=1_000_000, "Iterations of expectation maximisation.";
        samples: u32 = 100, 0..=100_000, "Bootstrap samples of the intervals; 0: no intervals.";
        seed: u64 = DEFAULT_SEED, .., "Seed of the bootstrap.";
    }
}

/// The position bias of the ranks of a log.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PositionBias {
    /// The estimator.
    pub estimator: &'static str,
    /// The examination of each rank relative to rank 1; `None` for ranks without an estimate.
    pub examination: Vec<Option<f64>>,
    /// The 95 % interval of each rank, by a bootstrap over impressions; `None` for ranks without an
    /// estimate in some sample, or if no interval was requested.
    pub ci95: Vec<Option<[f64; 2]>>,
}

/// Impressions and clicks of a pair of query and document at a rank.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Shown {
    shown: f64,
    clicked: f64,
}

impl Shown {
    fn rate(self) -> f64 {
        self.clicked / self.shown
    }
}

/// Impressions and clicks of each pair by rank.
struct RankTable {
    ranks: usize,
    pairs: Vec<BTreeMap<usize, Shown>>,
}

impl RankTable {
    fn new(pages: &Pages) -> Self {
        let mut pairs = vec![BTreeMap::<usize, Shown>::new(); pages.pairs()];
        for page in pages.iter() {
            for (rank, (pair, clicked)) in page.pairs.iter().zip(page.clicked).enumerate() {
                let cell = pairs[*pair as usize].entry(rank).or_default();
                cell.shown += page.count as f64;
                cell.clicked += if *clicked { page.count as f64 } else { 0.0 };
            }
        }
        Self { ranks: pages.max_ranks(), pairs }
    }

    /// The sums of the click rates at both ranks, over the documents that were shown at both at
    /// least `min_shown` times, and the number of these documents.
    fn linked(&self, one: usize, other: usize, min_shown: u64) -> (f64, f64, f64) {
        let enough = |cell: Option<&Shown>| cell.copied().filter(|c| c.shown >= min_shown as f64);
        let mut sums = (0.0, 0.0, 0.0);
        for pair in &self.pairs {
            if let (Some(at_one), Some(at_other)) =
                (enough(pair.get(&one)), enough(pair.get(&other)))
            {
                sums = (sums.0 + at_one.rate(), sums.1 + at_other.rate(), sums.2 + 1.0);
            }
        }
        sums
    }
}

/// Estimates the position bias of a log, with intervals. The result is the same on any number of
/// threads.
pub fn position_bias(
    pages: &Pages,
    estimator: BiasEstimator,
    options: &BiasOptions,
) -> PositionBias {
    let examination = estimate(pages, estimator, options);
    let samples: Vec<Vec<Option<f64>>> = (0..u64::from(options.samples))
        .into_par_iter()
        .map(|sample| {
            let drawn = pages.resampled(&mut Random::new(options.seed, sample));
            estimate(&drawn, estimator, options)
        })
        .collect();
    let ci95 = (0..examination.len()).map(|rank| interval(&samples, rank)).collect();
    PositionBias { estimator: estimator.name(), examination, ci95 }
}

fn estimate(pages: &Pages, estimator: BiasEstimator, options: &BiasOptions) -> Vec<Option<f64>> {
    let table = RankTable::new(pages);
    match estimator {
        BiasEstimator::Em => em(pages, options),
        BiasEstimator::AllPairs => all_pairs(&table, options),
        BiasEstimator::Adjacent => adjacent(&table, options),
        BiasEstimator::Swap => swap(&table, options),
        BiasEstimator::ClickRate => click_rates(&table),
    }
}

/// The 2.5 and 97.5 percentiles of a rank's estimates.
fn interval(samples: &[Vec<Option<f64>>], rank: usize) -> Option<[f64; 2]> {
    let values = samples.iter().map(|sample| sample.get(rank).copied().flatten());
    let mut values: Vec<f64> = values.collect::<Option<_>>()?;
    values.sort_by(f64::total_cmp);
    let at =
        |share: f64| values.get(((values.len() as f64 - 1.0) * share).round() as usize).copied();
    Some([at(0.025)?, at(0.975)?])
}

/// Values relative to the first one; `None` where there is no value.
fn relative(values: Vec<Option<f64>>) -> Vec<Option<f64>> {
    let first = values.first().copied().flatten().filter(|first| *first > 0.0);
    values.into_iter().map(|value| Some(value? / first?)).collect()
}

fn em(pages: &Pages, options: &BiasOptions) -> Vec<Option<f64>> {
    let values = crate::model::fit_examination(pages, options.iterations);
    relative(values.into_iter().map(Some).collect())
}

fn click_rates(table: &RankTable) -> Vec<Option<f64>> {
    let mut totals = vec![Shown::default(); table.ranks];
    for (rank, cell) in table.pairs.iter().flatten() {
        totals[*rank].shown += cell.shown;
        totals[*rank].clicked += cell.clicked;
    }
    relative(totals.into_iter().map(|total| (total.shown > 0.0).then(|| total.rate())).collect())
}

fn adjacent(table: &RankTable, options: &BiasOptions) -> Vec<Option<f64>> {
    let mut chain = vec![Some(1.0)];
    for rank in 1..table.ranks {
        let (above, below, _) = table.linked(rank - 1, rank, options.min_shown);
        let last = chain.last().copied().flatten();
        chain.push(last.filter(|_| above > 0.0).map(|last| last * below / above));
    }
    chain.truncate(table.ranks);
    chain
}

fn swap(table: &RankTable, options: &BiasOptions) -> Vec<Option<f64>> {
    let ratio = |rank: usize| {
        let (first, here, _) = table.linked(0, rank, options.min_shown);
        (first > 0.0).then_some(here / first)
    };
    (0..table.ranks).map(ratio).collect()
}

/// Fits `p_k r_{k,k'}` to the sums of click rates of all sets by expectation maximisation, as in the
/// position-based model with a set in the place of a document.
fn all_pairs(table: &RankTable, options: &BiasOptions) -> Vec<Option<f64>> {
    let mut sets = Vec::new();
    for one in 0..table.ranks {
        for other in one + 1..table.ranks {
            let (at_one, at_other, documents) = table.linked(one, other, options.min_shown);
            if documents > 0.0 {
                sets.push(LinkedSet { ranks: [one, other], rates: [at_one, at_other], documents });
            }
        }
    }
    let mut linked = vec![false; table.ranks];
    sets.iter().flat_map(|set| set.ranks).for_each(|rank| linked[rank] = true);
    let mut examination = vec![0.5; table.ranks];
    let mut relevance = vec![0.5; sets.len()];
    for _ in 0..options.iterations {
        iterate(&sets, &mut examination, &mut relevance);
    }
    let known = examination.into_iter().zip(linked);
    relative(known.map(|(value, linked)| linked.then_some(value)).collect())
}

/// The documents that were shown at two ranks.
struct LinkedSet {
    ranks: [usize; 2],
    /// The sums of their click rates at either rank.
    rates: [f64; 2],
    /// Number of documents.
    documents: f64,
}

/// One iteration of expectation maximisation.
fn iterate(sets: &[LinkedSet], examination: &mut [f64], relevance: &mut [f64]) {
    let mut by_rank = vec![(0.0, 0.0); examination.len()];
    for (set, relevance) in sets.iter().zip(relevance) {
        let mut relevant = 0.0;
        for (rank, clicked) in set.ranks.into_iter().zip(set.rates) {
            let (p, r) = (examination[rank], *relevance);
            let no_click = 1.0 - p * r;
            let skipped = if no_click > 0.0 { (set.documents - clicked) / no_click } else { 0.0 };
            relevant += clicked + skipped * r * (1.0 - p);
            by_rank[rank].0 += clicked + skipped * p * (1.0 - r);
            by_rank[rank].1 += set.documents;
        }
        *relevance = relevant / (2.0 * set.documents);
    }
    for (value, (examined, shown)) in examination.iter_mut().zip(by_rank) {
        if shown > 0.0 {
            *value = examined / shown;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impression::Impression;
    use crate::log::read_log;
    use rankwright_data::bytes::Input;

    /// Pages of three documents in every turn, clicked as often as the model says.
    fn pages(gamma: [f64; 3], alpha: [f64; 3]) -> Pages {
        let mut log = Vec::new();
        for turn in 0..3 {
            let at = |rank: usize| (rank + turn) % 3;
            for bits in 0_u32..8 {
                let clicks: Vec<usize> =
                    (1..=3).filter(|rank| bits >> (rank - 1) & 1 == 1).collect();
                let outcome = |rank: usize| {
                    let click = gamma[rank] * alpha[at(rank)];
                    if clicks.contains(&(rank + 1)) { click } else { 1.0 - click }
                };
                let probability: f64 = (0..3).map(outcome).product();
                let documents = (0..3).map(|rank| format!("d{}", at(rank)));
                let page = Impression::new("q", documents).clicked(clicks.iter().copied());
                log.extend(std::iter::repeat_n(page, (probability * 20_000.0).round() as usize));
            }
        }
        Pages::collect(&log)
    }

    #[test]
    fn every_estimator_finds_the_bias_of_clicks_that_follow_the_model() {
        let pages = pages([1.0, 0.6, 0.3], [0.9, 0.5, 0.2]);
        for (name, estimator) in BiasEstimator::ALL {
            let bias = position_bias(&pages, *estimator, &BiasOptions::default().samples(20));
            for (ci, expected) in bias.ci95.iter().zip([1.0, 0.6, 0.3]) {
                let [low, high] = ci.unwrap();
                assert!(low <= expected + 0.01 && high >= expected - 0.01 && high - low < 0.05);
            }
            for (found, expected) in bias.examination.iter().zip([1.0, 0.6, 0.3]) {
                assert!((found.unwrap() - expected).abs() < 5e-3, "{name}: {bias:?}");
            }
        }
    }

    #[test]
    fn ranks_that_no_document_links_have_no_estimate() {
        let page = Impression::new("q", ["a", "b"]).clicked([1]);
        let pages = Pages::collect(&vec![page; 50]);
        for estimator in [BiasEstimator::AllPairs, BiasEstimator::Adjacent, BiasEstimator::Swap] {
            let bias = position_bias(&pages, estimator, &BiasOptions::default());
            assert_eq!(bias.examination[1], None, "{bias:?}");
        }
    }

    /// The figures were computed by independent code.
    #[test]
    fn the_bias_of_the_yandex_pages_is_that_of_independent_code() {
        let Ok(data) = std::env::var("RANKWRIGHT_DATA") else {
            return println!("left out: RANKWRIGHT_DATA is not set");
        };
        let mut log = Vec::new();
        for part in ["trainSample", "testSample"] {
            let path = std::path::Path::new(&data).join("yandex-relpred-clicks").join(part);
            read_log(&[Input::open(path).unwrap()], None, |page| log.push(page)).unwrap();
        }
        assert_eq!(log.len(), 56_477);
        let pages = Pages::collect(&log);
        let expected = [
            (BiasEstimator::Em, [0.69, 0.57, 0.46, 0.37, 0.32, 0.30, 0.24, 0.25, 0.23]),
            (BiasEstimator::AllPairs, [0.76, 0.57, 0.46, 0.37, 0.34, 0.31, 0.26, 0.26, 0.25]),
            (BiasEstimator::ClickRate, [0.82, 0.58, 0.49, 0.35, 0.26, 0.24, 0.18, 0.18, 0.17]),
        ];
        for (estimator, values) in expected {
            let options = BiasOptions::default().samples(0);
            let bias = position_bias(&pages, estimator, &options);
            println!("{} {:.3?}", bias.estimator, bias.examination);
            for (found, expected) in bias.examination[1..].iter().zip(values) {
                assert!((found.unwrap() - expected).abs() <= 0.03, "{bias:?}");
            }
        }
    }
}
