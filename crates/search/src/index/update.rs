//! Builds an index in memory, and adds to or deletes from an open index.

use std::ops::ControlFlow;
use std::path::Path;

use tantivy::{IndexWriter, TantivyDocument, Term};

use super::build::{
    BuildOptions, BuildReport, SAMPLE_DOCUMENTS, add_guessed_fields, layout_of, lock_folder,
    open_for_writing, required_fields,
};
use super::directory::WritableIndex;
use super::document_writer::{DocumentWriter, read_batch, writing_tokenizers};
use super::meta::Meta;
use super::{Index, IndexLocation, OpenGeneration};
use crate::document::Document;
use crate::error::SearchError;
use crate::filter::Filter;
use crate::schema::guess_warnings;

/// Bytes of memory of a writer that only deletes; tantivy demands 15 MB.
const DELETE_MEMORY: usize = 16 << 20;

impl Index {
    /// An index of these documents in memory; kinds of fields are guessed, the text is English.
    ///
    /// ```
    /// use rankwright_search::{Document, Index, Ranker};
    ///
    /// let documents = [("1", "red shoe"), ("2", "blue shoe"), ("3", "red hat")];
    /// let documents = documents.map(|(id, title)| Document::new(id).with("title", title));
    /// let ranker = Ranker::first_stage(Index::in_memory(documents)?)?;
    /// let hits = ranker.rank("red shoe", 10)?;
    /// assert_eq!((hits[0].id.as_str(), hits[0].title.as_str()), ("1", "red shoe"));
    /// # Ok::<(), rankwright_search::SearchError>(())
    /// ```
    pub fn in_memory(
        documents: impl IntoIterator<Item = Document, IntoIter: Send>,
    ) -> Result<Index, SearchError> {
        let documents = documents.into_iter().map(Ok);
        Ok(Self::in_memory_with(documents, &BuildOptions::new())?.0)
    }

    /// An index of these documents in memory, and a report on them.
    pub fn in_memory_with(
        documents: impl IntoIterator<Item = Result<Document, SearchError>, IntoIter: Send>,
        options: &BuildOptions,
    ) -> Result<(Index, BuildReport), SearchError> {
        let mut documents = documents.into_iter();
        let analysis = options.analysis.clone().unwrap_or_default();
        let first = read_batch(&mut documents, SAMPLE_DOCUMENTS)?;
        let (schema, layout) = layout_of(&first, options)?;
        let guess_warnings = guess_warnings(&first, &options.schema);
        let path = IndexLocation::Memory.path().to_owned();
        let index = tantivy::Index::builder()
            .schema(layout.schema.clone())
            .tokenizers(writing_tokenizers())
            .create_in_ram()
            .map_err(|error| SearchError::tantivy(&path, &error))?;
        let index = WritableIndex::in_memory(index, &path);
        let writer = DocumentWriter::new(&index, &layout, &analysis, None)?;
        let writer = writer.require(required_fields(options));
        let counts = writer.write(first, &mut documents, &mut |_| ControlFlow::Continue(()));
        let counts = add_guessed_fields(counts, &schema, options)?.ok_or(NEVER_STOPPED)?;
        let report = BuildReport::new(counts, &analysis, schema.clone(), None);
        let report = BuildReport { guess_warnings, ..report };
        Ok((Self::read(IndexLocation::Memory, index.index, analysis, schema)?, report))
    }

    /// Adds documents, replacing those with the same ids, and reopens the index: earlier candidates
    /// and filters no longer belong to it.
    pub fn add(
        &mut self,
        documents: impl IntoIterator<Item = Result<Document, SearchError>, IntoIter: Send>,
    ) -> Result<BuildReport, SearchError> {
        let _lock = self.path().map(lock_folder).transpose()?;
        let index = self.writable()?;
        let writer = DocumentWriter::new(&index, &self.layout, &self.analysis, Some(self))?;
        let mut documents = documents.into_iter();
        let counts =
            writer.write(Vec::new(), &mut documents, &mut |_| ControlFlow::Continue(()))?;
        let counts = counts.ok_or(NEVER_STOPPED)?;
        let report = BuildReport::new(counts, &self.analysis, self.schema.clone(), Some(self));
        self.reopen(index.index)?;
        Ok(report)
    }

