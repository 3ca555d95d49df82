//! Points in time from text and numbers, as microseconds since the beginning of 1970 in UTC.
//!
//! Text is a date, `2026-03-31`, `2026/03/31` or `31.3.2026`, and optionally a time of day after a
//! `T` or a space, `18:30`, `18:30:15` or `18:30:15.25`, and then `Z` or an offset, `+02:00`,
//! `+0200` or `+02`. Without an offset the time is UTC. Whether the day or the month comes first in
//! `3/4/2026` or `03-04-2026` cannot be known from the text alone: it is read only in a known order
//! ([`DateOrder`]). A number is the time since the beginning of 1970, in seconds, milliseconds,
//! microseconds or nanoseconds: whichever gives a time before the year 5139.

use serde::{Deserialize, Serialize};

/// A second in microseconds.
const SECOND: i64 = 1_000_000;
/// A day in microseconds.
const DAY: i64 = 86_400 * SECOND;

/// A point in time.
///
/// ```
/// use rankwright_data::PointInTime;
///
/// let text = PointInTime::from_text(b"2026-03-01T13:30:00.5+01:00").unwrap();
/// assert_eq!(text.seconds(), 1_772_368_200.5);
/// assert_eq!(PointInTime::from_number(1_772_368_200_500.0), Some(text));
/// assert_eq!(text.to_iso().as_deref(), Some("2026-03-01T12:30:00.500Z"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointInTime {
    /// Microseconds since the beginning of 1970, in UTC.
    pub micros: i64,
    /// Whether there is a time of day; always for a number.
    pub has_clock: bool,
}

/// The order of day and month in dates such as `3/4/2026`, which end with the year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DateOrder {
    /// Not known: such dates are not read.
    #[default]
    Unknown,
    /// `31/12/2026`.
    DayFirst,
    /// `12/31/2026`.
    MonthFirst,
}

impl DateOrder {
    pub(crate) fn is_unknown(&self) -> bool {
        *self == DateOrder::Unknown
    }
}

impl PointInTime {
    /// Reads a point in time from text; dates such as `3/4/2026` in this order.
    pub fn from_text_in(text: &[u8], order: DateOrder) -> Option<PointInTime> {
        from_text(text).or_else(|| from_year_last(text, order))
    }

    /// Reads a point in time from text, as the module describes; `None` if the text is something
    /// else.
    pub fn from_text(text: &[u8]) -> Option<PointInTime> {
        from_text(text)
    }

    /// The point in time that a number means: seconds, milliseconds, microseconds or nanoseconds
    /// since the beginning of 1970, whichever gives a time before the year 5139. `None` if the
    /// number is NaN or too large.
    pub fn from_number(value: f64) -> Option<PointInTime> {
        from_number(value)
    }

    /// The point in time that a number in a column of times means: a whole number such as 20260331 is
    /// a date and one such as 2026 the beginning of a year, from 1800 to 2199; all others are counted
    /// since 1970, as by [`PointInTime::from_number`].
    pub(crate) fn from_number_in_table(value: f64) -> Option<PointInTime> {
        DateNumber::of(value).map_or_else(|| from_number(value), |date| date.time())
    }

    /// The point in time of a number of seconds since the beginning of 1970; `None` if it is not
    /// finite or beyond the range of microseconds.
    pub fn from_seconds(seconds: f64) -> Option<PointInTime> {
        // From the year 2106 on, a product by a million may round to a neighbouring microsecond, and
        // from 2242 on, a double of seconds does not tell microseconds apart. Whole milliseconds,
        // which logs have, must stay exact.
        let millis = (seconds * 1e3).round();
        let micros = match millis / 1e3 == seconds {
            true => millis * 1e3,
            false => (seconds * 1e6).round(),
        };
        // 2^63 microseconds are 292,000 years.
        let is_in_range = micros.abs() < i64::MAX as f64;
        is_in_range.then_some(PointInTime { micros: micros as i64, has_clock: true })
    }

    /// Seconds since the beginning of 1970.
    pub fn seconds(self) -> f64 {
        self.micros as f64 / 1e6
    }

    /// The text `2026-03-01T12:30:00.500Z`, with milliseconds, or with microseconds if they are not
    /// zero; `None` for years before 0 and after 9999.
    pub fn to_iso(self) -> Option<String> {
        let (days, micros) = (self.micros.div_euclid(DAY), self.micros.rem_euclid(DAY));
        let (year, month, day) = date_of(days);
        let (seconds, micros) = (micros / SECOND, micros % SECOND);
        let clock = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let fraction = match micros % 1000 {
            0 => format!("{:03}", micros / 1000),
            _ => format!("{micros:06}"),
        };
        (0..=9999).contains(&year).then(|| {
            let (hour, minute, second) = clock;
            format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction}Z")
        })
    }
}

