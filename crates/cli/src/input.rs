//! Arguments that name feature data.

use std::path::PathBuf;

use clap::ValueEnum;
use rankwright::data::format::{Format, Roles};
use rankwright::data::{Absent, PairColumn};
use rankwright::model::{MatchBy, MatchOptions};
use rankwright::tasks::DataFiles;

use crate::failure::Failure;

/// Options of reading feature data.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ReadArgs {
    /// Format of the data (see `list formats`); detected by content if not given
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<String>,
    /// Value of features that a row of LETOR text or JSON lines does not mention: zero, or missing
    /// (unknown). A model stores the rule of its training data and applies it when it scores; without a
    /// model the default is zero
    #[arg(long, value_enum)]
    pub(crate) absent: Option<AbsentArg>,
    /// Roles of columns in tables, such as `qid=session, label=clicks, category=brand, ignore=url`;
    /// those of the model or of a cache if not given
    #[arg(long, value_name = "ROLES")]
    pub(crate) columns: Option<String>,
    /// Preference pairs: lines `qid better worse [weight]`, `qid A > B [weight]`, or after a header
    /// line, `qid better worse probability [weight]`
    #[arg(long, value_name = "FILE")]
    pub(crate) pairs: Option<PathBuf>,
    /// Meaning of the fourth column of the pairs, if it is ambiguous and no header names it: a weight,
    /// or the probability that the first document is better (a soft target)
    #[arg(long, value_enum, requires = "pairs")]
    pub(crate) pair_column: Option<PairColumnArg>,
}

/// The meaning of the fourth column of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PairColumnArg {
    /// The weight of the pair
    Weight,
    /// The probability that the first document is better, from 0 to 1; between them it is a soft
    /// target, such as 0.7, or 0.5 for equal documents
    Probability,
}

/// The rule that matches features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum MatchByArg {
    /// Names with equal names, numbers with equal numbers
    #[default]
    Name,
    /// By their order: right only if both sides have the same features in the same order
    Position,
}

impl MatchByArg {
    /// The options of matching, as the library takes them.
    pub(crate) fn options(self, ignore_extra: bool) -> MatchOptions {
        let by = match self {
            MatchByArg::Name => MatchBy::Name,
            MatchByArg::Position => MatchBy::Position,
        };
        MatchOptions::default().ignore_extra(ignore_extra).by(by)
    }
}

/// The meaning of absent features.
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
    /// These files, to be read with these options.
    pub(crate) fn files(&self, files: &[PathBuf]) -> Result<DataFiles, Failure> {
        let mut data = DataFiles::new(files);
        data.format = self.format.as_deref().map(Format::from_name).transpose()?;
        data.absent = self.absent.map(AbsentArg::rule);
        data.roles = self.columns.as_deref().map(Roles::parse).transpose()?;
        data.pairs = self.pairs.clone();
        data.pair_column = self.pair_column.map(|column| match column {
            PairColumnArg::Weight => PairColumn::Weight,
            PairColumnArg::Probability => PairColumn::Probability,
        });
        Ok(data)
    }

    /// Whether any of these options was given.
    pub(crate) fn is_given(&self) -> bool {
        // The column of pairs needs pairs.
        let ReadArgs { format, absent, columns, pairs, pair_column: _ } = self;
        format.is_some() || absent.is_some() || columns.is_some() || pairs.is_some()
    }
}
