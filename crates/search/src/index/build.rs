//! Building an index, and adding to one.
//!
//! Documents are read in batches; while a batch is read, the one before is analysed on all threads
//! and handed to tantivy in order. Nothing is visible before the end: a new index appears, or takes
//! the place of an old one, when `rankwright.json` names its folder; documents that are added appear
//! with tantivy's own atomic commit. Whoever is killed or runs out of disk leaves what was there.
//! A later document with an id replaces an earlier one.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;

use foldhash::fast::FixedState;
use rayon::prelude::*;
use tantivy::directory::MmapDirectory;
use tantivy::tokenizer::{TextAnalyzer, TokenizerManager};
use tantivy::{IndexWriter, TantivyDocument, Term};

use crate::analysis::Analysis;
use crate::document::Document;
use crate::error::SearchError;
use crate::index::encode::Decoder;
use crate::index::layout::{ANALYZER, Layout};
use crate::index::meta::{Meta, generation, generations, temporaries};
use crate::index::prepare::{Oddities, Preparer};
use crate::index::{check_files, guard, lock};
use crate::schema::Schema;

/// Documents whose values say what the fields are.
const SAMPLE: usize = 1000;
/// A batch ends at so many documents, or bytes of text.
const BATCH_DOCUMENTS: usize = 2048;
const BATCH_BYTES: usize = 16 << 20;
/// Memory that a thread of tantivy may fill before it writes a segment.
const MEMORY: usize = 192 << 20;

/// What to do with an index that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Existing {
    /// Refuse.
    #[default]
    Refuse,
    /// Put a new one in its place, at the end and at once.
    Replace,
    /// Add to it; documents with known ids are replaced.
    Add,
}

/// How an index is built.
#[derive(Debug, Clone, Default)]
pub struct BuildOptions {
    /// How text becomes terms; `None` is English, or what the index has.
    pub analysis: Option<Analysis>,
    /// Kinds of fields that are given; the others are guessed.
    pub schema: Schema,
    /// What to do with an index that is there already.
    pub existing: Existing,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildReport {
    /// Documents read.
    pub documents: u64,
    /// Of them, those that were replaced by a later one of the same id.
    pub duplicates: u64,
    /// What was odd.
    pub oddities: Oddities,
    /// The fields.
    pub schema: Schema,
    /// How text became terms.
    pub analysis: String,
}

/// Builds an index in a folder. `progress` is told the documents so far, and can stop the work, which
/// then leaves everything as it was and gives `None`.
///
/// ```
/// use std::ops::ControlFlow;
/// use rankwright_search::{BuildOptions, Document, Value, build_index};
///
/// let folder = tempfile::tempdir()?;
/// let documents = ["blue train", "giant steps"].map(|title| {
///     Ok(Document::new(title.replace(' ', "-")).with("title", Value::Text(title.into())))
/// });
/// let path = folder.path().join("records");
/// let report = build_index(&path, documents, &BuildOptions::default(), &mut |_| ControlFlow::Continue(()))?;
/// assert_eq!(report.unwrap().documents, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn build_index(
    path: &Path,
    documents: impl IntoIterator<Item = Result<Document, SearchError>, IntoIter: Send>,
    options: &BuildOptions,
    progress: &mut (dyn FnMut(u64) -> ControlFlow<()> + Send),
) -> Result<Option<BuildReport>, SearchError> {
    let old = match Meta::read(path) {
        // What is to be replaced need not read; that is the way out of a damaged index.
        Err(_) if options.existing == Existing::Replace && path.is_dir() => None,
        read => read?,
    };
    check_place(path, old.is_some() || Meta::is_there(path), options)?;
    let failed =
        |error: std::io::Error| SearchError::Index { path: path.into(), what: error.to_string() };
    std::fs::create_dir_all(path).map_err(failed)?;
    let _lock = lock_folder(path)?;
    remove_leftovers(path);
    let mut documents = documents.into_iter();
    match old.filter(|_| options.existing == Existing::Add) {
        Some(meta) => add(path, meta, &mut documents, options, progress),
        None => create(path, &mut documents, options, progress),
    }
}

fn check_place(path: &Path, is_index: bool, options: &BuildOptions) -> Result<(), SearchError> {
    let no_index = |what: &str, help: &str| {
        Err(SearchError::NoIndex { path: path.into(), what: what.into(), help: help.into() })
    };
    if is_index && options.existing == Existing::Refuse {
        return no_index(
            "there is an index already",
            "--add adds to it, --rebuild puts a new one in its place",
        );
    }
    if path.is_file() {
        return no_index("is a file", "an index is a folder; give another name");
    }
    let leftovers = generations(path).len() + temporaries(path).len();
    let entries = std::fs::read_dir(path).map_or(0, Iterator::count);
    if !is_index && entries > leftovers + usize::from(path.join(LOCK).exists()) {
        return no_index("a folder with other things in it", "give a new or an empty folder");
    }
    Ok(())
}

