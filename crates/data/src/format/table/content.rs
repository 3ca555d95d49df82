//! The content of the cells of a column, counted by kind: numbers, texts, times and so on.
//!
//! Every cell is read once; different values are counted in a hash table of bounded size. If there
//! are too many different values, those that occur most often so far are kept, among equal counts
//! the first by text: so the values that are kept depend on the rows alone, not on the order in a
//! hash table.

use std::collections::HashMap;

use super::cell::is_missing_word;
use crate::error::{SourceLocation, quote};
use crate::formatted_number::{exchange_commas_and_points, is_decimal_comma, is_formatted_number};
use crate::point_in_time::{DateNumber, DateOrder, PointInTime};
use crate::table_columns::TimePart;

/// The number of different values of a column that are kept when there are twice as many.
const MAX_VALUES: usize = 1 << 17;

/// The number of first cells of a column that are kept in their order.
const MAX_SAMPLED: usize = 500;

/// In a column of categories, at most one of this many values is a number.
const VALUES_PER_NUMBER: u64 = 10;

/// A column with fewer different texts is never taken for free text.
const MIN_FREE_TEXTS: usize = 50;

/// The number of cells with each value.
type ValueCounts = HashMap<Box<str>, u64, foldhash::fast::RandomState>;

/// The kind of values of a column whose type the format knows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(feature = "columnar"), allow(dead_code, reason = "columnar files know types"))]
pub(in crate::format) enum TypedValues {
    Number,
    Time {
        /// Whether values have a time of day, not only a date.
        has_clock: bool,
    },
    /// The name of a type whose values cannot be features.
    Other(String),
}

