//! The rows of feature data by query and document, to join a click log with.

use std::collections::HashMap;

use rankwright_data::Dataset;

use crate::error::ClicksError;
use crate::pages::Pages;
use crate::regression::{PairFeatures, RelevanceModel};

/// The rows of a data set by the ids of query and document. In data without document ids, a
/// document is called by the number of its row in the input, from 0.
///
/// ```
/// use rankwright_clicks::LogFeatureRows;
/// use rankwright_data::Dataset;
///
/// let data = Dataset::from_rows([[1.0], [2.0]], ["x"]).query_ids(["q", "q"]).build()?;
/// let rows = LogFeatureRows::new(&data);
/// assert_eq!((rows.row("q", "1"), rows.row("q", "7")), (Some(1), None));
/// # Ok::<(), rankwright_data::DataError>(())
/// ```
#[derive(Debug, Clone)]
pub struct LogFeatureRows<'a> {
    data: &'a Dataset,
    queries: HashMap<&'a str, usize>,
    /// The rows of each query by document; the first of several with one id.
    documents: Vec<HashMap<String, usize>>,
}

impl<'a> LogFeatureRows<'a> {
    /// The rows of this data.
    pub fn new(data: &'a Dataset) -> Self {
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

    /// The data.
    pub fn data(&self) -> &'a Dataset {
        self.data
    }

    /// The row of a document for a query.
    pub fn row(&self, query: &str, document: &str) -> Option<usize> {
        self.documents.get(self.query(query)?)?.get(document).copied()
    }

    /// The number of a query.
    pub fn query(&self, query: &str) -> Option<usize> {
        self.queries.get(query).copied()
    }

    /// The features of the pairs of a log.
    pub fn pair_features(&self, pages: &Pages) -> Result<PairFeatures, ClicksError> {
        let row =
            |query: &str, document: &str| Some(self.data.matrix().row(self.row(query, document)?));
        PairFeatures::new(pages, row)
    }

    /// The relevance of each pair of a log by a regression on features; 0 for a pair without
    /// features, whose label nobody sees.
    pub fn relevance(&self, pages: &Pages, model: &RelevanceModel) -> Vec<f64> {
        let predicted = |(query, document): (&str, &str)| {
            self.row(query, document)
                .map_or(0.0, |row| model.relevance(self.data.matrix().row(row)))
        };
        pages.named_pairs().map(predicted).collect()
    }
}

/// The id of the document of a row; its number in the input, from 0, if the data has no ids.
pub fn document_id(data: &Dataset, row: usize) -> String {
    match data.doc_ids() {
        Some(ids) => ids.get(row).to_owned(),
        None => data.source_row(row).to_string(),
    }
}
