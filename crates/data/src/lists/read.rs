//! Reads judgements and runs from text: TREC columns and tables with a header.
//!
//! The text is cut into chunks at line ends, read in parallel, and joined in file order. Blank
//! lines and lines that begin with `#` are skipped (a document id may contain a `#`). Lines may
//! have more columns than are read, as trec_eval allows; that gives a warning.
//!
//! Judgements have two older forms. Cranfield's are three columns `qid docid relevance` without a
//! header: detected if the first line has three columns, the last a number; then every line must
//! have three. SMART's are `qid docid 0 0` and list only the relevant documents: detected if every
//! line ends in two zeros and more than one document is named, since as TREC columns such a file
//! would judge nothing but a document `0`. Its query numbers are padded (`01`), those of the query
//! file are not, so leading zeros are dropped there.

use std::ops::Range;

use memchr::memchr;
use rankwright_spec::words::counted;
use rayon::prelude::*;

use super::{PackedDocument, QueryLists, json};
use crate::bytes::Input;
use crate::chunks::chunks;
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
    pub(super) fn value_name(self) -> &'static str {
        match self {
            ListKind::Qrels => "a finite number as relevance",
            ListKind::Run => "a finite number as score",
        }
    }

    pub(super) fn content(self) -> &'static str {
        match self {
            ListKind::Qrels => "judgements",
            ListKind::Run => "results",
        }
    }
}

/// The columns of a line that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LineLayout {
    columns: usize,
    document: usize,
    value: usize,
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
const THREE_COLUMNS: LineLayout = LineLayout {
    columns: 3,
    document: 1,
    value: 2,
    expected: "'qid docid relevance', as in the first line",
    open_ended: false,
};
/// The value column is ignored: every listed document is relevant.
const SMART_QRELS: LineLayout = LineLayout {
    columns: 4,
    document: 1,
    value: 3,
    expected: "'qid docid 0 0', as in the lines before",
    open_ended: false,
};

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
        .ok_or_else(|| DataError::Empty { file: name.clone(), what: kind.content() })?;
    if first.trim_ascii_start().starts_with(b"{") {
        return json::read(&name, bytes.get(skip..).unwrap_or(&[]), kind, warnings);
    }
    let header = is_header(first);
    // A header with tabs means that only tabs separate, so that ids may contain spaces.
    let tabs = header && first.contains(&b'\t');
    let layout = match (header, kind) {
        (true, _) => TABLE,
        (false, ListKind::Qrels) if is_three_columns(first) => THREE_COLUMNS,
        (false, ListKind::Qrels) if is_smart(&bytes) => SMART_QRELS,
        (false, ListKind::Qrels) => TREC_QRELS,
        (false, ListKind::Run) => TREC_RUN,
    };
    let job = ListJob { name: &name, text: &bytes, layout, kind, header, tabs };
    let parts: Vec<Result<ChunkEntries, DataError>> =
        chunks(&bytes, skip).into_par_iter().map(|(range, line)| job.chunk(range, line)).collect();
    // The first error in file order, for any order of the threads.
    let parts = parts.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut lists = QueryLists::empty(name, bytes, true);
    for part in parts {
        lists.add_block(part.entries, part.runs);
        warnings.merge(part.warnings);
    }
    if lists.documents() == 0 {
        return Err(DataError::Empty { file: lists.name, what: kind.content() });
    }
    Ok((lists, warnings))
}

fn is_data(line: &[u8]) -> bool {
    line.iter().find(|b| !b.is_ascii_whitespace()).is_some_and(|&b| b != b'#')
}

