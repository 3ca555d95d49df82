//! `train`: trains any learner on feature data and writes a model file.
//!
//! A request to end (Ctrl-C, SIGTERM) saves the training so far ([`crate::interrupt`]), and the
//! same command resumes it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rankwright::data::DEFAULT_SEED;
use rankwright::learn::{Checkpoints, DEFAULT_LEARNER, LearnerSpec, TeacherParams};
use rankwright::model::MatchBy;
use rankwright::spec::ParamGroup;
use rankwright::tasks::{CheckpointOptions, TeacherSource, TrainModelRequest, train_model};

use crate::declared::choices;
use crate::failure::Failure;
use crate::input::{ReadArgs, match_options, validation};
use crate::measures::specs;
use crate::output::Output;
use crate::progress::run_training;

mod text;
mod weights;

/// Train a learner on feature data and write the model.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Feature data; several files are one data set. A `linear` learner needs none
    #[arg(value_name = "DATA")]
    data: Vec<PathBuf>,
    /// Validation data; may be repeated, each a separate set. The first decides how many rounds are
    /// kept (stop=none in the spec keeps all) and on early stopping (stop=N)
    #[arg(long, value_name = "DATA")]
    valid: Vec<PathBuf>,
    /// Preference pairs of the first --valid, as --pairs are those of DATA. Without labels, the
    /// share of these pairs in the right order (preference-accuracy) decides
    #[arg(long, value_name = "FILE", requires = "valid")]
    valid_pairs: Option<PathBuf>,
    /// The learner, such as `lambdamart(trees=500, metric=ndcg@10)`. See `list learners`
    #[arg(long, short, value_name = "SPEC", default_value = DEFAULT_LEARNER)]
    learner: String,
    /// A metric to compute; may be repeated, and the first decides on early stopping. The learner's
    /// own metric if not given
    #[arg(long = "metric", short, value_name = "SPEC")]
    metrics: Vec<String>,
    #[arg(long, value_name = "N", help = seed_help())]
    seed: Option<u64>,
    /// File for the model, with a side file MODEL.log.json beside it
    #[arg(long, value_name = "MODEL")]
    out: PathBuf,
    /// A model of any kind to start from: new trees are added to its scores
    #[arg(long, value_name = "MODEL")]
    start: Option<PathBuf>,
    /// A model to learn from besides the labels: its scores, standardised within each query, are
    /// soft targets. Data without labels (`--columns label=none`) is learned from it alone
    #[arg(long, value_name = "MODEL")]
    teacher: Option<PathBuf>,
    #[arg(long, value_name = "NUMBER", requires = "teacher", help = teacher_weight_help())]
    teacher_weight: Option<f64>,
    /// Further queries that are learned from --teacher alone; several files are one data set, and
    /// their labels are ignored
    #[arg(long, value_name = "DATA", requires = "teacher")]
    unlabelled: Vec<PathBuf>,
    /// Minutes for the learner `auto`: candidates that do not fit are left out. The result names
    /// the spec that repeats the training exactly
    #[arg(long, value_name = "N")]
    minutes: Option<f64>,
    /// Ignore features of --valid that the training data does not know, and features that only one
    /// of --start and the training data knows
    #[arg(long)]
    ignore_extra: bool,
    /// Rule that matches the features of --valid, --start and members of a blend with those of the
    /// training data
    #[arg(long, value_parser = choices::<MatchBy>(), default_value = MatchBy::default().name())]
    match_by: MatchBy,
    /// Save the training in this folder while it runs; the same command resumes from there. The
    /// folder and what was saved last are kept. Without this option only Ctrl-C and `kill` save,
    /// to MODEL.checkpoint, and a finished training leaves nothing there
    #[arg(long, value_name = "DIR")]
    checkpoint: Option<PathBuf>,
    /// Save after this many trees, or other rounds of the learner
    #[arg(long, value_name = "N", requires = "checkpoint")]
    checkpoint_trees: Option<usize>,
    /// Save after this many seconds
    #[arg(long, value_name = "N", requires = "checkpoint", default_value_t = Checkpoints::DEFAULT_INTERVAL.as_secs())]
    checkpoint_seconds: u64,
    /// Examination of positions, for a learner with bias=ips or bias=dr: lines of position and
    /// examination, or the output of `clicks bias --json`
    #[arg(long, value_name = "FILE")]
    bias: Option<PathBuf>,
    /// Evaluate the metrics on the training data too
    #[arg(long)]
    eval_train: bool,
    #[command(flatten)]
    read: ReadArgs,
}

fn seed_help() -> String {
    format!("Seed of all random choices; {DEFAULT_SEED} if not given")
}

fn teacher_weight_help() -> String {
    let def = TeacherParams::default().defs().remove(0);
    format!("{} From 0 to 1, {} if not given", def.help, def.default.unwrap_or_default())
}

impl Args {
    fn request(&self) -> Result<TrainModelRequest, Failure> {
        let mut learner = LearnerSpec::parse(&self.learner)?;
        if let Some(minutes) = self.minutes {
            learner = learner.with_parameter("minutes", minutes.to_string())?;
        }
        let data = self.read.files(&self.data)?;
        let mut request = TrainModelRequest::new(learner, data).out(&self.out);
        request.valid = validation(&self.valid, self.valid_pairs.as_ref());
        request.metrics = specs(&self.metrics)?;
        request.seed = self.seed;
        request.start = self.start.as_ref().map(Into::into);
        request.matching = match_options(self.match_by, self.ignore_extra);
        request.eval_train = self.eval_train;
        request.bias = self.bias.clone();
        request.teacher = self.teacher.as_ref().map(|model| {
            let mut teacher = TeacherSource::new(model);
            if !self.unlabelled.is_empty() {
                teacher = teacher.unlabelled(self.unlabelled.clone());
            }
            match self.teacher_weight {
                Some(weight) => teacher.weight(weight),
                None => teacher,
            }
        });
        request.checkpoint = self.checkpoint.as_ref().map(|folder| {
            let mut options = CheckpointOptions::new(folder);
            options.every_rounds = self.checkpoint_trees.unwrap_or(0);
            options.every = Duration::from_secs(self.checkpoint_seconds);
            options
        });
        Ok(request)
    }
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    if args.out == Path::new("-") {
        return Err(Failure::usage(
            "--out cannot be standard output (-): a model is written to a file",
        ));
    }
    let request = args.request()?;
    let result = run_training(out, |context| train_model(&request, context))?;
    out.show(&result, |result| text::of(&request.learner, result))
}
