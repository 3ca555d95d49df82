//! Probabilistic interleaving (Hofmann, Whiteson and de Rijke 2011): for each rank of the list a
//! ranker is drawn, and then one of its remaining documents with
//!
//! ```text
//! P(document) = rank^-3 / sum over the ranker's remaining documents of rank^-3
//! ```
//!
//! so that every document may come from either ranker. A click is divided by the probability that
//! either ranker added the document, given the list: P(ranker | document) is proportional to
//! P(document | ranker), as rankers are drawn with equal probability at each rank.

use rankwright_data::Random;

use super::{InterleavedList, Rankings};

/// The power by which the probability falls with the rank.
const DECAY: i32 = 3;

pub(super) fn draw(rankings: &Rankings, length: usize, random: &mut Random) -> InterleavedList {
    let mut list = InterleavedList { documents: Vec::new(), teams: Vec::new() };
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
    let ranked = rankings.0[ranker].iter().zip(1_i32..);
    let remaining = ranked.filter(|(document, _)| !shown.contains(document));
    remaining.map(|(document, rank)| (document.as_str(), f64::from(rank).powi(-DECAY))).collect()
}

/// The probability that a ranker adds this document as the next one.
fn probability(rankings: &Rankings, ranker: usize, shown: &[String], document: &str) -> f64 {
    let weights = weights(rankings, ranker, shown);
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let own = weights.iter().find(|(other, _)| *other == document);
    own.map_or(0.0, |(_, weight)| weight / total)
}

pub(super) fn credits(rankings: &Rankings, list: &InterleavedList, clicks: &[usize]) -> Vec<f64> {
    let mut credits = vec![0.0; 2];
    for click in clicks {
        let Some((document, shown)) = list.documents.get(*click).zip(list.documents.get(..*click))
        else {
            continue;
        };
        let by = [0, 1].map(|ranker| probability(rankings, ranker, shown, document));
        let total = by[0] + by[1];
        if total > 0.0 {
            credits.iter_mut().zip(by).for_each(|(credit, by)| *credit += by / total);
        }
    }
    credits
}
