//! Labelled documents: the terms and the class of each document that has a class.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::analysis::Analysis;
use crate::document::{Document, Value};
use crate::error::SearchError;
use crate::schema::{FieldKind, Schema, texts_of};

/// Number of documents from which the kinds of the fields are guessed.
const SAMPLE_DOCUMENTS: usize = 1000;

/// The documents that have a class, as terms.
pub(super) struct LabelledDocuments {
    /// The text fields that terms are taken from.
    pub(super) fields: Vec<String>,
    /// The terms of each document, in the order of the text.
    pub(super) terms: Vec<Vec<String>>,
    /// The class of each document.
    pub(super) classes: Vec<String>,
    /// Number of documents without a class, which are left out.
    pub(super) left_out: usize,
}

impl LabelledDocuments {
    /// Takes the documents with a class in the field `label`; at least two classes are needed.
    pub(super) fn new(
        documents: &[Document],
        label: &str,
        analysis: &Analysis,
    ) -> Result<LabelledDocuments, SearchError> {
        let fields = text_fields(documents, label)?;
        let given = documents.len();
        let terms = terms(documents, &fields, analysis);
        let pairs = documents.iter().zip(terms);
        let (classes, terms): (Vec<String>, Vec<Vec<String>>) =
            pairs.filter_map(|(document, terms)| Some((class(document, label)?, terms))).unzip();
        let Some(first) = classes.first() else {
            return Err(SearchError::NoLabels { label: label.to_owned(), documents: given });
        };
        if classes.iter().all(|class| class == first) {
            let (class, documents) = (first.clone(), classes.len());
            return Err(SearchError::OneClass { class, documents });
        }
        let left_out = given - classes.len();
        Ok(LabelledDocuments { fields, terms, classes, left_out })
    }
}

/// Keeps the last document of each id; returns the number of removed documents.
pub(super) fn keep_last(documents: &mut Vec<Document>) -> usize {
    let numbered = documents.iter().enumerate();
    let last_of_id: HashMap<String, usize> = numbered.map(|(i, d)| (d.id.clone(), i)).collect();
    let removed = documents.len() - last_of_id.len();
    let mut next = 0;
    documents.retain(|document| {
        next += 1;
        last_of_id.get(&document.id) == Some(&(next - 1))
    });
    removed
}

/// The text fields that the terms are taken from, without the field of the classes. An error if no
/// document has the field `label`, or no other field is text.
fn text_fields(documents: &[Document], label: &str) -> Result<Vec<String>, SearchError> {
    let sample = documents.get(..SAMPLE_DOCUMENTS).unwrap_or(documents);
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
    let terms_of = |document: &Document| {
        let values = fields.iter().filter_map(|field| document.get(field));
        values.flat_map(texts_of).flat_map(|text| analysis.terms(&text)).collect()
    };
    documents.par_iter().map(terms_of).collect()
}

/// The class of a document, the first one of several; `None` if it has none.
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
