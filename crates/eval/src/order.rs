//! The order of documents: by score, highest first, then by a rule for equal scores.
//!
//! Training, metrics, search and serving all sort by the code of this file, so that a metric
//! measures the order that is served, except among equal scores, where metrics may use another
//! [`TiePolicy`]. A NaN score is an error that names the row; infinities are
//! legal; -0.0 and 0.0 are equal.
//!
//! Each score becomes an integer whose ascending order is the score's descending order; the row
//! number is packed below it, and one integer sort does the rest. Only groups of equal scores are
//! processed again. Cost: O(n) if the scores already descend (runs usually do), else O(n log n); no
//! allocation after the buffers have grown.
//!
//! Training uses the same order with one difference ([`Orderer::order_seeded`]): equal scores are
//! ordered by a seeded hash, because before the first tree all scores are equal, and the order of a
//! file that is sorted by label would reveal the labels. Sorting starts from the previous order,
//! which a tree changes little.

use rankwright_data::descending_key;
use rankwright_spec::choices;

use crate::error::EvalError;

choices! {
    /// The order among documents with equal scores.
    #[derive(Hash)]
    #[non_exhaustive]
    pub enum TiePolicy {
        /// Lower labels first, then row: ties give no credit. The default for feature data.
        Worst = "worst",
        /// Document id descending by bytes, then row: trec_eval's rule. The default for runs.
        Docid = "docid",
        /// By row.
        Stable = "stable",
        /// Higher labels first, then row: the highest value that the scores allow.
        Best = "best",
        /// By row, and metrics take the exact mean over all orders of the tied documents.
        Mean = "mean",
    }
}

/// The rule by which documents are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OrderRule {
    /// Order among equal scores.
    pub ties: TiePolicy,
    /// Compare scores after rounding them to 32 bits, as trec_eval does.
    pub scores32: bool,
}

impl OrderRule {
    /// Score descending, then row: the order of search and serving.
    pub const STABLE: OrderRule = OrderRule { ties: TiePolicy::Stable, scores32: false };
}

/// The documents of one query, by row.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// Scores.
    pub scores: &'a [f64],
    /// Labels; needed by the policies worst and best, else may be empty.
    pub labels: &'a [f64],
    /// Document ids; needed by the policy docid, else may be empty.
    pub doc_ids: &'a [&'a [u8]],
}

impl<'a> Rows<'a> {
    /// Scores alone.
    pub fn of_scores(scores: &'a [f64]) -> Self {
        Self { scores, labels: &[], doc_ids: &[] }
    }
}

/// Sorts queries one after another in buffers that it keeps.
///
/// ```
/// use rankwright_eval::{OrderRule, Orderer, Rows};
///
/// let mut orderer = Orderer::default();
/// let order = orderer.order(Rows::of_scores(&[0.5, 2.0, 0.5]), OrderRule::STABLE)?;
/// assert_eq!(order, [1, 0, 2]);
/// # Ok::<(), rankwright_eval::EvalError>(())
/// ```
#[derive(Debug, Default)]
pub struct Orderer {
    /// Sort keys, with row numbers in the lowest 32 bits.
    packed: Vec<u128>,
    /// The last order.
    order: Vec<u32>,
    /// The ends of the groups of equal scores in `order`; only under the policy mean.
    ends: Vec<u32>,
    /// The rows that `order_seeded` sorts, at first in the order of its hint.
    entries: Vec<ScoredRow>,
    /// Buffer of `sort_by_upper_bits`.
    sorted: Vec<ScoredRow>,
    /// The upper bits of keys, with positions in the lowest 16 bits.
    upper_bits: Vec<u64>,
}

impl Orderer {
    /// Rows from the best to the worst.
    pub fn order(&mut self, rows: Rows<'_>, rule: OrderRule) -> Result<&[u32], EvalError> {
        self.order_kept(rows, rule, |_| true)
    }

