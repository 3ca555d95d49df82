//! Arguments that name feature data, and the way to a data set.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use rankwright::data::bytes::Input;
use rankwright::data::format::{Format, Loaded, ReadOptions, Roles, read};
use rankwright::data::{Absent, DataError};

use crate::failure::Failure;
use crate::output::Output;
use crate::progress::timed;

/// How feature data is read.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ReadArgs {
    /// Format of the data (see `list formats`); told by content if not given
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<String>,
    /// What an absent feature of a sparse row is worth; zero if not given
    #[arg(long, value_enum)]
    pub(crate) absent: Option<AbsentArg>,
    /// Roles of columns in tables, e.g. `qid=session, label=clicks, ignore=url+title`
    #[arg(long, value_name = "ROLES")]
    pub(crate) columns: Option<String>,
    /// Preference pairs: lines `qid better worse [weight]` or `qid A > B [weight]`
    #[arg(long, value_name = "FILE")]
    pub(crate) pairs: Option<PathBuf>,
}

/// The rule for absent features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AbsentArg {
    /// The value 0, as in LETOR
    Zero,
    /// A missing value
    Missing,
}

impl AbsentArg {
    fn rule(self) -> Absent {
        match self {
            AbsentArg::Zero => Absent::Zero,
            AbsentArg::Missing => Absent::Missing,
        }
    }
}

impl ReadArgs {
    fn options(&self) -> Result<ReadOptions, DataError> {
        Ok(ReadOptions {
            format: self.format.as_deref().map(Format::from_name).transpose()?,
            absent: self.absent.map_or(Absent::Zero, AbsentArg::rule),
            roles: self.columns.as_deref().map_or(Ok(Roles::default()), Roles::parse)?,
            ..ReadOptions::default()
        })
    }

    /// Reads one data set from the files; tells what was odd. Gives the seconds too.
    pub(crate) fn read(&self, files: &[PathBuf], out: &Output) -> Result<(Loaded, f64), Failure> {
        let options = self.options()?;
        one_stdin(files.iter().chain(&self.pairs).map(PathBuf::as_path))?;
        let what = format!("reading {}", name_of(files));
        let (loaded, seconds) = timed(out, &what, || read(files, &options));
        let mut loaded = loaded?;
        out.notes(&loaded.notes);
        let recorded = loaded.data.absent();
        if self.absent.is_some_and(|said| said.rule() != recorded) {
            return Err(Failure::request(format!(
                "--absent does not apply: {} is {}, with absent features taken as {} already",
                name_of(files),
                loaded.format.info().name,
                recorded.name()
            )));
        }
        if let Some(pairs) = &self.pairs {
            let (data, notes) = loaded.data.with_pairs(&Input::open(pairs)?)?;
            out.notes(&notes);
            loaded.data = data;
        }
        Ok((loaded, seconds))
    }
}

/// Refuses standard input as more than one of a command's inputs.
pub(crate) fn one_stdin<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
    match paths.into_iter().filter(|path| *path == Path::new("-")).count() {
        0 | 1 => Ok(()),
        _ => Err(Failure::request("standard input (-) can be read only once; give a file instead")),
    }
}

/// Files as they are named in messages.
pub(crate) fn name_of(files: &[PathBuf]) -> String {
    match files {
        [one] => one.display().to_string(),
        [first, rest @ ..] => format!("{} and {} more", first.display(), rest.len()),
        [] => "nothing".into(),
    }
}
