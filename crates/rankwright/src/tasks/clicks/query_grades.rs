//! The grades of judged documents, found by query and document.

use std::collections::HashMap;

use rankwright_data::Qrels;

/// The grades of judged documents.
#[derive(Debug, Default)]
pub(in crate::tasks) struct QueryGrades<'a>(HashMap<&'a str, HashMap<&'a [u8], f64>>);

impl<'a> QueryGrades<'a> {
    pub(in crate::tasks) fn new(qrels: &'a Qrels) -> Self {
        let mut by_query: HashMap<&str, HashMap<&[u8], f64>> = HashMap::new();
        for (query, documents) in qrels.iter() {
            by_query.entry(query).or_default().extend(documents.map(|d| (d.id, d.value)));
        }
        Self(by_query)
    }

    /// Whether a query has a judgement.
    pub(in crate::tasks) fn has(&self, query: &str) -> bool {
        self.0.contains_key(query)
    }

    /// The grade of a document; `None` if it is not judged.
    pub(in crate::tasks) fn grade(&self, query: &str, document: &str) -> Option<f64> {
        self.0.get(query)?.get(document.as_bytes()).copied()
    }
}
