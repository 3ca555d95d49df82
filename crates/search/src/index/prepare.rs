//! Converts documents to tantivy's form: analyses their text, computes statistics, and reads
//! numbers and dates.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rankwright_data::quote;
use tantivy::{DateTime, TantivyDocument};

use crate::analysis::{Analyser, Analysis};
use crate::document::{Document, Value};
use crate::error::{DocumentProblem, SearchError};
use crate::index::encode::{MAX_DISTANCE, push_term};
use crate::index::layout::{
    ALL_TEXT, IndexLayout, NonTextLayout, Stat, TextLayout, URL_STATS, url_column,
};
use crate::schema::{FieldKind, date_of, is_empty_value, number_of, texts_of};

/// Distance in words between two values of one field, so that no phrase spans them: the largest one
/// that the encoding keeps.
const VALUE_GAP: usize = MAX_DISTANCE;

/// Problems of documents that do not stop a build.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct DocumentProblems {
    /// Number of documents without a term in any text field. They are kept, but no query finds
    /// them.
    pub(crate) without_terms: u64,
    /// Values that are not of their field's kind, by field; they count as absent.
    pub(crate) mistyped: BTreeMap<String, MistypedValues>,
    /// Number of documents with a field that the index does not have, by field. The field is kept
    /// with the document, but not indexed.
    pub(crate) not_indexed: BTreeMap<String, u64>,
}

/// Largest number of entries of [`DocumentProblems::not_indexed`]; further fields are not counted.
const MAX_NOT_INDEXED: usize = 100;

/// Values of a field that are not of its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MistypedValues {
    /// The kind of the field.
    pub(crate) kind: FieldKind,
    /// The number of such values.
    pub(crate) values: u64,
    /// The beginning of the first such value, quoted.
    pub(crate) example: String,
}

impl DocumentProblems {
    /// Adds the problems of later documents.
    pub(crate) fn add(&mut self, later: DocumentProblems) {
        self.without_terms += later.without_terms;
        for (field, documents) in &later.not_indexed {
            self.add_not_indexed(field, *documents);
        }
        for (field, mistyped) in later.mistyped {
            match self.mistyped.entry(field) {
                Entry::Occupied(mut known) => known.get_mut().values += mistyped.values,
                Entry::Vacant(new) => {
                    new.insert(mistyped);
                }
            }
        }
    }

    /// Counts documents with a field that the index does not have.
    fn add_not_indexed(&mut self, field: &str, documents: u64) {
        let is_full = self.not_indexed.len() >= MAX_NOT_INDEXED;
        match self.not_indexed.get_mut(field) {
            Some(known) => *known += documents,
            None if is_full => {}
            None => {
                self.not_indexed.insert(field.to_owned(), documents);
            }
        }
    }

    /// Counts a value that is not of its field's kind.
    fn add_mistyped(&mut self, field: &NonTextLayout, value: &Value) {
        match self.mistyped.get_mut(&field.source) {
            Some(known) => known.values += 1,
            None => {
                let example = quote(texts_of(value).join(" ").as_bytes());
                let first = MistypedValues { kind: field.kind, values: 1, example };
                self.mistyped.insert(field.source.clone(), first);
            }
        }
    }
}

/// Converts documents to tantivy's form. Each thread has one, with its buffers and cache of words.
pub(crate) struct Preparer {
    analyser: Analyser,
    /// The terms of the current field, as numbers of `analyser`.
    terms: Vec<u32>,
    /// The terms of all fields of the document so far.
    all_terms: Vec<u32>,
    /// The terms of the current field, encoded for tantivy (see `encode.rs`).
    text: String,
    problems: DocumentProblems,
}

impl Preparer {
    pub(crate) fn new(analysis: &Analysis) -> Self {
        Self {
            analyser: Analyser::new(analysis),
            terms: Vec::new(),
            all_terms: Vec::new(),
            text: String::new(),
            problems: DocumentProblems::default(),
        }
    }

    /// The problems of the documents since the last call.
    pub(crate) fn take_problems(&mut self) -> DocumentProblems {
        std::mem::take(&mut self.problems)
    }

