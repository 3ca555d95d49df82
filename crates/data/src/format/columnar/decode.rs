//! One column of a row group, decoded into the values of its features or of its role.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Float32Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, Float32Array};
use arrow_schema::{DataType, TimeUnit};

use super::values::Values;
use super::{ColumnarTable, NO_SUCH_COLUMN, RowGroup, unreadable};
use crate::arrow_values::{is_number, numbers, texts};
use crate::error::{DataError, SourceLocation};
use crate::format::roles::Role;
use crate::format::table::{
    CellProblem, CellRead, MissingWords, Slot, TableSchema, feature_from_f64,
};
use crate::warnings::Warnings;

/// The values of a feature in a row group.
pub(super) enum FeatureValues {
    /// An array of 32-bit floats without nulls, which need not be copied.
    Array(Float32Array),
    Floats(Vec<f32>),
}

impl FeatureValues {
    pub(super) fn values(&self) -> &[f32] {
        match self {
            FeatureValues::Array(array) => array.values(),
            FeatureValues::Floats(values) => values,
        }
    }
}

/// A decoded column.
pub(super) enum Decoded {
    /// A column that is ignored.
    Nothing,
    /// The features of a column: several for a time, otherwise one.
    Features {
        /// The number of the first feature.
        first: usize,
        /// The values of each feature.
        values: Vec<FeatureValues>,
        /// The missing values that are written as words, such as `NULL`.
        missing_words: MissingWords,
        /// Warnings on texts that are no known categories.
        warnings: Warnings,
    },
    /// A column that was guessed to hold numbers, but has other texts.
    NotNumbers { feature: usize },
    /// A column that is no feature.
    Role {
        slot: Slot,
        /// The name of the column.
        name: String,
        values: Values,
    },
    /// The column with the lists of features.
    List(ArrayRef),
}

/// Decodes some fields of a row group.
pub(super) fn decode(
    table: &ColumnarTable,
    schema: &TableSchema,
    group: RowGroup,
    fields: &[usize],
) -> Result<Vec<Decoded>, DataError> {
    let file = table.file_of(group)?;
    let arrays = file.arrays(group.number, fields, None)?;
    let mut decoded = Vec::with_capacity(fields.len());
    for (array, field) in arrays.into_iter().zip(fields) {
        let name = file.field_name(*field)?;
        let column = file.column_numbers.get(*field).ok_or(NO_SUCH_COLUMN)?;
        let slot = column.map(|number| schema.slot_of(number));
        let location = |row: usize| {
            let row = (group.first_row + row + 1) as u64;
            SourceLocation::line(&file.name, row).in_field(name)
        };
        let failed = |error| unreadable(&file.name, name, &error);
        decoded.push(match slot {
            None => Decoded::List(array),
            Some(Slot::Role(Role::Ignore)) => Decoded::Nothing,
            Some(slot @ (Slot::Role(_) | Slot::ExtraLabel(_))) => {
                let values = match slot {
                    Slot::Role(Role::Query | Role::Docid) => Values::ids(&array),
                    _ => Values::of(&array),
                };
                Decoded::Role { slot, name: name.to_owned(), values: values.map_err(failed)? }
            }
            Some(slot @ (Slot::Number { .. } | Slot::Time { .. }))
                if is_number(array.data_type()) || micros(&array).is_some() =>
            {
                decode_numbers(schema, slot, &array)
                    .map_err(|(row, problem)| problem.at(location(row)))?
            }
            Some(slot) => {
                let values = texts(&array).map_err(failed)?;
                let values = values.iter().map(|value| value.unwrap_or_default());
                decode_texts(schema, slot, name, values, location)
                    .map_err(|(row, problem)| problem.at(location(row)))?
            }
        });
    }
    Ok(decoded)
}

