//! Errors of input data: location, what was found, what was expected, and a remedy.
//!
//! Texts and remedies use the terms of this library. A program that uses the library can match on
//! the variants to write its own texts, for example with its command-line options.

mod columns;
mod damage;
mod format;
mod location;
mod remedy;
mod unfinished;

use rankwright_spec::visible::one_line;
use std::io;

use rankwright_spec::words::{counted, plural};
use rankwright_spec::{SpecError, nearest};

use crate::format::{Format, Role, Roles};
use crate::table_columns::TableColumns;

pub use columns::ColumnProblem;
#[cfg(feature = "text")]
pub(crate) use columns::ListedColumns;
pub use damage::{FileDamage, SectionProblem};
pub use format::{FormatProblem, UnsupportedFormat};
pub use location::{SourceLocation, quote};
pub use remedy::Remedy;
pub use unfinished::UnfinishedWrite;

/// The problem of a preference pair that was given as row numbers.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PairProblem {
    /// A row that does not exist.
    #[error("there is no row {0} (rows are numbered from 0)")]
    NoSuchRow(usize),
    /// Rows of two queries.
    #[error("rows {0} and {1} belong to different queries")]
    TwoQueries(usize, usize),
    /// A row paired with itself.
    #[error("row {0} is paired with itself")]
    WithItself(usize),
    /// A weight that is not above 0, or not finite.
    #[error("its weight is {0}; a weight must be finite and above 0")]
    Weight(f32),
}

impl PairProblem {
    /// A remedy: what the user can do about the problem.
    pub fn help(&self) -> Option<String> {
        Some(
            match self {
                PairProblem::NoSuchRow(_) => {
                    "number the rows in the order in which they were given"
                }
                PairProblem::TwoQueries(..) => "prefer only rows of the same query to each other",
                PairProblem::WithItself(_) => "leave the pair out",
                PairProblem::Weight(_) => "leave out pairs that should not count",
            }
            .into(),
        )
    }
}

/// The message for machines that cannot use the binary cache.
pub(crate) const BIG_ENDIAN: &str =
    "the binary cache needs a little-endian machine; use Parquet on this machine";

