//! `train`: any learner on feature data, a model file out.
//!
//! The model's bytes depend on data, spec and seed alone; times, threads and memory go to
//! `MODEL.log.json` and to `--json`. Ctrl-C saves what there is ([`crate::interrupt`]), and the
//! same command goes on from there.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rankwright::data::store::write_atomic;
use rankwright::data::{DataError, Dataset};
use rankwright::eval::{
    EvalOptions, Evaluation, Measure, ScoredDataset, SourceKind, evaluate, expand,
};
use rankwright::learn::{Checkpoints, Job, LearnerSpec, Outcome, Record, WatchedSet};
use rankwright::model::{Model, ScoreOptions};

use crate::compare::names;
use crate::failure::Failure;
use crate::input::{ReadArgs, not_over_an_input, one_stdin, open};
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::progress::Trees;

mod report;

pub(crate) use report::sha256;

/// Train a learner on feature data and write the model.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Feature data; several files are one data set. A `linear` learner can do without
    #[arg(value_name = "DATA")]
    data: Vec<PathBuf>,
    /// Validation data; may be repeated, each a set of its own. The first decides on stopping
    #[arg(long, value_name = "DATA")]
    valid: Vec<PathBuf>,
    /// The learner, such as `lambdamart(trees=500, metric=ndcg@10)`. See `list learners`
    #[arg(long, short, value_name = "SPEC")]
    learner: String,
    /// A metric to watch; may be repeated, and the first decides on stopping. The learner's
    /// target if not given
    #[arg(long = "metric", short, value_name = "SPEC")]
    metrics: Vec<String>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Where the model goes
    #[arg(long, value_name = "MODEL")]
    out: PathBuf,
    /// A model to start from: new trees are added to its own
    #[arg(long, value_name = "MODEL")]
    start: Option<PathBuf>,
    /// Save the training in this folder on the way; a training that finds itself there goes on
    #[arg(long, value_name = "DIR")]
    checkpoint: Option<PathBuf>,
    /// Save after so many trees
    #[arg(long, value_name = "N", requires = "checkpoint")]
    checkpoint_trees: Option<usize>,
    /// Save after so many seconds
    #[arg(long, value_name = "N", requires = "checkpoint", default_value_t = 60)]
    checkpoint_seconds: u64,
    /// Watch the metrics on the training data too
    #[arg(long)]
    measure_training: bool,
    #[command(flatten)]
    read: ReadArgs,
}

/// What a training gave, and what is told of it.
struct Trained {
    model: Model,
    record: Record,
    load_seconds: f64,
    /// Largest memory up to the end of the training, before anything was scored.
    peak: Option<u64>,
    /// The watched sets with the final model's values.
    watched: Vec<(String, Evaluation)>,
    sha256: String,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let learner = LearnerSpec::parse(&args.learner)?;
    let measures = measures(&args.metrics, &learner)?;
    if args.out == Path::new("-") {
        return Err(Failure::usage("--out - does not apply: a model is written to a file"));
    }
    check_places(args)?;
    let trained = match (args.data.is_empty(), learner.without_data()) {
        (true, Some(model)) => without_data(args, model?, out)?,
        (true, None) => {
            return Err(Failure::usage(format!(
                "{} learns from data: give feature data with labels",
                learner.info().name
            )));
        }
        (false, _) => with_data(args, &learner, measures, out)?,
    };
    report::write_log(args, &learner, &trained)?;
    out.result(|| report::json_of(args, &trained), || report::text_of(args, &learner, &trained))
}

/// Refuses places that cannot be written to now, not after an hour of training.
fn check_places(args: &Args) -> Result<(), Failure> {
    let parent = args.out.parent().filter(|parent| *parent != Path::new(""));
    if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
        return Err(Failure::request(format!(
            "there is no folder {} for the model; make it first",
            parent.display()
        )));
    }
    if args.out.is_dir() {
        return Err(Failure::request(format!(
            "{} is a folder; name a file in it",
            args.out.display()
        )));
    }
    let inputs = args.data.iter().chain(&args.valid).chain(&args.read.pairs);
    not_over_an_input(&args.out, inputs.map(PathBuf::as_path))?;
    if let Some(folder) = &args.checkpoint {
        std::fs::create_dir_all(folder)
            .map_err(|e| DataError::io("make the folder", folder.display().to_string(), e))?;
    }
    Ok(())
}

/// The metrics to watch: those asked for, or the learner's target.
pub(crate) fn measures(texts: &[String], learner: &LearnerSpec) -> Result<Vec<Measure>, Failure> {
    let mut measures = Vec::new();
    for text in texts {
        for spec in expand(text)? {
            measures.push(spec.resolve(SourceKind::Features)?);
        }
    }
    if measures.is_empty() {
        measures.push(learner.measure()?);
    }
    Ok(measures)
}

/// A line of given weights, made from its spec alone.
fn without_data(args: &Args, model: Model, out: &Output) -> Result<Trained, Failure> {
    if args.read.is_given() || !args.valid.is_empty() || args.start.is_some() {
        return Err(Failure::usage("options that read data or models need training data too"));
    }
    out.note("no data: the weights say which features there are");
    save(args, model, Record::default(), 0.0, Vec::new())
}

