//! Documents with a class, as terms of all their text.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::analysis::Analysis;
use crate::document::{Document, Value};
use crate::error::SearchError;
use crate::schema::{FieldKind, Schema, texts_of};

/// Number of documents from which the kinds of the fields are guessed.
const SAMPLE: usize = 1000;

/// Documents with a class, as terms.
pub(super) struct LabelledDocuments {
    /// The text fields that terms are taken from.
    pub(super) fields: Vec<String>,
    pub(super) terms: Vec<Vec<String>>,
    pub(super) classes: Vec<String>,
    /// Number of documents without a class.
    pub(super) left_out: usize,
}

impl LabelledDocuments {
    pub(super) fn new(
        documents: &[Document],
        label: &str,
        analysis: &Analysis,
    ) -> Result<LabelledDocuments, SearchError> {
        let fields = text_fields(documents, label)?;
        let all = documents.len();
        let terms = terms(documents, &fields, analysis);
        let pairs = documents.iter().zip(terms);
        let (classes, terms): (Vec<String>, Vec<Vec<String>>) =
            pairs.filter_map(|(document, terms)| Some((class(document, label)?, terms))).unzip();
        let Some(first) = classes.first() else {
            return Err(SearchError::NoLabels { label: label.to_owned(), documents: all });
        };
        if classes.iter().all(|class| class == first) {
            let (class, documents) = (first.clone(), classes.len());
            return Err(SearchError::OneClass { class, documents });
        }
        let left_out = all - classes.len();
        Ok(LabelledDocuments { fields, terms, classes, left_out })
    }
}

/// Keeps the last document of each id; returns the number of removed documents.
pub(super) fn keep_last(documents: &mut Vec<Document>) -> usize {
    let numbered = documents.iter().enumerate();
    let last: HashMap<String, usize> = numbered.map(|(at, d)| (d.id.clone(), at)).collect();
    let repeated = documents.len() - last.len();
    let mut at = 0;
    documents.retain(|document| {
        at += 1;
        last.get(&document.id) == Some(&(at - 1))
    });
    repeated
}

/// The text fields that the terms are taken from; the label must be a field too.
fn text_fields(documents: &[Document], label: &str) -> Result<Vec<String>, SearchError> {
    let sample = documents.get(..SAMPLE).unwrap_or(documents);
    let mut schema = Schema::guess(sample, &Schema::default());
    let label = || label.to_owned();
    if !documents.iter().any(|document| document.get(&label()).is_some()) {
        return Err(SearchError::NoLabelField { label: label(), fields: schema });
    }
    schema.set(&label(), FieldKind::Category);
    let fields: Vec<String> = schema.of_kind(FieldKind::Text).map(str::to_owned).collect();
    match fields.is_empty() {
        false => Ok(fields),
        true => Err(SearchError::NoTextBesideLabel { label: label(), fields: schema }),
    }
}

/// The terms of the whole text of each document.
pub(super) fn terms(
    documents: &[Document],
    fields: &[String],
    analysis: &Analysis,
) -> Vec<Vec<String>> {
    let of = |document: &Document| {
        let values = fields.iter().filter_map(|field| document.get(field));
        values.flat_map(texts_of).flat_map(|text| analysis.terms(&text)).collect()
    };
    documents.par_iter().map(of).collect()
}

/// The class of a document; the first one of several.
fn class(document: &Document, label: &str) -> Option<String> {
    let class = match document.get(label)? {
        Value::Text(text) => text.trim().to_owned(),
        Value::Texts(texts) => texts.first()?.trim().to_owned(),
        Value::Number(number) => number.to_string(),
    };
    Some(class).filter(|class| !class.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_ids_the_last_document_counts() {
        let mut documents: Vec<Document> = [("a", "1"), ("b", "2"), ("a", "3")]
            .map(|(id, text)| Document::new(id).with("text", text))
            .to_vec();
        assert_eq!(keep_last(&mut documents), 1);
        let texts: Vec<_> = documents.iter().filter_map(|d| d.text("text")).collect();
        assert_eq!(texts, ["2", "3"]);
    }
}
