//! Postings of a term: its documents, frequencies and positions, and its statistics in the
//! collection.
//!
//! A `field: usize` is an index into the text fields of the schema. A [`TextField`] may be all of
//! them: then the frequencies of a document in the single fields are added.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;
use tantivy::postings::{BlockSegmentPostings, Postings as _, SegmentPostings};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet as _, InvertedIndexReader, Term};

use crate::error::SearchError;
use crate::index::{Index, TextField, lock};

/// Access to the postings of one field, with a reader for each segment.
pub(super) struct FieldPostings {
    field: Field,
    readers: Vec<Arc<InvertedIndexReader>>,
}

impl FieldPostings {
    pub(super) fn open(index: &Index, field: Field) -> Result<Self, SearchError> {
        let readers = index.segments.iter().map(|segment| segment.reader.inverted_index(field));
        let readers: tantivy::Result<Vec<_>> = readers.collect();
        let readers = readers.map_err(|error| index.tantivy_error(&error))?;
        Ok(Self { field, readers })
    }
}

/// Document frequency and collection frequency of a term in a text field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TermStats {
    /// Number of documents that have the term.
    pub documents: u64,
    /// Number of occurrences of the term in all documents.
    pub occurrences: u64,
}

/// The documents that have a term, with the frequency of the term in each.
#[derive(Debug, Default)]
pub(crate) struct TermPostings {
    /// Document numbers, ascending.
    pub(crate) docs: Vec<u32>,
    /// The frequency of the term in each of `docs`.
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

    /// Adds the postings of the same term in another field; `merged` is a buffer. Documents of the
    /// longer list between two documents of the shorter one are copied together: a word is in few
    /// titles, but in the text of many documents.
    fn merge(&mut self, other: &TermPostings, merged: &mut TermPostings) {
        let (long, short) =
            if self.docs.len() >= other.docs.len() { (&*self, other) } else { (other, &*self) };
        merged.clear();
        merged.docs.reserve(long.docs.len() + short.docs.len());
        merged.tfs.reserve(long.docs.len() + short.docs.len());
        let mut from = 0;
        for (&doc, &tf) in short.docs.iter().zip(&short.tfs) {
            let to = first_not_before(&long.docs, from, doc);
            merged.docs.extend_from_slice(&long.docs[from..to]);
            merged.tfs.extend_from_slice(&long.tfs[from..to]);
            let is_in_both = long.docs.get(to) == Some(&doc);
            merged.docs.push(doc);
            merged.tfs.push(if is_in_both { tf + long.tfs[to] } else { tf });
            from = to + usize::from(is_in_both);
        }
        merged.docs.extend_from_slice(&long.docs[from..]);
        merged.tfs.extend_from_slice(&long.tfs[from..]);
        std::mem::swap(self, merged);
    }
}

/// The first index from `from` on whose document is not smaller than `doc`, in an ascending list.
/// A galloping search (steps of doubling length, then a binary search), which is fast for short
/// distances.
pub(crate) fn first_not_before(docs: &[u32], from: usize, doc: u32) -> usize {
    let remaining = &docs[from..];
    let mut step = 1;
    while step < remaining.len() && remaining[step - 1] < doc {
        step *= 2;
    }
    let (low, high) = (step / 2, step.min(remaining.len()));
    from + low + remaining[low..high].partition_point(|&known| known < doc)
}

/// Cached statistics of the terms of one text field, by term.
pub(super) type StatsByTerm = HashMap<String, TermStats, FixedState>;

/// Maximum number of terms of a text field whose statistics are cached; beyond this the cache is
/// cleared.
pub(super) const MAX_CACHED_TERMS: usize = 1 << 17;

/// Caches a value for a term; a full cache is cleared first.
pub(super) fn cache_value<T>(cache: &mut HashMap<String, T, FixedState>, term: &str, value: T) {
    if cache.len() >= MAX_CACHED_TERMS {
        cache.clear();
    }
    cache.insert(term.to_owned(), value);
}

impl Index {
    /// Reads the postings of a term in a text field into `found`; caches the term's statistics.
    pub(crate) fn read_postings(
        &self,
        text_field: TextField,
        term: &str,
        found: &mut TermPostings,
    ) -> Result<(), SearchError> {
        found.clear();
        let (mut of_field, mut merged) = (TermPostings::default(), TermPostings::default());
        for (i, &field) in self.fields_of(text_field).iter().enumerate() {
            if i == 0 {
                self.read_field_postings(field, term, found)?;
                continue;
            }
            of_field.clear();
            self.read_field_postings(field, term, &mut of_field)?;
            if !of_field.docs.is_empty() {
                found.merge(&of_field, &mut merged);
            }
        }
        cache_value(&mut lock(&self.stats[text_field.0]), term, found.stats());
        Ok(())
    }

