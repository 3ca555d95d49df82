//! Tests of off-policy evaluation: expectations over all logs of short lists.

use super::*;
use crate::impression::Impression;

/// The metric's weights of three ranks: 1/log2(r + 1).
fn weights() -> Vec<f64> {
    rank_weights(&MetricSpec::parse("dcg@3").unwrap(), 3).unwrap()
}

const RELEVANCE: [f64; 3] = [0.9, 0.3, 0.6];
const EXAMINATION: [f64; 3] = [1.0, 0.5, 0.25];

fn name(document: usize) -> String {
    format!("d{document}")
}

/// The ranking d2, d0, d1 with these predictions of a regression for d0, d1 and d2.
fn ranking(predicted: [f64; 3]) -> Vec<Option<Vec<TargetDocument>>> {
    let document =
        |document: usize| TargetDocument { id: name(document), relevance: predicted[document] };
    vec![Some([2, 0, 1].map(document).to_vec())]
}

/// The log of these pages: for each the documents, the clicked ranks as bits, and the propensities.
fn log(kind: PropensityKind, pages: &[([usize; 3], u32, Vec<f64>)]) -> LoggedPages {
    let mut builder = LoggedPagesBuilder::new(kind);
    for (documents, bits, propensities) in pages {
        let ranks = (1..=3).filter(|rank| bits >> (rank - 1) & 1 == 1);
        let mut page = Impression::new("q", documents.map(name)).clicked(ranks);
        page.propensities.clone_from(propensities);
        builder.add(&page);
    }
    builder.finish().unwrap()
}

fn value(
    log: &LoggedPages,
    predicted: [f64; 3],
    options: &OffPolicyOptions,
) -> Result<PolicyValue, ClicksError> {
    let (rankings, weights) = (ranking(predicted), weights());
    let examination = EXAMINATION.map(Some);
    let target =
        TargetRanking { rankings: &rankings, weights: &weights, examination: &examination };
    log.value(&target, &options.clone().samples(0_u32).min_overlap(0.0))
}

/// The probability of these clicks on a page.
fn probability(documents: [usize; 3], bits: u32) -> f64 {
    let outcome = |rank: usize| {
        let click = EXAMINATION[rank] * RELEVANCE[documents[rank]];
        if bits >> rank & 1 == 1 { click } else { 1.0 - click }
    };
    (0..3).map(outcome).product()
}

fn of(estimator: ValueEstimator, propensity: PropensityKind) -> OffPolicyOptions {
    OffPolicyOptions::default().estimator(estimator).propensity(propensity)
}

/// Two pages in different orders, and all 64 outcomes of their clicks.
#[test]
fn estimates_by_examination_are_unbiased_given_the_pages() {
    let pages = [[0, 1, 2], [1, 2, 0]];
    let true_value: f64 = weights().iter().zip([2, 0, 1]).map(|(w, d)| w * RELEVANCE[d]).sum();
    for estimator in [ValueEstimator::Ips, ValueEstimator::Snips, ValueEstimator::Dr] {
        let options = of(estimator, PropensityKind::Examination);
        let mut expected = 0.0;
        for outcome in 0_u32..64 {
            let bits = [outcome & 7, outcome >> 3];
            let shown: Vec<_> = pages.iter().zip(bits).map(|(p, b)| (*p, b, Vec::new())).collect();
            let log = log(PropensityKind::Examination, &shown);
            let found = value(&log, [0.2, 0.7, 0.1], &options).unwrap();
            assert_eq!(found.overlap, 1.0);
            let chance: f64 =
                pages.iter().zip(bits).map(|(page, b)| probability(*page, b)).product();
            expected += chance * found.value;
        }
        assert!((expected - true_value).abs() < 1e-12, "{estimator:?}: {expected} {true_value}");
    }
}

