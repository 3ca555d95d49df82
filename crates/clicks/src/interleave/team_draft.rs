//! Team-draft interleaving (Radlinski, Kurup and Joachims 2008), and its form for more than two
//! rankers, team-draft multileaving (Schuth et al. 2014): in each round, in an order drawn by lot,
//! every ranker adds its best document that is not in the list yet. A click is a credit for the
//! ranker that added the document.

use rankwright_data::Random;

use super::{DrawnList, InterleavedList, Rankings};

pub(super) fn draw(rankings: &Rankings, length: usize, random: &mut Random) -> DrawnList {
    let mut list = DrawnList::default();
    let mut order: Vec<usize> = (0..rankings.0.len()).collect();
    loop {
        random.shuffle(&mut order);
        if !add_round(rankings, &order, length, &mut list) {
            return list;
        }
    }
}

/// Adds the documents of a round; false once the list is full or all rankings are used up.
pub(super) fn add_round(
    rankings: &Rankings,
    order: &[usize],
    length: usize,
    list: &mut DrawnList,
) -> bool {
    let before = list.documents.len();
    for ranker in order {
        let next = rankings.0[*ranker].iter().find(|document| !list.documents.contains(document));
        let Some(document) = next.filter(|_| list.documents.len() < length) else { continue };
        list.documents.push(document.clone());
        list.teams.push(*ranker);
    }
    list.documents.len() > before
}

pub(super) fn credits(list: &InterleavedList, clicks: &[usize]) -> Vec<f64> {
    let mut credits = vec![0.0; list.rankers()];
    for click in clicks {
        credits[list.teams()[*click]] += 1.0;
    }
    credits
}
