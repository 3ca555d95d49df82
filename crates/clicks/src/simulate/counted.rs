//! Many sessions of one query, with equal pages counted.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use foldhash::fast::FixedState;
use rankwright_data::Random;

use super::{LoggedRanking, LoggingRanker, SimulatedUser};

/// A page with its clicks, and the number of sessions that had it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CountedRanking {
    /// The documents that were shown.
    pub shown: LoggedRanking,
    /// Whether each of them was clicked.
    pub clicked: Vec<bool>,
    /// Number of sessions.
    pub count: u64,
}

/// Simulates a session for each of these generators; equal pages are counted once, in the order of
/// their first session. `scores` and `grades` are those of the documents of the query.
pub fn counted_sessions(
    ranker: &LoggingRanker,
    user: &SimulatedUser,
    scores: &[f64],
    grades: &[f64],
    top: Option<usize>,
    sessions: &mut dyn Iterator<Item = Random>,
) -> Vec<CountedRanking> {
    let ranked = |random: &mut Random| {
        let shown = ranker.rank(scores, top, random);
        let grades = shown.order.iter().map(|index| grades[*index]).collect::<Vec<f64>>();
        (shown, grades)
    };
    // A fixed ranking takes no draws, so that one is enough for all sessions.
    let fixed = ranker.is_fixed().then(|| ranked(&mut Random::new(0, 0)));
    // The place of each page, by the order (if it is not fixed) and the clicks.
    let mut places: HashMap<(Vec<usize>, Vec<bool>), usize, FixedState> = HashMap::default();
    let mut pages: Vec<CountedRanking> = Vec::new();
    for mut random in sessions {
        let drawn;
        let (shown, grades) = match &fixed {
            Some(fixed) => fixed,
            None => {
                drawn = ranked(&mut random);
                &drawn
            }
        };
        let clicked = user.clicks(grades, &mut random);
        let order = if fixed.is_some() { Vec::new() } else { shown.order.clone() };
        match places.entry((order, clicked)) {
            Entry::Occupied(place) => pages[*place.get()].count += 1,
            Entry::Vacant(place) => {
                let (shown, clicked) = (shown.clone(), place.key().1.clone());
                pages.push(CountedRanking { shown, clicked, count: 1 });
                place.insert(pages.len() - 1);
            }
        }
    }
    pages
}
