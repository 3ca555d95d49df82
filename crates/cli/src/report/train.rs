//! `report train`: how a model learnt.

use std::path::{Path, PathBuf};

use rankwright::data::{DEFAULT_SEED, Dataset};
use rankwright::eval::{Measure, SourceKind, ToMeasures};
use rankwright::learn::TrainingLog;
use rankwright::model::{Model, ScoreOptions};
use rankwright::report::training::{NamedData, TrainingOptions, TrainingReport, TrainingRequest};
use rankwright::tasks::system_names;

use crate::failure::Failure;
use crate::input::{ReadArgs, name_of, not_over_an_input, one_stdin};
use crate::models::warn_matching;
use crate::output::Output;
use crate::page::PageArgs;
use crate::progress::timed;

/// Show how a model learnt: learning curves, lambdas, labels over ranks, forces on a list, time,
/// feature importance and trees. The log beside the model (MODEL.log.json) tells what cannot be
/// computed again.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The model
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// The data that it was trained on; several files are one data set
    #[arg(value_name = "DATA", required = true)]
    data: Vec<PathBuf>,
    /// Validation data; may be repeated, each a set of its own. The first decides what is best
    #[arg(long, value_name = "DATA")]
    valid: Vec<PathBuf>,
    /// A metric; may be repeated, and the first decides what is best. That of the model's training,
    /// or ndcg@10, if not given
    #[arg(long = "metric", short, value_name = "SPEC")]
    metrics: Vec<String>,
    /// The query of the forces picture; one that shows something if not given
    #[arg(long, value_name = "ID")]
    query: Option<String>,
    /// Stages of the training to look at, at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..=1000))]
    points: u32,
    /// How many trees to draw, from the first to the last
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=50))]
    trees: u32,
    /// Seed of what is drawn at random: queries to look at, shuffles
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// Pass over features of the data that the model does not know
    #[arg(long)]
    ignore_extra: bool,
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let inputs = || [&args.model].into_iter().chain(&args.data).chain(&args.valid);
    one_stdin(inputs().chain(&args.read.pairs).map(PathBuf::as_path))?;
    not_over_an_input(&args.page.out, inputs().map(PathBuf::as_path))?;
    let model = crate::models::load(&args.model)?;
    let measures = measures(&args.metrics)?;
    let log = log_of(&args.model, out);
    let train = read(args, &args.data, &args.read, &model, out)?;
    let alone = ReadArgs { pairs: None, ..args.read.clone() };
    let valid =
        args.valid.iter().map(|file| read(args, std::slice::from_ref(file), &alone, &model, out));
    let valid = valid.collect::<Result<Vec<_>, Failure>>()?;
    let (train_name, valid_names) = set_names(&args.data, &args.valid);
    let model_name = file_name(&args.model);
    let request = TrainingRequest {
        model: (&model_name, &model),
        train: NamedData { name: &train_name, data: &train },
        valid: named(&valid_names, &valid),
        measures,
        log,
    };
    let options = TrainingOptions {
        points: args.points as usize,
        query: args.query.clone(),
        trees: args.trees as usize,
        seed: args.seed,
        score: score_options(args)?,
    };
    let what = "looking at the training";
    let (report, _) = timed(out, what, || TrainingReport::new(&request, &options));
    let report = report?;
    report.warnings.iter().for_each(|warning| out.note(warning.to_string()));
    args.page.finish(&report.page(), &report, out)
}

/// The log beside the model, where there is one that can be read; the report does without.
fn log_of(model: &Path, out: &Output) -> Option<TrainingLog> {
    let found = TrainingLog::beside(model);
    match &found {
        Ok(Some(_)) => {}
        Ok(None) => {
            out.note(format!("there is no {}", TrainingLog::path_of(model).display()));
        }
        Err(error) => out.note(format!("{error}; the report does without the log")),
    }
    found.ok().flatten()
}

fn score_options(args: &Args) -> Result<ScoreOptions, Failure> {
    Ok(ScoreOptions { ignore_extra: args.ignore_extra, simd: crate::simd()? })
}

/// A data set read as the model takes it.
fn read(
    args: &Args,
    files: &[PathBuf],
    read: &ReadArgs,
    model: &Model,
    out: &Output,
) -> Result<Dataset, Failure> {
    let (loaded, _) = read.read_as(files, Some(model.header().absent), out)?;
    warn_matching(model, &loaded.data, args.ignore_extra, out)?;
    Ok(loaded.data)
}

/// The metrics asked for.
fn measures(texts: &[String]) -> Result<Vec<Measure>, Failure> {
    Ok(texts.to_measures(SourceKind::Features)?)
}

/// Names of the training data and of each validation set: by their files, where that tells them
/// apart.
pub(super) fn set_names(data: &[PathBuf], valid: &[PathBuf]) -> (String, Vec<String>) {
    let train = name_of(&data.iter().map(|path| file_name(path)).collect::<Vec<_>>());
    let valid = system_names(valid);
    match valid.contains(&train) {
        true => {
            let valid = valid.iter().map(|name| format!("{name} (validation)")).collect();
            (format!("{train} (training)"), valid)
        }
        false => (train, valid),
    }
}

/// Data sets under their names.
pub(super) fn named<'a>(names: &'a [String], sets: &'a [Dataset]) -> Vec<NamedData<'a>> {
    let named = |(name, data): (&'a String, &'a Dataset)| NamedData { name, data };
    names.iter().zip(sets).map(named).collect()
}

/// The name of a file without its folder.
fn file_name(path: &Path) -> String {
    match path.file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => path.display().to_string(),
    }
}