/// Removes what builds left behind that were killed; nothing where the index does not read.
fn remove_leftovers(path: &Path) {
    let Ok(meta) = Meta::read(path) else { return };
    let in_use = meta.map(|meta| meta.generation);
    for number in generations(path).into_iter().filter(|&number| Some(number) != in_use) {
        let _ = std::fs::remove_dir_all(generation(path, number));
    }
    for file in temporaries(path) {
        let _ = std::fs::remove_file(file);
    }
}

const LOCK: &str = "building.lock";

/// Held while an index is written. The system lets go of it when the process ends, however it ends.
fn lock_folder(path: &Path) -> Result<File, SearchError> {
    let file = File::options().create(true).truncate(false).write(true).open(path.join(LOCK));
    let file =
        file.map_err(|error| SearchError::Index { path: path.into(), what: error.to_string() })?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(_) => Err(SearchError::Index {
            path: path.into(),
            what: "another program is writing to it; wait until it is done".into(),
        }),
    }
}

/// A new generation, put in use at the end; old ones are removed.
fn create(
    path: &Path,
    documents: &mut (impl Iterator<Item = Result<Document, SearchError>> + Send),
    options: &BuildOptions,
    progress: &mut (dyn FnMut(u64) -> ControlFlow<()> + Send),
) -> Result<Option<BuildReport>, SearchError> {
    let analysis = options.analysis.clone().unwrap_or_default();
    let first = read_batch(documents, SAMPLE)?;
    let schema = Schema::guess(&first, &options.schema);
    let layout = Layout::new(&schema)?;
    if layout.all.is_none() {
        return Err(SearchError::request(
            "no field of the documents is text, so there is nothing to search",
            "name one: --schema body:text",
        ));
    }
    let number = generations(path).into_iter().max().map_or(1, |last| last + 1);
    let folder = generation(path, number);
    let work = || -> Result<Option<BuildReport>, SearchError> {
        let failed = |error: tantivy::TantivyError| SearchError::tantivy(path, &error);
        std::fs::create_dir(&folder)
            .map_err(|e| SearchError::Index { path: path.into(), what: e.to_string() })?;
        let directory = MmapDirectory::open(&folder).map_err(|e| failed(e.into()))?;
        let index = tantivy::Index::builder()
            .schema(layout.schema.clone())
            .tokenizers(writing_tokenizers())
            .open_or_create(directory)
            .map_err(failed)?;
        let writer = Filler::new(path, &layout, &analysis, &index, false)?;
        let Some(mut report) = writer.fill(first, documents, progress)? else { return Ok(None) };
        report.schema = schema.clone();
        report.analysis = analysis.to_string();
        Meta::new(number, analysis.to_string(), schema.clone()).write(path)?;
        Ok(Some(report))
    };
    let result = work();
    let keep = matches!(result, Ok(Some(_)));
    // Whatever is not in use goes: the old generation, or what was begun in vain.
    let in_use = Meta::read(path).ok().flatten().map(|meta| meta.generation);
    for old in generations(path).into_iter().filter(|&n| Some(n) != in_use && (keep || n == number))
    {
        let _ = std::fs::remove_dir_all(generation(path, old));
    }
    result
}

/// Documents into the generation in use, by tantivy's own commit.
fn add(
    path: &Path,
    meta: Meta,
    documents: &mut (impl Iterator<Item = Result<Document, SearchError>> + Send),
    options: &BuildOptions,
    progress: &mut (dyn FnMut(u64) -> ControlFlow<()> + Send),
) -> Result<Option<BuildReport>, SearchError> {
    let analysis = Analysis::parse(&meta.analysis)?;
    let differs = options.analysis.as_ref().is_some_and(|given| *given != analysis);
    let changed = options.schema.fields.iter().find(|f| meta.schema.kind(&f.name) != Some(f.kind));
    if differs || changed.is_some() {
        return Err(SearchError::request(
            format!("the index was built with analysis {analysis} and schema {}", meta.schema),
            "leave --analysis and --schema out, or build anew with --rebuild",
        ));
    }
    let layout = Layout::new(&meta.schema)?;
    // Damage is found now, not by a thread that merges segments.
    let mut index = guard(path, || {
        let index = tantivy::Index::open_in_dir(meta.folder(path))
            .map_err(|error| SearchError::tantivy(path, &error))?;
        check_files(path, &index)?;
        Ok(index)
    })?;
    index.set_tokenizers(writing_tokenizers());
    let writer = Filler::new(path, &layout, &analysis, &index, true)?;
    let Some(mut report) = writer.fill(Vec::new(), documents, progress)? else { return Ok(None) };
    report.schema = meta.schema;
    report.analysis = meta.analysis;
    Ok(Some(report))
}

