//! Search: the best documents of one query, by a first stage alone or re-ranked by a model.

use rankwright_search::{Query, SearchRequest, SearchResult, SearchWarning, Value};
use serde::{Deserialize, Serialize};

use super::context::RunningTask;
use super::paths::check_used;
use super::request_json;
use super::{CandidateOptions, Context, IndexSource, ModelSource, TaskError, Warning};

/// An index and a query.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SearchIndexRequest {
    /// The index.
    pub index: IndexSource,
    /// The query: its text, and further values such as a language.
    #[serde(with = "request_json::query")]
    pub query: Query,
    /// A model that re-ranks the candidates.
    pub model: Option<ModelSource>,
    /// The candidates.
    #[serde(default)]
    pub candidates: CandidateOptions,
    /// Number of documents to return.
    #[serde(default = "default_top")]
    pub top: usize,
    /// Whether to return the feature values of the documents; a search without a model has none.
    #[serde(default)]
    pub features: bool,
    /// Fields whose values are counted among all matching documents.
    #[serde(default)]
    pub facets: Vec<String>,
    /// Largest number of values of a facet.
    #[serde(default = "default_facet_values")]
    pub facet_values: usize,
}

/// Number of documents of a request that gives none.
fn default_top() -> usize {
    SearchIndexRequest::DEFAULT_TOP
}

/// Largest number of values of a facet of a request that gives none.
fn default_facet_values() -> usize {
    SearchIndexRequest::DEFAULT_FACET_VALUES
}

impl SearchIndexRequest {
    /// Number of documents to return if none is given.
    pub const DEFAULT_TOP: usize = 10;
    /// Largest number of values of a facet if none is given.
    pub const DEFAULT_FACET_VALUES: usize = 10;

    /// The ten best documents for a text, by the first stage alone.
    pub fn new(index: impl Into<IndexSource>, text: impl Into<String>) -> Self {
        SearchIndexRequest {
            index: index.into(),
            query: Query::new(request_json::query::default_id(), text),
            model: None,
            candidates: CandidateOptions::new(),
            top: default_top(),
            features: false,
            facets: Vec::new(),
            facet_values: default_facet_values(),
        }
    }

    /// Adds a value of the query, such as a language.
    pub fn query_field(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.query = self.query.with(name, value);
        self
    }

    /// Re-ranks the candidates with a model.
    pub fn model(mut self, model: impl Into<ModelSource>) -> Self {
        self.model = Some(model.into());
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

/// The best documents of a query, with all warnings.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SearchIndexResult {
    /// The documents, the facets and the suggestion; its warnings are those below.
    #[serde(flatten)]
    pub result: SearchResult,
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
        (self.result.found == 0).then(|| reason.unwrap_or(SearchWarning::NothingMatches))
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
    let index = request.index.open(&task)?;
    let filter = request.candidates.make_filter(&index)?;
    let model = request.model.as_ref().map(ModelSource::load).transpose()?;
    let ranker = request.candidates.make_ranker(index, model.as_deref(), &task)?;
    let mut search = SearchRequest::new(request.query.text.as_str())
        .top(request.top)
        .features(request.features)
        .filter(filter.as_ref());
    search.query = request.query.clone();
    search.facets = request.facets.clone();
    search.facet_values = request.facet_values;
    let (mut result, _) = task.step("searching", || ranker.search(&search))?;
    let warnings = std::mem::take(&mut result.warnings);
    // The reason for an empty result is a part of the result, so the callback does not get it.
    let reason = warnings.iter().position(SearchWarning::explains_empty_result);
    for (place, warning) in warnings.into_iter().enumerate() {
        match Some(place) == reason {
            true => task.keep_silently(Warning::Search(warning)),
            false => task.warn(Warning::Search(warning)),
        }
    }
    Ok(SearchIndexResult { result, warnings: task.into_warnings() })
}
