//! The schema by which a table is read: the target of each column's cells.

use std::collections::{HashMap, HashSet};

use super::cell::{CellProblem, TextValue, feature_from_text, is_missing_word};
use super::content::is_code;
use super::parts::IdBytes;
use crate::error::{ColumnProblem, DataError, SourceLocation};
use crate::format::roles::Role;
use crate::memory::memory_limit;
use crate::point_in_time::{DateOrder, PointInTime};
use crate::table_columns::{Encoding, TableColumn, TableColumns, TimePart};

/// The target of the cells of a column: one or several features (columns of the matrix), or a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::format) enum Slot {
    /// A feature of numbers; `is_guessed` if only the first rows were used to decide that.
    Number { feature: usize, is_guessed: bool },
    /// A feature of categories; `table_index` selects the categories in the schema.
    Category { feature: usize, table_index: usize },
    /// Parts of times; `feature` is the first, and `parts_index` selects the parts in the schema.
    Time { feature: usize, parts_index: usize },
    /// A value that is no feature; cells with the role `Ignore` are dropped.
    Role(Role),
    /// A label of the further column of labels with this number, from 0.
    ExtraLabel(usize),
}

impl Slot {
    /// The role of the column.
    pub(in crate::format) fn role(self) -> Role {
        match self {
            Slot::Role(role) => role,
            Slot::ExtraLabel(_) => Role::ExtraLabel,
            Slot::Number { .. } | Slot::Category { .. } | Slot::Time { .. } => Role::Feature,
        }
    }
}

#[cfg(feature = "columnar")]
impl Slot {
    /// The point in time that a number means, in microseconds since 1970.
    pub(in crate::format) fn time_of_number(value: f64) -> Option<i64> {
        PointInTime::from_number_in_table(value).map(|time| time.micros)
    }
}

/// The outcome of reading a cell into a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::format) enum CellRead {
    /// A value, or an empty cell.
    Value,
    /// A missing value written as a word, such as `NULL`.
    MissingWord,
    /// A text that is no number, in a column that was guessed to hold numbers.
    NotNumber,
    /// A text that is none of the categories that earlier data has; it is read as missing.
    UnseenCategory,
}

/// The source from which the encoding of a column is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::format) enum EncodingOrigin {
    /// Numbers in the first rows, or other values in all rows.
    Guess,
    /// A given role; the categories are those of the values.
    Role,
    /// A given encoding, such as the categories of earlier data.
    Fixed,
}

/// The columns of a table, fixed by the first file.
#[derive(Debug)]
pub(in crate::format) struct TableSchema {
    /// The name of the first file.
    pub(super) file: String,
    columns: TableColumns,
    /// By column.
    slots: Vec<Slot>,
    /// The names of the features.
    features: Vec<String>,
    /// The column of each feature; `usize::MAX` for features that are no columns.
    sources: Vec<usize>,
    /// The names of the columns that are further columns of labels.
    label_columns: Vec<String>,
    /// The categories of each column of categories.
    category_tables: Vec<CategoryTable>,
    /// The parts of each column of times, and the order of day and month in its dates.
    time_parts: Vec<(Vec<TimePart>, DateOrder)>,
    /// A bit for each role that a column has.
    roles: u32,
    /// Whether the rows have labels; otherwise all are 0.
    pub(super) is_labelled: bool,
    /// Whether there are no query ids, so that all rows are one query.
    pub(super) is_one_query: bool,
    /// The bytes of the ids that were read so far, by all tasks.
    pub(super) id_bytes: IdBytes,
}

impl TableSchema {
    /// Gives the cells of columns their targets.
    pub(super) fn new(
        file: &str,
        columns: TableColumns,
        origins: Vec<EncodingOrigin>,
        is_labelled: bool,
        is_one_query: bool,
    ) -> TableSchema {
        let mut schema = TableSchema {
            file: file.to_owned(),
            columns: TableColumns::default(),
            slots: Vec::new(),
            features: Vec::new(),
            sources: Vec::new(),
            label_columns: Vec::new(),
            category_tables: Vec::new(),
            time_parts: Vec::new(),
            roles: columns.iter().fold(0, |bits, column| bits | 1 << column.role as u32),
            is_labelled,
            is_one_query,
            id_bytes: IdBytes::new(memory_limit()),
        };
        for (source, (column, origin)) in columns.iter().zip(origins).enumerate() {
            let slot = schema.slot(column, origin);
            let names = match column.role {
                Role::ExtraLabel => {
                    schema.label_columns.push(column.name.clone());
                    Vec::new()
                }
                _ => column.features(),
            };
            schema.sources.extend(names.iter().map(|_| source));
            schema.features.extend(names);
            schema.slots.push(slot);
        }
        schema.columns = columns;
        schema
    }

