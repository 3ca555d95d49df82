//! `model`: look into models, and turn them into those of other systems.

mod convert;
mod inspect;

use clap::Subcommand;

use crate::failure::Failure;
use crate::output::Output;

#[derive(Debug, Subcommand)]
pub(crate) enum ModelVerb {
    /// How a model was made, what it is made of, and which features matter
    Inspect(inspect::Args),
    /// A model of any known system, written for another
    Convert(convert::Args),
}

pub(crate) fn run(verb: &ModelVerb, out: &Output) -> Result<(), Failure> {
    match verb {
        ModelVerb::Inspect(args) => inspect::run(args, out),
        ModelVerb::Convert(args) => convert::run(args, out),
    }
}
