//! Values of JSON that logs write in several ways: ids as texts or numbers, flags as numbers or
//! booleans, times as numbers or texts.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// An id or another text, written as a text or a number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Text<'a>(Cow<'a, str>);

impl Text<'_> {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn into_string(self) -> String {
        self.0.into_owned()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a number")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(number.to_string())))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(number.to_string())))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(number.to_string())))
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(value.to_string())))
            }
        }

        deserializer.deserialize_any(TextVisitor)
    }
}

/// Whether a document was clicked: a boolean, or a number above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Flag(pub(super) bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FlagVisitor;

        impl Visitor<'_> for FlagVisitor {
            type Value = Flag;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a boolean or a number of clicks")
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<Flag, E> {
                Ok(Flag(value))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Flag, E> {
                Ok(Flag(number > 0))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Flag, E> {
                Ok(Flag(number > 0.0))
            }
        }

        deserializer.deserialize_any(FlagVisitor)
    }
}

/// A point in time in seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Time(pub(super) f64);

/// Numbers above this are milliseconds: as seconds they would be after the year 5000.
const LARGEST_SECONDS: f64 = 1e11;

impl Time {
    fn of_number(number: f64) -> Self {
        Self(if number.abs() > LARGEST_SECONDS { number / 1000.0 } else { number })
    }

    /// A number, or a point in time of ISO 8601, in UTC if it names no other zone.
    fn of_text(text: &str) -> Option<Self> {
        if let Ok(number) = text.trim().parse::<f64>() {
            return number.is_finite().then(|| Self::of_number(number));
        }
        iso_seconds(text.trim()).map(Self)
    }
}

/// Seconds since 1970 of `2026-03-01T12:30:00.5+01:00`, also without fraction, zone or time of day.
fn iso_seconds(text: &str) -> Option<f64> {
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00:00"));
    let mut parts = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let (clock, zone) = match time.find(['Z', '+', '-']) {
        Some(at) => time.split_at(at),
        None => (time, ""),
    };
    let mut parts = clock.splitn(3, ':').map(|part| part.parse::<f64>().ok());
    let (hours, minutes) = (parts.next()??, parts.next()??);
    let seconds = parts.next().unwrap_or(Some(0.0))?;
    let in_range = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (0.0..24.0).contains(&hours)
        && (0.0..60.0).contains(&minutes)
        && (0.0..61.0).contains(&seconds);
    let of_day = hours * 3600.0 + minutes * 60.0 + seconds - zone_seconds(zone)?;
    in_range.then(|| days_since_1970(year, month, day) as f64 * 86_400.0 + of_day)
}

/// Seconds that a zone such as `+01:00` is ahead of UTC.
fn zone_seconds(zone: &str) -> Option<f64> {
    let sign = match zone.bytes().next() {
        None | Some(b'Z') => return Some(0.0),
        Some(b'-') => -1.0,
        _ => 1.0,
    };
    let digits: String = zone.chars().filter(char::is_ascii_digit).collect();
    let hours = digits.get(..2)?.parse::<f64>().ok()?;
    let minutes = digits.get(2..4).map_or(Some(0.0), |minutes| minutes.parse().ok())?;
    Some(sign * (hours * 3600.0 + minutes * 60.0))
}

/// Days since 1970 of a date of the Gregorian calendar; years are counted from March, so that the
/// leap day is the last day of a year.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let from_march = (month + 9) % 12;
    let year = if month <= 2 { year - 1 } else { year };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days = year * 365 + leap_days + (from_march * 153 + 2) / 5 + day - 1;
    // The number of the first of March of the year 0, counted back from 1970.
    days - 719_468
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TimeVisitor;

        impl Visitor<'_> for TimeVisitor {
            type Value = Time;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("seconds or milliseconds since 1970, or a point in time of ISO 8601")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Time, E> {
                Ok(Time::of_number(number as f64))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Time, E> {
                Ok(Time::of_number(number as f64))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Time, E> {
                Ok(Time::of_number(number))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Time, E> {
                Time::of_text(text)
                    .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_any(TimeVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_every_form() {
        for (text, seconds) in [
            ("0", 0.0),
            ("\"1970-01-01\"", 0.0),
            ("1772368200", 1_772_368_200.0),
            ("1772368200500", 1_772_368_200.5),
            ("\"1772368200500\"", 1_772_368_200.5),
            ("\"2026-03-01T12:30:00Z\"", 1_772_368_200.0),
            ("\"2026-03-01T13:30:00.5+01:00\"", 1_772_368_200.5),
            ("\"2026-03-01 11:30-0100\"", 1_772_368_200.0),
            ("\"2000-02-29T00:00:00\"", 951_782_400.0),
            ("\"1969-12-31T23:59:59Z\"", -1.0),
        ] {
            assert_eq!(serde_json::from_str::<Time>(text).unwrap().0, seconds, "{text}");
        }
        for text in [
            "\"yesterday\"",
            "\"2026-13-01\"",
            "\"2026-03-01T25:00\"",
            "\"nan\"",
            "true",
            "\"2026-03\"",
        ] {
            assert!(serde_json::from_str::<Time>(text).is_err(), "{text}");
        }
    }
}
