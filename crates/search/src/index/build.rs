//! Builds an index in a folder, or adds documents to one.
//!
//! Documents are read in batches; while a batch is read, the previous one is analysed on all
//! threads and passed to tantivy in order. Nothing is visible before the end: a new index appears,
//! or replaces an old one, when `rankwright.json` names its folder, a new generation (see
//! `meta.rs`); added documents appear with tantivy's own atomic commit. A build that is killed or
//! runs out of disk leaves the previous state. Of several documents with one id the last one
//! counts.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::path::Path;

use rankwright_spec::choices;
use serde::{Deserialize, Serialize};

use super::Index;
use super::check::{catch_damage, check_files};
use super::directory::{WritableIndex, create_reader_lock, remove_generation};
use super::document_writer::{
    DocumentWriter, Progress, WriteCounts, read_batch, writing_tokenizers,
};
use super::layout::IndexLayout;
use super::meta::{Meta, generation_folder, generations, temporary_files, unfinished_files};
use super::prepare::MistypedValues;
use crate::analysis::Analysis;
use crate::document::Document;
use crate::error::SearchError;
use crate::schema::{FieldDef, Schema, guess_warnings};
use crate::warning::SearchWarning;

/// Number of documents from which the kinds of the fields are guessed.
pub(super) const SAMPLE_DOCUMENTS: usize = 1000;

choices! {
    /// The action if the folder already has an index.
    pub enum Existing {
        /// Return an error.
        Refuse = "refuse",
        /// Replace the index by a new one, atomically at the end.
        Replace = "replace",
        /// Add documents to the index; documents with existing ids are replaced.
        Add = "add",
    }
}

/// Options of a build.
///
/// ```
/// use rankwright_search::{Analysis, BuildOptions, Existing, Schema};
///
/// let options = BuildOptions::new()
///     .analysis(Analysis::parse("german")?)
///     .schema(Schema::parse("title:text, price:number")?)
///     .existing(Existing::Replace);
/// assert_eq!(options.existing, Existing::Replace);
/// # Ok::<(), rankwright_search::SearchError>(())
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct BuildOptions {
    /// The analysis; `None` means English, or that of the existing index.
    pub analysis: Option<Analysis>,
    /// Given kinds of fields; those of the other fields are guessed.
    pub schema: Schema,
    /// The action if the folder already has an index.
    pub existing: Existing,
    /// Whether a new index may have no documents, and a given schema may name fields that no
    /// document has. Otherwise both are errors, which reveal empty files and misspelt names.
    pub allow_absent: bool,
}

impl BuildOptions {
    /// English text, guessed kinds of fields, and an error for an existing index.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the analysis of the text.
    #[must_use]
    pub fn analysis(mut self, analysis: impl Into<Option<Analysis>>) -> Self {
        self.analysis = analysis.into();
        self
    }

    /// Sets kinds of fields; those of fields that it does not name are guessed.
    #[must_use]
    pub fn schema(mut self, schema: Schema) -> Self {
        self.schema = schema;
        self
    }

    /// Sets the action if the folder already has an index.
    #[must_use]
    pub fn existing(mut self, existing: Existing) -> Self {
        self.existing = existing;
        self
    }

    /// Sets whether a new index may have no documents, and a given schema may name fields that no
    /// document has.
    #[must_use]
    pub fn allow_absent(mut self, allow: bool) -> Self {
        self.allow_absent = allow;
        self
    }
}

