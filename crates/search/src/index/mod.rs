//! The index: a wrapper around tantivy's terms, positions and columns, for scoring and features.
//!
//! `impl Index` is in a file for each concept: opening and text fields here, `columns.rs`,
//! `stored.rs` (documents and ids), `postings.rs`, `features.rs` (names of features), and
//! `update.rs` (in memory, adding, deleting).
//!
//! Documents are numbered across all segments; deleted ones are never returned and never counted,
//! so that statistics are exact. Columns, ids and statistics of terms are read on first use and
//! cached. Text is accessed by [`TextField`]: one field, or all text fields as if they were one.

mod build;
mod check;
mod columns;
mod directory;
mod document_writer;
mod encode;
mod features;
mod ids;
mod impacts;
mod labels;
mod layout;
mod meta;
mod postings;
mod prepare;
mod stored;
mod update;

pub use build::{BuildOptions, BuildReport, Existing, build_index};
pub use columns::NumberField;
pub(crate) use ids::DocumentIds;
pub(crate) use impacts::{Impact, Impacts};
pub(crate) use labels::FieldLabels;
pub(crate) use layout::Stat;
pub use postings::TermStats;
pub(crate) use postings::{PostingCursor, TermPostings, position_from};

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tantivy::store::StoreReader;
use tantivy::tokenizer::TokenizerManager;
use tantivy::{ReloadPolicy, SegmentReader};

use crate::analysis::Analysis;
use crate::error::{IndexDamage, IndexObject, SearchError};
use crate::features::FeatureDef;
use crate::retrieve::Candidate;
use crate::schema::{FieldKind, Schema};
use check::{catch_damage, check_documents, check_files};
use directory::{ReadDirectory, lock_for_reading};
use impacts::ImpactCache;
use layout::{ANALYZER, IndexLayout};
use meta::Meta;
use postings::{FieldPostings, StatsOfField};

/// The number of an opened index, unique within the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct IndexId(u64);

impl IndexId {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The location of an index: a folder or memory.
#[derive(Debug, Clone)]
enum IndexLocation {
    Folder(PathBuf),
    Memory,
}

impl IndexLocation {
    /// The folder for error messages.
    fn path(&self) -> &Path {
        match self {
            Self::Folder(path) => path,
            Self::Memory => Path::new("in memory"),
        }
    }
}

/// Maximum number of times that an index is opened again because it was rebuilt meanwhile.
const MOST_ATTEMPTS: usize = 50;

/// The files that an index consists of at a moment.
#[derive(PartialEq)]
struct IndexState {
    meta: Meta,
    /// Tantivy's list of segments.
    segments: Option<Vec<u8>>,
}

impl IndexState {
    fn read(path: &Path) -> Result<Self, SearchError> {
        let meta = Meta::read(path)?.ok_or_else(|| SearchError::NoIndex { path: path.into() })?;
        let segments = segments(path, &meta);
        Ok(Self { meta, segments })
    }
}

/// One text field of an index, or all of them together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextField(pub(crate) usize);

/// Name, fields and lengths of a text field.
struct TextFieldInfo {
    /// The name in specs: the field's, or `all`.
    name: String,
    /// The name of its columns.
    column: String,
    /// Indices of its single fields among the text fields.
    fields: Vec<usize>,
    /// Length of each document.
    lengths: Arc<Vec<f64>>,
    /// Number of terms in all documents.
    terms: u64,
    /// Smallest length of a document that has terms.
    least_length: f64,
}

struct Segment {
    reader: SegmentReader,
    /// Number of its first document.
    base: u32,
    store: Mutex<StoreReader>,
}

/// An index, open for reading.
///
/// It is a snapshot: documents that another process adds or deletes later are not seen. Threads can
/// share it.
pub struct Index {
    id: IndexId,
    location: IndexLocation,
    analysis: Analysis,
    schema: Schema,
    layout: IndexLayout,
    index: tantivy::Index,
    searcher: tantivy::Searcher,
    segments: Vec<Segment>,
    postings: Vec<FieldPostings>,
    text_fields: Vec<TextFieldInfo>,
    documents: u32,
    max_doc: u32,
    ids: OnceLock<DocumentIds>,
    columns: Mutex<HashMap<String, Arc<Vec<f64>>>>,
    labels: Mutex<HashMap<String, Arc<FieldLabels>>>,
    /// Statistics and impacts of terms, by text field.
    stats: Vec<Mutex<StatsOfField>>,
    impacts: Vec<ImpactCache>,
    /// Custom features.
    custom_features: Vec<&'static FeatureDef>,
    /// The generation of an index in a folder.
    generation: Option<OpenGeneration>,
}

/// A generation that is open for reading.
struct OpenGeneration {
    number: u64,
    /// Tantivy's list of segments when it was opened.
    segments: Option<Vec<u8>>,
    /// Keeps its files while they are read.
    _lock: Option<File>,
}

impl OpenGeneration {
    /// Whether the index still has the same segments.
    fn is_current(&self, path: &Path, meta: &Meta) -> bool {
        self.segments.is_some() && self.segments == segments(path, meta)
    }
}

/// Tantivy's list of segments.
fn segments(path: &Path, meta: &Meta) -> Option<Vec<u8>> {
    std::fs::read(meta.folder(path).join("meta.json")).ok()
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index")
            .field("location", &self.location)
            .field("documents", &self.documents)
            .finish_non_exhaustive()
    }
}

