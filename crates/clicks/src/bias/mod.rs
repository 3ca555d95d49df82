//! Position bias: the probability that a rank is examined, relative to rank 1, estimated from the
//! clicks of a log under the position-based model P(click) = examination(rank) x
//! relevance(query, document).
//!
//! The estimators differ in the impressions that they compare:
//!
//! - `em`: all, by expectation maximisation of the whole model (`model/pbm.rs`), without a prior.
//! - `regression-em` (Wang et al. 2018): all, with relevance as a logistic function of features
//!   (`regression.rs`). It needs features; documents need not link ranks.
//! - `allpairs` (Agarwal et al. 2019): for each two ranks, the documents that were shown at both;
//!   every such set has an unknown mean relevance, and all sets are fitted together.
//! - `adjacent`: documents that were shown at neighbouring ranks; the bias is the product of the
//!   ratios from rank 1 on.
//! - `swap`: documents that were shown at rank 1 and at the rank itself.
//! - `randomised`: pages whose order was random (`randomised.rs`).
//! - `click-rate`: the click rates of the ranks. No correction: relevant documents are shown on
//!   top, so that it overstates the bias. It is the value to compare the others with.
//!
//! Within a set of two ranks each document counts the same, by its click rate at either rank;
//! a document counts only if it was shown often enough at both (`min_shown`): a rate of a few
//! impressions is often 0, and the chain of `adjacent` passes such an error on to all ranks below.
//! On the pages of Yandex' challenge `em`, `allpairs` and `adjacent` are within .05 of each other at
//! every rank for any minimum from 14 to 30, and .08 apart for 10. Ranks that nothing
//! links with rank 1 have no estimate, and an estimator that has none but for rank 1 states why.
//! Nor has a rank without a click an estimate by `em`, `allpairs` and `regression-em`: theirs would
//! shrink toward 0 with each iteration, and be a divisor later on.

mod file;
mod linked;
mod randomised;

use rankwright_data::{DEFAULT_SEED, Random};
use rankwright_spec::{check_params, choices, params};
use rayon::prelude::*;
use serde::{Serialize, Serializer};

pub use file::{check_examination, read_examination};
pub use randomised::is_random_order;

use crate::error::ClicksError;
use crate::inspect::linked_ranks;
use crate::pages::Pages;
use crate::rank_table::RankTable;
use crate::regression::{PairFeatures, RegressionFit};
use linked::LinkedSets;

choices! {
    /// An estimator of position bias.
    pub enum BiasEstimator {
        /// The position-based model, fitted to all impressions.
        Em = "em",
        /// The position-based model with relevance as a function of features.
        RegressionEm = "regression-em",
        /// Documents shown at two ranks, all pairs of ranks together.
        AllPairs = "allpairs",
        /// Documents shown at neighbouring ranks.
        Adjacent = "adjacent",
        /// Documents shown at rank 1 and at the rank itself.
        Swap = "swap",
        /// Pages whose order was random.
        Randomised = "randomised",
        /// Click rates without a correction.
        ClickRate = "click-rate",
    }
}

params! {
    /// Options of an estimation of position bias.
    pub struct BiasOptions {
        min_shown: u64 = 20, 1.., "Impressions that a document needs at each of two ranks to link them.";
        iterations: u32 = 2000, 1..=1_000_000, "Iterations of expectation maximisation.";
        samples: u32 = 100, 0..=100_000, "Bootstrap samples of the intervals; 0: no intervals.";
        seed: u64 = DEFAULT_SEED, .., "Seed of the bootstrap.";
        random_ranker: String = "random".to_owned(), .., "Name of the ranker whose pages are in random order.";
    }
}

/// Iterations of regression EM in a bootstrap sample, which starts from the fit of the log.
const SAMPLE_ITERATIONS: u32 = 50;

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
    /// The reason why no rank but the first has an estimate.
    pub refusal: Option<BiasRefusal>,
}

/// The reason why an estimator has no position bias for a log. Serialised as a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BiasRefusal {
    /// No documents link other ranks with rank 1.
    #[error(
        "no document was shown often enough at rank 1 and at another rank, so that relevance and \
             position cannot be told apart"
    )]
    RanksNotLinked,
    /// No page was shown in random order.
    #[error("no page was in random order, by the name of its ranker or by its propensities")]
    NoRandomPages,
    /// There are no features.
    #[error("there are no features to regress relevance on")]
    NoFeatures,
    /// There are no clicks at rank 1.
    #[error("there is no click at rank 1, which other ranks are compared with")]
    NoClicks,
    /// There are no clicks below rank 1.
    #[error("there is no click below rank 1")]
    NoLowerClicks,
}

