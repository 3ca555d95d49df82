//! Models in which a click needs an examination and an attraction, independent of each other:
//! `P(C = 1) = alpha(query, document) gamma(state)`. The state of a document on a page is its rank
//! (position-based model) or its rank and that of the last click above it (user browsing model).
//!
//! Both probabilities are estimated by expectation maximisation. If there was no click,
//!
//! ```text
//! P(attracted | no click) = alpha (1 - gamma) / (1 - alpha gamma)
//! P(examined | no click)  = gamma (1 - alpha) / (1 - alpha gamma)
//! ```
//!
//! and both are 1 if there was one. Impressions of the same pair in the same state are counted
//! once, so an iteration costs O(distinct pairs x states), however long the log is.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::ratio::{Ratio, estimates, sum};
use crate::pages::{DistinctPage, Pages, QueryPages, UNKNOWN_PAIR};

/// Impressions and clicks of a pair in a state.
#[derive(Debug, Clone, Copy, Default)]
struct PairStateCount {
    /// Number of the pair among those of its query.
    pair: u32,
    state: u32,
    shown: f64,
    clicked: f64,
}

/// Calls `visit` with each document of a page: its pair, its state, and whether it was clicked.
pub(super) type VisitStates = fn(&DistinctPage<'_>, &mut dyn FnMut(u32, u32, bool));

/// Fitted probabilities.
#[derive(Debug, Clone)]
pub(super) struct Examination {
    /// alpha of each pair.
    pub(super) attraction: Vec<f64>,
    /// gamma of each state.
    pub(super) examination: Vec<f64>,
}

impl Examination {
    /// Fits the probabilities to a log. `visit` numbers the states, of which there are `states`.
    pub(super) fn fit(
        pages: &Pages,
        visit: VisitStates,
        states: usize,
        iterations: u32,
        prior: f64,
    ) -> Self {
        let queries: Vec<(usize, Vec<PairStateCount>)> = pages
            .by_query()
            .par_iter()
            .map(|query| (query.pairs.len(), cells(query, visit)))
            .collect();
        let mut attraction: Vec<Vec<f64>> =
            queries.iter().map(|(pairs, _)| vec![0.5; *pairs]).collect();
        let mut examination = vec![0.5; states];
        for _ in 0..iterations {
            let parts: Vec<(Vec<f64>, Vec<Ratio>)> = queries
                .par_iter()
                .zip(&attraction)
                .map(|((_, cells), attraction)| expect(cells, attraction, &examination, prior))
                .collect();
            let (new_attraction, by_state): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
            attraction = new_attraction;
            examination = estimates(&sum(by_state, states), prior);
        }
        Self { attraction: attraction.concat(), examination }
    }

    /// alpha of a pair; that of an unknown document for a pair that the log did not have.
    pub(super) fn attraction(&self, pair: u32) -> f64 {
        attraction(&self.attraction, pair)
    }
}

/// The probability of a pair; 0.5 for a pair that the log did not have, as for a document that was
/// never shown.
pub(super) fn attraction(by_pair: &[f64], pair: u32) -> f64 {
    if pair == UNKNOWN_PAIR { 0.5 } else { by_pair[pair as usize] }
}

/// The cells of a query: the counts of its pairs in their states, sorted by pair and state.
fn cells(query: &QueryPages<'_>, visit: VisitStates) -> Vec<PairStateCount> {
    let mut counts: BTreeMap<(u32, u32), (f64, f64)> = BTreeMap::new();
    for page in &query.pages {
        visit(page, &mut |pair, state, clicked| {
            let cell = counts.entry((pair - query.pairs.start as u32, state)).or_default();
            cell.0 += page.count as f64;
            cell.1 += if clicked { page.count as f64 } else { 0.0 };
        });
    }
    let cell = |((pair, state), (shown, clicked))| PairStateCount { pair, state, shown, clicked };
    counts.into_iter().map(cell).collect()
}

/// One iteration for one query: the new attractions, and the sums for the examinations.
fn expect(
    cells: &[PairStateCount],
    attraction: &[f64],
    examination: &[f64],
    prior: f64,
) -> (Vec<f64>, Vec<Ratio>) {
    let mut by_pair = vec![Ratio::default(); attraction.len()];
    let mut by_state = vec![Ratio::default(); examination.len()];
    for cell in cells {
        let (pair, state) = (cell.pair as usize, cell.state as usize);
        let (alpha, gamma) = (attraction[pair], examination[state]);
        let skipped = cell.shown - cell.clicked;
        let no_click = 1.0 - alpha * gamma;
        let (attracted, examined) = match no_click > 0.0 {
            true => (alpha * (1.0 - gamma) / no_click, gamma * (1.0 - alpha) / no_click),
            // A click is certain, so these impressions were all clicked.
            false => (1.0, 1.0),
        };
        by_pair[pair].add(cell.clicked + skipped * attracted, cell.shown);
        by_state[state].add(cell.clicked + skipped * examined, cell.shown);
    }
    (estimates(&by_pair, prior), by_state)
}
