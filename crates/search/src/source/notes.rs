//! Oddities of a collection that are lived with: counted, and told once each.

use std::fmt;

use rankwright_data::Place;

/// A kind of oddity; its text completes "3 ...".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SourceOddity {
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

impl SourceOddity {
    fn text(self) -> &'static str {
        match self {
            SourceOddity::InvalidUtf8 => "text(s) with bytes that are not UTF-8, replaced",
            SourceOddity::WithoutText => "document(s) without any text, kept",
            SourceOddity::SkippedValues => {
                "value(s) that are neither text, number nor list, skipped"
            }
            SourceOddity::OutsideText => "piece(s) of text outside of documents, skipped",
            SourceOddity::EmptyInputs => "input(s) without a document",
        }
    }
}

/// One kind of oddity: how often, and where first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceNote {
    /// What it is.
    pub oddity: SourceOddity,
    /// How often it was met.
    pub count: u64,
    /// The first place.
    pub first: Place,
}

impl fmt::Display for SourceNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} (first: {})", self.count, self.oddity.text(), self.first)
    }
}

/// What a reader noticed, one entry a kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceNotes {
    notes: Vec<SourceNote>,
}

impl SourceNotes {
    /// Counts more of a kind; the place is made only for the first.
    pub(crate) fn add(&mut self, oddity: SourceOddity, count: u64, place: impl FnOnce() -> Place) {
        match self.notes.iter_mut().find(|note| note.oddity == oddity) {
            _ if count == 0 => {}
            Some(note) => note.count += count,
            None => self.notes.push(SourceNote { oddity, count, first: place() }),
        }
    }

    /// Bytes as text; what is not UTF-8 is replaced by U+FFFD and counted.
    pub(crate) fn text(&mut self, bytes: &[u8], place: impl FnOnce() -> Place) -> String {
        match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => {
                self.add(SourceOddity::InvalidUtf8, 1, place);
                String::from_utf8_lossy(bytes).into_owned()
            }
        }
    }

    /// The notes in the order in which the kinds were first met.
    pub fn iter(&self) -> impl Iterator<Item = &SourceNote> {
        self.notes.iter()
    }

    /// How often an oddity was met.
    pub fn count(&self, oddity: SourceOddity) -> u64 {
        self.notes.iter().find(|note| note.oddity == oddity).map_or(0, |note| note.count)
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
        let mut notes = SourceNotes::default();
        assert_eq!(notes.text(b"a\xffb", || Place::line("x", 3)), "a\u{fffd}b");
        assert_eq!(notes.text(b"\xff", || Place::line("x", 9)), "\u{fffd}");
        assert_eq!(notes.text("ö".as_bytes(), || unreachable!()), "ö");
        let lines: Vec<String> = notes.iter().map(ToString::to_string).collect();
        assert_eq!(lines, ["2 text(s) with bytes that are not UTF-8, replaced (first: x:3)"]);
        assert_eq!(notes.count(SourceOddity::WithoutText), 0);
    }
}
