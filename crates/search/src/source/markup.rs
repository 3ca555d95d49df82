//! A tokenizer for the SGML of TREC: opening tags, closing tags and the text between them.
//!
//! The cost is linear in any text. A `<` that no `>` follows before the next `<` is text. `<!--`
//! that no `-->` follows within 4,096 bytes is not a comment, so that an error in one document does
//! not hide the next: `<!-- a > b` is then read as the declaration `<!-- a >`, which is ignored,
//! and the text ` b`; without a `>` before the next `<` it is text. Attributes are ignored.

use std::ops::Range;

use memchr::{memchr, memchr2, memmem};

/// A token of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// `<name ...>`, the name in lower case.
    Open(String),
    /// `</name>`, the name in lower case.
    Close(String),
    /// The bytes of a text between tags; a `<` that is text begins a separate token.
    Text(Range<usize>),
}

/// Largest number of bytes of a comment after its `<!--`.
pub(super) const MAX_COMMENT_BYTES: usize = 4096;

/// Iterates over the tokens of a text.
pub(crate) struct Tokens<'a> {
    text: &'a [u8],
    offset: usize,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Tokens { text, offset: 0 }
    }

    /// The position up to which the text has been read.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// The text from a byte on.
    fn text_from(&self, offset: usize) -> &'a [u8] {
        self.text.get(offset..).unwrap_or(&[])
    }

    /// The end of a comment that starts at the current position.
    fn comment_end(&self) -> Option<usize> {
        let inner = self.text_from(self.offset).strip_prefix(b"<!--")?;
        let end = memmem::find(inner.get(..MAX_COMMENT_BYTES).unwrap_or(inner), b"-->")?;
        Some(self.offset + 4 + end + 3)
    }

    /// The tag that starts at the current position, and its end.
    fn tag(&self) -> Option<(Token, usize)> {
        let inner = self.text_from(self.offset + 1);
        let end = memchr2(b'<', b'>', inner).filter(|&end| inner.get(end) == Some(&b'>'))?;
        let inner = inner.get(..end)?;
        let (is_closing, name) = match inner.strip_prefix(b"/") {
            Some(name) => (true, name),
            None => (false, inner),
        };
        let end = self.offset + 1 + end + 1;
        if matches!(name.first(), Some(b'!' | b'?')) {
            // A declaration has no content; it is treated as an empty text.
            return Some((Token::Text(end..end), end));
        }
        let is_name = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b':');
        let length = name.iter().take_while(is_name).count();
        let name =
            name.get(..length).filter(|name| name.first().is_some_and(u8::is_ascii_alphabetic))?;
        let name = String::from_utf8_lossy(name).to_ascii_lowercase();
        Some((if is_closing { Token::Close(name) } else { Token::Open(name) }, end))
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        while let Some(end) = self.comment_end() {
            self.offset = end;
        }
        let unread = self.text_from(self.offset);
        let first = *unread.first()?;
        if first == b'<'
            && let Some((token, end)) = self.tag()
        {
            self.offset = end;
            return Some(token);
        }
        let skip = usize::from(first == b'<');
        let next_angle = memchr(b'<', unread.get(skip..).unwrap_or(&[]));
        let length = next_angle.map_or(unread.len(), |n| n + skip);
        let range = self.offset..self.offset + length;
        self.offset = range.end;
        Some(Token::Text(range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_comments_and_literal_angles_are_distinguished() {
        let text = b"a<DOC x=1>b < c<!-- <no> -->d</doc ><!x>1<2<!--";
        let shown: Vec<String> = Tokens::new(text)
            .filter_map(|token| match token {
                Token::Open(name) => Some(format!("+{name}")),
                Token::Close(name) => Some(format!("-{name}")),
                Token::Text(range) if range.is_empty() => None,
                Token::Text(range) => Some(String::from_utf8_lossy(&text[range]).into_owned()),
            })
            .collect();
        assert_eq!(shown, ["a", "+doc", "b ", "< c", "d", "-doc", "1", "<2", "<!--"]);
    }
}
