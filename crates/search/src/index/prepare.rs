//! Prepares one document for tantivy: analyses, counts and types its values.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rankwright_data::quote;
use tantivy::{DateTime, TantivyDocument};

use crate::analysis::{Analyser, Analysis};
use crate::document::{Document, Value};
use crate::error::{DocumentProblem, SearchError};
use crate::index::encode::push_term;
use crate::index::layout::{ALL, IndexLayout, OtherSlot, Stat, TextSlot, URL_STATS, url_column};
use crate::schema::{FieldKind, date_of, is_empty_text, number_of, texts_of};

/// Number of words between two values of one field, so that no phrase spans them.
const VALUE_GAP: usize = 31;

/// Problems of documents that do not stop a build.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct DocumentProblems {
    /// Number of documents without a term in any text field. They are kept, and no query finds
    /// them.
    pub(crate) without_terms: u64,
    /// Values that are not of their field's kind, by field; they count as absent.
    pub(crate) not_of_kind: BTreeMap<String, OtherValues>,
    /// Number of documents with a field that the index does not have, by field. The field is kept
    /// with the document, but not indexed.
    pub(crate) not_indexed: BTreeMap<String, u64>,
}

/// Maximum number of fields that the index does not have whose documents are counted.
const MOST_NOT_INDEXED: usize = 100;

/// Values of a field that are not of its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OtherValues {
    /// The kind of the field.
    pub(crate) kind: FieldKind,
    /// Their number.
    pub(crate) values: u64,
    /// The beginning of the first one, quoted.
    pub(crate) example: String,
}

impl DocumentProblems {
    /// Adds the problems of later documents.
    pub(crate) fn add(&mut self, later: DocumentProblems) {
        self.without_terms += later.without_terms;
        for (field, documents) in &later.not_indexed {
            self.add_not_indexed(field, *documents);
        }
        for (field, other) in later.not_of_kind {
            match self.not_of_kind.entry(field) {
                Entry::Occupied(mut known) => known.get_mut().values += other.values,
                Entry::Vacant(new) => {
                    new.insert(other);
                }
            }
        }
    }

    /// Counts documents with a field that the index does not have.
    fn add_not_indexed(&mut self, field: &str, documents: u64) {
        let is_full = self.not_indexed.len() >= MOST_NOT_INDEXED;
        match self.not_indexed.get_mut(field) {
            Some(known) => *known += documents,
            None if is_full => {}
            None => {
                self.not_indexed.insert(field.to_owned(), documents);
            }
        }
    }

    fn add_value(&mut self, slot: &OtherSlot, value: &Value) {
        match self.not_of_kind.get_mut(&slot.source) {
            Some(known) => known.values += 1,
            None => {
                let example = quote(texts_of(value).join(" ").as_bytes());
                let first = OtherValues { kind: slot.kind, values: 1, example };
                self.not_of_kind.insert(slot.source.clone(), first);
            }
        }
    }
}

/// Converts documents to tantivy's, with its own buffers and cache of words.
pub(crate) struct Preparer {
    analyser: Analyser,
    /// The terms of the current field, and of all fields so far.
    terms: Vec<u32>,
    all: Vec<u32>,
    text: String,
    counts: DocumentProblems,
}

impl Preparer {
    pub(crate) fn new(analysis: &Analysis) -> Self {
        Self {
            analyser: Analyser::new(analysis),
            terms: Vec::new(),
            all: Vec::new(),
            text: String::new(),
            counts: DocumentProblems::default(),
        }
    }

