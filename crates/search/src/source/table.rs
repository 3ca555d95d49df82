//! Documents as rows of a table with a header line: CSV and TSV.
//!
//! The id is the column `id`, `_id`, `docid`, `doc_id`, `docno` or `key`, else the first. Every
//! value stays text, since only a schema can decide whether `1984` is a number or a title; an empty
//! cell is absent. CSV is quoted as usual; in TSV a quotation mark is an ordinary character, since
//! collections have unpaired ones, and one quote must not swallow the following rows.

use std::collections::HashSet;
use std::io::{self, Read};

use csv::{ByteRecord, ReaderBuilder};
use rankwright_data::bytes::{Bytes, Input};
use rankwright_data::{SourceLocation, Warnings};
use rankwright_spec::words::counted;

use super::{DocumentReader, id};
use crate::document::{Document, Value};
use crate::error::SearchError;

/// Bytes in the form that the csv crate takes.
struct CsvBytes {
    bytes: Bytes,
    offset: usize,
}

impl Read for CsvBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.get(self.offset..).unwrap_or(&[]).read(buffer)?;
        self.offset += read;
        Ok(read)
    }
}

pub(super) struct TableSource {
    name: String,
    length: u64,
    reader: csv::Reader<CsvBytes>,
    columns: Vec<String>,
    /// The column of the id.
    id: usize,
    row: ByteRecord,
}

impl TableSource {
    pub(super) fn new(
        input: Input,
        delimiter: u8,
        warnings: &mut Warnings,
    ) -> Result<TableSource, SearchError> {
        let Input { name, bytes, .. } = input;
        let offset = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let length = bytes.len() as u64;
        let mut reader = ReaderBuilder::new()
            .delimiter(delimiter)
            .quoting(delimiter == b',')
            .flexible(true)
            .has_headers(false)
            .from_reader(CsvBytes { bytes, offset });
        let mut row = ByteRecord::new();
        reader.read_byte_record(&mut row).map_err(|error| csv_error(&name, &error))?;
        let location = || SourceLocation::line(&name, 1);
        let columns: Vec<String> =
            row.iter().map(|cell| warnings.text(cell, location).trim().to_owned()).collect();
        let mut seen = HashSet::new();
        if let Some(twice) = columns.iter().find(|column| !seen.insert(column.as_str())) {
            let found = format!("two columns named '{twice}'");
            return Err(SearchError::malformed(location(), found, "a header with distinct names"));
        }
        let id =
            id::position(&id::DOCUMENT_ID_FIELDS, columns.iter().map(String::as_str)).unwrap_or(0);
        Ok(TableSource { name, length, reader, columns, id, row })
    }

    fn document(&self, warnings: &mut Warnings) -> Result<Document, SearchError> {
        let line = self.row.position().map_or(0, csv::Position::line);
        let location = || SourceLocation::line(&self.name, line);
        if self.row.len() != self.columns.len() {
            let found = format!("a row of {}", counted(self.row.len(), "cell"));
            let expected = format!(
                "{}, one for each column of the header",
                counted(self.columns.len(), "cell")
            );
            return Err(SearchError::malformed(location(), found, expected));
        }
        let mut document = Document::new("");
        for (at, (name, cell)) in self.columns.iter().zip(self.row.iter()).enumerate() {
            let text = warnings.text(cell, || location().in_field(name));
            if at == self.id {
                document.id = id::checked(text, || location().in_field(name))?;
            } else if !text.is_empty() {
                document.fields.push((name.clone(), Value::Text(text)));
            }
        }
        Ok(document)
    }
}

fn csv_error(file: &str, error: &csv::Error) -> SearchError {
    let line = error.position().map(csv::Position::line);
    let location = SourceLocation { line, ..SourceLocation::file(file) };
    SearchError::malformed(location, error.to_string(), "a table")
}

impl DocumentReader for TableSource {
    fn next(&mut self, warnings: &mut Warnings) -> Option<Result<Document, SearchError>> {
        let mut row = std::mem::take(&mut self.row);
        let more = self.reader.read_byte_record(&mut row);
        self.row = row;
        match more {
            Ok(true) => Some(self.document(warnings)),
            Ok(false) => None,
            Err(error) => Some(Err(csv_error(&self.name, &error))),
        }
    }

    fn position(&self) -> (u64, u64) {
        (self.reader.position().byte(), self.length)
    }
}