impl Index {
    /// Opens an index for reading, in its current state. Nothing is written, and other processes can
    /// build meanwhile.
    pub fn open(path: impl AsRef<Path>) -> Result<Index, SearchError> {
        let path = path.as_ref();
        let mut state = IndexState::read(path)?;
        for _ in 0..MOST_ATTEMPTS {
            let error = match Self::open_generation(path, &state.meta) {
                Err(error) => error,
                opened => return opened,
            };
            // A build may have removed files between reading their names and opening them.
            let now = IndexState::read(path)?;
            if now == state {
                return Err(error);
            }
            state = now;
        }
        Self::open_generation(path, &state.meta)
    }

    fn open_generation(path: &Path, meta: &Meta) -> Result<Index, SearchError> {
        let folder = meta.folder(path);
        let lock = lock_for_reading(&folder);
        // Read before the index is opened: a change in between is noticed later.
        let segments = segments(path, meta);
        let generation = Some(OpenGeneration { number: meta.generation, segments, _lock: lock });
        catch_damage(path, || {
            let failed = |error: tantivy::TantivyError| SearchError::tantivy(path, &error);
            let directory = ReadDirectory::open(&folder).map_err(failed)?;
            let index = tantivy::Index::open(directory).map_err(failed)?;
            check_files(path, &index)?;
            let analysis = Analysis::parse(&meta.analysis)?;
            let location = IndexLocation::Folder(path.into());
            let opened = Self::read(location, index, analysis, meta.schema.clone())?;
            Ok(Index { generation, ..opened })
        })
    }

    /// Opens tantivy's content in its current state.
    fn read(
        location: IndexLocation,
        mut index: tantivy::Index,
        analysis: Analysis,
        schema: Schema,
    ) -> Result<Index, SearchError> {
        let path = location.path();
        let failed = |error: tantivy::TantivyError| SearchError::tantivy(path, &error);
        let layout = IndexLayout::new(&schema)?;
        let tokenizers = TokenizerManager::default();
        tokenizers.register(ANALYZER, analysis.analyzer());
        index.set_tokenizers(tokenizers);
        if index.schema() != layout.schema {
            let damage = IndexDamage::Fields;
            return Err(SearchError::Damaged { path: path.into(), damage });
        }
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into();
        let searcher = reader.map_err(failed)?.searcher();
        let (mut segments, mut max_doc, mut documents) = (Vec::new(), 0, 0);
        for reader in searcher.segment_readers() {
            check_documents(path, reader)?;
            let store = reader.get_store_reader(8).map_err(|e| failed(e.into()))?;
            segments.push(Segment {
                reader: reader.clone(),
                base: max_doc,
                store: Mutex::new(store),
            });
            max_doc += reader.max_doc();
            documents += reader.num_docs();
        }
        let mut opened = Index {
            id: IndexId::new(),
            location,
            analysis,
            schema,
            layout,
            index,
            searcher,
            segments,
            postings: Vec::new(),
            text_fields: Vec::new(),
            documents,
            max_doc,
            ids: OnceLock::new(),
            columns: Mutex::default(),
            labels: Mutex::default(),
            stats: Vec::new(),
            impacts: Vec::new(),
            custom_features: Vec::new(),
            generation: None,
        };
        opened.open_text_fields()?;
        Ok(opened)
    }