/// All orders of three documents, with their probabilities by Plackett-Luce of these odds.
fn orders() -> Vec<([usize; 3], Vec<f64>)> {
    let odds = [2.0, 1.0, 3.0];
    let mut found = Vec::new();
    for first in 0..3 {
        for second in (0..3).filter(|second| *second != first) {
            let third = 3 - first - second;
            let left = odds[second] + odds[third];
            let p = vec![odds[first] / (odds[first] + left), odds[second] / left, 1.0];
            found.push(([first, second, third], p));
        }
    }
    found
}

/// The value of the clicks that the ranking would get.
fn true_clicks() -> f64 {
    let clicks = [2, 0, 1].into_iter().zip(EXAMINATION).map(|(d, e)| RELEVANCE[d] * e);
    weights().iter().zip(clicks).map(|(w, click)| w * click).sum()
}

/// One impression: all 6 orders and all 8 outcomes of their clicks.
#[test]
fn estimates_by_pages_are_unbiased_over_orders_and_clicks() {
    for estimator in [ValueEstimator::Ips, ValueEstimator::Dr] {
        let options = of(estimator, PropensityKind::Page);
        let mut expected = 0.0;
        for (documents, propensities) in orders() {
            for bits in 0_u32..8 {
                let log = log(PropensityKind::Page, &[(documents, bits, propensities.clone())]);
                let chance = propensities.iter().product::<f64>() * probability(documents, bits);
                expected += chance * value(&log, [0.2, 0.7, 0.1], &options).unwrap().value;
            }
        }
        assert!((expected - true_clicks()).abs() < 1e-12, "{estimator:?}: {expected}");
    }
}

/// A log in which every page is as frequent as it is probable.
#[test]
fn the_self_normalised_estimate_is_consistent() {
    let mut pages = Vec::new();
    for (documents, propensities) in orders() {
        for bits in 0_u32..8 {
            let chance = propensities.iter().product::<f64>() * probability(documents, bits);
            let times = (chance * 1e5).round() as usize;
            pages.extend(std::iter::repeat_n((documents, bits, propensities.clone()), times));
        }
    }
    let log = log(PropensityKind::Page, &pages);
    for estimator in [ValueEstimator::Snips, ValueEstimator::Ips, ValueEstimator::Dr] {
        let options = of(estimator, PropensityKind::Page);
        let found = value(&log, [0.2, 0.7, 0.1], &options).unwrap();
        assert!((found.value - true_clicks()).abs() < 1e-3, "{estimator:?}: {}", found.value);
        assert_eq!(found.overlap, 1.0);
        // The largest weight is that of the whole ranking d2, d0, d1: 1 / (1/2 x 2/3).
        assert!((found.largest_weight - 3.0).abs() < 1e-9, "{}", found.largest_weight);
    }
}

/// Everything is examined, and a click follows from the document: the regression knows all.
#[test]
fn a_perfect_regression_leaves_no_variance() {
    let relevance = [1.0, 0.0, 1.0];
    let (rankings, weights) = (ranking(relevance), weights());
    let examination = [Some(1.0); 3];
    let target =
        TargetRanking { rankings: &rankings, weights: &weights, examination: &examination };
    let true_value = weights[0] + weights[1];
    for kind in [PropensityKind::Examination, PropensityKind::Page] {
        for (documents, propensities) in orders() {
            let clicked = documents.iter().enumerate().filter(|(_, d)| relevance[**d] == 1.0);
            let bits = clicked.map(|(rank, _)| 1 << rank).sum();
            let log = log(kind, &[(documents, bits, propensities)]);
            let options = of(ValueEstimator::Dr, kind).samples(0_u32).min_overlap(0.0);
            let found = log.value(&target, &options).unwrap();
            assert!((found.value - true_value).abs() < 1e-12, "{kind:?} {documents:?}: {found:?}");
            let direct = log.value(&target, &options.estimator(ValueEstimator::Dm)).unwrap();
            assert!((direct.value - true_value).abs() < 1e-12);
        }
    }
}

