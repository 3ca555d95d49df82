//! Postings of a term: documents, frequencies and positions, and its statistics in the collection.

use std::sync::Arc;

use tantivy::postings::{Postings as _, SegmentPostings};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet as _, InvertedIndexReader, TERMINATED, Term};

use crate::error::SearchError;
use crate::index::{Index, TextField, lock};

/// The postings of one field, segment by segment.
pub(super) struct FieldPostings {
    field: Field,
    readers: Vec<Arc<InvertedIndexReader>>,
}

impl FieldPostings {
    pub(super) fn open(index: &Index, field: Field) -> Result<Self, SearchError> {
        let readers = index.segments.iter().map(|segment| segment.reader.inverted_index(field));
        let readers: tantivy::Result<Vec<_>> = readers.collect();
        let readers = readers.map_err(|error| index.failed(&error))?;
        Ok(Self { field, readers })
    }
}

/// Maximum number of terms whose statistics are cached; beyond this the cache is cleared.
const MAX_CACHED_STATS: usize = 1 << 18;

/// Document frequency and collection frequency of a term in a text field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TermStats {
    /// Number of documents that have it.
    pub documents: u64,
    /// Number of its occurrences.
    pub occurrences: u64,
}

/// The documents of a term with its frequency in each, ascending.
#[derive(Debug, Default)]
pub(crate) struct TermPostings {
    pub(crate) docs: Vec<u32>,
    pub(crate) tfs: Vec<u32>,
}

impl TermPostings {
    fn clear(&mut self) {
        self.docs.clear();
        self.tfs.clear();
    }

    /// The statistics of the term.
    pub(crate) fn stats(&self) -> TermStats {
        TermStats {
            documents: self.docs.len() as u64,
            occurrences: self.tfs.iter().map(|&tf| u64::from(tf)).sum(),
        }
    }

    /// Adds the frequencies of another list.
    fn merge(&mut self, other: &TermPostings) {
        let mut merged = TermPostings::default();
        let (mut a, mut b) = (0, 0);
        while a < self.docs.len() || b < other.docs.len() {
            let left = self.docs.get(a).copied().unwrap_or(TERMINATED);
            let right = other.docs.get(b).copied().unwrap_or(TERMINATED);
            let mut tf = 0;
            if left <= right {
                tf += self.tfs[a];
                a += 1;
            }
            if right <= left {
                tf += other.tfs[b];
                b += 1;
            }
            merged.docs.push(left.min(right));
            merged.tfs.push(tf);
        }
        *self = merged;
    }
}

impl Index {
    /// The documents of a term in a text field; caches its statistics.
    pub(crate) fn read_postings(
        &self,
        text_field: TextField,
        term: &str,
        found: &mut TermPostings,
    ) -> Result<(), SearchError> {
        found.clear();
        let mut more = TermPostings::default();
        for (i, &field) in self.fields_of(text_field).iter().enumerate() {
            if i == 0 {
                self.read_field_postings(field, term, found)?;
            } else {
                more.clear();
                self.read_field_postings(field, term, &mut more)?;
                found.merge(&more);
            }
        }
        let mut stats = lock(&self.stats);
        if stats.len() >= MAX_CACHED_STATS {
            stats.clear();
        }
        stats.insert((text_field, term.to_owned()), found.stats());
        Ok(())
    }

    /// The documents of a term in one text field.
    pub(crate) fn read_field_postings(
        &self,
        field: usize,
        term: &str,
        found: &mut TermPostings,
    ) -> Result<(), SearchError> {
        let postings = &self.postings[field];
        let term = Term::from_field_text(postings.field, term);
        let failed = |error: std::io::Error| self.failed(&error.into());
        for (segment, reader) in self.segments.iter().zip(&postings.readers) {
            let Some(info) = reader.get_term_info(&term).map_err(failed)? else { continue };
            let option = IndexRecordOption::WithFreqs;
            let mut blocks =
                reader.read_block_postings_from_terminfo(&info, option).map_err(failed)?;
            let alive = segment.reader.alive_bitset();
            while blocks.block_len() > 0 {
                for (&doc, &tf) in blocks.docs().iter().zip(blocks.freqs()) {
                    if alive.is_none_or(|alive| alive.is_alive(doc)) {
                        found.docs.push(segment.base + doc);
                        found.tfs.push(tf);
                    }
                }
                blocks.advance();
            }
        }
        Ok(())
    }

    /// Document frequency and collection frequency of a term in a text field.
    pub(crate) fn term_stats(
        &self,
        text_field: TextField,
        term: &str,
    ) -> Result<TermStats, SearchError> {
        let key = (text_field, term.to_owned());
        if let Some(&stats) = lock(&self.stats).get(&key) {
            return Ok(stats);
        }
        let mut found = TermPostings::default();
        self.read_postings(text_field, term, &mut found)?;
        Ok(found.stats())
    }

    /// Calls `found` with the positions of a term in each of the documents that has it. `docs` is
    /// ascending.
    pub(crate) fn positions(
        &self,
        field: usize,
        term: &str,
        docs: &[u32],
        mut found: impl FnMut(usize, &[u32]),
    ) -> Result<(), SearchError> {
        let mut positions = Vec::new();
        let option = IndexRecordOption::WithFreqsAndPositions;
        self.visit_postings(field, term, docs, option, |at, list| {
            list.positions(&mut positions);
            found(at, &positions);
        })
    }

    /// Calls `found` with the frequency of a term in each of the documents that has it. `docs` is
    /// ascending.
    pub(crate) fn frequencies(
        &self,
        field: usize,
        term: &str,
        docs: &[u32],
        mut found: impl FnMut(usize, u32),
    ) -> Result<(), SearchError> {
        let option = IndexRecordOption::WithFreqs;
        self.visit_postings(field, term, docs, option, |at, list| found(at, list.term_freq()))
    }

    /// Visits each of the documents that has a term.
    fn visit_postings(
        &self,
        field: usize,
        term: &str,
        docs: &[u32],
        option: IndexRecordOption,
        mut visit: impl FnMut(usize, &mut SegmentPostings),
    ) -> Result<(), SearchError> {
        let postings = &self.postings[field];
        let term = Term::from_field_text(postings.field, term);
        let failed = |error: std::io::Error| self.failed(&error.into());
        let mut at = 0;
        for (segment, reader) in self.segments.iter().zip(&postings.readers) {
            let end = segment.base + segment.reader.max_doc();
            let here = docs[at..].partition_point(|&doc| doc < end);
            if let Some(mut list) = reader.read_postings(&term, option).map_err(failed)? {
                for (number, &doc) in (at..).zip(&docs[at..at + here]) {
                    if seek(&mut list, doc - segment.base) {
                        visit(number, &mut list);
                    }
                }
            }
            at += here;
        }
        Ok(())
    }
}

/// Moves to a document; false where it is not in the list.
fn seek(list: &mut SegmentPostings, doc: u32) -> bool {
    let now = list.doc();
    now == doc || now < doc && list.seek(doc) == doc
}
