//! Documents as rows of a table with a header line: CSV and TSV.
//!
//! The id is the column `id`, or one of the other names in `id::DOCUMENT_ID_FIELDS`, else the first
//! column; or rows are numbered where the caller allows it
//! ([`Documents::rows_without_ids`](super::Documents::rows_without_ids)). Every value stays text, since only a schema can decide whether `1984` is a number or a
//! title; an empty cell is absent. CSV is quoted as usual; in TSV a quotation mark is an ordinary
//! character, since collections have unpaired ones, and an unpaired mark must not hide the
//! following rows. A CSV file whose header has more semicolons than commas is separated by semicolons;
//! in it, a cell that is a number with a decimal comma, such as `12,50`, gets a decimal point.

use std::collections::HashSet;
use std::io::{self, Read};

use csv::{ByteRecord, ReaderBuilder};
use rankwright_data::bytes::{Bytes, Input};
use rankwright_data::content_stream::ContentStream;
use rankwright_data::{
    DataError, SourceLocation, Warnings, is_decimal_comma, is_split_by_semicolons, open_quote,
};
use rankwright_spec::words::counted;

use super::{DocumentReader, id};
use crate::document::{Document, Value};
use crate::error::SearchError;

/// The text of a table in the form that the csv crate takes: bytes, and for a compressed file the
/// stream of the bytes after them.
struct TableText {
    bytes: Bytes,
    /// The next of `bytes` to read.
    offset: usize,
    stream: Option<ContentStream>,
    /// Bytes of the stream that were read for the current row, whose size is limited.
    row_bytes: u64,
}

impl Read for TableText {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.get(self.offset..).unwrap_or(&[]).read(buffer)?;
        self.offset += read;
        let Some(stream) = self.stream.as_mut().filter(|_| read == 0) else { return Ok(read) };
        if self.row_bytes > stream.max_kept_bytes() {
            return Err(io::Error::other(stream.too_large()));
        }
        let read = stream.read(buffer)?;
        self.row_bytes += read as u64;
        Ok(read)
    }
}

/// Reads the rows of a table as documents.
pub(super) struct TableSource {
    name: String,
    /// Number of bytes of a table in memory.
    length: u64,
    reader: csv::Reader<TableText>,
    /// Names of the columns.
    columns: Vec<String>,
    /// The index of the column of the id; `None` if documents are numbered.
    id: Option<usize>,
    /// Whether that column is called as an id.
    has_named_id: bool,
    /// Number of documents of the collection before this table.
    documents_before: u64,
    /// The byte between cells, where cells may have quotes.
    quoted_delimiter: Option<u8>,
    /// The offset in the bytes of the file at which the reader began.
    start: usize,
    /// Whether cells such as `12,50` are numbers.
    reads_decimal_commas: bool,
    /// The last row that was read.
    row: ByteRecord,
}

impl TableSource {
    /// The table of an input that is in memory.
    pub(super) fn new(
        input: Input,
        delimiter: u8,
        warnings: &mut Warnings,
    ) -> Result<TableSource, SearchError> {
        let Input { name, bytes, .. } = input;
        let text = TableText { bytes, offset: 0, stream: None, row_bytes: 0 };
        TableSource::of_text(name, text, delimiter, warnings)
    }

    /// The table of a compressed file of which `beginning` was already read.
    pub(super) fn streamed(
        stream: ContentStream,
        beginning: Vec<u8>,
        delimiter: u8,
        warnings: &mut Warnings,
    ) -> Result<TableSource, SearchError> {
        let name = stream.name().to_owned();
        let bytes = beginning.into();
        let text = TableText { bytes, offset: 0, stream: Some(stream), row_bytes: 0 };
        TableSource::of_text(name, text, delimiter, warnings)
    }

    /// Reads the header line.
    fn of_text(
        name: String,
        mut text: TableText,
        delimiter: u8,
        warnings: &mut Warnings,
    ) -> Result<TableSource, SearchError> {
        text.offset = if text.bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let length = text.bytes.len() as u64;
        let header = text.bytes.get(text.offset..).unwrap_or(&[]).trim_ascii_start();
        let header = header.split(|byte| *byte == b'\n').next().unwrap_or(&[]);
        let has_semicolons = delimiter == b',' && is_split_by_semicolons(header);
        let start = text.offset;
        let has_quotes = delimiter == b',';
        let delimiter = if has_semicolons { b';' } else { delimiter };
        let mut reader = ReaderBuilder::new()
            .delimiter(delimiter)
            .quoting(has_quotes)
            .flexible(true)
            .has_headers(false)
            .from_reader(text);
        let mut row = ByteRecord::new();
        reader.read_byte_record(&mut row).map_err(|error| csv_error(&name, error))?;
        let location = || SourceLocation::line(&name, 1);
        let columns: Vec<String> =
            row.iter().map(|cell| warnings.text(cell, location).trim().to_owned()).collect();
        let mut seen = HashSet::new();
        if let Some(repeated) = columns.iter().find(|column| !seen.insert(column.as_str())) {
            let found = format!("two columns named '{repeated}'");
            return Err(SearchError::malformed(location(), found, "a header with distinct names"));
        }
        let id = id::find_name(&id::DOCUMENT_ID_FIELDS, columns.iter().map(String::as_str));
        Ok(TableSource {
            name,
            length,
            reader,
            columns,
            id: Some(id.unwrap_or(0)),
            has_named_id: id.is_some(),
            documents_before: 0,
            quoted_delimiter: has_quotes.then_some(delimiter),
            start,
            reads_decimal_commas: has_semicolons,
            row,
        })
    }