/// The features of an array of numbers or times; an error has the row in the group.
fn decode_numbers(
    schema: &TableSchema,
    slot: Slot,
    array: &ArrayRef,
) -> Result<Decoded, (usize, CellProblem)> {
    let (first, count) = schema.features_of(slot);
    let decoded = |values| {
        let warnings = Warnings::default();
        Ok(Decoded::Features { first, values, missing_words: MissingWords::default(), warnings })
    };
    if let Slot::Time { parts_index, .. } = slot {
        let points = match micros(array) {
            Some(points) => points,
            None => {
                let all = numbers(array).map_err(|_| (0, CellProblem::not_a_time(b"")))?;
                let point = |value| Slot::time_of_number(value);
                all.iter().map(|value| value.and_then(point)).collect()
            }
        };
        let mut values = vec![Vec::with_capacity(points.len()); count];
        for point in points {
            let parts = point.map_or([f32::NAN; 3], |micros| schema.time(parts_index, micros));
            values.iter_mut().zip(parts).for_each(|(values, part)| values.push(part));
        }
        return decoded(values.into_iter().map(FeatureValues::Floats).collect());
    }
    if *array.data_type() == DataType::Float32 {
        let array = array.as_primitive::<Float32Type>();
        if array.null_count() == 0 {
            return decoded(vec![FeatureValues::Array(array.clone())]);
        }
        let values = array.iter().map(|value| value.unwrap_or(f32::NAN)).collect();
        return decoded(vec![FeatureValues::Floats(values)]);
    }
    let array = numbers(array).map_err(|_| (0, CellProblem::new("no number", "a number")))?;
    let mut values = Vec::with_capacity(array.len());
    for (row, value) in array.iter().enumerate() {
        let value = value.map_or(Ok(f32::NAN), feature_from_f64);
        values.push(value.map_err(|problem| (row, problem))?);
    }
    decoded(vec![FeatureValues::Floats(values)])
}

/// The features of a column of texts; an error has the row in the group.
fn decode_texts<'a>(
    schema: &TableSchema,
    slot: Slot,
    column: &str,
    texts: impl Iterator<Item = &'a str>,
    location: impl Fn(usize) -> SourceLocation,
) -> Result<Decoded, (usize, CellProblem)> {
    let (first, count) = schema.features_of(slot);
    let mut values = vec![Vec::new(); count];
    let (mut missing_words, mut warnings) = (MissingWords::default(), Warnings::default());
    for (row, text) in texts.enumerate() {
        let (read, parts) = schema.parse(slot, text.as_bytes()).map_err(|p| (row, p))?;
        match read {
            CellRead::Value => {}
            CellRead::MissingWord => missing_words.add(first, text.as_bytes(), || location(row)),
            CellRead::UnseenCategory => {
                let location = || SourceLocation { field: None, ..location(row) };
                warnings.add_unseen(column, 1, &[text.trim().to_owned()], location);
            }
            CellRead::NotNumber => return Ok(Decoded::NotNumbers { feature: first }),
        }
        values.iter_mut().zip(parts).for_each(|(values, part)| values.push(part));
    }
    let values = values.into_iter().map(FeatureValues::Floats).collect();
    Ok(Decoded::Features { first, values, missing_words, warnings })
}

/// Points in time in microseconds since 1970; `None` for arrays of other values.
fn micros(array: &ArrayRef) -> Option<Vec<Option<i64>>> {
    const DAY: i64 = 86_400_000_000;
    let scaled = |values: &mut dyn Iterator<Item = Option<i64>>, factor: i64| {
        Some(values.map(|value| value.and_then(|value| value.checked_mul(factor))).collect())
    };
    match array.data_type() {
        DataType::Date32 => {
            let days = array.as_primitive::<Date32Type>().iter();
            scaled(&mut days.map(|day| day.map(i64::from)), DAY)
        }
        DataType::Date64 => scaled(&mut array.as_primitive::<Date64Type>().iter(), 1000),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => {
                scaled(&mut array.as_primitive::<TimestampSecondType>().iter(), 1_000_000)
            }
            TimeUnit::Millisecond => {
                scaled(&mut array.as_primitive::<TimestampMillisecondType>().iter(), 1000)
            }
            TimeUnit::Microsecond => {
                scaled(&mut array.as_primitive::<TimestampMicrosecondType>().iter(), 1)
            }
            TimeUnit::Nanosecond => {
                let nanos = array.as_primitive::<TimestampNanosecondType>().iter();
                scaled(&mut nanos.map(|value| value.map(|value| value.div_euclid(1000))), 1)
            }
        },
        _ => None,
    }
}
