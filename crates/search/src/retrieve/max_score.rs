//! The best n documents of a query, exactly, without scoring all documents that match: MaxScore
//! (Turtle and Flood 1995), one term after another.
//!
//! A weighting gives each term an upper bound, its largest contribution to any document (see
//! [`crate::index::Impacts`]). Terms are ordered by their bounds, the largest first. The documents
//! of the first term are scored, each with all of its terms; then those documents of the second
//! term that do not have the first one, and so on. As soon as n scores are known, the n-th best of
//! them is a threshold: a document whose terms cannot reach it is left out before its other terms
//! are looked up, and when the bounds of all remaining terms together cannot reach it, their
//! documents are not read at all. The other terms of a document are looked up in tantivy's blocks
//! of postings, most of which are skipped; if a term is looked up often, all of its postings are
//! read.
//!
//! Results are those of the full scan, to the last bit: a document that is left out is strictly
//! below the threshold (a slack covers the rounding of the bounds), the parts of a score are added
//! in the order of the query, and equal scores are all kept until the end, where they are ordered
//! by id. Cost: at worst that of the full scan times the number of terms; for short queries with a
//! rare term a small part of the postings.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::Candidate;
use super::weighting::{DocumentColumns, QueryWeighting, Weighting};
use crate::error::SearchError;
use crate::filter::Filter;
use crate::index::{
    FIRST_SHARED_TF, Impacts, Index, PostingCursor, TermPostings, TextField, first_not_before,
};

// The first three constants only decide between two ways to the same result; they affect speed
// alone.

/// With fewer postings than this for each requested document, the full scan is used: too few could
/// be skipped.
const MIN_POSTINGS_PER_RESULT: usize = 4;
/// With more terms than this, the full scan is used: the bounds of many terms add up to more than
/// any document reaches.
const MAX_TERMS: usize = 24;
/// Once a term has had more than one lookup for this many of its documents, all of its postings are
/// read.
const DOCUMENTS_PER_LOOKUP: usize = 24;
/// Slack as a fraction of the bounds: far more than their rounding errors.
const SLACK: f64 = 1e-9;
/// Number of bounds by frequency, from 0 on; the last one is shared by all larger frequencies.
const TF_BOUNDS: usize = FIRST_SHARED_TF + 1;

/// Whether MaxScore is probably faster than the full scan; `postings` is the number of postings of
/// all terms together.
pub(super) fn is_worthwhile(n: usize, terms: usize, postings: u64) -> bool {
    terms <= MAX_TERMS && postings >= (n as u64).saturating_mul(MIN_POSTINGS_PER_RESULT as u64)
}

/// A term of the query: its postings, and the bounds of its contribution.
pub(super) struct BoundedTerm<'a> {
    /// Its index among the different terms of the query.
    term_index: usize,
    term: &'a str,
    postings: &'a mut TermPostings,
    /// Whether the postings have been read.
    is_read: bool,
    /// Number of documents that have the term.
    documents: u64,
    /// The largest part of a score for this term.
    bound: f64,
    /// The largest part of a score for this term, by the frequency of the term in the document.
    bound_of_tf: [f64; TF_BOUNDS],
    /// The position of the last lookup while the postings are not read.
    cursor: Option<PostingCursor>,
    /// Number of lookups since the last restart.
    lookups: usize,
    /// The position of the last lookup in the postings, once they are read.
    position: usize,
}

impl<'a> BoundedTerm<'a> {
    pub(super) fn new<W: Weighting>(
        term_index: usize,
        term: &'a str,
        postings: &'a mut TermPostings,
        is_read: bool,
        documents: u64,
        impacts: &Impacts,
        weights: &QueryWeighting<'_, W>,
    ) -> Self {
        let mut bound_of_tf = [f64::NEG_INFINITY; TF_BOUNDS];
        let mut bound = 0.0_f64;
        for impact in impacts.iter() {
            let value = weights.bound(term_index, impact);
            // NaN: no document may be skipped, so that the score that is not a number is found.
            let value = if value.is_nan() { f64::INFINITY } else { value };
            bound = bound.max(value);
            let of_tf = &mut bound_of_tf[(impact.tf as usize).min(TF_BOUNDS - 1)];
            *of_tf = of_tf.max(value);
        }
        Self {
            term_index,
            term,
            postings,
            is_read,
            documents,
            bound,
            bound_of_tf,
            cursor: None,
            lookups: 0,
            position: 0,
        }
    }

    /// The smallest frequency with which this term's part of a score can be `needed` or more.
    fn min_tf(&self, needed: f64) -> u32 {
        let smallest = self.bound_of_tf.iter().position(|&bound| bound >= needed);
        smallest.map_or(u32::MAX, |tf| tf as u32)
    }

    /// Reads all postings, unless they were read already.
    fn read(&mut self, index: &Index, field: TextField) -> Result<(), SearchError> {
        if !self.is_read {
            index.read_postings(field, self.term, self.postings)?;
            self.is_read = true;
        }
        Ok(())
    }

    /// Lets the next lookup begin at the first document again.
    fn restart(&mut self) {
        (self.cursor, self.lookups, self.position) = (None, 0, 0);
    }

    /// The frequency in a document: a lookup. Documents are ascending between restarts.
    fn frequency(&mut self, index: &Index, field: TextField, doc: u32) -> Result<u32, SearchError> {
        self.lookups += 1;
        if !self.is_read {
            if self.lookups * DOCUMENTS_PER_LOOKUP <= self.documents as usize {
                let cursor = match &mut self.cursor {
                    Some(cursor) => cursor,
                    none => none.insert(index.posting_cursor(field, self.term)?),
                };
                return Ok(cursor.frequency(doc));
            }
            self.read(index, field)?;
        }
        let TermPostings { docs, tfs } = &*self.postings;
        self.position = first_not_before(docs, self.position, doc);
        Ok(match docs.get(self.position) {
            Some(&found) if found == doc => tfs[self.position],
            _ => 0,
        })
    }
}

