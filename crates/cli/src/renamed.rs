//! Flags that do not exist, refused with the right one: flags of earlier versions, and parameters
//! of learners, which belong in the learner's spec.
//!
//! A parameter may have its name here or in another system, such as `--learning-rate` of LightGBM.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, CommandFactory};

use rankwright::learn::{LEARNERS, LearnerDef};
use rankwright::spec::other_system_param;

use crate::Cli;

/// A flag that was renamed.
struct RenamedFlag {
    /// The commands that had it.
    commands: &'static [&'static str],
    old: &'static str,
    new: &'static str,
}

const RENAMED: [RenamedFlag; 4] = [
    RenamedFlag { commands: &["train"], old: "--measure-training", new: "--eval-train" },
    RenamedFlag { commands: &["explain"], old: "--orders", new: "--permutations" },
    RenamedFlag {
        commands: &[
            "compare",
            "explain",
            "report compare",
            "report data",
            "report shrinkage",
            "report train",
        ],
        old: "--parts",
        new: "--assets",
    },
    RenamedFlag { commands: &["search"], old: "--with", new: "--query-field" },
];

/// The message for a flag of an earlier version, if that is what an error of clap is about.
pub(crate) fn renamed_flag(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let ContextValue::String(flag) = error.get(ContextKind::InvalidArg)? else { return None };
    let command = given_command()?;
    let of_command =
        |entry: &&RenamedFlag| entry.old == flag && entry.commands.contains(&command.as_str());
    let RenamedFlag { old, new, .. } = RENAMED.iter().find(of_command)?;
    Some(format!("{old} was renamed: write {new}"))
}

/// The message and the advice for a flag that is a parameter of learners, here or in another system:
/// `--learning-rate`.
pub(crate) fn learner_parameter(error: &clap::Error) -> Option<(String, Option<String>)> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let ContextValue::String(flag) = error.get(ContextKind::InvalidArg)? else { return None };
    let command = given_command()?;
    if !["train", "cv", "tune"].contains(&command.as_str()) {
        return None;
    }
    let key = flag.trim_start_matches('-').replace('-', "_");
    let message = format!("{flag} is not an option of {command}");
    if let Some(learner) = learner_with(&key) {
        let help = format!("it is a parameter of a learner: --learner '{learner}({key}=...)'");
        return Some((message, Some(help)));
    }
    let entry = other_system_param(&key)?;
    let with_learner = |name: &&'static str| Some((learner_with(name)?, *name));
    let help = match entry.our_names.iter().find_map(with_learner) {
        Some((learner, name)) => {
            format!("parameters are part of the learner: --learner '{learner}({name}=...)'")
        }
        None => entry.note.to_owned(),
    };
    let help = match key.as_str() {
        "seed" | "random_state" | "random_seed" => "give --seed N".to_owned(),
        "num_threads" | "n_jobs" | "nthread" | "thread_count" => "give --threads N".to_owned(),
        "objective" | "loss_function" => {
            "the learner is the objective: --learner lambdamart".to_owned()
        }
        "eval_metric" | "metric2t" | "custom_metric" => {
            "give --metric, such as --metric ndcg@10".to_owned()
        }
        _ => help,
    };
    Some((message, Some(help)))
}

/// The first learner that has a parameter of this name.
fn learner_with(parameter: &str) -> Option<&'static str> {
    let has = |def: &&LearnerDef| def.params().iter().any(|param| param.name == parameter);
    LEARNERS.iter().copied().find(has).map(|def| def.name)
}

/// The command of this call with its subcommand, such as `report data`.
fn given_command() -> Option<String> {
    let matches: ArgMatches = Cli::command().ignore_errors(true).try_get_matches().ok()?;
    let mut names = Vec::new();
    let mut current = &matches;
    while let Some((name, inner)) = current.subcommand() {
        names.push(name);
        current = inner;
    }
    Some(names.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new flag that no command takes would send the user from one error to the next.
    #[test]
    fn new_flags_are_taken_and_old_ones_are_not() {
        for RenamedFlag { commands, old, new } in RENAMED {
            for line in commands {
                let mut command = &Cli::command();
                for name in line.split(' ') {
                    command = command.find_subcommand(name).unwrap();
                }
                let takes = |flag: &str| {
                    let name = flag.strip_prefix("--");
                    command.get_arguments().any(|arg| arg.get_long() == name)
                };
                assert!(takes(new), "{line} {new}");
                assert!(!takes(old), "{line} {old}");
            }
        }
    }
}
