//! Arrow arrays as numbers or as texts.
//!
//! The `arrow-cast` crate converts between all pairs of types and took an eighth of the time that
//! this workspace needed to build; ranking data needs only conversions to numbers and to texts.
//!
//! A text that occurs in many rows is held once, as in the array: a dictionary or an array of views
//! of a few bytes can claim gigabytes of text.
//!
//! A null stays a null. [`numbers`] takes integers, floats, booleans (0 and 1), decimals (correctly
//! rounded), durations (seconds, whatever their unit) and dictionaries of them; [`texts`] takes the same and text and binary, which must be
//! UTF-8. Other types give an [`UnreadableValues`].

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType,
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, Float64Array, LargeStringArray, StringArray, StringViewArray};
use arrow_schema::{DataType, TimeUnit};

/// The reason why an array cannot be read as numbers or texts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnreadableValues {
    /// A type whose values cannot be read as requested; the text says as what: numbers, texts or
    /// lists.
    #[error("values of type {0} cannot be read as {1}")]
    Type(DataType, &'static str),
    /// Binary data that is not UTF-8.
    #[error("the bytes in row {0} (numbered from 1) are not UTF-8")]
    NotUtf8(usize),
}

impl UnreadableValues {
    /// Advice on how to repair the data.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::Type(..) => "ignore the column, or convert it to numbers or texts".to_owned(),
            Self::NotUtf8(_) => "convert the column to UTF-8 text".to_owned(),
        })
    }
}

/// Whether [`numbers`] takes arrays of this type.
#[must_use]
pub fn is_number(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, value) => is_number(value),
        kind => kind.is_numeric() || matches!(kind, DataType::Boolean | DataType::Duration(_)),
    }
}

/// The values as numbers.
///
/// # Errors
///
/// If the type is not one of [`is_number`] and not `Null`.
pub fn numbers(array: &dyn Array) -> Result<Float64Array, UnreadableValues> {
    Ok(match array.data_type() {
        DataType::Null => Float64Array::new_null(array.len()),
        DataType::Boolean => {
            let number = |flag: Option<bool>| flag.map(|flag| f64::from(u8::from(flag)));
            array.as_boolean().iter().map(number).collect()
        }
        DataType::Int8 => converted::<Int8Type>(array, f64::from),
        DataType::Int16 => converted::<Int16Type>(array, f64::from),
        DataType::Int32 => converted::<Int32Type>(array, f64::from),
        DataType::Int64 => converted::<Int64Type>(array, |value| value as f64),
        DataType::UInt8 => converted::<UInt8Type>(array, f64::from),
        DataType::UInt16 => converted::<UInt16Type>(array, f64::from),
        DataType::UInt32 => converted::<UInt32Type>(array, f64::from),
        DataType::UInt64 => converted::<UInt64Type>(array, |value| value as f64),
        DataType::Float16 => converted::<Float16Type>(array, f64::from),
        DataType::Float32 => converted::<Float32Type>(array, f64::from),
        DataType::Float64 => array.as_primitive::<Float64Type>().clone(),
        DataType::Decimal32(..) => decimals::<Decimal32Type>(array, |value| Some(value.into())),
        DataType::Decimal64(..) => decimals::<Decimal64Type>(array, |value| Some(value.into())),
        DataType::Decimal128(..) => decimals::<Decimal128Type>(array, Some),
        DataType::Decimal256(..) => decimals::<Decimal256Type>(array, |value| value.to_i128()),
        DataType::Duration(unit) => durations(array, unit),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let values = numbers(dictionary.values())?;
            let value = |key| values.is_valid(key).then(|| values.value(key));
            dictionary_keys(array).map(|key| key.and_then(value)).collect()
        }
        kind => return Err(UnreadableValues::Type(kind.clone(), "numbers")),
    })
}

/// The texts of an array, row by row.
#[derive(Debug, Clone)]
pub struct ArrowTexts(TextForm);

