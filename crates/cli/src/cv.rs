//! `cv`: cross validation by query, for one learner or several on the same folds.

use std::path::PathBuf;

use rankwright::data::{DEFAULT_SEED, Dataset};
use rankwright::eval::compare::{CompareOptions, compare_evaluations};
use rankwright::eval::conventions;
use rankwright::eval::table::{Align, Cell, Table, comparison_table};
use rankwright::eval::{Evaluation, Measure};
use rankwright::learn::{CvOptions, CvResult, LearnerSpec, cross_validate};
use rankwright::tasks::write_per_query;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::input::ReadArgs;
use crate::interrupt::Interrupt;
use crate::measures::ReportArgs;
use crate::output::{Output, number};
use crate::progress::{TrainingBar, timed};
use crate::train::{measures, warn_sampled};

/// Cross-validate learners by query: each query is tested once, by a model that has not seen it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Feature data; several files are one data set
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// A learner (see `list learners`); repeat it to compare several on the same folds, each
    /// with the first
    #[arg(long, short, value_name = "SPEC", required = true)]
    learner: Vec<String>,
    /// A metric to report; may be repeated, and the first decides on stopping. The first
    /// learner's target if not given
    #[arg(long = "metric", short, value_name = "SPEC")]
    metrics: Vec<String>,
    /// Number of folds, 2 at least
    #[arg(long, value_name = "N", default_value_t = 5)]
    folds: usize,
    /// Seed of the folds and the trainings
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// Part of each fold's training queries that decide on stopping, for learners with stop= and
    /// those that choose among models; the others train on all
    #[arg(long, value_name = "PART")]
    valid_part: Option<f64>,
    #[command(flatten)]
    report: ReportArgs,
    #[command(flatten)]
    read: ReadArgs,
}

/// A learner and what its folds gave.
struct Done {
    name: String,
    stops: bool,
    result: CvResult,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let learners = args.learner.iter().map(|text| LearnerSpec::parse(text));
    let learners = learners.collect::<Result<Vec<_>, _>>()?;
    let Some(first) = learners.first() else { return Err(Failure::usage("give a learner")) };
    if let Some(twice) = (1..learners.len())
        .find(|n| learners[..*n].iter().any(|l| l.canonical() == learners[*n].canonical()))
    {
        return Err(Failure::usage(format!("{} is given twice", learners[twice])));
    }
    if args.valid_part.is_some() && !learners.iter().any(LearnerSpec::uses_validation) {
        return Err(Failure::usage(
            "--valid-part is for learners that stop early or choose: write stop= in the spec, such \
             as lambdamart(stop=30), or leave it out to train on all queries of the other folds",
        ));
    }
    let measures = measures(&args.metrics, first)?;
    if let Some(path) = &args.report.per_query {
        out.keeps_stdout_free(path)?;
    }
    let (loaded, _) = args.read.read(&args.data, out)?;
    let interrupt = Interrupt::listen()?;
    let mut done = Vec::new();
    for learner in &learners {
        let result = validate(args, learner, &loaded.data, &measures, &interrupt, out)?;
        done.push(Done { name: learner.to_string(), stops: learner.uses_validation(), result });
    }
    if let Some(path) = &args.report.per_query {
        let named: Vec<(&str, &Evaluation)> =
            done.iter().map(|d| (d.name.as_str(), &d.result.pooled)).collect();
        write_per_query(path, &named)?;
    }
    tell(args, &done, out)
}

fn validate(
    args: &Args,
    learner: &LearnerSpec,
    data: &Dataset,
    measures: &[Measure],
    interrupt: &Interrupt,
    out: &Output,
) -> Result<CvResult, Failure> {
    warn_sampled(learner, data, out)?;
    let bar = TrainingBar::new(out, learner, data.rows(), interrupt, None);
    let options = CvOptions {
        folds: args.folds,
        seed: args.seed,
        valid_part: args.valid_part,
        simd: crate::simd()?,
        progress: &bar,
        ..CvOptions::new(measures.to_vec())
    };
    let result = cross_validate(learner, data, &options);
    bar.finish();
    match result? {
        result if result.finished => Ok(result),
        _ => Err(Failure::Stopped),
    }
}

