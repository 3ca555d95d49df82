//! Reads judgements and runs from text: TREC columns and tables with a header.
//!
//! The text is split into chunks at line ends, which are read in parallel and joined in file order.
//! Blank lines and lines that begin with `#` are skipped (a document id may contain a `#`). Lines
//! may have more columns than are read, as trec_eval allows; that gives a warning.
//!
//! Judgements have two older forms. Those of the Cranfield collection are three columns `qid docid
//! relevance` without a header. They are detected if the first line has three columns, the last a
//! number; then every line must have three. Those of the SMART system are `qid docid 0 0` and list
//! only the relevant documents. They are detected if every line ends in two zeros and more than one
//! document is named, since as TREC columns such a file would judge only a document called `0`.
//! Query numbers in SMART's judgements are padded (`01`), but those in its query files are not, so
//! leading zeros are dropped.

use std::ops::Range;

use memchr::memchr;
use rankwright_spec::words::counted;
use rayon::prelude::*;

use super::{PackedDocument, QueryLists, json};
use crate::bytes::Input;
use crate::chunks::numbered_line_chunks;
use crate::error::{DataError, Remedy, SourceLocation, quote};
use crate::number::f64_token;
use crate::warnings::{WarningKind, Warnings};

/// The kind of list; decides the columns and the texts of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListKind {
    Qrels,
    Run,
}

impl ListKind {
    /// The expected value of a document, for messages.
    pub(super) fn value_name(self) -> &'static str {
        match self {
            ListKind::Qrels => "a finite number as relevance",
            ListKind::Run => "a finite number as score",
        }
    }

    /// The content of a list, for messages.
    pub(super) fn content_name(self) -> &'static str {
        match self {
            ListKind::Qrels => "judgements",
            ListKind::Run => "results",
        }
    }
}

/// The columns of a line that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LineLayout {
    /// The number of columns.
    columns: usize,
    /// The column of the document id, from 0; the query id is in column 0.
    document: usize,
    /// The column of the relevance or score, from 0.
    value: usize,
    /// The columns in words, for messages.
    expected: &'static str,
    /// Whether a line may have more columns.
    open_ended: bool,
}

const TREC_QRELS: LineLayout = LineLayout {
    columns: 4,
    document: 2,
    value: 3,
    expected: "'qid 0 docid relevance'",
    open_ended: true,
};
const TREC_RUN: LineLayout = LineLayout {
    columns: 6,
    document: 2,
    value: 4,
    expected: "'qid Q0 docid rank score tag'",
    open_ended: true,
};
const TABLE: LineLayout = LineLayout {
    columns: 3,
    document: 1,
    value: 2,
    expected: "'query-id corpus-id score', as in the header",
    open_ended: true,
};
const CRANFIELD_QRELS: LineLayout = LineLayout {
    columns: 3,
    document: 1,
    value: 2,
    expected: "'qid docid relevance', as in the first line",
    open_ended: false,
};
/// The value column is not used: every listed document has relevance 1.
const SMART_QRELS: LineLayout = LineLayout {
    columns: 4,
    document: 1,
    value: 3,
    expected: "'qid docid 0 0', as in the lines before",
    open_ended: false,
};

/// Reads lists of this kind from an input of any format.
pub(super) fn read(input: Input, kind: ListKind) -> Result<(QueryLists, Warnings), DataError> {
    let mut warnings = Warnings::default();
    let Input { name, bytes, .. } = input;
    let skip = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    warnings
        .add(WarningKind::ByteOrderMark, u64::from(skip > 0), || SourceLocation::line(&name, 1));
    let first = bytes
        .get(skip..)
        .unwrap_or(&[])
        .split(|&b| b == b'\n')
        .find(|line| is_data(line))
        .ok_or_else(|| DataError::Empty { file: name.clone(), what: kind.content_name() })?;
    if first.trim_ascii_start().starts_with(b"{") {
        return json::read(&name, bytes.get(skip..).unwrap_or(&[]), kind, warnings);
    }
    let has_header = is_header(first);
    // A header with tabs means that only tabs separate, so that ids may contain spaces.
    let tabs_only = has_header && first.contains(&b'\t');
    let layout = match (has_header, kind) {
        (true, _) => TABLE,
        (false, ListKind::Qrels) if is_three_columns(first) => CRANFIELD_QRELS,
        (false, ListKind::Qrels) if is_smart(&bytes) => SMART_QRELS,
        (false, ListKind::Qrels) => TREC_QRELS,
        (false, ListKind::Run) => TREC_RUN,
    };
    let reader = ListReader { name: &name, text: &bytes, layout, kind, has_header, tabs_only };
    let parts: Vec<Result<ChunkEntries, DataError>> = numbered_line_chunks(&bytes, skip)
        .into_par_iter()
        .map(|(range, first_line)| reader.read_chunk(range, first_line))
        .collect();
    // Returns the first error in file order, whichever thread finds an error first.
    let parts = parts.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut lists = QueryLists::empty(name, bytes, true);
    for part in parts {
        lists.add_block(part.entries, part.adjacent_documents);
        warnings.merge(part.warnings);
    }
    if lists.documents() == 0 {
        return Err(DataError::Empty { file: lists.name, what: kind.content_name() });
    }
    Ok((lists, warnings))
}

