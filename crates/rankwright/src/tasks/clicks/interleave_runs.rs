//! Interleaved lists of two or more runs, for a comparison by clicks.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rankwright_clicks::interleave::{
    InterleaveOptions, InterleavedPage, Interleaver, InterleavingError, InterleavingMethod,
    check_requests, read_requests, write_lists,
};
use rankwright_data::bytes::Input;
use rankwright_data::store::write_atomic;
use rankwright_data::{DataError, ListFormat, QueryLists, Run};
use rankwright_spec::{check_params, choices};
use serde::{Deserialize, Serialize};

use super::ListRequests;
use super::ranked_run::RankedRun;
use crate::tasks::context::RunningTask;
use crate::tasks::paths::check_used;
use crate::tasks::sources::source_names;
use crate::tasks::{Context, RunSource, TaskError, TaskInputs, Warning};

choices! {
    /// A format of interleaved lists.
    pub enum InterleavedFormat {
        /// JSON lines with the ranker of each document, from which clicks can be scored.
        JsonLines = "jsonl",
        /// A run in TREC form whose query ids are the ids of the requests.
        Trec = "trec",
    }
}

/// Runs to interleave.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct InterleaveRunsRequest {
    /// The runs; the first one is the baseline.
    pub runs: Vec<RunSource>,
    /// The method; if not given, `team-draft` for two runs and `multileave` for more.
    pub method: Option<InterleavingMethod>,
    /// The number of documents of a list, and the seed of the draws.
    #[serde(default)]
    pub options: InterleaveOptions,
    /// The requests.
    #[serde(default)]
    pub requests: ListRequests,
    /// Format of the file.
    #[serde(default)]
    pub format: InterleavedFormat,
    /// File for the lists; without one, the result has them.
    pub out: Option<PathBuf>,
}

impl TaskInputs for InterleaveRunsRequest {
    fn inputs(&self) -> Vec<PathBuf> {
        let requests = self.requests.path();
        let runs = self.runs.iter().filter_map(RunSource::path);
        runs.chain(requests).map(Path::to_owned).collect()
    }
}

impl InterleaveRunsRequest {
    /// A list of ten documents for each query.
    pub fn new(runs: impl IntoIterator<Item = impl Into<RunSource>>) -> Self {
        Self {
            runs: runs.into_iter().map(Into::into).collect(),
            method: None,
            options: InterleaveOptions::default(),
            requests: ListRequests::default(),
            format: InterleavedFormat::default(),
            out: None,
        }
    }

    /// Sets the method.
    pub fn method(mut self, method: InterleavingMethod) -> Self {
        self.method = Some(method);
        self
    }

    /// Sets the number of documents of a list.
    pub fn length(mut self, length: usize) -> Self {
        self.options.length = length;
        self
    }

    /// Sets the seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.options.seed = seed;
        self
    }

    /// Sets the requests.
    pub fn requests(mut self, requests: ListRequests) -> Self {
        self.requests = requests;
        self
    }

    /// Sets the file for the lists.
    pub fn out(mut self, file: impl Into<PathBuf>) -> Self {
        self.out = Some(file.into());
        self
    }

    /// Sets the format of the file.
    pub fn format(mut self, format: InterleavedFormat) -> Self {
        self.format = format;
        self
    }
}

/// Interleaved lists, in a file or in memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InterleaveRunsResult {
    /// The file that was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<PathBuf>,
    /// The lists, if no file was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<Vec<InterleavedPage>>,
    /// Name of the method.
    pub method: &'static str,
    /// Names of the rankers, in the order of the runs.
    pub rankers: Vec<String>,
    /// Number of queries with a list.
    pub queries: usize,
    /// Number of these queries for which all runs have the same first documents, so that clicks
    /// tell nothing about them.
    pub equal_queries: usize,
    /// Number of lists.
    pub requests: usize,
    /// Number of documents of all lists.
    pub documents: usize,
    /// Seconds of interleaving.
    pub seconds: f64,
    /// Warnings about runs and queries.
    pub warnings: Vec<Warning>,
}