/// Prints the folds and, for several learners, what stands between them.
fn tell(args: &Args, done: &[Done], out: &Output) -> Result<(), Failure> {
    let systems: Vec<(String, Evaluation)> =
        done.iter().map(|d| (d.name.clone(), d.result.pooled.clone())).collect();
    let comparison = match systems.len() {
        0 | 1 => None,
        _ => {
            let options = CompareOptions::default();
            let tested =
                timed(out, "testing differences", || compare_evaluations(&systems, &options));
            Some(tested.0?)
        }
    };
    out.result(
        || {
            let mut document = json!({
                "folds": args.folds,
                "seed": args.seed,
                "valid_part": args.valid_part,
                "learners": done.iter().map(json_of).collect::<Vec<_>>(),
            });
            if let Some(comparison) = &comparison {
                document["comparison"] = json!(comparison);
            }
            document
        },
        || {
            let mut table = table(args, done);
            let Some(comparison) = &comparison else { return args.report.table.draw(&table) };
            table.notes.clear();
            let mut second = comparison_table(comparison);
            second.notes.extend(notes(args, done));
            format!("{}\n{}", args.report.table.draw(&table), args.report.table.draw(&second))
        },
    )
}

fn json_of(done: &Done) -> Value {
    let fold = |fold: &rankwright::learn::FoldResult| {
        json!({
            "queries": fold.queries.len(),
            "trained": fold.trained,
            "validated": fold.validated,
            "trees": fold.trees,
            "seconds": fold.seconds,
            "values": fold.results.iter().map(|r| number(r.value)).collect::<Vec<_>>(),
        })
    };
    json!({
        "learner": done.name,
        "folds": done.result.folds.iter().map(fold).collect::<Vec<_>>(),
        "metrics": done.result.pooled.results,
    })
}

/// A row for each learner and metric: folds, then all queries with the interval.
fn table(args: &Args, done: &[Done]) -> Table {
    let folds: Vec<String> = (1..=args.folds).map(|n| format!("fold {n}")).collect();
    let mut columns = vec![("learner", Align::Left), ("metric", Align::Left)];
    columns.extend(folds.iter().map(|name| (name.as_str(), Align::Right)));
    columns.extend([
        ("all", Align::Right),
        ("95% interval", Align::Right),
        ("queries", Align::Right),
        ("trees", Align::Right),
    ]);
    let mut table = Table::new(columns);
    for Done { name, result, .. } in done {
        let trees: usize = result.folds.iter().map(|fold| fold.trees).sum();
        let trees = trees as f64 / result.folds.len().max(1) as f64;
        for (m, pooled) in result.pooled.results.iter().enumerate() {
            let mut cells = vec![name.clone(), pooled.measure.to_string()];
            let of_fold =
                |fold: &rankwright::learn::FoldResult| fold.results.get(m).map(|r| r.value);
            cells.extend(result.folds.iter().map(|fold| value(of_fold(fold))));
            let interval = pooled.ci95.map(|(low, high)| format!("{low:.4} to {high:.4}"));
            cells.push(value(Some(pooled.value)));
            cells.extend([interval.unwrap_or_default(), pooled.queries.to_string()]);
            cells.push(if trees > 0.0 { format!("{trees:.0}") } else { String::new() });
            table.rows.push(cells.into_iter().map(Cell::new).collect());
        }
    }
    table.notes = notes(args, done);
    table
}

fn value(value: Option<f64>) -> String {
    match value.filter(|v| !v.is_nan()) {
        Some(value) => format!("{value:.4}"),
        None => "no query".into(),
    }
}

fn notes(args: &Args, done: &[Done]) -> Vec<String> {
    let mut notes = done.first().map_or(Vec::new(), |d| conventions(&d.result.pooled.results));
    let stopping: Vec<&str> = done.iter().filter(|d| d.stops).map(|d| d.name.as_str()).collect();
    let aside = match args.valid_part {
        Some(part) if stopping.len() == done.len() => {
            format!("; {part} of the training queries decide on stopping")
        }
        Some(part) => format!(
            "; {part} of the training queries decide on stopping for {}, the others train on all",
            stopping.join(", ")
        ),
        None => String::new(),
    };
    notes.push(format!("{} folds by query, seed {}{aside}", args.folds, args.seed));
    notes
}
