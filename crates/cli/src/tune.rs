//! `tune`: random search or successive halving over a learner's parameters, by query.
//!
//! The same command goes on where the last one ended: finished trials are in the log, the training
//! that was under way in a folder beside it (`LOG.trials`), which a finished search removes.

use std::path::{Path, PathBuf};

use rankwright::data::{DEFAULT_SEED, Dataset};
use rankwright::learn::tune::{
    Ground, Method, Space, Trial, TuneJob, TunePlan, TuneResult, TuneSettings, default_space,
};
use rankwright::learn::{LearnerSpec, TrainRequest, ValidationSet};
use rankwright::model::ScoreOptions;

use crate::failure::Failure;
use crate::input::{ReadArgs, not_over_an_input, one_stdin};
use crate::interrupt::Interrupt;
use crate::output::{Output, TableStyle};
use crate::progress::TrainingBar;
use crate::train::{features, measures, sha256, warn_sampled};

mod bar;
mod report;

/// Search for good parameters of a learner, on validation data or folds by query.
///
/// Trial 0 is the learner as given; the others are drawn from the space by seed and number, so
/// that more trials extend fewer. The spec that was best is printed so that `train --learner`
/// takes it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Feature data; several files are one data set
    #[arg(value_name = "DATA", required_unless_present = "show_space")]
    data: Vec<PathBuf>,
    /// Validation data, which trials are measured on and stop by
    #[arg(long, value_name = "DATA", conflicts_with_all = ["folds", "valid_part"])]
    valid: Option<PathBuf>,
    /// Without --valid: number of folds by query, the same for all trials; 5 if not given
    #[arg(long, value_name = "K")]
    folds: Option<usize>,
    /// On folds: part of each fold's training queries that decides on stopping, for learners that
    /// need it (stop=)
    #[arg(long, value_name = "PART")]
    valid_part: Option<f64>,
    /// The learner; what it says is trial 0, and stays unless the space has it
    #[arg(long, short, value_name = "SPEC")]
    learner: String,
    /// Where to search, such as `rate=log(0.01,0.3), leaves=choice(7,15,31), min_rows=int(1,100),
    /// l2=logint(1,100), sample_queries=uniform(0.5,1)`; a space of the learner's own if not given
    #[arg(long, value_name = "SPEC")]
    space: Option<String>,
    /// Print the space that is searched where none is given, and end
    #[arg(long)]
    show_space: bool,
    /// Number of trials, trial 0 included
    #[arg(long, value_name = "N", default_value_t = 30)]
    trials: usize,
    /// How trials are spent
    #[arg(long, value_enum, default_value_t)]
    method: MethodArg,
    /// The metric that decides; the learner's target if not given
    #[arg(long, short, value_name = "SPEC")]
    metric: Option<String>,
    /// Seed of the draws, the folds and the trainings
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// Train the best learner on all of DATA (with --valid for stopping), and write the model
    #[arg(long, value_name = "MODEL")]
    out: Option<PathBuf>,
    /// Keep finished trials in this file, a line of JSON each; the same command then goes on
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Trials in the table, the best first; trial 0 is always there
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Pass over features of --valid that the training data does not know
    #[arg(long, requires = "valid")]
    ignore_extra: bool,
    /// How the table is drawn
    #[arg(long, value_enum, default_value_t)]
    table: TableStyle,
    #[command(flatten)]
    read: ReadArgs,
}

/// How trials are spent.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum MethodArg {
    /// Every trial is trained whole
    #[default]
    Random,
    /// All for a few rounds, the best third for three times as many, and so on
    Halving,
}

/// A model that was written.
struct Written<'a> {
    path: &'a Path,
    sha256: String,
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let learner = LearnerSpec::parse(&args.learner)?;
    let ground = match (&args.valid, args.folds.unwrap_or(5)) {
        (Some(_), _) => Ground::Valid,
        (None, count) => Ground::Folds { count, valid_part: args.valid_part },
    };
    let halves = matches!(args.method, MethodArg::Halving);
    if args.show_space {
        // Whoever only looks need not say what it will be measured on.
        let stopping = halves || (args.folds.is_none() && args.valid_part.is_none());
        return show(&default_space(&learner, stopping)?, &learner, out);
    }
    let texts: Vec<String> = args.metric.iter().cloned().collect();
    let found = measures(&texts, &learner)?;
    let [measure] = &found[..] else {
        return Err(Failure::usage("one metric decides: give --metric a single one"));
    };
    let settings = TuneSettings {
        space: args.space.as_deref().map(Space::parse).transpose()?,
        trials: args.trials,
        method: if halves { Method::Halving } else { Method::Random },
        metric: Some(measure.clone()),
        seed: args.seed,
        ground,
    };
    let plan = TunePlan::new(&learner, settings)?;
    check(args, &plan)?;
    let files = args.data.iter().chain(&args.valid).chain(&args.read.pairs);
    one_stdin(files.map(PathBuf::as_path))?;
    let (loaded, _) = args.read.read(&args.data, out)?;
    let valid = args.valid.as_deref().map(|path| read_valid(args, path, &loaded.data, out));
    let valid = valid.transpose()?;
    warn_sampled(&learner, &loaded.data, out)?;
    search(args, &plan, &loaded.data, valid.as_ref(), out)
}

/// The space as text that `--space` takes.
fn show(space: &Space, learner: &LearnerSpec, out: &Output) -> Result<(), Failure> {
    let json = || serde_json::json!({"learner": learner.to_string(), "space": space.to_string()});
    out.result(json, || space.to_string())
}