#[test]
fn missing_overlap_is_refused_and_counted() {
    // The log never shows d2, the first document of the ranking.
    let mut builder = LoggedPagesBuilder::new(PropensityKind::Examination);
    builder.add(&Impression::new("q", ["d0", "d1"]).clicked([1]));
    builder.add(&Impression::new("other", ["x"]));
    let log = builder.finish().unwrap();
    let (mut rankings, weights) = (ranking([0.5; 3]), weights());
    rankings.push(None);
    let examination = EXAMINATION.map(Some);
    let target =
        TargetRanking { rankings: &rankings, weights: &weights, examination: &examination };
    let options = of(ValueEstimator::Ips, PropensityKind::Examination);
    let error = log.value(&target, &options).unwrap_err();
    let covered = (weights[1] + weights[2]) / weights.iter().sum::<f64>();
    assert!(
        matches!(error, ClicksError::NoOverlap { overlap, needed }
            if (overlap - covered).abs() < 1e-12 && needed == 0.9),
        "{error}"
    );
    let partial = log.value(&target, &options.min_overlap(0.1)).unwrap();
    assert!((partial.value - weights[1]).abs() < 1e-12, "{partial:?}");
    assert_eq!((partial.impressions, partial.queries), (1.0, 1));
    // The direct method needs no overlap.
    let direct = of(ValueEstimator::Dm, PropensityKind::Examination);
    assert!(log.value(&target, &direct).is_ok());
}

#[test]
fn pages_without_propensities_are_refused_where_these_are_needed() {
    let mut builder = LoggedPagesBuilder::new(PropensityKind::Page);
    builder.add(&Impression::new("q", ["d0"]));
    assert!(matches!(builder.finish(), Err(ClicksError::NoPropensities { query }) if query == "q"));
}

#[test]
fn intervals_hold_the_value_and_pair_two_rankings() {
    let pages: Vec<_> =
        (0..200_u32).map(|at| ([0, 1, 2], [7, 1, 0, 2][at as usize % 4], Vec::new())).collect();
    let log = log(PropensityKind::Examination, &pages);
    let weights = weights();
    let examination = EXAMINATION.map(Some);
    let estimate = |rankings: &[Option<Vec<TargetDocument>>]| {
        let target = TargetRanking { rankings, weights: &weights, examination: &examination };
        let options = OffPolicyOptions::default().unit(ResampledUnit::Impression);
        log.value(&target, &options).unwrap()
    };
    let good = estimate(&ranking([0.5; 3]));
    let [low, high] = good.ci95.unwrap();
    assert!(low < good.value && good.value < high && high - low < 1.0, "{good:?}");
    // The same ranking differs from itself by nothing, in every sample.
    assert_eq!(value_difference(&good, &good), (0.0, Some([0.0, 0.0])));
    // ips: every shown document has a weight lambda_k / t; the two kinds of sums agree.
    let a: Vec<f64> =
        [2, 0, 1].iter().zip(&weights).map(|(d, w)| w / EXAMINATION[*d as usize]).collect();
    let effective = 200.0 * a.iter().sum::<f64>().powi(2) / a.iter().map(|a| a * a).sum::<f64>();
    assert!((good.effective_sample - effective).abs() < 1e-6, "{}", good.effective_sample);
}

#[test]
fn only_sums_over_ranks_are_estimated() {
    let error = rank_weights(&MetricSpec::parse("ndcg@3").unwrap(), 3).unwrap_err();
    assert!(error.to_string().contains("dcg, p, rbp"), "{error}");
    let rbp = rank_weights(&MetricSpec::parse("rbp(p=0.5)").unwrap(), 3).unwrap();
    assert_eq!(rbp, [0.5, 0.25, 0.125]);
}

#[test]
fn options_beyond_their_ranges_are_an_error() {
    let log = LoggedPages::default();
    let target = TargetRanking { rankings: &[], weights: &[], examination: &[] };
    let options = OffPolicyOptions::default();
    for options in [
        options.clone().samples(100_001_u32),
        options.clone().clip(0.5),
        options.clone().clip(f64::NAN),
        options.clone().min_overlap(1.5),
    ] {
        let error = log.value(&target, &options).unwrap_err();
        assert_eq!(error.kind(), "bad-value", "{options:?}: {error}");
    }
}
