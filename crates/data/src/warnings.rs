//! Recoverable problems, counted by kind and reported once each.

use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::error::SourceLocation;

/// A kind of recoverable problem; its text completes "3 ...".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WarningKind {
    /// A byte-order mark at the start of the file.
    ByteOrderMark,
    /// Blank lines.
    BlankLines,
    /// Features of a row whose ids are not in ascending order.
    UnsortedFeatures,
    /// Values written `NULL` or `nan`.
    MissingValues,
    /// Queries whose rows are not adjacent.
    ScatteredQueries,
    /// Rows that have no document id while others have one.
    RowsWithoutDocid,
    /// Columns after the last one that is read.
    ExtraColumns,
    /// Query sizes taken from a side file.
    SideFile,
    /// A side file of query sizes beside rows that have a qid.
    NeedlessQuerySizes,
    /// Inputs without a feature set beside inputs that have one.
    InputsWithoutFeatureSet,
    /// A part of the data that the written format cannot hold.
    Lost(DataPart),
    /// Pairs whose opposite is also present.
    ContradictoryPairs,
    /// Bytes that are not UTF-8.
    InvalidUtf8,
    /// Documents in which no field has a word.
    WithoutText,
    /// Values that no field can hold: objects in lists, binary columns.
    SkippedValues,
    /// Text between documents.
    OutsideText,
    /// Inputs without a single document.
    EmptyInputs,
}

/// A part of a data set that not every format can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DataPart {
    /// Names of features.
    FeatureNames,
    /// The feature set that the features were computed with.
    FeatureSet,
    /// The rule that absent features of sparse rows are missing values.
    AbsentRule,
    /// Weights of rows.
    RowWeights,
    /// Weights of queries.
    QueryWeights,
    /// Positions at which rows were shown.
    Positions,
    /// Preference pairs.
    Pairs,
}

impl DataPart {
    /// Describes the loss of the part.
    fn lost(self) -> &'static str {
        match self {
            DataPart::FeatureNames => {
                "feature names are not kept by this format: features are numbered in their order"
            }
            DataPart::FeatureSet => "the feature set is not kept by this format",
            DataPart::AbsentRule => {
                "that absent features were taken as missing is not kept by this format"
            }
            DataPart::RowWeights => "row weights are not kept by this format",
            DataPart::QueryWeights => "query weights are not kept by this format",
            DataPart::Positions => "positions are not kept by this format",
            DataPart::Pairs => "preference pairs are not kept by this format",
        }
    }
}

impl WarningKind {
    fn text(self) -> &'static str {
        match self {
            WarningKind::ByteOrderMark => "byte-order mark skipped",
            WarningKind::BlankLines => "blank line(s) skipped",
            WarningKind::UnsortedFeatures => "row(s) with features out of order",
            WarningKind::MissingValues => "value(s) written NULL or nan, read as missing",
            WarningKind::ScatteredQueries => {
                "query/queries with rows that are not adjacent, grouped"
            }
            WarningKind::RowsWithoutDocid => "row(s) without a document id, though others have one",
            WarningKind::ExtraColumns => "line(s) with text after the last column, ignored",
            WarningKind::SideFile => "side file(s) read beside the data",
            WarningKind::NeedlessQuerySizes => {
                "side file(s) of query sizes beside rows that have a qid, not read"
            }
            WarningKind::InputsWithoutFeatureSet => {
                "input(s) without a feature set, taken to have that of the others"
            }
            WarningKind::Lost(part) => part.lost(),
            WarningKind::ContradictoryPairs => "pair(s) whose opposite is there too, both kept",
            WarningKind::InvalidUtf8 => "text(s) with bytes that are not UTF-8, replaced",
            WarningKind::WithoutText => "document(s) without any text, kept",
            WarningKind::SkippedValues => {
                "value(s) that are neither text, number nor list, skipped"
            }
            WarningKind::OutsideText => "piece(s) of text outside of documents, skipped",
            WarningKind::EmptyInputs => "input(s) without a document",
        }
    }
}

/// All problems of one kind: their number, and the location of the first one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataWarning {
    /// The kind.
    pub kind: WarningKind,
    /// The number of problems.
    pub count: u64,
    /// The location of the first one.
    pub first: SourceLocation,
}

