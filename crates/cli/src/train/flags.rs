//! Options that would do nothing where they are given; each is an error that names it.

use rankwright::learn::LearnerSpec;

use super::Args;
use crate::failure::Failure;

/// Refuses options without an effect on this training.
pub(super) fn check(args: &Args, learner: &LearnerSpec) -> Result<(), Failure> {
    if args.ignore_extra && args.valid.is_empty() && args.start.is_none() {
        return Err(Failure::usage(
            "--ignore-extra is about the features of --valid and --start; give one of them, or \
             leave it out",
        ));
    }
    if learner.boosting().is_some() {
        return Ok(());
    }
    if learner.learns() {
        return check_other(args, learner);
    }
    let of_training = [
        ("--start", args.start.is_some()),
        ("--seed", args.seed.is_some()),
        ("--checkpoint", args.checkpoint.is_some()),
    ];
    if let Some(flag) = given(&of_training) {
        return Err(Failure::usage(format!(
            "{flag} does not apply: the weights of {} are given and nothing is trained; leave it \
             out",
            learner.def().name
        )));
    }
    match given(&of_data(args)) {
        Some(flag) if args.data.is_empty() => Err(Failure::usage(format!(
            "{flag} needs data: give DATA too, or leave it out (`rankwright eval` measures the \
             model afterwards)"
        ))),
        _ => Ok(()),
    }
}

/// Refuses options that only boosting has, and checkpoints of what is trained in one go.
fn check_other(args: &Args, learner: &LearnerSpec) -> Result<(), Failure> {
    let name = learner.def().name;
    if args.start.is_some() {
        return Err(Failure::usage(format!(
            "--start does not apply: {name} does not go on from a model; leave it out"
        )));
    }
    if args.checkpoint.is_some() && learner.rounds().is_none() {
        return Err(Failure::usage(format!(
            "--checkpoint does not apply: {name} is trained in one go; leave it out"
        )));
    }
    Ok(())
}

/// What makes sense only where there is data.
fn of_data(args: &Args) -> [(&'static str, bool); 7] {
    [
        ("--valid", !args.valid.is_empty()),
        ("--metric", !args.metrics.is_empty()),
        ("--eval-train", args.eval_train),
        ("--format", args.read.format.is_some()),
        ("--absent", args.read.absent.is_some()),
        ("--columns", args.read.columns.is_some()),
        ("--pairs", args.read.pairs.is_some()),
    ]
}

/// The first of the flags that was given.
fn given(flags: &[(&'static str, bool)]) -> Option<&'static str> {
    flags.iter().find(|(_, given)| *given).map(|(flag, _)| *flag)
}
