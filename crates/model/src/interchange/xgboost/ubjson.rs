//! Universal Binary JSON (ubjson.org), as far as XGBoost writes it: a marker byte before each
//! value, numbers with the high byte first, lists of numbers as `[$` type `#` count and then
//! the numbers without markers.
//!
//! Counts are compared with the remaining bytes before memory is allocated; nesting ends at 128
//! levels. Rejected, because no XGBoost model has them: typed lists of anything but numbers (a list
//! of a billion `T` would need no bytes), objects with a type or a count, and high-precision
//! numbers (digits as text).

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};

use super::invalid;
use super::raw::XgboostFile;
use crate::error::ModelError;
use crate::interchange::FileProblem;

/// Maximum nesting depth.
const MAX_DEPTH: usize = 128;

/// The reason why bytes are no valid UBJSON of a model.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct UbjsonError(String);

impl serde::de::Error for UbjsonError {
    fn custom<T: std::fmt::Display>(message: T) -> UbjsonError {
        UbjsonError(message.to_string())
    }
}

/// Reads a file in UBJSON.
pub(super) fn read(bytes: &[u8]) -> Result<XgboostFile, ModelError> {
    let mut input = UbjsonBytes { rest: bytes, depth: 0 };
    let file = XgboostFile::deserialize(UbjsonValue { marker: None, input: &mut input });
    file.map_err(|error| {
        let position = bytes.len() - input.rest.len();
        let message = format!("{error} at byte {position}");
        invalid(FileProblem::Syntax { message, expected: "the UBJSON of save_model" })
    })
}

/// The bytes that are not yet read.
struct UbjsonBytes<'de> {
    rest: &'de [u8],
    /// Number of open lists and objects.
    depth: usize,
}

impl<'de> UbjsonBytes<'de> {
    fn take(&mut self, count: u64) -> Result<&'de [u8], UbjsonError> {
        let parts = usize::try_from(count).ok().and_then(|count| self.rest.split_at_checked(count));
        let (taken, rest) = parts.ok_or_else(|| {
            UbjsonError(format!("expected {count} more bytes, found {}", self.rest.len()))
        })?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], UbjsonError> {
        let taken = self.take(N as u64)?;
        taken.try_into().map_err(|_| UbjsonError("a number is cut off".into()))
    }

    fn byte(&mut self) -> Result<u8, UbjsonError> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Reads an integer of the type that the marker names.
    fn integer(&mut self, marker: u8) -> Result<i64, UbjsonError> {
        Ok(match marker {
            b'i' => i64::from(i8::from_be_bytes(self.array()?)),
            b'U' => i64::from(self.byte()?),
            b'I' => i64::from(i16::from_be_bytes(self.array()?)),
            b'l' => i64::from(i32::from_be_bytes(self.array()?)),
            b'L' => i64::from_be_bytes(self.array()?),
            other => return Err(unexpected_marker(other, "an integer")),
        })
    }

    /// Reads a length: the marker of its type, and the number.
    fn length(&mut self) -> Result<u64, UbjsonError> {
        let marker = self.byte()?;
        let length = self.integer(marker)?;
        u64::try_from(length).map_err(|_| UbjsonError(format!("a length of {length}")))
    }

    fn string(&mut self) -> Result<&'de str, UbjsonError> {
        let length = self.length()?;
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes).map_err(|_| UbjsonError("a string that is no UTF-8".into()))
    }

    /// Reads the type and the count between `[` and the first value; `None` if they are not given.
    fn list_head(&mut self) -> Result<(Option<u8>, Option<u64>), UbjsonError> {
        let mut marker = None;
        if self.peek() == Some(b'$') {
            self.byte()?;
            marker = Some(self.byte()?);
        }
        if self.peek() != Some(b'#') {
            return match marker {
                None => Ok((None, None)),
                Some(_) => Err(UbjsonError("a list with a type but no count".into())),
            };
        }
        self.byte()?;
        let count = self.length()?;
        let width = match marker {
            None | Some(b'i' | b'U') => 1,
            Some(b'I') => 2,
            Some(b'l' | b'd') => 4,
            Some(b'L' | b'D') => 8,
            Some(other) => return Err(unexpected_marker(other, "a list of numbers")),
        };
        match count.checked_mul(width).is_some_and(|bytes| bytes <= self.rest.len() as u64) {
            true => Ok((marker, Some(count))),
            false => {
                Err(UbjsonError(format!("a list of {count} values, which is longer than the file")))
            }
        }
    }
}