/// The form in which texts are held.
#[derive(Debug, Clone)]
enum TextForm {
    /// The texts of all rows, one after the other, with offsets of 64 bits.
    Offsets64(LargeStringArray),
    /// The texts of all rows, one after the other, with offsets of 32 bits.
    Offsets32(StringArray),
    /// A view of each row's text; rows may share it.
    Views(StringViewArray),
    /// For each row the number of its text, and the texts of the dictionary.
    Dictionary(Vec<Option<usize>>, Box<ArrowTexts>),
}

impl ArrowTexts {
    /// The number of rows.
    pub fn len(&self) -> usize {
        match &self.0 {
            TextForm::Offsets64(texts) => texts.len(),
            TextForm::Offsets32(texts) => texts.len(),
            TextForm::Views(texts) => texts.len(),
            TextForm::Dictionary(numbers, _) => numbers.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text of a row; `None` for a null and beyond the last row.
    pub fn get(&self, row: usize) -> Option<&str> {
        match &self.0 {
            _ if row >= self.len() => None,
            TextForm::Offsets64(texts) => texts.is_valid(row).then(|| texts.value(row)),
            TextForm::Offsets32(texts) => texts.is_valid(row).then(|| texts.value(row)),
            TextForm::Views(texts) => texts.is_valid(row).then(|| texts.value(row)),
            TextForm::Dictionary(numbers, texts) => texts.get(numbers.get(row).copied().flatten()?),
        }
    }

    /// The texts of all rows.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&str>> {
        (0..self.len()).map(|row| self.get(row))
    }
}

impl From<LargeStringArray> for ArrowTexts {
    fn from(texts: LargeStringArray) -> ArrowTexts {
        ArrowTexts(TextForm::Offsets64(texts))
    }
}

/// The values as texts: integers and decimals with all their digits, booleans as `true` and
/// `false`, floats as Rust prints them.
///
/// # Errors
///
/// If the type has no text, or binary data is not UTF-8.
pub fn texts(array: &dyn Array) -> Result<ArrowTexts, UnreadableValues> {
    Ok(ArrowTexts(match array.data_type() {
        DataType::Utf8 => TextForm::Offsets32(array.as_string::<i32>().clone()),
        DataType::Utf8View => TextForm::Views(array.as_string_view().clone()),
        DataType::BinaryView => TextForm::Views(utf8_views(array)?),
        DataType::Dictionary(..) => {
            let values = texts(array.as_any_dictionary().values())?;
            TextForm::Dictionary(dictionary_keys(array).collect(), Box::new(values))
        }
        _ => TextForm::Offsets64(flat_texts(array)?),
    }))
}

/// The texts of arrays that hold the value of each row separately, also if values repeat.
fn flat_texts(array: &dyn Array) -> Result<LargeStringArray, UnreadableValues> {
    Ok(match array.data_type() {
        DataType::Null => LargeStringArray::new_null(array.len()),
        DataType::LargeUtf8 => array.as_string::<i64>().clone(),
        DataType::Binary => utf8(array.as_binary::<i32>().iter())?,
        DataType::LargeBinary => utf8(array.as_binary::<i64>().iter())?,
        DataType::FixedSizeBinary(_) => utf8(array.as_fixed_size_binary().iter())?,
        DataType::Boolean => printed(array.as_boolean().iter()),
        DataType::Int8 => printed(array.as_primitive::<Int8Type>().iter()),
        DataType::Int16 => printed(array.as_primitive::<Int16Type>().iter()),
        DataType::Int32 => printed(array.as_primitive::<Int32Type>().iter()),
        DataType::Int64 => printed(array.as_primitive::<Int64Type>().iter()),
        DataType::UInt8 => printed(array.as_primitive::<UInt8Type>().iter()),
        DataType::UInt16 => printed(array.as_primitive::<UInt16Type>().iter()),
        DataType::UInt32 => printed(array.as_primitive::<UInt32Type>().iter()),
        DataType::UInt64 => printed(array.as_primitive::<UInt64Type>().iter()),
        DataType::Float16 => printed(array.as_primitive::<Float16Type>().iter()),
        DataType::Float32 => printed(array.as_primitive::<Float32Type>().iter()),
        DataType::Float64 => printed(array.as_primitive::<Float64Type>().iter()),
        DataType::Decimal32(..) => decimal_texts::<Decimal32Type>(array),
        DataType::Decimal64(..) => decimal_texts::<Decimal64Type>(array),
        DataType::Decimal128(..) => decimal_texts::<Decimal128Type>(array),
        DataType::Decimal256(..) => decimal_texts::<Decimal256Type>(array),
        DataType::Duration(unit) => printed(durations(array, unit).iter()),
        kind => return Err(UnreadableValues::Type(kind.clone(), "texts")),
    })
}

/// The type of the items of a list type.
#[must_use]
pub fn list_item(kind: &DataType) -> Option<&DataType> {
    match kind {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            Some(item.data_type())
        }
        _ => None,
    }
}

