//! `clicks counts`: clicks as numbers of documents and queries.

use std::path::{Path, PathBuf};

use rankwright::clicks::{CountOptions, CountedUnit, CountedValue};
use rankwright::spec::words::counted;
use rankwright::tasks::{CountClicksRequest, CountClicksResult, CountsContent, count_clicks};

use super::ClickLogArgs;
use crate::declared::{choices, value};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::run_task;

/// Count impressions, clicks, click rate and mean time until the next click, as numbers for
/// features.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    log: ClickLogArgs,
    /// Things to count: each document of each query, each document (numbers to put into a
    /// collection) or each query (a file of queries for `query-number(field=clicks)`)
    #[arg(long, value_name = "UNIT", value_parser = choices::<CountedUnit>(), default_value = CountedUnit::default().name())]
    by: CountedUnit,
    /// Write a run with this number of each document of each query as its score, for the feature
    /// `run(file=FILE)`
    #[arg(long, value_name = "NUMBER", value_parser = choices::<CountedValue>(), conflicts_with = "by")]
    run: Option<CountedValue>,
    /// Leave out things of fewer impressions
    #[arg(
        long,
        value_name = "N",
        default_value_t = CountOptions::default().min_count,
        value_parser = value::<CountOptions, u64>("min_count")
    )]
    min: u64,
    /// The file: TSV or JSON lines if its name ends in .tsv or .jsonl, otherwise CSV
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    out.check_not_stdout(&args.out)?;
    let content = match args.run {
        Some(value) => CountsContent::Run(value),
        None => CountsContent::Table(args.by),
    };
    let request = CountClicksRequest::new(args.log.files())
        .content(content)
        .min_count(args.min)
        .out(&args.out);
    let result = run_task(out, |context| count_clicks(&request, context))?;
    out.show(&result, |result| text(&args.out, result))
}

fn text(file: &Path, result: &CountClicksResult) -> String {
    let unit = match result.unit {
        "query-document" => "document of a query",
        other => other,
    };
    let written = match (result.written, unit) {
        (1, _) | (_, "document" | "query") => counted(result.written, unit),
        (many, _) => format!("{many} documents of queries"),
    };
    format!(
        "{}: {written}, from {} with {}; {} left out as too rare, {} without a time until the next click\n",
        file.display(),
        counted(result.counts.impressions as usize, "impression"),
        counted(result.counts.clicks as usize, "click"),
        result.too_rare,
        result.without_dwell
    )
}
