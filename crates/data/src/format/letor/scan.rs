//! The first pass over LETOR text: splits it into chunks at line ends, counts the rows of each
//! chunk, and estimates the number of columns of the matrix from the last feature id of every line;
//! `mod.rs` parses again if a row has a larger id.

use std::ops::Range;

use memchr::memrchr;
use rayon::prelude::*;

use super::line::has_data;
use crate::chunks::{line_chunks, split_once};

/// Adjacent whole lines of one input.
#[derive(Debug, Clone)]
pub(super) struct LineChunk {
    /// The number of the input, from 0.
    pub(super) input: usize,
    /// The range of the lines in the text of the input.
    pub(super) bytes: Range<usize>,
    /// The number of lines with data.
    pub(super) rows: usize,
    /// The number of all lines.
    pub(super) lines: u64,
    /// Line number of the first line, from 1.
    pub(super) first_line: u64,
    /// One more than the largest feature id at the end of a line, 0 if no line has features. Ids
    /// need not be sorted, so a larger one may occur inside of a line.
    pub(super) end_id: u32,
    /// Whether the first row begins with feature 0.
    pub(super) first_id_is_0: bool,
    /// Whether the first row has a qid.
    pub(super) has_qid: bool,
}

/// Splits the texts of the inputs into chunks and counts their rows.
pub(super) fn chunks(texts: &[&[u8]]) -> Vec<LineChunk> {
    let ranges: Vec<(usize, Range<usize>)> = texts
        .iter()
        .enumerate()
        .flat_map(|(input, text)| line_chunks(text, 0).into_iter().map(move |range| (input, range)))
        .collect();
    let text = |input: usize| texts.get(input).copied().unwrap_or(&[]);
    let mut chunks: Vec<LineChunk> =
        ranges.into_par_iter().map(|(input, bytes)| count(input, bytes, text(input))).collect();
    let (mut line, mut input) = (1, 0);
    for chunk in &mut chunks {
        if chunk.input != input {
            (line, input) = (1, chunk.input);
        }
        chunk.first_line = line;
        line += chunk.lines;
    }
    chunks
}

/// The number of the input that has a row (from 0, over all inputs), and the row's line there, from
/// 1; `None` for a row after the last.
pub(super) fn line_of_row(
    chunks: &[LineChunk],
    texts: &[&[u8]],
    mut row: u64,
) -> Option<(usize, u64)> {
    for chunk in chunks {
        if row >= chunk.rows as u64 {
            row -= chunk.rows as u64;
            continue;
        }
        let text = texts.get(chunk.input)?.get(chunk.bytes.clone())?;
        let lines = text.split(|byte| *byte == b'\n').zip(chunk.first_line..);
        let (_, line) = lines.filter(|(line, _)| has_data(line)).nth(row as usize)?;
        return Some((chunk.input, line));
    }
    None
}

/// Counts the rows of a chunk; the caller sets `first_line`.
fn count(input: usize, bytes: Range<usize>, text: &[u8]) -> LineChunk {
    let mut chunk = LineChunk {
        input,
        bytes: bytes.clone(),
        rows: 0,
        lines: 0,
        first_line: 0,
        end_id: 0,
        first_id_is_0: false,
        has_qid: false,
    };
    let mut rest = text.get(bytes).unwrap_or(&[]);
    while !rest.is_empty() {
        let (line, after) = split_once(rest, b'\n').unwrap_or((rest, &[]));
        rest = after;
        chunk.lines += 1;
        if !has_data(line) {
            continue;
        }
        if chunk.rows == 0 {
            (chunk.has_qid, chunk.first_id_is_0) = has_qid_and_id_0(line);
        }
        chunk.rows += 1;
        let body = split_once(line, b'#').map_or(line, |(body, _)| body);
        chunk.end_id = chunk.end_id.max(end_id(body));
    }
    chunk
}

/// Whether a row has a qid, and whether its first feature has the id 0.
fn has_qid_and_id_0(line: &[u8]) -> (bool, bool) {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).skip(1);
    let second = words.next().unwrap_or(b"");
    let qid = second.starts_with(b"qid:");
    let feature = if qid { words.next().unwrap_or(b"") } else { second };
    (qid, feature.starts_with(b"0:"))
}

/// One more than the last feature id of a row; 0 for a row without features.
fn end_id(body: &[u8]) -> u32 {
    let before_colon = memrchr(b':', body).and_then(|at| body.get(..at));
    let Some(before) = before_colon else { return 0 };
    // There are no digits before the colon of `qid:7`; the empty text then does not parse below.
    let digits = before.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let id = before.get(before.len() - digits..).and_then(|id| std::str::from_utf8(id).ok());
    let id = id.and_then(|id| id.parse().ok());
    id.map_or(0, |id: u32| id.saturating_add(1))
}
