//! The fast reader of tables of text: parallel, straight into the rows of the matrix.
//!
//! The text is split into chunks at line ends outside of quotes; then the rows of each chunk are
//! counted, the matrix is allocated once, and all chunks are read in parallel. Anything unusual (a
//! quote inside of an unquoted cell, a carriage return without a line feed, too many or too few
//! cells, an invalid value) gives `None`, and the caller reads the table with the reference reader
//! (`csv.rs`). A property test checks that the two agree.
//!
//! A byte is inside of quotes if the number of quotes before it is odd, since a quoted cell has an
//! even number of quotes and other cells have none. The first cell that breaks this rule lies in a
//! chunk that was still split correctly, and is found there.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memchr2};
use rayon::prelude::*;

use super::separators::Separators;
use super::{CsvTable, CsvText};
use crate::error::{DataError, SourceLocation};
use crate::format::ReadOptions;
use crate::format::roles::Role;
use crate::format::table::{
    ColumnContent, RoleValues, RowPart, Slot, TableRead, TableSchema, join_parts, new_matrix,
};
use crate::number::{Window, f32_token, window};
use crate::warnings::Warnings;

/// Approximate size of a chunk: large enough that starting a task costs little in comparison, small
/// enough to balance the load.
const CHUNK_BYTES: usize = 1 << 20;

/// Adjacent whole records of one file.
struct RecordChunk {
    /// The number of the file, from 0.
    file: usize,
    /// The range of the records in the text of the file.
    bytes: Range<usize>,
    rows: usize,
    /// The number of line ends in the chunk.
    lines: u64,
    /// Line number of the first line, from 1.
    first_line: u64,
}

/// Counts the cells of columns in all rows; `None` if a file has an unusual form.
pub(super) fn survey(table: &CsvTable<'_>, columns: &[usize]) -> Option<Vec<ColumnContent>> {
    let chunks = chunks(table);
    let count = |chunk: &RecordChunk| -> Option<Vec<ColumnContent>> {
        let file = table.files.get(chunk.file)?;
        let text = file.bytes.get(..chunk.bytes.end)?;
        let targets = file.survey_targets(columns);
        let mut contents = vec![ColumnContent::default(); columns.len()];
        for content in &mut contents {
            content.has_decimal_commas = file.separators.has_decimal_commas;
        }
        let delimiter = file.separators.delimiter;
        let mut at = chunk.bytes.start;
        while let Some(start) = next_row(text, at) {
            let location = || chunk.location(file, start);
            at = start;
            let mut targets = targets.iter().peekable();
            for number in 0..file.names.len() {
                let (cell, end) = cell(text, at, delimiter)?;
                if let Some((_, target)) = targets.next_if(|(cell, _)| *cell == number) {
                    contents.get_mut(*target)?.add(&cell, location);
                }
                at = after_cell(text, end, delimiter, number + 1 == file.names.len())?;
            }
        }
        Some(contents)
    };
    let parts: Vec<Option<Vec<ColumnContent>>> = chunks.par_iter().map(count).collect();
    let mut contents = vec![ColumnContent::default(); columns.len()];
    for part in parts {
        for (content, of_part) in contents.iter_mut().zip(part?) {
            content.merge(of_part);
        }
    }
    Some(contents)
}

/// Reads all rows; `None` if a file has an unusual form or an error in it.
pub(super) fn read(
    table: &CsvTable<'_>,
    schema: &TableSchema,
    options: &ReadOptions,
    warnings: &mut Warnings,
) -> Result<Option<TableRead>, DataError> {
    let chunks = chunks(table);
    let rows: usize = chunks.iter().map(|chunk| chunk.rows).sum();
    if rows == 0 {
        return Ok(None);
    }
    let width = schema.features().len();
    let mut matrix = new_matrix(schema, rows, options)?;
    let mut rest = matrix.values_mut();
    let mut tasks = Vec::with_capacity(chunks.len());
    for chunk in &chunks {
        let (rows, after) = rest.split_at_mut(chunk.rows * width);
        tasks.push((chunk, rows));
        rest = after;
    }
    let read = |(chunk, rows): (&RecordChunk, &mut [f32])| {
        let file = table.files.get(chunk.file)?;
        read_chunk(file, chunk, schema, rows)
    };
    let parts: Option<Vec<RowPart>> =
        tasks.into_par_iter().map(read).collect::<Vec<_>>().into_iter().collect();
    match parts {
        // With query weights, an error here may mean that the weights of one query differ between
        // chunks; the reference reader then reports it with its line.
        Some(parts) if !schema.has(Role::QueryWeight) => {
            join_parts(schema, matrix, parts, options.absent, warnings).map(Some)
        }
        Some(parts) => Ok(join_parts(schema, matrix, parts, options.absent, warnings).ok()),
        None => Ok(None),
    }
}

