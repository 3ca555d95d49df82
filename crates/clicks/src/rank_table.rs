//! Impressions and clicks of each pair of query and document by rank: all that estimates under the
//! position-based model need of a log.

use std::collections::BTreeMap;

use crate::pages::Pages;

/// Impressions and clicks of a pair at a rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RankCell {
    /// The number of the pair.
    pub(crate) pair: u32,
    /// The rank, from 0.
    pub(crate) rank: u32,
    pub(crate) shown: f64,
    pub(crate) clicked: f64,
}

impl RankCell {
    /// The click rate.
    pub(crate) fn rate(&self) -> f64 {
        self.clicked / self.shown
    }
}

/// The cells of a log, sorted by pair and rank. Cells without an impression are left out.
#[derive(Debug, Clone)]
pub(crate) struct RankTable {
    /// Length of the longest page.
    pub(crate) ranks: usize,
    pub(crate) cells: Vec<RankCell>,
}

impl RankTable {
    pub(crate) fn new(pages: &Pages) -> Self {
        let mut cells = Vec::new();
        for query in pages.by_query() {
            let mut counts: BTreeMap<(u32, u32), (f64, f64)> = BTreeMap::new();
            for page in query.pages.iter().filter(|page| page.count > 0) {
                for ((pair, clicked), rank) in page.pairs.iter().zip(page.clicked).zip(0..) {
                    let (shown, clicks) = counts.entry((*pair, rank)).or_default();
                    *shown += page.count as f64;
                    *clicks += if *clicked { page.count as f64 } else { 0.0 };
                }
            }
            let cell = |((pair, rank), (shown, clicked))| RankCell { pair, rank, shown, clicked };
            cells.extend(counts.into_iter().map(cell));
        }
        Self { ranks: pages.max_ranks(), cells }
    }

    /// Whether each rank has a click on a pair for which `counts` is true.
    pub(crate) fn clicked_ranks(&self, counts: impl Fn(u32) -> bool) -> Vec<bool> {
        let mut clicked = vec![false; self.ranks];
        for cell in self.cells.iter().filter(|cell| cell.clicked > 0.0 && counts(cell.pair)) {
            clicked[cell.rank as usize] = true;
        }
        clicked
    }

    /// The cells of each pair that was shown.
    pub(crate) fn by_pair(&self) -> impl Iterator<Item = &[RankCell]> {
        self.cells.chunk_by(|one, other| one.pair == other.pair)
    }
}
