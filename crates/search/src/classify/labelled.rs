//! Labelled documents: the content and the class of each document that has a class.

use std::collections::HashMap;

use super::task::ClassifierOptions;
use super::vectors::{ClassFields, DocumentContent};
use crate::document::{Document, Value};
use crate::error::SearchError;
use crate::schema::{FieldKind, Schema};

/// Number of documents from which the kinds of the fields are guessed.
const SAMPLE_DOCUMENTS: usize = 1000;

/// The documents that have a class.
pub(super) struct LabelledDocuments {
    /// The fields that documents are classified by.
    pub(super) fields: ClassFields,
    /// The content of each document.
    pub(super) contents: Vec<DocumentContent>,
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
        options: &ClassifierOptions,
    ) -> Result<LabelledDocuments, SearchError> {
        let schema = schema_with_label(documents, label)?;
        let fields = ClassFields::choose(&options.fields, &schema, label)?;
        let given = documents.len();
        let contents = fields.contents(documents, &options.analysis);
        let pairs = documents.iter().zip(contents);
        let (classes, contents): (Vec<String>, Vec<DocumentContent>) = pairs
            .filter_map(|(document, content)| Some((class(document, label)?, content)))
            .unzip();
        let Some(first) = classes.first() else {
            return Err(SearchError::NoLabels { label: label.to_owned(), documents: given });
        };
        if classes.iter().all(|class| class == first) {
            let (class, documents) = (first.clone(), classes.len());
            return Err(SearchError::OneClass { class, documents });
        }
        let left_out = given - classes.len();
        Ok(LabelledDocuments { fields, contents, classes, left_out })
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

/// The kinds of the fields; that of the classes is a category. An error if no document has the
/// field `label`.
fn schema_with_label(documents: &[Document], label: &str) -> Result<Schema, SearchError> {
    let sample = documents.get(..SAMPLE_DOCUMENTS).unwrap_or(documents);
    let mut schema = Schema::guess(sample, &Schema::default());
    if !documents.iter().any(|document| document.get(label).is_some()) {
        return Err(SearchError::NoLabelField { label: label.to_owned(), fields: schema });
    }
    schema.set(label, FieldKind::Category);
    Ok(schema)
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
