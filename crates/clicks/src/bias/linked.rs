//! Estimators that compare the click rates of documents that were shown at two ranks.

use std::collections::BTreeMap;

use super::relative;
use crate::rank_groups::RankGroups;
use crate::rank_table::RankTable;

/// For every two ranks the documents that were shown often enough at both.
pub(super) struct LinkedSets {
    ranks: usize,
    /// By the two ranks, from 0, the smaller number first.
    sets: BTreeMap<[usize; 2], LinkedSet>,
}

/// The documents that were shown at two ranks.
#[derive(Debug, Clone, Copy, Default)]
struct LinkedSet {
    /// The sum of their click rates at each of the two ranks.
    rates: [f64; 2],
    /// Number of documents.
    documents: f64,
}

impl LinkedSets {
    /// The sets of documents that were shown at least `min_shown` times at both ranks.
    pub(super) fn new(table: &RankTable, min_shown: u64) -> Self {
        let mut sets: BTreeMap<[usize; 2], LinkedSet> = BTreeMap::new();
        for cells in table.by_pair() {
            let enough = || cells.iter().filter(|cell| cell.shown >= min_shown as f64);
            for (at, one) in enough().enumerate() {
                for other in enough().skip(at + 1) {
                    let ranks = [one.rank as usize, other.rank as usize];
                    let set = sets.entry(ranks).or_default();
                    set.rates[0] += one.rate();
                    set.rates[1] += other.rate();
                    set.documents += 1.0;
                }
            }
        }
        Self { ranks: table.ranks, sets }
    }

    /// The sum of the click rates at each of two ranks; 0 if no document links them.
    fn rates(&self, one: usize, other: usize) -> [f64; 2] {
        self.sets.get(&[one, other]).map_or([0.0, 0.0], |set| set.rates)
    }

    /// The product of the ratios of click rates at neighbouring ranks, from rank 1 on; `None` from
    /// the first rank on that has no ratio.
    pub(super) fn adjacent(&self) -> Vec<Option<f64>> {
        let mut chain = vec![Some(1.0)];
        for rank in 1..self.ranks {
            let [above, below] = self.rates(rank - 1, rank);
            let last = chain.last().copied().flatten();
            chain.push(last.filter(|_| above > 0.0).map(|last| last * below / above));
        }
        chain.truncate(self.ranks);
        chain
    }

    /// The ratio of the click rates at each rank and at rank 1, of documents shown at both.
    pub(super) fn swap(&self) -> Vec<Option<f64>> {
        let ratio = |rank: usize| match rank {
            0 => Some(1.0),
            _ => {
                let [first, here] = self.rates(0, rank);
                (first > 0.0).then_some(here / first)
            }
        };
        (0..self.ranks).map(ratio).collect()
    }

    /// Fits `p_k r_{k,k'}`, the examination of rank k times the mean relevance of the set of ranks
    /// k and k', to the mean click rates of all sets by expectation maximisation, as in the
    /// position-based model with a set in the place of a document. Ranks at which no document of a
    /// set was clicked, or that no chain of sets links with rank 1, have no estimate.
    pub(super) fn all_pairs(&self, iterations: u32) -> Vec<Option<f64>> {
        let mut groups = RankGroups::new(self.ranks);
        self.sets.keys().for_each(|[one, other]| groups.link(*one, *other));
        let mut examination = vec![0.5; self.ranks];
        let mut relevance = vec![0.5; self.sets.len()];
        for _ in 0..iterations {
            self.iterate(&mut examination, &mut relevance);
        }
        let mut clicked = vec![false; self.ranks];
        for (ranks, set) in &self.sets {
            ranks.iter().zip(set.rates).for_each(|(rank, rate)| clicked[*rank] |= rate > 0.0);
        }
        // Rank 1 is known by definition where no document links it with another rank.
        let is_alone = !self.sets.keys().any(|ranks| ranks.contains(&0));
        let known = |rank: usize| match rank {
            0 => clicked[0] || is_alone,
            rank => groups.first(rank) == 0 && clicked[rank],
        };
        let linked = |(rank, value)| known(rank).then_some(value);
        relative(examination.into_iter().enumerate().map(linked).collect())
    }

    /// One iteration of expectation maximisation.
    fn iterate(&self, examination: &mut [f64], relevance: &mut [f64]) {
        let mut by_rank = vec![(0.0, 0.0); examination.len()];
        for ((ranks, set), relevance) in self.sets.iter().zip(relevance) {
            let mut relevant = 0.0;
            for (rank, clicked) in ranks.iter().zip(set.rates) {
                let (p, r) = (examination[*rank], *relevance);
                let no_click = 1.0 - p * r;
                // The number without a click, divided by the probability of no click.
                let skipped =
                    if no_click > 0.0 { (set.documents - clicked) / no_click } else { 0.0 };
                relevant += clicked + skipped * r * (1.0 - p);
                by_rank[*rank].0 += clicked + skipped * p * (1.0 - r);
                by_rank[*rank].1 += set.documents;
            }
            *relevance = relevant / (2.0 * set.documents);
        }
        for (value, (examined, shown)) in examination.iter_mut().zip(by_rank) {
            if shown > 0.0 {
                *value = examined / shown;
            }
        }
    }
}
