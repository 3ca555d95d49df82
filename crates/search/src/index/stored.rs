//! Stored documents of an index, by id.

use rankwright_data::Strings;
use tantivy::TantivyDocument;
use tantivy::schema::Value as _;

use super::layout::ID;
use super::{DocumentIds, FieldLabels, Index, lock};
use crate::document::Document;
use crate::error::{IndexDamage, SearchError};
use crate::retrieve::Candidate;
use crate::schema::{FieldKind, texts_of};

impl Index {
    /// The ids of all documents.
    pub(crate) fn ids(&self) -> Result<&DocumentIds, SearchError> {
        if let Some(ids) = self.ids.get() {
            return Ok(ids);
        }
        let labels = self.catch_damage(|| FieldLabels::read(self, ID))?;
        let mut texts = Strings::default();
        for doc in 0..self.max_doc {
            let Some(&label) = labels.of(doc).first() else {
                return Err(self.damaged(IndexDamage::NoId { document: doc }));
            };
            texts.push(labels.name(label));
        }
        let ids = DocumentIds::new(texts, |doc| self.is_alive(doc));
        if let Some(id) = ids.repeated() {
            return Err(self.damaged(IndexDamage::DuplicateId { id: id.to_owned() }));
        }
        Ok(self.ids.get_or_init(|| ids))
    }

    /// The document of an id, as it was added; `None` if there is none.
    pub fn document(&self, id: &str) -> Result<Option<Document>, SearchError> {
        let doc = self.ids()?.find(id);
        doc.map(|doc| self.source(doc)).transpose()
    }

    /// The document of an id as an entry of a ranking, with score 0; `None` if there is none.
    pub fn candidate(&self, id: &str) -> Result<Option<Candidate>, SearchError> {
        let found = self.ids()?.find(id);
        Ok(found.map(|doc| Candidate { doc, index: self.id, score: 0.0 }))
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

    /// A document as it was added.
    pub(crate) fn source(&self, doc: u32) -> Result<Document, SearchError> {
        self.with_stored(doc, |bytes| serde_json::from_slice(bytes).ok())
    }

    /// Whether the index has a document in exactly this stored form; `None` if it has no document
    /// of this id.
    pub(super) fn has_same(&self, id: &str, bytes: &[u8]) -> Result<Option<bool>, SearchError> {
        let found = self.ids()?.find(id);
        found.map(|doc| self.with_stored(doc, |stored| Some(stored == bytes))).transpose()
    }

    /// Reads the stored form of a document.
    fn with_stored<T>(
        &self,
        doc: u32,
        read: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<T, SearchError> {
        self.catch_damage(|| {
            let (segment, local) = self.locate(doc);
            let stored: TantivyDocument =
                lock(&segment.store).get(local).map_err(|error| self.failed(&error))?;
            let bytes = stored.get_first(self.layout.source).and_then(|value| value.as_bytes());
            let found = bytes.and_then(read);
            found.ok_or_else(|| self.damaged(IndexDamage::Document { document: doc }))
        })
    }
}