    /// The target of a column, whose features are the next ones.
    fn slot(&mut self, column: &TableColumn, origin: EncodingOrigin) -> Slot {
        let feature = self.features.len();
        let is_guessed = origin == EncodingOrigin::Guess;
        match (&column.role, &column.encoding) {
            (Role::Feature, Encoding::Number) => Slot::Number { feature, is_guessed },
            (Role::Feature, Encoding::Category(values)) => {
                let code = |(code, text): (usize, &String)| (text.as_str().into(), code as f32);
                let codes = values.iter().enumerate().map(code).collect();
                let is_fixed = origin == EncodingOrigin::Fixed;
                self.category_tables.push(CategoryTable { codes, is_fixed });
                Slot::Category { feature, table_index: self.category_tables.len() - 1 }
            }
            (Role::Feature, Encoding::Time(parts)) => {
                self.time_parts.push((parts.clone(), column.date_order));
                Slot::Time { feature, parts_index: self.time_parts.len() - 1 }
            }
            (Role::ExtraLabel, _) => Slot::ExtraLabel(self.label_columns.len()),
            (role, _) => Slot::Role(*role),
        }
    }

    /// The names of the columns that are further columns of labels, in their order.
    pub(super) fn label_columns(&self) -> &[String] {
        &self.label_columns
    }

    /// Adds a feature of numbers that is no column, but an element of a list column.
    #[cfg(feature = "columnar")]
    pub(in crate::format) fn add_feature(&mut self, name: String) {
        self.features.push(name);
        self.sources.push(usize::MAX);
    }

    pub(in crate::format) fn features(&self) -> &[String] {
        &self.features
    }

    /// The number of a feature's column; `None` if it is an element of a list column.
    pub(in crate::format) fn source(&self, feature: usize) -> Option<usize> {
        self.sources.get(feature).copied().filter(|column| *column != usize::MAX)
    }

    pub(in crate::format) fn columns(&self) -> &TableColumns {
        &self.columns
    }

    /// The targets of the columns of the first file.
    #[cfg(feature = "columnar")]
    pub(in crate::format) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Whether a column has this role.
    pub(in crate::format) fn has(&self, role: Role) -> bool {
        self.roles >> (role as u32) & 1 == 1
    }

    /// The name of a feature's column; that of the feature if it is an element of a list column.
    pub(super) fn column_of(&self, feature: usize) -> &str {
        let column = self.source(feature).and_then(|source| self.columns.iter().nth(source));
        let name = || self.features.get(feature).map_or("", String::as_str);
        column.map_or_else(name, |column| &column.name)
    }

    /// Adds the name of a role's column to a location.
    pub(super) fn with_column_of(&self, role: Role, location: SourceLocation) -> SourceLocation {
        match self.columns.iter().find(|column| column.role == role) {
            Some(column) => location.in_field(&column.name),
            None => location,
        }
    }

    /// The target of a column, by number.
    pub(in crate::format) fn slot_of(&self, column: usize) -> Slot {
        // Every column has a slot.
        self.slots.get(column).copied().unwrap_or(Slot::Role(Role::Ignore))
    }

    /// Reads a cell of text into the features of its slot in the row. A slot of a role has none.
    #[inline]
    pub(in crate::format) fn set_text(
        &self,
        slot: Slot,
        cell: &[u8],
        row: &mut [f32],
    ) -> Result<CellRead, CellProblem> {
        let (read, values) = self.parse(slot, cell)?;
        let (first, count) = self.features_of(slot);
        for (offset, value) in values.into_iter().take(count).enumerate() {
            set(row, first + offset, value);
        }
        Ok(read)
    }

    /// The first feature of a slot, and the number of its features.
    pub(in crate::format) fn features_of(&self, slot: Slot) -> (usize, usize) {
        match slot {
            Slot::Number { feature, .. } | Slot::Category { feature, .. } => (feature, 1),
            Slot::Time { feature, parts_index } => {
                (feature, self.time_parts.get(parts_index).map_or(0, |(parts, _)| parts.len()))
            }
            Slot::Role(_) | Slot::ExtraLabel(_) => (0, 0),
        }
    }

