//! Columns of texts: categories, links, web addresses and ids of documents.
//!
//! Each different text of a field is a value, and has a number, from 0.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use rankwright_data::Strings;

use crate::error::SearchError;
use crate::index::Index;

/// The different values of a field, and the values of each document.
#[derive(Debug, Default)]
pub(crate) struct FieldValues {
    /// The text of each value, by the number of the value.
    texts: Strings,
    /// The numbers of the values of all documents, one document after another.
    numbers: Vec<u32>,
    /// The end of each document's values in `numbers`.
    ends: Vec<u32>,
}

impl FieldValues {
    /// Reads a column of texts; the documents of a segment without the column have no values.
    pub(super) fn read(index: &Index, column: &str) -> Result<FieldValues, SearchError> {
        let failed = |error: tantivy::TantivyError| index.tantivy_error(&error);
        let mut found = FieldValues::default();
        let mut number_of_text: HashMap<String, u32, FixedState> = HashMap::default();
        for segment in &index.segments {
            let documents = segment.reader.max_doc();
            let Some(column) = segment.reader.fast_fields().str(column).map_err(failed)? else {
                let end = found.numbers.len() as u32;
                found.ends.extend((0..documents).map(|_| end));
                continue;
            };
            // Tantivy numbers the texts of each segment from 0 (ordinals).
            let mut number_of_ord = Vec::with_capacity(column.num_terms());
            let mut stream = column.dictionary().stream().map_err(|e| failed(e.into()))?;
            while stream.advance() {
                let text = String::from_utf8_lossy(stream.key());
                let next = number_of_text.len() as u32;
                let number = *number_of_text.entry(text.into_owned()).or_insert_with_key(|text| {
                    found.texts.push(text);
                    next
                });
                number_of_ord.push(number);
            }
            for doc in 0..documents {
                let ords = column.term_ords(doc);
                let numbers = ords.filter_map(|ord| number_of_ord.get(ord as usize).copied());
                found.numbers.extend(numbers);
                found.ends.push(found.numbers.len() as u32);
            }
        }
        Ok(found)
    }

    /// Number of different values.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// The text of a value, given its number.
    pub(crate) fn text(&self, value: u32) -> &str {
        self.texts.get(value as usize)
    }

    /// The texts of all values, in the order of their numbers.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        (0..self.len() as u32).map(|value| self.text(value))
    }

    /// The numbers of the values of a document.
    pub(crate) fn of(&self, doc: u32) -> &[u32] {
        let doc = doc as usize;
        let start = if doc == 0 { 0 } else { self.ends[doc - 1] };
        &self.numbers[start as usize..self.ends[doc] as usize]
    }
}
