//! Every pair of a query, one at a time in 64 bits: the general loop, for cases that the kernel
//! (`kernel.rs`) does not cover.
//!
//! Used for preference pairs, for queries whose scores are too far apart for 32 bits (or, with
//! `ties=half`, too close), for the loss, and where a caller needs the derivatives of each pair
//! (`Lambda::for_each_pair`); it also computes the weights of one row of pairs (one document
//! with all those that it is paired with) for the kernel. Promoted ranks are those that
//! `coherent.rs` pairs in addition to the first ranks. The pairs follow from the labels
//! (`rows.rs`), or are the explicit preferences of the query. Cost O(pairs); memory O(n).

use rankwright_eval::SwapDelta;

use super::logistic::RankPair;
use super::ranked::RankedQuery;
use super::rows::{PairRows, RankSpan, spans};
use crate::error::LearnError;
use crate::objective::{DocumentPair, QueryView};

/// Iterates over the pairs of one query.
#[derive(Debug)]
pub(super) struct QueryPairs<'a> {
    pub(super) ranked: &'a RankedQuery,
    /// The weights that the metric gives to pairs: by default its changes under swaps; `None` for
    /// weight 1.
    pub(super) swap: Option<&'a dyn SwapDelta>,
    /// Number of first ranks that are paired with all ranks below them.
    pub(super) truncation: usize,
    /// Whether pairs of equal labels count.
    pub(super) ties: bool,
}

