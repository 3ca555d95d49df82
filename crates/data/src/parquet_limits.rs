//! Limits for untrusted Parquet files: a page of a few bytes can hold any number of equal values,
//! so that neither the size of a file nor its compression bounds the memory that reading takes.
//!
//! - A page is decompressed whole, and may be of 2 GB; therefore the sizes that the headers of pages
//!   claim are looked at before anything is read ([`check_pages`]).
//! - Numbers are read a few thousand rows at a time.
//! - A list is read whole; therefore the numbers of values that the pages of list columns claim are
//!   added up before anything is read ([`check_lists`]).
//! - A text of a dictionary can be that of every row. [`with_text_views`] makes the reader return
//!   views, which hold it once.
//! - Texts that are written as changes of the text before (`DELTA_BYTE_ARRAY`) cannot be held once.
//!   Where they could be too long, they are read a few rows at a time and their bytes are counted;
//!   values of a fixed length take that length in every row ([`check_texts`]).

mod page_sizes;

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Schema};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_schema};
use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::PageReader;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::serialized_reader::SerializedPageReader;

use crate::arrow_values::texts;
use crate::error::DataError;
use crate::panics::catch_panic;
use page_sizes::largest_page;

/// The bytes of memory that a value of a list takes while it is read, with its repetition and
/// definition levels (2 bytes each).
const BYTES_OF_VALUE: u64 = 8;

/// About the most bytes of text that are read at a time to count them.
const COUNTED_BYTES: u64 = 16 << 20;

/// The same file, read with views of texts and bytes in place of texts and bytes, and with the units
/// of durations.
pub fn with_text_views(
    metadata: &ArrowReaderMetadata,
) -> Result<ArrowReaderMetadata, ParquetError> {
    let durations = durations(metadata);
    let fields = metadata.schema().fields().iter();
    let with_unit = |field: Field| match durations.get(field.name()) {
        Some(kind) if *field.data_type() == DataType::Int64 => field.with_data_type(kind.clone()),
        _ => field,
    };
    let fields: Vec<Field> = fields.map(|field| with_unit(with_views(field))).collect();
    let options = ArrowReaderOptions::new().with_schema(Arc::new(Schema::new(fields)));
    ArrowReaderMetadata::try_new(metadata.metadata().clone(), options)
}

/// The types of durations, by column. Parquet has no such type: writers store whole numbers, and
/// their unit only in the Arrow schema that they embed. Nothing else of that schema is used, and one
/// that is damaged is left out.
fn durations(metadata: &ArrowReaderMetadata) -> HashMap<String, DataType> {
    let file = metadata.metadata().file_metadata();
    let schema =
        catch_panic(|| parquet_to_arrow_schema(file.schema_descr(), file.key_value_metadata()));
    let fields = schema.ok().and_then(Result::ok).map(|schema| schema.fields().clone());
    let is_duration = |field: &&FieldRef| matches!(field.data_type(), DataType::Duration(_));
    let fields = fields.iter().flat_map(|fields| fields.iter()).filter(is_duration);
    fields.map(|field| (field.name().clone(), field.data_type().clone())).collect()
}

/// The field with views, also in lists and structs.
fn with_views(field: &Field) -> Field {
    let kind = match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        DataType::List(item) => DataType::List(Arc::new(with_views(item))),
        DataType::Struct(fields) => {
            DataType::Struct(fields.iter().map(|field| Arc::new(with_views(field))).collect())
        }
        kind => kind.clone(),
    };
    field.clone().with_data_type(kind)
}

/// Rejects a file whose rows take more than `limit` bytes, if each takes `bytes_of_row`.
pub fn check_rows(
    file: &str,
    metadata: &ParquetMetaData,
    bytes_of_row: u64,
    limit: u64,
) -> Result<(), DataError> {
    let rows = u64::try_from(metadata.file_metadata().num_rows()).unwrap_or(0);
    check(file, rows.saturating_mul(bytes_of_row), limit)
}