fn writing_tokenizers() -> TokenizerManager {
    let tokenizers = TokenizerManager::default();
    tokenizers.register(ANALYZER, TextAnalyzer::builder(Decoder::default()).build());
    tokenizers
}

fn read_batch(
    documents: &mut impl Iterator<Item = Result<Document, SearchError>>,
    most: usize,
) -> Result<Vec<Document>, SearchError> {
    let (mut batch, mut bytes) = (Vec::new(), 0);
    while batch.len() < most && bytes < BATCH_BYTES {
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

/// Fills a tantivy index with batches.
struct Filler<'a> {
    path: &'a Path,
    layout: &'a Layout,
    analysis: &'a Analysis,
    /// One for each thread that analyses, with the words it remembers.
    preparers: Mutex<Vec<Preparer>>,
    writer: IndexWriter,
    /// Documents may have been there before us.
    adding: bool,
    /// Hashes of the ids so far.
    seen: HashSet<u128, FixedState>,
}

impl<'a> Filler<'a> {
    fn new(
        path: &'a Path,
        layout: &'a Layout,
        analysis: &'a Analysis,
        index: &tantivy::Index,
        adding: bool,
    ) -> Result<Self, SearchError> {
        // Analysis takes about as long as tantivy's part.
        let threads = (rayon::current_num_threads() / 2).clamp(1, 8);
        let writer = index.writer_with_num_threads(threads, threads * MEMORY);
        let writer = writer.map_err(|error| SearchError::tantivy(path, &error))?;
        let (preparers, seen) = (Mutex::default(), HashSet::default());
        Ok(Self { path, layout, analysis, preparers, writer, adding, seen })
    }

    fn fill(
        mut self,
        first: Vec<Document>,
        documents: &mut (impl Iterator<Item = Result<Document, SearchError>> + Send),
        progress: &mut (dyn FnMut(u64) -> ControlFlow<()> + Send),
    ) -> Result<Option<BuildReport>, SearchError> {
        let (schema, analysis) = (Schema::default(), String::new());
        let oddities = Oddities::default();
        let mut report = BuildReport { documents: 0, duplicates: 0, oddities, schema, analysis };
        let mut batch =
            if first.is_empty() { read_batch(documents, BATCH_DOCUMENTS)? } else { first };
        while !batch.is_empty() {
            report.documents += batch.len() as u64;
            report.duplicates += self.drop_duplicates(&mut batch);
            let (next, added) =
                rayon::join(|| read_batch(documents, BATCH_DOCUMENTS), || self.add_batch(&batch));
            report.oddities.add(added?);
            batch = next?;
            if progress(report.documents).is_break() {
                return Ok(None);
            }
        }
        let failed = |error| SearchError::tantivy(self.path, &error);
        self.writer.commit().map_err(failed)?;
        self.writer.wait_merging_threads().map_err(failed)?;
        Ok(Some(report))
    }

    /// Keeps the last document of an id: earlier ones of the batch are dropped here, those of batches
    /// before are deleted in the index.
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
            if known || self.adding {
                self.writer.delete_term(Term::from_field_text(self.layout.id, &document.id));
            }
        }
        dropped
    }

    fn add_batch(&self, batch: &[Document]) -> Result<Oddities, SearchError> {
        let parts = batch.par_chunks(64).map(|documents| self.prepare(documents));
        let parts: Result<Vec<(Vec<TantivyDocument>, Oddities)>, SearchError> = parts.collect();
        let mut oddities = Oddities::default();
        for (documents, odd) in parts? {
            oddities.add(odd);
            for document in documents {
                let added = self.writer.add_document(document);
                added.map_err(|error| SearchError::tantivy(self.path, &error))?;
            }
        }
        Ok(oddities)
    }

    fn prepare(
        &self,
        documents: &[Document],
    ) -> Result<(Vec<TantivyDocument>, Oddities), SearchError> {
        let waiting = lock(&self.preparers).pop();
        let mut preparer = waiting.unwrap_or_else(|| Preparer::new(self.analysis));
        let prepared = documents.iter().map(|document| preparer.prepare(self.layout, document));
        let prepared: Result<Vec<TantivyDocument>, SearchError> = prepared.collect();
        let oddities = preparer.take_oddities();
        lock(&self.preparers).push(preparer);
        Ok((prepared?, oddities))
    }
}