    /// The counts since the last call.
    pub(crate) fn take_counts(&mut self) -> DocumentProblems {
        std::mem::take(&mut self.counts)
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
                self.counts.add_not_indexed(name, 1);
            }
        }
        self.analyser.clear_if_full();
        self.all.clear();
        let mut all_words = 0;
        for (name, slot) in &layout.texts {
            self.terms.clear();
            let words = document.get(name).map_or(0, |value| self.analyse(value));
            if let (Some(&field), true) = (slot.fields.first(), words > 0) {
                out.add_text(field, &self.text);
            }
            self.all.extend_from_slice(&self.terms);
            all_words += words;
            add_stats(&mut out, layout, slot, &mut self.terms, words);
        }
        self.counts.without_terms += u64::from(self.all.is_empty());
        if let Some(slot) = layout.all.as_ref().filter(|slot| slot.name == ALL) {
            add_stats(&mut out, layout, slot, &mut self.all, all_words);
        }
        for slot in &layout.others {
            if let Some(value) = document.get(&slot.source) {
                self.add_other(&mut out, layout, slot, value);
            }
        }
        Ok(out)
    }

    /// Fills `text` and `terms` with the terms of a value; returns the number of words.
    fn analyse(&mut self, value: &Value) -> u64 {
        let Self { analyser, terms, text, .. } = self;
        text.clear();
        let first = terms.len();
        let mut positions = Vec::new();
        let (mut words, mut base) = (0, 0);
        for part in parts(value) {
            let found = analyser.analyse(&part, |term, position| {
                terms.push(term);
                positions.push(base + position);
            });
            words += found as u64;
            base += found + VALUE_GAP;
        }
        let mut before = None;
        for (&term, &position) in terms.iter().skip(first).zip(&positions) {
            push_term(text, analyser.term(term), before.map_or(position + 1, |b| position - b));
            before = Some(position);
        }
        words
    }

    fn add_other(
        &mut self,
        out: &mut TantivyDocument,
        layout: &IndexLayout,
        slot: &OtherSlot,
        value: &Value,
    ) {
        let field = layout.column(&slot.name);
        let added = match (slot.kind, field) {
            (FieldKind::Number, Some(field)) => {
                number_of(value).map(|number| out.add_f64(field, number)).is_some()
            }
            (FieldKind::Date, Some(field)) => date_of(value)
                .map(|seconds| out.add_date(field, DateTime::from_timestamp_secs(seconds)))
                .is_some(),
            (FieldKind::Category | FieldKind::Links, Some(field)) => {
                texts_of(value).iter().for_each(|text| out.add_text(field, text));
                true
            }
            (FieldKind::Url, Some(field)) => {
                let urls = texts_of(value);
                urls.iter().for_each(|url| out.add_text(field, url));
                urls.first().map(|url| add_url(out, layout, slot, url)).is_some()
            }
            _ => true,
        };
        if !added && !is_empty_text(value) {
            self.counts.add_value(slot, value);
        }
    }
}

/// A document in the form in which it is stored.
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

fn add_url(out: &mut TantivyDocument, layout: &IndexLayout, slot: &OtherSlot, url: &str) {
    for (stat, value) in URL_STATS.into_iter().zip(url_stats(url)) {
        if let Some(field) = layout.column(&url_column(stat, &slot.name)) {
            out.add_u64(field, value);
        }
    }
}

/// Adds the statistics of a field's terms; sorts the terms.
fn add_stats(
    out: &mut TantivyDocument,
    layout: &IndexLayout,
    slot: &TextSlot,
    terms: &mut [u32],
    words: u64,
) {
    let length = terms.len() as u64;
    terms.sort_unstable();
    let mut tfs: Vec<u32> = terms.chunk_by(|a, b| a == b).map(|same| same.len() as u32).collect();
    // Sorted, so that sums do not depend on the numbering of the terms.
    tfs.sort_unstable();
    for stat in Stat::EACH {
        let Some(field) = layout.column(&stat.column(&slot.name)) else { continue };
        match stat {
            Stat::Length => out.add_u64(field, length),
            Stat::Distinct => out.add_u64(field, tfs.len() as u64),
            Stat::Words => out.add_u64(field, words),
            Stat::Norm => out.add_f64(field, norm(&tfs)),
            Stat::Entropy => out.add_f64(field, entropy(&tfs, length)),
        }
    }
}

/// The texts of a value; a number is one too, as a title may be 1984.
fn parts(value: &Value) -> Vec<Cow<'_, str>> {
    match value {
        Value::Text(text) => vec![text.into()],
        Value::Texts(texts) => texts.iter().map(Cow::from).collect(),
        Value::Number(number) => vec![number.to_string().into()],
    }
}

fn norm(tfs: &[u32]) -> f64 {
    let weight = |&tf: &u32| 1.0 + f64::from(tf).ln();
    tfs.iter().map(|tf| weight(tf) * weight(tf)).sum::<f64>().sqrt()
}

fn entropy(tfs: &[u32], length: u64) -> f64 {
    let share = |&tf: &u32| f64::from(tf) / length as f64;
    tfs.iter().map(share).map(|p| -p * p.log2()).sum()
}

/// Depth (number of parts of the path), length in letters, and number of slashes of an address.
fn url_stats(url: &str) -> [u64; 3] {
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/').map_or("", |(_, path)| path),
        None => url.trim_start_matches('/'),
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
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
    }

    #[test]
    fn norm_and_entropy_are_those_of_the_counts() {
        assert_eq!(norm(&[1, 1, 1, 1]), 2.0);
        assert_eq!(entropy(&[1, 1, 1, 1], 4), 2.0);
        assert_eq!(entropy(&[3], 3), 0.0);
        assert_eq!((norm(&[]), entropy(&[], 0)), (0.0, 0.0));
    }
}
