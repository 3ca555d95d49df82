//! Comma- and tab-separated values with a header line.
//!
//! Columns get their roles by name and content (see `table`). Fields may be quoted; a byte-order
//! mark, CRLF and blank lines are accepted. A row with more or fewer fields than the header, bytes
//! that are not UTF-8, and a quote that is never closed are errors that name the line, a quote that
//! of the quote. An empty
//! cell is a missing value. The writer puts the columns qid, docid, label, weight, query_weight,
//! position first, then further columns of labels, then the features, rows in the order of the input.
//!
//! Files that spreadsheets of many countries write, with semicolons between columns and with decimal
//! commas, are recognised by their content (see `separators`).
//!
//! `fast.rs` reads files of the usual form in parallel, straight into the rows of the matrix.
//! Everything else is read here, record by record, with the csv crate: this is the reference
//! reader, and it reports errors.

mod fast;
mod separators;
// Writers index the rows and columns of the data set itself.
#[allow(clippy::indexing_slicing)]
mod write;

use std::borrow::Cow;
use std::collections::BTreeMap;

use csv::{ByteRecord, ErrorKind, Position, Reader, ReaderBuilder};
use rankwright_spec::words::counted;

use super::ReadOptions;
use super::roles::Role;
use super::table::{
    ColumnContent, RoleValues, Slot, SourceColumn, TableBuilder, TableRead, TableSchema,
    TableSource, indices_by_column, match_columns, read_table,
};
use crate::bytes::Input;
use crate::dataset::Dataset;
use crate::error::{ColumnProblem, DataError, SourceLocation, quote};
use crate::formatted_number::may_be_thousands;
use crate::open_quote::open_quote;
use crate::table_columns::{TableColumn, TableColumns};
use crate::warnings::{WarningKind, Warnings};

use separators::Separators;
pub(crate) use write::nul_in_text;
pub(super) use write::write;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads one data set from files with the same columns.
pub(super) fn read(
    inputs: &[Input],
    delimiter: u8,
    options: &ReadOptions,
    warnings: &mut Warnings,
) -> Result<(Dataset, TableColumns), DataError> {
    let table = CsvTable::open(inputs, delimiter, warnings)?;
    let names: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    let read =
        read_table(&table, options, warnings).map_err(|error| missing_header(error, &names))?;
    table.warn_of_possible_thousands(&read.1, warnings)?;
    Ok(read)
}

/// Replaces an error of the columns by `NoHeader` if most names in the first line are numbers and
/// none of the names means a role.
fn missing_header(error: DataError, names: &[String]) -> DataError {
    let is_number = |name: &&String| fast_float2::parse::<f64, _>(name.trim()).is_ok();
    let number_count = names.iter().filter(is_number).count();
    let is_data = number_count * 2 > names.len() && names.iter().all(|n| Role::guess(n).is_none());
    match error {
        DataError::Columns { file, .. } if is_data => {
            DataError::columns(&file, ColumnProblem::NoHeader)
        }
        other => other,
    }
}

/// A table in one or several files with the same columns.
struct CsvTable<'a> {
    files: Vec<CsvText<'a>>,
    /// The columns of the first file.
    columns: Vec<SourceColumn>,
}

/// One file without its byte-order mark.
struct CsvText<'a> {
    /// The name of the file.
    name: &'a str,
    bytes: &'a [u8],
    separators: Separators,
    /// The offset of the first byte after the header.
    body: usize,
    /// The names of the columns.
    names: Vec<String>,
    /// For each column, the number of the same column in the first file.
    column_numbers: Vec<usize>,
}

