//! The reference implementation of the click models is an enumeration of all latent states of a
//! short page: examination, satisfaction and click of each rank.

mod enumeration;

use proptest::prelude::*;

use super::cascade::{CascadeRule, ExaminedRank, RankSums};
use super::ccm::CcmRule;
use super::chain::{self, ChainRank};
use super::cm::CascadeModel;
use super::dbn::DbnRule;
use super::dcm::DcmRule;
use super::ratio::Ratio;
use super::*;
use crate::impression::Impression;

/// One way in which a page can happen: for each rank whether it was examined, clicked, and whether
/// the next one is examined, with its probability.
struct Path {
    examined: Vec<bool>,
    clicked: Vec<bool>,
    probability: f64,
}

/// All paths through a chain, by a branch for every outcome of every rank.
fn paths(ranks: &[ChainRank]) -> Vec<Path> {
    let mut paths = vec![Path { examined: vec![true], clicked: Vec::new(), probability: 1.0 }];
    for rank in ranks {
        let branches = |path: Path| {
            let examined = path.examined[path.examined.len() - 1];
            let outcomes: Vec<(bool, bool, f64)> = match examined {
                false => vec![(false, false, 1.0)],
                true => vec![
                    (true, true, rank.click * rank.after_click),
                    (true, false, rank.click * (1.0 - rank.after_click)),
                    (false, true, (1.0 - rank.click) * rank.after_skip),
                    (false, false, (1.0 - rank.click) * (1.0 - rank.after_skip)),
                ],
            };
            outcomes.into_iter().map(move |(clicked, next, probability)| Path {
                examined: [path.examined.as_slice(), &[next]].concat(),
                clicked: [path.clicked.as_slice(), &[clicked]].concat(),
                probability: path.probability * probability,
            })
        };
        paths = paths.into_iter().flat_map(branches).collect();
    }
    paths
}

fn total<'a>(paths: impl Iterator<Item = &'a Path>) -> f64 {
    paths.map(|path| path.probability).sum()
}

fn probability() -> impl Strategy<Value = f64> {
    0.05_f64..0.95
}

fn chain_rank() -> impl Strategy<Value = ChainRank> {
    (probability(), probability(), probability())
        .prop_map(|(click, after_click, after_skip)| ChainRank { click, after_click, after_skip })
}

proptest! {
    #[test]
    fn the_chain_agrees_with_the_enumeration_of_all_paths(
        ranks in proptest::collection::vec(chain_rank(), 1..6),
        bits in 0_u32..32,
    ) {
        let clicked: Vec<bool> = (0..ranks.len()).map(|rank| bits >> rank & 1 == 1).collect();
        let paths = paths(&ranks);
        let (mut marginal, mut conditional, mut examined) = (vec![], vec![], vec![]);
        chain::marginal(ranks.iter().copied(), &mut marginal);
        chain::conditional(ranks.iter().copied(), &clicked, &mut conditional);
        chain::examined(&ranks, &clicked, &mut examined);
        let likelihood = total(paths.iter().filter(|path| path.clicked == clicked));
        for rank in 0..ranks.len() {
            let click = total(paths.iter().filter(|path| path.clicked[rank]));
            prop_assert!((marginal[rank] - click).abs() < 1e-12);
            let above = |path: &&Path| path.clicked[..rank] == clicked[..rank];
            let given = total(paths.iter().filter(above));
            let both = total(paths.iter().filter(above).filter(|path| path.clicked[rank]));
            prop_assert!((conditional[rank] - both / given).abs() < 1e-9);
        }
        prop_assert_eq!(examined.len(), ranks.len() + 1);
        for (rank, examined) in examined.iter().enumerate() {
            let with = paths.iter().filter(|path| path.clicked == clicked && path.examined[rank]);
            prop_assert!((examined - total(with) / likelihood).abs() < 1e-9);
        }
    }
}

