//! What can go wrong with outside data: where it is, what was found, what was expected, what to do.

use std::fmt;
use std::io;

use serde::Serialize;

/// A location in an input: a file, and as far as known the line, the column and the field.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SourceLocation {
    /// File name as the user gave it; `-` is standard input.
    pub file: String,
    /// Line (or record) number, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Byte column inside the line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// Name of the field or column, where the format has names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

impl SourceLocation {
    /// A whole file.
    pub fn file(file: impl Into<String>) -> Self {
        SourceLocation { file: file.into(), ..SourceLocation::default() }
    }

    /// A line of a file.
    pub fn line(file: impl Into<String>, line: u64) -> Self {
        SourceLocation { file: file.into(), line: Some(line), ..SourceLocation::default() }
    }

    /// The same place with a byte column (from 1).
    pub fn at_column(mut self, column: u64) -> Self {
        self.column = Some(column);
        self
    }

    /// The same place with a field name.
    pub fn in_field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        if let Some(field) = &self.field {
            write!(f, " (column '{field}')")?;
        }
        Ok(())
    }
}

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

/// Everything the data crate reports instead of a result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The operating system refused.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// `read`, `write`, `map`, ...
        action: &'static str,
        /// The file as the user named it.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// A part of the input does not follow its format.
    #[error("{place}: found {found}, expected {expected}")]
    Malformed {
        /// Where.
        place: Box<SourceLocation>,
        /// What stands there.
        found: String,
        /// What should stand there.
        expected: String,
        /// What to do about it, where there is something.
        help: Option<String>,
    },
    /// The format of a file could not be told, or is not read.
    #[error("{file}: {reason}")]
    UnknownFormat {
        /// The file.
        file: String,
        /// Why not.
        reason: String,
        /// Formats that are read.
        help: String,
    },
    /// A binary file whose bytes are not what was once written.
    #[error("{file} is damaged: {what}")]
    Damaged {
        /// The file.
        file: String,
        /// What does not fit.
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
        /// What is wrong.
        problem: String,
        /// What to do.
        help: String,
    },
    /// The input asks for more memory than is allowed.
    #[error("{file}: {what}")]
    TooLarge {
        /// The file.
        file: String,
        /// What would be too large.
        what: String,
        /// What to do.
        help: String,
    },
    /// There is nothing in the input.
    #[error("{file} holds no {what}")]
    Empty {
        /// The file.
        file: String,
        /// What is missing: rows, judgements, ...
        what: &'static str,
    },
    /// A part of a data set has another length than the rest.
    #[error("{found} {what} for {expected} {per}")]
    LengthMismatch {
        /// The part: labels, positions, ...
        what: &'static str,
        /// Its length.
        found: usize,
        /// What there should be one for each: rows or columns.
        per: &'static str,
        /// The length that it should have.
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
    /// A preference pair does not join two rows of one query.
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
    /// Something that this program should have ensured does not hold: a bug.
    #[error("internal error, a bug of Rankwright: {invariant} does not hold")]
    Internal {
        /// What should have held.
        invariant: &'static str,
    },
    /// Values given by a program do not make a data set.
    #[error("{0}")]
    Invalid(String),
}

impl DataError {
    /// What the user can do, if the error knows.
    pub fn help(&self) -> Option<String> {
        match self {
            DataError::Malformed { help, .. } => help.clone(),
            DataError::UnknownFormat { help, .. }
            | DataError::Columns { help, .. }
            | DataError::TooLarge { help, .. } => Some(help.clone()),
            DataError::Damaged { .. } => {
                Some("make the file again from its source; nothing in it can be trusted".into())
            }
            DataError::Version { .. } => {
                Some("make the file again with `rankwright data convert` from its source".into())
            }
            _ => None,
        }
    }

    /// An input/output error with the action and the path that it befell.
    pub fn io(action: &'static str, path: impl Into<String>, source: io::Error) -> Self {
        DataError::Io { action, path: path.into(), source }
    }

    /// A part of an input that does not follow its format.
    pub fn malformed(
        place: SourceLocation,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        let (place, found, expected) = (Box::new(place), found.into(), expected.into());
        DataError::Malformed { place, found, expected, help: None }
    }

    /// The same with what to do about it, where the input is malformed.
    #[must_use]
    pub fn with_help(self, text: impl Into<String>) -> Self {
        match self {
            DataError::Malformed { place, found, expected, .. } => {
                DataError::Malformed { place, found, expected, help: Some(text.into()) }
            }
            other => other,
        }
    }
}

/// Bytes as they are shown in an error: quoted, escaped, at most 40 characters.
pub fn quote(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "nothing".into();
    }
    // 40 characters are at most 160 bytes; a line of 100 MB need not be looked at as a whole.
    let text = String::from_utf8_lossy(bytes.get(..200).unwrap_or(bytes));
    let mut shown: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().nth(40).is_some() {
        shown.push('…');
    }
    format!("'{shown}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_prints_what_it_knows() {
        assert_eq!(SourceLocation::file("a.txt").to_string(), "a.txt");
        assert_eq!(SourceLocation::line("a.txt", 3).at_column(7).to_string(), "a.txt:3:7");
        assert_eq!(
            SourceLocation::line("a.csv", 2).in_field("bm25").to_string(),
            "a.csv:2 (column 'bm25')"
        );
    }

    #[test]
    fn quoted_text_is_escaped_and_short() {
        assert_eq!(quote(b""), "nothing");
        assert_eq!(quote(b"a\tb"), "'a\\tb'");
        assert_eq!(quote(&[b'x'; 50]).chars().count(), 43);
    }
}
