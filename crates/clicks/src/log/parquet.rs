//! Click logs as Parquet files: a row for each shown document, or for each page with lists of
//! documents and clicks. `columns.rs` has the roles of columns, `rows.rs` makes pages of rows.
//!
//! Files are untrusted: the sizes that they claim are compared with the memory that an input may
//! take, and panics of the crates that read them become errors.

use std::borrow::Cow;
use std::fmt;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, Float64Array, LargeStringArray, RecordBatch as ArrowBatch};
use arrow_schema::{DataType, TimeUnit};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use rankwright_data::arrow_values::{ArrowTexts, list_item, list_range, list_values, texts};
use rankwright_data::bytes::{Bytes, Input};
use rankwright_data::parquet_limits::{check_lists, check_pages, check_texts, with_text_views};
use rankwright_data::{DataError, FileDamage, SourceLocation, catch_panic, memory_limit};

use super::columns::LogRole;
use super::input::LogRows;
use super::options::LogOptions;
use super::record::RecordBatch;
use super::rows::{LogCell, RowGrouper, RowProblem, read_row};

/// Number of rows that are decoded at a time.
const READ_ROWS: usize = 1024;

/// Reads the rows of a Parquet file.
pub(super) fn read(
    input: Input,
    options: &LogOptions,
    send: &mut dyn FnMut(RecordBatch) -> bool,
) -> Result<(), DataError> {
    let Input { name, bytes, .. } = input;
    // Neither branch copies: the mapped file itself becomes the owner of the bytes.
    let bytes = match bytes {
        Bytes::Mapped(map) => ::bytes::Bytes::from_owner(map),
        Bytes::Owned(bytes) => ::bytes::Bytes::from(bytes),
    };
    let (mut reader, used) = open(&name, bytes, options)?;
    read_rows(&name, &used, || caught(&name, || reader.next().transpose()), send)
}

/// Reads rows in memory.
pub(super) fn read_table(
    name: &str,
    rows: &LogRows,
    options: &LogOptions,
    send: &mut dyn FnMut(RecordBatch) -> bool,
) -> Result<(), DataError> {
    let names: Vec<&String> = rows.schema.fields().iter().map(|field| field.name()).collect();
    let roles = options.columns.checked_roles(&names, SourceLocation::file(name))?;
    let (used, columns) = used_columns(&roles, &names);
    let arrow =
        |error| DataError::Damaged { file: name.to_owned(), damage: FileDamage::reader(error) };
    let projected: Result<Vec<ArrowBatch>, _> =
        rows.batches.iter().map(|batch| batch.project(&used)).collect();
    let mut batches = projected.map_err(arrow)?.into_iter();
    read_rows(name, &columns, || Ok(batches.next()), send)
}

/// Passes on the rows of batches that have the used columns.
fn read_rows(
    name: &str,
    used: &UsedColumns,
    mut next: impl FnMut() -> Result<Option<ArrowBatch>, DataError>,
    send: &mut dyn FnMut(RecordBatch) -> bool,
) -> Result<(), DataError> {
    let (mut grouper, mut first_row) = (RowGrouper::default(), 1);
    while let Some(rows) = next()? {
        let mut columns = Vec::with_capacity(used.len());
        for ((role, column_name), array) in used.iter().zip(rows.columns()) {
            let column = caught(name, || Ok::<_, NoReaderError>(LogColumn::new(array)))?;
            let unreadable = |kind: &DataType| {
                let location = SourceLocation::file(name).in_field(column_name);
                let expected = "texts, numbers, booleans or lists of them";
                DataError::malformed(location, format!("values of type {kind}"), expected)
            };
            columns.push((*role, column.map_err(|kind| unreadable(&kind))?));
        }
        let mut batch = RecordBatch::default();
        for row in 0..rows.num_rows() {
            let cells = columns.iter().map(|(role, column)| (*role, column.cell(row)));
            let row = read_row(cells).map_err(|RowProblem { role, found, expected }| {
                let line = first_row + row as u64;
                let column = used.iter().find(|(known, _)| *known == role);
                let column = column.map_or(role.name(), |(_, name)| name.as_str());
                let location = SourceLocation::line(name, line).in_field(column);
                DataError::malformed(location, found, expected)
            })?;
            grouper.add(row, &mut batch);
        }
        first_row += rows.num_rows() as u64;
        if !send(batch) {
            return Ok(());
        }
    }
    let mut batch = RecordBatch::default();
    grouper.finish(&mut batch);
    send(batch);
    Ok(())
}

