//! The format of the SMART system: `.I id` begins a document, and `.T`, `.W` and so on its
//! sections.
//!
//! `.T` is `title`, `.W` `text`, `.A` `author`, `.B` `source`, `.K` `keywords`, `.N` `note`, `.C`
//! `category`, `.X` `links` (see `smart_links`); any other letter is a field of that name, in lower
//! case. Sections keep their line breaks; a repeated section is appended after a line break. The
//! title that Cranfield repeats at the beginning of the text is kept.

use std::ops::Range;

use rankwright_data::{Warnings, quote};

use super::cursor::Cursor;
use super::parts::FieldCollector;
use super::smart_links::CitationRule;
use super::{DocumentReader, id};
use crate::document::{Document, Value};
use crate::error::SearchError;

/// A line of a SMART file, by its kind.
pub(super) enum SmartLine<'a> {
    /// `.I id`
    Id(&'a [u8]),
    /// `.W` and the like: the letter.
    Section(u8),
    /// Any other line.
    Content(&'a [u8]),
}

impl SmartLine<'_> {
    /// The kind of a line.
    pub(super) fn of(line: &[u8]) -> SmartLine<'_> {
        match line.trim_ascii_end() {
            [b'.', b'I'] => SmartLine::Id(&[]),
            [b'.', b'I', b' ' | b'\t', id @ ..] => SmartLine::Id(id.trim_ascii()),
            [b'.', letter @ b'A'..=b'Z'] => SmartLine::Section(*letter),
            _ => SmartLine::Content(line),
        }
    }
}

/// The field name of a section, by its letter.
pub(crate) fn field_name(letter: u8) -> String {
    let name = match letter {
        b'T' => "title",
        b'W' => "text",
        b'A' => "author",
        b'B' => "source",
        b'K' => "keywords",
        b'N' => "note",
        b'C' => "category",
        b'X' => "links",
        other => return char::from(other.to_ascii_lowercase()).to_string(),
    };
    name.to_owned()
}

/// One record, a document or a query: an id and its sections.
pub(crate) struct SmartRecord {
    /// The line of its `.I`.
    pub(crate) line: u64,
    pub(crate) id: String,
    pub(crate) sections: FieldCollector,
}

/// Reads records, of documents or of queries.
pub(crate) struct Records {
    cursor: Cursor,
    /// The number and the bytes of the line `.I` of the next record, if it has been read.
    next_id_line: Option<(u64, Range<usize>)>,
}

impl Records {
    pub(crate) fn new(cursor: Cursor) -> Self {
        Records { cursor, next_id_line: None }
    }

    /// Reads the first line `.I` of the file; any other content before it is an error.
    fn first_id_line(&mut self) -> Option<Result<(u64, Range<usize>), SearchError>> {
        let (line, range) = self.cursor.next_nonblank_line()?;
        let content = self.cursor.slice(range.clone());
        Some(match SmartLine::of(content) {
            SmartLine::Id(_) => Ok((line, range)),
            _ => {
                let found = quote(content.trim_ascii());
                Err(SearchError::malformed(self.cursor.location(line), found, "'.I' and an id"))
            }
        })
    }

    /// The next record; `None` at the end.
    pub(crate) fn next(
        &mut self,
        warnings: &mut Warnings,
    ) -> Option<Result<SmartRecord, SearchError>> {
        let (line, range) = match self.next_id_line.take() {
            Some(id_line) => id_line,
            None => match self.first_id_line()? {
                Ok(first) => first,
                Err(error) => return Some(Err(error)),
            },
        };
        let sections = self.sections(line, warnings);
        let location = || self.cursor.location(line);
        let id = match SmartLine::of(self.cursor.slice(range)) {
            SmartLine::Id(id) => warnings.text(id, location),
            _ => String::new(),
        };
        Some(id::checked(id, location).map(|id| SmartRecord { line, id, sections }))
    }

    /// The sections up to the next `.I`; `line` is that of the record, for messages.
    fn sections(&mut self, line: u64, warnings: &mut Warnings) -> FieldCollector {
        let mut parts = FieldCollector::default();
        // Lines before the first section are text.
        let mut name = "text".to_owned();
        let mut content: Vec<u8> = Vec::new();
        loop {
            let next = self.cursor.next_line();
            let bytes = next.as_ref().map(|(_, range)| self.cursor.slice(range.clone()));
            let kind = bytes.map(SmartLine::of);
            if let Some(SmartLine::Content(text)) = kind {
                content.extend_from_slice(text);
                content.push(b'\n');
                continue;
            }
            let section = std::mem::take(&mut content);
            let text = warnings.text(section.trim_ascii(), || self.cursor.location(line));
            parts.add(&name, &text, "\n");
            match kind {
                Some(SmartLine::Section(letter)) => name = field_name(letter),
                _ => {
                    self.next_id_line = next;
                    return parts;
                }
            }
        }
    }
}

/// Reads documents in the format of the SMART system.
pub(super) struct Smart {
    records: Records,
    citation_rule: CitationRule,
}

impl Smart {
    pub(super) fn new(cursor: Cursor) -> Self {
        let citation_rule = CitationRule::scan(cursor.unread());
        Smart { records: Records::new(cursor), citation_rule }
    }
}

impl DocumentReader for Smart {
    fn next(&mut self, warnings: &mut Warnings) -> Option<Result<Document, SearchError>> {
        let mut record = match self.records.next(warnings)? {
            Ok(record) => record,
            Err(error) => return Some(Err(error)),
        };
        let links = record.sections.take("links");
        let mut fields = record.sections.into_fields();
        if let Some(text) = links {
            let location = || self.records.cursor.location(record.line);
            let links = self.citation_rule.links(&record.id, &text, warnings, location);
            if !links.is_empty() {
                fields.push(("links".into(), Value::Texts(links)));
            }
        }
        Some(Ok(Document { id: record.id, fields }))
    }

    fn position(&self) -> (u64, u64) {
        (self.records.cursor.offset() as u64, self.records.cursor.len() as u64)
    }
}