/// The error for a marker in the wrong place.
fn unexpected_marker(marker: u8, expected: &str) -> UbjsonError {
    UbjsonError(format!("the marker '{}' where {expected} should be", marker.escape_ascii()))
}

/// The deserializer of a value.
struct UbjsonValue<'a, 'de> {
    /// The marker, if it has been read already or is given by the list.
    marker: Option<u8>,
    input: &'a mut UbjsonBytes<'de>,
}

impl<'de> UbjsonValue<'_, 'de> {
    /// The marker of the value, read if it is not yet known.
    fn marker(&mut self) -> Result<u8, UbjsonError> {
        match self.marker.take() {
            Some(marker) => Ok(marker),
            None => self.input.byte(),
        }
    }
}

impl<'de> Deserializer<'de> for UbjsonValue<'_, 'de> {
    type Error = UbjsonError;

    fn deserialize_any<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, UbjsonError> {
        let marker = self.marker()?;
        let input = self.input;
        match marker {
            b'Z' => visitor.visit_unit(),
            b'T' => visitor.visit_bool(true),
            b'F' => visitor.visit_bool(false),
            b'd' => visitor.visit_f32(f32::from_be_bytes(input.array()?)),
            b'D' => visitor.visit_f64(f64::from_be_bytes(input.array()?)),
            b'S' => visitor.visit_borrowed_str(input.string()?),
            b'[' | b'{' if input.depth >= MAX_DEPTH => {
                Err(UbjsonError("nesting is too deep".into()))
            }
            b'[' => {
                input.depth += 1;
                let (marker, remaining) = input.list_head()?;
                let items = ListItems { marker, remaining, input: &mut *input };
                let value = visitor.visit_seq(items)?;
                input.depth -= 1;
                Ok(value)
            }
            b'{' => {
                input.depth += 1;
                let value = visitor.visit_map(ObjectPairs { input: &mut *input })?;
                input.depth -= 1;
                Ok(value)
            }
            other => visitor.visit_i64(input.integer(other)?),
        }
    }

    /// Accepts floats only: an integer of one byte in the file would take four or eight bytes in
    /// memory.
    fn deserialize_f32<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, UbjsonError> {
        match self.marker()? {
            b'd' => visitor.visit_f32(f32::from_be_bytes(self.input.array()?)),
            b'D' => visitor.visit_f64(f64::from_be_bytes(self.input.array()?)),
            other => Err(unexpected_marker(other, "a float")),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, UbjsonError> {
        self.deserialize_f32(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, UbjsonError> {
        match self.input.peek() {
            Some(b'Z') if self.marker.is_none() => {
                self.input.byte()?;
                visitor.visit_none()
            }
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, UbjsonError> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The values of a list.
struct ListItems<'a, 'de> {
    /// The marker of the type of all values, if the list gives one.
    marker: Option<u8>,
    /// The number of values that follow, if the list gives their number; otherwise it ends with
    /// `]`.
    remaining: Option<u64>,
    input: &'a mut UbjsonBytes<'de>,
}

impl<'de> SeqAccess<'de> for ListItems<'_, 'de> {
    type Error = UbjsonError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, UbjsonError> {
        match &mut self.remaining {
            Some(0) => return Ok(None),
            Some(remaining) => *remaining -= 1,
            None if self.input.peek() == Some(b']') => {
                self.input.byte()?;
                return Ok(None);
            }
            None => {}
        }
        seed.deserialize(UbjsonValue { marker: self.marker, input: self.input }).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        // A hint only if each value has a fixed size: then `list_head` has checked that the bytes
        // are there.
        self.marker.and(self.remaining).and_then(|count| usize::try_from(count).ok())
    }
}

/// The keys and values of an object.
struct ObjectPairs<'a, 'de> {
    input: &'a mut UbjsonBytes<'de>,
}

impl<'de> MapAccess<'de> for ObjectPairs<'_, 'de> {
    type Error = UbjsonError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, UbjsonError> {
        match self.input.peek() {
            Some(b'}') => {
                self.input.byte()?;
                Ok(None)
            }
            Some(mark @ (b'$' | b'#')) => {
                Err(UbjsonError::custom(unexpected_marker(mark, "a key")))
            }
            _ => seed
                .deserialize(StrDeserializer::<UbjsonError>::new(self.input.string()?))
                .map(Some),
        }
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<T::Value, UbjsonError> {
        seed.deserialize(UbjsonValue { marker: None, input: self.input })
    }
}