/// Rejects a file with a group of rows of which one page of every column, the largest, takes more
/// than `limit` bytes together with the dictionaries: the reader holds a page of each. Headers that
/// cannot be read are left for the reader to report.
pub fn check_pages(
    file: &str,
    bytes: &[u8],
    metadata: &ParquetMetaData,
    limit: u64,
) -> Result<(), DataError> {
    for group in metadata.row_groups() {
        let pages = group.columns().iter().filter_map(|column| largest_page(bytes, column));
        check(file, pages.fold(0, u64::saturating_add), limit)?;
    }
    Ok(())
}

/// Rejects a file with a group of rows whose lists take more than `limit` bytes. Pages that cannot
/// be read are left for the reader to report.
pub fn check_lists(
    file: &str,
    bytes: &bytes::Bytes,
    metadata: &ParquetMetaData,
    limit: u64,
) -> Result<(), DataError> {
    let bytes = Arc::new(bytes.clone());
    // List columns are those with repetition levels.
    for group in metadata.row_groups() {
        let rows = usize::try_from(group.num_rows()).unwrap_or(0);
        let lists =
            group.columns().iter().filter(|column| column.column_descr().max_rep_level() > 0);
        let mut values = 0_u64;
        for column in lists {
            values = values.saturating_add(claimed_values(&bytes, column, rows).unwrap_or(0));
            check(file, values.saturating_mul(BYTES_OF_VALUE), limit)?;
        }
    }
    Ok(())
}

/// Rejects a file with a group of rows whose texts and bytes take more than `limit` bytes, although
/// they are read as views. Pages that cannot be read are left for the reader to report.
pub fn check_texts(
    file: &str,
    bytes: &bytes::Bytes,
    metadata: &ArrowReaderMetadata,
    limit: u64,
) -> Result<(), DataError> {
    let shared = Arc::new(bytes.clone());
    for (number, group) in metadata.metadata().row_groups().iter().enumerate() {
        let rows = usize::try_from(group.num_rows()).unwrap_or(0);
        let mut sum = 0_u64;
        for (leaf, column) in group.columns().iter().enumerate() {
            let taken = match column.column_type() {
                Type::BYTE_ARRAY => {
                    let longest = longest_change(&shared, column, rows).unwrap_or(0);
                    let room = limit.saturating_sub(sum);
                    let column = TextColumn { bytes, metadata, group: number, leaf, rows, longest };
                    column.text_bytes(room)
                }
                Type::FIXED_LEN_BYTE_ARRAY => {
                    let length = column.column_descr().type_length();
                    (rows as u64).saturating_mul(u64::try_from(length).unwrap_or(0))
                }
                _ => 0,
            };
            sum = sum.saturating_add(taken);
            check(file, sum, limit)?;
        }
    }
    Ok(())
}

/// The most bytes that a text can have that is written as a change of the one before: the bytes of
/// its page. 0 if the column has no such texts.
fn longest_change(
    bytes: &Arc<bytes::Bytes>,
    column: &ColumnChunkMetaData,
    rows: usize,
) -> Result<u64, ParquetError> {
    // Pages are not decompressed if the column claims that they are not compressed.
    let builder = column.clone().into_builder().set_compression(Compression::UNCOMPRESSED);
    let mut pages = SerializedPageReader::new(bytes.clone(), &builder.build()?, rows, None)?;
    let mut has_changes = false;
    while let Some(page) = pages.get_next_page()? {
        has_changes |= page.encoding() == Encoding::DELTA_BYTE_ARRAY;
    }
    let mut longest = 0;
    if has_changes {
        let mut pages = SerializedPageReader::new(bytes.clone(), column, rows, None)?;
        while let Some(page) = pages.get_next_page()? {
            if page.encoding() == Encoding::DELTA_BYTE_ARRAY {
                longest = longest.max(page.buffer().len() as u64);
            }
        }
    }
    Ok(longest)
}

