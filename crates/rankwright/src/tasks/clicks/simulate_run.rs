//! Clicks of simulated users on the rankings of a run, or on interleaved lists.
//!
//! The log has the form of UBI (User Behavior Insights): a line for each page, whose `query_id` is
//! the id of the request and whose `user_query` is the id of the query, and a line for each click.

use std::path::{Path, PathBuf};

use rankwright_clicks::interleave::read_lists;
use rankwright_clicks::log::write::{LogTarget, LogWriter};
use rankwright_clicks::simulate::{SimulateRunOptions, SimulatedPage, SimulatedUser};
use rankwright_data::Run;
use rankwright_data::bytes::Input;
use rankwright_data::store::write_atomic_with;
use rankwright_spec::check_params;
use serde::{Deserialize, Serialize};

use super::query_grades::QueryGrades;
use super::ranked_run::RankedRun;
use crate::tasks::context::RunningTask;
use crate::tasks::{Context, QrelsSource, TaskError, TaskInputs, Warning};

/// A run or interleaved lists, judgements, and the users who click.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SimulateRunRequest {
    /// The run, or the file of interleaved lists; told by content.
    pub lists: PathBuf,
    /// The judgements that determine clicks; documents without one have grade 0.
    pub qrels: QrelsSource,
    /// The users.
    pub user: SimulatedUser,
    /// The number of pages, of their documents and of users, and the seed. Interleaved lists are
    /// shown once each.
    #[serde(default)]
    pub options: SimulateRunOptions,
    /// File for the log.
    pub out: PathBuf,
}

impl TaskInputs for SimulateRunRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        let qrels = self.qrels.path().map(Path::to_owned);
        [self.lists.clone()].into_iter().chain(qrels).collect()
    }
}

impl SimulateRunRequest {
    /// One page of ten documents for each query.
    pub fn new(
        lists: impl Into<PathBuf>,
        qrels: impl Into<QrelsSource>,
        user: SimulatedUser,
        out: impl Into<PathBuf>,
    ) -> Self {
        Self {
            lists: lists.into(),
            qrels: qrels.into(),
            user,
            options: SimulateRunOptions::default(),
            out: out.into(),
        }
    }

    /// Sets the number of pages that are shown of each query of a run.
    pub fn sessions(mut self, sessions: usize) -> Self {
        self.options.sessions = sessions;
        self
    }

    /// Sets the number of documents of a page of a run.
    pub fn length(mut self, length: usize) -> Self {
        self.options.length = length;
        self
    }

    /// Sets the number of users.
    pub fn users(mut self, users: usize) -> Self {
        self.options.users = Some(users);
        self
    }

    /// Sets the seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.options.seed = seed;
        self
    }
}

/// The log that was written.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SimulateRunResult {
    /// The file.
    pub out: PathBuf,
    /// Number of queries.
    pub queries: usize,
    /// Number of pages.
    pub impressions: u64,
    /// Number of pages with a click.
    pub clicked_impressions: u64,
    /// Number of clicks.
    pub clicks: u64,
    /// Seconds of simulating and writing.
    pub seconds: f64,
    /// Warnings about queries.
    pub warnings: Vec<Warning>,
}

