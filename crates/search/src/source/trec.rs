//! The SGML of TREC collections: `<DOC>` ... `</DOC>` with `<DOCNO>` and further tags as fields.
//!
//! Tags directly inside a document are its fields, by lower-case name; `TTL`, `TITLE`, `HEADLINE`
//! and `HL` are `title`, `TEXT`, `BODY` and `HTML` are `text`, and so are words outside any tag.
//! Markup inside a field is dropped, character references are decoded, and parts with the same name
//! are joined by a blank line. An unclosed field extends to the end of its document; an unclosed
//! document is an error, since it would include the next one.

use rankwright_data::{WarningKind, Warnings};

use super::cursor::Cursor;
use super::markup::{Token, Tokens};
use super::parts::FieldCollector;
use super::{DocumentReader, entities, id};
use crate::document::Document;
use crate::error::SearchError;

/// Reads documents in TREC's SGML.
pub(super) struct Trec(pub(super) Cursor);

/// The field name of a tag.
fn field_name(tag: &str) -> &str {
    match tag {
        "ttl" | "title" | "headline" | "hl" => "title",
        "text" | "body" | "html" => "text",
        "docno" | "docid" => "docno",
        other => other,
    }
}

/// A document while it is read.
#[derive(Default)]
struct TrecDraft {
    parts: FieldCollector,
    /// The tag of the current field; `None` outside of fields.
    tag: Option<String>,
    /// The text of the current field so far.
    content: Vec<u8>,
    /// Whether `<DOCNO>` was read; a later `<DOCID>` is then an ordinary field.
    has_docno: bool,
}

impl TrecDraft {
    /// Ends the current field, or the text outside of fields, and adds it to the parts.
    fn flush(
        &mut self,
        warnings: &mut Warnings,
        location: impl FnOnce() -> rankwright_data::SourceLocation,
    ) {
        let content = std::mem::take(&mut self.content);
        if content.trim_ascii().is_empty() {
            self.tag = None;
            return;
        }
        let text = entities::decode(&warnings.text(content.trim_ascii(), location));
        let tag = self.tag.take();
        match tag.as_deref() {
            Some("docno") if !self.has_docno => {
                // DOCNO takes precedence over an earlier DOCID.
                self.parts.take("docno");
                self.parts.add("docno", &text, "");
                self.has_docno = true;
            }
            Some("docid") if self.has_docno => self.parts.add("docid", &text, "\n\n"),
            Some(tag) => self.parts.add(field_name(tag), &text, "\n\n"),
            None => self.parts.add("text", &text, "\n\n"),
        }
    }

    /// Adds a space where a field has markup, unless there is whitespace already.
    fn separate_words(&mut self) {
        if self.content.last().is_some_and(|b| !b.is_ascii_whitespace()) {
            self.content.push(b' ');
        }
    }
}

impl Trec {
    /// Moves to the content of the next document; returns the line of its `<DOC>`.
    fn next_document(&mut self, warnings: &mut Warnings) -> Option<u64> {
        let start = self.0.offset();
        let mut tokens = Tokens::new(self.0.unread());
        // The first word outside of documents, and the end of the last token before `<DOC>`.
        let mut outside: Option<usize> = None;
        let mut last_end = 0;
        // The beginning of `<DOC>`, and its end.
        let found = loop {
            let token_start = tokens.offset();
            match tokens.next() {
                None => break None,
                Some(Token::Open(name)) if name == "doc" => {
                    break Some((token_start, tokens.offset()));
                }
                Some(Token::Text(range)) => {
                    let text = self.0.slice(start + range.start..start + range.end);
                    let words = text.trim_ascii_start();
                    if !words.is_empty() {
                        outside.get_or_insert(range.end - words.len());
                    }
                }
                Some(_) => {}
            }
            last_end = tokens.offset();
        };
        if let Some(outside) = outside {
            self.0.advance_to(start + outside);
            let line = self.0.line();
            warnings.add(WarningKind::OutsideText, 1, || self.0.location(line));
        }
        let Some((open, content)) = found else {
            self.0.advance_to(start + last_end);
            return None;
        };
        self.0.advance_to(start + open);
        let line = self.0.line();
        self.0.advance_to(start + content);
        Some(line)
    }

    /// Reads the document whose `<DOC>` was read, in this line.
    fn read_document(
        &mut self,
        line: u64,
        warnings: &mut Warnings,
    ) -> Result<Document, SearchError> {
        let start = self.0.location(line);
        let location = || start.clone();
        let text = self.0.unread();
        let mut tokens = Tokens::new(text);
        let mut draft = TrecDraft::default();
        let mut is_closed = false;
        for token in tokens.by_ref() {
            match token {
                Token::Close(name) if name == "doc" => {
                    is_closed = true;
                    break;
                }
                Token::Open(name) if name == "doc" => break,
                Token::Close(name) if draft.tag.as_ref() == Some(&name) => {
                    draft.flush(warnings, location);
                }
                Token::Open(name) if draft.tag.is_none() => {
                    draft.flush(warnings, location);
                    draft.tag = Some(name);
                }
                Token::Open(_) | Token::Close(_) => draft.separate_words(),
                Token::Text(range) => {
                    draft.content.extend_from_slice(text.get(range).unwrap_or(&[]));
                }
            }
        }
        if !is_closed {
            let error = SearchError::malformed(location(), "a <DOC> that is not closed", "</DOC>");
            return Err(error.with_help("close it before the next <DOC>; the file may be cut off"));
        }
        draft.flush(warnings, location);
        // Before the checks below: the reader continues after a document that they reject.
        let end = self.0.offset() + tokens.offset();
        self.0.advance_to(end);
        let Some(id) = draft.parts.take("docno") else {
            let found = "a document without <DOCNO>";
            return Err(SearchError::malformed(location(), found, "<DOCNO>id</DOCNO>"));
        };
        let id = id::checked(id, location)?;
        Ok(Document { id, fields: draft.parts.into_fields() })
    }
}

impl DocumentReader for Trec {
    fn next(&mut self, warnings: &mut Warnings) -> Option<Result<Document, SearchError>> {
        let line = self.next_document(warnings)?;
        Some(self.read_document(line, warnings))
    }

    fn position(&self) -> (u64, u64) {
        (self.0.offset() as u64, self.0.len() as u64)
    }
}
