//! Errors of outside data: location, what was found, what was expected, and a remedy.
//!
//! Texts and remedies use the terms of this library. A program around it can match on the variants
//! to describe options of its own.

mod columns;
mod location;
mod remedy;

use std::io;

use rankwright_spec::SpecError;

use crate::format::Format;

pub use columns::ColumnProblem;
#[cfg(feature = "text")]
pub(crate) use columns::ListedColumns;
pub use location::{SourceLocation, quote};
pub use remedy::Remedy;

/// A fault of a preference pair that was given as row numbers.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PairProblem {
    /// A row that does not exist.
    #[error("there is no row {0} (rows are counted from 0)")]
    NoSuchRow(usize),
    /// Rows of two queries.
    #[error("rows {0} and {1} belong to different queries")]
    TwoQueries(usize, usize),
    /// A row paired with itself.
    #[error("row {0} is paired with itself")]
    WithItself(usize),
    /// A weight that is not above 0, or not finite.
    #[error("its weight is {0}; a weight is finite and above 0")]
    Weight(f32),
}

/// An error of the data crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// An error of the operating system.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// `read`, `write`, `map`, ...
        action: &'static str,
        /// The file as the user named it.
        path: String,
        /// The system's own error.
        source: io::Error,
    },
    /// A part of the input does not follow its format.
    #[error("{place}: found {found}, expected {expected}")]
    Malformed {
        /// The location.
        place: Box<SourceLocation>,
        /// The content found there.
        found: String,
        /// The content that the format has there.
        expected: String,
        /// A remedy, if there is one.
        remedy: Option<Remedy>,
    },
    /// The format of a file could not be detected, or is not supported.
    #[error("{file}: {reason}")]
    UnknownFormat {
        /// The file.
        file: String,
        /// The reason.
        reason: String,
        /// A remedy.
        remedy: Remedy,
    },
    /// A binary file whose bytes were changed after writing.
    #[error("{file} is damaged: {what}")]
    Damaged {
        /// The file.
        file: String,
        /// The damaged part.
        what: String,
    },
    /// A binary file of another version of its format.
    #[error("{file} has format version {found}; this program reads versions up to {supported}")]
    Version {
        /// The file.
        file: String,
        /// The version in the file.
        found: u32,
        /// The newest version that is read.
        supported: u32,
    },
    /// The columns of a table cannot be given their roles.
    #[error("{file}: {problem}")]
    Columns {
        /// The file.
        file: String,
        /// The fault.
        problem: Box<ColumnProblem>,
    },
    /// The input needs more memory than is allowed.
    #[error("{file}: {what}")]
    TooLarge {
        /// The file.
        file: String,
        /// The part that would be too large.
        what: String,
        /// A remedy.
        remedy: Remedy,
    },
    /// The input is empty.
    #[error("{file} holds no {what}")]
    Empty {
        /// The file.
        file: String,
        /// The missing part: rows, judgements, ...
        what: &'static str,
    },
    /// A part of a data set has another length than the rest.
    #[error("{found} {what} for {expected} {per}")]
    LengthMismatch {
        /// The part: labels, positions, ...
        what: &'static str,
        /// Its length.
        found: usize,
        /// The unit that should have one value each: rows or columns.
        per: &'static str,
        /// The expected length.
        expected: usize,
    },
    /// Values of a matrix do not make whole rows.
    #[error("{values} values do not make rows of {columns}")]
    NotRectangular {
        /// The number of values.
        values: usize,
        /// The number of columns.
        columns: usize,
    },
    /// A row of features is shorter or longer than the first one.
    #[error("row {} has {found} features, the first row has {expected}", row + 1)]
    RowLength {
        /// The row, from 0.
        row: usize,
        /// Its length.
        found: usize,
        /// The length of the first row.
        expected: usize,
    },
    /// A value that must be finite is not.
    #[error("the {what} of row {} is {value}, which is not finite", row + 1)]
    NotFinite {
        /// The value's name: label.
        what: &'static str,
        /// The row, from 0.
        row: usize,
        /// The value.
        value: f64,
    },
    /// A weight is negative or not finite.
    #[error("the {what} of row {} is {value}; weights are finite and not negative", row + 1)]
    InvalidWeight {
        /// Which weight: of a row, of a query.
        what: &'static str,
        /// The row, from 0.
        row: usize,
        /// The weight.
        value: f32,
    },
    /// Rows of one query disagree on the weight of the query.
    #[error("query '{query}' has query weight {first} and, in row {}, {found}; all rows of a query must agree", row + 1)]
    QueryWeights {
        /// The query's id.
        query: String,
        /// The weight in the first row of the query.
        first: f32,
        /// The row that disagrees, from 0.
        row: usize,
        /// Its weight.
        found: f32,
    },
    /// Inputs of one data set were computed with different feature sets.
    #[error("{first} and {second} have different feature sets")]
    FeatureSets {
        /// The input with the first set.
        first: String,
        /// The input with another one.
        second: String,
    },
    /// Inputs of one data set gave absent features different values.
    #[error("{first} and {second} were made with different rules for absent features")]
    AbsentRules {
        /// The first input.
        first: String,
        /// The one that differs.
        second: String,
    },
    /// Two features have one name.
    #[error("there are two features '{name}'")]
    DuplicateFeature {
        /// The name.
        name: String,
    },
    /// A preference pair does not connect two rows of one query.
    #[error("preference {}: {problem}", number + 1)]
    InvalidPair {
        /// The number of the pair, from 0.
        number: usize,
        /// The fault.
        problem: PairProblem,
    },
    /// A data set lacks a part that it needs.
    #[error("the data set has no {what}")]
    MissingPart {
        /// The part.
        what: &'static str,
    },
    /// There are more rows than a data set can have.
    #[error("{rows} rows; a data set has at most {}", u32::MAX)]
    TooManyRows {
        /// The number of rows.
        rows: usize,
    },
    /// A condition that this program ensures does not hold: a bug.
    #[error("internal error, a bug of Rankwright: {invariant} does not hold")]
    Internal {
        /// The condition that should have held.
        invariant: &'static str,
    },
    /// Nothing was given to read.
    #[error("no input was given")]
    NoInput,
    /// A side file of one value a row exists beside some of the inputs only.
    #[error("only some of the inputs have a .{ending} side file: {found} of {rows} rows")]
    SideFiles {
        /// The ending of the side file.
        ending: &'static str,
        /// Rows that have a value.
        found: usize,
        /// All rows.
        rows: usize,
    },
    /// A name that is not in one of the library's tables.
    #[error("there is no {what} '{name}'; the {what}s are {known}")]
    UnknownName {
        /// The kind of thing that was looked up: format, column role.
        what: &'static str,
        /// The name.
        name: String,
        /// The known names, separated by commas.
        known: String,
    },
    /// A text of column roles that cannot be read.
    #[error("'{part}' is no column role; write role=column, as in `qid=session, label=clicks`")]
    RoleSyntax {
        /// The part that cannot be read.
        part: String,
    },
    /// A column role without a column.
    #[error("role '{role}' is given to a column without a name")]
    RoleWithoutColumn {
        /// The role.
        role: &'static str,
    },
    /// One column with two roles.
    #[error("column '{column}' is given the roles '{first}' and '{second}'")]
    TwoRoles {
        /// The column.
        column: String,
        /// The role that it was given first.
        first: &'static str,
        /// The other one.
        second: &'static str,
    },
    /// One role with two columns.
    #[error("role '{role}' is given to the columns '{first}' and '{second}'")]
    TwoColumns {
        /// The role.
        role: &'static str,
        /// The column that was given it first.
        first: String,
        /// The other one.
        second: String,
    },
    /// A text of parts to split into that cannot be read.
    #[error("found '{found}' in the parts, expected {expected}")]
    InvalidParts {
        /// The text that was found.
        found: String,
        /// The text that was expected.
        expected: &'static str,
    },
    /// More folds than queries, or too few to have every part.
    #[error(
        "{folds} folds of {queries} queries; at least {least} folds are needed, and at most one a query"
    )]
    Folds {
        /// The number of folds.
        folds: usize,
        /// The number of queries.
        queries: usize,
        /// The smallest number of folds.
        least: usize,
    },
    /// Too few queries to hold some out.
    #[error("{queries} queries are too few to hold out a share of {share}")]
    HoldOut {
        /// The number of queries.
        queries: usize,
        /// The share to hold out.
        share: f64,
    },
    /// An index that is out of range.
    #[error("there is no {what} {index}; there are {count}, counted from 0")]
    OutOfRange {
        /// The kind of thing that was selected: row, query.
        what: &'static str,
        /// The number.
        index: usize,
        /// The number of such things.
        count: usize,
    },
    /// A document id that is too long for a list.
    #[error("a document id of {bytes} bytes; an id has at most 65535")]
    LongDocumentId {
        /// Its length.
        bytes: usize,
    },
    /// The name of a file to write does not end in an extension of a known format.
    #[error("the name {path} does not tell a format")]
    UnknownExtension {
        /// The path.
        path: String,
    },
    /// A format that this build does not include.
    #[error("{} needs the feature `{feature}` of rankwright-data, which this build leaves out", format.info().name)]
    NotBuilt {
        /// The format.
        format: Format,
        /// The cargo feature that it needs.
        feature: &'static str,
    },
    /// An operation that this machine does not support.
    #[error("{what}")]
    Unsupported {
        /// The reason.
        what: &'static str,
    },
    /// A parameter of a generator that is out of range.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

