//! `train`: any learner on feature data, a model file out.
//!
//! The model's bytes depend on data, spec and seed alone; times, threads and memory go to
//! `MODEL.log.json` and to `--json`. Ctrl-C saves what there is ([`crate::interrupt`]), and the
//! same command goes on from there; what is written where is told in `output_paths.rs`.

use std::path::{Path, PathBuf};

use rankwright::data::store::write_atomic;
use rankwright::data::{DEFAULT_SEED, Dataset};
use rankwright::eval::{
    DefaultMetrics, Evaluation, Measure, ScoredDataset, SourceKind, metrics_or_default,
};
use rankwright::learn::objective::SAMPLED_PARTNERS;
use rankwright::learn::{
    Checkpoints, LearnerSpec, TrainRequest, TrainResult, TrainingHistory, ValidationSet,
};
use rankwright::model::{Model, ScoreOptions};

use crate::failure::Failure;
use crate::input::{ReadArgs, one_stdin};
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::progress::TrainingBar;
use rankwright::tasks::system_names;

pub(crate) mod features;
mod flags;
mod output_paths;
mod report;
mod weights;

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
    /// Seed of everything random; 1 if not given
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Where the model goes, with a side file MODEL.log.json beside it
    #[arg(long, value_name = "MODEL")]
    out: PathBuf,
    /// A model to start from: new trees are added to its own
    #[arg(long, value_name = "MODEL")]
    start: Option<PathBuf>,
    /// Pass over features of --valid that the training data does not know, and over features
    /// that only one of --start and the training data knows
    #[arg(long)]
    ignore_extra: bool,
    /// Save the training in this folder on the way; a training that finds itself there goes on.
    /// The folder and what was saved last are kept. Without this option only Ctrl-C saves, to
    /// MODEL.checkpoint, and a training that comes to its end leaves nothing there
    #[arg(long, value_name = "DIR")]
    checkpoint: Option<PathBuf>,
    /// Save after so many trees, or other rounds of the learner
    #[arg(long, value_name = "N", requires = "checkpoint")]
    checkpoint_trees: Option<usize>,
    /// Save after so many seconds
    #[arg(long, value_name = "N", requires = "checkpoint", default_value_t = 60)]
    checkpoint_seconds: u64,
    /// Evaluate the metrics on the training data too
    #[arg(long)]
    eval_train: bool,
    #[command(flatten)]
    read: ReadArgs,
}

impl Args {
    fn seed(&self) -> u64 {
        self.seed.unwrap_or(DEFAULT_SEED)
    }
}

/// What a training gave, and what is told of it.
struct Trained {
    model: Model,
    history: TrainingHistory,
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
    flags::check(args, &learner)?;
    output_paths::check(args, &learner)?;
    let trained = match (args.data.is_empty(), learner.without_data()) {
        (true, Some(model)) => without_data(args, model?, out)?,
        (true, None) => {
            return Err(Failure::usage(format!(
                "{} learns from data: give feature data with labels",
                learner.def().name
            )));
        }
        (false, _) => with_data(args, &learner, measures, out)?,
    };
    report::write_log(args, &learner, &trained)?;
    out.result(|| report::json_of(args, &trained), || report::text_of(args, &learner, &trained))
}

/// The metrics to watch: those asked for, or the learner's target.
pub(crate) fn measures(texts: &[String], learner: &LearnerSpec) -> Result<Vec<Measure>, Failure> {
    let target = learner.target().to_string();
    Ok(metrics_or_default(texts, SourceKind::Features, DefaultMetrics::Trained(&target))?)
}

/// A line of given weights, made from its spec alone.
fn without_data(args: &Args, model: Model, out: &Output) -> Result<Trained, Failure> {
    out.note("no data: the weights say which features there are");
    save(args, model, TrainingHistory::default(), 0.0, Vec::new())
}