/// A column of texts in a group of rows.
struct TextColumn<'a> {
    bytes: &'a bytes::Bytes,
    metadata: &'a ArrowReaderMetadata,
    /// The number of the group of rows, from 0.
    group: usize,
    /// The number of the column, from 0, among the leaves of the file's schema.
    leaf: usize,
    /// The number of rows of the group.
    rows: usize,
    /// The most bytes of a text that is written as a change.
    longest: u64,
}

impl TextColumn<'_> {
    /// The bytes that the texts of the column take; only an upper bound if that is not above
    /// `limit`, or if the column is a list.
    fn text_bytes(&self, limit: u64) -> u64 {
        let bound = self.longest.saturating_mul(self.rows as u64);
        let is_list = self.metadata.parquet_schema().column(self.leaf).max_rep_level() > 0;
        match bound <= limit || is_list {
            true => bound,
            false => self.counted(limit),
        }
    }

    /// Reads a few rows at a time and adds up the bytes of their texts, until they are above
    /// `limit`.
    fn counted(&self, limit: u64) -> u64 {
        let batch_rows = (COUNTED_BYTES / self.longest.max(1)).clamp(1, 8192) as usize;
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(
            self.bytes.clone(),
            self.metadata.clone(),
        );
        let mask = ProjectionMask::leaves(builder.parquet_schema(), [self.leaf]);
        let builder = builder.with_projection(mask).with_row_groups(vec![self.group]);
        let Ok(reader) = builder.with_batch_size(batch_rows).build() else { return 0 };
        let mut sum = 0_u64;
        for batch in reader.map_while(Result::ok) {
            for column in batch.columns() {
                let Ok(texts) = texts(column) else { continue };
                let lengths = texts.iter().flatten().map(|text| text.len() as u64);
                sum = sum.saturating_add(lengths.sum());
            }
            if sum > limit {
                break;
            }
        }
        sum
    }
}

fn check(file: &str, bytes: u64, limit: u64) -> Result<(), DataError> {
    match bytes <= limit {
        true => Ok(()),
        false => Err(DataError::ContentTooLarge { file: file.to_owned(), limit }),
    }
}

