//! Splits text: once at a byte, or at line ends into chunks that are parsed in parallel.

use std::ops::Range;

use memchr::{memchr, memchr_iter};
use rayon::prelude::*;

/// Smallest size of a chunk, except of the last: large enough that starting a task costs little in
/// comparison, small enough to balance the load.
const CHUNK_BYTES: usize = 4 << 20;

/// The bytes before and after the first occurrence of `byte`.
pub(crate) fn split_once(text: &[u8], byte: u8) -> Option<(&[u8], &[u8])> {
    let at = memchr(byte, text)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// Splits the text from `start` on into ranges of whole lines, of at least [`CHUNK_BYTES`] each
/// except the last.
pub(crate) fn line_chunks(text: &[u8], mut start: usize) -> Vec<Range<usize>> {
    let mut chunks = Vec::new();
    while start < text.len() {
        let least_end = start.saturating_add(CHUNK_BYTES).min(text.len());
        let tail = text.get(least_end..).unwrap_or(&[]);
        let end = memchr(b'\n', tail).map_or(text.len(), |at| least_end + at + 1);
        chunks.push(start..end);
        start = end;
    }
    chunks
}

/// Like [`line_chunks`], each range with the number of its first line; the line at `start` is 1.
pub(crate) fn numbered_line_chunks(text: &[u8], start: usize) -> Vec<(Range<usize>, u64)> {
    let ranges = line_chunks(text, start);
    let line_counts: Vec<u64> = ranges
        .par_iter()
        .map(|range| memchr_iter(b'\n', text.get(range.clone()).unwrap_or(&[])).count() as u64)
        .collect();
    let mut next_line = 1;
    let with_line = |(range, line_count): (Range<usize>, u64)| {
        let first_line = next_line;
        next_line += line_count;
        (range, first_line)
    };
    ranges.into_iter().zip(line_counts).map(with_line).collect()
}
