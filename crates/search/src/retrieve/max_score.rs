//! The best n documents of a query, exactly, without scoring all documents that match: MaxScore
//! (Turtle and Flood 1995), list by list.
//!
//! A weighting gives each term an upper bound, its largest contribution to any document (see
//! [`crate::index::Impacts`]). Terms are ordered by their bounds, the largest first. The documents of
//! the first term are scored, each with all of its terms; then those documents of the second term
//! that do not have the first one, and so on. As soon as n scores are known, the n-th best of them
//! is a threshold: a document whose terms cannot reach it is left out before its other terms are
//! looked up, and when the bounds of all remaining terms together cannot reach it, their documents
//! are not read at all. Other terms of a document are looked up in tantivy's blocks, which are
//! skipped in between; a list in which much is looked up is read whole.
//!
//! Results are those of the full scan, to the bit: a document that is left out is strictly below the
//! threshold (a slack covers the rounding of the bounds), the contributions of a document are added
//! in the order of the query, and equal scores are all kept until the end, where ids decide. Cost:
//! at worst that of the full scan times the number of terms; short queries with some rare term
//! read a small part of their postings.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::Candidate;
use super::weighting::{DocumentColumns, QueryWeighting, Weighting};
use crate::error::SearchError;
use crate::filter::Filter;
use crate::index::{Impacts, Index, PostingCursor, TermPostings, TextField, position_from};

/// Below this number of matches for each requested document, all are scored: too few could be
/// skipped.
const LEAST_MATCHES: usize = 4;
/// Above this number of terms, all documents are scored: bounds of many terms add up to more than
/// any document reaches.
const MOST_TERMS: usize = 24;
/// A list is read whole after one lookup for this number of its documents.
const DOCUMENTS_PER_LOOKUP: usize = 24;
/// Part of a bound that covers its rounding.
const SLACK: f64 = 1e-9;
/// Frequencies from this one on share a bound.
const TABLE: usize = 33;

/// Whether a query can be answered quicker than by scoring all matches.
pub(super) fn is_worthwhile(n: usize, terms: usize, matches: u64) -> bool {
    terms <= MOST_TERMS && matches >= (n as u64).saturating_mul(LEAST_MATCHES as u64)
}

/// A term of the query: its postings, and the bounds of its contribution.
pub(super) struct BoundedTerm<'a> {
    /// Its place in the query.
    place: usize,
    term: &'a str,
    postings: &'a mut TermPostings,
    /// Whether the postings have been read.
    is_read: bool,
    /// Number of documents that have the term.
    documents: u64,
    /// The largest contribution.
    bound: f64,
    /// The largest contribution by frequency.
    bound_of: [f64; TABLE],
    /// The state of lookups in the current pass.
    cursor: Option<PostingCursor>,
    lookups: usize,
    position: usize,
}

impl<'a> BoundedTerm<'a> {
    pub(super) fn new<W: Weighting>(
        place: usize,
        term: &'a str,
        postings: &'a mut TermPostings,
        is_read: bool,
        documents: u64,
        impacts: &Impacts,
        weights: &QueryWeighting<'_, W>,
    ) -> Self {
        let mut bound_of = [f64::NEG_INFINITY; TABLE];
        let mut bound = 0.0_f64;
        for impact in impacts.iter() {
            let value = weights.bound(place, impact);
            // A value that is not a number must not hide a document.
            let value = if value.is_nan() { f64::INFINITY } else { value };
            bound = bound.max(value);
            let slot = &mut bound_of[(impact.tf as usize).min(TABLE - 1)];
            *slot = slot.max(value);
        }
        Self {
            place,
            term,
            postings,
            is_read,
            documents,
            bound,
            bound_of,
            cursor: None,
            lookups: 0,
            position: 0,
        }
    }

    /// The smallest frequency whose contribution can be as large as needed.
    fn least_tf(&self, needed: f64) -> u32 {
        let reaches = self.bound_of.iter().position(|&bound| bound >= needed);
        reaches.map_or(u32::MAX, |tf| tf as u32)
    }

    fn read(&mut self, index: &Index, field: TextField) -> Result<(), SearchError> {
        if !self.is_read {
            index.read_postings(field, self.term, self.postings)?;
            self.is_read = true;
        }
        Ok(())
    }

    /// Forgets the place of the last lookup.
    fn restart(&mut self) {
        (self.cursor, self.lookups, self.position) = (None, 0, 0);
    }