/// Splits all files into chunks and counts their rows.
fn chunks(table: &CsvTable<'_>) -> Vec<RecordChunk> {
    // The number of the file, the range of the chunk, and whether the file has quotes.
    let ranges: Vec<(usize, Range<usize>, bool)> = table
        .files
        .iter()
        .enumerate()
        .flat_map(|(number, file)| {
            let (ranges, has_quotes) = chunk_ranges(file.bytes, file.body);
            ranges.into_iter().map(move |range| (number, range, has_quotes))
        })
        .collect();
    let mut chunks: Vec<RecordChunk> = ranges
        .into_par_iter()
        .map(|(file, bytes, has_quotes)| {
            let text = table.files.get(file).and_then(|file| file.bytes.get(bytes.clone()));
            let (rows, lines) = count_rows(text.unwrap_or(&[]), has_quotes);
            RecordChunk { file, bytes, rows, lines, first_line: 0 }
        })
        .collect();
    let (mut line, mut file) = (0, usize::MAX);
    for chunk in &mut chunks {
        if chunk.file != file {
            file = chunk.file;
            let header = table.files.get(file).and_then(|text| text.bytes.get(..text.body));
            line = memchr_iter(b'\n', header.unwrap_or(&[])).count() as u64 + 1;
        }
        chunk.first_line = line;
        line += chunk.lines;
    }
    chunks
}

/// Splits the text from `start` on at line ends outside of quotes; also returns whether there are
/// quotes.
fn chunk_ranges(text: &[u8], start: usize) -> (Vec<Range<usize>>, bool) {
    // Blocks of equal size, in which quotes are counted; a chunk ends at the first line end after
    // the start of a block.
    let blocks: Vec<usize> = (start..text.len()).step_by(CHUNK_BYTES).collect();
    let block = |at: &usize| text.get(*at..(*at + CHUNK_BYTES).min(text.len())).unwrap_or(&[]);
    let quotes: Vec<usize> =
        blocks.par_iter().map(|at| memchr_iter(b'"', block(at)).count()).collect();
    let mut ranges = Vec::with_capacity(blocks.len());
    let (mut chunk_start, mut quotes_before) = (start, 0);
    for (at, quotes) in blocks.iter().zip(&quotes) {
        if *at > chunk_start {
            let end = line_end(text, *at, quotes_before % 2 == 1);
            ranges.push(chunk_start..end);
            chunk_start = end;
        }
        quotes_before += quotes;
    }
    if chunk_start < text.len() {
        ranges.push(chunk_start..text.len());
    }
    (ranges, quotes_before > 0)
}

/// The offset after the first line end outside of quotes, from `at` on; `is_quoted` says whether
/// `at` is inside of quotes.
fn line_end(text: &[u8], mut at: usize, mut is_quoted: bool) -> usize {
    while let Some(found) = text.get(at..).and_then(|rest| memchr2(b'"', b'\n', rest)) {
        at += found + 1;
        match text.get(at - 1) {
            Some(b'"') => is_quoted = !is_quoted,
            _ if !is_quoted => return at,
            _ => {}
        }
    }
    text.len()
}