/// The result of a build.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BuildReport {
    /// Number of documents read.
    pub documents: u64,
    /// Number of documents whose ids are new in the index.
    pub added: u64,
    /// Number of documents of the existing index that were replaced by a document with the same id.
    pub replaced: u64,
    /// Number of documents that the existing index already had with the same content.
    pub unchanged: u64,
    /// Number of documents of the index after the build.
    pub total: u64,
    /// Number of documents read that were replaced by a later one with the same id.
    pub duplicates: u64,
    /// Number of documents without a term in any text field. They are kept, but no query finds
    /// them.
    pub without_terms: u64,
    /// Number of values that are not of their field's kind; they count as absent.
    pub not_of_kind: u64,
    /// Values that are not of their field's kind, by field.
    #[serde(skip)]
    pub(super) mistyped: BTreeMap<String, MistypedValues>,
    /// Fields of the documents that the index does not have, with the number of documents that have
    /// each of them. They are kept with the documents, but cannot be searched or filtered.
    pub not_indexed: BTreeMap<String, u64>,
    /// Notes on the kinds that were guessed: codes such as `01234`, few values of another kind.
    #[serde(skip)]
    pub(super) guess_warnings: Vec<SearchWarning>,
    /// Whether documents were added to an existing index.
    #[serde(skip)]
    pub(super) is_added: bool,
    /// The analysis of the index, as a spec.
    pub analysis: String,
    /// The fields.
    #[serde(rename = "fields")]
    pub schema: Schema,
}

impl BuildReport {
    /// The report of a build. `previous` is the index that documents were added to; `None` for a
    /// new index.
    pub(super) fn new(
        counts: WriteCounts,
        analysis: &Analysis,
        schema: Schema,
        previous: Option<&Index>,
    ) -> Self {
        let WriteCounts { documents, added, replaced, unchanged, duplicates, problems } = counts;
        Self {
            documents,
            added,
            replaced,
            unchanged,
            total: added + previous.map_or(0, |index| index.documents() as u64),
            duplicates,
            without_terms: problems.without_terms,
            not_of_kind: problems.mistyped.values().map(|mistyped| mistyped.values).sum(),
            mistyped: problems.mistyped,
            not_indexed: problems.not_indexed,
            guess_warnings: Vec::new(),
            is_added: previous.is_some(),
            analysis: analysis.to_string(),
            schema,
        }
    }

    /// Problems of the documents that did not stop the build.
    pub fn warnings(&self) -> Vec<SearchWarning> {
        let Self { duplicates, without_terms, .. } = *self;
        let mut warnings = Vec::new();
        if duplicates > 0 {
            warnings.push(SearchWarning::DuplicateIds { documents: duplicates });
        }
        if without_terms > 0 {
            warnings.push(SearchWarning::WithoutTerms { documents: without_terms });
        }
        for (field, MistypedValues { kind, values, example }) in &self.mistyped {
            let (field, example) = (field.clone(), example.clone());
            warnings.push(SearchWarning::NotOfKind {
                field,
                kind: *kind,
                values: *values,
                example,
            });
        }
        warnings.extend(self.guess_warnings.iter().cloned());
        for (field, documents) in &self.not_indexed {
            let (field, documents) = (field.clone(), *documents);
            let is_late = !self.is_added;
            warnings.push(SearchWarning::NotIndexed { field, documents, is_late });
        }
        warnings
    }
}

/// Builds an index in a folder. `progress` receives the number of documents so far and can stop the
/// build, which then leaves everything unchanged and returns `None`.
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
    path: impl AsRef<Path>,
    documents: impl IntoIterator<Item = Result<Document, SearchError>, IntoIter: Send>,
    options: &BuildOptions,
    progress: Progress<'_>,
) -> Result<Option<BuildReport>, SearchError> {
    let path = path.as_ref();
    let old = match Meta::read(path) {
        // An index to be replaced need not be readable: this repairs a damaged index.
        Err(_) if options.existing == Existing::Replace && path.is_dir() => None,
        read => read?,
    };
    check_folder(path, old.is_some() || Meta::exists(path), options)?;
    std::fs::create_dir_all(path).map_err(|error| SearchError::access(path, error))?;
    let _lock = lock_folder(path)?;
    remove_leftovers(path);
    let mut documents = documents.into_iter();
    match old.filter(|_| options.existing == Existing::Add) {
        Some(meta) => add(path, meta, &mut documents, options, progress),
        None => create(path, &mut documents, options, progress),
    }
}

