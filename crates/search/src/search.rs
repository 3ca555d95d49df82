//! Searches with one query, and returns documents to show: ids, scores, titles, snippets.

use std::time::Instant;

use serde::{Serialize, Serializer};

use crate::document::{Document, Query, Value};
use crate::error::SearchError;
use crate::facet::Facet;
use crate::filter::Filter;
use crate::index::Index;
use crate::query_syntax::{
    PreparedQuery, QuerySyntax, boolean_word, first_operator, unread_condition,
};
use crate::ranker::{Ranker, Ranking};
use crate::retrieve::SearchBuffers;
use crate::schema::FieldKind;
use crate::snippet::Snippet;
use crate::terms::Terms;
use crate::warning::{SearchWarning, filter_warnings};

/// A query, and options of its result.
///
/// ```
/// use rankwright_search::SearchRequest;
///
/// let request = SearchRequest::new("red shoe").top(3).query_field("language", "en");
/// assert_eq!(request.query.text, "red shoe");
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SearchRequest<'a> {
    /// The query.
    pub query: Query,
    /// Number of documents to show.
    pub top: usize,
    /// A filter on documents.
    pub filter: Option<&'a Filter>,
    /// Whether hits include their feature values.
    pub features: bool,
    /// Largest number of characters of a title; a longer title is cut and ends in three dots.
    pub title_letters: usize,
    /// Largest number of characters of a snippet.
    pub snippet_letters: usize,
    /// Fields whose values are counted among all matching documents.
    pub facets: Vec<String>,
    /// Largest number of values of a facet.
    pub facet_values: usize,
}

impl<'a> SearchRequest<'a> {
    /// A request for the ten best documents of a query.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            query: Query::new("1", text),
            top: 10,
            filter: None,
            features: false,
            title_letters: 60,
            snippet_letters: 110,
            facets: Vec::new(),
            facet_values: 10,
        }
    }

    /// Sets the number of documents to show.
    #[must_use]
    pub fn top(mut self, top: usize) -> Self {
        self.top = top;
        self
    }

    /// Adds a further value of the query, such as a language.
    #[must_use]
    pub fn query_field(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.query.fields.push((name.into(), value.into()));
        self
    }

    /// Restricts the result to documents that pass a filter.
    #[must_use]
    pub fn filter(mut self, filter: Option<&'a Filter>) -> Self {
        self.filter = filter;
        self
    }

    /// Sets whether hits include their feature values.
    #[must_use]
    pub fn features(mut self, features: bool) -> Self {
        self.features = features;
        self
    }

    /// Adds a field whose values are counted among all matching documents.
    #[must_use]
    pub fn facet(mut self, field: impl Into<String>) -> Self {
        self.facets.push(field.into());
        self
    }

    /// Sets the largest number of values of a facet.
    #[must_use]
    pub fn facet_values(mut self, max_values: usize) -> Self {
        self.facet_values = max_values;
        self
    }
}

/// The best documents of a query.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SearchResult {
    /// The text of the query.
    pub query: String,
    /// Number of documents that were ranked, of which `documents` has the best.
    pub found: usize,
    /// Number of documents that have a term of the query and pass the filter; `None` if the request
    /// has no facets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matching: Option<usize>,
    /// Seconds that ranking and counting the facets took.
    pub seconds: f64,
    /// The best documents in order.
    pub documents: Vec<Hit>,
    /// The values of the requested fields among all matching documents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facets: Vec<Facet>,
    /// The query with words that seem misspelt replaced by words of the index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// Recoverable problems.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<SearchWarning>,
}

/// A document of a search result.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Hit {
    /// The rank, from 1.
    pub rank: u32,
    /// The id of the document.
    pub id: String,
    /// The score.
    pub score: f64,
    /// The rank in the first stage, from 1.
    pub first_rank: u32,
    /// The score in the first stage.
    pub first_score: f64,
    /// The title, or the beginning of another text, on one line.
    pub title: String,
    /// An extract of the document's text with the words of the query.
    #[serde(flatten)]
    pub snippet: Snippet,
    /// Feature values by name, if requested and a model ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub features: Option<FeatureValues>,
}

/// Values of features by name, in the order of the model; serialised as a map.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureValues(pub Vec<(String, f32)>);

impl Serialize for FeatureValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl Ranker {
    /// The `top` best documents of a query.
    pub fn rank(&self, query: &str, top: usize) -> Result<Vec<Hit>, SearchError> {
        Ok(self.search(&SearchRequest::new(query).top(top))?.documents)
    }

    /// Ranks documents for the query of a request, and describes the best of them.
    pub fn search(&self, request: &SearchRequest<'_>) -> Result<SearchResult, SearchError> {
        for field in &request.facets {
            self.index().facet_kind(field)?;
        }
        let start = Instant::now();
        let mut buffers = SearchBuffers::default();
        let ranking = self.rank_query(&request.query, request.filter, &mut buffers)?;
        let (matching, facets) = self.facets(request, &mut buffers)?;
        let seconds = start.elapsed().as_secs_f64();
        let found = ranking.documents.len();
        let shown = found.min(request.top);
        let hits = (0..shown).map(|position| self.hit(request, &ranking, position));
        Ok(SearchResult {
            query: request.query.text.clone(),
            found,
            matching,
            seconds,
            documents: hits.collect::<Result<_, _>>()?,
            facets,
            suggestion: self.index().suggest(&request.query.text, &ranking.terms, found)?,
            warnings: self.warnings_of(request, &ranking),
        })
    }