impl Serialize for DataWarning {
    /// The fields, and `message`: the text that `Display` gives.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Warning", 4)?;
        fields.serialize_field("kind", &self.kind)?;
        fields.serialize_field("count", &self.count)?;
        fields.serialize_field("first", &self.first)?;
        fields.serialize_field("message", &self.to_string())?;
        fields.end()
    }
}

impl fmt::Display for DataWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            WarningKind::Lost(part) => write!(f, "{}: {}", self.first, part.lost()),
            other => write!(f, "{} {} (first: {})", self.count, other.text(), self.first),
        }
    }
}

/// The warnings of a reader or a writer, one for each kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Warnings {
    warnings: Vec<DataWarning>,
}

impl Warnings {
    /// Counts more problems of a kind; `place` is called only for the first.
    pub fn add(&mut self, kind: WarningKind, count: u64, place: impl FnOnce() -> SourceLocation) {
        match self.warnings.iter_mut().find(|n| n.kind == kind) {
            _ if count == 0 => {}
            Some(warning) => warning.count += count,
            None => self.warnings.push(DataWarning { kind, count, first: place() }),
        }
    }

    /// Bytes as text; invalid UTF-8 is replaced by U+FFFD and counted.
    pub fn text(&mut self, bytes: &[u8], place: impl FnOnce() -> SourceLocation) -> String {
        match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => {
                self.add(WarningKind::InvalidUtf8, 1, place);
                String::from_utf8_lossy(bytes).into_owned()
            }
        }
    }

    /// Adds the warnings of a later part of the input.
    pub fn merge(&mut self, later: Warnings) {
        for warning in later.warnings {
            self.add(warning.kind, warning.count, || warning.first);
        }
    }

    /// The warnings in the order in which the kinds first occurred.
    pub fn iter(&self) -> impl Iterator<Item = &DataWarning> {
        self.warnings.iter()
    }

    /// The number of problems of a kind.
    pub fn count(&self, kind: WarningKind) -> u64 {
        self.warnings.iter().find(|n| n.kind == kind).map_or(0, |n| n.count)
    }

    /// The warnings as a list.
    pub fn into_vec(self) -> Vec<DataWarning> {
        self.warnings
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.warnings.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_place_is_kept_and_counts_add_up() {
        let mut warnings = Warnings::default();
        warnings.add(WarningKind::BlankLines, 1, || SourceLocation::line("a", 3));
        warnings.add(WarningKind::BlankLines, 0, || unreachable!());
        let mut later = Warnings::default();
        later.add(WarningKind::BlankLines, 2, || SourceLocation::line("a", 9));
        warnings.merge(later);
        assert_eq!(warnings.count(WarningKind::BlankLines), 3);
        let text: Vec<String> = warnings.iter().map(|n| n.to_string()).collect();
        assert_eq!(text, ["3 blank line(s) skipped (first: a:3)"]);
    }

    #[test]
    fn text_that_is_no_utf8_is_replaced_and_counted() {
        let mut warnings = Warnings::default();
        assert_eq!(warnings.text(b"a\xffb", || SourceLocation::line("x", 3)), "a\u{fffd}b");
        assert_eq!(warnings.text(b"\xff", || SourceLocation::line("x", 9)), "\u{fffd}");
        assert_eq!(warnings.text("ö".as_bytes(), || unreachable!()), "ö");
        let lines: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(lines, ["2 text(s) with bytes that are not UTF-8, replaced (first: x:3)"]);
        assert_eq!(warnings.count(WarningKind::WithoutText), 0);
    }

    #[test]
    fn a_warning_is_serialised_with_its_text() {
        let mut warnings = Warnings::default();
        warnings.add(WarningKind::BlankLines, 2, || SourceLocation::line("a", 3));
        warnings.add(WarningKind::Lost(DataPart::Pairs), 1, || SourceLocation::file("b"));
        let expected = serde_json::json!([
            {
                "kind": "blank_lines", "count": 2, "first": {"file": "a", "line": 3},
                "message": "2 blank line(s) skipped (first: a:3)",
            },
            {
                "kind": {"lost": "pairs"}, "count": 1, "first": {"file": "b"},
                "message": "b: preference pairs are not kept by this format",
            },
        ]);
        assert_eq!(serde_json::to_value(&warnings).unwrap(), expected);
    }
}
