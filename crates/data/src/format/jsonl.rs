//! JSON lines: one object per row.
//!
//! Keys get their roles by name and content (see `table`). Features are `"features": [0.1, 0.2]`
//! (ids from 1), `"features": {"bm25": 7.1}`, or any further key. The columns are the keys of all
//! lines, those of the first line first. A line may leave some out: a number is then absent, which
//! is 0 or missing by the reader's option, and a category or a time is missing. `null` is missing.
//! Texts, `true` and `false` are cells of text, as in CSV.
//!
//! Files are read with the keys of the first line; only if a later line has others, the keys of all
//! lines are collected and the files read again. They are also read again if no line has a feature
//! of earlier data, such as that of a model: this feature is then absent in all rows.
//!
//! Files are split into chunks at line ends, which are read in parallel. `fast.rs` reads lines
//! whose keys are those of the first line, in the same order, straight into their rows; every other
//! line is read here, by serde_json: this is the reference reader, and it reports errors. Each
//! value is kept as raw text until its role is known, so that numbers go straight to f32, errors
//! know their byte column, and deep nesting causes no recursion.

mod fast;
#[cfg(test)]
mod tests;
// Writers index the rows and columns of the data set itself.
#[allow(clippy::indexing_slicing)]
mod write;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use rankwright_spec::words::counted;
use rayon::prelude::*;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use self::fast::FastLines;
use super::ReadOptions;
use super::roles::Role;
use super::table::{
    CellProblem, ColumnContent, RoleValues, RowPart, Slot, SourceColumn, TableRead, TableSchema,
    TableSource, TypedValues, expected, join_parts, missing, new_matrix, read_table,
};
use crate::bytes::Input;
use crate::chunks;
use crate::dataset::{Absent, Dataset};
use crate::error::{DataError, ListedColumns, Remedy, SourceLocation, quote};
use crate::names::FeatureNames;
use crate::table_columns::TableColumns;
use crate::warnings::{WarningKind, Warnings};

pub(super) use write::write;

/// The key whose value is an array or object of features.
const FEATURES: &str = "features";

/// The members of an object: keys, and values as raw JSON text.
type RawMembers<'a> = Vec<(Cow<'a, str>, &'a RawValue)>;

/// The members of an object in their order, duplicates included.
struct Members<'a>(RawMembers<'a>);

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
) -> Result<(Dataset, TableColumns), DataError> {
    let mut files = Vec::with_capacity(inputs.len());
    for input in inputs {
        let mut bytes: &[u8] = &input.bytes;
        if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
            warnings.add(WarningKind::ByteOrderMark, 1, || SourceLocation::file(&input.name));
            bytes = rest;
        }
        files.push((input.name.as_str(), bytes));
    }
    let mut table = JsonTable::open(files, options)?;
    let mut later = LaterKeys::default();
    let mut found = Warnings::default();
    let read = table.read_all(&mut later, options, &mut found)?;
    let absent = absent_columns(&read.0, options);
    if absent.is_empty() {
        warnings.merge(found);
        return Ok(read);
    }
    let keys = match table.layout.features {
        FeatureLayout::Object(..) => &mut later.nested,
        FeatureLayout::None | FeatureLayout::Array(_) => &mut later.top_level,
    };
    keys.extend(KeyList { keys: absent.clone(), known: HashSet::new() });
    table.layout = layout_of(&table.files, &later, options)?;
    let (data, columns) = read_table(&table, options, warnings)?;
    let kind = WarningKind::AbsentInAllLines { is_zero: options.absent == Absent::Zero };
    let is_feature =
        |name: &&String| columns.column(name).is_some_and(|column| column.role == Role::Feature);
    for column in absent.iter().filter(is_feature) {
        warnings.add_column(kind, column.clone(), || SourceLocation::file(table.file()));
    }
    Ok((data, columns))
}

