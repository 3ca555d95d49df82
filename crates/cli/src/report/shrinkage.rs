//! `report shrinkage`: one learner, several shrinkages.

use std::path::PathBuf;

use rankwright::data::{DEFAULT_SEED, Dataset};
use rankwright::eval::{MetricSpec, SourceKind};
use rankwright::experiment::ShrinkageRequest;
use rankwright::learn::LearnerSpec;
use rankwright::model::ScoreOptions;
use rankwright::report::training::NamedData;
use rankwright::tasks::sampled_pairs;

use super::train::{named, set_names};
use crate::failure::Failure;
use crate::input::{ReadArgs, not_over_an_input, one_stdin};
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::page::PageArgs;
use crate::progress::TrainingBar;

/// Train one learner once for each shrinkage and overlay the learning curves.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Feature data to train on; several files are one data set
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// Validation data; may be repeated, each a set of its own. The first decides what is best.
    /// Without it a fifth of the queries, drawn by the seed, is held out
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
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED)]
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
    ShrinkageRequest::learners(&learner, &args.rates)?;
    let measure = match &args.metric {
        Some(text) => Some(MetricSpec::parse(text)?.resolve(SourceKind::Features)?),
        None => None,
    };
    let (train, valid) = data(args, out)?;
    let (train_name, valid_names) = set_names(&args.data, &args.valid);
    if let Some(warning) = sampled_pairs(&learner, &train) {
        out.note(warning.to_string());
    }
    let request = ShrinkageRequest {
        rates: args.rates.clone(),
        valid: named(&valid_names, &valid),
        measure,
        seed: args.seed,
        score: ScoreOptions { ignore_extra: args.ignore_extra, simd: crate::simd()? },
        simd: crate::simd()?,
        ..ShrinkageRequest::new(learner, NamedData { name: &train_name, data: &train })
    };
    let interrupt = Interrupt::listen()?;
    let bar = |learner: &LearnerSpec| TrainingBar::new(out, learner, train.rows(), &interrupt);
    let report = request.run(bar)?.ok_or(Failure::Stopped)?;
    report.warnings.iter().for_each(|warning| out.note(warning.to_string()));
    args.page.finish(&report.page(), &report, out)
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

/// Training data, and each validation set.
fn data(args: &Args, out: &Output) -> Result<(Dataset, Vec<Dataset>), Failure> {
    let (loaded, _) = args.read.read(&args.data, out)?;
    let read = ReadArgs { pairs: None, ..args.read.clone() };
    let mut valid = Vec::new();
    for file in &args.valid {
        let file = std::slice::from_ref(file);
        let (set, _) = read.read_as(file, Some(loaded.data.absent()), out)?;
        valid.push(set.data);
    }
    Ok((loaded.data, valid))
}
