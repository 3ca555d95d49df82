//! The result of an interleaved comparison: clicks on interleaved lists, credited to the rankers.

use std::path::{Path, PathBuf};

use rankwright_clicks::interleave::{
    InterleavedLog, InterleavedLogCounts, InterleavingCluster, InterleavingOptions,
    RankerComparison, compare_all_rankers,
};
#[cfg(feature = "report")]
use rankwright_clicks::interleave::{InterleavingResult, PowerRow};
use rankwright_clicks::log::LogCounts;
use rankwright_eval::stats::Correction;
#[cfg(feature = "report")]
use rankwright_report::interleaving::{ComparedRankers, InterleavingReport};
use rankwright_spec::check_params;
#[cfg(feature = "report")]
use rankwright_spec::words::plural;
use serde::{Deserialize, Serialize};

use super::{ListsSource, LogSource};
use crate::tasks::context::RunningTask;
use crate::tasks::{Context, TaskError, TaskInputs, Warning};

/// A click log, and the interleaved lists that were shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ScoreInterleavingRequest {
    /// The log.
    pub log: LogSource,
    /// The interleaved lists.
    pub lists: ListsSource,
    /// The impressions that the bootstrap keeps together.
    #[serde(default)]
    pub cluster: InterleavingCluster,
    /// Samples and seed of the bootstrap.
    #[serde(default)]
    pub options: InterleavingOptions,
    /// The correction of p-values if there are more than two rankers.
    #[serde(default)]
    pub correction: Correction,
}

impl TaskInputs for ScoreInterleavingRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        self.log.paths().chain(self.lists.path()).map(Path::to_owned).collect()
    }
}

impl ScoreInterleavingRequest {
    /// A bootstrap over users, and Holm's correction.
    pub fn new(log: impl Into<LogSource>, lists: impl Into<ListsSource>) -> Self {
        Self {
            log: log.into(),
            lists: lists.into(),
            cluster: InterleavingCluster::default(),
            options: InterleavingOptions::default(),
            correction: Correction::default(),
        }
    }

    /// Sets the impressions that the bootstrap keeps together.
    pub fn cluster(mut self, cluster: InterleavingCluster) -> Self {
        self.cluster = cluster;
        self
    }

    /// Sets samples and seed of the bootstrap.
    pub fn options(mut self, options: InterleavingOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets the correction of p-values.
    pub fn correction(mut self, correction: Correction) -> Self {
        self.correction = correction;
        self
    }
}

/// The result of an interleaved comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ScoreInterleavingResult {
    /// Names of the rankers; the first one is the baseline.
    pub rankers: Vec<String>,
    /// Name of the method.
    pub method: &'static str,
    /// Impressions that the bootstrap kept together: user, session, query or impression. If the
    /// request is for users and the log has none, these are sessions; if it has no sessions either,
    /// impressions.
    pub cluster: &'static str,
    /// The correction of the p-values.
    pub correction: &'static str,
    /// The comparison of each two rankers.
    pub comparisons: Vec<RankerComparison>,
    /// Number of lists.
    pub lists: usize,
    /// Number of lists that an impression shows.
    pub shown_lists: usize,
    /// Impressions that show none of the lists; left out.
    pub other_impressions: u64,
    /// Impressions without the id of a request that show several lists with the same documents but
    /// other teams or ranks; left out.
    pub ambiguous_impressions: u64,
    /// Clicks on documents that the list of the impression does not have; left out.
    pub other_clicks: u64,
    /// Counts of the log.
    pub counts: LogCounts,
    /// Warnings about the log.
    pub warnings: Vec<Warning>,
}

