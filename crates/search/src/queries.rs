//! Reads queries as TSV, JSON lines, TREC topics or SMART text; the format is detected by content.
//!
//! | format | id | text |
//! |---|---|---|
//! | TSV | first column | second column; a header line (`qid ...`) may name another |
//! | JSONL | `id`, `_id`, `qid`, `query_id`, `query-id`, `queryid` | `text`, `query` or `title` |
//! | TREC | `<num> Number: 301` | the requested parts ([`TopicPart`]), by default the title |
//! | SMART | `.I 1` | the section `.W` |
//!
//! Further values of a query become its fields. An id is kept as written: `001` is not `1`, and
//! judgements must write it in the same way. An empty text is allowed. Two queries of one id are an
//! error.

use std::collections::HashMap;
use std::path::Path;

use rankwright_data::bytes::Input;
use rankwright_data::{DataError, SourceLocation, Warnings, quote};
use rankwright_spec::choices;
use serde::{Deserialize, Serialize};

use crate::document::{Query, Value};
use crate::error::SearchError;
use crate::source::cursor::Cursor;
use crate::source::markup::{Token, Tokens};
use crate::source::parts::{FieldCollector, single_spaced};
use crate::source::{entities, id, json, smart};

choices! {
    /// A part of a TREC topic. Its name is also that of the field that holds the part if it is not
    /// in the text.
    #[derive(Hash)]
    #[non_exhaustive]
    pub enum TopicPart {
        /// `<title>`: a few words.
        Title = "title",
        /// `<desc>`: a sentence.
        Description = "description",
        /// `<narr>`: a description of relevant and irrelevant documents.
        Narrative = "narrative",
    }
}

/// Options of reading queries.
///
/// ```
/// use rankwright_search::{QueryOptions, read_queries};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("cran.qry");
/// std::fs::write(&path, ".I 001\n.W\nheat\n.I 004\n.W\nflow\n")?;
/// let ids = |by_position| {
///     let options = QueryOptions::new().number_by_position(by_position);
///     read_queries(&path, options).map(|q| q.into_iter().map(|q| q.id).collect::<Vec<_>>())
/// };
/// assert_eq!(ids(false)?, ["001", "004"]);
/// assert_eq!(ids(true)?, ["1", "2"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct QueryOptions {
    /// Gives ids 1, 2, 3, ... by position instead of those in the file, as Cranfield's judgements
    /// number its queries.
    pub number_by_position: bool,
    /// The parts of a TREC topic that form the text, in this order.
    pub parts: Vec<TopicPart>,
}

impl Default for QueryOptions {
    fn default() -> Self {
        QueryOptions { number_by_position: false, parts: vec![TopicPart::Title] }
    }
}

impl QueryOptions {
    /// The default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether ids are 1, 2, 3, ... by position instead of those in the file.
    #[must_use]
    pub fn number_by_position(mut self, number_by_position: bool) -> Self {
        self.number_by_position = number_by_position;
        self
    }

    /// Sets the parts of a TREC topic that form the text.
    #[must_use]
    pub fn parts(mut self, parts: Vec<TopicPart>) -> Self {
        self.parts = parts;
        self
    }
}

/// Keys and column names of a query's id, in order of precedence.
const QUERY_IDS: [&str; 6] = ["id", "_id", "qid", "query_id", "query-id", "queryid"];
/// Keys and column names of a query's text, in order of precedence.
const QUERY_TEXTS: [&str; 3] = ["text", "query", "title"];

/// The line of the file on which a query begins, and the query.
type QueryAtLine = (u64, Query);

/// Reads a file of queries, or standard input for `-`. [`read_queries_with`] also counts
/// recoverable problems.
pub fn read_queries(
    path: impl AsRef<Path>,
    options: QueryOptions,
) -> Result<Vec<Query>, SearchError> {
    read_queries_with(path, &options, &mut Warnings::default())
}

/// Like [`read_queries`]; adds warnings about bytes that are not UTF-8 and values that are skipped.
///
/// ```
/// use rankwright_data::Warnings;
/// use rankwright_search::{QueryOptions, read_queries_with};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("queries.tsv");
/// std::fs::write(&path, b"q1\tcaf\xe9\n")?;
/// let mut warnings = Warnings::default();
/// let queries = read_queries_with(&path, &QueryOptions::default(), &mut warnings)?;
/// assert_eq!(queries[0].text, "caf\u{fffd}");
/// assert_eq!(warnings.iter().count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_queries_with(
    path: impl AsRef<Path>,
    options: &QueryOptions,
    warnings: &mut Warnings,
) -> Result<Vec<Query>, SearchError> {
    read_input(Input::open(path.as_ref())?, options, warnings)
}

