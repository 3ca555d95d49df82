//! Balanced interleaving (Joachims 2002): one ranker, drawn by lot, is first; from then on the
//! ranker that is behind adds its next document, unless the list has it already, so that the list
//! contains the first documents of both rankings to nearly the same depth.
//!
//! For the comparison, k is the smallest depth at which either ranking contains the last clicked
//! document; a ranker's credit is the number of clicked documents among its first k. The method is
//! biased: where the rankings differ by one shifted document, random clicks favour one of them.

use rankwright_data::Random;

use super::{InterleavedList, Rankings};

pub(super) fn draw(rankings: &Rankings, length: usize, random: &mut Random) -> InterleavedList {
    list(rankings, length, random.below(2))
}

/// The list in which this ranker is first.
pub(super) fn list(rankings: &Rankings, length: usize, first: usize) -> InterleavedList {
    let mut documents: Vec<String> = Vec::new();
    let mut used = [0, 0];
    while documents.len() < length {
        let other = 1 - first;
        let turn = if used[first] <= used[other] { first } else { other };
        // A ranking that is used up passes its turn to the other one.
        let has_more = |ranker: usize| used[ranker] < rankings.0[ranker].len();
        let ranker = if has_more(turn) { turn } else { 1 - turn };
        let Some(document) = rankings.0[ranker].get(used[ranker]) else { break };
        used[ranker] += 1;
        if !documents.contains(document) {
            documents.push(document.clone());
        }
    }
    InterleavedList { documents, teams: Vec::new() }
}

pub(super) fn credits(rankings: &Rankings, list: &InterleavedList, clicks: &[usize]) -> Vec<f64> {
    let Some(last) = clicks.last().and_then(|click| list.documents.get(*click)) else {
        return vec![0.0; 2];
    };
    let depth = rankings.rank(0, last).min(rankings.rank(1, last));
    let clicked_above = |ranker: usize| {
        let documents = clicks.iter().filter_map(|click| list.documents.get(*click));
        documents.filter(|document| rankings.rank(ranker, document) <= depth).count() as f64
    };
    vec![clicked_above(0), clicked_above(1)]
}
