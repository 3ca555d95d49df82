//! The index: tantivy's terms, positions and columns, behind what scoring and features ask for.
//!
//! Documents are numbered through all segments; deleted ones never come out and never count, so that
//! statistics are exact. Columns, ids and statistics of terms are read on first use and kept. Text is
//! looked at by [`TextField`]: one field, or all text fields as if they were one.

mod build;
mod encode;
mod ids;
mod labels;
mod layout;
mod meta;
mod postings;
mod prepare;

pub use build::{BuildOptions, BuildReport, Existing, build_index};
pub(crate) use labels::Labels;
pub(crate) use layout::{Stat, URL_STATS, url_column};
pub(crate) use postings::{TermHits, TermStats};
pub use prepare::Oddities;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rankwright_data::{Strings, catch_panic};
use rayon::prelude::*;
use tantivy::columnar::Column;
use tantivy::schema::Value as _;
use tantivy::store::StoreReader;
use tantivy::tokenizer::TokenizerManager;
use tantivy::{DateTime, Directory as _, ReloadPolicy, SegmentReader, TantivyDocument};

use crate::analysis::Analysis;
use crate::document::Document;
use crate::error::SearchError;
use crate::retrieve::Candidate;
use crate::schema::{FieldKind, Schema, texts_of};
use ids::Ids;
use layout::{ANALYZER, ID, Layout};
use meta::Meta;
use postings::FieldPostings;

/// One text field of an index, or all of them together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TextField(pub(crate) usize);

/// What is known of a text field.
struct TextFieldInfo {
    /// The name in specs: the field's, or `all`.
    name: String,
    /// The name of its columns.
    column: String,
    /// Places of its fields among the text fields.
    fields: Vec<usize>,
    /// Length of each document.
    lengths: Arc<Vec<f64>>,
    /// Terms in all documents.
    terms: u64,
}

struct Segment {
    reader: SegmentReader,
    /// Number of its first document.
    base: u32,
    store: Mutex<StoreReader>,
}

/// An index, open for reading.
pub struct Index {
    path: PathBuf,
    analysis: Analysis,
    schema: Schema,
    layout: Layout,
    index: tantivy::Index,
    searcher: tantivy::Searcher,
    segments: Vec<Segment>,
    postings: Vec<FieldPostings>,
    text_fields: Vec<TextFieldInfo>,
    documents: u32,
    slots: u32,
    ids: OnceLock<Ids>,
    columns: Mutex<HashMap<String, Arc<Vec<f64>>>>,
    labels: Mutex<HashMap<String, Arc<Labels>>>,
    stats: Mutex<HashMap<(TextField, String), TermStats>>,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index")
            .field("path", &self.path)
            .field("documents", &self.documents)
            .finish()
    }
}

impl Index {
    /// Opens an index for reading, as it is now.
    pub fn open(path: &Path) -> Result<Index, SearchError> {
        let meta = Meta::read(path)?.ok_or_else(|| SearchError::NoIndex {
            path: path.into(),
            what: "there is no index".into(),
            help: "build one: rankwright index DOCS --out INDEX".into(),
        })?;
        guard(path, || Self::open_generation(path, meta))
    }

    fn open_generation(path: &Path, meta: Meta) -> Result<Index, SearchError> {
        let failed = |error: tantivy::TantivyError| SearchError::tantivy(path, &error);
        let layout = Layout::new(&meta.schema)?;
        let analysis = Analysis::parse(&meta.analysis)?;
        let mut index = tantivy::Index::open_in_dir(meta.folder(path)).map_err(failed)?;
        let tokenizers = TokenizerManager::default();
        tokenizers.register(ANALYZER, analysis.analyzer());
        index.set_tokenizers(tokenizers);
        if index.schema() != layout.schema {
            let what = "its fields are not those that rankwright.json names".into();
            return Err(SearchError::Damaged { path: path.into(), what });
        }
        check_files(path, &index)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into();
        let searcher = reader.map_err(failed)?.searcher();
        let (mut segments, mut slots, mut documents) = (Vec::new(), 0, 0);
        for reader in searcher.segment_readers() {
            check_documents(path, reader)?;
            let store = reader.get_store_reader(8).map_err(|e| failed(e.into()))?;
            segments.push(Segment {
                reader: reader.clone(),
                base: slots,
                store: Mutex::new(store),
            });
            slots += reader.max_doc();
            documents += reader.num_docs();
        }
        let mut opened = Index {
            path: path.into(),
            analysis,
            schema: meta.schema,
            layout,
            index,
            searcher,
            segments,
            postings: Vec::new(),
            text_fields: Vec::new(),
            documents,
            slots,
            ids: OnceLock::new(),
            columns: Mutex::default(),
            labels: Mutex::default(),
            stats: Mutex::default(),
        };
        opened.open_texts()?;
        Ok(opened)
    }

