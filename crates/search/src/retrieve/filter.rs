//! Filters: the documents that a ranking may contain, given by a query in tantivy's query language.
//!
//! `genre:rock AND year:>=1990`, `-language:en`, `title:"blue train"`. Words without a field are
//! searched in all text fields. Scores do not depend on the filter.

use tantivy::collector::DocSetCollector;
use tantivy::query::QueryParser;

use crate::error::SearchError;
use crate::index::{Index, IndexId};

/// The documents of an index that pass a condition; other indexes reject it.
#[derive(Debug, Clone)]
pub struct Filter {
    passes: Vec<bool>,
    documents: usize,
    index: IndexId,
}

impl Filter {
    /// Finds the documents that pass a condition.
    pub fn new(index: &Index, text: &str) -> Result<Filter, SearchError> {
        let parser = QueryParser::for_index(index.tantivy(), index.tantivy_fields());
        let query = parser.parse_query(text).map_err(|error| SearchError::BadFilter {
            filter: text.to_owned(),
            why: error.to_string(),
            fields: index.schema().to_string(),
        })?;
        index.catch_damage(|| {
            let found = index.searcher().search(&query, &DocSetCollector);
            let found = found.map_err(|error| index.failed(&error))?;
            let mut passes = vec![false; index.max_doc()];
            for address in &found {
                passes[index.number(*address) as usize] = true;
            }
            Ok(Filter { passes, documents: found.len(), index: index.index_id() })
        })
    }

    /// Number of documents that pass.
    pub fn documents(&self) -> usize {
        self.documents
    }

    /// The index that it was made for.
    pub(super) fn index(&self) -> IndexId {
        self.index
    }

    /// Whether a document of its index passes.
    pub(super) fn passes(&self, doc: u32) -> bool {
        self.passes[doc as usize]
    }
}
