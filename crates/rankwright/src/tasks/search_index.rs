//! Search: the best documents of one query, by a first stage alone or re-ranked by a model.

use std::path::PathBuf;

use rankwright_search::{Facet, Hit, Query, SearchRequest, SearchResult, SearchWarning, Value};
use serde::Serialize;

use super::candidates::open_index;
use super::context::RunningTask;
use super::paths::check_used;
use super::{CandidateOptions, Context, TaskError, Warning, load_model};

/// An index and a query.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SearchIndexRequest {
    /// Folder of the index.
    pub index: PathBuf,
    /// The query: its text, and further values such as a language.
    pub query: Query,
    /// File of a model that re-ranks the candidates.
    pub model: Option<PathBuf>,
    /// The candidates.
    pub candidates: CandidateOptions,
    /// Number of documents to return.
    pub top: usize,
    /// Whether to return the feature values of the documents; a search without a model has none.
    pub features: bool,
    /// Fields whose values are counted among all matching documents.
    pub facets: Vec<String>,
    /// Largest number of values of a facet.
    pub facet_values: usize,
}

impl SearchIndexRequest {
    /// Number of documents to return if none is given.
    pub const DEFAULT_TOP: usize = 10;
    /// Largest number of values of a facet if none is given.
    pub const DEFAULT_FACET_VALUES: usize = 10;

    /// The ten best documents for a text, by the first stage alone.
    pub fn new(index: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        SearchIndexRequest {
            index: index.into(),
            query: Query::new("1", text),
            model: None,
            candidates: CandidateOptions::new(),
            top: Self::DEFAULT_TOP,
            features: false,
            facets: Vec::new(),
            facet_values: Self::DEFAULT_FACET_VALUES,
        }
    }

    /// Adds a value of the query, such as a language.
    pub fn query_field(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.query = self.query.with(name, value);
        self
    }

    /// Re-ranks the candidates with a model.
    pub fn model(mut self, file: impl Into<PathBuf>) -> Self {
        self.model = Some(file.into());
        self
    }

    /// Sets first stage, filter and number of candidates.
    pub fn candidates(mut self, candidates: CandidateOptions) -> Self {
        self.candidates = candidates;
        self
    }

    /// Sets the number of documents to return.
    pub fn top(mut self, top: usize) -> Self {
        self.top = top;
        self
    }

    /// Sets whether to return the feature values of the documents.
    pub fn features(mut self, features: bool) -> Self {
        self.features = features;
        self
    }

    /// Adds a field whose values are counted among all matching documents.
    pub fn facet(mut self, field: impl Into<String>) -> Self {
        self.facets.push(field.into());
        self
    }

    /// Sets the largest number of values of a facet.
    pub fn facet_values(mut self, count: usize) -> Self {
        self.facet_values = count;
        self
    }
}

/// The best documents of a query.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SearchIndexResult {
    /// Text of the query.
    pub query: String,
    /// Number of candidates that were found.
    pub found: usize,
    /// Number of documents that have a term of the query and pass the filter; counted where there
    /// are facets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matching: Option<usize>,
    /// Seconds of the search, without the time to open the index.
    pub seconds: f64,
    /// The best documents, in order.
    pub documents: Vec<Hit>,
    /// The values of the requested fields among all matching documents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facets: Vec<Facet>,
    /// The query with words that seem misspelt replaced by words of the index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// Warnings about the query, the filter and the model.
    pub warnings: Vec<Warning>,
}

impl SearchIndexResult {
    /// The reason why no document was found; `None` if there are documents.
    pub fn reason_for_empty_result(&self) -> Option<SearchWarning> {
        let reason = self.warnings.iter().find_map(|warning| match warning {
            Warning::Search(warning) if warning.explains_empty_result() => Some(warning.clone()),
            _ => None,
        });
        // Without a warning that explains it, no document has a word of the query.
        (self.found == 0).then(|| reason.unwrap_or(SearchWarning::NothingMatches))
    }
}

/// Searches an index. The reason for an empty result is among the warnings of the result
/// ([`SearchIndexResult::reason_for_empty_result`]) and does not go to the callback of the context.
pub fn search_index(
    request: &SearchIndexRequest,
    context: &Context<'_>,
) -> Result<SearchIndexResult, TaskError> {
    let has_values = request.facet_values != SearchIndexRequest::DEFAULT_FACET_VALUES;
    let is_unused = has_values && request.facets.is_empty();
    check_used(is_unused, "facet_values", "there are no facets")?;
    let is_unused = request.features && request.model.is_none();
    check_used(is_unused, "features", "a search without a model has none")?;
    let mut task = RunningTask::new(context);
    let index = open_index(&request.index, &task)?;
    let filter = request.candidates.make_filter(&index)?;
    let model = request.model.as_deref().map(load_model).transpose()?;
    let ranker = request.candidates.make_ranker(index, model.as_ref(), &task)?;
    let mut search = SearchRequest::new(request.query.text.as_str())
        .top(request.top)
        .features(request.features)
        .filter(filter.as_ref());
    search.query = request.query.clone();
    search.facets = request.facets.clone();
    search.facet_values = request.facet_values;
    let (result, _) = task.step("searching", || ranker.search(&search))?;
    let SearchResult {
        query,
        found,
        matching,
        seconds,
        documents,
        facets,
        suggestion,
        warnings,
        ..
    } = result;
    // The reason for an empty result is a part of the result, so the callback does not get it.
    let reason = warnings.iter().position(SearchWarning::explains_empty_result);
    for (place, warning) in warnings.into_iter().enumerate() {
        match Some(place) == reason {
            true => task.keep_silently(Warning::Search(warning)),
            false => task.warn(Warning::Search(warning)),
        }
    }
    let warnings = task.into_warnings();
    Ok(SearchIndexResult {
        query,
        found,
        matching,
        seconds,
        documents,
        facets,
        suggestion,
        warnings,
    })
}
