//! Parquet and Arrow IPC (file and stream): one column per feature, or one list column `features`.
//!
//! Integers, floats, booleans, decimals, strings, dates, timestamps and dictionaries of them are
//! read; a column of another type must be ignored by name. A null is a missing value; in a query
//! id, a label, a weight or a position it is an error with its row (counted from 1).
//!
//! The columns of a row group are decoded in parallel (`decode.rs`), each into 32-bit floats; then
//! blocks of rows are put together from them in parallel (`rows.rs`).
//!
//! Files are untrusted. Every length in a file that our code reads is compared with the available
//! bytes before memory is allocated for it; and since the arrow and parquet crates still panic on
//! some damaged files, a panic inside them becomes an error here. (The panic's own message still
//! goes to standard error; a library must not replace the panic hook.) Because of compression and
//! of repeated values, a small file can claim a large content; so the claimed sizes are also
//! compared with the memory that an input may take.

mod decode;
mod ipc;
mod metadata;
mod rows;
#[cfg(test)]
mod tests;
mod values;
// Writers index the rows and columns of the data set itself.
#[allow(clippy::indexing_slicing)]
mod write;

use std::fmt::Display;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_schema::{DataType, Field, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use rayon::prelude::*;

use self::metadata::Metadata;
use self::values::{is_binary_id, is_scalar, is_scalar_list, is_time, typed};
use super::ReadOptions;
use super::feature_set::FeatureSets;
use super::roles::{Role, has_undecided_role};
use super::table::{
    ColumnContent, Slot, SourceColumn, TableRead, TableSchema, TableSource, TypedValues,
    indices_by_column, match_columns, read_table,
};
use crate::arrow_values::{self, UnreadableValues, list_range, texts};
use crate::bytes::{Bytes, Input};
use crate::dataset::{Absent, Dataset};
use crate::error::{ColumnProblem, DataError, FileDamage, Remedy, SourceLocation};
use crate::memory::memory_limit;
use crate::panics::catch_panic;
use crate::parquet_limits::{check_lists, check_pages, check_rows, check_texts, with_text_views};
use crate::table_columns::TableColumns;
use crate::warnings::Warnings;

pub(super) use self::write::{write_arrow, write_parquet};

/// A column of this name may hold all features of a row as a list.
const LIST_COLUMN: &str = "features";

/// Reads one data set from Parquet files with the same columns.
pub(super) fn read_parquet(
    inputs: Vec<Input>,
    options: &ReadOptions,
    sets: &mut FeatureSets,
    warnings: &mut Warnings,
) -> Result<(Dataset, TableColumns), DataError> {
    read(inputs, options, sets, warnings, open_parquet)
}

/// Reads one data set from Arrow IPC files or streams with the same columns.
pub(super) fn read_arrow(
    inputs: Vec<Input>,
    options: &ReadOptions,
    sets: &mut FeatureSets,
    warnings: &mut Warnings,
) -> Result<(Dataset, TableColumns), DataError> {
    read(inputs, options, sets, warnings, open_arrow)
}

/// The bytes of memory that a row takes at least: its label (8) and the number of its query (4).
const MIN_ROW_BYTES: u64 = 12;

/// Reads the metadata of a Parquet file and checks the sizes that it claims.
fn open_parquet(name: &str, bytes: ::bytes::Bytes) -> Result<OpenedFile, DataError> {
    let fail = |error: &dyn Display| damaged(name, FileDamage::reader(error));
    // The types of Parquet itself are enough; the Arrow schema that some writers embed is one more
    // part that can be damaged.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let metadata = ArrowReaderMetadata::load(&bytes, options).map_err(|e| fail(&e))?;
    let limit = memory_limit();
    check_rows(name, metadata.metadata(), MIN_ROW_BYTES, limit)?;
    check_pages(name, &bytes, metadata.metadata(), limit)?;
    check_lists(name, &bytes, metadata.metadata(), limit)?;
    let metadata = with_text_views(&metadata).map_err(|e| fail(&e))?;
    check_texts(name, &bytes, &metadata, limit)?;
    let entries = metadata.metadata().file_metadata().key_value_metadata();
    let entries = entries.into_iter().flatten();
    let entries = entries.map(|entry| (&*entry.key, entry.value.as_deref().unwrap_or("")));
    let own_metadata = Metadata::read(name, entries)?;
    let schema = metadata.schema().clone();
    let groups = metadata.metadata().row_groups().iter();
    let rows = groups.map(|group| usize::try_from(group.num_rows()));
    let rows = rows.collect::<Result<Vec<usize>, _>>().map_err(|e| fail(&e))?;
    let content = FileContent::Parquet(bytes, metadata);
    Ok(OpenedFile { schema, metadata: own_metadata, rows, content })
}

/// Reads an Arrow file or stream.
fn open_arrow(name: &str, bytes: ::bytes::Bytes) -> Result<OpenedFile, DataError> {
    let buffer = Buffer::from(bytes);
    let (schema, batches) = match buffer.starts_with(b"ARROW1") {
        true => ipc::read_file(name, buffer)?,
        false => ipc::read_stream(name, buffer)?,
    };
    let entries = schema.metadata().iter().map(|(key, value)| (&**key, &**value));
    let metadata = Metadata::read(name, entries)?;
    let rows = batches.iter().map(RecordBatch::num_rows).collect();
    Ok(OpenedFile { schema, metadata, rows, content: FileContent::Arrow(batches) })
}

/// A file whose columns are known.
struct OpenedFile {
    schema: SchemaRef,
    metadata: Metadata,
    /// The number of rows of each row group (Parquet) or record batch (Arrow).
    rows: Vec<usize>,
    content: FileContent,
}

enum FileContent {
    Parquet(::bytes::Bytes, ArrowReaderMetadata),
    Arrow(Vec<RecordBatch>),
}

/// A Parquet or Arrow file whose columns are read by their names, for tables that are no feature data.
#[cfg(feature = "text")]
pub(crate) struct NamedColumns(ColumnarFile);

#[cfg(feature = "text")]
impl NamedColumns {
    /// Opens a file, which its first bytes tell apart.
    pub(crate) fn open(input: &Input) -> Result<NamedColumns, DataError> {
        let bytes = ::bytes::Bytes::copy_from_slice(&input.bytes);
        let opened = caught(&input.name, || match bytes.starts_with(b"PAR1") {
            true => open_parquet(&input.name, bytes),
            false => open_arrow(&input.name, bytes),
        })?;
        let (name, column_numbers) = (input.name.clone(), Vec::new());
        Ok(NamedColumns(ColumnarFile { name, opened, column_numbers }))
    }

    pub(crate) fn has_column(&self, name: &str) -> bool {
        self.0.opened.schema.column_with_name(name).is_some()
    }

    /// The number of groups of rows.
    pub(crate) fn groups(&self) -> usize {
        self.0.opened.rows.len()
    }

    /// A column of a group as texts; integers have all their digits.
    pub(crate) fn texts(
        &self,
        group: usize,
        name: &str,
    ) -> Result<arrow_values::ArrowTexts, DataError> {
        texts(&self.column(group, name)?).map_err(|error| unreadable(&self.0.name, name, &error))
    }

    /// A column of a group as numbers.
    pub(crate) fn numbers(
        &self,
        group: usize,
        name: &str,
    ) -> Result<arrow_array::Float64Array, DataError> {
        arrow_values::numbers(&self.column(group, name)?)
            .map_err(|error| unreadable(&self.0.name, name, &error))
    }

    fn column(&self, group: usize, name: &str) -> Result<ArrayRef, DataError> {
        let (field, _) = self.0.opened.schema.column_with_name(name).ok_or(NO_SUCH_COLUMN)?;
        let arrays = self.0.arrays(group, &[field], None)?;
        arrays.into_iter().next().ok_or(NO_SUCH_COLUMN)
    }
}

/// Opens all inputs, and reads them as one table.
fn read(
    inputs: Vec<Input>,
    options: &ReadOptions,
    sets: &mut FeatureSets,
    warnings: &mut Warnings,
    open: fn(&str, ::bytes::Bytes) -> Result<OpenedFile, DataError>,
) -> Result<(Dataset, TableColumns), DataError> {
    let mut files = Vec::with_capacity(inputs.len());
    for (number, input) in inputs.into_iter().enumerate() {
        // Neither conversion copies the bytes; a mapped file becomes their owner itself.
        let bytes = match input.bytes {
            Bytes::Mapped(map) => ::bytes::Bytes::from_owner(map),
            Bytes::Owned(bytes) => ::bytes::Bytes::from(bytes),
        };
        let mut file = caught(&input.name, || open(&input.name, bytes))?;
        if let Some(text) = file.metadata.feature_set.take() {
            sets.set_inside(number, text);
        }
        files.push((input.name, file));
    }
    let table = ColumnarTable::new(files, options)?;
    // The columns of the table that these files were converted from, if they record them.
    let recorded = table.files.first().and_then(|file| file.opened.metadata.columns.clone());
    let uses_recorded = recorded.is_some() && options.columns.is_none();
    let options_with_recorded;
    let options = match uses_recorded {
        true => {
            options_with_recorded = ReadOptions { columns: recorded.clone(), ..options.clone() };
            &options_with_recorded
        }
        false => options,
    };
    let (mut data, columns) = read_table(&table, options, warnings)?;
    if uses_recorded {
        data.table_columns = recorded;
        if let (false, Some(file)) = (data.has_category_texts(), table.files.first()) {
            return Err(damaged(&file.name, FileDamage::CategoryNumber));
        }
    }
    let absent = table.absent.unwrap_or(data.absent);
    Ok((Dataset { absent, ..data }, columns))
}

/// Runs code of the arrow and parquet crates and turns their panics into errors.
fn caught<T>(name: &str, run: impl FnOnce() -> Result<T, DataError>) -> Result<T, DataError> {
    catch_panic(run).map_err(|message| damaged(name, FileDamage::panic(&message)))?
}

fn damaged(file: &str, damage: FileDamage) -> DataError {
    DataError::Damaged { file: file.to_owned(), damage }
}

/// Files with the same columns.
struct ColumnarTable {
    files: Vec<ColumnarFile>,
    /// The columns of the first file, without the list of features.
    columns: Vec<SourceColumn>,
    /// The type of each column.
    types: Vec<DataType>,
    /// The number of values in each list; `None` if there is no list column.
    list_length: Option<usize>,
    /// The rule for absent features, if a file records it.
    absent: Option<Absent>,
}

struct ColumnarFile {
    name: String,
    opened: OpenedFile,
    /// For each field of the schema, the number of the same column in the first file; `None` for
    /// the list of features.
    column_numbers: Vec<Option<usize>>,
}

/// A row group (Parquet) or record batch (Arrow): rows that are decoded together.
#[derive(Debug, Clone, Copy)]
struct RowGroup {
    /// The number of the file, from 0.
    file: usize,
    /// The number of the group in the file, from 0.
    number: usize,
    /// The number of rows.
    rows: usize,
    /// The number of its first row in the file, from 0.
    first_row: usize,
}

impl ColumnarTable {
    /// Checks that all files have the same columns, and the same rule for absent features.
    fn new(
        opened: Vec<(String, OpenedFile)>,
        options: &ReadOptions,
    ) -> Result<ColumnarTable, DataError> {
        let is_list = |field: &Field| {
            field.name() == LIST_COLUMN
                && is_scalar_list(field.data_type())
                && options.roles.role(LIST_COLUMN).is_none()
        };
        let mut table = ColumnarTable {
            files: Vec::with_capacity(opened.len()),
            columns: Vec::new(),
            types: Vec::new(),
            list_length: None,
            absent: None,
        };
        // The name of the first file, and whether it has a list of features.
        let mut first: Option<(String, bool)> = None;
        for (name, opened) in opened {
            let fields = opened.schema.fields();
            let scalars: Vec<&Field> =
                fields.iter().map(|field| field.as_ref()).filter(|field| !is_list(field)).collect();
            let names: Vec<String> = scalars.iter().map(|field| field.name().clone()).collect();
            let has_list = scalars.len() < fields.len();
            let numbers: Vec<usize> = match &first {
                Some((file, first_has_list)) => {
                    if *first_has_list != has_list {
                        let problem = ColumnProblem::ListInOne { first: file.clone() };
                        return Err(DataError::columns(&name, problem));
                    }
                    let known = table.columns.iter().map(|column| column.name.as_str());
                    match_columns(file, known, &name, &names)?
                }
                None => {
                    first = Some((name.clone(), has_list));
                    table.types = scalars.iter().map(|field| field.data_type().clone()).collect();
                    table.columns = names.iter().map(SourceColumn::new).collect();
                    (0..names.len()).collect()
                }
            };
            if let (Some(known), Some(absent)) = (table.absent, opened.metadata.absent)
                && known != absent
            {
                let first = first.map_or_else(String::new, |(first, _)| first);
                return Err(DataError::AbsentRules { first, second: name });
            }
            table.absent = table.absent.or(opened.metadata.absent);
            let mut numbers = numbers.into_iter();
            let column_number = |field: &Arc<Field>| match is_list(field) {
                true => None,
                false => numbers.next(),
            };
            let column_numbers = opened.schema.fields().iter().map(column_number).collect();
            table.files.push(ColumnarFile { name, opened, column_numbers });
        }
        if first.is_some_and(|(_, has_list)| has_list) {
            table.list_length = table.first_list_length()?;
        }
        Ok(table)
    }

    /// The row groups of all files, without empty ones.
    fn groups(&self) -> Vec<RowGroup> {
        let mut groups = Vec::new();
        for (file, opened) in self.files.iter().enumerate() {
            let mut first_row = 0usize;
            for (number, &rows) in opened.opened.rows.iter().enumerate() {
                if rows > 0 {
                    groups.push(RowGroup { file, number, rows, first_row });
                }
                first_row = first_row.saturating_add(rows);
            }
        }
        groups
    }

    /// The file of a row group.
    fn file_of(&self, group: RowGroup) -> Result<&ColumnarFile, DataError> {
        let invariant = "a row group is in one of the files";
        self.files.get(group.file).ok_or(DataError::Internal { invariant })
    }

    /// The length of the list in the first row; `None` if there are no rows.
    fn first_list_length(&self) -> Result<Option<usize>, DataError> {
        let Some(group) = self.groups().first().copied() else { return Ok(None) };
        let file = self.file_of(group)?;
        let invariant = "a table with a list of features has a field for it";
        let field = file.column_numbers.iter().position(Option::is_none);
        let field = field.ok_or(DataError::Internal { invariant })?;
        let arrays = file.arrays(group.number, &[field], Some(1))?;
        let length = arrays.first().and_then(|array| list_range(array, 0));
        match length.map_or(0, |range| range.len()) {
            0 => {
                let location = SourceLocation::line(&file.name, 1).in_field(LIST_COLUMN);
                Err(DataError::malformed(location, "an empty list", "a list of features"))
            }
            length => Ok(Some(length)),
        }
    }

    /// Counts the content of some columns in a row group: in all rows, or in the first ones.
    fn survey_group(
        &self,
        group: RowGroup,
        columns: &[usize],
        rows: Option<usize>,
    ) -> Result<Vec<ColumnContent>, DataError> {
        let mut contents = vec![ColumnContent::default(); columns.len()];
        let file = self.file_of(group)?;
        // The fields whose values must be counted, each with the index of its column in `columns`.
        let mut to_count: Vec<(usize, usize)> = Vec::new();
        let indices = indices_by_column(columns);
        for (field, number) in file.column_numbers.iter().enumerate() {
            let index = number.and_then(|number| indices.get(&number).copied());
            let (Some(index), Some(number)) = (index, *number) else { continue };
            let content = contents.get_mut(index).ok_or(NO_SUCH_COLUMN)?;
            let (kind, column) =
                self.types.get(number).zip(self.columns.get(number)).ok_or(NO_SUCH_COLUMN)?;
            content.typed = typed(kind);
            let type_suffices = match &content.typed {
                Some(TypedValues::Number) => rows.is_some() && !needs_values(&column.name),
                Some(_) => true,
                None => false,
            };
            if !type_suffices {
                to_count.push((field, index));
            }
        }
        let fields: Vec<usize> = to_count.iter().map(|(field, _)| *field).collect();
        if fields.is_empty() {
            return Ok(contents);
        }
        let arrays = file.arrays(group.number, &fields, rows)?;
        for (array, (field, index)) in arrays.iter().zip(to_count) {
            let name = file.field_name(field)?;
            let failed = |error| unreadable(&file.name, name, &error);
            let values = texts(array).map_err(failed)?;
            let content = contents.get_mut(index).ok_or(NO_SUCH_COLUMN)?;
            for (row, value) in values.iter().enumerate() {
                let location = || {
                    let row = group.first_row + row + 1;
                    SourceLocation::line(&file.name, row as u64)
                };
                match value {
                    Some(value) => content.add(value.as_bytes(), location),
                    None => content.add_missing(),
                }
            }
        }
        Ok(contents)
    }
}

/// The error of a column number that no column has.
const NO_SUCH_COLUMN: DataError =
    DataError::Internal { invariant: "the columns of a table are numbered from 0" };

impl ColumnarFile {
    /// The name of a field of the schema.
    fn field_name(&self, field: usize) -> Result<&str, DataError> {
        let field = self.opened.schema.fields().get(field).ok_or(NO_SUCH_COLUMN)?;
        Ok(field.name())
    }

    /// The arrays of some fields in a row group, with all rows or only the first ones. The fields
    /// must be in ascending order.
    fn arrays(
        &self,
        group: usize,
        fields: &[usize],
        rows: Option<usize>,
    ) -> Result<Vec<ArrayRef>, DataError> {
        let missing = || damaged(&self.name, FileDamage::NoSchema);
        let (bytes, metadata) = match &self.opened.content {
            FileContent::Arrow(batches) => {
                let batch = batches.get(group).ok_or_else(missing)?;
                let rows = rows.unwrap_or(usize::MAX).min(batch.num_rows());
                let array = |field: &usize| batch.columns().get(*field).map(|a| a.slice(0, rows));
                return fields.iter().map(array).collect::<Option<Vec<_>>>().ok_or_else(missing);
            }
            FileContent::Parquet(bytes, metadata) => (bytes.clone(), metadata.clone()),
        };
        let total = self.opened.rows.get(group).copied().unwrap_or(0);
        caught(&self.name, || {
            let fail = |error: &dyn Display| damaged(&self.name, FileDamage::reader(error));
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(bytes, metadata);
            let mask = ProjectionMask::roots(builder.parquet_schema(), fields.iter().copied());
            // One batch has all rows that are needed. Its size is bounded, since a damaged file may
            // claim any number of rows.
            let batch_size = rows.unwrap_or(total).clamp(1, MAX_DECODED_ROWS);
            let builder = builder.with_projection(mask).with_row_groups(vec![group]);
            let reader = builder.with_batch_size(batch_size).build().map_err(|e| fail(&e))?;
            let mut batches = Vec::new();
            for batch in reader {
                batches.push(batch.map_err(|e| fail(&e))?);
                if rows.is_some() {
                    break;
                }
            }
            let batch = match batches.as_slice() {
                [] => return Err(fail(&"a row group has no rows")),
                [batch] => batch.clone(),
                _ => return Err(fail(&"a row group has too many rows")),
            };
            if rows.is_none() && batch.num_rows() != total {
                return Err(fail(&"a row group has another number of rows than it claims"));
            }
            // The columns of a batch are in the order of the file; so must the fields be.
            debug_assert!(fields.is_sorted(), "fields are in the order of the file");
            Ok(batch.columns().to_vec())
        })
    }
}

/// The most rows of a row group that are decoded as one array.
const MAX_DECODED_ROWS: usize = 1 << 26;

impl TableSource for ColumnarTable {
    fn file(&self) -> &str {
        self.files.first().map_or("", |file| &file.name)
    }

    fn columns(&self) -> &[SourceColumn] {
        &self.columns
    }

    fn has_text_type(&self) -> bool {
        true
    }

    fn survey(
        &self,
        columns: &[usize],
        rows: Option<usize>,
    ) -> Result<Vec<ColumnContent>, DataError> {
        let mut groups = self.groups();
        if groups.is_empty() {
            return Err(DataError::Empty { file: self.file().to_owned(), what: "rows" });
        }
        if rows.is_some() {
            groups.truncate(1);
        }
        let parts: Vec<Result<Vec<ColumnContent>, DataError>> =
            groups.par_iter().map(|group| self.survey_group(*group, columns, rows)).collect();
        let mut contents: Option<Vec<ColumnContent>> = None;
        for part in parts {
            let part = part?;
            match &mut contents {
                None => contents = Some(part),
                Some(contents) => {
                    contents.iter_mut().zip(part).for_each(|(content, part)| content.merge(part));
                }
            }
        }
        Ok(contents.unwrap_or_default())
    }

    fn read(
        &self,
        mut schema: TableSchema,
        options: &ReadOptions,
        warnings: &mut Warnings,
    ) -> Result<TableRead, DataError> {
        for ((column, kind), slot) in self.columns.iter().zip(&self.types).zip(schema.slots()) {
            check_type(self.file(), &column.name, kind, *slot)?;
        }
        for name in (1..=self.list_length.unwrap_or(0)).map(|id| id.to_string()) {
            if schema.features().contains(&name) {
                let problem = ColumnProblem::ColumnAndListed { column: name, list: LIST_COLUMN };
                return Err(DataError::columns(self.file(), problem));
            }
            schema.add_feature(name);
        }
        rows::read(self, &schema, options, warnings)
    }
}

/// Whether a column of numbers may be an id, a label or a query, so that its values must be counted
/// to decide.
fn needs_values(name: &str) -> bool {
    has_undecided_role(name) || matches!(Role::guess(name), Some(Role::Query | Role::Docid))
}

/// The error for a column whose values cannot be converted.
fn unreadable(file: &str, column: &str, error: &UnreadableValues) -> DataError {
    let location = SourceLocation::file(file).in_field(column);
    DataError::malformed(
        location,
        format!("values that cannot be read ({error})"),
        "numbers, texts or times",
    )
    .with_help(Remedy::ignore_column(column))
}

/// Rejects a column whose type does not fit its target.
fn check_type(file: &str, column: &str, kind: &DataType, slot: Slot) -> Result<(), DataError> {
    let fits = match slot {
        Slot::Role(Role::Ignore) => true,
        Slot::Role(Role::Query | Role::Docid) => is_scalar(kind) || is_binary_id(kind),
        Slot::Time { .. } => is_scalar(kind) || is_time(kind),
        _ => is_scalar(kind),
    };
    match fits {
        true => Ok(()),
        false => {
            let (column, kind) = (column.to_owned(), values::type_name(kind));
            Err(DataError::columns(file, ColumnProblem::Type { column, kind }))
        }
    }
}