/// Detects the format by the first bytes that are not whitespace, and reads all queries.
fn read_input(
    input: Input,
    options: &QueryOptions,
    warnings: &mut Warnings,
) -> Result<Vec<Query>, SearchError> {
    let name = input.name.clone();
    let cursor = Cursor::new(input);
    let start = cursor.unread().trim_ascii_start();
    let found = match start {
        [b'{' | b'[', ..] => read_jsonl(cursor, warnings)?,
        [b'.', b'I', b' ' | b'\t', ..] => read_smart(cursor, warnings)?,
        [b'<', t, o, p, ..] if [*t, *o, *p].eq_ignore_ascii_case(b"top") => {
            read_topics(cursor, options, warnings)?
        }
        _ => read_tsv(cursor, warnings)?,
    };
    if found.is_empty() {
        return Err(DataError::Empty { file: name, what: "queries" }.into());
    }
    finish(&name, found, options)
}

/// Numbers queries where requested, and rejects an id that occurs twice.
fn finish(
    name: &str,
    found: Vec<QueryAtLine>,
    options: &QueryOptions,
) -> Result<Vec<Query>, SearchError> {
    let mut line_of_id: HashMap<String, u64> = HashMap::new();
    let mut queries = Vec::with_capacity(found.len());
    for (position, (line, mut query)) in found.into_iter().enumerate() {
        if options.number_by_position {
            query.id = (position + 1).to_string();
        }
        if let Some(first) = line_of_id.insert(query.id.clone(), line) {
            let found = format!("the query id '{}' again, after line {first}", query.id);
            let error =
                SearchError::malformed(SourceLocation::line(name, line), found, "each id once");
            return Err(
                error.with_help("give each query its own id, or number the queries by position")
            );
        }
        queries.push(query);
    }
    Ok(queries)
}

fn read_jsonl(
    mut cursor: Cursor,
    warnings: &mut Warnings,
) -> Result<Vec<QueryAtLine>, SearchError> {
    let mut found = Vec::new();
    while let Some(record) = json::JsonRecord::next(&mut cursor, warnings) {
        let (line, mut record) = record?;
        let location = || cursor.location(line);
        let id = record.take_id(&QUERY_IDS, location)?;
        let Some(text) = record.take_text(&QUERY_TEXTS) else {
            let found = format!("no text in query '{id}'");
            let expected = format!("a text under one of {}", QUERY_TEXTS.join(", "));
            return Err(SearchError::malformed(location(), found, expected));
        };
        let fields = record.into_fields(warnings, location);
        found.push((line, Query { id, text, fields }));
    }
    Ok(found)
}

fn read_smart(cursor: Cursor, warnings: &mut Warnings) -> Result<Vec<QueryAtLine>, SearchError> {
    let mut records = smart::Records::new(cursor);
    let mut found = Vec::new();
    while let Some(record) = records.next(warnings) {
        let mut record = record?;
        let text = record.sections.take("text").unwrap_or_default();
        let fields = record.sections.into_fields();
        found.push((record.line, Query { id: record.id, text: single_spaced(&text), fields }));
    }
    Ok(found)
}

fn read_tsv(mut cursor: Cursor, warnings: &mut Warnings) -> Result<Vec<QueryAtLine>, SearchError> {
    let mut found = Vec::new();
    let mut header: Option<Vec<String>> = None;
    let mut is_first_line = true;
    while let Some((line, range)) = cursor.next_nonblank_line() {
        let location = || cursor.location(line);
        let text = warnings.text(cursor.slice(range), location);
        let cells: Vec<&str> = text.split('\t').collect();
        let is_header = std::mem::take(&mut is_first_line)
            && cells.len() > 1
            && cells.first().is_some_and(|cell| {
                QUERY_IDS.iter().any(|name| cell.trim().eq_ignore_ascii_case(name))
            });
        if is_header {
            header = Some(cells.iter().map(|cell| cell.trim().to_owned()).collect());
            continue;
        }
        let columns = header.as_ref().map_or(2, Vec::len);
        if cells.len() != columns {
            return Err(wrong_columns(location(), &text, cells.len(), columns));
        }
        found.push((line, tsv_query(&cells, header.as_deref().unwrap_or(&[]), location)?));
    }
    Ok(found)
}

/// The error of a line with another number of columns than expected.
fn wrong_columns(
    location: SourceLocation,
    line: &str,
    cells: usize,
    columns: usize,
) -> SearchError {
    let found = match cells {
        1 => format!("no tab in {}", quote(line.as_bytes())),
        cells => format!("{cells} columns in {}", quote(line.as_bytes())),
    };
    let expected = match columns {
        2 => "an id, a tab and the query's text".to_owned(),
        columns => format!("{columns} columns, as in the header"),
    };
    SearchError::malformed(location, found, expected)
        .with_help("queries are read from TSV, JSON lines, TREC topics and SMART text")
}

