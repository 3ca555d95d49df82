//! The result of an interleaved comparison of two rankers, as in Table 2 of Joachims (2002): wins,
//! losses, ties and impressions without clicks.
//!
//! ```text
//! delta = (wins of the second + ties / 2) / clicked impressions - 1/2
//! ```
//!
//! is above 0 if the second ranker is better (Chapelle et al. 2012). The p-value is that of the
//! exact sign test on impressions with a winner. Impressions of a user are not independent, so the
//! interval of delta is a bootstrap over users (`cluster bootstrap`). `mean_query_delta` counts
//! each query the same, however often it was asked; its interval is a bootstrap over queries.
//!
//! With more than two rankers (multileaving) each two of them are compared by their credits.

use std::collections::BTreeMap;

use rankwright_data::{DEFAULT_SEED, Random};
use rankwright_eval::stats::{Correction, Paired, StatsError, sign_test};
use rankwright_spec::{check_params, params};
use serde::Serialize;

use crate::error::ClicksError;

/// Credits closer than this are equal: credits of some methods are sums of fractions.
const TOLERANCE: f64 = 1e-9;

/// Shares of wins for which a result says how many impressions are needed.
const WIN_SHARES: [f64; 5] = [0.51, 0.52, 0.55, 0.6, 0.7];

/// The outcome of one impression: the credit of each ranker.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InterleavingOutcome {
    /// The user; empty if unknown, and then every impression counts as a user of its own.
    pub user: String,
    /// The query.
    pub query: String,
    /// Number of clicks.
    pub clicks: usize,
    /// The credit of each ranker.
    pub credits: Vec<f64>,
}

impl InterleavingOutcome {
    /// The outcome of an impression.
    pub fn new(query: impl Into<String>, clicks: usize, credits: impl Into<Vec<f64>>) -> Self {
        Self { user: String::new(), query: query.into(), clicks, credits: credits.into() }
    }

    /// Names the user.
    #[must_use]
    pub fn of_user(mut self, user: impl Into<String>) -> Self {
        self.user = user.into();
        self
    }

    fn credit(&self, ranker: usize) -> f64 {
        self.credits.get(ranker).copied().unwrap_or(0.0)
    }
}

/// A clicked impression: its user, its query, and 1 if the second ranker won, 0 if the first did,
/// and 0.5 for a tie.
#[derive(Debug, Clone, Copy)]
struct ClickedPage<'a> {
    user: &'a str,
    query: &'a str,
    win: f64,
}

params! {
    /// Options of an interleaved comparison.
    #[derive(Copy, Eq)]
    pub struct InterleavingOptions {
        samples: usize = 2_000, 0..=100_000, "Bootstrap samples of the intervals; 0 makes none.";
        seed: u64 = DEFAULT_SEED, .., "Seed of the bootstrap.";
    }
}

/// The comparison of two rankers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RankerComparison {
    /// The first ranker, the baseline.
    pub first: String,
    /// The second ranker; delta is above 0 if it is better.
    pub second: String,
    /// Wins, losses and ties, delta with its interval, and the p-value.
    #[serde(flatten)]
    pub result: InterleavingResult,
    /// The p-value, corrected for the number of comparisons.
    pub p_corrected: Option<f64>,
}

/// Compares each two rankers, the earlier one as the baseline.
pub fn compare_all_rankers(
    rankers: &[String],
    outcomes: &[InterleavingOutcome],
    options: &InterleavingOptions,
    correction: Correction,
) -> Result<Vec<RankerComparison>, ClicksError> {
    let mut comparisons = Vec::new();
    for (one, first) in rankers.iter().enumerate() {
        for (other, second) in rankers.iter().enumerate().skip(one + 1) {
            let result = compare_rankers(outcomes, [one, other], options)?;
            comparisons.push(RankerComparison {
                first: first.clone(),
                second: second.clone(),
                p_corrected: None,
                result,
            });
        }
    }
    let p: Vec<f64> = comparisons.iter().filter_map(|comparison| comparison.result.p).collect();
    let mut corrected = correction.adjust(&p).into_iter();
    for comparison in comparisons.iter_mut().filter(|comparison| comparison.result.p.is_some()) {
        comparison.p_corrected = corrected.next();
    }
    Ok(comparisons)
}

