//! `model convert`: from the model file of one system to that of another.

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use rankwright::data::FeatureNames;
use rankwright::data::bytes::Input;
use rankwright::data::store::write_atomic;
use rankwright::model::{Model, ModelFormat};
use serde_json::json;

use crate::failure::Failure;
use crate::input::not_over_an_input;
use crate::output::Output;

/// Turn a model of any known system into that of another.
///
/// Models are read by content; `rankwright list formats` shows every system. What the other format
/// cannot express is an error. docs/interchange.md says what each keeps.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The model; `-` is standard input
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// The format to write
    #[arg(long, value_name = "FORMAT", default_value = "rankwright",
        value_parser = PossibleValuesParser::new(ModelFormat::writable().map(|format| format.name)))]
    to: String,
    /// Where the model goes; `-` is standard output
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Number of the first feature of a model whose features have numbers and no names: 1 where it was
    /// trained on the columns of LETOR data
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u32).range(0..=1))]
    first_feature: Option<u32>,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    out.keeps_stdout_free(&args.out)?;
    not_over_an_input(&args.out, [args.model.as_path()])?;
    let input = Input::open(&args.model)?;
    let read = Model::from_bytes(&input.bytes).map_err(|error| error.in_file(&input.name));
    let (mut model, from) = (read?, ModelFormat::detect(&input.bytes));
    if let Some(first) = args.first_feature {
        model = renumbered(model, first)?;
    }
    let to = ModelFormat::find(&args.to)?;
    let bytes = model.to_bytes_as(to)?;
    write_atomic(&args.out, |to| to.write_all(&bytes))?;
    if args.out == Path::new("-") {
        return Ok(());
    }
    let features = model.header().features.len();
    let (from, to) = (from.map_or("", |format| format.name), to.name);
    out.result(
        || json!({ "from": from, "to": to, "features": features, "bytes": bytes.len() }),
        || format!("{from} model of {features} features, written for {to}\n"),
    )
}

/// The same model with its features numbered from another number on.
fn renumbered(model: Model, first: u32) -> Result<Model, Failure> {
    let (mut header, kind) = model.into_parts();
    match header.features {
        FeatureNames::Ids { count, .. } => header.features = FeatureNames::Ids { first, count },
        FeatureNames::Named(_) => {
            return Err(Failure::request(
                "the features have names: --first-feature does not apply",
            ));
        }
    }
    Ok(Model::new(header, kind)?)
}