/// The columns of the features of earlier data that no line has; none if the data has none of
/// these features.
fn absent_columns(data: &Dataset, options: &ReadOptions) -> Vec<String> {
    let (Some(FeatureNames::Named(expected)), FeatureNames::Named(found)) =
        (&options.features, &data.features)
    else {
        return Vec::new();
    };
    let found: HashSet<&str> = found.iter().map(String::as_str).collect();
    let is_absent = |name: &&String| !found.contains(name.as_str());
    let absent: Vec<&String> = expected.iter().filter(is_absent).collect();
    if absent.is_empty() || absent.len() == expected.len() {
        return Vec::new();
    }
    // A point in time has several features, whose names are not that of the column.
    let earlier = options.columns.iter().flat_map(|columns| columns.iter());
    let column_of: HashMap<String, &str> = earlier
        .flat_map(|column| column.features().into_iter().map(|name| (name, column.name.as_str())))
        .collect();
    let mut known = HashSet::new();
    let columns = absent.into_iter().map(|name| column_of.get(name).copied().unwrap_or(name));
    // The name of a column that earlier data does not tell about may mean another role.
    let is_known =
        |column: &str| options.columns.as_ref().is_some_and(|c| c.column(column).is_some());
    columns
        .filter(|column| is_known(column) || Role::guess(column).is_none())
        .filter(|column| known.insert(*column))
        .map(str::to_owned)
        .collect()
}

/// The most keys that later lines may add: a file whose lines all have keys of their own is no
/// table.
const MAX_LATER_KEYS: usize = 4096;

/// The keys that the first line does not have.
#[derive(Debug, Default)]
struct LaterKeys {
    /// Keys of the line.
    top_level: KeyList,
    /// Keys of the object under `features`.
    nested: KeyList,
}

impl LaterKeys {
    fn is_empty(&self) -> bool {
        self.top_level.keys.is_empty() && self.nested.keys.is_empty()
    }

    /// Adds the keys of a line that the layout does not have.
    fn add(&mut self, layout: &LineLayout, line: &JsonLine<'_>) -> Result<(), DataError> {
        for (key, value) in members(line)? {
            let text = value.get();
            match (&layout.features, text.as_bytes().first()) {
                _ if layout.keys.contains_key(&*key) => {}
                (FeatureLayout::Object(known, _), Some(b'{')) if key == FEATURES => {
                    let Members(members) = line.parse(text, "an object with features")?;
                    let new = members.into_iter().filter(|(name, _)| !known.contains_key(&**name));
                    new.into_iter().try_for_each(|(name, _)| self.nested.add(&name, line))?;
                }
                // Features in an array, or where the first line has none, cannot be added.
                (_, Some(b'{' | b'[')) if key == FEATURES => {}
                _ => self.top_level.add(&key, line)?,
            }
        }
        Ok(())
    }
}

/// Different keys in the order in which they occur.
#[derive(Debug, Default)]
struct KeyList {
    keys: Vec<String>,
    known: HashSet<String>,
}

impl KeyList {
    /// Adds a key of a line.
    fn add(&mut self, key: &str, line: &JsonLine<'_>) -> Result<(), DataError> {
        if self.known.contains(key) {
            return Ok(());
        }
        if self.keys.len() >= MAX_LATER_KEYS {
            let found = format!("the key {}", quote(key.as_bytes()));
            let expected =
                format!("at most {MAX_LATER_KEYS} keys that the first line does not have");
            return Err(DataError::malformed(line.location(), found, expected));
        }
        self.known.insert(key.to_owned());
        self.keys.push(key.to_owned());
        Ok(())
    }

    /// Adds the keys of later lines.
    fn extend(&mut self, later: KeyList) {
        let new = later.keys.into_iter().filter(|key| self.known.insert(key.clone()));
        self.keys.extend(new);
    }
}

/// The lines of one or several files.
struct JsonTable<'a> {
    /// Name and content of each file.
    files: Vec<(&'a str, &'a [u8])>,
    layout: LineLayout,
    chunks: Vec<LineChunk>,
}

/// Adjacent whole lines of one file.
struct LineChunk {
    /// The number of the file, from 0.
    file: usize,
    /// The range of the lines in the content of the file.
    bytes: Range<usize>,
    /// Line number of the first line, from 1.
    first_line: u64,
    rows: usize,
}

/// The error of lines that are not in their file.
const NO_SUCH_CHUNK: DataError =
    DataError::Internal { invariant: "chunks of lines lie within their files" };

/// The columns of the lines, fixed by the first line.
struct LineLayout {
    columns: Vec<SourceColumn>,
    /// The number of the column of each key of the line.
    keys: HashMap<String, usize>,
    /// The keys of the first line in their order, with their columns; `None` for `features`.
    key_order: Vec<(String, Option<usize>)>,
    features: FeatureLayout,
    /// Whether there are columns that the first line does not have.
    has_later_keys: bool,
    /// Whether a line was found to have a key that the layout does not have.
    has_unknown_key: AtomicBool,
}