impl Serialize for BiasRefusal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A log whose position bias is estimated: its pages, and what some estimators need besides.
///
/// ```
/// use rankwright_clicks::bias::{BiasEstimator, BiasLog, BiasOptions};
/// use rankwright_clicks::{Impression, Pages};
///
/// let log = [Impression::new("q", ["a", "b"]).clicked([1]), Impression::new("q", ["b", "a"])];
/// let pages = Pages::collect(&log);
/// let options = BiasOptions::default().samples(0_u32);
/// let bias = BiasLog::new(&pages).random_pages(&pages).bias(BiasEstimator::Randomised, &options)?;
/// assert_eq!(bias.examination, [Some(1.0), Some(0.0)]);
/// # Ok::<(), rankwright_clicks::ClicksError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct BiasLog<'a> {
    pages: &'a Pages,
    random_pages: Option<&'a Pages>,
    features: Option<&'a PairFeatures>,
}

impl<'a> BiasLog<'a> {
    /// The pages of a log.
    pub fn new(pages: &'a Pages) -> Self {
        Self { pages, random_pages: None, features: None }
    }

    /// Sets the pages in random order, for [`BiasEstimator::Randomised`].
    #[must_use]
    pub fn random_pages(mut self, pages: &'a Pages) -> Self {
        self.random_pages = Some(pages);
        self
    }

    /// Sets the features of the pairs, for [`BiasEstimator::RegressionEm`].
    #[must_use]
    pub fn features(mut self, features: &'a PairFeatures) -> Self {
        self.features = Some(features);
        self
    }

    /// Estimates the position bias, with intervals. The result is the same on any number of
    /// threads.
    pub fn bias(
        &self,
        estimator: BiasEstimator,
        options: &BiasOptions,
    ) -> Result<PositionBias, ClicksError> {
        check_params(options, "bias")?;
        let pages = match estimator {
            BiasEstimator::Randomised => self
                .random_pages
                .filter(|pages| pages.distinct() > 0)
                .ok_or(BiasRefusal::NoRandomPages),
            BiasEstimator::RegressionEm if self.features.is_none() => Err(BiasRefusal::NoFeatures),
            _ => Ok(self.pages),
        };
        Ok(match pages {
            Ok(pages) => self.estimated(pages, estimator, options),
            Err(refusal) => {
                let ranks = self.pages.max_ranks();
                let (examination, ci95) = (vec![None; ranks], vec![None; ranks]);
                PositionBias {
                    estimator: estimator.name(),
                    examination,
                    ci95,
                    refusal: Some(refusal),
                }
            }
        })
    }

    /// Estimates the position bias from these pages: all, or those in random order.
    fn estimated(
        &self,
        pages: &Pages,
        estimator: BiasEstimator,
        options: &BiasOptions,
    ) -> PositionBias {
        let table = RankTable::new(pages);
        let fit = match (estimator, self.features) {
            (BiasEstimator::RegressionEm, Some(features)) => {
                let start = RegressionFit::start(features, vec![0.5; pages.max_ranks()]).anchored();
                Some(start.improved(&table, features, options.iterations, true))
            }
            _ => None,
        };
        let examination = match (&fit, self.features) {
            (Some(fit), Some(features)) => of_regression(fit, &table, features),
            _ => estimate(pages, estimator, options),
        };
        let sample_of = |drawn: &Pages| match (&fit, self.features) {
            (Some(fit), Some(features)) => {
                let table = RankTable::new(drawn);
                let fit = fit.clone().improved(&table, features, SAMPLE_ITERATIONS, true);
                of_regression(&fit, &table, features)
            }
            _ => estimate(drawn, estimator, options),
        };
        let samples: Vec<Vec<Option<f64>>> = (0..u64::from(options.samples))
            .into_par_iter()
            .map(|sample| sample_of(&pages.resampled(&mut Random::new(options.seed, sample))))
            .collect();
        let ci95 = (0..examination.len()).map(|rank| interval(&samples, rank)).collect();
        // Linked ranks have no estimate either if nobody clicked below rank 1.
        let refusal = refusal(&examination).map(|reason| {
            let is_clicked = table.clicked_ranks(|_| true).into_iter().skip(1).any(|found| found);
            let groups = linked_ranks(pages);
            let is_linked = (1..table.ranks).any(|rank| groups.first(rank) == 0);
            let needs_links = estimator != BiasEstimator::RegressionEm;
            match reason {
                BiasRefusal::RanksNotLinked if !is_clicked && (is_linked || !needs_links) => {
                    BiasRefusal::NoLowerClicks
                }
                reason => reason,
            }
        });
        PositionBias { estimator: estimator.name(), examination, ci95, refusal }
    }
}

