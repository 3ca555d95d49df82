//! `report shrinkage`: one learner, several shrinkages.

use std::path::PathBuf;

use rankwright::data::Dataset;
use rankwright::eval::{MetricSpec, SourceKind};
use rankwright::experiment::ShrinkageRequest;
use rankwright::learn::LearnerSpec;
use rankwright::model::ScoreOptions;
use rankwright::report::training::{NamedData, ShrinkageRun};

use super::train::set_names;
use crate::failure::Failure;
use crate::input::{ReadArgs, not_over_an_input, one_stdin, open};
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::page::PageArgs;
use crate::progress::Rounds;
use crate::train::tell_sampled;

/// Train one learner once for each shrinkage and overlay the learning curves.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Feature data to train on; several files are one data set
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// Validation data; repeated files are one data set. Without it a fifth of the queries, drawn by
    /// the seed, is held out
    #[arg(long, value_name = "DATA")]
    valid: Vec<PathBuf>,
    /// The learner; its rate is replaced. See `list learners`
    #[arg(long, short, value_name = "SPEC", default_value = "lambdamart(trees=200, leaves=16)")]
    learner: String,
    /// The shrinkages
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1.0,0.5,0.1,0.01")]
    rates: Vec<f64>,
    /// The metric; the learner's target if not given
    #[arg(long, short, value_name = "SPEC")]
    metric: Option<String>,
    /// How many trees, whatever the learner's spec says
    #[arg(long, value_name = "N")]
    trees: Option<usize>,
    /// Seed of the trainings, and of what is held out
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Pass over features of --valid that the training data does not know
    #[arg(long)]
    ignore_extra: bool,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let inputs = || args.data.iter().chain(&args.valid);
    one_stdin(inputs().chain(&args.read.pairs).map(PathBuf::as_path))?;
    not_over_an_input(&args.page.out, inputs().map(PathBuf::as_path))?;
    let learner = learner(args)?;
    check_rates(&args.rates)?;
    let measure = match &args.metric {
        Some(text) => MetricSpec::parse(text)?.resolve(SourceKind::Features)?,
        None => learner.measure()?,
    };
    let (train, valid) = data(args, out)?;
    let names = match args.valid.is_empty() {
        true => {
            let (data, _) = set_names(&args.data, &[]);
            (format!("four fifths of {data}"), format!("a held-out fifth of {data}"))
        }
        false => set_names(&args.data, &args.valid),
    };
    let about = ShrinkageRequest {
        learner,
        train: NamedData { name: &names.0, data: &train },
        valid: NamedData { name: &names.1, data: &valid },
        measure,
        seed: args.seed,
        score: ScoreOptions { ignore_extra: args.ignore_extra, simd: crate::simd()? },
        simd: crate::simd()?,
    };
    let report = about.report(train_all(args, &about, out)?)?;
    args.page.finish(&report.page(), report.json(), out)
}

/// The learner with the number of trees asked for.
fn learner(args: &Args) -> Result<LearnerSpec, Failure> {
    let learner = LearnerSpec::parse(&args.learner)?;
    match args.trees {
        None => Ok(learner),
        Some(trees) => {
            let spec = learner.canonical().clone().with("trees", trees.to_string());
            Ok(LearnerSpec::from_spec(spec)?)
        }
    }
}

fn check_rates(rates: &[f64]) -> Result<(), Failure> {
    if let Some(bad) = rates.iter().find(|rate| !(rate.is_finite() && **rate > 0.0)) {
        return Err(Failure::usage(format!("--rates has {bad}; a shrinkage is a number above 0")));
    }
    let twice = (1..rates.len()).find(|at| rates[..*at].contains(&rates[*at]));
    match twice {
        Some(at) => Err(Failure::usage(format!("--rates has {} twice", rates[at]))),
        None => Ok(()),
    }
}

/// Training and validation data.
fn data(args: &Args, out: &Output) -> Result<(Dataset, Dataset), Failure> {
    let (inputs, _) = open(&args.data, out)?;
    let (loaded, _) = args.read.read_opened(inputs, None, out)?;
    if args.valid.is_empty() {
        out.note("no --valid: a fifth of the queries, drawn by the seed, is held out");
        return Ok(loaded.data.hold_out(0.2, args.seed)?);
    }
    let (inputs, _) = open(&args.valid, out)?;
    let read = ReadArgs { pairs: None, ..args.read.clone() };
    let (valid, _) = read.read_opened(inputs, Some(loaded.data.absent()), out)?;
    Ok((loaded.data, valid.data))
}

/// A run for each rate, under a bar each.
fn train_all(
    args: &Args,
    about: &ShrinkageRequest<'_>,
    out: &Output,
) -> Result<Vec<ShrinkageRun>, Failure> {
    tell_sampled(&about.learner, about.train.data, out)?;
    let interrupt = Interrupt::listen()?;
    let mut runs = Vec::new();
    for rate in &args.rates {
        let learner = about.with_rate(*rate)?;
        let bar = Rounds::new(out, &learner, about.train.data.rows(), &interrupt, None);
        let run = about.train(*rate, &bar);
        bar.finish();
        runs.push(run?.ok_or(Failure::Stopped)?);
    }
    Ok(runs)
}
