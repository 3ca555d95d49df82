//! The best documents of a query that is ranked many times, by scores that change from one ranking
//! to the next.
//!
//! The order is that of [`Orderer`](crate::Orderer): by score, highest first, and equal scores by a
//! rule that depends on the documents and not on the scores. So the caller puts the rows of a query
//! once into the order that equal scores have
//! ([`Orderer::tie_ranks`](crate::Orderer::tie_ranks)); each ranking then compares scores and,
//! where these are equal, the numbers of rows.
//!
//! If few ranks are needed ([`MAX_INSERTED`]), rows are inserted one by one into the list of the
//! best: all others are compared with the lowest score of that list, eight at a time. Otherwise all
//! rows are sorted, as integers of the 48 highest bits of the score and 16 bits of the row; rows
//! whose scores are equal in these 48 bits are then sorted by their whole scores.

use std::cmp::Ordering;

use rankwright_data::descending_key;

use crate::error::EvalError;

/// Up to this number of ranks, rows are inserted into the list of the best one by one.
const MAX_INSERTED: usize = 32;
/// Number of rows that are compared with the lowest score at a time.
const BLOCK: usize = 8;
/// The bits of a packed key that hold the row.
const ROW_BITS: u64 = 0xffff;

/// A row with its score.
#[derive(Debug, Clone, Copy)]
struct ScoredRow {
    score: f64,
    row: u32,
}

/// Orders the best rows of queries, in buffers that it keeps.
///
/// ```
/// use rankwright_eval::TopOrderer;
///
/// let mut orderer = TopOrderer::default();
/// assert_eq!(orderer.order(&[0.5, 2.0, 0.7, 0.7], 3)?, [1, 2, 3]);
/// # Ok::<(), rankwright_eval::EvalError>(())
/// ```
#[derive(Debug, Default)]
pub struct TopOrderer {
    /// The best rows so far, best first.
    best: Vec<ScoredRow>,
    /// Keys of scores, with the row in the lowest 16 bits.
    packed: Vec<u64>,
    /// The last order.
    order: Vec<u32>,
}

impl TopOrderer {
    /// The best `depth` rows, best first; equal scores by row. A NaN score is an error.
    pub fn order(&mut self, scores: &[f64], depth: usize) -> Result<&[u32], EvalError> {
        if let Some(row) = scores.iter().position(|score| score.is_nan()) {
            return Err(EvalError::NanScore { row });
        }
        match depth > MAX_INSERTED {
            true => self.sort_all(scores),
            false => self.insert_all(scores, depth),
        }
        self.order.truncate(depth);
        Ok(&self.order)
    }

    /// Finds the best `depth` rows by inserting rows one by one.
    fn insert_all(&mut self, scores: &[f64], depth: usize) {
        let (first, later) = scores.split_at(depth.min(scores.len()));
        self.best.clear();
        for (row, &score) in (0..).zip(first) {
            insert(&mut self.best, ScoredRow { score, row });
        }
        let mut lowest = self.best.last().map_or(f64::INFINITY, |last| last.score);
        for (number, block) in later.chunks(BLOCK).enumerate() {
            if !block.iter().fold(false, |any, score| any | (*score > lowest)) {
                continue;
            }
            for (row, &score) in (depth + number * BLOCK..).zip(block) {
                if score > lowest {
                    self.best.pop();
                    insert(&mut self.best, ScoredRow { score, row: row as u32 });
                    lowest = self.best.last().map_or(lowest, |last| last.score);
                }
            }
        }
        self.order.clear();
        self.order.extend(self.best.iter().map(|best| best.row));
    }

    /// Sorts all rows.
    fn sort_all(&mut self, scores: &[f64]) {
        let compare = |a: &u32, b: &u32| {
            let by_score = scores[*b as usize].partial_cmp(&scores[*a as usize]);
            by_score.unwrap_or(Ordering::Equal).then(a.cmp(b))
        };
        self.order.clear();
        if scores.len() > ROW_BITS as usize {
            self.order.extend(0..scores.len() as u32);
            self.order.sort_unstable_by(compare);
            return;
        }
        self.packed.clear();
        let rows = scores.iter().enumerate();
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

/// Inserts a row into a sorted list, after rows of the same score.
#[inline]
fn insert(best: &mut Vec<ScoredRow>, scored: ScoredRow) {
    best.push(scored);
    let mut position = best.len() - 1;
    while position > 0 && scored.score > best[position - 1].score {
        best[position] = best[position - 1];
        position -= 1;
    }
    best[position] = scored;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::{OrderRule, Orderer, Rows};
    use proptest::prelude::*;

    #[test]
    fn lists_of_no_document_and_no_ranks_are_ordered() {
        let mut orderer = TopOrderer::default();
        assert!(orderer.order(&[], 10).unwrap().is_empty());
        assert!(orderer.order(&[1.0], 0).unwrap().is_empty());
        assert!(orderer.order(&[1.0; 50], 0).unwrap().is_empty());
        assert_eq!(orderer.order(&[1.0], 5).unwrap(), [0]);
    }

    #[test]
    fn a_score_that_is_not_a_number_is_an_error_that_names_the_row() {
        for rows in [2, 20, 40, 100] {
            let mut scores: Vec<f64> = (0..rows).map(f64::from).collect();
            scores[1] = f64::NAN;
            for depth in [1, 10, 100] {
                let error = TopOrderer::default().order(&scores, depth).unwrap_err();
                assert_eq!(error, EvalError::NanScore { row: 1 }, "{rows} {depth}");
            }
        }
    }

    #[test]
    fn long_lists_are_sorted_without_packing() {
        let scores: Vec<f64> = (0..70_000).map(|row| f64::from(row * 7919 % 1000)).collect();
        let expected =
            Orderer::default().order(Rows::of_scores(&scores), OrderRule::STABLE).unwrap().to_vec();
        let mut orderer = TopOrderer::default();
        for depth in [5, 40, 70_000] {
            assert_eq!(orderer.order(&scores, depth).unwrap(), &expected[..depth]);
        }
    }

    proptest! {
        /// Many different scores, then few, so that ties are frequent, and some that differ in the
        /// last bits.
        #[test]
        fn the_best_rows_are_those_of_the_whole_order(
            scores in prop_oneof![
                prop::collection::vec(-1e3_f64..1e3, 0..60),
                prop::collection::vec(prop_oneof![
                    4 => (-3_i32..4).prop_map(f64::from),
                    1 => Just(1.0 + f64::EPSILON), 1 => Just(-0.0),
                    1 => Just(f64::INFINITY), 1 => Just(f64::NEG_INFINITY)], 0..60)],
            depth in 0_usize..60,
        ) {
            let mut whole = Orderer::default();
            let expected = whole.order(Rows::of_scores(&scores), OrderRule::STABLE).unwrap();
            let expected = &expected[..depth.min(expected.len())];
            let mut orderer = TopOrderer::default();
            prop_assert_eq!(orderer.order(&scores, depth).unwrap(), expected);
        }
    }
}
