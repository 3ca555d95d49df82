//! Arguments that name feature data.

use std::path::PathBuf;

use rankwright::data::format::{Format, Roles};
use rankwright::data::{Absent, PairColumn};
use rankwright::model::{MatchBy, MatchOptions};
use rankwright::tasks::{DataFiles, DataSource};

use crate::declared::choices;
use crate::failure::Failure;

/// Options of reading feature data.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ReadArgs {
    /// Format of the data (see `list formats`); detected by content if not given
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<String>,
    /// Value of features that a row of LETOR text or JSON lines does not mention: zero, or missing
    /// (unknown). A model stores the rule of its training data and applies it when it scores;
    /// without a model the default is zero
    #[arg(long, value_parser = choices::<Absent>())]
    pub(crate) absent: Option<Absent>,
    /// Roles of columns in tables, such as `qid=session, label=clicks, category=brand, ignore=url`;
    /// those of the model or of a cache if not given
    #[arg(long, value_name = "ROLES")]
    pub(crate) columns: Option<String>,
    /// Preference pairs: lines `qid better worse [weight]`, `qid A > B [weight]`, or after a header
    /// line, `qid better worse probability [weight]`
    #[arg(long, value_name = "FILE")]
    pub(crate) pairs: Option<PathBuf>,
    /// Meaning of the fourth column of the pairs, if it is ambiguous and no header names it: a
    /// weight, or the probability that the first document is better (a soft target)
    #[arg(long, value_parser = choices::<PairColumn>(), requires = "pairs")]
    pub(crate) pair_column: Option<PairColumn>,
}

/// The options of matching features, as the library takes them.
pub(crate) fn match_options(by: MatchBy, ignore_extra: bool) -> MatchOptions {
    MatchOptions::default().ignore_extra(ignore_extra).by(by)
}

/// Files of validation data, with a file of preference pairs for the first.
pub(crate) fn validation(files: &[PathBuf], pairs: Option<&PathBuf>) -> Vec<DataSource> {
    let mut pairs = pairs.cloned();
    let set = |file| {
        let mut files = DataFiles::new([file]);
        files.pairs = pairs.take();
        files.into()
    };
    files.iter().map(set).collect()
}

impl ReadArgs {
    /// These files, to be read with these options.
    pub(crate) fn files(&self, files: &[PathBuf]) -> Result<DataFiles, Failure> {
        let mut data = DataFiles::new(files);
        data.format = self.format.as_deref().map(Format::from_name).transpose()?;
        data.absent = self.absent;
        data.roles = self.columns.as_deref().map(Roles::parse).transpose()?;
        data.pairs = self.pairs.clone();
        data.pair_column = self.pair_column;
        Ok(data)
    }

    /// Whether any of these options was given.
    pub(crate) fn is_given(&self) -> bool {
        // The column of pairs needs pairs.
        let ReadArgs { format, absent, columns, pairs, pair_column: _ } = self;
        format.is_some() || absent.is_some() || columns.is_some() || pairs.is_some()
    }
}
