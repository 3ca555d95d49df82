//! Ids and stored documents of an index.

use rankwright_data::Strings;
use tantivy::TantivyDocument;
use tantivy::schema::Value as _;

use super::layout::ID;
use super::{DocumentIds, FieldValues, Index, lock};
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
        let ids = self.catch_damage(|| FieldValues::read(self, ID))?;
        let mut texts = Strings::default();
        for doc in 0..self.max_doc {
            let Some(&id) = ids.of(doc).first() else {
                return Err(self.damaged(IndexDamage::NoId { document: doc }));
            };
            texts.push(ids.text(id));
        }
        let ids = DocumentIds::new(texts, |doc| self.is_alive(doc));
        if let Some(id) = ids.repeated() {
            return Err(self.damaged(IndexDamage::DuplicateId { id: id.to_owned() }));
        }
        Ok(self.ids.get_or_init(|| ids))
    }

    /// The document with an id, as it was added; `None` if there is none.
    pub fn document(&self, id: &str) -> Result<Option<Document>, SearchError> {
        let doc = self.ids()?.find(id);
        doc.map(|doc| self.stored_document(doc)).transpose()
    }

    /// The document with an id as a candidate with score 0; `None` if there is none.
    pub fn candidate(&self, id: &str) -> Result<Option<Candidate>, SearchError> {
        let found = self.ids()?.find(id);
        Ok(found.map(|doc| Candidate { doc, index: self.id, score: 0.0 }))
    }

    /// The terms of all text of a document, field after field.
    pub(crate) fn terms_of_document(&self, doc: u32) -> Result<Vec<String>, SearchError> {
        let document = self.stored_document(doc)?;
        let mut terms = Vec::new();
        for name in self.schema.of_kind(FieldKind::Text) {
            for text in document.get(name).map(texts_of).unwrap_or_default() {
                terms.extend(self.analysis.terms(&text));
            }
        }
        Ok(terms)
    }

    /// A document as it was added, by its number.
    pub(crate) fn stored_document(&self, doc: u32) -> Result<Document, SearchError> {
        self.with_stored(doc, |bytes| serde_json::from_slice(bytes).ok())
    }

    /// Whether the stored form of the document with an id is exactly `bytes`; `None` if the index
    /// has no document with this id.
    pub(super) fn has_same_document(
        &self,
        id: &str,
        bytes: &[u8],
    ) -> Result<Option<bool>, SearchError> {
        let found = self.ids()?.find(id);
        found.map(|doc| self.with_stored(doc, |stored| Some(stored == bytes))).transpose()
    }

    /// Passes the stored form of a document to `read`; `None` from it means that the form is
    /// damaged.
    fn with_stored<T>(
        &self,
        doc: u32,
        read: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<T, SearchError> {
        self.catch_damage(|| {
            let (segment, local) = self.locate(doc);
            let stored: TantivyDocument =
                lock(&segment.store).get(local).map_err(|error| self.tantivy_error(&error))?;
            let bytes = stored.get_first(self.layout.source).and_then(|value| value.as_bytes());
            let found = bytes.and_then(read);
            found.ok_or_else(|| self.damaged(IndexDamage::Document { document: doc }))
        })
    }
}
