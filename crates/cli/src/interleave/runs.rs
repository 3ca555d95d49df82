//! `interleave`: runs merged into lists that are shown to users.

use std::path::{Path, PathBuf};

use rankwright::clicks::interleave::{InterleaveOptions, InterleavingMethod};
use rankwright::spec::words::counted;
use rankwright::tasks::{
    InterleaveRunsRequest, InterleaveRunsResult, InterleavedFormat, ListRequests, interleave_runs,
};

use crate::clicks::choice;
use crate::declared::{help, value};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::run_task;

/// Merge runs, query by query, into lists that are shown to users.
#[derive(Debug, clap::Args)]
pub(crate) struct InterleavedRuns {
    /// Two or more runs; the first one is the baseline
    #[arg(value_name = "RUN", num_args = 2.., required = true)]
    runs: Vec<PathBuf>,
    /// Method: balanced, team-draft, probabilistic or optimised for two runs, multileave for any
    /// number; by default team-draft for two and multileave for more
    #[arg(long, value_name = "METHOD", value_parser = choice::<InterleavingMethod>)]
    method: Option<InterleavingMethod>,
    #[arg(
        short = 'k',
        long,
        value_name = "N",
        default_value_t = InterleaveOptions::default().length,
        value_parser = value::<InterleaveOptions, usize>("length"),
        help = help::<InterleaveOptions>("length")
    )]
    top: usize,
    #[arg(
        long,
        value_name = "N",
        default_value_t = InterleaveOptions::default().seed,
        help = help::<InterleaveOptions>("seed")
    )]
    seed: u64,
    /// Number of lists for each query, with the request ids q1#1, q1#2, ...
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Requests to make lists for: a file with the id of a request and that of its query in each
    /// line
    #[arg(long, value_name = "FILE", conflicts_with = "repeat")]
    requests: Option<PathBuf>,
    /// Format of the lists: jsonl, which `interleave score` needs, or trec, a run whose query ids
    /// are those of the requests
    #[arg(long, value_name = "FORMAT", default_value = InterleavedFormat::default().name(), value_parser = choice::<InterleavedFormat>)]
    to: InterleavedFormat,
    /// File for the lists
    #[arg(long, value_name = "FILE", required = true)]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &InterleavedRuns, out: &Output) -> Result<(), Failure> {
    let Some(file) = &args.out else { return Err(Failure::usage("give a file with --out")) };
    out.check_not_stdout(file)?;
    let requests = match &args.requests {
        Some(path) => ListRequests::File(path.clone()),
        None => ListRequests::PerQuery(args.repeat as usize),
    };
    let mut request = InterleaveRunsRequest::new(&args.runs)
        .out(file)
        .length(args.top)
        .seed(args.seed)
        .requests(requests)
        .format(args.to);
    request.method = args.method;
    let result = run_task(out, |context| interleave_runs(&request, context))?;
    match file.as_os_str() == "-" {
        true => Ok(()),
        false => out.show(&result, |result| text(file, result)),
    }
}

fn text(file: &Path, result: &InterleaveRunsResult) -> String {
    let equal = match result.equal_queries {
        0 => String::new(),
        equal => {
            format!("; the runs agree on {}, which can show no difference", counted(equal, "query"))
        }
    };
    format!(
        "{}: {} for {} by {} of {}{equal}\n",
        file.display(),
        counted(result.requests, "list"),
        counted(result.queries, "query"),
        result.method,
        result.rankers.join(", ")
    )
}
