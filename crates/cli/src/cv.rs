//! `cv`: cross validation by query, for one learner or several on the same folds.

use std::path::PathBuf;

use rankwright::eval::table::{Align, Cell, Table, comparison_table};
use rankwright::eval::{Evaluation, footnotes, shared_footnotes, tie_notes};
use rankwright::learn::{DEFAULT_LEARNER, FoldParams, LearnerSpec};
use rankwright::spec::words::counted;
use rankwright::tasks::{CrossValidateRequest, CrossValidateResult, cross_validate_learners};

use crate::declared::help;
use crate::failure::Failure;
use crate::input::ReadArgs;
use crate::measures::{ReportArgs, specs};
use crate::output::Output;
use crate::progress::run_training;

/// Cross-validate learners by query: each query is tested once, by a model that has not seen it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Feature data; several files are one data set
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// A learner (see `list learners`); repeat it to compare several on the same folds, each
    /// with the first
    #[arg(long, short, value_name = "SPEC", default_value = DEFAULT_LEARNER)]
    learner: Vec<String>,
    /// A metric to report; may be repeated, and the first decides on early stopping. The first
    /// learner's own metric if not given
    #[arg(long = "metric", short, value_name = "SPEC")]
    metrics: Vec<String>,
    #[arg(long, value_name = "N", help = help::<FoldParams>("folds"))]
    #[arg(default_value_t = FoldParams::default().folds)]
    folds: usize,
    #[arg(long, value_name = "N", help = help::<FoldParams>("seed"))]
    #[arg(default_value_t = FoldParams::default().seed)]
    seed: u64,
    #[arg(long, value_name = "PART", help = help::<FoldParams>("valid_part"))]
    valid_part: Option<f64>,
    /// Examination of positions, for learners with bias=ips or bias=dr: lines of position and
    /// examination, or the output of `clicks bias --json`
    #[arg(long, value_name = "FILE")]
    bias: Option<PathBuf>,
    #[command(flatten)]
    report: ReportArgs,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let learners = args.learner.iter().map(|text| LearnerSpec::parse(text));
    let learners = learners.collect::<Result<Vec<_>, _>>()?;
    let mut request = CrossValidateRequest::new(learners, args.read.files(&args.data)?);
    request.metrics = specs(&args.metrics)?;
    request.division = FoldParams::default().folds(args.folds).seed(args.seed);
    request.division.valid_part = args.valid_part;
    request.bias = args.bias.clone();
    args.report.check([], &request, out)?;
    let result = run_training(out, |context| cross_validate_learners(&request, context))?;
    let named: Vec<(&str, &Evaluation)> =
        result.learners.iter().map(|one| (one.learner.as_str(), &one.pooled)).collect();
    args.report.write(&named, &request)?;
    out.show(&result, |result| text(args, result))
}

/// The folds and, for several learners, the comparison.
fn text(args: &Args, result: &CrossValidateResult) -> String {
    let mut table = table(result);
    let Some(comparison) = &result.comparison else { return args.report.table.draw(&table) };
    table.notes.clear();
    let mut second = comparison_table(comparison);
    second.notes.extend(notes(result));
    format!("{}\n{}", args.report.table.draw(&table), args.report.table.draw(&second))
}

/// A row for each learner and metric: values of the folds, the value of all queries with its
/// interval, the number of queries, and the mean number of trees of a fold.
fn table(result: &CrossValidateResult) -> Table {
    let folds: Vec<String> = (1..=result.folds).map(|n| format!("fold {n}")).collect();
    let mut columns = vec![("learner", Align::Left), ("metric", Align::Left)];
    columns.extend(folds.iter().map(|name| (name.as_str(), Align::Right)));
    columns.extend([
        ("all", Align::Right),
        ("95% interval", Align::Right),
        ("queries", Align::Right),
        ("trees", Align::Right),
    ]);
    let mut table = Table::new(columns);
    for validated in &result.learners {
        let trees: usize = validated.folds.iter().map(|fold| fold.trees).sum();
        let trees = trees as f64 / validated.folds.len().max(1) as f64;
        for (m, pooled) in validated.metrics.iter().enumerate() {
            let mut cells = vec![validated.learner.clone(), pooled.measure.to_string()];
            let of_fold = validated.folds.iter().map(|fold| fold.values.get(m).copied());
            cells.extend(of_fold.map(value_text));
            let interval = pooled.ci95.map(|(low, high)| format!("{low:.4} to {high:.4}"));
            cells.push(value_text(Some(pooled.value)));
            cells.extend([interval.unwrap_or_default(), pooled.queries.to_string()]);
            cells.push(if trees > 0.0 { format!("{trees:.0}") } else { String::new() });
            table.rows.push(cells.into_iter().map(Cell::new).collect());
        }
    }
    table.notes = notes(result);
    table
}

fn value_text(value: Option<f64>) -> String {
    match value.filter(|v| !v.is_nan()) {
        Some(value) => format!("{value:.4}"),
        None => "no query".into(),
    }
}

/// The conventions of the metrics, then the folds and the queries held out for early stopping or
/// choosing.
fn notes(result: &CrossValidateResult) -> Vec<String> {
    let mut notes = match result.learners.as_slice() {
        [] => Vec::new(),
        [only] => footnotes(&only.pooled.results),
        [first, ..] => {
            let named = result.learners.iter().map(|one| (one.learner.as_str(), &one.pooled));
            let mut notes = shared_footnotes(&first.pooled.results);
            notes.extend(tie_notes(named));
            notes
        }
    };
    let stopping = result.learners.iter().filter(|one| one.uses_validation);
    let stopping: Vec<&str> = stopping.map(|one| one.learner.as_str()).collect();
    let held_out = match result.valid_part {
        Some(part) if stopping.len() == result.learners.len() => {
            format!("; {part} of the training queries decide on stopping or choosing")
        }
        Some(part) => format!(
            "; {part} of the training queries decide on stopping or choosing for {}, the others \
             train on all",
            stopping.join(", ")
        ),
        None => String::new(),
    };
    notes.push(format!(
        "{} by query, seed {}{held_out}",
        counted(result.folds, "fold"),
        result.seed
    ));
    notes
}
