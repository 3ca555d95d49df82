//! Ranks many queries into a run.

use std::collections::BTreeSet;
use std::time::Instant;

use rankwright_data::{QueryLists, Run};
use serde::Serialize;

use crate::document::Query;
use crate::error::SearchError;
use crate::filter::Filter;
use crate::index::Index;
use crate::ranker::{Ranker, Ranking};
use crate::warning::{CountedIds, SearchWarning, empty_query_warnings, filter_warnings};

/// The rankings of many queries as a run, with counts.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct RunResult {
    /// The rankings as a run.
    #[serde(skip)]
    pub run: Run,
    /// Number of queries.
    pub queries: usize,
    /// Number of rows in the run: documents over all queries.
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
        warnings.extend(self.missing_fields_warning(queries));
        let outcomes = queries.iter().zip(&rankings);
        let outcomes = outcomes.map(|(query, ranking)| (query.id.as_str(), ranking.outcome()));
        warnings.extend(empty_query_warnings(outcomes, filter));
        warnings.extend(filter_warnings(filter));
        Ok(RunResult {
            run: to_run(self.index(), queries, &rankings, top)?,
            queries: queries.len(),
            documents: rankings.iter().map(|ranking| ranking.documents.len().min(top)).sum(),
            empty,
            seconds,
            warnings,
        })
    }

    /// A warning about queries that lack fields which the model was trained with, if there are any.
    fn missing_fields_warning(&self, queries: &[Query]) -> Option<SearchWarning> {
        let (mut fields, mut lacking) = (BTreeSet::new(), CountedIds::default());
        for query in queries {
            let missing = self.missing_fields(query);
            if !missing.is_empty() {
                lacking.add(&query.id);
                fields.extend(missing);
            }
        }
        let fields: Vec<String> = fields.into_iter().collect();
        (lacking.number > 0)
            .then_some(SearchWarning::QueriesWithoutFields { fields, queries: lacking })
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
        let documents = || ranking.documents.iter().take(top);
        let ids: Vec<&str> = documents().map(|found| index.id(found)).collect::<Result<_, _>>()?;
        let scores: Vec<f64> = documents().map(|found| found.score).collect();
        let scores = scores_in_order(&ids, &scores);
        rows.extend(ids.into_iter().zip(scores).map(|(id, score)| (query.id.as_str(), id, score)));
    }
    Ok(Run::from_lists(QueryLists::from_rows("ranking", rows)?))
}

/// Changes scores where needed, so that a reader of the run gets the documents in the given order.
///
/// Readers order a run by score, then by id, the larger id first. A ranking orders documents of
/// equal score as the first stage does. Where the two differ, scores are lowered in steps of about
/// 1e-7, or of the precision of an `f32` if that is larger, as trec_eval compares scores as `f32`.
/// All other scores stay as they are, unless a score before them was lowered to the same `f32` or
/// below it.
fn scores_in_order(ids: &[&str], scores: &[f64]) -> Vec<f64> {
    let mut written: Vec<f64> = Vec::with_capacity(ids.len());
    let mut is_lowered = false;
    for (i, &score) in scores.iter().enumerate() {
        let Some(&previous) = written.last() else {
            written.push(score);
            continue;
        };
        let previous_id_is_larger = ids[i - 1] > ids[i];
        let (previous_32, score_32) = (previous as f32, score as f32);
        let in_order = previous > score || (previous == score && previous_id_is_larger);
        let in_order_32 =
            previous_32 > score_32 || (previous_32 == score_32 && previous_id_is_larger);
        // Scores that only `f32` makes equal stay, unless the previous one was lowered.
        is_lowered = !(in_order && (in_order_32 || !is_lowered));
        written.push(if is_lowered { f64::from(lower(previous_32)) } else { score });
    }
    written
}

/// A score lowered by about 1e-7, or to the next smaller `f32` if that step is too small to count.
fn lower(score: f32) -> f32 {
    let lowered = score - f32::EPSILON;
    if lowered < score { lowered } else { score.next_down() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ids in the order of a reader that compares scores as `f32` (trec_eval), or as `f64`.
    fn order_of_reader(ids: &[&str], scores: &[f64], as_f32: bool) -> Vec<String> {
        let round = |score: f64| if as_f32 { f64::from(score as f32) } else { score };
        let mut rows: Vec<(f64, &str)> =
            scores.iter().map(|&score| round(score)).zip(ids.iter().copied()).collect();
        rows.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(a.1)));
        rows.into_iter().map(|(_, id)| id.to_owned()).collect()
    }

    #[test]
    fn readers_of_a_run_get_the_order_of_the_ranking() {
        // A difference that `f32` does not see.
        let tiny = 1e-12;
        for (ids, scores) in [
            (["a", "b", "c", "d"], [1.0, 1.0, 1.0, 1.0]),
            (["a", "b", "d", "c"], [1.0, 1.0, 1.0 - tiny, 0.5]),
            (["a", "c", "b", "d"], [0.0, 0.0, -tiny, -tiny]),
            (["d", "a", "b", "c"], [1e9, 7.0, 7.0, 7.0 - 1e-7]),
        ] {
            let written = scores_in_order(&ids, &scores);
            for as_f32 in [true, false] {
                assert_eq!(order_of_reader(&ids, &written, as_f32), ids, "{scores:?} {written:?}");
            }
            for (written, score) in written.iter().zip(scores) {
                assert!((written - score).abs() <= 1e-6 * score.abs().max(1.0), "{written}");
            }
        }
    }

    #[test]
    fn scores_without_ties_or_with_ties_in_the_order_of_ids_stay() {
        let scores = [3.0, 2.0 + 1e-12, 2.0, 2.0, 0.1];
        assert_eq!(scores_in_order(&["a", "b", "z", "y", "x"], &scores), scores);
        assert!(scores_in_order(&[], &[]).is_empty());
    }
}
