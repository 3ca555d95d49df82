//! `report`: pages that show a training, a comparison or a data set.

mod compare;
mod data;
mod shrinkage;
mod train;

use clap::Subcommand;

use crate::failure::Failure;
use crate::output::Output;

/// The reports.
#[derive(Debug, Subcommand)]
pub(crate) enum ReportVerb {
    /// Learning curves, lambdas, forces, importance, time and trees of a trained model
    Train(train::Args),
    /// The learning curves of one learner with several shrinkages, overlaid
    Shrinkage(shrinkage::Args),
    /// Comparison of systems: which is better, on which queries, and by how much
    Compare(compare::Args),
    /// Labels, query sizes and features of a data set, and their relation to relevance
    Data(data::Args),
}

pub(crate) fn run(verb: &ReportVerb, out: &Output) -> Result<(), Failure> {
    match verb {
        ReportVerb::Train(args) => train::run(args, out),
        ReportVerb::Shrinkage(args) => shrinkage::run(args, out),
        ReportVerb::Compare(args) => compare::run(args, out),
        ReportVerb::Data(args) => data::run(args, out),
    }
}
