//! Training data from an index: one row of features for each candidate of each query, labelled by
//! judgements.
//!
//! Candidates come from the first stage, so that a model is trained on the documents that it
//! will re-rank; judged documents that the first stage did not find can be added. Candidates
//! without a judgement have label 0, and so have those judged below 0. Queries that find no
//! document have no rows. There are warnings, with counts, for queries without judgements,
//! judgements of unknown queries and of unknown documents, judgements below 0, relevant documents
//! that are not among the candidates, and queries without rows.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use rankwright_data::{Dataset, Qrels};
use rayon::prelude::*;
use serde::Serialize;

use crate::document::Query;
use crate::error::SearchError;
use crate::features::{DEFAULT_CANDIDATES, Extractor, FeatureRows, FeatureSet};
use crate::filter::Filter;
use crate::index::Index;
use crate::query_syntax::{PreparedQuery, QuerySyntax};
use crate::retrieve::{Candidate, FirstStage, SearchBuffers};
use crate::terms::Terms;
use crate::warning::{
    CountedIds, QueryOutcome, SearchWarning, empty_query_warnings, filter_warnings,
};

/// Options that decide which documents become rows.
///
/// ```
/// use rankwright_search::{FirstStage, RowOptions};
///
/// let stage = FirstStage::parse("dirichlet(mu=500)")?;
/// let options = RowOptions::new().first_stage(stage).candidates(200).judged(true);
/// assert_eq!(options.candidates, Some(200));
/// # Ok::<(), rankwright_search::SearchError>(())
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RowOptions<'a> {
    /// The first stage that finds candidates; `None` means the first stage of the feature set, or
    /// BM25 if the feature set has none.
    pub stage: Option<FirstStage>,
    /// Largest number of candidates of a query; `None` means the number of the feature set, or
    /// [`DEFAULT_CANDIDATES`] if the feature set has none.
    pub candidates: Option<usize>,
    /// Whether to add judged documents that are not among the candidates.
    pub judged: bool,
    /// A filter on documents.
    pub filter: Option<&'a Filter>,
    /// The syntax of the queries.
    pub syntax: QuerySyntax,
}

impl<'a> RowOptions<'a> {
    /// Default options: first stage and number of candidates of the feature set, no filter.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the first stage that finds candidates.
    #[must_use]
    pub fn first_stage(mut self, stage: impl Into<Option<FirstStage>>) -> Self {
        self.stage = stage.into();
        self
    }

    /// Sets the largest number of candidates of a query.
    #[must_use]
    pub fn candidates(mut self, candidates: impl Into<Option<usize>>) -> Self {
        self.candidates = candidates.into();
        self
    }

    /// Sets whether judged documents that are not among the candidates become rows too.
    #[must_use]
    pub fn judged(mut self, judged: bool) -> Self {
        self.judged = judged;
        self
    }

    /// Restricts rows to documents that pass a filter.
    #[must_use]
    pub fn filter(mut self, filter: Option<&'a Filter>) -> Self {
        self.filter = filter;
        self
    }

    /// Sets the syntax of the queries; plain words by default.
    #[must_use]
    pub fn syntax(mut self, syntax: QuerySyntax) -> Self {
        self.syntax = syntax;
        self
    }
}

/// Rows of features for queries, with counts and times.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct TrainingData {
    /// The rows.
    #[serde(skip)]
    pub data: Dataset,
    /// The features, one per column, with first stage and number of candidates.
    #[serde(skip)]
    pub set: FeatureSet,
    /// Number of queries with rows.
    pub queries: usize,
    /// Number of rows.
    pub rows: usize,
    /// Number of features.
    pub features: usize,
    /// Seconds of each step.
    pub seconds: FeatureSeconds,
    /// Recoverable problems.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<SearchWarning>,
}

/// Seconds of the steps of feature computation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FeatureSeconds {
    /// Preparing the features: reading columns, training classifiers, computing PageRank.
    pub prepare: f64,
    /// Finding candidates and computing their features.
    pub features: f64,
}