impl<'a> CsvTable<'a> {
    /// Reads the headers of all files, which must have the same columns.
    fn open(
        inputs: &'a [Input],
        delimiter: u8,
        warnings: &mut Warnings,
    ) -> Result<CsvTable<'a>, DataError> {
        let mut files: Vec<CsvText<'a>> = Vec::with_capacity(inputs.len());
        for input in inputs {
            let mut bytes: &[u8] = &input.bytes;
            if let Some(rest) = bytes.strip_prefix(BYTE_ORDER_MARK) {
                warnings.add(WarningKind::ByteOrderMark, 1, || SourceLocation::file(&input.name));
                bytes = rest;
            }
            let separators = Separators::of(bytes, delimiter);
            let mut records = CsvRecords::new(&input.name, bytes, separators.delimiter);
            let names = records.header()?;
            let body = records.offset();
            let column_numbers = match files.first() {
                Some(first) => {
                    let known = first.names.iter().map(String::as_str);
                    match_columns(first.name, known, &input.name, &names)?
                }
                None => (0..names.len()).collect(),
            };
            files.push(CsvText {
                name: &input.name,
                bytes,
                separators,
                body,
                names,
                column_numbers,
            });
        }
        let first = files.first().ok_or(DataError::NoInput)?;
        let columns = first.names.iter().map(SourceColumn::new).collect();
        Ok(CsvTable { files, columns })
    }

    /// Warns of columns of numbers in files with semicolons and without decimal commas: if every
    /// number with a point looks like thousands, such as `1.250`, they may be meant.
    fn warn_of_possible_thousands(
        &self,
        columns: &TableColumns,
        warnings: &mut Warnings,
    ) -> Result<(), DataError> {
        let has_points = |file: &CsvText<'_>| {
            let is_open = file.separators.delimiter == b';' && !file.separators.has_decimal_commas;
            is_open
                && file.bytes.get(file.body..).is_some_and(|b| memchr::memchr(b'.', b).is_some())
        };
        if !self.files.iter().any(has_points) {
            return Ok(());
        }
        let is_number = |column: &TableColumn| {
            let is_value = matches!(
                column.role,
                Role::Label | Role::ExtraLabel | Role::Weight | Role::QueryWeight
            );
            is_value || column.is_number()
        };
        let mut candidates: Vec<usize> = (0..)
            .zip(columns.iter())
            .filter(|(_, column)| is_number(column))
            .map(|(number, _)| number)
            .collect();
        // The first number that may be thousands, of each column.
        let mut found: BTreeMap<usize, (String, SourceLocation)> = BTreeMap::new();
        for file in &self.files {
            let mut records = CsvRecords::new(file.name, file.bytes, file.separators.delimiter);
            records.header()?;
            let mut record = ByteRecord::new();
            let mut targets = file.survey_targets(&candidates);
            while !targets.is_empty() && records.next(&mut record)? {
                targets.retain(|(cell, target)| {
                    let cell = record.get(*cell).unwrap_or_default().trim_ascii();
                    let has_point = cell.contains(&b'.');
                    if has_point && may_be_thousands(cell) {
                        if let Some(column) = candidates.get(*target) {
                            found.entry(*column).or_insert_with(|| {
                                let text = String::from_utf8_lossy(cell).into_owned();
                                (text, records.location(&record))
                            });
                        }
                        return true;
                    }
                    !has_point
                });
            }
            let left: Vec<usize> = targets.iter().map(|(_, target)| *target).collect();
            candidates = left.iter().filter_map(|at| candidates.get(*at).copied()).collect();
        }
        candidates.sort_unstable();
        for column in candidates {
            let (Some((text, location)), Some(source)) =
                (found.remove(&column), self.columns.get(column))
            else {
                continue;
            };
            let (kind, name) = (WarningKind::PossibleThousands, source.name.clone());
            warnings.add_column_with_example(kind, name, text, || location);
        }
        Ok(())
    }

    /// The reference version of `survey`: counts cells record by record.
    fn survey_by_record(
        &self,
        columns: &[usize],
        rows: Option<usize>,
    ) -> Result<Vec<ColumnContent>, DataError> {
        let mut contents = vec![ColumnContent::default(); columns.len()];
        // The first rows are those of the first file.
        let file_count = if rows.is_some() { 1 } else { self.files.len() };
        for file in self.files.iter().take(file_count) {
            for content in &mut contents {
                content.has_decimal_commas = file.separators.has_decimal_commas;
            }
            let targets = file.survey_targets(columns);
            let mut records = CsvRecords::new(file.name, file.bytes, file.separators.delimiter);
            records.header()?;
            let mut record = ByteRecord::new();
            let mut rows_left = rows.unwrap_or(usize::MAX);
            while rows_left > 0 && records.next(&mut record)? {
                rows_left -= 1;
                for &(cell, target) in &targets {
                    if let (Some(cell), Some(content)) =
                        (record.get(cell), contents.get_mut(target))
                    {
                        content.add(cell, || records.location(&record));
                    }
                }
            }
        }
        Ok(contents)
    }

    /// The reference version of `read`: reads all rows record by record.
    fn read_by_record(
        &self,
        schema: TableSchema,
        options: &ReadOptions,
        warnings: &mut Warnings,
    ) -> Result<TableRead, DataError> {
        let mut table = TableBuilder::new(schema, options);
        for file in &self.files {
            // The target of each cell of a record.
            let slots: Vec<Slot> =
                file.column_numbers.iter().map(|number| table.schema().slot_of(*number)).collect();
            let mut records = CsvRecords::new(file.name, file.bytes, file.separators.delimiter);
            records.header()?;
            let mut record = ByteRecord::new();
            while records.next(&mut record)? {
                table.add_row(file.name, f32::NAN)?;
                let mut role_values = RoleValues::default();
                for ((cell, slot), column) in record.iter().zip(&slots).zip(&file.names) {
                    let location = || records.location(&record).in_field(column);
                    let number = file.number_cell(*slot, cell);
                    let is_exchanged = *number != *cell;
                    let read = match *slot {
                        Slot::Role(Role::Ignore) => Ok(()),
                        slot @ (Slot::Role(_) | Slot::ExtraLabel(_)) => {
                            let text = match number {
                                Cow::Borrowed(bytes) => Cow::Borrowed(text(bytes, location)?),
                                Cow::Owned(bytes) => text(&bytes, location)?.to_owned().into(),
                            };
                            let set = role_values.set_text(slot, text);
                            set.map_err(|problem| problem.at(location()))
                        }
                        // If the cell is not UTF-8, that is the error to report.
                        slot => table
                            .set_in_last_row(slot, &number, location)
                            .map_err(|error| text(cell, location).err().unwrap_or(error)),
                    };
                    read.map_err(|error| match is_exchanged {
                        true => DataError::malformed(location(), quote(cell), DECIMAL_COMMA),
                        false => error,
                    })?;
                }
                table.end_row(role_values, || records.location(&record))?;
            }
        }
        table.finish(warnings)
    }
}

