//! Candidates from a first stage, their features, a model's scores, one order.
//!
//! The model says by the names of its features what must be computed; features that are not specs of
//! this crate, that this index cannot compute, or that were computed with another analysis are
//! refused when the ranker is made, not when a query comes. Documents of equal score stand by id, the
//! larger first, as runs are ordered.

use rankwright_data::{QueryLists, Run};
use rankwright_model::{Model, ScoreBuffers, Scorer};
use rayon::prelude::*;

use crate::document::Query;
use crate::error::SearchError;
use crate::features::{Extractor, FeatureRows, FeatureSet};
use crate::index::Index;
use crate::order::order;
use crate::retrieve::{Candidate, Filter, FirstStage, SearchBuffers};
use crate::terms::Terms;

/// The header note of a model that holds the feature set of its data, as TOML.
pub const FEATURES_NOTE: &str = "features";

/// A first stage, and a model that re-ranks what it finds.
#[derive(Debug)]
pub struct Ranker {
    stage: FirstStage,
    candidates: usize,
    reranker: Option<Reranker>,
}

#[derive(Debug)]
struct Reranker {
    extractor: Extractor,
    scorer: Scorer,
}

/// A ranked list, and what it was made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The documents in their final order.
    pub documents: Vec<Candidate>,
    /// For each of them its rank in the first stage, from 1.
    pub first_ranks: Vec<u32>,
    /// For each of them its score in the first stage.
    pub first_scores: Vec<f64>,
    /// Feature values, row by row in the final order; empty without a model.
    pub features: FeatureRows,
}

impl Ranker {
    /// A first stage alone, or re-ranked by a model: the best `candidates` are.
    pub fn new(
        index: &Index,
        stage: FirstStage,
        candidates: usize,
        model: Option<&Model>,
    ) -> Result<Ranker, SearchError> {
        let reranker = model.map(|model| Reranker::new(index, model)).transpose()?;
        // Read now, so that the first query does not wait for them.
        index.ids()?;
        Ok(Ranker { stage, candidates, reranker })
    }

    /// The features of the model, a column each; none without a model.
    pub fn features(&self) -> &[String] {
        self.reranker.as_ref().map_or(&[], |reranker| &reranker.extractor.set().features)
    }

    /// Ranks the documents of many queries, on all threads.
    pub fn rank_all(
        &self,
        index: &Index,
        queries: &[Query],
        filter: Option<&Filter>,
    ) -> Result<Vec<Ranking>, SearchError> {
        let rank =
            |buffers: &mut SearchBuffers, query: &Query| self.rank(index, query, filter, buffers);
        queries.par_iter().map_init(SearchBuffers::default, rank).collect()
    }

    /// Ranks the documents of a query.
    pub fn rank(
        &self,
        index: &Index,
        query: &Query,
        filter: Option<&Filter>,
        buffers: &mut SearchBuffers,
    ) -> Result<Ranking, SearchError> {
        let terms = Terms::new(&query.text, index.analysis());
        let found = index.retrieve(&terms, &self.stage, self.candidates, filter, buffers)?;
        let Some(reranker) = &self.reranker else {
            let first_ranks = (1..=found.len() as u32).collect();
            let first_scores = found.iter().map(|ranked| ranked.score).collect();
            let features = FeatureRows::default();
            return Ok(Ranking { documents: found, first_ranks, first_scores, features });
        };
        reranker.rerank(index, query, &terms, found)
    }
}

/// Candidate lists as a run: the first `top` documents of each.
pub fn to_run(
    index: &Index,
    queries: &[Query],
    ranked: &[Ranking],
    top: usize,
) -> Result<Run, SearchError> {
    let mut rows = Vec::new();
    for (query, ranked) in queries.iter().zip(ranked) {
        for document in ranked.documents.iter().take(top) {
            rows.push((query.id.as_str(), index.id(document)?, document.score));
        }
    }
    Ok(Run::from_lists(QueryLists::from_rows("ranking", rows)?))
}

impl Reranker {
    fn new(index: &Index, model: &Model) -> Result<Reranker, SearchError> {
        let names: Vec<String> =
            model.header().features.iter().map(|name| name.into_owned()).collect();
        let set = match model.header().notes.get(FEATURES_NOTE) {
            Some(note) => FeatureSet::from_toml(note)?,
            None => FeatureSet::new(names.clone()),
        };
        set.check(index)?;
        let own = FeatureSet { features: names, ..set };
        let extractor = Extractor::new(index, &own).map_err(|error| match error {
            SearchError::Spec(error) => SearchError::Mismatch { what: error.to_string() },
            SearchError::Field { .. } => SearchError::Mismatch { what: error.to_string() },
            other => other,
        })?;
        if extractor.set().features != own.features {
            let what = "the names of its features are not those that the index gives them".into();
            return Err(SearchError::Mismatch { what });
        }
        Ok(Reranker { extractor, scorer: model.scorer() })
    }

    fn rerank(
        &self,
        index: &Index,
        query: &Query,
        terms: &Terms,
        found: Vec<Candidate>,
    ) -> Result<Ranking, SearchError> {
        let rows = self.extractor.rows(index, query, terms, &found)?;
        let mut scores = vec![0.0; found.len()];
        self.scorer.score_query(&rows.values, &mut scores, &mut ScoreBuffers::default())?;
        let docs: Vec<u32> = found.iter().map(|ranked| ranked.doc).collect();
        let order = order(index, &docs, &scores)?;
        let documents =
            order.iter().map(|&at| Candidate { doc: found[at].doc, score: scores[at] }).collect();
        let values = order.iter().flat_map(|&at| rows.row(at).iter().copied()).collect();
        Ok(Ranking {
            documents,
            first_ranks: order.iter().map(|&at| at as u32 + 1).collect(),
            first_scores: order.iter().map(|&at| found[at].score).collect(),
            features: FeatureRows { values, columns: rows.columns },
        })
    }
}