/// Computes training data: the features of the candidates of queries. If `qrels` is given, queries
/// without a judgement are left out; otherwise all labels are 0.
pub fn training_data(
    index: impl Into<Arc<Index>>,
    mut queries: Vec<Query>,
    qrels: Option<&Qrels>,
    set: &FeatureSet,
    options: &RowOptions<'_>,
) -> Result<TrainingData, SearchError> {
    let mut warnings = Vec::new();
    if let Some(qrels) = qrels {
        warnings.extend(unknown_queries(&queries, qrels));
        warnings.extend(keep_judged(&mut queries, qrels)?);
    }
    let start = Instant::now();
    let extractor = Extractor::new(index, set)?;
    let prepare = start.elapsed().as_secs_f64();
    let rows = extractor.all_rows(&queries, qrels, options)?;
    if let Some(qrels) = qrels {
        warnings.extend(unknown_documents(extractor.index(), &queries, qrels)?);
    }
    warnings.extend(negative_judgements(&rows));
    warnings.extend(relevant_without_row(&queries, &rows));
    let outcomes = queries.iter().map(|query| query.id.as_str());
    let outcomes = outcomes.zip(rows.iter().map(|rows| rows.outcome));
    warnings.extend(empty_query_warnings(outcomes, options.filter));
    warnings.extend(filter_warnings(options.filter));
    let data = extractor.join_rows(&queries, rows, options)?;
    Ok(TrainingData {
        queries: data.queries(),
        rows: data.rows(),
        features: data.columns(),
        set: extractor.set_of_rows(&queries, options)?,
        data,
        seconds: FeatureSeconds { prepare, features: start.elapsed().as_secs_f64() - prepare },
        warnings,
    })
}

/// Keeps the queries that have judgements; returns a warning about the others. An error if no query
/// has a judgement.
fn keep_judged(
    queries: &mut Vec<Query>,
    qrels: &Qrels,
) -> Result<Option<SearchWarning>, SearchError> {
    let (given, mut left_out) = (queries.len(), CountedIds::default());
    queries.retain(|query| {
        let is_judged = qrels.lists().find(&query.id).is_some();
        if !is_judged {
            left_out.add(&query.id);
        }
        is_judged
    });
    match queries.is_empty() {
        false => {
            Ok((left_out.number > 0)
                .then_some(SearchWarning::WithoutJudgements { queries: left_out }))
        }
        true => Err(SearchError::NoJudgedQueries {
            queries: given,
            judgements: qrels.lists().name().to_owned(),
        }),
    }
}

/// A warning about judgements of queries that are not given.
fn unknown_queries(queries: &[Query], qrels: &Qrels) -> Option<SearchWarning> {
    let known: HashSet<&str> = queries.iter().map(|query| query.id.as_str()).collect();
    let lists = qrels.lists();
    let judged = (0..lists.queries()).map(|number| lists.query_id(number));
    let queries: CountedIds = judged.filter(|id| !known.contains(id)).collect();
    (queries.number > 0).then_some(SearchWarning::UnknownQueries { queries })
}

/// A warning about judgements of documents that the index does not have.
fn unknown_documents(
    index: &Index,
    queries: &[Query],
    qrels: &Qrels,
) -> Result<Option<SearchWarning>, SearchError> {
    let (mut seen, mut documents) = (HashSet::new(), CountedIds::default());
    for query in queries {
        for (id, _) in judgements(Some(qrels), query) {
            let id = String::from_utf8_lossy(&id).into_owned();
            if index.candidate(&id)?.is_none() && !seen.contains(&id) {
                documents.add(&id);
                seen.insert(id);
            }
        }
    }
    Ok((documents.number > 0).then_some(SearchWarning::UnknownDocuments { documents }))
}

/// A warning about rows with a judgement below 0.
fn negative_judgements(rows: &[QueryRows]) -> Option<SearchWarning> {
    let judgements = rows.iter().map(|rows| rows.negative_judgements).sum();
    (judgements > 0).then_some(SearchWarning::NegativeJudgements { judgements })
}

/// A warning about relevant documents that are not among the candidates of their query.
fn relevant_without_row(queries: &[Query], rows: &[QueryRows]) -> Option<SearchWarning> {
    let documents = rows.iter().map(|rows| rows.relevant_left_out).sum();
    let concerned = queries.iter().zip(rows).filter(|(_, rows)| rows.relevant_left_out > 0);
    let queries: CountedIds = concerned.map(|(query, _)| &query.id).collect();
    (documents > 0).then_some(SearchWarning::RelevantLeftOut { documents, queries })
}

