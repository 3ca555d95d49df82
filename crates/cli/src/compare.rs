//! `compare`: several models or score files on one data set, or several runs, with significance.

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
use crate::input::{ReadArgs, one_stdin, open};
use crate::measures::{MetricArgs, ReportArgs, conventions, write_per_query};
use crate::models::{Sorted, score};
use crate::output::Output;
use crate::progress::timed;

/// Compare models on one data set (`DATA MODEL MODEL...`; which file is a model is told by
/// content), score files for it (`--scores A --scores B DATA...`), both together, or runs
/// (`--qrels QRELS RUN RUN...`). The first system is the baseline unless said otherwise: models
/// in their order, then score files.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Feature data and models, or runs (with --qrels); all files of data are one data set
    #[arg(value_name = "DATA|MODEL|RUN", required = true)]
    inputs: Vec<PathBuf>,
    /// Judgements for the runs
    #[arg(long, value_name = "QRELS", conflicts_with_all = ["scores", "format", "absent", "columns", "pairs"])]
    qrels: Option<PathBuf>,
    /// Scores for the data, one number a line; repeat it for each system
    #[arg(long, value_name = "FILE")]
    scores: Vec<PathBuf>,
    /// Pass over features that a model does not know
    #[arg(long, conflicts_with = "qrels")]
    ignore_extra: bool,
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
    let files = args.inputs.iter().chain(&args.scores).chain(&args.qrels).chain(&args.read.pairs);
    one_stdin(files.map(PathBuf::as_path))?;
    let systems = match &args.qrels {
        Some(qrels) => of_runs(args, qrels, out)?,
        None => of_data(args, out)?,
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

/// Models and score files on one data set.
fn of_data(args: &Args, out: &Output) -> Result<Vec<(String, Evaluation)>, Failure> {
    let measures = args.metrics.measures(SourceKind::Features)?;
    let Sorted { models, data } = Sorted::new(open(&args.inputs, out)?.0)?;
    check_systems(args, models.len(), data.len())?;
    let files: Vec<String> = data.iter().map(|input| input.name.clone()).collect();
    let rule = Sorted::absent_rule(&models)?;
    let (loaded, _) = args.read.read_opened(data, rule, out)?;
    let paths = models.iter().map(|(name, _)| PathBuf::from(name)).chain(args.scores.clone());
    let names = names(&paths.collect::<Vec<_>>());
    let mut columns = Vec::new();
    for (_, model) in &models {
        columns.push(score(model, &loaded.data, args.ignore_extra, out)?.0);
    }
    for path in &args.scores {
        columns.push(scores_for(&loaded.data, path, &files)?);
    }
    names
        .into_iter()
        .zip(columns)
        .map(|(name, scores)| {
            let source = ScoredDataset::new(&loaded.data, &scores)?;
            Ok((name, args.metrics.evaluate(&source, &measures)?))
        })
        .collect()
}

/// There must be data, and something that ranks it.
fn check_systems(args: &Args, models: usize, data: usize) -> Result<(), Failure> {
    if models == 0 && args.scores.is_empty() {
        return Err(Failure::usage(
            "none of the files is a model; give models beside the data, score files with \
             --scores, or judgements with --qrels if the files are runs",
        ));
    }
    if data == 0 {
        return Err(Failure::usage(
            "all of the files are models; give feature data to compare them on",
        ));
    }
    match models == 0 && args.ignore_extra {
        true => Err(Failure::usage("--ignore-extra is for models, and there are none")),
        false => Ok(()),
    }
}

/// File names without folders where that tells them apart, else the whole paths.
pub(crate) fn names(paths: &[PathBuf]) -> Vec<String> {
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