impl TableSource for CsvTable<'_> {
    fn file(&self) -> &str {
        self.files.first().map_or("", |file| file.name)
    }

    fn columns(&self) -> &[SourceColumn] {
        &self.columns
    }

    fn has_text_type(&self) -> bool {
        false
    }

    fn survey(
        &self,
        columns: &[usize],
        rows: Option<usize>,
    ) -> Result<Vec<ColumnContent>, DataError> {
        match rows {
            None => match fast::survey(self, columns) {
                Some(contents) => Ok(contents),
                None => self.survey_by_record(columns, rows),
            },
            rows => self.survey_by_record(columns, rows),
        }
    }

    fn read(
        &self,
        schema: TableSchema,
        options: &ReadOptions,
        warnings: &mut Warnings,
    ) -> Result<TableRead, DataError> {
        let mut fast_warnings = Warnings::default();
        match fast::read(self, &schema, options, &mut fast_warnings)? {
            Some(read) => {
                warnings.merge(fast_warnings);
                Ok(read)
            }
            None => self.read_by_record(schema, options, warnings),
        }
    }
}

/// The expected value in the error for a cell such as `1.5` in a file with decimal commas.
const DECIMAL_COMMA: &str = "a number with a decimal comma, as this file has them";

impl CsvText<'_> {
    /// The text of a cell for a slot: a number with the decimal point that parsers expect, any other
    /// text as it is.
    fn number_cell<'c>(&self, slot: Slot, cell: impl Into<Cow<'c, [u8]>>) -> Cow<'c, [u8]> {
        match slot {
            Slot::Category { .. }
            | Slot::Time { .. }
            | Slot::Role(Role::Query | Role::Docid | Role::Ignore) => cell.into(),
            Slot::Number { .. } | Slot::Role(_) | Slot::ExtraLabel(_) => {
                self.separators.with_point(cell.into())
            }
        }
    }

    /// The numbers of the cells of a record that belong to these columns, each with the index of
    /// its column in `columns`.
    fn survey_targets(&self, columns: &[usize]) -> Vec<(usize, usize)> {
        let indices = indices_by_column(columns);
        let cells = self.column_numbers.iter().enumerate();
        cells.filter_map(|(cell, number)| Some((cell, *indices.get(number)?))).collect()
    }
}