/// Simulates the clicks of users on a run or on interleaved lists, and writes them as a click log.
pub fn simulate_run(
    request: &SimulateRunRequest,
    context: &Context<'_>,
) -> Result<SimulateRunResult, TaskError> {
    check_params(&request.options, "simulation")?;
    let mut task = RunningTask::new(context);
    request.check_files([request.out.as_path()])?;
    let qrels = request.qrels.load(&mut task)?;
    let (mut pages, sessions) = load_pages(request, &mut task)?;
    let grades = QueryGrades::new(&qrels);
    let mut queries: Vec<&str> = pages.iter().map(|page| page.query.as_str()).collect();
    queries.sort_unstable();
    queries.dedup();
    let unjudged = queries.iter().filter(|query| !grades.has(query)).count();
    let queries = queries.len() - unjudged;
    if unjudged > 0 {
        let run = request.lists.display().to_string();
        task.warn(Warning::UnjudgedQueries { run, queries: unjudged });
    }
    pages.retain(|page| grades.has(&page.query));
    if pages.is_empty() {
        return Err(TaskError::NoJudgedQuery { file: request.lists.display().to_string() });
    }
    let mut result = SimulateRunResult {
        out: request.out.clone(),
        queries,
        // The range of sessions keeps this below 2^63.
        impressions: pages.len() as u64 * sessions as u64,
        clicked_impressions: 0,
        clicks: 0,
        seconds: 0.0,
        warnings: Vec::new(),
    };
    let step = format!("simulating users into {}", request.out.display());
    let ((), seconds) = task.step(&step, || {
        write_atomic_with(&request.out, |out| {
            let mut writer = LogWriter::new(LogTarget::Ubi, out)?;
            let sessions = (1..=sessions).flat_map(|n| pages.iter().map(move |page| (n, page)));
            for (number, (session, page)) in (0..).zip(sessions) {
                if context.is_cancelled() {
                    return Err(TaskError::Cancelled);
                }
                let grade = |id: &str| grades.grade(&page.query, id).unwrap_or(0.0);
                let shown = page.show(number, session, &request.user, &request.options, grade);
                result.clicks += shown.clicks.len() as u64;
                result.clicked_impressions += u64::from(!shown.clicks.is_empty());
                writer.write(&shown)?;
            }
            writer.finish()?;
            Ok(())
        })
    })?;
    result.seconds = seconds;
    result.warnings = task.into_warnings();
    Ok(result)
}

/// The pages of a session, of a run or of interleaved lists, and the number of sessions.
fn load_pages(
    request: &SimulateRunRequest,
    task: &mut RunningTask<'_>,
) -> Result<(Vec<SimulatedPage>, usize), TaskError> {
    let sessions = request.options.sessions;
    let step = format!("reading {}", request.lists.display());
    let (input, _) = task.step(&step, || Input::open(&request.lists))?;
    if !is_lists(&input.bytes) {
        let (run, warnings) = Run::read(input)?;
        task.warn_of(&warnings);
        return Ok((run_pages(&RankedRun::new(&run)?, request), sessions));
    }
    if sessions > 1 {
        return Err(TaskError::SessionsOfLists { sessions });
    }
    let pages = read_lists(&input)?.into_iter().map(|page| SimulatedPage {
        documents: page.list.documents().to_vec(),
        request: page.request,
        query: page.query,
    });
    Ok((pages.collect(), 1))
}

/// Whether a file has interleaved lists: its first line has their rankers.
fn is_lists(bytes: &[u8]) -> bool {
    let first = bytes.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    let first = first.and_then(|line| serde_json::from_slice::<serde_json::Value>(line).ok());
    first.is_some_and(|line| line.get("rankers").is_some())
}

