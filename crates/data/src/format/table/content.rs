//! The content of the cells of a column, counted by kind: numbers, texts, times and so on.
//!
//! One look at every cell; distinct values are counted in a hash table of bounded size. If there are
//! too many, those that occur most often so far are kept, among equal counts the first by text: which
//! ones are kept depends on the rows alone, not on the order in a hash table.

use std::collections::HashMap;

use super::cell::is_missing_word;
use super::time;
use crate::error::{SourceLocation, quote};

/// The different values of a column that stay when there are twice as many.
const MOST_VALUES: usize = 1 << 17;

/// The most values of a column that are kept in their order.
const MOST_SAMPLED: usize = 500;

/// At most one of this many values of a column of categories is a number.
const TEXTS_PER_NUMBER: u64 = 10;

/// A column with fewer different texts is never taken for free text.
const FEW_TEXTS: usize = 50;

type Counts = HashMap<Box<str>, u64, foldhash::fast::RandomState>;

/// The kind of values of a typed column.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(feature = "columnar"), allow(dead_code, reason = "columnar files know types"))]
pub(in crate::format) enum TypedValues {
    Number,
    Time {
        has_clock: bool,
    },
    /// A type whose values cannot be features, by name.
    Other(String),
}

/// Counts of the cells of a column.
#[derive(Debug, Clone, Default)]
pub(in crate::format) struct ColumnContent {
    /// The kind of the values, if the format has types.
    pub(in crate::format) typed: Option<TypedValues>,
    missing: u64,
    numbers: u64,
    /// Digits with a leading zero.
    codes: u64,
    times: u64,
    clocks: u64,
    /// Numbers with a decimal comma.
    commas: u64,
    texts: u64,
    first_text: Option<(String, SourceLocation)>,
    not_utf8: Option<(String, SourceLocation)>,
    values: Counts,
    has_more_values: bool,
    /// The first cells; empty text for missing ones.
    sample: Vec<Box<str>>,
}

/// The kind of content of a column.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::format) enum ContentKind {
    /// No cell has a value.
    Nothing,
    Numbers,
    /// Numbers, some with leading zeros.
    Codes,
    Times {
        has_clock: bool,
    },
    /// Texts that repeat.
    Categories,
    /// Texts of which most occur once.
    FreeTexts {
        different: usize,
        rows: u64,
    },
    /// Numbers and texts, with the first text.
    Mixed {
        text: String,
        location: Box<SourceLocation>,
    },
    /// Numbers with decimal commas.
    DecimalCommas {
        text: String,
        location: Box<SourceLocation>,
    },
    NotUtf8 {
        bytes: String,
        location: Box<SourceLocation>,
    },
    /// A type that cannot be read.
    Type(String),
}

impl ColumnContent {
    /// Counts a cell.
    pub(in crate::format) fn add(&mut self, cell: &[u8], location: impl Fn() -> SourceLocation) {
        let cell = cell.trim_ascii();
        let Ok(text) = std::str::from_utf8(cell) else {
            self.not_utf8.get_or_insert_with(|| (format!("bytes {}", quote(cell)), location()));
            return;
        };
        let is_missing = text.is_empty() || is_missing_word(cell);
        if self.sample.len() < MOST_SAMPLED {
            self.sample.push(if is_missing { "".into() } else { text.into() });
        }
        if is_missing {
            self.missing += 1;
            return;
        }
        self.count(text, 1);
        if self.typed.is_some() {
            return;
        }
        let counter = if is_code(cell) {
            &mut self.codes
        } else if is_number(cell) {
            &mut self.numbers
        } else if let Some(at) = time::from_text(cell) {
            self.clocks += u64::from(at.has_clock);
            &mut self.times
        } else {
            self.first_text.get_or_insert_with(|| (quote(cell), location()));
            if is_decimal_comma(cell) { &mut self.commas } else { &mut self.texts }
        };
        *counter += 1;
    }

    fn count(&mut self, value: &str, count: u64) {
        if let Some(known) = self.values.get_mut(value) {
            *known += count;
        } else {
            self.values.insert(value.into(), count);
            self.drop_rare_values();
        }
    }

