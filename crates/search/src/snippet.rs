//! Snippets: an extract of a document's text with the query's words marked.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Serialize, Serializer};
use tantivy::snippet::SnippetGenerator;

use crate::document::Document;
use crate::error::SearchError;
use crate::index::Index;
use crate::retrieve::Candidate;
use crate::retrieve::idf;
use crate::schema::{FieldKind, texts_of};
use crate::terms::Terms;

/// An extract of a text, and the positions of the query's words in it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Snippet {
    /// The extract, on one line.
    #[serde(rename = "snippet")]
    pub text: String,
    /// Ranges of the words to mark, in characters (Unicode scalar values) of the extract from 0.
    #[serde(serialize_with = "serialize_as_pairs")]
    pub marks: Vec<Range<usize>>,
}

/// Serialises each range as `[start, end]`.
fn serialize_as_pairs<S: Serializer>(
    marks: &[Range<usize>],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(marks.iter().map(|mark| [mark.start, mark.end]))
}

impl Snippet {
    /// The text with `before` and `after` around each marked word.
    pub fn marked(&self, before: &str, after: &str) -> String {
        let show = |(text, is_marked): (&str, bool)| match is_marked {
            true => format!("{before}{text}{after}"),
            false => text.to_owned(),
        };
        self.pieces().map(show).collect()
    }

    /// The text in pieces, each with `true` if it is marked: for programs that escape each piece
    /// for their output (such as HTML) and add their own marks.
    pub fn pieces(&self) -> impl Iterator<Item = (&str, bool)> {
        let byte_of = |character: usize| {
            self.text.char_indices().nth(character).map_or(self.text.len(), |(byte, _)| byte)
        };
        let mut end = 0;
        let mut pieces = Vec::new();
        for mark in &self.marks {
            let (from, to) = (byte_of(mark.start).max(end), byte_of(mark.end).max(end));
            pieces.extend([(&self.text[end..from], false), (&self.text[from..to], true)]);
            end = to;
        }
        pieces.push((&self.text[end..], false));
        pieces.into_iter().filter(|(text, _)| !text.is_empty())
    }
}

/// Ranges of bytes of a text as ranges of characters.
fn in_characters(text: &str, ranges: &[Range<usize>]) -> Vec<Range<usize>> {
    let characters =
        |byte: usize| text.char_indices().take_while(|(start, _)| *start < byte).count();
    ranges.iter().map(|range| characters(range.start)..characters(range.end)).collect()
}

impl Index {
    /// The best extract of at most `max_characters` from the longest text of a document; the
    /// beginning of that text if it has no word of the query.
    pub fn snippet(
        &self,
        candidate: &Candidate,
        query: &Terms,
        max_characters: usize,
    ) -> Result<Snippet, SearchError> {
        let document = self.stored_document(self.doc_of(candidate)?)?;
        self.snippet_of(&document, query, max_characters)
    }

    /// Like [`Index::snippet`], of a document that was read already.
    pub(crate) fn snippet_of(
        &self,
        document: &Document,
        query: &Terms,
        max_characters: usize,
    ) -> Result<Snippet, SearchError> {
        let texts = self.schema().of_kind(FieldKind::Text).filter_map(|name| document.get(name));
        let texts: Vec<String> = texts.flat_map(texts_of).collect();
        let Some(text) = texts.iter().max_by_key(|text| text.len()) else {
            return Ok(Snippet::default());
        };
        let mut weights = BTreeMap::new();
        for term in query.distinct() {
            let stats = self.term_stats(self.all_text(), term)?;
            let weight = idf(self.documents() as f64, stats.documents as f64);
            weights.insert(term.to_owned(), weight as f32);
        }
        // The generator wants a field, but reads only the given text.
        let field = self.tantivy_fields().into_iter().next();
        let Some(field) = field else { return Ok(Snippet::default()) };
        let analyzer = self.analysis().analyzer();
        let generator = SnippetGenerator::new(weights, analyzer, field, max_characters);
        let found = generator.snippet(text);
        let (text, marks) = match found.is_empty() {
            true => (text.chars().take(max_characters).collect(), Vec::new()),
            false => {
                let marks = in_characters(found.fragment(), found.highlighted());
                (found.fragment().to_owned(), marks)
            }
        };
        // Each line end or tab becomes one space: the length is the same, so the marks stay
        // correct.
        let text = text.replace(['\n', '\r', '\t'], " ");
        Ok(Snippet { text, marks })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_surround_the_words() {
        let snippet = Snippet { text: "blue train".into(), marks: vec![0..4, 5..10] };
        assert_eq!(snippet.marked("[", "]"), "[blue] [train]");
        assert_eq!(Snippet::default().marked("[", "]"), "");
    }

    #[test]
    fn marks_count_characters_and_not_bytes() {
        let text = "Über das Café in Köln 🚆 Züge und Café";
        let index = Index::in_memory([Document::new("1").with("text", text)]).unwrap();
        let terms = Terms::new("Café Züge", index.analysis());
        let document = index.document("1").unwrap().unwrap();
        let snippet = index.snippet_of(&document, &terms, 100).unwrap();
        let letters: Vec<char> = snippet.text.chars().collect();
        let marked: Vec<String> =
            snippet.marks.iter().map(|mark| letters[mark.clone()].iter().collect()).collect();
        assert_eq!(marked, ["Café", "Züge", "Café"]);
        assert_eq!(snippet.marked("[", "]"), "Über das [Café] in Köln 🚆 [Züge] und [Café]");
        let json = serde_json::to_value(&snippet).unwrap();
        assert_eq!(json["marks"], serde_json::json!([[9, 13], [24, 28], [33, 37]]));
    }
}
