//! Documents as vectors: terms of text fields, and numbers of number fields.
//!
//! The numbers are the first coordinates, as they are, and 0 where a document has none; the terms
//! of all text fields together follow, weighted by tf-idf or counted.

use rankwright_spec::choices;
use rayon::prelude::*;

use super::{SparseVector, TfIdf};
use crate::analysis::Analysis;
use crate::document::Document;
use crate::error::SearchError;
use crate::schema::{FieldKind, Schema, number_of, texts_of};

choices! {
    /// The weight of a term in a document's vector.
    pub enum TermWeights {
        /// Tf-idf, scaled to vectors of length 1.
        TfIdf = "tfidf",
        /// The number of times that the term occurs.
        Counts = "counts",
    }
}

/// The fields that documents are classified by.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ClassFields {
    /// Text and category fields, from which terms are taken.
    pub(super) texts: Vec<String>,
    /// Number fields.
    pub(super) numbers: Vec<String>,
}

impl ClassFields {
    /// The given fields; if there are none, all text fields, or all number fields of documents
    /// without text. `schema` has the kinds of the fields, and `label` is the field of the classes.
    pub(super) fn choose(
        given: &[String],
        schema: &Schema,
        label: &str,
    ) -> Result<Self, SearchError> {
        if !given.is_empty() {
            return Self::of_names(given, schema, label);
        }
        let of_kind = |kind| -> Vec<String> { schema.of_kind(kind).map(str::to_owned).collect() };
        let (texts, numbers) = (of_kind(FieldKind::Text), of_kind(FieldKind::Number));
        match (texts.is_empty(), numbers.is_empty()) {
            (true, true) => Err(SearchError::NoFieldBesideLabel {
                label: label.to_owned(),
                fields: schema.clone(),
            }),
            (true, false) => Ok(Self { texts, numbers }),
            (false, _) => Ok(Self { texts, numbers: Vec::new() }),
        }
    }

    fn of_names(given: &[String], schema: &Schema, label: &str) -> Result<Self, SearchError> {
        let mut fields = Self::default();
        for name in given {
            let kind = schema.kind(name).filter(|_| name != label);
            match kind {
                Some(FieldKind::Text | FieldKind::Category) => fields.texts.push(name.clone()),
                Some(FieldKind::Number) => fields.numbers.push(name.clone()),
                _ => {
                    let (field, fields) = (name.clone(), schema.clone());
                    return Err(SearchError::NotClassifiableBy { field, fields });
                }
            }
        }
        Ok(fields)
    }

    /// The names of all fields.
    pub(super) fn names(&self) -> Vec<String> {
        self.texts.iter().chain(&self.numbers).cloned().collect()
    }

    /// The content of each document.
    pub(super) fn contents(
        &self,
        documents: &[Document],
        analysis: &Analysis,
    ) -> Vec<DocumentContent> {
        let content = |document: &Document| {
            let texts = self.texts.iter().filter_map(|field| document.get(field));
            let terms = texts.flat_map(texts_of).flat_map(|text| analysis.terms(&text)).collect();
            let number = |field: &String| document.get(field).and_then(number_of).unwrap_or(0.0);
            let numbers = self.numbers.iter().map(|field| number(field) as f32).collect();
            DocumentContent { terms, numbers }
        };
        documents.par_iter().map(content).collect()
    }
}

/// The terms of a document in the order of its text, and its numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DocumentContent {
    terms: Vec<String>,
    numbers: Vec<f32>,
}

impl AsRef<[String]> for DocumentContent {
    fn as_ref(&self) -> &[String] {
        &self.terms
    }
}

/// Turns contents into vectors, by the vocabulary of training documents.
pub(super) struct Vectoriser {
    vocabulary: TfIdf,
    weights: TermWeights,
    /// Number of number fields.
    numbers: usize,
}

impl Vectoriser {
    pub(super) fn fit(training: &[&DocumentContent], weights: TermWeights) -> Self {
        let numbers = training.first().map_or(0, |content| content.numbers.len());
        Vectoriser { vocabulary: TfIdf::fit(training), weights, numbers }
    }

    /// Number of coordinates.
    pub(super) fn features(&self) -> usize {
        self.numbers + self.vocabulary.len()
    }

    pub(super) fn vector(&self, content: &DocumentContent) -> Result<SparseVector, SearchError> {
        let text = match self.weights {
            TermWeights::TfIdf => self.vocabulary.vector(&content.terms),
            TermWeights::Counts => self.vocabulary.counts(&content.terms),
        };
        if content.numbers.is_empty() {
            return Ok(text);
        }
        let numbers = content.numbers.iter().enumerate().map(|(i, number)| (i as u32, *number));
        let offset = self.numbers as u32;
        let terms = text.terms().iter().map(|(term, weight)| (term + offset, *weight));
        Ok(SparseVector::new(numbers.chain(terms).collect())?)
    }
}
