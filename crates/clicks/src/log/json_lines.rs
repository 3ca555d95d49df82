//! Click logs as JSON lines. The keys of a line tell its kind:
//!
//! - **UBI** (User Behavior Insights of OpenSearch, version 1.3). A query has `query_id` and
//!   `query_response_hit_ids`, the shown documents; an event has `action_name`, `query_id` and
//!   `event_attributes.object.object_id`. The actions `click` and `result_click` are clicks.
//! - **Metarank.** `"event": "ranking"` has `id` and `items`; `"event": "interaction"` has
//!   `ranking`, the id of the ranking, `item` and `type`. The query is the field `query`.
//! - **Pages with lists.** `query_id` (or `query`), `query_doc_ids` (or `docs`, `documents`) and
//!   `clicks`, which has a number or a boolean for each document. `positions` are the ranks of the
//!   documents; without them the list is in the order of the ranks. `propensities` are the
//!   probabilities with which the ranker showed the documents, `device` is the user's.
//!
//! Ids may be texts or numbers. Times are seconds or milliseconds since 1970, or points in time
//! such as `2026-03-01T12:30:00Z`. Lines are parsed in parallel.

use rankwright_data::bytes::Input;
use rankwright_data::{DataError, SourceLocation, quote};
use rayon::prelude::*;
use serde::Deserialize;

use super::join::LogRecord;
use super::scalar::{Flag, Text, Time};
use crate::impression::{Click, Impression};

/// Number of bytes that one task parses.
const CHUNK_BYTES: usize = 1 << 20;

/// Reads the records of JSON lines, in the order of the lines.
pub(super) fn read(input: &Input, mut add: impl FnMut(LogRecord)) -> Result<(), DataError> {
    // A few chunks at a time, so that records of a large file are not all in memory at once.
    let chunks = chunks(&input.bytes);
    let mut line = 1;
    for group in chunks.chunks(64) {
        let parsed: Vec<ParsedChunk> =
            group.par_iter().map(|chunk| parse_chunk(chunk, input)).collect();
        for chunk in parsed {
            line += chunk.lines;
            if let Some(error) = chunk.error {
                return Err(at_line(error, line));
            }
            chunk.records.into_iter().for_each(&mut add);
        }
    }
    Ok(())
}

/// The text in pieces that end with a line.
fn chunks(text: &[u8]) -> Vec<&[u8]> {
    let mut chunks = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let start = CHUNK_BYTES.min(rest.len());
        let line_end = rest.iter().skip(start).position(|byte| *byte == b'\n');
        let (chunk, after) = rest.split_at(line_end.map_or(rest.len(), |end| start + end + 1));
        chunks.push(chunk);
        rest = after;
    }
    chunks
}

/// The records of a chunk up to its first error.
#[derive(Debug, Default)]
struct ParsedChunk {
    records: Vec<LogRecord>,
    /// Number of lines; those before the error if there is one.
    lines: u64,
    error: Option<DataError>,
}

fn parse_chunk(chunk: &[u8], input: &Input) -> ParsedChunk {
    let mut parsed = ParsedChunk::default();
    for line in chunk.split_inclusive(|byte| *byte == b'\n') {
        let content = line.trim_ascii();
        if !content.is_empty() {
            match parse_line(content, input) {
                Ok(record) => parsed.records.push(record),
                Err(error) => {
                    parsed.error = Some(error);
                    return parsed;
                }
            }
        }
        parsed.lines += 1;
    }
    parsed
}

fn at_line(error: DataError, line: u64) -> DataError {
    match error {
        DataError::Malformed { mut location, found, expected, .. } => {
            location.line = Some(line);
            DataError::malformed(*location, found, expected)
        }
        other => other,
    }
}

fn malformed(input: &Input, line: &[u8], expected: &str) -> DataError {
    let location =
        SourceLocation { file: input.name.clone(), line: None, column: None, field: None };
    DataError::malformed(location, quote(line), expected)
}

/// The keys of all kinds of lines; others are ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawLine<'a> {
    // UBI.
    #[serde(borrow)]
    action_name: Option<Text<'a>>,
    #[serde(borrow)]
    query_id: Option<Text<'a>>,
    #[serde(borrow)]
    user_query: Option<Text<'a>>,
    #[serde(borrow)]
    client_id: Option<Text<'a>>,
    #[serde(borrow)]
    session_id: Option<Text<'a>>,
    #[serde(borrow)]
    query_response_hit_ids: Option<Vec<Text<'a>>>,
    #[serde(borrow)]
    event_attributes: Option<RawAttributes<'a>>,
    // Metarank.
    #[serde(borrow)]
    event: Option<Text<'a>>,
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    ranking: Option<Text<'a>>,
    #[serde(borrow)]
    item: Option<Text<'a>>,
    #[serde(borrow)]
    items: Option<Vec<RawItem<'a>>>,
    #[serde(borrow, rename = "type")]
    interaction: Option<Text<'a>>,
    #[serde(borrow)]
    fields: Option<Vec<RawField<'a>>>,
    // Pages with lists.
    #[serde(borrow)]
    query: Option<Text<'a>>,
    #[serde(borrow, alias = "docs", alias = "documents")]
    query_doc_ids: Option<Vec<Text<'a>>>,
    clicks: Option<Vec<Flag>>,
    positions: Option<Vec<f64>>,
    propensities: Option<Vec<f64>>,
    #[serde(borrow)]
    device: Option<Text<'a>>,
    // All of them.
    #[serde(borrow)]
    session: Option<Text<'a>>,
    #[serde(alias = "time")]
    timestamp: Option<Time>,
    #[serde(borrow, alias = "application")]
    ranker: Option<Text<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawAttributes<'a> {
    #[serde(borrow)]
    object: Option<RawObject<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawObject<'a> {
    #[serde(borrow)]
    object_id: Option<Text<'a>>,
}

