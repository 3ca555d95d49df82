//! The best documents of a query that is ranked many times, by scores that change from one ranking
//! to the next.
//!
//! The order is that of [`Orderer`](crate::Orderer): by score, highest first, and equal scores by a
//! rule that depends on the documents and not on the scores. So the order of all documents under
//! equal scores is computed once for a query ([`Orderer::tie_ranks`](crate::Orderer::tie_ranks)),
//! and each ranking compares scores and, where these are equal, positions in that order.
//!
//! For few ranks ([`MAX_INSERTED`]), a guess of the best rows is sorted first. A row can be among
//! the best `depth` only if its score is at least the lowest of the guess; so all other rows are
//! compared with that score, eight at a time, and the few that reach it are inserted. Cost: O(rows)
//! comparisons, and O(depth) moves for each inserted row. For more ranks all rows are sorted, as
//! integers of the 48 highest bits of the score and 16 bits of the row, and rows that are equal in
//! the former once more. A bad guess, and many equal scores, cost time and change nothing.

use std::cmp::Ordering;

use crate::error::EvalError;
use crate::order::{descending_key, same_length};

/// Up to this number of ranks, rows are inserted into the list of the best one by one.
const MAX_INSERTED: usize = 32;
/// Number of rows that are compared with the lowest score at a time.
const BLOCK: usize = 8;
/// The bits of a packed key that hold the row.
const ROW_BITS: u64 = 0xffff;

/// A row with its score and its rank among rows of equal scores.
#[derive(Debug, Clone, Copy)]
struct RankedRow {
    score: f64,
    tie_rank: u32,
    row: u32,
}

impl RankedRow {
    /// Whether this row ranks before another one.
    #[inline]
    fn ranks_before(&self, other: &RankedRow) -> bool {
        self.score > other.score || (self.score == other.score && self.tie_rank < other.tie_rank)
    }
}

/// Orders the best rows of queries, in buffers that it keeps.
///
/// ```
/// use rankwright_eval::TopOrderer;
///
/// let mut orderer = TopOrderer::default();
/// let tie_ranks = [0, 1, 2, 3];
/// let best = orderer.order(&mut [0.5, 2.0, 0.7, 0.7], &tie_ranks, &[], 3)?;
/// assert_eq!(best, [1, 2, 3]);
/// # Ok::<(), rankwright_eval::EvalError>(())
/// ```
#[derive(Debug, Default)]
pub struct TopOrderer {
    /// The best rows so far, best first.
    best: Vec<RankedRow>,
    /// Keys of scores, with the row in the lowest 16 bits.
    packed: Vec<u64>,
    /// The last order.
    order: Vec<u32>,
}

impl TopOrderer {
    /// The best `depth` rows, best first; equal scores by `tie_ranks`. The scores are overwritten.
    ///
    /// `guess` has rows that are likely to be the best, such as those of the last ranking; it may
    /// be empty or wrong. Rows whose score is NaN are left out.
    pub fn order(
        &mut self,
        scores: &mut [f64],
        tie_ranks: &[u32],
        guess: &[u32],
        depth: usize,
    ) -> Result<&[u32], EvalError> {
        same_length("ranks among equal scores", tie_ranks.len(), scores.len())?;
        let depth = depth.min(scores.len());
        if depth > MAX_INSERTED {
            self.sort_all(scores, tie_ranks);
            self.order.truncate(depth);
        } else if depth > 0 {
            self.insert_guess(scores, tie_ranks, guess, depth);
            self.insert_others(scores, tie_ranks, depth);
            self.order.clear();
            self.order.extend(self.best.iter().map(|ranked| ranked.row));
        } else {
            self.order.clear();
        }
        Ok(&self.order)
    }

    /// Starts the list of the best with the rows of the guess; their scores become NaN, so that
    /// they are not inserted twice.
    fn insert_guess(&mut self, scores: &mut [f64], tie_ranks: &[u32], guess: &[u32], depth: usize) {
        self.best.clear();
        for &row in guess.iter().take(depth) {
            let (Some(score), Some(&tie_rank)) =
                (scores.get_mut(row as usize), tie_ranks.get(row as usize))
            else {
                continue;
            };
            let ranked = RankedRow { score: std::mem::replace(score, f64::NAN), tie_rank, row };
            if !ranked.score.is_nan() {
                insert(&mut self.best, ranked);
            }
        }
    }

    /// Inserts the rows that are among the best `depth`.
    fn insert_others(&mut self, scores: &[f64], tie_ranks: &[u32], depth: usize) {
        let (blocks, rest) = scores.as_chunks::<BLOCK>();
        for (number, block) in blocks.iter().enumerate() {
            let lowest = lowest_score(&self.best, depth);
            if block.iter().fold(false, |any, score| any | (*score >= lowest)) {
                self.insert_block(number * BLOCK, block, tie_ranks, depth);
            }
        }
        self.insert_block(blocks.len() * BLOCK, rest, tie_ranks, depth);
    }

    /// Inserts the rows of a block that are among the best `depth`.
    fn insert_block(&mut self, first: usize, block: &[f64], tie_ranks: &[u32], depth: usize) {
        for (row, (&score, &tie_rank)) in (first..).zip(block.iter().zip(&tie_ranks[first..])) {
            // False for NaN.
            if score >= lowest_score(&self.best, depth) {
                offer(&mut self.best, RankedRow { score, tie_rank, row: row as u32 }, depth);
            }
        }
    }

