//! `tune`: random search or successive halving over a learner's parameters, by query.
//!
//! The same command resumes an interrupted search: finished trials are in the log, the current
//! training is in a folder beside it (`LOG.trials`), which a finished search removes.

use std::path::{Path, PathBuf};

use rankwright::eval::SourceKind;
use rankwright::learn::tune::{Space, TuneData, TuneMethod, TuneParams, TunePlan, TuneSettings};
use rankwright::learn::{DEFAULT_LEARNER, FoldParams, LearnerSpec};
use rankwright::model::MatchBy;
use rankwright::tasks::{Context, SearchSpace, TuneRequest, tune_learner};

use crate::declared::{choices, help};
use crate::failure::Failure;
use crate::input::{ReadArgs, match_options, validation};
use crate::interrupt::{Interrupt, TRAINING_PART};
use crate::measures::specs;
use crate::output::{Output, TableStyle};
use crate::progress::{TrainingBar, run_with_bar};

mod bar;
mod text;

/// Search for good parameters of a learner, on validation data or folds by query.
///
/// Trial 0 is the learner as given; the others are drawn from the space by seed and number, so that
/// a search with more trials begins with the same trials. The best spec is printed so that `train
/// --learner` accepts it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Feature data; several files are one data set
    #[arg(value_name = "DATA", required_unless_present = "show_space")]
    data: Vec<PathBuf>,
    /// Validation data, for early stopping and for the value of each trial
    #[arg(long, value_name = "DATA", conflicts_with_all = ["folds", "valid_part"])]
    valid: Option<PathBuf>,
    /// Preference pairs of --valid, as --pairs are those of DATA. Without labels, the share of
    /// these pairs in the right order (preference-accuracy) decides
    #[arg(long, value_name = "FILE", requires = "valid")]
    valid_pairs: Option<PathBuf>,
    #[arg(long, value_name = "K", help = folds_help())]
    folds: Option<usize>,
    /// On folds: fraction of each fold's training queries that decides on early stopping, for
    /// learners that need it (stop=)
    #[arg(long, value_name = "PART")]
    valid_part: Option<f64>,
    /// The learner; trial 0 is the learner as given, and its settings are kept unless the space
    /// varies them
    #[arg(long, short, value_name = "SPEC", default_value = DEFAULT_LEARNER)]
    learner: String,
    /// Examination of positions, for a learner with bias=ips or bias=dr: lines of position and
    /// examination, or the output of `clicks bias --json`
    #[arg(long, value_name = "FILE")]
    bias: Option<PathBuf>,
    /// The search space, such as `rate=log(0.01,0.3), leaves=choice(7,15,31), min_rows=int(1,100),
    /// l2=logint(1,100), sample_queries=uniform(0.5,1)`; the learner's default space if not given
    #[arg(long, value_name = "SPEC")]
    space: Option<String>,
    /// Print the learner's default space, and end
    #[arg(long)]
    show_space: bool,
    #[arg(long, value_name = "N", help = help::<TuneParams>("trials"))]
    #[arg(default_value_t = TuneParams::default().trials)]
    trials: usize,
    #[arg(long, help = help::<TuneParams>("method"), value_parser = choices::<TuneMethod>())]
    #[arg(default_value = TuneMethod::default().name())]
    method: TuneMethod,
    /// The metric that decides; the learner's own metric if not given
    #[arg(long, short, value_name = "SPEC")]
    metric: Option<String>,
    #[arg(long, value_name = "N", help = help::<TuneParams>("seed"))]
    #[arg(default_value_t = TuneParams::default().seed)]
    seed: u64,
    /// Train the best learner on all of DATA (with --valid for early stopping), and write the model
    #[arg(long, value_name = "MODEL")]
    out: Option<PathBuf>,
    /// Keep finished trials in this file, one line of JSON each; the same command then resumes
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Number of trials in the table, the best first; trial 0 is always included
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Ignore features of --valid that the training data does not know
    #[arg(long, requires = "valid")]
    ignore_extra: bool,
    /// Rule that matches the features of --valid with those of the training data
    #[arg(long, value_parser = choices::<MatchBy>(), default_value = MatchBy::default().name(), requires = "valid")]
    match_by: MatchBy,
    /// Style of the table
    #[arg(long, value_enum, default_value_t)]
    table: TableStyle,
    #[command(flatten)]
    read: ReadArgs,
}

/// The help of `--folds`.
fn folds_help() -> String {
    let default = FoldParams::default().folds;
    format!(
        "Without --valid: number of folds by query, the same for all trials; {default} if not given"
    )
}

pub(crate) fn run(args: &Args, out: &Output) -> Result<(), Failure> {
    let learner = LearnerSpec::parse(&args.learner)?;
    if args.show_space {
        let space = args.settings()?.default_space(&learner)?;
        return out.show(&SearchSpace::new(&learner, &space), |shown| shown.space.clone());
    }
    let request = args.request(&learner)?;
    let interrupt = Interrupt::after(TRAINING_PART);
    let bar = bar::TuneBar::new(out, &request.plan, interrupt);
    let rounds = TrainingBar::hidden(out, interrupt);
    let context = Context::default().cancel(interrupt.flag()).training(&rounds);
    let result =
        run_with_bar(out, context, bar.bar(), |context| tune_learner(&request, &bar, context))?;
    out.show(&result, |result| text::of(args, &request.plan, result))
}

impl Args {
    fn request(&self, learner: &LearnerSpec) -> Result<TuneRequest, Failure> {
        for (option, what, path) in [("--out", "a model", &self.out), ("--log", "a log", &self.log)]
        {
            if path.as_deref() == Some(Path::new("-")) {
                return Err(Failure::usage(format!(
                    "{option} cannot be standard output (-): {what} is written to a file"
                )));
            }
        }
        let plan = TunePlan::new(learner, self.settings()?)?;
        let mut request = TuneRequest::new(plan, self.read.files(&self.data)?);
        let valid = self.valid.as_slice();
        request.valid = validation(valid, self.valid_pairs.as_ref()).pop();
        request.bias = self.bias.clone();
        request.matching = match_options(self.match_by, self.ignore_extra);
        (request.out, request.log) = (self.out.clone(), self.log.clone());
        Ok(request)
    }

    fn settings(&self) -> Result<TuneSettings, Failure> {
        let texts: Vec<String> = self.metric.iter().cloned().collect();
        let metric = match &specs(&texts)?[..] {
            [] => None,
            [one] => Some(one.resolve(SourceKind::Features)?),
            _ => {
                return Err(Failure::usage("--metric takes one metric here: the one that decides"));
            }
        };
        let evaluated_on = match &self.valid {
            Some(_) => TuneData::Valid,
            None => TuneData::Folds {
                count: self.folds.unwrap_or(FoldParams::default().folds),
                valid_part: self.valid_part,
            },
        };
        let space = self.space.as_deref().map(Space::parse).transpose()?;
        let settings = TuneSettings::new(evaluated_on).space(space).trials(self.trials);
        Ok(settings.method(self.method).metric(metric).seed(self.seed))
    }
}
