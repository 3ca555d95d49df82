//! `score`: one number for each row, by a model.

use std::path::{Path, PathBuf};

use rankwright::data::write_scores;
use serde_json::json;

use crate::failure::Failure;
use crate::input::{ReadArgs, not_over_an_input, one_stdin, open};
use crate::models::score;
use crate::output::Output;

/// Score feature data with a model: one score a line, in the row order of the input.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The model
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Feature data; several files are one data set
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// Where the scores go; standard output if not given
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Pass over features that the model does not know
    #[arg(long)]
    ignore_extra: bool,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let target = args.out.as_deref().unwrap_or(Path::new("-"));
    out.keeps_stdout_free(target)?;
    if args.read.pairs.is_some() {
        return Err(Failure::usage("--pairs does not apply: scores do not depend on preferences"));
    }
    one_stdin(args.data.iter().chain([&args.model]).map(PathBuf::as_path))?;
    not_over_an_input(target, args.data.iter().chain([&args.model]).map(PathBuf::as_path))?;
    let model = crate::models::load(&args.model)?;
    let (inputs, opening) = open(&args.data, out)?;
    let rule = Some(model.header().absent);
    let (loaded, reading) = args.read.read_opened(inputs, rule, out)?;
    let (scores, seconds) = score(&model, &loaded.data, args.ignore_extra, out)?;
    write_scores(target, &loaded.data.to_source_order(&scores))?;
    match out.json {
        false => Ok(()),
        true => out.result(
            || {
                let seconds = json!({ "load": opening + reading, "score": seconds });
                json!({ "rows": loaded.data.rows(), "seconds": seconds })
            },
            String::new,
        ),
    }
}
