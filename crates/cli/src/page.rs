//! The outputs of a report: the HTML file, its assets, and the terminal.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use rankwright::report::Page;
use rankwright::tasks::{PageFiles, TaskInputs, WithPage, WrittenPage};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::Output;

/// Default width of text, in characters.
const COLUMNS: usize = 80;

/// Output files of a report.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PageArgs {
    /// The HTML file: one file that needs no network; - for standard output
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    pub(crate) out: PathBuf,
    /// Also write every plot as SVG, and its numbers as CSV and JSON, into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) assets: Option<PathBuf>,
}

impl PageArgs {
    /// Rejects a path that must not be written to.
    pub(crate) fn check(&self, request: &impl TaskInputs, out: &Output) -> Result<(), Failure> {
        out.check_not_stdout(&self.out)?;
        Ok(request.check_outputs([self.out.as_path()])?)
    }

    /// Writes the files, then prints the short version, or the JSON document with the files' names.
    pub(crate) fn finish(
        &self,
        page: &Page,
        request: &impl TaskInputs,
        result: &impl Serialize,
        out: &Output,
    ) -> Result<(), Failure> {
        out.check_not_stdout(&self.out)?;
        let files = PageFiles::new(&self.out).assets(self.assets.clone());
        let written = Some(files.write(page, request)?);
        if self.out == Path::new("-") {
            return Ok(());
        }
        let text =
            |_: &_| format!("{}\nwritten: {}\n", page.to_text(columns()), self.out.display());
        out.show(&WithPage { result, page: written }, text)
    }
}

/// A page that a command writes besides its usual output.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ExtraPage {
    /// Write a page with plots: one HTML file that needs no network
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Also write every plot of the page as SVG, and its numbers as CSV and JSON, into this folder
    #[arg(long, value_name = "DIR", requires = "html")]
    assets: Option<PathBuf>,
}

impl ExtraPage {
    /// Whether the page goes to standard output, where nothing else may follow it.
    pub(crate) fn is_standard_output(&self) -> bool {
        self.html.as_deref() == Some(Path::new("-"))
    }

    /// Rejects a path that must not be written to.
    pub(crate) fn check(&self, request: &impl TaskInputs, out: &Output) -> Result<(), Failure> {
        let Some(html) = &self.html else { return Ok(()) };
        out.check_not_stdout(html)?;
        Ok(request.check_outputs([html.as_path()])?)
    }

    /// Writes the page that `page` makes, if requested; returns the files.
    pub(crate) fn write(
        &self,
        page: impl FnOnce() -> Page,
        request: &impl TaskInputs,
        out: &Output,
    ) -> Result<Option<WrittenPage>, Failure> {
        let Some(html) = &self.html else { return Ok(None) };
        let files = PageFiles::new(html).assets(self.assets.clone());
        let written = files.write(&page(), request)?;
        if html != Path::new("-") {
            out.note(format!("the page was written to {}", html.display()));
        }
        Ok(Some(written))
    }
}

/// Width of text in characters, at most 200: the environment variable COLUMNS, else the width of
/// the terminal, else 80.
fn columns() -> usize {
    terminal_columns().unwrap_or(COLUMNS).min(200)
}

/// Width of text in characters, at least 40: the environment variable COLUMNS, else the width of
/// the terminal; none if COLUMNS is not set and standard output is not a terminal.
pub(crate) fn terminal_columns() -> Option<usize> {
    let requested = std::env::var("COLUMNS").ok().and_then(|text| text.parse::<usize>().ok());
    let of_terminal = || match io::stdout().is_terminal() {
        true => terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)),
        false => None,
    };
    requested.or_else(of_terminal).map(|columns| columns.max(40))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn finish(out: &Path, assets: Option<&Path>, json: bool) -> Result<(), Failure> {
        let args = PageArgs { out: out.to_owned(), assets: assets.map(Path::to_owned) };
        let page = Page { title: "A report".into(), ..Page::default() };
        let result = BTreeMap::<String, u32>::new();
        args.finish(&page, &(), &result, &Output { json, quiet: true, ..Output::default() })
    }

    #[test]
    fn the_file_is_written_and_the_folder_of_assets_is_created() {
        let folder = tempfile::tempdir().unwrap();
        let (file, assets) = (folder.path().join("a.html"), folder.path().join("deep/assets"));
        finish(&file, Some(&assets), false).unwrap();
        assert!(std::fs::read_to_string(&file).unwrap().contains("A report"));
        assert!(assets.is_dir());
    }

    #[test]
    fn a_page_and_a_document_do_not_share_standard_output() {
        let error = finish(Path::new("-"), None, true).unwrap_err().to_string();
        assert!(error.contains("--json"), "{error}");
    }

    #[test]
    fn a_folder_that_does_not_exist_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(finish(&folder.path().join("no/where.html"), None, false).is_err());
    }

    #[test]
    fn the_width_is_between_40_and_200_characters() {
        assert!((40..=200).contains(&columns()));
    }
}