/// An error of the data crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// An error of the operating system.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// The action: `read`, `write`, `map`, ...
        action: &'static str,
        /// The file as the user named it.
        path: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A write of several files was interrupted and cannot be finished: some of the files may be
    /// old and others new.
    #[error("{list} has changes of files that were interrupted and cannot be finished: {problem}")]
    Unfinished {
        /// The path of the list of changes.
        list: String,
        /// The reason why the changes cannot be finished.
        problem: UnfinishedWrite,
    },
    /// A part of the input does not follow its format.
    #[error(
        "{location}: found {found}, expected {expected}",
        found = one_line(.found),
        expected = one_line(.expected)
    )]
    Malformed {
        /// The location.
        location: Box<SourceLocation>,
        /// The content found there.
        found: String,
        /// The content that the format has there.
        expected: String,
        /// A remedy, if there is one.
        remedy: Option<Remedy>,
    },
    /// The format of a file could not be detected, or is not supported.
    #[error("{file}: {problem}")]
    UnknownFormat {
        /// The file.
        file: String,
        /// The reason.
        problem: FormatProblem,
    },
    /// A binary file whose bytes were changed after writing.
    #[error("{file} is damaged: {damage}")]
    Damaged {
        /// The file.
        file: String,
        /// The damaged part.
        damage: FileDamage,
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
        /// The reason.
        problem: Box<ColumnProblem>,
    },
    /// The feature matrix of an input needs more memory than is allowed.
    #[error(
        "{file}: a matrix of {} and {} takes {}; the limit is {}",
        counted(*rows, "row"),
        counted(*columns, "feature"),
        memory_size((*rows as u64).saturating_mul(*columns as u64).saturating_mul(4)),
        memory_size(*limit)
    )]
    TooLarge {
        /// The file.
        file: String,
        /// The number of rows, as far as they were counted.
        rows: usize,
        /// The number of columns.
        columns: usize,
        /// The limit in bytes.
        limit: u64,
        /// A remedy.
        remedy: Remedy,
    },
    /// A matrix that would be large and almost empty, because the feature ids are large numbers.
    #[error(
        "{file}: {} and {} make a matrix of {}, but only {} of its cells have a value (the largest \
         feature id is {largest_id})",
        counted(*rows, "row"),
        counted(*columns, "feature"),
        memory_size((*rows as u64).saturating_mul(*columns as u64).saturating_mul(4)),
        given
    )]
    EmptyMatrix {
        /// The file.
        file: String,
        /// The number of rows.
        rows: usize,
        /// The number of columns.
        columns: usize,
        /// The largest feature id.
        largest_id: u32,
        /// The number of cells for which the file has a value.
        given: u64,
    },
    /// The recorded columns of a table are more than a table can have.
    #[error("the record of a table has {}; the limit is {limit}", counted(*columns, "column"))]
    TooManyTableColumns {
        /// The number of columns.
        columns: usize,
        /// The most columns.
        limit: usize,
    },
    /// A data set has more features than a format is written with.
    #[error("{what} of {} are not written; the limit is {limit}", counted(*columns, "feature"))]
    TooManyColumns {
        /// The kind of files, such as `Parquet files`.
        what: &'static str,
        /// The number of features.
        columns: usize,
        /// The most features.
        limit: usize,
    },
    /// The content of an input needs more memory than is allowed.
    #[error("the content of {file} takes more than {}, the limit for an input", memory_size(*limit))]
    ContentTooLarge {
        /// The file.
        file: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// A compressed input decompresses to a size that no real data has.
    #[error(
        "{file}: {} of compressed data decompress to more than {}",
        memory_size(*compressed),
        memory_size(*content)
    )]
    CompressionRatio {
        /// The file.
        file: String,
        /// Compressed bytes that were read until decompression was stopped.
        compressed: u64,
        /// The size of the content at which decompression was stopped.
        content: u64,
    },
    /// A file was changed by another program while it was read.
    #[error("{file} was changed by another program while it was read")]
    ChangedWhileRead {
        /// The file.
        file: String,
    },
    /// LETOR data to generate does not fit into memory.
    #[error(
        "{} of {} each do not fit into memory",
        counted(*queries, "query"),
        counted(*documents, "document")
    )]
    GeneratedDataTooLarge {
        /// The number of queries.
        queries: usize,
        /// The mean number of documents of a query.
        documents: usize,
    },
    /// A record store to generate does not fit into memory.
    #[error(
        "{} and {} do not fit into memory",
        counted(*records, "record"),
        counted(*queries, "query")
    )]
    GeneratedStoreTooLarge {
        /// The number of records.
        records: usize,
        /// The number of queries.
        queries: usize,
    },
    /// The input is empty.
    #[error("{file} holds no {what}")]
    Empty {
        /// The file.
        file: String,
        /// The missing part: rows, judgements, ...
        what: &'static str,
    },
    /// A part of a data set does not have one value for each row or column.
    #[error("{} for {}", counted(*found, what), counted(*expected, per))]
    LengthMismatch {
        /// One value of the part: label, position, ...
        what: &'static str,
        /// The number of values.
        found: usize,
        /// The unit that should have one value each: row, column, ...
        per: &'static str,
        /// The expected number of values.
        expected: usize,
    },
    /// The number of values of a matrix is not a multiple of the number of columns.
    #[error(
        "{} cannot be divided into rows of {}",
        counted(*values, "value"),
        counted(*columns, "column")
    )]
    NotRectangular {
        /// The number of values.
        values: usize,
        /// The number of columns.
        columns: usize,
    },
    /// A row of features is shorter or longer than the first one.
    #[error("row {} has {}, but the first row has {expected}", row + 1, counted(*found, "feature"))]
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
        /// The name of the value, such as `label`.
        what: &'static str,
        /// The row, from 0.
        row: usize,
        /// The value.
        value: f64,
    },
    /// A name that a further column of labels cannot have.
    #[error("'{name}' cannot be the name of a further column of labels")]
    LabelColumnName {
        /// The name.
        name: String,
    },
    /// A feature that is finite as a 64-bit number is out of the range of 32-bit floats.
    #[error(
        "feature '{feature}' of row {} is {value}, which is out of the range of 32-bit floats",
        row + 1
    )]
    FeatureOutOfRange {
        /// The name of the feature.
        feature: String,
        /// The row, from 0.
        row: usize,
        /// The value.
        value: f64,
    },
    /// The stored description of a table's column contradicts itself.
    #[error("the description of column '{column}' contradicts itself")]
    TableColumn {
        /// The column.
        column: String,
    },
    /// A weight is negative or not finite.
    #[error("the {what} of row {} is {value}; weights must be finite and not negative", row + 1)]
    InvalidWeight {
        /// The kind of weight: weight or query weight.
        what: &'static str,
        /// The row, from 0.
        row: usize,
        /// The weight.
        value: f32,
    },
    /// A position below 1.
    #[error("the position of row {} is 0; positions are ranks, which start at 1", row + 1)]
    PositionZero {
        /// The row, from 0.
        row: usize,
    },
    /// Rows of one query disagree on the weight of the query.
    #[error(
        "query '{query}' has query weight {first} and, in row {}, {found}; all rows of a \
         query must agree",
        row + 1, query = one_line(.query)
    )]
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
        /// The input with another set.
        second: String,
    },
    /// Inputs of one data set gave absent features different values.
    #[error("{first} and {second} were made with different rules for absent features")]
    AbsentRules {
        /// The first input.
        first: String,
        /// The input that differs from it.
        second: String,
    },
    /// Two features have one name.
    #[error("there are two features '{name}'", name = one_line(.name))]
    DuplicateFeature {
        /// The name.
        name: String,
    },
    /// A preference pair does not connect two rows of one query.
    #[error("preference {}: {problem}", number + 1)]
    InvalidPair {
        /// The number of the pair, from 0.
        number: usize,
        /// The reason.
        problem: PairProblem,
    },
    /// Only one of two data sets to be appended has preference pairs.
    #[error("only one of the two data sets has preference pairs, which replace its labels")]
    PairsInOne,
    /// The fourth column of a preference pair may be a weight or a probability.
    #[error(
        "{location}: {value} may be a weight ('{first}' is better than '{second}', and the pair \
         counts {value} times) or a probability ({})",
        probability_reading(first, second, *value)
    )]
    AmbiguousPair {
        /// The location.
        location: Box<SourceLocation>,
        /// The first document of the pair.
        first: String,
        /// The second document.
        second: String,
        /// The value of the fourth column.
        value: f32,
    },
    /// A data set lacks a part that it needs.
    #[error("the data set has no {what}")]
    MissingPart {
        /// The part.
        what: &'static str,
    },
    /// There are more rows than a data set can have.
    #[error("found {rows} rows, but a data set has at most {}", u32::MAX)]
    TooManyRows {
        /// The number of rows.
        rows: usize,
    },
    /// A bug in this program: a condition that it ensures does not hold.
    #[error("internal error: this should always hold: {invariant}")]
    Internal {
        /// The condition that should have held.
        invariant: &'static str,
    },
    /// The list of inputs is empty.
    #[error("no input was given")]
    NoInput,
    /// Only some of the inputs have a side file with one value per row.
    #[error(
        "only some of the inputs have a .{ending} side file: it gives a value to {found} of {rows} \
         rows"
    )]
    SideFiles {
        /// The ending of the side file.
        ending: &'static str,
        /// Rows that have a value.
        found: usize,
        /// All rows.
        rows: usize,
    },
    /// A name that is not in one of the library's tables.
    #[error(
        "there is no {what} '{name}'; the {} are {known}",
        plural(what), name = one_line(.name)
    )]
    UnknownName {
        /// The kind of name: format, column role.
        what: &'static str,
        /// The name.
        name: String,
        /// The known names, separated by commas.
        known: String,
    },
    /// A text of column roles that cannot be read.
    #[error("'{part}' is not a column role; write role=column, as in `qid=session, label=clicks`")]
    RoleSyntax {
        /// The part that cannot be read.
        part: String,
    },
    /// A column role without a column.
    #[error("the role '{role}' is given to a column without a name")]
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
        /// The role that it was given later.
        second: &'static str,
    },
    /// One role with two columns.
    #[error("the role '{role}' is given to the columns '{first}' and '{second}'")]
    TwoColumns {
        /// The role.
        role: &'static str,
        /// The column that was given the role first.
        first: String,
        /// The column that was given the role later.
        second: String,
    },
    /// The description of the parts of a split cannot be parsed.
    #[error("found '{found}' in the parts of the split, expected {expected}")]
    InvalidParts {
        /// The text that was found.
        found: String,
        /// The text that was expected.
        expected: &'static str,
    },
    /// More folds than queries, or too few to have every part.
    #[error(
        "{} cannot be made of {}: there must be at least {least} folds, and at most one per query",
        counted(*folds, "fold"),
        counted(*queries, "query")
    )]
    Folds {
        /// The number of folds.
        folds: usize,
        /// The number of queries.
        queries: usize,
        /// The smallest number of folds.
        least: usize,
    },
    /// There are too few queries to hold out a share of them.
    #[error(
        "a share of {share} cannot be held out of {}: one of the parts would be empty",
        counted(*queries, "query")
    )]
    HoldOut {
        /// The number of queries.
        queries: usize,
        /// The share to hold out.
        share: f64,
    },
    /// An index that is out of range.
    #[error("there is no {what} {index} among {}, numbered from 0", counted(*count, what))]
    OutOfRange {
        /// The kind of the selected thing: row, query, feature.
        what: &'static str,
        /// The index, from 0.
        index: usize,
        /// The number of things of this kind.
        count: usize,
    },
    /// A document id that is too long for a list.
    #[error("a document id has {bytes} bytes; at most 65535 are allowed")]
    LongDocumentId {
        /// The length of the document id.
        bytes: usize,
    },
    /// The name of a file to write does not end in an extension of a known format.
    #[error("the extension of {path} is not that of a known format")]
    UnknownExtension {
        /// The path.
        path: String,
    },
    /// A format that this build does not include.
    #[error(
        "the format {} needs the cargo feature `{feature}`, which is not part of this build",
        format.info().name
    )]
    NotBuilt {
        /// The format.
        format: Format,
        /// The cargo feature that it needs.
        feature: &'static str,
    },
    /// The binary cache needs a little-endian machine.
    #[error("{BIG_ENDIAN}")]
    BigEndian,
    /// A parameter of a generator that is out of range.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

