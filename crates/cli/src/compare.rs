//! `compare`: several runs, or several score files for one data set, with significance.

use std::path::{Path, PathBuf};

use rankwright::eval::compare::{
    CompareOptions, Comparison, MetricValues, SystemResult, Test, compare,
};
use rankwright::eval::stats::Correction;
use rankwright::eval::table::{comparison_details, comparison_table};
use rankwright::eval::{Evaluation, JudgedRun, MeasureResult, ScoredDataset, SourceKind};
use serde_json::{Value, json};

use crate::eval::{read_qrels, read_run, scores_for, tell_missing};
use crate::failure::Failure;
use crate::input::{ReadArgs, one_stdin};
use crate::measures::{MetricArgs, ReportArgs, conventions, write_per_query};
use crate::output::Output;
use crate::progress::timed;

/// Compare runs (`--qrels QRELS RUN RUN...`), or score files for one data set
/// (`--scores A --scores B DATA...`). The first system is the baseline unless said otherwise.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Runs (with --qrels), or feature data (with --scores)
    #[arg(value_name = "RUN|DATA", required = true)]
    inputs: Vec<PathBuf>,
    /// Judgements for the runs
    #[arg(long, value_name = "QRELS", required_unless_present = "scores", conflicts_with_all = ["scores", "format", "absent", "columns", "pairs"])]
    qrels: Option<PathBuf>,
    /// Scores for the data, one number a line; repeat it for each system
    #[arg(long, value_name = "FILE")]
    scores: Vec<PathBuf>,
    #[command(flatten)]
    metrics: MetricArgs,
    #[command(flatten)]
    tests: TestArgs,
    /// Show every number: differences, intervals, p-values, effect sizes, wins and losses
    #[arg(long)]
    details: bool,
    #[command(flatten)]
    report: ReportArgs,
    #[command(flatten)]
    read: ReadArgs,
}

/// How significance is decided.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct TestArgs {
    /// The system that the others are compared with; the first if not given
    #[arg(long, value_name = "NAME")]
    baseline: Option<String>,
    /// Paired test: t, randomisation, bootstrap or sign
    #[arg(long, value_name = "TEST", default_value = "randomisation")]
    test: Test,
    /// Correction for several comparisons: holm, bonferroni or none
    #[arg(long, value_name = "RULE", default_value = "holm")]
    correction: Correction,
    /// Level of significance
    #[arg(long, value_name = "P", default_value_t = 0.05)]
    alpha: f64,
    /// Samples of the randomisation test and the bootstrap
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    samples: usize,
    /// Seed of the samples
    #[arg(long, value_name = "N", default_value_t = 42)]
    seed: u64,
}

impl TestArgs {
    /// The usual settings with this test and this correction.
    pub(crate) fn new(test: Test, correction: Correction) -> TestArgs {
        let CompareOptions { alpha, seed, samples, .. } = CompareOptions::default();
        TestArgs { baseline: None, test, correction, alpha, samples, seed }
    }
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    one_stdin(args.inputs.iter().chain(&args.scores).chain(&args.qrels).map(PathBuf::as_path))?;
    let systems = match &args.qrels {
        Some(qrels) => of_runs(args, qrels, out)?,
        None => of_scores(args, out)?,
    };
    if let Some(path) = &args.report.per_query {
        out.keeps_stdout_free(path)?;
        let named: Vec<(&str, &Evaluation)> =
            systems.iter().map(|(n, e)| (n.as_str(), e)).collect();
        write_per_query(path, &named)?;
    }
    let comparison = compare_systems(&systems, &args.tests, out)?;
    out.result(
        || json_of(&comparison, &systems),
        || {
            let mut table = match args.details {
                true => comparison_details(&comparison),
                false => comparison_table(&comparison),
            };
            table.notes.extend(conventions(first_results(&systems)));
            if first_results(&systems).iter().any(|r| r.convention.contains("weights=query")) {
                table.notes.push(WEIGHTED.into());
            }
            args.report.table.draw(&table)
        },
    )
}