    /// Appends the postings of a term in one text field to `found`.
    pub(crate) fn read_field_postings(
        &self,
        field: usize,
        term: &str,
        found: &mut TermPostings,
    ) -> Result<(), SearchError> {
        let postings = &self.postings[field];
        let term = Term::from_field_text(postings.field, term);
        let failed = |error: std::io::Error| self.tantivy_error(&error.into());
        for (segment, reader) in self.segments.iter().zip(&postings.readers) {
            let Some(info) = reader.get_term_info(&term).map_err(failed)? else { continue };
            let option = IndexRecordOption::WithFreqs;
            let mut blocks =
                reader.read_block_postings_from_terminfo(&info, option).map_err(failed)?;
            let base = segment.base;
            while blocks.block_len() > 0 {
                let (docs, tfs) = (blocks.docs(), blocks.freqs());
                match segment.reader.alive_bitset() {
                    None => {
                        found.docs.extend(docs.iter().map(|doc| base + doc));
                        found.tfs.extend_from_slice(tfs);
                    }
                    Some(alive) => {
                        let all = docs.iter().zip(tfs);
                        for (doc, tf) in all.filter(|(doc, _)| alive.is_alive(**doc)) {
                            found.docs.push(base + doc);
                            found.tfs.push(*tf);
                        }
                    }
                }
                blocks.advance();
            }
        }
        Ok(())
    }

    /// The cached statistics of a term.
    pub(crate) fn cached_stats(&self, text_field: TextField, term: &str) -> Option<TermStats> {
        lock(&self.stats[text_field.0]).get(term).copied()
    }

    /// Document frequency and collection frequency of a term in a text field.
    pub(crate) fn term_stats(
        &self,
        text_field: TextField,
        term: &str,
    ) -> Result<TermStats, SearchError> {
        if let Some(stats) = self.cached_stats(text_field, term) {
            return Ok(stats);
        }
        let mut found = TermPostings::default();
        self.read_postings(text_field, term, &mut found)?;
        Ok(found.stats())
    }

    /// Calls `visit` with each term of each text field in each segment, and the number of documents
    /// that have the term there, including deleted documents.
    pub(crate) fn visit_terms(&self, mut visit: impl FnMut(&str, u64)) -> Result<(), SearchError> {
        let failed = |error: std::io::Error| self.tantivy_error(&error.into());
        for reader in self.postings.iter().flat_map(|postings| &postings.readers) {
            let mut terms = reader.terms().stream().map_err(failed)?;
            while terms.advance() {
                if let Ok(term) = std::str::from_utf8(terms.key()) {
                    visit(term, u64::from(terms.value().doc_freq));
                }
            }
        }
        Ok(())
    }

    /// A cursor that finds the frequency of a term in given documents, without reading all of the
    /// term's postings.
    pub(crate) fn posting_cursor(
        &self,
        text_field: TextField,
        term: &str,
    ) -> Result<PostingCursor, SearchError> {
        let failed = |error: std::io::Error| self.tantivy_error(&error.into());
        let mut cursors = Vec::new();
        for &field in self.fields_of(text_field) {
            let postings = &self.postings[field];
            let term = Term::from_field_text(postings.field, term);
            for (segment, reader) in self.segments.iter().zip(&postings.readers) {
                let Some(info) = reader.get_term_info(&term).map_err(failed)? else { continue };
                let option = IndexRecordOption::WithFreqs;
                let blocks =
                    reader.read_block_postings_from_terminfo(&info, option).map_err(failed)?;
                let end = segment.base + segment.reader.max_doc();
                cursors.push(SegmentCursor { base: segment.base, end, blocks });
            }
        }
        Ok(PostingCursor { cursors })
    }

    /// For each document of `docs` that has a term, calls `found` with the index in `docs` and the
    /// positions of the term. `docs` is ascending.
    pub(crate) fn positions(
        &self,
        field: usize,
        term: &str,
        docs: &[u32],
        mut found: impl FnMut(usize, &[u32]),
    ) -> Result<(), SearchError> {
        let mut positions = Vec::new();
        let option = IndexRecordOption::WithFreqsAndPositions;
        self.visit_postings(field, term, docs, option, |i, list| {
            list.positions(&mut positions);
            found(i, &positions);
        })
    }