/// The layout of the features under the key `features`.
enum FeatureLayout {
    /// There is no such key: features are keys of the line.
    None,
    /// An object: the column of each name, and the same in the order of the first line.
    Object(HashMap<String, usize>, Vec<(String, usize)>),
    /// An array: the column of each element.
    Array(Vec<usize>),
}

/// The text of a line, without line end and whitespace around it; `None` for a blank line.
fn line_text<'a>(file: &str, number: u64, text: &'a [u8]) -> Result<Option<&'a str>, DataError> {
    if text.trim_ascii().is_empty() {
        return Ok(None);
    }
    let text = std::str::from_utf8(text).map_err(|error| {
        let bad = text.get(error.valid_up_to()..).unwrap_or(&[]);
        let bad = bad.get(..error.error_len().unwrap_or(bad.len())).unwrap_or(bad);
        let location = SourceLocation::line(file, number);
        let location = location.at_column(error.valid_up_to() as u64 + 1);
        DataError::malformed(location, format!("bytes {}", quote(bad)), "UTF-8 text")
    })?;
    Ok(Some(text.trim()))
}

/// The members of a line.
fn members<'a>(line: &JsonLine<'a>) -> Result<RawMembers<'a>, DataError> {
    if !line.text.starts_with('{') {
        let expected = "one JSON object per line";
        return Err(DataError::malformed(line.location(), json_kind(line.text), expected));
    }
    let Members(members) = line.parse(line.text, "one JSON object per line")?;
    Ok(members)
}

/// The layout of the first line of all files, with the keys that later lines add.
fn layout_of(
    files: &[(&str, &[u8])],
    later: &LaterKeys,
    options: &ReadOptions,
) -> Result<LineLayout, DataError> {
    for (name, bytes) in files {
        for (number, text) in (1..).zip(bytes.split_inclusive(|&byte| byte == b'\n')) {
            if let Some(text) = line_text(name, number, text)? {
                let line = JsonLine { file: name, number, text };
                return LineLayout::new(&line, &members(&line)?, later, options);
            }
        }
    }
    let file = files.first().map_or("", |(name, _)| name);
    Err(DataError::Empty { file: file.to_owned(), what: "rows" })
}