/// The worked example: clicks 0, 1, 0.
#[test]
fn the_posterior_of_a_dbn_is_that_of_the_worked_example() {
    let (alpha, sigma) = ([0.3, 0.7, 0.5], [0.2, 0.6, 0.4]);
    let shared = [0.8];
    let ranks: Vec<ChainRank> =
        (0..3).map(|rank| DbnRule.rank(rank, alpha[rank], sigma[rank], &shared)).collect();
    let mut examined = Vec::new();
    chain::examined(&ranks, &[false, true, false], &mut examined);
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 5e-5, "{found}");
    // Not satisfied at rank 2 and rank 3 examined; rank 3 examined, and rank 4 or not.
    close(examined[2], 0.1905);
    close(examined[3], 0.1524);
    close(examined[2] - examined[3], 0.0381);
    // Not satisfied at rank 2 and yet left: a trial of the continuation without success.
    let second = ExaminedRank {
        rank: 1,
        clicked: true,
        examined: examined[1],
        next_examined: examined[2],
        attraction: alpha[1],
        satisfaction: sigma[1],
        shared: &shared,
        count: 1.0,
    };
    let (mut attraction, mut satisfaction) = (Ratio::default(), Ratio::default());
    let mut continuation = [Ratio::default()];
    let mut sums = RankSums {
        attraction: &mut attraction,
        satisfaction: &mut satisfaction,
        shared: &mut continuation,
    };
    DbnRule.count(&second, &mut sums);
    close(continuation[0].trials - continuation[0].successes, 0.0952);
}

/// A log in which the clicks are drawn from a chain, exactly: every page with its probability.
fn expected_log(documents: &[&str], ranks: &[ChainRank], impressions: f64) -> Vec<Impression> {
    let mut log = Vec::new();
    for path in paths(ranks) {
        let clicks =
            (1..).zip(&path.clicked).filter(|(_, clicked)| **clicked).map(|(rank, _)| rank);
        let page = Impression::new("q", documents.iter().copied()).clicked(clicks);
        let count = (path.probability * impressions).round() as usize;
        log.extend(std::iter::repeat_n(page, count));
    }
    log
}

/// The parameter of this name.
fn parameter(fitted: &FittedClickModel, name: &str) -> Vec<f64> {
    let all = fitted.parameters();
    all.into_iter().find(|parameter| parameter.name == name).unwrap().values
}

/// Fits a spec to the expected log of a model and compares attractions.
fn recovers<R: CascadeRule>(
    rule: &R,
    shared: &[f64],
    spec: &str,
    tolerance: f64,
) -> FittedClickModel {
    let alpha = [0.3, 0.7, 0.5, 0.2];
    let sigma = [0.2, 0.6, 0.4, 0.5];
    let documents = ["a", "b", "c", "d"];
    // Documents take turns at the ranks, as otherwise rank and document cannot be told apart.
    let mut log = Vec::new();
    for turn in 0..4 {
        let at = |rank: usize| (rank + turn) % 4;
        let names: Vec<&str> = (0..4).map(|rank| documents[at(rank)]).collect();
        let ranks: Vec<ChainRank> =
            (0..4).map(|rank| rule.rank(rank, alpha[at(rank)], sigma[at(rank)], shared)).collect();
        log.extend(expected_log(&names, &ranks, 100_000.0));
    }
    let pages = Pages::collect(&log);
    let fitted = ClickModel::parse(spec).unwrap().fit(&pages);
    let found = parameter(&fitted, "attraction");
    for ((query, document), found) in pages.named_pairs().zip(found) {
        let expected = alpha[documents.iter().position(|name| *name == document).unwrap()];
        assert!((found - expected).abs() < tolerance, "{spec} {query} {document}: {found}");
    }
    fitted
}

#[test]
fn models_of_the_cascade_family_recover_the_parameters_of_their_own_clicks() {
    recovers(&CascadeModel, &[], "cascade(prior=0)", 1e-3);
    let dcm = recovers(&DcmRule, &[0.8, 0.6, 0.5, 0.4], "dcm(iterations=500, prior=0)", 5e-3);
    for (found, expected) in parameter(&dcm, "continuation").iter().zip([0.8, 0.6, 0.5]) {
        assert!((found - expected).abs() < 2e-2, "{found} {expected}");
    }
    let ccm = recovers(&CcmRule, &[0.9, 0.7, 0.3], "ccm(iterations=500, prior=0)", 2e-2);
    assert!((parameter(&ccm, "continue-after-skip")[0] - 0.9).abs() < 2e-2);
    let dbn = recovers(&DbnRule, &[0.8], "dbn(iterations=500, prior=0)", 1e-2);
    assert!((parameter(&dbn, "continuation")[0] - 0.8).abs() < 1e-2);
}

