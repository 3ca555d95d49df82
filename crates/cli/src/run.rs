//! `run`: ranks many queries on an index and writes a run file.

use std::path::{Path, PathBuf};

use rankwright::search::DEFAULT_DOCUMENTS;
use rankwright::spec::words::counted;
use rankwright::tasks::{RunQueriesRequest, RunQueriesResult, run_queries};

use crate::failure::Failure;
use crate::output::{Output, path_text};
use crate::progress::run_task;
use crate::ranking::{QueryArgs, StageArgs};

/// Rank the documents of an index for many queries: a run file.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The index
    #[arg(value_name = "INDEX")]
    index: PathBuf,
    #[command(flatten)]
    queries: QueryArgs,
    /// A model that re-ranks the candidates; it names the features that it needs
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,
    #[arg(long, value_name = "N", help = candidates_help(), value_parser = clap::value_parser!(u32).range(1..))]
    candidates: Option<u32>,
    /// Number of documents of each query that are written
    #[arg(short = 'k', long, value_name = "N", default_value_t = RunQueriesRequest::DEFAULT_TOP)]
    top: usize,
    #[command(flatten)]
    stage: StageArgs,
    /// The name of the run, its last column
    #[arg(long, value_name = "NAME", default_value = RunQueriesRequest::DEFAULT_TAG)]
    tag: String,
    /// File for the run, in TREC form; as JSON lines if it ends in .jsonl
    #[arg(long, value_name = "RUN")]
    out: PathBuf,
}

fn candidates_help() -> String {
    format!(
        "Number of candidates of each query; by default that of the model's training, or \
         {DEFAULT_DOCUMENTS} without a model"
    )
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    out.check_not_stdout(&args.out)?;
    let mut request = RunQueriesRequest::new(&args.index, args.queries.file())
        .out(&args.out)
        .candidates(args.stage.candidates(args.candidates)?)
        .top(args.top)
        .tag(args.tag.as_str());
    request.model = args.model.as_ref().map(Into::into);
    let result = run_task(out, |context| run_queries(&request, context))?;
    match args.out == Path::new("-") {
        true => Ok(()),
        false => out.show(&result, text),
    }
}

fn text(result: &RunQueriesResult) -> String {
    let (queries, seconds) = (result.result.queries, result.result.seconds);
    let rate = queries as f64 / seconds.max(1e-9);
    format!(
        "{}: {} of {} in {seconds:.2} s ({rate:.0} queries/s)",
        path_text(result.out.as_deref()),
        counted(result.result.documents, "document"),
        counted(queries, "query"),
    )
}