impl<'a> JsonTable<'a> {
    /// Reads the first line, which fixes the columns, and splits all files into chunks.
    fn open(
        files: Vec<(&'a str, &'a [u8])>,
        options: &ReadOptions,
    ) -> Result<JsonTable<'a>, DataError> {
        let layout = layout_of(&files, &LaterKeys::default(), options)?;
        let ranges: Vec<(usize, Range<usize>, u64)> = files
            .iter()
            .enumerate()
            .flat_map(|(file, (_, bytes))| {
                let ranges = chunks::numbered_line_chunks(bytes, 0).into_iter();
                ranges.map(move |(range, first_line)| (file, range, first_line))
            })
            .collect();
        let count = |(file, bytes, first_line): (usize, Range<usize>, u64)| {
            let text = files.get(file).and_then(|(_, text)| text.get(bytes.clone()));
            let lines = text.ok_or(NO_SUCH_CHUNK)?.split_inclusive(|&byte| byte == b'\n');
            let is_row = |line: &&[u8]| line.starts_with(b"{") || !line.trim_ascii().is_empty();
            Ok(LineChunk { file, bytes, first_line, rows: lines.filter(is_row).count() })
        };
        let chunks = ranges.into_par_iter().map(count).collect::<Result<_, DataError>>()?;
        Ok(JsonTable { files, layout, chunks })
    }

    /// Reads all lines, if need be again, with the keys of all lines; `later` gets the keys that the
    /// first line does not have.
    fn read_all(
        &mut self,
        later: &mut LaterKeys,
        options: &ReadOptions,
        warnings: &mut Warnings,
    ) -> Result<(Dataset, TableColumns), DataError> {
        let error = match read_table(self, options, warnings) {
            Ok(read) => return Ok(read),
            Err(error) => error,
        };
        // A role may be that of a column which the first line does not have.
        let may_have_later_keys = matches!(error, DataError::Columns { .. });
        if !may_have_later_keys && !self.layout.has_unknown_key.load(Ordering::Relaxed) {
            return Err(error);
        }
        *later = self.later_keys()?;
        if later.is_empty() {
            return Err(error);
        }
        self.layout = layout_of(&self.files, later, options)?;
        read_table(self, options, warnings)
    }

    /// The keys of all lines that the first line does not have.
    fn later_keys(&self) -> Result<LaterKeys, DataError> {
        let parts: Vec<Result<LaterKeys, DataError>> =
            self.chunks.par_iter().map(|chunk| self.later_keys_of(chunk)).collect();
        let mut keys = LaterKeys::default();
        for part in parts {
            let part = part?;
            keys.top_level.extend(part.top_level);
            keys.nested.extend(part.nested);
        }
        Ok(keys)
    }

    fn later_keys_of(&self, chunk: &LineChunk) -> Result<LaterKeys, DataError> {
        let (file, _) = self.files.get(chunk.file).ok_or(NO_SUCH_CHUNK)?;
        let mut keys = LaterKeys::default();
        self.for_each_line(chunk, &mut Warnings::default(), |text, number| {
            if let Some(text) = line_text(file, number, text)? {
                keys.add(&self.layout, &JsonLine { file, number, text })?;
            }
            Ok(true)
        })?;
        Ok(keys)
    }

    /// The features of a row before its values are read: absent numbers, and missing categories and
    /// times.
    fn absent_row(&self, schema: &TableSchema, absent: f32) -> Vec<f32> {
        let mut row = vec![absent; schema.features().len()];
        for column in 0..self.layout.columns.len() {
            let slot = schema.slot_of(column);
            let (first, count) = schema.features_of(slot);
            if matches!(slot, Slot::Category { .. } | Slot::Time { .. }) {
                row.iter_mut().skip(first).take(count).for_each(|value| *value = f32::NAN);
            }
        }
        row
    }

    /// Calls `handle` with the text and the number of each line of a chunk that is not blank, until
    /// it returns `false`; adds a warning for each blank line.
    fn for_each_line(
        &self,
        chunk: &LineChunk,
        warnings: &mut Warnings,
        mut handle: impl FnMut(&[u8], u64) -> Result<bool, DataError>,
    ) -> Result<(), DataError> {
        let (name, text) = self.files.get(chunk.file).ok_or(NO_SUCH_CHUNK)?;
        let mut rest = text.get(chunk.bytes.clone()).ok_or(NO_SUCH_CHUNK)?;
        let mut number = chunk.first_line;
        while !rest.is_empty() {
            let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            let (line, after) = rest.split_at(length);
            match line.starts_with(b"{") || !line.trim_ascii().is_empty() {
                true => {
                    if !handle(line, number)? {
                        return Ok(());
                    }
                }
                false => {
                    warnings
                        .add(WarningKind::BlankLines, 1, || SourceLocation::line(*name, number));
                }
            }
            (rest, number) = (after, number + 1);
        }
        Ok(())
    }

    /// Counts the cells of some columns in the first `rows` rows of a chunk.
    fn survey_chunk(
        &self,
        chunk: &LineChunk,
        columns: &[usize],
        rows: usize,
    ) -> Result<Vec<ColumnContent>, DataError> {
        let (file, _) = self.files.get(chunk.file).ok_or(NO_SUCH_CHUNK)?;
        let index_of_column: HashMap<usize, usize> =
            columns.iter().enumerate().map(|(index, column)| (*column, index)).collect();
        let mut contents = vec![ColumnContent::default(); columns.len()];
        // Whether the current line has each column.
        let mut seen = vec![false; columns.len()];
        let mut rows_left = rows;
        self.for_each_line(chunk, &mut Warnings::default(), |text, number| {
            if rows_left == 0 {
                return Ok(false);
            }
            rows_left -= 1;
            let Some(text) = line_text(file, number, text)? else { return Ok(true) };
            let line = JsonLine { file, number, text };
            seen.fill(false);
            self.layout.for_each_cell(&line, members(&line)?, |_, column, value| {
                if let Some(&index) = index_of_column.get(&column)
                    && let Some(content) = contents.get_mut(index)
                {
                    add_cell(content, value, || line.location_of(value));
                    if let Some(seen) = seen.get_mut(index) {
                        *seen = true;
                    }
                }
                Ok(())
            })?;
            for (content, _) in contents.iter_mut().zip(&seen).filter(|(_, seen)| !**seen) {
                content.add_missing();
            }
            Ok(true)
        })?;
        Ok(contents)
    }

    /// Reads the lines of a chunk; `rows` are its rows of the matrix.
    fn read_chunk(
        &self,
        chunk: &LineChunk,
        schema: &TableSchema,
        fast: Option<&FastLines>,
        absent_row: &[f32],
        rows: &mut [f32],
    ) -> Result<RowPart, DataError> {
        let file = self.files.get(chunk.file).map_or("", |(name, _)| name);
        let width = schema.features().len();
        let (mut part, mut warnings) = (RowPart::default(), Warnings::default());
        let mut last_row = vec![0; self.layout.columns.len()];
        self.for_each_line(chunk, &mut warnings, |text, number| {
            // There are no more rows than were counted: both passes look at the same lines.
            let row = rows.get_mut(part.rows * width..(part.rows + 1) * width).unwrap_or(&mut []);
            let location = || SourceLocation::line(file, number);
            if self.layout.has_later_keys && row.len() == width {
                row.copy_from_slice(absent_row);
            }
            if let Some(fast) = fast
                && let Some(role_values) = fast.line(text, schema, row, &mut part, location)
                && part.end_row(schema, role_values, location).is_ok()
            {
                return Ok(true);
            }
            let Some(text) = line_text(file, number, text)? else { return Ok(true) };
            let line = JsonLine { file, number, text };
            if row.len() == width {
                row.copy_from_slice(absent_row);
            }
            let reader = LineReader { layout: &self.layout, schema };
            let role_values = reader.read_row(&line, &mut last_row, row, &mut part)?;
            part.end_row(schema, role_values, location)?;
            Ok(true)
        })?;
        warnings.merge(part.warnings);
        part.warnings = warnings;
        Ok(part)
    }

    /// Reads all lines, with the fast reader where it is given and can read the line.
    fn read_with(
        &self,
        schema: &TableSchema,
        fast: Option<&FastLines>,
        options: &ReadOptions,
        warnings: &mut Warnings,
    ) -> Result<TableRead, DataError> {
        let rows = self.chunks.iter().map(|chunk| chunk.rows).sum();
        let mut matrix = new_matrix(schema, rows, options)?;
        let mut rest = matrix.values_mut();
        let mut tasks = Vec::with_capacity(self.chunks.len());
        for chunk in &self.chunks {
            let (rows, after) = rest.split_at_mut(chunk.rows * schema.features().len());
            tasks.push((chunk, rows));
            rest = after;
        }
        let absent_row = self.absent_row(schema, options.absent.value());
        let parts: Vec<Result<RowPart, DataError>> = tasks
            .into_par_iter()
            .map(|(chunk, rows)| self.read_chunk(chunk, schema, fast, &absent_row, rows))
            .collect();
        // Returns the first error in file order, whichever thread finds an error first.
        let parts = parts.into_iter().collect::<Result<Vec<_>, _>>()?;
        join_parts(schema, matrix, parts, options.absent, warnings)
    }
}