    /// Like `order`, for the rows that `keep` accepts; the others are left out. A NaN score is an
    /// error in any row.
    pub fn order_kept(
        &mut self,
        rows: Rows<'_>,
        rule: OrderRule,
        keep: impl Fn(usize) -> bool,
    ) -> Result<&[u32], EvalError> {
        let n = rows.scores.len();
        if matches!(rule.ties, TiePolicy::Worst | TiePolicy::Best) {
            same_length("labels", rows.labels.len(), n)?;
        }
        let tied = self.sort(rows.scores, rule.scores32, keep)?;
        self.order.clear();
        self.order.extend(self.packed.iter().map(|&p| p as u32));
        self.ends.clear();
        if rule.ties == TiePolicy::Mean {
            self.fill_ends();
        } else if tied {
            self.order_ties(rows, rule.ties)?;
        }
        Ok(&self.order)
    }

    /// The score at rank `n`, counted from 1: a row is among the best `n` only if its score is at
    /// least that. `None` if there are fewer than `n` scores, or `n` is 0. Cost: O(rows).
    ///
    /// ```
    /// use rankwright_eval::Orderer;
    ///
    /// let score = Orderer::default().score_of_rank(&[0.5, 2.0, 0.5, 0.1], 2)?;
    /// assert_eq!(score, Some(0.5));
    /// # Ok::<(), rankwright_eval::EvalError>(())
    /// ```
    pub fn score_of_rank(&mut self, scores: &[f64], n: usize) -> Result<Option<f64>, EvalError> {
        if let Some(row) = scores.iter().position(|score| score.is_nan()) {
            return Err(EvalError::NanScore { row });
        }
        if n == 0 || n > scores.len() {
            return Ok(None);
        }
        self.packed.clear();
        let rows = scores.iter().enumerate();
        self.packed.extend(rows.map(|(row, &s)| u128::from(descending_key(s)) << 32 | row as u128));
        let (_, &mut nth, _) = self.packed.select_nth_unstable(n - 1);
        Ok(scores.get(nth as u32 as usize).copied())
    }

    /// The rank of each row, from 0, if all scores were equal: the order among equal scores,
    /// whatever the scores are.
    ///
    /// ```
    /// use rankwright_eval::{Orderer, Rows, TiePolicy};
    ///
    /// let rows = Rows { scores: &[0.1, 0.7, 0.4], labels: &[2.0, 0.0, 1.0], doc_ids: &[] };
    /// assert_eq!(Orderer::default().tie_ranks(rows, TiePolicy::Worst)?, [2, 0, 1]);
    /// # Ok::<(), rankwright_eval::EvalError>(())
    /// ```
    pub fn tie_ranks(&mut self, rows: Rows<'_>, ties: TiePolicy) -> Result<Vec<u32>, EvalError> {
        let equal = vec![0.0; rows.scores.len()];
        let rule = OrderRule { ties, scores32: false };
        let order = self.order(Rows { scores: &equal, ..rows }, rule)?;
        let mut ranks = vec![0; order.len()];
        for (rank, row) in (0..).zip(order) {
            ranks[*row as usize] = rank;
        }
        Ok(ranks)
    }

