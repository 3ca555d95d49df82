//! Which documents a ranking may hold: a query in tantivy's language over fields.
//!
//! `genre:rock AND year:>=1990`, `-language:en`, `title:"blue train"`. Words without a field are looked
//! for in all text fields. Scores do not depend on it.

use tantivy::collector::DocSetCollector;
use tantivy::query::QueryParser;

use crate::error::SearchError;
use crate::index::Index;

/// The documents that pass.
#[derive(Debug, Clone)]
pub struct Filter {
    passes: Vec<bool>,
    documents: usize,
}

impl Filter {
    /// Finds the documents that pass.
    pub fn new(index: &Index, text: &str) -> Result<Filter, SearchError> {
        let parser = QueryParser::for_index(index.tantivy(), index.tantivy_fields());
        let query = parser.parse_query(text).map_err(|error| {
            SearchError::request(
                format!("filter `{text}`: {error}"),
                format!("write like genre:rock AND year:>=1990; the fields are {}", index.schema()),
            )
        })?;
        index.guard(|| {
            let found = index.searcher().search(&query, &DocSetCollector);
            let found = found.map_err(|error| SearchError::tantivy(index.path(), &error))?;
            let mut passes = vec![false; index.slots()];
            for address in &found {
                if let Some(pass) = passes.get_mut(index.number(*address) as usize) {
                    *pass = true;
                }
            }
            Ok(Filter { passes, documents: found.len() })
        })
    }

    /// How many documents pass.
    pub fn documents(&self) -> usize {
        self.documents
    }

    /// Whether one does.
    pub(super) fn passes(&self, doc: u32) -> bool {
        self.passes.get(doc as usize).copied().unwrap_or(false)
    }
}
