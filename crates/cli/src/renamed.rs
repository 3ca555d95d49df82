//! Flags that are refused with a better name: those of earlier versions, and parameters of learners.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, CommandFactory};

use rankwright::learn::LEARNERS;
use rankwright::spec::familiar_param;

use crate::Cli;

/// A flag that was renamed.
struct RenamedFlag {
    /// The verbs that took it.
    verbs: &'static [&'static str],
    old: &'static str,
    new: &'static str,
}

const RENAMED: [RenamedFlag; 4] = [
    RenamedFlag { verbs: &["train"], old: "--measure-training", new: "--eval-train" },
    RenamedFlag { verbs: &["explain"], old: "--orders", new: "--permutations" },
    RenamedFlag {
        verbs: &[
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
    RenamedFlag { verbs: &["search"], old: "--with", new: "--query-field" },
];

/// The message for a flag of an earlier version, if that is what an error of clap is about.
pub(crate) fn renamed_flag(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let ContextValue::String(flag) = error.get(ContextKind::InvalidArg)? else { return None };
    let command = Cli::command().ignore_errors(true);
    let verb = verb(&command.try_get_matches().ok()?);
    let of_verb = |entry: &&RenamedFlag| entry.old == flag && entry.verbs.contains(&verb.as_str());
    let RenamedFlag { old, new, .. } = RENAMED.iter().find(of_verb)?;
    Some(format!("{old} was renamed: write {new}"))
}

/// The message and the advice for a flag that is a parameter of learners, here or in another system:
/// `--learning-rate`.
pub(crate) fn learner_parameter(error: &clap::Error) -> Option<(String, Option<String>)> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let ContextValue::String(flag) = error.get(ContextKind::InvalidArg)? else { return None };
    let command = Cli::command().ignore_errors(true);
    let verb = verb(&command.try_get_matches().ok()?);
    if !["train", "cv", "tune"].contains(&verb.as_str()) {
        return None;
    }
    let key = flag.trim_start_matches('-').replace('-', "_");
    let known =
        |key: &str| LEARNERS.iter().any(|def| def.params().iter().any(|param| param.name == key));
    let message = format!("{flag} is not an option of {verb}");
    if known(&key) {
        let help = format!("it is a parameter of a learner: --learner 'lambdamart({key}=...)'");
        return Some((message, Some(help)));
    }
    let entry = familiar_param(&key)?;
    let help = match entry.here {
        [] => entry.note.to_owned(),
        [name, ..] => {
            format!("parameters are part of the learner: --learner 'lambdamart({name}=...)'")
        }
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

/// The verb with its subcommand, such as `report data`.
fn verb(matches: &ArgMatches) -> String {
    let mut names = Vec::new();
    let mut current = matches;
    while let Some((name, inner)) = current.subcommand() {
        names.push(name);
        current = inner;
    }
    names.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new flag that no verb takes would send the user from one error to the next.
    #[test]
    fn new_flags_are_taken_and_old_ones_are_not() {
        for RenamedFlag { verbs, old, new } in RENAMED {
            for verb in verbs {
                let mut command = &Cli::command();
                for name in verb.split(' ') {
                    command = command.find_subcommand(name).unwrap();
                }
                let takes = |flag: &str| {
                    let name = flag.strip_prefix("--");
                    command.get_arguments().any(|arg| arg.get_long() == name)
                };
                assert!(takes(new), "{verb} {new}");
                assert!(!takes(old), "{verb} {old}");
            }
        }
    }
}