/// Refuses what could not be written, or would do nothing, before anything is trained.
fn check(args: &Args, plan: &TunePlan) -> Result<(), Failure> {
    if args.out.is_some() && args.valid.is_none() && plan.needs_validation() {
        return Err(Failure::usage(
            "--out trains on all of DATA, and stop= needs validation data for that; give --valid, \
             or leave --out out and train afterwards",
        ));
    }
    let stops = plan.specs().iter().any(LearnerSpec::uses_validation);
    if args.valid_part.is_some() && !stops {
        return Err(Failure::usage(
            "--valid-part is for learners that stop early or choose: write stop= in the spec, or \
             leave it out",
        ));
    }
    let places = [("--out", "a model", &args.out), ("--log", "a log", &args.log)];
    for (option, what, path) in places {
        let Some(path) = path else { continue };
        if path == Path::new("-") {
            return Err(Failure::usage(format!("{option} - does not apply: {what} is a file")));
        }
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return Err(Failure::request(format!(
                "there is no folder {} for {option}; make it first",
                folder.display()
            )));
        }
        if path.is_dir() {
            return Err(Failure::request(format!(
                "{} is a folder; name a file in it",
                path.display()
            )));
        }
        let inputs = args.data.iter().chain(&args.valid).chain(&args.read.pairs);
        not_over_an_input(path, inputs.map(PathBuf::as_path))?;
    }
    match args.out.is_some() && args.out == args.log {
        true => Err(Failure::usage("--out and --log name the same file; give each its own")),
        false => Ok(()),
    }
}

/// Validation data, read like the training data and matched with its features.
fn read_valid(args: &Args, path: &Path, train: &Dataset, out: &Output) -> Result<Dataset, Failure> {
    let read = ReadArgs { pairs: None, ..args.read.clone() };
    let (loaded, _) = read.read_as(&[path.to_owned()], Some(train.absent()), out)?;
    features::check_valid(train, path, &loaded.data, args.ignore_extra, out)?;
    Ok(loaded.data)
}

/// Runs the search, trains the best where that is asked for, and tells.
fn search(
    args: &Args,
    plan: &TunePlan,
    data: &Dataset,
    valid: Option<&Dataset>,
    out: &Output,
) -> Result<(), Failure> {
    let interrupt = Interrupt::listen()?;
    let bar = bar::Bar::new(out, plan, &interrupt);
    // Halving goes on from what it has saved, log or not.
    let scratch = match args.log.is_none() && matches!(args.method, MethodArg::Halving) {
        true => Some(tempfile::tempdir().map_err(|error| {
            Failure::request(format!("cannot make a folder for what is saved on the way: {error}"))
        })?),
        false => None,
    };
    let within = scratch.as_ref().map(|folder| folder.path().join("trials"));
    let folder = args.log.as_deref().map(|log| beside(log, ".trials")).or(within);
    let watched = |data| ValidationSet { name: "validation data".to_owned(), data };
    let job = TuneJob {
        valid: valid.map(watched),
        features: ScoreOptions { ignore_extra: args.ignore_extra, simd: crate::simd()? },
        log: args.log.clone(),
        folder,
        progress: &bar,
        ..TuneJob::new(data)
    };
    let result = plan.run(&job);
    bar.finish();
    let result = result?;
    if result.found > 0 {
        let log = args.log.as_deref().unwrap_or(Path::new("the log")).display();
        out.note(format!("{} trainings were finished already, by {log}", result.found));
    }
    let interrupted = || Failure::Tuning { done: result.done, log: args.log.clone() };
    let Some(best) = result.best().filter(|_| result.finished) else { return Err(interrupted()) };
    let written = match &args.out {
        Some(path) => match write(args, path, best, plan, &job, &interrupt, out)? {
            Some(written) => Some(written),
            None => return Err(interrupted()),
        },
        None => None,
    };
    tell(args, plan, &result, written.as_ref(), out)
}

/// Trains the best learner once more, on all of the data, and writes the model; `None` where
/// someone wanted to stop.
fn write<'a>(
    args: &Args,
    path: &'a Path,
    best: &Trial,
    plan: &TunePlan,
    job: &TuneJob<'_>,
    interrupt: &Interrupt,
    out: &Output,
) -> Result<Option<Written<'a>>, Failure> {
    let learner = LearnerSpec::parse(&best.spec)?;
    let bar = TrainingBar::new(out, &learner, job.train.rows(), interrupt, None);
    let outcome = learner.train(TrainRequest {
        valid: job.valid.iter().cloned().collect(),
        metrics: vec![plan.measure().clone()],
        seed: args.seed,
        features: job.features,
        progress: &bar,
        simd: job.features.simd,
        ..TrainRequest::new(job.train)
    });
    bar.finish();
    let outcome = outcome?;
    if !outcome.finished {
        return Ok(None);
    }
    let model = features::with_set(outcome.model, job.train, out)?;
    crate::models::save(&model, path)?;
    Ok(Some(Written { path, sha256: sha256(path, &model)? }))
}

fn tell(
    args: &Args,
    plan: &TunePlan,
    result: &TuneResult,
    written: Option<&Written<'_>>,
    out: &Output,
) -> Result<(), Failure> {
    out.result(
        || report::json_of(args, plan, result, written),
        || report::text_of(args, plan, result, written),
    )
}

/// A path with something after its name.
fn beside(path: &Path, more: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(more);
    name.into()
}
