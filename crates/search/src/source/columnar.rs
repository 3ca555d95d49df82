//! Documents as rows of a Parquet file.
//!
//! The id is the column `id`, or one with another name listed in `id.rs`, else the first column,
//! and may be a whole number. Texts, dates and times (in ISO form) become texts; numbers become
//! numbers, and booleans 0 or 1; durations become seconds; lists become several texts. The columns of
//! a struct are named `outer.inner`, as in JSON lines. Columns of other types, such as maps and lists
//! of structs, are skipped, each counted once. A null is absent. Files are untrusted, and the crates used here panic on some
//! damaged files: such a panic becomes an error.

mod timestamps;

use std::fmt;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch};
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use rankwright_data::arrow_values::{
    ArrowTexts, UnreadableValues, is_number, list_item, list_range, list_values, numbers, texts,
};
use rankwright_data::bytes::{Bytes, Input};
use rankwright_data::parquet_limits::{check_lists, check_pages, check_texts, with_text_views};
use rankwright_data::{
    DataError, FileDamage, SourceLocation, WarningKind, Warnings, catch_panic, memory_limit,
};

use super::{DocumentReader, id};
use crate::document::{Document, Value};
use crate::error::SearchError;

/// Number of rows that are decoded at a time.
const READ_ROWS: usize = 1024;

/// Reads the rows of a Parquet file as documents.
pub(super) struct Parquet {
    name: String,
    /// Number of bytes of the file.
    length: u64,
    /// Number of rows of the file.
    rows: u64,
    /// Number of rows returned so far.
    returned: u64,
    /// The most bytes of the texts of a document.
    limit: u64,
    reader: ParquetRecordBatchReader,
    /// The rows that were decoded last.
    batch: Option<Batch>,
}

impl Parquet {
    pub(super) fn open(input: Input) -> Result<Parquet, SearchError> {
        let Input { name, bytes, .. } = input;
        let length = bytes.len() as u64;
        // Neither branch copies: the mapped file itself becomes the owner of the bytes.
        let bytes = match bytes {
            Bytes::Mapped(map) => ::bytes::Bytes::from_owner(map),
            Bytes::Owned(bytes) => ::bytes::Bytes::from(bytes),
        };
        let limit = memory_limit();
        let (reader, rows, fits) = catch_file_damage(&name, || {
            let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
            let metadata = with_text_views(&ArrowReaderMetadata::load(&bytes, options)?)?;
            // A list is decoded as a whole, however few rows are read at a time: its size is
            // checked before. So are texts that can be much longer than the file.
            let fits = check_pages(&name, &bytes, metadata.metadata(), limit)
                .and_then(|()| check_lists(&name, &bytes, metadata.metadata(), limit))
                .and_then(|()| check_texts(&name, &bytes, &metadata, limit));
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(bytes, metadata);
            let rows = u64::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
            let reader = builder.with_batch_size(READ_ROWS).build()?;
            Ok::<_, parquet::errors::ParquetError>((reader, rows, fits))
        })?;
        fits?;
        Ok(Parquet { name, length, rows, returned: 0, limit, reader, batch: None })
    }

    /// Decodes the next rows; `None` at the end.
    fn next_batch(&mut self, warnings: &mut Warnings) -> Option<Result<Batch, SearchError>> {
        let reader = &mut self.reader;
        let is_first = self.returned == 0;
        let batch = catch_file_damage(&self.name, || {
            reader.next().map(|batch| Ok::<_, ReadError>(Batch::new(&batch?)?)).transpose()
        });
        let mut batch = match batch {
            Ok(batch) => batch?,
            Err(error) => return Some(Err(error)),
        };
        if is_first {
            let skipped = std::mem::take(&mut batch.skipped);
            for column in skipped {
                let location = || SourceLocation::file(&self.name).in_field(column);
                warnings.add(WarningKind::SkippedValues, 1, location);
            }
        }
        Some(Ok(batch))
    }
}