    /// The document in tantivy's form.
    pub(crate) fn prepare(
        &mut self,
        layout: &IndexLayout,
        document: &Document,
    ) -> Result<TantivyDocument, SearchError> {
        let mut out = TantivyDocument::default();
        out.add_text(layout.id, &document.id);
        check_numbers(document)?;
        out.add_bytes(layout.source, &source_bytes(document)?);
        for (name, _) in &document.fields {
            if !layout.has(name) {
                self.problems.add_not_indexed(name, 1);
            }
        }
        self.analyser.clear_if_full();
        self.all_terms.clear();
        let mut all_words = 0;
        for (name, text_field) in &layout.texts {
            self.terms.clear();
            let words = document.get(name).map_or(0, |value| self.analyse(value));
            if let (Some(&field), true) = (text_field.fields.first(), words > 0) {
                out.add_text(field, &self.text);
            }
            self.all_terms.extend_from_slice(&self.terms);
            all_words += words;
            add_stats(&mut out, layout, text_field, &mut self.terms, words)?;
        }
        self.problems.without_terms += u64::from(self.all_terms.is_empty());
        // Where there is one text field, `all` is that field, whose statistics are added above.
        if let Some(all) = layout.all.as_ref().filter(|all| all.name == ALL_TEXT) {
            add_stats(&mut out, layout, all, &mut self.all_terms, all_words)?;
        }
        for field in &layout.non_text {
            if let Some(value) = document.get(&field.source) {
                self.add_non_text(&mut out, layout, field, value)?;
            }
        }
        Ok(out)
    }

    /// Puts the encoded terms of a value into `text`, and appends their numbers to `terms`; returns
    /// the number of words.
    fn analyse(&mut self, value: &Value) -> u64 {
        let Self { analyser, terms, text, .. } = self;
        text.clear();
        let first = terms.len();
        let mut positions = Vec::new();
        // `start` is the position of the first word of the current text.
        let (mut words, mut start) = (0, 0);
        for part in texts_in(value) {
            let words_of_text = analyser.analyse(&part, |term, position| {
                terms.push(term);
                positions.push(start + position);
            });
            words += words_of_text as u64;
            start += words_of_text + VALUE_GAP;
        }
        let mut previous = None;
        for (&term, &position) in terms.iter().skip(first).zip(&positions) {
            let distance = previous.map_or(position + 1, |previous| position - previous);
            push_term(text, analyser.term(term), distance);
            previous = Some(position);
        }
        words
    }

    /// Adds a value of a field that is not text. A value that is not of the field's kind is counted
    /// and left out.
    fn add_non_text(
        &mut self,
        out: &mut TantivyDocument,
        layout: &IndexLayout,
        field: &NonTextLayout,
        value: &Value,
    ) -> Result<(), SearchError> {
        if field.kind == FieldKind::Stored {
            return Ok(());
        }
        let column = layout.column(&field.name)?;
        let is_added = match field.kind {
            FieldKind::Number => {
                number_of(value).map(|number| out.add_f64(column, number)).is_some()
            }
            FieldKind::Date => date_of(value)
                .map(|seconds| out.add_date(column, DateTime::from_timestamp_secs(seconds)))
                .is_some(),
            FieldKind::Category | FieldKind::Links => {
                texts_of(value).iter().for_each(|text| out.add_text(column, text));
                true
            }
            FieldKind::Url => {
                let urls = texts_of(value);
                urls.iter().for_each(|url| out.add_text(column, url));
                if let Some(url) = urls.first() {
                    add_url_stats(out, layout, field, url)?;
                }
                !urls.is_empty()
            }
            FieldKind::Text | FieldKind::Stored => {
                let invariant = "only fields with a column are added to one";
                return Err(SearchError::Internal { invariant });
            }
        };
        if !is_added && !is_empty_value(value) {
            self.problems.add_mistyped(field, value);
        }
        Ok(())
    }
}

/// A document in the form in which it is stored: JSON.
pub(crate) fn source_bytes(document: &Document) -> Result<Vec<u8>, SearchError> {
    serde_json::to_vec(document)
        .map_err(|_| SearchError::Internal { invariant: "a document can be written as JSON" })
}

/// Rejects numbers that are not finite: the stored document could not be read back.
fn check_numbers(document: &Document) -> Result<(), SearchError> {
    for (field, value) in &document.fields {
        if let Value::Number(value) = *value
            && !value.is_finite()
        {
            let problem = DocumentProblem::NotFinite { field: field.clone(), value };
            return Err(SearchError::BadDocument { id: document.id.clone(), problem });
        }
    }
    Ok(())
}

