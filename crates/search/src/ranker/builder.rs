//! Builds a ranker from given options and those recorded in the model, and warns if they differ.

use std::sync::Arc;

use rankwright_model::Model;

use super::Ranker;
use super::reranker::{Reranker, feature_set_of};
use crate::error::SearchError;
use crate::features::{DEFAULT_CANDIDATES, FeatureSet};
use crate::index::Index;
use crate::query_syntax::QuerySyntax;
use crate::retrieve::FirstStage;
use crate::warning::SearchWarning;

/// Default number of documents of a query if no model re-ranks them: the usual length of a run.
pub const DEFAULT_DOCUMENTS: usize = 1000;

/// Options of a ranker. If first stage and number of candidates are not given, they are those of
/// the model's training data.
#[derive(Debug)]
#[must_use]
pub struct RankerBuilder<'m> {
    index: Arc<Index>,
    model: Option<&'m Model>,
    stage: Option<FirstStage>,
    candidates: Option<usize>,
    syntax: QuerySyntax,
}

impl<'m> RankerBuilder<'m> {
    pub(super) fn new(index: Arc<Index>) -> Self {
        Self { index, model: None, stage: None, candidates: None, syntax: QuerySyntax::Plain }
    }

    /// Sets a model that re-ranks the candidates.
    pub fn model(mut self, model: &'m Model) -> Self {
        self.model = Some(model);
        self
    }

    /// Sets the first stage that finds candidates.
    pub fn first_stage(mut self, stage: FirstStage) -> Self {
        self.stage = Some(stage);
        self
    }

    /// Sets the largest number of candidates of a query.
    pub fn candidates(mut self, candidates: usize) -> Self {
        self.candidates = Some(candidates);
        self
    }

    /// Sets the syntax of the queries; plain words by default.
    pub fn syntax(mut self, syntax: QuerySyntax) -> Self {
        self.syntax = syntax;
        self
    }

    /// Builds the ranker. Rejects a model whose features this index cannot compute as in training.
    pub fn build(self) -> Result<Ranker, SearchError> {
        let Self { index, model, stage, candidates, syntax } = self;
        if candidates == Some(0) {
            return Err(SearchError::ZeroCandidates);
        }
        let set = model.map(feature_set_of).transpose()?.flatten();
        let trained_stage = set.as_ref().map(FeatureSet::stage).transpose()?.flatten();
        let trained_candidates = set.as_ref().and_then(|set| set.candidates);
        let mut warnings = Vec::new();
        if model.is_some() && set.is_none() {
            warnings.push(SearchWarning::NoFeatureSet);
        }
        if let (Some(trained), Some(used)) = (&trained_stage, &stage)
            && trained != used
        {
            let (trained, used) = (trained.to_string(), used.to_string());
            warnings.push(SearchWarning::OtherFirstStage { trained, used });
        }
        if let (Some(trained), Some(used)) = (trained_candidates, candidates)
            && trained != used
        {
            warnings.push(SearchWarning::OtherCandidates { trained, used });
        }
        let query_fields = set.as_ref().map(|set| set.query_fields.clone()).unwrap_or_default();
        let default = if model.is_some() { DEFAULT_CANDIDATES } else { DEFAULT_DOCUMENTS };
        let reranker = model.map(|model| Reranker::new(&index, model, set)).transpose()?;
        // Reads the ids now, so that the first query is not slower than the others.
        index.ids()?;
        Ok(Ranker {
            stage: stage.or(trained_stage).unwrap_or_default(),
            candidates: candidates.or(trained_candidates).unwrap_or(default),
            index,
            reranker,
            warnings,
            syntax,
            query_fields,
        })
    }
}
