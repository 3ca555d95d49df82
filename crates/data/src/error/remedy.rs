//! Remedies of errors, as values: a program that uses the library can phrase them in its own terms,
//! for example with its command-line options.

use std::borrow::Cow;
use std::fmt;

use crate::format::{Role, Roles};

/// A remedy of an error. `Display` phrases it in terms of this library.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Give the role `ignore` to a column that is no feature.
    IgnoreColumn {
        /// The column.
        column: String,
        /// The roles that were given, and this one.
        roles: Roles,
    },
    /// The data is too large: leave columns out, or read fewer rows.
    FewerColumns,
    /// Choose which of two columns has a role.
    ChooseColumn {
        /// The role.
        role: Role,
        /// A column that could have the role.
        one: String,
        /// Another such column.
        other: String,
    },
    /// Name the column of a role that could not be guessed from the column names.
    NameColumn {
        /// The role.
        role: &'static str,
        /// Whether the role may be left out (labels).
        optional: bool,
    },
    /// Give these roles, which solve all problems of the columns.
    GiveRoles {
        /// The roles; if there are several, one of them is to be chosen.
        roles: Vec<Roles>,
        /// Roles for whose column `none` may stand.
        optional: Vec<Role>,
        /// Whether values of a column that these roles leave out could be written differently.
        needs_rewriting: bool,
    },
    /// Check the column names in the given roles.
    CheckRoles {
        /// The column whose name is most like the given one, if it may be a misspelling.
        nearest: Option<String>,
    },
    /// The first column has no name: it may be the row numbers of a data frame.
    NameRowNumbers,
    /// A value of a feature that earlier data has, such as the training data of a model: write it
    /// as expected, or leave it empty.
    MendValue {
        /// The column.
        column: String,
    },
    /// Give every column its own name.
    NameColumns,
    /// Add a header line.
    AddHeader,
    /// Give all files of one data set the same columns.
    SameColumns,
    /// Read the data without roles.
    NoRoles,
    /// The file has scores: evaluate them together with the data that they belong to, instead of
    /// reading them as feature data.
    EvaluateScores,
    /// Evaluate the run together with judgements, instead of reading it as feature data.
    EvaluateRun {
        /// The formats of feature data.
        formats: String,
    },
    /// The file was read as a run, but looks like judgements (qrels).
    IsQrels,
    /// The file was read as judgements (qrels), but looks like a run.
    IsRun,
    /// Convert all source files together into one cache file (.rwd).
    OneCache,
    /// Convert the data to a cache file (.rwd).
    WriteCache,
    /// Create a damaged file again from its source.
    MakeAgain,
    /// Write a file of another version again from its source.
    Rewrite,
    /// Raise the memory limit, if the file is trusted and really is this large.
    AllowMemory,
    /// Say whether the fourth column of preference pairs is a weight or a probability.
    NamePairColumn,
    /// Anything else, as text.
    Text(Cow<'static, str>),
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remedy::IgnoreColumn { roles, .. } => {
                write!(f, "if the column is not a feature, leave it out: give the roles `{roles}`")
            }
            Remedy::FewerColumns => {
                f.write_str("leave columns out by the role `ignore`, or read fewer rows")
            }
            Remedy::ChooseColumn { role, one, other } => {
                let ignored = Roles::of([(*role, one), (Role::Ignore, other)]);
                let number = Roles::of([(*role, one), (Role::Number, other)]);
                write!(f, "choose by roles, such as `{ignored}` or `{number}`")
            }
            Remedy::NameColumn { role, optional } => {
                write!(f, "name the column by the role `{role}=NAME`")?;
                match optional {
                    true => write!(f, ", or give `{role}=none` for data without {role}s"),
                    false => Ok(()),
                }
            }
            Remedy::GiveRoles { roles, optional, needs_rewriting } => {
                if *needs_rewriting {
                    f.write_str("write these values differently; or ")?;
                }
                let roles: Vec<String> = roles.iter().map(|roles| format!("`{roles}`")).collect();
                write!(f, "give the roles {}", roles.join(" or "))?;
                optional.iter().try_for_each(|role| match role {
                    Role::Query => f.write_str("; `qid=none` if all rows are one list"),
                    role => write!(f, "; `{0}=none` if there is no {0}", role.name()),
                })
            }
            Remedy::CheckRoles { nearest: None } => {
                f.write_str("check the column names in the roles")
            }
            Remedy::CheckRoles { nearest: Some(name) } => write!(f, "did you mean '{name}'?"),
            Remedy::NameRowNumbers => f.write_str(
                "give every column its own name; if these are the row numbers of a data frame, \
                 write it without them (to_csv(index=False) in pandas)",
            ),
            Remedy::MendValue { column } => write!(
                f,
                "'{column}' is a feature of the earlier data: write the value as expected, or leave \
                 it empty, which is a missing value"
            ),
            Remedy::NoRoles => f.write_str("read the file without roles"),
            Remedy::NameColumns => f.write_str("give every column its own name"),
            Remedy::AddHeader => {
                f.write_str("add a first line such as `qid,label,feature1,feature2`")
            }
            Remedy::SameColumns => {
                f.write_str("all files of one data set must have the same columns")
            }
            Remedy::EvaluateScores => f.write_str("evaluate the scores together with their data"),
            Remedy::EvaluateRun { formats } => {
                write!(
                    f,
                    "evaluate a run together with judgements; the formats of feature data are \
                     {formats}"
                )
            }
            Remedy::IsQrels => f.write_str("this looks like a file of judgements, not like a run"),
            Remedy::IsRun => f.write_str("this looks like a run, not like a file of judgements"),
            Remedy::OneCache => {
                f.write_str("convert all source files together into one cache file (.rwd)")
            }
            Remedy::WriteCache => f.write_str("convert the data to a cache file (.rwd) first"),
            Remedy::MakeAgain => {
                f.write_str("create the file again from its source; do not use its content")
            }
            Remedy::Rewrite => f.write_str("write the file again from its source"),
            Remedy::AllowMemory => f.write_str(
                "if you trust the file and it really is this large, raise the memory limit",
            ),
            Remedy::NamePairColumn => f.write_str(
                "name the column in a first line `qid better worse weight` or `qid better worse \
                 probability`, or say which it is when the pairs are read",
            ),
            Remedy::Text(text) => f.write_str(text),
        }
    }
}

impl Remedy {
    /// The remedy to leave out a column; no other roles were given.
    pub(crate) fn ignore_column(column: &str) -> Remedy {
        let roles = Roles::of([(Role::Ignore, column)]);
        Remedy::IgnoreColumn { column: column.to_owned(), roles }
    }

    /// The remedy for a reader that was given roles: the roles that the remedy proposes include the
    /// given ones.
    pub(crate) fn with_given_roles(self, given: &Roles) -> Remedy {
        match self {
            Remedy::IgnoreColumn { column, .. } => {
                let mut roles = given.clone();
                roles.remove(&column);
                roles.set_if_free(Role::Ignore, &column);
                Remedy::IgnoreColumn { column, roles }
            }
            other => other,
        }
    }
}

impl From<&'static str> for Remedy {
    fn from(text: &'static str) -> Self {
        Remedy::Text(text.into())
    }
}

impl From<String> for Remedy {
    fn from(text: String) -> Self {
        Remedy::Text(text.into())
    }
}
