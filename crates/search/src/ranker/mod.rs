//! The ranker: candidates from a first stage, their features, a model's scores, and the final
//! order.
//!
//! The names of a model's features are the specs of the features to compute; the feature set of the
//! model records the analysis, first stage and number of candidates of its training. Features that
//! this index does not know or cannot compute, or that were computed with another analysis, are
//! rejected when the ranker is built, not at the first query. Documents of equal score keep the
//! order of the first stage, where documents of equal score are ordered by id, the larger id first.

mod builder;
mod reranker;

pub use builder::{DEFAULT_DOCUMENTS, RankerBuilder};

use std::sync::Arc;

use rankwright_model::Model;
use rayon::prelude::*;

use crate::document::Query;
use crate::error::SearchError;
use crate::features::FeatureRows;
use crate::filter::{Filter, FilterHint};
use crate::index::Index;
use crate::query_syntax::{PreparedQuery, QuerySyntax};
use crate::retrieve::{Candidate, FirstStage, SearchBuffers};
use crate::terms::Terms;
use crate::warning::{QueryOutcome, SearchWarning};
use reranker::Reranker;

/// A first stage on an index, and a model that re-ranks the candidates it finds.
///
/// Threads can share it.
#[derive(Debug)]
pub struct Ranker {
    index: Arc<Index>,
    stage: FirstStage,
    /// Largest number of candidates of a query.
    candidates: usize,
    /// The model; `None` if the first stage alone ranks.
    reranker: Option<Reranker>,
    warnings: Vec<SearchWarning>,
    syntax: QuerySyntax,
    /// See [`Ranker::query_fields`].
    query_fields: Vec<String>,
}

/// The ranked documents of a query, with the results of the first stage.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The terms of the query.
    pub terms: Terms,
    /// Number of documents that have a term of the query, whether or not they pass the filter. This
    /// is exact if `documents` is empty; otherwise more documents may match, as a first stage skips
    /// documents that cannot be among the best.
    pub matching: usize,
    /// The documents in their final order.
    pub documents: Vec<Candidate>,
    /// The rank of each document in the first stage, from 1.
    pub first_ranks: Vec<u32>,
    /// The score of each document in the first stage.
    pub first_scores: Vec<f64>,
    /// Feature values, row by row in the final order; empty without a model.
    pub features: FeatureRows,
    /// Whether the query has conditions (only in the simple syntax).
    pub has_conditions: bool,
    /// Conditions of the query without effect, because the analysis removes all of their words.
    pub ignored: Vec<String>,
    /// Possible mistakes in the conditions of the query.
    pub hints: Vec<FilterHint>,
}

impl Ranking {
    /// The facts that explain why there may be no documents.
    pub(crate) fn outcome(&self) -> QueryOutcome {
        QueryOutcome {
            has_terms: !self.terms.is_empty(),
            matching: self.matching,
            is_empty: self.documents.is_empty(),
            has_conditions: self.has_conditions,
        }
    }
}

impl Ranker {
    /// A ranker with a model, and with the first stage and number of candidates of its training
    /// data.
    pub fn new(index: impl Into<Arc<Index>>, model: &Model) -> Result<Ranker, SearchError> {
        Self::builder(index).model(model).build()
    }

    /// A ranker that ranks by BM25 alone.
    pub fn first_stage(index: impl Into<Arc<Index>>) -> Result<Ranker, SearchError> {
        Self::builder(index).build()
    }

    /// A builder of a ranker.
    ///
    /// ```
    /// use rankwright_search::{Bm25, Document, FirstStage, Index, Ranker};
    ///
    /// let index = Index::in_memory([Document::new("1").with("title", "red shoe")])?;
    /// let stage = FirstStage::new(Bm25::default().k1(0.9))?;
    /// let ranker = Ranker::builder(index).first_stage(stage).candidates(50).build()?;
    /// assert_eq!(ranker.rank("shoe", 10)?[0].id, "1");
    /// # Ok::<(), rankwright_search::SearchError>(())
    /// ```
    pub fn builder<'m>(index: impl Into<Arc<Index>>) -> RankerBuilder<'m> {
        RankerBuilder::new(index.into())
    }

    /// The index.
    pub fn index(&self) -> &Arc<Index> {
        &self.index
    }

    /// The first stage.
    pub fn stage(&self) -> &FirstStage {
        &self.stage
    }

    /// The largest number of documents that the first stage gives for a query.
    pub fn candidates(&self) -> usize {
        self.candidates
    }

    /// Whether a model re-ranks the candidates.
    pub fn has_model(&self) -> bool {
        self.reranker.is_some()
    }

    /// Warnings about differences between the training of the model and this ranker.
    pub fn warnings(&self) -> &[SearchWarning] {
        &self.warnings
    }

    /// The syntax of the queries.
    pub fn syntax(&self) -> QuerySyntax {
        self.syntax
    }

    /// The query fields that the training queries of the model had and that its features read.
    pub fn query_fields(&self) -> &[String] {
        &self.query_fields
    }

    /// The fields that the model was trained with and this query lacks.
    pub(crate) fn missing_fields(&self, query: &Query) -> Vec<String> {
        let has = |field: &String| query.fields.iter().any(|(name, _)| name == field);
        self.query_fields.iter().filter(|field| !has(field)).cloned().collect()
    }

    /// The features of the model, one per column; none without a model.
    pub fn features(&self) -> &[String] {
        self.reranker.as_ref().map_or(&[], Reranker::features)
    }

    /// Ranks the documents of many queries, on all threads.
    pub fn rank_queries(
        &self,
        queries: &[Query],
        filter: Option<&Filter>,
    ) -> Result<Vec<Ranking>, SearchError> {
        let rank = |buffers: &mut SearchBuffers, query| self.rank_query(query, filter, buffers);
        queries.par_iter().map_init(SearchBuffers::default, rank).collect()
    }

    /// Ranks the documents of a query.
    pub fn rank_query(
        &self,
        query: &Query,
        filter: Option<&Filter>,
        buffers: &mut SearchBuffers,
    ) -> Result<Ranking, SearchError> {
        if self.syntax == QuerySyntax::Plain {
            return self.rank_words(query, filter, buffers);
        }
        let prepared = PreparedQuery::new(&self.index, query, self.syntax, filter)?;
        let with_conditions = prepared.filter.as_ref();
        let ranking = self.rank_words(&prepared.query, with_conditions.or(filter), buffers)?;
        let has_conditions = with_conditions.is_some();
        let PreparedQuery { ignored, hints, .. } = prepared;
        Ok(Ranking { has_conditions, ignored, hints, ..ranking })
    }

    /// Ranks the documents of a query whose text is words without operators.
    fn rank_words(
        &self,
        query: &Query,
        filter: Option<&Filter>,
        buffers: &mut SearchBuffers,
    ) -> Result<Ranking, SearchError> {
        let terms = Terms::new(&query.text, self.index.analysis());
        let found = self.index.retrieve(&terms, &self.stage, self.candidates, filter, buffers)?;
        let matching = buffers.matching();
        match &self.reranker {
            Some(reranker) => reranker.rank(&self.index, query, terms, matching, &found),
            None => Ok(Ranking {
                terms,
                matching,
                first_ranks: (1..=found.len() as u32).collect(),
                first_scores: found.iter().map(|candidate| candidate.score).collect(),
                documents: found,
                features: FeatureRows::default(),
                has_conditions: false,
                ignored: Vec::new(),
                hints: Vec::new(),
            }),
        }
    }
}
