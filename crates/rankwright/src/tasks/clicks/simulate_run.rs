//! Clicks of simulated users on the rankings of a run, or on interleaved lists.
//!
//! The log has the form of UBI (User Behavior Insights): a line for each page, whose `query_id` is
//! the id of the request and whose `user_query` is the id of the query, and a line for each click.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rankwright_clicks::Impression;
use rankwright_clicks::interleave::read_lists;
use rankwright_clicks::log::write::{LogTarget, LogWriter};
use rankwright_clicks::simulate::{SimulateRunOptions, SimulatedPage, SimulatedUser, shown_pages};
use rankwright_data::Run;
use rankwright_data::bytes::Input;
use rankwright_data::store::write_atomic_with;
use rankwright_spec::check_params;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ListsSource;
use super::query_grades::QueryGrades;
use super::ranked_run::RankedRun;
use crate::tasks::context::RunningTask;
use crate::tasks::sources::no_json_form;
use crate::tasks::{Context, QrelsSource, RunSource, TaskError, TaskInputs, Warning};

/// The rankings that simulated users see.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ShownLists {
    /// A file: a run, or interleaved lists; told by content.
    File(PathBuf),
    /// A run in memory, or its file.
    Run(RunSource),
    /// Interleaved lists in memory, or their file.
    Lists(ListsSource),
}

impl ShownLists {
    /// The file, if it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            ShownLists::File(path) => Some(path),
            ShownLists::Run(run) => run.path(),
            ShownLists::Lists(lists) => lists.path(),
        }
    }

    /// The path of the file, or the name of the value in memory.
    pub fn name(&self) -> String {
        match self {
            ShownLists::File(path) => path.display().to_string(),
            ShownLists::Run(run) => run.name(),
            ShownLists::Lists(lists) => lists.name(),
        }
    }
}

impl From<RunSource> for ShownLists {
    fn from(run: RunSource) -> Self {
        ShownLists::Run(run)
    }
}

impl From<ListsSource> for ShownLists {
    fn from(lists: ListsSource) -> Self {
        ShownLists::Lists(lists)
    }
}

impl From<PathBuf> for ShownLists {
    fn from(path: PathBuf) -> Self {
        ShownLists::File(path)
    }
}

impl From<&PathBuf> for ShownLists {
    fn from(path: &PathBuf) -> Self {
        ShownLists::File(path.clone())
    }
}

impl From<&str> for ShownLists {
    fn from(path: &str) -> Self {
        ShownLists::File(path.into())
    }
}

/// A file is its path in JSON; values in memory have no JSON form.
impl Serialize for ShownLists {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.path() {
            Some(path) => path.serialize(serializer),
            None => Err(no_json_form(&self.name())),
        }
    }
}

impl<'de> Deserialize<'de> for ShownLists {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        PathBuf::deserialize(deserializer).map(ShownLists::File)
    }
}

/// A run or interleaved lists, judgements, and the users who click.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SimulateRunRequest {
    /// The run, or the interleaved lists.
    pub lists: ShownLists,
    /// The judgements that determine clicks; documents without one have grade 0.
    pub qrels: QrelsSource,
    /// The users; `pbm` if not given.
    #[serde(default)]
    pub user: SimulatedUser,
    /// The number of pages, of their documents and of users, and the seed. Interleaved lists are
    /// shown once each.
    #[serde(default)]
    pub options: SimulateRunOptions,
    /// File for the log; without one, the result has the pages.
    pub out: Option<PathBuf>,
}

impl TaskInputs for SimulateRunRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        self.lists.path().into_iter().chain(self.qrels.path()).map(Path::to_owned).collect()
    }
}

impl SimulateRunRequest {
    /// One page of ten documents for each query, seen by users of `pbm`.
    pub fn new(lists: impl Into<ShownLists>, qrels: impl Into<QrelsSource>) -> Self {
        Self {
            lists: lists.into(),
            qrels: qrels.into(),
            user: SimulatedUser::default(),
            options: SimulateRunOptions::default(),
            out: None,
        }
    }

    /// Sets the users.
    pub fn user(mut self, user: SimulatedUser) -> Self {
        self.user = user;
        self
    }