    /// Rows from the best to the worst, equal scores ordered by a hash of `seed` and row.
    ///
    /// `hint` is empty, or has an entry for each row: before the call it may hold a previous order,
    /// or anything; after the call it holds the new order. A hint saves time and never changes the
    /// result.
    ///
    /// ```
    /// use rankwright_eval::Orderer;
    ///
    /// let (mut orderer, mut hint) = (Orderer::default(), [0; 3]);
    /// assert_eq!(orderer.order_seeded(&[0.5, 2.0, 0.7], 1, &mut hint)?, [1, 2, 0]);
    /// assert_eq!(hint, [1, 2, 0]);
    /// # Ok::<(), rankwright_eval::EvalError>(())
    /// ```
    pub fn order_seeded(
        &mut self,
        scores: &[f64],
        seed: u64,
        hint: &mut [u32],
    ) -> Result<&[u32], EvalError> {
        if !hint.is_empty() {
            same_length("hint of the order", hint.len(), scores.len())?;
        }
        if let Some(row) = scores.iter().position(|s| s.is_nan()) {
            return Err(EvalError::NanScore { row });
        }
        self.ends.clear();
        if !self.sort_from_hint(scores, seed, hint) {
            self.packed.clear();
            self.packed.extend(scores.iter().enumerate().map(|(row, &score)| {
                let low = u64::from(tie_hash(seed, row as u32)) << 32 | row as u64;
                u128::from(descending_key(score)) << 64 | u128::from(low)
            }));
            self.packed.sort_unstable();
            self.order.clear();
            self.order.extend(self.packed.iter().map(|&p| p as u32));
        }
        if !hint.is_empty() {
            hint.copy_from_slice(&self.order);
        }
        Ok(&self.order)
    }

    /// Sorts the rows from the order of the hint by an insertion sort, after a sort by the upper
    /// bits of their keys if the hint is not nearly sorted. Returns `false`, without a result, if
    /// the hint is not an order of these rows or an insertion sort would take too long.
    fn sort_from_hint(&mut self, scores: &[f64], seed: u64, hint: &[u32]) -> bool {
        let n = scores.len();
        if hint.len() != n || !hint.iter().all(|&row| (row as usize) < n) {
            return false;
        }
        self.entries.clear();
        let entry = |&row: &u32| ScoredRow { key: descending_key(scores[row as usize]), row };
        self.entries.extend(hint.iter().map(entry));
        // Adjacent rows of which the second has the higher score.
        let rises = self.entries.windows(2).filter(|w| w[1].key < w[0].key).count();
        let nearly_sorted = rises * MIN_ROWS_PER_RISE < n;
        let sorted = nearly_sorted && insertion_sort(&mut self.entries, seed)
            || self.sort_by_upper_bits() && insertion_sort(&mut self.entries, seed);
        self.order.clear();
        self.order.extend(self.entries.iter().map(|e| e.row));
        // A row that occurs twice in the hint would be next to itself here. If none does, all are
        // present.
        sorted && self.order.windows(2).all(|w| w[0] != w[1])
    }

    /// Sorts the entries by the upper 48 bits of their keys, which fit into one word together with
    /// a position of 16 bits; returns `false` for lists that are too long for that.
    fn sort_by_upper_bits(&mut self) -> bool {
        if self.entries.len() > 1 << 16 {
            return false;
        }
        self.upper_bits.clear();
        let positions = self.entries.iter().enumerate();
        self.upper_bits.extend(positions.map(|(i, e)| e.key & !0xffff | i as u64));
        self.upper_bits.sort_unstable();
        self.sorted.clear();
        self.sorted.extend(self.upper_bits.iter().map(|&c| self.entries[(c & 0xffff) as usize]));
        std::mem::swap(&mut self.sorted, &mut self.entries);
        true
    }

    /// Ends (exclusive) of the groups of equal scores in the last order; only after a call with
    /// the policy mean, otherwise empty.
    pub fn tie_group_ends(&self) -> &[u32] {
        &self.ends
    }

    /// Packs the keys and row numbers of the kept rows and sorts them; returns whether any two
    /// scores are equal.
    fn sort(
        &mut self,
        scores: &[f64],
        scores32: bool,
        keep: impl Fn(usize) -> bool,
    ) -> Result<bool, EvalError> {
        self.packed.clear();
        let mut sorted = true;
        let mut tied = false;
        // No score but NaN has the key 0, so the first key is not taken for a tie.
        let mut last = 0_u64;
        for (row, &score) in scores.iter().enumerate() {
            if score.is_nan() {
                return Err(EvalError::NanScore { row });
            }
            if !keep(row) {
                continue;
            }
            let key = descending_key(if scores32 { f64::from(score as f32) } else { score });
            sorted &= last <= key;
            tied |= last == key;
            last = key;
            self.packed.push((u128::from(key) << 32) | row as u128);
        }
        if !sorted {
            self.packed.sort_unstable();
            tied = self.packed.windows(2).any(|w| w[0] >> 32 == w[1] >> 32);
        }
        Ok(tied)
    }

