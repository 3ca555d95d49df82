//! Whether log lines may be appended to a file: it is new, empty, a pipe or device, or a log of
//! this command, and no file that the command line names in another place.
//!
//! The log is opened before any input is read, so every path of the command line is compared with
//! it. A file that only a spec or another file names (`blend(members=file:m.model)`) is recognised
//! by its first line, which is not one of a log.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use rankwright::data::store::is_same_file;
use rankwright::tasks::{TaskError, check_outputs};

use crate::failure::Failure;

/// Ids of the arguments whose paths are written; all other paths are read. `log` is `tune --log`,
/// the file of finished trials.
const RESULTS: [&str; 7] = ["out", "per_query", "svg", "html", "assets", "log", "checkpoint"];

/// Id of the argument of the log file itself.
const LOG_FILE: &str = "log_file";

/// Bytes in which the beginning of a log line is looked for.
const BEGINNING: u64 = 64;

/// The path of each argument of the command line except the log, with the name of the argument.
fn paths_of(mut matches: &ArgMatches) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    loop {
        for id in matches.ids().filter(|id| id.as_str() != LOG_FILE) {
            // Arguments of other types have no such values.
            if let Ok(Some(paths)) = matches.try_get_many::<PathBuf>(id.as_str()) {
                found.extend(paths.map(|path| (id.to_string(), path.clone())));
            }
        }
        match matches.subcommand() {
            Some((_, of_subcommand)) => matches = of_subcommand,
            None => return found,
        }
    }
}

/// Opens a log for appending, unless it is one of the other files of the command line or a file of
/// another kind.
pub(crate) fn open(path: &Path, matches: &ArgMatches) -> Result<File, Failure> {
    let failed = |error: io::Error| {
        Failure::request(format!("cannot open the log file {}: {error}", path.display()))
    };
    check_others(path, &paths_of(matches))?;
    // A pipe must not be opened for reading: it could wait forever.
    if path.metadata().is_ok_and(|meta| meta.is_file() && meta.len() > 0) {
        let mut beginning = Vec::new();
        let read = File::open(path).map_err(failed)?;
        read.take(BEGINNING).read_to_end(&mut beginning).map_err(failed)?;
        if !is_log_line(&beginning) {
            return Err(Failure::NotALog { path: path.to_owned() });
        }
    }
    File::options().create(true).append(true).open(path).map_err(failed)
}

/// Refuses a log that is one of the `others`, the paths of the other arguments with their names.
fn check_others(log: &Path, others: &[(String, PathBuf)]) -> Result<(), Failure> {
    let is_result = |id: &str| RESULTS.contains(&id);
    let same = others.iter().find(|(_, path)| is_same_file(log, path));
    if let Some((id, path)) = same {
        let (out, input) = (log.to_owned(), path.clone());
        return Err(match is_result(id) {
            true => TaskError::SameFile { path: out }.into(),
            false => TaskError::OutputIsInput { out, input }.into(),
        });
    }
    // Side files of an input (`DATA.query`), and standard input. A log may be in a folder of
    // results, and in one of documents, where its first line shows that it is a log.
    let inputs = others.iter().filter(|(id, path)| !is_result(id) && !path.is_dir());
    Ok(check_outputs([log], inputs.map(|(_, path)| path.as_path()))?)
}

/// Whether bytes begin like a line of a log, as text or as JSON.
fn is_log_line(bytes: &[u8]) -> bool {
    // A 0 stands for any digit.
    const TIME: &[u8] = b"0000-00-00T00:00:00.000Z";
    let rest = bytes.strip_prefix(b"{\"time\":\"").unwrap_or(bytes);
    let Some((time, rest)) = rest.split_at_checked(TIME.len()) else { return false };
    let is_time = time.iter().zip(TIME).all(|(found, pattern)| match pattern {
        b'0' => found.is_ascii_digit(),
        _ => found == pattern,
    });
    let rest = match bytes.starts_with(b"{") {
        true => rest.strip_prefix(b"\",\"level\":\""),
        false => rest.strip_prefix(b" "),
    };
    let levels: [&[u8]; 5] = [b"error", b"warning", b"info", b"debug", b"trace"];
    is_time && rest.is_some_and(|rest| levels.iter().any(|level| rest.starts_with(level)))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// Ids of the arguments of a command and of its subcommands.
    fn argument_ids(command: &clap::Command) -> Vec<String> {
        let own = command.get_arguments().map(|argument| argument.get_id().to_string());
        own.chain(command.get_subcommands().flat_map(argument_ids)).collect()
    }

    #[test]
    fn every_id_is_that_of_an_argument() {
        let ids = argument_ids(&crate::Cli::command());
        for id in RESULTS.iter().chain([&LOG_FILE]) {
            assert!(ids.iter().any(|of_argument| of_argument == id), "{id}");
        }
    }

    #[test]
    fn lines_of_a_log_are_told_from_other_files() {
        for line in [
            "2026-01-31T23:59:59.250Z info    rankwright 1.0 train",
            "2026-01-31T23:59:59.250Z warning x",
            "{\"time\":\"2026-01-31T23:59:59.250Z\",\"level\":\"error\",\"message\":\"x\"}",
        ] {
            assert!(is_log_line(line.as_bytes()), "{line}");
        }
        for line in [
            "",
            "2 qid:1 1:0.5",
            "2026-01-31T23:59:59.250Z",
            "2026-01-31T23:59:59.250Z the other program started",
            "2026-01-31 23:59:59.250Z info    x",
            "{\"time\":\"2026-01-31T23:59:59.250Z\",\"id\":\"d1\"}",
        ] {
            assert!(!is_log_line(line.as_bytes()), "{line}");
        }
    }
}
