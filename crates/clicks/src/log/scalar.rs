//! Values of JSON that logs write in several ways: ids as texts or numbers, flags as numbers or
//! booleans, times as numbers or texts.

use std::borrow::Cow;
use std::fmt;

use rankwright_data::PointInTime;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use super::rows::{LogCell, read_time};

/// An id or another text, written as a text, a number or a boolean.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

impl Text<'_> {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn into_string(self) -> String {
        self.0.into_owned()
    }
}

/// The text of an optional value; empty if it is absent.
pub(super) fn text_of<'t>(text: &'t Option<Text<'_>>) -> &'t str {
    text.as_ref().map_or("", Text::as_str)
}

/// The methods of a visitor that makes a text of every scalar.
macro_rules! scalar_texts {
    ($lifetime:lifetime, $make:expr) => {
        fn visit_borrowed_str<E: Error>(self, text: &$lifetime str) -> Result<Self::Value, E> {
            Ok($make(Cow::Borrowed(text)))
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
            Ok($make(Cow::Owned(text.to_owned())))
        }

        fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
            Ok($make(Cow::Owned(number.to_string())))
        }

        fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
            Ok($make(Cow::Owned(number.to_string())))
        }

        fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
            Ok($make(Cow::Owned(number.to_string())))
        }

        fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
            Ok($make(Cow::Borrowed(if value { "true" } else { "false" })))
        }
    };
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a number")
            }

            scalar_texts!('de, Text);
        }

        deserializer.deserialize_any(TextVisitor)
    }
}

/// A cell of a row: a scalar or a list of scalars.
pub(super) struct JsonCell<'a>(pub(super) LogCell<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for JsonCell<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CellVisitor;

        /// The cell of a scalar.
        fn scalar(text: Cow<'_, str>) -> JsonCell<'_> {
            JsonCell(LogCell::Text(text))
        }

        impl<'de> Visitor<'de> for CellVisitor {
            type Value = JsonCell<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, a number, a boolean or a list of them")
            }

            scalar_texts!('de, scalar);

            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(JsonCell(LogCell::Missing))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                let mut texts = Vec::new();
                while let Some(item) = items.next_element::<Text<'de>>()? {
                    texts.push(item.0);
                }
                Ok(JsonCell(LogCell::List(texts)))
            }
        }

        deserializer.deserialize_any(CellVisitor)
    }
}

/// Whether a document was clicked: a boolean, or a number above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ClickFlag(pub(super) bool);

impl<'de> Deserialize<'de> for ClickFlag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ClickFlagVisitor;

        impl Visitor<'_> for ClickFlagVisitor {
            type Value = ClickFlag;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a boolean or a number of clicks")
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<ClickFlag, E> {
                Ok(ClickFlag(value))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<ClickFlag, E> {
                Ok(ClickFlag(number > 0))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<ClickFlag, E> {
                Ok(ClickFlag(number > 0.0))
            }
        }

        deserializer.deserialize_any(ClickFlagVisitor)
    }
}

/// A point in time in seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Time(pub(super) f64);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TimeVisitor;

        impl TimeVisitor {
            fn of_number<E: Error>(&self, number: f64) -> Result<Time, E> {
                let point = PointInTime::from_number(number);
                let unexpected = || E::invalid_value(serde::de::Unexpected::Float(number), self);
                point.map(|point| Time(point.seconds())).ok_or_else(unexpected)
            }
        }

        impl Visitor<'_> for TimeVisitor {
            type Value = Time;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("seconds or milliseconds since 1970, or a point in time of ISO 8601")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Time, E> {
                self.of_number(number as f64)
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Time, E> {
                self.of_number(number as f64)
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Time, E> {
                self.of_number(number)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Time, E> {
                let unexpected = || E::invalid_value(serde::de::Unexpected::Str(text), &self);
                read_time(text).map(Time).ok_or_else(unexpected)
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
            "1e30",
            "\"2026-03\"",
        ] {
            assert!(serde_json::from_str::<Time>(text).is_err(), "{text}");
        }
    }
}