/// The items of all lists of an array; [`list_range`] has the range of each row.
///
/// # Errors
///
/// If the array holds no lists.
pub fn list_values(array: &dyn Array) -> Result<&ArrayRef, UnreadableValues> {
    match array.data_type() {
        DataType::List(_) => Ok(array.as_list::<i32>().values()),
        DataType::LargeList(_) => Ok(array.as_list::<i64>().values()),
        DataType::FixedSizeList(..) => Ok(array.as_fixed_size_list().values()),
        kind => Err(UnreadableValues::Type(kind.clone(), "lists")),
    }
}

/// The range of a row's list among the items of all lists; `None` for a null and if there is no
/// such row or no list.
#[must_use]
pub fn list_range(array: &dyn Array, row: usize) -> Option<Range<usize>> {
    let range = match array.data_type() {
        _ if row >= array.len() || array.is_null(row) => return None,
        DataType::List(_) => {
            let offsets = array.as_list::<i32>().value_offsets();
            (*offsets.get(row)? as usize)..(*offsets.get(row + 1)? as usize)
        }
        DataType::LargeList(_) => {
            let offsets = array.as_list::<i64>().value_offsets();
            (*offsets.get(row)? as usize)..(*offsets.get(row + 1)? as usize)
        }
        DataType::FixedSizeList(..) => {
            let lists = array.as_fixed_size_list();
            let start = lists.value_offset(row) as usize;
            start..start + lists.value_length() as usize
        }
        _ => return None,
    };
    Some(range)
}

fn converted<T: ArrowPrimitiveType>(
    array: &dyn Array,
    number: impl Fn(T::Native) -> f64,
) -> Float64Array {
    array.as_primitive::<T>().unary(number)
}

/// Durations in seconds.
fn durations(array: &dyn Array, unit: &TimeUnit) -> Float64Array {
    match unit {
        TimeUnit::Second => converted::<DurationSecondType>(array, |value| value as f64),
        TimeUnit::Millisecond => {
            converted::<DurationMillisecondType>(array, |value| value as f64 / 1e3)
        }
        TimeUnit::Microsecond => {
            converted::<DurationMicrosecondType>(array, |value| value as f64 / 1e6)
        }
        TimeUnit::Nanosecond => {
            converted::<DurationNanosecondType>(array, |value| value as f64 / 1e9)
        }
    }
}

/// 10^22 is the largest power of ten that a double holds exactly.
const MAX_EXACT_EXPONENT: i8 = 22;
/// Integers up to this are exact as doubles.
const MAX_EXACT_INTEGER: u128 = 1 << 53;

/// Decimals as numbers: a decimal is an integer (`unscaled`) divided by 10^scale. If both are exact
/// as doubles, their quotient is correctly rounded; otherwise the digits are parsed as text.
fn decimals<T: DecimalType>(
    array: &dyn Array,
    unscaled: impl Fn(T::Native) -> Option<i128>,
) -> Float64Array {
    let array = array.as_primitive::<T>();
    let scale = array.scale();
    let number = |row: usize| {
        let unscaled = unscaled(array.value(row));
        let exact = unscaled.filter(|value| value.unsigned_abs() <= MAX_EXACT_INTEGER);
        match exact.filter(|_| (0..=MAX_EXACT_EXPONENT).contains(&scale)) {
            Some(value) => Some(value as f64 / 10f64.powi(scale.into())),
            None => array.value_as_string(row).parse().ok(),
        }
    };
    (0..array.len()).map(|row| array.is_valid(row).then(|| number(row)).flatten()).collect()
}