fn run_pages(run: &RankedRun, request: &SimulateRunRequest) -> Vec<SimulatedPage> {
    let page = |query: &str| {
        let documents = run.documents(query).iter().take(request.options.length).cloned();
        let id = query.to_owned();
        SimulatedPage { request: id.clone(), query: id, documents: documents.collect() }
    };
    run.queries().map(page).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::{
        ClickFiles, InspectClicksRequest, InterleaveRunsRequest, ListRequests,
        ScoreInterleavingRequest, inspect_clicks, interleave_runs, score_interleaving,
    };
    use std::fs;

    /// Thirty queries whose relevant document is first in `good.run` and last in `bad.run`, and one
    /// without judgements.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let (mut good, mut bad, mut qrels) = (String::new(), String::new(), String::new());
        for query in 0..31 {
            for (rank, document) in ["a", "b", "c", "d", "e", "f"].iter().enumerate() {
                good += &format!("q{query} Q0 {document} {rank} {} g\n", 10 - rank);
                bad += &format!("q{query} Q0 {document} {rank} {} b\n", 10 + rank);
            }
            if query < 30 {
                qrels += &format!("q{query} 0 a 2\nq{query} 0 b 1\n");
            }
        }
        for (name, text) in [("good.run", good), ("bad.run", bad), ("qrels", qrels)] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    fn user(spec: &str) -> SimulatedUser {
        SimulatedUser::parse(spec).unwrap()
    }

    #[test]
    fn numbers_beyond_their_ranges_are_an_error() {
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        let request =
            SimulateRunRequest::new(path("good.run"), path("qrels"), user("pbm"), path("log"));
        for request in [
            request.clone().users(0),
            request.clone().sessions(0),
            request.clone().sessions(usize::MAX),
        ] {
            let error = simulate_run(&request, &Context::default()).unwrap_err();
            assert_eq!(error.kind(), "bad-value", "{error}");
            assert!(!path("log").exists());
        }
    }

    #[test]
    fn pages_of_a_run_are_clicked_by_grade_and_rank() {
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        let request = SimulateRunRequest::new(
            path("good.run"),
            path("qrels"),
            user("pbm(max=2, noise=0)"),
            path("log"),
        );
        let request = request.sessions(20).length(3).users(7);
        let result = simulate_run(&request, &Context::default()).unwrap();
        // The first document is always clicked, the second of 600 with probability 1/3 * 1/2.
        assert_eq!((result.queries, result.impressions), (30, 600));
        assert_eq!(result.clicked_impressions, 600);
        assert!(result.clicks.abs_diff(700) < 40, "{}", result.clicks);
        assert_eq!(result.warnings[0].kind(), "unjudged-queries");
        let log = InspectClicksRequest::new(ClickFiles::new([path("log")]));
        let summary = inspect_clicks(&log, &Context::default()).unwrap().summary;
        assert_eq!((summary.queries, summary.users), (30, 7));
        assert_eq!((summary.ranks[0].clicked, summary.ranks[2].clicked), (600, 0));
        let again = fs::read(path("log")).unwrap();
        simulate_run(&request, &Context::default()).unwrap();
        assert_eq!(fs::read(path("log")).unwrap(), again);
    }

    #[test]
    fn clicks_on_interleaved_lists_find_the_better_run() {
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        for (_, method) in rankwright_clicks::interleave::InterleavingMethod::ALL {
            let runs = [path("bad.run"), path("good.run")];
            let lists = InterleaveRunsRequest::new(runs, path("lists")).method(*method).length(4);
            let lists = lists.requests(ListRequests::PerQuery(10));
            interleave_runs(&lists, &Context::default()).unwrap();
            let clicks = SimulateRunRequest::new(
                path("lists"),
                path("qrels"),
                user("pbm(max=2)"),
                path("log"),
            );
            let simulated = simulate_run(&clicks, &Context::default()).unwrap();
            assert_eq!(simulated.impressions, 300);
            let score =
                ScoreInterleavingRequest::new(ClickFiles::new([path("log")]), path("lists"));
            let result = score_interleaving(&score, &Context::default()).unwrap();
            let found = &result.comparisons[0].result;
            assert!(found.delta.unwrap() > 0.1 && found.p.unwrap() < 1e-6, "{result:?}");
            // A run against itself: no difference.
            let runs = [path("good.run"), path("good.run")];
            let same = InterleaveRunsRequest::new(runs, path("lists")).method(*method).length(4);
            let same = same.requests(ListRequests::PerQuery(10));
            interleave_runs(&same, &Context::default()).unwrap();
            simulate_run(&clicks, &Context::default()).unwrap();
            let result = score_interleaving(&score, &Context::default()).unwrap();
            assert!(result.comparisons[0].result.p.unwrap() > 0.01, "{method:?} {result:?}");
        }
        let twice = SimulateRunRequest::new(path("lists"), path("qrels"), user("pbm"), path("log"));
        let error = simulate_run(&twice.sessions(2), &Context::default()).unwrap_err();
        assert_eq!(error.kind(), "sessions-of-lists");
    }

    #[test]
    fn lists_without_a_judged_query_are_an_error() {
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("qrels"), "z 0 a 1\n").unwrap();
        let request =
            SimulateRunRequest::new(path("good.run"), path("qrels"), user("pbm"), path("log"));
        let error = simulate_run(&request, &Context::default()).unwrap_err();
        assert_eq!(error.kind(), "no-judged-query");
        let over =
            SimulateRunRequest::new(path("good.run"), path("qrels"), user("pbm"), path("qrels"));
        let error = simulate_run(&over, &Context::default()).unwrap_err();
        assert_eq!(error.kind(), "output-is-input");
    }
}
