//! A model with the features that it needs, prepared for one index.

use std::sync::Arc;

use rankwright_model::{Model, ScoreBuffers, Scorer};

use super::Ranking;
use crate::document::Query;
use crate::error::SearchError;
use crate::features::{Extractor, FeatureRows, FeatureSet};
use crate::index::Index;
use crate::order::stable_order;
use crate::retrieve::Candidate;
use crate::terms::Terms;

/// The feature set that a model records, if any.
pub(super) fn feature_set_of(model: &Model) -> Result<Option<FeatureSet>, SearchError> {
    model.header().feature_set.as_deref().map(FeatureSet::from_toml).transpose()
}

/// Computes features of candidates on an index, and orders them by the scores of a model.
#[derive(Debug)]
pub(super) struct Reranker {
    extractor: Extractor,
    scorer: Scorer,
}

impl Reranker {
    /// Prepares the features of a model; `set` is the feature set that the model records.
    pub(super) fn new(
        index: &Arc<Index>,
        model: &Model,
        set: Option<FeatureSet>,
    ) -> Result<Reranker, SearchError> {
        let names = model.header().features.iter().map(|name| name.into_owned()).collect();
        let set = match set {
            Some(set) => FeatureSet { features: names, ..set },
            None => FeatureSet::new(names),
        };
        let of_table =
            model.header().table_columns.is_some() && model.header().feature_set.is_none();
        let rejected = |error| match of_table {
            true => SearchError::TableModel {
                feature: model.header().features.iter().next().unwrap_or_default().into_owned(),
            },
            false => SearchError::ModelFeatures(Box::new(error)),
        };
        let extractor = Extractor::new(Arc::clone(index), &set).map_err(rejected)?;
        let expanded = &extractor.set().features;
        // A name that expands to several features, or to a feature of another name, would shift or
        // rename columns.
        let differing = set.features.iter().zip(expanded).find(|(name, column)| name != column);
        if let Some((found, expected)) = differing {
            let (found, expected) = (found.clone(), expected.clone());
            return Err(rejected(SearchError::FeatureName { found, expected }));
        }
        match set.features.len() == expanded.len() {
            true => Ok(Reranker { extractor, scorer: model.scorer() }),
            false => Err(SearchError::Internal { invariant: "features of a model are distinct" }),
        }
    }

    /// The features, one per column.
    pub(super) fn features(&self) -> &[String] {
        &self.extractor.set().features
    }

    /// Orders candidates by the model's scores; equal scores keep the order of the candidates.
    pub(super) fn rank(
        &self,
        index: &Index,
        query: &Query,
        terms: Terms,
        matching: usize,
        found: &[Candidate],
    ) -> Result<Ranking, SearchError> {
        let rows = self.extractor.rows(query, &terms, found)?;
        let mut scores = vec![0.0; found.len()];
        self.scorer.score_query(&rows.values, &mut scores, &mut ScoreBuffers::default())?;
        let docs: Vec<u32> = found.iter().map(|candidate| candidate.doc).collect();
        let order = stable_order(index, &docs, &scores)?;
        let documents = order.iter().map(|&i| Candidate { score: scores[i], ..found[i] });
        let values = order.iter().flat_map(|&i| rows.row(i).iter().copied()).collect();
        Ok(Ranking {
            documents: documents.collect(),
            first_ranks: order.iter().map(|&i| i as u32 + 1).collect(),
            first_scores: order.iter().map(|&i| found[i].score).collect(),
            features: FeatureRows { values, columns: rows.columns },
            terms,
            matching,
            has_conditions: false,
            ignored: Vec::new(),
            hints: Vec::new(),
        })
    }
}