fn decimal_texts<T: DecimalType>(array: &dyn Array) -> LargeStringArray {
    let array = array.as_primitive::<T>();
    let text = |row| array.is_valid(row).then(|| array.value_as_string(row));
    (0..array.len()).map(text).collect()
}

fn printed<T: std::fmt::Display>(values: impl Iterator<Item = Option<T>>) -> LargeStringArray {
    values.map(|value| value.map(|value| value.to_string())).collect()
}

fn utf8<'a>(
    values: impl Iterator<Item = Option<&'a [u8]>>,
) -> Result<LargeStringArray, UnreadableValues> {
    let text = |(row, bytes): (usize, Option<&'a [u8]>)| {
        let text = bytes.map(std::str::from_utf8).transpose();
        text.map_err(|_| UnreadableValues::NotUtf8(row + 1))
    };
    values.enumerate().map(text).collect()
}

/// Views of bytes as views of texts.
fn utf8_views(array: &dyn Array) -> Result<StringViewArray, UnreadableValues> {
    let bytes = array.as_binary_view();
    let is_text =
        |bytes: Option<&[u8]>| bytes.is_none_or(|bytes| std::str::from_utf8(bytes).is_ok());
    let row = bytes.iter().position(|bytes| !is_text(bytes));
    let texts = bytes.clone().to_string_view();
    texts.map_err(|_| UnreadableValues::NotUtf8(row.map_or(0, |row| row + 1)))
}