/// The best scores so far, at most n of them; the smallest of them is on top of the heap.
struct BestScores {
    heap: BinaryHeap<LowestFirst>,
    n: usize,
}

/// A score with the reverse order, so that the smallest is on top of a heap. It is never NaN.
#[derive(PartialEq)]
struct LowestFirst(f64);

impl Eq for LowestFirst {}

impl PartialOrd for LowestFirst {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for LowestFirst {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.partial_cmp(&self.0).unwrap_or(Ordering::Equal)
    }
}

impl BestScores {
    /// The score that a document must reach to be among the best n.
    fn threshold(&self) -> f64 {
        match self.heap.peek() {
            Some(LowestFirst(score)) if self.heap.len() == self.n => *score,
            _ => f64::NEG_INFINITY,
        }
    }

    /// Adds a score that is not below the threshold.
    fn add(&mut self, score: f64) {
        if self.heap.len() == self.n {
            self.heap.pop();
        }
        self.heap.push(LowestFirst(score));
    }
}

/// Finds the best n documents of a query.
pub(super) struct MaxScore<'a, 'w, W> {
    pub(super) index: &'a Index,
    pub(super) field: TextField,
    pub(super) weights: &'a QueryWeighting<'w, W>,
    pub(super) columns: &'a DocumentColumns,
    pub(super) filter: Option<&'a Filter>,
    pub(super) n: usize,
}

impl<W: Weighting> MaxScore<'_, '_, W> {
    /// Every document that can be among the best n, in no order; `None` if a score is not a
    /// number, which the full scan then reports.
    pub(super) fn candidates(
        &self,
        mut terms: Vec<BoundedTerm<'_>>,
    ) -> Result<Option<Vec<Candidate>>, SearchError> {
        terms.retain(|term| term.documents > 0);
        terms.sort_by(|a, b| b.bound.total_cmp(&a.bound).then(a.term_index.cmp(&b.term_index)));
        // An upper bound of the score of documents that have none of the first i terms: the bounds
        // of the terms from i on, and of the part that depends on the document alone.
        let document_bound = self.weights.document_bound(self.index.min_length(self.field));
        let mut bound_from = vec![document_bound; terms.len() + 1];
        for i in (0..terms.len()).rev() {
            bound_from[i] = bound_from[i + 1] + terms[i].bound;
        }
        let largest = bound_from.first().copied().unwrap_or(0.0);
        let slack = SLACK * (largest.abs() + document_bound.abs() + 1.0);
        bound_from.iter_mut().for_each(|bound| *bound += slack);
        let mut best = BestScores { heap: BinaryHeap::with_capacity(self.n + 1), n: self.n };
        let mut found = Vec::new();
        let mut parts = vec![None; self.weights.terms()];
        for i in 0..terms.len() {
            if bound_from[i] < best.threshold() {
                break;
            }
            if !self.scan(&mut terms, i, &bound_from, &mut best, &mut found, &mut parts)? {
                return Ok(None);
            }
        }
        Ok(Some(found))
    }

    /// Scores the documents of the term `i` that have none of the terms before it, and adds those
    /// that reach the threshold to `found`. `parts` is a buffer for the part of a score of each
    /// term. Returns false if a score is not a number.
    fn scan(
        &self,
        terms: &mut [BoundedTerm<'_>],
        i: usize,
        bound_from: &[f64],
        best: &mut BestScores,
        found: &mut Vec<Candidate>,
        parts: &mut [Option<f64>],
    ) -> Result<bool, SearchError> {
        let (index, field) = (self.index, self.field);
        let (earlier, current_and_later) = terms.split_at_mut(i);
        let Some((current, later)) = current_and_later.split_first_mut() else { return Ok(true) };
        current.read(index, field)?;
        earlier.iter_mut().chain(later.iter_mut()).for_each(BoundedTerm::restart);
        // The part of the score for the current term that a document needs to reach the threshold.
        let mut needed = best.threshold() - bound_from[i + 1];
        let mut min_tf = current.min_tf(needed);
        let TermPostings { docs, tfs } = &*current.postings;
        'documents: for (&doc, &tf) in docs.iter().zip(tfs) {
            if tf < min_tf || self.filter.is_some_and(|filter| !filter.passes(doc)) {
                continue;
            }
            let document = self.columns.of(doc);
            let part = self.weights.matched_part(current.term_index, f64::from(tf), &document);
            if part < needed {
                continue;
            }
            for term in earlier.iter_mut() {
                if term.frequency(index, field, doc)? > 0 {
                    continue 'documents;
                }
            }
            parts.fill(None);
            parts[current.term_index] = Some(part);
            let mut sum = part;
            for (term, bound) in later.iter_mut().zip(&bound_from[i + 1..]) {
                if sum + bound < best.threshold() {
                    continue 'documents;
                }
                let tf = term.frequency(index, field, doc)?;
                if tf > 0 {
                    let part = self.weights.matched_part(term.term_index, f64::from(tf), &document);
                    parts[term.term_index] = Some(part);
                    sum += part;
                }
            }
            // In the order of the query, as the full scan adds them.
            let sum = parts.iter().flatten().fold(0.0, |sum, part| sum + part);
            let score = sum + self.weights.document_part(&document);
            if score.is_nan() {
                return Ok(false);
            }
            if score >= best.threshold() {
                found.push(Candidate { doc, index: index.index_id(), score });
                best.add(score);
                needed = best.threshold() - bound_from[i + 1];
                min_tf = current.min_tf(needed);
            }
        }
        Ok(true)
    }
}