/// Whether a line is neither blank nor a comment.
fn is_data(line: &[u8]) -> bool {
    line.iter().find(|b| !b.is_ascii_whitespace()).is_some_and(|&b| b != b'#')
}

/// Whether a line is a header: three words, of which the first is a usual name of a query id.
fn is_header(line: &[u8]) -> bool {
    let words: Vec<&[u8]> =
        line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
    let is_query_name = |word: &[u8]| {
        let word = word.to_ascii_lowercase();
        matches!(
            &word[..],
            b"query-id" | b"query_id" | b"qid" | b"query" | b"queryid" | b"q_id" | b"topic"
        )
    };
    matches!(words[..], [query, _, _] if is_query_name(query))
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// Whether a line has three columns, of which the last is a number.
fn is_three_columns(line: &[u8]) -> bool {
    let mut words = words(line);
    let value = words.nth(2).and_then(|word| std::str::from_utf8(word).ok());
    value.is_some_and(|word| word.parse::<f64>().is_ok()) && words.next().is_none()
}

/// Whether judgements are in the form of SMART: every line is `qid docid 0 0`, and there is more
/// than one document.
fn is_smart(text: &[u8]) -> bool {
    let mut first: Option<&[u8]> = None;
    let mut has_several = false;
    for line in text.split(|&b| b == b'\n').filter(|line| is_data(line)) {
        let mut words = words(line).skip(1);
        let (document, tail) = (words.next(), (words.next(), words.next(), words.next()));
        let (Some(document), (Some(b"0"), Some(b"0"), None)) = (document, tail) else {
            return false;
        };
        has_several |= *first.get_or_insert(document) != document;
    }
    has_several
}

/// Whether a line has the six columns of a run, with a score in the fifth.
fn is_run_line(line: &[u8]) -> bool {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let score = words.nth(4).and_then(|word| std::str::from_utf8(word).ok());
    score.is_some_and(|word| word.parse::<f64>().is_ok()) && words.count() == 1
}

/// Reads the lines of a text.
struct ListReader<'a> {
    /// The name of the input, for messages.
    name: &'a str,
    text: &'a [u8],
    layout: LineLayout,
    kind: ListKind,
    has_header: bool,
    /// Whether only tabs separate columns.
    tabs_only: bool,
}

/// The documents of a chunk.
#[derive(Debug, Default)]
struct ChunkEntries {
    entries: Vec<PackedDocument>,
    /// Query ids, each with the number of adjacent documents of that query.
    adjacent_documents: Vec<(String, u32)>,
    warnings: Warnings,
}

/// The columns of a line that are read, as ranges of the text.
struct LineFields {
    query: Range<usize>,
    document: Range<usize>,
    value: Range<usize>,
    /// Whether the line has more columns than the layout.
    has_more: bool,
}