/// Rejects an existing index if the options say so, a file, and a folder with other files.
fn check_folder(path: &Path, is_index: bool, options: &BuildOptions) -> Result<(), SearchError> {
    if is_index && options.existing == Existing::Refuse {
        return Err(SearchError::IndexExists { path: path.into() });
    }
    if path.is_file() {
        return Err(SearchError::NotAFolder { path: path.into() });
    }
    let leftovers = generations(path).len() + temporary_files(path).len();
    let entries = std::fs::read_dir(path).map_or(0, Iterator::count);
    if !is_index && entries > leftovers + usize::from(path.join(LOCK).exists()) {
        return Err(SearchError::FolderNotEmpty { path: path.into() });
    }
    Ok(())
}

/// Removes the leftovers of killed builds; does nothing if the index cannot be read. The caller
/// holds the lock of the folder, so that no other process writes there.
fn remove_leftovers(path: &Path) {
    let Ok(meta) = Meta::read(path) else { return };
    let in_use = meta.map(|meta| meta.generation);
    for file in in_use.iter().flat_map(|number| unfinished_files(&generation_folder(path, *number)))
    {
        let _ = std::fs::remove_file(file);
    }
    for number in generations(path).into_iter().filter(|&number| Some(number) != in_use) {
        remove_generation(&generation_folder(path, number));
    }
    for file in temporary_files(path) {
        let _ = std::fs::remove_file(file);
    }
}

/// The file that a process locks while it writes to the index.
const LOCK: &str = "building.lock";

/// Locks the folder while an index is written. The system releases the lock when the process ends.
pub(super) fn lock_folder(path: &Path) -> Result<File, SearchError> {
    let file = File::options().create(true).truncate(false).write(true).open(path.join(LOCK));
    let file = file.map_err(|error| SearchError::access(path, error))?;
    match is_held_elsewhere(file.try_lock()) {
        true => Err(SearchError::IndexLocked { path: path.into() }),
        false => Ok(file),
    }
}

/// Whether another process holds a lock. Other errors do not count: a file system without locks
/// does not prevent a build.
fn is_held_elsewhere(lock: Result<(), TryLockError>) -> bool {
    matches!(lock, Err(TryLockError::WouldBlock))
}

/// Builds a new generation, puts it in use at the end, and removes old generations that no process
/// reads.
fn create(
    path: &Path,
    documents: &mut (impl Iterator<Item = Result<Document, SearchError>> + Send),
    options: &BuildOptions,
    progress: Progress<'_>,
) -> Result<Option<BuildReport>, SearchError> {
    let analysis = options.analysis.clone().unwrap_or_default();
    let first = read_batch(documents, SAMPLE_DOCUMENTS)?;
    let (schema, layout) = layout_of(&first, options)?;
    let guess_warnings = guess_warnings(&first, &options.schema);
    let number = generations(path).into_iter().max().map_or(1, |last| last + 1);
    let folder = generation_folder(path, number);
    let build = || -> Result<Option<BuildReport>, SearchError> {
        std::fs::create_dir(&folder).map_err(|error| SearchError::access(path, error))?;
        create_reader_lock(&folder).map_err(|error| SearchError::access(path, error))?;
        let index = tantivy::Index::builder()
            .schema(layout.schema.clone())
            .tokenizers(writing_tokenizers());
        let create = |directory| index.open_or_create(directory);
        let index = WritableIndex::open(path, &folder, create)?;
        let writer = DocumentWriter::new(&index, &layout, &analysis, None)?;
        let writer = writer.require(required_fields(options));
        let counts = writer.write(first, documents, progress);
        let Some(counts) = add_guessed_fields(counts, &schema, options)? else { return Ok(None) };
        Meta::new(number, &analysis, schema.clone()).write(path)?;
        let report = BuildReport::new(counts, &analysis, schema.clone(), None);
        Ok(Some(BuildReport { guess_warnings, ..report }))
    };
    let result = build();
    let is_finished = matches!(result, Ok(Some(_)));
    // Removes generations that are not in use: the old one, or this unfinished one.
    let in_use = Meta::read(path).ok().flatten().map(|meta| meta.generation);
    let is_removable = |n: &u64| Some(*n) != in_use && (is_finished || *n == number);
    for removed in generations(path).into_iter().filter(is_removable) {
        remove_generation(&generation_folder(path, removed));
    }
    result
}

