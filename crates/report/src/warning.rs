//! Warnings of a report.

use std::fmt;

use rankwright_spec::words::counted;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// A fact that the reader of a report should know. Serialised as `{"kind": ..., "message": ...}`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ReportWarning {
    /// A part of the queries was held out because there is no validation data.
    HeldOut {
        /// Number of queries held out.
        queries: usize,
        /// Number of queries in the data.
        of: usize,
    },
    /// There is no log of the training, so times are left out.
    NoLog,
    /// The data is not what the model was trained on.
    OtherData {
        /// Name of the data.
        data: String,
        /// Queries and documents that the model was trained on.
        trained: (usize, usize),
        /// Queries and documents of the data.
        found: (usize, usize),
    },
}

impl ReportWarning {
    /// The stable name of the kind of warning, in kebab case.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::HeldOut { .. } => "held-out",
            Self::NoLog => "no-log",
            Self::OtherData { .. } => "other-data",
        }
    }
}

impl fmt::Display for ReportWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeldOut { queries, of } => write!(
                f,
                "there is no validation data: {queries} of the {of} queries, drawn by the seed, are \
                 held out"
            ),
            Self::NoLog => f.write_str("there is no log of the training: times are left out"),
            Self::OtherData { data, trained, found } => write!(
                f,
                "the model was trained on {} and {}, and {data} has {} and {}: the report is about \
                 {data}",
                counted(trained.0, "query"),
                counted(trained.1, "document"),
                found.0,
                found.1,
            ),
        }
    }
}

impl Serialize for ReportWarning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("ReportWarning", 2)?;
        object.serialize_field("kind", self.kind())?;
        object.serialize_field("message", &self.to_string())?;
        object.end()
    }
}
