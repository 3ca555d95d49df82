//! Buffers of a search: score accumulators, and postings whose memory is reused.

use super::Candidate;
use crate::filter::Filter;
use crate::index::{Index, IndexId, TermPostings};

/// Buffers of a search. Reuse them from query to query to avoid allocations.
#[derive(Debug, Default)]
pub struct SearchBuffers {
    /// The score so far of each document.
    sums: Vec<f64>,
    /// The documents that have a score.
    scored_docs: Vec<u32>,
    /// Whether each document has a score.
    is_scored: Vec<bool>,
    /// The index of the current query.
    index: IndexId,
    /// See [`Self::matching`].
    matching: usize,
    /// Postings of the terms of a query.
    pub(super) postings: Vec<TermPostings>,
    /// The weighted frequency of a term in each document (BM25F); all 0 between queries.
    pub(super) frequencies: Vec<f64>,
}

impl SearchBuffers {
    /// Starts a query: resizes the buffers for the documents of an index.
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

    /// Number of documents that have a term of the last query, whether or not they pass its filter.
    /// This is exact if the query found no document. Otherwise more documents may match, as a first
    /// stage skips documents that cannot be among the best.
    pub(crate) fn matching(&self) -> usize {
        self.matching
    }

    /// Sets the number of documents that have a term of the query; see
    /// [`matching`](Self::matching).
    pub(super) fn set_matching(&mut self, matching: usize) {
        self.matching = matching;
    }

    /// Adds a part of a score to a document.
    #[inline]
    pub(super) fn add(&mut self, doc: u32, part: f64) {
        let i = doc as usize;
        self.sums[i] += part;
        if !self.is_scored[i] {
            self.is_scored[i] = true;
            self.scored_docs.push(doc);
        }
    }

    /// Returns the scored documents that pass the filter, and clears the buffers. `document_part`
    /// is added to the score of each document.
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