/// Estimates the position bias of a log, with intervals, by an estimator that needs pages alone;
/// see [`BiasLog`] for the others. The result is the same on any number of threads.
pub fn position_bias(
    pages: &Pages,
    estimator: BiasEstimator,
    options: &BiasOptions,
) -> Result<PositionBias, ClicksError> {
    BiasLog::new(pages).bias(estimator, options)
}

impl PositionBias {
    /// Whether the estimator corrects for relevance; click rates do not.
    pub fn is_corrected(&self) -> bool {
        self.estimator != BiasEstimator::ClickRate.name()
    }
}

impl BiasEstimator {
    /// Whether a refusal says that the log or the request lacks an input that only this estimator
    /// needs. Where no estimators are named, such an estimator is left out.
    pub fn lacks_input(refusal: &BiasRefusal, has_features: bool) -> bool {
        match refusal {
            BiasRefusal::NoRandomPages => true,
            BiasRefusal::NoFeatures => !has_features,
            _ => false,
        }
    }
}

/// The largest difference at a rank between estimates that are corrected for relevance; `None` if
/// no rank has two of them.
pub fn disagreement(estimates: &[PositionBias]) -> Option<f64> {
    let corrected: Vec<&PositionBias> =
        estimates.iter().filter(|bias| bias.is_corrected()).collect();
    let ranks = corrected.iter().map(|bias| bias.examination.len()).max()?;
    let spread = |rank: usize| {
        let values: Vec<f64> =
            corrected.iter().filter_map(|bias| bias.examination.get(rank).copied()?).collect();
        let (low, high) = values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
        (values.len() > 1).then_some(high - low)
    };
    (0..ranks).filter_map(spread).max_by(f64::total_cmp)
}

/// An error if there are estimates that correct for relevance, and each of them was refused.
pub fn check_not_all_refused(estimates: &[PositionBias]) -> Result<(), ClicksError> {
    let corrected = || estimates.iter().filter(|bias| bias.is_corrected());
    let refused = |bias: &PositionBias| Some((bias.estimator, bias.refusal.clone()?));
    match corrected().map(refused).collect::<Option<Vec<_>>>().map(|all| all.into_iter().next()) {
        Some(Some((estimator, reason))) => Err(ClicksError::NoBias { estimator, reason }),
        _ => Ok(()),
    }
}

/// The reason why no rank but the first has an estimate; `None` if another one has, or if there is
/// no other.
fn refusal(examination: &[Option<f64>]) -> Option<BiasRefusal> {
    match examination {
        [] | [_] => None,
        [None, ..] => Some(BiasRefusal::NoClicks),
        [_, others @ ..] if others.iter().all(Option::is_none) => Some(BiasRefusal::RanksNotLinked),
        _ => None,
    }
}

fn estimate(pages: &Pages, estimator: BiasEstimator, options: &BiasOptions) -> Vec<Option<f64>> {
    let sets = || LinkedSets::new(&RankTable::new(pages), options.min_shown);
    match estimator {
        BiasEstimator::Em => em(pages, options),
        BiasEstimator::AllPairs => sets().all_pairs(options.iterations),
        BiasEstimator::Adjacent => sets().adjacent(),
        BiasEstimator::Swap => sets().swap(),
        BiasEstimator::Randomised => randomised::rates(pages),
        // Without features there is nothing to fit; `BiasLog::bias` has refused.
        BiasEstimator::RegressionEm => vec![None; pages.max_ranks()],
        BiasEstimator::ClickRate => click_rates(pages),
    }
}

/// The 2.5 and 97.5 percentiles of a rank's estimates.
fn interval(samples: &[Vec<Option<f64>>], rank: usize) -> Option<[f64; 2]> {
    let values = samples.iter().map(|sample| sample.get(rank).copied().flatten());
    percentiles(values.collect::<Option<_>>()?)
}