    /// The frequency in a document; documents are given in ascending order between restarts.
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
        self.position = position_from(docs, self.position, doc);
        Ok(match docs.get(self.position) {
            Some(&found) if found == doc => tfs[self.position],
            _ => 0,
        })
    }
}

/// The best scores so far, at most n of them, the smallest on top.
struct BestScores {
    heap: BinaryHeap<LowestFirst>,
    n: usize,
}

/// A score that is greater in the heap the smaller it is. It is never NaN.
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
    /// The score that a document must reach.
    fn threshold(&self) -> f64 {
        match self.heap.peek() {
            Some(LowestFirst(score)) if self.heap.len() == self.n => *score,
            _ => f64::NEG_INFINITY,
        }
    }

    fn add(&mut self, score: f64) {
        if self.heap.len() == self.n {
            self.heap.pop();
        }
        self.heap.push(LowestFirst(score));
    }
}

/// Finds the best n documents.
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
    /// number, so that the full scan must report it.
    pub(super) fn candidates(
        &self,
        mut terms: Vec<BoundedTerm<'_>>,
    ) -> Result<Option<Vec<Candidate>>, SearchError> {
        terms.retain(|term| term.documents > 0);
        terms.sort_by(|a, b| b.bound.total_cmp(&a.bound).then(a.place.cmp(&b.place)));
        // The bound of each term and all later ones together, with the part of the document alone.
        let of_document = self.weights.document_bound(self.index.least_length(self.field));
        let mut reach = vec![of_document; terms.len() + 1];
        for at in (0..terms.len()).rev() {
            reach[at] = reach[at + 1] + terms[at].bound;
        }
        let all = reach.first().copied().unwrap_or(0.0);
        let slack = SLACK * (all.abs() + of_document.abs() + 1.0);
        reach.iter_mut().for_each(|bound| *bound += slack);
        let mut best = BestScores { heap: BinaryHeap::with_capacity(self.n + 1), n: self.n };
        let mut kept = Vec::new();
        let mut parts = vec![None; self.weights.terms()];
        for at in 0..terms.len() {
            if reach[at] < best.threshold() {
                break;
            }
            if !self.scan(&mut terms, at, &reach, &mut best, &mut kept, &mut parts)? {
                return Ok(None);
            }
        }
        Ok(Some(kept))
    }

    /// Scores the documents of a term that have none of the terms before it. Returns false if a
    /// score is not a number.
    fn scan(
        &self,
        terms: &mut [BoundedTerm<'_>],
        at: usize,
        reach: &[f64],
        best: &mut BestScores,
        kept: &mut Vec<Candidate>,
        parts: &mut [Option<f64>],
    ) -> Result<bool, SearchError> {
        let (index, field) = (self.index, self.field);
        let (earlier, rest) = terms.split_at_mut(at);
        let Some((current, later)) = rest.split_first_mut() else { return Ok(true) };
        current.read(index, field)?;
        earlier.iter_mut().chain(later.iter_mut()).for_each(BoundedTerm::restart);
        let mut needed = best.threshold() - reach[at + 1];
        let mut least_tf = current.least_tf(needed);
        let TermPostings { docs, tfs } = &*current.postings;
        'documents: for (&doc, &tf) in docs.iter().zip(tfs) {
            if tf < least_tf || self.filter.is_some_and(|filter| !filter.passes(doc)) {
                continue;
            }
            let document = self.columns.of(doc);
            let part = self.weights.matched(current.place, f64::from(tf), &document);
            if part < needed {
                continue;
            }
            for term in earlier.iter_mut() {
                if term.frequency(index, field, doc)? > 0 {
                    continue 'documents;
                }
            }
            parts.fill(None);
            parts[current.place] = Some(part);
            let mut sum = part;
            for (term, bound) in later.iter_mut().zip(&reach[at + 1..]) {
                if sum + bound < best.threshold() {
                    continue 'documents;
                }
                let tf = term.frequency(index, field, doc)?;
                if tf > 0 {
                    let part = self.weights.matched(term.place, f64::from(tf), &document);
                    parts[term.place] = Some(part);
                    sum += part;
                }
            }
            // In the order of the query, as the full scan adds them.
            let sum = parts.iter().flatten().fold(0.0, |sum, part| sum + part);
            let score = sum + self.weights.document(&document);
            if score.is_nan() {
                return Ok(false);
            }
            if score >= best.threshold() {
                kept.push(Candidate { doc, index: index.index_id(), score });
                best.add(score);
                needed = best.threshold() - reach[at + 1];
                least_tf = current.least_tf(needed);
            }
        }
        Ok(true)
    }
}
