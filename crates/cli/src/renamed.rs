//! Messages for flags that do not exist but have a counterpart: flags that were renamed, and
//! parameters of learners, which belong in the learner's spec.
//!
//! A parameter is known by its name here, such as `--leaves`, or in another system, such as
//! `--learning-rate` of LightGBM.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, CommandFactory};

use rankwright::learn::{LEARNERS, LearnerDef};
use rankwright::spec::{OtherSystemParam, other_system_param};

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
pub(crate) fn renamed_flag_message(error: &clap::Error) -> Option<String> {
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

/// The message and the advice for a flag that is a parameter of learners, here or in another
/// system: `--learning-rate`.
pub(crate) fn learner_parameter_message(error: &clap::Error) -> Option<(String, Option<String>)> {
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
    let help = match key.as_str() {
        "seed" | "random_state" | "random_seed" => Some("give --seed N".to_owned()),
        "num_threads" | "n_jobs" | "nthread" | "thread_count" => {
            Some("give --threads N".to_owned())
        }
        "objective" | "loss_function" | "application" => {
            Some("the learner is the objective: --learner lambdamart".to_owned())
        }
        "eval_metric" | "custom_metric" => {
            Some("give --metric, such as --metric ndcg@10".to_owned())
        }
        _ => other_system_help(entry),
    };
    Some((message, help))
}

/// The advice for a parameter of another system: our name of it in the spec of a learner, and the
/// note on it; `None` if there is neither.
fn other_system_help(entry: &OtherSystemParam) -> Option<String> {
    let with_learner = |name: &&'static str| Some((learner_with(name)?, *name));
    let spec = entry.our_names.iter().find_map(with_learner).map(|(learner, name)| {
        format!("parameters are part of the learner: --learner '{learner}({name}=...)'")
    });
    match (spec, entry.note) {
        (spec, "") => spec,
        (Some(spec), note) => Some(format!("{spec} ({note})")),
        (None, note) => Some(note.to_owned()),
    }
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

    /// A new flag that the command rejects would send the user from one error to the next.
    #[test]
    fn each_command_accepts_the_new_flag_and_rejects_the_old_one() {
        for RenamedFlag { commands, old, new } in RENAMED {
            for line in commands {
                let mut command = &Cli::command();
                for name in line.split(' ') {
                    command = command.find_subcommand(name).unwrap();
                }
                let accepts = |flag: &str| {
                    let name = flag.strip_prefix("--");
                    command.get_arguments().any(|arg| arg.get_long() == name)
                };
                assert!(accepts(new), "{line} {new}");
                assert!(!accepts(old), "{line} {old}");
            }
        }
    }

    #[test]
    fn advice_for_a_parameter_of_another_system_has_our_name_and_the_note() {
        let help = |name: &str| other_system_help(other_system_param(name).unwrap()).unwrap();
        let expected = "parameters are part of the learner: --learner 'lambdamart(metric=...)'";
        assert_eq!(help("metric2t"), expected, "RankLib trains for this metric");
        let batch = help("batch_size");
        assert!(batch.ends_with("(batch=...)' (a number of queries)"), "{batch}");
        assert!(help("device").starts_with("there is one method"));
    }
}