/// The 2.5 and 97.5 percentiles of some values; `None` without any.
pub(crate) fn percentiles(mut values: Vec<f64>) -> Option<[f64; 2]> {
    values.sort_by(f64::total_cmp);
    let at =
        |share: f64| values.get(((values.len() as f64 - 1.0) * share).round() as usize).copied();
    Some([at(0.025)?, at(0.975)?])
}

/// Values relative to the first one; `None` where there is no value, and everywhere if the first is
/// 0 or missing.
fn relative(values: Vec<Option<f64>>) -> Vec<Option<f64>> {
    let first = values.first().copied().flatten().filter(|first| *first > 0.0);
    values.into_iter().map(|value| Some(value? / first?)).collect()
}

/// The examination by the position-based model, of clicked ranks that are linked with rank 1.
fn em(pages: &Pages, options: &BiasOptions) -> Vec<Option<f64>> {
    let values = crate::model::fit_examination(pages, options.iterations);
    let groups = linked_ranks(pages);
    let clicked = RankTable::new(pages).clicked_ranks(|_| true);
    let known = |rank: usize| groups.first(rank) == 0 && clicked[rank];
    let linked = |(rank, value)| known(rank).then_some(value);
    relative(values.into_iter().enumerate().map(linked).collect())
}

/// The examination of a regression at ranks where a document with features was clicked.
fn of_regression(
    fit: &RegressionFit,
    table: &RankTable,
    features: &PairFeatures,
) -> Vec<Option<f64>> {
    let clicked = table.clicked_ranks(|pair| features.is_known(pair));
    let ranks = fit.examination.iter().zip(clicked);
    relative(ranks.map(|(value, clicked)| clicked.then_some(*value)).collect())
}

