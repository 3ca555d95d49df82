//! Click logs as JSON lines. The keys of a line tell its kind:
//!
//! - **UBI** (User Behavior Insights of OpenSearch, version 1.3). A query has `query_id` and
//!   `query_response_hit_ids`, the shown documents; an event has `action_name`, `query_id` and
//!   `event_attributes.object.object_id`, or `event_attributes.position.ordinal`, the rank from 1.
//!   The actions `click`, `result_click`, `item_click` and `product_click` are clicks, unless other
//!   names are given. The query is `user_query`, the user `client_id`; `query_attributes` may have
//!   `ranker`, `device` and `propensities`. Without such a `ranker`, the ranker is the query's
//!   `application`.
//! - **Metarank.** `"event": "ranking"` has `id` and `items`; `"event": "interaction"` has
//!   `item`, `type` (a click if it is one of the names above) and perhaps `ranking`, the id of the
//!   ranking; a click without one belongs to no impression. The query is the field `query`; there
//!   may be fields `ranker` and `device`, and a field `propensity` of each item.
//! - **Pages with lists.** `query_id` (or `query`), `query_doc_ids` (or `docs`, `documents`) and
//!   `clicks`, which has a number or a boolean for each document. `positions` are the ranks of the
//!   documents; without them the list is in the order of the ranks. There may be `impression`, the
//!   id of the page, `propensities`, one for each document, `click_times`, the time of the click on
//!   each document or null, and `count`, the number of impressions that the line stands for.
//! - **Rows**, if columns are given, or if the first line is of no other kind and has the columns
//!   of a log: see `rows.rs`.
//!
//! Ids may be texts or numbers. Times are seconds or milliseconds since 1970, or points in time
//! such as `2026-03-01T12:30:00Z`. Lines are parsed in parallel, a block at a time: those of the
//! ordinary form by `json_lines/fast.rs`, all others by `serde_json`.

mod fast;

use std::borrow::Cow;
use std::collections::HashMap;

use rankwright_data::{DataError, SourceLocation, quote};
use rayon::prelude::*;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::columns::{LogRole, column_of, missing_role};
use super::input::LogInput;
use super::join::{POSITION, is_position, sort_by_position, sort_clicks};
use super::options::LogOptions;
use super::record::{PageFields, RecordBatch, RecordKind};
use super::rows::{LogRow, RowGrouper, RowProblem, read_row};
use super::scalar::{ClickFlag, JsonCell, Text, Time, text_of};
use crate::impression::{Click, Impression};

/// Number of bytes that one task parses.
const CHUNK_BYTES: usize = 1 << 18;

/// Reads the records of JSON lines, in the order of the lines.
pub(super) fn read(
    input: &mut LogInput,
    options: &LogOptions,
    send: &mut dyn FnMut(RecordBatch) -> bool,
) -> Result<(), DataError> {
    let name = input.name().to_owned();
    match is_rows(input.beginning(), options) {
        true => read_rows(input, &name, options, send),
        false => {
            let parse = |line: &[u8], batch: &mut RecordBatch| {
                parse_line(line, options, batch)
                    .map_err(|expected| malformed(&name, line, &expected))
            };
            read_lines(input, parse, |batch| Ok(send(batch)))
        }
    }
}

/// Parses the lines of an input in parallel. `parse` adds a line to the result of its chunk, and
/// `take` gets these results in the order of the lines, until it returns false.
fn read_lines<T: Default + Send>(
    input: &mut LogInput,
    parse: impl Fn(&[u8], &mut T) -> Result<(), DataError> + Sync,
    mut take: impl FnMut(T) -> Result<bool, DataError>,
) -> Result<(), DataError> {
    let mut line = 1;
    while let Some(block) = input.next_block(b'\n')? {
        let chunks = chunks(&block);
        let parsed: Vec<ParsedChunk<T>> =
            chunks.par_iter().map(|chunk| parse_chunk(chunk, &parse)).collect();
        for chunk in parsed {
            line += chunk.lines;
            // Lines before an error count: they are passed on first.
            if !take(chunk.content)? {
                return Ok(());
            }
            if let Some(error) = chunk.error {
                return Err(at_line(error, line));
            }
        }
    }
    Ok(())
}

