//! Errors of the columns of a table.

use std::fmt;

use rankwright_spec::nearest;
use rankwright_spec::words::counted;

use super::{Remedy, SourceLocation};
use crate::format::{Format, Role, Roles};

/// The reason why the columns of a table cannot be given their roles.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnProblem {
    /// A column without a name.
    #[error("column {number} of {columns} has no name")]
    Unnamed {
        /// The column, from 1.
        number: usize,
        /// The number of columns.
        columns: usize,
    },
    /// Two columns of one name.
    #[error("there are two columns '{column}'")]
    Duplicate {
        /// The name.
        column: String,
    },
    /// The first line is data: there are no column names.
    #[error("the first line holds numbers; a header with column names is needed")]
    NoHeader,
    /// Roles were given to the columns of a format that has no named columns.
    #[error("{} has no named columns to give roles to", format.info().name)]
    NoNames {
        /// The format.
        format: Format,
    },
    /// A column that was given a role does not exist.
    #[error(
        "`{}={column}` names the column '{column}', which does not exist; the columns are {}",
        role.name(), ListedColumns(columns)
    )]
    Missing {
        /// The role that the column was given.
        role: Role,
        /// The column.
        column: String,
        /// The existing columns.
        columns: Vec<String>,
    },
    /// A role with `?` in place of a column.
    #[error(
        "`{}=?` is to be replaced by the name of a column; the columns are {}",
        role.name(), ListedColumns(columns)
    )]
    Placeholder {
        /// The role.
        role: Role,
        /// The existing columns.
        columns: Vec<String>,
    },
    /// Two columns could have a role that only one can have.
    #[error("both '{one}' and '{other}' could be the {}", role.name())]
    Ambiguous {
        /// The role.
        role: Role,
        /// A column that could have the role.
        one: String,
        /// Another such column.
        other: String,
    },
    /// No column has a name that means a required role.
    #[error("no column is recognised as the {}{}", role.name(), listed(columns))]
    NoneForRole {
        /// The role.
        role: Role,
        /// The existing columns.
        columns: Vec<String>,
    },
    /// Another problem, after [`DataError::without_content`](super::DataError::without_content) has
    /// removed the names of columns.
    #[error("the columns cannot be given the roles of ranking data")]
    NotShown,
    /// A column whose values are neither numbers nor texts nor points in time.
    #[error(
        "column '{column}' is of type {kind}, which is neither a number, a text nor a point in time"
    )]
    Type {
        /// The column.
        column: String,
        /// The name of its type.
        kind: String,
    },
    /// A column of free texts: most of them occur only once, so that they are not categories.
    #[error(
        "column '{column}' has {} in {}, too many to be categories",
        counted(*different, "different text"),
        counted(*rows as usize, "row")
    )]
    FreeTexts {
        /// The column.
        column: String,
        /// The number of different texts, as far as they were counted.
        different: usize,
        /// The number of rows with a text.
        rows: u64,
    },
    /// A column of numbers and texts.
    #[error("column '{column}' has numbers and texts (the first text, {text}, is at {location})")]
    NumbersAndTexts {
        /// The column.
        column: String,
        /// The first text, quoted.
        text: String,
        /// Its location.
        location: Box<SourceLocation>,
    },
    /// A column of numbers with decimal commas.
    #[error(
        "column '{column}' has numbers with a decimal comma (the first, {text}, is at {location}); \
         decimal points are read"
    )]
    DecimalCommas {
        /// The column.
        column: String,
        /// The first such number, quoted.
        text: String,
        /// Its location.
        location: Box<SourceLocation>,
    },
    /// A column of a file with decimal commas has numbers with points, or with signs.
    #[error(
        "column '{column}' has numbers with a point, a currency sign or a percent sign in a file with \
         decimal commas (the first, {text}, is at {location}); numbers such as 1234,50 are read"
    )]
    DecimalPoints {
        /// The column.
        column: String,
        /// The first such number, quoted.
        text: String,
        /// Its location.
        location: Box<SourceLocation>,
    },
    /// A column of numbers with currency signs, percent signs or thousands separators.
    #[error(
        "column '{column}' has numbers with a currency sign, a percent sign or a thousands \
         separator (the first, {text}, is at {location}); numbers such as 1234.50 are read"
    )]
    FormattedNumbers {
        /// The column.
        column: String,
        /// The first such number, quoted.
        text: String,
        /// Its location.
        location: Box<SourceLocation>,
    },
    /// A column of dates such as `3/4/2026`, in which day and month cannot be told apart.
    #[error(
        "column '{column}' has dates of which either the day or the month may come first (the \
         first, {text}, is at {location}); dates such as 2026-12-31 are read"
    )]
    DateOrder {
        /// The column.
        column: String,
        /// The first such date, quoted.
        text: String,
        /// Its location.
        location: Box<SourceLocation>,
    },
    /// A column that was given the role of times has other values.
    #[error(
        "column '{column}' has values that are no points in time{}",
        first_of(text.as_deref(), location)
    )]
    NotTimes {
        /// The column.
        column: String,
        /// The first text that is no point in time, quoted; `None` if the other values are numbers.
        text: Option<String>,
        /// Its location.
        location: Box<SourceLocation>,
    },
    /// A column of points in time has other values, too.
    #[error(
        "column '{column}' has points in time and other values{}",
        first_of(text.as_deref(), location)
    )]
    TimesAndOthers {
        /// The column.
        column: String,
        /// The first text that is no point in time, quoted; `None` if the other values are numbers.
        text: Option<String>,
        /// Its location.
        location: Box<SourceLocation>,
    },
    /// All problems of the columns of a table, at least one.
    #[error("{}", ListedProblems(problems))]
    Unusable {
        /// The problems.
        problems: Vec<ColumnProblem>,
        /// Roles that solve all problems: those that were given, and further ones. Several where
        /// more than one column could have a role.
        roles: Vec<Roles>,
        /// Roles that no column needs to have, such as the label of data without labels: `none` may
        /// stand for their column.
        optional: Vec<Role>,
    },
    /// A feature is both a column and a value in the column with the list of features.
    #[error("the feature '{column}' is both a column and a value in the list '{list}'")]
    ColumnAndListed {
        /// The feature.
        column: String,
        /// The column of the list.
        list: &'static str,
    },
    /// Only one of two files of one data set has a list of features.
    #[error("only one of this file and {first} has a list of features")]
    ListInOne {
        /// The first file.
        first: String,
    },
    /// A file has other columns than the first file of the data set.
    #[error("the columns differ from those of {first}: {}", ColumnDifference { added, missing })]
    Different {
        /// The first file.
        first: String,
        /// Columns that the first file does not have.
        added: Vec<String>,
        /// Columns that only the first file has.
        missing: Vec<String>,
    },
}

