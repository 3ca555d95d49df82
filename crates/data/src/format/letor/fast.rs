//! The fast reader of LETOR lines. It reads the usual form that nearly every line has (ids
//! ascending, ordinary decimal numbers) straight into a row of the matrix, and returns `None` for
//! anything else: the caller then reads the same line with the reference reader in `line.rs`, which
//! either understands it or reports the error. A property test checks that the two agree.

use memchr::memchr;

use crate::number::{Window, digits, f32_token, f64_token, token_length, window};

/// A line that was read into its row.
#[derive(Debug, PartialEq)]
pub(super) struct FastLine<'a> {
    pub(super) label: f64,
    pub(super) qid: Option<&'a [u8]>,
    pub(super) comment: Option<&'a [u8]>,
    /// The offset of the next line.
    pub(super) next: usize,
}

/// The text of the id of each column, with its colon: in a dense row the next id is known, and one
/// comparison is cheaper than parsing it.
#[derive(Debug)]
pub(super) struct IdTexts {
    first: u32,
    written: Vec<IdPattern>,
}

/// The bytes of an id and its colon, moved to the top of a word; the shift that moves other bytes
/// there; their number.
#[derive(Debug, Clone, Copy)]
struct IdPattern {
    bytes: u64,
    shift: u32,
    length: u32,
}

/// The bytes read for one feature: an id with its colon, and a value.
type Feature = [u8; 48];

impl IdTexts {
    pub(super) fn new(first: u32, columns: usize) -> IdTexts {
        // A larger table would push other data out of the cache.
        let known = columns.min(4096) as u32;
        let written = (first..first + known).map(|id| {
            let text = format!("{id}:");
            let shift = 64 - 8 * text.len() as u32;
            let bytes = text.bytes().rev().fold(0, |word, b| word << 8 | u64::from(b)) << shift;
            IdPattern { bytes, shift, length: text.len() as u32 }
        });
        IdTexts { first, written: written.collect() }
    }

    /// The column of the id at the start of the text, at least `least`, and the length of id and
    /// colon.
    #[inline(always)]
    fn read(&self, least: usize, text: &Feature) -> Option<(usize, usize)> {
        let word = u64::from_le_bytes(*text.first_chunk()?);
        match self.written.get(least) {
            Some(w) if word << w.shift == w.bytes => Some((least, w.length as usize)),
            _ => self.read_other(least, text),
        }
    }

    fn read_other(&self, least: usize, text: &Feature) -> Option<(usize, usize)> {
        let (count, id) = digits(text.first_chunk()?);
        let column = (id as usize).checked_sub(self.first as usize)?;
        let is_short_id = count > 0 && count < 8 && text.get(count) == Some(&b':');
        (is_short_id && column >= least).then_some((column, count + 1))
    }
}

/// Reads the line at `at`. `row` has a cell for each column, filled with the value of absent
/// features. `None`: the line does not have the usual form; the content of the row is then
/// undefined.
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
            _ => return finish(bytes, at, label, qid),
        }
    }
    finish(bytes, features(bytes, at, ids, row)?, label, qid)
}

/// Reads features into the row; returns the offset of their end.
#[inline(never)]
fn features(bytes: &[u8], mut at: usize, ids: &IdTexts, row: &mut [f32]) -> Option<usize> {
    let mut least = 0;
    loop {
        let text: &Feature = window(bytes, at)?;
        let Some((column, length)) = ids.read(least, text) else {
            match text.first()? {
                b' ' => at += 1,
                _ => return Some(at),
            }
            continue;
        };
        // At most eight bytes of id and colon; the mask lets the compiler see that they fit.
        let value: &Window = text.get(length & 15..)?.first_chunk()?;
        let value_length = token_length(value);
        *row.get_mut(column)? = f32_token(value, value_length)?;
        least = column + 1;
        at += length + value_length;
        match value.get(value_length)? {
            b' ' => at += 1,
            _ => return Some(at),
        }
    }
}

/// Skips the spaces at `at`, at least one.
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

/// Reads the end of the line: a line feed, with or without a carriage return before it, or a
/// comment.
#[inline]
fn finish<'a>(
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