impl TableSource for JsonTable<'_> {
    fn file(&self) -> &str {
        self.files.first().map_or("", |(name, _)| name)
    }

    fn columns(&self) -> &[SourceColumn] {
        &self.layout.columns
    }

    fn has_text_type(&self) -> bool {
        true
    }

    fn survey(
        &self,
        columns: &[usize],
        rows: Option<usize>,
    ) -> Result<Vec<ColumnContent>, DataError> {
        if let (Some(rows), Some(first)) = (rows, self.chunks.iter().find(|c| c.rows > 0)) {
            return self.survey_chunk(first, columns, rows);
        }
        let parts: Vec<Result<Vec<ColumnContent>, DataError>> = self
            .chunks
            .par_iter()
            .map(|chunk| self.survey_chunk(chunk, columns, usize::MAX))
            .collect();
        let mut contents = vec![ColumnContent::default(); columns.len()];
        for part in parts {
            for (content, of_part) in contents.iter_mut().zip(part?) {
                content.merge(of_part);
            }
        }
        Ok(contents)
    }

    fn read(
        &self,
        schema: TableSchema,
        options: &ReadOptions,
        warnings: &mut Warnings,
    ) -> Result<TableRead, DataError> {
        let fast = FastLines::new(&self.layout, &schema);
        self.read_with(&schema, Some(&fast), options, warnings)
    }
}