/// The text in pieces that end at the end of a line.
fn chunks(text: &[u8]) -> Vec<&[u8]> {
    let mut chunks = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let start = CHUNK_BYTES.min(rest.len());
        let line_end = memchr::memchr(b'\n', rest.get(start..).unwrap_or_default());
        let (chunk, after) = rest.split_at(line_end.map_or(rest.len(), |end| start + end + 1));
        chunks.push(chunk);
        rest = after;
    }
    chunks
}

/// The content of a chunk up to its first error.
struct ParsedChunk<T> {
    content: T,
    /// Number of lines; those before the error if there is one.
    lines: u64,
    error: Option<DataError>,
}

fn parse_chunk<T: Default>(
    chunk: &[u8],
    parse: &impl Fn(&[u8], &mut T) -> Result<(), DataError>,
) -> ParsedChunk<T> {
    let mut parsed = ParsedChunk { content: T::default(), lines: 0, error: None };
    let mut rest = chunk;
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let (line, after) = rest.split_at(end);
        rest = after;
        let content = line.trim_ascii();
        if !content.is_empty()
            && let Err(error) = parse(content, &mut parsed.content)
        {
            parsed.error = Some(error);
            return parsed;
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

fn malformed(name: &str, line: &[u8], expected: &str) -> DataError {
    DataError::malformed(SourceLocation::file(name), quote(line), expected)
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
    #[serde(borrow)]
    query_attributes: Option<&'a RawValue>,
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
    clicks: Option<Vec<ClickFlag>>,
    positions: Option<Vec<f64>>,
    propensities: Option<Vec<f64>>,
    click_times: Option<Vec<Option<Time>>>,
    /// Events of other kinds may have a count of anything.
    #[serde(borrow)]
    count: Option<&'a RawValue>,
    #[serde(borrow, alias = "impression_id")]
    impression: Option<Text<'a>>,
    #[serde(borrow)]
    device: Option<Text<'a>>,
    // All of them.
    #[serde(borrow)]
    session: Option<Text<'a>>,
    #[serde(borrow)]
    user: Option<Text<'a>>,
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
    #[serde(borrow)]
    position: Option<RawPosition<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawObject<'a> {
    #[serde(borrow)]
    object_id: Option<Text<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawPosition<'a> {
    #[serde(borrow)]
    ordinal: Option<Text<'a>>,
}

/// The attributes of a query that are read, each with a value of any type; a log may have any
/// others.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RawQueryAttributes<'a> {
    #[serde(borrow)]
    ranker: Option<&'a RawValue>,
    #[serde(borrow)]
    device: Option<&'a RawValue>,
    #[serde(borrow)]
    propensities: Option<&'a RawValue>,
}

impl<'a> RawQueryAttributes<'a> {
    /// The attributes of a query; no attributes if the value is not an object.
    fn parse(attributes: Option<&'a RawValue>) -> Result<Self, &'static str> {
        match attributes.map(RawValue::get).filter(|text| text.starts_with('{')) {
            Some(text) => {
                serde_json::from_str(text).map_err(|_| "query_attributes, each of them once")
            }
            None => Ok(Self::default()),
        }
    }
}

#[derive(Debug, Deserialize)]
struct RawItem<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow, default)]
    fields: Vec<RawField<'a>>,
}

#[derive(Debug, Deserialize)]
struct RawField<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    /// Fields that are not read have values of any type.
    #[serde(borrow, default)]
    value: Option<&'a RawValue>,
}

/// The value of the field with this name.
fn field<'a>(fields: &[RawField<'a>], name: &str) -> Option<&'a RawValue> {
    fields.iter().find(|field| field.name.as_str() == name)?.value
}

/// A value as a text; `None` for lists and objects, which are not read here.
fn as_text(value: Option<&RawValue>) -> Option<Text<'_>> {
    serde_json::from_str(value?.get()).ok()
}

/// The rank, from 1, that an ordinal names; `None` if it is no such number. A whole number may be
/// written with decimals (`3.0`).
fn rank_of(ordinal: &Text<'_>) -> Option<u64> {
    let number: f64 = ordinal.as_str().parse().ok()?;
    is_position(number).then_some(number as u64)
}