fn with_data(
    args: &Args,
    learner: &LearnerSpec,
    measures: Vec<Measure>,
    out: &Output,
) -> Result<Trained, Failure> {
    let files = args.data.iter().chain(&args.valid).chain(&args.read.pairs).chain(&args.start);
    one_stdin(files.map(PathBuf::as_path))?;
    let start = args.start.as_deref().map(crate::models::load).transpose()?;
    let rule = start.as_ref().map(|model| model.header().absent);
    let (loaded, reading) = args.read.read_as(&args.data, rule, out)?;
    if let (Some(path), Some(start)) = (&args.start, &start) {
        features::check_start(&loaded.data, path, start, args.ignore_extra, out)?;
    }
    let (valid, validation) = read_valid(args, &loaded.data, out)?;
    let load_seconds = reading + validation;
    let sets: Vec<(String, &Dataset)> =
        valid.iter().map(|(name, data)| (name.clone(), data)).collect();
    let outcome = train(args, learner, &measures, &loaded.data, &sets, start.as_ref(), out)?;
    let training = args.eval_train.then(|| ("training".to_owned(), &loaded.data));
    let peak = report::peak_memory();
    let sets = training.into_iter().chain(sets);
    let watched = sets.map(|(name, data)| Ok((name, measure(&outcome.model, data, &measures)?)));
    let watched = watched.collect::<Result<Vec<_>, Failure>>()?;
    let model = features::with_set(outcome.model, &loaded.data, out)?;
    let trained = save(args, model, outcome.history, load_seconds, watched)?;
    output_paths::clean(args, learner, out);
    Ok(Trained { peak, ..trained })
}

/// Validation data, each file a set under its name, read like the training data and matched with
/// its features.
fn read_valid(
    args: &Args,
    train: &Dataset,
    out: &Output,
) -> Result<(Vec<(String, Dataset)>, f64), Failure> {
    let read = ReadArgs { pairs: None, ..args.read.clone() };
    let mut sets = Vec::new();
    let mut seconds = 0.0;
    for (path, name) in args.valid.iter().zip(system_names(&args.valid)) {
        let (loaded, reading) =
            read.read_as(std::slice::from_ref(path), Some(train.absent()), out)?;
        features::check_valid(train, path, &loaded.data, args.ignore_extra, out)?;
        sets.push((name, loaded.data));
        seconds += reading;
    }
    Ok((sets, seconds))
}

/// Trains to the end; what Ctrl-C ended is a failure that says what was saved.
fn train(
    args: &Args,
    learner: &LearnerSpec,
    measures: &[Measure],
    data: &Dataset,
    valid: &[(String, &Dataset)],
    start: Option<&Model>,
    out: &Output,
) -> Result<TrainResult, Failure> {
    warn_sampled(learner, data, out)?;
    let checkpoints = output_paths::checkpoints(args, learner);
    let interrupt = Interrupt::listen()?;
    let file = checkpoints.as_ref().map(Checkpoints::file);
    let bar = TrainingBar::new(out, learner, data.rows(), &interrupt, file);
    let valid = valid.iter().map(|(name, data)| ValidationSet { name: name.clone(), data });
    let outcome = learner.train(TrainRequest {
        valid: valid.collect(),
        metrics: measures.to_vec(),
        watch_training: args.eval_train,
        seed: args.seed(),
        start,
        features: ScoreOptions { ignore_extra: args.ignore_extra, simd: crate::simd()? },
        checkpoints,
        progress: &bar,
        simd: crate::simd()?,
        ..TrainRequest::new(data)
    });
    bar.finish();
    let outcome = outcome?;
    match outcome.finished {
        true => Ok(outcome),
        false => Err(output_paths::interrupted(args, learner, &outcome, bar.unsaved())),
    }
}

/// Says where not every pair of documents is looked at.
pub(crate) fn warn_sampled(
    learner: &LearnerSpec,
    data: &Dataset,
    out: &Output,
) -> Result<(), Failure> {
    let queries = match learner.sampled_queries(data) {
        0 => return Ok(()),
        1 => "1 query is".to_owned(),
        many => format!("{many} queries are"),
    };
    let how = match learner.boosting() {
        Some(_) => " for each tree; `truncation=` limits pairs to the top ranks instead",
        None => "",
    };
    out.note(format!(
        "{queries} too large for {} to look at every pair of documents: each document is paired \
         with {SAMPLED_PARTNERS} others, drawn by the seed{how}",
        learner.def().name
    ));
    Ok(())
}

fn measure(model: &Model, data: &Dataset, measures: &[Measure]) -> Result<Evaluation, Failure> {
    let scores = model.score(data, ScoreOptions { ignore_extra: true, simd: crate::simd()? })?;
    Ok(ScoredDataset::new(data, &scores)?.evaluate(measures)?)
}

/// Writes the model.
fn save(
    args: &Args,
    model: Model,
    history: TrainingHistory,
    load_seconds: f64,
    watched: Vec<(String, Evaluation)>,
) -> Result<Trained, Failure> {
    crate::models::save(&model, &args.out)?;
    let sha256 = sha256(&args.out, &model)?;
    Ok(Trained { model, history, load_seconds, peak: None, watched, sha256 })
}

/// Writes a text file atomically.
fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    Ok(write_atomic(path, |out| out.write_all(text.as_bytes()))?)
}
