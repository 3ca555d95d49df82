//! One document made ready for tantivy: analysed, counted, typed.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{DateTime, TantivyDocument};

use crate::analysis::count_words;
use crate::document::{Document, Value};
use crate::error::SearchError;
use crate::index::encode::push_term;
use crate::index::layout::{ALL, Layout, OtherSlot, Stat, TextSlot, URL_STATS, url_column};
use crate::schema::{FieldKind, date_of, number_of, texts_of};

/// Words between two values of one field, so that no phrase spans them.
const VALUE_GAP: usize = 31;

type Counts = HashMap<String, u32, FixedState>;

/// What is wrong with documents and was lived with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Oddities {
    /// Documents without a term in any text field. They are kept, and no query finds them.
    pub without_terms: u64,
    /// Values that are not of their field's kind, taken as absent.
    pub not_of_kind: u64,
}

impl Oddities {
    /// Both together.
    pub(crate) fn add(&mut self, other: Oddities) {
        self.without_terms += other.without_terms;
        self.not_of_kind += other.not_of_kind;
    }
}

/// Turns documents into tantivy's, with buffers of its own.
pub(crate) struct Preparer<'a> {
    layout: &'a Layout,
    analyzer: TextAnalyzer,
    counts: Counts,
    all: Counts,
    text: String,
    oddities: Oddities,
}

impl<'a> Preparer<'a> {
    pub(crate) fn new(layout: &'a Layout, analyzer: TextAnalyzer) -> Self {
        let (counts, all) = (Counts::default(), Counts::default());
        Self { layout, analyzer, counts, all, text: String::new(), oddities: Oddities::default() }
    }

    /// What was odd about the documents so far.
    pub(crate) fn oddities(&self) -> Oddities {
        self.oddities
    }

    /// The document as tantivy takes it.
    pub(crate) fn prepare(&mut self, document: &Document) -> Result<TantivyDocument, SearchError> {
        let mut out = TantivyDocument::default();
        out.add_text(self.layout.id, &document.id);
        let source = serde_json::to_vec(document).map_err(|error| {
            SearchError::request(format!("document {}: {error}", document.id), "leave it out")
        })?;
        out.add_bytes(self.layout.source, &source);
        let (mut words, mut terms) = (0, 0);
        self.all.clear();
        let layout = self.layout;
        for (name, slot) in &layout.texts {
            let Some(value) = document.get(name) else {
                self.add_stats(&mut out, slot, 0);
                continue;
            };
            let found = self.analyse(value);
            words += found;
            if let Some(&field) = slot.fields.first() {
                out.add_text(field, &self.text);
            }
            self.add_stats(&mut out, slot, found);
            for (term, &tf) in &self.counts {
                terms += tf;
                *self.all.entry(term.clone()).or_default() += tf;
            }
        }
        if let Some(slot) = layout.all.as_ref().filter(|slot| slot.name == ALL) {
            std::mem::swap(&mut self.counts, &mut self.all);
            self.add_stats(&mut out, slot, words);
        }
        self.oddities.without_terms += u64::from(terms == 0);
        for slot in &layout.others {
            if let Some(value) = document.get(&slot.source) {
                self.add_other(&mut out, slot, value);
            }
        }
        Ok(out)
    }

    /// Fills `text` and `counts` with the terms of a value; gives the number of words.
    fn analyse(&mut self, value: &Value) -> u64 {
        self.text.clear();
        self.counts.clear();
        let mut words = 0;
        let mut last: Option<usize> = None;
        let mut base = 0;
        for part in parts(value) {
            words += count_words(part);
            let mut stream = self.analyzer.token_stream(part);
            let mut end = base;
            while stream.advance() {
                let token = stream.token();
                if token.text.is_empty() {
                    continue;
                }
                let position = base + token.position;
                push_term(&mut self.text, &token.text, last.map_or(position + 1, |l| position - l));
                count(&mut self.counts, &token.text);
                last = Some(position);
                end = position;
            }
            base = end + VALUE_GAP;
        }
        words
    }

    fn add_stats(&mut self, out: &mut TantivyDocument, slot: &TextSlot, words: u64) {
        let mut tfs: Vec<u32> =
            if words == 0 { Vec::new() } else { self.counts.values().copied().collect() };
        // Sorted, so that sums do not depend on the table's order.
        tfs.sort_unstable();
        let length: u64 = tfs.iter().map(|&tf| u64::from(tf)).sum();
        for stat in Stat::EACH {
            let Some(field) = self.layout.column(&stat.column(&slot.name)) else { continue };
            match stat {
                Stat::Length => out.add_u64(field, length),
                Stat::Distinct => out.add_u64(field, tfs.len() as u64),
                Stat::Words => out.add_u64(field, words),
                Stat::Norm => out.add_f64(field, norm(&tfs)),
                Stat::Entropy => out.add_f64(field, entropy(&tfs, length)),
            }
        }
    }

    fn add_other(&mut self, out: &mut TantivyDocument, slot: &OtherSlot, value: &Value) {
        let field = self.layout.column(&slot.name);
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
            (FieldKind::Url, _) => {
                texts_of(value).first().map(|u| self.add_url(out, slot, u)).is_some()
            }
            _ => true,
        };
        self.oddities.not_of_kind += u64::from(!added);
    }

    fn add_url(&self, out: &mut TantivyDocument, slot: &OtherSlot, url: &str) {
        for (stat, value) in URL_STATS.into_iter().zip(url_stats(url)) {
            if let Some(field) = self.layout.column(&url_column(stat, &slot.name)) {
                out.add_u64(field, value);
            }
        }
    }
}

fn parts(value: &Value) -> Vec<&str> {
    match value {
        Value::Text(text) => vec![text],
        Value::Texts(texts) => texts.iter().map(String::as_str).collect(),
        Value::Number(_) => Vec::new(),
    }
}

fn count(counts: &mut Counts, term: &str) {
    match counts.get_mut(term) {
        Some(tf) => *tf += 1,
        None => {
            counts.insert(term.to_owned(), 1);
        }
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

/// Depth (parts of the path), length in letters, and slashes of an address.
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