/// Counts a value as a cell of text.
fn add_cell(content: &mut ColumnContent, value: &str, location: impl Fn() -> SourceLocation) {
    match (text_of(value), value.as_bytes().first()) {
        (_, Some(b'{')) => content.typed = Some(TypedValues::Other("object".to_owned())),
        (_, Some(b'[')) => content.typed = Some(TypedValues::Other("array".to_owned())),
        (Some(text), _) => content.add(text.as_bytes(), location),
        (None, _) => content.add_missing(),
    }
}

/// The text of a single value; `None` for `null`, and for texts with invalid escapes.
fn text_of(value: &str) -> Option<Cow<'_, str>> {
    match value.as_bytes().first() {
        Some(b'n') => None,
        Some(b'"') => serde_json::from_str::<Key<'_>>(value).ok().map(|Key(text)| text),
        _ => Some(Cow::Borrowed(value)),
    }
}

impl LineLayout {
    /// The columns of the first line, with its members, and of the keys that later lines add.
    fn new<'a>(
        line: &JsonLine<'a>,
        members: &RawMembers<'a>,
        later: &LaterKeys,
        options: &ReadOptions,
    ) -> Result<LineLayout, DataError> {
        let (mut columns, mut key_order) = (Vec::new(), Vec::new());
        let mut known: HashSet<&str> = HashSet::new();
        let mut features_text = None;
        for (key, value) in members {
            let text = value.get();
            if key == FEATURES && text.starts_with(['{', '[']) && features_text.is_none() {
                features_text = Some(text);
                key_order.push((FEATURES.to_owned(), None));
            } else if !known.insert(key) {
                return Err(duplicate_key(line.location_of(text), key));
            } else {
                key_order.push((key.to_string(), Some(columns.len())));
                columns.push(SourceColumn::new(key.as_ref()));
            }
        }
        // A column that is left out may be missing from the first line, or be among the features.
        let earlier = options.columns.iter().flat_map(|columns| columns.iter());
        let earlier = earlier.filter(|column| column.role == Role::Ignore);
        let ignored = options.roles.columns(Role::Ignore).map(str::to_owned);
        let ignored: Vec<String> = ignored.chain(earlier.map(|c| c.name.clone())).collect();
        let mut nested: Vec<String> = match features_text {
            Some(text) => FeatureLayout::names(line, text)?,
            None => Vec::new(),
        };
        let nested_in_first = nested.len();
        nested.extend_from_slice(&later.nested.keys);
        for name in ignored.iter().chain(&later.top_level.keys) {
            if known.insert(name) && !nested.contains(name) {
                columns.push(SourceColumn::new(name));
            }
        }
        let keys: HashMap<String, usize> = columns
            .iter()
            .enumerate()
            .map(|(number, column)| (column.name.clone(), number))
            .collect();
        let mut features = match features_text {
            Some(text) => FeatureLayout::new(line, text, nested, &keys, &ignored, &mut columns)?,
            None => FeatureLayout::None,
        };
        if let FeatureLayout::Object(_, order) = &mut features {
            order.truncate(nested_in_first);
        }
        let (has_later_keys, has_unknown_key) = (!later.is_empty(), AtomicBool::new(false));
        Ok(LineLayout { columns, keys, key_order, features, has_later_keys, has_unknown_key })
    }

    /// Calls `handle` with the name, the column and the value of each cell of a line.
    fn for_each_cell<'a>(
        &self,
        line: &JsonLine<'a>,
        members: RawMembers<'a>,
        mut handle: impl FnMut(Cow<'a, str>, usize, &'a str) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        for (key, value) in members {
            let text = value.get();
            match self.keys.get(&*key) {
                Some(column) => handle(key, *column, text)?,
                None if key == FEATURES => self.for_each_feature(line, text, &mut handle)?,
                None => return Err(self.unknown_key(line.location_of(text), &key)),
            }
        }
        Ok(())
    }

    /// Like `for_each_cell`, for the features under the key `features`.
    fn for_each_feature<'a>(
        &self,
        line: &JsonLine<'a>,
        text: &'a str,
        handle: &mut impl FnMut(Cow<'a, str>, usize, &'a str) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let location = || line.location_of(text).in_field(FEATURES);
        let wrong_kind =
            |expected: &str| Err(DataError::malformed(location(), json_kind(text), expected));
        match &self.features {
            FeatureLayout::None => Err(self.unknown_key(line.location_of(text), FEATURES)),
            FeatureLayout::Object(..) if !text.starts_with('{') => {
                wrong_kind("an object with features, as in the first line")
            }
            FeatureLayout::Object(columns, _) => {
                let Members(members) = line.parse(text, "an object with features")?;
                members.into_iter().try_for_each(|(name, value)| match columns.get(&*name) {
                    Some(column) => handle(name, *column, value.get()),
                    None => Err(self.unknown_key(line.location_of(value.get()), &name)),
                })
            }
            FeatureLayout::Array(_) if !text.starts_with('[') => {
                wrong_kind("an array of features, as in the first line")
            }
            FeatureLayout::Array(columns) => {
                let values: Vec<&RawValue> = line.parse(text, "an array of features")?;
                if values.len() != columns.len() {
                    let expected = format!("{}, as many as in the first line", columns.len());
                    let found = counted(values.len(), "feature");
                    return Err(DataError::malformed(location(), found, expected));
                }
                let cells = values.into_iter().zip(columns).enumerate();
                cells.into_iter().try_for_each(|(number, (value, column))| {
                    handle((number + 1).to_string().into(), *column, value.get())
                })
            }
        }
    }

    /// The error for a key that the first line does not have.
    fn unknown_key(&self, location: SourceLocation, key: &str) -> DataError {
        self.has_unknown_key.store(true, Ordering::Relaxed);
        let is_shown = |column: &&SourceColumn| match &self.features {
            FeatureLayout::Array(_) => !column.is_nested,
            _ => true,
        };
        let known: Vec<String> =
            self.columns.iter().filter(is_shown).map(|column| column.name.clone()).collect();
        let expected = format!("a key of the first line: {}", ListedColumns(&known));
        DataError::malformed(location, format!("the key {}", quote(key.as_bytes())), expected)
            .with_help(Remedy::ignore_column(key))
    }
}