/// Merges runs query by query into lists that are shown to users.
///
/// ```
/// use rankwright::tasks::{Context, InterleaveRunsRequest, interleave_runs};
///
/// # let folder = tempfile::tempdir()?;
/// let (old, new) = (folder.path().join("old.run"), folder.path().join("new.run"));
/// std::fs::write(&old, "q1 Q0 a 1 2 old\nq1 Q0 b 2 1 old\n")?;
/// std::fs::write(&new, "q1 Q0 b 1 2 new\nq1 Q0 c 2 1 new\n")?;
/// let request = InterleaveRunsRequest::new([old, new]).length(2);
/// let result = interleave_runs(&request, &Context::default())?;
/// assert_eq!((result.method, result.requests, result.documents), ("team-draft", 1, 2));
/// assert_eq!(result.rows.unwrap()[0].rankers, ["old.run", "new.run"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn interleave_runs(
    request: &InterleaveRunsRequest,
    context: &Context<'_>,
) -> Result<InterleaveRunsResult, TaskError> {
    check_params(&request.options, "interleave")?;
    let is_unused = request.out.is_none() && request.format != InterleavedFormat::default();
    check_used(is_unused, "format", "no file is written")?;
    let mut task = RunningTask::new(context);
    request.check_files(request.out.as_deref())?;
    let InterleaveOptions { length, seed, .. } = request.options;
    let method =
        request.method.unwrap_or_else(|| InterleavingMethod::for_rankings(request.runs.len()));
    // The number of runs is checked before any of them is read.
    let no_rankings: Vec<Vec<&str>> = vec![Vec::new(); request.runs.len()];
    Interleaver::new(method, &no_rankings, 0).map_err(|error| of_query(None, error))?;
    let rankers = source_names(&request.runs);
    let mut runs = Vec::new();
    for source in &request.runs {
        runs.push(RankedRun::load(source, &mut task)?);
    }
    let requests = request.requests.load(&runs, &mut task)?;
    let queries = common_queries(&runs, &mut task)?;
    let (pages, seconds) = task.step("interleaving", || {
        let rankings: Vec<Vec<Vec<String>>> = queries
            .iter()
            .map(|query| runs.iter().map(|run| run.documents(query).to_vec()).collect())
            .collect();
        let prepared = Interleaver::prepare_all(method, &rankings, length)
            .map_err(|(query, error)| of_query(queries.get(query), error))?;
        let by_query: HashMap<&str, &Interleaver> =
            queries.iter().map(String::as_str).zip(&prepared).collect();
        let page = |(id, query): &(String, String)| {
            let list = by_query.get(query.as_str())?.list(seed, id);
            Some(InterleavedPage::new(id, query, &rankers, list))
        };
        Ok::<_, TaskError>(requests.iter().filter_map(page).collect::<Vec<_>>())
    })?;
    if pages.is_empty() {
        return Err(TaskError::NoRequests);
    }
    if let Some(out) = &request.out {
        let step = format!("writing {}", out.display());
        task.step(&step, || write(&pages, out, request.format))?;
    }
    let mut shown: Vec<&str> = pages.iter().map(|page| page.query.as_str()).collect();
    shown.sort_unstable();
    shown.dedup();
    let top = |run: &RankedRun, query: &str| -> Vec<String> {
        run.documents(query).iter().take(length).cloned().collect()
    };
    let is_equal = |query: &&&str| {
        let mut tops = runs.iter().map(|run| top(run, query));
        let first = tops.next();
        tops.all(|other| Some(other) == first)
    };
    Ok(InterleaveRunsResult {
        out: request.out.clone(),
        method: method.name(),
        rankers,
        queries: shown.len(),
        equal_queries: shown.iter().filter(is_equal).count(),
        requests: pages.len(),
        documents: pages.iter().map(|page| page.list.documents().len()).sum(),
        rows: request.out.is_none().then_some(pages),
        seconds,
        warnings: task.into_warnings(),
    })
}

