//! Warnings about the content of a data set, to know before training on it.

use std::fmt;

use rankwright_spec::words::counted;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// A warning about the content of a data set. Serialised as `{"kind": ..., "message": ...}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SummaryWarning {
    /// Queries with a single row.
    SingleDocument {
        /// Their number.
        queries: usize,
    },
    /// Queries with several rows whose labels are all equal.
    EqualLabels {
        /// Their number.
        queries: usize,
    },
    /// Rows whose document id occurs earlier in the same query.
    RepeatedDocuments {
        /// Their number.
        rows: usize,
    },
    /// Features with one value in all rows.
    ConstantFeatures {
        /// Their number.
        features: usize,
    },
    /// Features with the same values as an earlier one.
    EqualFeatures {
        /// Their number.
        features: usize,
    },
    /// Features with infinite values.
    InfiniteValues {
        /// Their number.
        features: usize,
    },
    /// The rows of every query are sorted by label, best first.
    SortedByLabel,
    /// Some labels are negative.
    NegativeLabels,
}

impl SummaryWarning {
    /// The stable name of the kind of warning, in kebab case.
    pub fn kind(&self) -> &'static str {
        match self {
            SummaryWarning::SingleDocument { .. } => "single-document",
            SummaryWarning::EqualLabels { .. } => "equal-labels",
            SummaryWarning::RepeatedDocuments { .. } => "repeated-documents",
            SummaryWarning::ConstantFeatures { .. } => "constant-features",
            SummaryWarning::EqualFeatures { .. } => "equal-features",
            SummaryWarning::InfiniteValues { .. } => "infinite-values",
            SummaryWarning::SortedByLabel => "sorted-by-label",
            SummaryWarning::NegativeLabels => "negative-labels",
        }
    }
}

impl fmt::Display for SummaryWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, unit, rest) = match *self {
            SummaryWarning::SingleDocument { queries } => {
                (queries, "query", "with only one document: there is nothing to rank")
            }
            SummaryWarning::EqualLabels { queries } => (
                queries,
                "query",
                "with several documents of equal label: pairwise and listwise learners ignore them",
            ),
            SummaryWarning::RepeatedDocuments { rows } => {
                (rows, "row", "with a document id that occurs earlier in the query")
            }
            SummaryWarning::ConstantFeatures { features } => {
                (features, "feature", "with a constant value")
            }
            SummaryWarning::EqualFeatures { features } => {
                (features, "feature", "with the same values as an earlier feature")
            }
            SummaryWarning::InfiniteValues { features } => {
                (features, "feature", "with infinite values")
            }
            SummaryWarning::SortedByLabel => {
                return f.write_str(
                    "the rows of every query are sorted by label, best first: tools that break \
                     ties by row order report too good values",
                );
            }
            SummaryWarning::NegativeLabels => {
                return f
                    .write_str("there are negative labels, which metrics count as not relevant");
            }
        };
        write!(f, "{} {rest}", counted(count, unit))
    }
}

impl Serialize for SummaryWarning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("SummaryWarning", 2)?;
        object.serialize_field("kind", self.kind())?;
        object.serialize_field("message", &self.to_string())?;
        object.end()
    }
}