    /// Opens the postings of the text fields and their lengths.
    fn open_texts(&mut self) -> Result<(), SearchError> {
        for (_, slot) in &self.layout.texts {
            for &field in &slot.fields {
                self.postings.push(FieldPostings::open(self, field)?);
            }
        }
        let several = self.layout.texts.len() > 1;
        let fields = self.layout.texts.iter().enumerate();
        let mut text_fields: Vec<(String, String, Vec<usize>)> =
            fields.map(|(i, (name, slot))| (name.clone(), slot.name.clone(), vec![i])).collect();
        if let Some(all) = self.layout.all.as_ref().filter(|_| several) {
            let fields = (0..self.layout.texts.len()).collect();
            text_fields.push((layout::ALL.into(), all.name.clone(), fields));
        }
        for (name, column, fields) in text_fields {
            let lengths = self.column(&Stat::Length.column(&column))?;
            let alive = (0..self.slots).filter(|&doc| self.is_alive(doc));
            let terms = alive.map(|doc| lengths[doc as usize] as u64).sum();
            self.text_fields.push(TextFieldInfo { name, column, fields, lengths, terms });
        }
        Ok(())
    }

    /// Runs work that reads tantivy's files; damage that makes it panic is an error.
    pub(crate) fn guard<T>(
        &self,
        work: impl FnOnce() -> Result<T, SearchError>,
    ) -> Result<T, SearchError> {
        guard(&self.path, work)
    }

    /// Living documents.
    pub fn documents(&self) -> usize {
        self.documents as usize
    }

    /// Places for documents, deleted ones included.
    pub(crate) fn slots(&self) -> usize {
        self.slots as usize
    }

    /// How text becomes terms.
    pub fn analysis(&self) -> &Analysis {
        &self.analysis
    }