/// The number of the line at an offset, from 1. Line ends at the offset itself belong to the
/// previous record: the csv crate leaves the second byte of CRLF there.
fn line_at(bytes: &[u8], offset: usize) -> u64 {
    let rest = bytes.get(offset..).unwrap_or(&[]);
    let ends = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let before = bytes.get(..offset + ends).unwrap_or(bytes);
    memchr::memchr_iter(b'\n', before).count() as u64 + 1
}

/// Reads the records of a file one after the other, with the csv crate.
struct CsvRecords<'a> {
    name: &'a str,
    bytes: &'a [u8],
    delimiter: u8,
    reader: Reader<&'a [u8]>,
}

impl<'a> CsvRecords<'a> {
    fn new(name: &'a str, bytes: &'a [u8], delimiter: u8) -> Self {
        let reader =
            ReaderBuilder::new().delimiter(delimiter).has_headers(false).from_reader(bytes);
        CsvRecords { name, bytes, delimiter, reader }
    }

    /// The offset after the last record.
    fn offset(&self) -> usize {
        self.reader.position().byte() as usize
    }

    fn location_at(&self, position: Option<&Position>) -> SourceLocation {
        let offset = position.map_or(0, Position::byte) as usize;
        SourceLocation::line(self.name, line_at(self.bytes, offset))
    }

    fn location(&self, record: &ByteRecord) -> SourceLocation {
        self.location_at(record.position())
    }

    fn header(&mut self) -> Result<Vec<String>, DataError> {
        let mut record = ByteRecord::new();
        if !self.next(&mut record)? {
            return Err(DataError::Empty { file: self.name.to_owned(), what: "rows" });
        }
        let location = || self.location(&record);
        record.iter().map(|cell| text(cell, location).map(str::to_owned)).collect()
    }

    /// The next record that is not blank; `false` at the end of the file.
    fn next(&mut self, record: &mut ByteRecord) -> Result<bool, DataError> {
        let read = self.reader.read_byte_record(record);
        let start = match &read {
            Ok(_) => record.position(),
            Err(error) => error.position(),
        };
        if let Some(offset) = start.and_then(|start| self.open_quote(start.byte())) {
            let location = SourceLocation::line(self.name, line_at(self.bytes, offset));
            let expected = "a closing quote at the end of the cell";
            return Err(DataError::malformed(location, "a quote that is never closed", expected));
        }
        read.map_err(|error| self.error(error))
    }

