//! `data`: inspects, converts, splits and generates data sets.

mod convert;
mod generate;
mod inspect;
mod split;

use clap::Subcommand;

use crate::failure::Failure;
use crate::output::Output;

#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// Show counts, distributions of labels and query sizes, unusual features, warnings
    Inspect(inspect::Args),
    /// Convert any format to any other
    Convert(convert::Args),
    /// Split by query, into parts or folds
    Split(split::Args),
    /// Generate reproducible data
    #[command(subcommand)]
    Generate(generate::GeneratorArgs),
}

pub(crate) fn run(command: &DataCommand, out: &Output) -> Result<(), Failure> {
    match command {
        DataCommand::Inspect(args) => inspect::run(args, out),
        DataCommand::Convert(args) => convert::run(args, out),
        DataCommand::Split(args) => split::run(args, out),
        DataCommand::Generate(what) => generate::run(what, out),
    }
}