    /// Reads a cell of text. The values are those of the slot's features, at most three (the parts
    /// of a time); the remaining values have no meaning.
    pub(in crate::format) fn parse(
        &self,
        slot: Slot,
        cell: &[u8],
    ) -> Result<(CellRead, [f32; 3]), CellProblem> {
        let missing = [f32::NAN; 3];
        let value_or_word = |cell: &[u8]| match is_missing_word(cell) {
            true => CellRead::MissingWord,
            false => CellRead::Value,
        };
        match slot {
            Slot::Number { is_guessed, .. } => {
                if is_guessed && is_code(cell.trim_ascii()) {
                    return Ok((CellRead::NotNumber, missing));
                }
                match feature_from_text(cell) {
                    Ok(TextValue { value, is_missing_word: true }) => {
                        Ok((CellRead::MissingWord, [value; 3]))
                    }
                    Ok(TextValue { value, .. }) => Ok((CellRead::Value, [value; 3])),
                    Err(problem) if is_guessed && problem.is_no_number() => {
                        Ok((CellRead::NotNumber, missing))
                    }
                    Err(problem) => Err(problem),
                }
            }
            Slot::Category { table_index, .. } => {
                let cell = cell.trim_ascii();
                let (value, is_unseen) = self.category(table_index, cell)?;
                // A word such as `NA` is a text if it is one of the categories.
                let read = match value.is_nan() {
                    true if is_missing_word(cell) => CellRead::MissingWord,
                    true if is_unseen => CellRead::UnseenCategory,
                    _ => CellRead::Value,
                };
                Ok((read, [value; 3]))
            }
            Slot::Time { parts_index, .. } => {
                let cell = cell.trim_ascii();
                let order =
                    self.time_parts.get(parts_index).map_or_else(DateOrder::default, |t| t.1);
                let time = PointInTime::from_text_in(cell, order).or_else(|| {
                    fast_float2::parse(cell).ok().and_then(PointInTime::from_number_in_table)
                });
                match time {
                    Some(time) => Ok((CellRead::Value, self.time(parts_index, time.micros))),
                    None if cell.is_empty() || is_missing_word(cell) => {
                        Ok((value_or_word(cell), missing))
                    }
                    None => Err(CellProblem::not_a_time(cell)),
                }
            }
            Slot::Role(_) | Slot::ExtraLabel(_) => Ok((CellRead::Value, missing)),
        }
    }

    /// The code of a category; NaN (missing) for a text that is no category. Also returns whether
    /// the text is not empty and none of the categories of earlier data.
    fn category(&self, table_index: usize, text: &[u8]) -> Result<(f32, bool), CellProblem> {
        let text = std::str::from_utf8(text).map_err(|_| CellProblem::not_utf8(text))?;
        let Some(table) = self.category_tables.get(table_index) else {
            return Ok((f32::NAN, false));
        };
        Ok(match table.codes.get(text) {
            Some(code) => (*code, false),
            None => (f32::NAN, table.is_fixed && !text.is_empty()),
        })
    }

    /// The parts of a time, which is given in microseconds since 1970.
    pub(in crate::format) fn time(&self, parts_index: usize, micros: i64) -> [f32; 3] {
        let mut values = [f32::NAN; 3];
        let parts = self.time_parts.get(parts_index).into_iter().flat_map(|(parts, _)| parts);
        for (value, part) in values.iter_mut().zip(parts) {
            *value = part.of(micros);
        }
        values
    }
}

/// The code of each category of a column: its index in [`Encoding::Category`], as the value of the
/// feature.
type CategoryCodes = HashMap<Box<str>, f32, foldhash::fast::RandomState>;

/// The categories of a column.
#[derive(Debug)]
struct CategoryTable {
    codes: CategoryCodes,
    /// Whether the categories are those of earlier data, so that others are reported.
    is_fixed: bool,
}

#[inline]
fn set(row: &mut [f32], column: usize, value: f32) {
    if let Some(cell) = row.get_mut(column) {
        *cell = value;
    }
}

/// The index in `columns` of each column number in it: searching for every cell would take minutes
/// in a table of a million columns.
pub(in crate::format) fn indices_by_column(columns: &[usize]) -> HashMap<usize, usize> {
    columns.iter().enumerate().map(|(index, column)| (*column, index)).collect()
}

/// For each column of a further file, the number of the same column in the first file. Both must
/// have the same columns, in any order.
pub(in crate::format) fn match_columns<'a>(
    first: &str,
    first_names: impl Iterator<Item = &'a str>,
    file: &str,
    names: &[String],
) -> Result<Vec<usize>, DataError> {
    let first_names: Vec<&str> = first_names.collect();
    let number_by_name: HashMap<&str, usize> =
        first_names.iter().enumerate().map(|(number, name)| (*name, number)).collect();
    let numbers: Option<Vec<usize>> =
        names.iter().map(|name| number_by_name.get(name.as_str()).copied()).collect();
    let unique_names: HashSet<&str> = names.iter().map(String::as_str).collect();
    let is_each_once = unique_names.len() == names.len() && names.len() == first_names.len();
    if let Some(numbers) = numbers.filter(|_| is_each_once) {
        return Ok(numbers);
    }
    let added: Vec<String> =
        names.iter().filter(|name| !number_by_name.contains_key(name.as_str())).cloned().collect();
    let missing = first_names.iter().filter(|name| !unique_names.contains(**name));
    let missing: Vec<String> = missing.map(|name| (*name).to_owned()).collect();
    // If the names are those of the first file and no others, one of them occurs twice.
    let mut seen = HashSet::new();
    let twice = names.iter().find(|name| !seen.insert(name.as_str()));
    let problem = match twice {
        Some(column) if added.is_empty() && missing.is_empty() => {
            ColumnProblem::Duplicate { column: column.clone() }
        }
        _ => ColumnProblem::Different { first: first.to_owned(), added, missing },
    };
    Err(DataError::columns(file, problem))
}
