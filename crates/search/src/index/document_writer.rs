//! Adds documents to a tantivy index, in batches.
//!
//! While a batch is read, the previous one is analysed on all threads and passed to tantivy in
//! order. A later document with an id replaces an earlier one.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Mutex;

use foldhash::fast::FixedState;
use rayon::prelude::*;
use tantivy::tokenizer::{TextAnalyzer, TokenizerManager};
use tantivy::{IndexWriter, TantivyDocument, Term};

use super::directory::WritableIndex;
use super::encode::Decoder;
use super::layout::{ANALYZER, IndexLayout};
use super::lock;
use super::prepare::{DocumentProblems, Preparer};
use crate::analysis::Analysis;
use crate::document::Document;
use crate::error::SearchError;

/// Largest number of documents, and of bytes of text, in a batch.
const BATCH_DOCUMENTS: usize = 2048;
const BATCH_BYTES: usize = 16 << 20;
/// Memory that a thread of tantivy may use before it writes a segment.
const MEMORY_PER_THREAD: usize = 192 << 20;

/// Receives the number of documents so far, and returns whether to continue.
pub(super) type Progress<'a> = &'a mut (dyn FnMut(u64) -> ControlFlow<()> + Send);

/// Tokenizers for terms that are already analysed.
pub(super) fn writing_tokenizers() -> TokenizerManager {
    let tokenizers = TokenizerManager::default();
    tokenizers.register(ANALYZER, TextAnalyzer::builder(Decoder::default()).build());
    tokenizers
}

/// Reads the next batch of documents.
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
    /// Number of documents that were replaced by a later one of the same id.
    pub(super) duplicates: u64,
    /// Problems of the documents.
    pub(super) problems: DocumentProblems,
}

/// Writes batches of documents to a tantivy index.
pub(super) struct DocumentWriter<'a> {
    index: &'a WritableIndex,
    layout: &'a IndexLayout,
    analysis: &'a Analysis,
    /// One preparer for each analysing thread, with its cache of words.
    preparers: Mutex<Vec<Preparer>>,
    writer: IndexWriter,
    /// Whether the index already had documents.
    has_documents: bool,
    /// Hashes of the ids so far.
    seen: HashSet<u128, FixedState>,
}

impl<'a> DocumentWriter<'a> {
    pub(super) fn new(
        index: &'a WritableIndex,
        layout: &'a IndexLayout,
        analysis: &'a Analysis,
        has_documents: bool,
    ) -> Result<Self, SearchError> {
        // Half of the threads: analysis takes about as long as tantivy's part.
        let threads = (rayon::current_num_threads() / 2).clamp(1, 8);
        let writer = index.index.writer_with_num_threads(threads, threads * MEMORY_PER_THREAD);
        let writer = writer.map_err(|error| index.failed(&error))?;
        let (preparers, seen) = (Mutex::default(), HashSet::default());
        Ok(Self { index, layout, analysis, preparers, writer, has_documents, seen })
    }

    pub(super) fn write(
        mut self,
        first: Vec<Document>,
        documents: &mut (impl Iterator<Item = Result<Document, SearchError>> + Send),
        progress: Progress<'_>,
    ) -> Result<Option<WriteCounts>, SearchError> {
        let mut counts = WriteCounts::default();
        let mut batch =
            if first.is_empty() { read_batch(documents, BATCH_DOCUMENTS)? } else { first };
        while !batch.is_empty() {
            counts.documents += batch.len() as u64;
            counts.duplicates += self.drop_duplicates(&mut batch);
            let (next, added) =
                rayon::join(|| read_batch(documents, BATCH_DOCUMENTS), || self.add_batch(&batch));
            counts.problems.add(added?);
            batch = next?;
            if progress(counts.documents).is_break() {
                return Ok(None);
            }
        }
        let index = self.index;
        let failed = |error| index.failed(&error);
        self.writer.commit().map_err(failed)?;
        self.writer.wait_merging_threads().map_err(failed)?;
        Ok(Some(counts))
    }

    /// Keeps the last document of an id: earlier ones of the batch are dropped here, those of
    /// earlier batches are deleted in the index.
    fn drop_duplicates(&mut self, batch: &mut Vec<Document>) -> u64 {
        let mut dropped = 0;
        let mut keep: Vec<bool> = Vec::with_capacity(batch.len());
        let mut last: HashMap<&str, usize, FixedState> = HashMap::default();
        for (at, document) in batch.iter().enumerate() {
            keep.push(true);
            if let Some(before) = last.insert(&document.id, at) {
                keep[before] = false;
                dropped += 1;
            }
        }
        let mut at = 0;
        batch.retain(|_| {
            at += 1;
            keep[at - 1]
        });
        for document in batch.iter() {
            let key = xxhash_rust::xxh3::xxh3_128(document.id.as_bytes());
            let known = !self.seen.insert(key);
            dropped += u64::from(known);
            if known || self.has_documents {
                self.writer.delete_term(Term::from_field_text(self.layout.id, &document.id));
            }
        }
        dropped
    }

    fn add_batch(&self, batch: &[Document]) -> Result<DocumentProblems, SearchError> {
        let parts = batch.par_chunks(64).map(|documents| self.prepare(documents));
        let parts: Result<Vec<(Vec<TantivyDocument>, DocumentProblems)>, SearchError> =
            parts.collect();
        let mut counts = DocumentProblems::default();
        for (documents, problems) in parts? {
            counts.add(problems);
            for document in documents {
                let added = self.writer.add_document(document);
                added.map_err(|error| self.index.failed(&error))?;
            }
        }
        Ok(counts)
    }

    fn prepare(
        &self,
        documents: &[Document],
    ) -> Result<(Vec<TantivyDocument>, DocumentProblems), SearchError> {
        let free = lock(&self.preparers).pop();
        let mut preparer = free.unwrap_or_else(|| Preparer::new(self.analysis));
        let prepared = documents.iter().map(|document| preparer.prepare(self.layout, document));
        let prepared: Result<Vec<TantivyDocument>, SearchError> = prepared.collect();
        let counts = preparer.take_counts();
        lock(&self.preparers).push(preparer);
        Ok((prepared?, counts))
    }
}
