//! Score accumulators of documents during a query.

use super::Candidate;
use crate::filter::Filter;
use crate::index::{Index, IndexId, TermHits};

/// Buffers of a search; reuse them from query to query.
#[derive(Debug, Default)]
pub struct SearchBuffers {
    sums: Vec<f64>,
    touched: Vec<u32>,
    is_touched: Vec<bool>,
    index: IndexId,
    pub(super) hits: Vec<TermHits>,
    /// A frequency for each document; all 0 between queries.
    pub(super) frequencies: Vec<f64>,
}

impl SearchBuffers {
    /// Resizes the buffers for the documents of an index.
    pub(super) fn start(&mut self, index: &Index) {
        let slots = index.slots();
        self.clear();
        self.sums.resize(slots, 0.0);
        self.is_touched.resize(slots, false);
        self.index = index.index_id();
    }

    /// Clears the sums that a failed query may have left.
    fn clear(&mut self) {
        for &doc in &self.touched {
            self.sums[doc as usize] = 0.0;
            self.is_touched[doc as usize] = false;
        }
        self.touched.clear();
    }

    #[inline]
    pub(super) fn add(&mut self, doc: u32, value: f64) {
        let at = doc as usize;
        self.sums[at] += value;
        if !self.is_touched[at] {
            self.is_touched[at] = true;
            self.touched.push(doc);
        }
    }

    /// Returns the scored documents that pass the filter, and clears the buffers.
    pub(super) fn finish(
        &mut self,
        filter: Option<&Filter>,
        more: impl Fn(u32) -> f64,
    ) -> Vec<Candidate> {
        let mut scored = Vec::with_capacity(self.touched.len());
        for &doc in &self.touched {
            if filter.is_none_or(|filter| filter.passes(doc)) {
                let score = self.sums[doc as usize] + more(doc);
                scored.push(Candidate { doc, index: self.index, score });
            }
        }
        self.clear();
        scored
    }
}