/// An error while a batch is decoded.
#[derive(Debug, thiserror::Error)]
enum ReadError {
    #[error(transparent)]
    Arrow(#[from] arrow_schema::ArrowError),
    #[error(transparent)]
    Values(#[from] UnreadableValues),
}

/// Runs code of other crates on untrusted bytes; its errors and panics are reported as damage of
/// the file.
fn catch_file_damage<T, E: fmt::Display>(
    file: &str,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, SearchError> {
    let damage = match catch_panic(work) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => FileDamage::reader(error),
        Err(message) => FileDamage::panic(&message),
    };
    Err(DataError::Damaged { file: file.to_owned(), damage }.into())
}

/// A column of a batch, converted to one of few types.
enum TypedColumn {
    Text(ArrowTexts),
    Number(Float64Array),
    /// Bytes that are read as text.
    Binary(ArrayRef),
    /// The lists, and the texts of all their items.
    List(ArrayRef, ArrowTexts),
}

/// The most levels of structs within structs whose columns are read.
const MAX_DEPTH: usize = 8;

/// A column of a file, or of a struct in it.
struct SourceColumn {
    /// The name; within a struct that of the struct, a point and that of the column.
    name: String,
    array: ArrayRef,
    /// The structs that the column lies in; a null of theirs is a null of the column.
    structs: Vec<ArrayRef>,
}

impl SourceColumn {
    /// Adds the column, or the columns of its struct.
    fn add_flattened(self, columns: &mut Vec<SourceColumn>) {
        let Some(inner) = self.array.as_struct_opt().filter(|_| self.structs.len() < MAX_DEPTH)
        else {
            return columns.push(self);
        };
        for (field, array) in inner.fields().iter().zip(inner.columns()) {
            let mut structs = self.structs.clone();
            structs.push(self.array.clone());
            let name = format!("{}.{}", self.name, field.name());
            SourceColumn { name, array: array.clone(), structs }.add_flattened(columns);
        }
    }
}

/// A column in the form in which it is read.
struct ReadColumn {
    name: String,
    column: TypedColumn,
    /// As in [`SourceColumn`].
    structs: Vec<ArrayRef>,
}

/// Rows that were decoded together.
struct Batch {
    /// Number of rows.
    rows: usize,
    /// The row of the next document.
    next_row: usize,
    /// The index in `columns` of the id, unless its type is not supported.
    id: Option<usize>,
    columns: Vec<ReadColumn>,
    /// Names of columns whose type is not supported.
    skipped: Vec<String>,
}

impl Batch {
    /// Converts the columns of a batch.
    fn new(batch: &RecordBatch) -> Result<Batch, UnreadableValues> {
        let schema = batch.schema();
        let mut columns = Vec::new();
        let mut skipped = Vec::new();
        let names = schema.fields().iter().map(|field| field.name().as_str());
        let id = id::find_name(&id::DOCUMENT_ID_FIELDS, names).unwrap_or(0);
        let mut id_column = None;
        for (i, (field, array)) in schema.fields().iter().zip(batch.columns()).enumerate() {
            let (name, array, structs) = (field.name().clone(), array.clone(), Vec::new());
            let mut sources = Vec::new();
            SourceColumn { name, array, structs }.add_flattened(&mut sources);
            for SourceColumn { name, array, structs } in sources {
                match typed_column(&array, i == id)? {
                    Some(column) => {
                        if i == id && structs.is_empty() {
                            id_column = Some(columns.len());
                        }
                        columns.push(ReadColumn { name, column, structs });
                    }
                    None => skipped.push(name),
                }
            }
        }
        Ok(Batch { rows: batch.num_rows(), next_row: 0, id: id_column, columns, skipped })
    }

    /// The bytes of all texts of a row, which a list can repeat any number of times.
    fn text_bytes(&self, row: usize) -> u64 {
        self.columns.iter().map(|read| read.column.text_bytes(row)).sum()
    }

    /// The document of a row.
    fn document(
        &self,
        row: usize,
        location: impl Fn() -> SourceLocation,
        warnings: &mut Warnings,
    ) -> Result<Document, SearchError> {
        let mut document = Document::new("");
        for (i, ReadColumn { name, column, structs }) in self.columns.iter().enumerate() {
            if structs.iter().any(|outer| outer.is_null(row)) {
                continue;
            }
            let value = column.value(row, warnings, || location().in_field(name));
            if Some(i) == self.id {
                let text = match value {
                    Some(Value::Text(text)) => text,
                    _ => String::new(),
                };
                document.id = id::checked(text, || location().in_field(name))?;
            } else if let Some(value) = value {
                document.fields.push((name.clone(), value));
            }
        }
        match document.id.is_empty() {
            true => Err(SearchError::malformed(location(), "no column with a valid id", "an id")),
            false => Ok(document),
        }
    }
}

/// A column in the form in which it is read; `None` if its type is not supported.
fn typed_column(array: &ArrayRef, is_id: bool) -> Result<Option<TypedColumn>, UnreadableValues> {
    let kind = array.data_type();
    Ok(match kind {
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            Some(TypedColumn::Binary(array.clone()))
        }
        kind if list_item(kind).is_some_and(|item| is_text(item) || is_number(item)) => {
            Some(TypedColumn::List(array.clone(), to_texts(list_values(array)?)?))
        }
        kind if is_text(kind) || (is_id && is_number(kind)) => {
            Some(TypedColumn::Text(to_texts(array)?))
        }
        kind if is_number(kind) => Some(TypedColumn::Number(numbers(array)?)),
        _ => None,
    })
}

/// Whether the values of a type are texts, or dates and times, which become texts.
fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => values.is_string(),
        kind => kind.is_string() || timestamps::is_date_or_time(kind),
    }
}