impl DataError {
    /// The error without text from the file. For files that a configuration names: such a file may
    /// be no data at all, and its content, perhaps secret, should not appear in a message.
    #[must_use]
    pub fn without_content(self) -> Self {
        match self {
            Self::Malformed { mut location, expected, .. } => {
                location.field = None;
                let found = "something else".to_owned();
                Self::Malformed { location, found, expected, remedy: None }
            }
            Self::Columns { file, problem } => {
                Self::Columns { file, problem: Box::new(problem.without_names()) }
            }
            other => other,
        }
    }

    /// A remedy, if one is known: what the user can do about the error.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            DataError::Malformed { remedy, .. } => remedy.clone(),
            DataError::Unfinished { problem, .. } => Some(problem.remedy().into()),
            DataError::TooLarge { remedy, .. } => Some(remedy.clone()),
            DataError::UnknownFormat { problem, .. } => Some(problem.remedy()),
            DataError::Columns { problem, .. } => Some(problem.remedy()),
            DataError::Damaged { .. } => Some(Remedy::MakeAgain),
            DataError::Version { .. } => Some(Remedy::Rewrite),
            DataError::InvalidPair { problem, .. } => problem.help().map(Remedy::from),
            DataError::ContentTooLarge { .. }
            | DataError::CompressionRatio { .. }
            | DataError::EmptyMatrix { .. } => Some(Remedy::AllowMemory),
            DataError::TooManyColumns { .. } => {
                Some("write csv, jsonl or rwd, which have no such limit".into())
            }
            DataError::PositionZero { .. } => {
                Some("add 1 to every position if they were counted from 0".into())
            }
            DataError::PairsInOne => {
                Some("give both data sets preference pairs, or neither of them".into())
            }
            DataError::Folds { queries: 1, .. } | DataError::HoldOut { queries: 1, .. } => {
                Some(DataError::ONE_QUERY.into())
            }
            DataError::AmbiguousPair { .. } => Some(Remedy::NamePairColumn),
            DataError::UnknownName { what, name, known } => {
                let known: Vec<&str> = known.split(", ").collect();
                // Names of columns mean roles: `query` means `qid`.
                let role = Role::guess(name).filter(|_| *what == "column role");
                let meant = role.map(|role| role.name().to_owned());
                let meant = meant.or_else(|| nearest(name, &known));
                meant.map(|meant| format!("did you mean '{meant}'?").into())
            }
            DataError::ChangedWhileRead { .. } => {
                Some("read it again when the other program is done".into())
            }
            DataError::GeneratedDataTooLarge { .. } => {
                Some("generate several smaller files with different seeds".into())
            }
            DataError::GeneratedStoreTooLarge { .. } => {
                Some("generate fewer records, such as 20000 with 600 queries".into())
            }
            _ => None,
        }
    }

    /// Advice on data of one query that is to be divided.
    pub const ONE_QUERY: &str = "the rows of a query stay together; if the rows belong to many queries, name the column of \
         their ids; if they are one list, divide them by hand: move some of them to a file of their \
         own, and train on one file and evaluate on the other";

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
        location: SourceLocation,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        let (location, found, expected) = (Box::new(location), found.into(), expected.into());
        DataError::Malformed { location, found, expected, remedy: None }
    }

    /// Adds a remedy, if the error is `Malformed`.
    #[must_use]
    pub fn with_help(self, remedy: impl Into<Remedy>) -> Self {
        match self {
            DataError::Malformed { location, found, expected, .. } => {
                DataError::Malformed { location, found, expected, remedy: Some(remedy.into()) }
            }
            other => other,
        }
    }

    /// The error of a reader that was given these roles: the roles that its remedy proposes include
    /// the given ones.
    #[must_use]
    pub(crate) fn with_given_roles(self, given: &Roles) -> Self {
        match self {
            DataError::Malformed { location, found, expected, remedy: Some(remedy) } => {
                let remedy = Some(remedy.with_given_roles(given));
                DataError::Malformed { location, found, expected, remedy }
            }
            DataError::Columns { file, problem } => {
                match problem.remedy().with_given_roles(given) {
                    Remedy::IgnoreColumn { roles, .. } => {
                        let (problems, roles) = (vec![*problem], vec![roles]);
                        let optional = Vec::new();
                        let problem = ColumnProblem::Unusable { problems, roles, optional };
                        DataError::columns(&file, problem)
                    }
                    _ => DataError::Columns { file, problem },
                }
            }
            other => other,
        }
    }
}