    /// The number of matching documents, and the facets of the requested fields; `None` and no
    /// facets if no field is requested.
    fn facets(
        &self,
        request: &SearchRequest<'_>,
        buffers: &mut SearchBuffers,
    ) -> Result<(Option<usize>, Vec<Facet>), SearchError> {
        if request.facets.is_empty() {
            return Ok((None, Vec::new()));
        }
        let (index, filter) = (self.index(), request.filter);
        let prepared = PreparedQuery::new(index, &request.query, self.syntax(), filter)?;
        let terms = Terms::new(&prepared.query.text, index.analysis());
        let filter = prepared.filter.as_ref().or(filter);
        let documents = index.retrieve_all(&terms, self.stage(), filter, buffers)?;
        let facets = request.facets.iter();
        let facets = facets.map(|field| index.facet(field, &documents, request.facet_values));
        Ok((Some(documents.len()), facets.collect::<Result<_, _>>()?))
    }

    /// The warnings of the ranker, of the query, of an empty result and of the filter.
    fn warnings_of(&self, request: &SearchRequest<'_>, ranking: &Ranking) -> Vec<SearchWarning> {
        let mut warnings = self.warnings().to_vec();
        let fields = self.missing_fields(&request.query);
        if !fields.is_empty() {
            warnings.push(SearchWarning::MissingQueryFields { fields });
        }
        if !ranking.ignored.is_empty() {
            let parts = ranking.ignored.clone();
            warnings.push(SearchWarning::IgnoredParts { parts });
        }
        if let Some(found) = boolean_word(&request.query.text) {
            warnings.push(SearchWarning::BooleanWord { word: found.word, simple: found.simple });
        } else if self.syntax() == QuerySyntax::Plain
            && let Some(part) = first_operator(&request.query.text, self.index())
        {
            warnings.push(SearchWarning::PlainOperators { part });
        }
        if self.syntax() == QuerySyntax::Simple
            && let Some(condition) = unread_condition(&request.query.text, self.index())
        {
            warnings.push(SearchWarning::UnreadCondition { condition });
        }
        warnings.extend(empty_result_warnings(ranking, request.filter));
        warnings.extend(filter_warnings(request.filter));
        let hints = ranking.hints.iter().cloned();
        warnings.extend(hints.map(|hint| SearchWarning::FilterHint { hint }));
        warnings
    }

    /// The document at a position of the ranking, from 0.
    fn hit(
        &self,
        request: &SearchRequest<'_>,
        ranking: &Ranking,
        position: usize,
    ) -> Result<Hit, SearchError> {
        let (index, candidate) = (self.index(), &ranking.documents[position]);
        let document = index.stored_document(index.doc_of(candidate)?)?;
        let values = ranking.features.row(position).iter().copied();
        let features = self.features().iter().cloned().zip(values).collect();
        Ok(Hit {
            rank: position as u32 + 1,
            score: candidate.score,
            first_rank: ranking.first_ranks[position],
            first_score: ranking.first_scores[position],
            title: title(index, &document, request.title_letters),
            snippet: index.snippet_of(&document, &ranking.terms, request.snippet_letters)?,
            features: (request.features && self.has_model()).then_some(FeatureValues(features)),
            id: document.id,
        })
    }
}

/// The reasons why a query found no document; none if it found one.
fn empty_result_warnings(ranking: &Ranking, filter: Option<&Filter>) -> Vec<SearchWarning> {
    let outcome = ranking.outcome();
    if !outcome.is_empty {
        return Vec::new();
    }
    let nothing_passes = filter.is_some_and(|filter| filter.documents() == 0);
    let mut warnings = Vec::new();
    warnings.extend(nothing_passes.then_some(SearchWarning::NothingPasses));
    match outcome.matching {
        _ if !outcome.has_terms => warnings.push(SearchWarning::NoTerms),
        0 => warnings.push(SearchWarning::NothingMatches),
        _ if nothing_passes => {}
        documents if outcome.has_conditions => warnings.push(match filter {
            Some(_) => SearchWarning::NothingFitsAndPasses { documents },
            None => SearchWarning::NothingFits { documents },
        }),
        documents => warnings.push(SearchWarning::MatchesFiltered { documents }),
    }
    warnings
}

/// The title of a document, or its first text if it has none, on one line of at most
/// `max_characters` (and three dots if it is cut).
fn title(index: &Index, document: &Document, max_characters: usize) -> String {
    let text_of = |name: &str| document.text(name).filter(|text| !text.trim().is_empty());
    let first = || index.schema().of_kind(FieldKind::Text).find_map(text_of);
    let title = text_of("title").or_else(first).unwrap_or_default();
    let line: String = title.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(max_characters) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}