/// Credits the clicks of a log on interleaved lists to the rankers, and compares them. An
/// impression shows the list whose request id is its own id; without such a list, the one of the
/// same query with the same documents.
pub fn score_interleaving(
    request: &ScoreInterleavingRequest,
    context: &Context<'_>,
) -> Result<ScoreInterleavingResult, TaskError> {
    let mut task = RunningTask::new(context);
    check_params(&request.options, "interleaving")?;
    request.check_files([])?;
    let pages = request.lists.load(&task)?;
    let Some(first) = pages.first() else {
        return Err(TaskError::NoLists { lists: request.lists.name() });
    };
    let mut shown = InterleavedLog::new(&pages, request.cluster);
    let (counts, _) = request.log.read(&task, |impression| {
        (0..impression.count).for_each(|_| shown.add(impression));
    })?;
    let InterleavedLogCounts { other_impressions, ambiguous, other_clicks, shown_lists, .. } =
        shown.counts();
    let outcomes = shown.outcomes();
    if outcomes.is_empty() {
        return Err(TaskError::NoListShown { lists: request.lists.name() });
    }
    if other_impressions + ambiguous > 0 {
        let impressions = other_impressions + ambiguous;
        task.warn(Warning::OtherImpressions { impressions, of: counts.impressions });
    }
    let alone = shown.without_user();
    if alone > 0 {
        let of = outcomes.len() as u64;
        task.warn(Warning::ImpressionsWithoutUser { impressions: alone, of });
    }
    let (options, correction) = (&request.options, request.correction);
    let compare = || compare_all_rankers(&first.rankers, outcomes, options, correction);
    let (comparisons, _) = task.step("comparing the rankers", compare)?;
    Ok(ScoreInterleavingResult {
        rankers: first.rankers.clone(),
        method: first.list.method().name(),
        cluster: shown.cluster_name(),
        correction: request.correction.name(),
        comparisons,
        lists: pages.len(),
        shown_lists,
        other_impressions,
        ambiguous_impressions: ambiguous,
        other_clicks,
        counts,
        warnings: task.into_warnings(),
    })
}

