//! `judge aggregate`: judgements as pairs to train on, or as grades.

use std::path::{Path, PathBuf};

use rankwright::clicks::judge::BradleyTerryOptions;
use rankwright::spec::words::counted;
use rankwright::tasks::{
    AggregateFormat, JudgeAggregateRequest, JudgeAggregateResult, judge_aggregate,
};

use crate::clicks::choice;
use crate::declared::{help, value};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::run_task;

/// Fit a Bradley-Terry model to judgements, and write pairs to train on, or grades.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Judgements of `judge read`, or lines such as `q1 d3 > d7`
    #[arg(value_name = "JUDGEMENTS", required = true)]
    judgements: Vec<PathBuf>,
    /// Form of the result: pairs (for `train --pairs`, with the number of comparisons times 2p - 1
    /// as weight, where p is the probability that the better document is preferred), probabilities
    /// (the same with p and the number of comparisons), or qrels
    #[arg(long, value_name = "FORM", default_value = AggregateFormat::default().name(), value_parser = choice::<AggregateFormat>)]
    to: AggregateFormat,
    #[arg(
        long,
        value_name = "N",
        default_value_t = BradleyTerryOptions::default().prior,
        value_parser = value::<BradleyTerryOptions, f64>("prior"),
        help = help::<BradleyTerryOptions>("prior")
    )]
    prior: f64,
    #[arg(
        long,
        value_name = "N",
        default_value_t = BradleyTerryOptions::default().grades,
        value_parser = value::<BradleyTerryOptions, u32>("grades"),
        help = help::<BradleyTerryOptions>("grades")
    )]
    grades: u32,
    /// File for the result
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    out.check_not_stdout(&args.out)?;
    let request = JudgeAggregateRequest::new(&args.judgements)
        .out(&args.out)
        .format(args.to)
        .prior(args.prior)
        .grades(args.grades);
    let result = run_task(out, |context| judge_aggregate(&request, context))?;
    match args.out.as_os_str() == "-" {
        true => Ok(()),
        false => out.show(&result, |result| text(&args.out, result)),
    }
}

fn text(file: &Path, result: &JudgeAggregateResult) -> String {
    let lines = match result.format {
        "qrels" => counted(result.lines, "grade"),
        _ => counted(result.lines, "pair"),
    };
    format!(
        "{}: {lines} of {}, from {} of {}\n",
        file.display(),
        counted(result.queries, "query"),
        counted(result.comparisons, "comparison"),
        counted(result.documents, "document")
    )
}