/// [`RowOptions`] with defaults filled in.
struct ResolvedRowOptions<'a> {
    stage: FirstStage,
    candidates: usize,
    judged: bool,
    filter: Option<&'a Filter>,
    syntax: QuerySyntax,
}

impl<'a> ResolvedRowOptions<'a> {
    /// Takes missing options from the feature set.
    fn new(set: &FeatureSet, options: &RowOptions<'a>) -> Result<Self, SearchError> {
        let stage = match &options.stage {
            Some(stage) => stage.clone(),
            None => set.stage()?.unwrap_or_default(),
        };
        let candidates = options.candidates.or(set.candidates).unwrap_or(DEFAULT_CANDIDATES);
        match candidates {
            0 => Err(SearchError::ZeroCandidates),
            _ => {
                let RowOptions { judged, filter, syntax, .. } = *options;
                Ok(Self { stage, candidates, judged, filter, syntax })
            }
        }
    }
}

/// The rows of one query.
struct QueryRows {
    /// The id of the document of each row.
    ids: Vec<String>,
    labels: Vec<f64>,
    /// The feature values of each row.
    features: FeatureRows,
    outcome: QueryOutcome,
    /// Number of rows with a judgement below 0.
    negative_judgements: usize,
    /// Number of documents of the index with a judgement above 0 that pass the filter and have no
    /// row.
    relevant_left_out: usize,
}

/// Judgements of a query by document id, ascending.
type Judgements = Vec<(Vec<u8>, f64)>;

impl Extractor {
    /// The rows of many queries as one data set; all labels are 0 if `qrels` is `None`.
    pub fn dataset(
        &self,
        queries: &[Query],
        qrels: Option<&Qrels>,
        options: &RowOptions<'_>,
    ) -> Result<Dataset, SearchError> {
        self.join_rows(queries, self.all_rows(queries, qrels, options)?, options)
    }

    /// The rows of each query, computed on all threads.
    fn all_rows(
        &self,
        queries: &[Query],
        qrels: Option<&Qrels>,
        options: &RowOptions<'_>,
    ) -> Result<Vec<QueryRows>, SearchError> {
        let options = ResolvedRowOptions::new(self.set(), options)?;
        let rows_of_query = |buffers: &mut SearchBuffers, query: &Query| {
            self.query_rows(query, &judgements(qrels, query), &options, buffers)
        };
        queries.par_iter().map_init(SearchBuffers::default, rows_of_query).collect()
    }

    /// The feature set, with the first stage and the number of candidates that these options give.
    pub fn set_with(&self, options: &RowOptions<'_>) -> Result<FeatureSet, SearchError> {
        let options = ResolvedRowOptions::new(self.set(), options)?;
        let ResolvedRowOptions { stage, candidates, .. } = options;
        let first_stage = Some(stage.to_string());
        Ok(FeatureSet { first_stage, candidates: Some(candidates), ..self.set().clone() })
    }

    /// The feature set of the rows of these queries: with the query fields that features read and
    /// at least one query has.
    fn set_of_rows(
        &self,
        queries: &[Query],
        options: &RowOptions<'_>,
    ) -> Result<FeatureSet, SearchError> {
        let mut query_fields = self.query_fields();
        query_fields.retain(|field| {
            queries.iter().any(|query| query.fields.iter().any(|(name, _)| name == field))
        });
        Ok(FeatureSet { query_fields, ..self.set_with(options)? })
    }

    /// Finds the candidates of a query, and computes their features and labels.
    fn query_rows(
        &self,
        query: &Query,
        judgements: &Judgements,
        options: &ResolvedRowOptions<'_>,
        buffers: &mut SearchBuffers,
    ) -> Result<QueryRows, SearchError> {
        let index = self.index();
        let ResolvedRowOptions { stage, candidates, judged, filter, syntax } = options;
        let prepared = PreparedQuery::new(index, query, *syntax, *filter)?;
        let query = &prepared.query;
        let filter = &prepared.filter.as_ref().or(*filter);
        let has_conditions = prepared.filter.is_some();
        let terms = Terms::new(&query.text, index.analysis());
        let mut found = index.retrieve(&terms, stage, *candidates, *filter, buffers)?;
        let matching = buffers.matching();
        if *judged {
            add_judged(index, &mut found, judgements, *filter)?;
        }
        let (has_terms, is_empty) = (!terms.is_empty(), found.is_empty());
        let outcome = QueryOutcome { has_terms, matching, is_empty, has_conditions };
        let features = self.rows(query, &terms, &found)?;
        let ids = found.iter().map(|ranked| Ok(index.id(ranked)?.to_owned()));
        let ids: Vec<String> = ids.collect::<Result<_, SearchError>>()?;
        let label = |id: &String| {
            let at = judgements.binary_search_by(|(known, _)| known.as_slice().cmp(id.as_bytes()));
            at.ok().and_then(|at| judgements.get(at)).map_or(0.0, |(_, label)| *label)
        };
        let mut labels: Vec<f64> = ids.iter().map(label).collect();
        let negative_judgements = labels.iter().filter(|label| **label < 0.0).count();
        labels.iter_mut().for_each(|label| *label = label.max(0.0));
        let relevant_left_out = count_relevant_left_out(index, &found, judgements, *filter)?;
        Ok(QueryRows { labels, ids, features, outcome, negative_judgements, relevant_left_out })
    }

