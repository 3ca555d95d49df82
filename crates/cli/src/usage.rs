//! Errors of the arguments themselves, which clap finds.

use std::process::ExitCode;

use clap::error::ErrorKind;
use rankwright::tasks::ErrorReport;

use crate::output::error_line;
use crate::renamed::{learner_parameter_message, renamed_flag_message};

/// The exit code of wrong usage.
const CODE: u8 = 2;

/// Prints the error: text with the usage, or one line of JSON where `--json` was given. Help and
/// version are no errors, and are printed on standard output.
pub(crate) fn fail(error: clap::Error) -> ExitCode {
    // Better messages than those of clap, with advice.
    let special = renamed_flag_message(&error).map(|message| (message, None));
    let special = special.or_else(|| learner_parameter_message(&error));
    if !wants_json() || !error.use_stderr() {
        return match special {
            None => error.exit(),
            Some((message, help)) => {
                eprintln!("error: {message}");
                help.iter().for_each(|help| eprintln!(" help: {help}"));
                ExitCode::from(CODE)
            }
        };
    }
    let (message, help) = special.unwrap_or_else(|| message_and_tip(&error));
    let report = ErrorReport::new("usage", message).with_help(help);
    eprintln!("{}", error_line(&report, CODE));
    ExitCode::from(CODE)
}

/// Whether `--json` is among the arguments, which clap could not parse.
fn wants_json() -> bool {
    let words = std::env::args_os().skip(1).take_while(|word| word != "--");
    words.into_iter().any(|word| word == "--json")
}

/// The message and the tip of an error of clap, which renders both with the usage of the command.
fn message_and_tip(error: &clap::Error) -> (String, Option<String>) {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return ("a command is missing".to_owned(), Some("--help lists all commands".to_owned()));
    }
    let text = error.to_string();
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_message = |line: &&str| {
        !["tip:", "Usage:", "For more information"].iter().any(|start| line.starts_with(start))
    };
    let message: Vec<&str> = lines().take_while(is_message).collect();
    let message = message.join(" ");
    let tip = lines().find_map(|line| line.strip_prefix("tip:"));
    let usage = || lines().find(|line| line.starts_with("Usage:"));
    let help = tip.map(str::trim).or_else(usage).map(str::to_owned);
    (message.strip_prefix("error: ").unwrap_or(&message).to_owned(), help)
}
