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
    /// How a model learnt: curves, lambdas, forces, importance, time, trees
    Train(train::Args),
    /// The learning curves of one learner with several shrinkages, overlaid
    Shrinkage(shrinkage::Args),
    /// Which system is better, on which queries, and by how much
    Compare(compare::Args),
    /// What a data set looks like: labels, sizes, features and what they tell about relevance
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
