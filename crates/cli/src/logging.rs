//! Log lines: what the command does, with times, on standard error (`-v`) and in a file
//! (`--log-file`).
//!
//! The lines are records of the crate `log`, which the libraries below use as well. Without either
//! option its level is off, and a record costs one comparison. `-v` shows the steps of the command,
//! warnings and a tenth of the rounds of a training, `-vv` every round, `-vvv` everything that
//! other libraries report. A log file has the steps, and is appended to, line by line, so that
//! several commands may share it; `log_file.rs` opens it.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use log::{Level, LevelFilter, Log, Metadata, Record};
use rankwright::spec::visible;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::Output;

/// Beginning of the targets of the records of this command and of its own libraries.
const OWN: &str = "rankwright";

/// The destinations of log lines.
struct CommandLog {
    start: Instant,
    /// Level of the lines on standard error.
    shown: LevelFilter,
    file: Option<Mutex<File>>,
    /// Level of the lines in the file.
    kept: LevelFilter,
    /// Whether lines of the file are JSON objects.
    json: bool,
}

static LOG: OnceLock<CommandLog> = OnceLock::new();

/// A line of the file in JSON.
#[derive(Serialize)]
struct LogLine<'a> {
    time: String,
    level: &'a str,
    message: &'a str,
}

/// Starts logging, if `-v` or a file is given; the first line is the command.
pub(crate) fn start(out: &Output, file: Option<File>) {
    let shown = match out.verbose {
        0 => LevelFilter::Off,
        1 => LevelFilter::Info,
        2 => LevelFilter::Debug,
        _ => LevelFilter::Trace,
    };
    if shown == LevelFilter::Off && file.is_none() {
        return;
    }
    let kept = if file.is_some() { shown.max(LevelFilter::Info) } else { LevelFilter::Off };
    let log = CommandLog {
        start: Instant::now(),
        shown,
        file: file.map(Mutex::new),
        kept,
        json: out.json,
    };
    let log = LOG.get_or_init(|| log);
    // The logger is set once, at the start of the command.
    if log::set_logger(log).is_ok() {
        log::set_max_level(shown.max(kept));
    }
    let words = std::env::args_os().skip(1).map(quoted).collect::<Vec<_>>().join(" ");
    log::info!(target: OWN, "rankwright {} {words}", env!("CARGO_PKG_VERSION"));
}

/// Keeps a note in the log; `Output::note` prints it.
pub(crate) fn note(text: &str) {
    if let Some(log) = LOG.get() {
        log.keep(Level::Warn, &visible::one_line(text));
    }
}

/// Writes the last line of the log: success, or the failure.
pub(crate) fn finish(failure: Option<&Failure>) {
    let Some(log) = LOG.get() else { return };
    let seconds = log.start.elapsed().as_secs_f64();
    match failure {
        None => log::info!(target: OWN, "done in {seconds:.2} s"),
        Some(failure) => {
            log::error!(target: OWN, "{failure}; exit code {}, after {seconds:.2} s", failure.code());
        }
    }
}

/// A word of the command line as a shell would need it.
fn quoted(word: OsString) -> String {
    let word = word.to_string_lossy();
    let needs_no_quotes = |c: char| c.is_alphanumeric() || "-_./=@:,+".contains(c);
    match !word.is_empty() && word.chars().all(needs_no_quotes) {
        true => word.into_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

impl Log for CommandLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let is_own = metadata.target().starts_with(OWN);
        let max_level = self.shown.max(self.kept);
        // Other libraries only warn, unless everything is requested.
        let shows_all = is_own || max_level == LevelFilter::Trace;
        metadata.level() <= if shows_all { max_level } else { LevelFilter::Warn }
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let text = record.args().to_string();
        let text = visible::one_line(&text);
        // No errors: `Output::fail` prints the failure of the command.
        if record.level() <= self.shown && record.level() != Level::Error {
            let seconds = self.start.elapsed().as_secs_f64();
            eprintln!("[{seconds:8.3} s] {text}");
        }
        self.keep(record.level(), &text);
    }

    fn flush(&self) {}
}

impl CommandLog {
    /// Writes a line to the file, if there is one and it keeps this level.
    fn keep(&self, level: Level, text: &str) {
        if let Some(file) = self.file.as_ref().filter(|_| level <= self.kept) {
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            // One call for a whole line; a log that cannot be written must not end the work.
            let _ = file.write_all(self.line(level, text).as_bytes());
        }
    }

    fn line(&self, level: Level, text: &str) -> String {
        let time = utc(SystemTime::now());
        let level = match level {
            Level::Error => "error",
            Level::Warn => "warning",
            Level::Info => "info",
            Level::Debug => "debug",
            Level::Trace => "trace",
        };
        let line = LogLine { time, level, message: text };
        match self.json {
            true => serde_json::to_string(&line).unwrap_or_default() + "\n",
            false => format!("{} {level:7} {text}\n", line.time),
        }
    }
}

/// A time in UTC, such as `2026-01-31T23:59:59.250Z`.
fn utc(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, seconds) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let milliseconds = since.subsec_millis();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

/// Year, month and day of a number of days since 1 January 1970, in the Gregorian calendar.
///
/// Years are counted from March, so that the leap day is the last day of a year; 400 of them have
/// 146,097 days.
fn date(days: u64) -> (u64, u64, u64) {
    // 1 March of the year 0 is 719,468 days earlier.
    let day = days + 719_468;
    let (cycle, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // Months from March have 31, 30, 31, 30, 31 days, twice, and so on.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let year = 400 * cycle + year + u64::from(month >= 10);
    (year, if month < 10 { month + 3 } else { month - 9 }, day)
}

/// Options of the log.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct LogArgs {
    /// Append log lines to this file: steps, warnings and errors with the time in UTC; as JSON
    /// lines with --json. The file is new, empty, or such a log
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) log_file: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        // `date -u -d @SECONDS +%FT%T`
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199, "2024-02-29T23:59:59.000Z"),
            (1_767_225_599, "2025-12-31T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(utc(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        let quoted = |word: &str| quoted(word.into());
        assert_eq!(quoted("--metric=ndcg@10"), "--metric=ndcg@10");
        assert_eq!(quoted("lambdamart(trees=1)"), "'lambdamart(trees=1)'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
