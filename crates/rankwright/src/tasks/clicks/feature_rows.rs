//! The rows of feature data by query and document, to join a click log with.

use std::collections::HashMap;

use rankwright_clicks::Pages;
use rankwright_clicks::regression::PairFeatures;
use rankwright_data::Dataset;

use crate::tasks::TaskError;

/// The rows of a data set by the ids of query and document. In data without document ids, a
/// document is called by the number of its row in the input, from 0.
pub(super) struct LogFeatureRows<'a> {
    pub(super) data: &'a Dataset,
    queries: HashMap<&'a str, usize>,
    /// The rows of each query by document; the first of several with one id.
    documents: Vec<HashMap<String, usize>>,
}

impl<'a> LogFeatureRows<'a> {
    pub(super) fn new(data: &'a Dataset) -> Self {
        let queries = data.query_ids().iter().enumerate().map(|(query, id)| (id, query)).collect();
        let mut documents = Vec::with_capacity(data.queries());
        for query in 0..data.queries() {
            let mut rows = HashMap::new();
            for row in data.query_rows(query) {
                rows.entry(document_id(data, row)).or_insert(row);
            }
            documents.push(rows);
        }
        Self { data, queries, documents }
    }

    /// The row of a document for a query.
    pub(super) fn row(&self, query: &str, document: &str) -> Option<usize> {
        self.documents.get(self.query(query)?)?.get(document).copied()
    }

    /// The number of a query.
    pub(super) fn query(&self, query: &str) -> Option<usize> {
        self.queries.get(query).copied()
    }

    /// The features of the pairs of a log.
    pub(super) fn pair_features(&self, pages: &Pages) -> Result<PairFeatures, TaskError> {
        let row =
            |query: &str, document: &str| Some(self.data.matrix().row(self.row(query, document)?));
        Ok(PairFeatures::new(pages, row)?)
    }
}

/// The id of the document of a row; its number in the input, from 0, if the data has no ids.
pub(super) fn document_id(data: &Dataset, row: usize) -> String {
    match data.doc_ids() {
        Some(ids) => ids.get(row).to_owned(),
        None => data.source_row(row).to_string(),
    }
}
