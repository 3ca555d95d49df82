//! JSON lines: one object per row.
//!
//! Keys get their roles by name (see `roles`). Features are `"features": [0.1, 0.2]` (ids from 1),
//! `"features": {"bm25": 7.1}`, or any further key with a number. The first line fixes the
//! features; a later line may leave some out (they are then absent, which is 0 or missing by the
//! reader's option), but a key that the first line does not have is an error. `null` is missing.
//! Each value is kept as raw text until its role is known, so that numbers go straight to f32,
//! errors know their byte column, and nothing recurses at any depth of nesting.

#[cfg(test)]
mod tests;
// Writers index the rows and columns of the data set itself.
#[allow(clippy::indexing_slicing)]
mod write;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;

use rankwright_spec::words::counted;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::roles::Role;
use super::table::{
    CellProblem, Fields, Slot, TableBuilder, TableSchema, expected, feature_from_text, missing,
};
use super::{ReadOptions, Roles};
use crate::bytes::Input;
use crate::dataset::Dataset;
use crate::error::{DataError, ListedColumns, Remedy, SourceLocation, quote};
use crate::warnings::{WarningKind, Warnings};

pub(super) use write::write;

/// The key of a group of features.
const FEATURES: &str = "features";

/// The members of an object in their order, duplicates included.
struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((Key(key), value)) = map.next_entry()? {
                    members.push((key, value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// A string that is borrowed if it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrow;
        impl<'de> Visitor<'de> for Borrow {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Borrow)
    }
}

/// One line with its location.
struct JsonLine<'a> {
    file: &'a str,
    number: u64,
    text: &'a str,
}

impl<'a> JsonLine<'a> {
    fn location(&self) -> SourceLocation {
        SourceLocation::line(self.file, self.number)
    }

    /// The location of a part of the line.
    fn location_of(&self, part: &str) -> SourceLocation {
        let offset = (part.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize);
        match offset.filter(|offset| *offset <= self.text.len()) {
            Some(offset) => self.location().at_column(offset as u64 + 1),
            None => self.location(),
        }
    }

    /// Parses a part of the line as JSON.
    fn parse<T: Deserialize<'a>>(&self, part: &'a str, what: &str) -> Result<T, DataError> {
        serde_json::from_str(part).map_err(|error| {
            let at = part.get(error.column().saturating_sub(1)..).unwrap_or("");
            let location = if at.is_empty() { self.location() } else { self.location_of(at) };
            if error.is_eof() {
                return DataError::malformed(
                    location,
                    "the end of the line",
                    "the rest of its JSON",
                );
            }
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default().to_owned();
            DataError::malformed(location, format!("invalid JSON ({message})"), what)
        })
    }
}

/// Reads one data set from files whose lines have the same keys.
pub(super) fn read(
    inputs: &[Input],
    options: &ReadOptions,
    warnings: &mut Warnings,
) -> Result<Dataset, DataError> {
    let mut reader: Option<LineReader<'_>> = None;
    for input in inputs {
        let mut bytes: &[u8] = &input.bytes;
        if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
            warnings.add(WarningKind::ByteOrderMark, 1, || SourceLocation::file(&input.name));
            bytes = rest;
        }
        for (number, text) in (1..).zip(bytes.split_inclusive(|&byte| byte == b'\n')) {
            let location = || SourceLocation::line(&input.name, number);
            if text.trim_ascii().is_empty() {
                warnings.add(WarningKind::BlankLines, 1, location);
                continue;
            }
            let text = std::str::from_utf8(text).map_err(|error| {
                let bad = text.get(error.valid_up_to()..).unwrap_or(&[]);
                let bad = bad.get(..error.error_len().unwrap_or(bad.len())).unwrap_or(bad);
                let location = location().at_column(error.valid_up_to() as u64 + 1);
                DataError::malformed(location, format!("bytes {}", quote(bad)), "UTF-8 text")
            })?;
            let line = JsonLine { file: &input.name, number, text: text.trim() };
            if !line.text.starts_with('{') {
                let expected = "one JSON object per line";
                return Err(DataError::malformed(line.location(), json_kind(line.text), expected));
            }
            let Members(members) = line.parse(line.text, "one JSON object per line")?;
            let mut lines = match reader.take() {
                Some(lines) => lines,
                None => LineReader::new(&line, &members, options)?,
            };
            lines.row(&line, members)?;
            reader = Some(lines);
        }
    }
    match reader {
        Some(reader) => reader.table.finish(warnings),
        None => {
            let file = inputs.first().map_or_else(String::new, |input| input.name.clone());
            Err(DataError::Empty { file, what: "rows" })
        }
    }
}

/// The layout of the features in the first line.
enum FeatureLayout {
    /// As keys of the line.
    None,
    /// Under `features`, by name.
    Object(HashMap<String, Slot>),
    /// Under `features`, by number.
    Array(Vec<Slot>),
}