/// Opens a file: the reader of the columns that have a role, and these roles.
fn open(
    name: &str,
    bytes: ::bytes::Bytes,
    options: &LogOptions,
) -> Result<(ParquetRecordBatchReader, UsedColumns), DataError> {
    let metadata = caught(name, || {
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        with_text_views(&ArrowReaderMetadata::load(&bytes, options)?)
    })?;
    let limit = memory_limit();
    // A list is decoded as a whole, however few rows are read at a time.
    check_pages(name, &bytes, metadata.metadata(), limit)?;
    caught(name, || {
        Ok::<_, NoReaderError>(check_lists(name, &bytes, metadata.metadata(), limit))
    })??;
    caught(name, || Ok::<_, NoReaderError>(check_texts(name, &bytes, &metadata, limit)))??;
    let names: Vec<&String> = metadata.schema().fields().iter().map(|f| f.name()).collect();
    let roles = options.columns.checked_roles(&names, SourceLocation::file(name))?;
    let (used, columns) = used_columns(&roles, &names);
    let reader = caught(name, || {
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(bytes, metadata);
        let mask = ProjectionMask::roots(builder.parquet_schema(), used);
        builder.with_projection(mask).with_batch_size(READ_ROWS).build()
    })?;
    Ok((reader, columns))
}

/// Roles and names of the columns that are read.
type UsedColumns = Vec<(LogRole, String)>;

/// The places of the columns that have a role, and their roles and names.
fn used_columns(roles: &[Option<LogRole>], names: &[&String]) -> (Vec<usize>, UsedColumns) {
    let used = roles.iter().zip(names).enumerate().filter_map(|(column, (role, name))| {
        let role = (*role)?;
        Some((column, (role, name.to_string())))
    });
    used.unzip()
}

/// For [`caught`]: work that returns its own errors as part of its value, so that only panics are
/// caught.
type NoReaderError = std::convert::Infallible;

/// Runs code of other crates on untrusted bytes; its errors and panics are reported as damage of
/// the file.
fn caught<T, E: fmt::Display>(
    file: &str,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, DataError> {
    let damage = match catch_panic(work) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => FileDamage::reader(error),
        Err(message) => FileDamage::panic(&message),
    };
    Err(DataError::Damaged { file: file.to_owned(), damage })
}

/// A column of decoded rows.
enum LogColumn {
    Texts(ArrowTexts),
    /// Seconds since 1970.
    Times(Float64Array),
    /// The lists, and the texts of all their items.
    Lists(ArrayRef, ArrowTexts),
}

impl LogColumn {
    /// The column of an array; the error is the type of the array, if a log cannot have it.
    fn new(array: &ArrayRef) -> Result<LogColumn, DataType> {
        let kind = || array.data_type().clone();
        if list_item(array.data_type()).is_some() {
            let items = list_values(array).and_then(|items| match times(items) {
                Some(times) => Ok(ArrowTexts::from(printed(&times))),
                None => texts(items),
            });
            let items = items.map_err(|_| kind())?;
            return Ok(LogColumn::Lists(array.clone(), items));
        }
        match times(array) {
            Some(times) => Ok(LogColumn::Times(times)),
            None => Ok(LogColumn::Texts(texts(array).map_err(|_| kind())?)),
        }
    }

    fn cell(&self, row: usize) -> LogCell<'_> {
        let text = match self {
            LogColumn::Texts(texts) => texts.get(row).map(Cow::Borrowed),
            LogColumn::Times(times) => {
                times.is_valid(row).then(|| Cow::Owned(times.value(row).to_string()))
            }
            LogColumn::Lists(lists, items) => {
                let item = |item| Cow::Borrowed(items.get(item).unwrap_or_default());
                return list_range(lists, row)
                    .map_or(LogCell::Missing, |range| LogCell::List(range.map(item).collect()));
            }
        };
        text.filter(|text| !text.is_empty()).map_or(LogCell::Missing, LogCell::Text)
    }
}

fn printed(values: &Float64Array) -> LargeStringArray {
    values.iter().map(|value| value.map(|value| value.to_string())).collect()
}

/// The seconds since 1970 of an array of dates or points in time; `None` for another type.
fn times(array: &ArrayRef) -> Option<Float64Array> {
    let seconds = |value: i64, unit: f64| value as f64 / unit;
    Some(match array.data_type() {
        DataType::Timestamp(TimeUnit::Second, _) => {
            array.as_primitive::<TimestampSecondType>().unary(|value| value as f64)
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            array.as_primitive::<TimestampMillisecondType>().unary(|value| seconds(value, 1e3))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            array.as_primitive::<TimestampMicrosecondType>().unary(|value| seconds(value, 1e6))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            array.as_primitive::<TimestampNanosecondType>().unary(|value| seconds(value, 1e9))
        }
        DataType::Date32 => {
            array.as_primitive::<Date32Type>().unary(|days| f64::from(days) * 86_400.0)
        }
        DataType::Date64 => array.as_primitive::<Date64Type>().unary(|value| seconds(value, 1e3)),
        _ => return None,
    })
}
