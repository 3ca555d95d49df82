//! Ranks many queries into a run.

use std::time::Instant;

use rankwright_data::{QueryLists, Run};
use serde::Serialize;

use crate::document::Query;
use crate::error::SearchError;
use crate::filter::Filter;
use crate::index::Index;
use crate::ranker::{Ranker, Ranking};
use crate::warning::SearchWarning;

/// The rankings of many queries.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct RunResult {
    /// The rankings as a run.
    #[serde(skip)]
    pub run: Run,
    /// Number of queries.
    pub queries: usize,
    /// Number of documents in the run.
    pub documents: usize,
    /// Number of queries without a document.
    pub empty: usize,
    /// Seconds that ranking took.
    pub seconds: f64,
    /// Recoverable problems.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<SearchWarning>,
}

impl Ranker {
    /// Ranks the documents of many queries on all threads, and keeps the `top` best of each.
    pub fn run(
        &self,
        queries: &[Query],
        filter: Option<&Filter>,
        top: usize,
    ) -> Result<RunResult, SearchError> {
        let start = Instant::now();
        let rankings = self.rank_queries(queries, filter)?;
        let seconds = start.elapsed().as_secs_f64();
        let empty = rankings.iter().filter(|ranking| ranking.documents.is_empty()).count();
        let mut warnings = self.warnings().to_vec();
        if empty > 0 {
            warnings.push(SearchWarning::NothingFound { queries: empty });
        }
        Ok(RunResult {
            run: to_run(self.index(), queries, &rankings, top)?,
            queries: queries.len(),
            documents: rankings.iter().map(|ranking| ranking.documents.len().min(top)).sum(),
            empty,
            seconds,
            warnings,
        })
    }
}

/// Rankings as a run: the first `top` documents of each.
fn to_run(
    index: &Index,
    queries: &[Query],
    rankings: &[Ranking],
    top: usize,
) -> Result<Run, SearchError> {
    let mut rows = Vec::new();
    for (query, ranking) in queries.iter().zip(rankings) {
        for document in ranking.documents.iter().take(top) {
            rows.push((query.id.as_str(), index.id(document)?, document.score));
        }
    }
    Ok(Run::from_lists(QueryLists::from_rows("ranking", rows)?))
}