/// A whole number that is written like a date: as seconds since 1970, all of these would be times in
/// 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DateNumber {
    /// A year, such as 2026.
    Year(i32),
    /// Days since 1970, of a number such as 20260331.
    Day(i32),
}

impl DateNumber {
    /// The date that a number is written like; `None` for other numbers.
    pub(crate) fn of(value: f64) -> Option<DateNumber> {
        const YEARS: std::ops::RangeInclusive<i32> = 1800..=2199;
        if value.fract() != 0.0 || !(1800.0..21_991_232.0).contains(&value) {
            return None;
        }
        let number = value as i32;
        let (year, month, day) = (number / 10_000, number / 100 % 100, number % 100);
        match YEARS.contains(&number) {
            true => Some(DateNumber::Year(number)),
            false if YEARS.contains(&year) => days_of(year, month, day).map(DateNumber::Day),
            false => None,
        }
    }

    /// The beginning of the year or of the day.
    fn time(self) -> Option<PointInTime> {
        let days = match self {
            DateNumber::Year(year) => days_of(year, 1, 1)?,
            DateNumber::Day(days) => days,
        };
        Some(PointInTime { micros: i64::from(days) * DAY, has_clock: false })
    }
}

/// The year, month and day of a number of days since 1970: the inverse of `days_of` (Hinnant's
/// `civil_from_days`).
fn date_of(days: i64) -> (i64, i64, i64) {
    // Eras of 400 years have 146,097 days; inside, years begin in March.
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let months = (5 * of_year + 2) / 153;
    let day = of_year - (153 * months + 2) / 5 + 1;
    let month = if months < 10 { months + 3 } else { months - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

fn from_text(text: &[u8]) -> Option<PointInTime> {
    let Some(date) = text.first_chunk::<10>() else {
        return from_year_last(text, DateOrder::Unknown);
    };
    // Digits of year, month and day, and two separators.
    let [y1, y2, y3, y4, s1, m1, m2, s2, d1, d2] = *date;
    if s1 != s2 || !matches!(s1, b'-' | b'/') {
        return from_year_last(text, DateOrder::Unknown);
    }
    let (year, month, day) = (number(&[y1, y2, y3, y4])?, number(&[m1, m2])?, number(&[d1, d2])?);
    with_clock(days_of(year, month, day)?, text.get(10..)?)
}

/// A date that ends with the year; day and month have one or two digits.
fn from_year_last(text: &[u8], order: DateOrder) -> Option<PointInTime> {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or(&[]);
        rest.iter().take_while(|byte| byte.is_ascii_digit()).take(2).count()
    };
    let first_length = digits(0);
    let second_length = digits(first_length + 1);
    let year_at = first_length + second_length + 2;
    let signs = (*text.get(first_length)?, *text.get(year_at - 1)?);
    let first = number(text.get(..first_length).filter(|digits| !digits.is_empty())?)?;
    let second =
        number(text.get(first_length + 1..year_at - 1).filter(|digits| !digits.is_empty())?)?;
    let year = number(text.get(year_at..year_at + 4)?)?;
    let (day, month) = match (signs, order) {
        // With points, the day always comes first.
        ((b'.', b'.'), _) | ((b'/', b'/') | (b'-', b'-'), DateOrder::DayFirst) => (first, second),
        ((b'/', b'/') | (b'-', b'-'), DateOrder::MonthFirst) => (second, first),
        _ => return None,
    };
    with_clock(days_of(year, month, day)?, text.get(year_at + 4..)?)
}

/// The point in time of a day since 1970 and the text after the date: nothing, or a time of day.
fn with_clock(days: i32, rest: &[u8]) -> Option<PointInTime> {
    let micros = i64::from(days) * DAY;
    match rest {
        [] => Some(PointInTime { micros, has_clock: false }),
        [b'T' | b't' | b' ', clock @ ..] => {
            let (clock, offset) = split_offset(clock)?;
            let micros = micros + micros_of(clock)? - offset;
            Some(PointInTime { micros, has_clock: true })
        }
        _ => None,
    }
}

/// The unit is guessed by the size of the number: 1e11 seconds are the year 5138.
fn from_number(value: f64) -> Option<PointInTime> {
    let micros = match value.abs() {
        size if size < 1e11 => return PointInTime::from_seconds(value),
        size if size < 1e14 => value * 1e3,
        size if size < 1e17 => value,
        size if size < 1e20 => value / 1e3,
        _ => return None,
    };
    Some(PointInTime { micros: micros.round() as i64, has_clock: true })
}

/// The value of decimal digits; `None` if another byte is among them.
fn number(digits: &[u8]) -> Option<i32> {
    digits.iter().try_fold(0i32, |sum, digit| match digit {
        b'0'..=b'9' => Some(sum * 10 + i32::from(digit - b'0')),
        _ => None,
    })
}

/// The number of days from 1 January 1970 to a day of the Gregorian calendar; `None` if there is no
/// such day. Inside, years begin in March, so that a leap day is the last day of its year (Howard
/// Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`).
fn days_of(year: i32, month: i32, day: i32) -> Option<i32> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let month_length = match month {
        2 => 28 + i32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=month_length).contains(&day) {
        return None;
    }
    let years = if month > 2 { year } else { year - 1 };
    let months = (month + 9) % 12;
    // From March on, the months have 31, 30, 31, 30, 31 days, again and again: 153 in five months.
    let day_of_year = (153 * months + 2) / 5 + day - 1;
    let leap_days = years.div_euclid(4) - years.div_euclid(100) + years.div_euclid(400);
    // There are 719,468 days from 1 March of the year 0 to 1 January 1970.
    Some(365 * years + leap_days + day_of_year - 719_468)
}

