//! LETOR / SVMlight text: `label qid:Q id:value ... # comment`.
//!
//! There are two parallel passes over the text. The first pass (`scan.rs`) splits it into chunks at
//! line ends, counts rows and finds the number of columns; then the matrix is allocated once. The
//! second pass parses every line straight into its row of the matrix (`fast.rs`), or with the
//! reference parser (`line.rs`) if the line does not have the usual form. Memory: the matrix, the
//! labels and ids, and the text. Rows without a qid take their queries from a side file
//! (`side.rs`).

mod fast;
mod line;
mod scan;
mod side;
// Writers index the rows and columns of the data set itself.
#[allow(clippy::indexing_slicing)]
mod write;

use rayon::prelude::*;

use crate::bytes::Input;
use crate::chunks::split_once;
use crate::dataset::{Absent, Dataset, QueryIndex, RowColumns};
use crate::error::{DataError, SourceLocation, quote};
use crate::format::ReadOptions;
use crate::matrix::Matrix;
use crate::memory::configured_limit;
use crate::names::FeatureNames;
use crate::strings::Strings;
use crate::warnings::{WarningKind, Warnings};

use scan::LineChunk;

pub(super) use write::write;

/// A matrix of fewer cells (256 MiB) may have any share of cells without a value.
const UNCHECKED_CELLS: usize = 64 << 20;

/// The number of cells that take as much memory as the summary, the bins and the name of a column
/// (1 KiB): a very wide matrix costs much, however few rows it has.
const CELLS_OF_COLUMN: usize = 256;

/// At least one of this many cells of a larger matrix must have a value.
const MAX_CELLS_PER_VALUE: u64 = 1000;

/// The byte-order mark of UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Reads one data set from one or several inputs.
pub(super) fn read(
    inputs: &[Input],
    options: &ReadOptions,
    warnings: &mut Warnings,
) -> Result<Dataset, DataError> {
    let texts: Vec<&[u8]> = inputs.iter().map(|input| without_bom(input, warnings)).collect();
    let chunks = scan::chunks(&texts);
    let rows: usize = chunks.iter().map(|chunk| chunk.rows).sum();
    let name_of = |number: usize| inputs.get(number).map_or("", |input| &input.name);
    let name = name_of(0);
    if rows == 0 {
        return Err(DataError::Empty { file: name.to_owned(), what: "rows" });
    }
    let first_id = if chunks.iter().any(|chunk| chunk.first_id_is_0) { 0 } else { 1 };
    let end_id = chunks.iter().map(|chunk| chunk.end_id).max().unwrap_or(0);
    let end_id = end_id.clamp(first_id, line::MAX_ID + 1);
    let mut shape = MatrixShape { first_id, end_id, rows };
    let sources = inputs.iter().zip(&texts).enumerate().map(|(number, (input, text))| {
        let first = chunks.iter().find(|chunk| chunk.input == number && chunk.rows > 0);
        LetorInput { name: &input.name, text, has_qid: first.is_some_and(|chunk| chunk.has_qid) }
    });
    let pass = ParsingPass { sources: sources.collect(), chunks: &chunks, absent: options.absent };
    let (mut matrix, mut results) = pass.run(shape, options)?;
    // The first pass looks only at some ids of each line. If a row has an id outside of the range
    // found there, all is parsed again with the range that is now known.
    let needed = results.iter().fold(shape, |shape, result| MatrixShape {
        first_id: shape.first_id.min(result.least_id),
        end_id: shape.end_id.max(result.end_id),
        rows,
    });
    if needed != shape {
        shape = needed;
        (matrix, results) = pass.run(shape, options)?;
    }
    let columns = assemble(inputs, &chunks, shape, matrix, results, options.absent, warnings)?;
    let location_of_row = |row| match scan::line_of_row(&chunks, &texts, row) {
        Some((input, line)) => SourceLocation::line(name_of(input), line),
        None => SourceLocation::file(name),
    };
    Dataset::grouped(columns, location_of_row, warnings)
}

fn without_bom<'a>(input: &'a Input, warnings: &mut Warnings) -> &'a [u8] {
    match input.bytes.strip_prefix(BOM) {
        Some(rest) => {
            warnings.add(WarningKind::ByteOrderMark, 1, || SourceLocation::line(&input.name, 1));
            rest
        }
        None => &input.bytes,
    }
}

