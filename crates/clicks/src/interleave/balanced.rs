//! Balanced interleaving (Joachims 2002): one ranker, drawn by lot, is first; from then on the
//! ranker that is behind adds its next document, unless the list has it already, so that the list
//! contains the first documents of both rankings to nearly the same depth.
//!
//! For the comparison, k is the smallest depth at which either ranking contains the lowest clicked
//! document of the list; a ranker's credit is the number of clicked documents among its first k. A
//! ranking that lacks a document contains it at no depth. The method is biased: where the rankings
//! differ by one shifted document, random clicks favour one of them.

use super::{DrawnList, InterleavedList, Rankings};

/// The list in which this ranker is first.
pub(super) fn list(rankings: &Rankings, length: usize, first: usize) -> DrawnList {
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
    DrawnList { documents, teams: Vec::new() }
}

/// The credit of each ranker for clicks, given as indices of the list in ascending order.
pub(super) fn credits(list: &InterleavedList, clicks: &[usize]) -> Vec<f64> {
    let Some(last) = clicks.last() else { return vec![0.0; 2] };
    let depth = (0..list.rankers()).filter_map(|ranker| list.rank(ranker, *last)).min();
    let clicked_above = |ranker: usize| {
        let ranks = clicks.iter().filter_map(|click| list.rank(ranker, *click));
        ranks.filter(|rank| Some(*rank) <= depth).count() as f64
    };
    (0..list.rankers()).map(clicked_above).collect()
}