/// A value as a propensity, or as a list of them.
fn as_propensity<'a, T: Deserialize<'a>>(value: &'a RawValue) -> Result<T, &'static str> {
    serde_json::from_str(value.get()).map_err(|_| PROPENSITIES)
}

/// Adds a line to a batch; the error is what was expected.
fn parse_line(
    line: &[u8],
    options: &LogOptions,
    batch: &mut RecordBatch,
) -> Result<(), Cow<'static, str>> {
    let fast = std::str::from_utf8(line).ok().and_then(fast::read_line);
    let raw: RawLine<'_> = match fast {
        Some(raw) => raw,
        None => serde_json::from_slice(line)
            .map_err(|error| format!("a line of a click log ({error})"))?,
    };
    raw.add_to(options, batch).map_err(Cow::Borrowed)
}

/// The part of an error that says what was expected, for a line of no known kind.
const LINE_KINDS: &str =
    "a query or an event of UBI, an event of Metarank, or a page with documents and clicks";

impl RawLine<'_> {
    /// Adds the record of the line.
    fn add_to(self, options: &LogOptions, batch: &mut RecordBatch) -> Result<(), &'static str> {
        if self.event.is_some() {
            return self.add_metarank(options, batch);
        }
        if self.action_name.is_some() {
            return self.add_ubi_event(options, batch);
        }
        if self.query_response_hit_ids.is_some() {
            return self.add_ubi_query(batch);
        }
        batch.page(self.page()?);
        Ok(())
    }

    fn add_ubi_query(self, batch: &mut RecordBatch) -> Result<(), &'static str> {
        let id = self.query_id.as_ref().ok_or("a query_id of a query of UBI")?.as_str();
        let hits = self.query_response_hit_ids.as_deref().unwrap_or_default();
        let attributes = RawQueryAttributes::parse(self.query_attributes)?;
        let propensities: Option<Vec<f64>> =
            attributes.propensities.map(as_propensity).transpose()?;
        let propensities = propensities.unwrap_or_default();
        check_propensities(&propensities, hits.len())?;
        let (ranker, device) = (as_text(attributes.ranker), as_text(attributes.device));
        let fields = PageFields {
            id,
            session: text_of(&self.session_id),
            user: text_of(&self.client_id),
            // Pages of the same text are of one query; a log without texts has a query for each
            // page.
            query: self.user_query.as_ref().map_or(id, Text::as_str),
            ranker: text_of(if ranker.is_some() { &ranker } else { &self.ranker }),
            device: text_of(&device),
            time: self.timestamp.map(|time| time.0),
            clicks: &[],
            propensities: &propensities,
            count: 1,
        };
        batch.join(RecordKind::Impression, id, |out| {
            out.page(fields, hits.iter().map(Text::as_str));
        });
        Ok(())
    }

    fn add_ubi_event(
        self,
        options: &LogOptions,
        batch: &mut RecordBatch,
    ) -> Result<(), &'static str> {
        let is_click = options.is_click(text_of(&self.action_name));
        let attributes = self.event_attributes.unwrap_or_default();
        let document = attributes.object.and_then(|object| object.object_id);
        let ordinal = attributes.position.and_then(|position| position.ordinal);
        let rank = ordinal.as_ref().and_then(rank_of).unwrap_or(0);
        if is_click && document.is_none() && ordinal.is_some() && rank == 0 {
            return Err(ORDINAL);
        }
        match self.query_id {
            Some(query) if is_click && (document.is_some() || rank > 0) => {
                let time = self.timestamp.map(|time| time.0);
                batch.join(RecordKind::Click, query.as_str(), |out| {
                    out.click(text_of(&document), rank, time);
                });
            }
            _ => batch.other_events += 1,
        }
        Ok(())
    }

    fn add_metarank(
        self,
        options: &LogOptions,
        batch: &mut RecordBatch,
    ) -> Result<(), &'static str> {
        let time = self.timestamp.map(|time| time.0);
        let kind = text_of(&self.interaction);
        match text_of(&self.event) {
            "ranking" => {
                let id = self.id.as_ref().ok_or("an id of a ranking of Metarank")?.as_str();
                let items = self.items.as_deref().ok_or("items of a ranking of Metarank")?;
                let fields = self.fields.as_deref().unwrap_or_default();
                let named = |name: &str| as_text(field(fields, name));
                let (query, ranker, device) = (named("query"), named("ranker"), named("device"));
                let propensities =
                    items.iter().filter_map(|item| field(&item.fields, "propensity"));
                let propensities: Vec<f64> =
                    propensities.map(as_propensity).collect::<Result<_, _>>()?;
                check_propensities(&propensities, items.len())?;
                let page = PageFields {
                    id,
                    session: text_of(&self.session),
                    user: text_of(&self.user),
                    query: query.as_ref().map_or(id, Text::as_str),
                    ranker: text_of(&ranker),
                    device: text_of(&device),
                    time,
                    clicks: &[],
                    propensities: &propensities,
                    count: 1,
                };
                let documents = items.iter().map(|item| item.id.as_str());
                batch.join(RecordKind::Impression, id, |out| {
                    out.page(page, documents);
                });
            }
            "interaction" if options.is_click(kind) => {
                let document = self.item.ok_or("an item of an interaction of Metarank")?;
                match self.ranking {
                    Some(impression) => batch.join(RecordKind::Click, impression.as_str(), |out| {
                        out.click(document.as_str(), 0, time);
                    }),
                    None => batch.clicks_without_impression += 1,
                }
            }
            "interaction" if self.interaction.is_none() => {
                return Err("a type of an interaction of Metarank");
            }
            _ => batch.other_events += 1,
        }
        Ok(())
    }

    fn page(self) -> Result<Impression, &'static str> {
        let query = self.query.or(self.query_id).ok_or(LINE_KINDS)?.into_string();
        let documents = self.query_doc_ids.ok_or(LINE_KINDS)?;
        let clicked = self.clicks.ok_or(LINE_KINDS)?;
        let shown = documents.len();
        if clicked.len() != shown {
            return Err("a value of clicks for each document");
        }
        let positions = self.positions.unwrap_or_default();
        if !positions.is_empty() && positions.len() != shown {
            return Err("a position for each document");
        }
        if !positions.iter().all(|position| is_position(*position)) {
            return Err(POSITION);
        }
        let propensities = self.propensities.unwrap_or_default();
        check_propensities(&propensities, shown)?;
        let count = self.count.map_or(Ok(1), |count| count.get().parse());
        let count = count.ok().filter(|count| (1..=MAX_COUNT).contains(count)).ok_or(COUNT)?;
        let times = self.click_times.unwrap_or_default();
        if !times.is_empty() && times.len() != shown {
            return Err("a time or null in click_times for each document");
        }
        let time_of = |index: usize| Some(times.get(index)?.as_ref()?.0);
        let clicks = (0..).zip(clicked).filter(|(_, flag)| flag.0);
        let string = |text: Option<Text<'_>>| text.map(Text::into_string).unwrap_or_default();
        let mut page = Impression {
            id: string(self.impression),
            session: string(self.session.or(self.session_id)),
            user: string(self.user.or(self.client_id)),
            query,
            clicks: clicks.map(|(index, _)| Click { index, time: time_of(index) }).collect(),
            documents: documents.into_iter().map(Text::into_string).collect(),
            time: self.timestamp.map(|time| time.0),
            ranker: string(self.ranker),
            device: string(self.device),
            propensities,
            count,
        };
        sort_by_position(&mut page, &positions);
        sort_clicks(&mut page);
        Ok(page)
    }
}

