//! `report`: pages that show a training, a comparison, a data set or a click log.

mod clicks;
mod compare;
mod data;
mod shrinkage;
mod tradeoff;
mod train;

use clap::Subcommand;

use crate::failure::Failure;
use crate::output::Output;

/// The reports.
#[derive(Debug, Subcommand)]
pub(crate) enum ReportCommand {
    /// Learning curves, lambdas, forces, importance, time and trees of a trained model
    Train(train::Args),
    /// The learning curves of one learner with several shrinkages, overlaid
    Shrinkage(shrinkage::Args),
    /// The values of two goals, traded against each other by one learner with several weights
    Tradeoff(tradeoff::Args),
    /// Comparison of systems: which is better, on which queries, and by how much
    Compare(compare::Args),
    /// Labels, query sizes and features of a data set, and their relation to relevance
    Data(data::Args),
    /// Click rates, position bias and click models of a click log
    Clicks(clicks::Args),
}

pub(crate) fn run(command: &ReportCommand, out: &Output) -> Result<(), Failure> {
    match command {
        ReportCommand::Train(args) => train::run(args, out),
        ReportCommand::Shrinkage(args) => shrinkage::run(args, out),
        ReportCommand::Tradeoff(args) => tradeoff::run(args, out),
        ReportCommand::Compare(args) => compare::run(args, out),
        ReportCommand::Data(args) => data::run(args, out),
        ReportCommand::Clicks(args) => clicks::run(args, out),
    }
}