/// The query of a row; the id is in the first column, the text in the first column whose name is
/// one of [`QUERY_TEXTS`], otherwise in the second.
fn tsv_query(
    cells: &[&str],
    header: &[String],
    location: impl Fn() -> SourceLocation,
) -> Result<Query, SearchError> {
    let named = id::find_name(&QUERY_TEXTS, header.iter().map(String::as_str));
    let text_column = named.filter(|&column| column > 0).unwrap_or(1);
    let mut query = Query::new("", "");
    for (column, cell) in cells.iter().map(|cell| cell.trim()).enumerate() {
        if column == 0 {
            query.id = id::checked(cell.to_owned(), &location)?;
        } else if column == text_column {
            query.text = cell.to_owned();
        } else if let Some(name) = header.get(column).filter(|_| !cell.is_empty()) {
            query.fields.push((name.clone(), Value::Text(cell.to_owned())));
        }
    }
    Ok(query)
}

/// The field name of a tag in a TREC topic, and the words that its content may begin with.
fn topic_field(tag: &str) -> (&str, &'static [&'static str]) {
    match tag {
        "num" => ("num", &["Number:"]),
        "title" => ("title", &["Topic:"]),
        "desc" => ("description", &["Description:"]),
        "narr" => ("narrative", &["Narrative:"]),
        other => (other, &[]),
    }
}

/// Reads TREC topics: `<top>` ... `</top>`, each with parts such as `<num>` and `<title>`.
fn read_topics(
    mut cursor: Cursor,
    options: &QueryOptions,
    warnings: &mut Warnings,
) -> Result<Vec<QueryAtLine>, SearchError> {
    let mut found = Vec::new();
    // The line of the current topic's <top>, and its parts so far.
    let mut topic: Option<(u64, FieldCollector)> = None;
    // The tag of the current part, and the bytes after it.
    let mut tag: Option<String> = None;
    let mut content: Vec<u8> = Vec::new();
    // The byte at which the next token begins.
    let mut next = cursor.offset();
    loop {
        let mut tokens = Tokens::new(cursor.slice(next..cursor.len()));
        let Some(token) = tokens.next() else { break };
        let token_start = next;
        next += tokens.offset();
        if let Token::Text(range) = token {
            content.extend_from_slice(
                cursor.slice(token_start + range.start..token_start + range.end),
            );
            continue;
        }
        // Old topics do not close their parts: any tag ends the previous part.
        if let (Some((line, parts)), Some(tag)) = (&mut topic, tag.take()) {
            let text = warnings.text(&content, || cursor.location(*line));
            add_topic_part(parts, &tag, &entities::decode(&text));
        }
        content.clear();
        cursor.advance_to(token_start);
        match token {
            Token::Open(name) if name == "top" => {
                if let Some((line, _)) = topic {
                    return Err(unclosed_topic(cursor.location(line)));
                }
                topic = Some((cursor.line(), FieldCollector::default()));
            }
            Token::Close(name) if name == "top" => {
                if let Some((line, parts)) = topic.take() {
                    let location = || cursor.location(line);
                    found.push((line, topic_query(parts, options, location)?));
                }
            }
            Token::Open(name) => tag = Some(name),
            _ => {}
        }
    }
    match topic {
        Some((line, _)) => Err(unclosed_topic(cursor.location(line))),
        None => Ok(found),
    }
}

fn unclosed_topic(location: SourceLocation) -> SearchError {
    SearchError::malformed(location, "a <top> that is not closed", "</top>")
}

/// Adds the content of a tag to the parts of a topic, without words such as `Description:` at
/// its beginning.
fn add_topic_part(parts: &mut FieldCollector, tag: &str, text: &str) {
    let (name, prefixes) = topic_field(tag);
    let text = single_spaced(text);
    let without_prefix = prefixes.iter().find_map(|prefix| text.strip_prefix(prefix));
    parts.add(name, without_prefix.unwrap_or(&text).trim(), " ");
}

/// The query of a topic: the requested parts are its text, the others its fields.
fn topic_query(
    mut parts: FieldCollector,
    options: &QueryOptions,
    location: impl Fn() -> SourceLocation,
) -> Result<Query, SearchError> {
    let Some(id) = parts.take("num") else {
        return Err(SearchError::malformed(
            location(),
            "a topic without <num>",
            "<num> Number: 301",
        ));
    };
    let id = id::checked(id, location)?;
    let texts: Vec<String> =
        options.parts.iter().filter_map(|part| parts.take(part.name())).collect();
    Ok(Query { id, text: texts.join(" "), fields: parts.into_fields() })
}

#[cfg(test)]
mod tests;
