//! `clicks convert`: a click log in another format.

use std::path::PathBuf;

use rankwright::clicks::log::write::LogTarget;
use rankwright::spec::words::counted;
use rankwright::tasks::{ConvertClicksRequest, ConvertClicksResult, convert_clicks};

use super::{ClickLogArgs, choice};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::run_task;

/// Write a log in another format.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    log: ClickLogArgs,
    /// Format to write: ubi, metarank, lists (JSON lines), parquet (with lists), yandex-log,
    /// yandex-pages, csv or tsv (a row for each shown document)
    #[arg(long, value_name = "FORMAT", value_parser = choice::<LogTarget>)]
    to: LogTarget,
    /// File to write; compressed if it ends in .gz or .zst
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    out.check_not_stdout(&args.out)?;
    let request = ConvertClicksRequest::new(args.log.files()).to(args.to).out(&args.out);
    let result = run_task(out, |context| convert_clicks(&request, context))?;
    out.show(&result, |result| text(args, result))
}

fn text(args: &Args, result: &ConvertClicksResult) -> String {
    format!(
        "{}: {} with {} as {}\n",
        args.out.display(),
        counted(result.counts.impressions as usize, "impression"),
        counted(result.counts.clicks as usize, "click"),
        args.to.name()
    )
}