    /// Finds the ends of the groups of equal scores.
    fn fill_ends(&mut self) {
        for (i, w) in self.packed.windows(2).enumerate() {
            if w[0] >> 32 != w[1] >> 32 {
                self.ends.push(i as u32 + 1);
            }
        }
        if !self.packed.is_empty() {
            self.ends.push(self.packed.len() as u32);
        }
    }

    /// Sorts inside each group of equal scores.
    fn order_ties(&mut self, rows: Rows<'_>, ties: TiePolicy) -> Result<(), EvalError> {
        if ties == TiePolicy::Docid && rows.doc_ids.len() != rows.scores.len() {
            if rows.doc_ids.is_empty() {
                return Err(EvalError::NoDocids);
            }
            same_length("document ids", rows.doc_ids.len(), rows.scores.len())?;
        }
        let mut start = 0;
        while start < self.packed.len() {
            let key = self.packed[start] >> 32;
            let size = self.packed[start..].iter().take_while(|&&p| p >> 32 == key).count();
            let group = &mut self.order[start..start + size];
            if size > 1 {
                let label = |r: u32| rows.labels[r as usize];
                let docid = |r: u32| rows.doc_ids[r as usize];
                match ties {
                    TiePolicy::Stable | TiePolicy::Mean => {}
                    TiePolicy::Worst => group.sort_by(|&a, &b| label(a).total_cmp(&label(b))),
                    TiePolicy::Best => group.sort_by(|&a, &b| label(b).total_cmp(&label(a))),
                    TiePolicy::Docid => group.sort_by(|&a, &b| docid(b).cmp(docid(a))),
                }
            }
            start += size;
        }
        Ok(())
    }
}

/// An error unless an array has the expected length; `what` names the array.
pub(crate) fn same_length(
    what: &'static str,
    found: usize,
    expected: usize,
) -> Result<(), EvalError> {
    if found == expected { Ok(()) } else { Err(EvalError::Shape { what, found, expected }) }
}

