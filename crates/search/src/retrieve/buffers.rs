//! Score accumulators of documents during a query.

use super::Candidate;
use crate::filter::Filter;
use crate::index::{Index, IndexId, TermPostings};

/// Buffers of a search; reuse them from query to query.
#[derive(Debug, Default)]
pub struct SearchBuffers {
    /// The score so far of each document.
    sums: Vec<f64>,
    /// The documents that have a score.
    scored_docs: Vec<u32>,
    is_scored: Vec<bool>,
    index: IndexId,
    /// Number of documents that the last query matched, before its filter; at least as many match
    /// where some of them were skipped.
    matching: usize,
    pub(super) postings: Vec<TermPostings>,
    /// A frequency for each document; all 0 between queries.
    pub(super) frequencies: Vec<f64>,
}

impl SearchBuffers {
    /// Resizes the buffers for the documents of an index.
    pub(super) fn start(&mut self, index: &Index) {
        let max_doc = index.max_doc();
        self.matching = 0;
        self.clear();
        self.sums.resize(max_doc, 0.0);
        self.is_scored.resize(max_doc, false);
        self.index = index.index_id();
    }

    /// Clears the sums that a failed query may have left.
    fn clear(&mut self) {
        for &doc in &self.scored_docs {
            self.sums[doc as usize] = 0.0;
            self.is_scored[doc as usize] = false;
        }
        self.scored_docs.clear();
    }

    /// Number of documents that the last query matched, before its filter. Where it found documents,
    /// more may match: a first stage skips those that cannot be among the best.
    pub(crate) fn matching(&self) -> usize {
        self.matching
    }

    pub(super) fn set_matching(&mut self, matching: usize) {
        self.matching = matching;
    }

    #[inline]
    pub(super) fn add(&mut self, doc: u32, value: f64) {
        let at = doc as usize;
        self.sums[at] += value;
        if !self.is_scored[at] {
            self.is_scored[at] = true;
            self.scored_docs.push(doc);
        }
    }

    /// Returns the scored documents that pass the filter, and clears the buffers.
    pub(super) fn finish(
        &mut self,
        filter: Option<&Filter>,
        document_part: impl Fn(u32) -> f64,
    ) -> Vec<Candidate> {
        self.matching = self.scored_docs.len();
        let mut candidates = Vec::with_capacity(self.matching);
        for &doc in &self.scored_docs {
            if filter.is_none_or(|filter| filter.passes(doc)) {
                let score = self.sums[doc as usize] + document_part(doc);
                candidates.push(Candidate { doc, index: self.index, score });
            }
        }
        self.clear();
        candidates
    }
}
