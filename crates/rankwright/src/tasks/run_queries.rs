//! Runs: the documents of an index ranked for many queries, written to a run file.

use std::path::{Path, PathBuf};

use rankwright_data::{ListFormat, Run};
use rankwright_search::RunResult;
use rankwright_spec::words::counted;
use serde::Serialize;

use super::candidates::open_index;
use super::context::Running;
use super::{
    CandidateOptions, Context, QueryFile, TaskError, Warning, check_output, check_standard_input,
};

/// An index, queries, and the file for the run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunQueriesRequest {
    /// Folder of the index.
    pub index: PathBuf,
    /// The queries.
    pub queries: QueryFile,
    /// File of a model that re-ranks the candidates.
    pub model: Option<PathBuf>,
    /// The candidates.
    pub candidates: CandidateOptions,
    /// Number of documents of each query that are written.
    pub top: usize,
    /// Name of the run, its last column: one word.
    pub tag: String,
    /// File for the run.
    pub out: PathBuf,
    /// Format of the run; where not given, JSON lines for a file that ends in `.jsonl`, TREC for
    /// others.
    pub format: Option<ListFormat>,
}

impl RunQueriesRequest {
    /// Writes the 1,000 best documents of each query, by the first stage alone.
    pub fn new(index: impl Into<PathBuf>, queries: QueryFile, out: impl Into<PathBuf>) -> Self {
        RunQueriesRequest {
            index: index.into(),
            queries,
            model: None,
            candidates: CandidateOptions::new(),
            top: 1000,
            tag: "rankwright".to_owned(),
            out: out.into(),
            format: None,
        }
    }

    /// Re-ranks the candidates with a model.
    pub fn model(mut self, file: impl Into<PathBuf>) -> Self {
        self.model = Some(file.into());
        self
    }

    /// Sets first stage, filter and number of candidates.
    pub fn candidates(mut self, candidates: CandidateOptions) -> Self {
        self.candidates = candidates;
        self
    }

    /// Sets the number of documents of each query that are written.
    pub fn top(mut self, top: usize) -> Self {
        self.top = top;
        self
    }

    /// Sets the name of the run.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tag = tag.into();
        self
    }

    /// Sets the format of the run.
    pub fn format(mut self, format: ListFormat) -> Self {
        self.format = Some(format);
        self
    }

    fn inputs(&self) -> impl Iterator<Item = &Path> {
        self.model.as_deref().into_iter().chain([self.queries.path.as_path()])
    }

    fn list_format(&self) -> ListFormat {
        let is_jsonl = self.out.extension().is_some_and(|extension| extension == "jsonl");
        self.format.unwrap_or(if is_jsonl { ListFormat::Jsonl } else { ListFormat::Trec })
    }
}

/// The run that was written.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct RunQueriesResult {
    /// The file.
    pub out: PathBuf,
    /// Number of queries.
    pub queries: usize,
    /// Number of documents in the run.
    pub documents: usize,
    /// Number of queries that found nothing.
    pub empty: usize,
    /// Seconds of the ranking.
    pub seconds: f64,
    /// Warnings about queries, the filter and the model.
    pub warnings: Vec<Warning>,
    /// The run itself.
    #[serde(skip)]
    pub run: Run,
}

/// Ranks the documents of an index for many queries, and writes the run.
pub fn run_queries(
    request: &RunQueriesRequest,
    context: &Context<'_>,
) -> Result<RunQueriesResult, TaskError> {
    let mut task = Running::new(context);
    check_standard_input(request.inputs())?;
    check_output(&request.out, request.inputs())?;
    if request.tag.contains(char::is_whitespace) || request.tag.is_empty() {
        return Err(TaskError::TagNotOneWord { tag: request.tag.clone() });
    }
    let queries = request.queries.load(&task)?;
    let index = open_index(&request.index, &task)?;
    let filter = request.candidates.make_filter(&index, &mut task)?;
    let ranker = request.candidates.make_ranker(index, request.model.as_deref(), &task)?;
    let step = format!("ranking documents for {}", counted(queries.len(), "query"));
    let work = || ranker.run(&queries, filter.as_ref(), request.top);
    let RunResult { run, queries, documents, empty, seconds, warnings, .. } =
        task.step(&step, work)?.0;
    task.warn_of_search(warnings);
    let step = format!("writing {}", request.out.display());
    task.step(&step, || run.save(&request.out, request.list_format(), &request.tag))?;
    Ok(RunQueriesResult {
        out: request.out.clone(),
        queries,
        documents,
        empty,
        seconds,
        warnings: task.into_warnings(),
        run,
    })
}