    /// The fields.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn tantivy(&self) -> &tantivy::Index {
        &self.index
    }

    pub(crate) fn searcher(&self) -> &tantivy::Searcher {
        &self.searcher
    }

    /// The indexed text fields.
    pub(crate) fn tantivy_fields(&self) -> Vec<tantivy::schema::Field> {
        self.layout.texts.iter().flat_map(|(_, slot)| slot.fields.clone()).collect()
    }

    /// The number of a document of tantivy's.
    pub(crate) fn number(&self, address: tantivy::DocAddress) -> u32 {
        let segment = self.segments.get(address.segment_ord as usize);
        segment.map_or(u32::MAX, |segment| segment.base + address.doc_id)
    }

    /// The name of a text field.
    pub(crate) fn field_name(&self, field: usize) -> &str {
        &self.text_fields[field].name
    }

    /// The id of a document of a ranking.
    pub fn id(&self, ranked: &Candidate) -> Result<&str, SearchError> {
        Ok(self.ids()?.get(ranked.doc))
    }

    /// All text fields together.
    pub fn all(&self) -> TextField {
        TextField(self.text_fields.len().saturating_sub(1))
    }

    /// A text field by its name; `all` is all of them together.
    pub fn text_field(&self, name: &str) -> Result<TextField, SearchError> {
        if name == layout::ALL {
            return Ok(self.all());
        }
        let found = self.text_fields.iter().position(|text_field| text_field.name == name);
        found.map(TextField).ok_or_else(|| self.no_field(name, FieldKind::Text))
    }

    /// Every text field in order, then `all` where there are several.
    pub fn text_fields(&self) -> impl Iterator<Item = TextField> + use<> {
        (0..self.text_fields.len()).map(TextField)
    }

    /// A text field's name; the only text field of an index is `all`.
    pub fn text_field_name(&self, text_field: TextField) -> &str {
        if text_field == self.all() { layout::ALL } else { &self.text_fields[text_field.0].name }
    }

    pub(crate) fn no_field(&self, name: &str, kind: FieldKind) -> SearchError {
        let known = self.schema.to_string();
        SearchError::Field { name: name.into(), wanted: kind.name(), known }
    }

    /// Length of each document in a text field, in terms.
    pub(crate) fn lengths(&self, text_field: TextField) -> &Arc<Vec<f64>> {
        &self.text_fields[text_field.0].lengths
    }

    /// Terms of all documents in a text field.
    pub(crate) fn terms(&self, text_field: TextField) -> u64 {
        self.text_fields[text_field.0].terms
    }

    /// Mean length in a text field; 1 where there is nothing.
    pub(crate) fn mean_length(&self, text_field: TextField) -> f64 {
        let terms = self.terms(text_field) as f64;
        if terms == 0.0 { 1.0 } else { terms / f64::from(self.documents) }
    }

    /// The single fields of a text field: itself, or all of them.
    pub(crate) fn fields_of(&self, text_field: TextField) -> &[usize] {
        &self.text_fields[text_field.0].fields
    }

    /// A statistic of each document in a text field.
    pub(crate) fn stat(
        &self,
        text_field: TextField,
        stat: Stat,
    ) -> Result<Arc<Vec<f64>>, SearchError> {
        self.column(&stat.column(&self.text_fields[text_field.0].column))
    }

    /// The column of a number or date field (seconds), by the name that documents use.
    pub(crate) fn values(&self, name: &str, kind: FieldKind) -> Result<Arc<Vec<f64>>, SearchError> {
        let slot = self.layout.other(name, kind).ok_or_else(|| self.no_field(name, kind))?;
        self.column(&slot.name)
    }

    /// A part of the addresses in a field.
    pub(crate) fn url_values(&self, name: &str, stat: &str) -> Result<Arc<Vec<f64>>, SearchError> {
        let slot = self.layout.other(name, FieldKind::Url);
        let slot = slot.ok_or_else(|| self.no_field(name, FieldKind::Url))?;
        self.column(&url_column(stat, &slot.name))
    }

    /// A column of numbers over all documents; absent values are NaN.
    fn column(&self, name: &str) -> Result<Arc<Vec<f64>>, SearchError> {
        let kept = |columns: &HashMap<String, Arc<Vec<f64>>>| columns.get(name).cloned();
        if let Some(column) = kept(&lock(&self.columns)) {
            return Ok(column);
        }
        let mut values = vec![f64::NAN; self.slots()];
        self.guard(|| {
            for segment in &self.segments {
                let range =
                    segment.base as usize..(segment.base + segment.reader.max_doc()) as usize;
                let values = values.get_mut(range).unwrap_or_default();
                self.fill_column(segment, name, values)?;
            }
            Ok(())
        })?;
        let column = Arc::new(values);
        lock(&self.columns).insert(name.to_owned(), column.clone());
        Ok(column)
    }

    fn fill_column(
        &self,
        segment: &Segment,
        name: &str,
        values: &mut [f64],
    ) -> Result<(), SearchError> {
        let fast = segment.reader.fast_fields();
        let failed = |error: tantivy::TantivyError| SearchError::tantivy(&self.path, &error);
        if let Some(column) = fast.column_opt::<f64>(name).map_err(failed)? {
            copy(&column, values, |value| value);
        } else if let Some(column) = fast.column_opt::<u64>(name).map_err(failed)? {
            copy(&column, values, |value| value as f64);
        } else if let Some(column) = fast.column_opt::<DateTime>(name).map_err(failed)? {
            copy(&column, values, |value| value.into_timestamp_secs() as f64);
        }
        Ok(())
    }

    /// The labels (or links) of each document in a field.
    pub(crate) fn labels(&self, name: &str, kind: FieldKind) -> Result<Arc<Labels>, SearchError> {
        let slot = self.layout.other(name, kind).ok_or_else(|| self.no_field(name, kind))?;
        if let Some(labels) = lock(&self.labels).get(&slot.name) {
            return Ok(labels.clone());
        }
        let labels = Arc::new(self.guard(|| Labels::read(self, &slot.name))?);
        lock(&self.labels).insert(slot.name.clone(), labels.clone());
        Ok(labels)
    }

    /// Whether a document still counts.
    pub(crate) fn is_alive(&self, doc: u32) -> bool {
        let (segment, local) = self.locate(doc);
        !segment.reader.is_deleted(local)
    }

    /// The segment of a document, and its number there.
    fn locate(&self, doc: u32) -> (&Segment, u32) {
        let at = self.segments.partition_point(|segment| segment.base <= doc);
        let segment = &self.segments[at.saturating_sub(1)];
        (segment, doc - segment.base)
    }

    /// The ids of all documents.
    pub(crate) fn ids(&self) -> Result<&Ids, SearchError> {
        if let Some(ids) = self.ids.get() {
            return Ok(ids);
        }
        let labels = self.guard(|| Labels::read(self, ID))?;
        let mut texts = Strings::default();
        for doc in 0..self.slots {
            let id = labels.of(doc).first().map_or("", |&label| labels.name(label));
            texts.push(id);
        }
        let ids = Ids::new(texts, |doc| self.is_alive(doc));
        if let Some(id) = ids.repeated() {
            let what = format!("two documents have the id {id}");
            return Err(SearchError::Damaged { path: self.path.clone(), what });
        }
        Ok(self.ids.get_or_init(|| ids))
    }

    /// The document of an id, as it came in; `None` where there is none.
    pub fn document(&self, id: &str) -> Result<Option<Document>, SearchError> {
        let doc = self.ids()?.find(id);
        doc.map(|doc| self.source(doc)).transpose()
    }

    /// The document of an id as an entry of a ranking, with score 0; `None` where there is none.
    pub fn ranked(&self, id: &str) -> Result<Option<Candidate>, SearchError> {
        Ok(self.ids()?.find(id).map(|doc| Candidate { doc, score: 0.0 }))
    }

    /// The terms of all text of a document, field after field.
    pub(crate) fn words_of(&self, doc: u32) -> Result<Vec<String>, SearchError> {
        let document = self.source(doc)?;
        let mut words = Vec::new();
        for name in self.schema.of_kind(FieldKind::Text) {
            for text in document.get(name).map(texts_of).unwrap_or_default() {
                words.extend(self.analysis.terms(&text));
            }
        }
        Ok(words)
    }

    /// A document as it came in.
    pub(crate) fn source(&self, doc: u32) -> Result<Document, SearchError> {
        self.guard(|| {
            let (segment, local) = self.locate(doc);
            let stored: TantivyDocument = lock(&segment.store)
                .get(local)
                .map_err(|error| SearchError::tantivy(&self.path, &error))?;
            let bytes = stored.get_first(self.layout.source).and_then(|value| value.as_bytes());
            let document = bytes.and_then(|bytes| serde_json::from_slice(bytes).ok());
            document.ok_or_else(|| SearchError::Damaged {
                path: self.path.clone(),
                what: format!("document {doc} does not read"),
            })
        })
    }
}

