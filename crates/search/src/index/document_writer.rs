//! Adds documents to a tantivy index, in batches.
//!
//! While a batch is read, the previous one is analysed on all threads and passed to tantivy in
//! order. Of several documents with one id the last one counts; a document that the index already
//! has with the same content is not written again.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Mutex;

use foldhash::fast::FixedState;
use rayon::prelude::*;
use tantivy::tokenizer::{TextAnalyzer, TokenizerManager};
use tantivy::{IndexWriter, TantivyDocument, Term};

use super::directory::WritableIndex;
use super::encode::Decoder;
use super::layout::{ANALYZER, IndexLayout};
use super::prepare::{DocumentProblems, Preparer, source_bytes};
use super::{Index, lock};
use crate::analysis::Analysis;
use crate::document::Document;
use crate::error::SearchError;
use crate::schema::Schema;

/// Largest number of documents, and of bytes of text, in a batch.
const BATCH_DOCUMENTS: usize = 2048;
const BATCH_BYTES: usize = 16 << 20;
/// Number of documents that a thread analyses at a time.
const CHUNK_DOCUMENTS: usize = 64;
/// Bytes of memory that a thread of tantivy may use before it writes a segment; more memory means
/// fewer segments to merge.
const MEMORY_PER_THREAD: usize = 192 << 20;

/// Receives the number of documents read so far, and returns whether to continue.
pub(super) type Progress<'a> = &'a mut (dyn FnMut(u64) -> ControlFlow<()> + Send);

/// The tokenizer of the writer, which receives terms that are already analysed (see `encode.rs`).
pub(super) fn writing_tokenizers() -> TokenizerManager {
    let tokenizers = TokenizerManager::default();
    tokenizers.register(ANALYZER, TextAnalyzer::builder(Decoder::default()).build());
    tokenizers
}

/// Reads the next batch of at most `max_documents` and about [`BATCH_BYTES`]; empty at the end.
pub(super) fn read_batch(
    documents: &mut impl Iterator<Item = Result<Document, SearchError>>,
    max_documents: usize,
) -> Result<Vec<Document>, SearchError> {
    let (mut batch, mut bytes) = (Vec::new(), 0);
    while batch.len() < max_documents && bytes < BATCH_BYTES {
        let Some(document) = documents.next().transpose()? else { break };
        bytes += document.fields.iter().map(|(_, value)| size_of_value(value)).sum::<usize>();
        batch.push(document);
    }
    Ok(batch)
}

fn size_of_value(value: &crate::Value) -> usize {
    match value {
        crate::Value::Text(text) => text.len(),
        crate::Value::Texts(texts) => texts.iter().map(String::len).sum(),
        crate::Value::Number(_) => 8,
    }
}

/// Counts of the documents that were written.
#[derive(Debug, Clone, Default)]
pub(super) struct WriteCounts {
    /// Number of documents read.
    pub(super) documents: u64,
    /// Number of documents whose ids are new in the index.
    pub(super) added: u64,
    /// Number of documents of the index that were replaced by a document with the same id.
    pub(super) replaced: u64,
    /// Number of documents that the index already had with the same content.
    pub(super) unchanged: u64,
    /// Number of documents read that were replaced by a later one with the same id.
    pub(super) duplicates: u64,
    /// Problems of the documents.
    pub(super) problems: DocumentProblems,
}

impl WriteCounts {
    /// The count of a kind of change.
    fn count_of(&mut self, change: Change) -> &mut u64 {
        match change {
            Change::Added => &mut self.added,
            Change::Replaced => &mut self.replaced,
            Change::Unchanged => &mut self.unchanged,
        }
    }
}

/// The effect of a document on the index before the build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Added,
    Replaced,
    Unchanged,
}

/// Writes batches of documents to a tantivy index.
pub(super) struct DocumentWriter<'a> {
    index: &'a WritableIndex,
    layout: &'a IndexLayout,
    analysis: &'a Analysis,
    /// One preparer for each analysing thread, with its cache of words.
    preparers: Mutex<Vec<Preparer>>,
    writer: IndexWriter,
    /// The index before the build, if there was one.
    previous: Option<&'a Index>,
    /// The change by the last document with each id so far, by the hash of the id.
    changes: HashMap<u128, Change, FixedState>,
    /// Required fields that no document has so far.
    absent: Vec<String>,
    counts: WriteCounts,
}

impl<'a> DocumentWriter<'a> {
    pub(super) fn new(
        index: &'a WritableIndex,
        layout: &'a IndexLayout,
        analysis: &'a Analysis,
        previous: Option<&'a Index>,
    ) -> Result<Self, SearchError> {
        // Half of the threads for tantivy: the analysis takes about as long as tantivy's part.
        let threads = (rayon::current_num_threads() / 2).clamp(1, 8);
        let writer = index.index.writer_with_num_threads(threads, threads * MEMORY_PER_THREAD);
        Ok(Self {
            index,
            layout,
            analysis,
            preparers: Mutex::default(),
            writer: writer.map_err(|error| index.write_error(&error))?,
            previous,
            changes: HashMap::default(),
            absent: Vec::new(),
            counts: WriteCounts::default(),
        })
    }