/// Reads lines into a table; the first line fixes the columns.
struct LineReader<'o> {
    table: TableBuilder<'o>,
    absent: f32,
    keys: HashMap<String, Slot>,
    group: FeatureLayout,
    /// The row in which each feature last occurred, from 1.
    last_row: Vec<u64>,
    row: u64,
}

impl<'o> LineReader<'o> {
    fn new<'a>(
        line: &JsonLine<'a>,
        members: &[(Cow<'a, str>, &'a RawValue)],
        options: &'o ReadOptions,
    ) -> Result<LineReader<'o>, DataError> {
        let mut names: Vec<String> = Vec::new();
        let mut known: HashSet<&str> = HashSet::new();
        let mut grouped = None;
        for (key, value) in members {
            let text = value.get();
            if key == FEATURES && text.starts_with(['{', '[']) {
                grouped = Some(text);
            } else if !known.insert(key) {
                return Err(duplicate_key(line.location_of(text), key));
            } else {
                names.push(key.to_string());
            }
        }
        // An ignored key may be missing from the first line, or be among the features.
        for ignored in options.roles.columns(Role::Ignore) {
            if known.insert(ignored) {
                names.push(ignored.to_owned());
            }
        }
        let mut schema = TableSchema::new(line.file, &names, &options.roles)?;
        let keys: HashMap<String, Slot> = schema.columns().iter().cloned().collect();
        let group = match grouped {
            Some(text) => FeatureLayout::new(line, text, &keys, &mut schema, &options.roles)?,
            None => FeatureLayout::None,
        };
        let last_row = vec![0; schema.features().len()];
        let (absent, table) = (options.absent.value(), TableBuilder::new(schema, options));
        Ok(LineReader { table, absent, keys, group, last_row, row: 0 })
    }

    fn row<'a>(
        &mut self,
        line: &JsonLine<'a>,
        members: Vec<(Cow<'a, str>, &'a RawValue)>,
    ) -> Result<(), DataError> {
        self.row += 1;
        self.table.add_rows(line.file, 1, self.absent)?;
        let mut fields = Fields::default();
        let mut seen: Vec<Role> = Vec::new();
        for (key, value) in members {
            let text = value.get();
            match self.keys.get(&*key).copied() {
                Some(Slot::Feature(column)) => self.feature(line, &key, column, text)?,
                Some(Slot::Role(Role::Ignore)) => {}
                Some(Slot::Role(role)) => {
                    if seen.contains(&role) {
                        return Err(duplicate_key(line.location_of(text), &key));
                    }
                    seen.push(role);
                    set_role(&mut fields, role, text)
                        .map_err(|problem| problem.at(line.location_of(text).in_field(&*key)))?;
                }
                None if key == FEATURES => self.group(line, text)?,
                None => return Err(self.unknown(line.location_of(text), &key)),
            }
        }
        self.table.end_row(fields, || line.location())
    }

    /// Reads the features under `features`.
    fn group<'a>(&mut self, line: &JsonLine<'a>, text: &'a str) -> Result<(), DataError> {
        let location = || line.location_of(text).in_field(FEATURES);
        let wrong_kind =
            |expected: &str| Err(DataError::malformed(location(), json_kind(text), expected));
        let mut found: Vec<(Cow<'a, str>, Slot, &'a str)> = Vec::new();
        match &self.group {
            FeatureLayout::None => return Err(self.unknown(line.location_of(text), FEATURES)),
            FeatureLayout::Object(_) if !text.starts_with('{') => {
                return wrong_kind("an object with features, as in the first line");
            }
            FeatureLayout::Object(slots) => {
                let Members(members) = line.parse(text, "an object with features")?;
                for (name, value) in members {
                    match slots.get(&*name) {
                        Some(slot) => found.push((name, *slot, value.get())),
                        None => return Err(self.unknown(line.location_of(value.get()), &name)),
                    }
                }
            }
            FeatureLayout::Array(_) if !text.starts_with('[') => {
                return wrong_kind("an array of features, as in the first line");
            }
            FeatureLayout::Array(slots) => {
                let values: Vec<&RawValue> = line.parse(text, "an array of features")?;
                if values.len() != slots.len() {
                    let expected = format!("{}, as many as in the first line", slots.len());
                    let found = counted(values.len(), "feature");
                    return Err(DataError::malformed(location(), found, expected));
                }
                for (number, (value, slot)) in values.into_iter().zip(slots).enumerate() {
                    found.push(((number + 1).to_string().into(), *slot, value.get()));
                }
            }
        }
        for (name, slot, value) in found {
            if let Slot::Feature(column) = slot {
                self.feature(line, &name, column, value)?;
            }
        }
        Ok(())
    }

    fn feature(
        &mut self,
        line: &JsonLine<'_>,
        name: &str,
        column: usize,
        text: &str,
    ) -> Result<(), DataError> {
        let location = || line.location_of(text).in_field(name);
        let value = feature(text).map_err(|problem| problem.at(location()))?;
        match self.last_row.get_mut(column) {
            Some(last) if *last == self.row => {
                return Err(duplicate_key(line.location_of(text), name));
            }
            Some(last) => *last = self.row,
            None => {}
        }
        self.table.set_last(column, value);
        Ok(())
    }

    fn unknown(&self, location: SourceLocation, key: &str) -> DataError {
        let schema = self.table.schema();
        let mut known: Vec<String> =
            schema.columns().iter().map(|(name, _)| name.clone()).collect();
        if let FeatureLayout::Object(nested) = &self.group {
            known.extend(schema.features().iter().filter(|f| nested.contains_key(*f)).cloned());
        }
        let expected = format!("a key of the first line: {}", ListedColumns(&known));
        DataError::malformed(location, format!("the key {}", quote(key.as_bytes())), expected)
            .with_help(Remedy::IgnoreColumn { column: key.to_owned() })
    }
}

