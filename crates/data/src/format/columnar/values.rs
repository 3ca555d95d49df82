//! Single values from Arrow arrays: numbers, texts, and lists of numbers.

use arrow_array::cast::AsArray;
use arrow_array::types::Float32Type;
use arrow_array::{Array, ArrayRef, Float32Array, Float64Array, LargeStringArray};
use arrow_schema::DataType;
use rankwright_spec::words::counted;

use crate::arrow_values::{
    UnreadableValues, is_number, list_item, list_range, list_values, numbers, texts,
};
use crate::format::roles::Role;
use crate::format::table::{CellProblem, Fields, feature_from_f64, feature_from_text, missing};

/// Whether a column holds lists of plain values.
pub(super) fn is_plain_list(kind: &DataType) -> bool {
    list_item(kind).is_some_and(is_plain)
}

/// Types whose values are single numbers or texts.
pub(super) fn is_plain(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, value) => {
            is_plain(value) && !matches!(**value, DataType::Dictionary(..))
        }
        DataType::Boolean | DataType::Null => true,
        kind => kind.is_numeric() || kind.is_string(),
    }
}

/// The values of a column in one of the three forms that are read.
pub(super) enum Values {
    Single(Float32Array),
    Double(Float64Array),
    Text(LargeStringArray),
}

impl Values {
    pub(super) fn of(array: &ArrayRef) -> Result<Values, UnreadableValues> {
        Ok(match array.data_type() {
            DataType::Float32 => Values::Single(array.as_primitive::<Float32Type>().clone()),
            kind if is_number(kind) => Values::Double(numbers(array)?),
            _ => Values::Text(texts(array)?),
        })
    }

    /// Like `of`, but integers stay text, so that long ids keep all their digits.
    pub(super) fn ids(array: &ArrayRef) -> Result<Values, UnreadableValues> {
        match array.data_type() {
            kind if kind.is_floating() => Values::of(array),
            DataType::Dictionary(_, value) if value.is_floating() => Values::of(array),
            _ => Ok(Values::Text(texts(array)?)),
        }
    }

    /// A feature, and whether it is a missing value written as a word, such as `NULL`.
    fn feature(&self, row: usize) -> Result<(f32, bool), CellProblem> {
        match self {
            Values::Single(values) if values.is_valid(row) && !values.value(row).is_nan() => {
                Ok((values.value(row), false))
            }
            Values::Double(values) if values.is_valid(row) => {
                Ok((feature_from_f64(values.value(row))?, false))
            }
            Values::Text(values) if values.is_valid(row) => {
                let read = feature_from_text(values.value(row).as_bytes())?;
                Ok((read.value, read.is_missing_word))
            }
            _ => Ok((f32::NAN, false)),
        }
    }

    /// Writes the features of all rows into a column of the matrix; returns the number of missing values
    /// that are written as a word. An error has the row.
    pub(super) fn fill_column(
        &self,
        cells: &mut [f32],
        width: usize,
        column: usize,
    ) -> Result<u64, (usize, CellProblem)> {
        let mut missing_words = 0;
        for (row, cells) in cells.chunks_exact_mut(width.max(1)).enumerate() {
            let (value, is_word) = self.feature(row).map_err(|problem| (row, problem))?;
            missing_words += u64::from(is_word);
            if let Some(cell) = cells.get_mut(column) {
                *cell = value;
            }
        }
        Ok(missing_words)
    }

    /// Writes the value of a row into its field.
    pub(super) fn set<'a>(
        &'a self,
        row: usize,
        role: Role,
        fields: &mut Fields<'a>,
    ) -> Result<(), CellProblem> {
        match self {
            Values::Single(values) if values.is_valid(row) => {
                fields.set_number(role, values.value(row).into())
            }
            Values::Double(values) if values.is_valid(row) => {
                fields.set_number(role, values.value(row))
            }
            Values::Text(values) if values.is_valid(row) => {
                fields.set_text(role, values.value(row).into())
            }
            _ if role == Role::Docid => Ok(()),
            _ => Err(missing(role)),
        }
    }
}

/// A list column: all values of its rows, and the range of each row.
pub(super) struct ListColumn<'a> {
    array: &'a ArrayRef,
    values: Values,
    length: usize,
}

impl<'a> ListColumn<'a> {
    pub(super) fn of(
        array: &'a ArrayRef,
        length: usize,
    ) -> Result<ListColumn<'a>, UnreadableValues> {
        Ok(ListColumn { array, values: Values::of(list_values(array)?)?, length })
    }

    /// Writes the lists of all rows into the last columns of the matrix.
    pub(super) fn fill_last_columns(
        &self,
        cells: &mut [f32],
        width: usize,
    ) -> Result<(), (usize, CellProblem)> {
        for (row, cells) in cells.chunks_exact_mut(width.max(1)).enumerate() {
            let range = list_range(self.array, row).unwrap_or_default();
            if range.len() != self.length {
                let found = format!("a list of {}", counted(range.len(), "value"));
                return Err((row, CellProblem::new(found, "as many values as in the first row")));
            }
            let first = width.saturating_sub(self.length);
            for (cell, at) in cells.iter_mut().skip(first).zip(range) {
                *cell = self.values.feature(at).map_err(|problem| (row, problem))?.0;
            }
        }
        Ok(())
    }
}