/// The number of values that the pages of a column claim to have; their content is not read.
fn claimed_values(
    bytes: &Arc<bytes::Bytes>,
    column: &ColumnChunkMetaData,
    rows: usize,
) -> Result<u64, ParquetError> {
    let mut pages = SerializedPageReader::new(bytes.clone(), column, rows, None)?;
    let mut values = 0_u64;
    while let Some(page) = pages.peek_next_page()? {
        if !page.is_dict {
            let claimed = page.num_levels.or(page.num_rows).unwrap_or(0);
            values = values.saturating_add(claimed as u64);
        }
        pages.skip_next_page()?;
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use arrow_array::builder::{Float32Builder, ListBuilder};
    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::file::metadata::ParquetMetaDataReader;
    use parquet::file::properties::WriterProperties;

    use super::*;

    /// A file of some kilobytes with a list of a million equal values in each of two rows.
    #[test]
    fn long_lists_and_many_rows_are_refused_by_the_sizes_that_they_claim() {
        let mut lists = ListBuilder::new(Float32Builder::new());
        (0..2).for_each(|_| lists.append_value(std::iter::repeat_n(Some(1.0), 1_000_000)));
        let lists: ArrayRef = Arc::new(lists.finish());
        let batch = RecordBatch::try_from_iter([("features", lists)]).unwrap();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        let file = bytes::Bytes::from(writer.into_inner().unwrap());
        assert!(file.len() < 1 << 16, "{}", file.len());
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&file).unwrap();
        // Two million values of 8 bytes.
        assert!(check_lists("p", &file, &metadata, 16_000_000).is_ok());
        let error = check_lists("p", &file, &metadata, 15_999_999).unwrap_err().to_string();
        assert_eq!(error, "the content of p takes more than 15 MiB, the limit for an input");
        assert!(check_rows("p", &metadata, 12, 24).is_ok());
        assert!(check_rows("p", &metadata, 12, 23).is_err());
    }

    /// A file with the same long text in every row, in an encoding.
    fn equal_texts(rows: usize, length: usize, encoding: Option<Encoding>) -> bytes::Bytes {
        let text = "x".repeat(length);
        let texts: ArrayRef = Arc::new(StringArray::from(vec![text.as_str(); rows]));
        let batch = RecordBatch::try_from_iter([("id", texts)]).unwrap();
        let properties = WriterProperties::builder().set_dictionary_enabled(encoding.is_none());
        let properties = match encoding {
            Some(encoding) => properties.set_encoding(encoding),
            None => properties,
        };
        let properties = Some(properties.build());
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), properties).unwrap();
        writer.write(&batch).unwrap();
        bytes::Bytes::from(writer.into_inner().unwrap())
    }

    /// Numbers that compress well: their pages take much more than the file.
    #[test]
    fn pages_that_unpack_to_more_than_the_limit_are_refused_before_they_do() {
        let values = arrow_array::Float64Array::from_iter_values((0..400_000).map(|row| {
            // No two rows are equal, so that there is no dictionary.
            f64::from(row) * 2.0_f64.powi(-30)
        }));
        let values: ArrayRef = Arc::new(values);
        let batch = RecordBatch::try_from_iter([("a", values.clone()), ("b", values)]).unwrap();
        let zstd = Compression::ZSTD(parquet::basic::ZstdLevel::default());
        let properties = WriterProperties::builder()
            .set_compression(zstd)
            .set_dictionary_enabled(false)
            .set_data_page_row_count_limit(100_000)
            .set_data_page_size_limit(1 << 30)
            .set_write_batch_size(100_000);
        let properties = Some(properties.build());
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), properties).unwrap();
        writer.write(&batch).unwrap();
        let file = bytes::Bytes::from(writer.into_inner().unwrap());
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&file).unwrap();
        // A page of each column: 100,000 values of 8 bytes, and a little for levels.
        let limit = 2 * 100_000 * 8;
        assert!(check_pages("p", &file, &metadata, limit + 1000).is_ok());
        let error = check_pages("p", &file, &metadata, limit - 1).unwrap_err();
        assert!(matches!(error, DataError::ContentTooLarge { .. }), "{error}");
        // Damaged headers are left for the reader.
        let mut damaged = file.to_vec();
        damaged.iter_mut().take(file.len() / 2).for_each(|byte| *byte = 0xff);
        assert!(check_pages("p", &damaged, &metadata, 10).is_ok());
    }

    fn opened(file: &bytes::Bytes) -> ArrowReaderMetadata {
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        with_text_views(&ArrowReaderMetadata::load(file, options).unwrap()).unwrap()
    }

    /// 2,000 rows of 50,000 bytes: 100 MB of text in a file of less than 100 KB.
    #[test]
    fn texts_that_are_changes_of_the_one_before_are_counted() {
        let file = equal_texts(2000, 50_000, Some(Encoding::DELTA_BYTE_ARRAY));
        assert!(file.len() < 100_000, "{}", file.len());
        let metadata = opened(&file);
        assert!(check_texts("p", &file, &metadata, 100_000_000).is_ok());
        let error = check_texts("p", &file, &metadata, 99_999_999).unwrap_err();
        assert!(matches!(error, DataError::ContentTooLarge { limit: 99_999_999, .. }));
    }

    #[test]
    fn a_text_of_a_dictionary_is_held_once() {
        let file = equal_texts(2000, 50_000, None);
        assert!(file.len() < 100_000, "{}", file.len());
        let metadata = opened(&file);
        assert!(check_texts("p", &file, &metadata, 0).is_ok());
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
        let mut reader = builder.with_batch_size(2000).build().unwrap();
        let batch = reader.next().unwrap().unwrap();
        assert_eq!(batch.num_rows(), 2000);
        assert!(batch.get_array_memory_size() < 1_000_000, "{}", batch.get_array_memory_size());
    }
}
