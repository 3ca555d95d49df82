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
use crate::format::table::{
    CellProblem, Fields, TypedValues, feature_from_f64, feature_from_text, missing,
};

/// Whether a column holds lists of numbers or texts.
pub(super) fn is_scalar_list(kind: &DataType) -> bool {
    list_item(kind).is_some_and(is_scalar)
}

/// Types whose values are single numbers or texts.
pub(super) fn is_scalar(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, value) => {
            is_scalar(value) && !matches!(**value, DataType::Dictionary(..))
        }
        DataType::Boolean | DataType::Null => true,
        kind => kind.is_numeric() || kind.is_string(),
    }
}

/// Types of points in time.
pub(super) fn is_time(kind: &DataType) -> bool {
    matches!(kind, DataType::Timestamp(..) | DataType::Date32 | DataType::Date64)
}

/// Types of bytes, which may be ids.
pub(super) fn is_binary_id(kind: &DataType) -> bool {
    kind.is_binary()
}

/// The kind of the values of a type; `None` for texts, whose content decides.
pub(super) fn typed(kind: &DataType) -> Option<TypedValues> {
    match kind {
        DataType::Date32 | DataType::Date64 => Some(TypedValues::Time { has_clock: false }),
        kind if is_time(kind) => Some(TypedValues::Time { has_clock: true }),
        kind if is_number(kind) || *kind == DataType::Null => Some(TypedValues::Number),
        kind if is_scalar(kind) => None,
        kind => Some(TypedValues::Other(type_name(kind))),
    }
}

/// The name of a type in messages.
pub(super) fn type_name(kind: &DataType) -> String {
    kind.to_string().chars().take(60).collect()
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

    /// A feature.
    fn feature(&self, row: usize) -> Result<f32, CellProblem> {
        match self {
            Values::Single(values) if values.is_valid(row) && !values.value(row).is_nan() => {
                Ok(values.value(row))
            }
            Values::Double(values) if values.is_valid(row) => feature_from_f64(values.value(row)),
            Values::Text(values) if values.is_valid(row) => {
                Ok(feature_from_text(values.value(row).as_bytes())?.value)
            }
            _ => Ok(f32::NAN),
        }
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

    /// Writes the lists of rows from `start` on into the last columns of the matrix.
    pub(super) fn fill_last_columns(
        &self,
        start: usize,
        cells: &mut [f32],
        width: usize,
    ) -> Result<(), (usize, CellProblem)> {
        for (row, cells) in (start..).zip(cells.chunks_exact_mut(width.max(1))) {
            let range = list_range(self.array, row).unwrap_or_default();
            if range.len() != self.length {
                let found = format!("a list of {}", counted(range.len(), "value"));
                return Err((row, CellProblem::new(found, "as many values as in the first row")));
            }
            let first = width.saturating_sub(self.length);
            for (cell, at) in cells.iter_mut().skip(first).zip(range) {
                *cell = self.values.feature(at).map_err(|problem| (row, problem))?;
            }
        }
        Ok(())
    }
}