/// An array as texts; dates and times in ISO form.
fn to_texts(array: &ArrayRef) -> Result<ArrowTexts, UnreadableValues> {
    match timestamps::texts(array) {
        Some(timestamps) => Ok(timestamps.into()),
        None => texts(array),
    }
}

impl TypedColumn {
    /// The bytes of the texts of a row.
    fn text_bytes(&self, row: usize) -> u64 {
        match self {
            TypedColumn::Text(texts) => texts.get(row).map_or(0, |text| text.len() as u64),
            TypedColumn::Number(_) => 0,
            TypedColumn::Binary(array) => bytes_at(array, row).map_or(0, |b| b.len() as u64),
            TypedColumn::List(lists, texts) => {
                let items = list_range(lists, row).unwrap_or_default();
                items.filter_map(|item| texts.get(item)).map(|text| text.len() as u64).sum()
            }
        }
    }

    /// The value of a row; `None` if it is absent.
    fn value(
        &self,
        row: usize,
        warnings: &mut Warnings,
        location: impl FnOnce() -> SourceLocation,
    ) -> Option<Value> {
        match self {
            TypedColumn::Text(texts) => texts.get(row).map(|text| Value::Text(text.to_owned())),
            TypedColumn::Number(numbers) => {
                let number = numbers.is_valid(row).then(|| numbers.value(row))?;
                number.is_finite().then_some(Value::Number(number))
            }
            TypedColumn::Binary(array) => {
                let bytes = bytes_at(array, row)?;
                Some(Value::Text(warnings.text(bytes, location)))
            }
            TypedColumn::List(lists, texts) => {
                let items = list_range(lists, row)?.filter_map(|item| texts.get(item));
                let items: Vec<String> = items.map(str::to_owned).collect();
                (!items.is_empty()).then_some(Value::Texts(items))
            }
        }
    }
}

fn bytes_at(array: &ArrayRef, row: usize) -> Option<&[u8]> {
    array.is_valid(row).then(|| match array.data_type() {
        DataType::Binary => array.as_binary::<i32>().value(row),
        DataType::LargeBinary => array.as_binary::<i64>().value(row),
        _ => array.as_binary_view().value(row),
    })
}

impl DocumentReader for Parquet {
    fn next(&mut self, warnings: &mut Warnings) -> Option<Result<Document, SearchError>> {
        loop {
            if let Some(batch) = self.batch.as_mut().filter(|batch| batch.next_row < batch.rows) {
                let row = batch.next_row;
                batch.next_row += 1;
                self.returned += 1;
                let location = || SourceLocation::line(&self.name, self.returned);
                if batch.text_bytes(row) > self.limit {
                    let (file, limit) = (self.name.clone(), self.limit);
                    return Some(Err(DataError::ContentTooLarge { file, limit }.into()));
                }
                return Some(batch.document(row, location, warnings));
            }
            match self.next_batch(warnings)? {
                Ok(batch) => self.batch = Some(batch),
                Err(error) => return Some(Err(error)),
            }
        }
    }

