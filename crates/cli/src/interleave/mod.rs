//! `interleave`: interleaved comparisons of rankers, from runs to the table of wins and losses.

mod runs;
mod score;
mod simulate;

use crate::failure::Failure;
use crate::output::Output;

/// Merge runs into lists that are shown to users, and compare the runs by the clicks on them.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<InterleaveCommand>,
    #[command(flatten)]
    runs: runs::InterleavedRuns,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum InterleaveCommand {
    /// Compare the rankers by the clicks on interleaved lists: wins, losses and significance
    Score(score::Args),
    /// Simulate users who click on interleaved lists, or on a run, by the grades of the documents
    Simulate(simulate::Args),
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    match &args.command {
        None => runs::run(&args.runs, out),
        Some(InterleaveCommand::Score(args)) => score::run(args, out),
        Some(InterleaveCommand::Simulate(args)) => simulate::run(args, out),
    }
}
