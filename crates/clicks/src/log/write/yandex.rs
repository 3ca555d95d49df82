//! Records of pages as in Yandex' Relevance Prediction Challenge: `QUERY<tab>DOCUMENTS : CLICKS;`.

use std::io::Write;

use super::{LogTarget, LogWriteError};
use crate::impression::Impression;

/// Writes a page. Queries and documents must not be empty, have white space at their ends, or
/// contain separators or control characters.
pub(super) fn write(out: &mut dyn Write, page: &Impression) -> Result<(), LogWriteError> {
    check(&page.query, &['\t', ';'])?;
    page.documents.iter().try_for_each(|document| check(document, &[',', ':', ';']))?;
    let clicked = page.clicks.iter().filter_map(|click| page.documents.get(click.index));
    let clicks: Vec<&str> = clicked.map(String::as_str).collect();
    let documents = page.documents.join(",");
    match clicks.as_slice() {
        [] => writeln!(out, "{}\t{documents} :;", page.query)?,
        clicks => writeln!(out, "{}\t{documents} : {};", page.query, clicks.join(" , "))?,
    }
    Ok(())
}

fn check(text: &str, separators: &[char]) -> Result<(), LogWriteError> {
    let is_separator = |c: char| separators.contains(&c) || c.is_control();
    match text.is_empty() || text.trim() != text || text.contains(is_separator) {
        true => {
            Err(LogWriteError::Separator { target: LogTarget::YandexPages, text: text.to_owned() })
        }
        false => Ok(()),
    }
}
