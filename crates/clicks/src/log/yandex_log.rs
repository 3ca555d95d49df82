//! The log of Yandex' Relevance Prediction Challenge (2011) as it was published: lines of fields
//! that are separated by tabs,
//!
//! ```text
//! SESSION  TIME  Q  QUERY  REGION  DOCUMENT ...    a page was shown
//! SESSION  TIME  C  DOCUMENT                       a click
//! ```
//!
//! A click belongs to the last page of its session that shows the document. The lines of a session
//! need not be adjacent.

use rankwright_data::{DataError, SourceLocation, quote};

use super::input::LogInput;
use super::record::{PageFields, RecordBatch, RecordKind};

/// Reads the pages and clicks of a log.
pub(super) fn read(
    input: &mut LogInput,
    send: &mut dyn FnMut(RecordBatch) -> bool,
) -> Result<(), DataError> {
    let name = input.name().to_owned();
    let mut number = 0;
    while let Some(block) = input.next_block(b'\n')? {
        let mut batch = RecordBatch::default();
        for line in block.split_inclusive(|byte| *byte == b'\n') {
            number += 1;
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            match parse_line(line).ok_or_else(|| malformed(&name, number, line))? {
                YandexLine::Page { session, time, query, documents } => {
                    let page =
                        PageFields { session, query, time: Some(time), ..PageFields::default() };
                    batch.join(RecordKind::SessionPage, session, |out| {
                        out.page(page, documents.iter().copied());
                    });
                }
                YandexLine::Click { session, document, time } => {
                    batch.join(RecordKind::SessionClick, session, |out| {
                        out.click(document, 0, Some(time));
                    });
                }
            }
        }
        if !send(batch) {
            break;
        }
    }
    Ok(())
}

/// Whether a text is of this format, by its first line.
pub(super) fn is_log(text: &[u8]) -> bool {
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    parse_line(line.trim_ascii()).is_some()
}

enum YandexLine<'a> {
    Page { session: &'a str, time: f64, query: &'a str, documents: Vec<&'a str> },
    Click { session: &'a str, document: &'a str, time: f64 },
}

fn parse_line(line: &[u8]) -> Option<YandexLine<'_>> {
    let mut fields = std::str::from_utf8(line).ok()?.split('\t');
    let (session, time, action) = (fields.next()?, fields.next()?, fields.next()?);
    let time = time.parse::<f64>().ok().filter(|time| time.is_finite())?;
    match action {
        "Q" => {
            let (query, _region) = (fields.next()?, fields.next()?);
            Some(YandexLine::Page { session, time, query, documents: fields.collect() })
        }
        "C" => {
            let document = fields.next()?;
            fields.next().is_none().then_some(YandexLine::Click { session, document, time })
        }
        _ => None,
    }
}

fn malformed(name: &str, line: u64, content: &[u8]) -> DataError {
    let expected =
        "session, time, Q, query, region and documents, or session, time, C and document";
    DataError::malformed(SourceLocation::line(name, line), quote(content), expected)
}
