//! `model`: inspects models, and converts them to those of other systems.

mod convert;
mod inspect;

use clap::Subcommand;

use crate::failure::Failure;
use crate::output::Output;

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Show the training of a model, its parts, and the importance of its features
    Inspect(inspect::Args),
    /// Convert a model of any known system to another
    Convert(convert::Args),
}

pub(crate) fn run(command: &ModelCommand, out: &Output) -> Result<(), Failure> {
    match command {
        ModelCommand::Inspect(args) => inspect::run(args, out),
        ModelCommand::Convert(args) => convert::run(args, out),
    }
}