    fn position(&self) -> (u64, u64) {
        // The share of the rows that were returned, as bytes.
        let read =
            u128::from(self.returned) * u128::from(self.length) / u128::from(self.rows.max(1));
        (u64::try_from(read).unwrap_or(self.length).min(self.length), self.length)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int32Type;
    use arrow_array::{
        BooleanArray, Date32Array, Float64Array, Int64Array, ListArray, StringArray, StructArray,
        TimestampMillisecondArray,
    };
    use arrow_schema::Field;
    use parquet::arrow::ArrowWriter;

    use super::*;

    /// The bytes of a Parquet file.
    fn file(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        bytes
    }

    fn read(bytes: Vec<u8>) -> Result<(Vec<Document>, Warnings), SearchError> {
        let mut warnings = Warnings::default();
        let mut reader = Parquet::open(Input::from_bytes("p", bytes)?)?;
        let mut documents = Vec::new();
        while let Some(document) = reader.next(&mut warnings) {
            documents.push(document?);
        }
        assert_eq!(reader.position().0, reader.position().1);
        Ok((documents, warnings))
    }

    /// A file with a column of each type; a list of structs is not supported.
    fn sample() -> Vec<u8> {
        let list = |items: Vec<Option<i32>>| Some(items);
        let inner_values: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
        let inner_field = Arc::new(Field::new("x", DataType::Int64, false));
        let deep: ArrayRef = Arc::new(StructArray::from(vec![(inner_field, inner_values.clone())]));
        let city: ArrayRef = Arc::new(StringArray::from(vec![Some("Ulm"), None]));
        let of = |name: &str, array: &ArrayRef| {
            Arc::new(Field::new(name, array.data_type().clone(), true))
        };
        let nested = StructArray::from(vec![
            (of("city", &city), city.clone()),
            (of("deep", &deep), deep.clone()),
        ]);
        file(vec![
            ("title", Arc::new(StringArray::from(vec![Some("Blue Train"), None])) as ArrayRef),
            ("id", Arc::new(Int64Array::from(vec![i64::MAX, 2]))),
            ("price", Arc::new(Float64Array::from(vec![9.5, f64::NAN]))),
            ("new", Arc::new(BooleanArray::from(vec![true, false]))),
            ("day", Arc::new(Date32Array::from(vec![0, 1]))),
            ("seen", Arc::new(TimestampMillisecondArray::from(vec![Some(1500), None]))),
            (
                "tags",
                Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(vec![
                    list(vec![Some(1), None, Some(3)]),
                    list(vec![]),
                ])),
            ),
            ("nested", Arc::new(nested)),
        ])
    }

    #[test]
    fn columns_become_values_by_their_types() {
        let text = |text: &str| Value::Text(text.into());
        let first = Document::new(i64::MAX.to_string())
            .with("title", text("Blue Train"))
            .with("price", Value::Number(9.5))
            .with("new", Value::Number(1.0))
            .with("day", text("1970-01-01"))
            .with("seen", text("1970-01-01T00:00:01.500"))
            .with("tags", Value::Texts(vec!["1".into(), "3".into()]))
            .with("nested.city", text("Ulm"))
            .with("nested.deep.x", Value::Number(1.0));
        let second = Document::new("2")
            .with("new", Value::Number(0.0))
            .with("day", text("1970-01-02"))
            .with("nested.deep.x", Value::Number(2.0));
        let (documents, warnings) = read(sample()).unwrap();
        assert_eq!(documents, [first, second]);
        assert!(warnings.is_empty());
    }

    #[test]
    fn columns_of_other_types_are_named_and_skipped() {
        let ids: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
        let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)])]);
        let outer = Arc::new(Field::new("item", lists.data_type().clone(), true));
        let offsets = lists.offsets().clone();
        let lists = ListArray::new(outer, offsets, Arc::new(lists), None);
        let (documents, warnings) =
            read(file(vec![("id", ids), ("lists", Arc::new(lists))])).unwrap();
        assert_eq!(documents, [Document::new("a")]);
        let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        let skipped = "1 value skipped: neither text, number nor list";
        assert_eq!(warnings, [format!("{skipped} (first: p (column 'lists'))")]);
    }

    #[test]
    fn null_ids_and_damaged_files_are_errors() {
        let ids: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None]));
        let error = read(file(vec![("docno", ids)])).unwrap_err();
        assert_eq!(error.to_string(), "p:2 (column 'docno'): found an empty id, expected an id");
        let whole = sample();
        for cut in (4..whole.len()).step_by(97) {
            let error = read(whole[..cut].to_vec()).unwrap_err();
            assert!(error.to_string().starts_with("p is damaged: "), "{error}");
        }
        for position in (0..whole.len()).step_by(13) {
            let mut bytes = whole.clone();
            bytes[position] ^= 0x55;
            // The file may still be readable; it must not panic.
            let mut warnings = Warnings::default();
            if let Ok(mut reader) = Parquet::open(Input::from_bytes("p", bytes).unwrap()) {
                while let Some(Ok(_)) = reader.next(&mut warnings) {}
            }
        }
    }
}
