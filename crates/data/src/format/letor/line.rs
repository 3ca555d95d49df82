//! The reference parser of one line of LETOR text: slow and complete. It also reports the error in
//! a wrong line.
//!
//! `label [qid:Q] id:value ... [# comment]`, separated by spaces or tabs. Ids are whole numbers;
//! values are decimal numbers, `inf`, or `NULL` / `nan` for missing (`nan` also with a sign, as C
//! prints it). The document id is X in `#docid = X ...` and the first word of any other comment.

use crate::chunks::split_once;
use crate::error::quote;

/// Ids above this are rejected: the matrix is dense.
pub(super) const MAX_ID: u32 = 1 << 24;

/// The content of a line.
#[derive(Debug, Default, PartialEq)]
pub(super) struct LetorLine<'a> {
    pub(super) label: f64,
    pub(super) qid: Option<&'a str>,
    pub(super) docid: Option<&'a str>,
    pub(super) features: Vec<(u32, f32)>,
    /// Whether the ids are not in ascending order.
    pub(super) unsorted: bool,
    /// The number of values written as `NULL` or `nan`.
    pub(super) nulls: u64,
}

/// The reason why a line is not valid LETOR text.
#[derive(Debug, PartialEq)]
pub(super) struct LineError {
    /// Byte column, from 1.
    pub(super) column: u64,
    pub(super) found: String,
    pub(super) expected: &'static str,
    pub(super) help: Option<&'static str>,
}

/// Whether a line has data: it is neither blank nor a comment.
pub(super) fn has_data(line: &[u8]) -> bool {
    line.iter().find(|b| !b.is_ascii_whitespace()).is_some_and(|&b| b != b'#')
}

/// Parses a line that has data.
pub(super) fn parse(line: &[u8]) -> Result<LetorLine<'_>, LineError> {
    let (body, comment) = match split_once(line, b'#') {
        Some((body, comment)) => (body, Some(comment)),
        None => (line, None),
    };
    let mut words = words(body);
    let mut parsed = LetorLine { label: label(words.next())?, ..LetorLine::default() };
    if let Some(comment) = comment {
        parsed.docid = docid(comment).map_err(|found| LineError {
            column: body.len() as u64 + 2,
            found,
            expected: "a comment in UTF-8",
            help: None,
        })?;
    }
    let mut previous: Option<u32> = None;
    for (index, (at, word)) in words.enumerate() {
        if let Some(qid) = word.strip_prefix(b"qid:") {
            parsed.qid = Some(query_id(at, qid, index)?);
            continue;
        }
        let (id, value, is_null) = feature(at, word)?;
        parsed.unsorted |= previous.is_some_and(|p| p > id);
        parsed.nulls += u64::from(is_null);
        let is_repeated = previous == Some(id);
        previous = Some(id);
        parsed.features.push((id, value));
        if parsed.unsorted || is_repeated {
            check_repeated(&parsed.features, at, word)?;
        }
    }
    Ok(parsed)
}

/// Rejects the last feature if an earlier one has the same id.
fn check_repeated(features: &[(u32, f32)], at: usize, word: &[u8]) -> Result<(), LineError> {
    let Some((&(last, _), before)) = features.split_last() else { return Ok(()) };
    let is_ascending =
        before.last().is_none_or(|&(id, _)| id < last) && before.is_sorted_by(|a, b| a.0 < b.0);
    if is_ascending || before.iter().all(|&(id, _)| id != last) {
        return Ok(());
    }
    error(at, quote(word), "each feature id once in a row", None)
}

/// An error at this offset in the line.
fn error<T>(
    at: usize,
    found: String,
    expected: &'static str,
    help: Option<&'static str>,
) -> Result<T, LineError> {
    Err(LineError { column: at as u64 + 1, found, expected, help })
}

/// The words of a line with their offsets.
fn words(body: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    body.split(u8::is_ascii_whitespace)
        .map(move |word| {
            let start = at;
            at += word.len() + 1;
            (start, word)
        })
        .filter(|(_, word)| !word.is_empty())
}

fn label(word: Option<(usize, &[u8])>) -> Result<f64, LineError> {
    let (at, word) = word.unwrap_or((0, b""));
    let help = "a LETOR line is 'label qid:Q id:value ...'";
    match number::<f64>(word) {
        Some(label) if label.is_finite() => Ok(label),
        _ => error(at, quote(word), "a number as label", Some(help)),
    }
}

/// Checks a query id; `index` is the number of the word after the label, from 0.
fn query_id(at: usize, qid: &[u8], index: usize) -> Result<&str, LineError> {
    if index > 0 {
        return error(at, quote(qid), "qid right after the label, once", None);
    }
    match std::str::from_utf8(qid) {
        Ok("") => error(at, "an empty qid".into(), "a query id", None),
        Ok(text) => Ok(text),
        Err(_) => error(at, quote(qid), "a query id in UTF-8", None),
    }
}

