//! The two forms of logs of Yandex' Relevance Prediction Challenge: records of pages,
//! `QUERY<tab>DOCUMENTS : CLICKS;`, and the lines of the published log (`log/yandex_log.rs`).

use std::io::Write;

use super::{LogTarget, LogWriteError};
use crate::impression::Impression;

/// Writes a page. Queries and documents must not be empty, have white space at their ends, or
/// contain separators or control characters.
pub(super) fn write(out: &mut dyn Write, page: &Impression) -> Result<(), LogWriteError> {
    let target = LogTarget::YandexPages;
    check(target, &page.query, &['\t', ';'])?;
    page.documents.iter().try_for_each(|document| check(target, document, &[',', ':', ';']))?;
    let clicked = page.clicks.iter().filter_map(|click| page.documents.get(click.index));
    let clicks: Vec<&str> = clicked.map(String::as_str).collect();
    let documents = page.documents.join(",");
    match clicks.as_slice() {
        [] => writeln!(out, "{}\t{documents} :;", page.query)?,
        clicks => writeln!(out, "{}\t{documents} : {};", page.query, clicks.join(" , "))?,
    }
    Ok(())
}

/// Writes the line of a page, and right after it those of its clicks, which belong to the last page
/// of their session that shows the document. A page without a session gets its number as one; the
/// region is 0, and so is an unknown time of a page; a click without a time has that of its page.
/// Returns false if the session or a time was made up in this way.
pub(super) fn write_lines(
    out: &mut dyn Write,
    number: u64,
    page: &Impression,
) -> Result<bool, LogWriteError> {
    let target = LogTarget::YandexLog;
    let made_session;
    let session = match page.session.is_empty() {
        true => {
            made_session = number.to_string();
            &made_session
        }
        false => &page.session,
    };
    check(target, session, &[])?;
    check(target, &page.query, &[])?;
    page.documents.iter().try_for_each(|document| check(target, document, &[]))?;
    let time = page.time.unwrap_or(0.0);
    writeln!(out, "{session}\t{time}\tQ\t{}\t0\t{}", page.query, page.documents.join("\t"))?;
    for click in &page.clicks {
        if let Some(document) = page.documents.get(click.index) {
            writeln!(out, "{session}\t{}\tC\t{document}", click.time.unwrap_or(time))?;
        }
    }
    let has_times = page.time.is_some() && page.clicks.iter().all(|click| click.time.is_some());
    Ok(has_times && !page.session.is_empty())
}

fn check(target: LogTarget, text: &str, separators: &[char]) -> Result<(), LogWriteError> {
    let is_separator = |c: char| separators.contains(&c) || c.is_control();
    match text.is_empty() || text.trim() != text || text.contains(is_separator) {
        true => Err(LogWriteError::Separator { target, text: text.to_owned() }),
        false => Ok(()),
    }
}