    /// The offset of a quote that is never closed, in the record at offset `start`: the csv crate
    /// takes the following lines as a part of its cell.
    fn open_quote(&self, start: u64) -> Option<usize> {
        let end = usize::try_from(self.reader.position().byte()).ok()?;
        let record = self.bytes.get(usize::try_from(start).ok()?..end)?;
        // The line end of the record before may stand at its start.
        let blanks = record.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let record = record.get(blanks..)?;
        memchr::memchr(b'\n', record.trim_ascii_end())?;
        Some(end - record.len() + open_quote(record, self.delimiter)?)
    }

    /// Converts an error of the csv crate.
    fn error(&self, error: csv::Error) -> DataError {
        let location = self.location_at(error.position());
        match error.into_kind() {
            ErrorKind::UnequalLengths { expected_len, len, .. } => DataError::malformed(
                location,
                counted(len as usize, "field"),
                format!("{expected_len}, as many as the header has"),
            ),
            ErrorKind::Io(error) => DataError::io("read", self.name, error),
            other => DataError::malformed(location, format!("{other:?}"), "separated values"),
        }
    }
}

/// The text of a cell; an error if it is not UTF-8.
fn text(cell: &[u8], location: impl Fn() -> SourceLocation) -> Result<&str, DataError> {
    std::str::from_utf8(cell).map_err(|_| {
        DataError::malformed(location(), format!("bytes {}", quote(cell)), "UTF-8 text")
            .with_help("save the file as UTF-8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Roles;

    fn read_text(text: &[u8], options: &ReadOptions) -> Result<(Dataset, Warnings), String> {
        let input = Input::from_bytes("t.csv", text.to_vec()).unwrap();
        let mut warnings = Warnings::default();
        let read = read(&[input], b',', options, &mut warnings).map_err(|e| e.to_string())?;
        Ok((read.0, warnings))
    }

    fn read_with_defaults(text: &str) -> Result<(Dataset, Warnings), String> {
        read_text(text.as_bytes(), &ReadOptions::default())
    }

    /// Regression: prices such as 1.250 in a file with semicolons were read as 1.25 without a word.
    #[test]
    fn numbers_that_may_be_thousands_are_named() {
        let notes = |text: &str| {
            let (data, warnings) = read_with_defaults(text).unwrap();
            let notes: Vec<String> = warnings.iter().map(ToString::to_string).collect();
            (data.matrix().get(1, 0), notes)
        };
        let note = "t.csv:3: column 'price' is read with decimal points, but each number with a \
                    point may be thousands, such as '1.250'; where thousands are meant, write the \
                    numbers without separators of thousands";
        let text = "qid;label;price;x\n1;0;950;1.5\n1;1;1.250;2.125\n1;1;2.400;7\n";
        assert_eq!(notes(text), (1.25, vec![note.to_owned()]));
        assert_eq!(notes(&text.replace("950", "9.5")).1, [""; 0]);
        assert_eq!(notes(&text.replace(';', ",")).1, [""; 0]);
    }

    /// A search through all columns for each of them would take minutes.
    #[test]
    fn a_table_of_very_many_columns_is_read() {
        let count = 400_000;
        let names: Vec<String> = (0..count).map(|number| format!("f{number}")).collect();
        let cells = vec!["7"; count];
        let text = format!("qid,label,{}\nq,1,{}\n", names.join(","), cells.join(","));
        let (data, _) = read_with_defaults(&text).unwrap();
        assert_eq!((data.rows(), data.columns()), (1, count));
        assert_eq!(data.matrix().get(0, count - 1), 7.0);
    }

    #[test]
    fn a_further_file_with_one_column_more_is_refused() {
        let input = |name: &str, text: &str| Input::from_bytes(name, text.into()).unwrap();
        let first = input("a.csv", "qid,label,x\nq,1,2\n");
        // The added column is in the middle: read by position, labels would become features.
        let second = input("b.csv", "qid,more,label,x\nq,7,0,3\n");
        let mut warnings = Warnings::default();
        let read = read(&[first, second], b',', &ReadOptions::default(), &mut warnings);
        let error = read.unwrap_err().to_string();
        assert!(error.contains("b.csv") && error.contains("'more'"), "{error}");
    }

    #[test]
    fn quotes_byte_order_marks_line_ends_and_missing_cells_are_read() {
        let text = "\u{feff}qid,\"doc\"\"id\",label,a,b\r\n\"x, y\",\"d\n1\",2,NULL,1e-3\r\n\r\nz,,0,,inf\r\n";
        let options =
            ReadOptions { roles: Roles::parse("docid=doc\"id").unwrap(), ..ReadOptions::default() };
        let (data, warnings) = read_text(text.as_bytes(), &options).unwrap();
        assert_eq!(data.query_ids().iter().collect::<Vec<_>>(), ["x, y", "z"]);
        assert_eq!(data.doc_ids().unwrap().get(0), "d\n1");
        assert_eq!(data.labels(), [2.0, 0.0]);
        assert_eq!(data.matrix().get(0, 1), 1e-3);
        assert!(data.matrix().get(0, 0).is_nan() && data.matrix().get(1, 0).is_nan());
        assert_eq!(data.matrix().get(1, 1), f32::INFINITY);
        assert_eq!(warnings.count(WarningKind::ByteOrderMark), 1);
        assert_eq!(warnings.count(WarningKind::MissingValues), 1);
        assert_eq!(warnings.count(WarningKind::RowsWithoutDocid), 1);
    }

    #[test]
    fn errors_name_line_and_column() {
        let error = |text: &str| read_with_defaults(text).unwrap_err();
        assert_eq!(
            error("qid,label,a\n1,0,1\n1,0,x\n"),
            "t.csv: column 'a' has numbers and texts (the first text, 'x', is at t.csv:3)"
        );
        assert_eq!(
            error("qid,label,a\n1,0\n"),
            "t.csv:2: found 2 fields, expected 3, as many as the header has"
        );
        assert!(error("qid,label\n1,\n").starts_with("t.csv:2 (column 'label'): found nothing"));
        assert!(error("qid,label\n,1\n").starts_with("t.csv:2 (column 'qid'): found nothing"));
        assert!(error("1,2,3\n4,5,6\n").contains("a header with column names is needed"));
        assert!(error("qid,label,a\n1,0,2\n1,0,\"3\n1,0,4\n").contains("never closed"));
        assert_eq!(error("qid,label,a\n"), "t.csv holds no rows");
        let bytes = b"qid,label\n\xff\xfe,1\n";
        let error = read_text(bytes, &ReadOptions::default()).unwrap_err();
        assert!(error.starts_with("t.csv:2 (column 'qid'): found bytes '"), "{error}");
    }

    #[test]
    fn two_files_may_have_their_columns_in_different_orders() {
        let inputs = ["qid,label,a,b\n1,0,1,2\n", "b,a,qid,label\n4,3,1,1\n"]
            .map(|text| Input::from_bytes("t.csv", text.into()).unwrap());
        let (data, _) =
            read(&inputs, b',', &ReadOptions::default(), &mut Warnings::default()).unwrap();
        assert_eq!(data.matrix().values(), [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn a_table_without_features_or_labels_is_fine() {
        let (data, _) = read_with_defaults("qid,label\n1,0\n1,2\n").unwrap();
        assert_eq!((data.rows(), data.columns()), (2, 0));
        let options =
            ReadOptions { roles: Roles::parse("label=none").unwrap(), ..ReadOptions::default() };
        let (data, _) = read_text(b"qid,a\n1,5\n", &options).unwrap();
        assert_eq!(data.labels(), [0.0]);
    }

    #[test]
    fn written_fields_are_quoted_where_they_must_be() {
        let (data, _) = read_with_defaults("qid,docid,label,a\n\"a\"\"b,c\",x y,1,\n").unwrap();
        let mut out = Vec::new();
        write(&data, b',', &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "qid,docid,label,a\n\"a\"\"b,c\",x y,1,\n");
    }
}