fn with_data(
    args: &Args,
    learner: &LearnerSpec,
    measures: Vec<Measure>,
    out: &Output,
) -> Result<Trained, Failure> {
    let files = args.data.iter().chain(&args.valid).chain(&args.read.pairs).chain(&args.start);
    one_stdin(files.map(PathBuf::as_path))?;
    let start = args.start.as_deref().map(Model::load).transpose()?;
    let rule = start.as_ref().map(|model| model.header().absent);
    let (inputs, opening) = open(&args.data, out)?;
    let (loaded, reading) = args.read.read_opened(inputs, rule, out)?;
    let (valid, validation) = read_valid(args, &loaded.data, out)?;
    let load_seconds = opening + reading + validation;
    let sets: Vec<(String, &Dataset)> =
        valid.iter().map(|(name, data)| (name.clone(), data)).collect();
    let outcome = train(args, learner, &measures, &loaded.data, &sets, start.as_ref(), out)?;
    if !outcome.finished {
        let trees = outcome.record.iterations.len();
        return Err(Failure::Interrupted { trees, folder: folder(args) });
    }
    let training = args.measure_training.then(|| ("training".to_owned(), &loaded.data));
    let peak = report::peak_memory();
    let sets = training.into_iter().chain(sets);
    let watched = sets.map(|(name, data)| Ok((name, measure(&outcome.model, data, &measures)?)));
    let watched = watched.collect::<Result<Vec<_>, Failure>>()?;
    let trained = save(args, outcome.model, outcome.record, load_seconds, watched)?;
    clean(args, out);
    Ok(Trained { peak, ..trained })
}

/// Validation data, each file a set under its name, read like the training data.
fn read_valid(
    args: &Args,
    train: &Dataset,
    out: &Output,
) -> Result<(Vec<(String, Dataset)>, f64), Failure> {
    let read = ReadArgs { pairs: None, ..args.read.clone() };
    let mut sets = Vec::new();
    let mut seconds = 0.0;
    for (path, name) in args.valid.iter().zip(names(&args.valid)) {
        let (inputs, opening) = open(std::slice::from_ref(path), out)?;
        let (loaded, reading) = read.read_opened(inputs, Some(train.absent()), out)?;
        sets.push((name, loaded.data));
        seconds += opening + reading;
    }
    Ok((sets, seconds))
}

fn train(
    args: &Args,
    learner: &LearnerSpec,
    measures: &[Measure],
    data: &Dataset,
    valid: &[(String, &Dataset)],
    start: Option<&Model>,
    out: &Output,
) -> Result<Outcome, Failure> {
    let checkpoints = checkpoints(args);
    let interrupt = Interrupt::listen()?;
    let bar = Trees::new(out, learner, data.rows(), &interrupt, Some(checkpoints.file()));
    let valid = valid.iter().map(|(name, data)| WatchedSet { name: name.clone(), data });
    let outcome = learner.train(Job {
        valid: valid.collect(),
        metrics: measures.to_vec(),
        watch_training: args.measure_training,
        seed: args.seed,
        start,
        checkpoints: Some(checkpoints),
        observer: &bar,
        simd: crate::simd()?,
        ..Job::new(data)
    });
    bar.finish();
    Ok(outcome?)
}

/// Where to save on the way. Without a folder asked for, nothing is saved unless someone
/// interrupts.
fn checkpoints(args: &Args) -> Checkpoints {
    let (every_trees, every) = match args.checkpoint {
        Some(_) => (args.checkpoint_trees, Duration::from_secs(args.checkpoint_seconds)),
        None => (None, Duration::MAX),
    };
    Checkpoints { folder: folder(args), every_trees: every_trees.unwrap_or(0), every }
}

/// The folder asked for, or `MODEL.checkpoint`.
fn folder(args: &Args) -> PathBuf {
    args.checkpoint.clone().unwrap_or_else(|| beside(&args.out, ".checkpoint"))
}

/// A path with something after its name.
fn beside(path: &Path, more: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(more);
    name.into()
}

/// Takes away the checkpoint that nobody asked for.
fn clean(args: &Args, out: &Output) {
    let checkpoints = checkpoints(args);
    if args.checkpoint.is_some() || !checkpoints.file().exists() {
        return;
    }
    let gone = std::fs::remove_file(checkpoints.file())
        .and_then(|()| std::fs::remove_dir(&checkpoints.folder));
    match gone {
        Ok(()) => {
            out.note(format!("the training is whole; removed {}", checkpoints.folder.display()))
        }
        Err(error) => out
            .note(format!("{} is not needed any more, but: {error}", checkpoints.folder.display())),
    }
}

fn measure(model: &Model, data: &Dataset, measures: &[Measure]) -> Result<Evaluation, Failure> {
    let scores = model.score(data, ScoreOptions { ignore_extra: true })?;
    Ok(evaluate(&ScoredDataset::new(data, &scores)?, measures, EvalOptions::default())?)
}

/// Writes the model.
fn save(
    args: &Args,
    model: Model,
    record: Record,
    load_seconds: f64,
    watched: Vec<(String, Evaluation)>,
) -> Result<Trained, Failure> {
    model.save(&args.out)?;
    let sha256 = sha256(&args.out, &model)?;
    Ok(Trained { model, record, load_seconds, peak: None, watched, sha256 })
}

/// Writes a text file atomically.
fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    Ok(write_atomic(path, |out| out.write_all(text.as_bytes()))?)
}
