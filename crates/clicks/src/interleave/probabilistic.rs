//! Probabilistic interleaving (Hofmann, Whiteson and de Rijke 2011): for each rank of the list a
//! ranker is drawn, and then one of its remaining documents with
//!
//! ```text
//! P(document) = rank^-3 / sum over the ranker's remaining documents of rank^-3
//! ```
//!
//! so that every document may come from either ranker. Each ranker's credit for a click is the
//! probability that it added the document, given the list: P(ranker | document) is proportional to
//! P(document | ranker), as rankers are drawn with equal probability at each rank.

use rankwright_data::Random;

use super::{DrawnList, InterleavedList, Rankings};

/// The power by which the probability falls with the rank.
const DECAY: i32 = 3;

/// Ranks below this one have less than a millionth of a millionth of the weight of the first rank,
/// and are left out of sums.
const DEEPEST: usize = 10_000;

pub(super) fn draw(rankings: &Rankings, length: usize, random: &mut Random) -> DrawnList {
    let mut list = DrawnList::default();
    while list.documents.len() < length {
        let ranker = random.below(2);
        let remaining = |ranker| weights(rankings, ranker, &list.documents);
        let of_ranker = remaining(ranker);
        let weights = if of_ranker.is_empty() { remaining(1 - ranker) } else { of_ranker };
        let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
        let mut left = random.unit() * total;
        let found = weights.iter().find(|(_, weight)| {
            left -= weight;
            left < 0.0
        });
        let Some((document, _)) = found.or(weights.last()) else { break };
        list.documents.push((*document).to_owned());
    }
    list
}

/// The documents of a ranker that are not shown yet, with their weights.
fn weights<'a>(rankings: &'a Rankings, ranker: usize, shown: &[String]) -> Vec<(&'a str, f64)> {
    let ranked = rankings.0[ranker].iter().zip(1..);
    let remaining = ranked.filter(|(document, _)| !shown.contains(document));
    remaining.map(|(document, rank)| (document.as_str(), weight(rank))).collect()
}

fn weight(rank: usize) -> f64 {
    (rank as f64).powi(-DECAY)
}

/// The probability that a ranker adds the document at this place of the list, given those above it.
/// `ranks` are the ranks that it gave the documents of the list, `length` is that of its ranking.
fn probability(ranks: &[usize], length: usize, place: usize) -> f64 {
    let (above, rank) = (&ranks[..place], ranks[place]);
    if rank > length {
        return 0.0;
    }
    let remaining = (1..=length.min(DEEPEST)).filter(|rank| !above.contains(rank)).map(weight);
    let beyond = if rank > DEEPEST { weight(rank) } else { 0.0 };
    weight(rank) / (remaining.sum::<f64>() + beyond)
}

pub(super) fn credits(list: &InterleavedList, clicks: &[usize]) -> Vec<f64> {
    let mut credits = vec![0.0; list.rankers()];
    for click in clicks {
        let rankers = list.ranks().iter().zip(list.lengths());
        let by: Vec<f64> =
            rankers.map(|(ranks, length)| probability(ranks, *length, *click)).collect();
        let total: f64 = by.iter().sum();
        if total > 0.0 {
            credits.iter_mut().zip(by).for_each(|(credit, by)| *credit += by / total);
        }
    }
    credits
}
