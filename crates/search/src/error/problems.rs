//! Details of [`SearchError`](super::SearchError): damage of an index, invalid documents and
//! feature sets.

use rankwright_spec::visible::one_line;
use std::fmt;
use std::path::PathBuf;

use rankwright_spec::SpecError;
use rankwright_spec::words::counted;

/// The damage of an index: a part that differs from what was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexDamage {
    /// The description of the index, `rankwright.json`, cannot be parsed.
    #[error("its description cannot be parsed: {message}")]
    Description {
        /// The message of the parser.
        message: String,
    },
    /// The checksum of a file does not match.
    #[error("the checksum of {} does not match", file.display())]
    Checksum {
        /// The file.
        file: PathBuf,
    },
    /// The fields differ from those in the description.
    #[error("its fields differ from those in its description")]
    Fields,
    /// A segment does not have an id for each document.
    #[error(
        "a segment has {} but {}",
        counted(*documents as usize, "document"),
        counted(*ids as usize, "id")
    )]
    SegmentIds {
        /// The number of documents of the segment.
        documents: u32,
        /// The number of documents that have an id.
        ids: u32,
    },
    /// A document has no id.
    #[error("document number {document} has no id")]
    NoId {
        /// The number of the document in the index.
        document: u32,
    },
    /// Two documents have the same id.
    #[error("two documents have the id `{id}`", id = one_line(.id))]
    DuplicateId {
        /// The id.
        id: String,
    },
    /// A stored document cannot be read.
    #[error("document number {document} cannot be read")]
    Document {
        /// The number of the document in the index.
        document: u32,
    },
    /// Tantivy reports an error.
    #[error("{message}")]
    Reader {
        /// The message of tantivy.
        message: String,
    },
    /// Tantivy panicked while it read the index.
    #[error("its reader failed: {message}")]
    Panic {
        /// The message of the panic.
        message: String,
    },
}

/// The reason why a document cannot be added to an index.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentProblem {
    /// A number is infinite or NaN, which cannot be stored.
    #[error("the number in the field `{field}` is {value}, which is not finite")]
    NotFinite {
        /// The field.
        field: String,
        /// The number.
        value: f64,
    },
}

/// The reason why the TOML form of a feature set cannot be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FeatureSetProblem {
    /// The text is not TOML, or has other keys or types than a feature set.
    #[error("{message}")]
    Syntax {
        /// The message of the parser.
        message: String,
    },
    /// The recorded first stage is not valid.
    #[error("the first stage is not valid: {0}")]
    FirstStage(SpecError),
}

/// The kind of an object that belongs to one opened index and cannot be used with another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexObject {
    /// A document of a ranking.
    Document,
    /// A filter.
    Filter,
    /// A number field.
    NumberField,
    /// A text field.
    TextField,
}

impl fmt::Display for IndexObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Document => "document",
            Self::Filter => "filter",
            Self::NumberField => "number field",
            Self::TextField => "text field",
        })
    }
}

/// Statistics of a query's terms that a feature can declare as needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TermStatistic {
    /// Frequencies of the terms in a text field.
    Frequencies,
    /// Positions of the terms in a text field.
    Positions,
}

impl fmt::Display for TermStatistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Frequencies => "frequencies",
            Self::Positions => "positions",
        })
    }
}