/// Counts of the cells of a column.
#[derive(Debug, Clone, Default)]
pub(in crate::format) struct ColumnContent {
    /// The kind of the values, if the format has types.
    pub(in crate::format) typed: Option<TypedValues>,
    missing: u64,
    /// Words for a missing value, such as `NA`; they are texts where texts and missing values are
    /// told apart.
    missing_words: ValueCounts,
    /// Numbers; in a column whose type is known, all values.
    numbers: u64,
    /// Whole numbers that are written like years, such as 2026.
    years: u64,
    /// Whole numbers that are written like dates, such as 20260331.
    day_numbers: u64,
    /// Digits with a leading zero.
    codes: u64,
    times: u64,
    /// Those of `times` and `dates` that have a time of day.
    times_with_clock: u64,
    /// Dates such as `3/4/2026`, whose order of day and month must be known.
    dates: u64,
    /// Those of `dates` that are a date if the day comes first.
    day_first: u64,
    /// Those of `dates` that are a date if the month comes first.
    month_first: u64,
    /// Whether numbers of the file have a decimal comma, so that `1,5` is a number and `1.5` is not.
    pub(in crate::format) has_decimal_commas: bool,
    /// Numbers with a decimal comma in a file that has decimal points.
    decimal_commas: u64,
    /// Numbers with a currency sign, a percent sign or thousands separators; in a file with decimal
    /// commas also numbers with a decimal point.
    formatted: u64,
    /// All other cells.
    texts: u64,
    /// The first date such as `3/4/2026`, quoted.
    first_date: Option<(String, SourceLocation)>,
    /// The first text, decimal comma or number with a sign, quoted.
    first_text: Option<(String, SourceLocation)>,
    /// The first cell that is not UTF-8, quoted.
    not_utf8: Option<(String, SourceLocation)>,
    value_counts: ValueCounts,
    /// Whether rare values were dropped from `value_counts`.
    has_more_values: bool,
    /// The first cells; an empty text for a missing value.
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
        /// Whether values have a time of day, not only a date.
        has_clock: bool,
    },
    /// Dates such as `3/4/2026` of which the order of day and month is not known, with the first
    /// such date.
    DatesOfAnyOrder {
        text: String,
        location: Box<SourceLocation>,
    },
    /// Points in time and other values, with the first text that is none, if there is one.
    TimesAndOthers {
        text: Option<String>,
        location: Box<SourceLocation>,
    },
    /// Texts that repeat.
    Categories,
    /// Texts of which most occur once.
    FreeTexts {
        /// The number of different texts.
        different: usize,
        /// The number of rows with a text.
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
    /// Numbers with currency signs, percent signs or thousands separators.
    FormattedNumbers {
        text: String,
        location: Box<SourceLocation>,
    },
    NotUtf8 {
        bytes: String,
        location: Box<SourceLocation>,
    },
    /// The name of a type whose values cannot be features.
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
        if text.is_empty() {
            return self.add_missing();
        }
        if is_missing_word(cell) {
            *self.missing_words.entry(text.into()).or_default() += 1;
            return self.add_missing();
        }
        if self.sample.len() < MAX_SAMPLED {
            self.sample.push(text.into());
        }
        self.count(text, 1);
        if matches!(cell.len(), 4 | 8) {
            match fast_float2::parse(cell).ok().and_then(DateNumber::of) {
                Some(DateNumber::Year(_)) => self.years += 1,
                Some(DateNumber::Day(_)) => self.day_numbers += 1,
                None => {}
            }
        }
        if self.typed.is_some() {
            self.numbers += 1;
            return;
        }
        let counter = if is_code(cell) {
            &mut self.codes
        } else if self.is_number(cell) {
            &mut self.numbers
        } else if let Some(time) = PointInTime::from_text(cell) {
            self.times_with_clock += u64::from(time.has_clock);
            &mut self.times
        } else if self.add_date(cell) {
            self.first_date.get_or_insert_with(|| (quote(cell), location()));
            &mut self.dates
        } else {
            self.first_text.get_or_insert_with(|| (quote(cell), location()));
            match () {
                () if is_decimal_comma(text) => &mut self.decimal_commas,
                () if is_formatted_number(text) || is_number(cell) => &mut self.formatted,
                () => &mut self.texts,
            }
        };
        *counter += 1;
    }

    /// Whether a cell is a number, with the decimal sign of the file.
    fn is_number(&self, cell: &[u8]) -> bool {
        match self.has_decimal_commas {
            true => is_number(&exchange_commas_and_points(cell)),
            false => is_number(cell),
        }
    }

    /// Counts a date such as `3/4/2026` by the orders in which it is one; false for other cells.
    fn add_date(&mut self, cell: &[u8]) -> bool {
        let by_day = PointInTime::from_text_in(cell, DateOrder::DayFirst);
        let by_month = PointInTime::from_text_in(cell, DateOrder::MonthFirst);
        self.day_first += u64::from(by_day.is_some());
        self.month_first += u64::from(by_month.is_some());
        let date = by_day.or(by_month);
        self.times_with_clock += u64::from(date.is_some_and(|date| date.has_clock));
        date.is_some()
    }

    /// The order of day and month in which all dates such as `3/4/2026` are dates; unknown if there
    /// are none, if both orders fit or if neither fits.
    pub(in crate::format) fn date_order(&self) -> DateOrder {
        match (self.day_first == self.dates, self.month_first == self.dates) {
            (true, false) => DateOrder::DayFirst,
            (false, true) => DateOrder::MonthFirst,
            _ => DateOrder::Unknown,
        }
    }

    fn count(&mut self, value: &str, count: u64) {
        if let Some(known) = self.value_counts.get_mut(value) {
            *known += count;
        } else {
            self.value_counts.insert(value.into(), count);
            self.drop_rare_values();
        }
    }

    /// Keeps the most frequent values if there are too many. Half of the table is dropped at once,
    /// so that each value is moved about once.
    fn drop_rare_values(&mut self) {
        if self.value_counts.len() < 2 * MAX_VALUES {
            return;
        }
        let mut values: Vec<(Box<str>, u64)> = self.value_counts.drain().collect();
        values.select_nth_unstable_by(MAX_VALUES, |a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        values.truncate(MAX_VALUES);
        self.value_counts.extend(values);
        self.has_more_values = true;
    }

    /// Counts a missing cell.
    pub(in crate::format) fn add_missing(&mut self) {
        if self.sample.len() < MAX_SAMPLED {
            self.sample.push("".into());
        }
        self.missing += 1;
    }

    /// Adds the counts of later rows.
    pub(in crate::format) fn merge(&mut self, later: ColumnContent) {
        self.has_decimal_commas = later.has_decimal_commas;
        self.typed = self.typed.take().or(later.typed);
        self.missing += later.missing;
        for (word, count) in later.missing_words {
            *self.missing_words.entry(word).or_default() += count;
        }
        self.numbers += later.numbers;
        self.years += later.years;
        self.day_numbers += later.day_numbers;
        self.codes += later.codes;
        self.times += later.times;
        self.times_with_clock += later.times_with_clock;
        self.dates += later.dates;
        self.day_first += later.day_first;
        self.month_first += later.month_first;
        self.decimal_commas += later.decimal_commas;
        self.formatted += later.formatted;
        self.texts += later.texts;
        self.first_date = self.first_date.take().or(later.first_date);
        self.first_text = self.first_text.take().or(later.first_text);
        self.not_utf8 = self.not_utf8.take().or(later.not_utf8);
        self.has_more_values |= later.has_more_values;
        let room = MAX_SAMPLED - self.sample.len();
        self.sample.extend(later.sample.into_iter().take(room));
        for (value, count) in later.value_counts {
            *self.value_counts.entry(value).or_default() += count;
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
        let times = self.times + self.dates;
        let others = self.texts + self.decimal_commas + self.formatted + times;
        match (self.numbers + self.codes, others) {
            (0, 0) => ContentKind::Nothing,
            (_, 0) if self.codes > 0 => ContentKind::Codes,
            (_, 0) => ContentKind::Numbers,
            (_, others) if self.decimal_commas == others => {
                ContentKind::DecimalCommas { text, location }
            }
            (_, others) if self.decimal_commas + self.formatted == others => {
                ContentKind::FormattedNumbers { text, location }
            }
            (0, others) if times == others => match self.first_date.clone() {
                Some((text, location)) if self.date_order() == DateOrder::Unknown => {
                    ContentKind::DatesOfAnyOrder { text, location: Box::new(location) }
                }
                _ => ContentKind::Times { has_clock: self.times_with_clock > 0 },
            },
            // Fewer times among texts are texts of a category.
            (numbers, others) if times * VALUES_PER_NUMBER > numbers + others => {
                let text = self.first_text.as_ref().map(|(text, _)| text.clone());
                ContentKind::TimesAndOthers { text, location }
            }
            (numbers, others) if numbers * (VALUES_PER_NUMBER - 1) > others => {
                ContentKind::Mixed { text, location }
            }
            _ if self.is_mostly_unique() => {
                ContentKind::FreeTexts { different: self.different(), rows: self.filled_cells() }
            }
            _ => ContentKind::Categories,
        }
    }

    /// The parts of the points in time that numbers mean: those that are all written like years or
    /// dates have no time of day.
    pub(in crate::format) fn parts_of_numbers(&self) -> Vec<TimePart> {
        match self.filled_cells() {
            0 => TimePart::ALL.to_vec(),
            filled if self.years == filled => vec![TimePart::Days],
            filled if self.years + self.day_numbers == filled => {
                vec![TimePart::Days, TimePart::Weekday]
            }
            _ => TimePart::ALL.to_vec(),
        }
    }

    /// The number of cells with a value.
    fn filled_cells(&self) -> u64 {
        let numbers = self.numbers + self.codes + self.decimal_commas + self.formatted;
        numbers + self.times + self.dates + self.texts
    }

    /// The number of different values, as far as they were counted.
    pub(in crate::format) fn different(&self) -> usize {
        self.value_counts.len()
    }

    /// Whether more than half of the values are different, so that a model could not learn from
    /// them for other rows.
    pub(in crate::format) fn is_mostly_unique(&self) -> bool {
        self.has_more_values
            || (self.different() >= MIN_FREE_TEXTS
                && self.different() as u64 * 2 > self.filled_cells())
    }

    /// The first text, quoted, and its location.
    pub(in crate::format) fn first_text(&self) -> (Option<String>, SourceLocation) {
        let (text, location) = self.first_text.clone().unzip();
        (text, location.unwrap_or_default())
    }

    /// Whether a cell has a word for a missing value.
    pub(in crate::format) fn has_missing_words(&self) -> bool {
        !self.missing_words.is_empty()
    }

    /// Counts words for a missing value as texts.
    pub(in crate::format) fn words_as_texts(&self) -> ColumnContent {
        let mut content = self.clone();
        for (word, count) in std::mem::take(&mut content.missing_words) {
            content.missing -= count;
            content.texts += count;
            content.count(&word, count);
        }
        content
    }

    /// The `count` most frequent values, the most frequent first, then by text.
    pub(in crate::format) fn most_frequent(&self, count: usize) -> Vec<String> {
        let mut values: Vec<(&str, u64)> =
            self.value_counts.iter().map(|(value, count)| (&**value, *count)).collect();
        values.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        values.into_iter().take(count).map(|(value, _)| value.to_owned()).collect()
    }

    /// The first cells in their order; empty for missing values.
    pub(in crate::format) fn sample(&self) -> &[Box<str>] {
        &self.sample
    }
}

/// Whether a cell has digits with a leading zero, such as a postal code: a number would lose the
/// zeros.
pub(in crate::format) fn is_code(cell: &[u8]) -> bool {
    matches!(cell, [b'0', rest @ ..] if !rest.is_empty() && rest.iter().all(u8::is_ascii_digit))
}

fn is_number(cell: &[u8]) -> bool {
    fast_float2::parse::<f64, _>(cell).is_ok()
        || cell.eq_ignore_ascii_case(b"true")
        || cell.eq_ignore_ascii_case(b"false")
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
        let later = ContentKind::TimesAndOthers {
            text: Some("'later'".into()),
            location: Box::new(SourceLocation::line("t", 3)),
        };
        assert_eq!(kind(&["2026-01-02", "31/12/2025", "later"]), later);
        let texts = ["a"; 9].into_iter().chain(["2026-01-02"]).collect::<Vec<_>>();
        assert_eq!(kind(&texts), ContentKind::Categories, "few dates among texts");
        let dates = ContentKind::Times { has_clock: false };
        assert_eq!(kind(&["31.12.2025", "1.6.2025", "2026-01-02"]), dates);
        for (cells, order) in [
            (["3/4/2026", "31/12/2025"], DateOrder::DayFirst),
            (["3/4/2026", "12/31/2025"], DateOrder::MonthFirst),
        ] {
            assert_eq!((kind(&cells), content(&cells).date_order()), (dates.clone(), order));
        }
        for cells in [["3/4/2026", "5/6/2026"], ["12/31/2025", "31/12/2025"]] {
            assert!(matches!(kind(&cells), ContentKind::DatesOfAnyOrder { .. }), "{cells:?}");
        }
        let second_line = || Box::new(SourceLocation::line("t", 2));
        assert_eq!(
            kind(&["38", "M"]),
            ContentKind::Mixed { text: "'M'".into(), location: second_line() }
        );
        assert_eq!(
            kind(&["5", "0,5"]),
            ContentKind::DecimalCommas { text: "'0,5'".into(), location: second_line() }
        );
        for cells in [["12", "€12"], ["1,234.50", "999.00"], ["12.50 EUR", "7"], ["7 %", "12%"]] {
            let found = kind(&cells);
            assert!(matches!(found, ContentKind::FormattedNumbers { .. }), "{cells:?}: {found:?}");
        }
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
    fn if_there_are_too_many_values_those_that_are_kept_depend_on_the_rows_alone() {
        // Every hash table has its own seed, and so its own order.
        let part = |rows: std::ops::Range<usize>| {
            let mut content = ColumnContent::default();
            for row in rows {
                content.add(format!("v{row}").as_bytes(), || SourceLocation::line("t", 1));
                content.add(b"often", || SourceLocation::line("t", 1));
            }
            content
        };
        let whole = || {
            let mut whole = part(0..MAX_VALUES);
            whole.merge(part(MAX_VALUES..2 * MAX_VALUES + 9));
            whole.merge(part(7..8));
            whole
        };
        let (one, other) = (whole(), whole());
        assert_eq!(one.most_frequent(usize::MAX), other.most_frequent(usize::MAX));
        // The first by text are kept; v7 was dropped and then added again.
        assert_eq!(one.different(), MAX_VALUES + 1);
        assert!(one.value_counts.contains_key("v0") && !one.value_counts.contains_key("v8"));
        assert_eq!(one.most_frequent(1), ["often"]);
        // Two cells for each of 2 * MAX_VALUES + 9 rows, and for the row that was added again.
        let rows = 4 * MAX_VALUES as u64 + 20;
        assert!(one.is_mostly_unique() && one.filled_cells() == rows);
    }
}