    /// Keeps the most frequent values if there are too many. Half of the table is dropped at once, so
    /// that each value is moved about once.
    fn drop_rare_values(&mut self) {
        if self.values.len() < 2 * MOST_VALUES {
            return;
        }
        let mut values: Vec<(Box<str>, u64)> = self.values.drain().collect();
        values.select_nth_unstable_by(MOST_VALUES, |a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        values.truncate(MOST_VALUES);
        self.values.extend(values);
        self.has_more_values = true;
    }

    /// Counts missing cells.
    pub(in crate::format) fn add_missing(&mut self) {
        if self.sample.len() < MOST_SAMPLED {
            self.sample.push("".into());
        }
        self.missing += 1;
    }

    /// Adds the counts of later rows.
    pub(in crate::format) fn merge(&mut self, later: ColumnContent) {
        self.typed = self.typed.take().or(later.typed);
        self.missing += later.missing;
        self.numbers += later.numbers;
        self.codes += later.codes;
        self.times += later.times;
        self.clocks += later.clocks;
        self.commas += later.commas;
        self.texts += later.texts;
        self.first_text = self.first_text.take().or(later.first_text);
        self.not_utf8 = self.not_utf8.take().or(later.not_utf8);
        self.has_more_values |= later.has_more_values;
        let room = MOST_SAMPLED - self.sample.len();
        self.sample.extend(later.sample.into_iter().take(room));
        for (value, count) in later.values {
            *self.values.entry(value).or_default() += count;
        }
        self.drop_rare_values();
    }

    /// The kind of content.
    pub(in crate::format) fn kind(&self) -> ContentKind {
        if let Some((bytes, location)) = self.not_utf8.clone() {
            return ContentKind::NotUtf8 { bytes, location: Box::new(location) };
        }
        match &self.typed {
            Some(TypedValues::Number) => return ContentKind::Numbers,
            Some(TypedValues::Time { has_clock }) => {
                return ContentKind::Times { has_clock: *has_clock };
            }
            Some(TypedValues::Other(name)) => return ContentKind::Type(name.clone()),
            None => {}
        }
        let (text, location) = self.first_text.clone().unwrap_or_default();
        let location = Box::new(location);
        let words = self.texts + self.commas + self.times;
        match (self.numbers + self.codes, words) {
            (0, 0) => ContentKind::Nothing,
            (_, 0) if self.codes > 0 => ContentKind::Codes,
            (_, 0) => ContentKind::Numbers,
            (_, words) if self.commas == words => ContentKind::DecimalCommas { text, location },
            (0, words) if self.times == words => ContentKind::Times { has_clock: self.clocks > 0 },
            (numbers, words) if numbers * (TEXTS_PER_NUMBER - 1) > words => {
                ContentKind::Mixed { text, location }
            }
            _ if self.is_mostly_unique() => {
                ContentKind::FreeTexts { different: self.different(), rows: self.given() }
            }
            _ => ContentKind::Categories,
        }
    }

    /// The number of cells with a value.
    fn given(&self) -> u64 {
        self.numbers + self.codes + self.times + self.commas + self.texts
    }

    /// The number of different values, as far as they were counted.
    pub(in crate::format) fn different(&self) -> usize {
        self.values.len()
    }

    /// Whether most values occur once, so that they say nothing about other rows.
    pub(in crate::format) fn is_mostly_unique(&self) -> bool {
        self.has_more_values
            || (self.different() >= FEW_TEXTS && self.different() as u64 * 2 > self.given())
    }

    /// The values, the most frequent first, then by text; at most this many.
    pub(in crate::format) fn most_frequent(&self, most: usize) -> Vec<String> {
        let mut values: Vec<(&str, u64)> =
            self.values.iter().map(|(value, count)| (&**value, *count)).collect();
        values.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        values.into_iter().take(most).map(|(value, _)| value.to_owned()).collect()
    }

    /// The first cells in their order; empty for missing values.
    pub(in crate::format) fn sample(&self) -> &[Box<str>] {
        &self.sample
    }
}

/// Digits with a leading zero: a code, of which a number would lose the zeros.
pub(in crate::format) fn is_code(cell: &[u8]) -> bool {
    matches!(cell, [b'0', rest @ ..] if !rest.is_empty() && rest.iter().all(u8::is_ascii_digit))
}

fn is_number(cell: &[u8]) -> bool {
    fast_float2::parse::<f64, _>(cell).is_ok()
        || cell.eq_ignore_ascii_case(b"true")
        || cell.eq_ignore_ascii_case(b"false")
}

/// Whether a cell is a number with a decimal comma.
fn is_decimal_comma(cell: &[u8]) -> bool {
    let unsigned = cell.strip_prefix(b"-").unwrap_or(cell);
    let mut parts = unsigned.split(|byte| *byte == b',');
    let mut is_digits =
        || parts.next().is_some_and(|p| !p.is_empty() && p.iter().all(u8::is_ascii_digit));
    is_digits() && is_digits() && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(cells: &[&str]) -> ColumnContent {
        let mut content = ColumnContent::default();
        for (row, cell) in (1..).zip(cells) {
            content.add(cell.as_bytes(), || SourceLocation::line("t", row));
        }
        content
    }

    fn kind(cells: &[&str]) -> ContentKind {
        content(cells).kind()
    }

    #[test]
    fn the_cells_of_a_column_decide_its_kind() {
        assert_eq!(kind(&["", "NULL", "na"]), ContentKind::Nothing);
        assert_eq!(kind(&["1", "", "-2.5e3", "inf", "0", "0.5", "true"]), ContentKind::Numbers);
        assert_eq!(kind(&["123", "00123"]), ContentKind::Codes);
        assert_eq!(kind(&["red", "blue", ""]), ContentKind::Categories);
        assert_eq!(kind(&["2026-01-02", ""]), ContentKind::Times { has_clock: false });
        assert_eq!(
            kind(&["2026-01-02", "2026-01-02 10:00"]),
            ContentKind::Times { has_clock: true }
        );
        assert_eq!(kind(&["2026-01-02", "later"]), ContentKind::Categories);
        let place = || Box::new(SourceLocation::line("t", 2));
        assert_eq!(
            kind(&["38", "M"]),
            ContentKind::Mixed { text: "'M'".into(), location: place() }
        );
        assert_eq!(
            kind(&["5", "0,5"]),
            ContentKind::DecimalCommas { text: "'0,5'".into(), location: place() }
        );
        let brands = ["a"; 20].map(str::to_owned).into_iter().chain(["511".to_owned()]);
        let brands: Vec<String> = brands.collect();
        let brands: Vec<&str> = brands.iter().map(String::as_str).collect();
        assert_eq!(kind(&brands), ContentKind::Categories, "a few numbers among texts");
    }

    #[test]
    fn texts_that_hardly_repeat_are_free_texts() {
        let titles: Vec<String> = (0..60).map(|number| format!("title {number}")).collect();
        let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
        assert_eq!(kind(&titles), ContentKind::FreeTexts { different: 60, rows: 60 });
        assert_eq!(kind(&titles[..40]), ContentKind::Categories, "too few to say");
        let twice = [titles.as_slice(), &titles].concat();
        assert_eq!(kind(&twice), ContentKind::Categories);
    }

    #[test]
    fn counts_of_parts_add_up_to_the_counts_of_the_whole() {
        let cells = ["b", "a", "", "a", "c", "2026-01-02", "c", "7"];
        let whole = content(&cells);
        let mut parts = content(&cells[..3]);
        parts.merge(content(&cells[3..]));
        assert_eq!(parts.kind(), whole.kind());
        assert_eq!(parts.most_frequent(3), ["a", "c", "2026-01-02"]);
        assert_eq!(parts.sample(), whole.sample());
        assert_eq!(parts.different(), 5);
    }

    #[test]
    fn the_values_that_are_kept_of_too_many_depend_on_the_rows_alone() {
        // Every table has hash functions of its own, and so an order of its own.
        let part = |rows: std::ops::Range<usize>| {
            let mut content = ColumnContent::default();
            for row in rows {
                content.add(format!("v{row}").as_bytes(), || SourceLocation::line("t", 1));
                content.add(b"often", || SourceLocation::line("t", 1));
            }
            content
        };
        let whole = || {
            let mut whole = part(0..MOST_VALUES);
            whole.merge(part(MOST_VALUES..2 * MOST_VALUES + 9));
            whole.merge(part(7..8));
            whole
        };
        let (one, other) = (whole(), whole());
        assert_eq!(one.most_frequent(usize::MAX), other.most_frequent(usize::MAX));
        // The first by text are kept, and v7 came back.
        assert_eq!(one.different(), MOST_VALUES + 1);
        assert!(one.values.contains_key("v0") && !one.values.contains_key("v8"));
        assert_eq!(one.most_frequent(1), ["often"]);
        let rows = 4 * MOST_VALUES as u64 + 20;
        assert!(one.is_mostly_unique() && one.given() == rows);
    }
}
