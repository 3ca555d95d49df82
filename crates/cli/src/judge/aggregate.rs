//! `judge aggregate`: judgements as pairs to train on, or as grades.

use std::path::PathBuf;

use rankwright::spec::words::counted;
use rankwright::tasks::{
    AggregateFormat, JudgeAggregateRequest, JudgeAggregateResult, judge_aggregate,
};

use crate::clicks::choice;
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
    #[arg(long, value_name = "FORM", default_value = "pairs", value_parser = choice::<AggregateFormat>)]
    to: AggregateFormat,
    /// Imaginary wins, and as many losses, of every document against one of mean strength
    #[arg(long, value_name = "N", default_value_t = 0.5, value_parser = positive)]
    prior: f64,
    /// Number of grades of qrels: the probability to beat a document of mean strength, cut into so
    /// many parts
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=100))]
    grades: u32,
    /// File for the result
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("expected a number above 0".to_owned()),
    }
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    out.check_not_stdout(&args.out)?;
    let request = JudgeAggregateRequest::new(&args.judgements, &args.out)
        .format(args.to)
        .prior(args.prior)
        .grades(args.grades);
    let result = run_task(out, |context| judge_aggregate(&request, context))?;
    match args.out.as_os_str() == "-" {
        true => Ok(()),
        false => out.show(&result, text),
    }
}

fn text(result: &JudgeAggregateResult) -> String {
    let lines = match result.format {
        "qrels" => counted(result.lines, "grade"),
        _ => counted(result.lines, "pair"),
    };
    format!(
        "{}: {lines} of {}, from {} of {}\n",
        result.out.display(),
        counted(result.queries, "query"),
        counted(result.comparisons, "comparison"),
        counted(result.documents, "document")
    )
}
