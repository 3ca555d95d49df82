//! The fast parser of LETOR lines. It parses the usual form that nearly every line has (ids
//! ascending, ordinary decimal numbers) straight into a row of the matrix, and returns `None` for
//! anything else: the caller then parses the same line with the reference parser in `line.rs`,
//! which either accepts it or reports the error. A property test checks that the two parsers agree.

use memchr::memchr;

use crate::number::{Window, digits, f32_token, f64_token, token_length, window};

/// A line whose features were stored in the row.
#[derive(Debug, PartialEq)]
pub(super) struct FastLine<'a> {
    pub(super) label: f64,
    pub(super) qid: Option<&'a [u8]>,
    pub(super) comment: Option<&'a [u8]>,
    /// The offset of the next line.
    pub(super) next: usize,
}

/// The text of the id of each column, with its colon: in a dense row the next id is known, and
/// comparing the text with it is cheaper than parsing the id.
#[derive(Debug)]
pub(super) struct IdTexts {
    /// The id of column 0.
    first: u32,
    /// By column; only for the first columns.
    patterns: Vec<IdPattern>,
}

/// An id and its colon as a 64-bit word, for a comparison with eight bytes of text.
#[derive(Debug, Clone, Copy)]
struct IdPattern {
    /// The bytes of the id and its colon, at the top of the word.
    bytes: u64,
    /// The shift of eight bytes of text (little-endian) that leaves only the bytes to compare.
    shift: u32,
    /// The number of bytes of the id and its colon.
    length: u32,
}

/// The bytes that are loaded for one feature: at most 15 for the id with its colon, then a
/// [`Window`] with the value, rounded up.
type FeatureText = [u8; 48];

impl IdTexts {
    pub(super) fn new(first: u32, columns: usize) -> IdTexts {
        // A larger table would push other data out of the processor's cache.
        let count = columns.min(4096) as u32;
        let patterns = (first..first + count).map(|id| {
            let text = format!("{id}:");
            let shift = 64 - 8 * text.len() as u32;
            let bytes = text.bytes().rev().fold(0, |word, b| word << 8 | u64::from(b)) << shift;
            IdPattern { bytes, shift, length: text.len() as u32 }
        });
        IdTexts { first, patterns: patterns.collect() }
    }

    /// Reads the id at the start of the text: returns its column, and the length of id and colon.
    /// `None` if there is no id, or its column is before `least_column` (ids do not ascend).
    #[inline(always)]
    fn read(&self, least_column: usize, text: &FeatureText) -> Option<(usize, usize)> {
        let word = u64::from_le_bytes(*text.first_chunk()?);
        match self.patterns.get(least_column) {
            Some(id) if word << id.shift == id.bytes => Some((least_column, id.length as usize)),
            _ => self.parse(least_column, text),
        }
    }

    /// Like `read`, for an id that is not the next one.
    fn parse(&self, least_column: usize, text: &FeatureText) -> Option<(usize, usize)> {
        let (count, id) = digits(text.first_chunk()?);
        let column = (id as usize).checked_sub(self.first as usize)?;
        let is_short_id = count > 0 && count < 8 && text.get(count) == Some(&b':');
        (is_short_id && column >= least_column).then_some((column, count + 1))
    }
}

/// Parses the line at offset `at`. `row` has a cell for each column, filled with the value of
/// absent features. Returns `None` if the line does not have the usual form; the row may then be
/// partly overwritten.
#[inline]
pub(super) fn parse<'a>(
    bytes: &'a [u8],
    at: usize,
    ids: &IdTexts,
    row: &mut [f32],
) -> Option<FastLine<'a>> {
    let length = token_length(window(bytes, at)?);
    let label = f64_token(bytes, at, length)?;
    let mut at = skip_spaces(bytes, at + length)?;
    let mut qid = None;
    if bytes.get(at..at + 4) == Some(b"qid:") {
        let start = at + 4;
        let end = start + bytes.get(start..)?.iter().position(|b| *b <= b' ' || *b == b'#')?;
        qid = Some(bytes.get(start..end).filter(|id| !id.is_empty())?);
        at = end;
        match bytes.get(at)? {
            b' ' => at = skip_spaces(bytes, at)?,
            _ => return parse_end(bytes, at, label, qid),
        }
    }
    parse_end(bytes, parse_features(bytes, at, ids, row)?, label, qid)
}

/// Parses features into the row; returns the offset of their end.
#[inline(never)]
fn parse_features(bytes: &[u8], mut at: usize, ids: &IdTexts, row: &mut [f32]) -> Option<usize> {
    let mut least_column = 0;
    loop {
        let text: &FeatureText = window(bytes, at)?;
        let Some((column, length)) = ids.read(least_column, text) else {
            match text.first()? {
                b' ' => at += 1,
                _ => return Some(at),
            }
            continue;
        };
        // Id and colon are at most eight bytes; the mask tells the compiler that a window follows.
        let value: &Window = text.get(length & 15..)?.first_chunk()?;
        let value_length = token_length(value);
        *row.get_mut(column)? = f32_token(value, value_length)?;
        least_column = column + 1;
        at += length + value_length;
        match value.get(value_length)? {
            b' ' => at += 1,
            _ => return Some(at),
        }
    }
}

/// The offset after the spaces at `at`; `None` if there is no space.
#[inline(always)]
fn skip_spaces(bytes: &[u8], mut at: usize) -> Option<usize> {
    if bytes.get(at) != Some(&b' ') {
        return None;
    }
    at += 1;
    while bytes.get(at) == Some(&b' ') {
        at += 1;
    }
    Some(at)
}

/// Parses the end of the line: a line feed, with or without a carriage return before it, or a
/// comment.
#[inline]
fn parse_end<'a>(
    bytes: &'a [u8],
    at: usize,
    label: f64,
    qid: Option<&'a [u8]>,
) -> Option<FastLine<'a>> {
    match (bytes.get(at)?, bytes.get(at + 1)) {
        (b'\n', _) => Some(FastLine { label, qid, comment: None, next: at + 1 }),
        (b'\r', Some(b'\n')) => Some(FastLine { label, qid, comment: None, next: at + 2 }),
        (b'#', _) => {
            let end = at + memchr(b'\n', bytes.get(at..)?)?;
            Some(FastLine { label, qid, comment: bytes.get(at + 1..end), next: end + 1 })
        }
        _ => None,
    }
}