/// The result of an interleaved comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InterleavingResult {
    /// Number of impressions.
    pub impressions: usize,
    /// Impressions that the first and the second ranker won.
    pub wins: [usize; 2],
    /// Clicked impressions without a winner.
    pub ties: usize,
    /// Impressions without clicks.
    pub without_clicks: usize,
    /// Above 0 if the second ranker is better; `None` without a clicked impression.
    pub delta: Option<f64>,
    /// The 95 % interval of delta, by bootstrap over users.
    pub delta_ci95: Option<[f64; 2]>,
    /// Number of users with a clicked impression.
    pub users: usize,
    /// The mean of delta over queries.
    pub mean_query_delta: Option<f64>,
    /// The 95 % interval of the mean over queries, by bootstrap over queries.
    pub mean_query_delta_ci95: Option<[f64; 2]>,
    /// Number of queries with a clicked impression.
    pub queries: usize,
    /// The two-sided p-value of the exact sign test on impressions with a winner.
    pub p: Option<f64>,
    /// Number of impressions until a difference as large as the one found here shows; `None` if
    /// both rankers won equally often.
    pub needed: Option<PowerRow>,
    /// Number of impressions until a difference shows, for several shares of wins.
    pub power: Vec<PowerRow>,
}

/// Number of impressions that are needed to find a difference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PowerRow {
    /// The share of the better ranker's wins among impressions with a winner.
    pub win_share: f64,
    /// Number of impressions, as many of them with a winner as in this comparison, for a two-sided
    /// test at level 0.05 that finds the difference with probability 0.8.
    pub impressions: u64,
}

/// Compares two of the rankers, given by their numbers from 0, on the outcomes of impressions.
///
/// ```
/// use rankwright_clicks::interleave::{InterleavingOptions, InterleavingOutcome, compare_rankers};
///
/// let won = InterleavingOutcome::new("cat", 1, [0.0, 1.0]);
/// let result = compare_rankers(&vec![won; 8], [0, 1], &InterleavingOptions::default())?;
/// assert_eq!((result.wins, result.delta), ([0, 8], Some(0.5)));
/// assert!(result.p.is_some_and(|p| (p - 2.0 / 256.0).abs() < 1e-12));
/// # Ok::<(), rankwright_clicks::ClicksError>(())
/// ```
pub fn compare_rankers(
    outcomes: &[InterleavingOutcome],
    [first, second]: [usize; 2],
    options: &InterleavingOptions,
) -> Result<InterleavingResult, ClicksError> {
    check_params(options, "interleaving")?;
    let win_of = |outcome: &'_ InterleavingOutcome| {
        let difference = outcome.credit(second) - outcome.credit(first);
        match difference.abs() > TOLERANCE {
            true => f64::from(u8::from(difference > 0.0)),
            false => 0.5,
        }
    };
    let clicked: Vec<ClickedPage<'_>> = outcomes
        .iter()
        .filter(|outcome| outcome.clicks > 0)
        .map(|outcome| ClickedPage {
            user: &outcome.user,
            query: &outcome.query,
            win: win_of(outcome),
        })
        .collect();
    let won = |share: f64| clicked.iter().filter(|page| page.win == share).count();
    let wins = [won(0.0), won(1.0)];
    let decided = wins[0] + wins[1];
    let (users, queries) = (by_user(&clicked), by_query(&clicked));
    let row = |share: f64| power_row(share, decided, outcomes.len());
    let share = wins[0].max(wins[1]) as f64 / decided.max(1) as f64;
    Ok(InterleavingResult {
        impressions: outcomes.len(),
        wins,
        ties: won(0.5),
        without_clicks: outcomes.len() - clicked.len(),
        delta: mean(clicked.iter().map(|page| page.win)).map(|mean| mean - 0.5),
        delta_ci95: interval(&users, options),
        users: users.len(),
        mean_query_delta: mean(queries.iter().map(|(win, _)| *win)).map(|mean| mean - 0.5),
        mean_query_delta_ci95: interval(&queries, options),
        queries: queries.len(),
        p: p_value(&clicked)?,
        needed: (wins[0] != wins[1]).then(|| row(share)),
        power: if decided > 0 { WIN_SHARES.map(row).to_vec() } else { Vec::new() },
    })
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value;
        count += 1.0;
    }
    (count > 0.0).then(|| sum / count)
}

