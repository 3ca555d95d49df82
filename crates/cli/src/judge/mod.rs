//! `judge`: pairwise judgements of people or language models, from questions to training data.

mod aggregate;
mod check;
mod prompts;
mod read;

use crate::failure::Failure;
use crate::output::Output;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum JudgeCommand {
    /// Write questions: which of two documents is better for a query
    Prompts(prompts::Args),
    /// Read answers such as "A > B" into judgements
    Read(read::Args),
    /// Check judgements: flips, preference for the first place, cycles, agreement
    Check(check::Args),
    /// Turn judgements into pairs to train on, or into grades, by a Bradley-Terry model
    Aggregate(aggregate::Args),
}

pub(crate) fn run(command: &JudgeCommand, out: &Output) -> Result<(), Failure> {
    match command {
        JudgeCommand::Prompts(args) => prompts::run(args, out),
        JudgeCommand::Read(args) => read::run(args, out),
        JudgeCommand::Check(args) => check::run(args, out),
        JudgeCommand::Aggregate(args) => aggregate::run(args, out),
    }
}