/// The key of each row of a dictionary array; `None` for a null.
fn dictionary_keys(array: &dyn Array) -> impl Iterator<Item = Option<usize>> {
    let dictionary = array.as_any_dictionary();
    // `normalized_keys` panics if there are no values.
    let keys = match dictionary.values().is_empty() {
        true => vec![0; array.len()],
        false => dictionary.normalized_keys(),
    };
    let count = dictionary.values().len();
    let key = move |(row, key): (usize, usize)| (array.is_valid(row) && key < count).then_some(key);
    keys.into_iter().enumerate().map(key)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::builder::Decimal256Builder;
    use arrow_array::{
        BinaryArray, BinaryViewArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray,
        Int8Array, Int64Array, NullArray, UInt64Array,
    };

    use super::*;

    fn decimal(values: Vec<Option<i128>>, scale: i8) -> ArrayRef {
        let array = Decimal128Array::from(values).with_precision_and_scale(38, scale).unwrap();
        Arc::new(array)
    }

    fn dictionary(words: [Option<&str>; 3]) -> ArrayRef {
        Arc::new(words.into_iter().collect::<DictionaryArray<Int8Type>>())
    }

    #[test]
    fn numbers_of_every_type_keep_their_value_and_their_nulls() {
        let mut wide = Decimal256Builder::new().with_precision_and_scale(76, 2).unwrap();
        wide.append_value(arrow_buffer::i256::from_i128(-150));
        wide.append_null();
        let keys = Int8Array::from(vec![Some(1), None]);
        let values = Arc::new(Int64Array::from(vec![7, 8]));
        let arrays: [(ArrayRef, [Option<f64>; 2]); 7] = [
            (Arc::new(Int8Array::from(vec![Some(-3), None])), [Some(-3.0), None]),
            (Arc::new(UInt64Array::from(vec![u64::MAX, 1])), [Some(u64::MAX as f64), Some(1.0)]),
            (Arc::new(BooleanArray::from(vec![Some(true), None])), [Some(1.0), None]),
            (Arc::new(NullArray::new(2)), [None, None]),
            (decimal(vec![Some(125), None], 2), [Some(1.25), None]),
            (Arc::new(wide.finish()), [Some(-1.5), None]),
            (Arc::new(DictionaryArray::try_new(keys, values).unwrap()), [Some(8.0), None]),
        ];
        for (array, expected) in arrays {
            let found = numbers(&array).unwrap();
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{}", array.data_type());
            assert!(is_number(array.data_type()) || *array.data_type() == DataType::Null);
        }
    }

    #[test]
    fn decimals_are_the_nearest_double_also_beyond_what_a_quotient_can_do() {
        let digits = 123_456_789_012_345_678_901_234_567_i128;
        for scale in [0, 3, 22, 23, 30] {
            let array = decimal(vec![Some(digits), Some(3)], scale);
            for (value, text) in numbers(&array).unwrap().iter().zip(texts(&array).unwrap().iter())
            {
                assert_eq!(value, text.map(|text| text.parse().unwrap()), "{text:?}");
            }
        }
    }

    #[test]
    fn texts_keep_every_digit_and_every_null() {
        let arrays: [(ArrayRef, [Option<&str>; 2]); 7] = [
            (
                Arc::new(Int64Array::from(vec![Some(i64::MIN), None])),
                [Some("-9223372036854775808"), None],
            ),
            (
                Arc::new(StringViewArray::from(vec![Some("a longer text than twelve"), None])),
                [Some("a longer text than twelve"), None],
            ),
            (Arc::new(StringArray::from(vec![Some(""), None])), [Some(""), None]),
            (
                Arc::new(BinaryArray::from(vec!["d\u{e9}".as_bytes(), b"2"])),
                [Some("d\u{e9}"), Some("2")],
            ),
            (Arc::new(BooleanArray::from(vec![true, false])), [Some("true"), Some("false")]),
            (decimal(vec![Some(-5), None], 3), [Some("-0.005"), None]),
            (Arc::new(Float64Array::from(vec![10.5, 10.0])), [Some("10.5"), Some("10")]),
        ];
        for (array, expected) in arrays {
            let found = texts(&array).unwrap();
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{}", array.data_type());
        }
        let words = texts(&dictionary([Some("b"), None, Some("a")])).unwrap();
        assert_eq!(words.iter().collect::<Vec<_>>(), [Some("b"), None, Some("a")]);
        let repeated = texts(&dictionary([Some("same"); 3])).unwrap();
        let places: Vec<_> = repeated.iter().map(|text| text.map(str::as_ptr)).collect();
        assert!(places.iter().all(|place| place.is_some() && *place == places[0]));
        let nothing = texts(&dictionary([None; 3])).unwrap();
        assert_eq!(nothing.iter().collect::<Vec<_>>(), [None; 3]);
        let views = texts(&BinaryViewArray::from(vec!["d\u{e9}".as_bytes()])).unwrap();
        assert_eq!((views.get(0), views.get(1)), (Some("d\u{e9}"), None));
    }

    #[test]
    fn other_types_and_bytes_that_are_no_text_are_errors() {
        let days = Date32Array::from(vec![1]);
        let error = numbers(&days).unwrap_err();
        assert_eq!(error.to_string(), "values of type Date32 cannot be read as numbers");
        assert!(texts(&days).is_err());
        assert!(numbers(&dictionary([Some("1"), None, None])).is_err());
        let error = texts(&BinaryArray::from(vec![b"a".as_slice(), b"\xff"])).unwrap_err();
        assert_eq!(error, UnreadableValues::NotUtf8(2));
        let error = texts(&BinaryViewArray::from(vec![b"a".as_slice(), b"\xff"])).unwrap_err();
        assert_eq!(error, UnreadableValues::NotUtf8(2));
    }

    #[test]
    fn durations_are_seconds_in_every_unit() {
        use arrow_array::{DurationMillisecondArray, DurationNanosecondArray, DurationSecondArray};
        let arrays: [ArrayRef; 3] = [
            Arc::new(DurationSecondArray::from(vec![Some(90), None])),
            Arc::new(DurationMillisecondArray::from(vec![Some(90_000), None])),
            Arc::new(DurationNanosecondArray::from(vec![Some(90_000_000_000), None])),
        ];
        for array in &arrays {
            assert!(is_number(array.data_type()));
            let found: Vec<Option<f64>> = numbers(array).unwrap().iter().collect();
            assert_eq!(found, [Some(90.0), None]);
            assert_eq!(texts(array).unwrap().get(0), Some("90"));
        }
    }
}