fn p_value(clicked: &[ClickedPage<'_>]) -> Result<Option<f64>, StatsError> {
    if clicked.is_empty() {
        return Ok(None);
    }
    let second: Vec<f64> = clicked.iter().map(|page| page.win).collect();
    let first: Vec<f64> = second.iter().map(|win| 1.0 - win).collect();
    Ok(Some(sign_test(&Paired::new(&second, &first)?, 0.0)?.p))
}

/// For each query the mean of its wins, with weight 1.
fn by_query(clicked: &[ClickedPage<'_>]) -> Vec<(f64, f64)> {
    let mut by_query: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for page in clicked {
        let (wins, count) = by_query.entry(page.query).or_default();
        *wins += page.win;
        *count += 1.0;
    }
    by_query.into_values().map(|(wins, count)| (wins / count, 1.0)).collect()
}

/// For each user the sum of the wins, and the number of impressions.
fn by_user(clicked: &[ClickedPage<'_>]) -> Vec<(f64, f64)> {
    let mut users: Vec<(f64, f64)> = Vec::new();
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for page in clicked {
        let next = users.len();
        let user = match page.user {
            "" => next,
            user => *numbers.entry(user).or_insert(next),
        };
        if user == next {
            users.push((0.0, 0.0));
        }
        let (wins, count) = users[user];
        users[user] = (wins + page.win, count + 1.0);
    }
    users
}

/// The 95 % interval of delta: clusters, given as sum of wins and weight, are drawn with
/// replacement. `None` for fewer than two clusters, or without samples.
fn interval(clusters: &[(f64, f64)], options: &InterleavingOptions) -> Option<[f64; 2]> {
    if clusters.len() < 2 || options.samples == 0 {
        return None;
    }
    let mut deltas: Vec<f64> = (0..options.samples as u64)
        .map(|sample| {
            let mut random = Random::new(options.seed, sample);
            let drawn = (0..clusters.len()).map(|_| clusters[random.below(clusters.len())]);
            let (wins, weight) = drawn.fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
            wins / weight - 0.5
        })
        .collect();
    deltas.sort_by(f64::total_cmp);
    let tail = options.samples / 40;
    Some([deltas[tail], deltas[options.samples - 1 - tail]])
}

/// The normal approximation of the number of impressions, `(z_a / 2 + z_b sqrt(p q))^2 / (p -
/// 1/2)^2` with p the share of wins, q = 1 - p, and the normal quantiles z_a of the level and z_b
/// of the power, divided by the share of impressions with a winner.
fn power_row(win_share: f64, decided: usize, impressions: usize) -> PowerRow {
    let (z_level, z_power) = (1.959_963_984_540_054, 0.841_621_233_572_914_2);
    let spread = z_level * 0.5 + z_power * (win_share * (1.0 - win_share)).sqrt();
    let winners = (spread / (win_share - 0.5)).powi(2);
    let impressions = winners * impressions as f64 / decided as f64;
    PowerRow { win_share, impressions: impressions.ceil() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(wins: [usize; 2], ties: usize, none: usize) -> Vec<InterleavingOutcome> {
        let mut all = vec![InterleavingOutcome::new("q", 1, [1.0, 0.0]); wins[0]];
        all.extend(vec![InterleavingOutcome::new("r", 1, [0.0, 1.0]); wins[1]]);
        all.extend(vec![InterleavingOutcome::new("r", 2, [1.0, 1.0]); ties]);
        all.extend(vec![InterleavingOutcome::new("q", 0, [0.0, 0.0]); none]);
        all
    }

    fn compared(outcomes: &[InterleavingOutcome]) -> InterleavingResult {
        compare_rankers(outcomes, [0, 1], &InterleavingOptions::default().seed(1)).unwrap()
    }

    #[test]
    fn wins_losses_and_ties_are_counted_and_tested() {
        // Table 2 of Joachims (2002): the learnt ranking against Google.
        let result = compared(&outcomes([13, 29], 27, 19));
        assert_eq!((result.wins, result.ties, result.without_clicks), ([13, 29], 27, 19));
        assert_eq!(result.impressions, 88);
        let expected = (29.0 + 13.5) / 69.0 - 0.5;
        assert!((result.delta.unwrap() - expected).abs() < 1e-12);
        // scipy.stats.binomtest(13, 42).pvalue
        assert!((result.p.unwrap() - 0.019_520_473).abs() < 1e-8, "{:?}", result.p);
        let [low, high] = result.delta_ci95.unwrap();
        assert!(low < expected && expected < high && low > 0.0, "{low} {high}");
        // q: always the first ranker; r: 29 wins and 27 ties.
        let by_query = (0.0 + (29.0 + 13.5) / 56.0) / 2.0 - 0.5;
        assert!((result.mean_query_delta.unwrap() - by_query).abs() < 1e-12);
        assert_eq!(result.queries, 2);
    }

    /// The other two rows of that table, with the p-values of scipy's `binomtest`.
    #[test]
    fn the_other_rows_of_the_table_are_significant() {
        for (wins, ties, none, total, p) in
            [([4, 18], 7, 11, 40, 0.004_343_510), ([9, 21], 11, 11, 52, 0.042_773_945)]
        {
            let result = compared(&outcomes(wins, ties, none));
            assert_eq!(result.impressions, total);
            assert!((result.p.unwrap() - p).abs() < 1e-8, "{:?}", result.p);
        }
    }

    #[test]
    fn users_with_many_impressions_widen_the_interval() {
        let of_user =
            |user: usize, outcome: InterleavingOutcome| outcome.of_user(format!("u{user}"));
        let alone = outcomes([40, 60], 0, 0);
        let grouped: Vec<_> =
            alone.iter().enumerate().map(|(n, outcome)| of_user(n / 20, outcome.clone())).collect();
        let width = |all: &[InterleavingOutcome]| {
            let [low, high] = compared(all).delta_ci95.unwrap();
            high - low
        };
        assert!(width(&grouped) > 2.0 * width(&alone));
        assert_eq!((compared(&grouped).users, compared(&alone).users), (5, 100));
    }

    #[test]
    fn no_clicks_are_no_result() {
        let result = compared(&outcomes([0, 0], 0, 5));
        assert_eq!((result.delta, result.p, result.power.len()), (None, None, 0));
        assert_eq!((result.needed, result.delta_ci95), (None, None));
        // Half of the impressions have a winner, so twice as many are needed.
        let all = compared(&outcomes([5, 5], 0, 0)).power;
        let half = compared(&outcomes([5, 5], 0, 10)).power;
        assert!(all[2].impressions.abs_diff(783) <= 1, "{all:?}");
        assert!(half[2].impressions.abs_diff(2 * all[2].impressions) <= 1);
    }

    #[test]
    fn the_difference_that_was_found_has_its_own_number_of_impressions() {
        let result = compared(&outcomes([11, 9], 0, 0));
        let needed = result.needed.unwrap();
        assert_eq!((needed.win_share, needed.impressions), (0.55, result.power[2].impressions));
        // All impressions won by one ranker: very few are enough.
        assert_eq!(compared(&outcomes([0, 9], 0, 0)).needed.unwrap().impressions, 4);
    }

    /// The largest possible number of samples would use up the memory and end the process.
    #[test]
    fn samples_beyond_their_range_are_an_error() {
        let two_users = [("a", [0.0, 1.0]), ("b", [1.0, 0.0])]
            .map(|(user, credits)| InterleavingOutcome::new("q", 1, credits).of_user(user));
        for samples in [100_001, usize::MAX] {
            let options = InterleavingOptions::default().samples(samples);
            let error = compare_rankers(&two_users, [0, 1], &options).unwrap_err();
            assert_eq!(error.kind(), "bad-value", "{error}");
        }
        let none = InterleavingOptions::default().samples(0_usize);
        assert_eq!(compare_rankers(&two_users, [0, 1], &none).unwrap().delta_ci95, None);
    }

    #[test]
    fn sums_of_fractions_that_differ_by_rounding_tie() {
        let tie = InterleavingOutcome::new("q", 3, [0.1 + 0.2, 0.3]);
        assert_eq!(compared(&[tie]).ties, 1);
    }

    #[test]
    fn each_two_of_several_rankers_are_compared() {
        let pages = [[2.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 0.0]];
        let pages = pages.map(|credits| InterleavingOutcome::new("q", 3, credits));
        let wins =
            |two| compare_rankers(&pages, two, &InterleavingOptions::default()).unwrap().wins;
        assert_eq!((wins([0, 1]), wins([0, 2]), wins([1, 2])), ([1, 2], [1, 1], [2, 0]));
    }
}
