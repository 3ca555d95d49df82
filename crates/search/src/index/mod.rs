//! The index: a wrapper around tantivy's terms, positions and columns, for scoring and features.
//!
//! `impl Index` is divided into files by concept: opening and text fields here, `columns.rs`,
//! `stored.rs` (documents and ids), `postings.rs`, `features.rs` (names of features), and
//! `update.rs` (in memory, adding, deleting).
//!
//! Documents are numbered across all segments, from 0 in the order of the segments. Deleted
//! documents keep their numbers, but are never returned and never counted, so that statistics are
//! exact. Columns, ids and statistics of terms are read on first use and cached. Text is accessed
//! by [`TextField`]: one field, or all text fields as if they were one.

mod build;
mod check;
mod columns;
mod directory;
mod document_writer;
mod encode;
mod features;
mod field_values;
mod ids;
mod impacts;
mod layout;
mod meta;
mod postings;
mod prepare;
mod stored;
mod update;

pub use build::{BuildOptions, BuildReport, Existing, build_index};
pub use columns::NumberField;
pub(crate) use field_values::FieldValues;
pub(crate) use ids::DocumentIds;
pub(crate) use impacts::{FIRST_SHARED_TF, Impact, Impacts};
pub(crate) use layout::Stat;
pub use postings::TermStats;
pub(crate) use postings::{PostingCursor, TermPostings, first_not_before};

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rankwright_data::bytes::read_whole;
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
use postings::{FieldPostings, StatsByTerm};

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
    /// The folder, or `in memory`, for error messages.
    fn path(&self) -> &Path {
        match self {
            Self::Folder(path) => path,
            Self::Memory => Path::new("in memory"),
        }
    }
}

/// Maximum number of attempts to open an index that other processes change meanwhile; large enough
/// for any real number of builds, and not endless.
const MAX_ATTEMPTS: usize = 50;

/// The state of the files of an index; it changes with every build, addition and deletion.
#[derive(PartialEq)]
struct IndexState {
    meta: Meta,
    /// The bytes of tantivy's list of segments.
    segments: Option<Vec<u8>>,
}

impl IndexState {
    fn read(path: &Path) -> Result<Self, SearchError> {
        let meta = Meta::read(path)?.ok_or_else(|| SearchError::NoIndex { path: path.into() })?;
        let segments = segment_list(path, &meta);
        Ok(Self { meta, segments })
    }
}

/// One text field of an index, or all of them together ([`Index::all_text`]); an index into
/// [`Index::text_fields`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextField(pub(crate) usize);

/// Name, fields and lengths of a [`TextField`].
struct TextFieldInfo {
    /// The name in specs: that of the field, or `all`.
    name: String,
    /// The name in tantivy, from which [`Stat::column`] forms the names of its columns.
    column: String,
    /// Its fields, as indices into the text fields of the schema: one, or all of them.
    fields: Vec<usize>,
    /// Length of each document in terms, by document number.
    lengths: Arc<Vec<f64>>,
    /// Sum of the lengths of all documents.
    terms: u64,
    /// Smallest length of a document that has terms; infinite if no document has terms.
    min_length: f64,
}

/// A segment of the tantivy index.
struct Segment {
    reader: SegmentReader,
    /// Number of its first document in the index.
    base: u32,
    /// The stored documents.
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
    /// The postings of each text field of the schema.
    postings: Vec<FieldPostings>,
    /// The fields that a [`TextField`] can name: each text field of the schema, then all of them
    /// together if there are several.
    text_fields: Vec<TextFieldInfo>,
    /// Number of documents that are not deleted.
    documents: u32,
    /// Number of documents, including deleted ones.
    max_doc: u32,
    ids: OnceLock<DocumentIds>,
    /// Columns of numbers that were read, by name.
    columns: Mutex<HashMap<String, Arc<Vec<f64>>>>,
    /// Columns of texts that were read, by name.
    field_values: Mutex<HashMap<String, Arc<FieldValues>>>,
    /// Cached statistics of terms, by [`TextField`].
    stats: Vec<Mutex<StatsByTerm>>,
    /// Cached impacts of terms, by [`TextField`].
    impacts: Vec<ImpactCache>,
    custom_features: Vec<&'static FeatureDef>,
    /// The generation that is open; `None` for an index in memory.
    generation: Option<OpenGeneration>,
}

