//! `model convert`: converts the model file of one system to that of another.

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use rankwright::model::ModelFormat;
use rankwright::spec::words::counted;
use rankwright::tasks::{ConvertModelRequest, convert_model};

use crate::failure::Failure;
use crate::output::{Output, check_order};
use crate::progress::run_task;

/// Convert a model of any known system to that of another.
///
/// Models are recognised by content; `rankwright list formats` shows every system. A model that the
/// other format cannot express is an error. docs/interchange.md describes what each format keeps.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The model; `-` is standard input
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// File for the model, if --out is not given; `-` is standard output
    #[arg(value_name = "OUT", required_unless_present = "out", conflicts_with = "out")]
    target: Option<PathBuf>,
    /// The format to write
    #[arg(long, value_name = "FORMAT", default_value = "rankwright",
        value_parser = PossibleValuesParser::new(ModelFormat::writable().map(|format| format.name)))]
    to: String,
    /// File for the model; `-` is standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Number of the first feature of a model whose features have numbers and no names: 1 if it
    /// was trained on the columns of LETOR data
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u32).range(0..=1))]
    first_feature: Option<u32>,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let Some(target) = args.out.as_ref().or(args.target.as_ref()) else {
        return Err(Failure::usage("give the file to write: MODEL OUT"));
    };
    if args.out.is_none() {
        check_order("model convert", &args.model, target)?;
    }
    out.check_not_stdout(target)?;
    let request = ConvertModelRequest::new(&args.model, &args.to)
        .out(target)
        .first_feature(args.first_feature);
    let result = run_task(out, |context| convert_model(&request, context))?;
    if target == Path::new("-") {
        return Ok(());
    }
    out.show(&result, |result| {
        let (from, to) = (result.from, result.to);
        format!("{from} model with {}, written for {to}\n", counted(result.features, "feature"))
    })
}