/// The size of the matrix: a column for each feature id in `first_id..end_id`, and the rows.
#[derive(Debug, Clone, Copy, PartialEq)]
struct MatrixShape {
    first_id: u32,
    end_id: u32,
    rows: usize,
}

impl MatrixShape {
    fn columns(self) -> usize {
        (self.end_id - self.first_id) as usize
    }
}

/// An input without its byte-order mark; its first row decides whether its rows have a qid.
struct LetorInput<'a> {
    name: &'a str,
    text: &'a [u8],
    has_qid: bool,
}

/// The second pass over the text, which parses all chunks in parallel.
struct ParsingPass<'a> {
    sources: Vec<LetorInput<'a>>,
    chunks: &'a [LineChunk],
    absent: Absent,
}

/// The result of parsing a chunk, besides its rows of the matrix.
#[derive(Debug, Default)]
struct ChunkResult {
    labels: Vec<f64>,
    /// Query ids, each with the number of adjacent rows that have it.
    query_runs: Vec<(String, u32)>,
    /// Empty while no row has one; then one per row, empty texts for rows without.
    doc_ids: Strings,
    rows_with_docid: usize,
    /// The smallest feature id, or that of the expected shape if that is smaller.
    least_id: u32,
    /// One more than the largest feature id, or that of the expected shape if that is larger.
    end_id: u32,
    warnings: Warnings,
}

impl ParsingPass<'_> {
    /// Allocates the matrix and parses all chunks. Ids outside of the shape are not stored, but
    /// reported by `least_id` and `end_id` of the results.
    fn run(
        &self,
        shape: MatrixShape,
        options: &ReadOptions,
    ) -> Result<(Matrix, Vec<ChunkResult>), DataError> {
        let name = self.sources.first().map_or("", |source| source.name);
        let columns = shape.columns();
        let cells = shape.rows.saturating_mul(columns);
        if cells.saturating_mul(4) as u64 > options.max_matrix_bytes {
            return Err(too_large(name, shape, options.max_matrix_bytes));
        }
        self.check_content(name, shape, cells)?;
        let mut matrix = Matrix::zeroed(shape.rows, columns)
            .map_err(|e| DataError::io("hold the matrix of", name, e))?;
        let mut rest = matrix.values_mut();
        let mut tasks = Vec::with_capacity(self.chunks.len());
        for chunk in self.chunks {
            let (rows, after) = rest.split_at_mut(chunk.rows * columns);
            tasks.push((chunk, rows));
            rest = after;
        }
        let parse = |(chunk, rows): (&LineChunk, &mut [f32])| self.parse_chunk(chunk, shape, rows);
        let results: Vec<Result<ChunkResult, DataError>> =
            tasks.into_par_iter().map(parse).collect();
        // Returns the first error in file order, whichever thread finds an error first.
        let results = results.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok((matrix, results))
    }

    /// Rejects a large matrix of which hardly any cell has a value, unless the program has set a
    /// memory limit. A column counts as [`CELLS_OF_COLUMN`] cells besides its own.
    fn check_content(&self, name: &str, shape: MatrixShape, cells: usize) -> Result<(), DataError> {
        let bytes: usize = self.sources.iter().map(|source| source.text.len()).sum();
        let cells = cells.saturating_add(shape.columns().saturating_mul(CELLS_OF_COLUMN));
        // A value (` 1:2`) takes at least 4 bytes of text. If there is that much text for each
        // cell, the values need not be counted.
        if cells < UNCHECKED_CELLS || bytes / 4 >= cells || configured_limit().is_some() {
            return Ok(());
        }
        // An id that is not allowed at all is an error of its line, which names the place.
        if self.chunks.iter().any(|chunk| chunk.end_id > line::MAX_ID + 1) {
            return Ok(());
        }
        let text = |chunk: &LineChunk| {
            let source = self.sources.get(chunk.input);
            source.and_then(|source| source.text.get(chunk.bytes.clone())).unwrap_or(&[])
        };
        let colons = |chunk: &LineChunk| memchr::memchr_iter(b':', text(chunk)).count();
        let colons: usize = self.chunks.par_iter().map(colons).sum();
        let with_qid = |chunk: &&LineChunk| chunk.has_qid;
        let qids: usize = self.chunks.iter().filter(with_qid).map(|chunk| chunk.rows).sum();
        // Every feature has a colon, and so has every qid.
        let values = colons.saturating_sub(qids) as u64;
        match values >= cells as u64 / MAX_CELLS_PER_VALUE {
            true => Ok(()),
            false => Err(DataError::EmptyMatrix {
                file: name.to_owned(),
                rows: shape.rows,
                columns: shape.columns(),
                largest_id: shape.end_id.saturating_sub(1),
                given: values,
            }),
        }
    }

    /// Parses the lines of a chunk; `rows` are its rows of the matrix.
    fn parse_chunk(
        &self,
        chunk: &LineChunk,
        shape: MatrixShape,
        rows: &mut [f32],
    ) -> Result<ChunkResult, DataError> {
        let Some(source) = self.sources.get(chunk.input) else { return Ok(ChunkResult::default()) };
        let text = source.text.get(..chunk.bytes.end).unwrap_or(&[]);
        let mut parser = ChunkParser {
            name: source.name,
            expects_qid: source.has_qid,
            shape,
            ids: fast::IdTexts::new(shape.first_id, shape.columns()),
            absent: self.absent.value(),
            result: ChunkResult {
                least_id: shape.first_id,
                end_id: shape.end_id,
                ..ChunkResult::default()
            },
        };
        if self.absent == Absent::Missing {
            rows.fill(f32::NAN);
        }
        let columns = shape.columns();
        let (mut at, mut line_number, mut filled) = (chunk.bytes.start, chunk.first_line, 0);
        while at < text.len() {
            // The row of the matrix that this line fills if it has data. The first pass counted the
            // lines with data, so the slice is empty only for comments and blank lines after the
            // last of them, which fill no row.
            let row = rows.get_mut(filled * columns..(filled + 1) * columns).unwrap_or(&mut []);
            let (next, is_row) = parser.parse_line(text, at, line_number, row)?;
            filled += usize::from(is_row);
            line_number += 1;
            at = next;
        }
        Ok(parser.result)
    }
}