impl FeatureLayout {
    /// The names of the features under the key `features`: 1, 2, 3, ... for an array.
    fn names<'a>(line: &JsonLine<'a>, text: &'a str) -> Result<Vec<String>, DataError> {
        if text.starts_with('[') {
            let values: Vec<&RawValue> = line.parse(text, "an array of features")?;
            return Ok((1..=values.len()).map(|id| id.to_string()).collect());
        }
        let Members(members) = line.parse(text, "an object with features")?;
        Ok(members.into_iter().map(|(name, _)| name.into_owned()).collect())
    }

    /// Gives the features under the key `features` their columns. `keys` has the columns of the
    /// keys of the line, and `ignored` the names of columns that are left out.
    fn new<'a>(
        line: &JsonLine<'a>,
        text: &'a str,
        names: Vec<String>,
        keys: &HashMap<String, usize>,
        ignored: &[String],
        columns: &mut Vec<SourceColumn>,
    ) -> Result<FeatureLayout, DataError> {
        let (mut order, mut by_name) = (Vec::with_capacity(names.len()), HashMap::new());
        for name in names {
            if name.trim().is_empty() {
                let found = "a feature without a name";
                return Err(DataError::malformed(line.location_of(text), found, "a name"));
            }
            // A key of the line may have the same name only if both are left out.
            let ignored_key = keys.get(&name).filter(|_| ignored.contains(&name));
            if (ignored_key.is_none() && keys.contains_key(&name)) || by_name.contains_key(&name) {
                return Err(duplicate_key(line.location_of(text), &name));
            }
            let column = ignored_key.copied().unwrap_or(columns.len());
            if ignored_key.is_none() {
                columns.push(SourceColumn { name: name.clone(), is_nested: true });
            }
            by_name.insert(name.clone(), column);
            order.push((name, column));
        }
        Ok(match text.starts_with('[') {
            true => FeatureLayout::Array(order.into_iter().map(|(_, column)| column).collect()),
            false => FeatureLayout::Object(by_name, order),
        })
    }
}

/// The reference reader of single lines.
struct LineReader<'s> {
    layout: &'s LineLayout,
    schema: &'s TableSchema,
}

