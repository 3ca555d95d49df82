//! The command `rankwright`: one file per command, such as `train`, and shared code.
//!
//! Standard output carries the result alone: a table, or with `--json` one JSON document.
//! Progress, warnings and errors go to standard error; an error is text, or with `--json` one line
//! of JSON. Exit codes: 0 done, 1 bad input or request, 2 wrong usage, 130 interrupted. For tests,
//! `RANKWRIGHT_SIMD=portable` makes trainings run the code for any processor; results are the same.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod advice;
mod classify;
mod clicks;
mod compare;
mod cv;
mod data;
mod declared;
mod demo;
mod eval;
mod experiment;
mod explain;
mod failure;
mod failure_kind;
mod features;
mod index;
mod input;
mod interleave;
mod interrupt;
mod judge;
mod lecture;
mod list;
mod log_file;
mod logging;
mod manual;
mod measures;
mod memory_size;
mod model;
mod output;
mod page;
mod position_bias;
mod progress;
mod ranking;
mod renamed;
mod report;
mod run;
mod score;
mod search;
mod shortened_file;
mod train;
mod tune;
mod usage;

use std::fs::File;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use rankwright::data::{allow_standard_streams, panics_are_caught, set_memory_limit};

use failure::Failure;
use logging::LogArgs;
use output::Output;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Learning to rank: from text or feature files to rankings, and metrics that say how they treat
/// ties, unjudged documents and so on.
#[derive(Debug, Parser)]
#[command(
    name = "rankwright",
    version,
    about,
    propagate_version = true,
    arg_required_else_help = true
)]
struct Cli {
    #[command(subcommand)]
    command: CliCommand,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    log: LogArgs,
    /// Number of threads; 0 takes one for each core. Results never depend on it.
    #[arg(
        long,
        global = true,
        value_name = "N",
        default_value_t = 0,
        value_parser = clap::value_parser!(u16).range(0..=1024)
    )]
    threads: u16,
    /// Largest amount of memory that one input may take, such as 8G; the available memory if not
    /// given
    #[arg(long, global = true, value_name = "SIZE", value_parser = memory_size::parse)]
    max_memory: Option<u64>,
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    /// Show all steps from text to a better ranking, on generated data
    Demo(demo::Args),
    /// Compute worked examples of lectures, step by step
    Lecture(lecture::Args),
    /// List learners, objectives, metrics, features, first stages, classifiers, click models or
    /// formats
    List(list::Args),
    /// Inspect, convert, split and generate data sets
    #[command(subcommand)]
    Data(data::DataCommand),
    /// Train a learner on feature data and write the model
    Train(train::Args),
    /// Cross-validate learners by query
    Cv(cv::Args),
    /// Search for good parameters of a learner, on validation data or folds by query
    Tune(tune::Args),
    /// Score feature data with a model
    Score(score::Args),
    /// Measure a model or scores on feature data, or a run against judgements
    Eval(eval::Args),
    /// Compare several models, score files or runs, with significance
    Compare(compare::Args),
    /// Explain a ranking: per document, per feature, and between two documents
    Explain(explain::Args),
    /// Write a page on a training, a comparison, a data set or a click log
    #[command(subcommand)]
    Report(report::ReportCommand),
    /// Run a whole comparison from a file, and report on it
    Experiment(experiment::Args),
    /// Inspect and convert models
    #[command(subcommand)]
    Model(model::ModelCommand),
    /// Make a collection of text searchable
    Index(index::Args),
    /// Search an index, by a first stage alone, or re-ranked by a model
    Search(search::Args),
    /// Rank the documents of an index for many queries: a run file
    Run(run::Args),
    /// Compute features of candidates for many queries: feature data to train on
    Features(features::Args),
    /// Learn classes from labelled documents, and classify others
    Classify(classify::Args),
    /// Inspect click logs, fit click models, estimate position bias, make training data, simulate
    /// logs and evaluate models on them
    #[command(subcommand)]
    Clicks(clicks::ClicksCommand),
    /// Merge runs into lists that are shown to users, and compare the runs by the clicks on them
    Interleave(interleave::Args),
    /// Ask people or language models which of two documents is better, and use their answers
    #[command(subcommand)]
    Judge(judge::JudgeCommand),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages: rankwright.1, rankwright-train.1, ...
    Man(manual::Args),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage::fail(error),
    };
    let output = cli.output;
    // The path `-` means standard input or output.
    allow_standard_streams();
    let log = interrupt::install(output.json)
        .and_then(|()| cli.log.log_file.as_deref().map(open_log).transpose());
    match log {
        Ok(file) => logging::start(&output, file),
        Err(failure) => return output.fail(&failure),
    }
    // A mapped input that another program shortens ends the command with an error, not by SIGBUS.
    shortened_file::install_handler(output.json);
    if let Some(bytes) = cli.max_memory {
        set_memory_limit(bytes);
    }
    // A damaged file may make a reader panic, which becomes an error; only the error is printed.
    let print_panic = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !panics_are_caught() {
            print_panic(panic);
        }
    }));
    let result = dispatch(cli);
    logging::finish(result.as_ref().err());
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => output.fail(&failure),
    }
}

/// Opens the log, which is none of the other files that the command line names.
fn open_log(path: &Path) -> Result<File, Failure> {
    // The same arguments were parsed before, without an error.
    let matches = Cli::command().get_matches();
    log_file::open(path, &matches)
}

fn dispatch(cli: Cli) -> Result<(), Failure> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(usize::from(cli.threads))
        .build_global()
        .map_err(|e| Failure::request(format!("cannot start the threads: {e}")))?;
    let out = &cli.output;
    match cli.command {
        CliCommand::Demo(args) => demo::run(&args, out),
        CliCommand::Lecture(args) => lecture::run(&args, out),
        CliCommand::List(args) => list::run(&args, out),
        CliCommand::Data(command) => data::run(&command, out),
        CliCommand::Train(args) => train::run(&args, out),
        CliCommand::Cv(args) => cv::run(&args, out),
        CliCommand::Tune(args) => tune::run(&args, out),
        CliCommand::Score(args) => score::run(&args, out),
        CliCommand::Eval(args) => eval::run(&args, out),
        CliCommand::Compare(args) => compare::run(&args, out),
        CliCommand::Explain(args) => explain::run(&args, out),
        CliCommand::Report(command) => report::run(&command, out),
        CliCommand::Experiment(args) => experiment::run(&args, out),
        CliCommand::Model(command) => model::run(&command, out),
        CliCommand::Index(args) => index::run(&args, out),
        CliCommand::Search(args) => search::run(&args, out),
        CliCommand::Run(args) => run::run(&args, out),
        CliCommand::Features(args) => features::run(&args, out),
        CliCommand::Clicks(command) => clicks::run(&command, out),
        CliCommand::Interleave(args) => interleave::run(&args, out),
        CliCommand::Judge(command) => judge::run(&command, out),
        CliCommand::Classify(args) => classify::run(&args, out),
        CliCommand::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "rankwright", &mut script);
            out.text(&String::from_utf8_lossy(&script))
        }
        CliCommand::Man(args) => manual::run(&args, out),
    }
}
