//! First pass over LETOR text: cut it into pieces at line ends, count the rows of each, and find
//! the width of the matrix from the last id of every line.

use std::ops::Range;

use memchr::{memchr, memrchr};
use rayon::prelude::*;

use super::line::has_data;
use crate::pieces::cut;

/// A run of whole lines of one input.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) input: usize,
    pub(super) bytes: Range<usize>,
    pub(super) rows: usize,
    pub(super) lines: u64,
    /// Line number of the first line, from 1.
    pub(super) first_line: u64,
    /// One more than the largest id that ends a line, 0 if no line has features. Ids need not be
    /// sorted, so a larger one may come up.
    pub(super) end_id: u32,
    /// Whether the first row begins with feature 0.
    pub(super) zero: bool,
    /// Whether the first row has a qid.
    pub(super) qid: bool,
}

/// Cuts the text and counts.
pub(super) fn pieces(texts: &[&[u8]]) -> Vec<Piece> {
    let cuts: Vec<(usize, Range<usize>)> = texts
        .iter()
        .enumerate()
        .flat_map(|(input, text)| cut(text, 0).into_iter().map(move |range| (input, range)))
        .collect();
    let mut pieces: Vec<Piece> =
        cuts.into_par_iter().map(|(input, bytes)| count(input, bytes, texts[input])).collect();
    let mut line = 1;
    for i in 0..pieces.len() {
        if i > 0 && pieces[i].input != pieces[i - 1].input {
            line = 1;
        }
        pieces[i].first_line = line;
        line += pieces[i].lines;
    }
    pieces
}

fn count(input: usize, bytes: Range<usize>, text: &[u8]) -> Piece {
    let mut piece = Piece {
        input,
        bytes: bytes.clone(),
        rows: 0,
        lines: 0,
        first_line: 0,
        end_id: 0,
        zero: false,
        qid: false,
    };
    let mut rest = &text[bytes];
    while !rest.is_empty() {
        let (line, after) = match memchr(b'\n', rest) {
            Some(at) => (&rest[..at], &rest[at + 1..]),
            None => (rest, &rest[rest.len()..]),
        };
        rest = after;
        piece.lines += 1;
        if !has_data(line) {
            continue;
        }
        if piece.rows == 0 {
            (piece.qid, piece.zero) = first_row(line);
        }
        piece.rows += 1;
        let body = memchr(b'#', line).map_or(line, |at| &line[..at]);
        piece.end_id = piece.end_id.max(end_id(body));
    }
    piece
}

/// Whether a row has a qid, and whether its first feature is number 0.
fn first_row(line: &[u8]) -> (bool, bool) {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).skip(1);
    let second = words.next().unwrap_or(b"");
    let qid = second.starts_with(b"qid:");
    let feature = if qid { words.next().unwrap_or(b"") } else { second };
    (qid, feature.starts_with(b"0:"))
}

/// One more than the last id of a row; 0 for a row without features.
fn end_id(body: &[u8]) -> u32 {
    let Some(colon) = memrchr(b':', body) else { return 0 };
    let digits = body[..colon].iter().rev().take_while(|b| b.is_ascii_digit()).count();
    // In `qid:7` no digit stands before the colon.
    let id = std::str::from_utf8(&body[colon - digits..colon]).ok().and_then(|t| t.parse().ok());
    id.map_or(0, |id: u32| id.saturating_add(1))
}