/// The schema and its layout, from the options and the first documents; at least one field must be
/// text.
pub(super) fn layout_of(
    first: &[Document],
    options: &BuildOptions,
) -> Result<(Schema, IndexLayout), SearchError> {
    if first.is_empty() && !options.allow_absent {
        return Err(SearchError::NoDocuments);
    }
    let schema = Schema::guess(first, &options.schema);
    let layout = IndexLayout::new(&schema)?;
    match layout.all.is_some() {
        true => Ok((schema, layout)),
        false => Err(SearchError::NoTextField),
    }
}

/// The fields of the given schema, each of which at least one document must have.
pub(super) fn required_fields(options: &BuildOptions) -> Vec<String> {
    match options.allow_absent {
        true => Vec::new(),
        false => options.schema.fields.iter().map(|field| field.name.clone()).collect(),
    }
}

/// Adds the guessed fields to the error that no document has a given field: the name may be
/// misspelt.
pub(super) fn add_guessed_fields<T>(
    result: Result<T, SearchError>,
    schema: &Schema,
    options: &BuildOptions,
) -> Result<T, SearchError> {
    result.map_err(|error| match error {
        SearchError::AbsentField { field, .. } => {
            let is_guessed = |known: &&FieldDef| options.schema.kind(&known.name).is_none();
            let fields = schema.fields.iter().filter(is_guessed).cloned().collect();
            SearchError::AbsentField { field, guessed: Schema { fields } }
        }
        other => other,
    })
}

/// Opens the generation in use for writing, after a check of its files.
pub(super) fn open_for_writing(path: &Path, meta: &Meta) -> Result<WritableIndex, SearchError> {
    catch_damage(path, || {
        let open = |directory| tantivy::Index::open(directory);
        let mut index = WritableIndex::open(path, &meta.folder(path), open)?;
        check_files(path, &index.index)?;
        index.index.set_tokenizers(writing_tokenizers());
        Ok(index)
    })
}

/// Adds documents to the generation in use, with tantivy's own commit.
fn add(
    path: &Path,
    meta: Meta,
    documents: &mut (impl Iterator<Item = Result<Document, SearchError>> + Send),
    options: &BuildOptions,
    progress: Progress<'_>,
) -> Result<Option<BuildReport>, SearchError> {
    let analysis = meta.analysis()?;
    // An index of an older version keeps its own form of the same analysis.
    let differs = |given: &Analysis| given.to_string() != analysis.to_string();
    let analysis_differs = options.analysis.as_ref().is_some_and(differs);
    let schema_differs =
        options.schema.fields.iter().any(|f| meta.schema.kind(&f.name) != Some(f.kind));
    if analysis_differs || schema_differs {
        return Err(SearchError::OtherBuild {
            analysis: analysis.to_string(),
            schema: meta.schema.to_string(),
        });
    }
    let layout = IndexLayout::new(&meta.schema)?;
    // Checks the files: damage is found here, and not by a thread of tantivy that merges segments.
    let index = open_for_writing(path, &meta)?;
    let previous = Index::open(path)?;
    let writer = DocumentWriter::new(&index, &layout, &analysis, Some(&previous))?;
    let counts = writer.write(Vec::new(), documents, progress)?;
    Ok(counts.map(|counts| BuildReport::new(counts, &analysis, meta.schema, Some(&previous))))
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn only_a_lock_that_is_held_prevents_a_build() {
        let folder = tempfile::tempdir().unwrap();
        let held = lock_folder(folder.path()).unwrap();
        let error = lock_folder(folder.path()).unwrap_err();
        assert!(matches!(error, SearchError::IndexLocked { .. }), "{error}");
        drop(held);
        lock_folder(folder.path()).unwrap();
        for kind in [io::ErrorKind::Unsupported, io::ErrorKind::Other] {
            assert!(!is_held_elsewhere(Err(TryLockError::Error(kind.into()))), "{kind}");
        }
    }
}