/// The user browsing model by enumeration of all click vectors.
#[test]
fn the_marginal_of_a_user_browsing_model_is_the_sum_over_all_clicks() {
    let log = [
        Impression::new("q", ["a", "b", "c"]).clicked([1, 3]),
        Impression::new("q", ["b", "a", "c"]).clicked([2]),
        Impression::new("q", ["c", "a", "b"]),
    ];
    let pages = Pages::collect(&log);
    let fitted = ClickModel::parse("ubm").unwrap().fit(&pages);
    let pairs = [0, 1, 2];
    let (mut marginal, mut conditional) = (Vec::new(), Vec::new());
    fitted.probabilities.marginal(&pairs, &mut marginal);
    let mut sums = [0.0; 3];
    for bits in 0_u32..8 {
        let clicked: Vec<bool> = (0..3).map(|rank| bits >> rank & 1 == 1).collect();
        let page = crate::pages::DistinctPage { pairs: &pairs, clicked: &clicked, count: 1 };
        fitted.probabilities.conditional(&page, &mut conditional);
        let outcomes = conditional.iter().zip(&clicked);
        let probability: f64 =
            outcomes.map(|(p, clicked)| if *clicked { *p } else { 1.0 - p }).product();
        for (sum, clicked) in sums.iter_mut().zip(&clicked) {
            *sum += if *clicked { probability } else { 0.0 };
        }
    }
    for (marginal, sum) in marginal.iter().zip(sums) {
        assert!((marginal - sum).abs() < 1e-12, "{marginal} {sum}");
    }
}

/// Clicks with probability gamma_r alpha_d, documents at all ranks.
#[test]
fn the_position_based_model_recovers_its_ratios() {
    let (gamma, alpha) = ([1.0, 0.5, 0.25], [("a", 0.8), ("b", 0.4), ("c", 0.2)]);
    let mut log = Vec::new();
    for turn in 0..3 {
        let at = |rank: usize| alpha[(rank + turn) % 3];
        for bits in 0_u32..8 {
            let clicks: Vec<usize> = (1..=3).filter(|rank| bits >> (rank - 1) & 1 == 1).collect();
            let probability: f64 = (0..3)
                .map(|rank| gamma[rank] * at(rank).1)
                .zip(1..)
                .map(|(click, rank)| if clicks.contains(&rank) { click } else { 1.0 - click })
                .product();
            let page = Impression::new("q", (0..3).map(|rank| at(rank).0)).clicked(clicks);
            log.extend(std::iter::repeat_n(page, (probability * 100_000.0).round() as usize));
        }
    }
    let pages = Pages::collect(&log);
    let fitted = ClickModel::parse("pbm(iterations=2000, prior=0)").unwrap().fit(&pages);
    let examination = parameter(&fitted, "examination");
    for (found, expected) in examination.iter().zip(gamma) {
        assert!((found / examination[0] - expected).abs() < 2e-3, "{examination:?}");
    }
    let evaluation = fitted.evaluate(&pages, &pages);
    let rates = ClickModel::parse("rank-ctr").unwrap().fit(&pages).evaluate(&pages, &pages);
    assert!(evaluation.log_likelihood > rates.log_likelihood);
    assert!(evaluation.perplexity < rates.perplexity && evaluation.perplexity > 1.0);
}

#[test]
fn every_model_fits_any_log_by_its_example_with_the_same_bits_on_any_threads() {
    let mut log = Vec::new();
    for turn in 0..200_usize {
        let documents = (0..5).map(|rank| format!("d{}", (turn * 7 + rank * 3) % 11));
        let page = Impression::new(format!("q{}", turn % 9), documents);
        log.push(page.clicked((1..=5).filter(|rank| (turn * 31 + rank * 17) % 5 == 0)));
    }
    let pages = Pages::collect(&log);
    for def in CLICK_MODELS {
        let model = ClickModel::parse(def.example).unwrap();
        assert_eq!(model.spec(), def.example);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| model.fit(&pages))
        };
        let (one, three) = (on(1), on(3));
        assert_eq!(one.parameters(), three.parameters(), "{}", def.name);
        let evaluation = one.evaluate(&pages, &pages);
        assert!(evaluation.log_likelihood.is_finite() && evaluation.log_likelihood < 0.0);
        assert!(one.evaluate(&Pages::collect(&[]), &pages).impressions == 0);
    }
    assert!(ClickModel::parse("umb").unwrap_err().to_string().contains("did you mean"));
}