/// Whether a line is a header: three words, of which the first is a usual name of a query id.
fn is_header(line: &[u8]) -> bool {
    let words: Vec<&[u8]> =
        line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
    let named = |word: &[u8]| {
        let word = word.to_ascii_lowercase();
        matches!(
            &word[..],
            b"query-id" | b"query_id" | b"qid" | b"query" | b"queryid" | b"q_id" | b"topic"
        )
    };
    matches!(words[..], [query, _, _] if named(query))
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

/// Whether every line is `qid docid 0 0`, with more than one document. Other files are detected by
/// their first line.
fn is_smart(text: &[u8]) -> bool {
    let mut first: Option<&[u8]> = None;
    let mut several = false;
    for line in text.split(|&b| b == b'\n').filter(|line| is_data(line)) {
        let mut words = words(line).skip(1);
        let (document, tail) = (words.next(), (words.next(), words.next(), words.next()));
        let (Some(document), (Some(b"0"), Some(b"0"), None)) = (document, tail) else {
            return false;
        };
        several |= *first.get_or_insert(document) != document;
    }
    several
}

/// Whether a line has the six columns of a run, with a score in the fifth.
fn is_run_line(line: &[u8]) -> bool {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let score = words.nth(4).and_then(|word| std::str::from_utf8(word).ok());
    score.is_some_and(|word| word.parse::<f64>().is_ok()) && words.count() == 1
}

struct ListJob<'a> {
    name: &'a str,
    text: &'a [u8],
    layout: LineLayout,
    kind: ListKind,
    header: bool,
    tabs: bool,
}

#[derive(Debug, Default)]
struct ChunkEntries {
    entries: Vec<PackedDocument>,
    runs: Vec<(String, u32)>,
    warnings: Warnings,
}

/// The columns of a line that are read, as ranges of the text.
struct Fields {
    query: Range<usize>,
    document: Range<usize>,
    value: Range<usize>,
    /// Whether the line has more columns than the layout.
    more: bool,
}

impl ListJob<'_> {
    fn chunk(&self, range: Range<usize>, first_line: u64) -> Result<ChunkEntries, DataError> {
        let mut part = ChunkEntries::default();
        let mut query: Range<usize> = 0..0;
        let (mut at, mut number) = (range.start, first_line);
        while at < range.end {
            let rest = self.text.get(at..range.end).unwrap_or(&[]);
            let length = memchr(b'\n', rest).unwrap_or(rest.len());
            let (line, start) = (at..at + length, at);
            at += length + 1;
            let content = self.text.get(line.clone()).unwrap_or(&[]);
            number += 1;
            if !is_data(content) {
                let blank = content.iter().all(u8::is_ascii_whitespace);
                part.warnings
                    .add(WarningKind::BlankLines, u64::from(blank), || self.location(number - 1));
                continue;
            }
            if self.header && first_line == 1 && part.entries.is_empty() && is_header(content) {
                continue;
            }
            let fields = match self.tabs {
                true => self.tabbed(content, start, number - 1)?,
                false => self.fields(content, start, number - 1)?,
            };
            let value = self.value(&fields, number - 1)?;
            part.warnings.add(WarningKind::ExtraColumns, u64::from(fields.more), || {
                self.location(number - 1)
            });
            let entry = PackedDocument::new(fields.document.clone(), value);
            part.entries.push(entry.ok_or_else(|| self.long_id(number - 1))?);
            if !part.runs.is_empty()
                && self.text.get(query.clone()) == self.text.get(fields.query.clone())
            {
                if let Some((_, rows)) = part.runs.last_mut() {
                    *rows += 1;
                }
            } else {
                part.runs.push((self.query_id(&fields.query, number - 1)?, 1));
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

    #[inline]
    fn fields(&self, line: &[u8], start: usize, number: u64) -> Result<Fields, DataError> {
        let mut fields = Fields { query: 0..0, document: 0..0, value: 0..0, more: false };
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
                fields.more = true;
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
        if fields.more && self.kind == ListKind::Qrels && is_run_line(line) {
            return Err(self.wrong_columns(line, TREC_RUN.columns, number));
        }
        if fields.more && !self.layout.open_ended {
            return Err(self.wrong_columns(line, words(line).count(), number));
        }
        if self.layout == SMART_QRELS {
            let id = self.text.get(fields.query.clone()).unwrap_or(&[]);
            let zeros = id.iter().take_while(|b| **b == b'0').count();
            fields.query.start += zeros.min(id.len().saturating_sub(1));
        }
        Ok(fields)
    }

    /// The three fields of a line whose header has tabs.
    fn tabbed(&self, line: &[u8], start: usize, number: u64) -> Result<Fields, DataError> {
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
                Ok(Fields { query, document, value, more: false })
            }
            other => Err(self.wrong_columns(line, other.len(), number)),
        }
    }

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
            (_, 3) if !self.header => error
                .with_help("a table of three columns needs the header 'query-id corpus-id score'"),
            _ => error,
        }
    }

    #[inline]
    fn value(&self, fields: &Fields, number: u64) -> Result<f64, DataError> {
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
