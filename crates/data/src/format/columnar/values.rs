//! Single values from Arrow arrays: numbers, words, and lists of numbers.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, Float32Array, Float64Array, LargeStringArray};
use arrow_cast::CastOptions;
use arrow_schema::{ArrowError, DataType};

use crate::format::roles::Role;
use crate::format::table::{Fields, Problem, feature_from_f64, feature_from_text, missing};

/// The item type of a list column, where it is plain.
pub(super) fn list_item(kind: &DataType) -> Option<&DataType> {
    match kind {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            Some(item.data_type())
        }
        _ => None,
    }
    .filter(|item| is_plain(item))
}

/// Types that stand for one number or one word.
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
    pub(super) fn of(array: &ArrayRef) -> Result<Values, ArrowError> {
        Ok(match array.data_type() {
            DataType::Dictionary(_, value) => return Values::of(&convert(array, value)?),
            DataType::Float32 => Values::Single(array.as_primitive::<Float32Type>().clone()),
            kind if kind.is_string() => Values::Text(text(array)?),
            _ => {
                let doubles = convert(array, &DataType::Float64)?;
                Values::Double(doubles.as_primitive::<Float64Type>().clone())
            }
        })
    }

    /// As `of`, but integers stay text, so that long ids keep all their digits.
    pub(super) fn ids(array: &ArrayRef) -> Result<Values, ArrowError> {
        match array.data_type() {
            kind if kind.is_floating() => Values::of(array),
            DataType::Dictionary(_, value) if value.is_floating() => Values::of(array),
            _ => Ok(Values::Text(text(array)?)),
        }
    }

    /// A feature, and whether it is missing and says so in a word.
    fn feature(&self, row: usize) -> Result<(f32, bool), Problem> {
        match self {
            Values::Single(values) if values.is_valid(row) && !values.value(row).is_nan() => {
                Ok((values.value(row), false))
            }
            Values::Double(values) if values.is_valid(row) => {
                Ok((feature_from_f64(values.value(row))?, false))
            }
            Values::Text(values) if values.is_valid(row) => {
                let read = feature_from_text(values.value(row).as_bytes())?;
                Ok((read.value, read.spelled_missing))
            }
            _ => Ok((f32::NAN, false)),
        }
    }

    /// Puts the features of all rows into a column of the matrix; counts those whose being missing
    /// is said in a word. A problem comes with its row.
    pub(super) fn fill_column(
        &self,
        cells: &mut [f32],
        width: usize,
        column: usize,
    ) -> Result<u64, (usize, Problem)> {
        let mut spelled = 0;
        for (row, cells) in cells.chunks_exact_mut(width.max(1)).enumerate() {
            let (value, word) = self.feature(row).map_err(|problem| (row, problem))?;
            spelled += u64::from(word);
            if let Some(cell) = cells.get_mut(column) {
                *cell = value;
            }
        }
        Ok(spelled)
    }

    /// Puts the value of a row into its field.
    pub(super) fn set<'a>(
        &'a self,
        row: usize,
        role: Role,
        fields: &mut Fields<'a>,
    ) -> Result<(), Problem> {
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

fn convert(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    arrow_cast::cast_with_options(array, to, &strict)
}

fn text(array: &ArrayRef) -> Result<LargeStringArray, ArrowError> {
    Ok(convert(array, &DataType::LargeUtf8)?.as_string::<i64>().clone())
}

/// A list column: all values of its rows, and where each row has its own.
pub(super) struct ListColumn<'a> {
    array: &'a ArrayRef,
    values: Values,
    length: usize,
}

impl<'a> ListColumn<'a> {
    pub(super) fn of(array: &'a ArrayRef, length: usize) -> Result<ListColumn<'a>, ArrowError> {
        let values = match array.data_type() {
            DataType::List(_) => array.as_list::<i32>().values(),
            DataType::LargeList(_) => array.as_list::<i64>().values(),
            _ => array.as_fixed_size_list().values(),
        };
        Ok(ListColumn { array, values: Values::of(values)?, length })
    }

    /// Puts the lists of all rows into the last columns of the matrix.
    pub(super) fn fill_last_columns(
        &self,
        cells: &mut [f32],
        width: usize,
    ) -> Result<(), (usize, Problem)> {
        for (row, cells) in cells.chunks_exact_mut(width.max(1)).enumerate() {
            let range = list_range(self.array, row).unwrap_or_default();
            if range.len() != self.length {
                let found = format!("a list of {}", range.len());
                return Err((row, Problem::new(found, "as many values as in the first row")));
            }
            let first = width.saturating_sub(self.length);
            for (cell, at) in cells.iter_mut().skip(first).zip(range) {
                *cell = self.values.feature(at).map_err(|problem| (row, problem))?.0;
            }
        }
        Ok(())
    }
}

/// The place of a row's list among all values; `None` for a null.
pub(super) fn list_range(array: &ArrayRef, row: usize) -> Option<Range<usize>> {
    let range = match array.data_type() {
        _ if !array.is_valid(row) => return None,
        DataType::List(_) => {
            let offsets = array.as_list::<i32>().value_offsets();
            (*offsets.get(row)? as usize)..(*offsets.get(row + 1)? as usize)
        }
        DataType::LargeList(_) => {
            let offsets = array.as_list::<i64>().value_offsets();
            (*offsets.get(row)? as usize)..(*offsets.get(row + 1)? as usize)
        }
        _ => {
            let lists = array.as_fixed_size_list();
            let start = lists.value_offset(row) as usize;
            start..start + lists.value_length() as usize
        }
    };
    Some(range)
}