    /// The number of lines of the last row before a quote that is never closed, if it has one: the
    /// reader takes the following lines as a part of its cell. Rows of a compressed file, whose bytes
    /// are gone, are not looked at.
    fn open_quote(&self) -> Option<u64> {
        let delimiter = self.quoted_delimiter?;
        let has_lines = self.row.iter().any(|cell| cell.contains(&b'\n'));
        let first = self.row.position().filter(|_| has_lines)?.byte();
        let offset = |byte: u64| Some(self.start + usize::try_from(byte).ok()?);
        let text = self.reader.get_ref();
        let row = text.bytes.get(offset(first)?..offset(self.reader.position().byte())?)?;
        // The reader counts the second byte of a CRLF to the row after it.
        let blanks = row.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let before = row.get(..blanks + open_quote(row.get(blanks..)?, delimiter)?)?;
        Some(before.iter().filter(|byte| **byte == b'\n').count() as u64)
    }

    /// The document of the last row that was read.
    fn document(&self, warnings: &mut Warnings) -> Result<Document, SearchError> {
        let line = self.row.position().map_or(0, csv::Position::line);
        let location = || SourceLocation::line(&self.name, line);
        if let Some(lines_before) = self.open_quote() {
            let location = SourceLocation::line(&self.name, line + lines_before);
            let expected = "a closing quote at the end of the cell";
            return Err(SearchError::malformed(location, "a quote that is never closed", expected));
        }
        if self.row.len() != self.columns.len() {
            let found = format!("a row of {}", counted(self.row.len(), "cell"));
            let expected = format!(
                "{}, one for each column of the header",
                counted(self.columns.len(), "cell")
            );
            return Err(SearchError::malformed(location(), found, expected));
        }
        // The header is record 0, so that the first row is document 1 of the table.
        let number = self.documents_before + self.row.position().map_or(0, csv::Position::record);
        let mut document = Document::new(number.to_string());
        for (i, (name, cell)) in self.columns.iter().zip(self.row.iter()).enumerate() {
            let text = warnings.text(cell, || location().in_field(name));
            if Some(i) == self.id {
                document.id = id::checked(text, || location().in_field(name))?;
            } else if !text.is_empty() {
                let is_number = self.reads_decimal_commas && is_decimal_comma(text.trim());
                let text = if is_number { text.replace(',', ".") } else { text };
                document.fields.push((name.clone(), Value::Text(text)));
            }
        }
        Ok(document)
    }
}

/// Number of rows by whose first cells a table without a column of ids is judged.
const JUDGED_ROWS: usize = 20;

impl TableSource {
    /// Whether the first cells of the first rows are all numbers, and one of them has a fraction: such
    /// numbers are no ids.
    fn begins_with_fractions(&self) -> bool {
        let text = self.reader.get_ref();
        let rows = text.bytes.split(|byte| *byte == b'\n').skip(1).take(JUDGED_ROWS);
        let separators: &[u8] = if self.reads_decimal_commas { b";" } else { b",\t" };
        let cell = |row: &[u8]| {
            let cell = row.split(|byte| separators.contains(byte)).next()?;
            let cell = std::str::from_utf8(cell.trim_ascii()).ok()?;
            Some(if self.reads_decimal_commas { cell.replace(',', ".") } else { cell.to_owned() })
        };
        let mut cells = rows.filter(|row| !row.trim_ascii().is_empty()).map(cell).peekable();
        let mut has_fraction = false;
        cells.peek().is_some()
            && cells.all(|cell| {
                let Some(cell) = cell else { return false };
                has_fraction |= cell.contains('.');
                cell.parse::<f64>().is_ok_and(f64::is_finite)
            })
            && has_fraction
    }
}

/// An error of the csv crate: an error of reading, or of the form of the table.
fn csv_error(file: &str, error: csv::Error) -> SearchError {
    let line = error.position().map(csv::Position::line);
    let text = error.to_string();
    match error.into_kind() {
        // Only a stream fails; its errors contain a `DataError`.
        csv::ErrorKind::Io(error) => match error.downcast::<DataError>() {
            Ok(error) => error.into(),
            Err(error) => DataError::io("read", file, error).into(),
        },
        _ => {
            let location = SourceLocation { line, ..SourceLocation::file(file) };
            SearchError::malformed(location, text, "a table")
        }
    }
}

impl DocumentReader for TableSource {
    fn next(&mut self, warnings: &mut Warnings) -> Option<Result<Document, SearchError>> {
        self.reader.get_mut().row_bytes = 0;
        let mut row = std::mem::take(&mut self.row);
        let has_row = self.reader.read_byte_record(&mut row);
        self.row = row;
        match has_row {
            Ok(true) => Some(self.document(warnings)),
            Ok(false) => None,
            Err(error) => Some(Err(csv_error(&self.name, error))),
        }
    }

    fn number_rows(&mut self, fields: &[String], documents_before: u64) {
        let is_field = self.columns.first().is_some_and(|first| fields.contains(first));
        if !self.has_named_id && (is_field || self.begins_with_fractions()) {
            self.id = None;
            self.documents_before = documents_before;
        }
    }

    fn position(&self) -> (u64, u64) {
        match &self.reader.get_ref().stream {
            Some(stream) => stream.position(),
            None => (self.reader.position().byte(), self.length),
        }
    }
}
