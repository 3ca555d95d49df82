//! One query in the order of its scores, from which pairs are formed.
//!
//! The order is the one defined in `rankwright-eval`, with equal scores ordered by a hash of seed
//! and query, so that files sorted by label do not leak the labels while scores are still equal.
//! Cost O(n) if the order is that of the previous iteration, else O(n log n); memory O(n).

use rankwright_eval::{EvalError, Orderer, sort_labels};

use crate::error::LearnError;
use crate::objective::QueryView;

/// A query's documents by rank, from 0.
#[derive(Debug, Default)]
pub(super) struct RankedQuery {
    orderer: Orderer,
    /// Document at each rank, numbered within the query from 0.
    pub(super) order: Vec<u32>,
    /// Score at each rank.
    pub(super) scores: Vec<f64>,
    /// Label at each rank; empty if the query has none.
    pub(super) labels: Vec<f64>,
    /// Document weight at each rank; empty if all are 1.
    pub(super) weights: Vec<f64>,
    /// Weights of clicks.
    pub(super) clicks: ClickColumns,
    /// All labels, best first; empty unless requested.
    pub(super) ideal: Vec<f64>,
    /// Label at each rank for a kept metric; empty if it has none of its own.
    pub(super) kept_labels: Vec<f64>,
    /// Those labels, best first.
    pub(super) kept_ideal: Vec<f64>,
    /// Promoted ranks, ascending: ranks below the truncation level that are paired with all other
    /// ranks below it (`coherent.rs`).
    pub(super) promoted: Vec<u32>,
}

/// Weights of clicks at each rank; empty if clicks are not corrected for position bias.
#[derive(Debug, Default)]
pub(super) struct ClickColumns {
    /// The weight as the better document of a pair.
    pub(super) better: Vec<f64>,
    /// The weight as the worse document of a pair.
    pub(super) worse: Vec<f64>,
}

impl ClickColumns {
    /// Whether clicks are not corrected.
    pub(super) fn is_empty(&self) -> bool {
        self.better.is_empty()
    }

    /// The factor of the pair of two ranks.
    pub(super) fn factor(&self, better: usize, worse: usize) -> f64 {
        match (self.better.get(better), self.worse.get(worse)) {
            (Some(a), Some(b)) => a * b,
            _ => 1.0,
        }
    }
}

impl RankedQuery {
    /// Orders a query by score. `last_order` is the order of the previous iteration and is updated
    /// ([`Orderer::order_seeded`]); it may be empty. `with_ideal`: whether `ideal` is needed.
    pub(super) fn fill(
        &mut self,
        query: &QueryView<'_>,
        last_order: &mut [u32],
        with_ideal: bool,
    ) -> Result<(), LearnError> {
        check_labels(query.labels)?;
        let order = self.orderer.order_seeded(query.scores, seed_of(query), last_order)?;
        self.order.clear();
        self.order.extend_from_slice(order);
        gather(&self.order, query.scores, &mut self.scores);
        gather(&self.order, query.labels, &mut self.labels);
        gather(&self.order, query.weights, &mut self.weights);
        let (better, worse) =
            query.click_weights.map_or((&[][..], &[][..]), |w| (w.better, w.worse));
        gather(&self.order, better, &mut self.clicks.better);
        gather(&self.order, worse, &mut self.clicks.worse);
        let kept = query.kept_labels.unwrap_or_default();
        gather(&self.order, kept, &mut self.kept_labels);
        self.kept_ideal.clear();
        self.kept_ideal.extend_from_slice(kept);
        sort_labels(&mut self.kept_ideal);
        self.promoted.clear();
        self.ideal.clear();
        if with_ideal {
            self.ideal.extend_from_slice(query.labels);
            sort_labels(&mut self.ideal);
        }
        Ok(())
    }

    /// Number of documents.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Weight of the pair of the ranks i and j: the product of its documents' weights, so a
    /// document of weight 2 counts like two.
    pub(super) fn pair_weight(&self, i: usize, j: usize) -> f64 {
        match (self.weights.get(i), self.weights.get(j)) {
            (Some(a), Some(b)) => a * b,
            _ => 1.0,
        }
    }

    /// Difference between the best score and the worst; may be infinite, is never NaN.
    pub(super) fn range(&self) -> f64 {
        match (self.scores.first(), self.scores.last()) {
            (Some(best), Some(worst)) if best != worst => best - worst,
            _ => 0.0,
        }
    }
}

/// The seed by which equal scores of a query are ordered; the factor is any large odd constant.
fn seed_of(query: &QueryView<'_>) -> u64 {
    query.seed ^ (query.query as u64).wrapping_mul(0xd1b5_4a32_d192_ed03)
}

impl QueryView<'_> {
    /// The documents from the first rank to the last, ordered as in training: by score, equal
    /// scores by a hash of seed and query.
    ///
    /// ```
    /// use rankwright_learn::objective::QueryView;
    ///
    /// assert_eq!(QueryView::new(&[0.0, 1.0, 2.0], &[0.5, 2.0, 0.7]).order()?, [1, 2, 0]);
    /// # Ok::<(), rankwright_learn::LearnError>(())
    /// ```
    pub fn order(&self) -> Result<Vec<u32>, LearnError> {
        Ok(Orderer::default().order_seeded(self.scores, seed_of(self), &mut [])?.to_vec())
    }
}

/// Rejects labels that are not finite.
fn check_labels(labels: &[f64]) -> Result<(), EvalError> {
    if labels.iter().all(|l| l.is_finite()) {
        return Ok(());
    }
    let bad = labels.iter().enumerate().find(|(_, l)| !l.is_finite());
    bad.map_or(Ok(()), |(row, &found)| Err(EvalError::BadLabel { row: Some(row), found }))
}

/// Copies `from` in the given order, a permutation of its rows; leaves `into` empty if `from` is.
fn gather<T: Copy + Into<f64>>(order: &[u32], from: &[T], into: &mut Vec<f64>) {
    into.clear();
    if from.len() == order.len() {
        into.extend(order.iter().map(|&row| from[row as usize].into()));
    }
}
