//! Comma- and tab-separated values with a header line.
//!
//! Columns get their roles by name (see `roles`). Fields may be quoted; a byte-order mark, CRLF and
//! blank lines are accepted. A row with more or fewer fields than the header, bytes that are not
//! UTF-8, and a quote that is never closed are errors with their line. An empty cell is a missing
//! value. The writer puts the columns qid, docid, label, weight, query_weight, position first, then
//! the features, rows in the order of the input.

// Writers index the rows and columns of the data set itself.
#[allow(clippy::indexing_slicing)]
mod write;

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use rankwright_spec::words::counted;

use super::ReadOptions;
use super::roles::Role;
use super::table::{self, Fields, Slot, TableBuilder, TableSchema};
use crate::bytes::Input;
use crate::dataset::Dataset;
use crate::error::{ColumnProblem, DataError, SourceLocation, quote};
use crate::warnings::{WarningKind, Warnings};

pub(super) use write::write;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads one data set from files with the same columns.
pub(super) fn read(
    inputs: &[Input],
    delimiter: u8,
    options: &ReadOptions,
    warnings: &mut Warnings,
) -> Result<Dataset, DataError> {
    let mut table: Option<TableBuilder<'_>> = None;
    for input in inputs {
        let mut file = CsvFile::open(input, delimiter, warnings)?;
        let names = file.header()?;
        let (into, slots) = match table.take() {
            Some(known) => {
                let slots = known.schema().slots(&input.name, &names)?;
                (known, slots)
            }
            None => {
                let schema = TableSchema::new(&input.name, &names, &options.roles)
                    .map_err(|error| missing_header(error, &names))?;
                let slots = schema.columns().iter().map(|(_, slot)| *slot).collect();
                (TableBuilder::new(schema, options), slots)
            }
        };
        table = Some(file.rows(into, &slots, &names)?);
    }
    table.ok_or(DataError::NoInput)?.finish(warnings)
}

/// Replaces an error of the columns by `NoHeader` if the first line consists of numbers and none of
/// them is a known column name.
fn missing_header(error: DataError, names: &[String]) -> DataError {
    let is_number = |name: &&String| fast_float2::parse::<f64, _>(name.trim()).is_ok();
    let numbers = names.iter().filter(is_number).count();
    let is_data = numbers * 2 > names.len() && names.iter().all(|n| Role::guess(n).is_none());
    match error {
        DataError::Columns { file, .. } if is_data => {
            DataError::columns(&file, ColumnProblem::NoHeader)
        }
        other => other,
    }
}

/// The file that is being read.
struct CsvFile<'a> {
    name: &'a str,
    bytes: &'a [u8],
    reader: Reader<&'a [u8]>,
}

impl<'a> CsvFile<'a> {
    fn open(input: &'a Input, delimiter: u8, warnings: &mut Warnings) -> Result<Self, DataError> {
        let mut bytes: &[u8] = &input.bytes;
        if let Some(rest) = bytes.strip_prefix(BYTE_ORDER_MARK) {
            warnings.add(WarningKind::ByteOrderMark, 1, || SourceLocation::file(&input.name));
            bytes = rest;
        }
        let reader =
            ReaderBuilder::new().delimiter(delimiter).has_headers(false).from_reader(bytes);
        Ok(CsvFile { name: &input.name, bytes, reader })
    }

    fn header(&mut self) -> Result<Vec<String>, DataError> {
        let mut record = ByteRecord::new();
        if !self.next(&mut record)? {
            return Err(DataError::Empty { file: self.name.to_owned(), what: "rows" });
        }
        let line = line_of(&record);
        let at = || SourceLocation::line(self.name, line);
        record.iter().map(|cell| text(cell, at).map(str::to_owned)).collect()
    }

