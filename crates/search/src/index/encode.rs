//! The encoding of analysed text for tantivy.
//!
//! Our threads analyse documents, since they need the terms for statistics; tantivy's writer should
//! not analyse them again. So a field's text is passed as its terms, each followed by one character
//! for the distance in words to the previous term: U+0001 one word, U+0002 two, ... and U+001F
//! thirty-one or more (tantivy needs the order, phrases need small distances). [`Decoder`] is the
//! tokenizer for the writer. Terms consist of letters and digits, so these characters cannot be
//! part of one.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// The largest distance that is encoded exactly.
const MAX_STEP: usize = 31;

/// Appends a term that is `step` words after the previous one.
pub(crate) fn push_term(text: &mut String, term: &str, step: usize) {
    text.push_str(term);
    text.push(char::from(step.clamp(1, MAX_STEP) as u8));
}

/// The tokenizer of analysed text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Decoder {
    token: Token,
}

impl Tokenizer for Decoder {
    type TokenStream<'a> = EncodedTerms<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> EncodedTerms<'a> {
        self.token.reset();
        EncodedTerms { rest: text, token: &mut self.token, started: false }
    }
}

/// The token stream of an encoded text.
pub(crate) struct EncodedTerms<'a> {
    rest: &'a str,
    token: &'a mut Token,
    started: bool,
}

impl TokenStream for EncodedTerms<'_> {
    fn advance(&mut self) -> bool {
        let Some(at) = self.rest.bytes().position(|byte| byte as usize <= MAX_STEP) else {
            return false;
        };
        let (term, rest) = self.rest.split_at(at);
        let step = usize::from(rest.as_bytes().first().copied().unwrap_or(1));
        self.rest = rest.get(1..).unwrap_or_default();
        self.token.text.clear();
        self.token.text.push_str(term);
        let before = if self.started { self.token.position + step } else { step - 1 };
        self.token.position = before;
        self.started = true;
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
    fn terms_and_positions_come_out_as_they_went_in() {
        let mut text = String::new();
        for (term, step) in [("über", 1), ("rank", 3), ("x", 40)] {
            push_term(&mut text, term, step);
        }
        let mut decoder = Decoder::default();
        let mut stream = decoder.token_stream(&text);
        let mut found = Vec::new();
        while stream.advance() {
            found.push((stream.token().text.clone(), stream.token().position));
        }
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