/// A generation (see `meta.rs`) that is open for reading.
struct OpenGeneration {
    number: u64,
    /// Tantivy's list of segments when the generation was opened.
    segments: Option<Vec<u8>>,
    /// Prevents builds from removing the generation while it is read.
    _lock: Option<File>,
}

impl OpenGeneration {
    /// Whether the segments are still those that were opened.
    fn is_current(&self, path: &Path, meta: &Meta) -> bool {
        self.segments.is_some() && self.segments == segment_list(path, meta)
    }
}

/// The bytes of tantivy's list of segments.
fn segment_list(path: &Path, meta: &Meta) -> Option<Vec<u8>> {
    let file = meta.folder(path).join("meta.json");
    read_whole(&file.display().to_string(), File::open(&file).ok()?).ok()
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
    /// Opens an index for reading, in its current state. Nothing is written, and other processes
    /// can build meanwhile.
    pub fn open(path: impl AsRef<Path>) -> Result<Index, SearchError> {
        let path = path.as_ref();
        let mut state = IndexState::read(path)?;
        for _ in 0..MAX_ATTEMPTS {
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

    /// Opens the generation that `meta` names.
    fn open_generation(path: &Path, meta: &Meta) -> Result<Index, SearchError> {
        let folder = meta.folder(path);
        let lock = lock_for_reading(&folder);
        // Read before the index is opened: a change in between makes `is_current` false.
        let segments = segment_list(path, meta);
        let generation = Some(OpenGeneration { number: meta.generation, segments, _lock: lock });
        catch_damage(path, || {
            let failed = |error: tantivy::TantivyError| SearchError::tantivy(path, &error);
            let directory = ReadDirectory::open(&folder).map_err(failed)?;
            let index = tantivy::Index::open(directory).map_err(failed)?;
            check_files(path, &index)?;
            let analysis = meta.analysis()?;
            let location = IndexLocation::Folder(path.into());
            let opened = Self::read(location, index, analysis, meta.schema.clone())?;
            Ok(Index { generation, ..opened })
        })
    }

    /// Opens a tantivy index in its current state.
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
            // 8: number of blocks of stored documents that the reader caches.
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
            field_values: Mutex::default(),
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
        for (_, text) in &self.layout.texts {
            for &field in &text.fields {
                self.postings.push(FieldPostings::open(self, field)?);
            }
        }
        let has_several = self.layout.texts.len() > 1;
        // The name in specs, the name in tantivy, and the fields of each text field.
        let fields = self.layout.texts.iter().enumerate();
        let mut text_fields: Vec<(String, String, Vec<usize>)> =
            fields.map(|(i, (name, text))| (name.clone(), text.name.clone(), vec![i])).collect();
        if let Some(all) = self.layout.all.as_ref().filter(|_| has_several) {
            let fields = (0..self.layout.texts.len()).collect();
            text_fields.push((layout::ALL_TEXT.into(), all.name.clone(), fields));
        }
        for (name, column, fields) in text_fields {
            let lengths = self.column(&Stat::Length.column(&column))?;
            let (mut terms, mut min_length) = (0, f64::INFINITY);
            for doc in (0..self.max_doc).filter(|&doc| self.is_alive(doc)) {
                let length = lengths[doc as usize];
                terms += length as u64;
                min_length = if length > 0.0 { length.min(min_length) } else { min_length };
            }
            let info = TextFieldInfo { name, column, fields, lengths, terms, min_length };
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

    /// Number of documents, without deleted ones.
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

    /// Checks that a filter that was made for the index `made_for` belongs to this index.
    pub(crate) fn check_filter(&self, made_for: IndexId) -> Result<(), SearchError> {
        match made_for == self.id {
            true => Ok(()),
            false => Err(SearchError::OtherIndex { object: IndexObject::Filter }),
        }
    }

    /// An error of tantivy in this index.
    pub(crate) fn tantivy_error(&self, error: &tantivy::TantivyError) -> SearchError {
        SearchError::tantivy(self.location.path(), error)
    }

    /// The error that this index is damaged.
    pub(crate) fn damaged(&self, damage: IndexDamage) -> SearchError {
        SearchError::Damaged { path: self.location.path().into(), damage }
    }

    pub(crate) fn searcher(&self) -> &tantivy::Searcher {
        &self.searcher
    }

    /// The fields of tantivy that index text.
    pub(crate) fn tantivy_fields(&self) -> Vec<tantivy::schema::Field> {
        self.layout.texts.iter().flat_map(|(_, text)| text.fields.clone()).collect()
    }

    /// The field of tantivy that indexes the named text field, or those of all text fields for
    /// `None`.
    pub(crate) fn text_fields_named(&self, name: Option<&str>) -> Vec<tantivy::schema::Field> {
        let texts = self.layout.texts.iter();
        let named = texts.filter(|(known, _)| name.is_none_or(|name| known == name));
        named.flat_map(|(_, text)| text.fields.clone()).collect()
    }

    /// The number in this index of a document with this tantivy address.
    pub(crate) fn doc_number(&self, address: tantivy::DocAddress) -> u32 {
        self.segments[address.segment_ord as usize].base + address.doc_id
    }

    /// The name of a text field, by its index in the schema's text fields.
    pub(crate) fn field_name(&self, field: usize) -> &str {
        &self.text_fields[field].name
    }

    /// The id of a document of a ranking.
    pub fn id(&self, candidate: &Candidate) -> Result<&str, SearchError> {
        Ok(self.ids()?.get(self.doc_of(candidate)?))
    }

    /// All text fields together, or the only one.
    pub fn all_text(&self) -> TextField {
        TextField(self.text_fields.len().saturating_sub(1))
    }

    /// A text field by its name; `all` means all of them together.
    pub fn text_field(&self, name: &str) -> Result<TextField, SearchError> {
        if name == layout::ALL_TEXT {
            return Ok(self.all_text());
        }
        let found = self.text_fields.iter().position(|text_field| text_field.name == name);
        found.map(TextField).ok_or_else(|| self.unknown_field(name, FieldKind::Text))
    }

    /// Every text field in order, then `all` if there are several.
    pub fn text_fields(&self) -> impl Iterator<Item = TextField> + use<> {
        (0..self.text_fields.len()).map(TextField)
    }

    /// A text field's name; `all` for all of them together, and for the only one.
    pub fn text_field_name(&self, text_field: TextField) -> &str {
        if text_field == self.all_text() {
            layout::ALL_TEXT
        } else {
            &self.text_fields[text_field.0].name
        }
    }

    /// Checks that this index has a text field.
    pub(crate) fn check_text_field(&self, text_field: TextField) -> Result<(), SearchError> {
        match text_field.0 < self.text_fields.len() {
            true => Ok(()),
            false => Err(SearchError::OtherIndex { object: IndexObject::TextField }),
        }
    }

    /// The error that the index has no field of this name and kind.
    pub(crate) fn unknown_field(&self, name: &str, kind: FieldKind) -> SearchError {
        let schema = self.schema.clone();
        SearchError::UnknownField { name: name.into(), kind, schema }
    }

    /// Length of each document in a text field, in terms.
    pub(crate) fn lengths(&self, text_field: TextField) -> &Arc<Vec<f64>> {
        &self.text_fields[text_field.0].lengths
    }

    /// Sum of the lengths of all documents in a text field, in terms.
    pub(crate) fn terms(&self, text_field: TextField) -> u64 {
        self.text_fields[text_field.0].terms
    }

    /// Smallest length in a text field of a document that has terms; infinite if no document has
    /// terms.
    pub(crate) fn min_length(&self, text_field: TextField) -> f64 {
        self.text_fields[text_field.0].min_length
    }

    /// Mean length of the documents in a text field; 1 if all are empty.
    pub(crate) fn mean_length(&self, text_field: TextField) -> f64 {
        let terms = self.terms(text_field) as f64;
        if terms == 0.0 { 1.0 } else { terms / f64::from(self.documents) }
    }

    /// The fields of a text field, as indices into the text fields of the schema: one, or all.
    pub(crate) fn fields_of(&self, text_field: TextField) -> &[usize] {
        &self.text_fields[text_field.0].fields
    }

    /// Whether a document is not deleted.
    pub(crate) fn is_alive(&self, doc: u32) -> bool {
        let (segment, local) = self.locate(doc);
        !segment.reader.is_deleted(local)
    }

    /// The segment of a document, and the number of the document within the segment.
    fn locate(&self, doc: u32) -> (&Segment, u32) {
        let after = self.segments.partition_point(|segment| segment.base <= doc);
        let segment = &self.segments[after.saturating_sub(1)];
        (segment, doc - segment.base)
    }
}

/// Locks a mutex; if its holder panicked, the cache in it is still valid.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