/// The part of an error that says what was expected, for invalid propensities.
const PROPENSITIES: &str = "a propensity above 0 and at most 1 for each document";
/// The part of an error that says what was expected, for a click whose only place is no rank.
const ORDINAL: &str =
    "a rank from 1 as event_attributes.position.ordinal, or event_attributes.object.object_id";
/// The most impressions that a line may stand for.
const MAX_COUNT: u64 = 1_000_000;

/// The part of an error that says what was expected, for an invalid number of impressions.
const COUNT: &str = "a count of impressions from 1 to a million";

/// Checks that there is a probability for each document, or none at all.
pub(super) fn check_propensities(
    propensities: &[f64],
    documents: usize,
) -> Result<(), &'static str> {
    let are_valid = propensities.iter().all(|value| *value > 0.0 && *value <= 1.0);
    match propensities.is_empty() || (propensities.len() == documents && are_valid) {
        true => Ok(()),
        false => Err(PROPENSITIES),
    }
}

/// Checks the number of impressions that a page stands for.
pub(super) fn check_count(count: u64) -> Result<(), &'static str> {
    if (1..=MAX_COUNT).contains(&count) { Ok(()) } else { Err(COUNT) }
}

/// Whether the lines are rows of a table: columns are given, or the first line is of no other kind
/// and has the columns of a log.
fn is_rows(beginning: &[u8], options: &LogOptions) -> bool {
    if !options.columns.is_empty() {
        return true;
    }
    let line = beginning.trim_ascii_start().split(|byte| *byte == b'\n').next();
    let line = line.unwrap_or_default().trim_ascii();
    let is_known = parse_line(line, options, &mut RecordBatch::default()).is_ok();
    let keys: Option<HashMap<Cow<'_, str>, IgnoredAny>> = serde_json::from_slice(line).ok();
    let keys: Vec<Cow<'_, str>> = keys.into_iter().flatten().map(|(key, _)| key).collect();
    !is_known && options.columns.fit(&keys)
}

