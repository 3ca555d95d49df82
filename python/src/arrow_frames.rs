//! Frames by the Arrow C stream interface: Polars, pyarrow and everything else that has
//! `__arrow_c_stream__`.
//!
//! Columns of numbers and booleans are features as they are, nulls are missing values, and
//! dictionaries of texts (categorical columns) become categories as in a file.

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{DataType, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use rankwright::data::arrow_values::{is_number, numbers, texts};
use rankwright::data::{DataError, Encoding};
use rayon::prelude::*;

use crate::arrays::ColumnView;
use crate::errors::of_kind;

/// A frame as batches of rows.
pub(crate) struct ArrowFrame {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

/// A column as features: values that were converted, or a view of the frame's own numbers.
pub(crate) struct FeatureColumn {
    values: Vec<f32>,
    own_numbers: Option<ColumnView>,
    pub(crate) encoding: Encoding,
}

impl FeatureColumn {
    fn converted(values: Vec<f32>, encoding: Encoding) -> Self {
        FeatureColumn { values, own_numbers: None, encoding }
    }

    /// The values; they live as long as this column and its frame.
    pub(crate) fn view(&self) -> ColumnView {
        self.own_numbers.unwrap_or_else(|| ColumnView::of_slice(&self.values))
    }
}

impl ArrowFrame {
    /// Reads the whole frame; its values stay in the memory of its owner.
    pub(crate) fn read(frame: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = frame.py();
        let failed =
            |error: String| of_kind(py, "arrow", &format!("cannot read the frame: {error}"), None);
        let capsule = frame.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
        let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
        let stream = pointer.cast::<FFI_ArrowArrayStream>().as_ptr();
        // SAFETY: a capsule of this name holds a valid stream; the reader takes it out of the
        // capsule and leaves a released one.
        let reader = unsafe { ArrowArrayStreamReader::from_raw(stream) };
        let reader = reader.map_err(|error| failed(error.to_string()))?;
        let schema = reader.schema();
        let batches =
            reader.collect::<Result<_, _>>().map_err(|error| failed(error.to_string()))?;
        Ok(ArrowFrame { schema, batches })
    }

    /// The columns, and the batches of rows.
    pub(crate) fn into_parts(self) -> (SchemaRef, Vec<RecordBatch>) {
        (self.schema, self.batches)
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The place of a column; an exception that lists the columns if there is none of this name.
    pub(crate) fn column(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        self.schema.index_of(name).map_err(|_| {
            let names: Vec<&str> =
                self.schema.fields().iter().map(|field| field.name().as_str()).collect();
            let message = format!("the frame has no column '{name}'; it has {}", names.join(", "));
            of_kind(py, "no-such-column", &message, None)
        })
    }

    /// An exception if a column cannot be a feature.
    pub(crate) fn check_feature(&self, py: Python<'_>, column: usize) -> PyResult<()> {
        let field = self.schema.field(column);
        if is_category(field.data_type())
            || is_number(field.data_type())
            || *field.data_type() == DataType::Null
        {
            return Ok(());
        }
        let kind = match field.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text".to_owned(),
            other => other.to_string(),
        };
        let message = format!("column '{}' has the type {kind}, which is no feature", field.name());
        let help = "make it numbers or a categorical column, or leave it out";
        Err(of_kind(py, "column-type", &message, Some(help)))
    }

    /// The texts of a column, such as query ids; an exception for a null.
    pub(crate) fn texts(&self, py: Python<'_>, column: usize) -> PyResult<Vec<String>> {
        let name = self.schema.field(column).name();
        let mut all = Vec::with_capacity(self.rows());
        for batch in &self.batches {
            let found = texts(batch.column(column)).map_err(|error| {
                of_kind(
                    py,
                    "column-type",
                    &format!("column '{name}': {error}"),
                    error.help().as_deref(),
                )
            })?;
            for text in found.iter() {
                let Some(text) = text else {
                    let message = format!("column '{name}' has a null in row {}", all.len() + 1);
                    return Err(of_kind(py, "null-id", &message, None));
                };
                all.push(text.to_owned());
            }
        }
        Ok(all)
    }

    /// Columns as features; they have passed [`check_feature`](Self::check_feature).
    pub(crate) fn features(&self, columns: &[usize]) -> Result<Vec<FeatureColumn>, DataError> {
        columns.par_iter().map(|&column| self.feature(column)).collect()
    }

    fn feature(&self, column: usize) -> Result<FeatureColumn, DataError> {
        let field = self.schema.field(column);
        let arrays = || self.batches.iter().map(|batch| batch.column(column));
        if is_category(field.data_type()) {
            return categories(arrays());
        }
        if let [batch] = self.batches.as_slice()
            && let Some(view) = numbers_without_nulls(batch.column(column))
        {
            let own_numbers = Some(view);
            return Ok(FeatureColumn {
                values: Vec::new(),
                own_numbers,
                encoding: Encoding::Number,
            });
        }
        let mut values: Vec<f32> = Vec::with_capacity(self.rows());
        for array in arrays() {
            if array.data_type() == &DataType::Float32 && array.null_count() == 0 {
                values.extend_from_slice(array.as_primitive::<Float32Type>().values());
                continue;
            }
            for number in numbers(array).map_err(unreadable)?.iter() {
                let value = number.map_or(f32::NAN, |number| number as f32);
                if let Some(number) =
                    number.filter(|number| value.is_infinite() && number.is_finite())
                {
                    let (feature, row) = (field.name().clone(), values.len());
                    return Err(DataError::FeatureOutOfRange { feature, row, value: number });
                }
                values.push(value);
            }
        }
        Ok(FeatureColumn::converted(values, Encoding::Number))
    }
}

/// The numbers of a column without nulls, if they need no conversion before they are copied.
fn numbers_without_nulls(array: &ArrayRef) -> Option<ColumnView> {
    if array.null_count() > 0 {
        return None;
    }
    match array.data_type() {
        DataType::Float32 => {
            Some(ColumnView::of_slice(array.as_primitive::<Float32Type>().values()))
        }
        DataType::Float64 => {
            Some(ColumnView::of_slice(array.as_primitive::<Float64Type>().values()))
        }
        DataType::Int64 => Some(ColumnView::of_slice(array.as_primitive::<Int64Type>().values())),
        DataType::Int32 => Some(ColumnView::of_slice(array.as_primitive::<Int32Type>().values())),
        _ => None,
    }
}

/// Whether a type of columns is categorical.
fn is_category(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, texts) => {
            matches!(**texts, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
        }
        _ => false,
    }
}

/// Categories of the texts of all batches, whose dictionaries may differ.
fn categories<'a>(arrays: impl Iterator<Item = &'a ArrayRef>) -> Result<FeatureColumn, DataError> {
    let mut known: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
    let mut numbers: Vec<Option<usize>> = Vec::new();
    for array in arrays {
        for text in texts(array).map_err(unreadable)?.iter() {
            let number = text.map(|text| match known.get(text) {
                Some(&number) => number,
                None => {
                    let number = known.len();
                    known.insert(text.to_owned(), number);
                    number
                }
            });
            numbers.push(number);
        }
    }
    let mut all: Vec<(usize, String)> =
        known.into_iter().map(|(text, number)| (number, text)).collect();
    all.sort_unstable();
    let all: Vec<String> = all.into_iter().map(|(_, text)| text).collect();
    let (encoding, values) = Encoding::categories(&all, numbers);
    Ok(FeatureColumn::converted(values, encoding))
}

/// The types were checked before, so that only damaged texts remain.
fn unreadable(_: rankwright::data::arrow_values::UnreadableValues) -> DataError {
    DataError::Internal { invariant: "the types of the columns of a frame were checked" }
}