impl ListReader<'_> {
    /// Reads the lines of a chunk.
    fn read_chunk(&self, range: Range<usize>, first_line: u64) -> Result<ChunkEntries, DataError> {
        let mut part = ChunkEntries::default();
        // The query id of the document before.
        let mut query: Range<usize> = 0..0;
        let (mut at, mut next_number) = (range.start, first_line);
        while at < range.end {
            let rest = self.text.get(at..range.end).unwrap_or(&[]);
            let length = memchr(b'\n', rest).unwrap_or(rest.len());
            let (start, number) = (at, next_number);
            at += length + 1;
            next_number += 1;
            let line = self.text.get(start..start + length).unwrap_or(&[]);
            if !is_data(line) {
                let is_blank = line.iter().all(u8::is_ascii_whitespace);
                part.warnings
                    .add(WarningKind::BlankLines, u64::from(is_blank), || self.location(number));
                continue;
            }
            if self.has_header && first_line == 1 && part.entries.is_empty() && is_header(line) {
                continue;
            }
            let fields = match self.tabs_only {
                true => self.split_at_tabs(line, start, number)?,
                false => self.split_at_blanks(line, start, number)?,
            };
            let value = self.value(&fields, number)?;
            part.warnings.add(WarningKind::ExtraColumns, u64::from(fields.has_more), || {
                self.location(number)
            });
            let entry = PackedDocument::new(fields.document.clone(), value);
            part.entries.push(entry.ok_or_else(|| self.long_id(number))?);
            if !part.adjacent_documents.is_empty()
                && self.text.get(query.clone()) == self.text.get(fields.query.clone())
            {
                if let Some((_, documents)) = part.adjacent_documents.last_mut() {
                    *documents += 1;
                }
            } else {
                part.adjacent_documents.push((self.query_id(&fields.query, number)?, 1));
                query = fields.query;
            }
        }
        Ok(part)
    }

    fn location(&self, line: u64) -> SourceLocation {
        SourceLocation::line(self.name, line)
    }

    fn query_id(&self, range: &Range<usize>, line: u64) -> Result<String, DataError> {
        let bytes = self.text.get(range.clone()).unwrap_or(&[]);
        match std::str::from_utf8(bytes) {
            Ok(id) => Ok(id.to_owned()),
            Err(_) => {
                Err(DataError::malformed(self.location(line), quote(bytes), "a query id in UTF-8"))
            }
        }
    }

    fn long_id(&self, line: u64) -> DataError {
        let expected = "a document id of at most 65535 bytes";
        DataError::malformed(self.location(line), "a longer document id", expected)
    }

    /// The fields of a line whose columns are separated by spaces or tabs. `start` is the offset of
    /// the line in the text, and `number` its line number.
    #[inline]
    fn split_at_blanks(
        &self,
        line: &[u8],
        start: usize,
        number: u64,
    ) -> Result<LineFields, DataError> {
        let mut fields = LineFields { query: 0..0, document: 0..0, value: 0..0, has_more: false };
        let mut at = 0;
        let mut column = 0;
        loop {
            while line.get(at).is_some_and(|b| *b <= b' ') {
                at += 1;
            }
            if at >= line.len() {
                break;
            }
            if column == self.layout.columns {
                fields.has_more = true;
                break;
            }
            let begin = at;
            while line.get(at).is_some_and(|b| *b > b' ') {
                at += 1;
            }
            let range = start + begin..start + at;
            match column {
                0 => fields.query = range,
                c if c == self.layout.document => fields.document = range,
                c if c == self.layout.value => fields.value = range,
                _ => {}
            }
            column += 1;
        }
        if column != self.layout.columns {
            return Err(self.wrong_columns(line, column, number));
        }
        if fields.has_more && self.kind == ListKind::Qrels && is_run_line(line) {
            return Err(self.wrong_columns(line, TREC_RUN.columns, number));
        }
        if fields.has_more && !self.layout.open_ended {
            return Err(self.wrong_columns(line, words(line).count(), number));
        }
        if self.layout == SMART_QRELS {
            // Drops the leading zeros of the query number, but not its last digit.
            let id = self.text.get(fields.query.clone()).unwrap_or(&[]);
            let zeros = id.iter().take_while(|b| **b == b'0').count();
            fields.query.start += zeros.min(id.len().saturating_sub(1));
        }
        Ok(fields)
    }

    /// Like `split_at_blanks`, for a line whose columns are separated by tabs only.
    fn split_at_tabs(
        &self,
        line: &[u8],
        start: usize,
        number: u64,
    ) -> Result<LineFields, DataError> {
        let line = line.trim_ascii_end();
        let mut at = start;
        let ranges: Vec<Range<usize>> = line
            .split(|&b| b == b'\t')
            .map(|field| {
                let range = at..at + field.len();
                at = range.end + 1;
                range
            })
            .collect();
        match ranges.as_slice() {
            [query, document, value] if !query.is_empty() && !document.is_empty() => {
                let (query, document, value) = (query.clone(), document.clone(), value.clone());
                Ok(LineFields { query, document, value, has_more: false })
            }
            other => Err(self.wrong_columns(line, other.len(), number)),
        }
    }

    /// The error for a line with a wrong number of columns, with advice on the likely mistake.
    #[cold]
    fn wrong_columns(&self, line: &[u8], columns: usize, number: u64) -> DataError {
        let found = format!("{} in {}", counted(columns, "column"), quote(line.trim_ascii()));
        let expected = format!("{} columns {}", self.layout.columns, self.layout.expected);
        let error = DataError::malformed(self.location(number), found, expected);
        match (self.kind, columns) {
            (ListKind::Run, 4) => error.with_help(Remedy::IsQrels),
            (ListKind::Qrels, 6) => error.with_help(Remedy::IsRun),
            (_, 1) if line.contains(&b',') => {
                error.with_help("separate the columns with tabs, not with commas")
            }
            (_, 3) if !self.has_header => error
                .with_help("a table of three columns needs the header 'query-id corpus-id score'"),
            _ => error,
        }
    }

    /// The relevance or score of a line.
    #[inline]
    fn value(&self, fields: &LineFields, number: u64) -> Result<f64, DataError> {
        if self.layout == SMART_QRELS {
            return Ok(1.0);
        }
        if let Some(value) = f64_token(self.text, fields.value.start, fields.value.len()) {
            return Ok(value);
        }
        let word = self.text.get(fields.value.clone()).unwrap_or(&[]);
        let value = std::str::from_utf8(word).ok().and_then(|t| t.parse::<f64>().ok());
        let finite = value.filter(|v| v.is_finite());
        finite.ok_or_else(|| {
            DataError::malformed(self.location(number), quote(word), self.kind.value_name())
        })
    }
}