fn click_rates(pages: &Pages) -> Vec<Option<f64>> {
    let mut totals = vec![(0.0, 0.0); pages.max_ranks()];
    for cell in &RankTable::new(pages).cells {
        let (shown, clicked) = &mut totals[cell.rank as usize];
        *shown += cell.shown;
        *clicked += cell.clicked;
    }
    relative(
        totals.into_iter().map(|(shown, clicked)| (shown > 0.0).then(|| clicked / shown)).collect(),
    )
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
        let attraction = [0.9, 0.5, 0.2_f64].map(|alpha| [(alpha / (1.0 - alpha)).ln() as f32]);
        let features = PairFeatures::new(&pages, |_, document| {
            let number: usize = document.strip_prefix('d')?.parse().ok()?;
            Some(&attraction[number][..])
        })
        .unwrap();
        let log = BiasLog::new(&pages).random_pages(&pages).features(&features);
        for (name, estimator) in BiasEstimator::ALL {
            let bias = log.bias(*estimator, &BiasOptions::default().samples(20_u32)).unwrap();
            assert_eq!(bias.refusal, None);
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
        use BiasEstimator::{Adjacent, AllPairs, Em, Randomised, RegressionEm, Swap};
        for (estimator, reason) in [
            (Em, BiasRefusal::RanksNotLinked),
            (AllPairs, BiasRefusal::RanksNotLinked),
            (Adjacent, BiasRefusal::RanksNotLinked),
            (Swap, BiasRefusal::RanksNotLinked),
            (Randomised, BiasRefusal::NoRandomPages),
            (RegressionEm, BiasRefusal::NoFeatures),
        ] {
            let bias = position_bias(&pages, estimator, &BiasOptions::default()).unwrap();
            assert_eq!((bias.examination[1], bias.refusal), (None, Some(reason)), "{estimator:?}");
        }
    }

    /// Ranks 3 and 4 share documents with each other, but not with rank 1.
    #[test]
    fn groups_that_are_not_linked_with_rank_1_have_no_estimate() {
        let page =
            |documents: [&'static str; 4]| Impression::new("q", documents).clicked([1, 2, 3]);
        let mut log = vec![page(["a", "b", "c", "d"]); 20];
        log.extend(vec![page(["b", "a", "d", "c"]); 20]);
        for estimator in [BiasEstimator::Em, BiasEstimator::AllPairs, BiasEstimator::Adjacent] {
            let options = BiasOptions::default().samples(0_u32).iterations(50_u32);
            let bias = position_bias(&Pages::collect(&log), estimator, &options).unwrap();
            assert!(bias.examination[1].is_some(), "{bias:?}");
            assert_eq!((bias.examination[2], bias.examination[3]), (None, None), "{bias:?}");
        }
    }

    #[test]
    fn options_beyond_their_ranges_are_an_error() {
        let pages = Pages::collect(&[Impression::new("q", ["a", "b"]).clicked([1])]);
        let options = BiasOptions::default();
        for options in [
            options.clone().samples(100_001_u32),
            options.clone().iterations(0_u32),
            options.clone().min_shown(0_u64),
        ] {
            let error = position_bias(&pages, BiasEstimator::Em, &options).unwrap_err();
            assert_eq!(error.kind(), "bad-value", "{options:?}: {error}");
        }
    }

    /// Documents link all three ranks, and nobody clicks at the last one.
    #[test]
    fn a_rank_without_a_click_has_no_estimate() {
        let turns = [["d0", "d1", "d2"], ["d1", "d2", "d0"], ["d2", "d0", "d1"]];
        let log = |clicks: &[&[usize]]| -> Pages {
            let page = |(documents, clicks): ([&'static str; 3], &&[usize])| {
                Impression::new("q", documents).clicked(clicks.iter().copied())
            };
            let pages = turns.iter().flat_map(|turn| clicks.iter().map(move |c| (*turn, c)));
            let log: Vec<Impression> = pages.map(page).collect();
            let log: Vec<Impression> = (0..20).flat_map(|_| log.clone()).collect();
            Pages::collect(&log)
        };
        let rows = [[0.0_f32], [1.0], [2.0]];
        use BiasEstimator::{AllPairs, Em, RegressionEm};
        for estimator in [Em, AllPairs, RegressionEm] {
            let bias = |pages: &Pages| {
                let features = PairFeatures::new(pages, |_, document| {
                    let number: usize = document.strip_prefix('d')?.parse().ok()?;
                    Some(&rows[number][..])
                });
                let options = BiasOptions::default().samples(0_u32).iterations(100_u32);
                BiasLog::new(pages).features(&features.unwrap()).bias(estimator, &options).unwrap()
            };
            let found = bias(&log(&[&[1], &[1, 2], &[]]));
            assert!(found.examination[1].is_some_and(|value| value > 0.1), "{found:?}");
            assert_eq!((found.examination[2], found.refusal), (None, None), "{estimator:?}");
            let top_only = bias(&log(&[&[1], &[]]));
            assert_eq!(top_only.refusal, Some(BiasRefusal::NoLowerClicks), "{estimator:?}");
        }
    }

    /// The page that links ranks 2 and 1 is not drawn in many samples, which have no estimate then.
    #[test]
    fn a_page_that_is_not_drawn_links_no_ranks() {
        let log = [
            Impression::new("q", ["a", "b"]).clicked([1, 2]),
            Impression::new("q", ["b", "a"]).clicked([1, 2]),
        ];
        let pages = Pages::collect(&log);
        let samples = (0..50).map(|stream| pages.resampled(&mut Random::new(1, stream)));
        let one_drawn = |sample: &Pages| sample.iter().filter(|page| page.count > 0).count() == 1;
        let samples: Vec<Pages> = samples.filter(one_drawn).collect();
        assert!(!samples.is_empty());
        for sample in samples {
            let options = BiasOptions::default().iterations(50_u32);
            assert_eq!(estimate(&sample, BiasEstimator::Em, &options)[1], None);
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
            read_log(&[Input::open(path).unwrap()], None, |page| log.push(page.clone())).unwrap();
        }
        assert_eq!(log.len(), 56_477);
        let pages = Pages::collect(&log);
        let expected = [
            (BiasEstimator::Em, [0.69, 0.57, 0.46, 0.37, 0.32, 0.30, 0.24, 0.25, 0.23]),
            (BiasEstimator::AllPairs, [0.76, 0.57, 0.46, 0.37, 0.34, 0.31, 0.26, 0.26, 0.25]),
            (BiasEstimator::ClickRate, [0.82, 0.58, 0.49, 0.35, 0.26, 0.24, 0.18, 0.18, 0.17]),
        ];
        for (estimator, values) in expected {
            let options = BiasOptions::default().samples(0_u32);
            let bias = position_bias(&pages, estimator, &options).unwrap();
            println!("{} {:.3?}", bias.estimator, bias.examination);
            for (found, expected) in bias.examination[1..].iter().zip(values) {
                assert!((found.unwrap() - expected).abs() <= 0.03, "{bias:?}");
            }
        }
    }
}
