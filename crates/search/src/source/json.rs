//! A JSON object as named values: nested objects flattened as `outer.inner`, the last of equal
//! keys kept, nulls and empty lists left out. Shared by documents and queries.

use std::fmt;

use rankwright_data::{SourceLocation, WarningKind, Warnings, quote};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::cursor::Cursor;
use super::id;
use super::parts::keep_last_values;
use crate::document::Value;
use crate::error::SearchError;

/// Help for an object without an id.
const NO_ID_HELP: &str = "call the field of the id `id`, for instance with `jq -c '.id = .NAME'`";

/// A JSON value that keeps the order of keys and the digits of whole numbers of up to 64 bits.
enum Json {
    Null,
    Bool(bool),
    Whole(i128),
    Real(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

/// Builds a [`Json`].
struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Whole(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Whole(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Real(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Json::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        keep_last_values(&mut fields);
        Ok(Json::Object(fields))
    }
}

/// One line of a file as an object.
pub(crate) struct JsonRecord {
    fields: Vec<(String, Json)>,
}

impl JsonRecord {
    /// Parses the next line that is not blank; returns its number and the record.
    pub(crate) fn next(
        cursor: &mut Cursor,
        warnings: &mut Warnings,
    ) -> Option<Result<(u64, JsonRecord), SearchError>> {
        let (line, range) = cursor.next_nonblank_line()?;
        let text = warnings.text(cursor.slice(range), || cursor.location(line));
        Some(JsonRecord::parse(&text, || cursor.location(line)).map(|record| (line, record)))
    }

    /// Parses a line, which must be an object.
    fn parse(text: &str, location: impl Fn() -> SourceLocation) -> Result<JsonRecord, SearchError> {
        let expected = "one JSON object per line";
        let error = match serde_json::from_str(text) {
            Ok(Json::Object(fields)) => return Ok(JsonRecord { fields }),
            Ok(_) => SearchError::malformed(location(), quote(text.trim().as_bytes()), expected),
            Err(error) => {
                let column = error.column().max(1) as u64;
                let reason = error.to_string();
                let reason = reason.split(" at line ").next().unwrap_or_default();
                let found = format!("text that is not JSON ({reason})");
                SearchError::malformed(location().at_column(column), found, expected)
            }
        };
        let command = match text.trim() {
            // An object on several lines.
            "{" | "}" => "jq -c .",
            // A list of objects.
            text if text.starts_with('[') => "jq -c '.[]'",
            _ => return Err(error),
        };
        let help = format!("write one object per line, for instance with `{command}`");
        Err(error.with_help(help))
    }

    /// Removes and returns an id: a text or a whole number under one of these names.
    pub(crate) fn take_id(
        &mut self,
        names: &[&str],
        location: impl Fn() -> SourceLocation,
    ) -> Result<String, SearchError> {
        let Some(index) = id::find_name(names, self.fields.iter().map(|(name, _)| name.as_str()))
        else {
            let present: Vec<&str> = self.fields.iter().map(|(n, _)| n.as_str()).take(8).collect();
            let found = match present.is_empty() {
                true => "an object without fields".to_owned(),
                false => format!("no id among the fields {}", quote(present.join(", ").as_bytes())),
            };
            let expected = format!("one of the fields {}", names.join(", "));
            let error = SearchError::malformed(location(), found, expected);
            return Err(error.with_help(NO_ID_HELP));
        };
        let (name, value) = self.fields.remove(index);
        let text = match value {
            Json::Text(text) => text,
            Json::Whole(number) => number.to_string(),
            _ => {
                let found = format!("another kind of value in '{name}'");
                return Err(SearchError::malformed(location(), found, "a text or a whole number"));
            }
        };
        id::checked(text, location)
    }

    /// Removes and returns the first text under one of these names.
    pub(crate) fn take_text(&mut self, names: &[&str]) -> Option<String> {
        let position = |name: &str| {
            let is_named_text =
                |(field, value): &(String, Json)| field == name && matches!(value, Json::Text(_));
            self.fields.iter().position(is_named_text)
        };
        let index = names.iter().find_map(|name| position(name))?;
        match self.fields.remove(index) {
            (_, Json::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The fields that were not taken, flattened.
    pub(crate) fn into_fields(
        self,
        warnings: &mut Warnings,
        location: impl Fn() -> SourceLocation,
    ) -> Vec<(String, Value)> {
        let mut flat = Vec::with_capacity(self.fields.len());
        let mut skipped = Vec::new();
        for (name, value) in self.fields {
            flatten(name, value, &mut flat, &mut skipped);
        }
        for (name, count) in skipped {
            warnings.add(WarningKind::SkippedValues, count, || location().in_field(name));
        }
        keep_last_values(&mut flat);
        flat
    }
}

/// Adds a value as one field, or an object as several. `skipped` receives the names of fields with
/// values that cannot be kept, and the number of these values. The recursion is as deep as the
/// JSON, which serde_json limits to 128 levels.
fn flatten(
    name: String,
    value: Json,
    out: &mut Vec<(String, Value)>,
    skipped: &mut Vec<(String, u64)>,
) {
    let value = match value {
        Json::Null => return,
        Json::Bool(value) => Value::Number(f64::from(u8::from(value))),
        Json::Whole(number) => Value::Number(number as f64),
        Json::Real(number) => Value::Number(number),
        Json::Text(text) => Value::Text(text),
        Json::Object(fields) => {
            for (inner, value) in fields {
                flatten(format!("{name}.{inner}"), value, out, skipped);
            }
            return;
        }
        Json::List(items) => {
            let count = items.len();
            let texts: Vec<String> = items.into_iter().filter_map(item_text).collect();
            if texts.len() < count {
                skipped.push((name.clone(), (count - texts.len()) as u64));
            }
            if texts.is_empty() {
                return;
            }
            Value::Texts(texts)
        }
    };
    out.push((name, value));
}

/// The text of an item of a list; `None` if it cannot be kept.
fn item_text(item: Json) -> Option<String> {
    match item {
        Json::Text(text) => Some(text),
        Json::Whole(number) => Some(number.to_string()),
        Json::Real(number) => Some(number.to_string()),
        Json::Bool(value) => Some(u8::from(value).to_string()),
        Json::Null | Json::List(_) | Json::Object(_) => None,
    }
}
