//! Limits for untrusted Parquet files: a page of a few bytes can hold any number of equal values,
//! so that neither the size of a file nor its compression bounds the memory that reading takes.
//!
//! Columns of single values are read a few thousand rows at a time. A list is read whole; therefore
//! the numbers of values that the pages of list columns claim are added up before anything is read.

use std::sync::Arc;

use parquet::column::page::PageReader;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::serialized_reader::SerializedPageReader;

use crate::error::DataError;

/// The bytes of memory that a value of a list takes while it is read, with its repetition and
/// definition levels (2 bytes each).
const BYTES_OF_VALUE: u64 = 8;

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
    use arrow_array::{ArrayRef, RecordBatch};
    use parquet::arrow::ArrowWriter;
    use parquet::file::metadata::ParquetMetaDataReader;

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
}