    fn rows<'o>(
        &mut self,
        mut table: TableBuilder<'o>,
        slots: &[Slot],
        names: &[String],
    ) -> Result<TableBuilder<'o>, DataError> {
        // A cell takes a byte at least, which bounds the rows that a file of blank lines may claim.
        let lines = memchr::memchr_iter(b'\n', self.bytes).count() + 1;
        table.reserve(lines, self.bytes.len());
        let mut record = ByteRecord::new();
        while self.next(&mut record)? {
            let line = line_of(&record);
            let row = table.add_rows(self.name, 1, f32::NAN)?;
            let mut fields = Fields::default();
            let mut missing_words = 0;
            for ((cell, slot), column) in record.iter().zip(slots).zip(names) {
                let at = || SourceLocation::line(self.name, line).in_field(column);
                match *slot {
                    Slot::Feature(index) => {
                        let read = table::feature_from_text(cell);
                        let read = read.map_err(|problem| not_a_number(problem, cell, at))?;
                        missing_words += u64::from(read.is_missing_word);
                        if let Some(value) = row.get_mut(index) {
                            *value = read.value;
                        }
                    }
                    Slot::Role(role) => {
                        let text = text(cell, at)?;
                        fields.set_text(role, text.into()).map_err(|problem| problem.at(at()))?;
                    }
                }
            }
            table.warnings.add(WarningKind::MissingValues, missing_words, || {
                SourceLocation::line(self.name, line)
            });
            table.end_row(fields, || SourceLocation::line(self.name, line))?;
        }
        Ok(table)
    }

    /// The next record that is not blank; `false` at the end of the file.
    fn next(&mut self, record: &mut ByteRecord) -> Result<bool, DataError> {
        let read = self.reader.read_byte_record(record);
        let start = match &read {
            Ok(_) => record.position(),
            Err(error) => error.position(),
        };
        if let Some(start) = start.filter(|start| self.has_open_quote(start.byte())) {
            let location = SourceLocation::line(self.name, start.line());
            let expected = "a closing quote before the end of the file";
            return Err(DataError::malformed(location, "a quote that is never closed", expected));
        }
        read.map_err(|error| self.error(error))
    }

    /// Whether the record that starts here runs to the end of the file because of an open quote,
    /// which the csv crate reads as one long field.
    fn has_open_quote(&self, start: u64) -> bool {
        if self.reader.position().byte() < self.bytes.len() as u64 {
            return false;
        }
        let raw = usize::try_from(start).ok().and_then(|start| self.bytes.get(start..));
        let raw = raw.unwrap_or(&[]).trim_ascii_end();
        memchr::memchr(b'\n', raw).is_some() && memchr::memchr_iter(b'"', raw).count() % 2 == 1
    }

    fn error(&self, error: csv::Error) -> DataError {
        let line = error.position().map_or(0, csv::Position::line);
        match error.into_kind() {
            ErrorKind::UnequalLengths { expected_len, len, .. } => DataError::malformed(
                SourceLocation::line(self.name, line),
                counted(len as usize, "field"),
                format!("{expected_len}, as many as the header has"),
            ),
            ErrorKind::Io(error) => DataError::io("read", self.name, error),
            other => DataError::malformed(
                SourceLocation::line(self.name, line),
                format!("{other:?}"),
                "separated values",
            ),
        }
    }
}

fn text(cell: &[u8], location: impl Fn() -> SourceLocation) -> Result<&str, DataError> {
    std::str::from_utf8(cell).map_err(|_| {
        DataError::malformed(location(), format!("bytes {}", quote(cell)), "UTF-8 text")
            .with_help("save the file as UTF-8")
    })
}

fn not_a_number(
    problem: table::CellProblem,
    cell: &[u8],
    location: impl Fn() -> SourceLocation,
) -> DataError {
    match text(cell, &location) {
        Ok(_) => problem.at(location()),
        Err(error) => error,
    }
}

fn line_of(record: &ByteRecord) -> u64 {
    record.position().map_or(0, csv::Position::line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Roles;

    fn read_text(text: &[u8], options: &ReadOptions) -> Result<(Dataset, Warnings), String> {
        let input = Input::from_bytes("t.csv", text.to_vec()).unwrap();
        let mut warnings = Warnings::default();
        let data = read(&[input], b',', options, &mut warnings).map_err(|e| e.to_string())?;
        Ok((data, warnings))
    }

    fn plain(text: &str) -> Result<(Dataset, Warnings), String> {
        read_text(text.as_bytes(), &ReadOptions::default())
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
    fn quotes_marks_line_ends_and_missing_cells_are_understood() {
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
        let error = |text: &str| plain(text).unwrap_err();
        assert_eq!(
            error("qid,label,a\n1,0,1\n1,0,x\n"),
            "t.csv:3 (column 'a'): found 'x', expected a number or an empty cell"
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
        let data = read(&inputs, b',', &ReadOptions::default(), &mut Warnings::default()).unwrap();
        assert_eq!(data.matrix().values(), [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn a_table_without_features_or_labels_is_fine() {
        let (data, _) = plain("qid,label\n1,0\n1,2\n").unwrap();
        assert_eq!((data.rows(), data.columns()), (2, 0));
        let options =
            ReadOptions { roles: Roles::parse("label=none").unwrap(), ..ReadOptions::default() };
        let (data, _) = read_text(b"qid,a\n1,5\n", &options).unwrap();
        assert_eq!(data.labels(), [0.0]);
    }

    #[test]
    fn written_fields_are_quoted_where_they_must_be() {
        let (data, _) = plain("qid,docid,label,a\n\"a\"\"b,c\",x y,1,\n").unwrap();
        let mut out = Vec::new();
        write(&data, b',', &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "qid,docid,label,a\n\"a\"\"b,c\",x y,1,\n");
    }
}
