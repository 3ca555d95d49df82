//! Reads the documents of a compressed file in chunks of whole documents, so that the file is never
//! in memory as a whole.
//!
//! A chunk of JSON lines ends at the end of a line, a chunk of TREC's SGML after a `</DOC>`. It has
//! about the size of a block, or of one document that is longer; a document above the size limit of
//! inputs is an error. The readers of the formats read each chunk as they read a whole file.

use memchr::{memmem, memrchr, memrchr_iter};
use rankwright_data::Warnings;
use rankwright_data::bytes::Input;
use rankwright_data::content_stream::ContentStream;

use super::cursor::Cursor;
use super::jsonl::Jsonl;
use super::markup::MAX_COMMENT_BYTES;
use super::trec::Trec;
use super::{DocumentFormat, DocumentReader};
use crate::document::Document;
use crate::error::SearchError;

/// Bytes of content that are decompressed at a time.
const BLOCK_BYTES: usize = 4 << 20;

/// The formats in which the end of a document can be found without parsing it.
#[derive(Debug, Clone, Copy)]
enum ChunkFormat {
    Lines,
    Trec,
}

impl ChunkFormat {
    /// The end of the last document that ends after the byte `from`.
    fn last_end(self, text: &[u8], from: usize) -> Option<usize> {
        let unsearched = text.get(from..)?;
        match self {
            ChunkFormat::Lines => memrchr(b'\n', unsearched).map(|at| from + at + 1),
            ChunkFormat::Trec => {
                // The beginning of a tag may be before `from`.
                let from = from.saturating_sub(CLOSING_TAG.len());
                let unsearched = text.get(from..)?;
                let tags = memrchr_iter(b'<', unsearched).map(|at| from + at);
                let is_closing = |&at: &usize| {
                    let tag = text.get(at..at + CLOSING_TAG.len());
                    tag.is_some_and(|tag| tag.eq_ignore_ascii_case(CLOSING_TAG))
                        && !is_in_comment(text, at)
                };
                tags.into_iter().find(is_closing).map(|at| at + CLOSING_TAG.len())
            }
        }
    }

    /// The reader of a chunk.
    fn reader(self, cursor: Cursor) -> Box<dyn DocumentReader> {
        match self {
            ChunkFormat::Lines => Box::new(Jsonl(cursor)),
            ChunkFormat::Trec => Box::new(Trec(cursor)),
        }
    }
}

/// The end of a document in TREC's SGML, in any case of letters.
const CLOSING_TAG: &[u8] = b"</doc>";

/// Whether a position may be inside of a comment: a comment begins shortly before it, and its end
/// is not before the position.
fn is_in_comment(text: &[u8], position: usize) -> bool {
    let first = position.saturating_sub(MAX_COMMENT_BYTES + "<!--".len());
    let before = text.get(first..position).unwrap_or(&[]);
    let begin = memmem::rfind(before, b"<!--");
    begin.is_some_and(|begin| memmem::rfind(before, b"-->").is_none_or(|end| end < begin))
}

/// The documents of a compressed file.
pub(super) struct ChunkedDocuments {
    stream: ContentStream,
    format: ChunkFormat,
    /// Content that is not in a chunk yet.
    content: Vec<u8>,
    /// No document ends in the bytes of `content` before this one.
    searched: usize,
    /// The line of the beginning of `content`.
    line: u64,
    /// Whether the next chunk is the first one.
    is_first: bool,
    /// The reader of the current chunk.
    chunk: Option<Box<dyn DocumentReader>>,
}

impl ChunkedDocuments {
    /// The reader of a stream of which `beginning` was already read; `None` if documents of this
    /// format cannot be read in chunks.
    pub(super) fn new(
        stream: ContentStream,
        beginning: Vec<u8>,
        format: DocumentFormat,
    ) -> Option<ChunkedDocuments> {
        let format = match format {
            DocumentFormat::Jsonl => ChunkFormat::Lines,
            DocumentFormat::Trec => ChunkFormat::Trec,
            _ => return None,
        };
        let (content, line, is_first) = (beginning, 1, true);
        Some(ChunkedDocuments { stream, format, content, searched: 0, line, is_first, chunk: None })
    }

    /// The next chunk, and the number of its first line; `None` at the end.
    fn next_chunk(&mut self) -> Result<Option<(Vec<u8>, u64)>, SearchError> {
        let end = loop {
            if let Some(end) = self.format.last_end(&self.content, self.searched) {
                break end;
            }
            self.searched = self.content.len();
            if self.content.len() as u64 > self.stream.max_kept_bytes() {
                return Err(self.stream.too_large().into());
            }
            if self.stream.append_to(&mut self.content, BLOCK_BYTES)? == 0 {
                break self.content.len();
            }
        };
        if end == 0 {
            return Ok(None);
        }
        let after_chunk = self.content.split_off(end);
        let chunk = std::mem::replace(&mut self.content, after_chunk);
        self.searched = 0;
        let line = self.line;
        self.line += memchr::memchr_iter(b'\n', &chunk).count() as u64;
        Ok(Some((chunk, line)))
    }
}

impl DocumentReader for ChunkedDocuments {
    fn next(&mut self, warnings: &mut Warnings) -> Option<Result<Document, SearchError>> {
        loop {
            if let Some(found) = self.chunk.as_mut().and_then(|chunk| chunk.next(warnings)) {
                return Some(found);
            }
            let (chunk, line) = match self.next_chunk() {
                Ok(found) => found?,
                Err(error) => return Some(Err(error)),
            };
            let input = Input::raw(self.stream.name(), chunk);
            let cursor = match std::mem::take(&mut self.is_first) {
                true => Cursor::new(input),
                false => Cursor::continued(input, line),
            };
            self.chunk = Some(self.format.reader(cursor));
        }
    }

    fn position(&self) -> (u64, u64) {
        self.stream.position()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_end_after_documents_and_not_in_comments() {
        let end = |format: ChunkFormat, text: &str, from| format.last_end(text.as_bytes(), from);
        assert_eq!(end(ChunkFormat::Lines, "a\nbc\nd", 0), Some(5));
        assert_eq!(end(ChunkFormat::Lines, "a\nbc\nd", 5), None);
        let text = "<DOC>a</DOC>\n<doc>b</doc> <!-- </DOC>";
        assert_eq!(end(ChunkFormat::Trec, text, 0), text.find(" <!--"));
        assert_eq!(end(ChunkFormat::Trec, "<DOC>a</DO", 0), None);
        assert_eq!(end(ChunkFormat::Trec, "<DOC>a</DOC>", 10), Some(12));
        assert_eq!(end(ChunkFormat::Trec, "<!-- x --></doc>", 0), Some(16));
    }
}