    /// Deletes the documents that pass a filter expression and reopens the index, as
    /// [`Index::delete`] does. Returns their number.
    ///
    /// ```
    /// use rankwright_search::{Document, Index};
    ///
    /// let documents = [1990.0, 2001.0, 2024.0].map(|year| {
    ///     Document::new(format!("d{year}")).with("text", "word").with("year", year)
    /// });
    /// let mut index = Index::in_memory(documents)?;
    /// assert_eq!(index.delete_where("year<2010")?, 2);
    /// assert_eq!(index.documents(), 1);
    /// # Ok::<(), rankwright_search::SearchError>(())
    /// ```
    pub fn delete_where(&mut self, filter: &str) -> Result<usize, SearchError> {
        let _lock = self.path().map(lock_folder).transpose()?;
        let index = self.writable()?;
        let filter = Filter::new(self, filter)?;
        let ids: Vec<String> = self.filtered_ids(&filter)?.into_iter().map(str::to_owned).collect();
        self.delete_from(&index, &ids)
    }

    /// Deletes the documents of these ids and reopens the index: earlier candidates and filters no
    /// longer belong to it. Returns the number of deleted documents; unknown ids are ignored.
    ///
    /// ```
    /// use rankwright_search::{Document, Index};
    ///
    /// let documents = ["a", "b", "c"].map(|id| Document::new(id).with("text", "word"));
    /// let mut index = Index::in_memory(documents)?;
    /// assert_eq!(index.delete(["b", "x"])?, 1);
    /// assert_eq!(index.documents(), 2);
    /// # Ok::<(), rankwright_search::SearchError>(())
    /// ```
    pub fn delete<S: AsRef<str>>(
        &mut self,
        ids: impl IntoIterator<Item = S>,
    ) -> Result<usize, SearchError> {
        let _lock = self.path().map(lock_folder).transpose()?;
        let index = self.writable()?;
        let ids: Vec<S> = ids.into_iter().collect();
        self.delete_from(&index, &ids)
    }

    /// Deletes the documents with these ids from `index`, which is this index for writing, and
    /// reopens this index.
    fn delete_from<S: AsRef<str>>(
        &mut self,
        index: &WritableIndex,
        ids: &[S],
    ) -> Result<usize, SearchError> {
        let failed = |error: tantivy::TantivyError| index.write_error(&error);
        self.catch_damage(|| {
            let mut writer: IndexWriter<TantivyDocument> =
                index.index.writer_with_num_threads(1, DELETE_MEMORY).map_err(failed)?;
            for id in ids {
                writer.delete_term(Term::from_field_text(self.layout.id, id.as_ref()));
            }
            writer.commit().map_err(failed)?;
            writer.wait_merging_threads().map_err(failed)
        })?;
        let before = self.documents();
        self.reopen(index.index.clone())?;
        before
            .checked_sub(self.documents())
            .ok_or(SearchError::Internal { invariant: "deleting does not add documents" })
    }

    /// This index for writing. If another process changed it since it was opened, it is reopened
    /// first.
    fn writable(&mut self) -> Result<WritableIndex, SearchError> {
        let Some(path) = self.path().map(Path::to_owned) else {
            let mut index = self.index.clone();
            index.set_tokenizers(writing_tokenizers());
            return Ok(WritableIndex::in_memory(index, self.location.path()));
        };
        let meta = Meta::read(&path)?.ok_or_else(|| SearchError::NoIndex { path: path.clone() })?;
        let is_current =
            |open: &OpenGeneration| open.number == meta.generation && open.is_current(&path, &meta);
        if !self.generation.as_ref().is_some_and(is_current) {
            self.reopen(self.index.clone())?;
        }
        open_for_writing(&path, &meta)
    }

    /// Opens the index again in its current state, and keeps the custom features. `index` is used
    /// only for an index in memory.
    fn reopen(&mut self, index: tantivy::Index) -> Result<(), SearchError> {
        let path: Option<&Path> = self.path();
        let opened = match path {
            Some(path) => Self::open(path)?,
            None => Self::read(
                IndexLocation::Memory,
                index,
                self.analysis.clone(),
                self.schema.clone(),
            )?,
        };
        *self = Self { custom_features: std::mem::take(&mut self.custom_features), ..opened };
        Ok(())
    }
}

/// The error of a build that stops although nothing asked it to.
const NEVER_STOPPED: SearchError =
    SearchError::Internal { invariant: "a build that is not stopped finishes" };
