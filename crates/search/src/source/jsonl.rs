//! Documents as JSON lines, the form of the BEIR collections and of many exports.
//!
//! The id is a text or a whole number under one of the names of `id.rs`, such as `id`. Texts
//! stay texts, numbers and booleans (0 or 1) become numbers, lists of texts or numbers become
//! texts. Nested objects are flattened: BEIR's `"metadata": {"url": ..}` is the field
//! `metadata.url`. Nulls, empty lists and empty objects are ignored; an object or a list inside a
//! list is skipped and counted. Of equal keys the last one counts.

use rankwright_data::Warnings;

use super::cursor::Cursor;
use super::json::JsonRecord;
use super::{DocumentReader, id};
use crate::document::Document;
use crate::error::SearchError;

/// Reads documents as JSON lines.
pub(super) struct Jsonl(pub(super) Cursor);

impl DocumentReader for Jsonl {
    fn next(&mut self, warnings: &mut Warnings) -> Option<Result<Document, SearchError>> {
        let (line, mut record) = match JsonRecord::next(&mut self.0, warnings)? {
            Ok(found) => found,
            Err(error) => return Some(Err(error)),
        };
        let location = || self.0.location(line);
        Some(record.take_id(&id::DOCUMENT_ID_FIELDS, location).map(|id| {
            let fields = record.into_fields(warnings, location);
            Document { id, fields }
        }))
    }

    fn position(&self) -> (u64, u64) {
        (self.0.offset() as u64, self.0.len() as u64)
    }
}