/// Adds the numbers that are computed from a web address.
fn add_url_stats(
    out: &mut TantivyDocument,
    layout: &IndexLayout,
    field: &NonTextLayout,
    url: &str,
) -> Result<(), SearchError> {
    for (stat, value) in URL_STATS.into_iter().zip(url_stats(url)) {
        out.add_u64(layout.column(&url_column(stat, &field.name))?, value);
    }
    Ok(())
}

/// Adds the statistics of the terms of a text field; sorts the terms.
fn add_stats(
    out: &mut TantivyDocument,
    layout: &IndexLayout,
    text_field: &TextLayout,
    terms: &mut [u32],
    words: u64,
) -> Result<(), SearchError> {
    let length = terms.len() as u64;
    terms.sort_unstable();
    let mut tfs: Vec<u32> = terms.chunk_by(|a, b| a == b).map(|same| same.len() as u32).collect();
    // Sorted, so that rounding in sums does not depend on the numbering of the terms.
    tfs.sort_unstable();
    for stat in Stat::ALL {
        let column = layout.column(&stat.column(&text_field.name))?;
        match stat {
            Stat::Length => out.add_u64(column, length),
            Stat::Distinct => out.add_u64(column, tfs.len() as u64),
            Stat::Words => out.add_u64(column, words),
            Stat::Norm => out.add_f64(column, norm(&tfs)),
            Stat::Entropy => out.add_f64(column, entropy(&tfs, length)),
        }
    }
    Ok(())
}

/// The texts of a value; a number is a text too, as in the title `1984`.
fn texts_in(value: &Value) -> Vec<Cow<'_, str>> {
    match value {
        Value::Text(text) => vec![text.into()],
        Value::Texts(texts) => texts.iter().map(Cow::from).collect(),
        Value::Number(number) => vec![number.to_string().into()],
    }
}

/// The Euclidean length of the vector of 1 + ln(tf).
fn norm(tfs: &[u32]) -> f64 {
    let weight = |&tf: &u32| 1.0 + f64::from(tf).ln();
    tfs.iter().map(|tf| weight(tf) * weight(tf)).sum::<f64>().sqrt()
}

/// The entropy in bits of the terms of a text of `length` terms.
fn entropy(tfs: &[u32], length: u64) -> f64 {
    let share = |&tf: &u32| f64::from(tf) / length as f64;
    tfs.iter().map(share).map(|p| -p * p.log2()).sum()
}

/// Depth (number of parts of the path), length in characters, and number of slashes of a web
/// address: the values of [`URL_STATS`].
fn url_stats(url: &str) -> [u64; 3] {
    // A query or fragment may have slashes and `://` of its own.
    let address = url.split(['?', '#']).next().unwrap_or_default();
    let path = match address.split_once("://") {
        Some((_, host_and_path)) => host_and_path.split_once('/').map_or("", |(_, path)| path),
        None => address.trim_start_matches('/'),
    };
    let depth = path.split('/').filter(|part| !part.is_empty()).count();
    let slashes = url.matches('/').count();
    [depth as u64, url.chars().count() as u64, slashes as u64]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_depth_length_and_slashes() {
        assert_eq!(url_stats("https://a.org"), [0, 13, 2]);
        assert_eq!(url_stats("https://a.org/b/c.html?d=/e"), [2, 27, 5]);
        assert_eq!(url_stats("b/c.html"), [2, 8, 1]);
        assert_eq!(url_stats("https://a.org?d=/e"), [0, 18, 3]);
        assert_eq!(url_stats("https://a.org#/e/f"), [0, 18, 4]);
        assert_eq!(url_stats("b/c?d=https://e.org"), [2, 19, 3]);
    }

    #[test]
    fn norm_and_entropy_are_those_of_the_counts() {
        assert_eq!(norm(&[1, 1, 1, 1]), 2.0);
        assert_eq!(entropy(&[1, 1, 1, 1], 4), 2.0);
        assert_eq!(entropy(&[3], 3), 0.0);
        assert_eq!((norm(&[]), entropy(&[], 0)), (0.0, 0.0));
    }
}