#[derive(Debug, Deserialize)]
struct RawItem<'a> {
    #[serde(borrow)]
    id: Text<'a>,
}

#[derive(Debug, Deserialize)]
struct RawField<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow, default)]
    value: Option<Text<'a>>,
}

fn parse_line(line: &[u8], input: &Input) -> Result<LogRecord, DataError> {
    let raw: RawLine<'_> = serde_json::from_slice(line)
        .map_err(|error| malformed(input, line, &format!("a line of a click log ({error})")))?;
    let expected =
        "a query or an event of UBI, an event of Metarank, or a page with documents and clicks";
    raw.record().ok_or_else(|| malformed(input, line, expected))
}

impl RawLine<'_> {
    /// The record; `None` if the line is of no known kind.
    fn record(self) -> Option<LogRecord> {
        if self.event.is_some() {
            return self.metarank();
        }
        if self.action_name.is_some() {
            return Some(self.ubi_event());
        }
        if self.query_response_hit_ids.is_some() {
            return self.ubi_query();
        }
        self.page()
    }

    fn ubi_query(self) -> Option<LogRecord> {
        let id = self.query_id?.into_string();
        // Pages of the same text are of one query; a log without texts has a query for each page.
        let query = self.user_query.map_or_else(|| id.clone(), Text::into_string);
        let documents = self.query_response_hit_ids?.into_iter().map(Text::into_string).collect();
        let session = self.session_id.or(self.client_id).map(Text::into_string);
        Some(LogRecord::Impression(Impression {
            id,
            session: session.unwrap_or_default(),
            query,
            documents,
            time: self.timestamp.map(|time| time.0),
            ranker: self.ranker.map(Text::into_string).unwrap_or_default(),
            ..Impression::default()
        }))
    }

    fn ubi_event(self) -> LogRecord {
        let is_click = self.action_name.as_ref().is_some_and(|name| {
            matches!(name.as_str(), "click" | "result_click" | "item_click" | "product_click")
        });
        let object = self.event_attributes.and_then(|attributes| attributes.object);
        let document = object.and_then(|object| object.object_id);
        match (is_click, self.query_id, document) {
            (true, Some(query), Some(document)) => LogRecord::Click {
                impression: query.into_string(),
                document: document.into_string(),
                time: self.timestamp.map(|time| time.0),
            },
            _ => LogRecord::Other,
        }
    }

    fn metarank(self) -> Option<LogRecord> {
        let time = self.timestamp.map(|time| time.0);
        match self.event.as_ref()?.as_str() {
            "ranking" => {
                let id = self.id?.into_string();
                let fields = self.fields.unwrap_or_default().into_iter();
                let query = fields.filter(|field| field.name.as_str() == "query");
                let query = query.filter_map(|field| field.value).map(Text::into_string).next();
                Some(LogRecord::Impression(Impression {
                    query: query.unwrap_or_else(|| id.clone()),
                    id,
                    session: self.session.map(Text::into_string).unwrap_or_default(),
                    documents: self.items?.into_iter().map(|item| item.id.into_string()).collect(),
                    time,
                    ..Impression::default()
                }))
            }
            "interaction" if self.interaction.as_ref()?.as_str() == "click" => {
                let (impression, document) = self.ranking.zip(self.item)?;
                let (impression, document) = (impression.into_string(), document.into_string());
                Some(LogRecord::Click { impression, document, time })
            }
            _ => Some(LogRecord::Other),
        }
    }

    fn page(self) -> Option<LogRecord> {
        let query = self.query.or(self.query_id)?.into_string();
        let mut documents: Vec<String> =
            self.query_doc_ids?.into_iter().map(Text::into_string).collect();
        let mut clicked: Vec<bool> = self.clicks?.into_iter().map(|flag| flag.0).collect();
        let mut propensities = self.propensities.unwrap_or_default();
        let is_complete = propensities.is_empty() || propensities.len() == documents.len();
        let are_probabilities = propensities.iter().all(|p| (0.0..=1.0).contains(p));
        if clicked.len() != documents.len() || !is_complete || !are_probabilities {
            return None;
        }
        if let Some(positions) = self.positions {
            let mut order: Vec<usize> = (0..documents.len()).collect();
            if positions.len() != order.len() {
                return None;
            }
            order.sort_by(|a, b| positions[*a].total_cmp(&positions[*b]));
            documents = order.iter().map(|from| std::mem::take(&mut documents[*from])).collect();
            clicked = order.iter().map(|from| clicked[*from]).collect();
            if !propensities.is_empty() {
                propensities = order.iter().map(|from| propensities[*from]).collect();
            }
        }
        let clicks = (0..).zip(clicked).filter(|(_, clicked)| *clicked);
        Some(LogRecord::Impression(Impression {
            session: self.session.or(self.session_id).map(Text::into_string).unwrap_or_default(),
            query,
            clicks: clicks.map(|(index, _)| Click { index, time: None }).collect(),
            documents,
            time: self.timestamp.map(|time| time.0),
            ranker: self.ranker.map(Text::into_string).unwrap_or_default(),
            device: self.device.map(Text::into_string).unwrap_or_default(),
            propensities,
            ..Impression::default()
        }))
    }
}
