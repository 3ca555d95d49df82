//! `experiment`: runs a whole comparison from a file, and resumes it.
//!
//! A cell is one training: a learner on a data set, with one fold and one seed. Cells whose results
//! are stored in the folder are not run again. Ctrl-C ends with code 130 after the current round of
//! each training, and the same command resumes; a kill costs the rounds since the last checkpoint.
//! Learners that fail are listed in the report and on standard error, and the code is 1 then.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::ProgressBar;
use rankwright::experiment::{
    ExperimentError, ExperimentProgress, ExperimentRequest, PlanOptions, PlanSummary, RunSummary,
};
use rankwright::spec::visible;
use rankwright::spec::words::counted;
use rankwright::tasks::{Context, plan_experiment, run_experiment};

use crate::failure::Failure;
use crate::interrupt::{Interrupt, TRAINING_PART};
use crate::output::Output;
use crate::progress::{CELLS, run_task, run_with_bar, spinner_style, style};

/// Run a whole comparison from a TOML file: learners on data sets, over folds and seeds. Stored
/// results are not computed again; the report does not depend on interruptions.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The experiment (see docs/experiments.md)
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Folder of the results: report.html, results.json, table.md, plots and more, and every model.
    /// The file's name with .results, in the current folder, if not given
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Number of trainings at a time, each with its share of the threads; chosen by cores and free
    /// memory if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Train only this learner, or all learners of this grid; may be repeated. Stored results of
    /// other learners are still reported
    #[arg(long, value_name = "LEARNER")]
    only: Vec<String>,
    /// Save each training after this many seconds
    #[arg(long, value_name = "N", default_value_t = PlanOptions::default().checkpoint.as_secs())]
    checkpoint_seconds: u64,
    /// Show the cells to run, and run nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let options = PlanOptions::default()
        .jobs(args.jobs.map(usize::from))
        .threads(rayon::current_num_threads())
        .only(args.only.clone())
        .checkpoint(Duration::from_secs(args.checkpoint_seconds));
    let mut request = ExperimentRequest::new(&args.file).options(options);
    if let Some(folder) = &args.out {
        request = request.out(folder);
    }
    if args.dry_run {
        let plan = run_task(out, |context| plan_experiment(&request, context))?;
        return out.show(&plan, |result| plan_text(&result.plan));
    }
    let interrupt = Interrupt::after(TRAINING_PART);
    let cells = CellBar::new(out);
    let context = Context::default().cancel(interrupt.flag()).experiment(&cells);
    let task = |context: &Context<'_>| run_experiment(&request, context);
    let result = run_with_bar(out, context, &cells.bar, task)?;
    let summary = &result.summary;
    if !summary.finished {
        let done = summary.cells.saturating_sub(summary.pending);
        let folder = summary.out.display().to_string();
        eprintln!(
            "{done} of {} results are in {}; run the command again to resume",
            summary.cells,
            visible::one_line(&folder)
        );
        return Err(Failure::Stopped);
    }
    out.show(&result, |result| text(&result.summary))?;
    failure(summary)
}

/// The tables, and the files that were written.
fn text(summary: &RunSummary) -> String {
    let (files, folder) = (&summary.files, &summary.out);
    let report = files.first().map(|file| format!("report   {}\n", file.display()));
    let inside = |file: &PathBuf| Some(file.strip_prefix(folder).ok()?.display().to_string());
    let mut rest: Vec<String> = files.iter().skip(1).filter_map(inside).collect();
    // There may be many plots, so only their folder is listed.
    let plots = rest.iter().filter(|file| file.starts_with("plots")).count();
    rest.retain(|file| !file.starts_with("plots"));
    if plots > 0 {
        rest.push(format!("plots ({})", counted(plots, "file")));
    }
    let others = format!("files    {} in {}\n", rest.join(", "), folder.display());
    format!("{}{}{others}", summary.text, report.unwrap_or_default())
}

/// Prints failed cells on standard error; returns the failure for the exit code.
fn failure(summary: &RunSummary) -> Result<(), Failure> {
    if summary.failed.is_empty() {
        return Ok(());
    }
    for failed in &summary.failed {
        eprintln!("failed: {}", visible::lines(&failed.to_string()));
    }
    Err(Failure::request(format!(
        "some learners failed; the results of the others are in {}; run the command again to retry \
         those that failed",
        summary.out.join("report.html").display()
    )))
}

/// The cells to run, as text.
fn plan_text(plan: &PlanSummary) -> String {
    let mut text = String::new();
    for cell in &plan.cells {
        text += &format!("{:8}  {}\n", cell.state.name(), cell.cell);
    }
    for failed in &plan.failed {
        text += &format!("{:8}  {failed}\n", "fails");
    }
    text + &format!(
        "{}, {} to run, {} at a time ({}); results in {}\n",
        counted(plan.cells.len(), "cell"),
        plan.pending(),
        plan.jobs,
        plan.job_limit,
        plan.out.display()
    )
}

/// A progress bar over the cells.
struct CellBar<'a> {
    bar: ProgressBar,
    out: &'a Output,
    /// Number of cells that failed so far.
    failed: AtomicUsize,
}

impl<'a> CellBar<'a> {
    fn new(out: &'a Output) -> Self {
        let bar = ProgressBar::with_draw_target(None, out.progress());
        bar.set_style(spinner_style());
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar, out, failed: AtomicUsize::new(0) }
    }
}

impl ExperimentProgress for CellBar<'_> {
    fn step(&self, _name: &str) {
        self.bar.set_style(spinner_style());
    }

    fn planned(&self, plan: &PlanSummary) {
        let pending = plan.pending();
        self.bar.suspend(|| {
            if plan.stored() > 0 {
                let all = counted(plan.cells.len(), "cell");
                self.out.note(format!("{} of {all} were finished before", plan.stored()));
            }
            if pending > 0 {
                let (cells, jobs) = (counted(pending, "cell"), plan.jobs);
                self.out.note(format!("{cells} to run, {jobs} at a time ({})", plan.job_limit));
            }
        });
        self.bar.set_length(pending as u64);
        self.bar.set_message("");
        self.bar.set_style(style(CELLS));
    }

    fn started(&self, cell: &str) {
        log::info!("{cell}");
        let failed = match self.failed.load(Ordering::Relaxed) {
            0 => String::new(),
            failed => format!("  ({failed} failed)"),
        };
        self.bar.set_message(format!("{}{failed}", visible::one_line(cell)));
    }

    fn ended(&self, _cell: &str, error: Option<&ExperimentError>) {
        self.bar.inc(1);
        if error.is_some() {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
    }
}
