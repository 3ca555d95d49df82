//! `interleave simulate`: clicks of simulated users on interleaved lists or on a run.

use std::path::{Path, PathBuf};

use rankwright::clicks::simulate::SimulatedUser;
use rankwright::spec::words::counted;
use rankwright::tasks::{SimulateRunOptions, SimulateRunRequest, SimulateRunResult, simulate_run};

use crate::declared::{help, value};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::run_task;

/// Simulate users who click on interleaved lists, or on a run, by the grades of the documents.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Interleaved lists of `interleave --out`, each shown once, or a run
    #[arg(value_name = "LISTS")]
    lists: PathBuf,
    /// Judgements that determine clicks; documents without one have grade 0
    #[arg(long, value_name = "QRELS")]
    qrels: PathBuf,
    /// The users: pbm, cascade, dbn or trust, with parameters such as `pbm(eta=1, noise=0.1,
    /// max=4)`
    #[arg(long, value_name = "SPEC", default_value_t = SimulatedUser::default().spec())]
    user: String,
    #[arg(
        long,
        value_name = "N",
        default_value_t = SimulateRunOptions::default().sessions,
        value_parser = value::<SimulateRunOptions, usize>("sessions"),
        help = help::<SimulateRunOptions>("sessions")
    )]
    sessions: usize,
    #[arg(
        short = 'k',
        long,
        value_name = "N",
        default_value_t = SimulateRunOptions::default().length,
        help = help::<SimulateRunOptions>("length")
    )]
    top: usize,
    #[arg(
        long,
        value_name = "N",
        value_parser = value::<SimulateRunOptions, usize>("users"),
        help = help::<SimulateRunOptions>("users")
    )]
    users: Option<usize>,
    #[arg(
        long,
        value_name = "N",
        default_value_t = SimulateRunOptions::default().seed,
        help = help::<SimulateRunOptions>("seed")
    )]
    seed: u64,
    /// File for the click log, as JSON lines of UBI
    #[arg(long, value_name = "LOG")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    out.check_not_stdout(&args.out)?;
    let mut request = SimulateRunRequest::new(&args.lists, &args.qrels)
        .user(SimulatedUser::parse(&args.user)?)
        .out(&args.out)
        .sessions(args.sessions)
        .length(args.top)
        .seed(args.seed);
    request.options.users = args.users;
    let result = run_task(out, |context| simulate_run(&request, context))?;
    match args.out.as_os_str() == "-" {
        true => Ok(()),
        false => out.show(&result, |result| text(&args.out, result)),
    }
}

fn text(file: &Path, result: &SimulateRunResult) -> String {
    format!(
        "{}: {} on {} of {}, {} of them with a click\n",
        file.display(),
        counted(result.clicks as usize, "click"),
        counted(result.impressions as usize, "page"),
        counted(result.queries, "query"),
        result.clicked_impressions
    )
}