impl DataError {
    /// A remedy, if there is one.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            DataError::Malformed { remedy, .. } => remedy.clone(),
            DataError::UnknownFormat { remedy, .. } | DataError::TooLarge { remedy, .. } => {
                Some(remedy.clone())
            }
            DataError::Columns { problem, .. } => Some(problem.remedy()),
            DataError::Damaged { .. } => Some(Remedy::MakeAgain),
            DataError::Version { .. } => Some(Remedy::Rewrite),
            _ => None,
        }
    }

    /// The remedy as text, in terms of this library.
    pub fn help(&self) -> Option<String> {
        self.remedy().map(|remedy| remedy.to_string())
    }

    /// An input/output error with its action and path.
    pub fn io(action: &'static str, path: impl Into<String>, source: io::Error) -> Self {
        DataError::Io { action, path: path.into(), source }
    }

    /// A table whose columns cannot be given their roles.
    pub(crate) fn columns(file: &str, problem: ColumnProblem) -> Self {
        DataError::Columns { file: file.to_owned(), problem: Box::new(problem) }
    }

    /// A part of an input that does not follow its format.
    pub fn malformed(
        place: SourceLocation,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        let (place, found, expected) = (Box::new(place), found.into(), expected.into());
        DataError::Malformed { place, found, expected, remedy: None }
    }

    /// Adds a remedy, if the error is `Malformed`.
    #[must_use]
    pub fn with_help(self, remedy: impl Into<Remedy>) -> Self {
        match self {
            DataError::Malformed { place, found, expected, .. } => {
                DataError::Malformed { place, found, expected, remedy: Some(remedy.into()) }
            }
            other => other,
        }
    }
}