    /// Joins the rows of all queries into one data set.
    fn join_rows(
        &self,
        queries: &[Query],
        rows_by_query: Vec<QueryRows>,
        options: &RowOptions<'_>,
    ) -> Result<Dataset, SearchError> {
        let set = self.set_of_rows(queries, options)?;
        let has_matches = rows_by_query.iter().any(|rows| rows.outcome.matching > 0);
        let (mut query_ids, mut doc_ids) = (Vec::new(), Vec::new());
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        for (query, rows) in queries.iter().zip(rows_by_query) {
            query_ids.extend(rows.ids.iter().map(|_| query.id.as_str()));
            doc_ids.extend(rows.ids);
            labels.extend(rows.labels);
            values.extend(rows.features.values);
        }
        if labels.is_empty() {
            // Documents that match but give no row did not pass the filter.
            return Err(match has_matches {
                true => {
                    let hints = options.filter.map_or(&[][..], Filter::hints);
                    SearchError::NoRowsPass { hints: hints.to_vec() }
                }
                false => SearchError::NoRows,
            });
        }
        let data = Dataset::builder()
            .dense(values, set.features.len())
            .feature_names(&set.features)
            .labels(labels)
            .query_ids(query_ids)
            .doc_ids(doc_ids)
            .feature_set(set.to_toml())
            .build()?;
        Ok(data)
    }
}

/// The judgements of a query; none if it was not judged.
fn judgements(qrels: Option<&Qrels>, query: &Query) -> Judgements {
    let Some(lists) = qrels.map(Qrels::lists) else { return Vec::new() };
    let Some(number) = lists.find(&query.id) else { return Vec::new() };
    let documents = lists.list(number).map(|document| (document.id.to_vec(), document.value));
    let mut judgements: Judgements = documents.collect();
    judgements.sort_by(|a, b| a.0.cmp(&b.0));
    judgements
}

/// The number of documents of the index with a judgement above 0 that pass the filter and are not
/// among those found.
fn count_relevant_left_out(
    index: &Index,
    found: &[Candidate],
    judgements: &Judgements,
    filter: Option<&Filter>,
) -> Result<usize, SearchError> {
    let found: HashSet<u32> = found.iter().map(|candidate| candidate.doc).collect();
    let mut left_out = 0;
    for (id, _) in judgements.iter().filter(|(_, label)| *label > 0.0) {
        let judged = index.candidate(&String::from_utf8_lossy(id))?;
        let is_left_out = |judged: &Candidate| {
            filter.is_none_or(|filter| filter.passes(judged.doc)) && !found.contains(&judged.doc)
        };
        left_out += usize::from(judged.as_ref().is_some_and(is_left_out));
    }
    Ok(left_out)
}

/// Adds the judged documents that pass the filter and were not found.
fn add_judged(
    index: &Index,
    found: &mut Vec<Candidate>,
    judgements: &Judgements,
    filter: Option<&Filter>,
) -> Result<(), SearchError> {
    for (id, _) in judgements {
        let judged = index.candidate(&String::from_utf8_lossy(id))?;
        let is_new = |judged: &Candidate| {
            filter.is_none_or(|filter| filter.passes(judged.doc))
                && !found.iter().any(|known| known.is_same(judged))
        };
        if let Some(judged) = judged.filter(is_new) {
            found.push(judged);
        }
    }
    Ok(())
}