fn too_large(name: &str, shape: MatrixShape, limit: u64) -> DataError {
    DataError::TooLarge {
        file: name.to_owned(),
        rows: shape.rows,
        columns: shape.columns(),
        limit,
        remedy: "the matrix is dense; renumber sparse feature ids, or split the data".into(),
    }
}

/// Parses the lines of one chunk, one after the other.
struct ChunkParser<'a> {
    /// The name of the input, for messages.
    name: &'a str,
    expects_qid: bool,
    shape: MatrixShape,
    ids: fast::IdTexts,
    /// The value of features that a row does not mention.
    absent: f32,
    /// The result so far.
    result: ChunkResult,
}

impl ChunkParser<'_> {
    /// Parses the line at offset `at` into `row`; returns the offset of the next line, and whether
    /// this line was a row.
    fn parse_line(
        &mut self,
        text: &[u8],
        at: usize,
        line_number: u64,
        row: &mut [f32],
    ) -> Result<(usize, bool), DataError> {
        if let Some(fast) = fast::parse(text, at, &self.ids, row)
            && let Some(qid) =
                fast.qid.map_or(Some(None), |q| std::str::from_utf8(q).ok().map(Some))
            && let Ok(docid) = fast.comment.map_or(Ok(None), line::docid)
        {
            self.add_row(fast.label, qid, docid, line_number)?;
            return Ok((fast.next, true));
        }
        let rest = text.get(at..).unwrap_or(&[]);
        let content = split_once(rest, b'\n').map_or(rest, |(line, _)| line);
        let next = (at + content.len() + 1).min(text.len());
        if line::has_data(content) {
            row.fill(self.absent);
            self.parse_with_reference_parser(content, line_number, row)?;
            return Ok((next, true));
        }
        if content.iter().all(u8::is_ascii_whitespace) {
            self.result
                .warnings
                .add(WarningKind::BlankLines, 1, || SourceLocation::line(self.name, line_number));
        }
        Ok((next, false))
    }

    /// Parses a line with the reference parser, which accepts unusual forms and reports errors.
    fn parse_with_reference_parser(
        &mut self,
        line: &[u8],
        line_number: u64,
        row: &mut [f32],
    ) -> Result<(), DataError> {
        let location = || SourceLocation::line(self.name, line_number);
        let line = line::parse(line).map_err(|e| DataError::Malformed {
            location: Box::new(location().at_column(e.column)),
            found: e.found,
            expected: e.expected.into(),
            remedy: e.help.map(Into::into),
        })?;
        let warnings = &mut self.result.warnings;
        warnings.add(WarningKind::UnsortedFeatures, u64::from(line.unsorted), location);
        warnings.add(WarningKind::MissingValues, line.nulls, location);
        for (id, value) in line.features {
            self.result.least_id = self.result.least_id.min(id);
            self.result.end_id = self.result.end_id.max(id + 1);
            let column = id.checked_sub(self.shape.first_id).map(|c| c as usize);
            if let Some(cell) = column.and_then(|c| row.get_mut(c)) {
                *cell = value;
            }
        }
        self.add_row(line.label, line.qid, line.docid, line_number)
    }

    /// Adds the label, the query and the document id of a row; its features are already stored.
    fn add_row(
        &mut self,
        label: f64,
        qid: Option<&str>,
        docid: Option<&str>,
        line_number: u64,
    ) -> Result<(), DataError> {
        if qid.is_some() != self.expects_qid {
            return Err(mixed_qids(self.name, line_number, qid));
        }
        let result = &mut self.result;
        result.labels.push(label);
        let qid = qid.unwrap_or("");
        match result.query_runs.last_mut() {
            Some((id, rows)) if id == qid => *rows += 1,
            _ => result.query_runs.push((qid.to_owned(), 1)),
        }
        result.rows_with_docid += usize::from(docid.is_some());
        if result.rows_with_docid > 0 {
            // Rows before the first id get an empty id.
            while result.doc_ids.len() + 1 < result.labels.len() {
                result.doc_ids.push("");
            }
            result.doc_ids.push(docid.unwrap_or(""));
        }
        Ok(())
    }
}

