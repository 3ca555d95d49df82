//! Optimised interleaving (Radlinski and Craswell 2013). A list may be shown if each of its
//! documents is the best remaining one of either ranking. The credit of a click is
//!
//! ```text
//! credit(document) = 1 / rank by the first ranker - 1 / rank by the second
//! ```
//!
//! where a document that a ranking does not have counts as if it stood after the last rank of the
//! longer ranking: a ranking does not gain by being short. The lists are drawn with probabilities p
//! such that a user who clicks at random on one of the first k documents favours no ranker, for
//! every k:
//!
//! ```text
//! sum over lists of p(list) sum over ranks 1..k of credit = 0,   sum of p = 1,   p >= 0
//! ```
//!
//! Among the solutions, lists whose credits differ most are preferred (the sum of p times the
//! variance of the credits is largest), as they tell the rankers apart soonest. There are at most
//! 2^length lists, so at most ten ranks are weighed; a linear program decides (`simplex.rs`).
//!
//! If the shorter ranking has n documents, it may be used up below rank n, so that only the other
//! one adds documents: no probabilities are fair there. These ranks are shown, but clicks on them
//! are no credit for either ranker.

use rankwright_data::Random;

use super::simplex::minimise;
use super::{DrawnList, InterleavedList, InterleavingError, Rankings};

/// The largest number of ranks that are optimised.
const MAX_LENGTH: usize = 10;

/// Draws one of the lists by their probabilities.
pub(super) fn draw(lists: &[(Vec<String>, f64)], random: &mut Random) -> DrawnList {
    let mut left = random.unit();
    let found = lists.iter().find(|(_, probability)| {
        left -= probability;
        left < 0.0
    });
    // Rounding may leave a rest after the last list.
    let documents = found.or(lists.last()).map(|(documents, _)| documents.clone());
    DrawnList { documents: documents.unwrap_or_default(), teams: Vec::new() }
}

/// The lists that are shown, with their probabilities.
pub(super) fn distribution(
    rankings: &Rankings,
    length: usize,
) -> Result<Vec<(Vec<String>, f64)>, InterleavingError> {
    if length > MAX_LENGTH {
        return Err(InterleavingError::ManyRanks { length, max: MAX_LENGTH });
    }
    let mut lists = Vec::new();
    extend(rankings, length, &mut Vec::new(), &mut lists);
    let shortest = rankings.0.iter().map(Vec::len).min().unwrap_or(0);
    let credits_of = |list: &Vec<String>| -> Vec<f64> {
        list.iter().take(shortest).map(|id| credit_of(rankings, id)).collect()
    };
    let credits: Vec<Vec<f64>> = lists.iter().map(credits_of).collect();
    let longest = credits.iter().map(Vec::len).max().unwrap_or(0);
    let mut rows: Vec<Vec<f64>> = (1..=longest)
        .map(|k| credits.iter().map(|credits| credits.iter().take(k).sum()).collect())
        .collect();
    rows.push(vec![1.0; lists.len()]);
    let mut right = vec![0.0; longest];
    right.push(1.0);
    let costs: Vec<f64> = credits.iter().map(|credits| -variance(credits)).collect();
    let probabilities =
        minimise(&costs, &rows, &right).ok_or(InterleavingError::NoFairDistribution)?;
    Ok(lists.into_iter().zip(probabilities).filter(|(_, probability)| *probability > 0.0).collect())
}

/// Adds every list that begins with these documents.
fn extend(
    rankings: &Rankings,
    length: usize,
    documents: &mut Vec<String>,
    lists: &mut Vec<Vec<String>>,
) {
    let next = |ranker: usize| {
        let mut remaining = rankings.0[ranker].iter().filter(|id| !documents.contains(id));
        remaining.next().cloned()
    };
    let mut choices: Vec<String> = [next(0), next(1)].into_iter().flatten().collect();
    choices.dedup();
    if documents.len() == length || choices.is_empty() {
        lists.push(documents.clone());
        return;
    }
    for choice in choices {
        documents.push(choice);
        extend(rankings, length, documents, lists);
        documents.pop();
    }
}

/// The sum of the squared deviations from the mean; it need not be divided by the number of values,
/// which is the same for all lists.
fn variance(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// The credit of a click for the first ranker; below 0 it is one for the second.
fn credit(first_rank: usize, second_rank: usize) -> f64 {
    1.0 / first_rank as f64 - 1.0 / second_rank as f64
}

fn credit_of(rankings: &Rankings, document: &str) -> f64 {
    let rank = |ranker: usize| {
        let found = rankings.0[ranker].iter().position(|other| other == document);
        found.unwrap_or(rankings.longest()) + 1
    };
    credit(rank(0), rank(1))
}

pub(super) fn credits(list: &InterleavedList, clicks: &[usize]) -> Vec<f64> {
    let shortest = list.lengths().iter().copied().min().unwrap_or(0);
    let longest = list.lengths().iter().copied().max().unwrap_or(0);
    let rank = |ranker: usize, click: usize| list.rank(ranker, click).unwrap_or(longest + 1);
    let weighed = clicks.iter().copied().filter(|click| *click < shortest);
    let credit: f64 = weighed.map(|click| credit(rank(0, click), rank(1, click))).sum();
    vec![credit.max(0.0), (-credit).max(0.0)]
}