/// The first value of a kind and its location, in brackets; empty if there is none.
fn first_of(text: Option<&str>, location: &SourceLocation) -> String {
    text.map(|text| format!(" (the first, {text}, is at {location})")).unwrap_or_default()
}

impl ColumnProblem {
    /// The problem without names of columns, for `DataError::without_content`.
    pub(super) fn without_names(self) -> Self {
        match self {
            Self::Unnamed { .. }
            | Self::NoHeader
            | Self::NoNames { .. }
            | Self::ListInOne { .. } => self,
            Self::NoneForRole { role, .. } => Self::NoneForRole { role, columns: Vec::new() },
            Self::Unusable { problems, .. } => match problems.into_iter().next() {
                Some(first) => first.without_names(),
                None => Self::NotShown,
            },
            _ => Self::NotShown,
        }
    }

    /// A remedy: what the user can do about the problem.
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Unnamed { number: 1, .. } => Remedy::NameRowNumbers,
            Self::Unnamed { .. } | Self::Duplicate { .. } => Remedy::NameColumns,
            Self::NoHeader => Remedy::AddHeader,
            Self::NotShown => Remedy::NameColumns,
            Self::NoNames { .. } => Remedy::NoRoles,
            Self::Placeholder { role, .. } => {
                let optional = matches!(role, Role::Label | Role::Query);
                Remedy::NameColumn { role: role.name(), optional }
            }
            Self::Missing { column, columns, .. } => {
                let known: Vec<&str> = columns.iter().map(String::as_str).collect();
                Remedy::CheckRoles { nearest: nearest(column, &known) }
            }
            Self::Ambiguous { role, one, other } => {
                Remedy::ChooseColumn { role: *role, one: one.clone(), other: other.clone() }
            }
            Self::NoneForRole { role, .. } => {
                Remedy::NameColumn { role: role.name(), optional: *role == Role::Label }
            }
            Self::Type { column, .. } | Self::ColumnAndListed { column, .. } => {
                Remedy::ignore_column(column)
            }
            Self::FreeTexts { column, .. }
            | Self::NumbersAndTexts { column, .. }
            | Self::DecimalCommas { column, .. }
            | Self::DecimalPoints { column, .. }
            | Self::FormattedNumbers { column, .. }
            | Self::DateOrder { column, .. }
            | Self::NotTimes { column, .. }
            | Self::TimesAndOthers { column, .. } => Remedy::ignore_column(column),
            Self::Unusable { roles, optional, problems } => {
                let needs_rewriting = problems.iter().any(Self::is_notation_problem);
                let (roles, optional) = (roles.clone(), optional.clone());
                Remedy::GiveRoles { roles, optional, needs_rewriting }
            }
            Self::ListInOne { .. } | Self::Different { .. } => Remedy::SameColumns,
        }
    }

    /// Whether the values of the column would be read if they were written differently.
    fn is_notation_problem(&self) -> bool {
        matches!(
            self,
            Self::DecimalCommas { .. }
                | Self::DecimalPoints { .. }
                | Self::FormattedNumbers { .. }
                | Self::DateOrder { .. }
                | Self::NotTimes { .. }
                | Self::TimesAndOthers { .. }
        )
    }

    /// The remedy as text, in terms of this library.
    pub fn help(&self) -> Option<String> {
        Some(self.remedy().to_string())
    }
}