/// The error for a row with a qid after a first row without, or the reverse.
fn mixed_qids(name: &str, line_number: u64, qid: Option<&str>) -> DataError {
    let (found, expected) = match qid {
        Some(qid) => (quote(format!("qid:{qid}").as_bytes()), "no qid, as in the first row"),
        None => ("a row without qid".into(), "'qid:' after the label, as in the first row"),
    };
    DataError::malformed(SourceLocation::line(name, line_number), found, expected)
}

/// Joins the results of all chunks in file order, and reads the side files of each input.
fn assemble(
    inputs: &[Input],
    chunks: &[LineChunk],
    shape: MatrixShape,
    matrix: Matrix,
    results: Vec<ChunkResult>,
    absent: Absent,
    warnings: &mut Warnings,
) -> Result<RowColumns, DataError> {
    let mut labels = Vec::with_capacity(shape.rows);
    let mut queries = QueryIndex::default();
    let mut query_of_row = Vec::with_capacity(shape.rows);
    let rows_with_docid: usize = results.iter().map(|result| result.rows_with_docid).sum();
    let mut doc_ids = Strings::default();
    let mut side_files = side::SideFiles::default();
    let mut results = results.into_iter().zip(chunks).peekable();
    for (number, input) in inputs.iter().enumerate() {
        let first_row = labels.len();
        let mut has_qid = false;
        while let Some((result, chunk)) = results.next_if(|(_, chunk)| chunk.input == number) {
            labels.extend_from_slice(&result.labels);
            for (id, rows) in &result.query_runs {
                has_qid |= !id.is_empty();
                // Without a qid, the side file gives the query below.
                let query = if id.is_empty() { 0 } else { queries.number(id) };
                query_of_row.extend(std::iter::repeat_n(query, *rows as usize));
            }
            if rows_with_docid > 0 {
                doc_ids.append(&result.doc_ids);
                (result.doc_ids.len()..chunk.rows).for_each(|_| doc_ids.push(""));
            }
            warnings.merge(result.warnings);
        }
        let rows = first_row..labels.len();
        let rows = query_of_row.get_mut(rows).unwrap_or(&mut []);
        side_files.read(input, has_qid, rows, &mut queries, warnings)?;
    }
    if rows_with_docid > 0 {
        let name = inputs.first().map_or("", |input| &input.name);
        let without = (shape.rows - rows_with_docid) as u64;
        warnings.add(WarningKind::RowsWithoutDocid, without, || SourceLocation::file(name));
    }
    let features = FeatureNames::Ids { first: shape.first_id, count: shape.columns() };
    let mut columns = RowColumns::new(matrix, features, labels, queries, query_of_row);
    columns.doc_ids = (rows_with_docid > 0).then_some(doc_ids);
    columns.absent = absent;
    (columns.row_weights, columns.positions) = side_files.finish(shape.rows)?;
    Ok(columns)
}

#[cfg(test)]
mod tests;