fn of_query(query: Option<&String>, source: InterleavingError) -> TaskError {
    TaskError::Interleaving { query: query.cloned(), source }
}

/// The queries that every run has, in the order of the first one; the others are a warning.
fn common_queries(
    runs: &[RankedRun],
    task: &mut RunningTask<'_>,
) -> Result<Vec<String>, TaskError> {
    let mut all: Vec<&str> = runs.iter().flat_map(RankedRun::queries).collect();
    all.sort_unstable();
    all.dedup();
    let is_common = |query: &&str| runs.iter().all(|run| !run.documents(query).is_empty());
    let common: Vec<String> = runs
        .first()
        .map(|run| run.queries().filter(is_common).map(str::to_owned).collect())
        .unwrap_or_default();
    match all.len() - common.len() {
        0 => {}
        queries => task.warn(Warning::UncommonQueries { queries }),
    }
    if common.is_empty() { Err(TaskError::NoCommonQuery) } else { Ok(common) }
}

impl ListRequests {
    /// Id and query of each request.
    fn load(
        &self,
        runs: &[RankedRun],
        task: &mut RunningTask<'_>,
    ) -> Result<Vec<(String, String)>, TaskError> {
        let requests = match self {
            Self::File(path) => {
                let step = format!("reading {}", path.display());
                task.step(&step, || read_requests(&Input::open(path)?))?.0
            }
            Self::Values(requests) => {
                check_requests(requests)?;
                requests.clone()
            }
            Self::PerQuery(count) => {
                let queries = runs.first().into_iter().flat_map(RankedRun::queries);
                let ids = |query: &str| -> Vec<(String, String)> {
                    let id = |number: usize| match count {
                        1 => query.to_owned(),
                        _ => format!("{query}#{number}"),
                    };
                    (1..=*count).map(|number| (id(number), query.to_owned())).collect()
                };
                return Ok(queries.flat_map(ids).collect());
            }
        };
        let is_unknown = |(_, query): &&(String, String)| {
            !runs.iter().any(|run| !run.documents(query).is_empty())
        };
        match requests.iter().filter(is_unknown).count() {
            0 => {}
            requests => task.warn(Warning::UnknownRequests { requests }),
        }
        Ok(requests)
    }
}

