//! Single values from Arrow arrays: numbers, texts, and lists of numbers.

use arrow_array::cast::AsArray;
use arrow_array::types::Float32Type;
use arrow_array::{Array, ArrayRef, Float32Array, Float64Array};
use arrow_schema::DataType;
use rankwright_spec::words::counted;

use crate::arrow_values::{
    ArrowTexts, UnreadableValues, is_number, list_item, list_range, list_values, numbers, texts,
};
use crate::format::roles::Role;
use crate::format::table::{
    CellProblem, RoleValues, Slot, TypedValues, feature_from_f64, feature_from_text, missing,
};

/// Whether a column holds lists of numbers or texts.
pub(super) fn is_scalar_list(kind: &DataType) -> bool {
    list_item(kind).is_some_and(is_scalar)
}

/// Whether values of this type are single numbers or texts.
pub(super) fn is_scalar(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, value) => {
            is_scalar(value) && !matches!(**value, DataType::Dictionary(..))
        }
        DataType::Boolean | DataType::Null | DataType::Duration(_) => true,
        kind => kind.is_numeric() || kind.is_string(),
    }
}

/// Whether values of this type are points in time.
pub(super) fn is_time(kind: &DataType) -> bool {
    matches!(kind, DataType::Timestamp(..) | DataType::Date32 | DataType::Date64)
}

/// Whether values of this type are bytes, which may be ids.
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

/// The name of a type in messages. Views are a way to read a column, so the name is that of the
/// column in the file.
pub(super) fn type_name(kind: &DataType) -> String {
    match kind {
        DataType::BinaryView => DataType::Binary.to_string(),
        DataType::Utf8View => DataType::Utf8.to_string(),
        kind => kind.to_string().chars().take(60).collect(),
    }
}

/// The values of a column as 32-bit floats, 64-bit floats or texts.
pub(super) enum Values {
    Single(Float32Array),
    Double(Float64Array),
    Text(ArrowTexts),
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

    /// The value of a row as a feature.
    fn feature(&self, row: usize) -> Result<f32, CellProblem> {
        match self {
            Values::Single(values) if values.is_valid(row) && !values.value(row).is_nan() => {
                Ok(values.value(row))
            }
            Values::Double(values) if values.is_valid(row) => feature_from_f64(values.value(row)),
            Values::Text(values) => match values.get(row) {
                Some(text) => Ok(feature_from_text(text.as_bytes())?.value),
                None => Ok(f32::NAN),
            },
            _ => Ok(f32::NAN),
        }
    }

    /// Sets the value of a slot that has a role in `role_values` from a row.
    pub(super) fn set<'a>(
        &'a self,
        row: usize,
        slot: Slot,
        role_values: &mut RoleValues<'a>,
    ) -> Result<(), CellProblem> {
        let text = match self {
            Values::Text(values) => values.get(row),
            _ => None,
        };
        match self {
            Values::Single(values) if values.is_valid(row) => {
                role_values.set_number(slot, values.value(row).into())
            }
            Values::Double(values) if values.is_valid(row) => {
                role_values.set_number(slot, values.value(row))
            }
            _ => match text {
                Some(text) => role_values.set_text(slot, text.into()),
                None if slot == Slot::Role(Role::Docid) => Ok(()),
                None => Err(missing(slot.role())),
            },
        }
    }
}

/// A list column.
pub(super) struct ListColumn<'a> {
    array: &'a ArrayRef,
    /// The elements of all lists.
    values: Values,
    /// The number of elements that every list must have.
    length: usize,
}

impl<'a> ListColumn<'a> {
    pub(super) fn of(
        array: &'a ArrayRef,
        length: usize,
    ) -> Result<ListColumn<'a>, UnreadableValues> {
        Ok(ListColumn { array, values: Values::of(list_values(array)?)?, length })
    }

    /// Writes the lists of rows from `start` on into the last columns of the matrix; an error has
    /// the row.
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
            for (cell, element) in cells.iter_mut().skip(first).zip(range) {
                *cell = self.values.feature(element).map_err(|problem| (row, problem))?;
            }
        }
        Ok(())
    }
}