/// The number of records of a chunk that are not blank, and the number of its line ends.
fn count_rows(text: &[u8], has_quotes: bool) -> (usize, u64) {
    let (mut rows, mut lines, mut start) = (0, 0, 0);
    // 1 if the record that ends here is not blank, otherwise 0.
    let mut end_record = |end: usize| {
        let line = text.get(start..end).unwrap_or(&[]);
        start = end + 1;
        usize::from(!matches!(line, [] | [b'\r']))
    };
    if has_quotes {
        let (mut at, mut is_quoted) = (0, false);
        while let Some(found) = text.get(at..).and_then(|rest| memchr2(b'"', b'\n', rest)) {
            at += found + 1;
            match text.get(at - 1) {
                Some(b'"') => is_quoted = !is_quoted,
                _ => {
                    lines += 1;
                    if !is_quoted {
                        rows += end_record(at - 1);
                    }
                }
            }
        }
    } else {
        for end in memchr_iter(b'\n', text) {
            lines += 1;
            rows += end_record(end);
        }
    }
    let is_ended = text.is_empty() || text.ends_with(b"\n");
    (rows + if is_ended { 0 } else { end_record(text.len()) }, lines)
}

impl RecordChunk {
    /// The location of the row at an offset.
    fn location(&self, file: &CsvText<'_>, at: usize) -> SourceLocation {
        let before = file.bytes.get(self.bytes.start..at).unwrap_or(&[]);
        let line = self.first_line + memchr_iter(b'\n', before).count() as u64;
        SourceLocation::line(file.name, line)
    }
}

/// The start of the next record, after blank lines; `None` at the end.
fn next_row(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match text.get(at..)? {
            [] => return None,
            [b'\n', ..] => at += 1,
            [b'\r', b'\n', ..] => at += 2,
            _ => return Some(at),
        }
    }
}

/// The content of the cell at an offset (without quotes), and the offset of its end; `None` if it
/// has an unusual form.
fn cell(text: &[u8], at: usize, delimiter: u8) -> Option<(Cow<'_, [u8]>, usize)> {
    let rest = text.get(at..)?;
    if rest.first() != Some(&b'"') {
        let end = memchr2(delimiter, b'\n', rest).unwrap_or(rest.len());
        let mut cell = rest.get(..end)?;
        let mut length = end;
        if rest.get(end) == Some(&b'\n')
            && let Some(without) = cell.strip_suffix(b"\r")
        {
            (cell, length) = (without, end - 1);
        }
        return memchr2(b'"', b'\r', cell).is_none().then_some((Cow::Borrowed(cell), at + length));
    }
    let (mut content, mut from) = (Cow::Borrowed([].as_slice()), 1);
    loop {
        let end = from + memchr(b'"', rest.get(from..)?)?;
        let up_to_quote = rest.get(from..end)?;
        match &mut content {
            Cow::Borrowed([]) => content = Cow::Borrowed(up_to_quote),
            content => content.to_mut().extend_from_slice(up_to_quote),
        }
        match rest.get(end + 1) {
            Some(b'"') => {
                content.to_mut().push(b'"');
                from = end + 2;
            }
            _ => return Some((content, at + end + 1)),
        }
    }
}

/// The offset of the next cell, or of the next row after the last cell; `None` if the cell at `end`
/// is not followed by the delimiter, or by a line end if it is the last one.
#[inline]
fn after_cell(text: &[u8], end: usize, delimiter: u8, is_last: bool) -> Option<usize> {
    match (text.get(end), is_last) {
        (Some(byte), false) if *byte == delimiter => Some(end + 1),
        (Some(b'\n'), true) => Some(end + 1),
        (Some(b'\r'), true) if text.get(end + 1) == Some(&b'\n') => Some(end + 2),
        (None, true) => Some(end),
        _ => None,
    }
}