/// Sort key of a row among equal scores: a hash of the seed and the row. The multipliers are those
/// of SplitMix64.
fn tie_hash(seed: u64, row: u32) -> u32 {
    let z = seed.wrapping_add(u64::from(row).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let z = (z ^ (z >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z >> 32) as u32
}

/// A row with its score.
#[derive(Debug, Clone, Copy)]
struct ScoredRow {
    /// The score as [`descending_key`].
    key: u64,
    row: u32,
}

impl ScoredRow {
    /// Whether this row comes before another one in the seeded order.
    fn ranks_before(self, other: ScoredRow, seed: u64) -> bool {
        if self.key != other.key {
            return self.key < other.key;
        }
        (tie_hash(seed, self.row), self.row) < (tie_hash(seed, other.row), other.row)
    }
}

/// Insertion sort; returns `false` if it took too many moves and was not finished.
fn insertion_sort(entries: &mut [ScoredRow], seed: u64) -> bool {
    let mut moves_left = MAX_MOVES_PER_ROW * entries.len();
    for i in 1..entries.len() {
        let inserted = entries[i];
        if !inserted.ranks_before(entries[i - 1], seed) {
            continue;
        }
        let mut position = i;
        while position > 0 && inserted.ranks_before(entries[position - 1], seed) {
            entries[position] = entries[position - 1];
            position -= 1;
        }
        entries[position] = inserted;
        match moves_left.checked_sub(i - position) {
            Some(left) => moves_left = left,
            None => return false,
        }
    }
    true
}

/// Moves per row after which a full sort is cheaper.
const MAX_MOVES_PER_ROW: usize = 4;
/// If the scores in the order of a hint rise once in this many rows, or more often, the hint is not
/// taken as nearly sorted.
const MIN_ROWS_PER_RISE: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rule(ties: TiePolicy) -> OrderRule {
        OrderRule { ties, scores32: false }
    }

    fn order(rows: Rows<'_>, rule: OrderRule) -> Vec<u32> {
        Orderer::default().order(rows, rule).unwrap().to_vec()
    }

    #[test]
    fn ties_follow_the_policy() {
        let doc_ids: [&[u8]; 4] = [b"d1", b"d9", b"d10", b"a"];
        let rows = Rows {
            scores: &[1.0, 1.0, 1.0, 7.0],
            labels: &[1.0, 2.0, 0.0, 0.0],
            doc_ids: &doc_ids,
        };
        assert_eq!(order(rows, rule(TiePolicy::Worst)), [3, 2, 0, 1]);
        assert_eq!(order(rows, rule(TiePolicy::Best)), [3, 1, 0, 2]);
        assert_eq!(order(rows, rule(TiePolicy::Docid)), [3, 1, 2, 0]);
        assert_eq!(order(rows, rule(TiePolicy::Stable)), [3, 0, 1, 2]);
        let mut orderer = Orderer::default();
        assert_eq!(orderer.order(rows, rule(TiePolicy::Mean)).unwrap(), [3, 0, 1, 2]);
        assert_eq!(orderer.tie_group_ends(), [1, 4]);
    }

    #[test]
    fn zeros_tie_and_infinities_are_legal() {
        let inf = f64::INFINITY;
        let rows = Rows {
            scores: &[-inf, -0.0, 0.0, inf, 5e-324, -5e-324],
            labels: &[0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
            doc_ids: &[],
        };
        assert_eq!(order(rows, rule(TiePolicy::Worst)), [3, 4, 2, 1, 5, 0]);
    }

    #[test]
    fn scores_that_are_equal_as_32_bit_floats_tie_only_under_scores32() {
        let doc_ids: [&[u8]; 2] = [b"a", b"b"];
        let rows = Rows { scores: &[1.000_000_01, 1.0], labels: &[], doc_ids: &doc_ids };
        assert_eq!(order(rows, rule(TiePolicy::Docid)), [0, 1]);
        assert_eq!(order(rows, OrderRule { ties: TiePolicy::Docid, scores32: true }), [1, 0]);
    }

    #[test]
    fn nan_names_its_row_and_missing_doc_ids_are_refused() {
        let mut orderer = Orderer::default();
        let nan = orderer.order(Rows::of_scores(&[1.0, f64::NAN]), OrderRule::STABLE);
        assert_eq!(nan, Err(EvalError::NanScore { row: 1 }));
        let tied = orderer.order(Rows::of_scores(&[1.0, 1.0]), rule(TiePolicy::Docid));
        assert_eq!(tied, Err(EvalError::NoDocids));
        let untied = orderer.order(Rows::of_scores(&[1.0, 2.0]), rule(TiePolicy::Docid));
        assert_eq!(untied.unwrap(), [1, 0]);
    }

    #[test]
    fn lists_of_no_and_of_one_document_are_ordered() {
        for &(_, ties) in TiePolicy::ALL {
            let rows = Rows { scores: &[], labels: &[], doc_ids: &[] };
            assert!(order(rows, rule(ties)).is_empty());
            let rows = Rows { scores: &[1.0], labels: &[1.0], doc_ids: &[] };
            assert_eq!(order(rows, rule(ties)), [0]);
        }
    }

    #[test]
    fn the_score_of_a_rank_is_that_of_the_whole_order() {
        let scores = [1.0, -0.0, 3.0, 0.0, f64::NEG_INFINITY];
        let score_of_rank = |n| Orderer::default().score_of_rank(&scores, n).unwrap();
        let found = [0, 1, 2, 3, 4, 5, 6].map(score_of_rank);
        let lowest = Some(f64::NEG_INFINITY);
        assert_eq!(found, [None, Some(3.0), Some(1.0), Some(0.0), Some(0.0), lowest, None]);
        let nan = Orderer::default().score_of_rank(&[1.0, f64::NAN], 1);
        assert_eq!(nan, Err(EvalError::NanScore { row: 1 }));
    }

    proptest! {
        #[test]
        fn equals_a_stable_sort(scores in prop::collection::vec(
            prop_oneof![Just(0.0), Just(-0.0), Just(1.0), -3.0..3.0_f64, Just(f64::INFINITY)], 0..60),
            presort in any::<bool>()) {
            let mut scores = scores;
            if presort { scores.sort_by(|a, b| b.partial_cmp(a).unwrap()); }
            let mut expected: Vec<u32> = (0..scores.len() as u32).collect();
            expected.sort_by(|&a, &b| scores[b as usize].partial_cmp(&scores[a as usize]).unwrap());
            prop_assert_eq!(order(Rows::of_scores(&scores), OrderRule::STABLE), expected);
        }
    }

    fn seeded(scores: &[f64], seed: u64, hint: &mut [u32]) -> Vec<u32> {
        Orderer::default().order_seeded(scores, seed, hint).unwrap().to_vec()
    }

    #[test]
    fn equal_scores_are_ordered_by_a_hash_that_depends_on_the_seed() {
        let ties = [1.5; 200];
        let (one, two) = (seeded(&ties, 1, &mut []), seeded(&ties, 2, &mut []));
        assert_ne!(one, two);
        assert_eq!(one, seeded(&ties, 1, &mut []));
        // The position of a row does not follow its number: the mean row number of the upper half
        // is near 100.
        let mean = one[..100].iter().sum::<u32>() as f64 / 100.0;
        assert!((mean - 99.5).abs() < 20.0, "{mean}");
        let zeros = [0.0, -0.0, 0.0, -0.0, 0.0, -0.0, 0.0, -0.0];
        assert_eq!(seeded(&zeros, 5, &mut []), seeded(&[0.0; 8], 5, &mut []));
    }

    #[test]
    fn seeded_order_refuses_nan_and_a_hint_of_the_wrong_length() {
        let mut orderer = Orderer::default();
        let nan = orderer.order_seeded(&[1.0, f64::NAN], 0, &mut [0, 1]);
        assert_eq!(nan, Err(EvalError::NanScore { row: 1 }));
        assert!(orderer.order_seeded(&[1.0, 2.0], 0, &mut [0]).is_err());
        assert!(orderer.order_seeded(&[], 0, &mut []).unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn a_hint_never_changes_the_seeded_order(
            scores in prop::collection::vec(
                prop_oneof![Just(0.0), Just(1.0), -3.0..3.0_f64, Just(f64::INFINITY)], 0..150),
            change in prop::collection::vec((0..150_usize, -1.0..1.0_f64), 0..12),
            junk in prop::collection::vec(0..160_u32, 150),
            seed in any::<u64>(),
        ) {
            let mut expected: Vec<u32> = (0..scores.len() as u32).collect();
            let key = |r: u32| (-scores[r as usize], tie_hash(seed, r), r);
            expected.sort_by(|&a, &b| key(a).partial_cmp(&key(b)).unwrap());
            prop_assert_eq!(&seeded(&scores, seed, &mut []), &expected);
            let mut hints = vec![vec![0; scores.len()], junk[..scores.len()].to_vec()];
            // The order before a few scores changed, the right order, and its reverse.
            let mut before = scores.clone();
            for (row, by) in change {
                if let Some(score) = before.get_mut(row) { *score += by; }
            }
            hints.push(seeded(&before, seed ^ 1, &mut []));
            hints.push(expected.clone());
            hints.push(expected.iter().rev().copied().collect());
            for mut hint in hints {
                prop_assert_eq!(&seeded(&scores, seed, &mut hint), &expected);
                prop_assert_eq!(&hint, &expected);
            }
        }
    }
}
