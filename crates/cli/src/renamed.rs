//! Flags of earlier versions, which are refused with their new names.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, CommandFactory};

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
