//! `score`: scores each row with a model.

use std::path::{Path, PathBuf};

use rankwright::data::write_scores;
use rankwright::tasks::{ScoreRequest, score};

use crate::failure::Failure;
use crate::input::{MatchByArg, ReadArgs};
use crate::output::Output;
use crate::progress::run_task;

/// Score feature data with a model: one score per line, in the row order of the input.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The model
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Feature data; several files are one data set
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// File for the scores; standard output if not given
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Ignore features that the model does not know
    #[arg(long)]
    ignore_extra: bool,
    /// Rule that matches the features of the data with those of the model
    #[arg(long, value_enum, default_value_t)]
    match_by: MatchByArg,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let target = args.out.as_deref().unwrap_or(Path::new("-"));
    out.keeps_stdout_free(target)?;
    if args.read.pairs.is_some() {
        return Err(Failure::usage("--pairs does not apply: scores do not depend on preferences"));
    }
    let data = args.read.files(&args.data)?;
    let mut request =
        ScoreRequest::new(&args.model, data).matching(args.match_by.options(args.ignore_extra));
    request.out = Some(target).filter(|path| *path != Path::new("-")).map(Path::to_owned);
    let result = run_task(out, |context| score(&request, context))?;
    if request.out.is_none() {
        write_scores(target, &result.scores)?;
    }
    match out.json {
        false => Ok(()),
        true => out.show(&result, |_| String::new()),
    }
}