    /// Requires that at least one document has each of these fields.
    pub(super) fn require(mut self, fields: impl IntoIterator<Item = String>) -> Self {
        self.absent = fields.into_iter().collect();
        self
    }

    /// Writes all documents and commits them: those of `first`, a batch that was already read, then
    /// `documents`. `None` if `progress` stops the build.
    pub(super) fn write(
        mut self,
        first: Vec<Document>,
        documents: &mut (impl Iterator<Item = Result<Document, SearchError>> + Send),
        progress: Progress<'_>,
    ) -> Result<Option<WriteCounts>, SearchError> {
        let mut batch =
            if first.is_empty() { read_batch(documents, BATCH_DOCUMENTS)? } else { first };
        while !batch.is_empty() {
            self.counts.documents += batch.len() as u64;
            self.absent.retain(|field| !batch.iter().any(|document| document.get(field).is_some()));
            self.keep_changes(&mut batch)?;
            let (next, added) =
                rayon::join(|| read_batch(documents, BATCH_DOCUMENTS), || self.add_batch(&batch));
            self.counts.problems.add(added?);
            batch = next?;
            if progress(self.counts.documents).is_break() {
                return Ok(None);
            }
        }
        if let Some(field) = self.absent.first().cloned() {
            return Err(SearchError::AbsentField { field, guessed: Schema::default() });
        }
        let index = self.index;
        let failed = |error| index.write_error(&error);
        self.writer.commit().map_err(failed)?;
        self.writer.wait_merging_threads().map_err(failed)?;
        Ok(Some(self.counts))
    }

    /// Keeps the documents of a batch that change the index, and counts all of them. Of several
    /// documents with one id the last one counts: earlier ones of the batch are dropped here, those
    /// of earlier batches are deleted in the index.
    fn keep_changes(&mut self, batch: &mut Vec<Document>) -> Result<(), SearchError> {
        let mut last_of_id: HashMap<&str, usize, FixedState> = HashMap::default();
        let mut keep = vec![true; batch.len()];
        for (i, document) in batch.iter().enumerate() {
            if let Some(earlier) = last_of_id.insert(&document.id, i) {
                keep[earlier] = false;
                self.counts.duplicates += 1;
            }
        }
        retain_flagged(batch, &keep);
        let changes = batch.par_iter().map(|document| self.change_of(document));
        let changes: Vec<Change> = changes.collect::<Result<_, SearchError>>()?;
        let mut keep = vec![true; batch.len()];
        for (i, (document, change)) in batch.iter().zip(changes).enumerate() {
            let key = xxhash_rust::xxh3::xxh3_128(document.id.as_bytes());
            let earlier = self.changes.insert(key, change);
            if let Some(earlier) = earlier {
                self.counts.duplicates += 1;
                *self.counts.count_of(earlier) -= 1;
            }
            *self.counts.count_of(change) += 1;
            // An unchanged document is written again if an earlier batch replaced it.
            keep[i] = change != Change::Unchanged || earlier.is_some();
            if keep[i] && (earlier.is_some() || change == Change::Replaced) {
                self.writer.delete_term(Term::from_field_text(self.layout.id, &document.id));
            }
        }
        retain_flagged(batch, &keep);
        Ok(())
    }

    /// The effect of a document on the index before the build.
    fn change_of(&self, document: &Document) -> Result<Change, SearchError> {
        let Some(previous) = self.previous else { return Ok(Change::Added) };
        Ok(match previous.has_same_document(&document.id, &source_bytes(document)?)? {
            None => Change::Added,
            Some(false) => Change::Replaced,
            Some(true) => Change::Unchanged,
        })
    }

    /// Analyses a batch on all threads, and passes it to tantivy in order.
    fn add_batch(&self, batch: &[Document]) -> Result<DocumentProblems, SearchError> {
        let chunks = batch.par_chunks(CHUNK_DOCUMENTS).map(|documents| self.prepare(documents));
        let chunks: Result<Vec<(Vec<TantivyDocument>, DocumentProblems)>, SearchError> =
            chunks.collect();
        let mut all_problems = DocumentProblems::default();
        for (documents, problems) in chunks? {
            all_problems.add(problems);
            for document in documents {
                let added = self.writer.add_document(document);
                added.map_err(|error| self.index.write_error(&error))?;
            }
        }
        Ok(all_problems)
    }

    /// Converts documents to tantivy's form with a preparer that no other thread uses.
    fn prepare(
        &self,
        documents: &[Document],
    ) -> Result<(Vec<TantivyDocument>, DocumentProblems), SearchError> {
        let free = lock(&self.preparers).pop();
        let mut preparer = free.unwrap_or_else(|| Preparer::new(self.analysis));
        let prepared = documents.iter().map(|document| preparer.prepare(self.layout, document));
        let prepared: Result<Vec<TantivyDocument>, SearchError> = prepared.collect();
        let problems = preparer.take_problems();
        lock(&self.preparers).push(preparer);
        Ok((prepared?, problems))
    }
}

/// Keeps the documents whose flag is set.
fn retain_flagged(batch: &mut Vec<Document>, keep: &[bool]) {
    let mut flags = keep.iter();
    batch.retain(|_| flags.next().copied().unwrap_or(true));
}
