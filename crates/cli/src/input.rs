//! Arguments that name feature data, and the way to a data set.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use rankwright::data::Absent;
use rankwright::data::format::{Format, Roles};
pub(crate) use rankwright::tasks::file_label as name_of;
use rankwright::tasks::{DataFiles, LoadedData, check_output, check_standard_input, read_data};

use crate::failure::Failure;
use crate::output::Output;
use crate::progress::run_task;

/// How feature data is read.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ReadArgs {
    /// Format of the data (see `list formats`); told by content if not given
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<String>,
    /// What an absent feature of a sparse row is worth; what the model says, or else zero
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
    /// These files, to be read as the options say.
    pub(crate) fn files(&self, files: &[PathBuf]) -> Result<DataFiles, Failure> {
        let mut data = DataFiles::new(files);
        data.format = self.format.as_deref().map(Format::from_name).transpose()?;
        data.absent = self.absent.map(AbsentArg::rule);
        data.roles = self.columns.as_deref().map(Roles::parse).transpose()?;
        data.pairs = self.pairs.clone();
        Ok(data)
    }

    /// Whether any of these was given.
    pub(crate) fn is_given(&self) -> bool {
        let ReadArgs { format, absent, columns, pairs } = self;
        format.is_some() || absent.is_some() || columns.is_some() || pairs.is_some()
    }

    /// Reads one data set from the files; tells what was odd. Gives the seconds too.
    pub(crate) fn read(
        &self,
        files: &[PathBuf],
        out: &Output,
    ) -> Result<(LoadedData, f64), Failure> {
        self.read_as(files, None, out)
    }

    /// As `read`; a model says what absent features mean.
    pub(crate) fn read_as(
        &self,
        files: &[PathBuf],
        model_rule: Option<Absent>,
        out: &Output,
    ) -> Result<(LoadedData, f64), Failure> {
        let files = self.files(files)?;
        let loaded = run_task(out, |context| read_data(&files, model_rule, context))?;
        let seconds = loaded.seconds;
        Ok((loaded, seconds))
    }
}

/// Refuses standard input as more than one of a command's inputs.
pub(crate) fn one_stdin<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
    Ok(check_standard_input(paths)?)
}

/// Refuses to write a result over one of the files that it is made from.
pub(crate) fn not_over_an_input<'a>(
    out: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Failure> {
    Ok(check_output(out, inputs)?)
}