/// The existing columns as the end of a message; empty if their names are not shown.
fn listed(columns: &[String]) -> String {
    match columns {
        [] => String::new(),
        _ => format!("; the columns are {}", ListedColumns(columns)),
    }
}

/// Displays a single problem on the same line, and several problems on a line each.
struct ListedProblems<'a>(&'a [ColumnProblem]);

impl fmt::Display for ListedProblems<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [problem] = self.0 {
            return problem.fmt(f);
        }
        write!(
            f,
            "the columns cannot be used as they are, for {}:",
            counted(self.0.len(), "reason")
        )?;
        self.0.iter().try_for_each(|problem| write!(f, "\n  - {problem}"))
    }
}

/// Displays column names in an error: the first twelve, quoted, and the number of the others.
pub(crate) struct ListedColumns<'a>(pub(crate) &'a [String]);

impl fmt::Display for ListedColumns<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, column) in self.0.iter().take(12).enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            write!(f, "{comma}'{column}'")?;
        }
        match self.0.len().saturating_sub(12) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// Displays the columns that were added and the columns that are missing.
struct ColumnDifference<'a> {
    added: &'a [String],
    missing: &'a [String],
}

impl fmt::Display for ColumnDifference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { added, missing } = self;
        if !added.is_empty() {
            write!(f, "added {}", ListedColumns(added))?;
        }
        if !added.is_empty() && !missing.is_empty() {
            f.write_str(", ")?;
        }
        if !missing.is_empty() {
            write!(f, "missing {}", ListedColumns(missing))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_of_columns_are_cut_and_differences_name_both_sides() {
        let columns: Vec<String> = (1..=14).map(|number| format!("c{number}")).collect();
        let problem = ColumnProblem::NoneForRole { role: Role::Query, columns };
        let message = problem.to_string();
        assert!(
            message.starts_with("no column is recognised as the qid; the columns are 'c1', 'c2'"),
            "{message}"
        );
        assert!(message.ends_with("'c12' and 2 more"), "{message}");
        assert_eq!(problem.remedy(), Remedy::NameColumn { role: "qid", optional: false });
        let different = |added: &[&str], missing: &[&str]| {
            let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
            let (added, missing) = (names(added), names(missing));
            ColumnProblem::Different { first: "a.csv".into(), added, missing }.to_string()
        };
        let start = "the columns differ from those of a.csv: ";
        assert_eq!(different(&["x"], &[]), format!("{start}added 'x'"));
        assert_eq!(different(&[], &["y"]), format!("{start}missing 'y'"));
        assert_eq!(different(&["x"], &["y"]), format!("{start}added 'x', missing 'y'"));
    }
}
