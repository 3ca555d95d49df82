//! An input with the position up to which it was read, in bytes and in lines.

use std::ops::Range;

use memchr::{memchr, memchr_iter};
use rankwright_data::SourceLocation;
use rankwright_data::bytes::{Bytes, Input};

/// An input that is read once, from beginning to end.
pub(crate) struct Cursor {
    name: String,
    bytes: Bytes,
    /// The next byte to read.
    offset: usize,
    /// The line of `offset`, from 1.
    line: u64,
}

impl Cursor {
    /// Starts after a byte-order mark, if there is one.
    pub(crate) fn new(input: Input) -> Self {
        let offset = if input.bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Cursor { name: input.name, bytes: input.bytes, offset, line: 1 }
    }

    /// A later part of an input, which begins at this line of the whole.
    pub(crate) fn continued(input: Input, line: u64) -> Self {
        Cursor { name: input.name, bytes: input.bytes, offset: 0, line }
    }

    /// Number of bytes of the input.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The next byte to read.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// The line of the next byte to read, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// A line of this input, for messages.
    pub(crate) fn location(&self, line: u64) -> SourceLocation {
        SourceLocation::line(&self.name, line)
    }

    /// The bytes of a range; empty if the range is outside of the input.
    pub(crate) fn slice(&self, range: Range<usize>) -> &[u8] {
        self.bytes.get(range).unwrap_or(&[])
    }

    /// The bytes that are not read yet.
    pub(crate) fn unread(&self) -> &[u8] {
        self.bytes.get(self.offset..).unwrap_or(&[])
    }

    /// Moves forward to a byte, counting lines.
    pub(crate) fn advance_to(&mut self, offset: usize) {
        let offset = offset.clamp(self.offset, self.bytes.len());
        self.line += memchr_iter(b'\n', self.slice(self.offset..offset)).count() as u64;
        self.offset = offset;
    }

    /// The number of the next line, from 1, and its bytes without the line end (`\n` or `\r\n`).
    pub(crate) fn next_line(&mut self) -> Option<(u64, Range<usize>)> {
        let unread = self.unread();
        if unread.is_empty() {
            return None;
        }
        let end = memchr(b'\n', unread);
        let length = end.unwrap_or(unread.len());
        let has_return = unread.get(..length).is_some_and(|line| line.ends_with(b"\r"));
        let range = self.offset..self.offset + length - usize::from(has_return);
        let number = self.line;
        self.offset += length + usize::from(end.is_some());
        self.line += u64::from(end.is_some());
        Some((number, range))
    }

    /// The next line that is not blank, as in [`Self::next_line`].
    pub(crate) fn next_nonblank_line(&mut self) -> Option<(u64, Range<usize>)> {
        loop {
            let (number, range) = self.next_line()?;
            if !self.slice(range.clone()).trim_ascii().is_empty() {
                return Some((number, range));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_numbers_and_no_ends() {
        let input = Input::from_bytes("x", b"\xef\xbb\xbfa\r\n\n b\nlast".to_vec()).unwrap();
        let mut cursor = Cursor::new(input);
        let mut lines = Vec::new();
        while let Some((number, range)) = cursor.next_nonblank_line() {
            lines.push((number, String::from_utf8_lossy(cursor.slice(range)).into_owned()));
        }
        assert_eq!(lines, [(1, "a".into()), (3, " b".into()), (4, "last".into())]);
    }
}