/// The microseconds of a time of day.
fn micros_of(clock: &[u8]) -> Option<i64> {
    let (hour, minute, rest) = match clock {
        [h1, h2, b':', m1, m2, rest @ ..] => (number(&[*h1, *h2])?, number(&[*m1, *m2])?, rest),
        // Spreadsheets write `1.6.2025 8:30`.
        [h, b':', m1, m2, rest @ ..] => (number(&[*h])?, number(&[*m1, *m2])?, rest),
        _ => return None,
    };
    let (second, fraction) = match rest {
        [] => (0, 0),
        [b':', s1, s2] => (number(&[*s1, *s2])?, 0),
        [b':', s1, s2, b'.' | b',', digits @ ..] if !digits.is_empty() && digits.len() <= 9 => {
            let nanos = number(digits)? * 10i32.pow(9 - digits.len() as u32);
            (number(&[*s1, *s2])?, i64::from(nanos / 1000))
        }
        _ => return None,
    };
    // A leap second is 60.
    let is_valid = hour <= 23 && minute <= 59 && second <= 60;
    is_valid.then(|| i64::from(hour * 3600 + minute * 60 + second) * SECOND + fraction)
}

/// The time of day without its offset, and the offset in microseconds.
fn split_offset(clock: &[u8]) -> Option<(&[u8], i64)> {
    if let Some(rest) = clock.strip_suffix(b"Z").or(clock.strip_suffix(b"z")) {
        return Some((rest, 0));
    }
    let Some(at) = clock.iter().rposition(|byte| matches!(byte, b'+' | b'-')) else {
        return Some((clock, 0));
    };
    let (rest, offset) = clock.split_at_checked(at)?;
    let (hours, minutes) = match offset.get(1..)? {
        [h1, h2] => (number(&[*h1, *h2])?, 0),
        [h1, h2, b':', m1, m2] | [h1, h2, m1, m2] => (number(&[*h1, *h2])?, number(&[*m1, *m2])?),
        _ => return None,
    };
    let size = i64::from(hours * 3600 + minutes * 60) * SECOND;
    let is_negative = offset.first() == Some(&b'-');
    (hours <= 23 && minutes <= 59).then_some((rest, if is_negative { -size } else { size }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Days since 1970, with their fraction.
    fn days(text: &str) -> Option<f64> {
        from_text(text.as_bytes()).map(|at| at.micros as f64 / DAY as f64)
    }

    #[test]
    fn dates_are_counted_from_1970() {
        for (text, expected) in [
            ("1970-01-01", 0.0),
            ("1969-12-31", -1.0),
            ("2000-02-29", 11_016.0),
            ("2000-03-01", 11_017.0),
            ("2026/11/17", 20_774.0),
            ("0001-01-01", -719_162.0),
        ] {
            assert_eq!(days(text), Some(expected), "{text}");
        }
        // Every day of four centuries follows the day before.
        let mut last = days_of(1899, 12, 31).unwrap();
        for year in 1900..2300 {
            for month in 1..=12 {
                for day in (1..=31).filter_map(|day| days_of(year, month, day)) {
                    assert_eq!(day, last + 1);
                    last = day;
                }
            }
        }
    }

    #[test]
    fn times_print_as_they_are_read() {
        for text in [
            "1970-01-01T00:00:00.000Z",
            "1969-12-31T23:59:59.999Z",
            "2000-02-29T12:30:15.250Z",
            "2026-11-17T23:59:59.123456Z",
            "0001-03-01T00:00:00.000Z",
            "9999-12-31T23:59:59.000Z",
        ] {
            assert_eq!(from_text(text.as_bytes()).unwrap().to_iso().as_deref(), Some(text));
        }
        for day in -800_000..800_000 {
            let (year, month, of_month) = date_of(day);
            let found = days_of(year as i32, month as i32, of_month as i32);
            assert_eq!(found.map(i64::from), Some(day));
        }
        assert_eq!(PointInTime::from_seconds(f64::NAN), None);
        assert_eq!(PointInTime::from_seconds(1e12).unwrap().to_iso(), None);
    }

    #[test]
    fn times_of_day_and_offsets_are_read() {
        let noon = days("2026-11-17 12:00").unwrap();
        assert_eq!(noon, 20_774.5);
        for same in [
            "2026-11-17T12:00:00",
            "2026-11-17T12:00:00.000Z",
            "2026-11-17T14:00:00+02:00",
            "2026-11-17T09:30:00-0230",
            "2026-11-17t13:00+01",
        ] {
            assert_eq!(days(same), Some(noon), "{same}");
        }
        assert_eq!(from_text(b"1970-01-01 00:00:01.5").unwrap().micros, 1_500_000);
        assert_eq!(from_text(b"1970-01-01 00:00:00.123456789").unwrap().micros, 123_456);
        assert!(from_text(b"2026-11-17 00:00").unwrap().has_clock);
    }

    #[test]
    fn dates_that_end_with_the_year_are_read_in_their_order() {
        use DateOrder::{DayFirst, MonthFirst, Unknown};
        let day = |text: &str, order| {
            let found = PointInTime::from_text_in(text.as_bytes(), order)?;
            found.to_iso().map(|iso| iso.chars().take(16).collect::<String>())
        };
        let found = |text: &str| Some(text.to_owned());
        for order in [Unknown, DayFirst, MonthFirst] {
            assert_eq!(day("31.12.2025", order), found("2025-12-31T00:00"));
            assert_eq!(day("1.6.2025 18:30", order), found("2025-06-01T18:30"));
            assert_eq!(day("1.6.2025 8:30", order), found("2025-06-01T08:30"));
            assert_eq!(day("2025/06/01", order), found("2025-06-01T00:00"));
        }
        assert_eq!(day("3/4/2026", DayFirst), found("2026-04-03T00:00"));
        assert_eq!(day("3-4-2026 07:15", MonthFirst), found("2026-03-04T07:15"));
        assert_eq!(day("12/31/2025", DayFirst), None);
        assert_eq!(day("31/12/2025", MonthFirst), None);
        assert_eq!(day("3/4/2026", Unknown), None);
        assert_eq!(day("3/4-2026", DayFirst), None);
        assert_eq!(day("3/4/26", DayFirst), None);
    }

    #[test]
    fn other_texts_are_no_times() {
        for text in [
            "",
            "2026",
            "2026-13-01",
            "2026-02-30",
            "17.13.2026",
            "30.2.2026",
            "17.11.26",
            "1.2.3.4",
            "17.11/2026",
            "11/17/2026",
            "2026-11-17x",
            "2026-11-17T",
            "2026-11-17T25:00",
            "2026-11-17 12:60",
            "2026-11-17 12:00:00.",
            "2026-11/17",
            "20261117",
            "2026-11-17T12:00+99:00",
            "2026-11-17 12:00 x",
        ] {
            assert_eq!(days(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_times_in_the_unit_that_fits() {
        let seconds: f64 = 1_790_000_000.0;
        for factor in [1.0, 1e3, 1e6, 1e9] {
            let found = from_number(seconds * factor).unwrap().micros;
            assert_eq!(found, 1_790_000_000 * SECOND, "{factor}");
        }
        assert_eq!(from_number(f64::NAN), None);
    }

    /// Regression: dates such as 20260331 and years were read as seconds, which are times in 1970.
    #[test]
    fn numbers_that_are_written_like_dates_are_dates_in_tables() {
        let found = |value| PointInTime::from_number_in_table(value).and_then(PointInTime::to_iso);
        for (value, date) in [
            (20_260_331.0, "2026-03-31T00:00:00.000Z"),
            (18_000_101.0, "1800-01-01T00:00:00.000Z"),
            (1999.0, "1999-01-01T00:00:00.000Z"),
            (1_790_000_000.0, "2026-09-21T14:13:20.000Z"),
            // No dates: 30 February, and a fraction.
            (20_260_230.0, "1970-08-23T11:50:30.000Z"),
            (2026.5, "1970-01-01T00:33:46.500Z"),
        ] {
            assert_eq!(found(value).as_deref(), Some(date), "{value}");
        }
        assert!(!PointInTime::from_number_in_table(2026.0).unwrap().has_clock);
        assert_eq!(found(f64::NAN), None);
    }
}
