//! Arguments that name feature data, and the way to a data set.

use std::path::PathBuf;

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
    /// What an absent feature of a sparse row is worth
    #[arg(long, value_enum, default_value_t = AbsentArg::Zero)]
    pub(crate) absent: AbsentArg,
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

impl ReadArgs {
    fn options(&self) -> Result<ReadOptions, DataError> {
        Ok(ReadOptions {
            format: self.format.as_deref().map(Format::from_name).transpose()?,
            absent: match self.absent {
                AbsentArg::Zero => Absent::Zero,
                AbsentArg::Missing => Absent::Missing,
            },
            roles: self.columns.as_deref().map_or(Ok(Roles::default()), Roles::parse)?,
            ..ReadOptions::default()
        })
    }

    /// Reads one data set from the files; tells what was odd. Gives the seconds too.
    pub(crate) fn read(&self, files: &[PathBuf], out: &Output) -> Result<(Loaded, f64), Failure> {
        let options = self.options()?;
        let what = format!("reading {}", name_of(files));
        let (loaded, seconds) = timed(out, &what, || read(files, &options));
        let mut loaded = loaded?;
        out.notes(&loaded.notes);
        if let Some(pairs) = &self.pairs {
            let (data, notes) = loaded.data.with_pairs(&Input::open(pairs)?)?;
            out.notes(&notes);
            loaded.data = data;
        }
        Ok((loaded, seconds))
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