    /// Opens the postings of the text fields and their lengths.
    fn open_text_fields(&mut self) -> Result<(), SearchError> {
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
            let (mut terms, mut least_length) = (0, f64::INFINITY);
            for doc in (0..self.max_doc).filter(|&doc| self.is_alive(doc)) {
                let length = lengths[doc as usize];
                terms += length as u64;
                least_length = if length > 0.0 { length.min(least_length) } else { least_length };
            }
            let info = TextFieldInfo { name, column, fields, lengths, terms, least_length };
            self.text_fields.push(info);
            self.stats.push(Mutex::default());
            self.impacts.push(ImpactCache::default());
        }
        Ok(())
    }

    /// Runs code that reads tantivy's files; a panic caused by damage becomes an error.
    pub(crate) fn catch_damage<T>(
        &self,
        work: impl FnOnce() -> Result<T, SearchError>,
    ) -> Result<T, SearchError> {
        catch_damage(self.location.path(), work)
    }

    /// Number of living documents.
    pub fn documents(&self) -> usize {
        self.documents as usize
    }

    /// Number of documents, including deleted ones: document numbers are below it.
    pub(crate) fn max_doc(&self) -> usize {
        self.max_doc as usize
    }

    /// The analysis.
    pub fn analysis(&self) -> &Analysis {
        &self.analysis
    }

    /// The fields.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The folder; `None` for an index in memory.
    pub fn path(&self) -> Option<&Path> {
        match &self.location {
            IndexLocation::Folder(path) => Some(path),
            IndexLocation::Memory => None,
        }
    }

    /// The number of this opened index.
    pub(crate) fn index_id(&self) -> IndexId {
        self.id
    }

    /// The number of a candidate's document; a candidate of another index is an error.
    pub(crate) fn doc_of(&self, candidate: &Candidate) -> Result<u32, SearchError> {
        match candidate.index == self.id {
            true => Ok(candidate.doc),
            false => Err(SearchError::OtherIndex { object: IndexObject::Document }),
        }
    }

    /// Checks that a filter belongs to this index.
    pub(crate) fn check_filter(&self, filter: IndexId) -> Result<(), SearchError> {
        match filter == self.id {
            true => Ok(()),
            false => Err(SearchError::OtherIndex { object: IndexObject::Filter }),
        }
    }

    /// An error of tantivy in this index.
    pub(crate) fn failed(&self, error: &tantivy::TantivyError) -> SearchError {
        SearchError::tantivy(self.location.path(), error)
    }

    /// The error of bytes that differ from those that were written.
    pub(crate) fn damaged(&self, damage: IndexDamage) -> SearchError {
        SearchError::Damaged { path: self.location.path().into(), damage }
    }

    pub(crate) fn searcher(&self) -> &tantivy::Searcher {
        &self.searcher
    }

    /// The indexed text fields.
    pub(crate) fn tantivy_fields(&self) -> Vec<tantivy::schema::Field> {
        self.layout.texts.iter().flat_map(|(_, slot)| slot.fields.clone()).collect()
    }

    /// The indexed field of a text field, or those of all text fields.
    pub(crate) fn text_fields_named(&self, name: Option<&str>) -> Vec<tantivy::schema::Field> {
        let texts = self.layout.texts.iter();
        let named = texts.filter(|(own, _)| name.is_none_or(|name| own == name));
        named.flat_map(|(_, slot)| slot.fields.clone()).collect()
    }

    /// Our number of a document with this tantivy address.
    pub(crate) fn number(&self, address: tantivy::DocAddress) -> u32 {
        self.segments[address.segment_ord as usize].base + address.doc_id
    }

    /// The name of a text field.
    pub(crate) fn field_name(&self, field: usize) -> &str {
        &self.text_fields[field].name
    }

    /// The id of a document of a ranking.
    pub fn id(&self, candidate: &Candidate) -> Result<&str, SearchError> {
        Ok(self.ids()?.get(self.doc_of(candidate)?))
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

    /// Every text field in order, then `all` if there are several.
    pub fn text_fields(&self) -> impl Iterator<Item = TextField> + use<> {
        (0..self.text_fields.len()).map(TextField)
    }

    /// A text field's name; the only text field of an index is `all`.
    pub fn text_field_name(&self, text_field: TextField) -> &str {
        if text_field == self.all() { layout::ALL } else { &self.text_fields[text_field.0].name }
    }

    /// Checks that this index has a text field.
    pub(crate) fn check_text_field(&self, text_field: TextField) -> Result<(), SearchError> {
        match text_field.0 < self.text_fields.len() {
            true => Ok(()),
            false => Err(SearchError::OtherIndex { object: IndexObject::TextField }),
        }
    }

    /// The error of a field that the index does not have.
    pub(crate) fn no_field(&self, name: &str, kind: FieldKind) -> SearchError {
        let schema = self.schema.clone();
        SearchError::UnknownField { name: name.into(), kind, schema }
    }

    /// Length of each document in a text field, in terms.
    pub(crate) fn lengths(&self, text_field: TextField) -> &Arc<Vec<f64>> {
        &self.text_fields[text_field.0].lengths
    }

    /// Number of terms of all documents in a text field.
    pub(crate) fn terms(&self, text_field: TextField) -> u64 {
        self.text_fields[text_field.0].terms
    }

    /// Smallest length in a text field of a document that has terms; infinite if there is none.
    pub(crate) fn least_length(&self, text_field: TextField) -> f64 {
        self.text_fields[text_field.0].least_length
    }

    /// Mean length in a text field; 1 if it is empty.
    pub(crate) fn mean_length(&self, text_field: TextField) -> f64 {
        let terms = self.terms(text_field) as f64;
        if terms == 0.0 { 1.0 } else { terms / f64::from(self.documents) }
    }

    /// The single fields of a text field: itself, or all of them.
    pub(crate) fn fields_of(&self, text_field: TextField) -> &[usize] {
        &self.text_fields[text_field.0].fields
    }

    /// Whether a document is not deleted.
    pub(crate) fn is_alive(&self, doc: u32) -> bool {
        let (segment, local) = self.locate(doc);
        !segment.reader.is_deleted(local)
    }

    /// The segment of a document, and its number in the segment.
    fn locate(&self, doc: u32) -> (&Segment, u32) {
        let at = self.segments.partition_point(|segment| segment.base <= doc);
        let segment = &self.segments[at.saturating_sub(1)];
        (segment, doc - segment.base)
    }
}

/// Locks a mutex; if its holder panicked, the cache in it is still valid.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