/// Reads the rows of a chunk; `rows` are its rows of the matrix.
fn read_chunk(
    file: &CsvText<'_>,
    chunk: &RecordChunk,
    schema: &TableSchema,
    rows: &mut [f32],
) -> Option<RowPart> {
    let text = file.bytes.get(..chunk.bytes.end)?;
    let slots: Vec<Slot> =
        file.column_numbers.iter().map(|number| schema.slot_of(*number)).collect();
    let last = slots.len().checked_sub(1)?;
    let Separators { delimiter, has_decimal_commas } = file.separators;
    let width = schema.features().len();
    let mut part = RowPart::default();
    let mut at = chunk.bytes.start;
    while let Some(start) = next_row(text, at) {
        let row = rows.get_mut(part.rows * width..(part.rows + 1) * width)?;
        let location = || chunk.location(file, start);
        let mut role_values = RoleValues::default();
        at = start;
        for (number, slot) in slots.iter().enumerate() {
            if let Slot::Number { feature, .. } = *slot
                && let Some((value, length)) = number_cell(text, at, delimiter)
                && !(has_decimal_commas && has_point(text, at, length))
            {
                *row.get_mut(feature)? = value;
                at = after_cell(text, at + length, delimiter, number == last)?;
                continue;
            }
            let (cell, end) = cell(text, at, delimiter)?;
            let cell = file.number_cell(*slot, cell);
            match *slot {
                Slot::Role(Role::Ignore) => {}
                slot @ (Slot::Role(_) | Slot::ExtraLabel(_)) => {
                    let text = match cell {
                        Cow::Borrowed(bytes) => Cow::Borrowed(std::str::from_utf8(bytes).ok()?),
                        Cow::Owned(bytes) => Cow::Owned(String::from_utf8(bytes).ok()?),
                    };
                    role_values.set_text(slot, text).ok()?;
                }
                slot => part.set_text(schema, slot, &cell, row, location).ok()?,
            }
            at = after_cell(text, end, delimiter, number == last)?;
        }
        part.end_row(schema, role_values, location).ok()?;
    }
    (part.rows == chunk.rows).then_some(part)
}

/// Whether a cell has a point.
fn has_point(text: &[u8], at: usize, length: usize) -> bool {
    text.get(at..at + length).is_some_and(|cell| memchr(b'.', cell).is_some())
}

/// The number in the cell at an offset (NaN for an empty cell), and the length of the cell; `None`
/// if the cell may be something else, or is longer than 15 bytes.
#[inline(always)]
fn number_cell(text: &[u8], at: usize, delimiter: u8) -> Option<(f32, usize)> {
    let window: &Window = window(text, at)?;
    let length = cell_length(window, delimiter);
    if length == 0 {
        let is_empty = window[0] == delimiter || window[0] == b'\n';
        return is_empty.then_some((f32::NAN, 0));
    }
    // A number with a leading zero may be a code, such as a postal code.
    if length > 15 || (window[0] == b'0' && window[1].is_ascii_digit() && length > 1) {
        return None;
    }
    Some((f32_token(window, length)?, length))
}

/// The number of bytes (at most 16) before the delimiter, a space, a control character or a byte
/// that is not ASCII.
#[inline(always)]
fn cell_length(window: &Window, delimiter: u8) -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{
            __m128i, _mm_andnot_si128, _mm_cmpeq_epi8, _mm_cmpgt_epi8, _mm_loadu_si128,
            _mm_movemask_epi8, _mm_set1_epi8,
        };
        // SAFETY: SSE2 is part of x86_64, and a window has 32 bytes; the load is unaligned.
        let inside = unsafe {
            let bytes = _mm_loadu_si128(window.as_ptr().cast::<__m128i>());
            let above = _mm_cmpgt_epi8(bytes, _mm_set1_epi8(0x20));
            let ends = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(delimiter as i8));
            _mm_movemask_epi8(_mm_andnot_si128(ends, above))
        };
        (!inside).trailing_zeros() as usize
    }
    #[cfg(not(target_arch = "x86_64"))]
    cell_length_reference(window, delimiter)
}

