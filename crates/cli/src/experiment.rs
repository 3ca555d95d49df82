//! `experiment`: a whole comparison from a file, resumed where it was left.
//!
//! Cells that are stored in the folder are not run again. Ctrl-C ends with code 130 after the round
//! of each training, and the same command goes on; a kill costs the rounds since the last checkpoint.
//! Members that fail are in the report and on standard error, and the code is 1 then.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rankwright::experiment::{
    CellState, Experiment, ExperimentProgress, ExperimentReport, FailedCells, Plan, PlanOptions,
};
use rankwright::spec::words::counted;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::progress::timed;

/// Run a whole comparison from a TOML file: learners on data sets, over folds and seeds. What is done
/// already is not done again; the report is the same however often it was interrupted.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The experiment (see docs/experiments.md)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Folder of the results: report.html, results.json, table.md, plots and more, and every model. The
    /// file's name with .results, in the current folder, if not given
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Trainings at a time, each with its share of the threads; chosen by cores and free memory if
    /// not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Train only this learner, or all of this grid; may be repeated. Results of others that are
    /// there already are reported all the same
    #[arg(long, value_name = "LEARNER")]
    only: Vec<String>,
    /// Save each training after so many seconds
    #[arg(long, value_name = "N", default_value_t = 20)]
    checkpoint_seconds: u64,
    /// Say what is to be done, and do nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let experiment = Experiment::read(&args.file)?;
    let folder = args.out.clone().unwrap_or_else(|| usual_folder(&args.file));
    let options = PlanOptions {
        jobs: args.jobs.map(usize::from),
        threads: rayon::current_num_threads(),
        only: args.only.clone(),
        checkpoint: Duration::from_secs(args.checkpoint_seconds),
        simd: crate::simd()?,
    };
    let what = "taking checksums of the data";
    let (plan, _) = timed(out, what, || Plan::new(&experiment, &folder, &options));
    let plan = plan?;
    if args.dry_run {
        return tell_plan(&plan, out);
    }
    let interrupt = Interrupt::listen()?;
    let bar = Cells::new(&plan, &interrupt, out);
    let ran = plan.run(&bar);
    bar.bar.finish_and_clear();
    let ran = ran?;
    if !ran.finished {
        let rest = plan.open().len() - ran.done;
        eprintln!(
            "{} of {} results are in {}; the same command goes on from there",
            plan.cells().len().saturating_sub(rest),
            plan.cells().len(),
            folder.display()
        );
        return Err(Failure::Stopped);
    }
    let (report, _) = timed(out, "comparing", || ExperimentReport::new(&plan, &ran));
    let report = report?;
    let files = report.write(&plan)?;
    tell(&report, &files, out)?;
    failure(&report.failed, &folder)
}

/// `experiments/demo.toml` has its results in `demo.results`.
fn usual_folder(file: &Path) -> PathBuf {
    let stem = file.file_stem().map_or("experiment".into(), |stem| stem.to_string_lossy());
    PathBuf::from(format!("{stem}.results"))
}

fn tell(report: &ExperimentReport, files: &[PathBuf], out: &Output) -> Result<(), Failure> {
    out.result(
        || {
            let mut document = report.results.clone();
            document["files"] = json!(files);
            document
        },
        || {
            let first = files.first().map(|file| format!("report   {}\n", file.display()));
            let folder = files.first().and_then(|file| file.parent());
            let inside = |file: &PathBuf| {
                let file = file.strip_prefix(folder?).ok()?;
                Some(file.display().to_string())
            };
            let mut rest: Vec<String> = files.iter().skip(1).filter_map(inside).collect();
            // Plots are many: the folder does.
            let plots = rest.iter().filter(|file| file.starts_with("plots")).count();
            rest.retain(|file| !file.starts_with("plots"));
            if plots > 0 {
                rest.push(format!("plots ({})", counted(plots, "file")));
            }
            let folder = folder.map(|f| f.display().to_string()).unwrap_or_default();
            let beside = format!("beside   {} in {folder}\n", rest.join(", "));
            format!("{}{}{beside}", report.text, first.unwrap_or_default())
        },
    )
}

