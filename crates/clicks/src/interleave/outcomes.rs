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
//! each query the same, however often it was asked.

use std::collections::BTreeMap;

use rankwright_data::Random;
use rankwright_eval::stats::{Paired, StatsError, sign_test};
use serde::Serialize;

/// Number of bootstrap samples.
const SAMPLES: usize = 2_000;

/// The outcome of one impression: the credits of both rankers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InterleavingOutcome {
    /// The user; empty if unknown, and then every impression counts as a user of its own.
    pub user: String,
    /// The query.
    pub query: String,
    /// Number of clicks.
    pub clicks: usize,
    /// The credit of either ranker.
    pub credits: [f64; 2],
}

impl InterleavingOutcome {
    /// The outcome of an impression.
    pub fn new(query: impl Into<String>, clicks: usize, credits: [f64; 2]) -> Self {
        Self { user: String::new(), query: query.into(), clicks, credits }
    }

    /// Names the user.
    #[must_use]
    pub fn of_user(mut self, user: impl Into<String>) -> Self {
        self.user = user.into();
        self
    }

    /// 1 if the second ranker won, 0 if the first did, and 0.5 for a tie.
    fn win(&self) -> f64 {
        let [first, second] = self.credits;
        if second > first {
            1.0
        } else if first > second {
            0.0
        } else {
            0.5
        }
    }
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
    /// The mean of delta over queries.
    pub mean_query_delta: Option<f64>,
    /// The two-sided p-value of the sign test.
    pub p: Option<f64>,
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

/// Summarises the outcomes of an interleaved comparison.
pub fn summarise(
    outcomes: &[InterleavingOutcome],
    seed: u64,
) -> Result<InterleavingResult, StatsError> {
    let clicked: Vec<&InterleavingOutcome> = outcomes.iter().filter(|o| o.clicks > 0).collect();
    let won = |share: f64| clicked.iter().filter(|outcome| outcome.win() == share).count();
    let wins = [won(0.0), won(1.0)];
    let decided = wins[0] + wins[1];
    Ok(InterleavingResult {
        impressions: outcomes.len(),
        wins,
        ties: won(0.5),
        without_clicks: outcomes.len() - clicked.len(),
        delta: mean(clicked.iter().map(|outcome| outcome.win())).map(|mean| mean - 0.5),
        delta_ci95: user_interval(&clicked, seed),
        mean_query_delta: query_delta(&clicked),
        p: p_value(&clicked)?,
        power: power(decided, outcomes.len()),
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

fn p_value(clicked: &[&InterleavingOutcome]) -> Result<Option<f64>, StatsError> {
    if clicked.is_empty() {
        return Ok(None);
    }
    let second: Vec<f64> = clicked.iter().map(|outcome| outcome.win()).collect();
    let first: Vec<f64> = second.iter().map(|win| 1.0 - win).collect();
    Ok(Some(sign_test(&Paired::new(&second, &first)?, 0.0)?.p))
}

fn query_delta(clicked: &[&InterleavingOutcome]) -> Option<f64> {
    let mut by_query: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for outcome in clicked {
        by_query.entry(&outcome.query).or_default().push(outcome.win());
    }
    let means = by_query.into_values().filter_map(|wins| mean(wins.into_iter()));
    mean(means).map(|mean| mean - 0.5)
}

/// Users are drawn with replacement, each with all of his impressions.
fn user_interval(clicked: &[&InterleavingOutcome], seed: u64) -> Option<[f64; 2]> {
    let mut users: Vec<(f64, f64)> = Vec::new();
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for outcome in clicked {
        let next = users.len();
        let user = match outcome.user.as_str() {
            "" => next,
            user => *numbers.entry(user).or_insert(next),
        };
        if user == next {
            users.push((0.0, 0.0));
        }
        let (wins, count) = users[user];
        users[user] = (wins + outcome.win(), count + 1.0);
    }
    if users.len() < 2 {
        return None;
    }
    let mut deltas: Vec<f64> = (0..SAMPLES as u64)
        .map(|sample| {
            let mut random = Random::new(seed, sample);
            let drawn = (0..users.len()).map(|_| users[random.below(users.len())]);
            let (wins, count) = drawn.fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
            wins / count - 0.5
        })
        .collect();
    deltas.sort_by(f64::total_cmp);
    let tail = SAMPLES / 40;
    Some([deltas[tail], deltas[SAMPLES - 1 - tail]])
}

/// The normal approximation of the number of impressions, `(z_a / 2 + z_b sqrt(p q))^2 / (p - q)^2`
/// with p the share of wins, divided by the share of impressions with a winner.
fn power(decided: usize, impressions: usize) -> Vec<PowerRow> {
    if decided == 0 {
        return Vec::new();
    }
    let (z_level, z_power) = (1.959_963_984_540_054, 0.841_621_233_572_914_2);
    let row = |win_share: f64| {
        let spread = z_level * 0.5 + z_power * (win_share * (1.0 - win_share)).sqrt();
        let winners = (spread / (win_share - 0.5)).powi(2);
        let impressions = winners * impressions as f64 / decided as f64;
        PowerRow { win_share, impressions: impressions.ceil() as u64 }
    };
    [0.51, 0.52, 0.55, 0.6, 0.7].map(row).to_vec()
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

    #[test]
    fn wins_losses_and_ties_are_counted_and_tested() {
        // Table 2 of Joachims (2002): the learnt ranking against MSNSearch.
        let result = summarise(&outcomes([13, 34], 27, 14), 1).unwrap();
        assert_eq!((result.wins, result.ties, result.without_clicks), ([13, 34], 27, 14));
        let expected = (34.0 + 13.5) / 74.0 - 0.5;
        assert!((result.delta.unwrap() - expected).abs() < 1e-12);
        // scipy.stats.binomtest(13, 47).pvalue
        assert!((result.p.unwrap() - 0.003_087_676).abs() < 1e-8, "{:?}", result.p);
        let [low, high] = result.delta_ci95.unwrap();
        assert!(low < expected && expected < high && low > 0.0, "{low} {high}");
        // q: always the first ranker; r: 34 wins and 27 ties.
        let by_query = (0.0 + (34.0 + 13.5) / 61.0) / 2.0 - 0.5;
        assert!((result.mean_query_delta.unwrap() - by_query).abs() < 1e-12);
    }

    #[test]
    fn users_with_many_impressions_widen_the_interval() {
        let of_user =
            |user: usize, outcome: InterleavingOutcome| outcome.of_user(format!("u{user}"));
        let alone = outcomes([40, 60], 0, 0);
        let grouped: Vec<_> =
            alone.iter().enumerate().map(|(n, outcome)| of_user(n / 20, outcome.clone())).collect();
        let width = |all: &[InterleavingOutcome]| {
            let [low, high] = summarise(all, 1).unwrap().delta_ci95.unwrap();
            high - low
        };
        assert!(width(&grouped) > 2.0 * width(&alone));
    }

    #[test]
    fn no_clicks_are_no_result() {
        let result = summarise(&outcomes([0, 0], 0, 5), 1).unwrap();
        assert_eq!((result.delta, result.p, result.power.len()), (None, None, 0));
        // Half of the impressions have a winner, so twice as many are needed.
        let all = summarise(&outcomes([5, 5], 0, 0), 1).unwrap().power;
        let half = summarise(&outcomes([5, 5], 0, 10), 1).unwrap().power;
        assert!(all[2].impressions.abs_diff(783) <= 1, "{all:?}");
        assert!(half[2].impressions.abs_diff(2 * all[2].impressions) <= 1);
    }
}