/// The simple version of the vector comparison.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn cell_length_reference(window: &Window, delimiter: u8) -> usize {
    let inside = |byte: &&u8| (0x21..0x80).contains(*byte) && **byte != delimiter;
    window.iter().take(16).take_while(inside).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::table::{TableSource, read_table};
    use super::*;
    use crate::bytes::Input;
    use crate::dataset::Dataset;
    use crate::table_columns::TableColumns;

    /// A table that is read by the reference reader only.
    struct ReferenceTable<'a>(CsvTable<'a>);

    impl TableSource for ReferenceTable<'_> {
        fn file(&self) -> &str {
            self.0.file()
        }

        fn columns(&self) -> &[crate::format::table::SourceColumn] {
            &self.0.columns
        }

        fn has_text_type(&self) -> bool {
            self.0.has_text_type()
        }

        fn survey(
            &self,
            columns: &[usize],
            rows: Option<usize>,
        ) -> Result<Vec<ColumnContent>, DataError> {
            self.0.survey_by_record(columns, rows)
        }

        fn read(
            &self,
            schema: TableSchema,
            options: &ReadOptions,
            warnings: &mut Warnings,
        ) -> Result<TableRead, DataError> {
            self.0.read_by_record(schema, options, warnings)
        }
    }

    type ReadResult = Result<(Dataset, TableColumns, Warnings), String>;

    /// The table as the fast reader and the reference reader read it.
    fn read_by_both(text: &str) -> (ReadResult, ReadResult) {
        let inputs = [Input::from_bytes("t.csv", text.into()).unwrap()];
        let options = ReadOptions::default();
        let read = |is_fast: bool| -> ReadResult {
            let mut warnings = Warnings::default();
            let table = CsvTable::open(&inputs, b',', &mut warnings).map_err(|e| e.to_string())?;
            let source: &dyn TableSource = if is_fast { &table } else { &ReferenceTable(table) };
            let (data, columns) =
                read_table(source, &options, &mut warnings).map_err(|e| e.to_string())?;
            Ok((data, columns, warnings))
        };
        (read(true), read(false))
    }

    /// A cell, valid or invalid.
    fn cell_text() -> impl Strategy<Value = String> {
        prop_oneof![
            6 => (-1e4f32..1e4).prop_map(|v| v.to_string()),
            3 => (0u32..2000).prop_map(|v| v.to_string()),
            1 => any::<f32>().prop_map(|v| format!("{v:e}")),
            1 => "|NULL|nan|inf|true| 1 |1e39|007|0.50|-0|2026-01-02|\"0\"|\"1\"\"\"|1,5",
            1 => "-?[0-9]{1,3}[,.][0-9]{1,3}|\"2,5\"|a;b|1.234,5",
            1 => "[a-c]|\"[a-c,\n\"]{0,3}\"|a\"b|\"a\"b|ö|\r| ",
        ]
    }

    /// A file with a header and a few rows.
    fn file_text(delimiter: char) -> impl Strategy<Value = String> {
        let row = (0u32..4, 0u32..3, prop::collection::vec(cell_text(), 2));
        let end =
            prop_oneof![6 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\n\n"), 1 => Just("\r")];
        let row = (row, end).prop_map(move |((query, label, cells), end)| {
            let cells = cells.join(&delimiter.to_string());
            format!("{query}{delimiter}{label}{delimiter}{cells}{end}")
        });
        let header = "qid,label,a,b\n".replace(',', &delimiter.to_string());
        prop::collection::vec(row, 1..12).prop_map(move |rows| format!("{header}{}", rows.concat()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn the_fast_reader_agrees_with_the_reference_reader(
            text in prop_oneof![file_text(','), file_text(';')], cut_bytes in 0usize..3,
        ) {
            let end = text.len() - cut_bytes;
            let end = (0..=end).rev().find(|end| text.is_char_boundary(*end)).unwrap();
            // The header, 14 bytes, stays whole.
            let text = &text[..end.max(14)];
            let (fast, reference) = read_by_both(text);
            prop_assert_eq!(fast, reference, "{}", text);
        }

        #[test]
        fn the_vector_compare_equals_its_reference_implementation(bytes: Window, delimiter in 1u8..128) {
            prop_assert_eq!(cell_length(&bytes, delimiter), cell_length_reference(&bytes, delimiter));
        }
    }

    #[test]
    fn large_tables_with_and_without_quotes_are_split_at_the_ends_of_rows() {
        for name in ["plain", "\"quoted, \"\"twice\"\"\nand broken\""] {
            let rows: String = (0..60_000)
                .map(|row| format!("{},{},{name},{}.5\n", row / 30, row % 3, row))
                .collect();
            let text = format!("qid,label,kind,x\n{rows}");
            assert!(text.len() > 2 * CHUNK_BYTES || !name.contains('"'));
            let (fast, reference) = read_by_both(&text);
            let (fast, reference) = (fast.unwrap(), reference.unwrap());
            assert_eq!(fast.0.rows(), 60_000);
            assert!(fast == reference, "{name}");
        }
    }
}
