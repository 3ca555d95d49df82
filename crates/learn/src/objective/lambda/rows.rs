//! The pairs of ranks that are used: those of the first ranks with all below them, or a sample.
//!
//! With the documents ordered by score, each rank i above the truncation level is paired with all
//! ranks below i: of each pair, the better-ranked document is above that level. With
//! `pairs=coherent` (`coherent.rs`) some ranks below that level, the promoted ones, are also paired
//! with all other ranks below the level. A *row of pairs* is one rank with all those that it is
//! paired with. Memory is O(n); no matrix of pairs is ever built.
//!
//! If that is more than 20,000 x 20,000 pairs (a query of more than 20,000 documents without
//! truncation), pairs are sampled: the ranks are divided into 256 ranges, a rank is drawn from
//! each, and every document is paired with these 256 *partners* (a document below the truncation
//! level only with partners above that level). A partner represents all documents of its range, so
//! the derivatives of each document keep their expectation; the mean of a query's lambdas is
//! subtracted (in `mod.rs`), so that they still sum to 0. The draw depends on seed and query alone.

use rankwright_data::Random;

/// Number of pairs (rows times documents) above which they are sampled.
pub(super) const MAX_PAIRS: usize = 20_000 * 20_000;
/// Number of partners of each document if pairs are sampled.
pub const SAMPLED_PARTNERS: usize = 256;

/// One row of pairs: rank i and the range of ranks that it is paired with, all from 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RankSpan {
    pub(super) i: usize,
    /// First rank of the range. The range may contain i, which is not paired with itself.
    pub(super) from: usize,
    /// End of the range, exclusive.
    pub(super) to: usize,
    /// The number of pairs that each pair represents in the sums of its document in the range; 1
    /// unless pairs are sampled.
    pub(super) copies: f64,
    /// Whether the pairs are added to rank i too (false if pairs are sampled).
    pub(super) adds_to_i: bool,
}

/// Input of [`spans`].
#[derive(Debug, Clone, Copy)]
pub(super) struct PairRows<'a> {
    pub(super) documents: usize,
    pub(super) truncation: usize,
    /// Ranks below the truncation level that are paired with all other ranks below it, ascending.
    pub(super) promoted: &'a [u32],
    /// The seed of the training iteration, and the number of the query.
    pub(super) seed: (u64, usize),
}

/// Whether the pairs of a query are sampled.
pub(super) fn is_sampled(documents: usize, truncation: usize) -> bool {
    truncation.min(documents).saturating_mul(documents) > MAX_PAIRS
}

/// The rows of pairs of a query.
pub(super) fn spans(rows: PairRows<'_>) -> impl Iterator<Item = RankSpan> {
    let PairRows { documents, truncation, promoted, seed } = rows;
    let sampled = is_sampled(documents, truncation);
    let mut random = Random::new(seed.0, seed.1 as u64);
    let rows = if sampled { SAMPLED_PARTNERS } else { truncation.min(documents.saturating_sub(1)) };
    let promoted = if sampled { &[] } else { promoted };
    let top = (0..rows).map(move |row| {
        if !sampled {
            return RankSpan { i: row, from: row + 1, to: documents, copies: 1.0, adds_to_i: true };
        }
        let (start, end) =
            (row * documents / SAMPLED_PARTNERS, (row + 1) * documents / SAMPLED_PARTNERS);
        let i = start + random.below(end - start);
        let to = if i < truncation { documents } else { truncation };
        RankSpan { i, from: 0, to, copies: (end - start) as f64, adds_to_i: false }
    });
    let promoted_row = move |&rank: &u32| {
        let i = rank as usize;
        RankSpan { i, from: truncation, to: documents, copies: 1.0, adds_to_i: true }
    };
    top.chain(promoted.iter().map(promoted_row))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For every row of pairs, rank i and the start and end of its range of partners.
    fn row_ranges(documents: usize, truncation: usize) -> Vec<(usize, usize, usize)> {
        let rows = PairRows { documents, truncation, promoted: &[], seed: (1, 1) };
        spans(rows).map(|s| (s.i, s.from, s.to)).collect()
    }

    #[test]
    fn promoted_ranks_are_paired_with_all_below_the_level() {
        let rows = PairRows { documents: 6, truncation: 2, promoted: &[3, 5], seed: (1, 1) };
        let ranges: Vec<_> = spans(rows).map(|s| (s.i, s.from, s.to)).collect();
        assert_eq!(ranges, [(0, 1, 6), (1, 2, 6), (3, 2, 6), (5, 2, 6)]);
    }

    #[test]
    fn rows_are_those_above_the_truncation_level() {
        assert_eq!(row_ranges(4, usize::MAX), [(0, 1, 4), (1, 2, 4), (2, 3, 4)]);
        assert_eq!(row_ranges(4, 2), [(0, 1, 4), (1, 2, 4)]);
        assert!(row_ranges(1, 5).is_empty() && row_ranges(0, 5).is_empty());
    }

    #[test]
    fn only_too_many_pairs_are_sampled() {
        assert!(!is_sampled(20_000, usize::MAX) && is_sampled(20_001, usize::MAX));
        assert!(!is_sampled(1_000_000, 13) && is_sampled(1_000_000, 1000));
    }

    fn sampled_rows(documents: usize, truncation: usize, seed: u64) -> Vec<RankSpan> {
        spans(PairRows { documents, truncation, promoted: &[], seed: (seed, 3) }).collect()
    }

    #[test]
    fn sampled_partners_represent_every_document_once() {
        let all: Vec<RankSpan> = sampled_rows(100_003, usize::MAX, 7);
        assert_eq!(all.len(), SAMPLED_PARTNERS);
        assert_eq!(all.iter().map(|s| s.copies).sum::<f64>(), 100_003.0);
        assert!(all.windows(2).all(|w| w[0].i < w[1].i));
        let cut: Vec<RankSpan> = sampled_rows(1_000_000, 1000, 7);
        assert!(cut.iter().all(|s| s.to == if s.i < 1000 { 1_000_000 } else { 1000 }));
        assert_ne!(all, sampled_rows(100_003, usize::MAX, 8));
    }
}