    /// For each document of `docs` that has a term, calls `found` with the index in `docs` and the
    /// frequency of the term. `docs` is ascending.
    pub(crate) fn frequencies(
        &self,
        field: usize,
        term: &str,
        docs: &[u32],
        mut found: impl FnMut(usize, u32),
    ) -> Result<(), SearchError> {
        let option = IndexRecordOption::WithFreqs;
        self.visit_postings(field, term, docs, option, |i, list| found(i, list.term_freq()))
    }

    /// For each document of `docs` that has a term, calls `visit` with the index in `docs` and the
    /// term's postings at this document. `docs` is ascending.
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
        let failed = |error: std::io::Error| self.tantivy_error(&error.into());
        // The first of `docs` that is not in an earlier segment.
        let mut first = 0;
        for (segment, reader) in self.segments.iter().zip(&postings.readers) {
            let end = segment.base + segment.reader.max_doc();
            let count = docs[first..].partition_point(|&doc| doc < end);
            if let Some(mut list) = reader.read_postings(&term, option).map_err(failed)? {
                for (i, &doc) in (first..).zip(&docs[first..first + count]) {
                    if seek(&mut list, doc - segment.base) {
                        visit(i, &mut list);
                    }
                }
            }
            first += count;
        }
        Ok(())
    }
}

/// Finds the frequency of a term in a text field, for one document after another, ascending.
/// Tantivy skips the blocks of postings between two documents.
pub(crate) struct PostingCursor {
    cursors: Vec<SegmentCursor>,
}

/// The postings of a term in one field of one segment.
struct SegmentCursor {
    /// Number of the first document of the segment.
    base: u32,
    /// One more than the number of its last document.
    end: u32,
    blocks: BlockSegmentPostings,
}

impl PostingCursor {
    /// The frequency in a document that is not deleted; 0 if the document does not have the term.
    /// Documents must be passed in ascending order.
    pub(crate) fn frequency(&mut self, doc: u32) -> u32 {
        let of_segment = self.cursors.iter_mut().filter(|own| (own.base..own.end).contains(&doc));
        of_segment
            .map(|cursor| {
                let local = doc - cursor.base;
                let in_block = cursor.blocks.seek(local);
                let is_found = cursor.blocks.doc(in_block) == local;
                if is_found { cursor.blocks.freq(in_block) } else { 0 }
            })
            .sum()
    }
}

/// Moves the postings of a segment to a document; false if they do not have it. Never moves back.
fn seek(list: &mut SegmentPostings, doc: u32) -> bool {
    let now = list.doc();
    now == doc || now < doc && list.seek(doc) == doc
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn postings(tf_of_doc: &BTreeMap<u32, u32>) -> TermPostings {
        let (docs, tfs) = (tf_of_doc.keys().copied(), tf_of_doc.values().copied());
        TermPostings { docs: docs.collect(), tfs: tfs.collect() }
    }

    /// Any postings: frequencies by document.
    fn any_postings() -> impl Strategy<Value = BTreeMap<u32, u32>> {
        prop::collection::btree_map(0..60_u32, 1..5_u32, 0..40)
    }

    proptest! {
        #[test]
        fn merged_lists_have_the_sums_of_the_frequencies(a in any_postings(), b in any_postings()) {
            let mut expected = a.clone();
            for (&doc, &tf) in &b {
                *expected.entry(doc).or_default() += tf;
            }
            let mut merged = postings(&a);
            merged.merge(&postings(&b), &mut TermPostings::default());
            let found: BTreeMap<u32, u32> =
                merged.docs.iter().copied().zip(merged.tfs.iter().copied()).collect();
            prop_assert_eq!(&found, &expected);
            prop_assert!(merged.docs.is_sorted() && merged.docs.len() == expected.len());
        }

        #[test]
        fn a_galloping_search_finds_the_same_index_as_a_binary_search(
            a in any_postings(),
            doc in 0..70_u32,
            from in 0..40_usize,
        ) {
            let docs = postings(&a).docs;
            let from = from.min(docs.partition_point(|&known| known < doc));
            let expected = docs.partition_point(|&known| known < doc);
            prop_assert_eq!(first_not_before(&docs, from, doc), expected);
        }
    }
}