fn copy<T: Copy + PartialOrd + std::fmt::Debug + Send + Sync + 'static>(
    column: &Column<T>,
    values: &mut [f64],
    number: impl Fn(T) -> f64,
) {
    for (doc, slot) in (0..).zip(values) {
        if let Some(value) = column.first(doc) {
            *slot = number(value);
        }
    }
}

fn guard<T>(path: &Path, work: impl FnOnce() -> Result<T, SearchError>) -> Result<T, SearchError> {
    match catch_panic(work) {
        Ok(result) => result,
        Err(what) => Err(SearchError::Damaged { path: path.into(), what }),
    }
}

/// Compares the files in use with the checksums at their ends. Bytes that changed on the disk would
/// else be read as other numbers, or as lengths that no memory holds. Cost: one reading of the files.
fn check_files(path: &Path, index: &tantivy::Index) -> Result<(), SearchError> {
    let failed = |error: tantivy::TantivyError| SearchError::tantivy(path, &error);
    let list = index.load_metas().map_err(failed)?;
    let mut files: Vec<PathBuf> = list.list_segment_files().into_iter().collect();
    files.sort_unstable();
    let directory = index.directory();
    let check = |file: &PathBuf| -> Result<(), SearchError> {
        // The list has files that a segment need not have; one that it needs is missed later.
        if !directory.exists(file).map_err(|error| failed(error.into()))?
            || directory.validate_checksum(file).map_err(|error| failed(error.into()))?
        {
            return Ok(());
        }
        let what = format!("{} is not as it was written", file.display());
        Err(SearchError::Damaged { path: path.into(), what })
    };
    let checked: Vec<Result<(), SearchError>> = files.par_iter().map(check).collect();
    checked.into_iter().collect()
}

/// Compares the number of documents that tantivy's list tells with those that have an id.
fn check_documents(path: &Path, reader: &SegmentReader) -> Result<(), SearchError> {
    let failed = |error: tantivy::TantivyError| SearchError::tantivy(path, &error);
    let ids = reader.fast_fields().str(ID).map_err(failed)?;
    let found = ids.map_or(0, |ids| ids.ords().num_docs());
    if found == reader.max_doc() {
        return Ok(());
    }
    let what = format!("a segment of {} documents has {found} ids", reader.max_doc());
    Err(SearchError::Damaged { path: path.into(), what })
}

/// The content of a mutex; one whose holder panicked holds a cache that is still whole.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