#[cfg(feature = "report")]
impl ScoreInterleavingResult {
    /// The report on the comparison, with tables and a page.
    pub fn report(&self) -> InterleavingReport {
        let compared = |RankerComparison { first, second, result, p_corrected, .. }: &_| {
            let InterleavingResult { wins: [losses, wins], ties, without_clicks, .. } = *result;
            let row = |row: &PowerRow| (row.win_share, row.impressions);
            ComparedRankers {
                first: String::clone(first),
                second: String::clone(second),
                wins,
                losses,
                ties,
                without_clicks,
                delta: result.delta,
                delta_ci95: result.delta_ci95,
                query_delta: result.mean_query_delta,
                query_delta_ci95: result.mean_query_delta_ci95,
                p: result.p,
                p_corrected: *p_corrected,
                needed: result.needed.as_ref().map(row),
                power: result.power.iter().map(row).collect(),
            }
        };
        let fact = |name: &str, value: String| (name.to_owned(), value);
        InterleavingReport {
            facts: vec![
                fact("Rankers", self.rankers.join(", ")),
                fact("Method", self.method.to_owned()),
                fact("Lists", format!("{}, {} of them shown", self.lists, self.shown_lists)),
            ],
            clusters: plural(self.cluster),
            correction: self.correction.to_owned(),
            comparisons: self.comparisons.iter().map(compared).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::ClickFiles;
    use std::fs;

    /// Lists of two requests of one query, and of another query; the same documents, but other
    /// teams, in the first two.
    const LISTS: &str = r#"{"request": "r1", "query": "q", "method": "team-draft", "rankers": ["old", "new"], "documents": ["a", "b"], "teams": [0, 1], "ranks": [[1, 2], [2, 1]], "lengths": [2, 2]}
{"request": "r2", "query": "q", "method": "team-draft", "rankers": ["old", "new"], "documents": ["a", "b"], "teams": [1, 0], "ranks": [[1, 2], [1, 2]], "lengths": [2, 2]}
{"request": "r3", "query": "p", "method": "team-draft", "rankers": ["old", "new"], "documents": ["x", "y"], "teams": [1, 0], "ranks": [[2, 1], [1, 2]], "lengths": [2, 2]}
"#;

    fn score(log: &str) -> Result<ScoreInterleavingResult, TaskError> {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("lists"), LISTS).unwrap();
        fs::write(path("log"), log).unwrap();
        let request = ScoreInterleavingRequest::new(ClickFiles::new([path("log")]), path("lists"));
        score_interleaving(&request, &Context::default())
    }

    #[test]
    fn clicks_find_their_list_by_request_or_by_documents() {
        // r1: a click for the new ranker; r2 without a click; x of the list r3 by its documents;
        // the page with a and b may be r1 or r2; the last one shows no list.
        let result = score(
            r#"{"query_id": "r1", "user_query": "q", "client_id": "u", "query_response_hit_ids": ["a", "b"]}
{"action_name": "click", "query_id": "r1", "event_attributes": {"object": {"object_id": "b"}}}
{"query_id": "r2", "user_query": "q", "client_id": "v", "query_response_hit_ids": ["a", "b", "z"]}
{"action_name": "click", "query_id": "r2", "event_attributes": {"object": {"object_id": "z"}}}
{"query": "p", "docs": ["x", "y"], "clicks": [1, 0]}
{"query": "q", "docs": ["a", "b"], "clicks": [1, 0]}
{"query": "q", "docs": ["b", "a"], "clicks": [1, 0]}
"#,
        )
        .unwrap();
        let comparison = &result.comparisons[0];
        assert_eq!((comparison.first.as_str(), comparison.second.as_str()), ("old", "new"));
        assert_eq!((comparison.result.wins, comparison.result.without_clicks), ([0, 2], 1));
        assert_eq!((result.lists, result.shown_lists), (3, 3));
        assert_eq!((result.other_impressions, result.ambiguous_impressions), (1, 1));
        assert_eq!(result.other_clicks, 1);
        assert_eq!(result.warnings[0].kind(), "other-impressions");
        assert_eq!(comparison.p_corrected, comparison.result.p);
    }

    #[test]
    fn a_log_without_users_says_what_was_kept_together() {
        let page = |request: &str, more: &str| {
            format!(
                "{{\"impression\": \"{request}\", \"query\": \"q\", {more}\"docs\": [\"a\", \"b\"], \
                 \"clicks\": [0, 1]}}\n"
            )
        };
        let (user, session) = ("\"user\": \"u\", ", "\"session\": \"s\", ");
        for (first, second, cluster, alone) in [
            (user, session, "user", 0),
            (user, "", "user", 1),
            (session, session, "session", 0),
            (session, "", "session", 1),
            ("", "", "impression", 2),
        ] {
            let result = score(&(page("r1", first) + &page("r2", second))).unwrap();
            assert_eq!(result.cluster, cluster, "{first}{second}");
            let expected = Warning::ImpressionsWithoutUser { impressions: alone, of: 2 };
            let expected = if alone > 0 { vec![expected] } else { Vec::new() };
            assert_eq!(result.warnings, expected, "{first}{second}");
        }
    }

    #[test]
    fn a_user_and_a_session_with_the_same_id_are_two() {
        let page = |request: &str, owner: &str| {
            format!(
                "{{\"impression\": \"{request}\", \"query\": \"q\", \"{owner}\": \"7\", \
                 \"docs\": [\"a\", \"b\"], \"clicks\": [0, 1]}}\n"
            )
        };
        for (first, second, users) in
            [("user", "session", 2), ("user", "user", 1), ("session", "session", 1)]
        {
            let result = score(&(page("r1", first) + &page("r2", second))).unwrap();
            assert_eq!(result.comparisons[0].result.users, users, "{first} and {second}");
        }
    }

    #[test]
    fn a_log_of_other_pages_and_a_file_without_lists_are_errors() {
        let error = score("{\"query\": \"z\", \"docs\": [\"x\"], \"clicks\": [1]}\n").unwrap_err();
        assert_eq!(error.kind(), "no-list-shown");
        let folder = tempfile::tempdir().unwrap();
        let empty: &Path = &folder.path().join("empty");
        fs::write(empty, "\n").unwrap();
        let request = ScoreInterleavingRequest::new(ClickFiles::new([empty]), empty);
        let error = score_interleaving(&request, &Context::default()).unwrap_err();
        assert_eq!(error.kind(), "no-lists");
    }
}
