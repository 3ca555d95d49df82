//! Writes data sets as Parquet and Arrow IPC files: qid, docid, label, weight, query_weight,
//! position (if present), then one column per feature: 32-bit floats, or texts for categories. A
//! missing value is null.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, RecordBatch, StringArray, UInt32Array};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema as ArrowSchema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::metadata::Metadata;
use crate::dataset::{Dataset, LABEL_PREFIX};
use crate::format::table::check_writable;
use crate::table_columns::category_text;

/// The number of rows that are written as one group.
const ROWS_PER_GROUP: usize = 65536;

/// Writes Parquet, compressed with zstd, in groups of 65,536 rows.
pub(in crate::format) fn write_parquet(data: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    let entries = Metadata::of(data).entries()?.into_iter();
    let entries = entries.map(|(key, value)| KeyValue::new(key, value)).collect();
    let properties = WriterProperties::builder()
        .set_key_value_metadata(Some(entries))
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(ROWS_PER_GROUP))
        .build();
    // `ArrowWriter` needs an output that is `Send`, which `out` is not. So it writes to memory, and
    // the bytes are moved to `out` after each group.
    let mut writer = ArrowWriter::try_new(Vec::new(), schema_of(data)?, Some(properties))?;
    for batch in batches(data)? {
        writer.write(&batch?)?;
        writer.flush()?;
        out.write_all(&std::mem::take(writer.inner_mut()))?;
    }
    out.write_all(&writer.into_inner()?)
}

/// Writes an Arrow IPC file, not compressed, so that other programs can map it.
pub(in crate::format) fn write_arrow(data: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = FileWriter::try_new(out, &*schema_of(data)?).map_err(io::Error::other)?;
    for batch in batches(data)? {
        writer.write(&batch?).map_err(io::Error::other)?;
    }
    writer.finish().map_err(io::Error::other)
}

/// The columns of the file, with their types and the metadata.
fn schema_of(data: &Dataset) -> io::Result<SchemaRef> {
    let features_are_columns = true;
    check_writable(data.features(), features_are_columns)?;
    // Each column with whether the data set has it.
    let columns = [
        ("qid", DataType::Utf8, true),
        ("docid", DataType::Utf8, data.doc_ids().is_some()),
        ("label", DataType::Float64, data.is_labelled()),
        ("weight", DataType::Float32, data.row_weights().is_some()),
        ("query_weight", DataType::Float32, data.query_weights().is_some()),
        ("position", DataType::UInt32, data.positions().is_some()),
    ];
    let mut fields: Vec<Field> = columns
        .into_iter()
        .filter(|(.., is_present)| *is_present)
        .map(|(name, kind, _)| Field::new(name, kind, false))
        .collect();
    let labels = data.label_column_names().map(|name| format!("{LABEL_PREFIX}{name}"));
    fields.extend(labels.map(|name| Field::new(name, DataType::Float64, false)));
    let kind = |column: usize| match data.categories(column) {
        Some(_) => DataType::Utf8,
        None => DataType::Float32,
    };
    let features = data.features().iter().enumerate();
    fields.extend(features.map(|(column, name)| Field::new(name, kind(column), true)));
    let metadata = Metadata::of(data).entries()?.into_iter().collect();
    Ok(Arc::new(ArrowSchema::new_with_metadata(fields, metadata)))
}

/// The rows in the order of the input, in groups.
fn batches(data: &Dataset) -> io::Result<impl Iterator<Item = io::Result<RecordBatch>>> {
    let schema = schema_of(data)?;
    let order = data.rows_by_source();
    let query_of_row = data.query_of_rows();
    let groups = order.len().div_ceil(ROWS_PER_GROUP);
    Ok((0..groups).map(move |group| {
        let start = group * ROWS_PER_GROUP;
        let end = order.len().min(start + ROWS_PER_GROUP);
        batch_of(data, &schema, &order[start..end], &query_of_row)
    }))
}

/// These rows as arrays.
fn batch_of(
    data: &Dataset,
    schema: &SchemaRef,
    rows: &[u32],
    query_of_row: &[u32],
) -> io::Result<RecordBatch> {
    fn at<T: Copy>(values: &[T], row: u32) -> T {
        values[row as usize]
    }
    let strings = |texts: &mut dyn Iterator<Item = &str>| -> io::Result<ArrayRef> {
        let texts: Vec<&str> = texts.collect();
        if texts.iter().map(|text| text.len()).sum::<usize>() > i32::MAX as usize {
            return Err(io::Error::other("the ids of one group of rows take more than 2 GiB"));
        }
        Ok(Arc::new(StringArray::from_iter_values(texts)))
    };
    let query = |row: u32| at(query_of_row, row);
    let mut columns: Vec<ArrayRef> =
        vec![strings(&mut rows.iter().map(|&r| data.query_ids().get(query(r) as usize)))?];
    if let Some(doc_ids) = data.doc_ids() {
        columns.push(strings(&mut rows.iter().map(|&row| doc_ids.get(row as usize)))?);
    }
    if data.is_labelled() {
        let labels = rows.iter().map(|&row| at(data.labels(), row));
        columns.push(Arc::new(Float64Array::from_iter_values(labels)));
    }
    if let Some(weights) = data.row_weights() {
        let weights = rows.iter().map(|&row| at(weights, row));
        columns.push(Arc::new(Float32Array::from_iter_values(weights)));
    }
    if let Some(weights) = data.query_weights() {
        let weights = rows.iter().map(|&row| at(weights, query(row)));
        columns.push(Arc::new(Float32Array::from_iter_values(weights)));
    }
    if let Some(positions) = data.positions() {
        let positions = rows.iter().map(|&row| at(positions, row));
        columns.push(Arc::new(UInt32Array::from_iter_values(positions)));
    }
    for column in &data.label_columns {
        let labels = rows.iter().map(|&row| at(&column.labels, row));
        columns.push(Arc::new(Float64Array::from_iter_values(labels)));
    }
    for column in 0..data.columns() {
        let values = rows.iter().map(|&row| data.matrix().get(row as usize, column));
        if let Some(texts) = data.categories(column) {
            let values: StringArray = values.map(|value| category_text(texts, value)).collect();
            columns.push(Arc::new(values));
            continue;
        }
        let values: Float32Array = values.map(|value| (!value.is_nan()).then_some(value)).collect();
        columns.push(Arc::new(values));
    }
    RecordBatch::try_new(schema.clone(), columns).map_err(io::Error::other)
}
