//! Click logs as tables of text: comma-separated (CSV) or tab-separated (TSV) columns with a
//! header. `columns.rs` has the roles of columns, `rows.rs` makes pages of rows.

use std::borrow::Cow;

use csv::{ByteRecord, ErrorKind, ReaderBuilder};
use rankwright_data::{DataError, SourceLocation, quote};

use super::columns::column_of;
use super::input::{LogInput, read_error};
use super::options::LogOptions;
use super::record::RecordBatch;
use super::rows::{LogCell, RowGrouper, RowProblem, read_row};

/// Reads the rows of a table.
pub(super) fn read(
    input: &mut LogInput,
    delimiter: u8,
    options: &LogOptions,
    send: &mut dyn FnMut(RecordBatch) -> bool,
) -> Result<(), DataError> {
    let name = input.name().to_owned();
    let mut reader =
        ReaderBuilder::new().delimiter(delimiter).has_headers(false).from_reader(input);
    let mut record = ByteRecord::new();
    let read_next = |reader: &mut csv::Reader<&mut LogInput>, record: &mut ByteRecord| {
        let is_read = reader.read_byte_record(record);
        let line = record.position().map_or(1, csv::Position::line);
        is_read.map(|is_read| is_read.then_some(line)).map_err(|error| csv_error(&name, error))
    };
    let Some(line) = read_next(&mut reader, &mut record)? else { return Ok(()) };
    let header: Vec<String> =
        record.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_owned()).collect();
    let roles = options.columns.checked_roles(&header, SourceLocation::line(&name, line))?;
    let (mut grouper, mut batch) = (RowGrouper::default(), RecordBatch::default());
    while let Some(line) = read_next(&mut reader, &mut record)? {
        let mut cells = Vec::with_capacity(roles.len());
        for ((role, column), cell) in roles.iter().zip(&header).zip(record.iter()) {
            let Some(role) = role else { continue };
            let text = std::str::from_utf8(cell).map_err(|_| {
                let location = SourceLocation::line(&name, line).in_field(column);
                DataError::malformed(location, format!("bytes {}", quote(cell)), "UTF-8 text")
            })?;
            let cell = match text.is_empty() {
                true => LogCell::Missing,
                false => LogCell::Text(Cow::Borrowed(text)),
            };
            cells.push((*role, cell));
        }
        let row = read_row(cells).map_err(|RowProblem { role, found, expected }| {
            let column = column_of(role, &roles, &header);
            let location = SourceLocation::line(&name, line).in_field(column);
            DataError::malformed(location, found, expected)
        })?;
        grouper.add(row, &mut batch);
        if batch.is_full() && !send(std::mem::take(&mut batch)) {
            return Ok(());
        }
    }
    grouper.finish(&mut batch);
    send(batch);
    Ok(())
}

/// Whether the first line of a text has the columns of a log; if roles are given, two columns
/// are enough.
pub(super) fn is_table(beginning: &[u8], delimiter: u8, options: &LogOptions) -> bool {
    let line = beginning.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut reader = ReaderBuilder::new().delimiter(delimiter).has_headers(false).from_reader(line);
    let mut record = ByteRecord::new();
    let is_read = reader.read_byte_record(&mut record).unwrap_or(false);
    let columns: Vec<Cow<'_, str>> = record.iter().map(String::from_utf8_lossy).collect();
    let is_header =
        options.columns.fit(&columns) || (!options.columns.is_empty() && columns.len() > 1);
    is_read && is_header
}

fn csv_error(name: &str, error: csv::Error) -> DataError {
    let line = error.position().map(csv::Position::line);
    match error.into_kind() {
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            let location = SourceLocation { line, ..SourceLocation::file(name) };
            let cells = |count| rankwright_spec::words::counted(count, "cell");
            let found = cells(usize::try_from(len).unwrap_or(usize::MAX));
            let expected = usize::try_from(expected_len).unwrap_or(usize::MAX);
            DataError::malformed(location, found, format!("{}, as in the header", cells(expected)))
        }
        ErrorKind::Io(error) => read_error(name, error),
        other => {
            let location = SourceLocation { line, ..SourceLocation::file(name) };
            DataError::malformed(location, format!("{other:?}"), "a table")
        }
    }
}