impl LineReader<'_> {
    /// Reads a line: features into `row`, other values into the result. `last_row` has the number
    /// of the row, from 1, in which each column occurred last; it reveals duplicate keys.
    fn read_row<'a>(
        &self,
        line: &JsonLine<'a>,
        last_row: &mut [usize],
        row: &mut [f32],
        part: &mut RowPart,
    ) -> Result<RoleValues<'a>, DataError> {
        let mut role_values = RoleValues::default();
        let number = part.rows + 1;
        self.layout.for_each_cell(line, members(line)?, |name, column, value| {
            let location = || line.location_of(value).in_field(&*name);
            let slot = self.schema.slot_of(column);
            if slot == Slot::Role(Role::Ignore) {
                return Ok(());
            }
            match last_row.get_mut(column) {
                Some(last) if *last == number => {
                    return Err(duplicate_key(line.location_of(value), &name));
                }
                Some(last) => *last = number,
                None => {}
            }
            match slot {
                slot @ (Slot::Role(_) | Slot::ExtraLabel(_)) => {
                    set_role(&mut role_values, slot, value)
                        .map_err(|problem| problem.at(location()))
                }
                slot => self.set_feature(slot, value, row, part, location),
            }
        })?;
        Ok(role_values)
    }

    /// Reads a value into the features of its slot.
    fn set_feature(
        &self,
        slot: Slot,
        value: &str,
        row: &mut [f32],
        part: &mut RowPart,
        location: impl Fn() -> SourceLocation,
    ) -> Result<(), DataError> {
        match (value.as_bytes().first(), slot) {
            (Some(b'{' | b'['), Slot::Number { feature, is_guessed: true }) => {
                part.mark_not_number(feature);
                Ok(())
            }
            (Some(b'{' | b'['), _) => {
                let problem =
                    CellProblem::not_a_feature(json_kind(value), "a single value or null");
                Err(problem.at(location()))
            }
            (Some(b'n'), slot) => part.set_text(self.schema, slot, b"", row, location),
            (_, slot) => match text_of(value) {
                Some(text) => part.set_text(self.schema, slot, text.as_bytes(), row, location),
                None => {
                    let problem = CellProblem::new(json_kind(value), "a text with valid escapes");
                    Err(problem.at(location()))
                }
            },
        }
    }
}

/// The error of a key that occurs twice in one object.
fn duplicate_key(location: SourceLocation, key: &str) -> DataError {
    let found = format!("the key {} a second time", quote(key.as_bytes()));
    DataError::malformed(location, found, "each key once")
}

/// Describes a JSON value in a message.
fn json_kind(text: &str) -> String {
    match text.as_bytes().first() {
        Some(b'{') => "an object".into(),
        Some(b'[') => "an array".into(),
        Some(b'"') => format!("the text {}", quote(text.trim_matches('"').as_bytes())),
        _ => quote(text.as_bytes()),
    }
}

/// Sets the value of a slot that has a role from JSON text.
fn set_role<'a>(
    role_values: &mut RoleValues<'a>,
    slot: Slot,
    text: &'a str,
) -> Result<(), CellProblem> {
    let role = slot.role();
    let is_id = matches!(role, Role::Query | Role::Docid);
    match text.as_bytes().first() {
        Some(b'n') if role == Role::Docid => Ok(()),
        Some(b'n') => Err(missing(role)),
        Some(b'"') if is_id => match serde_json::from_str::<Key<'a>>(text) {
            Ok(Key(id)) => role_values.set_text(slot, id),
            Err(_) => Err(CellProblem::new(json_kind(text), "a text with valid escapes")),
        },
        // An id such as 7.0 is the same as 7; one without a fraction may have any length.
        Some(b'-' | b'0'..=b'9') if is_id && text.contains(['.', 'e', 'E']) => {
            match fast_float2::parse::<f64, _>(text) {
                Ok(value) if value.is_finite() => role_values.set_number(slot, value),
                _ => Err(CellProblem::new(quote(text.as_bytes()), expected(role))),
            }
        }
        Some(b'-' | b'0'..=b'9') => role_values.set_text(slot, text.into()),
        Some(b't' | b'f') if role == Role::ExtraLabel => role_values.set_text(slot, text.into()),
        _ => Err(CellProblem::new(json_kind(text), expected(role))),
    }
}
