//! Cuts text: at a byte, and at line ends into chunks that are read in parallel.

use std::ops::Range;

use memchr::{memchr, memchr_iter};
use rayon::prelude::*;

/// Size of a chunk: large enough for a task, small enough to balance the load.
const CHUNK_BYTES: usize = 4 << 20;

/// The bytes before and after the first occurrence of `byte`.
pub(crate) fn split_once(text: &[u8], byte: u8) -> Option<(&[u8], &[u8])> {
    let at = memchr(byte, text)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// The text from `start` on, cut into ranges of whole lines.
pub(crate) fn cut(text: &[u8], mut start: usize) -> Vec<Range<usize>> {
    let mut chunks = Vec::new();
    while start < text.len() {
        let aim = start.saturating_add(CHUNK_BYTES).min(text.len());
        let rest = text.get(aim..).unwrap_or(&[]);
        let end = memchr(b'\n', rest).map_or(text.len(), |at| aim + at + 1);
        chunks.push(start..end);
        start = end;
    }
    chunks
}

/// Like `cut`, each chunk with the number of its first line, from 1.
pub(crate) fn chunks(text: &[u8], start: usize) -> Vec<(Range<usize>, u64)> {
    let cuts = cut(text, start);
    let lines: Vec<u64> = cuts
        .par_iter()
        .map(|range| memchr_iter(b'\n', text.get(range.clone()).unwrap_or(&[])).count() as u64)
        .collect();
    let mut first = 1;
    let number = |(range, lines): (Range<usize>, u64)| {
        let line = first;
        first += lines;
        (range, line)
    };
    cuts.into_iter().zip(lines).map(number).collect()
}