/// Reads lines that are rows of a table. A line may lack columns that others have.
fn read_rows(
    input: &mut LogInput,
    name: &str,
    options: &LogOptions,
    send: &mut dyn FnMut(RecordBatch) -> bool,
) -> Result<(), DataError> {
    let parse = |line: &[u8], rows: &mut Vec<LogRow>| {
        let row = parse_row(line, options).map_err(|problem| match problem {
            JsonRowProblem::Line(expected) => malformed(name, line, &expected),
            JsonRowProblem::Cell(column, RowProblem { found, expected, .. }) => {
                let location = SourceLocation::file(name).in_field(column);
                DataError::malformed(location, found, expected)
            }
        })?;
        rows.push(row);
        Ok(())
    };
    let mut grouper = RowGrouper::default();
    read_lines(input, parse, |rows| {
        let mut batch = RecordBatch::default();
        rows.into_iter().for_each(|row| grouper.add(row, &mut batch));
        Ok(send(batch))
    })?;
    let mut batch = RecordBatch::default();
    grouper.finish(&mut batch);
    send(batch);
    Ok(())
}

enum JsonRowProblem {
    /// The content that was expected of the line.
    Line(String),
    /// The problem of the cell of a column.
    Cell(String, RowProblem),
}

fn parse_row(line: &[u8], options: &LogOptions) -> Result<LogRow, JsonRowProblem> {
    // Keys without a role may have values of any type.
    let cells: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_slice(line)
        .map_err(|error| JsonRowProblem::Line(format!("an object with columns ({error})")))?;
    // Sorted, so that the result does not depend on the order of the keys.
    let mut cells: Vec<(Cow<'_, str>, &RawValue)> = cells.into_iter().collect();
    cells.sort_by(|a, b| a.0.cmp(&b.0));
    let names: Vec<&str> = cells.iter().map(|(name, _)| name.as_ref()).collect();
    let roles = options.columns.roles(&names);
    if let Some(missing) = missing_role(&roles) {
        let expected = format!("a key with the role {missing}");
        return Err(JsonRowProblem::Line(expected));
    }
    let mut found: Vec<(LogRole, JsonCell<'_>)> = Vec::new();
    for (role, (column, value)) in roles.iter().zip(&cells) {
        let Some(role) = role else { continue };
        let cell = serde_json::from_str(value.get()).map_err(|_| {
            let found = quote(value.get().as_bytes());
            let expected = "a text, a number, a boolean or a list of them";
            let problem = RowProblem { role: *role, found, expected };
            JsonRowProblem::Cell(column.clone().into_owned(), problem)
        })?;
        found.push((*role, cell));
    }
    let row = read_row(found.into_iter().map(|(role, cell)| (role, cell.0)));
    row.map_err(|problem| {
        let column = column_of(problem.role, &roles, &names);
        JsonRowProblem::Cell(column.to_owned(), problem)
    })
}
