//! The log of Yandex' Relevance Prediction Challenge (2011) as it was published: lines of fields
//! that are separated by tabs,
//!
//! ```text
//! SESSION  TIME  Q  QUERY  REGION  DOCUMENT ...    a page was shown
//! SESSION  TIME  C  DOCUMENT                       a click
//! ```
//!
//! A click belongs to the last page of its session that shows the document.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use rankwright_data::bytes::Input;
use rankwright_data::{DataError, SourceLocation, quote};

use super::counts::LogCounts;
use crate::impression::{Click, Impression};

/// Reads a log and passes each page with its clicks to `visit`. The lines of a session need not be
/// adjacent.
pub(super) fn read(
    input: &Input,
    mut visit: impl FnMut(Impression),
) -> Result<LogCounts, DataError> {
    let mut pages: Vec<Impression> = Vec::new();
    let mut by_session: HashMap<String, Vec<usize>, FixedState> = HashMap::default();
    let mut counts = LogCounts::default();
    for (line, number) in input.bytes.split(|byte| *byte == b'\n').zip(1..) {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        match parse_line(line).ok_or_else(|| malformed(input, number, line))? {
            LogLine::Page(page) => {
                by_session.entry(page.session.clone()).or_default().push(pages.len());
                pages.push(page);
            }
            LogLine::Click { session, document, time } => {
                let Some(of_session) = by_session.get(session) else {
                    counts.clicks_without_impression += 1;
                    continue;
                };
                let mut shown = of_session.iter().rev().filter_map(|number| {
                    let index = pages[*number].documents.iter().position(|id| id == document)?;
                    Some((*number, index))
                });
                match shown.next() {
                    Some((page, index)) => {
                        pages[page].clicks.push(Click { index, time: Some(time) });
                    }
                    None => counts.off_page_clicks += 1,
                }
            }
        }
    }
    for page in pages {
        if counts.add(&page) {
            visit(page);
        }
    }
    Ok(counts)
}

/// Whether a text is of this format: the third field of its first line is `Q` or `C`.
pub(super) fn is_log(text: &[u8]) -> bool {
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    parse_line(line.trim_ascii()).is_some()
}

enum LogLine<'a> {
    Page(Impression),
    Click { session: &'a str, document: &'a str, time: f64 },
}

fn parse_line(line: &[u8]) -> Option<LogLine<'_>> {
    let mut fields = std::str::from_utf8(line).ok()?.split('\t');
    let (session, time, action) = (fields.next()?, fields.next()?, fields.next()?);
    let time = time.parse::<f64>().ok().filter(|time| time.is_finite())?;
    match action {
        "Q" => {
            let (query, _region) = (fields.next()?, fields.next()?);
            let page = Impression::new(query, fields);
            Some(LogLine::Page(Impression {
                session: session.to_owned(),
                time: Some(time),
                ..page
            }))
        }
        "C" => {
            let document = fields.next()?;
            fields.next().is_none().then_some(LogLine::Click { session, document, time })
        }
        _ => None,
    }
}

fn malformed(input: &Input, line: u64, content: &[u8]) -> DataError {
    let location =
        SourceLocation { file: input.name.clone(), line: Some(line), column: None, field: None };
    let expected =
        "session, time, Q, query, region and documents, or session, time, C and document";
    DataError::malformed(location, quote(content), expected)
}