/// What failed, on standard error, and the exit code that goes with it.
fn failure(failed: &[FailedCells], folder: &Path) -> Result<(), Failure> {
    if failed.is_empty() {
        return Ok(());
    }
    for failed in failed {
        eprintln!("failed: {}", words(failed));
    }
    Err(Failure::request(format!(
        "not everything came to a result; what did is in {}, and the same command tries again what \
         failed",
        folder.join("report.html").display()
    )))
}

/// "mq2008, lambdamart, fold 2: ..."
fn words(failed: &FailedCells) -> String {
    let FailedCells { data, learner, cells, error, .. } = failed;
    let place: Vec<&str> = [data, learner, cells].into_iter().map(String::as_str).collect();
    let place: Vec<&str> = place.into_iter().filter(|text| !text.is_empty()).collect();
    format!("{}: {error}", place.join(", "))
}

/// What would be done.
fn tell_plan(plan: &Plan<'_>, out: &Output) -> Result<(), Failure> {
    let state = |state: CellState| match state {
        CellState::Stored => "done",
        CellState::Open => "to run",
        CellState::Left => "left out",
    };
    let (jobs, why) = plan.jobs();
    out.result(
        || {
            let cell = |cell: &rankwright::experiment::Cell| {
                json!({
                    "cell": plan.name(cell),
                    "digest": cell.digest,
                    "state": state(cell.state),
                })
            };
            json!({
                "cells": plan.cells().iter().map(cell).collect::<Vec<_>>(),
                "jobs": jobs,
                "failed": plan.failed().iter().map(words).map(Value::from).collect::<Vec<_>>(),
            })
        },
        || {
            let mut text = String::new();
            for cell in plan.cells() {
                text += &format!("{:8}  {}\n", state(cell.state), plan.name(cell));
            }
            for failed in plan.failed() {
                text += &format!("{:8}  {}\n", "fails", words(failed));
            }
            let run = plan.open().len();
            text + &format!(
                "{}, {run} to run, {jobs} at a time ({why}); results in {}\n",
                counted(plan.cells().len(), "cell"),
                plan.out().display()
            )
        },
    )
}

/// A bar over the cells, and Ctrl-C.
struct Cells<'a> {
    bar: ProgressBar,
    interrupt: &'a Interrupt,
    failed: AtomicUsize,
}

impl<'a> Cells<'a> {
    fn new(plan: &Plan<'_>, interrupt: &'a Interrupt, out: &'a Output) -> Self {
        let target = match out.quiet {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr(),
        };
        let open = plan.open().len();
        let bar = ProgressBar::with_draw_target(Some(open as u64), target);
        if let Ok(style) =
            ProgressStyle::with_template("{bar:24} cell {pos}/{len}  {msg}  {eta} left")
        {
            bar.set_style(style);
        }
        let stored = plan.cells().iter().filter(|cell| cell.state == CellState::Stored).count();
        if stored > 0 {
            out.note(format!("{stored} of {} cells are done already", plan.cells().len()));
        }
        let (jobs, why) = plan.jobs();
        if open > 0 {
            out.note(format!("{} to run, {jobs} at a time ({why})", counted(open, "cell")));
            bar.enable_steady_tick(Duration::from_millis(120));
        }
        Self { bar, interrupt, failed: AtomicUsize::new(0) }
    }
}

impl ExperimentProgress for Cells<'_> {
    fn started(&self, cell: &str) {
        let failed = match self.failed.load(Ordering::Relaxed) {
            0 => String::new(),
            failed => format!("  ({failed} failed)"),
        };
        self.bar.set_message(format!("{cell}{failed}"));
    }

    fn ended(&self, _cell: &str, error: Option<&str>) {
        self.bar.inc(1);
        if error.is_some() {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn should_stop(&self) -> bool {
        self.interrupt.asked()
    }
}
