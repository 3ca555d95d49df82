//! Postings of a term: documents, frequencies and positions, and its statistics in the collection.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;
use tantivy::postings::{BlockSegmentPostings, Postings as _, SegmentPostings};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet as _, InvertedIndexReader, Term};

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

    /// Adds the frequencies of another list. Runs of documents between those of the shorter list are
    /// copied whole: the words of a title are in few of the documents that have them in the text.
    fn merge(&mut self, other: &TermPostings, merged: &mut TermPostings) {
        let (long, short) =
            if self.docs.len() >= other.docs.len() { (&*self, other) } else { (other, &*self) };
        merged.clear();
        merged.docs.reserve(long.docs.len() + short.docs.len());
        merged.tfs.reserve(long.docs.len() + short.docs.len());
        let mut from = 0;
        for (&doc, &tf) in short.docs.iter().zip(&short.tfs) {
            let to = position_from(&long.docs, from, doc);
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

/// The first index at or behind `from` whose document is not before `doc`, in an ascending list.
/// Steps of doubling length, then a binary search: short distances are quick.
pub(crate) fn position_from(docs: &[u32], from: usize, doc: u32) -> usize {
    let rest = &docs[from..];
    let mut step = 1;
    while step < rest.len() && rest[step - 1] < doc {
        step *= 2;
    }
    let (low, high) = (step / 2, step.min(rest.len()));
    from + low + rest[low..high].partition_point(|&known| known < doc)
}

/// Statistics of terms, by term, for one text field.
pub(super) type StatsOfField = HashMap<String, TermStats, FixedState>;

/// Maximum number of terms of a text field whose statistics are cached; beyond this the cache is
/// cleared.
pub(super) const MAX_CACHED_TERMS: usize = 1 << 17;

/// Caches a value of a term; a cache that is full is cleared first.
pub(super) fn keep<T>(cache: &mut HashMap<String, T, FixedState>, term: &str, value: T) {
    if cache.len() >= MAX_CACHED_TERMS {
        cache.clear();
    }
    cache.insert(term.to_owned(), value);
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
        let (mut more, mut merged) = (TermPostings::default(), TermPostings::default());
        for (i, &field) in self.fields_of(text_field).iter().enumerate() {
            if i == 0 {
                self.read_field_postings(field, term, found)?;
                continue;
            }
            more.clear();
            self.read_field_postings(field, term, &mut more)?;
            if !more.docs.is_empty() {
                found.merge(&more, &mut merged);
            }
        }
        keep(&mut lock(&self.stats[text_field.0]), term, found.stats());
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
            let base = segment.base;
            while blocks.block_len() > 0 {
                let (docs, tfs) = (blocks.docs(), blocks.freqs());
                match segment.reader.alive_bitset() {
                    None => {
                        found.docs.extend(docs.iter().map(|doc| base + doc));
                        found.tfs.extend_from_slice(tfs);
                    }
                    Some(alive) => {
                        let living = docs.iter().zip(tfs).filter(|(doc, _)| alive.is_alive(**doc));
                        for (doc, tf) in living {
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
    /// that have it there, including deleted ones.
    pub(crate) fn visit_terms(&self, mut visit: impl FnMut(&str, u64)) -> Result<(), SearchError> {
        let failed = |error: std::io::Error| self.failed(&error.into());
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

    /// A cursor that finds the frequency of a term in single documents, without reading all of its
    /// documents.
    pub(crate) fn posting_cursor(
        &self,
        text_field: TextField,
        term: &str,
    ) -> Result<PostingCursor, SearchError> {
        let failed = |error: std::io::Error| self.failed(&error.into());
        let mut lists = Vec::new();
        for &field in self.fields_of(text_field) {
            let postings = &self.postings[field];
            let term = Term::from_field_text(postings.field, term);
            for (segment, reader) in self.segments.iter().zip(&postings.readers) {
                let Some(info) = reader.get_term_info(&term).map_err(failed)? else { continue };
                let option = IndexRecordOption::WithFreqs;
                let blocks =
                    reader.read_block_postings_from_terminfo(&info, option).map_err(failed)?;
                let end = segment.base + segment.reader.max_doc();
                lists.push(SegmentCursor { base: segment.base, end, blocks });
            }
        }
        Ok(PostingCursor { lists })
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

/// Finds the frequency of a term in a text field document by document, ascending. Blocks of tantivy
/// between two documents are skipped.
pub(crate) struct PostingCursor {
    lists: Vec<SegmentCursor>,
}

/// The postings of a term in one field of one segment.
struct SegmentCursor {
    /// Number of the first document of the segment, and the number behind its last one.
    base: u32,
    end: u32,
    blocks: BlockSegmentPostings,
}

impl PostingCursor {
    /// The frequency in a living document; 0 if it does not have the term. Documents must be
    /// given in ascending order.
    pub(crate) fn frequency(&mut self, doc: u32) -> u32 {
        let here = self.lists.iter_mut().filter(|list| (list.base..list.end).contains(&doc));
        here.map(|list| {
            let local = doc - list.base;
            let at = list.blocks.seek(local);
            if list.blocks.doc(at) == local { list.blocks.freq(at) } else { 0 }
        })
        .sum()
    }
}

/// Moves to a document; false if it is not in the list.
fn seek(list: &mut SegmentPostings, doc: u32) -> bool {
    let now = list.doc();
    now == doc || now < doc && list.seek(doc) == doc
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn postings(list: &BTreeMap<u32, u32>) -> TermPostings {
        TermPostings { docs: list.keys().copied().collect(), tfs: list.values().copied().collect() }
    }

    fn list() -> impl Strategy<Value = BTreeMap<u32, u32>> {
        prop::collection::btree_map(0..60_u32, 1..5_u32, 0..40)
    }

    proptest! {
        #[test]
        fn merged_lists_have_the_sums_of_the_frequencies(a in list(), b in list()) {
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
        fn positions_are_those_of_a_search_from_the_start(a in list(), doc in 0..70_u32, from in 0..40_usize) {
            let docs = postings(&a).docs;
            let from = from.min(docs.partition_point(|&known| known < doc));
            prop_assert_eq!(position_from(&docs, from, doc), docs.partition_point(|&known| known < doc));
        }
    }
}
