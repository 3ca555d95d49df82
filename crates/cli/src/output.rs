//! Output: results on standard output, everything else on standard error.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use indicatif::ProgressDrawTarget;
use rankwright::eval::table::Table;
use rankwright::spec::visible;
use rankwright::tasks::ErrorReport;
use serde::Serialize;
use serde_json::Value;

use crate::advice::{advice, pointer};
use crate::failure::Failure;
use crate::failure_kind::kind;
use crate::logging;

/// Output options.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct Output {
    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print no progress and no notes
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Print each step with its time instead of a progress bar; -vv prints every round of a
    /// training, -vvv also messages of other libraries
    #[arg(long, short, global = true, action = clap::ArgAction::Count, conflicts_with = "quiet")]
    pub(crate) verbose: u8,
}

/// An error as JSON, on standard error.
#[derive(Debug, Serialize)]
struct ErrorDocument<'a> {
    error: ErrorBody<'a>,
}

/// The library's report, with what only a command has.
#[derive(Debug, Serialize)]
struct ErrorBody<'a> {
    #[serde(flatten)]
    report: &'a ErrorReport,
    /// The exit code of the command.
    exit_code: u8,
}

/// An error as one line of JSON.
pub(crate) fn error_line(report: &ErrorReport, exit_code: u8) -> String {
    let error = ErrorBody { report, exit_code };
    let text = serde_json::to_string(&ErrorDocument { error }).unwrap_or_default();
    visible::json(&text).into_owned()
}

/// The style of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TableStyle {
    /// Aligned plain text
    #[default]
    Text,
    /// A Markdown table
    Markdown,
    /// A LaTeX tabular (booktabs)
    Latex,
}

impl TableStyle {
    pub(crate) fn draw(self, table: &Table) -> String {
        match self {
            TableStyle::Text => table.to_text(),
            TableStyle::Markdown => table.to_markdown(),
            TableStyle::Latex => table.to_latex(),
        }
    }
}

impl Output {
    /// Prints text on standard output; control characters of names and ids are escaped.
    pub(crate) fn text(&self, text: &str) -> Result<(), Failure> {
        self.print(&visible::lines(text))
    }

    /// Prints a JSON document on standard output.
    fn json(&self, document: &Value) -> Result<(), Failure> {
        self.print(&visible::json(&format!("{document:#}")))
    }

    fn print(&self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        let newline = if text.ends_with('\n') { "" } else { "\n" };
        let written = write!(out, "{text}{newline}").and_then(|()| out.flush());
        match written {
            // `rankwright ... | head` is not a failure.
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other.map_err(Failure::Output),
        }
    }

    /// Prints a result of the library as one JSON document, or else the text.
    pub(crate) fn show<T: Serialize>(
        &self,
        result: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<(), Failure> {
        match self.json {
            true => self.json(&document(result)?),
            false => self.text(&text(result)),
        }
    }

    /// Like [`Output::show`], for a text with styles: its control characters are printed as they
    /// are; those of names and ids are escaped already.
    pub(crate) fn show_styled<T: Serialize>(
        &self,
        result: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<(), Failure> {
        match self.json {
            true => self.json(&document(result)?),
            false => self.print(&text(result)),
        }
    }

    /// Rejects a file on standard output where a JSON document must be the only output.
    pub(crate) fn check_not_stdout(&self, path: &Path) -> Result<(), Failure> {
        match self.json && path == Path::new("-") {
            true => Err(Failure::request(
                "--json prints one document on standard output; write the file to a path, not to -",
            )),
            false => Ok(()),
        }
    }

    /// The place where progress is drawn: standard error, if it is a terminal; nowhere under
    /// `--quiet`, and under `-v`, which prints lines instead.
    pub(crate) fn progress(&self) -> ProgressDrawTarget {
        match self.quiet || self.verbose > 0 {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr(),
        }
    }

    /// Prints a note on standard error.
    pub(crate) fn note(&self, text: impl AsRef<str>) {
        logging::note(text.as_ref());
        if !self.quiet {
            eprintln!("note: {}", visible::lines(text.as_ref()));
        }
    }

    /// Prints an error and its remedy: text, or under `--json` one line of JSON.
    pub(crate) fn fail(&self, failure: &Failure) -> ExitCode {
        if self.json {
            let mut message = failure.to_string();
            if let Some(pointer) = pointer(failure) {
                message = format!("{message}\n{pointer}");
            }
            let report = ErrorReport::new(kind(failure), message).with_help(advice(failure));
            eprintln!("{}", error_line(&report, failure.code()));
            return ExitCode::from(failure.code());
        }
        eprintln!("error: {}", visible::lines(&failure.to_string()));
        for line in pointer(failure).iter().flat_map(|pointer| pointer.lines()) {
            eprintln!("       {}", visible::lines(line));
        }
        if let Some(help) = advice(failure) {
            eprintln!(" help: {}", visible::lines(&help));
        }
        ExitCode::from(failure.code())
    }
}

/// The path of a file that was written, for a text.
pub(crate) fn path_text(path: Option<&Path>) -> String {
    path.map(|path| path.display().to_string()).unwrap_or_default()
}

/// A result of the library as a JSON document.
pub(crate) fn document<T: Serialize>(result: &T) -> Result<Value, Failure> {
    serde_json::to_value(result)
        .map_err(|error| Failure::request(format!("the result cannot be written as JSON: {error}")))
}

/// Rejects a file to read that does not exist where the file to write does: their order was perhaps
/// exchanged.
pub(crate) fn check_order(command: &str, input: &Path, target: &Path) -> Result<(), Failure> {
    let exists = |path: &Path| path == Path::new("-") || path.exists();
    match !exists(input) && target.is_file() {
        true => Err(Failure::request(format!(
            "cannot read {0}: there is no such file; the file to write comes last, so perhaps: \
             rankwright {command} {1} {0}",
            input.display(),
            target.display()
        ))),
        false => Ok(()),
    }
}
