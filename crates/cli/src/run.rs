//! `run`: ranks many queries on an index and writes a run file.

use std::path::{Path, PathBuf};

use rankwright::data::ListFormat;
use rankwright::search::RunResult;
use serde::Serialize;

use crate::failure::Failure;
use crate::input::not_over_an_input;
use crate::output::Output;
use crate::progress::timed;
use crate::ranking::{QueryArgs, StageArgs, open_index};

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
    /// Number of candidates of each query; by default that of the model's training, or 1000 without
    /// a model
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    candidates: Option<u32>,
    /// Number of documents of each query that are written
    #[arg(short = 'k', long, value_name = "N", default_value_t = 1000)]
    top: usize,
    #[command(flatten)]
    stage: StageArgs,
    /// The name of the run, its last column
    #[arg(long, value_name = "NAME", default_value = "rankwright")]
    tag: String,
    /// File for the run, in TREC form; as JSON lines if it ends in .jsonl
    #[arg(long, value_name = "RUN")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    out.keeps_stdout_free(&args.out)?;
    not_over_an_input(&args.out, args.model.as_deref().into_iter().chain([args.queries.path()]))?;
    if args.tag.contains(char::is_whitespace) || args.tag.is_empty() {
        return Err(Failure::usage("--tag is one word, as runs are split at blanks"));
    }
    let queries = args.queries.read()?;
    let index = open_index(&args.index, out)?;
    let filter = args.stage.filter(&index, out)?;
    let ranker = args.stage.ranker(&index, args.candidates, args.model.as_deref(), out)?;
    let what = format!("ranking {} queries", queries.len());
    let result = timed(out, &what, || ranker.run(&queries, filter.as_ref(), args.top)).0?;
    out.warn(&result.warnings);
    let is_jsonl = args.out.extension().is_some_and(|extension| extension == "jsonl");
    let format = if is_jsonl { ListFormat::Jsonl } else { ListFormat::Trec };
    result.run.save(&args.out, format, &args.tag)?;
    if args.out.as_os_str() == "-" {
        return Ok(());
    }
    out.show(&WrittenRun { out: &args.out, result: &result }, |_| {
        let RunResult { documents, queries, seconds, .. } = result;
        let rate = queries as f64 / seconds.max(1e-9);
        format!(
            "{}: {documents} documents of {queries} queries in {seconds:.2} s ({rate:.0} queries/s)",
            args.out.display(),
        )
    })
}

/// A run and the file it was written to.
#[derive(Serialize)]
struct WrittenRun<'a> {
    out: &'a Path,
    #[serde(flatten)]
    result: &'a RunResult,
}