fn write(
    pages: &[InterleavedPage],
    out: &Path,
    format: InterleavedFormat,
) -> Result<(), DataError> {
    match format {
        InterleavedFormat::JsonLines => write_atomic(out, |out| write_lists(out, pages)),
        InterleavedFormat::Trec => {
            let rows = pages.iter().flat_map(|page| {
                let documents = page.list.documents().iter();
                // The scores fall by one from rank to rank.
                let scores = (1..=documents.len()).rev().map(|score| score as f64);
                documents.zip(scores).map(|(id, score)| (page.request.as_str(), id.as_str(), score))
            });
            let lists = QueryLists::from_rows("interleaved lists", rows)?;
            Run::from_lists(lists).save(out, ListFormat::Trec, "interleaved")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const OLD: &str = "q1 Q0 a 1 3 o\nq1 Q0 b 2 2 o\nq1 Q0 c 3 1 o\nq2 Q0 x 1 1 o\nq3 Q0 x 1 1 o\n";
    const NEW: &str = "q2 Q0 x 1 1 n\nq1 Q0 c 1 3 n\nq1 Q0 d 2 2 n\nq1 Q0 a 3 1 n\n";

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("old.run"), OLD).unwrap();
        fs::write(folder.path().join("new.run"), NEW).unwrap();
        folder
    }

    fn request(folder: &Path) -> InterleaveRunsRequest {
        let runs = ["old.run", "new.run"].map(|name| folder.join(name));
        InterleaveRunsRequest::new(runs).out(folder.join("lists"))
    }

    #[test]
    fn queries_of_all_runs_are_interleaved_and_others_are_a_warning() {
        let folder = folder();
        let result = interleave_runs(&request(folder.path()), &Context::default()).unwrap();
        assert_eq!((result.queries, result.requests, result.equal_queries), (2, 2, 1));
        assert_eq!(result.rankers, ["old.run", "new.run"]);
        let kinds: Vec<&str> = result.warnings.iter().map(Warning::kind).collect();
        assert_eq!(kinds, ["uncommon-queries"]);
        let lists = fs::read_to_string(folder.path().join("lists")).unwrap();
        assert!(
            lists.starts_with("{\"request\":\"q1\",\"query\":\"q1\",\"method\":\"team-draft\"")
        );
        assert_eq!(lists.lines().count(), 2);
    }

    #[test]
    fn requests_come_from_a_file_or_are_repeated() {
        let folder = folder();
        fs::write(folder.path().join("r.tsv"), "# id query\nr1\tq1\nr2 q1\nr3\tq9\n").unwrap();
        let file = ListRequests::File(folder.path().join("r.tsv"));
        let of_file = request(folder.path()).requests(file).format(InterleavedFormat::Trec);
        let result = interleave_runs(&of_file, &Context::default()).unwrap();
        assert_eq!((result.queries, result.requests), (1, 2));
        let kinds: Vec<&str> = result.warnings.iter().map(Warning::kind).collect();
        assert_eq!(kinds, ["unknown-requests", "uncommon-queries"]);
        let run = fs::read_to_string(folder.path().join("lists")).unwrap();
        assert!(run.lines().all(|line| line.starts_with("r1 Q0 ") || line.starts_with("r2 Q0 ")));
        let repeated = request(folder.path()).requests(ListRequests::PerQuery(3)).length(2);
        let result = interleave_runs(&repeated, &Context::default()).unwrap();
        assert_eq!((result.queries, result.requests), (2, 6));
        let lists = fs::read_to_string(folder.path().join("lists")).unwrap();
        assert!(lists.contains("\"request\":\"q1#3\""), "{lists}");
        fs::write(folder.path().join("r.tsv"), "r1\tq1\nr1\tq2\n").unwrap();
        let error = interleave_runs(&of_file, &Context::default()).unwrap_err();
        assert!(error.to_string().contains("r.tsv:2"), "{error}");
    }

    #[test]
    fn no_request_for_a_common_query_is_an_error() {
        let folder = folder();
        let error_of = |requests: ListRequests| {
            let request = request(folder.path()).requests(requests);
            interleave_runs(&request, &Context::default()).unwrap_err()
        };
        assert_eq!(error_of(ListRequests::PerQuery(0)).kind(), "no-requests");
        for text in ["", "# id query\n", "r1 q9\n"] {
            fs::write(folder.path().join("r.tsv"), text).unwrap();
            let error = error_of(ListRequests::File(folder.path().join("r.tsv")));
            assert_eq!(error.kind(), "no-requests", "{text}: {error}");
        }
        assert!(!folder.path().join("lists").exists());
    }

    #[test]
    fn runs_that_cannot_be_interleaved_are_errors() {
        let folder = folder();
        let three = ["old.run", "new.run", "old.run"].map(|name| folder.path().join(name));
        let three = InterleaveRunsRequest::new(three).out(folder.path().join("lists"));
        assert_eq!(interleave_runs(&three, &Context::default()).unwrap().method, "multileave");
        let error =
            interleave_runs(&three.method(InterleavingMethod::Balanced), &Context::default());
        assert_eq!(error.unwrap_err().kind(), "ranking-count");
        fs::write(folder.path().join("new.run"), "q1 Q0 a 1 2 n\nq1 Q0 a 2 1 n\n").unwrap();
        let error = interleave_runs(&request(folder.path()), &Context::default()).unwrap_err();
        assert_eq!(error.to_string(), "query 'q1': ranking 2 has the document 'a' twice");
        fs::write(folder.path().join("new.run"), "q7 Q0 a 1 2 n\n").unwrap();
        let error = interleave_runs(&request(folder.path()), &Context::default()).unwrap_err();
        assert!(matches!(error, TaskError::NoCommonQuery), "{error}");
    }
}