    /// Sorts all rows.
    fn sort_all(&mut self, scores: &[f64], tie_ranks: &[u32]) {
        let rows = scores.iter().enumerate().filter(|(_, score)| !score.is_nan());
        let compare = |a: &u32, b: &u32| {
            let (a, b) = (*a as usize, *b as usize);
            let by_score = scores[b].partial_cmp(&scores[a]).unwrap_or(Ordering::Equal);
            by_score.then(tie_ranks[a].cmp(&tie_ranks[b]))
        };
        self.order.clear();
        if scores.len() > ROW_BITS as usize {
            self.order.extend(rows.map(|(row, _)| row as u32));
            self.order.sort_unstable_by(compare);
            return;
        }
        self.packed.clear();
        self.packed.extend(rows.map(|(row, s)| descending_key(*s) & !ROW_BITS | row as u64));
        self.packed.sort_unstable();
        self.order.extend(self.packed.iter().map(|key| (key & ROW_BITS) as u32));
        let mut start = 0;
        for group in self.packed.chunk_by(|a, b| a & !ROW_BITS == b & !ROW_BITS) {
            if group.len() > 1 {
                self.order[start..start + group.len()].sort_unstable_by(compare);
            }
            start += group.len();
        }
    }
}

/// The score that a row must reach to be among the best `depth`.
#[inline]
fn lowest_score(best: &[RankedRow], depth: usize) -> f64 {
    match best.last() {
        Some(last) if best.len() == depth => last.score,
        _ => f64::NEG_INFINITY,
    }
}

/// Inserts a row into a sorted list.
#[inline]
fn insert(best: &mut Vec<RankedRow>, ranked: RankedRow) {
    best.push(ranked);
    let mut position = best.len() - 1;
    while position > 0 && ranked.ranks_before(&best[position - 1]) {
        best[position] = best[position - 1];
        position -= 1;
    }
    best[position] = ranked;
}

/// Inserts a row into the sorted list of the best `depth` if it is one of them.
#[inline]
fn offer(best: &mut Vec<RankedRow>, ranked: RankedRow, depth: usize) {
    if best.len() == depth {
        if best.last().is_some_and(|last| !ranked.ranks_before(last)) {
            return;
        }
        best.pop();
    }
    insert(best, ranked);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::{OrderRule, Orderer, Rows, TiePolicy};
    use proptest::prelude::*;

    #[test]
    fn lists_of_no_document_and_no_ranks_are_ordered() {
        let mut orderer = TopOrderer::default();
        assert!(orderer.order(&mut [], &[], &[3, 4], 10).unwrap().is_empty());
        assert!(orderer.order(&mut [1.0], &[0], &[], 0).unwrap().is_empty());
        assert_eq!(orderer.order(&mut [1.0], &[0], &[7, 0, 0], 5).unwrap(), [0]);
        assert!(orderer.order(&mut [1.0], &[], &[], 1).is_err());
    }

    #[test]
    fn long_lists_are_sorted_without_packing() {
        let scores: Vec<f64> = (0..70_000).map(|row| f64::from(row * 7919 % 1000)).collect();
        let tie_ranks: Vec<u32> = (0..70_000).collect();
        let expected =
            Orderer::default().order(Rows::of_scores(&scores), OrderRule::STABLE).unwrap().to_vec();
        let mut orderer = TopOrderer::default();
        for depth in [5, 40, 70_000] {
            let found = orderer.order(&mut scores.clone(), &tie_ranks, &[9], depth).unwrap();
            assert_eq!(found, &expected[..depth]);
        }
    }

    proptest! {
        /// Few different scores, so that ties are frequent, and some that differ in the last bits.
        #[test]
        fn the_best_rows_are_those_of_the_whole_order(
            documents in prop::collection::vec((0_i32..4, prop_oneof![
                4 => (-3_i32..4).prop_map(f64::from),
                1 => Just(1.0 + f64::EPSILON), 1 => Just(-0.0),
                1 => Just(f64::INFINITY), 1 => Just(f64::NEG_INFINITY)]), 0..60),
            guess in prop::collection::vec(0_u32..70, 0..12),
            depth in 0_usize..60,
            ties in prop_oneof![Just(TiePolicy::Worst), Just(TiePolicy::Best),
                Just(TiePolicy::Stable), Just(TiePolicy::Docid)],
        ) {
            let labels: Vec<f64> = documents.iter().map(|(label, _)| f64::from(*label)).collect();
            let scores: Vec<f64> = documents.iter().map(|(_, score)| *score).collect();
            let ids: Vec<String> = (0..labels.len()).map(|row| format!("{}", row * 7 % 10)).collect();
            let doc_ids: Vec<&[u8]> = ids.iter().map(String::as_bytes).collect();
            let rows = Rows { scores: &scores, labels: &labels, doc_ids: &doc_ids };
            let mut whole = Orderer::default();
            let tie_ranks = whole.tie_ranks(rows, ties).unwrap();
            let rule = OrderRule { ties, scores32: false };
            let expected = whole.order(rows, rule).unwrap();
            let expected = &expected[..depth.min(expected.len())];
            let mut orderer = TopOrderer::default();
            for guess in [&guess[..], expected, &[]] {
                let found = orderer.order(&mut scores.clone(), &tie_ranks, guess, depth).unwrap();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