impl QueryPairs<'_> {
    /// Calls `visit` for each pair with a weight other than 0 that follows from the labels, or for
    /// each explicit preference. `pair_buffers` are for the metric's weights of one row of pairs,
    /// and for the rank of each document.
    pub(super) fn for_each(
        &self,
        query: &QueryView<'_>,
        pair_buffers: (&mut Vec<f64>, &mut Vec<u32>),
        mut visit: impl FnMut(&RankPair),
    ) -> Result<(), LearnError> {
        let (row, ranks) = pair_buffers;
        row.clear();
        row.resize(self.ranked.len(), 0.0);
        if let Some(pairs) = query.pairs {
            return self.for_each_preference(pairs, row, ranks, visit);
        }
        let labels = &self.ranked.labels;
        for span in spans(self.rows(query)) {
            let i = span.i;
            if let Some(swap) = self.swap {
                swap.swap_deltas_from(i, span.from, row);
            }
            for j in (span.from..span.to).filter(|j| *j != i && !self.is_in_other_row(i, *j)) {
                let delta = self.swap.map_or(1.0, |_| row[j].abs());
                let scale = self.ranked.pair_weight(i, j);
                let (mut weight, mut tie_weight) = (0.0, 0.0);
                if labels[i] > labels[j] {
                    weight = delta * scale * self.ranked.clicks.factor(i, j);
                } else if labels[i] < labels[j] {
                    weight = -delta * scale * self.ranked.clicks.factor(j, i);
                } else if self.ties {
                    // Ties count only without a metric (`params.rs`), so that delta is 1 here.
                    tie_weight = scale;
                }
                if weight != 0.0 || tie_weight != 0.0 {
                    let RankSpan { copies, adds_to_i, .. } = span;
                    visit(&RankPair { i, j, weight, tie_weight, copies, adds_to_i });
                }
            }
        }
        Ok(())
    }

    /// The rows of pairs of this query.
    pub(super) fn rows(&self, query: &QueryView<'_>) -> PairRows<'_> {
        PairRows {
            documents: self.ranked.len(),
            truncation: self.truncation,
            promoted: &self.ranked.promoted,
            seed: (query.seed, query.query),
        }
    }

    /// Whether the pair of the promoted rank i with rank j belongs to the row of j, because j is a
    /// promoted rank above i.
    fn is_in_other_row(&self, i: usize, j: usize) -> bool {
        j < i && self.ranked.promoted.binary_search(&(j as u32)).is_ok()
    }

    /// Sets the weights of one row of pairs for the kernel, divided by `unit`. `into` are the
    /// weights of pairs of different labels, above 0 if rank i is the better one, and the weights
    /// of equal pairs. `row` is a buffer for the metric's weights.
    pub(super) fn fill_row(
        &self,
        span: &RankSpan,
        unit: f64,
        row: &mut [f64],
        into: (&mut [f32], &mut [f32]),
    ) {
        let RankSpan { i, from, to, copies, .. } = *span;
        let RankedQuery { labels, weights, .. } = self.ranked;
        let (signed, ties) = into;
        match self.swap {
            Some(swap) => swap.swap_deltas_from(i, from, row),
            None => row[from..to].fill(1.0),
        }
        let label_i = labels[i];
        let scale = copies / unit * weights.get(i).copied().unwrap_or(1.0);
        for (delta, weight) in row[from..to].iter_mut().zip(weights.iter().skip(from)) {
            *delta *= weight;
        }
        for ((w, delta), label) in
            signed[from..].iter_mut().zip(&row[from..to]).zip(&labels[from..])
        {
            let size = (delta * scale).abs();
            let signed = if label_i > *label { size } else { -size };
            *w = if label_i == *label { 0.0 } else { signed as f32 };
        }
        if !self.ranked.clicks.is_empty() {
            self.apply_clicks(span, signed);
        }
        // Pairs with the promoted ranks above i belong to the rows of those ranks.
        let promoted_above =
            || self.ranked.promoted.iter().take_while(|rank| (**rank as usize) < i);
        promoted_above().for_each(|rank| signed[*rank as usize] = 0.0);
        // The kernel reads blocks of 8 ranks, of which the last may extend beyond the row.
        signed[to..].iter_mut().take(8).for_each(|w| *w = 0.0);
        if self.ties {
            for ((t, delta), label) in
                ties[from..].iter_mut().zip(&row[from..to]).zip(&labels[from..])
            {
                *t = if label_i == *label { (delta * scale) as f32 } else { 0.0 };
            }
            promoted_above().for_each(|rank| ties[*rank as usize] = 0.0);
            ties[to..].iter_mut().take(8).for_each(|w| *w = 0.0);
            if (from..to).contains(&i) {
                ties[i] = 0.0;
            }
        }
    }

    /// Multiplies the weights of one row of pairs by the weights of clicks.
    fn apply_clicks(&self, span: &RankSpan, signed: &mut [f32]) {
        for (j, weight) in (span.from..span.to).zip(&mut signed[span.from..]) {
            let factor = match *weight > 0.0 {
                true => self.ranked.clicks.factor(span.i, j),
                false => self.ranked.clicks.factor(j, span.i),
            };
            *weight = (f64::from(*weight) * factor) as f32;
        }
    }

    /// Calls `visit` for each of the query's explicit preferences with a document above the
    /// truncation level.
    fn for_each_preference(
        &self,
        pairs: &[DocumentPair],
        row: &mut [f64],
        ranks: &mut Vec<u32>,
        mut visit: impl FnMut(&RankPair),
    ) -> Result<(), LearnError> {
        ranks.clear();
        ranks.resize(self.ranked.len(), 0);
        for (rank, &document) in self.ranked.order.iter().enumerate() {
            ranks[document as usize] = rank as u32;
        }
        for pair in pairs {
            let (i, j) = match (ranks.get(pair.better as usize), ranks.get(pair.worse as usize)) {
                (Some(&i), Some(&j)) if i != j => (i as usize, j as usize),
                _ => return Err(out_of_range(pair, self.ranked.len())),
            };
            // The better and the worse rank of the two.
            let (top, low) = (i.min(j), i.max(j));
            if top >= self.truncation {
                continue;
            }
            let mut weight = f64::from(pair.weight) * self.ranked.pair_weight(i, j);
            if !pair.equal {
                weight *= self.ranked.clicks.factor(i, j);
            }
            if let Some(swap) = self.swap {
                swap.swap_deltas_from(top, low, &mut row[..=low]);
                weight *= row[low].abs();
            }
            let (weight, tie_weight) = if pair.equal { (0.0, weight) } else { (weight, 0.0) };
            visit(&RankPair { i, j, weight, tie_weight, copies: 1.0, adds_to_i: true });
        }
        Ok(())
    }
}

/// The error for a pair of a document with itself, or with a number that the query does not have.
fn out_of_range(pair: &DocumentPair, documents: usize) -> LearnError {
    LearnError::PairOutOfRange { better: pair.better, worse: pair.worse, documents }
}