impl DataError {
    /// The error of a reader that knows the columns of earlier data, such as the training data of a
    /// model: a feature of that data cannot be left out.
    #[must_use]
    pub(crate) fn with_known_columns(self, known: Option<&TableColumns>) -> Self {
        let is_feature = |name: &str| {
            known.and_then(|known| known.column(name)).is_some_and(|c| c.role == Role::Feature)
        };
        match self {
            DataError::Malformed {
                location,
                found,
                expected,
                remedy: Some(Remedy::IgnoreColumn { column, .. }),
            } if is_feature(&column) => {
                let remedy = Some(Remedy::MendValue { column });
                DataError::Malformed { location, found, expected, remedy }
            }
            other => other,
        }
    }
}

/// The meaning of a preference pair whose fourth column is a probability.
fn probability_reading(first: &str, second: &str, value: f32) -> String {
    match value {
        0.0 => format!("'{second}' is better than '{first}'"),
        0.5 => format!("'{first}' and '{second}' are equally good"),
        _ => format!("'{first}' is better than '{second}' with probability {value}"),
    }
}

/// A number of bytes as text: whole MiB, or bytes if there are fewer.
fn memory_size(bytes: u64) -> String {
    match bytes >> 20 {
        0 => counted(bytes as usize, "byte"),
        mebibytes => format!("{mebibytes} MiB"),
    }
}
