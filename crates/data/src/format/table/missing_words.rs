//! Values that are written as words for a missing value, such as `NA`: their number, the columns
//! that have them, and the words. They become one warning for all columns of a table.

use std::collections::BTreeSet;

use super::schema::TableSchema;
use crate::error::SourceLocation;
use crate::warnings::{MAX_EXAMPLES, Warnings};

/// The values of some rows that are words for a missing value, such as `NA`.
#[derive(Debug, Default)]
pub(in crate::format) struct MissingWords {
    values: u64,
    /// The features of these values; for a point in time, the first of its features.
    features: BTreeSet<usize>,
    /// The first different words.
    words: Vec<String>,
    /// The location of the first value.
    first: Option<SourceLocation>,
}

impl MissingWords {
    /// Counts a word.
    pub(in crate::format) fn add(
        &mut self,
        feature: usize,
        word: &[u8],
        location: impl FnOnce() -> SourceLocation,
    ) {
        self.values += 1;
        self.features.insert(feature);
        self.add_word(&String::from_utf8_lossy(word.trim_ascii()));
        let first_location = || SourceLocation { field: None, column: None, ..location() };
        self.first.get_or_insert_with(first_location);
    }

    fn add_word(&mut self, word: &str) {
        if self.words.len() < MAX_EXAMPLES && !self.words.iter().any(|known| known == word) {
            self.words.push(word.to_owned());
        }
    }

    /// Adds the words of later rows.
    pub(in crate::format) fn merge(&mut self, later: MissingWords) {
        self.values += later.values;
        self.features.extend(later.features);
        later.words.iter().for_each(|word| self.add_word(word));
        self.first = self.first.take().or(later.first);
    }

    /// Adds a warning, if there are any words.
    pub(super) fn warn(self, schema: &TableSchema, warnings: &mut Warnings) {
        let Some(first) = self.first else { return };
        let columns = self.features.iter().map(|feature| schema.column_of(*feature).to_owned());
        warnings.add_missing_words(self.values, columns.collect(), self.words, first);
    }
}
