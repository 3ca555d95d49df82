//! The encoding of analysed text, in which terms and their positions are passed to tantivy.
//!
//! Our threads analyse documents, since they need the terms for statistics; tantivy's writer should
//! not analyse them again. So a field's text is passed as its terms, each followed by one character
//! for the distance in words to the previous term: U+0001 one word, U+0002 two, ... and U+001F
//! thirty-one or more (tantivy needs the order, phrases need small distances). The distance of the
//! first term is its position plus 1. [`Decoder`] is the tokenizer for the writer. Terms consist of
//! letters and digits, so these characters cannot be part of one.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// The largest distance; larger ones are encoded as this one.
pub(super) const MAX_DISTANCE: usize = 31;

/// Appends a term that is `distance` words after the previous one.
pub(crate) fn push_term(text: &mut String, term: &str, distance: usize) {
    text.push_str(term);
    text.push(char::from(distance.clamp(1, MAX_DISTANCE) as u8));
}

/// The tokenizer of encoded text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Decoder {
    token: Token,
}

impl Tokenizer for Decoder {
    type TokenStream<'a> = EncodedTerms<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> EncodedTerms<'a> {
        self.token.reset();
        EncodedTerms { unread: text, token: &mut self.token, has_started: false }
    }
}

/// The token stream of an encoded text.
pub(crate) struct EncodedTerms<'a> {
    unread: &'a str,
    token: &'a mut Token,
    /// Whether the first term was read.
    has_started: bool,
}

impl TokenStream for EncodedTerms<'_> {
    fn advance(&mut self) -> bool {
        let is_distance = |byte: u8| byte as usize <= MAX_DISTANCE;
        let Some(end_of_term) = self.unread.bytes().position(is_distance) else {
            return false;
        };
        let (term, after) = self.unread.split_at(end_of_term);
        let distance = usize::from(after.as_bytes().first().copied().unwrap_or(1));
        self.unread = after.get(1..).unwrap_or_default();
        self.token.text.clear();
        self.token.text.push_str(term);
        self.token.position =
            if self.has_started { self.token.position + distance } else { distance - 1 };
        self.has_started = true;
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoded_terms_and_positions_are_those_that_were_encoded() {
        let mut text = String::new();
        for (term, distance) in [("über", 1), ("rank", 3), ("x", 40)] {
            push_term(&mut text, term, distance);
        }
        let mut decoder = Decoder::default();
        let mut stream = decoder.token_stream(&text);
        let mut found = Vec::new();
        while stream.advance() {
            found.push((stream.token().text.clone(), stream.token().position));
        }
        // The distance 40 is encoded as 31.
        assert_eq!(found, [("über".into(), 0), ("rank".into(), 3), ("x".into(), 34)]);
    }

    #[test]
    fn a_text_that_begins_with_removed_words_keeps_its_positions() {
        let mut text = String::new();
        push_term(&mut text, "rank", 2);
        let mut decoder = Decoder::default();
        let mut stream = decoder.token_stream(&text);
        assert!(stream.advance());
        assert_eq!(stream.token().position, 1);
        assert!(!stream.advance());
    }
}
