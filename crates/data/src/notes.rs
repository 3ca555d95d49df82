//! Oddities that a reader lives with: counted, and told once each.

use std::fmt;

use crate::error::Place;

/// A kind of oddity; its text completes "3 ...".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Oddity {
    /// A byte-order mark at the start of the file.
    ByteOrderMark,
    /// Blank lines.
    BlankLines,
    /// Features of a row that do not stand in ascending order.
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
    /// Pairs whose opposite is there too.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DataPart {
    /// Names of features.
    FeatureNames,
    /// The feature set that the features were computed with.
    FeatureSet,
    /// That absent features of sparse rows were taken as missing.
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
    /// The part with what happened to it.
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

impl Oddity {
    fn text(self) -> &'static str {
        match self {
            Oddity::ByteOrderMark => "byte-order mark skipped",
            Oddity::BlankLines => "blank line(s) skipped",
            Oddity::UnsortedFeatures => "row(s) with features out of order",
            Oddity::MissingValues => "value(s) written NULL or nan, read as missing",
            Oddity::ScatteredQueries => "query/queries with rows that are not adjacent, grouped",
            Oddity::RowsWithoutDocid => "row(s) without a document id, though others have one",
            Oddity::ExtraColumns => "line(s) with text after the last column, ignored",
            Oddity::SideFile => "side file(s) read beside the data",
            Oddity::NeedlessQuerySizes => {
                "side file(s) of query sizes beside rows that have a qid, not read"
            }
            Oddity::InputsWithoutFeatureSet => {
                "input(s) without a feature set, taken to have that of the others"
            }
            Oddity::Lost(part) => part.lost(),
            Oddity::ContradictoryPairs => "pair(s) whose opposite is there too, both kept",
            Oddity::InvalidUtf8 => "text(s) with bytes that are not UTF-8, replaced",
            Oddity::WithoutText => "document(s) without any text, kept",
            Oddity::SkippedValues => "value(s) that are neither text, number nor list, skipped",
            Oddity::OutsideText => "piece(s) of text outside of documents, skipped",
            Oddity::EmptyInputs => "input(s) without a document",
        }
    }
}

/// One kind of oddity: how often, and where first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What it is.
    pub oddity: Oddity,
    /// How often it was met.
    pub count: u64,
    /// The first place.
    pub first: Place,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.oddity {
            Oddity::Lost(part) => write!(f, "{}: {}", self.first, part.lost()),
            other => write!(f, "{} {} (first: {})", self.count, other.text(), self.first),
        }
    }
}

/// What a reader noticed, one entry a kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notes {
    notes: Vec<Note>,
}

impl Notes {
    /// Counts one more of a kind; the place is made only for the first.
    pub fn add(&mut self, oddity: Oddity, count: u64, place: impl FnOnce() -> Place) {
        match self.notes.iter_mut().find(|n| n.oddity == oddity) {
            _ if count == 0 => {}
            Some(note) => note.count += count,
            None => self.notes.push(Note { oddity, count, first: place() }),
        }
    }

    /// Bytes as text; what is not UTF-8 is replaced by U+FFFD and counted.
    pub fn text(&mut self, bytes: &[u8], place: impl FnOnce() -> Place) -> String {
        match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => {
                self.add(Oddity::InvalidUtf8, 1, place);
                String::from_utf8_lossy(bytes).into_owned()
            }
        }
    }

    /// Takes over the notes of a later part of the input.
    pub fn merge(&mut self, later: Notes) {
        for note in later.notes {
            self.add(note.oddity, note.count, || note.first);
        }
    }

    /// The notes in the order in which the kinds were first met.
    pub fn iter(&self) -> impl Iterator<Item = &Note> {
        self.notes.iter()
    }

    /// How often an oddity was met.
    pub fn count(&self, oddity: Oddity) -> u64 {
        self.notes.iter().find(|n| n.oddity == oddity).map_or(0, |n| n.count)
    }

    /// Whether nothing odd was met.
    pub fn is_empty(&self) -> bool {
        self.notes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_place_is_kept_and_counts_add_up() {
        let mut notes = Notes::default();
        notes.add(Oddity::BlankLines, 1, || Place::line("a", 3));
        notes.add(Oddity::BlankLines, 0, || unreachable!());
        let mut later = Notes::default();
        later.add(Oddity::BlankLines, 2, || Place::line("a", 9));
        notes.merge(later);
        assert_eq!(notes.count(Oddity::BlankLines), 3);
        let text: Vec<String> = notes.iter().map(|n| n.to_string()).collect();
        assert_eq!(text, ["3 blank line(s) skipped (first: a:3)"]);
    }

    #[test]
    fn text_that_is_no_utf8_is_replaced_and_counted() {
        let mut notes = Notes::default();
        assert_eq!(notes.text(b"a\xffb", || Place::line("x", 3)), "a\u{fffd}b");
        assert_eq!(notes.text(b"\xff", || Place::line("x", 9)), "\u{fffd}");
        assert_eq!(notes.text("ö".as_bytes(), || unreachable!()), "ö");
        let lines: Vec<String> = notes.iter().map(ToString::to_string).collect();
        assert_eq!(lines, ["2 text(s) with bytes that are not UTF-8, replaced (first: x:3)"]);
        assert_eq!(notes.count(Oddity::WithoutText), 0);
    }
}