impl FeatureLayout {
    /// Gives the features under `features` their columns.
    fn new<'a>(
        line: &JsonLine<'a>,
        text: &'a str,
        keys: &HashMap<String, Slot>,
        schema: &mut TableSchema,
        roles: &Roles,
    ) -> Result<FeatureLayout, DataError> {
        let is_array = text.starts_with('[');
        let names: Vec<String> = if is_array {
            let values: Vec<&RawValue> = line.parse(text, "an array of features")?;
            (1..=values.len()).map(|id| id.to_string()).collect()
        } else {
            let Members(members) = line.parse(text, "an object with features")?;
            members.into_iter().map(|(name, _)| name.into_owned()).collect()
        };
        let mut slots = Vec::with_capacity(names.len());
        let mut by_name = HashMap::new();
        for name in names {
            if name.trim().is_empty() {
                let found = "a feature without a name";
                return Err(DataError::malformed(line.location_of(text), found, "a name"));
            }
            let slot = match roles.role(&name) {
                Some(Role::Ignore) => Slot::Role(Role::Ignore),
                _ => schema.add_feature(name.clone()),
            };
            slots.push(slot);
            let is_key = matches!(keys.get(&name), Some(Slot::Feature(_)));
            if is_key || by_name.insert(name.clone(), slot).is_some() {
                return Err(duplicate_key(line.location_of(text), &name));
            }
        }
        Ok(if is_array { FeatureLayout::Array(slots) } else { FeatureLayout::Object(by_name) })
    }
}

/// The error of a key that occurs twice in one object.
fn duplicate_key(location: SourceLocation, key: &str) -> DataError {
    let found = format!("the key {} a second time", quote(key.as_bytes()));
    DataError::malformed(location, found, "each key once")
}

/// A name for the kind of a JSON value.
fn json_kind(text: &str) -> String {
    match text.as_bytes().first() {
        Some(b'{') => "an object".into(),
        Some(b'[') => "an array".into(),
        Some(b'"') => format!("the text {}", quote(text.trim_matches('"').as_bytes())),
        _ => quote(text.as_bytes()),
    }
}

fn feature(text: &str) -> Result<f32, CellProblem> {
    match text {
        "null" => Ok(f32::NAN),
        text if text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
            feature_from_text(text.as_bytes()).map(|read| read.value)
        }
        text => Err(CellProblem::not_a_feature(json_kind(text), "a number or null")),
    }
}

fn set_role<'a>(fields: &mut Fields<'a>, role: Role, text: &'a str) -> Result<(), CellProblem> {
    let is_id = matches!(role, Role::Query | Role::Docid);
    match text.as_bytes().first() {
        Some(b'n') if role == Role::Docid => Ok(()),
        Some(b'n') => Err(missing(role)),
        Some(b'"') if is_id => match serde_json::from_str::<Key<'a>>(text) {
            Ok(Key(id)) => fields.set_text(role, id),
            Err(_) => Err(CellProblem::new(json_kind(text), "a text with valid escapes")),
        },
        // An id such as 7.0 is the same as 7; one without a fraction may have any length.
        Some(b'-' | b'0'..=b'9') if is_id && text.contains(['.', 'e', 'E']) => {
            match fast_float2::parse::<f64, _>(text) {
                Ok(value) if value.is_finite() => fields.set_number(role, value),
                _ => Err(CellProblem::new(quote(text.as_bytes()), expected(role))),
            }
        }
        Some(b'-' | b'0'..=b'9') => fields.set_text(role, text.into()),
        _ => Err(CellProblem::new(json_kind(text), expected(role))),
    }
}
