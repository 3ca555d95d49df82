//! Columns of texts: categories, links, web addresses and ids of documents.
//!
//! Each different text of a field has a number, its label.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use rankwright_data::Strings;

use crate::error::SearchError;
use crate::index::Index;

/// The different texts of a field, and the labels of each document.
#[derive(Debug, Default)]
pub(crate) struct FieldLabels {
    /// The text of each label.
    names: Strings,
    /// Labels of all documents, one document after another.
    labels: Vec<u32>,
    /// The end of each document's labels in `labels`.
    ends: Vec<u32>,
}

impl FieldLabels {
    /// Reads a column of texts; a segment without the column has no labels.
    pub(super) fn read(index: &Index, column: &str) -> Result<FieldLabels, SearchError> {
        let failed = |error: tantivy::TantivyError| index.tantivy_error(&error);
        let mut found = FieldLabels::default();
        let mut label_of_text: HashMap<String, u32, FixedState> = HashMap::default();
        for segment in &index.segments {
            let documents = segment.reader.max_doc();
            let Some(texts) = segment.reader.fast_fields().str(column).map_err(failed)? else {
                let end = found.labels.len() as u32;
                found.ends.extend((0..documents).map(|_| end));
                continue;
            };
            // Tantivy numbers the texts of each segment from 0 (ordinals).
            let mut label_of_ord = Vec::with_capacity(texts.num_terms());
            let mut stream = texts.dictionary().stream().map_err(|e| failed(e.into()))?;
            while stream.advance() {
                let text = String::from_utf8_lossy(stream.key());
                let next = label_of_text.len() as u32;
                let label = *label_of_text.entry(text.into_owned()).or_insert_with_key(|text| {
                    found.names.push(text);
                    next
                });
                label_of_ord.push(label);
            }
            for doc in 0..documents {
                let ords = texts.term_ords(doc);
                found.labels.extend(ords.filter_map(|ord| label_of_ord.get(ord as usize).copied()));
                found.ends.push(found.labels.len() as u32);
            }
        }
        Ok(found)
    }

    /// Number of different texts.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The text of a label.
    pub(crate) fn name(&self, label: u32) -> &str {
        self.names.get(label as usize)
    }

    /// The labels of a document.
    pub(crate) fn of(&self, doc: u32) -> &[u32] {
        let doc = doc as usize;
        let start = if doc == 0 { 0 } else { self.ends[doc - 1] };
        &self.labels[start as usize..self.ends[doc] as usize]
    }
}
