//! A run whose documents are in the order of their scores.

use std::collections::HashMap;

use rankwright_data::{DataError, Run, SourceLocation, quote};
use rankwright_eval::{OrderRule, Orderer, Rows};

use crate::tasks::context::RunningTask;
use crate::tasks::{RunSource, TaskError};

/// The rankings of a run, by query. Documents of equal scores are in the order of the file.
#[derive(Debug, Default)]
pub(in crate::tasks) struct RankedRun {
    queries: Vec<String>,
    rankings: HashMap<String, ScoredRanking>,
}

/// Documents in the order of their scores, and the scores.
#[derive(Debug, Default)]
struct ScoredRanking {
    documents: Vec<String>,
    /// Used only to choose questions to judges, which are part of the feature `search`.
    #[cfg(feature = "search")]
    scores: Vec<f64>,
}

impl RankedRun {
    /// Reads a run.
    pub(in crate::tasks) fn load(
        source: &RunSource,
        task: &mut RunningTask<'_>,
    ) -> Result<Self, TaskError> {
        let run = source.load(task)?;
        Self::new(&run)
    }

    pub(in crate::tasks) fn new(run: &Run) -> Result<Self, TaskError> {
        let mut orderer = Orderer::default();
        let mut ranked = Self::default();
        for (query, documents) in run.iter() {
            let (mut ids, mut scores): (Vec<String>, Vec<f64>) = (Vec::new(), Vec::new());
            for document in documents {
                // Ids that are no text would become one id of replacement characters.
                let id = std::str::from_utf8(document.id).map_err(|_| {
                    let location = SourceLocation::file("the run");
                    DataError::malformed(location, quote(document.id), "ids in UTF-8")
                })?;
                ids.push(id.to_owned());
                scores.push(document.value);
            }
            let order = orderer.order(Rows::of_scores(&scores), OrderRule::STABLE)?;
            let ranking = ScoredRanking {
                documents: order.iter().map(|row| ids[*row as usize].clone()).collect(),
                #[cfg(feature = "search")]
                scores: order.iter().map(|row| scores[*row as usize]).collect(),
            };
            ranked.queries.push(query.to_owned());
            ranked.rankings.insert(query.to_owned(), ranking);
        }
        Ok(ranked)
    }

    /// The queries, in the order of the file.
    pub(in crate::tasks) fn queries(&self) -> impl Iterator<Item = &str> {
        self.queries.iter().map(String::as_str)
    }

    /// The documents of a query, the best first; none if the run lacks the query.
    pub(in crate::tasks) fn documents(&self, query: &str) -> &[String] {
        self.rankings.get(query).map_or(&[], |ranking| &ranking.documents)
    }

    /// The scores of the documents of a query, in the order of [`Self::documents`].
    #[cfg(feature = "search")]
    pub(in crate::tasks) fn scores(&self, query: &str) -> &[f64] {
        self.rankings.get(query).map_or(&[], |ranking| &ranking.scores)
    }
}