/// The id and the value of a feature `id:value`, and whether the value is `NULL` or `nan`.
fn feature(at: usize, word: &[u8]) -> Result<(u32, f32, bool), LineError> {
    let Some((id, value)) = split_once(word, b':') else {
        return error(at, quote(word), "a feature 'id:value'", None);
    };
    let value_at = at + id.len() + 1;
    let is_digits = !id.is_empty() && id.iter().all(u8::is_ascii_digit);
    let id = match number_text(id).and_then(|t| t.parse::<u32>().ok()).filter(|_| is_digits) {
        Some(id) if id <= MAX_ID => id,
        Some(_) => {
            let help = "ids number the columns of a dense matrix; renumber the features";
            return error(at, quote(id), "a feature id of at most 16777216", Some(help));
        }
        None => return error(at, quote(id), "a whole number as feature id", None),
    };
    let unsigned = value.strip_prefix(b"-").or(value.strip_prefix(b"+")).unwrap_or(value);
    if value.eq_ignore_ascii_case(b"null") || unsigned.eq_ignore_ascii_case(b"nan") {
        return Ok((id, f32::NAN, true));
    }
    match number::<f32>(value) {
        // Infinite only if written as `inf`; a large number that overflows is an error.
        Some(x) if x.is_finite() || value.iter().any(|b| matches!(b, b'i' | b'I')) => {
            Ok((id, x, false))
        }
        Some(_) => error(value_at, quote(value), "a value that fits a 32-bit float", None),
        None => error(value_at, quote(value), "a number, NULL or nan", None),
    }
}

fn number_text(word: &[u8]) -> Option<&str> {
    std::str::from_utf8(word).ok()
}

fn number<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    number_text(word)?.parse().ok()
}

/// The document id of a comment; if it is not UTF-8, the error is the quoted id.
pub(super) fn docid(comment: &[u8]) -> Result<Option<&str>, String> {
    let rest = comment.trim_ascii_start();
    let named = rest.strip_prefix(b"docid").map(<[u8]>::trim_ascii_start);
    let rest = named.and_then(|after| after.strip_prefix(b"=")).unwrap_or(rest);
    let id = rest.trim_ascii_start().split(u8::is_ascii_whitespace).next().unwrap_or(&[]);
    match std::str::from_utf8(id) {
        Ok("") => Ok(None),
        Ok(id) => Ok(Some(id)),
        Err(_) => Err(quote(id)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_line_is_read() {
        let line = parse(b"2 qid:10 1:0.5 3:-1e2\t7:NULL #docid = GX-1 inc = 1").unwrap();
        assert_eq!((line.label, line.qid, line.docid), (2.0, Some("10"), Some("GX-1")));
        assert_eq!(line.features[..2], [(1, 0.5), (3, -100.0)]);
        assert!(line.features[2].1.is_nan() && line.nulls == 1);
    }

    #[test]
    fn nan_may_have_a_sign() {
        let line = parse(b"0 qid:1 1:-nan 2:+NaN 3:nan").unwrap();
        assert!(line.features.iter().all(|(_, value)| value.is_nan()) && line.nulls == 3);
        assert_eq!(parse(b"0 qid:1 1:-null").unwrap_err().expected, "a number, NULL or nan");
    }

    #[test]
    fn comments_give_document_ids() {
        let id = |c: &'static str| docid(c.as_bytes()).unwrap();
        assert_eq!(id("docid = A1 inc = 1"), Some("A1"));
        assert_eq!(id("docid=A1"), Some("A1"));
        assert_eq!(id(" 7555 Rambo"), Some("7555"));
        assert_eq!(id(" docidoc"), Some("docidoc"));
        assert_eq!(id("  "), None);
    }

    #[test]
    fn unsorted_ids_are_marked_and_repeated_ids_refused() {
        assert!(parse(b"0 qid:1 2:1 1:1").unwrap().unsorted);
        for line in [&b"0 qid:1 1:1 1:2"[..], b"0 qid:1 2:1 1:1 2:3"] {
            let error = parse(line).unwrap_err();
            assert_eq!(error.expected, "each feature id once in a row");
        }
    }

    #[test]
    fn errors_name_the_column() {
        let error = parse(b"1 qid:1 1:0.5 2:abc").unwrap_err();
        assert_eq!((error.column, &*error.found), (17, "'abc'"));
        assert_eq!(parse(b"1 qid:1 x").unwrap_err().column, 9);
        assert_eq!(parse(b"1 qid: 1:2").unwrap_err().found, "an empty qid");
        assert!(parse(b"1 qid:1 1:1e39").unwrap_err().expected.contains("32-bit"));
        assert_eq!(parse(b"1 qid:1 1:inf").unwrap().features, [(1, f32::INFINITY)]);
    }
}