fn of_runs(args: &Args, qrels: &Path, out: &Output) -> Result<Vec<(String, Evaluation)>, Failure> {
    let measures = args.metrics.measures(SourceKind::Run)?;
    let qrels = read_qrels(qrels, out)?;
    let names = names(&args.inputs);
    args.inputs
        .iter()
        .zip(names)
        .map(|(path, name)| {
            let run = read_run(path, out)?;
            let joined = JudgedRun::new(&run, &qrels);
            tell_missing(&joined, &name, out);
            let evaluation = args.metrics.evaluate(&joined, &measures)?;
            Ok((name, evaluation))
        })
        .collect()
}

fn of_scores(args: &Args, out: &Output) -> Result<Vec<(String, Evaluation)>, Failure> {
    let measures = args.metrics.measures(SourceKind::Features)?;
    let (loaded, _) = args.read.read(&args.inputs, out)?;
    let names = names(&args.scores);
    args.scores
        .iter()
        .zip(names)
        .map(|(path, name)| {
            let scores = scores_for(&loaded.data, path, &args.inputs)?;
            let source = ScoredDataset::new(&loaded.data, &scores)?;
            Ok((name, args.metrics.evaluate(&source, &measures)?))
        })
        .collect()
}

/// File names without folders where that tells them apart, else the whole paths.
fn names(paths: &[PathBuf]) -> Vec<String> {
    let short = |path: &Path| path.file_name().map(|n| n.to_string_lossy().into_owned());
    let shorts: Vec<Option<String>> = paths.iter().map(|path| short(path)).collect();
    let unique = |name: &Option<String>| shorts.iter().filter(|other| *other == name).count() == 1;
    paths
        .iter()
        .zip(&shorts)
        .map(|(path, name)| match name {
            Some(text) if unique(name) => text.clone(),
            _ => path.display().to_string(),
        })
        .collect()
}

/// What must be said where queries have weights.
const WEIGHTED: &str = "values are weighted by query; differences and tests count each query once";

/// The results of the first system: the measures and conventions are the same for all.
fn first_results(systems: &[(String, Evaluation)]) -> &[MeasureResult] {
    systems.first().map_or(&[], |(_, evaluation)| &evaluation.results)
}

/// Compares evaluations of the same queries.
pub(crate) fn compare_systems(
    systems: &[(String, Evaluation)],
    tests: &TestArgs,
    out: &Output,
) -> Result<Comparison, Failure> {
    let names: Vec<String> = systems.iter().map(|(name, _)| name.clone()).collect();
    let evaluations: Vec<&Evaluation> = systems.iter().map(|(_, e)| e).collect();
    let values = MetricValues::of_evaluations(&evaluations);
    let options = CompareOptions {
        baseline: tests.baseline.clone(),
        test: tests.test,
        correction: tests.correction,
        alpha: tests.alpha,
        seed: tests.seed,
        samples: tests.samples,
        ..CompareOptions::default()
    }
    .check()?;
    let (comparison, _) = timed(out, "testing differences", || compare(&names, &values, &options));
    Ok(comparison?)
}

pub(crate) fn json_of(comparison: &Comparison, systems: &[(String, Evaluation)]) -> Value {
    let options = &comparison.options;
    let metrics: Vec<Value> = comparison
        .metrics
        .iter()
        .zip(first_results(systems))
        .map(|(metric, first)| {
            let systems = comparison.systems.iter().zip(&metric.systems);
            json!({
                "metric": metric.label,
                "convention": first.convention,
                "systems": systems.map(|(name, r)| system_json(name, r)).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({
        "baseline": comparison.systems.get(comparison.baseline),
        "test": options.test.to_string(),
        "correction": options.correction.to_string(),
        "alpha": options.alpha,
        "seed": options.seed,
        "samples": options.samples,
        "metrics": metrics,
    })
}

fn system_json(name: &str, result: &SystemResult) -> Value {
    let versus = result.versus.as_ref().map(|v| {
        json!({
            "pairs": v.pairs,
            "difference": v.difference,
            "difference_ci95": v.difference_ci95,
            "p": v.p,
            "p_corrected": v.p_corrected,
            "effect": v.effect,
            "wins": v.counts.wins,
            "ties": v.counts.ties,
            "losses": v.counts.losses,
            "mark": v.mark.symbol(),
        })
    });
    json!({
        "system": name,
        "value": result.mean,
        "ci95": result.ci95,
        "queries": result.queries,
        "best": result.best,
        "versus_baseline": versus,
    })
}