    /// Sets the file for the log.
    pub fn out(mut self, file: impl Into<PathBuf>) -> Self {
        self.out = Some(file.into());
        self
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

/// A simulated log, in a file or in memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SimulateRunResult {
    /// The file that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<PathBuf>,
    /// The pages, if no file was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<Vec<Impression>>,
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

/// Simulates the clicks of users on a run or on interleaved lists: a click log.
pub fn simulate_run(
    request: &SimulateRunRequest,
    context: &Context<'_>,
) -> Result<SimulateRunResult, TaskError> {
    check_params(&request.options, "simulation")?;
    let mut task = RunningTask::new(context);
    request.check_files(request.out.as_deref())?;
    let qrels = request.qrels.load(&mut task)?;
    let (mut pages, sessions) = load_pages(request, &mut task)?;
    let grades = QueryGrades::new(&qrels);
    let mut queries: Vec<&str> = pages.iter().map(|page| page.query.as_str()).collect();
    queries.sort_unstable();
    queries.dedup();
    let unjudged = queries.iter().filter(|query| !grades.has(query)).count();
    let queries = queries.len() - unjudged;
    if unjudged > 0 {
        let run = request.lists.name();
        task.warn(Warning::UnjudgedQueries { run, queries: unjudged });
    }
    pages.retain(|page| grades.has(&page.query));
    if pages.is_empty() {
        return Err(TaskError::NoJudgedQuery { file: request.lists.name() });
    }
    let mut result = SimulateRunResult {
        out: request.out.clone(),
        pages: None,
        queries,
        // The range of sessions keeps this below 2^63.
        impressions: pages.len() as u64 * sessions as u64,
        clicked_impressions: 0,
        clicks: 0,
        seconds: 0.0,
        warnings: Vec::new(),
    };
    let grade = |query: &str, id: &str| grades.grade(query, id).unwrap_or(0.0);
    let shown = shown_pages(&pages, sessions, &request.user, &request.options, grade);
    let mut counted = shown.map(|page| match context.is_cancelled() {
        true => Err(TaskError::Cancelled),
        false => {
            result.clicks += page.clicks.len() as u64;
            result.clicked_impressions += u64::from(!page.clicks.is_empty());
            Ok(page)
        }
    });
    let (kept, seconds) = match &request.out {
        Some(out) => {
            let step = format!("simulating users into {}", out.display());
            task.step(&step, || write_pages(counted, out).map(|()| None))?
        }
        None => {
            let collect = || counted.by_ref().collect::<Result<Vec<Impression>, _>>().map(Some);
            task.step("simulating users", collect)?
        }
    };
    result.pages = kept;
    result.seconds = seconds;
    result.warnings = task.into_warnings();
    Ok(result)
}

/// Writes pages as a log of UBI.
fn write_pages(
    pages: impl Iterator<Item = Result<Impression, TaskError>>,
    out: &Path,
) -> Result<(), TaskError> {
    write_atomic_with(out, |file| {
        let mut writer = LogWriter::new(LogTarget::Ubi, file)?;
        for page in pages {
            writer.write(&page?)?;
        }
        writer.finish()?;
        Ok(())
    })
}

/// The pages of a session, of a run or of interleaved lists, and the number of sessions.
fn load_pages(
    request: &SimulateRunRequest,
    task: &mut RunningTask<'_>,
) -> Result<(Vec<SimulatedPage>, usize), TaskError> {
    let sessions = request.options.sessions;
    let lists = match &request.lists {
        ShownLists::Run(run) => {
            return Ok((run_pages(&RankedRun::load(run, task)?, request), sessions));
        }
        ShownLists::Lists(lists) => lists.load(task)?,
        ShownLists::File(path) => {
            let step = format!("reading {}", path.display());
            let (input, _) = task.step(&step, || Input::open(path))?;
            if !is_lists(&input.bytes) {
                let (run, warnings) = Run::read(input)?;
                task.warn_of(&warnings);
                return Ok((run_pages(&RankedRun::new(&run)?, request), sessions));
            }
            Arc::new(read_lists(&input)?)
        }
    };
    if sessions > 1 {
        return Err(TaskError::SessionsOfLists { sessions });
    }
    let pages = lists.iter().map(|page| SimulatedPage {
        documents: page.list.documents().to_vec(),
        request: page.request.clone(),
        query: page.query.clone(),
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
        let request = SimulateRunRequest::new(path("good.run"), path("qrels")).out(path("log"));
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
        let request = SimulateRunRequest::new(path("good.run"), path("qrels"))
            .user(user("pbm(max=2, noise=0)"))
            .out(path("log"));
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
            let lists =
                InterleaveRunsRequest::new(runs).out(path("lists")).method(*method).length(4);
            let lists = lists.requests(ListRequests::PerQuery(10));
            interleave_runs(&lists, &Context::default()).unwrap();
            let clicks = SimulateRunRequest::new(path("lists"), path("qrels"))
                .user(user("pbm(max=2)"))
                .out(path("log"));
            let simulated = simulate_run(&clicks, &Context::default()).unwrap();
            assert_eq!(simulated.impressions, 300);
            let score =
                ScoreInterleavingRequest::new(ClickFiles::new([path("log")]), path("lists"));
            let result = score_interleaving(&score, &Context::default()).unwrap();
            let found = &result.comparisons[0].result;
            assert!(found.delta.unwrap() > 0.1 && found.p.unwrap() < 1e-6, "{result:?}");
            // A run against itself: no difference.
            let runs = [path("good.run"), path("good.run")];
            let same =
                InterleaveRunsRequest::new(runs).out(path("lists")).method(*method).length(4);
            let same = same.requests(ListRequests::PerQuery(10));
            interleave_runs(&same, &Context::default()).unwrap();
            simulate_run(&clicks, &Context::default()).unwrap();
            let result = score_interleaving(&score, &Context::default()).unwrap();
            assert!(result.comparisons[0].result.p.unwrap() > 0.01, "{method:?} {result:?}");
        }
        let twice = SimulateRunRequest::new(path("lists"), path("qrels")).out(path("log"));
        let error = simulate_run(&twice.sessions(2), &Context::default()).unwrap_err();
        assert_eq!(error.kind(), "sessions-of-lists");
    }

    #[test]
    fn lists_without_a_judged_query_are_an_error() {
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("qrels"), "z 0 a 1\n").unwrap();
        let request = SimulateRunRequest::new(path("good.run"), path("qrels")).out(path("log"));
        let error = simulate_run(&request, &Context::default()).unwrap_err();
        assert_eq!(error.kind(), "no-judged-query");
        let over = SimulateRunRequest::new(path("good.run"), path("qrels")).out(path("qrels"));
        let error = simulate_run(&over, &Context::default()).unwrap_err();
        assert_eq!(error.kind(), "output-is-input");
    }
}
